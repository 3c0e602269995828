"""DCRegressor and DCClassifier with the losses of counts, rates, quantiles and margins, beside independent fits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor, QuantileRegressor
from sklearn.metrics import d2_pinball_score, d2_tweedie_score, mean_gamma_deviance, mean_poisson_deviance
from sklearn.svm import LinearSVC, LinearSVR

import dcopt
from dcopt import DCClassifier, DCRegressor
from dcopt.errors import BadInput, BadSettings
from dcopt.learn.cv import DCRegressorCV
from dcopt.losses import EpsilonInsensitive, NegativeBinomial, Quantile, SquaredHinge
from dcopt.regularizers import L1, L2, MCP

N, D = 400, 6
B = np.array([0.5, -0.3, 0.0, 0.0, 0.2, 0.0])


def data(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """X, counts, positive numbers, exposures"""
    rng = np.random.default_rng(seed)
    X, e = rng.normal(size=(N, D)), rng.uniform(0.5, 4.0, N)
    mu = e * np.exp(X @ B + 0.5)
    return X, rng.negative_binomial(2.0, 2.0 / (2.0 + mu)).astype(float), rng.gamma(2.0, mu / 2.0), e


def tight(loss: Any, penalty: str, lam: float | None, **more: Any) -> DCRegressor:
    return DCRegressor(loss=loss, penalty=penalty, lam=lam, tol=1e-11, **more)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "peer"), [("poisson", PoissonRegressor), ("gamma", GammaRegressor)])
def test_a_ridge_is_that_of_scikit_learn(loss: str, peer: Any, weighted: bool) -> None:
    X, counts, positive, _ = data()
    y = counts if loss == "poisson" else positive
    w = np.random.default_rng(1).uniform(0.5, 2.0, N) if weighted else None
    mine = tight(loss, "l2", 0.1).fit(X, y, w)
    other = peer(alpha=0.1, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y, w)
    np.testing.assert_allclose(mine.coef_, other.coef_, atol=1e-8)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, atol=1e-8)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-8)
    deviance = mean_poisson_deviance if loss == "poisson" else mean_gamma_deviance
    assert mine.deviance(X, y, w) == pytest.approx(deviance(y, other.predict(X), sample_weight=w), rel=1e-8)
    F = 0.5 * deviance(y, other.predict(X), sample_weight=w) + 0.05 * float(other.coef_ @ other.coef_)
    assert mine.objective_ == pytest.approx(F, rel=1e-10)
    power = 1 if loss == "poisson" else 2
    assert mine.score(X, y, w) == pytest.approx(d2_tweedie_score(y, mine.predict(X), power=power, sample_weight=w))
    assert mine.score(X, y, w) == pytest.approx(other.score(X, y, w), rel=1e-8)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "negative-binomial"])
def test_a_fit_with_offsets_and_exposures_is_that_of_statsmodels(loss: str) -> None:
    sm = pytest.importorskip("statsmodels.api")
    X, counts, positive, e = data()
    o = np.random.default_rng(2).normal(size=N) / 3.0
    y = positive if loss == "gamma" else counts
    families = {
        "poisson": sm.families.Poisson(),
        "gamma": sm.families.Gamma(sm.families.links.Log()),
        "negative-binomial": sm.families.NegativeBinomial(alpha=0.5),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        glm = sm.GLM(y, sm.add_constant(X), families[loss], offset=o + np.log(e)).fit(tol=1e-14, maxiter=300)
    own = NegativeBinomial(alpha=0.5) if loss == "negative-binomial" else loss
    mine = tight(own, "zero", None).fit(X, y, offset=o, exposure=e)
    np.testing.assert_allclose(np.append(mine.intercept_, mine.coef_), glm.params, atol=1e-7)
    np.testing.assert_allclose(mine.predict(X, offset=o, exposure=e), glm.fittedvalues, rtol=1e-7)
    assert N * mine.deviance(X, y, offset=o, exposure=e) == pytest.approx(glm.deviance, rel=1e-9)
    assert mine.d2(X, y, offset=o, exposure=e) == pytest.approx(1.0 - glm.deviance / glm.null_deviance, rel=1e-6)
    one = tight(own, "zero", None).fit(X, y, offset=o + np.log(e))
    np.testing.assert_allclose(one.coef_, mine.coef_, atol=1e-12)


def test_an_offset_of_least_squares_is_taken_from_the_target() -> None:
    X, _, y, e = data()
    mine = tight("squared", "l1", 0.05).fit(X, y, offset=e)
    same = tight("squared", "l1", 0.05).fit(X, y - e)
    np.testing.assert_allclose(mine.coef_, same.coef_, atol=1e-9)
    np.testing.assert_allclose(mine.predict(X, offset=e), same.predict(X) + e, atol=1e-8)
    assert mine.criteria(X, y, offset=e).bic == pytest.approx(same.criteria(X, y - e).bic, rel=1e-9)


def test_an_exposure_weighs_a_poisson_rate() -> None:
    """Counts with exposures e are rates y/e with weights e: the same model, found without any offset."""
    X, y, _, e = data()
    one = tight("poisson", "l1", 0.05).fit(X, y, exposure=e)
    two = tight("poisson", "l1", 0.05 / e.mean()).fit(X, y / e, sample_weight=e)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q", [0.25, 0.5, 0.9])
def test_the_limit_of_widths_is_the_quantile_regression_of_scikit_learn(q: float, weighted: bool) -> None:
    X, _, y, _ = data()
    w = np.random.default_rng(3).uniform(0.5, 2.0, N) if weighted else None
    exact = QuantileRegressor(quantile=q, alpha=0.02, solver="highs").fit(X, y, w)
    end = dcopt.problems.sharp_corner(X, y, Quantile(q=q), L1(lam=0.02), intercept=True, sample_weight=w)
    assert end.settled and end.gap is not None and -1e-12 <= end.gap <= 1e-10
    np.testing.assert_allclose(end.x, np.append(exact.coef_, exact.intercept_), atol=1e-8)
    u = y - exact.predict(X)
    pinball = np.average(np.maximum(q * u, (q - 1.0) * u), weights=w)
    assert end.F == pytest.approx(pinball + 0.02 * float(np.abs(exact.coef_).sum()), rel=1e-10)


def test_a_rounded_quantile_is_near_the_sharp_one() -> None:
    X, _, y, _ = data()
    model = DCRegressor(loss="quantile(q=0.8, width=0.05)", penalty="l1", lam=0.02, tol=1e-8).fit(X, y)
    end = dcopt.problems.sharp_corner(X, y, Quantile(q=0.8), L1(lam=0.02), intercept=True)
    assert model.objective_ <= end.F <= model.objective_ + 0.05 * 0.8**2 / 2.0
    assert abs((y <= model.predict(X)).mean() - 0.8) < 0.03
    assert model.score(X, y) == pytest.approx(d2_pinball_score(y, model.predict(X), alpha=0.8), abs=0.02)


def test_the_limit_of_widths_with_a_penalty_that_is_not_convex() -> None:
    X, _, y, _ = data()
    end = dcopt.problems.sharp_corner(X, y, Quantile(q=0.5), MCP(lam=0.05, gamma=3.0), intercept=True)
    assert end.settled and end.gap is None and np.count_nonzero(end.x) < 7


def test_epsilon_insensitive_is_a_support_vector_regression() -> None:
    X, _, y, _ = data()
    C = 0.5
    squared = LinearSVR(
        epsilon=0.2, C=C, loss="squared_epsilon_insensitive", dual=False, fit_intercept=False, tol=1e-12, max_iter=10**6
    ).fit(X, y)
    wide = 1e3  # Wider than every residual: there the loss is the squared one over 2 · wide.
    mine = tight(EpsilonInsensitive(epsilon=0.2, width=wide), "l2", 1.0 / (2.0 * wide * C * N), fit_intercept=False)
    np.testing.assert_allclose(mine.set_params(max_passes=5000).fit(X, y).coef_, squared.coef_, atol=1e-6)
    corner = LinearSVR(
        epsilon=0.2, C=C, loss="epsilon_insensitive", dual=True, fit_intercept=False, tol=1e-10, max_iter=10**7,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    end = dcopt.problems.sharp_corner(X, y, EpsilonInsensitive(epsilon=0.2), L2(lam=1.0 / (C * N)), tol=1e-11)
    assert end.settled
    np.testing.assert_allclose(end.x, corner.coef_, atol=1e-6)
    F = np.mean(np.maximum(np.abs(y - X @ corner.coef_) - 0.2, 0.0)) + 0.5 / (C * N) * corner.coef_ @ corner.coef_
    assert end.F == pytest.approx(F, rel=1e-8)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_squared_hinge_is_a_support_vector_machine(penalty: Any) -> None:
    X, y, *_ = data()
    labels, C = np.where(y > np.median(y), "many", "few"), 0.3
    peer = LinearSVC(penalty=penalty, C=C, dual=False, fit_intercept=False, tol=1e-9, max_iter=10**6).fit(X, labels)
    mine = DCClassifier(SquaredHinge(), penalty, 1.0 / (2.0 * C * N), fit_intercept=False, tol=1e-11).fit(X, labels)
    np.testing.assert_allclose(mine.coef_, peer.coef_, atol=1e-6)
    assert (mine.predict(X) == peer.predict(X)).mean() > 0.99


@pytest.mark.parametrize("loss", ["poisson", "gamma", "negative-binomial", "quantile(q=0.8)", "epsilon-insensitive"])
def test_lam_max_is_the_least_lam_of_the_model_without_features(loss: str) -> None:
    X, counts, positive, e = data()
    y = positive if loss == "gamma" else counts + 0.1 * positive if "q=" in loss or "eps" in loss else counts
    more = {"exposure": e} if loss in ("poisson", "gamma", "negative-binomial") else {}
    null = DCRegressor(loss=loss, penalty="l1", lam=1.0, lam_scale="max", tol=1e-9).fit(X, y, **more)
    less = DCRegressor(loss=loss, penalty="l1", lam=0.97, lam_scale="max", tol=1e-9).fit(X, y, **more)
    assert not null.coef_.any() and less.coef_.any()
    assert null.d2(X, y, **more) == pytest.approx(0.0, abs=1e-5)


def test_cross_validation_with_an_exposure() -> None:
    X, y, _, e = data()
    model = DCRegressorCV(loss="poisson", penalty="mcp", n_lams=12, cv=4, tol=1e-8).fit(X, y, exposure=e)
    assert model.status_ == "CONVERGED" and model.d2(X, y, exposure=e) > 0.15
    k = model.index_
    one = DCRegressor(loss="poisson", penalty="mcp", lam=model.lam_, tol=1e-8, warm_start=False).fit(X, y, exposure=e)
    np.testing.assert_allclose(one.coef_, model.coef_, atol=1e-5)
    by_hand = []
    from sklearn.model_selection import KFold

    for train, test in KFold(4).split(X):
        part = DCRegressor(loss="poisson", penalty="mcp", lam=model.lam_, tol=1e-8).fit(
            X[train], y[train], exposure=e[train]
        )
        by_hand.append(0.5 * part.deviance(X[test], y[test], exposure=e[test]))
    np.testing.assert_allclose(model.cv_loss_[k], by_hand, rtol=1e-4)
    with pytest.raises(BadSettings, match="^scoring"):
        DCRegressorCV(loss="poisson", scoring="r2").fit(X, y, exposure=e)


def test_a_path_with_an_exposure() -> None:
    X, y, _, e = data()
    path = DCRegressor(loss="poisson", penalty="l1").path(X, y, exposure=e, n_lams=5)
    one = DCRegressor(loss="poisson", penalty="l1", lam=path.lams[-1]).fit(X, y, exposure=e)
    np.testing.assert_allclose(path.coefs[-1], one.coef_, atol=1e-3)
    assert path.deviance[-1] == pytest.approx(N * one.deviance(X, y, exposure=e), rel=1e-4)


def test_standardised_columns_have_the_same_predictions() -> None:
    X, y, _, e = data()
    X = X * np.array([1e3, 1.0, 1e-2, 1.0, 1.0, 1.0]) + 3.0
    model = DCRegressor(loss="poisson", penalty="zero", standardize=True, tol=1e-10).fit(X, y, exposure=e)
    plain = DCRegressor(loss="poisson", penalty="zero", tol=1e-10).fit(X / X.std(axis=0), y, exposure=e)
    np.testing.assert_allclose(model.predict(X, exposure=e), plain.predict(X / X.std(axis=0), exposure=e), rtol=1e-5)


def test_a_model_file_keeps_the_loss(tmp_path: Any) -> None:
    from dcopt.learn.files import load_estimator, save_estimator

    X, y, _, e = data()
    for loss in ("poisson", NegativeBinomial(alpha=0.3), Quantile(q=0.9, width=0.5)):
        model = DCRegressor(loss=loss, penalty="l1", lam=0.05).fit(X, y)
        save_estimator(tmp_path / "m.dcm", model)
        again = load_estimator(tmp_path / "m.dcm")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.score(X, y) == model.score(X, y)


BAD: list[tuple[str, dict[str, Any], str, int | None]] = [
    ("offset", {"offset": np.zeros(N - 1)}, "offset", None),
    ("exposure", {"exposure": np.ones(N + 1)}, "exposure", None),
    ("nan offset", {"offset": np.where(np.arange(N) == 5, np.nan, 0.0)}, "offset", 5),
    ("exposure of 0", {"exposure": np.where(np.arange(N) == 7, 0.0, 1.0)}, "exposure", 7),
]


@pytest.mark.parametrize(("what", "given", "argument", "row"), BAD, ids=[row[0] for row in BAD])
def test_bad_offsets_are_refused_with_argument_and_row(what: str, given: Any, argument: str, row: int | None) -> None:
    X, y, *_ = data()
    model = DCRegressor(loss="poisson", penalty="l1", lam=0.1).fit(X, y)
    for ask in (lambda: DCRegressor(loss="poisson").fit(X, y, **given), lambda: model.predict(X, **given)):
        with pytest.raises(BadInput) as caught:
            ask()
        assert caught.value.argument == argument and caught.value.row == row


def test_offsets_where_they_have_no_meaning_are_refused() -> None:
    X, y, *_ = data()
    with pytest.raises(BadSettings, match="^exposure .*log link"):
        DCRegressor().fit(X, y, exposure=np.ones(N))
    with pytest.raises(BadSettings, match="^offset .*DCRegressor"):
        DCClassifier().fit(X, y > 1.0, offset=np.ones(N))


def test_bad_targets_are_refused_with_their_row() -> None:
    X, counts, positive, _ = data()
    for loss, y in (("poisson", counts), ("gamma", positive), ("negative-binomial", counts)):
        bad = np.where(np.arange(N) == 11, -1.0, y)
        with pytest.raises(BadInput) as caught:
            DCRegressor(loss=loss).fit(X, bad)
        assert caught.value.argument == "y" and caught.value.row == 11
        model = DCRegressor(loss=loss).fit(X, y)
        with pytest.raises(BadInput, match="row 11"):
            model.deviance(X, bad)


def test_the_gap_is_refused_where_there_is_no_kappa() -> None:
    X, y, *_ = data()
    with pytest.raises(dcopt.errors.DcoptError, match="criticality"):
        DCRegressor(loss="poisson", measure="gap").fit(X, y)
