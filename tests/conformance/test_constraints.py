"""Ball and simplex keep the laws, project as an oracle does, and carry problems of their own; H as a function."""

from __future__ import annotations

import numpy as np
import pytest

import dcopt
from dcopt.convex import ScaledIdentity
from dcopt.laws.regularizers import LAWS
from dcopt.regularizers import L1, Ball, Simplex

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
