"""Penalties of differences: laws, CVXPY and an independent dual solver, the distance by brute force, every method."""

from __future__ import annotations

import math
import pickle
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from programs import Program, mean
from scipy.optimize import lsq_linear

import dcopt
from dcopt.convex import Diagonal, Quadratic, Radial, ScaledIdentity, least_squares
from dcopt.errors import BadInput, BadSettings, CannotSolve, DcoptError
from dcopt.laws.base import LawBroken
from dcopt.laws.regularizers import LAWS
from dcopt.losses import Logistic, Quartic
from dcopt.regularizers import L1, L2, MCP, SCAD, CappedL1, Except, Exponential, Fused, Geman
from dcopt.subproblems import choose, fista, groups, oracle, prox, prox_newton, radial

WEIGHTS = [1, 0, 2, 0.5, 1]
SAMPLES = {
    "tv": Fused(0.3),
    "fused lasso": Fused(0.3, l1=0.2),
    "weights": Fused(L1(0.3, weights=WEIGHTS), 0.2),
    "mcp": Fused(MCP(0.3, gamma=2.0)),
    "mcp weights l1": Fused(MCP(0.3, weights=WEIGHTS), 0.1),
    "scad": Fused(SCAD(0.3), 0.1),
    "capped": Fused(CappedL1(0.3, theta=0.5), 0.1),
    "exponential": Fused(Exponential(0.15, alpha=4.0)),
    "intercept": Except(Fused(MCP(0.3), 0.2)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SAMPLES)
def test_law(name, law):
    LAWS[law](SAMPLES[name])


class NoBoundary(Fused):
    """Its distance forgets that the differences which are 0 leave a choice."""

    def distance(self, u: Any, x: Any) -> float:
        z = np.sign(np.diff(x, axis=0)) * self.differences.kink.c
        none = np.zeros_like(x[:1])
        return float(np.linalg.norm(u - np.concatenate([none, z]) + np.concatenate([z, none])))


class OtherOrder(Fused):
    """It shrinks entries before differences, which is not the prox of the sum."""

    def prox(self, v: Any, step: Any) -> Any:
        return Fused(self.differences).prox(L1(self.l1).prox(v, step), step)


@pytest.mark.parametrize("r, law", [(NoBoundary(0.3), "distance-is-exact"), (OtherOrder(0.3, 0.2), "prox-minimizes")])
def test_the_laws_reject_a_wrong_one(r, law):
    with pytest.raises(LawBroken):
        LAWS[law](r)


# ---- the prox, by other means


def dual(v: Any, c: Any) -> Any:
    """argmin ½‖x − v‖² + Σ c_j |x_{j+1} − x_j| = v − Dᵀz, z = argmin ‖v − Dᵀz‖ over |z| ≤ c: bounded least squares"""
    D = np.diff(np.eye(len(v)), axis=0)
    z = lsq_linear(D.T, v, (-c, c), method="bvls", tol=1e-15).x
    return v - D.T @ z


def test_the_prox_is_that_of_the_dual_program():
    draw = np.random.default_rng(0)
    for _ in range(60):
        d = int(draw.integers(2, 30))
        v = np.cumsum(draw.normal(size=d)) * draw.choice([0.1, 1.0, 10.0])
        c = np.exp(draw.normal(size=d - 1))
        mine = Fused(L1(1.0, weights=c)).prox(v, 1.0)
        np.testing.assert_allclose(mine, dual(v, c), rtol=0, atol=1e-9 * (1 + np.abs(v).max()))


def test_the_prox_is_cvxpys_with_steps_and_l1():
    draw = np.random.default_rng(1)
    for _ in range(20):
        v, steps = draw.normal(size=(9, 2)), np.exp(draw.normal(size=(9, 2)))
        r = Fused(L1(0.4, weights=draw.random(8) + 0.1), float(draw.choice([0.0, 0.3])))
        x = cp.Variable((9, 2))
        c = 0.4 * np.array(r.differences.weights)[:, None] * np.ones(2)
        gaps = cp.sum(cp.multiply(c, cp.abs(cp.diff(x, axis=0))))
        cost = cp.sum(cp.multiply(0.5 / steps, cp.square(x - v))) + gaps + r.l1 * cp.sum(cp.abs(x))
        least = cp.Problem(cp.Minimize(cost)).solve(solver=cp.CLARABEL)
        p = r.prox(v, steps)
        np.testing.assert_allclose(p, x.value, atol=1e-4)
        x.value = p
        assert cost.value <= least + 1e-12


def test_total_variation_by_hand():
    y = np.array([1.0, 1.0, 4.0, 4.0, 4.0])
    np.testing.assert_allclose(Fused(0.6).prox(y, 1.0), [1.3, 1.3, 3.8, 3.8, 3.8], rtol=1e-15)
    np.testing.assert_allclose(Fused(0.6).prox(y, 0.5), [1.15, 1.15, 3.9, 3.9, 3.9], rtol=1e-15)
    flat = Fused(100.0).prox(y, 1.0)
    assert flat == pytest.approx(np.full(5, 2.8)) and len(set(flat)) == 1  # Neighbours are equal to the last bit.
    np.testing.assert_allclose(Fused(0.6, l1=1.5).prox(y, 1.0), [0.0, 0.0, 2.3, 2.3, 2.3], atol=1e-15)
    assert Fused(0.5).value(y) == 1.5 and Fused(0.5, 0.1).value(y) == pytest.approx(2.9)
    assert Fused(MCP(1.0, gamma=2.0)).value(y) == 1.0 and Fused(MCP(1.0, gamma=2.0)).r1(y) == 3.0
    np.testing.assert_array_equal(Fused(MCP(1.0, gamma=2.0)).subgrad(y), [0, -1, 1, 0, 0])
    assert Fused(MCP(1.0, gamma=2.0)).L2 == 2.0 and Fused(0.5).L2 == 0.0
    assert Fused(0.5).prox(np.array([3.0]), 1.0) == 3.0 and Fused(0.5, 1.0).prox(np.array([3.0]), 1.0) == 2.0


def test_a_long_chain_keeps_its_certificate():
    """10⁵ values: (v − p)/step ∈ ∂r1(p) to rounding, and runs of equal values are equal to the last bit."""
    draw = np.random.default_rng(2)
    v = np.repeat(draw.normal(size=100), 1000) + 0.5 * draw.normal(size=100_000)
    for r in (Fused(20.0), Fused(20.0, 0.1)):
        p = r.prox(v, 1.0)
        assert r.distance(v - p, p) <= 1e-9 and np.count_nonzero(np.diff(p)) < 1000
        assert r.prox(v.astype(np.float32), 1.0).dtype == np.float32


# ---- the distance, by other means


def test_the_distance_is_that_of_a_bounded_least_squares_problem():
    draw = np.random.default_rng(3)
    for _ in range(100):
        d = int(draw.integers(2, 12))
        x = np.repeat(draw.choice([-1.0, 0.0, 0.0, 2.0], size=d), draw.integers(1, 4, d))[:d]
        c, l, u = np.exp(draw.normal(size=d - 1)), float(draw.choice([0.0, 0.5])), 2.0 * draw.normal(size=d)
        D, gap = np.diff(np.eye(d), axis=0), np.diff(x)
        low = np.concatenate([np.where(gap > 0, c, -c), np.where(x > 0, l, -l)])
        high = np.concatenate([np.where(gap < 0, -c, c), np.where(x < 0, -l, l)])
        A, free = np.vstack([D, np.eye(d)]).T, high > low  # The others are fixed.
        b = u - A[:, ~free] @ low[~free]
        want = np.linalg.norm(b)
        if free.any():
            s = lsq_linear(A[:, free], b, (low[free], high[free]), method="bvls", tol=1e-15)
            want = np.linalg.norm(A[:, free] @ s.x - b)
        assert Fused(L1(1.0, weights=c), l).distance(u, x) == pytest.approx(want, abs=1e-8)


# ---- programs


PROGRAMS = {
    "identity": (lambda draw: ScaledIdentity(0.7), prox),
    "diagonal": (lambda draw: Diagonal(np.exp(draw.normal(size=7))), fista),
    "quadratic": (lambda draw: Quadratic(np.cov(draw.normal(size=(7, 30)))), fista),
    "least squares": (lambda draw: least_squares(draw.normal(size=(20, 7)), draw.normal(size=20)), fista),
    "logistic": (lambda draw: mean(Logistic(), draw, 7), prox_newton),
    "quartic": (lambda draw: mean(Quartic(), draw, 7), prox_newton),
    "radial": (lambda draw: Radial(0.5, 1.0), radial),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("r", [Fused(0.2), Fused(0.1, l1=0.1), Fused(MCP(0.2), 0.05), Except(Fused(0.2))], ids=str)
def test_programs_agree_with_the_oracle(name, r):
    make, solver = PROGRAMS[name]
    draw = np.random.default_rng(4)
    p = Program(make(draw), r, draw.normal(size=7), draw.normal(size=7))
    assert choose(p.G, r) is solver or isinstance(r, Except)
    inner = choose(p.G, r)(*p[:3], warm=p.warm, tol=1e-9)
    assert inner.residual <= 1e-9 and p.residual(inner.x) <= 2e-9
    found = oracle.solve(p.G, r, p.y)
    assert found is not None and abs(p.value(inner.x) - found[1]) <= 1e-6 * (1 + abs(found[1]))
    assert not groups.takes(p.G, r)


# ---- problems


def data(seed: int = 0) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(60, 12))
    return X, X @ np.repeat([0.0, 1.0, -0.5], 4) + 0.2 * draw.normal(size=60)


@pytest.mark.parametrize("method", ["auto", *dcopt.METHODS])
@pytest.mark.parametrize("penalty", [Fused(0.02), Fused(MCP(0.05, gamma=5.0), 0.01)], ids=str)
def test_every_method_runs_or_refuses_by_name(method, penalty):
    """Those that take an r which is not separable lower F; the others say so."""
    X, y = data()
    P = dcopt.erm(X, np.sign(y), "logistic", penalty)
    try:
        res = dcopt.solve(P, method, steps=60, x0=np.zeros(12), seed=0)
    except CannotSolve as why:
        assert method in str(why)
        assert method in ("dca-local", "dca-nested")  # Their models are made coefficient by coefficient.
        return
    assert P.value(res.x) < P.value(np.zeros(12)) and math.isfinite(res.certificate.value)


@pytest.mark.parametrize("decomposition", ["scalar", "diagonal", "gram"])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_decomposition_ends_at_the_same_convex_minimum(decomposition, intercept):
    X, y = data()
    P = dcopt.erm(X, y, "squared", Fused(0.05, l1=0.01), decomposition=decomposition, intercept=intercept)
    res = dcopt.solve(P, "dca", tol=1e-7, steps=20_000)
    assert res.status is dcopt.Status.CONVERGED
    x, b = cp.Variable(12), cp.Variable()
    cost = cp.sum_squares(X @ x + (b if intercept else 0) - y) / 120 + 0.05 * cp.sum(cp.abs(cp.diff(x)))
    least = cp.Problem(cp.Minimize(cost + 0.01 * cp.norm1(x))).solve(solver=cp.CLARABEL)
    assert P.value(res.x) == pytest.approx(least, abs=1e-7)
    assert np.count_nonzero(np.diff(res.x[:12])) < 8


def test_auto_takes_the_gram_matrix_and_says_why():
    X, y = data()
    res = dcopt.solve(dcopt.erm(X, y, "squared", Fused(MCP(0.05))), "auto", tol=1e-8)
    assert res.status is dcopt.Status.CONVERGED and "not separable" in " ".join(res.notes)


def test_trend_finds_the_jumps_and_mcp_their_heights():
    draw = np.random.default_rng(5)
    true = np.repeat([0.0, 3.0, 1.0, -2.0], 50)
    y = true + 0.3 * draw.normal(size=200)
    ends = {}
    for name, by in (("tv", 0.03), ("mcp", MCP(0.03, gamma=30.0))):
        P = dcopt.problems.trend(y, by)
        res = dcopt.solve(P, "auto", tol=1e-9)
        assert res.status is dcopt.Status.CONVERGED and pickle.loads(pickle.dumps(P)).value(res.x) == P.value(res.x)
        ends[name] = res.x
    jumps = np.flatnonzero(np.abs(np.diff(ends["mcp"])) > 1e-9) + 1
    assert jumps.tolist() == [50, 100, 150]
    np.testing.assert_allclose(ends["mcp"][::50], y.reshape(4, 50).mean(axis=1), atol=1e-9)
    assert np.linalg.norm(ends["mcp"] - true) < 0.6 * np.linalg.norm(ends["tv"] - true)


def test_bad_settings_are_refused_by_name():
    for bad in (None, "mcp", True, -1.0, math.nan, L2(0.1), L1(0.1, groups="rows"), L1(0.1, groups=[[0, 1]]), MCP):
        with pytest.raises(BadSettings, match="differences|lam"):
            Fused(bad)
    for bad in (-0.1, math.nan, "1", None):
        with pytest.raises(BadSettings, match="l1"):
            Fused(0.1, bad)
    for y in ([[1.0, 2.0]], [1.0, math.nan], [], "ab"):
        with pytest.raises(BadInput, match="y"):
            dcopt.problems.trend(y, 0.1)
    with pytest.raises(DcoptError, match="regularizer"):
        dcopt.erm(np.eye(4), np.ones(4), "squared", Fused(L1(0.1, weights=[1.0, 2.0])))
    assert Fused(L1(0.1, weights=[1, 2])).shape == (3,) and Except(Fused(L1(0.1, weights=[1, 2]))).shape == (4,)
    assert Fused(Geman(0.1, 1.0)) == Fused(Geman(0.1, 1.0)) and hash(Fused(1)) == hash(Fused(L1(1.0)))
