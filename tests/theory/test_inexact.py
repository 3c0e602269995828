"""Programs that are solved inexactly: ω ‖x_t − x_{t−1}‖ and ζ in a, C and T, with residuals as large as allowed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import ceil, sqrt
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt import problems
from dcopt.convex import Quadratic
from dcopt.problem import INNER_SHARE
from dcopt.regularizers import Zero
from dcopt.subproblems import Inner
from dcopt.sums import Facts, Function, SumBase
from dcopt.theory import formulas
from dcopt.theory.formulas import ProblemConstants


class Worst:
    """The solution of a quadratic program, pushed on along the step until the residual is all that was asked."""

    def __init__(self, way: float = 1.0) -> None:
        self.way = way

    def __call__(self, G: Any, r: Any, y: Any, warm: Any, tol: float) -> Inner:
        x = np.linalg.solve(G.Q, y + G.linear(y))
        step = G.Q @ (x - warm)
        size = float(np.linalg.norm(step))
        push = self.way * tol * step / size if size > 0.0 else 0.0 * step
        return Inner(x + np.linalg.solve(G.Q, push), tol, 1)


def quadratic(seed: int) -> dcopt.Problem:
    """G and H quadratics, with G − H convex: inf F is known."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, 12, 4))
    Q, M = A.T @ A / 12 + 0.1 * np.eye(4), B.T @ B / 12
    M *= 0.9 / np.linalg.eigvals(np.linalg.solve(Q, M)).real.max()
    e = np.linalg.eigvalsh(M)
    H = Function(lambda x: 0.5 * float(x @ M @ x), lambda x: M @ x, (4,), L=float(e[-1]), rho=float(e[0]))
    return dcopt.Problem(Quadratic(Q, rng.normal(size=4)), H, Zero())


def walk(P: dcopt.Problem, steps: int, way: float) -> Iterator[tuple[Any, Any, Any, float]]:
    """x_{t−1}, x_t, x_{t+1} and ‖ξ_t‖"""
    states = islice(dcopt.iterate(P, "dca", x0=np.full(4, 3.0), seed=0, subsolver=Worst(way)), steps)
    last, before = np.full(4, 3.0), np.full(4, 3.0)
    for state in states:
        yield last, before, state.x, float(state.residual or 0.0)
        last, before = before, state.x


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_inequalities_with_the_largest_residuals(seed: int, way: float) -> None:
    """Descent by ρ/2 ‖Δ‖² − ‖ξ‖ ‖Δ‖; d ≤ L_H ‖Δ‖ + ‖ξ‖; the gap with ‖ξ‖²/(2 ρ_φ); residuals ≤ ω ‖Δ_{t−1}‖ or ζ."""
    P = quadratic(seed)
    c = P.constants
    assert c.L_H is not None
    fell = moved = 0.0
    F0 = P.value(np.full(4, 3.0))
    for last, x, new, residual in walk(P, 40, way):
        step = float(np.linalg.norm(new - x))
        rounding = 64 * np.finfo(float).eps * 1e2
        assert residual <= max(P.omega * float(np.linalg.norm(x - last)), P.inner_tol, rounding)
        true = np.linalg.norm(P.G.grad(new) - P.sum.all().grad(x))
        assert true == pytest.approx(residual, rel=1e-6, abs=1e-12)
        F, G = P.value(x), P.value(new)
        assert G <= F + residual * step - c.rho / 2 * step**2 + 1e-12
        assert dcopt.measures.criticality(P, new) <= c.L_H * step + residual + 1e-12
        gap = dcopt.measures.gap(P, x)
        assert gap <= F - G - c.rho_H / 2 * step**2 + residual**2 / (2 * c.rho_phi) + 1e-12
        fell, moved = F0 - G, moved + step**2
    assert P.omega == INNER_SHARE * c.rho_phi
    assert fell >= (c.rho / 2 - P.omega) * moved - 1e-9


def test_residuals_that_are_not_counted_break_the_promise() -> None:
    """H linear, G = ρ/2 x²: F falls by ρ/2 ‖Δ‖² − ‖ξ‖‖Δ‖ exactly, so a without ω is too large."""
    H = Function(lambda x: float(np.sum(x)), lambda x: np.ones(4), (4,), L=0.0)
    P = dcopt.Problem(Quadratic(np.eye(4)), H, Zero())
    F0, moved = P.value(np.full(4, 3.0)), 0.0
    for _, x, new, _ in walk(P, 4, 1.0):
        moved += float(np.sum((new - x) ** 2))
        fell = F0 - P.value(new)
    rho = P.constants.rho
    assert fell >= (rho / 2 - P.omega) * moved
    assert fell < rho / 2 * moved - 1e-6


CONSTANTS = ProblemConstants(100, 2.0, 0.5, 1.5, 2.0, 0.3, 0.25, share=0.1)


@pytest.mark.parametrize("floor", [0.0, 1e-9, 1e-4])
def test_t_with_residuals_by_hand(floor: float) -> None:
    """The bound itself, written out: at most ε for T steps, and above it for 0.97 T."""
    c, D0 = CONSTANTS, 4.0
    theta, omega = sqrt(0.9) * 0.3, 0.2
    a = 1.25 - theta - omega
    rate = formulas.page(c, 0.1, 10, 100)
    assert (rate.a, rate.Theta, c.omega) == pytest.approx((a, theta, omega))
    C = (1.5 + 0.25 + omega) ** 2 + theta**2

    def distance(T: float) -> float:
        S = (sqrt(D0) + floor * sqrt(T / a)) ** 2 / a  # Σ E‖Δ‖²
        return sqrt(2 * C * S / T) + floor

    def gap(T: float) -> float:
        S = (sqrt(D0) + floor * sqrt(T / a)) ** 2 / a
        return D0 / T + ((theta + omega) * sqrt(S / T) + floor) ** 2 / (2 * 2.0)

    for measure, bound in (("criticality", distance), ("gap", gap)):
        eps = 0.05
        rest = formulas.left(c, a, theta, eps, measure, floor)
        T = formulas.steps(c, rate, D0, rest, measure)
        assert bound(T) <= eps * (1 + 1e-12)
        assert bound(0.97 * T) > eps
        if floor == 0.0:
            assert rest == eps
        most = formulas.bearable(c, a, theta, eps, measure)
        assert formulas.left(c, a, theta, eps, measure, most) == pytest.approx(0.99 * eps)
        assert formulas.left(c, a, theta, eps, measure, 1e3) <= 0.0


class Known(SumBase):
    """An H of which only the constants are known."""

    shape, dtype, n = (3,), np.dtype(float), 100

    def facts(self) -> Facts:
        return Facts(rho=0.5, L_H=1.5, L=2.0, L_v=0.3)


@pytest.mark.parametrize("inner_tol", [1e-10, 1e-3, np.inf])
def test_a_certified_plan_solves_the_programs_as_far_as_it_needs(inner_tol: float) -> None:
    """ζ is lowered where T could not bear it, and the plan's problem has it as its tolerance."""
    H: Any = Known()
    P = dcopt.Problem(Quadratic(2.0 * np.eye(3)), H, "zero", inner_tol=inner_tol)
    plan = dcopt.plan(P, 0.05, "criticality", D0=4.0)
    theta, omega = sqrt(0.9) * 0.3, 0.2
    a = 1.25 - theta - omega
    C = (1.5 + omega) ** 2 + theta**2
    bears = 0.01 * 0.05 / (1 + sqrt(2 * C) / a)
    assert plan.floor == plan.P.inner_tol == pytest.approx(min(inner_tol, bears))
    rest = 0.05 - plan.floor * (1 + sqrt(2 * C) / a)
    assert plan.T == ceil(2 * 4.0 * C / (a * rest**2)) and plan.a == pytest.approx(a)
    assert plan.omega == plan.P.omega == pytest.approx(omega)
    text = " ".join(str(plan).split())
    assert "ω ‖x_t − x_t₋₁‖, ω = 0.1 ρ_φ" in text and f"ζ = {plan.floor:.3g}" in text
    practical = dcopt.plan(P, 0.05, "criticality", mode="practical", D0=4.0)
    assert practical.P.inner_tol == inner_tol and (practical.violated == ()) == (inner_tol == 1e-10)
    paper = dcopt.plan(P, 0.05, "criticality", mode="paper", D0=4.0)
    assert any("take the programs for exact" in remark for remark in paper.remarks)


def test_an_online_plan_has_the_residuals_too() -> None:
    """By hand: γ and a with ρ − 2ω, C with ω, and the gap by ‖e + ξ‖² ≤ (1 + λ)‖e‖² + (1 + 1/λ)‖ξ‖²."""
    H: Any = Known()
    P = dcopt.Problem(Quadratic(2.0 * np.eye(3)), H, "zero")
    for measure in ("criticality", "gap"):
        H.n = 10**9
        plan = dcopt.plan(P, 0.5, measure, "online", D0=4.0, sigma=0.5)  # type: ignore[arg-type]
        assert plan.b is not None and plan.omega == pytest.approx(0.2)
        theta, omega, sigma2 = sqrt(1 - plan.p) * 0.3, 0.2, 0.25
        gamma = max(theta, (2.5 - 0.4) / 4)
        a = (2.5 - 0.4 - gamma) / 2 - theta**2 / (2 * gamma)
        S = (4.0 + sigma2 / (2 * gamma * plan.p * plan.b) + plan.T * sigma2 / (2 * gamma * plan.b)) / a
        errors = theta**2 * S + plan.T * sigma2 / plan.b + sigma2 / (plan.p * plan.b)  # Σ E‖e‖²
        if measure == "criticality":
            assert sqrt((2 * (1.5 + omega) ** 2 * S + 2 * errors) / plan.T) + 1e-8 <= 0.5 * (1 + 1e-9)
        else:
            assert 4.0 / plan.T + (sqrt(errors) + omega * sqrt(S)) ** 2 / plan.T / (2 * 2.0) <= 0.5
        assert plan.a == pytest.approx(a)
    H.n = 100


def test_ramp_with_an_iterative_solver_is_asked_what_the_plan_says() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    P = problems.ramp_svm(X, X[:, 0] > 0, mu=0.1)
    plan = dcopt.plan(P, 0.3, "criticality", D0=3.0)
    states = list(islice(dcopt.iterate(P, plan, seed=0, subsolver="fista"), 40))
    for before, state in zip(states, states[1:], strict=False):
        moved = float(np.linalg.norm(before.x - before.prev))
        assert state.asked == pytest.approx(max(plan.floor, plan.omega * moved), rel=1e-12)
        assert 0.0 < state.residual <= state.asked  # type: ignore[operator]
