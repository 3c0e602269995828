"""Sub-solvers that must give the same minimizer, compared point by point."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from programs import Program, mean, program

import dcopt
from dcopt.convex import Diagonal, Mean, Quadratic, Radial, ScaledIdentity, Shifted, gram, least_squares
from dcopt.data.check import as_rows
from dcopt.losses import Logistic, Softmax, Squared
from dcopt.regularizers import L1, L2, MCP, Box, ElasticNet, Except, Nonnegative, Regularizer, Zero
from dcopt.subproblems import Inner, Solver, cd, direct, fista, newton_cg, oracle, prox, radial, svrg
from dcopt.sums import LinearSum

TIGHT = 1e-11


def at(solver: Solver, p: Program, tol: float = TIGHT) -> Any:
    inner: Inner = solver(p.G, p.r, p.y, warm=p.warm, tol=tol)
    assert inner.residual <= max(tol, 1e-12)
    return inner.x


def seeded(seed: int, d: int = 12, c: int = 0) -> tuple[np.random.Generator, Any, Any]:
    draw = np.random.default_rng(seed)
    shape = (d, c) if c else (d,)
    return draw, draw.normal(size=shape), np.zeros(shape)


SEPARABLE: dict[str, Regularizer] = {
    "zero": Zero(),
    "l2": L2(0.3),
    "l1": L1(0.4),
    "l1-weights": L1(0.4, weights=np.arange(12) / 6),
    "l1-rows": L1(0.4, groups="rows"),
    "mcp": MCP(0.4),
    "elastic-net": ElasticNet(0.2, 0.3),
    "elastic-net-rows": ElasticNet(0.2, 0.3, groups="rows", weights=np.arange(12) / 6),
    "box": Box(-0.2, np.arange(12) / 12),
    "nonnegative": Nonnegative(),
    "except": Except(L1(0.4, groups="rows"), last=2),
}


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("name", SEPARABLE)
def test_prox_is_coordinate_descent_is_fista(name, columns):
    """On a diagonal G: the closed form, the same as a Gram matrix, and the same by gradients."""
    draw, y, zero = seeded(1, c=columns)
    m, r = np.exp(0.5 * draw.normal(size=12)), SEPARABLE[name]
    one = at(prox, Program(Diagonal(m), r, y, zero))
    assert np.count_nonzero(one) > 0
    for solver, G in ((cd, Quadratic(np.diag(m))), (fista, Diagonal(m)), (fista, Quadratic(np.diag(m)))):
        np.testing.assert_allclose(at(solver, Program(G, r, y, zero)), one, rtol=0, atol=1e-10)
    np.testing.assert_allclose(oracle(Diagonal(m), r, y, warm=zero, tol=0.0).x, one, rtol=0, atol=1e-5)
    scalar = at(prox, Program(ScaledIdentity(1.7), r, y, zero))
    for solver, G in ((prox, Diagonal(np.full(12, 1.7))), (cd, Quadratic(1.7 * np.eye(12)))):
        np.testing.assert_allclose(at(solver, Program(G, r, y, zero)), scalar, rtol=0, atol=1e-14)


def test_steps_that_differ_within_a_group():
    draw, y, zero = seeded(2)
    r = L1(0.6, groups=[[0, 5, 7], [1, 2, 3, 4], [6, 8, 9, 10, 11]])
    G = Diagonal(np.exp(draw.normal(size=12)))
    np.testing.assert_allclose(at(prox, Program(G, r, y, zero)), at(fista, Program(G, r, y, zero)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", SEPARABLE)
def test_coordinate_descent_on_gram_is_fista_on_rows(name, sparse):
    """G through its Gram matrix and G as a mean over rows are one function."""
    draw, y, zero = seeded(3)
    A = draw.normal(size=(40, 12)) * (draw.random((40, 12)) < 0.6)
    b, r = draw.normal(size=40), SEPARABLE[name]
    rows = as_rows(sp.csr_array(A) if sparse else A)
    G, M = least_squares(rows, b), Mean(LinearSum(rows, Squared(), b))
    one = at(direct if name in ("zero", "l2") else cd, Program(G, r, y, zero))
    np.testing.assert_allclose(at(cd, Program(G, r, y, zero)), one, rtol=0, atol=1e-9)
    np.testing.assert_allclose(at(fista, Program(M, r, y, zero)), one, rtol=0, atol=1e-9)
    if name in ("zero", "l2"):
        np.testing.assert_allclose(at(newton_cg, Program(M, r, y, zero)), one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["l1", "l1-rows", "elastic-net", "nonnegative", "zero"])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax()], ids=lambda loss: type(loss).__name__)
def test_svrg_is_fista_to_the_same_certificate(loss, name):
    draw = np.random.default_rng(4)
    G = mean(loss, draw, 12, mu=0.2)
    p = Program(G, SEPARABLE[name], draw.normal(size=G.shape), np.zeros(G.shape))
    np.testing.assert_allclose(at(svrg, p, 1e-9), at(fista, p, 1e-9), rtol=0, atol=2 * 1e-9 / 0.2)


def test_on_many_rows_svrg_visits_fewer():
    """N = 20,000, condition about 100: a few passes against dozens."""
    draw = np.random.default_rng(5)
    A = draw.normal(size=(20_000, 20)) * np.logspace(0, -1, 20)
    f = dcopt.erm(A, np.sign(A @ draw.normal(size=20) + draw.normal(size=20_000)), "logistic").f
    p = Program(Mean(f, 0.003), L1(1e-3), np.zeros(20), np.zeros(20))
    one, two = (solver(*p[:3], warm=p.warm, tol=1e-7) for solver in (svrg, fista))
    assert max(one.residual, two.residual) <= 1e-7
    np.testing.assert_allclose(one.x, two.x, rtol=0, atol=2 * 1e-7 / 0.003)
    assert one.cost.gradients < 0.7 * two.cost.gradients


@pytest.mark.parametrize("a, b", [(1.0, 1.0), (2.0, 0.0), (0.0, 0.5), (1e-6, 3.0), (1e6, 1e-3)])
@pytest.mark.parametrize("name", ["zero", "l1", "l1-weights", "l1-rows", "nonnegative", "except"])
def test_radial_is_fista(name, a, b):
    """The closed form, against backtracking, which knows nothing of G but its gradient."""
    draw, y, _ = seeded(6, c=2 if name == "l1-rows" else 0)
    p = Program(Radial(a, b), SEPARABLE[name], y, 0.1 * np.abs(draw.normal(size=y.shape)))
    x = at(radial, p)
    assert p.residual(x) <= 1e-14 * (1 + np.linalg.norm(y)) * 10
    other = fista(*p[:3], warm=p.warm, tol=1e-10).x
    np.testing.assert_allclose(other, x, rtol=0, atol=1e-6 * np.linalg.norm(x))
    q = p._replace(G=Shifted(Radial(a, b), 0.5))
    np.testing.assert_allclose(at(fista, q, 1e-9), at(radial, p._replace(G=Radial(a, b + 0.5))), atol=1e-8)


def test_radial_at_zero():
    p = Program(Radial(1.0, 0.0), L1(10.0), np.ones(3), np.ones(3))
    assert not at(radial, p).any()


SMOOTH = ["mean-squared", "mean-logistic", "mean-huber", "mean-quartic", "mean-softmax", "radial", "shifted"]


@pytest.mark.parametrize("part", SMOOTH)
@pytest.mark.parametrize("penalty", ["zero", "l2"])
def test_newton_is_fista(part, penalty):
    p = program(part, penalty, 11)
    np.testing.assert_allclose(at(newton_cg, p, 1e-10), at(fista, p, 1e-10), rtol=0, atol=1e-8)


def test_a_warm_start_from_anywhere_ends_at_the_same_point():
    draw, y, _ = seeded(7)
    G = Quadratic(gram(as_rows(draw.normal(size=(30, 12)))))
    for r in SEPARABLE.values():
        for solver in (cd, fista):
            ends = [at(solver, Program(G, r, y, far * draw.normal(size=12))) for far in (0.0, 1.0, 1e4)]
            np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=0, atol=1e-9)


def test_from_the_solution_nothing_is_done():
    for part in ("quadratic", "mean-logistic", "mean-quartic"):
        p = program(part, "l1", 12)
        for solver in (cd, svrg, fista):
            if solver.takes(p.G, p.r):
                x = at(solver, p, 1e-9)
                again = solver(p.G, p.r, p.y, warm=x, tol=1e-8)
                assert again.steps == 0 and np.array_equal(again.x, x) and again.x is not x


def test_a_shift_of_g_is_a_ridge():
    """G + η/2 ‖x‖² with r and G with r + η/2 ‖x‖² are one program."""
    for part in ("quadratic", "mean-logistic", "mean-squared"):
        p = program(part, "l1", 13)
        ridge = replace(ElasticNet(0.0, 0.7), lam=p.r.lam)
        solver = cd if part == "quadratic" else fista
        one, two = at(solver, p._replace(G=p.G.shift(0.7)), 1e-10), at(solver, p._replace(r=ridge), 1e-10)
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-9)
