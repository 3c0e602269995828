"""The inequalities of the proofs, checked on every step of real runs or by enumeration."""

from __future__ import annotations

from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt.estimators import PAGE
from dcopt.regularizers import MCP, CappedL1, Exponential
from dcopt.theory import formulas
from dcopt.theory.formulas import ProblemConstants


def problem(kind: str, n: int = 300) -> dcopt.Problem:
    rng = np.random.default_rng(1)
    X = sp.random(n, 12, density=0.4, format="csr", random_state=rng)
    y = np.where(X @ rng.normal(size=12) + 0.3 * rng.normal(size=n) > 0, 1, -1)
    if kind == "smooth r2":
        return dcopt.erm(X, y, "squared-sigmoid", Exponential(lam=0.001, alpha=5.0))
    if kind == "kinked r2":
        return dcopt.erm(X, y, "sigmoid", CappedL1(lam=0.002, theta=0.3))
    return dcopt.erm(X, np.arange(n) % 3, "softmax", MCP(lam=0.02, gamma=3.0, groups="rows"))


def walk(P: dcopt.Problem, steps: int) -> Any:
    """(x_t, x_{t+1}, e_t) along a PAGE run; e_t = g_t − ∇H(x_t) = ∇f(x_t) − (the estimate of ∇f)."""
    before = np.zeros(P.shape)
    for state in islice(dcopt.iterate(P, PAGE(p=0.1, b_small=10), seed=5), steps):
        yield before, state.x, P.sum.all().grad(before) - state.memory.g
        before = np.array(state.x)


@pytest.mark.parametrize("kind", ["smooth r2", "kinked r2", "three classes"])
def test_template_inequality(kind: str) -> None:
    """F(x_{t+1}) ≤ F(x_t) + ⟨e_t, Δ_t⟩ − (ρ/2)‖Δ_t‖²"""
    P = problem(kind)
    rho = P.constants.rho
    wrong = 0
    for x, new, e in walk(P, 200):
        step = new - x
        assert P.value(new) <= P.value(x) + np.sum(e * step) - rho / 2 * np.sum(step * step) + 1e-13
        wrong += P.value(new) > P.value(x) + np.sum(e * step) - 4 * rho * np.sum(step * step) + 1e-13
    assert wrong  # a constant eight times larger does not hold: the test can fail


@pytest.mark.parametrize("kind", ["smooth r2", "kinked r2", "three classes"])
def test_pathwise_gap_inequality(kind: str) -> None:
    """gap(x_t) ≤ F(x_t) − F(x_{t+1}) − (ρ_H/2)‖Δ_t‖² + ‖e_t‖²/(2ρ_φ), and gap ≤ d²/(2ρ_φ)"""
    P = problem(kind)
    c = P.constants
    for x, new, e in walk(P, 200):
        step = new - x
        bound = P.value(x) - P.value(new) - c.rho_H / 2 * np.sum(step * step) + np.sum(e * e) / (2 * c.rho_phi)
        gap = dcopt.measures.gap(P, x)
        assert gap <= bound + 1e-13
        assert gap <= dcopt.measures.criticality(P, x) ** 2 / (2 * c.rho_phi) + 1e-13


class Fixed:
    """A draw with a given coin and given rows."""

    def __init__(self, coin: float, rows: Any) -> None:
        self.t, self.seed, self._coin, self._rows = 1, 0, coin, np.array(rows)

    def coin(self) -> float:
        return self._coin

    def rows(self, n: int, b: int, sampling: str = "iid") -> Any:
        return self._rows


def test_lyapunov_descent_by_enumeration() -> None:
    """E[F(x_{t+1}) + ‖e_{t+1}‖²/(2pγ)] ≤ F(x_t) + ‖e_t‖²/(2pγ) − a(γ)‖Δ_t‖², over all coins and batches."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 3))
    P = dcopt.erm(A, [1, -1, 1, -1], "squared-sigmoid", Exponential(lam=0.01, alpha=5.0), kappa=3.0)
    c = P.constants
    p, b = 0.3, 2
    page = PAGE(p=p, b_small=b)
    theta = formulas.spread(p, b) * (c.L_v or 0.0)
    assert c.rho / 2 > theta
    for gamma in (theta, c.rho / 4):
        a = (c.rho - gamma) / 2 - theta**2 / (2 * gamma)
        for _ in range(20):
            x, g = rng.normal(size=3), None
            g = P.sum.all().grad(x) + 0.3 * rng.normal(size=3)  # any estimate, far from exact
            w, r1 = P.r.linearize(x, partial(np.negative, g))
            new = r1.prox((P.linear(x, g) + w) / c.rho_phi, 1 / c.rho_phi)
            memory = page.start(P.sum, x, Fixed(0.0, [0, 0])).memory._replace(g=g)  # type: ignore[arg-type]
            truth = P.sum.all().grad(new)
            small = [page.step(P.sum, new, x, memory, Fixed(0.99, rows)).g for rows in product(range(4), repeat=b)]  # type: ignore[arg-type]
            error = (1 - p) * np.mean([np.sum((s - truth) ** 2) for s in small])  # the refresh is exact
            e = P.sum.all().grad(x) - g
            before = P.value(x) + e @ e / (2 * p * gamma)
            assert P.value(new) + error / (2 * p * gamma) <= before - a * np.sum((new - x) ** 2) + 1e-12


PROBLEMS = {
    "binary": ("squared-sigmoid", Exponential(lam=0.005, alpha=5.0), 1500, 8),
    "kinked": ("sigmoid", CappedL1(lam=0.01, theta=0.5), 400, 5),
    "robust": ("welsch", MCP(lam=0.02, gamma=3.0), 300, 6),
    "classes": ("softmax", Exponential(lam=0.01, alpha=2.0, groups="rows"), 200, 4),
    "tiny": ("logistic", MCP(lam=0.05, gamma=4.0), 30, 3),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("measure", ["gap", "criticality"])
def test_certified_plans_are_kept(name: str, measure: Any) -> None:
    """The mean over 20 seeds of the measure at the theorem's random output is at most ε."""
    loss, r, n, d = PROBLEMS[name]
    if measure == "criticality" and r.L2 is None:
        return
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    z = X @ rng.normal(size=d)
    cuts = [-0.3, 0.3] if loss == "softmax" else [0.0]
    y = z + 0.1 * rng.normal(size=n) if loss == "welsch" else np.digitize(z, cuts)
    P = dcopt.erm(X, y, loss, r)
    start = dcopt.measures.MEASURES[measure](P, P.examine(np.zeros(P.shape)))
    plan = dcopt.plan(P, start * (0.2 if measure == "gap" else 0.6), measure)
    assert plan.violated == () and plan.T > 10
    values = [dcopt.solve(P, plan, seed=seed, trace=None) for seed in range(20)]
    assert all(v.steps == plan.T and v.certificate.measure == measure for v in values)
    assert np.mean([v.certificate.value for v in values]) <= plan.eps


def test_measured_cost_is_below_the_predicted() -> None:
    """Until the measure first is ≤ ε, on a strongly convex problem; 20 seeds (the plan is a bound, not a guess)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    P = dcopt.erm(X, X @ [1.0, -1.0, 0.5], "squared", dcopt.regularizers.L2(lam=0.1))
    plan = dcopt.plan(P, 0.05, "criticality")
    for seed in range(20):
        for state in dcopt.iterate(plan.P, plan.estimator, seed=seed):
            if dcopt.measures.criticality(P, state.x) <= plan.eps:
                break
        assert state.spent.gradients <= plan.gradients


def test_scene_needs_no_second_look_at_the_data() -> None:
    from dcopt.theory.compare import constants_at

    P = problem("smooth r2")
    plan = dcopt.plan(P, 0.01)
    s = P.constants.smoothness
    assert s is not None
    for kappa in (0.3, 2.0):
        c, got = P.with_kappa(kappa).constants, constants_at(plan, s, kappa)
        assert got == ProblemConstants(300.0, c.rho_phi, c.rho_H, c.L_H, c.L, c.L_v, c.L_r2)  # type: ignore[arg-type]
