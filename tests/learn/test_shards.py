"""Estimators on shards: the fit of all rows in memory, from a set that brings its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt


def packed(tmp_path: Path, kind: str, n: int = 4000, d: int = 20, shard_mb: float = 0.05) -> tuple[dcopt.Shards, Any]:
    rng = np.random.default_rng(0)
    X = sp.random(n, d, 0.3, format="csr", random_state=rng)
    z = X @ np.where(np.arange(d) < 5, 2.0, 0.0) - 0.7 + 0.5 * rng.normal(size=n)
    y = {"two": np.where(z > 0, "b", "a"), "three": np.digitize(z, [-0.3, 0.4]), "real": z}[kind]
    dcopt.pack([(X, y)], tmp_path / "set", shard_mb=shard_mb)
    S = dcopt.open(tmp_path / "set")
    assert len(S.shards) >= 5
    return S, X[S.places()]


@pytest.mark.parametrize("kind", ["two", "three", "real"])
def test_a_fit_is_that_of_all_rows(tmp_path: Path, kind: str) -> None:
    S, X = packed(tmp_path, kind)
    make = dcopt.DCRegressor if kind == "real" else dcopt.DCClassifier
    one, two = make(tol=1e-7, random_state=0).fit(S), make(tol=1e-7, random_state=0).fit(X, S.y)
    assert one.status_ == two.status_ == "CONVERGED" and one.lam_ == pytest.approx(two.lam_, rel=1e-9)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-5)
    np.testing.assert_allclose(one.scale_, two.scale_, rtol=1e-9)
    np.testing.assert_allclose(one._scores(S), one._scores(X), rtol=1e-12, atol=1e-13)
    assert np.array_equal(one.predict(S), one.predict(X)) and one.n_features_in_ == 20
    assert one.score(S, S.y) > 0.5
    again = make(tol=1e-7, random_state=0).fit(S.in_memory())
    assert again.coef_.tobytes() == one.coef_.tobytes()


def test_path_and_cross_validation_by_shards(tmp_path: Path) -> None:
    S, X = packed(tmp_path, "two")
    path, other = (dcopt.DCClassifier().path(*given, n_lams=5) for given in ((S, None), (X, S.y)))
    np.testing.assert_allclose(path.coefs, other.coefs, atol=1e-4)
    model = dcopt.DCClassifierCV(n_lams=5, cv=3).fit(S)
    assert model.cv_loss_.shape[1] == 3 or model.cv_loss_.shape[0] == 3
    assert 0.6 < model.cv_scores_.max() <= 1.0 and model.score(S, S.y) > 0.7
    with pytest.raises(dcopt.BadSettings, match="number of parts"):
        dcopt.DCClassifierCV(n_lams=2, cv=500).fit(S)


def test_partial_fit_takes_shards(tmp_path: Path) -> None:
    S, X = packed(tmp_path, "two")
    one = dcopt.DCClassifier(random_state=0, holdout=64).partial_fit(S)
    two = dcopt.DCClassifier(random_state=0, holdout=64)
    for low, high in zip(S.data.starts, S.data.starts[1:], strict=False):
        two.partial_fit(X[low:high], S.y[low:high], classes=["a", "b"])
    assert one.coef_.tobytes() == two.coef_.tobytes() and one.coef_.any()


def test_what_shards_cannot_do_is_refused_by_name(tmp_path: Path) -> None:
    S, X = packed(tmp_path, "two")
    for name, value in (("standardize", True), ("class_weight", "balanced"), ("validation_fraction", 0.1)):
        with pytest.raises(dcopt.BadSettings, match=name):
            dcopt.DCClassifier(**{name: value}).fit(S)
    with pytest.raises(dcopt.BadInput, match="beside rows in parts"):
        dcopt.DCClassifier().fit(S, S.y)
    with pytest.raises(dcopt.BadInput, match="has 20 features"):
        dcopt.DCClassifier().fit(X[:, :19], S.y).predict(S)
    with pytest.raises(ValueError, match="y to be passed"):
        dcopt.DCClassifier().fit(X)


def test_what_needs_rows_in_memory_says_so(tmp_path: Path) -> None:
    S, _ = packed(tmp_path, "real")
    model = dcopt.DCRegressor(penalty="l1")
    with pytest.raises(dcopt.BadInput, match="X: is rows in parts: halves need rows in memory"):
        dcopt.stability_selection(model, S, None)
    with pytest.raises(dcopt.BadInput, match="X: is rows in parts: bootstrap samples need rows in memory"):
        dcopt.bootstrap_inclusion(model, S, None)
    with pytest.raises(dcopt.BadSettings, match="penalty = .*: expected one without a size k"):
        dcopt.DCRegressor(penalty="l0(k=3)").fit(S)
    path = model.path(S, None, n_lams=4, ratio=0.3, relaxed=True)
    assert set(path.statuses) == {"CONVERGED"} and path.nnz[-1] > 0
