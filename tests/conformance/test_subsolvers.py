"""Every sub-solver under the laws, and against CVXPY on random programs of every class that it takes."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from programs import PARTS, PENALTIES, Program, mean, program

import dcopt
from dcopt.convex import Diagonal, Mean, Quadratic, Radial, ScaledIdentity, Shifted, least_squares
from dcopt.data.dense import DenseRows
from dcopt.data.rows import Can
from dcopt.draw import Draw
from dcopt.errors import BadSettings, CannotSolve
from dcopt.laws.base import LawBroken, run
from dcopt.laws.subsolvers import LAWS
from dcopt.losses import Logistic, Quartic, Squared
from dcopt.regularizers import (
    L1,
    L2,
    SCAD,
    Box,
    Convex,
    ElasticNet,
    Except,
    Nonnegative,
    Simplex,
    TopK,
    Zero,
    reweighted,
)
from dcopt.subproblems import (
    FISTA,
    SUBPROBLEMS,
    Inner,
    InnerSVRG,
    ProxNewton,
    Solver,
    cd,
    choose,
    direct,
    fista,
    groups,
    newton_cg,
    oracle,
    prox,
    prox_newton,
    radial,
    rounding,
    subsolver,
    svrg,
)
from dcopt.subproblems.boosted import Boosted
from dcopt.subproblems.staged import SPG, StagedSPG, StagedSVRG
from dcopt.sums import LinearSum

OURS = {name: solver for name, solver in SUBPROBLEMS.items() if name != "oracle"}
TOL = 1e-8


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SUBPROBLEMS)
def test_law(name, law):
    LAWS[law](SUBPROBLEMS[name])


# ---- against CVXPY


def agrees(part: str, penalty: str, seed: int) -> float:
    """Every sub-solver that takes the program, against CVXPY's own value; the largest difference."""
    p = program(part, penalty, seed)
    found = oracle.solve(p.G, p.r, p.y)
    assert found is not None
    theirs, least = found
    worst, taken = 0.0, 0
    for name, solver in OURS.items():
        if not solver.takes(p.G, p.r):
            continue
        taken += 1
        inner = solver(p.G, p.r, p.y, warm=p.warm, tol=TOL)
        off = abs(p.value(inner.x) - least)
        assert off <= 1e-6 * max(1.0, abs(least)), (name, seed, off)
        assert inner.residual <= TOL, (name, seed, inner)
        assert p.residual(inner.x) <= inner.residual + 100 * rounding(p.y, p.G.grad(inner.x)), (name, seed)
        # what a residual means: nothing is lower by more than residual × distance, CVXPY's point neither
        assert p.value(inner.x) - least <= inner.residual * np.linalg.norm(inner.x - theirs) + 1e-6, (name, seed)
        worst = max(worst, off)
    assert taken >= 1
    return worst


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("part", PARTS)
def test_agrees_with_the_oracle(part, penalty):
    for seed in range(6):
        agrees(part, penalty, seed)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("part", PARTS)
def test_agrees_with_the_oracle_on_a_hundred(part, penalty):
    for seed in range(100, 200):
        agrees(part, penalty, seed)


# ---- which one


def test_the_choice_is_made_from_what_g_and_r_declare():
    draw, l1, lists = np.random.default_rng(0), L1(0.1), L1(0.1, groups=[[0, 3], [1, 2]])
    Q, D, R, M = Quadratic(np.eye(4)), Diagonal(np.ones(4)), Radial(1.0, 1.0), mean(Logistic(), draw, 4)
    quartic = mean(Quartic(), draw, 4)
    expected = [
        (ScaledIdentity(1.0), lists, prox), (D, l1, prox), (D, lists, prox), (D, Box(-1, 1), prox),
        (R, l1, radial), (R, lists, radial), (R, Nonnegative(), radial), (R, Zero(), radial), (R, SCAD(0.1), radial),
        (R, Except(l1), radial), (R, Box(-1, 1), prox_newton), (R, ElasticNet(0.1, 0.1), prox_newton),
        (R, L2(0.1), newton_cg), (Q, Zero(), direct), (Q, L2(0.1), direct), (Q, l1, cd), (Q, reweighted(SCAD(0.1)), cd),
        (Q, Box(-1, 1), cd), (Q, Except(l1), cd), (Q, TopK(0.1, 2), cd), (Q, lists, groups), (Q, Simplex(), fista),
        (M, Zero(), newton_cg), (M, L2(0.1), newton_cg), (M, Except(L2(0.1)), newton_cg), (M, l1, prox_newton),
        (quartic, Zero(), newton_cg), (quartic, l1, prox_newton), (quartic, lists, prox_newton),
        (Shifted(R, 1.0), l1, prox_newton), (Shifted(R, 1.0), Zero(), newton_cg),
    ]  # fmt: skip
    wide = L1(0.1, groups=[range(100), *([j] for j in range(100, 1000))])  # 901 groups as wide as the first
    expected += [(Q, Except(L1(0.1, groups=[[0, 2], [1]])), groups), (Quadratic(np.eye(1000)), wide, fista)]
    for G, r, solver in expected:
        assert choose(G, r) is solver, (G, r)
        assert solver.takes(G, r)


def test_a_large_sum_with_a_strongly_convex_part_gets_the_stochastic_one():
    A = np.random.default_rng(0).normal(size=(20_000, 3))
    f = dcopt.erm(A, np.sign(A[:, 0]), "logistic").f
    assert choose(Mean(f, 0.1), L1(0.01)) is svrg
    assert choose(Mean(f, 0.0), L1(0.01)) is prox_newton  # not strongly convex
    assert choose(Mean(f, 1e-5), L1(0.01)) is prox_newton  # worse conditioned than N


def test_names_and_callables():
    assert subsolver("fista") is fista and subsolver(prox) is prox

    def mine(G, r, y, warm, tol):
        return Inner(warm, 0.0, 0)

    assert subsolver(mine) is mine
    with pytest.raises(BadSettings, match="fista"):
        subsolver("fitsa")
    with pytest.raises(BadSettings, match="callable"):
        subsolver(3)


def test_what_a_sub_solver_does_not_take_it_refuses():
    y = np.ones(2)
    R = Radial(1.0, 1.0)
    for solver, G in ((prox, Quadratic(np.eye(2))), (radial, ScaledIdentity(1.0)), (cd, R), (direct, R)):
        with pytest.raises(CannotSolve, match="fista"):
            solver(G, L1(0.1), y, warm=y, tol=1e-6)
    with pytest.raises(CannotSolve):
        newton_cg(Radial(1.0, 1.0), L1(0.1), y, warm=y, tol=1e-6)
    with pytest.raises(CannotSolve):
        svrg(mean(Squared(), np.random.default_rng(0), 2, mu=0.0), L1(0.1), y, warm=y, tol=1e-6)


# ---- hard ones


def test_coordinate_descent_on_an_ill_conditioned_gram():
    """Condition 1e8: coordinates alone would need that many passes, the linear system of the support does not."""
    draw = np.random.default_rng(3)
    q = np.linalg.qr(draw.normal(size=(60, 60)))[0]
    Q = q * np.logspace(0, -8, 60) @ q.T
    G, y = Quadratic(0.5 * (Q + Q.T)), Q @ draw.normal(size=60)
    for r in (L1(1e-4), Nonnegative(), Box(-0.5, 0.5), ElasticNet(1e-4, 1e-6)):
        p = Program(G, r, y, np.zeros(60))
        inner = cd(*p[:3], warm=p.warm, tol=1e-13)
        assert inner.residual <= 1e-12 and p.residual(inner.x) <= 1e-12, (r, inner.residual, inner.steps)


def test_more_features_than_rows():
    draw = np.random.default_rng(4)
    A = sp.random_array((30, 80), density=0.3, rng=draw, format="csr")
    G, y = least_squares(A, draw.normal(size=30)), np.zeros(80)
    assert G.rho == 0.0
    for r in (L1(0.01), L1(0.01, weights=draw.random(80) + 0.1)):
        one, two = (solver(G, r, y, warm=np.zeros(80), tol=1e-9) for solver in (cd, fista))
        assert max(one.residual, two.residual) <= 1e-9
        values = [G.value(i.x) + r.r1(i.x) for i in (one, two)]
        assert values[0] == pytest.approx(values[1], abs=1e-7)
        assert 0 < np.count_nonzero(one.x) < 40


@pytest.mark.parametrize("solver", [fista, cd, direct, newton_cg, oracle], ids=lambda s: s.name)
def test_without_a_minimizer_the_residual_says_so(solver):
    """y outside the range of Q: dist(y, range) stays, from every start, and the answer comes."""
    draw = np.random.default_rng(5)
    B = draw.normal(size=(3, 8))
    G = Quadratic(B.T @ B)
    y = draw.normal(size=8)
    away = y - B.T @ np.linalg.lstsq(B.T, y, rcond=None)[0]
    for warm in (np.zeros(8), draw.normal(size=8)):
        inner = solver(G, Zero(), y, warm=warm, tol=1e-8)
        assert np.isfinite(inner.x).all() and inner.steps <= 5000  # It does not go on for ever.
        assert inner.residual >= np.linalg.norm(away) * (1 - 1e-9)
        assert G.grad(inner.x).shape == (8,) and inner.residual == pytest.approx(np.linalg.norm(y - G.grad(inner.x)))
        if solver in (fista, direct):  # and these go as far as one can
            assert inner.residual <= np.linalg.norm(away) * 1.01


def test_without_a_minimizer_behind_a_kink_or_a_bound():
    """l1 does not hold a slope above lam, a half line no slope along it."""
    G, y, warm = Quadratic(np.diag([1.0, 0.0])), np.array([1.0, 0.5]), np.zeros(2)
    for r, left in ((L1(0.2), 0.3), (Nonnegative(), 0.5), (L1(0.2, groups="rows"), 0.3)):
        for solver in (cd, fista):
            assert solver(G, r, y, warm=warm, tol=1e-9).residual == pytest.approx(left, rel=1e-6)
    for r in (L1(0.5), Box(-1.0, 1.0)):  # these hold it
        assert cd(G, r, y, warm=warm, tol=1e-9).residual <= 1e-9
    assert cd(G, Box(-1.0, 1.0), y, warm=warm, tol=1e-9).x[1] == 1.0
    linear = Quadratic(np.zeros((2, 2)), np.array([1.0, 0.0]))  # no curvature at all
    for solver in (cd, fista):
        assert solver(linear, Zero(), 0 * y, warm=warm, tol=1e-9).residual == pytest.approx(1.0)


def test_the_infimum_of_a_logistic_mean_is_at_infinity():
    """Separable data: gradients vanish on the way out, and the answer is finite and true."""
    A = np.array([[1.0], [2.0]])
    f = dcopt.erm(A, np.array([1, 0]), "logistic").f
    f = type(f)(f.a, f.loss, np.array([1.0, 1.0]))
    p = Program(Mean(f), Zero(), np.zeros(1), np.zeros(1))
    for solver in (newton_cg, fista):
        inner = solver(*p[:3], warm=p.warm, tol=1e-4)
        assert np.isfinite(inner.x).all() and p.residual(inner.x) <= inner.residual * (1 + 1e-12)


def valley(seed: int, mu: float = 0.1) -> Program:
    """A quartic mean with columns of length .1 to 10 and l1 over groups: a start far out, where G is nearly flat."""
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(9, 9)) * np.logspace(-1, 1, 9)[draw.permutation(9)]
    G = Mean(LinearSum(DenseRows(A), Quartic(), np.zeros(9)), mu)
    y, warm = (draw.normal(size=9) * 10.0 ** draw.uniform(*ends) for ends in ((-1, 5), (-2, 3)))
    return Program(G, L1(0.3, groups=[[0, 3, 6], [1, 4, 7], [2, 5, 8]]), y, warm)


@pytest.mark.parametrize("mu", [0.1, 0.0])
def test_fista_goes_on_while_the_program_falls(mu):
    """The residual stays near 7e2 (7e3) for a thousand steps in the valley, and then falls to 1e-6 (1e-5)."""
    for seed, tol in ((17, 1e-4), (22, 1e-4)):
        p = valley(seed, mu)
        inner = fista(*p[:3], warm=p.warm, tol=tol)
        assert 1024 < inner.steps < 50_000, (seed, inner.steps)
        assert inner.residual <= tol and p.residual(inner.x) <= 1.01 * tol, (seed, inner.residual)


@pytest.mark.parametrize("seed", [17, 22, 50, 55, 84, 153])
def test_newton_in_the_valley(seed):
    """At most 60 steps, where FISTA takes thousands, and the same minimizer as CVXPY's where that finds one."""
    p = valley(seed)
    inner = prox_newton(*p[:3], warm=p.warm, tol=1e-6)
    assert inner.steps <= 60 and inner.residual <= 1e-6, (inner.steps, inner.residual)
    assert p.residual(inner.x) <= 1e-6 + 100 * rounding(p.y, p.G.grad(inner.x))
    found = oracle.solve(p.G, p.r, p.y)
    assert found is None or p.value(inner.x) <= found[1] + 1e-9 * abs(found[1])


def test_newton_goes_on_with_fista_where_the_curvature_is_zero():
    """The Hessian of a quartic mean is 0 at x = 0: its model has no minimizer."""
    draw = np.random.default_rng(0)
    G = Mean(LinearSum(DenseRows(draw.normal(size=(20, 5))), Quartic(), np.zeros(20)))
    for r in (L1(0.1), L1(0.1, groups=[[0, 1], [2, 3, 4]]), Box(-1.0, 1.0), Simplex()):
        p = Program(G, r, draw.normal(size=5), r.prox(np.zeros(5), 1.0))
        alone = ProxNewton()._solve(*p, tol=1e-9)[0]
        assert isinstance(r, (Box, Simplex)) or alone.residual > 1e-3
        inner = prox_newton(*p[:3], warm=p.warm, tol=1e-9)
        assert inner.residual <= 1e-9 and p.residual(inner.x) <= 1e-9


def test_newton_is_fista_on_programs_that_fista_ends_sooner_than_a_hessian():
    """It begins with as many steps of FISTA as a Hessian has columns; both count every gradient and every column."""
    for part in ("mean-logistic", "mean-quartic", "mean-huber", "shifted"):
        for seed in range(5):
            p = program(part, "l1", seed)
            one, two = (solver(*p[:3], warm=p.warm, tol=1e-2) for solver in (prox_newton, fista))
            assert max(one.residual, two.residual) <= 1e-2
            assert two.steps > p.y.size or (one.steps, one.cost) == (two.steps, two.cost)


@pytest.mark.parametrize("name", ["fista", "newton-cg"])
@pytest.mark.parametrize("far", [1e-8, 1.0, 1e6])
def test_unbounded_curvature_from_any_start(name, far):
    """A quartic mean from very near and very far: backtracking finds the step."""
    draw = np.random.default_rng(6)
    G = mean(Quartic(), draw, 5)
    p = Program(G, Zero(), draw.normal(size=5), far * draw.normal(size=5))
    inner = SUBPROBLEMS[name](*p[:3], warm=p.warm, tol=1e-9)
    assert inner.residual <= 1e-9 and p.residual(inner.x) <= 1e-9


def test_a_cap_is_kept_and_seen():
    p = program("quadratic", "l1", 0)
    inner = FISTA(steps=3)(*p[:3], warm=p.warm, tol=1e-9)
    assert inner.steps == 3 and inner.residual > 1e-9 and p.residual(inner.x) == pytest.approx(inner.residual)


def test_tolerance_zero_ends_at_the_level_of_rounding():
    """What the gap asks for."""
    for part in ("quadratic", "mean-logistic", "mean-quartic", "radial"):
        for penalty in ("l1", "zero", "box"):
            p = program(part, penalty, 1)
            inner = choose(p.G, p.r)(*p[:3], warm=p.warm, tol=0.0)
            assert inner.residual <= 1e-12 * (1 + np.linalg.norm(p.y)), (part, penalty, inner.residual)


@pytest.mark.parametrize("penalty", ["l1", "zero", "l1-rows"])
@pytest.mark.parametrize("part", ["identity", "diagonal", "quadratic", "radial"])
def test_single_precision_stays(part, penalty):
    p = program(part, penalty, 2)
    for name, solver in SUBPROBLEMS.items():
        if solver.takes(p.G, p.r):
            inner = solver(p.G, p.r, p.y.astype(np.float32), warm=p.warm.astype(np.float32), tol=1e-4)
            assert inner.x.dtype == np.float32, name
            assert p.residual(inner.x.astype(np.float64)) <= 1e-4 + 1e-5, name


# ---- what it costs


def test_component_gradients_are_counted():
    """Every row visited is counted, by a sum that counts its rows."""
    draw = np.random.default_rng(7)
    G = mean(Logistic(), draw, 4)
    seen = 0

    class Counted:
        def __init__(self, rows):
            self.rows = rows

        def __getattr__(self, verb):
            return getattr(self.rows, verb)

        def dot(self, x, rows=None):
            nonlocal seen
            seen += self.rows.shape[0] if rows is None else len(rows)
            return self.rows.dot(x, rows)

        def through(self, x, of):
            nonlocal seen
            seen += self.rows.shape[0]
            return self.rows.through(x, of)

        def can(self):
            return Can(one_pass=self.through)

    f = G.sum
    H = Mean(type(f)(Counted(f.a), f.loss, f.labels, f.weights, f.classes), G.mu)
    assert pytest.approx(G.L) == H.L and H.smoothness is H.smoothness
    y, warm = draw.normal(size=4), np.zeros(4)
    for solver, r in ((fista, L1(0.1)), (svrg, L1(0.1)), (newton_cg, Zero())):
        seen = 0
        inner = solver(H, r, y, warm=warm, tol=1e-8)
        assert inner.residual <= 1e-8
        if solver is newton_cg:  # a product with the Hessian is two looks at the rows, counted as one gradient
            assert 0.5 * seen <= inner.cost.gradients <= seen
        else:
            assert inner.cost.gradients == inner.cost.paper == seen
    assert fista(Quadratic(np.eye(4)), L1(0.1), y, warm=warm, tol=1e-8).cost == (0, 0)


def test_the_draws_of_a_step_are_its_own():
    p = program("mean-logistic", "l1", 3)
    one, two, three = (svrg.at(Draw(*at)) for at in ((0, 1), (0, 2), (1, 1)))
    xs = [solver(*p[:3], warm=p.warm, tol=1e-5).x for solver in (one, two, three, svrg.at(Draw(0, 1)))]
    assert np.array_equal(xs[0], xs[3]) and not np.array_equal(xs[0], xs[1]) and not np.array_equal(xs[0], xs[2])
    with pytest.raises(BadSettings):
        InnerSVRG(b=0)


# ---- sub-solvers that lie


@dataclass(frozen=True)
class Wrong(Solver):
    what: str = ""

    def takes(self, G, r):
        return False if self.what == "nothing" else fista.takes(G, r)

    def __call__(self, G, r, y, warm, tol):
        if self.what == "writes":
            warm *= 0.5
        if self.what == "nan":
            y = np.where(np.isfinite(y), y, 0.0)
        if self.what == "infimum" and r == Zero() and G.rho == 0.0:
            return Inner(np.ones_like(y), 0.0, 1)
        if self.what == "stops":
            return Inner(warm.copy(), r.distance(y - G.grad(warm), warm), 0)
        inner = fista(G, r, y, warm=warm, tol=tol)
        if self.what == "claims":
            return inner._replace(x=r.prox(inner.x + 1e-3, 1e-3))
        if self.what == "worse":
            far = r.prox(inner.x + 1.0, 1.0)
            return inner._replace(x=far, residual=r.distance(y - G.grad(far), far) * 1e-3)
        if self.what == "slow":
            return inner._replace(steps=inner.steps if inner.steps else 10_000)
        return inner


LIES = {
    "nothing": "takes none",
    "claims": "residual-is-true",
    "stops": "tolerance-is-met",
    "worse": "minimizer-beats-perturbations",
    "slow": "warm-start-is-never-worse",
    "nan": "nan-is-not-silent",
    "infimum": "no-minimizer-is-said",
    "writes": "arguments-stay",
}


@pytest.mark.parametrize("what", LIES)
def test_a_sub_solver_that_lies_is_found_out(what):
    with pytest.raises(LawBroken, match=LIES[what]):
        run(LAWS, Wrong(what))


@dataclass(frozen=True)
class Spoilt(Solver):
    """A registered sub-solver whose answers are spoilt, on the programs that it takes."""

    of: Solver
    what: str

    def takes(self, G, r):
        return self.of.takes(G, r)

    def __call__(self, G, r, y, warm, tol):
        if self.what == "writes":
            warm *= 0.5
        if self.what == "nan":
            y = np.where(np.isfinite(y), y, 0.0)
        if self.what == "infimum" and r == Zero() and G.rho == 0.0:
            return Inner(np.ones_like(y), 0.0, 1)
        if self.what == "stops":
            return Inner(warm.copy(), r.distance(y - G.grad(warm), warm), 0)
        inner = self.of(G, r, y, warm=warm, tol=tol)
        if self.what == "claims":
            return inner._replace(x=r.prox(inner.x + 1e-3, 1e-3))
        if self.what == "worse":
            far = r.prox(inner.x + 1.0, 1.0)
            return inner._replace(x=far, residual=r.distance(y - G.grad(far), far) * 1e-3)
        if self.what == "slow" and r.distance(y - G.grad(warm), warm) <= 1e-5:
            return inner._replace(steps=inner.steps + 10_000)
        return inner


FLAT = Quadratic(np.diag([1.0, 0.0]))


@pytest.mark.parametrize("what", [what for what in LIES if what != "nothing"])
@pytest.mark.parametrize("name", OURS)
def test_each_law_meets_each_of_ours_and_can_fail_on_it(name, what):
    solver = OURS[name]
    if what == "infimum" and not solver.takes(FLAT, Zero()):
        pytest.skip("it does not take a G without a least value")
    with pytest.raises(LawBroken):
        LAWS[LIES[what]](Spoilt(solver, what))


def test_every_sub_solver_of_the_package_is_registered():
    """But those that are told the step by the loop: their schedule says how long they run, and no tolerance."""

    def kinds(kind):
        return {kind, *(below for sub in kind.__subclasses__() for below in kinds(sub))}

    ours = {kind for kind in kinds(Solver) if kind.__module__.startswith("dcopt.") and kind is not Solver}
    assert ours - {type(solver) for solver in SUBPROBLEMS.values()} == {SPG}


def test_those_that_are_told_the_step_do_not_claim_what_they_do_not_know():
    """SPG certifies nothing, ever; the staged SVRG looks at its end."""
    for seed in range(3):
        p = program("mean-logistic", "l1", seed)
        G = Mean(p.G.sum, max(p.G.mu, 0.5))
        for staged, certifies in ((StagedSPG(0.5, 4), False), (StagedSVRG(), True)):
            for t in (0, 3):
                inner = staged.at(Draw(seed, t))(G, p.r, p.y, p.warm, 0.0)
                true = p.r.distance(p.y - G.grad(inner.x), inner.x)
                assert true <= inner.residual + 100 * rounding(p.y, G.grad(inner.x))
                assert math.isfinite(inner.residual) == certifies


def test_a_point_that_a_line_search_chose_has_no_residual():
    """The residual of the step before the line search says nothing of the point behind it."""
    A = np.random.default_rng(0).normal(size=(60, 4))
    P = dcopt.erm(A, np.sign(A[:, 0] + 0.5), "logistic", L1(0.001))
    x = np.zeros(4)
    y = P.G.grad(x) - P.f.all().grad(x)
    inner = Boosted(P, prox)(P.G, P.r, y, x, 1e-9)
    assert not np.array_equal(inner.x, prox(P.G, P.r, y, x, 1e-9).x)
    assert inner.residual is None and inner.certified == np.inf
    none = Boosted(P, prox, alpha=1e9, trials=1)(P.G, P.r, y, x, 1e-9)  # Every trial fails: the step stays.
    assert P.r.distance(y - P.G.grad(none.x), none.x) <= none.certified + 1e-12


def test_check_finds_the_laws_of_a_sub_solver():
    assert dcopt.check(fista) == list(LAWS)


def test_a_regularizer_of_ones_own_is_solved_by_fista_and_may_say_more():
    """The ball: any prox will do. A cone that says it is one gets the closed form."""

    class Ball(Convex):
        def r1(self, x):
            return 0.0 if np.linalg.norm(x) <= 1.0 + 1e-12 else math.inf

        def prox(self, v, step):
            return v / max(1.0, float(np.linalg.norm(v)))

        def distance(self, u, x):
            size = float(np.linalg.norm(x))
            if size < 1.0 - 1e-9:
                return float(np.linalg.norm(u))
            return float(np.linalg.norm(u - max(0.0, float(np.sum(u * x))) * x / size**2))

    class Ray(Nonnegative):
        homogeneous = True

    Q = Quadratic(np.diag([1.0, 0.1]))
    assert choose(Q, Ball()) is fista and choose(Radial(1.0, 1.0), Ray()) is radial
    inner = fista(Q, Ball(), np.array([1.0, 1.0]), warm=np.zeros(2), tol=1e-10)
    assert inner.residual <= 1e-10 and np.linalg.norm(inner.x) == pytest.approx(1.0)


@pytest.mark.parametrize("k", [None, 3])
def test_groups_in_an_ill_conditioned_q(k):
    """Columns of scales from 1e-4 to 1e4, an intercept, several classes: solved to the rounding of the program."""
    draw = np.random.default_rng(0)
    A = np.column_stack([draw.normal(size=(200, 9)) * 10.0 ** np.linspace(-4, 4, 9), np.ones(200)])
    Q, shape = Quadratic(A.T @ A / 200), (10,) if k is None else (10, k)
    of = SCAD(0.1, groups=[[0, 8], [1, 2, 3], [4], [5, 6, 7]], weights=[1.0, 1.0, 100.0, 1.0])
    r, y = Except(of), draw.normal(size=shape)
    y[:9] *= 10.0 ** np.linspace(-4, 4, 9).reshape(9, *[1] * (len(shape) - 1))
    inner = groups(Q, r, y, np.zeros(shape), 1e-10)
    assert inner.residual == r.distance(y - Q.grad(inner.x), inner.x) <= 1e-6
    np.testing.assert_array_equal(np.flatnonzero(inner.x.reshape(10, -1).any(axis=1)), [0, 1, 2, 3, 5, 6, 7, 8, 9])


def test_groups_of_many_classes_make_no_matrix_of_all_of_them(monkeypatch):
    """100 places for 21 classes are 2100 rows: FISTA, which needs none; for 20 classes they are 2000."""
    module = sys.modules[type(groups).__module__]
    made, laid_out = [], module._laid_out
    monkeypatch.setattr(module, "_laid_out", lambda *given: made.append(1) or laid_out(*given))
    draw, r = np.random.default_rng(0), L1(0.1, groups=np.arange(100).reshape(-1, 4).tolist())
    A = draw.normal(size=(300, 100))
    Q = Quadratic(A.T @ A / 300)
    for k in (20, 21):
        y = draw.normal(size=(100, k))
        inner = groups(Q, r, y, np.zeros((100, k)), 1e-8)
        assert inner.residual == r.distance(y - Q.grad(inner.x), inner.x) <= 1e-8
        assert len(made) == 1


def test_fista_asks_for_gradients_alone_which_it_counts(monkeypatch):
    """Where L is not known: a look at G would be a pass over the rows that nobody counts."""
    draw, seen = np.random.default_rng(0), []
    G = mean(Quartic(), draw, 4)
    assert math.isinf(G.L)
    for name in ("value", "bregman"):
        monkeypatch.setattr(Mean, name, lambda *_, name=name: pytest.fail(f"G.{name} was asked for"))
    grad = Mean.grad
    monkeypatch.setattr(Mean, "grad", lambda self, x: seen.append(x) or grad(self, x))
    inner = fista(G, L1(0.01), 0.1 * draw.normal(size=4), draw.normal(size=4), 1e-9)
    assert inner.residual <= 1e-9 and inner.cost.gradients == len(seen) * G.components


@pytest.mark.parametrize("looks", [1, 2, 4])
def test_svrg_makes_no_epoch_that_is_not_looked_at(looks):
    """k looks have k − 1 epochs between them."""
    draw = np.random.default_rng(0)
    f = dcopt.erm(draw.normal(size=(500, 4)), draw.normal(size=500), "huber").f
    G = Mean(f, 0.5)
    inner = InnerSVRG(b=10, epochs=looks)(G, L1(0.01), draw.normal(size=4), np.zeros(4), 0.0)
    length = min(50, max(8, math.ceil(4.0 * 3.0 * _batch_smoothness(G, 10) / G.rho)))
    assert inner.steps == (looks - 1) * length and inner.cost.gradients == 500 * looks + 10 * inner.steps


def _batch_smoothness(G, b):
    return ((b - 1) * (G.L - G.mu) + G.L_component) / b + G.mu
