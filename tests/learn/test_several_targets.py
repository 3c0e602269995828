"""Several targets at once: features that enter for all of them, beside scikit-learn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Lasso, LinearRegression, MultiTaskLasso, Ridge

import dcopt
from dcopt import DCRegressor, DCRegressorCV
from dcopt.errors import BadInput, BadSettings
from dcopt.losses import MultiSquared
from dcopt.regularizers import L1, MCP
from dcopt.status import Status

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 8))
W = np.zeros((8, 3))
W[[0, 3]] = [[1.0, -0.5, 0.8], [0.6, 0.7, -0.4]]
Y = X @ W + rng.normal(size=(100, 3)) + np.array([1.0, -2.0, 0.0])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("lam", [0.05, 0.2])
def test_features_together_are_the_multi_task_lasso(k: int, lam: float) -> None:
    mine = DCRegressor(penalty="l1", lam=lam, tol=1e-11).fit(X, Y[:, :k])
    peer = MultiTaskLasso(alpha=lam, tol=1e-13, max_iter=10**5).fit(X, Y[:, :k])
    np.testing.assert_allclose(mine.coef_, peer.coef_, atol=1e-8)
    np.testing.assert_allclose(mine.intercept_, peer.intercept_, atol=1e-8)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), atol=1e-7)
    F = 0.5 / 100 * np.sum((Y[:, :k] - peer.predict(X)) ** 2) + lam * np.linalg.norm(peer.coef_, axis=0).sum()
    assert mine.objective_ == pytest.approx(F, rel=1e-10)
    assert mine.score(X, Y[:, :k]) == pytest.approx(peer.score(X, Y[:, :k]), rel=1e-8)


def test_coefficients_by_themselves_are_models_of_their_own() -> None:
    w = rng.uniform(0.5, 2.0, 100)
    mine = DCRegressor(penalty="l1", groups="entries", lam=0.1, tol=1e-11).fit(X, Y, w)
    each = [Lasso(alpha=0.1, tol=1e-13).fit(X, Y[:, j], w).coef_ for j in range(3)]
    np.testing.assert_allclose(mine.coef_, each, atol=1e-8)
    ridge = DCRegressor(penalty="l2", lam=0.3, tol=1e-11).fit(X, Y)
    np.testing.assert_allclose(ridge.coef_, Ridge(alpha=30.0).fit(X, Y).coef_, atol=1e-8)


@pytest.mark.parametrize("method", ["auto", "dca", "pdcae", "dca-page", "dca-svrg", "mm-saga"])
def test_every_kind_of_method_solves_it(method: str) -> None:
    want = MultiTaskLasso(alpha=0.2, tol=1e-13, max_iter=10**5).fit(X, Y).coef_
    P = dcopt.erm(sp.csr_array(X), Y, MultiSquared(), L1(lam=0.2, groups="rows"), intercept=True)
    result = dcopt.solve(P, method, tol=1e-6, passes=3000, seed=0)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.x[:-1].T, want, atol=1e-5)


def test_lam_max_folds_and_what_is_shown() -> None:
    assert not DCRegressor(penalty="l1", lam=1.0, lam_scale="max").fit(X, Y).coef_.any()
    assert DCRegressor(penalty="l1", lam=0.97, lam_scale="max").fit(X, Y).coef_.any(axis=0).sum() == 1
    model = DCRegressorCV(penalty="mcp", n_lams=12).fit(X, Y)
    assert np.flatnonzero(model.coef_.any(axis=0)).tolist() == [0, 3]
    assert model.path_.coefs.shape[1:] == (3, 8) and model.path_.nnz[model.index_] == 2
    assert model.path_.df[model.index_] == 6
    assert "target" in model.summary() and set(json.loads(model.to_json())["scores"]) == {
        f"score {j}" for j in range(3)
    }
    other = model.to_sklearn()
    assert isinstance(other, LinearRegression)
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-12)
    null = np.mean(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1))
    assert model.d2(X, Y) == pytest.approx(1.0 - model.deviance(X, Y) / null, rel=1e-9)


def test_a_model_file_holds_it(tmp_path: Any) -> None:
    from dcopt.learn.files import load_estimator, save_estimator

    model = DCRegressor(penalty=MCP(lam=0.2, gamma=3.0, groups="rows")).fit(X, Y)
    save_estimator(tmp_path / "m.dcm", model)
    np.testing.assert_array_equal(load_estimator(tmp_path / "m.dcm").predict(X), model.predict(X))


def test_bad_targets_are_refused() -> None:
    with pytest.raises(BadSettings, match="'squared' for 3 targets"):
        DCRegressor(loss="huber").fit(X, Y)
    with pytest.raises(BadInput, match="^y"):
        dcopt.erm(X, Y[:50], MultiSquared())
    bad = Y.copy()
    bad[4, 1] = np.nan
    with pytest.raises(BadInput, match="y, row 4, column 1"):
        dcopt.erm(X, bad, MultiSquared())
    with pytest.raises(BadSettings, match="^offset"):
        DCRegressor().fit(X, Y, offset=np.ones(100))
