"""Ball and simplex keep the laws, project as an oracle does, and carry problems of their own; H as a function."""

from __future__ import annotations

import numpy as np
import pytest

import dcopt
from dcopt.convex import ScaledIdentity
from dcopt.laws.regularizers import LAWS
from dcopt.regularizers import L1, Ball, Box, Except, Nonnegative, Simplex

PARTS = [Ball(), Ball(radius=2.0, l1=0.1, nonnegative=True), Simplex(), Simplex(total=3.0)]
# a constraint has no profile and no λ; NaN reaches every entry through the multiplier, not only its own
NAMES = [name for name in LAWS if name not in ("nan-stays", "one-column-is-scalar", "minus-zero-is-zero")]


@pytest.mark.parametrize("r", PARTS, ids=str)
@pytest.mark.parametrize("law", NAMES)
def test_laws(r: dcopt.regularizers.Regularizer, law: str) -> None:
    LAWS[law](r)


@pytest.mark.parametrize("r", PARTS, ids=str)
def test_nan_is_loud(r: dcopt.regularizers.Regularizer) -> None:
    v = np.array([0.1, np.nan, 0.2])
    assert np.isnan(r.prox(v, 1.0)).any()


def test_projection_onto_the_simplex_is_the_oracles() -> None:
    import cvxpy as cp

    rng = np.random.default_rng(0)
    for _ in range(20):
        v, steps = rng.normal(size=6), np.exp(rng.normal(size=6))
        x = cp.Variable(6)
        cost = cp.sum(cp.multiply(cp.square(x - v), 0.5 / steps))
        cp.Problem(cp.Minimize(cost), [x >= 0, cp.sum(x) == 1]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(Simplex().prox(v, steps), x.value, atol=1e-5)


def test_a_concave_quadratic_on_the_simplex_ends_at_a_vertex() -> None:
    """min −½⟨x, Qx⟩ over the simplex: H as a function with a gradient; the certificate is exact there."""
    rng = np.random.default_rng(1)
    B = rng.normal(size=(5, 5))
    Q = B @ B.T
    H = dcopt.Function(lambda x: 0.5 * x @ Q @ x, lambda x: Q @ x, (5,), L=float(np.linalg.eigvalsh(Q)[-1]))
    P = dcopt.Problem(ScaledIdentity(1.0), H, Simplex()).shift(0.0)
    more = dcopt.Function(lambda x: 0.5 * x @ (Q + np.eye(5)) @ x, lambda x: Q @ x + x, (5,))
    Z = dcopt.Problem(ScaledIdentity(1.0), more, Simplex())
    result = dcopt.solve(Z, "dca", tol=1e-10, steps=500, x0=rng.dirichlet(np.ones(5)))
    assert result.status is dcopt.Status.CONVERGED
    assert np.sort(result.x)[-1] == pytest.approx(1.0) and np.count_nonzero(result.x) == 1
    assert Z.value(result.x) == pytest.approx(-0.5 * Q[np.argmax(result.x), np.argmax(result.x)])
    assert P.constants.L_H == H.L and P.constants.L_v == 0.0


def test_the_default_start_is_in_the_domain() -> None:
    P = dcopt.erm(np.eye(4), [1.0, 2.0, 3.0, 4.0], "squared", Simplex())
    result = dcopt.solve(P, "dca", tol=1e-12)
    assert result.status is dcopt.Status.CONVERGED and result.x.sum() == pytest.approx(1.0)
    with pytest.raises(dcopt.BadInput, match="domain"):
        dcopt.solve(P, "dca", x0=np.ones(4))


def test_d7_min_absolute_value() -> None:
    """F = |x|, G = κ/2 x², H = κ/2 x²: near the kink the distance is 1, the gap is not; both rules end truthfully."""
    H = dcopt.Function(lambda x: 5e-4 * float(x @ x), lambda x: 1e-3 * x, (1,))
    P = dcopt.Problem(ScaledIdentity(1e-3), H, L1(lam=1.0))
    near = [1e-9]
    assert dcopt.measures.criticality(P, near) == 1.0 and dcopt.measures.gap(P, near) == pytest.approx(1e-9)
    held = dcopt.solve(P, "dca", atol=1e-6, measure="gap", x0=near, steps=0)
    assert held.status is dcopt.Status.CONVERGED
    assert dcopt.solve(P, "dca", atol=1e-6, x0=near, steps=0).status is dcopt.Status.BUDGET


# ---- f as a function


def sines(**known: float) -> dcopt.Problem:
    f = dcopt.Function(lambda x: float(np.sin(x).sum()), np.cos, (4,), **known)
    return dcopt.Problem(ScaledIdentity(2.0), f=f, r=dcopt.regularizers.MCP(lam=0.1))


ROWS = ("dca-saga", "sdca", "mm-saga", "ssdc-spg", "ssdc-svrg", "dca-local", "dca-nested")


@pytest.mark.parametrize("method", [*dcopt.METHODS, dcopt.estimators.SAGA(b=1), dcopt.estimators.SAG(b=1)], ids=str)
def test_methods_that_need_rows_refuse_a_function_by_name(method: object) -> None:
    """They ended in a bare AssertionError or a TypeError, or said that MCP is not separable."""
    if method == "pdcae" or method in ROWS or not isinstance(method, str):
        with pytest.raises(dcopt.CannotSolve, match="rows|convex|every component") as caught:
            dcopt.solve(sines(), method, steps=3, seed=0)  # type: ignore[arg-type]
        assert caught.value.method == (method if isinstance(method, str) else type(method).__name__.lower())
        assert caught.value.instead == "dca"
    else:
        assert dcopt.solve(sines(), method, steps=3, seed=0).steps == 3
    local = dcopt.Problem(dcopt.convex.LocalCurvature(2.0), f=sines().f, r="mcp")
    with pytest.raises(dcopt.CannotSolve, match="rows of data"):
        dcopt.solve(local, "dca", steps=3)
    H = dcopt.Problem(ScaledIdentity(2.0), sines().f, "mcp")
    with pytest.raises(dcopt.CannotSolve, match="every component"):
        dcopt.solve(H, "dca-saga", steps=3)


def test_a_plan_for_a_function_asks_for_its_smoothness() -> None:
    with pytest.raises(dcopt.BadSettings, match=r"give f as Function\(..., L=…\)"):
        dcopt.plan(sines(), 0.1, D0=9.0)
    P = sines(L=1.0)  # −1 ≤ f″ ≤ 1, so that H = G − f has its curvature in [1, 3]
    c = P.constants
    assert (c.rho_H, c.L_H, c.L, c.L_v) == (1.0, 3.0, 3.0, 0.0)
    plan = dcopt.plan(P, 0.1, D0=9.0)
    assert plan.violated == () and dcopt.solve(P, plan, seed=0).certificate.value <= 0.1
    weak = dcopt.Problem(ScaledIdentity(0.5), f=P.f, r=P.r)
    assert weak.constants.rho_H == -0.5 and dcopt.plan(weak, 0.1, D0=9.0).P.G.rho >= 1.0  # H was not convex


# ---- points of float32

BOXES = [Box(-0.1, 0.2), Box([-0.1, -0.3, -np.inf, 0.0, 0.1], [0.2, 0.3, 0.7, 0.9, 0.11])]


@pytest.mark.parametrize("method", ["auto", *dcopt.METHODS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("r", BOXES, ids=["numbers", "features"])
def test_h3_bounds_that_float32_cannot_hold(r: Box, dtype: type, method: str) -> None:
    """float32(0.2) > 0.2: every method ended DIVERGED with F = inf; ssdc-spg in float64 too, by averaging."""
    X = np.random.default_rng(0).standard_normal((200, 5)).astype(dtype)
    P = dcopt.erm(X, X.sum(1), "squared", r)
    result = dcopt.solve(P, method, atol=1e-4, seed=0, passes=500)
    x = result.x.astype(np.float64)
    assert np.all(x >= np.asarray(r.low)) and np.all(x <= np.asarray(r.high)) and np.isfinite(P.value(result.x))
    assert (
        result.status is dcopt.Status.CONVERGED or method == "ssdc-spg" and result.status is not dcopt.Status.DIVERGED
    )


def test_h3_the_bounds_are_those_given() -> None:
    """Points end inside; what is said of F at the bounds themselves stays true."""
    X = np.random.default_rng(0).standard_normal((200, 5)).astype(np.float32)
    P, box = dcopt.erm(X, X.sum(1), "squared", BOXES[0]), BOXES[0]
    assert P.r == box and repr(P.r) == repr(box)
    at = P.r.prox(np.full(5, 9.0, np.float32), 1.0)
    assert at.dtype == np.float32 and float(at[0]) < 0.2 <= float(np.nextafter(at[0], np.float32(1.0)))
    assert P.r.distance(np.full(5, 3.0), at.astype(np.float64)) == 0.0  # at the bound, in float64 too
    assert np.isfinite(P.value(np.full(5, 0.2))) and not np.isfinite(P.value(np.full(5, 0.2 + 1e-9)))
    assert np.isfinite(P.value(dcopt.solve(P, "dca", steps=0, x0=np.full(5, 0.2)).x))  # it is rounded inwards
    with pytest.raises(dcopt.BadInput, match="domain"):
        dcopt.solve(P, "dca", steps=0, x0=np.full(5, 0.21))
    free = dcopt.erm(X, X.sum(1), "squared", box, intercept=True)
    assert isinstance(free.r, Except) and float(free.r.prox(np.full(6, 9.0), 1.0)[0]) == float(at[0])
    same = dcopt.erm(X, X.sum(1), "squared", Nonnegative())
    assert same.r.prox(np.full(5, -1.0, np.float32), 1.0).tolist() == [0.0] * 5
    assert Box(-1e300, 1e300).of_single.bounds == (-np.finfo(np.float32).max, np.finfo(np.float32).max)
    assert Box(-np.inf, 1e-50).of_single.bounds == (-np.inf, 0.0)


def test_h3_a_box_without_a_number_of_float32() -> None:
    X = np.eye(3, dtype=np.float32)
    with pytest.raises(dcopt.BadSettings, match="number of float32 between low and high"):
        dcopt.erm(X, [1.0, 2.0, 3.0], "squared", Box(0.1, 0.1))
    P = dcopt.erm(np.eye(3), [1.0, 2.0, 3.0], "squared", Box(0.1, 0.1))
    assert dcopt.solve(P, "dca", steps=3).x.tolist() == [0.1] * 3


def test_the_room_of_a_constraint_follows_the_type_not_the_digits() -> None:
    """A float64 point whose digits are those of a float32 was let 1e-5 out of the ball."""
    out = np.array([float(np.float32(1.000008))])
    for r in (Ball(), Simplex()):
        assert r.value(out) == np.inf and r.value(out.astype(np.float32)) < np.inf
        assert r.rounded(np.float64) is r and r.rounded(np.float32).value(out) < np.inf
    X = np.random.default_rng(0).standard_normal((200, 5)).astype(np.float32)
    for r in (Ball(0.3), Simplex(0.7), Ball(0.3, l1=0.01, nonnegative=True)):
        P = dcopt.erm(X, X.sum(1), "squared", r)
        result = dcopt.solve(P, "dca", atol=1e-4, seed=0, passes=500)
        assert (
            result.status is dcopt.Status.CONVERGED and abs(np.linalg.norm(result.x) - 0.3) < 1e-5 or r == Simplex(0.7)
        )
