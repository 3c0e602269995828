"""Pairs of runs that are equal by theory, compared state by state."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dcopt.convex import ScaledIdentity
from dcopt.draw import Draw
from dcopt.estimators import ESTIMATORS, PAGE, SAG, SAGA, SARAH, SVRG, Estimator, Fresh, Full, LooplessSVRG
from dcopt.losses import LOSSES, Quantile
from dcopt.measures import criticality, gap
from dcopt.methods import METHODS
from dcopt.problem import Problem
from dcopt.problems.erm import erm
from dcopt.regularizers import REGULARIZERS, Exponential, Profiled, Regularizer, reweighted
from dcopt.solve import first_state, iterate
from dcopt.state import State
from dcopt.subproblems import prox
from dcopt.sums import LinearSum, SumBase

STATES, TOL = 50, 1e-12
BOUNDED = [name for name, loss in LOSSES.items() if loss.bounded]  # those from which κ = L follows
N = 64  # a square: ⌈√N⌉ = ⌊√N⌋


def table(seed: int = 0, n: int = N, d: int = 20) -> Any:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)) * (draw.random((n, d)) < 0.3)


def binary(dense: bool = False, **settings: Any) -> Problem:
    """Sparse rows, a loss that is not convex, the paper's penalty."""
    X = table()
    y = np.where(X @ np.random.default_rng(1).normal(size=X.shape[1]) > 0, 1, -1)
    return erm(X if dense else sp.csr_array(X), y, "squared-sigmoid", Exponential(0.002, alpha=5.0), **settings)


def softmax(dense: bool = False, **settings: Any) -> Problem:
    """Three classes, x is (d, 3), rows of x penalised together."""
    X = table(2, d=12)
    y = np.argmax(X @ np.random.default_rng(3).normal(size=(12, 3)), axis=1)
    return erm(X if dense else sp.csr_array(X), y, "softmax", Exponential(0.01, alpha=5.0, groups="rows"), **settings)


PROBLEMS = {"binary": binary, "softmax": softmax}
each_problem = pytest.mark.parametrize("problem", PROBLEMS)


def start(P: Problem) -> Any:
    return 0.5 * np.random.default_rng(4).normal(size=P.shape)


def path(P: Problem, method: Any, seed: int = 7, x0: Any = None, states: int = STATES) -> list[State]:
    return list(islice(iterate(P, method, seed=seed, x0=start(P) if x0 is None else x0), states))


def same(one: list[State], two: list[State], tol: float = TOL) -> None:
    assert len(one) == len(two) == STATES
    moved = max(float(np.max(np.abs(a.x - b.x))) for a, b in zip(one, one[1:], strict=False))
    assert moved > 1e-3  # a run that stands still proves nothing
    for a, b in zip(one, two, strict=True):
        assert a.t == b.t
        np.testing.assert_allclose(a.x, b.x, rtol=0, atol=tol, err_msg=f"state {a.t}")


def differ(one: list[State], two: list[State]) -> bool:
    return any(float(np.max(np.abs(a.x - b.x))) > 1e-6 for a, b in zip(one, two, strict=True))


# ---- estimators that become the full gradient


def all_rows() -> Iterator[tuple[str, Estimator]]:
    yield "fresh", Fresh(b=N, sampling="distinct")
    yield "page", PAGE(p=0.2, b_small=N, sampling="distinct")
    yield "page-sequence", PAGE(p=(0.5, 0.0, 0.2), b_small=N, sampling="distinct")
    yield "sarah", SARAH(b_small=N, period=5, sampling="distinct")
    yield "svrg", SVRG(b_small=N, period=5, sampling="distinct")
    yield "loopless-svrg", LooplessSVRG(b_small=N, q=0.2, sampling="distinct")
    for quadratic in ("outside", "inside"):
        yield f"saga-{quadratic}", SAGA(b=N, quadratic=quadratic, sampling="distinct")  # type: ignore[arg-type]
        yield f"sag-{quadratic}", SAG(b=N, quadratic=quadratic, sampling="distinct")  # type: ignore[arg-type]


FULL: dict[str, Estimator] = {
    "page(p=1)": PAGE(p=1.0, b_small=3),
    "sarah(period=1)": SARAH(b_small=3, period=1),
    "svrg(period=1)": SVRG(b_small=3, period=1),
    "loopless-svrg(q=1)": LooplessSVRG(b_small=3, q=1.0),
    **{f"{name}, all rows": estimator for name, estimator in all_rows()},
    **{f"{name}, all rows in order": replace(e, sampling="cyclic") for name, e in all_rows()},  # type: ignore[type-var]
}


@each_problem
@pytest.mark.parametrize("name", FULL)
def test_equal_to_the_full_gradient(problem: str, name: str) -> None:
    P = PROBLEMS[problem]()
    same(path(P, Full()), path(P, FULL[name]))


def test_every_registered_estimator_has_a_twin_of_the_full_gradient() -> None:
    assert {type(e) for e in FULL.values()} | {Full} == {type(e) for e in ESTIMATORS.values()}


@each_problem
def test_dca_and_cccp_are_the_full_gradient(problem: str) -> None:
    P = PROBLEMS[problem]()
    same(path(P, Full()), path(P, "dca"), tol=0.0)
    same(path(P, Full()), path(P, "cccp"), tol=0.0)


# ---- SARAH is PAGE by the clock


@dataclass(frozen=True)
class ByClock(PAGE):
    """PAGE whose coins fall below p at every m-th step only."""

    m: int = 1

    def refresh(self, draw: Draw) -> bool:
        coin = 0.0 if draw.t % self.m == 0 else 1.0 - 2.0**-53
        return coin < self.p


@each_problem
@pytest.mark.parametrize("m", [2, 7])
@pytest.mark.parametrize("sampling", ["iid", "distinct", "cyclic"])
def test_sarah_is_page_with_these_coins(problem: str, m: int, sampling: Any) -> None:
    P = PROBLEMS[problem]()
    clock = ByClock(p=1 / m, b_small=5, sampling=sampling, m=m)
    one, two = path(P, SARAH(b_small=5, period=m, sampling=sampling)), path(P, clock)
    same(one, two, tol=0.0)
    assert [a.spent for a in one] == [b.spent for b in two]
    assert differ(one, path(P, PAGE(p=1 / m, b_small=5, sampling=sampling)))


# ---- the quadratic inside: components h_i = κ/2 ‖x‖² − f_i, in problem (M)


@dataclass(frozen=True)
class InsideBatch:
    """h_B, with tables of whole gradient vectors ∇h_i."""

    of: Any
    a: Any
    kappa: float

    @property
    def size(self) -> int:
        return int(self.of.size)

    @property
    def rows(self) -> Any:
        return self.of.rows

    def grad(self, x: Any) -> Any:
        return self.kappa * x - self.of.grad(x)

    def diff(self, x: Any, prev: Any) -> Any:
        return self.kappa * (x - prev) - self.of.diff(x, prev)

    def value_grad(self, x: Any) -> tuple[float, Any]:
        value, g = self.of.value_grad(x)
        return 0.5 * self.kappa * float(np.sum(x * x)) - value, self.kappa * x - g

    def slopes(self, x: Any) -> Any:
        a = self.a.dot(np.eye(self.a.shape[1]), self.rows)
        return self.kappa * x - np.einsum("ij,i...->ij...", a, self.of.slopes(x))

    def pull(self, c: Any) -> Any:
        return np.mean(c, axis=0)


@dataclass(frozen=True)
class Inside(SumBase):
    """H = (1/N) Σ h_i"""

    of: LinearSum
    kappa: float

    @property
    def n(self) -> int:
        return self.of.n

    @property
    def shape(self) -> tuple[int, ...]:
        return self.of.shape

    @property
    def dtype(self) -> Any:
        return self.of.dtype

    def all(self) -> InsideBatch:
        return InsideBatch(self.of.all(), self.of.a, self.kappa)

    def sample(self, b: int, draw: Draw, sampling: Any = "iid") -> InsideBatch:
        return InsideBatch(self.of.sample(b, draw, sampling), self.of.a, self.kappa)


def both_forms(problem: str) -> tuple[Problem, Problem]:
    """Form (S) with ∇G exact, and (M) with the same κ inside the h_i."""
    P = PROBLEMS[problem]()
    kappa = P.G.L
    assert isinstance(P.f, LinearSum)
    return P.with_kappa(kappa), Problem(ScaledIdentity(kappa), H=Inside(P.f, kappa), r=P.r)


EITHER: dict[str, Estimator] = {
    "full": Full(),
    "page": PAGE(p=0.2, b_small=6),
    "page-distinct": PAGE(p=0.2, b_small=6, sampling="distinct"),
    "page-online": PAGE(p=0.2, b_small=6, b=40),
    "sarah": SARAH(b_small=6, period=6),
    "svrg": SVRG(b_small=16, period=6),
    "loopless-svrg": LooplessSVRG(b_small=16, q=0.2),
}


@each_problem
@pytest.mark.parametrize("name", EITHER)
def test_quadratic_inside_is_outside(problem: str, name: str) -> None:
    S, M = both_forms(problem)
    one, two = path(S, EITHER[name]), path(M, EITHER[name])
    same(one, two)
    assert [a.spent for a in one] == [b.spent for b in two]


@each_problem
def test_both_forms_are_the_same_function(problem: str) -> None:
    S, M = both_forms(problem)
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=S.shape)
        assert M.value(x) == pytest.approx(S.value(x), rel=1e-13)
        assert criticality(M, x) == pytest.approx(criticality(S, x), rel=1e-12)
        assert gap(M, x) == pytest.approx(gap(S, x), rel=1e-11)


TABLES = [(SAGA, "iid"), (SAGA, "distinct"), (SAG, "iid"), (SAG, "distinct"), (SAG, "cyclic")]


@each_problem
@pytest.mark.parametrize(("kind", "sampling"), TABLES)  # SAGA in order swings, and swings amplify rounding
def test_tables_of_numbers_and_points_are_tables_of_vectors(problem: str, kind: Any, sampling: Any) -> None:
    """quadratic="inside" in form (S) is the textbook's table of ∇h_i in problem (M); "outside" is another method."""
    S, M = both_forms(problem)
    inside = path(S, kind(b=9, quadratic="inside", sampling=sampling))
    same(inside, path(M, kind(b=9, sampling=sampling)))
    assert differ(inside, path(S, kind(b=9, sampling=sampling)))


@each_problem
def test_mm_sarah_is_dca_page(problem: str) -> None:
    S, M = both_forms(problem)
    assert METHODS["mm-sarah"].prepare(S)[1] == METHODS["dca-page"].prepare(S)[1] == PAGE(p=1 / 8, b_small=8)
    same(path(S, "mm-sarah"), path(S, "dca-page"), tol=0.0)
    same(path(S, "mm-sarah"), path(M, "dca-page"))
    tunable = PROBLEMS[problem]()
    same(path(tunable, "mm-sarah"), path(S, "dca-page"), tol=0.0)


# ---- shift


@each_problem
@pytest.mark.parametrize("eta", [0.0, 0.3, 10.0])
@pytest.mark.parametrize("name", EITHER)
def test_shift_adds_to_kappa(problem: str, eta: float, name: str) -> None:
    P = PROBLEMS[problem]()
    one = path(P.shift(eta), EITHER[name])
    two = path(P.with_kappa(P.G.L + eta), EITHER[name])
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
    if eta:
        assert differ(one, path(P.with_kappa(P.G.L), EITHER[name]))


@each_problem
def test_shift_is_the_textbooks(problem: str) -> None:
    """x⁺ = argmin G + η/2 ‖x‖² + r1 − ⟨∇H(x) + ηx + w, x⟩: (M) with η/2 ‖x‖² added to G and to every h_i."""
    P, eta = PROBLEMS[problem](), 0.37
    kappa = P.G.L + eta
    M = Problem(ScaledIdentity(kappa), H=Inside(P.f, kappa), r=P.r)  # type: ignore[arg-type]
    for name in ("full", "page", "svrg"):
        same(path(P.shift(eta), EITHER[name]), path(M, EITHER[name]))


@each_problem
def test_shift_leaves_F_and_criticality(problem: str) -> None:
    P = PROBLEMS[problem]()
    for eta in (0.1, 5.0):
        moved = P.shift(eta)
        for seed in range(5):
            x = np.random.default_rng(seed).normal(size=P.shape) * (seed > 0)
            assert moved.value(x) == P.value(x)
            assert criticality(moved, x) == criticality(P, x)
            assert seed == 0 or gap(moved, x) < gap(P, x)  # the gap does change
        here, there = P.constants, moved.constants
        assert there.rho == pytest.approx(here.rho + 2 * eta, rel=1e-12)
        assert there.L_v == here.L_v
    twice = P.shift(0.25).shift(0.5)
    assert twice.G == P.shift(0.75).G


# ---- the two concave steps


def pushed(concave_step: Any) -> Problem:
    """Every weight is pulled away from zero by its own row, so that no step crosses it."""
    d = 10
    X = np.concatenate([np.eye(d), 0.1 * table(5, 20, d)])
    y = np.sign(np.where(np.arange(d) % 2, 1.0, -1.0))
    y = np.concatenate([y, np.where(np.arange(20) % 2, 1.0, -1.0)])
    return erm(sp.csr_array(X), y, "logistic", Exponential(0.002, alpha=2.0), concave_step=concave_step)


STEPS: dict[str, Estimator] = {"full": Full(), "page": PAGE(p=0.2, b_small=5), "saga": SAGA(b=10)}


@pytest.mark.parametrize("name", STEPS)
def test_dca_step_is_the_reweighted_step_without_change_of_sign(name: str) -> None:
    x0 = np.where(np.arange(10) % 2, 1.0, -1.0)
    one, two = (path(pushed(step), STEPS[name], x0=x0) for step in ("dca", "reweighted"))
    for state in one + two:
        np.testing.assert_array_equal(np.sign(state.x), np.sign(x0))  # it holds on this run
    same(one, two)


def test_dca_step_is_another_where_signs_change() -> None:
    """λ = 0.4, α = 5, κ = 1, x = 0.5, x − ∇f(x)/κ = −0.6: DCA stops at 0, the reweighted step goes on to −0.436."""
    r, x, aim = Exponential(0.4, alpha=5.0), np.array([0.5]), np.array([-0.6])
    ends = []
    for step in (r, reweighted(r)):
        w, r1 = step.linearize(x, x.copy)
        ends.append(float(prox(ScaledIdentity(1.0), r1, aim + w, warm=x, tol=0.0).x[0]))
    assert ends == [0.0, pytest.approx(-0.6 + 2.0 * np.exp(-2.5), abs=1e-15)]
    one, two = (path(softmax(concave_step=step), Full()) for step in ("dca", "reweighted"))
    assert differ(one, two)  # rows of x turn, which is a change of sign too


def test_rows_of_a_vector_are_its_entries() -> None:
    X, y = sp.csr_array(table()), np.where(np.arange(N) % 2, 1, -1)
    for step in ("dca", "reweighted"):
        penalties = (Exponential(0.002, alpha=5.0, groups=groups) for groups in (None, "rows"))
        one, two = (path(erm(X, y, "logistic", r, concave_step=step), Full()) for r in penalties)  # type: ignore[arg-type]
        same(one, two)


# ---- representations


@each_problem
@pytest.mark.parametrize("name", ESTIMATORS)
def test_csr_is_dense(problem: str, name: str) -> None:
    one, two = (path(PROBLEMS[problem](dense), ESTIMATORS[name]) for dense in (False, True))
    same(one, two)
    assert [a.spent for a in one] == [b.spent for b in two]


@pytest.mark.parametrize("loss", BOUNDED)
@pytest.mark.parametrize("weighted", [False, True])
def test_csr_is_dense_for_every_loss(loss: str, weighted: bool) -> None:
    """Sparse corrections may come from a compiled pass: the same numbers."""
    X, kind = table(), LOSSES[loss].labels
    y = X @ np.random.default_rng(1).normal(size=X.shape[1])
    labels = {"binary": np.where(y > 0, 1, -1), "class": np.digitize(y, [-0.5, 0.5]), "real": y}[kind]
    weights = np.random.default_rng(2).random(N) if weighted else None
    of: Any = Quantile(width=1.0) if loss == "quantile" else loss  # Runs move further with a smaller curvature.
    for estimator in (PAGE(p=0.2, b_small=6), SVRG(b_small=16, period=4)):
        one, two = (
            path(erm(rows, labels, of, Exponential(0.002, alpha=5.0), sample_weight=weights), estimator)
            for rows in (sp.csr_array(X), X)
        )
        same(one, two)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_order_of_memory_does_not_matter(name: str) -> None:
    X = table(2, d=12)
    y = np.argmax(X @ np.random.default_rng(3).normal(size=(12, 3)), axis=1)
    r = Exponential(0.01, alpha=5.0, groups="rows")
    x0 = np.random.default_rng(4).normal(size=(12, 3))
    wide = np.zeros((2 * N, 24))
    wide[::2, ::2] = X
    plain = path(erm(X, y, "softmax", r), ESTIMATORS[name], x0=x0)
    for other in (np.asfortranarray(X), wide[::2, ::2], X.astype(">f8"), X.tolist()):
        same(plain, path(erm(other, y, "softmax", r), ESTIMATORS[name], x0=np.asfortranarray(x0)), tol=0.0)


@each_problem
def test_int64_indices_and_unsorted_columns_do_not_matter(problem: str) -> None:
    P = PROBLEMS[problem]()
    plain = path(P, "dca-page")
    X = sp.csr_array(table() if problem == "binary" else table(2, d=12))
    back = X.copy()
    for i in range(N):
        part = slice(X.indptr[i], X.indptr[i + 1])
        back.indices[part], back.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
    back = sp.csr_array((back.data, back.indices.astype(np.int64), back.indptr.astype(np.int64)), X.shape)
    y = P.f.labels  # type: ignore[union-attr]
    Q = erm(back, y, P.f.loss, P.r)  # type: ignore[union-attr]
    same(plain, path(Q, "dca-page"))


@each_problem
def test_float32_stays_near_float64(problem: str) -> None:
    P = PROBLEMS[problem]()
    X = sp.csr_array((table() if problem == "binary" else table(2, d=12)).astype(np.float32))
    Q = erm(X, P.f.labels, P.f.loss, P.r)  # type: ignore[union-attr]
    one, two = path(P, "dca-page"), path(Q, "dca-page")
    assert all(state.x.dtype == np.float32 for state in two)
    same(one, two, tol=1e-4)


# ---- resumed is straight


@each_problem
@pytest.mark.parametrize("name", ESTIMATORS)
def test_resumed_is_straight(problem: str, name: str) -> None:
    P, estimator, end = PROBLEMS[problem](), ESTIMATORS[name], 30
    checkpoints = [first_state(P, start(P))]
    straight = [checkpoints[0]]
    for state in islice(iterate(P, estimator, seed=3, x0=start(P)), end):
        checkpoints.append(deepcopy(state))  # the newest state owns its memory: copied before the next step
        straight.append(state)
    for t in range(21):
        assert checkpoints[t].t == t
        resumed = islice(iterate(P, estimator, seed=3, state=deepcopy(checkpoints[t])), end - t)
        for a, b in zip(straight[t + 1 :], resumed, strict=True):
            assert (a.t, a.spent) == (b.t, b.spent)
            np.testing.assert_array_equal(a.x, b.x)
            np.testing.assert_array_equal(a.prev, b.prev)


@each_problem
@pytest.mark.parametrize("name", ESTIMATORS)
def test_same_seed_same_bits_other_seed_other_path(problem: str, name: str) -> None:
    P = PROBLEMS[problem]()
    one, two, other = (path(P, ESTIMATORS[name], seed=seed) for seed in (1, 1, 2))
    same(one, two, tol=0.0)
    assert differ(one, other) == (name != "full")


# ---- descent


def small(loss: str, r: Regularizer) -> Problem:
    X = table(6, 30, 6)
    kind = LOSSES[loss].labels
    y = X @ np.array([1.0, -2.0, 0.0, 0.5, 0.0, 3.0])
    labels = {"binary": np.where(y > 0, 1, -1), "class": np.digitize(y, [-0.5, 0.5]), "real": y}[kind]
    return erm(sp.csr_array(X), labels, loss, r)


CONCAVE_STEPS = [
    (name, step)
    for name, r in REGULARIZERS.items()
    for step in ("dca", "reweighted")
    if step == "dca" or isinstance(r, Profiled)
]


@pytest.mark.parametrize(("r", "step"), CONCAVE_STEPS)
@pytest.mark.parametrize("loss", BOUNDED)
def test_full_steps_descend_as_the_theory_says(loss: str, r: str, step: str) -> None:
    """F(x_{t+1}) ≤ F(x_t) − ρ/2 ‖x_{t+1} − x_t‖² for κ = L_f, less and more, as long as ρ > 0."""
    P = small(loss, REGULARIZERS[r] if step == "dca" else reweighted(REGULARIZERS[r]))
    s = P.constants.smoothness
    assert s is not None
    for kappa in (s.L_f, 0.55 * s.Lbar, 3.0 * s.L_f):
        Q = P.with_kappa(kappa)
        rho = Q.constants.rho
        assert rho > 0
        x0 = np.abs(np.random.default_rng(8).normal(size=P.shape)).clip(0, 1)  # in every domain
        x, F, moved = x0, Q.value(x0), 0.0
        for state in islice(iterate(Q, Full(), seed=0, x0=x0), 40):
            new = Q.value(state.x)
            step2 = float(np.sum((state.x - x) ** 2))
            assert new <= F - rho / 2 * step2 + 1e-13 * max(1.0, abs(F)), f"kappa {kappa:.3g}, step {state.t}"
            x, F, moved = state.x, new, moved + step2
        assert moved > 1e-6
