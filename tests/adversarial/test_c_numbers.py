"""C. Numbers: NaN stays NaN, nothing overflows in silence, rounding does not build up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small import EXP, METHODS, binary, matrix, signs, targets

import dcopt
from dcopt import BadInput, Status, erm, iterate, solve
from dcopt.data.check import as_rows
from dcopt.data.intercept import WithIntercept
from dcopt.draw import Draw
from dcopt.estimators import PAGE, SAG, SAGA
from dcopt.losses import LOSSES, Logistic, Softmax
from dcopt.regularizers import REGULARIZERS, Except, Exponential, Reweighted, Zero
from dcopt.regularizers.profiled import Profiled
from dcopt.sums import LinearSum

EPS = np.finfo(np.float64).eps


# ---- C1: NaN in, NaN out


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("place", [0, 2, 5])
def test_c1_regularizers_keep_nan(name: str, wrapped: bool, dtype: Any, place: int) -> None:
    r = Except(REGULARIZERS[name]) if wrapped else REGULARIZERS[name]
    x = np.array([0.3, 0.2, 0.0, 0.7, 0.9, 0.1], dtype)  # in every domain
    x[place] = np.nan
    assert np.isnan(r.prox(x, 0.5)[place])
    assert np.isnan(r.subgrad(x)[place])
    assert math.isnan(r.value(x)) and math.isnan(r.r1(x))
    fine = np.zeros(6, dtype)
    assert math.isnan(r.distance(x, fine)) and math.isnan(r.distance(fine, x))
    if isinstance(r, Profiled):
        w, base = Reweighted(r).linearize(x, x.copy)
        assert np.isnan((base.prox(fine + 1, 0.5) - w)[place])


@pytest.mark.parametrize("groups", ["rows", [[0, 1], [2]]])
@pytest.mark.parametrize("name", [name for name, r in REGULARIZERS.items() if isinstance(r, Profiled)])
def test_c1_groups_keep_nan(name: str, groups: Any) -> None:
    r = replace(REGULARIZERS[name], groups=groups)
    x = np.array([[0.3, -0.2], [0.0, 0.7], [0.5, 0.5]])
    x[1, 0] = np.nan
    assert np.isnan(r.prox(x, 0.5)[1]).all() and np.isnan(r.subgrad(x)[1]).all()
    assert math.isnan(r.value(x)) and math.isnan(r.r1(x)) and math.isnan(r.distance(x, np.zeros_like(x)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("width", [(), (3,)])
def test_c1_products_keep_nan(form: Any, intercept: bool, width: tuple[int, ...]) -> None:
    X = matrix(5, 4) + 1.0  # no zeros: CSR sees every entry
    a = WithIntercept(as_rows(form(X))) if intercept else as_rows(form(X))
    x = np.zeros((a.shape[1], *width))
    x[2] = np.nan
    rows = np.array([0, 3, 3])
    for at in (None, rows):
        assert np.isnan(a.dot(x, at)).all()
        assert np.isnan(a.pair(x, np.zeros_like(x), at)[0]).all()
        assert np.isnan(a.pair(np.zeros_like(x), x, at)[1]).all()
        c = np.zeros((5 if at is None else 3, *width))
        c[1] = np.nan
        assert np.isnan(a.tdot(c, at)).all()


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_c1_losses_keep_nan(name: str, dtype: Any) -> None:
    loss = LOSSES[name]
    z = np.zeros((4, 3) if loss.labels == "class" else 4, dtype)
    z[1] = np.nan
    labels = np.array([0, 1, 2, 0]) if loss.labels == "class" else np.array([-1, 1, -1, 1], dtype)
    labels = labels if loss.domain == "any" else np.abs(labels)
    for f in (loss.value, loss.slope, loss.bend):
        out = f(z, labels)
        assert np.isnan(out[1]).all() and np.isfinite(np.delete(out, 1, 0)).all()


@pytest.mark.parametrize("measure", ["gap", "criticality"])
def test_c1_measures_keep_nan(measure: str) -> None:
    P = binary()
    at = P.examine(np.full(6, 0.1))
    for field in ("x", "u"):
        sick = at._replace(**{field: np.where(np.arange(6) == 3, np.nan, getattr(at, field))})
        assert math.isnan(dcopt.measures.MEASURES[measure](P, sick))


# ---- C2, C3, C4: scales


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e150, np.float64), (1e300, np.float64), (1e30, np.float32), (1e38, np.float32)]
)
def test_c2_a_column_too_large_is_named(form: Any, scale: float, dtype: Any) -> None:
    X = matrix()
    X = (X / np.abs(X).max()).astype(dtype)
    X[:, 4] *= dtype(scale)
    with pytest.raises(BadInput, match="scale") as caught:
        erm(form(X), signs(matrix()))
    assert caught.value.argument == "X" and caught.value.column == 4


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("scale", "dtype"), [(1e60, np.float64), (1e12, np.float32)])
@pytest.mark.parametrize("method", METHODS)
def test_c2_what_is_let_in_can_be_computed_with(form: Any, scale: float, dtype: Any, method: str) -> None:
    X = matrix()
    X[:, 4] *= scale
    P = erm(form(X.astype(dtype)), signs(matrix()), regularizer=EXP)
    result = solve(P, method, passes=5, seed=0)
    assert np.isfinite(result.x).all() and math.isfinite(result.certificate.value)
    assert all(math.isfinite(c) for c in (P.constants.rho, P.constants.L, P.constants.L_v, P.constants.L_H))
    assert P.constants.smoothness.Lbar > 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("scale", "dtype"),
    [
        (1e-150, np.float64),
        (1e-160, np.float64),
        (1e-200, np.float64),
        (5e-324, np.float64),
        (1e-18, np.float32),
        (1e-22, np.float32),
        (1e-40, np.float32),
    ],
)
@pytest.mark.parametrize("regularizer", ["zero", "exponential", "l2", "box"])
@pytest.mark.parametrize("measure", ["gap", "criticality"])
def test_c3_tiny_data_are_no_division_by_zero(
    form: Any, scale: float, dtype: Any, regularizer: str, measure: str
) -> None:
    X = matrix()
    X = (X / np.abs(X).max() * scale).astype(dtype)
    P = erm(form(X), signs(matrix()), "logistic", regularizer)
    for method in ("dca", "dca-page", "sdca"):
        result = solve(P, method, passes=5, tol=1e-300, measure=measure, seed=0)
        assert np.isfinite(result.x).all()
        assert math.isfinite(result.certificate.F) and math.isfinite(result.certificate.value)
        assert result.status is not Status.DIVERGED
        assert result.status is not Status.CONVERGED or result.certificate.value <= 1e-300


@pytest.mark.parametrize("scale", [1e-150, 1e-200])
@pytest.mark.parametrize("method", METHODS)
def test_c3_one_tiny_column(scale: float, method: str) -> None:
    X = matrix()
    X[:, 1] *= scale
    result = solve(erm(X, signs(matrix()), regularizer=EXP), method, passes=20, tol=1e-6, seed=0)
    assert np.isfinite(result.x).all() and result.x[1] == 0.0 and result.status in (Status.CONVERGED, Status.BUDGET)


@pytest.mark.parametrize("method", METHODS)
def test_c4_columns_of_very_different_scales_are_not_called_solved(method: str) -> None:
    X = matrix(60, 5)
    y = targets(X)
    scales = 10.0 ** np.array([-8, -4, 0, 4, 8])
    solution = np.linalg.lstsq(X, y, rcond=None)[0]
    wild = solve(erm(X * scales, y, "squared"), method, tol=1e-10, passes=300, seed=0)
    assert wild.status in (Status.BUDGET, Status.STALLED) and np.isfinite(wild.x).all()
    assert wild.certificate.value > 1e-10 and not np.allclose(wild.x * scales, solution, atol=0.01)
    tame = solve(erm(X, y, "squared"), method, tol=1e-10, passes=3000, seed=0)
    assert tame.status is Status.CONVERGED
    np.testing.assert_allclose(tame.x, solution, atol=1e-3)


# ---- C5, C6: losses far out

FAR = {  # at z → −∞ and z → +∞ with label +1 (0 for real labels): value, slope; None: grows like z²
    "squared-sigmoid": ((1.0, 0.0), (0.0, 0.0)),
    "sigmoid": ((1.0, 0.0), (0.0, 0.0)),
    "logistic": (("linear", -1.0), (0.0, 0.0)),
    "squared": (("square", None), ("square", None)),
    "welsch": ((None, 0.0), (None, 0.0)),
    "cauchy": (("log", 0.0), ("log", 0.0)),
    "geman-mcclure": ((None, 0.0), (None, 0.0)),
    "tukey": ((None, 0.0), (None, 0.0)),
    "smoothed-ramp": ((None, 0.0), (None, 0.0)),
    "huber": (("linear", -1.345), ("linear", 1.345)),
    "quantile": (("linear", -0.5), ("linear", 0.5)),
    "epsilon-insensitive": (("linear", -1.0), ("linear", 1.0)),
    "squared-hinge": ((None, None), (0.0, 0.0)),
    "poisson": (("linear", -1.0), (None, None)),
    "gamma": ((None, None), ("linear", 1.0)),
    "negative-binomial": (("linear", -1.0), ("linear", 1.0)),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 1e6), (np.float32, 1e4)])
def test_c5_losses_at_huge_margins(name: str, dtype: Any, far: float) -> None:
    loss = LOSSES[name]
    z = np.array([-far, far], dtype)
    labels = np.full(2, 1.0 if loss.labels == "binary" or loss.domain != "any" else 0.0, dtype)
    value, slope, bend = loss.value(z, labels), loss.slope(z, labels), loss.bend(z, labels)
    assert np.isfinite(value).all() and np.isfinite(slope).all() and np.isfinite(bend).all()
    assert value.dtype == slope.dtype == dtype
    low, high = loss.curvature
    assert np.all((bend >= low - 1e-6) & (bend <= high + 1e-6))
    for k in range(2):
        size, tilt = FAR[name][k]
        if size == "linear":
            assert value[k] == pytest.approx(far * abs(tilt), rel=1e-3)
        elif size == "square":
            assert value[k] == pytest.approx(far**2 / 2, rel=1e-6) and slope[k] == pytest.approx(z[k])
        elif size == "log":
            assert 0.5 * math.log(far) < value[k] < 2 * math.log(far)
        elif size is not None:
            assert value[k] == size
        if tilt is not None:
            assert slope[k] == pytest.approx(tilt, abs=1.1 / far * 2)


def test_c5_the_table_has_every_loss() -> None:
    assert set(FAR) | {"softmax"} == set(LOSSES)


def test_c6_softmax_far_out() -> None:
    loss = Softmax()
    rng = np.random.default_rng(0)
    z = np.round(rng.standard_normal((20, 4)) * 1024) / 1024
    labels = rng.integers(4, size=20)
    for f in (loss.value, loss.slope, loss.bend):
        np.testing.assert_allclose(f(z + 1e5, labels), f(z, labels), rtol=0, atol=1e-12)
    z[:, 2] = 1e5
    np.testing.assert_allclose(
        loss.value(z, labels), np.where(labels == 2, 0.0, 1e5 - z[np.arange(20), labels]), rtol=1e-12
    )
    one = np.zeros((20, 4))
    one[:, 2] += 1.0
    one[np.arange(20), labels] -= 1.0
    np.testing.assert_array_equal(loss.slope(z, labels), one)


def test_c6_two_classes_are_the_logistic_problem() -> None:
    X, y = matrix(), signs(matrix())
    two, one = erm(X, y, "softmax"), erm(X, y, "logistic")
    x = np.random.default_rng(0).standard_normal(6)
    pair = np.stack([-x / 2, x / 2], axis=1)
    assert two.value(pair) == pytest.approx(one.value(x), rel=1e-12)
    z = np.array([-1e5, -3.0, 0.0, 2.0, 1e5])
    slope = Softmax().slope(np.stack([np.zeros(5), z], 1), np.array([1] * 5))
    np.testing.assert_allclose(slope[:, 1], Logistic().slope(z, np.ones(5)), rtol=0, atol=1e-12)


# ---- C7: a wrong kappa


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("trace", [1.0, None])
def test_c7_a_kappa_far_too_small_is_found(method: str, trace: float | None) -> None:
    X = matrix(200, 5) + 1.0
    right = erm(X, targets(X) * 10, "squared")
    P = right.with_kappa(right.constants.smoothness.Lbar / 100)
    result = solve(P, method, passes=20, tol=1e-8, seed=0, trace=trace)
    assert result.status is Status.DIVERGED
    assert "kappa" in result.message and np.isfinite(result.x).all()
    if trace is not None:
        assert result.spent.gradients <= 2 * 200  # the first gradient, and a pass
    assert solve(right, method, passes=20, seed=0).status is Status.BUDGET


def test_c7_a_kappa_a_little_too_small_is_found_by_descent() -> None:
    X = matrix(200, 5) + 1.0
    right = erm(X, targets(X), "squared")
    P = right.with_kappa(right.constants.smoothness.Lbar / 2.05)  # steps of length just above 2/L
    result = solve(P, "dca", passes=400, seed=0, x0=np.ones(5))
    assert result.status is Status.DIVERGED and "kappa" in result.message and "F rose" in result.message


# ---- C8: float32


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("form", "measure"), [(np.asarray, "gap"), (sp.csr_array, "criticality")])
def test_c8_float32_ends_at_what_it_can_attain(method: str, form: Any, measure: str) -> None:
    X = np.sign(matrix(60, 4))  # well conditioned: a float64 run has reached 1e-12 long before
    y = targets(X, seed=2)
    r = Exponential(lam=0.01, alpha=2.0)
    tol = 5e-17 if measure == "gap" else 1e-12
    P = erm(form(X.astype(np.float32)), y, "squared", r)
    strict = solve(P, method, tol=tol, measure=measure, passes=2000, seed=0)
    assert strict.status is Status.STALLED and "attained" in strict.message
    assert tol < strict.certificate.value < 1e-4
    loose = solve(P, method, tol=tol, measure=measure, passes=2000, seed=0, loose_tol=1e-4)
    assert loose.status is Status.ACCEPTABLE and loose.certificate.value <= 1e-4
    double = solve(erm(form(X), y, "squared", r), method, tol=tol, measure=measure, passes=2000, seed=0)
    assert double.status is Status.CONVERGED


# ---- C9, C10: long runs


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_c9_a_hundred_thousand_corrections_do_not_drift(form: Any) -> None:
    n, d, b, seed, p, T = 30, 4, 2, 8, 1e-6, 100_000
    X, y = matrix(n, d), targets(matrix(n, d))
    f, page = erm(form(X), y, "welsch").sum, PAGE(p=p, b_small=b)
    x, g = np.random.default_rng(0).standard_normal((T, d)), np.empty((T, d))  # a path that never settles
    estimate = page.start(f, x[0], Draw(seed, 0))
    g[0] = estimate.g
    for t in range(1, T):
        estimate = page.step(f, x[t], x[t - 1], estimate.memory, Draw(seed, t))
        g[t] = estimate.g
    assert all(Draw(seed, t).coin() >= p for t in range(T))  # not one refresh
    rows = np.stack([Draw(seed, t).rows(n, b) for t in range(1, T)])
    A, labels = X.astype(np.longdouble), y.astype(np.longdouble)

    def gradients(
        x: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:  # the mean over a batch at each step, in longer numbers
        e = np.einsum("tbd,td->tb", A[rows], x.astype(np.longdouble)) - labels[rows]
        return np.einsum("tbd,tb->td", A[rows], e * np.exp(-e * e)) / rows.shape[1]

    first = gradients(x[:1], np.arange(n)[None])
    exact = np.cumsum(np.concatenate([first, gradients(x[1:], rows) - gradients(x[:-1], rows)]), axis=0)
    drift = np.linalg.norm((g - exact).astype(float), axis=1) / np.linalg.norm(exact.astype(float), axis=1)
    assert 0 < drift.max() < 1e-9


@pytest.mark.parametrize("kind", [SAGA, SAG])
@pytest.mark.parametrize("quadratic", ["outside", "inside"])
def test_c10_the_running_mean_is_the_mean_of_the_table(kind: Any, quadratic: Any) -> None:
    n, b = 50, 20  # 10⁵ rows are renewed
    X = matrix(n, 4)
    P = erm(X, signs(X), regularizer=Exponential(lam=0.01, alpha=5.0), kappa=2.0)
    for state, t in zip(iterate(P, kind(b=b, quadratic=quadratic), seed=1), range(100_000 // b), strict=False):
        if t % 500 != 499:
            continue
        table = state.memory
        np.testing.assert_allclose(table.mean, X.T @ table.slopes / n, rtol=0, atol=1e-10)
        if table.stale is not None:
            np.testing.assert_allclose(table.stale.mean, table.stale.points[table.stale.slot].mean(axis=0), atol=1e-10)
            assert table.stale.counts.sum() == n and len(table.stale.counts) <= 4 * n


# ---- C12: no cancellation

PROFILES = {
    "exponential": lambda a: -0.1 * np.expm1(-5.0 * a),
    "capped-l1": lambda a: 0.1 * np.minimum(a, np.longdouble(0.5)),
    "scad": lambda a: np.where(
        a <= 0.1, 0.1 * a, np.where(a <= 0.37, (7.4 * 0.1 * a - a**2 - 0.01) / 5.4, np.longdouble(0.01 * 4.7 / 2))
    ),
    "mcp": lambda a: np.where(a <= 0.3, 0.1 * a - a**2 / 6, np.longdouble(0.015)),
    "log-sum": lambda a: 0.1 * np.log1p(a / np.longdouble(0.5)),
    "transformed-l1": lambda a: 0.1 * 2 * a / (1 + a),
    "geman": lambda a: 0.1 * a / (a + np.longdouble(0.5)),
    "lp-smooth": lambda a: 0.1 * (np.sqrt(a + np.longdouble(0.1)) - np.sqrt(np.longdouble(0.1))),
    "l1": lambda a: 0.1 * a,
}


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_c12_profiles_do_not_cancel(name: str, size: float) -> None:
    x = size * np.array([1.0, -0.5, 0.25, 1.0 / 3])
    want = float(np.sum(PROFILES[name](np.abs(x).astype(np.longdouble))))
    assert REGULARIZERS[name].value(x) == pytest.approx(want, rel=1e-12)


def test_c12_the_stated_ones_do_not_cancel() -> None:
    for size in (1.0, 1e8):
        x = np.array([size, 1e-3, 0.0, 0.0])
        long = x.astype(np.longdouble)
        want = 0.1 * float(long[1] - long[1] ** 2 / (long[0] + np.sqrt(long[0] ** 2 + long[1] ** 2)))
        assert REGULARIZERS["l1-minus-l2"].value(x) == pytest.approx(want, rel=1e-12)
        assert REGULARIZERS["top-k"].value(np.array([size, -size, 1e-3, 0.0])) == pytest.approx(1e-4, rel=1e-12)


def test_c12_the_table_has_every_profile() -> None:
    assert set(PROFILES) == {name for name, r in REGULARIZERS.items() if isinstance(r, Profiled)}


def test_c12_f_at_a_huge_point() -> None:
    X, y = matrix(), signs(matrix())
    x = 1e8 * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    P = erm(X, y, regularizer=EXP)
    want = np.mean(np.where(y * (X @ x) > 0, 0.0, 1.0)) + 0.002 * 6
    assert P.value(x) == pytest.approx(want, rel=1e-12)


# ---- C13: order does not matter


@dataclass(frozen=True, eq=False)
class Renamed(LinearSum):
    """The same draws under other row numbers."""

    names: Any = None

    def sample(self, b: int, draw: Draw, sampling: Any = "iid") -> Any:
        names = self.names

        class Other:
            def rows(self, n: int, b: int, sampling: Any = "iid") -> Any:
                return names[draw.rows(n, b, sampling)]

        return super().sample(b, Other(), sampling)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_c13_rows_in_another_order(method: str, form: Any) -> None:
    X, y = matrix(n=50), signs(matrix(n=50))
    order = np.random.default_rng(0).permutation(50)
    P, Q = erm(form(X), y, regularizer=EXP), erm(form(X[order]), y[order], regularizer=EXP)
    names = np.argsort(order)
    Q = replace(Q, f=Renamed(Q.f.a, Q.f.loss, Q.f.labels, names=names))
    pairs = zip(iterate(P, method, seed=3), iterate(Q, method, seed=3), range(60), strict=False)
    for a, b, _ in pairs:
        np.testing.assert_allclose(b.x, a.x, rtol=0, atol=1e-12)
        assert Q.value(a.x) == pytest.approx(P.value(a.x), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_c13_columns_in_another_order(method: str, form: Any) -> None:
    X, y = matrix(n=50), signs(matrix(n=50))
    order = np.random.default_rng(0).permutation(6)
    P, Q = erm(form(X), y, regularizer=EXP), erm(form(np.ascontiguousarray(X[:, order])), y, regularizer=EXP)
    for a, b, _ in zip(iterate(P, method, seed=3), iterate(Q, method, seed=3), range(60), strict=False):
        np.testing.assert_allclose(b.x, a.x[order], rtol=0, atol=1e-12)


# ---- C14: minus zero


@pytest.mark.parametrize("name", REGULARIZERS)
def test_c14_minus_zero_is_zero(name: str) -> None:
    r = REGULARIZERS[name]
    x = np.array([0.5, -0.0, 0.0, 0.25])
    plain = x + 0.0  # +0.0
    u = np.array([0.3, 0.05, -0.4, 0.0])
    assert r.value(x) == r.value(plain) and r.r1(x) == r.r1(plain)
    assert r.distance(u, x) == r.distance(u, plain)
    np.testing.assert_array_equal(r.subgrad(x), r.subgrad(plain))
    np.testing.assert_array_equal(r.prox(x, 0.3), r.prox(plain, 0.3))


@pytest.mark.parametrize("groups", ["rows", [[0, 1], [2, 3]]])
def test_c14_group_norms_of_minus_zero(groups: Any) -> None:
    r = Exponential(lam=0.1, alpha=5.0, groups=groups)
    x = np.array([[-0.0, 0.0], [-0.0, -0.0], [1.0, -0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(r.subgrad(x), r.subgrad(x + 0.0))
    np.testing.assert_array_equal(r.prox(x, 0.3), r.prox(x + 0.0, 0.3))
    assert r.value(x) == r.value(x + 0.0) and r.distance(x, x) == r.distance(x + 0.0, x + 0.0)


def test_c14_minus_zero_is_not_counted() -> None:
    result = solve(binary(), steps=0, seed=0, x0=np.array([-0.0, 0.0, 1.0, -0.0, -2.0, 0.0]))
    assert result.certificate.nnz == 2 and result.trace["nnz"] == [2]


@pytest.mark.parametrize("method", METHODS)
def test_c14_a_start_of_minus_zero_makes_no_difference(method: str) -> None:
    for r in (EXP, Zero()):
        ends = [solve(binary(regularizer=r), method, passes=5, seed=0, x0=z).x for z in (np.full(6, -0.0), np.zeros(6))]
        np.testing.assert_array_equal(*ends)
