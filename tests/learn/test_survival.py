"""Cox regression: the partial likelihood against a loop over its definition, lifelines and statsmodels."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small import Verbs

import dcopt
from dcopt import DCSurvival, DCSurvivalCV
from dcopt.errors import BadInput, BadSettings, CannotSolve
from dcopt.regularizers import L1
from dcopt.status import Status
from dcopt.sums import CoxSum

N, D = 90, 5


def data(ties: int = 8, n: int = N, seed: int = 0) -> tuple[Any, Any, Any, Any, Any]:
    """X, times in so many values, events, weights, strata"""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    time = np.ceil(ties * rng.exponential(np.exp(-X @ np.array([0.8, 0.0, -0.5, 0.0, 0.0])) / 2.0))
    return X, time, (rng.random(n) < 0.7).astype(float), rng.uniform(0.3, 2.0, n), rng.integers(0, 3, n)


def by_definition(z: Any, time: Any, event: Any, w: Any, strata: Any, ties: str) -> float:
    """−log L, one event after the other"""
    total = 0.0
    for s, t in {(s, t) for s, t, e in zip(strata, time, event, strict=True) if e}:
        here = strata == s
        risk = float(np.sum((w * np.exp(z))[here & (time >= t)]))
        dead = np.flatnonzero(here & (time == t) & (event == 1))
        own = float(np.sum(w[dead] * np.exp(z[dead])))
        for k in range(len(dead)):
            share = k / len(dead) if ties == "efron" else 0.0
            total += float(np.mean(w[dead])) * np.log(risk - share * own)
        total -= float(np.sum(w[dead] * z[dead]))
    return total


CASES = list(product(("efron", "breslow"), (False, True), (False, True)))


@pytest.mark.parametrize(("ties", "weighted", "stratified"), CASES)
def test_the_sum_is_that_of_its_definition(ties: Any, weighted: bool, stratified: bool) -> None:
    X, time, event, w, strata = data()
    w = w if weighted else np.ones(N)
    strata = strata if stratified else np.zeros(N, np.int64)
    P = dcopt.problems.cox(X, time, event, ties=ties, sample_weight=w, strata=strata)
    x, h = np.random.default_rng(1).normal(size=D), 1e-5
    look = P.sum.look(x)
    assert look.f == pytest.approx(by_definition(X @ x, time, event, w, strata, ties) / w.sum(), rel=1e-12)
    ends = [(P.sum.look(x + h * e), P.sum.look(x - h * e)) for e in np.eye(D)]
    np.testing.assert_allclose(look.grad, [(a.f - b.f) / (2 * h) for a, b in ends], atol=1e-8)
    H = np.array([(a.grad - b.grad) / (2 * h) for a, b in ends])
    C = P.sum.curvature(look)
    assert C is not None
    np.testing.assert_allclose(C.gram(np.arange(D)), H, atol=1e-8)
    np.testing.assert_allclose(C.gram(np.array([1, 3])), H[np.ix_([1, 3], [1, 3])], atol=1e-8)
    assert np.linalg.eigvalsh(X.T @ (X * C.bend[:, None]) / w.sum() - H)[0] > -1e-8


def test_rows_of_weight_zero_are_as_if_absent() -> None:
    X, time, event, w, strata = data()
    keep = np.random.default_rng(2).random(N) < 0.6
    x = np.linspace(-1.0, 1.0, D)
    some = dcopt.problems.cox(X, time, event, sample_weight=w * keep, strata=strata).sum.look(x)
    part = dcopt.problems.cox(
        X[keep], time[keep], event[keep], sample_weight=w[keep], strata=strata[keep]
    ).sum.look(x)  # fmt: skip
    assert some.f == pytest.approx(part.f, rel=1e-12)
    np.testing.assert_allclose(some.grad, part.grad, atol=1e-12)


def test_weights_are_repetitions_with_breslow() -> None:
    X, time, event, *_ = data()
    often = np.random.default_rng(3).integers(1, 4, N)
    x, rows = np.linspace(-1.0, 1.0, D), np.repeat(np.arange(N), often)
    one = dcopt.problems.cox(X, time, event, ties="breslow", sample_weight=often).sum.look(x)
    two = dcopt.problems.cox(X[rows], time[rows], event[rows], ties="breslow").sum.look(x)
    assert one.f == pytest.approx(two.f, rel=1e-12)
    np.testing.assert_allclose(one.grad, two.grad, atol=1e-12)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_scores_of_any_size_stay_numbers(ties: Any) -> None:
    X, time, event, *_ = data()
    P = dcopt.problems.cox(X, time, event, ties=ties)
    for far in (1e2, 1e4, 1e6):
        look = P.sum.look(np.full(D, far))
        assert np.isfinite(look.f) and np.isfinite(look.grad).all()
        C = P.sum.curvature(look)
        assert C is not None and np.isfinite(C.gram(np.arange(D))).all()
    assert np.isnan(P.sum.look(np.full(D, np.nan)).f)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_sparse_and_float32_rows(form: Any) -> None:
    X, time, event, *_ = data()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    want = dcopt.solve(dcopt.problems.cox(X, time, event, L1(lam=0.02)), tol=1e-10, seed=0).x
    got = dcopt.solve(dcopt.problems.cox(form(X), time, event, L1(lam=0.02)), tol=1e-10, seed=0).x
    np.testing.assert_allclose(got, want, atol=1e-9)
    single = dcopt.solve(dcopt.problems.cox(form(X.astype(np.float32)), time, event, L1(lam=0.02)), tol=1e-4, seed=0)
    assert single.x.dtype == np.float32 and single.status is Status.CONVERGED
    np.testing.assert_allclose(single.x, want, atol=1e-3)


def test_rows_of_a_users_own() -> None:
    X, time, event, *_ = data()
    one, two = (dcopt.solve(dcopt.problems.cox(a, time, event), tol=1e-9, seed=0).x for a in (X, Verbs(X)))
    np.testing.assert_allclose(one, two, atol=1e-8)


# ---- methods


def test_methods_that_draw_rows_or_need_L_refuse() -> None:
    X, time, event, *_ = data()
    P = dcopt.problems.cox(X, time, event, L1(lam=0.02))
    for method in sorted(set(dcopt.METHODS) - {"dca-local", "dca-nested"}):
        with pytest.raises(CannotSolve, match="cannot solve"):
            dcopt.solve(P, method, seed=0)
    with pytest.raises(CannotSolve):
        dcopt.solve(P, "dca-saga", kappa="adaptive", seed=0)
    slow = dcopt.solve(P, "dca", kappa="adaptive", seed=0, tol=1e-6, passes=5000)
    np.testing.assert_allclose(slow.x, dcopt.solve(P, seed=0, tol=1e-10).x, atol=1e-5)
    result = dcopt.solve(P, seed=0, tol=1e-8)
    assert result.status is Status.CONVERGED and any("full one" in note for note in result.notes)


def test_a_resumed_run_has_the_same_bits(tmp_path: Any) -> None:
    X, time, event, *_ = data()
    P = dcopt.problems.cox(X, time, event, L1(lam=0.02))
    whole = dcopt.solve(P, seed=0, tol=1e-10)
    dcopt.solve(P, seed=0, tol=1e-10, passes=3, checkpoint=tmp_path / "c")
    again = dcopt.resume(tmp_path / "c", P, passes=1000)
    np.testing.assert_array_equal(again.x, whole.x)
    other = dcopt.problems.cox(X, time + 1.0 * (time > 3), event, L1(lam=0.02))
    with pytest.raises(dcopt.ResumeMismatch):
        dcopt.resume(tmp_path / "c", other)


# ---- beside other libraries


def rossi() -> tuple[Any, Any, Any, Any]:
    pytest.importorskip("lifelines")
    from lifelines.datasets import load_rossi

    table = load_rossi().astype(float)
    names = [name for name in table if name not in ("week", "arrest")]
    table[names] = (table[names] - table[names].mean()) / table[names].std()
    return table, table[names].to_numpy(), table.week.to_numpy(), table.arrest.to_numpy()


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("stratified", [False, True])
def test_efron_is_that_of_lifelines(ridge: float, stratified: bool) -> None:
    table, X, time, event = rossi()
    from lifelines import CoxPHFitter

    more, given = ({"strata": ["wexp"]}, table.wexp.to_numpy()) if stratified else ({}, None)
    if stratified:
        X = np.delete(X, 3, axis=1)  # The variable of the strata has no coefficient.
    peer = CoxPHFitter(penalizer=ridge).fit(table, "week", "arrest", fit_options={"precision": 1e-12}, **more)
    mine = DCSurvival("l2", ridge, tol=1e-10) if ridge else DCSurvival("zero", tol=1e-10)
    mine.fit(X, (time, event), strata=None if given is None else np.round(given, 6).astype(str))
    np.testing.assert_allclose(mine.coef_, peer.params_.to_numpy(), atol=1e-7)
    if not stratified:
        assert mine.score(X, (time, event)) == pytest.approx(peer.concordance_index_, abs=1e-12)
    if not ridge:
        strata = None if given is None else np.round(given, 6).astype(str)
        assert mine.deviance(X, (time, event), strata=strata) == pytest.approx(-2.0 * peer.log_likelihood_, rel=1e-9)
        assert len(X) * mine.objective_ == pytest.approx(-peer.log_likelihood_, rel=1e-9)


def test_a_lasso_is_that_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    _, X, time, event = rossi()
    for lam in (0.005, 0.02, 0.05):
        mine = DCSurvival("l1", lam, ties="breslow", tol=1e-11).fit(X, (time, event))
        peer = sm.PHReg(time, X, status=event, ties="breslow")
        peer = peer.fit_regularized(alpha=lam, L1_wt=1.0, cnvrg_tol=1e-12, maxiter=10000)
        np.testing.assert_allclose(mine.coef_, peer.params, atol=1e-7)


def test_concordance_is_that_of_lifelines() -> None:
    pytest.importorskip("lifelines")
    from lifelines.utils import concordance_index

    from dcopt.learn.concordance import concordance

    rng = np.random.default_rng(0)
    for ties in (3, 1000):
        time, event = rng.integers(1, ties + 1, 300).astype(float), (rng.random(300) < 0.6).astype(float)
        risk = np.round(rng.normal(size=300), 1)
        assert concordance(time, event, risk) == pytest.approx(concordance_index(time, -risk, event), abs=1e-12)


# ---- the estimators


def test_targets_in_three_forms() -> None:
    X, time, event, *_ = data()
    fields = np.array(list(zip(event == 1, time, strict=True)), dtype=[("status", "?"), ("time", "f8")])
    models = [DCSurvival(lam=0.02).fit(X, y) for y in ((time, event), fields, np.column_stack([time, event]))]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)


def test_lam_max_paths_and_folds() -> None:
    X, time, event, *_ = data(n=300)
    y = (time, event)
    assert not DCSurvival("l1", 1.0, lam_scale="max").fit(X, y).coef_.any()
    assert DCSurvival("l1", 0.97, lam_scale="max").fit(X, y).coef_.any()
    path = DCSurvival("mcp", tol=1e-8).path(X, y, n_lams=8)
    assert path.coefs.shape == (8, D) and set(path.statuses) == {"CONVERGED"} and path.nnz[0] == 0
    one = DCSurvival("mcp", path.lams[4], tol=1e-8).fit(X, y)
    np.testing.assert_allclose(path.coefs[4], one.coef_, atol=1e-5)
    assert path.deviance[4] == pytest.approx(one.deviance(X, y), rel=1e-6)
    cv = DCSurvivalCV("scad", cv=4, n_lams=10).fit(X, y)
    assert {0, 2} <= set(np.flatnonzero(cv.coef_).tolist())
    assert cv.cv_loss_.shape[1] == 4 and cv.score(X, y) > 0.65 and cv.d2(X, y) > 0.0
    assert cv.criteria(X, y).bic == pytest.approx(cv.path_.bic[cv.index_], rel=1e-6)


def test_unpenalised_features_are_fitted_in_the_null_model() -> None:
    X, time, event, *_ = data(n=300)
    model = DCSurvival("l1", 1.0, lam_scale="max", unpenalized=[2], tol=1e-8).fit(X, (time, event))
    alone = DCSurvival("zero", tol=1e-10).fit(X[:, [2]], (time, event))
    assert np.flatnonzero(model.coef_).tolist() == [2]
    assert model.coef_[2] == pytest.approx(alone.coef_[0], abs=1e-5)


def test_bounds() -> None:
    X, time, event, *_ = data(n=300)
    model = DCSurvival("l1", 0.01, positive=True, tol=1e-8).fit(X, (time, event))
    assert model.coef_.min() == 0.0 and model.coef_[0] > 0.1
    free = DCSurvival("l1", 0.01, tol=1e-8).fit(X[:, model.coef_ > 0.0], (time, event))
    np.testing.assert_allclose(model.coef_[model.coef_ > 0.0], free.coef_, atol=1e-6)


def test_standardised_columns() -> None:
    X, time, event, *_ = data(n=300)
    far = X * np.array([1e3, 1.0, 1e-3, 1.0, 1.0]) + 5.0
    model = DCSurvival("l1", 0.05, standardize=True, tol=1e-9).fit(far, (time, event))
    plain = DCSurvival("l1", 0.05, tol=1e-9).fit((far - far.mean(axis=0)) / far.std(axis=0), (time, event))
    np.testing.assert_allclose(model.coef_ * far.std(axis=0), plain.coef_, atol=1e-6)


def test_the_estimator_is_cloned_and_described() -> None:
    from sklearn.base import clone

    X, time, event, *_ = data()
    model = clone(DCSurvival("mcp", 0.03, ties="breslow")).fit(X, (time, event))
    assert "cox" in model.summary() and model.get_params()["ties"] == "breslow"
    assert model.set_params(penalty__gamma=4.0).get_params()["penalty__gamma"] == 4.0
    np.testing.assert_allclose(model.predict(X), X @ model.coef_)


# ---- bad input


def bad(i: int, value: float, of: Any) -> Any:
    return np.where(np.arange(N) == i, value, of)


def test_bad_input_is_refused_with_argument_and_row() -> None:
    X, time, event, *_ = data()
    cases: list[tuple[Any, str, int | None]] = [
        ((bad(4, 0.0, time), event), "time", 4),
        ((bad(5, -2.0, time), event), "time", 5),
        ((bad(6, np.nan, time), event), "time", 6),
        ((time, bad(7, 2.0, event)), "event", 7),
        ((time, 0.0 * event), "event", None),
        ((time[:-1], event), "time", None),
        ((time, event[:-1]), "event", None),
        (time, "y", None),
    ]
    for y, argument, row in cases:
        with pytest.raises(BadInput) as caught:
            DCSurvival(lam=0.1).fit(X, y)
        assert caught.value.argument == argument and caught.value.row == row
    with pytest.raises(BadInput, match="^strata"):
        DCSurvival(lam=0.1).fit(X, (time, event), strata=np.zeros(N - 1))
    with pytest.raises(BadSettings, match="^ties"):
        DCSurvival(lam=0.1, ties="exact").fit(X, (time, event))
    model = DCSurvival(lam=0.1).fit(X, (time, event))
    with pytest.raises(BadInput, match="DCSurvival"):
        from dcopt.learn.files import save_estimator

        save_estimator("never", model)


def test_the_take_of_a_sum() -> None:
    X, time, event, w, strata = data()
    f = dcopt.problems.cox(X, time, event, sample_weight=w, strata=strata).f
    assert isinstance(f, CoxSum)
    rows = np.arange(10, 60)
    x = np.ones(D)
    part = f.take(rows)
    want = by_definition(X[rows] @ x, time[rows], event[rows], f.weights[rows], strata[rows], "efron") / f.total
    assert part.look(x).f * part.total == pytest.approx(want * f.total, rel=1e-12)
