"""decomposition="local": every estimator in the metric of f's curvature, and F at the end of an epoch decides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.convex import LocalCurvature, Quadratic, ScaledIdentity
from dcopt.draw import Draw
from dcopt.errors import BadSettings, CannotSolve, ResumeMismatch
from dcopt.estimators import ESTIMATORS, PAGE, SAGA, SVRG, Full
from dcopt.estimators.base import Estimate
from dcopt.local import Local, Samples
from dcopt.local.epochs import EpochRule, FrozenMetric, enough
from dcopt.local.models import DenseModel, dense_model
from dcopt.local.place import Place
from dcopt.local.program import Program
from dcopt.methods import METHODS
from dcopt.regularizers import L1, MCP, SCAD, Exponential, Nonnegative, Zero
from dcopt.state import State
from dcopt.subproblems import Inner, cd
from dcopt.subproblems.parts import parts
from dcopt.sums import Cost, LinearBatch, LinearSum

N, D = 400, 6
NAMED = ("dca-page", "dca-svrg", "dca-saga", "sdca", "mm-saga", "mm-svrg", "mm-sarah", "online-dca")


def data(n: int = N, d: int = D, seed: int = 0) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * (draw.random((n, d)) < 0.7)
    z = X @ np.where(np.arange(d) % 3 == 0, 2.0, 0.0)
    return X, np.where(z + draw.logistic(size=n) > 0, 1.0, -1.0)


def problem(
    loss: str = "squared-sigmoid", r: Any = None, decomposition: str = "local", wrap: Any = np.asarray, **options: Any
) -> dcopt.Problem:
    X, y = data()
    r = Exponential(lam=0.002, alpha=5.0) if r is None else r
    return dcopt.erm(wrap(X), y, loss, r, decomposition=decomposition, **options)


def page(b: int = 40, p: float = 1e-9) -> PAGE:
    return PAGE(p=p, b_small=b)


def states(P: dcopt.Problem, method: Any, count: int, seed: int = 0) -> list[State]:
    return list(islice(dcopt.iterate(P, method, seed=seed), count))


# ---- what it is


def test_g_is_of_the_methods_choosing_and_a_number_where_one_is_asked_for() -> None:
    P, S = problem(), problem(decomposition="scalar")
    assert isinstance(P.G, LocalCurvature) and P.tunable
    x = np.linspace(-1, 1, D)
    assert P.value(x) == S.value(x) and P.G.kappa == S.G.kappa  # type: ignore[attr-defined]
    for measure in (dcopt.measures.gap, dcopt.measures.criticality):
        assert measure(P, x) == measure(S, x)


def test_with_the_full_gradient_it_is_dca_local() -> None:
    for method in ("dca", "cccp", Full()):
        want = states(problem(decomposition="scalar"), "dca-local", 8)
        for one, two in zip(states(problem(), method, 8), want, strict=True):
            assert np.array_equal(one.x, two.x) and one.spent == two.spent


def test_methods_that_make_their_own_metric_are_left_alone() -> None:
    P, S = problem(), problem(decomposition="scalar")
    for method in ("dca-local", "dca-nested", "auto"):
        one, two = (dcopt.solve(Q, method, passes=20, seed=0) for Q in (P, S))
        assert one.x.tobytes() == two.x.tobytes() and one.notes == two.notes


def test_a_held_metric_takes_the_step_of_the_program() -> None:
    """argmin ½⟨v − x, Q(v − x)⟩ + r1 − ⟨u, v⟩ on some columns, by coordinate descent on all; G cancels."""
    draw = np.random.default_rng(3)
    A = draw.normal(size=(30, D))
    Q, some = A.T @ A / 30 + 0.1 * np.eye(D), np.array([0, 2, 3, 5])
    x, u, r = draw.normal(size=D), draw.normal(size=D), L1(lam=0.2)
    model = DenseModel(Q[np.ix_(some, some)], np.zeros(len(some)))
    for tau in (1.0, 4.0):
        part = tau * Q[np.ix_(some, some)]
        b = part @ x[some] + u[some]
        want = cd(Quadratic(part, b), r, np.zeros(4), warm=np.zeros(4), tol=1e-13).x
        for G in (ScaledIdentity(2.0), ScaledIdentity(30.0)):
            held = FrozenMetric(model.scaled(tau), some, 1e-13, r, parts(r, (D,)))
            got = held(G, r, u + G.grad(x), x, 0.0).x
            assert np.abs(got[some] - want).max() < 1e-9
            assert got[1] == x[1] and got[4] == x[4]
    own = Nonnegative()
    bound = FrozenMetric(DenseModel(Q, np.zeros(D)), np.arange(D), 1e-3, own, parts(own, (D,)))
    assert (bound(ScaledIdentity(1.0), own, -10.0 + np.zeros(D), np.ones(D), 0.0).x >= 0.0).all()


# ---- what is proven of it


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.parametrize(("loss", "r"), [
    ("squared-sigmoid", Exponential(lam=0.002, alpha=5.0)), ("logistic", SCAD(lam=0.02)), ("logistic", L1(lam=0.01)),
], ids=["exponential", "scad", "l1"])  # fmt: skip
def test_every_step_descends_and_the_end_is_certified(estimator: Any, loss: str, r: Any) -> None:
    P = problem(loss, r, intercept=True)
    path = [P.value(np.zeros(P.shape)), *(P.value(s.x) for s in states(P, estimator, 12))]
    assert all(after <= before + 1e-14 for before, after in zip(path, path[1:], strict=False))
    res = dcopt.solve(P, estimator, tol=1e-8, measure="criticality", passes=2000, seed=1)
    assert res.status.name == "CONVERGED"
    assert dcopt.measures.criticality(problem(loss, r, "scalar", intercept=True), res.x) <= 1e-8


@pytest.mark.parametrize("method", NAMED)
def test_named_methods_end_where_dca_local_does(method: str) -> None:
    """A convex problem has one solution; sparse rows, weights and an intercept are as usual."""
    weights = np.random.default_rng(2).random(N)
    settings: dict[str, Any] = {"intercept": True, "wrap": csr_array, "sample_weight": weights}
    settings |= {"loss": "logistic", "r": L1(lam=0.01)}
    want = dcopt.solve(problem(decomposition="scalar", **settings), "dca-local", tol=1e-9, measure="criticality")
    got = dcopt.solve(problem(**settings), method, tol=1e-9, measure="criticality", passes=1000, seed=0)
    assert got.success and want.success and np.abs(got.x - want.x).max() < 1e-6
    assert got.method == method and any("curvature" in note for note in got.notes)


def test_rows_of_a_multi_class_problem() -> None:
    X, y = dcopt.load_dataset("digits", normalize=True)
    X, y = X[y < 3], y[y < 3]
    for r in (SCAD(lam=0.02, groups="rows"), MCP(lam=0.01)):
        P = dcopt.erm(X, y, "softmax", r, decomposition="local", intercept=True)
        path = [P.value(s.x) for s in states(P, SVRG(b_small=60, period=50), 6)]
        assert all(after <= before for before, after in zip(path, path[1:], strict=False)) and path[-1] < path[0] / 2


def test_float32_stays() -> None:
    X, y = data()
    P = dcopt.erm(X.astype(np.float32), y, "logistic", SCAD(lam=0.02), decomposition="local")
    res = dcopt.solve(P, page(), tol=1e-5, measure="criticality", passes=400, seed=0)
    assert res.x.dtype == np.float32 and res.success


@dataclass(frozen=True)
class Wild:
    """The gradient and so much noise, another one for every step."""

    noise: float

    def check(self, n: Any) -> None: ...

    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        g = sum.all().grad(x) + self.noise * np.asarray(draw.numbers(x.size))
        return Estimate(g, None, Cost(sum.n, sum.n))

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return self.start(sum, x, draw)


@pytest.mark.parametrize("noise", [1e6, np.nan, np.inf])
def test_an_epoch_that_went_wrong_costs_what_it_took_and_nothing_else(noise: float) -> None:
    """F rose at its end (or there is none): the steps are those of dca-local."""
    want = states(problem(decomposition="scalar"), "dca-local", 5)
    got = states(problem(), Wild(noise), 5)
    each = 4 if np.isfinite(noise) else 0  # two epochs of a pass and two looks; what is not finite ends at once
    for t, (one, two) in enumerate(zip(got, want, strict=True), 1):
        assert np.array_equal(one.x, two.x)
        assert one.spent.gradients == two.spent.gradients + t * N * each


def test_what_it_spends_is_counted() -> None:
    """The look at x, a pass or a little more of corrections, the look at the end, which is the next one's first."""
    P, b = problem(), 40
    first, second = states(P, page(b), 2)
    steps = 1 + N // (2 * b)  # the first takes the gradient that is known
    epoch = 2 * b * (steps - 1)
    assert first.spent == (N + epoch + N, N + epoch // 2 + N)
    assert second.spent == (N + 2 * (epoch + N), N + 2 * (epoch // 2 + N))
    table = states(P, SAGA(b=b), 1)[0]
    assert table.spent.gradients == N + b * (N // b) + N


def test_steps_are_those_of_algorithm_1_in_the_metric_of_the_first_point() -> None:
    """With all rows in every batch the epoch is DCA in 3Q, written down here without it."""
    P = problem("logistic", L1(lam=0.01))
    X, y = data()
    got = states(P, PAGE(p=1e-9, b_small=N, sampling="distinct"), 1)[0]
    x = np.zeros(D)
    weight = 0.25 * np.ones(N)  # σ'(0)
    Q = 3.0 * (X.T @ (weight[:, None] * X) / N)
    for _ in range(2):  # the first with the gradient that is known, the second spends a pass (two, at both points)
        slope = -y / (1.0 + np.exp(y * (X @ x))) / N
        x = cd(Quadratic(Q, Q @ x - X.T @ slope), L1(lam=0.01), np.zeros(D), warm=x, tol=1e-13).x
    assert np.abs(got.x - x).max() < 0.05 * np.abs(x).max()  # programs are solved to a twentieth of the distance
    assert got.spent.gradients == N + 2 * N + N


def test_what_is_counted_is_what_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are looked at, for every estimator: the gradient that an epoch begins with is remembered."""
    seen = [0]

    def counted(verb: str, points: int) -> Any:
        plain = getattr(LinearBatch, verb)

        def call(self: Any, *args: Any) -> Any:
            seen[0] += points * self.size
            return plain(self, *args)

        return call

    for verb, points in (("look", 1), ("grad", 1), ("diff", 2), ("slopes", 1)):
        monkeypatch.setattr(LinearBatch, verb, counted(verb, points))
    own = {"saga": SAGA(b=40), "svrg": SVRG(b_small=40, period=4), "page": page(40), "fresh": ESTIMATORS["fresh"]}
    for name, estimator in own.items():
        P = problem()
        seen[0] = 0
        assert states(P, estimator, 3)[-1].spent.gradients == seen[0] > 0, name


class Timid:
    """c ∇f(x): steps that are far too short, and all of them descend."""

    def __init__(self, c: float) -> None:
        self.c = c

    def check(self, n: Any) -> None: ...

    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        return Estimate(self.c * sum.all().grad(x), None, Cost(sum.n, sum.n))

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return self.start(sum, x, draw)


def test_an_epoch_that_hardly_descends_is_not_taken() -> None:
    """F falls with it, by less than a share of what the step itself has to: or it would never come to an end."""
    P, S = problem("logistic", Zero()), problem("logistic", Zero(), "scalar")
    want = states(S, "dca-local", 3)
    for one, two in zip(states(P, Timid(1e-3), 3), want, strict=True):
        assert np.array_equal(one.x, two.x) and one.spent.gradients > two.spent.gradients
    res = dcopt.solve(P, Timid(1e-3), tol=1e-8, measure="criticality", passes=200)
    assert res.success
    bold = states(P, Timid(1.0), 1)[0]  # the gradient itself: its epoch is taken
    assert not np.array_equal(bold.x, want[0].x)


def test_the_second_epoch_is_in_a_larger_metric() -> None:
    """Gradients that are too long for 3Q and not for 9Q: a step that is neither the first epoch's nor the local one."""
    S = problem("logistic", Zero(), "scalar")
    local, first = states(S, "dca-local", 1)[0].x, S.value(np.zeros(D))
    took = {}
    for c in (1.0, 4.0, 8.0, 12.0, 16.0, 1e3):
        state = states(problem("logistic", Zero()), Timid(c), 1)[0]
        assert S.value(state.x) < first
        took[c] = state.spent.gradients // N, np.array_equal(state.x, local)
    assert took[1.0] == (3, False) and took[1e3] == (6, True)  # a look; a pass and a look for each epoch; a look
    assert (5, False) in took.values()


def test_it_ends_after_some_steps_however_small_the_batches_are(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(n=4000)
    P = dcopt.erm(X, y, "logistic", L1(lam=0.01), decomposition="local")
    f, calls = P.f, [0]
    assert isinstance(f, LinearSum)

    def step(self: Any, G: Any, r: Any, y: Any, warm: Any, tol: float) -> Any:
        calls[0] += 1
        return Inner(warm + 1e-3, 0.0, 1)

    monkeypatch.setattr(FrozenMetric, "__call__", step)
    rule, zero = EpochRule(page(1)), np.zeros(D)
    how = Local(epochs=rule)
    program = Program.of(Place.of(P, f, f.look(zero)), how)
    Q = dense_model(program.here.C, program.columns, program.r.own_r1, 1e-4)
    ends = list(rule.ends(program, Q, how, Draw(0, 0)))
    assert calls[0] == 512 and len(ends) == 2
    for tau, end in zip((3.0, 9.0), ends, strict=True):  # 256 steps each; the first one's gradient was known
        assert end.cost == Cost(2 * 255, 255)
        np.testing.assert_allclose(end.step, 0.256 * np.ones((len(program.x), 1)), rtol=1e-9)
        own = Q.quad(Q.minimize(program.x, program.u, program.r1, program.tol) - program.x) / 9.0
        assert end.fall == pytest.approx(0.05 * max(tau / 256 * Q.quad(end.step), own), rel=1e-6)


def test_a_majorizer_of_its_own_in_every_step() -> None:
    """concave_step="reweighted": r1 changes with x, in an epoch too."""
    r, X, y = Exponential(lam=0.01, alpha=5.0), *data()
    P = dcopt.erm(X, y, "logistic", r, decomposition="local", concave_step="reweighted")
    path = [P.value(s.x) for s in states(P, page(), 8)]
    assert all(after <= before + 1e-14 for before, after in zip(path, path[1:], strict=False))
    own, x = P.r, np.linspace(-1.0, 1.0, D)
    r1 = own.linearize(x, x.copy)[1]
    assert r1 is not own
    held = FrozenMetric(DenseModel(np.eye(D), np.zeros(D)), np.arange(D), 1e-13, own, parts(own, (D,)))
    got = held(ScaledIdentity(1.0), r1, x + 0.02, x, 0.0).x  # u = y − x
    p = parts(r1, (D,))
    want = np.sign(x + 0.02) * np.maximum(np.abs(x + 0.02) - p.c[:, 0], 0.0)
    assert np.abs(got - want).max() < 1e-12


def test_near_the_end_there_are_no_epochs() -> None:
    """Where the relative distance is below 1/100 a step is that of dca-local, and costs a look."""
    S = problem("logistic", L1(lam=0.01), "scalar")
    end = dcopt.solve(S, "dca-local", tol=1e-5, measure="criticality").x
    one, two = (states(Q, m, 1) for Q, m in ((problem("logistic", L1(lam=0.01)), page()), (S, "dca-local")))
    assert one[0].spent.gradients > two[0].spent.gradients  # far from it there are
    near = [
        next(dcopt.iterate(Q, m, seed=0, x0=end * (1.0 + 1e-4)))
        for Q, m in ((problem("logistic", L1(lam=0.01)), page()), (S, "dca-local"))
    ]
    assert np.array_equal(near[0].x, near[1].x) and near[0].spent == near[1].spent


def test_least_squares_with_a_convex_penalty_take_the_step_that_solves_them() -> None:
    X, y = data()
    P = dcopt.erm(X, y, "squared", L1(lam=0.02), decomposition="local")
    res = dcopt.solve(P, page(), tol=1e-9, measure="criticality", seed=0)
    assert res.success and res.steps == 1 and res.spent.gradients == 2 * N


# ---- draws and checkpoints


def test_draws_are_a_function_of_seed_and_step() -> None:
    P = problem()
    one, again, other = (states(P, page(), 4, seed) for seed in (5, 5, 6))
    assert all(np.array_equal(a.x, b.x) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0].x, other[0].x)
    later = list(islice(dcopt.iterate(problem(), page(), seed=5, state=one[1]), 2))
    assert all(np.array_equal(a.x, b.x) and a.spent == b.spent for a, b in zip(one[2:], later, strict=True))
    seeds = {Draw(seed, t).inner(k) for seed in (0, 1) for t in range(20) for k in range(2)}
    assert len(seeds) == 80


@pytest.mark.parametrize("method", ["dca-svrg", "mm-saga", SVRG(b_small=30, period=5)], ids=str)
def test_a_run_that_was_cut_goes_on_with_the_same_bits(method: Any, tmp_path: Any) -> None:
    told: dict[str, Any] = {"tol": 1e-12, "measure": "criticality", "seed": 3}
    want = dcopt.solve(problem(), method, steps=9, **told)
    for cut in (1, 4):
        path = tmp_path / f"run{cut}"
        dcopt.solve(problem(), method, steps=cut, checkpoint=path, **told)
        got = dcopt.resume(path, problem(), method, steps=9)
        assert got.x.tobytes() == want.x.tobytes() and got.spent == want.spent and got.method == want.method
    with pytest.raises(ResumeMismatch, match="curvature"):
        dcopt.resume(path, problem(decomposition="scalar"), steps=20)


def test_a_checkpoint_knows_the_sizes_of_its_epochs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a named method follow from the data by a rule that may change: then the draws would be others."""
    path = tmp_path / "run"
    dcopt.solve(problem(), "dca-page", steps=2, seed=3, checkpoint=path)
    monkeypatch.setattr("dcopt.method.enough", lambda P: 50)
    with pytest.raises(ResumeMismatch, match="b_small=50"):
        dcopt.resume(path, problem(), steps=5)


# ---- sizes, and what is refused


def test_named_methods_take_batches_that_the_metric_can_bear() -> None:
    """s_p ℓ ≤ 1: √(Nd/2) rows; where four of these are all rows, the full gradient. One's own sizes stay."""
    P = problem()
    assert enough(P) == int(np.ceil(np.sqrt(N * D / 2)))
    inner = {name: _inner(METHODS[name], P) for name in NAMED}
    own = {name: _size(METHODS[name].estimator(N)) for name in NAMED}
    for name, estimator in inner.items():
        size = max(enough(P), own[name])
        assert estimator is None if 4 * size > N else _size(estimator) == size, name
    assert sum(estimator is not None for estimator in inner.values()) >= 5
    assert getattr(inner["sdca"], "quadratic", None) == "outside"
    small = dcopt.erm(*data(n=40), decomposition="local")
    assert _inner(METHODS["dca-page"], small) is None
    recipe = dcopt.methods.as_method(page(3))
    assert _inner(recipe, P) == page(3) and "b_small=3" in recipe.ready(P).notes[0]
    S = problem(decomposition="scalar")
    assert METHODS["dca-page"].ready(S).local is None and METHODS["dca-page"].ready(S).notes == ()


def _inner(recipe: Any, P: dcopt.Problem) -> Any:
    how = recipe.ready(P).local
    assert isinstance(how, Local)
    return None if how.epochs is None else how.epochs.estimator


def _size(estimator: Any) -> int:
    size: int = getattr(estimator, "b_small", None) or estimator.b
    return size


def test_what_does_not_fit_is_refused_by_name() -> None:
    P = problem("logistic", SCAD(lam=0.02))
    for method in ("pdcae", "bdca", "ssdc-spg", "ssdc-svrg"):
        with pytest.raises(CannotSolve, match=method):
            dcopt.solve(P, method, steps=1)
    pairs = SCAD(lam=0.1, groups=[[0, 1], [2, 3], [4, 5]])
    with pytest.raises(CannotSolve, match='decomposition="local"'):
        dcopt.solve(problem("logistic", pairs), "dca-page", steps=1)
    with pytest.raises(BadSettings, match="kappa"):
        problem(kappa=1.0)
    with pytest.raises(BadSettings, match="b_small"):
        dcopt.solve(P, page(N + 1), steps=1)
    with pytest.raises(BadSettings, match="decomposition"):
        dcopt.plan(P, eps=0.1)
    with pytest.raises(CannotSolve, match="cyclic|the same rows"):
        dcopt.solve(P, PAGE(p=0.1, b_small=4, sampling="cyclic"), steps=1)
    with pytest.raises(CannotSolve, match='use \'decomposition="scalar"\''):
        dcopt.solve(problem("logistic", pairs), "dca-svrg", steps=1)
    other = dcopt.solve(problem("logistic", pairs), "auto", tol=1e-6)  # It is free to take another decomposition.
    assert other.success and "groups" not in other.method and "Gram" in other.notes[0]


def test_a_sub_solver_that_does_not_look_at_f_is_refused() -> None:
    """Who looks pays for the gradients: nothing may be had for nothing, and no run goes on for ever."""
    P, S = problem(), problem(decomposition="scalar")
    for Q, method in ((P, "dca-page"), (P, "dca"), (S, "dca-local"), (S, "dca-nested")):
        with pytest.raises(BadSettings, match="subsolver"):
            dcopt.solve(Q, method, passes=2, subsolver="prox")
        with pytest.raises(BadSettings, match="subsolver"):
            dcopt.iterate(Q, method, subsolver="fista")
    own = [states(Q, Local(), 4) for Q in (P, S)]
    for one, two, three in zip(*own, states(S, "dca-local", 4), strict=True):
        assert np.array_equal(one.x, three.x) and np.array_equal(two.x, three.x)
        assert one.spent == two.spent == three.spent
    grows = states(S, Local(Samples()), 4)[-1]
    assert grows.spent == states(S, "dca-nested", 4)[-1].spent


def test_a_problem_that_is_fixed_or_shifted_stays_local() -> None:
    P = problem()
    for Q in (P.fixed(), P.shift(0.1)):
        assert isinstance(Q.G, LocalCurvature)
        notes = dcopt.solve(Q, page(), steps=1, seed=0).notes
        assert "curvature" in notes[0]
        assert dcopt.solve(Q, "auto", steps=1, seed=0).method == "dca-local"
    assert P.shift(0.1).G.L == pytest.approx(P.G.L + 0.1)


def test_wide_data_goes_by_columns_with_the_full_gradient() -> None:
    """Nothing of the size of a Gram matrix is made there, and so nothing is held."""
    draw = np.random.default_rng(0)
    X = csr_array((draw.random((60, 3000)) < 0.01) * draw.normal(size=(60, 3000)))
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    one, two = (
        dcopt.solve(dcopt.erm(X, y, "logistic", L1(lam=1e-4), decomposition=d), m, x0=np.zeros(3000), steps=3, seed=0)
        for d, m in (("local", page(5)), ("scalar", "dca-local"))
    )
    assert one.x.tobytes() == two.x.tobytes() and one.spent == two.spent
