"""dca-nested: dca-local on samples that grow, each step a function of (seed, t); "auto" takes it where it fits."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.draw import Draw
from dcopt.local import Escape, Local, Multistart, Samples, costs, local_dca
from dcopt.local.models import dense_model
from dcopt.regularizers import L1, MCP, SCAD, Exponential
from dcopt.state import State
from dcopt.subproblems.parts import parts
from dcopt.sums import FREE, LinearSum

N, D = 4000, 8


def data(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.7)
    z = X @ np.where(np.arange(D) % 3 == 0, 2.0, 0.0)
    return X, np.where(z + rng.logistic(size=N) > 0, 1.0, -1.0)


def problem(sparse: bool = False, loss: str = "squared-sigmoid", **options: Any) -> dcopt.Problem:
    X, y = data()
    r = options.pop("regularizer", Exponential(lam=0.002, alpha=5.0))
    return dcopt.erm(csr_array(X) if sparse else X, y, loss, r, **options)


def linear(P: dcopt.Problem) -> LinearSum:
    assert isinstance(P.f, LinearSum)
    return P.f


def test_samples_are_nested_and_a_function_of_the_seed() -> None:
    u = Draw(7, 0).each(N)
    sizes = [int(np.sum(u < s)) for s in (1 / 16, 1 / 4, 1 / 2)]
    assert all(abs(m - s * N) < 5 * np.sqrt(s * N) for m, s in zip(sizes, (1 / 16, 1 / 4, 1 / 2), strict=True))
    assert np.array_equal(u, Draw(7, 0).each(N)) and not np.array_equal(u, Draw(8, 0).each(N))
    P = problem()
    f, grows = linear(P), Samples()
    seen = [grows.sum(f, Draw(7, t)).n for t in range(9)]
    assert seen == [sizes[0]] * 3 + [sizes[1]] * 2 + [sizes[2]] * 2 + [N] * 2
    assert grows.sum(f, Draw(7, 1)) is grows.sum(f, Draw(7, 2)) and grows.sum(f, Draw(7, 20)) is f
    few = linear(dcopt.erm(np.eye(40), np.arange(40) % 2))
    assert grows.share(0, few) == 1.0  # chance would choose among the columns


def test_gradients_and_cost_are_those_of_the_sample() -> None:
    P = problem()
    f, states = linear(P), list(islice(dcopt.iterate(P, "dca-nested", seed=7), 10))
    spent = 0
    for t, state in enumerate(states):
        part = f if t >= 7 else f.part(7, (1 / 16, 1 / 4, 1 / 2)[0 if t < 3 else 1 if t < 5 else 2])
        value, grad = part.all().value_grad(state.x)
        np.testing.assert_allclose(state.memory.grad, grad, rtol=1e-13, atol=1e-16)
        assert state.memory.n == part.n and state.memory.f == pytest.approx(value, rel=1e-13)
        paid = state.spent.gradients - spent
        first = part.n if t in (0, 3, 5, 7) else 0  # What was seen of a smaller sample is not what this one is.
        assert (paid - first) % part.n == 0 and (paid - first) // part.n >= 1  # a look for every trial
        spent = state.spent.gradients


def test_every_step_lowers_f_of_its_sample_and_in_the_end_F() -> None:
    P = problem(sparse=True)
    f, x, grows = linear(P), np.zeros(D), Samples()
    for t, state in enumerate(islice(dcopt.iterate(P, "dca-nested", seed=3), 16)):
        part = grows.sum(f, Draw(3, t)).all()
        before, after = (part.value_grad(v)[0] + P.r.value(v) for v in (x, state.x))
        assert after <= before + 1e-15
        x = state.x


@pytest.mark.parametrize("r", [L1(lam=0.01), SCAD(lam=0.02), MCP(lam=0.02)], ids=lambda r: type(r).__name__)
def test_the_end_is_certified_on_all_rows(r: Any) -> None:
    P = problem(loss="logistic", regularizer=r, intercept=True)
    res = dcopt.solve(P, "dca-nested", tol=1e-8, measure="criticality", passes=200, seed=1)
    assert res.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-8
    if isinstance(r, L1):
        other = dcopt.solve(P, "dca-local", tol=1e-9, measure="criticality", passes=200)
        assert np.abs(res.x - other.x).max() < 1e-6


def test_it_goes_on_from_any_state_to_the_same_bits() -> None:
    states = list(islice(dcopt.iterate(problem(), "dca-nested", seed=3), 12))
    for cut in (1, 2, 4, 6, 9):
        again = list(islice(dcopt.iterate(problem(), "dca-nested", seed=3, state=states[cut]), 11 - cut))
        assert all(
            np.array_equal(a.x, b.x) and a.spent == b.spent for a, b in zip(states[cut + 1 :], again, strict=True)
        )


def test_a_checkpoint_of_auto_is_one_of_what_it_took(tmp_path: Any) -> None:
    whole = dcopt.solve(large(), "auto", steps=12, seed=5)
    path = tmp_path / "run.ckpt"
    dcopt.solve(large(), "auto", steps=4, seed=5, checkpoint=path, every=0)
    again = dcopt.resume(path, large(), "auto", steps=12)
    assert np.array_equal(again.x, whole.x) and again.spent == whole.spent and whole.method == "dca-nested"


def large() -> dcopt.Problem:
    """As `problem`, with rows enough for samples."""
    X, y = data()
    return dcopt.erm(np.tile(X, (3, 1)), np.tile(y, 3), "logistic", SCAD(lam=0.02))


def test_auto_starts_with_a_step_of_f_alone_where_that_is_lower() -> None:
    """Counted, said, and only where a concave penalty and no start of one's own make it sensible."""
    P = large()
    zero = np.zeros(P.shape)
    res = dcopt.solve(P, "auto", steps=1, seed=2, trace=1e-9)
    assert "a step of f alone" in res.notes[1]
    sample = Samples().sum(P.f, Draw(2, 0))
    first = res.trace.records[0]
    assert first.passes == 2 * sample.n / P.n and first.F < P.value(zero) and first.nnz == P.shape[0]
    g, z = sample.all().grad(zero), np.zeros(sample.n)
    A = sample.a.dot(np.eye(P.shape[0]))
    Q = A.T @ (sample.loss.bend(z, sample.labels)[:, None] * A) / sample.n
    x = -np.linalg.solve(Q + 2 * np.trace(Q) / len(Q) * np.eye(len(Q)), g)
    assert P.value(x) == pytest.approx(first.F, rel=1e-8)
    X, y = data()
    for other in (
        dcopt.erm(X, y, "logistic", L1(lam=0.02)),  # convex: there is one end
        dcopt.erm(X, y, "logistic", SCAD(lam=1.0)),  # all of x costs more than it gives
    ):
        assert not any("a step of f alone" in note for note in dcopt.solve(other, "auto", steps=1, seed=2).notes)
    high = dcopt.solve(dcopt.erm(X, y, "logistic", SCAD(lam=1.0)), "auto", steps=1, seed=2)
    assert high.spent.gradients == 3 * len(y)  # the look that was not followed is paid for


def test_auto_tries_three_starts_of_small_data_where_the_budget_has_room() -> None:
    """It goes on from the lowest, all three are paid for, and a budget of its own leaves it at one."""
    X, y = data()
    P = dcopt.erm(X[:300], y[:300], "squared-sigmoid", Exponential(lam=1 / 300, alpha=5.0))
    res = dcopt.solve(P, "auto", tol=1e-6, measure="criticality", seed=0, trace=1e-9)
    assert "the lowest of 3 after 6 steps each" in res.notes[1] and res.status.name == "CONVERGED"
    ends, spent = [], 0
    how, start = Local(escape=Escape()), State(0, np.zeros(P.shape), None, None, FREE)
    for ridge in (2.0, 5.0, 10.0):
        begun = Multistart((ridge,)).begin(P, how, start, 0).state
        assert begun.x.all() and begun.t == 0 and begun.spent.gradients == 2 * 300  # a look at 0, and one there
        *_, one = islice(local_dca(P, how, begun, 0), 6)
        ends.append(P.value(one.x))
        spent += one.spent.gradients
    spent -= 2 * 300  # One look at 0 is for all three.
    first = res.trace.records[0]
    assert first.F == pytest.approx(min(ends), rel=1e-12) and first.gradients == spent
    assert res.certificate.F <= min(ends) < max(ends)
    local = dcopt.solve(P, "dca-local", tol=1e-6, measure="criticality")
    assert res.certificate.F <= local.certificate.F + 1e-9 and "the lowest of 3" in local.notes[0]
    assert local.certificate.F <= dcopt.solve(P, "dca-local", tol=1e-6, x0=np.zeros(P.shape)).certificate.F + 1e-9
    assert not dcopt.solve(P, "dca-local", steps=5).notes  # it chooses nothing else: from 0
    own = {"tol": 1e-6, "stop": dcopt.stop.Passes(5)}
    some = ({"passes": 60}, {"steps": 500}, {"passes": 500, "seconds": 60.0}, {"tol": 1e-6, "samples": 900})
    for budget in (*some, own):
        assert "the lowest of" not in dcopt.solve(P, "auto", seed=0, **budget).notes[1]
    seen: list[int] = []
    watched = dcopt.solve(P, "auto", seed=0, tol=1e-6, callbacks=[lambda state: seen.append(state.t)])
    assert seen == list(range(1, watched.steps + 1))
    assert watched.x.tobytes() == res.x.tobytes() and watched.notes == res.notes  # Who looks on changes nothing.


def test_f_may_rise_on_the_rows_that_a_sample_leaves_out() -> None:
    """Labels without a reason: what a sample learns is worth nothing on the others, and nothing diverges."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4096, 112)), np.sign(rng.normal(size=4096))
    P = dcopt.erm(X, y, "logistic", Exponential(lam=1 / 4096, alpha=5.0))
    few = dcopt.erm(X[:1000], y[:1000], "logistic")  # two rows for each unknown in a quarter and a half of them only
    assert [Samples().length(Q.f) for Q in (P, few, dcopt.erm(X[:200], y[:200], "logistic"))] == [7, 4, 0]
    for seed in range(3):
        res = dcopt.solve(P, "auto", tol=1e-7, measure="criticality", seed=seed, trace=1e-9)
        assert res.status.name == "CONVERGED" and max(r.F for r in res.trace) > 1.02 * res.certificate.F


def test_auto_says_what_it_took_and_why() -> None:
    X, y = data()
    pairs = SCAD(lam=0.1, groups=[[2 * k, 2 * k + 1] for k in range(D // 2)])
    wide = csr_array((np.vstack((X, X)).ravel(), np.tile(np.arange(D), 2 * N), D * np.arange(2 * N + 1)), (2 * N, 2050))
    spread = SCAD(lam=0.1, groups=[[0, 1], list(range(2, 2050))])
    took = {
        "dca-nested": large(),
        "dca-local": dcopt.erm(X[:60], y[:60], "logistic", SCAD(lam=0.1)),
        "pdcae": dcopt.erm(X, y, "logistic", SCAD(lam=0.1), decomposition="gram"),
        "dca": dcopt.erm(X, y, "squared-sigmoid", pairs, decomposition="diagonal"),
        "dca-page": dcopt.erm(wide, np.concatenate((y, y)), "squared-sigmoid", spread),
    }
    for name, P in took.items():
        res = dcopt.solve(P, "auto", steps=2, seed=0)
        assert res.method == name and res.notes[0].startswith(f"auto took {name}: ") and res.notes[0] in str(res)
        at_zero = dcopt.solve(P, "auto", steps=2, seed=0, x0=np.zeros(P.shape))
        same = dcopt.solve(P, name, steps=2, seed=0)
        assert np.array_equal(at_zero.x, same.x) and same.notes == () and at_zero.notes == res.notes[:1]
    with pytest.raises(dcopt.BadSettings, match="auto"):
        dcopt.solve(problem(), "automatic")


@pytest.mark.parametrize("groups", [None, "rows"])
def test_softmax_has_all_of_its_curvature(groups: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of a step is exact to second order: F falls as it says, up to a cubic term."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.argmax(X[:, :3] + rng.gumbel(size=(300, 3)), axis=1)
    P = dcopt.erm(X, y, "softmax", L1(lam=0.01, groups=groups))
    f, x = linear(P), 0.3 * rng.normal(size=(5, 3))
    C, columns, p = f.curvature(f.look(x)), np.arange(5), parts(P.r, (5, 3))
    Q = dense_model(C, columns, p, 0.0).Q
    for _ in range(5):
        v = rng.normal(size=(5, 3))
        t = 1e-4
        bend = np.sum(v * (f.all().grad(x + t * v) - f.all().grad(x - t * v))) / (2 * t)
        np.testing.assert_allclose(v.ravel() @ Q @ v.ravel(), bend, rtol=1e-6)
    settings: dict[str, Any] = {"tol": 1e-8, "measure": "criticality", "passes": 400}
    fast = dcopt.solve(P, "dca-local", **settings)
    monkeypatch.setattr(costs, "BLOCK_ROWS", 10)  # too large for that: by columns, or, where A shows none, a bound
    bound = dense_model(C, columns, p, 1e-4).Q
    assert bound.shape == (5, 5)
    assert np.linalg.eigvalsh(np.kron(bound, np.eye(3)) - Q).min() > -1e-12
    res = dcopt.solve(P, "dca-local", **settings)
    assert res.status.name == fast.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-8
    assert fast.steps <= res.steps <= fast.steps + 3


@pytest.mark.parametrize("method", ["dca-local", "dca-nested"])
def test_a_run_to_a_tolerance_ends_the_same_wherever_it_was_cut(method: str, tmp_path: Any) -> None:
    """Checks come at every step where F is known, and one step more while the measure still falls fast."""

    def fresh() -> dcopt.Problem:
        return problem(loss="logistic", regularizer=SCAD(lam=0.02))

    rest: Any = {"tol": 1e-5, "measure": "criticality", "x0": np.zeros(fresh().shape)}
    whole = dcopt.solve(fresh(), method, seed=2, **rest)
    assert whole.status.name == "CONVERGED" and whole.steps > 4
    for cut in range(1, whole.steps):
        path = tmp_path / f"{cut}.ckpt"
        dcopt.solve(fresh(), method, seed=2, steps=cut, checkpoint=path, every=0, **rest)
        again = dcopt.resume(path, fresh(), steps=10_000)
        assert np.array_equal(again.x, whole.x) and again.spent.gradients == whole.spent.gradients
        assert again.trace.records[-1][:1] == whole.trace.records[-1][:1] and again.status is whole.status
