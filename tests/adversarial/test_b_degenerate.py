"""B. Degenerate data and settings: an answer or a refusal by name, never a crash."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from faults import FaultyRows
from small import EXP, METHODS, binary, matrix, signs, targets

import dcopt
from dcopt import BadInput, BadSettings, Problem, Status, erm, iterate, solve
from dcopt.convex import ScaledIdentity
from dcopt.data.check import as_rows
from dcopt.data.rows import Can
from dcopt.draw import Draw
from dcopt.estimators import PAGE, SAG, SAGA, SARAH, SVRG, Full, LooplessSVRG
from dcopt.losses import LOSSES, Logistic
from dcopt.regularizers import (
    L0,
    L1,
    L2,
    MCP,
    REGULARIZERS,
    SCAD,
    Box,
    CappedL1,
    ElasticNet,
    Exponential,
    Geman,
    L1MinusL2,
    LogSum,
    LpSmooth,
    Nonnegative,
    SparseGroup,
    TopK,
    TransformedL1,
    Zero,
)
from dcopt.sums import LinearSum

SPARSE = [name for name in REGULARIZERS if name not in ("l2", "box", "nonnegative", "zero")]
NAN, HUGE = math.nan, 10**400


def _short(value: Any) -> str:
    return repr(value)[:20]


def steps(P: Problem, method: Any, count: int, seed: int = 0, **options: Any) -> list[np.ndarray]:
    return [s.x for s, _ in zip(iterate(P, method, seed=seed, **options), range(count), strict=False)]


# ---- B1, B9: labels


@pytest.mark.parametrize("loss", ["squared-sigmoid", "logistic", "softmax"])
@pytest.mark.parametrize("y", [[1, 1, 1], ["a", "a", "a"], [0.0, 0.0, 0.0], [True, True, True]])
def test_b1_one_class_is_refused(loss: str, y: list[Any]) -> None:
    with pytest.raises(BadInput, match="1 class") as caught:
        erm(np.eye(3), y, loss)
    assert caught.value.argument == "y" and str(y[0]) in str(caught.value)


@pytest.mark.parametrize("loss", ["squared-sigmoid", "softmax"])
def test_b1_weights_that_leave_one_class_are_refused(loss: str) -> None:
    with pytest.raises(BadInput, match="1 class"):
        erm(np.eye(4), [0, 1, 0, 1], loss, sample_weight=[1.0, 0.0, 2.0, 0.0])
    assert erm(np.eye(4), [0, 1, 0, 1], loss, sample_weight=[1.0, 0.0, 0.0, 1.0]).n == 4


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [1, 2],
        [-1, 1],
        ["no", "yes"],
        [False, True],
        [0.0, 1.0],
        [3.0, 7.0],
        np.array(["a", "b"], object),
        np.array([0, 1], object),
        [b"a", b"b"],
        np.array([1, 2], np.uint8),
    ],
)
def test_b9_two_labels_of_any_kind(labels: Any) -> None:
    X = matrix()
    y = np.asarray(labels)[(signs(X) > 0).astype(int)]
    P = erm(X, y, regularizer=EXP)
    assert list(P.classes) == list(labels)
    want = solve(erm(X, signs(X), regularizer=EXP), passes=4, seed=0).x
    np.testing.assert_array_equal(solve(P, passes=4, seed=0).x, want)


def test_b9_labels_of_many_classes() -> None:
    X = matrix()
    codes = np.arange(40) % 3
    want = solve(erm(X, codes, "softmax", EXP), passes=4, seed=0).x
    for names in (["a", "b", "c"], [10, 20, 30], [-1.0, 0.0, 5.0]):
        P = erm(X, np.asarray(names)[codes], "softmax", EXP)
        assert list(P.classes) == names
        np.testing.assert_array_equal(solve(P, passes=4, seed=0).x, want)
    with pytest.raises(BadInput, match="softmax"):
        erm(X, codes)


@pytest.mark.parametrize("loss", ["squared-sigmoid", "softmax"])
@pytest.mark.parametrize(
    ("y", "row"),
    [
        ([0.0, NAN, 1.0], 1),
        (np.array([0, None, 1], object), 1),
        (np.array(["a", NAN, "b"], object), 1),
        ([0.0, 1.0, math.inf], 2),
        ([0.0, 1.0, 0.5], 2),
        (np.array([0.0, 1.0, 0.5], object), 2),
        ([0, 1, 1j], None),
        (np.array(["a", 1, "b"], object), None),
        (np.array([{}, [], ()], object), None),
        (np.array(["2020-01-01", "NaT", "2020-01-02"], "datetime64[D]"), None),
    ],
)
def test_b9_labels_that_are_none(loss: str, y: Any, row: int | None) -> None:
    with pytest.raises(BadInput) as caught:
        erm(np.eye(3), y, loss)
    assert caught.value.argument == "y" and (row is None or caught.value.row == row)


# ---- B2: one row, two rows


@pytest.mark.parametrize("method", METHODS)
def test_b2_one_row_is_full_dca(method: str) -> None:
    P = erm(np.array([[1.0, -2.0, 0.5]]), [0.7], "welsch", EXP, kappa=12.0)
    got, want = steps(P, method, 40), steps(P, "dca", 40)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    free = solve(erm(np.array([[1.0, -2.0, 0.5]]), [0.7], "welsch", EXP), method, passes=2000, tol=1e-9, seed=0)
    assert free.status is Status.CONVERGED and free.certificate.value <= 1e-9


BOTH = {
    "page": PAGE(p=0.3, b_small=2, sampling="distinct"),
    "sarah": SARAH(b_small=2, period=3, sampling="distinct"),
    "svrg": SVRG(b_small=2, period=3, sampling="distinct"),
    "loopless-svrg": LooplessSVRG(b_small=2, q=0.3, sampling="distinct"),
    "saga": SAGA(b=2, sampling="distinct"),
    "saga-inside": SAGA(b=2, quadratic="inside", sampling="cyclic"),
    "sag": SAG(b=2, sampling="distinct"),
    "sag-inside": SAG(b=2, quadratic="inside", sampling="distinct"),
}


@pytest.mark.parametrize("name", BOTH)
def test_b2_both_of_two_rows_are_full_dca(name: str) -> None:
    P = erm(np.array([[1.0, -2.0], [0.5, 1.0]]), [0, 1], regularizer=EXP, kappa=3.0)
    np.testing.assert_allclose(steps(P, BOTH[name], 40), steps(P, "dca", 40), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_b2_every_method_runs_on_very_few_rows(method: str, n: int, loss: str) -> None:
    if loss == "softmax" and n == 1:
        n = 4  # one row has one class, and is refused: B1
    y = targets(matrix(n, 3)) if loss == "squared" else np.arange(n) % 2
    result = solve(erm(matrix(n, 3), y, loss, EXP), method, passes=30, seed=0)
    assert result.status is Status.BUDGET and np.isfinite(result.x).all()


# ---- B3: wide


def test_b3_a_million_columns_in_little_memory() -> None:
    d, n = 10**6, 10
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.standard_normal(50), rng.integers(0, d, 50), np.arange(0, 51, 5)), shape=(n, d))
    P = erm(X, np.arange(n) % 2, regularizer=Exponential(lam=1e-3, alpha=5.0))
    solve(P, "dca-page", passes=1, seed=0)  # compiled
    tracemalloc.start()
    try:
        result = solve(P, "dca-page", passes=20, seed=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.status is Status.BUDGET
    assert peak < 20 * 8 * d  # so many vectors of length d, and nothing of size N d
    assert np.count_nonzero(result.x) <= 50 and result.certificate.nnz == np.count_nonzero(result.x)


# ---- B4: columns


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("method", METHODS)
def test_b4_zero_columns_get_zero_and_equal_columns_the_same(name: str, method: str) -> None:
    if method == "cccp" and REGULARIZERS[name].L2 is None:
        method = "dca"  # cccp wants a smooth r2
    X = matrix(30, 5)
    X[:, 1], X[:, 2], X[:, 4] = 0.0, 1.0, X[:, 3]
    start = erm(X, targets(matrix(30, 5)), "squared", name)
    for x in steps(start, method, 60):
        assert x[1] == 0.0
        if name != "top-k":  # which of two equal entries is among the k largest is a matter of their order
            assert x[3] == pytest.approx(x[4], rel=0, abs=1e-12)
    assert np.isfinite(solve(start, method, passes=20, seed=0).x).all()


def test_b4_a_zero_column_is_left_at_once_by_any_sparse_regularizer_from_elsewhere() -> None:
    X = matrix(30, 5)
    X[:, 1] = 0.0
    P = erm(X, signs(X), "logistic", L1(0.1))
    assert solve(P, "dca", passes=200, seed=0, x0=np.full(5, 0.5)).x[1] == 0.0


# ---- B5, B6: nothing to learn from


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("measure", ["gap", "criticality"])
def test_b5_a_zero_matrix_is_solved_at_once(form: Any, method: str, measure: str) -> None:
    P = erm(form(np.zeros((6, 3))), [0, 1] * 3, regularizer=EXP)
    result = solve(P, method, tol=1e-9, measure=measure, seed=0)
    assert result.status is Status.CONVERGED and result.steps == 0
    assert result.certificate.value == 0.0 and result.certificate.t == 0
    assert not result.x.any() and result.spent.gradients == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SPARSE)
def test_b5_a_zero_matrix_and_a_budget(method: str, name: str) -> None:
    if method == "cccp" and REGULARIZERS[name].L2 is None:
        method = "dca"  # cccp wants a smooth r2
    P = erm(sp.csr_array((6, 3)), [0, 1] * 3, regularizer=name)
    result = solve(P, method, passes=3, seed=0)
    assert result.status is Status.BUDGET and not result.x.any() and result.certificate.value == 0.0
    assert all(math.isfinite(v) for v in (P.constants.rho, P.constants.L, P.constants.L_v, P.constants.L_H))


def test_b5_from_elsewhere_the_penalty_leads_to_zero() -> None:
    P = erm(np.zeros((6, 3)), [0, 1] * 3, regularizer=L1(0.1))
    result = solve(P, tol=1e-12, seed=0, x0=np.array([0.3, -0.2, 0.0]))
    assert result.status is Status.CONVERGED and not result.x.any()


@pytest.mark.parametrize("method", METHODS)
def test_b6_batches_of_empty_rows_are_no_end(method: str) -> None:
    X = np.zeros((50, 4))
    X[::10] = matrix(5, 4)
    y = np.arange(50) // 10 % 2
    for form in (np.asarray, sp.csr_array):
        P = erm(form(X), y, regularizer=Exponential(lam=1e-4, alpha=5.0))
        result = solve(P, method, passes=10, seed=0)
        assert result.status is Status.BUDGET and result.x.any()
        assert result.trace["F"][-1] < result.trace["F"][0]


def test_b6_a_step_on_an_empty_row_alone() -> None:
    X = sp.csr_array(np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0], [-1.0, 2.0]]))
    P = erm(X, [0, 1, 1, 0], regularizer=L1(1e-3))
    seen = steps(P, PAGE(p=1.0, b=1, b_small=1), 50, x0=np.array([0.5, 0.5]))
    shrunk = [np.allclose(b, a - np.sign(a) * 1e-3 / P.G.kappa) for a, b in zip(seen, seen[1:], strict=False)]
    assert any(shrunk) and not all(shrunk)  # on an empty row only the penalty moves x


# ---- B7: weights are repetition


@pytest.mark.parametrize("loss", ["squared-sigmoid", "softmax", "squared"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [False, True])
def test_b7_weights_are_repetition(loss: str, form: Any, intercept: bool) -> None:
    X = matrix(30, 4)
    y = targets(X) if loss == "squared" else signs(X) if loss == "squared-sigmoid" else np.arange(30) % 3
    times = np.arange(30) % 4  # weight 0 as well
    r = L2(0.05)  # one solution, so that the two runs can be compared
    weighted = erm(form(X), y, loss, r, sample_weight=times, intercept=intercept)
    repeated = erm(form(np.repeat(X, times, axis=0)), np.repeat(y, times), loss, r, intercept=intercept)
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.standard_normal(weighted.shape)
        assert weighted.value(x) == pytest.approx(repeated.value(x), rel=1e-12)
        one, other = (dcopt.measures.criticality(P, x) for P in (weighted, repeated))
        assert one == pytest.approx(other, rel=1e-11)
    for name in ("Lbar", "m_f"):
        one, other = (getattr(P.constants.smoothness, name) for P in (weighted, repeated))
        assert one == pytest.approx(other, rel=1e-8)
    a, b = (solve(P, "dca", tol=1e-8, measure="criticality", passes=20000, seed=0) for P in (weighted, repeated))
    assert a.status is b.status is Status.CONVERGED
    if loss != "squared-sigmoid":  # strongly convex: |x − x*| ≤ criticality / 0.05 (without the intercept)
        np.testing.assert_allclose(a.x, b.x, rtol=0, atol=1e-5)
    assert a.certificate.F == pytest.approx(b.certificate.F, abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_b7_every_method_reaches_the_weighted_solution(method: str) -> None:
    X = matrix(30, 4)
    times = np.arange(30) % 3
    weighted = erm(X, targets(X), "squared", L2(0.5), sample_weight=times)
    repeated = erm(np.repeat(X, times, axis=0), np.repeat(targets(X), times), "squared", L2(0.5))
    a = solve(weighted, method, tol=1e-8, measure="criticality", passes=2000, seed=0)
    b = solve(repeated, "dca", tol=1e-8, measure="criticality", passes=2000, seed=0)
    assert a.status is b.status is Status.CONVERGED
    assert np.linalg.norm(a.x - b.x) <= 2e-8 / 0.5 + 1e-12  # the certificates' own bound


# ---- B8: contradictions and separable data


@pytest.mark.parametrize("method", METHODS)
def test_b8_contradictory_labels(method: str) -> None:
    row = np.array([[1.0, -2.0]])
    P = erm(np.repeat(row, 10, axis=0), [0, 1] * 5, "logistic", EXP)
    result = solve(P, method, tol=1e-10, passes=200, seed=0, x0=np.array([0.3, 0.1]))
    assert np.isfinite(result.x).all()
    assert result.status is Status.CONVERGED or result.certificate.value > 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_b8_separable_data_without_a_penalty_have_no_solution(method: str) -> None:
    X = np.array([[1.0], [2.0], [-1.0], [-3.0]])
    P = erm(X, [1, 1, 0, 0], "logistic")
    result = solve(P, method, tol=1e-12, measure="criticality", passes=100, seed=0)
    assert result.status in (Status.BUDGET, Status.STALLED)
    assert np.isfinite(result.x).all() and result.x[0] > 1.0 and result.certificate.value > 1e-12


# ---- B10: imbalance


def test_b10_the_intercept_of_rare_positives() -> None:
    n, rare = 10**6, 1
    y = np.zeros(n + rare, np.int8)
    y[:rare] = 1
    P = erm(sp.csr_array((n + rare, 1)), y, "logistic", EXP, intercept=True)
    there = np.array([0.0, math.log(rare / n)])
    result = solve(P, "dca", tol=1e-12, measure="criticality", seed=0, x0=there)
    assert result.status is Status.CONVERGED and result.steps == 0
    for off in (-0.1, 0.1):
        assert dcopt.measures.criticality(P, there + [0.0, off]) > 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_b10_the_intercept_is_reached(method: str) -> None:
    y = np.zeros(101)
    y[0] = 1.0
    P = erm(sp.csr_array((101, 2)), y, "logistic", EXP, intercept=True)
    result = solve(P, method, tol=1e-7, measure="criticality", passes=3000, seed=0, trace=None)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.x, [0.0, 0.0, math.log(1 / 100)], atol=1e-3)
    assert not result.x[:2].any()


# ---- B12: settings of estimators and of solve

COUNTS = [0, -1, 1.5, NAN, math.inf, "3", True, np.array([1, 2]), 2.0]


@pytest.mark.parametrize("bad", COUNTS, ids=repr)
@pytest.mark.parametrize(
    ("make", "setting"),
    [
        (lambda b: PAGE(p=0.5, b_small=b), "b_small"),
        (lambda b: PAGE(p=0.5, b_small=1, b=b), "b"),
        (lambda b: SARAH(b_small=b), "b_small"),
        (lambda b: SARAH(b_small=1, period=b), "period"),
        (lambda b: SVRG(b_small=b), "b_small"),
        (lambda b: SVRG(b_small=1, period=b), "period"),
        (lambda b: LooplessSVRG(b_small=b, q=0.5), "b_small"),
        (lambda b: SAGA(b=b), "b"),
        (lambda b: SAG(b=b), "b"),
    ],
    ids=[
        "page.b_small",
        "page.b",
        "sarah.b_small",
        "sarah.period",
        "svrg.b_small",
        "svrg.period",
        "loopless.b_small",
        "saga.b",
        "sag.b",
    ],
)
def test_b12_batch_sizes_are_counts(make: Any, setting: str, bad: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        make(bad)
    assert caught.value.setting == setting


@pytest.mark.parametrize("b", [1, 2, 40, np.int32(3), np.uint8(4)])
@pytest.mark.parametrize(
    "kind",
    [
        lambda b: PAGE(p=0.5, b_small=b),
        lambda b: PAGE(p=0.5 if b > 1 else 1.0, b_small=1, b=b),
        lambda b: SVRG(b_small=b),
        lambda b: SAGA(b=b),
        lambda b: SAG(b=b),
        lambda b: SARAH(b_small=b),
    ],
)
@pytest.mark.parametrize("sampling", ["iid", "distinct", "cyclic"])
def test_b12_batches_up_to_n_are_accepted(b: Any, kind: Any, sampling: str) -> None:
    from dataclasses import replace

    result = solve(binary(40), replace(kind(b), sampling=sampling), passes=3, seed=0)
    assert result.status is Status.BUDGET and type(result.spent.gradients) is int


@pytest.mark.parametrize("b", [41, 2**31, 2**63, 10**30])
@pytest.mark.parametrize(
    "kind",
    [
        lambda b: PAGE(p=0.5, b_small=b),
        lambda b: PAGE(p=0.5, b_small=1, b=b),
        lambda b: SVRG(b_small=b),
        lambda b: SAGA(b=b),
        lambda b: SAG(b=b),
        lambda b: SARAH(b_small=b),
    ],
)
def test_b12_batches_above_n_are_refused_before_a_step(b: int, kind: Any) -> None:
    faulty = FaultyRows(as_rows(matrix()))
    P = erm(faulty, signs(matrix()))
    for use in (solve, iterate):
        with pytest.raises(BadSettings, match="N = 40"):
            use(P, kind(b))
    assert not faulty.log
    with pytest.raises(BadSettings, match="b=None"):
        solve(P, PAGE(p=0.5, b_small=1, b=41))


@pytest.mark.parametrize("bad", [0, 0.0, -0.1, 1.1, NAN, math.inf, "0.5", None, True, 1j, {0.5}], ids=repr)
def test_b12_probabilities(bad: Any) -> None:
    for make, setting in ((lambda p: PAGE(p=p, b_small=1), "p"), (lambda q: LooplessSVRG(b_small=1, q=q), "q")):
        with pytest.raises(BadSettings) as caught:
            make(bad)
        assert caught.value.setting == setting


@pytest.mark.parametrize("p", [1, 1.0, 0.5, 1e-300, np.float32(0.25)])
def test_b12_probabilities_up_to_one_are_accepted(p: Any) -> None:
    for estimator in (PAGE(p=p, b_small=2), LooplessSVRG(b_small=2, q=p)):
        assert solve(binary(), estimator, passes=2, seed=0).status is Status.BUDGET
    full = steps(binary(), PAGE(p=1.0, b_small=2), 10)
    np.testing.assert_array_equal(full, steps(binary(), "dca", 10))


@pytest.mark.parametrize("sampling", ["random", "IID", None, 1])
def test_b12_samplings(sampling: Any) -> None:
    for make in (
        lambda s: PAGE(p=0.5, b_small=1, sampling=s),
        lambda s: SVRG(b_small=1, sampling=s),
        lambda s: SAGA(b=1, sampling=s),
    ):
        with pytest.raises(BadSettings) as caught:
            make(sampling)
        assert caught.value.setting == "sampling"
    with pytest.raises(BadSettings, match="distinct"):
        SAGA(b=1, sampling="distinkt")


SOLVE = {
    "method": ["dca-pag", "", None, 3, PAGE, Problem],
    "passes": [-1, NAN, math.inf, "20", [1], 1j, True, HUGE],
    "steps": [-1, NAN, 1.5, "3", math.inf, True],
    "seconds": [-1, NAN, math.inf, "1", HUGE],
    "tol": [-1, NAN, math.inf, "small", HUGE],
    "loose_tol": [-1e-3, NAN, math.inf],
    "measure": ["lagged", "lagged_gap", 1],
    "output": ["first", "Best", 1],
    "trace": [0, 0.0, -1, NAN, "all"],
    "seed": [-1, 2**64, 1.5, "0", NAN, True],
    "stop": [1.0, "passes", len],
    "callbacks": [1, [1], "abc", len],
}


@pytest.mark.parametrize(("setting", "value"), [(s, v) for s, values in SOLVE.items() for v in values], ids=_short)
def test_b12_settings_of_solve(setting: str, value: Any) -> None:
    faulty = FaultyRows(as_rows(matrix()))
    with pytest.raises(BadSettings) as caught:
        solve(erm(faulty, signs(matrix())), **{"steps": 1, setting: value})
    assert caught.value.setting == setting and not faulty.log


@pytest.mark.parametrize("value", [-1, 0, NAN, math.inf, "1", True, HUGE], ids=_short)
def test_b12_kappa(value: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        binary(kappa=value)
    assert caught.value.setting == "kappa"
    with pytest.raises(BadSettings):
        binary().with_kappa(value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("loss", "squared-sigmoit"),
        ("loss", None),
        ("regularizer", "expo"),
        ("regularizer", None),
        ("regularizer", 3),
        ("decomposition", "spectral?"),
        ("concave_step", "mm"),
    ],
)
def test_b12_names(setting: str, value: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        erm(np.eye(2), [0, 1], **{setting: value})
    assert caught.value.setting == setting
    with pytest.raises(BadSettings, match="squared-sigmoid"):
        erm(np.eye(2), [0, 1], "squared-sigmoit")


# ---- B13: hyperparameters

# a maker for each setting, values that are refused, values that are accepted
BAD = (-1.0, NAN, math.inf, -math.inf, "1", None, True, 1j)
TABLE: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "exponential.lam": (lambda v: Exponential(lam=v, alpha=5.0), BAD, (0, 0.0, 1e-300, 1.0, 1e300)),
    "exponential.alpha": (lambda v: Exponential(lam=0.1, alpha=v), (0.0, *BAD), (1e-100, 1.0, 1e100)),
    "capped-l1.lam": (lambda v: CappedL1(lam=v, theta=0.5), BAD, (0.0, 1e300)),
    "capped-l1.theta": (lambda v: CappedL1(lam=0.1, theta=v), (0.0, *BAD), (1e-300, 1e300)),
    "scad.lam": (lambda v: SCAD(lam=v), BAD, (0.0, 1e300)),
    "scad.a": (lambda v: SCAD(lam=0.1, a=v), (2.0, 1.0, 0.0, *BAD), (2.0000001, 1e300)),
    "mcp.lam": (lambda v: MCP(lam=v), BAD, (0.0, 1e300)),
    "mcp.gamma": (lambda v: MCP(lam=0.1, gamma=v), (0.0, *BAD), (1e-100, 1e300)),
    "log-sum.lam": (lambda v: LogSum(lam=v, eps=0.5), BAD, (0.0, 1e300)),
    "log-sum.eps": (lambda v: LogSum(lam=0.1, eps=v), (0.0, *BAD), (1e-100, 1e300)),
    "transformed-l1.lam": (lambda v: TransformedL1(lam=v, a=1.0), BAD, (0.0, 1e300)),
    "transformed-l1.a": (lambda v: TransformedL1(lam=0.1, a=v), (0.0, *BAD), (1e-100, 1e100)),
    "geman.lam": (lambda v: Geman(lam=v, theta=0.5), BAD, (0.0, 1e300)),
    "geman.theta": (lambda v: Geman(lam=0.1, theta=v), (0.0, *BAD), (1e-100, 1e100)),
    "lp-smooth.lam": (lambda v: LpSmooth(lam=v, p=0.5, eps=0.1), BAD, (0.0, 1e300)),
    "lp-smooth.p": (lambda v: LpSmooth(lam=0.1, p=v, eps=0.1), (0.0, 1.5, *BAD), (1e-3, 0.999)),
    "lp-smooth.eps": (lambda v: LpSmooth(lam=0.1, p=0.5, eps=v), (0.0, *BAD), (1e-50, 1e100)),
    "l1-minus-l2.lam": (lambda v: L1MinusL2(lam=v), BAD, (0.0, 1e300)),
    "l1-minus-l2.beta": (lambda v: L1MinusL2(lam=0.1, beta=v), (1.1, *BAD), (0.0, 1.0)),
    "top-k.lam": (lambda v: TopK(lam=v, k=2), BAD, (0.0, 1e300)),
    "top-k.k": (lambda v: TopK(lam=0.1, k=v), (1.5, *BAD), (0, 1, 6, 10**9)),
    "l0.lam": (lambda v: L0(lam=v, k=2), BAD, (0.0, 1e300)),
    "l0.k": (lambda v: L0(lam=0.1, k=v), (0, 1.5, *BAD), (1, 6, 10**9)),
    "sparse-group.lam": (lambda v: SparseGroup(lam=v), BAD, (0.0, 1e300)),
    "sparse-group.share": (lambda v: SparseGroup(lam=0.1, share=v), (1.5, *BAD), (0.0, 0.5, 1.0)),
    "l1.lam": (lambda v: L1(lam=v), BAD, (0.0, 1e300)),
    "l2.lam": (lambda v: L2(lam=v), BAD, (0.0, 1e300)),
    "elastic-net.lam": (lambda v: ElasticNet(lam=v, mu=0.1), BAD, (0.0, 1e300)),
    "elastic-net.mu": (lambda v: ElasticNet(lam=0.1, mu=v), BAD, (0.0, 1e300)),
    "box.low": (lambda v: Box(low=v, high=1.0), (2.0, NAN, math.inf, "a", None, [0.0, 2.0]), (-math.inf, -1.0, 1.0)),
    "box.high": (lambda v: Box(low=-1.0, high=v), (-2.0, NAN, -math.inf, "a"), (math.inf, -1.0, 0.0)),
}
LOSS_SCALES = [type(loss) for loss in LOSSES.values() if hasattr(loss, "c")]


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, (_, bad, _) in TABLE.items() for v in bad], ids=repr)
def test_b13_hyperparameters_outside_their_domain(name: str, value: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        TABLE[name][0](value)
    assert caught.value.setting == name.split(".")[1] or name.startswith("box")


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, (_, _, good) in TABLE.items() for v in good], ids=repr)
def test_b13_hyperparameters_at_the_ends_of_their_domain(name: str, value: Any) -> None:
    r = TABLE[name][0](value)
    start = np.clip(np.zeros(6), r.low, r.high) if name.startswith("box") else None
    P = binary(regularizer=r)
    result = solve(P, "dca", passes=10, seed=0, x0=start)
    assert result.status is Status.BUDGET and np.isfinite(result.x).all() and math.isfinite(result.certificate.F)
    if name.endswith("lam") and value == 0 and not name.startswith("elastic"):
        np.testing.assert_array_equal(result.x, solve(binary(regularizer=Zero()), "dca", passes=10, seed=0).x)
    if name.endswith("lam") and value == 1e300 and name != "l2.lam":
        assert not result.x.any() and result.certificate.value == 0.0


def test_b13_the_table_has_every_regularizer() -> None:
    assert {name.split(".")[0] for name in TABLE} == set(REGULARIZERS) - {"nonnegative", "zero"}
    assert solve(binary(regularizer=Nonnegative()), passes=3, seed=0).x.min() >= 0.0


@pytest.mark.parametrize("kind", LOSS_SCALES)
@pytest.mark.parametrize("bad", [0.0, *BAD], ids=repr)
def test_b13_scales_of_losses(kind: Any, bad: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        kind(c=bad)
    assert caught.value.setting == "c"


@pytest.mark.parametrize("kind", LOSS_SCALES)
@pytest.mark.parametrize("c", [1e-30, 1.0, 1e30])
def test_b13_extreme_scales_of_losses(kind: Any, c: float) -> None:
    X = matrix()
    result = solve(erm(X, targets(X), kind(c=c), EXP), "dca", passes=5, seed=0)
    assert result.status is Status.BUDGET and np.isfinite(result.x).all()


# ---- B14: more rows than 32 bits can count


class Endless:
    """5·10⁹ rows that are made when asked for."""

    shape, dtype = (5 * 10**9, 2), np.dtype(np.float64)

    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def _rows(self, rows: Any) -> np.ndarray:
        assert rows is not None and rows.min() >= 0 and rows.max() < self.shape[0]
        self.seen.append(np.array(rows))
        return np.stack([np.ones(len(rows)), np.sin(rows.astype(float))], axis=1)

    def dot(self, x: Any, rows: Any = None) -> Any:
        return self._rows(rows) @ x

    def pair(self, x: Any, prev: Any, rows: Any = None) -> Any:
        return np.stack([self._rows(rows) @ x, self._rows(rows) @ prev])

    def tdot(self, c: Any, rows: Any = None) -> Any:
        return self._rows(rows).T @ c

    def take(self, rows: Any) -> Any:
        return as_rows(self._rows(rows))

    def norms2(self) -> Any:
        return np.ones(1)

    def can(self) -> Can:
        return Can(pair=self.pair)


class OneLabel(np.ndarray):
    """+1 for every row, however many there are."""

    def take(self, rows: Any, *args: Any, **options: Any) -> Any:
        return np.ones(len(rows))


@pytest.mark.parametrize("sampling", ["iid", "distinct", "cyclic"])
def test_b14_five_billion_rows(sampling: Any) -> None:
    rows = Endless()
    P = Problem(ScaledIdentity(0.25), r=EXP, f=LinearSum(rows, Logistic(), np.ones(1).view(OneLabel)))
    seen = steps(P, PAGE(p=0.1, b=512, b_small=64, sampling=sampling), 200)
    assert np.isfinite(seen).all() and seen[-1][0] > 0.1
    drawn = np.concatenate(rows.seen)
    if sampling != "cyclic":
        assert drawn.max() > 4.9e9  # beyond 2³²
    assert drawn.dtype == np.int64


def test_b14_high_bits_are_uniform() -> None:
    n = 5 * 10**9
    drawn = np.concatenate([Draw(0, t).rows(n, 1000) for t in range(100)])
    counts = np.bincount((drawn >> 26).astype(int), minlength=75)  # 74 cells of 2²⁶ rows and a part of one
    want = np.diff(np.append(np.arange(75) * 2.0**26, n)) / n * len(drawn)
    chi2 = float(np.sum((counts - want) ** 2 / want))
    assert 74 - 6 * math.sqrt(2 * 74) < chi2 < 74 + 6 * math.sqrt(2 * 74)
    low = np.bincount((drawn % 64).astype(int), minlength=64)
    assert np.sum((low - len(drawn) / 64) ** 2 / (len(drawn) / 64)) < 63 + 6 * math.sqrt(2 * 63)


def test_b14_the_last_cyclic_rows_wrap_around() -> None:
    n = 5 * 10**9
    np.testing.assert_array_equal(Draw(0, (n - 1) // 7).rows(n, 7, "cyclic")[-1:], [(((n - 1) // 7) * 7 + 6) % n])
    assert Draw(0, 10**12).rows(n, 7, "cyclic").min() >= 0


# ---- B15: no row is left out


@pytest.mark.parametrize("sampling", ["iid", "distinct", "cyclic"])
@pytest.mark.parametrize(("n", "b"), [(10, 3), (7, 4), (40, 7), (41, 40)])
def test_b15_every_row_has_its_turn(n: int, b: int, sampling: Any) -> None:
    count = 200 * n // b
    visits = np.zeros(n)
    for t in range(count):
        rows = Draw(5, t).rows(n, b, sampling)
        assert len(rows) == b and (sampling == "iid" or len(set(rows.tolist())) == b)
        np.add.at(visits, rows, 1)
    mean = count * b / n
    assert visits.sum() == count * b
    assert np.all(np.abs(visits - mean) <= 5 * math.sqrt(mean))
    if sampling == "cyclic":
        assert visits.max() - visits.min() <= 1


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("dca", "cccp")])
def test_b15_every_method_draws_every_row(method: str) -> None:
    n = 1201  # so many that dca-svrg takes steps between its snapshots
    faulty = FaultyRows(as_rows(matrix(n, 3)))
    P = erm(faulty, signs(matrix(n, 3)), regularizer=EXP)
    solve(P, method, passes=200, seed=1, trace=None)
    drawn = [call.rows for call in faulty.log if call.rows is not None and call.verb != "tdot"]
    visits = np.bincount(np.concatenate(drawn), minlength=n)
    assert np.all(np.abs(visits - visits.mean()) <= 5 * math.sqrt(visits.mean()))


def test_b15_full_takes_every_row_in_every_step() -> None:
    faulty = FaultyRows(as_rows(matrix()))
    P = erm(faulty, signs(matrix()))
    result = solve(P, Full(), steps=9, seed=0)
    assert result.spent.gradients == result.spent.paper == 9 * 40


def test_b12_corrections_are_smaller_than_refreshes() -> None:
    """b' < b, as Algorithm 1 has it; b' = N where b is all N, and any b' where no step corrects."""
    for bad in ({"b_small": 50, "b": 10}, {"b_small": 10, "b": 10}, {"b_small": 1, "b": 1}):
        with pytest.raises(BadSettings, match="less than b = ") as caught:
            PAGE(p=0.5, **bad)
        assert caught.value.setting == "b_small"
        with pytest.raises(BadSettings, match="less than b = "):
            SARAH(period=2, **bad)
        assert PAGE(p=1.0, **bad).b == PAGE(p=(1.0, 1.0), **bad).b == SARAH(period=1, **bad).b == bad["b"]
        with pytest.raises(BadSettings, match="less than b = "):
            PAGE(p=(1.0, 0.5), **bad)
    for n in (1, 2, 3, 5):
        P = erm(matrix(n, 3), np.arange(n) / n, "huber", "l1")
        assert solve(P, PAGE(p=0.5, b_small=n), steps=3, seed=0).steps == 3
        for name in ("dca-page", "dca-svrg", "dca-saga", "sdca", "mm-saga", "mm-svrg", "mm-sarah", "online-dca"):
            assert solve(P, name, steps=3, seed=0).steps == 3
        for setting in ("finite-sum", "online"):
            plan = dcopt.plan(P, 5.0, setting=setting, sigma=2.0)  # type: ignore[arg-type]
            assert solve(P, plan, seed=0).steps == plan.T and plan.compare().cheapest.T >= 1


@pytest.mark.parametrize("bad", [(), (0.5, 0.0), (0.5, -0.1, 1.0), (0.5, NAN), (0.5, "1"), ((0.5,), 1.0), "0.5", [1.5]])
def test_b12_sequences_of_probabilities(bad: Any) -> None:
    with pytest.raises(BadSettings) as caught:
        PAGE(p=bad, b_small=1)
    assert caught.value.setting.startswith("p")
    assert PAGE(p=[0.5, 0, 1], b_small=1) == PAGE(p=np.array([0.5, 0.0, 1.0]), b_small=1)  # type: ignore[arg-type]
