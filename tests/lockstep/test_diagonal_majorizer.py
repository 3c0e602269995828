"""decomposition="diagonal": D majorizes, steps in its metric descend, batches are large enough for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from faults import FaultyRows
from slow import Penalty, evaluate
from small import matrix, signs, targets

import dcopt
from dcopt.convex import Diagonal, MajorizingDiagonal, majorizing_diagonal, variance_smoothness
from dcopt.data.check import as_rows
from dcopt.datasets.named import available, load_dataset
from dcopt.errors import BadSettings, CannotSolve
from dcopt.estimators import PAGE
from dcopt.laws.base import run
from dcopt.laws.convex import LAWS as CONVEX_LAWS
from dcopt.laws.problems import LAWS
from dcopt.regularizers import L1, L2, MCP, SCAD, ElasticNet, Exponential, Nonnegative, Simplex
from dcopt.subproblems import choose, oracle, prox
from dcopt.theory import formulas

CASES = {
    "logistic": signs,
    "squared-sigmoid": signs,
    "softmax": lambda X: (3 * X[:, 0]).round().clip(-1, 1),
    "squared": targets,
    "welsch": targets,
}
WEIGHTS = np.random.default_rng(3).integers(0, 4, 60)


def problem(loss: str, decomposition: str = "diagonal", r: Any = None, wrap: Any = np.asarray, **options: Any) -> Any:
    X = matrix(60, 5, density=0.7)
    r = MCP(lam=0.02, groups="rows") if r is None else r
    return dcopt.erm(wrap(X), CASES[loss](X), loss, r, decomposition=decomposition, **{"intercept": True} | options)


def steepest(P: Any) -> Any:
    """s AᵀWA/N, dense: what every Hessian of f is below, and minus which it is above."""
    A = P.f.a.dot(np.eye(P.shape[0], dtype=P.dtype)).astype(np.float64)
    w = np.ones(len(A)) if P.f.weights is None else P.f.weights.astype(np.float64)
    return max(map(abs, P.f.loss.curvature)) * A.T @ (w[:, None] * A) / len(A), A, w


# ---- D


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", CASES)
def test_D_is_its_formula_and_majorizes(loss: str, intercept: bool, weights: Any, wrap: Any, dtype: str) -> None:
    P = problem(loss, wrap=lambda X: wrap(X.astype(dtype)), intercept=intercept, sample_weight=weights)
    Q, A, w = steepest(P)
    s = max(map(abs, P.f.loss.curvature))
    want = s * np.abs(A).T @ (w * np.abs(A).sum(axis=1)) / len(A)
    np.testing.assert_allclose(P.G.m, want, rtol=2e-9)  # rounded up by 1e-9
    assert np.linalg.eigvalsh(np.diag(P.G.m) - Q)[0] > 0.0 and np.all(P.G.m >= want)


@pytest.mark.parametrize("seed", range(20))
def test_D_majorizes_random_rows_of_any_scale(seed: int) -> None:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(30, 8)) * 10.0 ** draw.integers(-3, 4, 8) * (draw.random((30, 8)) < draw.random())
    P = dcopt.erm(X + 1e-3 * np.eye(30, 8), np.arange(30) % 2, "logistic", decomposition="diagonal")
    Q, *_ = steepest(P)
    root = 1.0 / np.sqrt(P.G.m)  # in its own units, where rounding is the same for every column
    assert np.linalg.eigvalsh(np.eye(8) - root[:, None] * Q * root)[0] >= -1e-12


@pytest.mark.skipif(not available("a1a"), reason="a1a not in DCOPT_DATA")
@pytest.mark.parametrize("loss", ["squared-sigmoid", "logistic"])
def test_D_majorizes_a1a(loss: str) -> None:
    X, y = load_dataset("a1a")
    P = dcopt.erm(X, y, loss, decomposition="diagonal")
    Q, A, _ = steepest(P)
    used = np.abs(A).sum(axis=0) > 0
    assert used.sum() < len(used) and np.all(P.G.m[~used] == P.G.m[used].min())  # columns that nobody has
    gap = np.linalg.eigvalsh(np.diag(P.G.m) - Q)
    assert gap[0] > 0.0 and np.diag(Q).max() <= P.G.L <= Q.sum(axis=1).max() * (1 + 1e-8)


@pytest.mark.parametrize("loss", CASES)
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_same_F_and_the_model_is_above_it(loss: str, wrap: Any) -> None:
    P, S = (problem(loss, name, wrap=wrap, sample_weight=WEIGHTS) for name in ("diagonal", "scalar"))
    draw = np.random.default_rng(0)
    for _ in range(20):
        x, h = draw.normal(size=(2, *P.shape))
        assert P.value(x) == S.value(x)
        f, g = P.f.all().value_grad(x)
        model = f + float(np.sum(g * h)) + P.G.bregman(x + h, x)
        assert P.f.all().value_grad(x + h)[0] <= model * (1 + 1e-12)


@pytest.mark.parametrize("loss", CASES)
def test_the_laws_of_a_problem_and_of_a_convex_part(loss: str) -> None:
    P = problem(loss)
    run(LAWS, P)
    run(CONVEX_LAWS, P.G)
    run(CONVEX_LAWS, P.G.scaled(3.0))
    assert P.G.scaled(3.0).tau == 3.0 and type(P.G.shift(1.0)) is Diagonal


def test_constants_are_those_of_the_euclidean_norm() -> None:
    P = problem("squared-sigmoid", r=L2(lam=0.1), intercept=False)
    Q, *_ = steepest(P)
    c, (low, high) = P.constants, P.f.loss.curvature
    e = np.linalg.eigvalsh(Q) / max(high, -low)
    assert c.rho_phi == pytest.approx(P.G.m.min() + 0.1) and c.rho_H >= 0.0
    assert pytest.approx(P.G.m.max() - low * e[-1], rel=1e-5) == c.L_H
    assert c.rho_H <= np.linalg.eigvalsh(np.diag(P.G.m) - Q)[0]


def test_empty_tiny_and_huge_columns() -> None:
    X = matrix(60, 5)
    X = np.c_[X, np.zeros(60), X[:, :1], 1e-250 * X[:, 1:2], 1e60 * X[:, 2:3]]
    P = dcopt.erm(X, signs(X[:, :5]), "logistic", Exponential(lam=0.002, alpha=5.0), decomposition="diagonal")
    assert P.G.m[5] == P.G.m.min() > 0 and np.isfinite(1.0 / P.G.m).all() and P.G.m[0] == P.G.m[6]
    nothing = dcopt.erm(np.zeros((4, 2)), [0, 1, 0, 1], "logistic", decomposition="diagonal")
    np.testing.assert_array_equal(nothing.G.m, [1.0, 1.0])


def test_a_long_matrix_is_taken_in_blocks() -> None:
    X = np.random.default_rng(5).normal(size=(9001, 3))
    w = np.arange(9001.0) % 5
    y = np.arange(9001) % 2
    P, S = (dcopt.erm(wrap(X), y, sample_weight=w, decomposition="diagonal") for wrap in (np.asarray, sp.csr_array))
    Q, A, w = steepest(P)
    s = max(map(abs, P.f.loss.curvature))
    np.testing.assert_allclose(P.G.m, s * np.abs(A).T @ (w * np.abs(A).sum(axis=1)) / 9001, rtol=2e-9)
    np.testing.assert_allclose(P.G.m, S.G.m, rtol=1e-12)
    assert variance_smoothness(P.f, P.G) == pytest.approx(variance_smoothness(S.f, S.G), rel=1e-9)


def test_what_cannot_be_is_refused_by_name() -> None:
    X = matrix(60, 5)
    with pytest.raises(BadSettings, match="kappa"):
        dcopt.erm(X, signs(X), decomposition="diagonal", kappa=1.0)
    with pytest.raises(BadSettings, match="did you mean 'diagonal'"):
        dcopt.erm(X, signs(X), decomposition="diagonl")

    class Hidden(FaultyRows):
        def take(self, rows: Any) -> Any:
            return self

    with pytest.raises(CannotSolve, match="Hidden does not show its entries.*'scalar'"):
        dcopt.erm(Hidden(as_rows(X)), signs(X), decomposition="diagonal")


# ---- its steps


def pairs(one: Any, other: Any, steps: int, **options: Any) -> Any:
    states = zip(dcopt.iterate(one, "dca", **options), dcopt.iterate(other, "dca", **options), strict=False)
    return (pair for pair, _ in zip(states, range(steps), strict=False))


@pytest.mark.parametrize("r", ["zero", L1(lam=1e-4), SCAD(lam=1e-3), Exponential(lam=1e-4, alpha=5.0)], ids=str)
def test_one_entry_a_row_is_the_gram_matrix(r: Any) -> None:
    """Columns without a row in common: AᵀA is diagonal, and so is |A|ᵀ|A|."""
    draw = np.random.default_rng(1)
    X = np.zeros((80, 6))
    X[np.arange(80), draw.integers(0, 6, 80)] = draw.normal(size=80)
    P, Q = (dcopt.erm(X, signs(X), "logistic", r, decomposition=name) for name in ("diagonal", "gram"))
    np.testing.assert_allclose(np.diag(P.G.m), Q.G.Q, rtol=1e-7, atol=1e-12)
    for one, other in pairs(P, Q, 30, x0=np.ones(6)):
        np.testing.assert_allclose(one.x, other.x, rtol=1e-6, atol=1e-7)


def test_equal_numbers_are_the_scalar() -> None:
    """Entries ±1/√d: D_jj = s = L_f for every j."""
    X = np.sign(matrix(50, 4)) / 2.0
    P, S = (dcopt.erm(X, signs(X), "logistic", SCAD(lam=0.01), decomposition=d) for d in ("diagonal", "scalar"))
    np.testing.assert_allclose(P.G.m, S.G.kappa, rtol=2e-9)
    for one, other in pairs(P, S, 30):
        np.testing.assert_allclose(one.x, other.x, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("loss", CASES)
def test_all_decompositions_end_at_critical_points_of_each(loss: str) -> None:
    r = L1(lam=0.05, groups="rows") if loss == "softmax" else SCAD(lam=0.08)
    P, S = (problem(loss, name, r) for name in ("diagonal", "scalar"))
    res = dcopt.solve(P, "dca", tol=1e-5, measure="criticality", passes=20_000, trace=None)
    assert res.status.name == "CONVERGED"
    assert dcopt.measures.criticality(S, res.x) == pytest.approx(res.certificate.value, abs=1e-12)
    assert dcopt.measures.gap(P, res.x) < 1e-4


GROUPS = [[0, 3], [1, 2, 4]]
PENALTIES = {
    "l2": (L2(lam=0.1), True),
    "elastic-net": (ElasticNet(lam=0.01, mu=0.1), True),
    "nonnegative": (Nonnegative(), True),
    "groups": (SCAD(lam=0.05, groups=GROUPS), True),
    "reweighted": (SCAD(lam=0.05), True),
    "simplex": (Simplex(), False),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_which_penalties_have_a_prox_and_what_the_others_do(name: str) -> None:
    r, closed = PENALTIES[name]
    step = "reweighted" if name == "reweighted" else "dca"
    P = problem("logistic", r=r, intercept=False, concave_step=step)
    solver = choose(P.G, P.r)
    assert (solver is prox) == closed
    draw = np.random.default_rng(2)
    y, warm = 0.1 * draw.normal(size=5), np.full(5, 0.2)
    inner = solver(P.G, P.r, y, warm, 1e-10)
    assert inner.residual <= 1e-9
    if oracle.takes(P.G, P.r):
        np.testing.assert_allclose(inner.x, oracle(P.G, P.r, y, warm, 1e-8).x, atol=2e-4)
    res = dcopt.solve(P, "dca", tol=1e-6, passes=5000, trace=None)
    assert res.status.name == "CONVERGED"


@pytest.mark.skipif(not available("a9a"), reason="a9a not in DCOPT_DATA")
def test_descent_and_a_certificate_on_a9a() -> None:
    X, y = load_dataset("a9a", normalize=True)
    r = Exponential(lam=1.0 / len(y), alpha=5.0)
    P = dcopt.erm(X, y, "squared-sigmoid", r, decomposition="diagonal")
    before, F, used = np.zeros(P.shape), P.value(np.zeros(P.shape)), []
    for state, _ in zip(dcopt.iterate(P, "dca"), range(100), strict=False):
        now, step = P.value(state.x), state.x - before
        # in the metric of D ρ is 2 − 1, in the Euclidean norm the least of D, both in one
        promised = max(0.5 * float(step @ (P.G.m * step)), 0.5 * P.constants.rho * float(step @ step))
        assert now <= F - promised + 1e-14 * abs(F)
        used.append(promised / (F - now))
        before, F = state.x, now
    assert len(used) == 100 and max(used) > 0.5  # the promise is not an empty one
    res = dcopt.solve(P, "dca", atol=2e-3, passes=400, trace=None)
    penalty = Penalty("exponential", r.lam, 5.0)
    truth = evaluate(X.toarray(), np.where(y > 0, 1.0, -1.0), "squared-sigmoid", penalty, res.x)
    assert res.status.name == "CONVERGED"
    assert res.certificate.value == pytest.approx(truth.criticality, rel=1e-6) and truth.criticality <= 2e-3
    assert res.certificate.F == pytest.approx(truth.F, rel=1e-10)
    scalar = dcopt.solve(dcopt.erm(X, y, "squared-sigmoid", r), "dca", passes=100, trace=None)
    assert F < scalar.certificate.F - 0.005  # after as many passes


def test_float32_stays_float32() -> None:
    P = problem("logistic", wrap=lambda X: sp.csr_array(X.astype(np.float32)))
    res = dcopt.solve(P, "dca", tol=1e-3, measure="criticality", passes=2000, trace=None)
    assert res.x.dtype == np.float32 and res.status.name == "CONVERGED"


def test_a_run_goes_on_from_a_checkpoint(tmp_path: Any) -> None:
    P, file = problem("logistic"), tmp_path / "run"
    straight = dcopt.solve(P, "dca", steps=20, trace=None)
    dcopt.solve(P, "dca", steps=7, trace=None, checkpoint=file)
    again = dcopt.resume(file, problem("logistic"), steps=20)
    np.testing.assert_array_equal(straight.x, again.x)


# ---- batches in its metric


def test_variance_smoothness_by_enumeration() -> None:
    P = problem("logistic", r="zero", sample_weight=1 + WEIGHTS)
    f, m, draw = P.f, P.G.m, np.random.default_rng(1)
    bound, worst = variance_smoothness(f, P.G), 0.0
    ones = [f.take(np.array([i])).all() for i in range(f.n)]
    for _ in range(200):
        x, h = draw.normal(size=P.shape), 1e-3 * draw.normal(size=P.shape) / np.sqrt(m)
        each = np.array([one.diff(x + h, x) for one in ones])
        spread = each - each.mean(axis=0)
        worst = max(worst, np.mean(np.sum(spread**2 / m, axis=1)) / np.sum(m * h * h))
    assert 0.05 * bound**2 < worst <= bound**2
    assert variance_smoothness(f, P.G.scaled(4.0)) == pytest.approx(bound / 4)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("d", [5, 60])  # below and above the size from which Lanczos' method is used
def test_variance_smoothness_is_its_formula(d: int, wrap: Any) -> None:
    X = matrix(90, d, density=0.5)
    P = dcopt.erm(wrap(X), signs(X), "logistic", decomposition="diagonal", intercept=True)
    A = np.c_[X, np.ones(90)]
    B = A / np.sqrt(P.G.m)
    top = np.linalg.eigvalsh(B.T @ (np.sum(B**2, axis=1)[:, None] * B) / 90)[-1]
    assert variance_smoothness(P.f, P.G) == pytest.approx(0.25 * np.sqrt(top), rel=1e-5)


def test_page_has_a_steady_metric_and_keeps_it() -> None:
    P = problem("logistic")
    page = PAGE(p=0.125, b_small=8)
    tuned, _ = dcopt.methods.as_method(page).prepare(P)
    s = formulas.spread(0.125, 8)
    tau, ratio = tuned.G.tau, tuned.G.m / tuned.G.tau
    floored = MajorizingDiagonal(np.maximum(P.G.m, P.G.L / 30))
    assert tau == pytest.approx(max(1.0, 0.5 + 2 * s * variance_smoothness(P.f, floored))) and tau > 1.0
    np.testing.assert_allclose(ratio, floored.m)
    again, _ = dcopt.methods.as_method(page).prepare(tuned)
    np.testing.assert_array_equal(again.G.m, tuned.G.m)
    for exact in ("dca", PAGE(p=1.0, b_small=3)):
        np.testing.assert_array_equal(dcopt.methods.as_method(exact).prepare(P)[0].G.m, P.G.m)
    for method in ("mm-saga", "sdca"):
        assert dcopt.METHODS[method].prepare(P)[0].G.tau > 1.0


def test_rare_features_do_not_shorten_all_steps() -> None:
    """A row with a column to itself would ask for τ ~ 2√N; no step is 30 times another instead."""
    X = np.c_[matrix(400, 5), np.zeros(400)]
    X[7] = 0.1 * np.eye(6)[5]
    P = dcopt.erm(X, signs(X[:, :5]), "logistic", decomposition="diagonal")
    tuned, _ = dcopt.METHODS["dca-page"].prepare(P)
    s = formulas.spread(1 / 20, 20)
    alone = formulas.steady(s * variance_smoothness(P.f, P.G))
    assert alone == pytest.approx(0.5 + 2 * s * 20, rel=1e-4) and tuned.G.tau < alone / 10
    assert tuned.G.m.max() / tuned.G.m.min() == pytest.approx(30) and np.all(tuned.G.m >= P.G.m)


@pytest.mark.parametrize("method", ["dca", "cccp", "dca-page", "pdcae", "bdca"])
def test_methods_run_on_it(method: str) -> None:
    P = problem("logistic", r=SCAD(lam=0.05))
    res = dcopt.solve(P, method, passes=300, tol=1e-4, measure="criticality", seed=0)
    assert res.status.name in ("CONVERGED", "BUDGET") and res.certificate.F < 0.97 * P.value(np.zeros(P.shape))


@pytest.mark.skipif(not available("w8a"), reason="w8a not in DCOPT_DATA")
def test_page_descends_on_w8a_below_the_scalar() -> None:
    X, y = load_dataset("w8a", normalize=True)
    r = Exponential(lam=1.0 / len(y), alpha=5.0)
    ends = [
        dcopt.solve(dcopt.erm(X, y, "squared-sigmoid", r, decomposition=d), "dca-page", passes=10, seed=0)
        for d in ("diagonal", "scalar")
    ]
    F = [record.F for record in ends[0].trace]
    assert np.all(np.diff(F) < 0) and ends[0].certificate.F < ends[1].certificate.F


# ---- plans


def test_a_plan_for_the_gap_is_made_in_its_metric() -> None:
    P = problem("squared-sigmoid", r=L1(lam=0.01))
    plan = dcopt.plan(P, 0.01)
    s, (low, high) = formulas.spread(1 / 8, 8), P.f.loss.curvature  # ⌈√60⌉ = 8
    G = MajorizingDiagonal(np.maximum(P.G.m, P.G.L / 30))
    theta = s * variance_smoothness(P.f, G)
    tau = max(1.0, 0.5 + 2 * theta)
    omega = 0.1 * tau  # the residuals of the programs in the metric of Q
    a = (2 * tau - high / max(high, -low)) / 2 - theta - omega
    assert plan.tau == pytest.approx(tau) and plan.a == pytest.approx(a) and plan.violated == () and plan.kappa is None
    root = np.sqrt(plan.P.G.m.min())  # ζ is a residual in the Euclidean norm
    rest = (np.sqrt(0.01) - plan.floor / root * (1 + (theta + omega) / a) / np.sqrt(2 * tau)) ** 2
    assert plan.T == np.ceil(plan.D0 / rest * (1 + (theta + omega) ** 2 / (2 * tau * a)))
    assert f"τ = {plan.tau:.5g}" in str(plan) and "metric of Q" in str(plan)
    practical = dcopt.plan(P, 0.01, mode="practical")
    assert practical.tau == plan.tau and practical.T == plan.T  # both are what dca-page does
    tuned, _ = dcopt.methods.as_method(plan.estimator).prepare(plan.P)
    np.testing.assert_array_equal(tuned.G.m, plan.P.G.m)
    res = dcopt.solve(P, plan, seed=0, trace=None)
    assert res.steps == plan.T and res.certificate.value <= 0.01


def test_other_plans_are_made_in_the_euclidean_norm() -> None:
    P = problem("logistic", r=L1(lam=0.01))
    for settings in ({"measure": "criticality"}, {"setting": "online"}, {"mode": "paper"}):
        plan = dcopt.plan(P, 0.1, **settings)  # type: ignore[arg-type]
        known = {k.name: k.value for k in plan.constants}
        assert plan.tau is None and known["rho_phi"] == P.constants.rho_phi and known["L_v"] == P.constants.L_v
        assert np.ptp(plan.P.G.m - P.G.m) < 1e-12 and not isinstance(plan.P.G, MajorizingDiagonal)  # type: ignore[attr-defined]
        assert not plan.eta or f"η = {plan.eta:.4g} added to G" in " ".join(str(plan).split())


def test_a_majorizer_as_the_G_of_another_problem_is_a_diagonal() -> None:
    P = problem("logistic", r="zero")
    square = dcopt.Function(lambda x: 0.5 * float(x @ x), lambda x: x, P.shape, L=1.0, rho=1.0)
    M = dcopt.Problem(majorizing_diagonal(P.f), square, L1(lam=0.1))
    assert M.own_constants is None and dcopt.plan(M, 0.1, D0=1.0).tau is None
