"""From a critical point to a lower one: the model of F, its neighbours, and what a run makes of them."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

import dcopt
from dcopt.auto import resolve
from dcopt.linalg.symmetric import Swept
from dcopt.local import Escape, Local
from dcopt.local.escape import PenalisedModel
from dcopt.local.models import DenseModel
from dcopt.local.program import PenaltyOnWorkingSet
from dcopt.regularizers import L1, MCP, SCAD, CappedL1, Except, Exponential, LogSum, TopK
from dcopt.runs.goal import Goal
from dcopt.runs.run import Run
from dcopt.runs.stop import Rule
from dcopt.status import Status
from dcopt.subproblems.parts import entries, parts

PROFILES = [
    Exponential(lam=0.04, alpha=4.0), MCP(lam=0.1), SCAD(lam=0.08), LogSum(lam=0.02, eps=0.1),
    CappedL1(lam=0.1, theta=0.6),
]  # fmt: skip
D = 16


def alike(n: int = 80, d: int = D, seed: int = 0) -> tuple[Any, Any]:
    """Columns that stand for each other, a few of which made y."""
    draw = np.random.default_rng(seed)
    X = 0.3 * (draw.normal(size=(n, d)) + draw.normal(size=(n, 1)))
    return X, X @ np.where(np.arange(d) % 3 == 0, 1.0, 0.0) + draw.normal(size=n)


def model(r: Any, seed: int) -> PenalisedModel:
    """That of a least-squares problem at 0, which is the problem itself."""
    X, y = alike(seed=seed)
    B = X.T @ X / len(X)
    own = PenaltyOnWorkingSet(r, np.zeros((D, 1)), np.arange(D), parts(r, (D,)), (D,))
    return PenalisedModel(DenseModel(B, np.zeros(len(B))), own.mine(-X.T @ y / len(X)), own)


def test_a_swept_matrix_is_that_of_its_places() -> None:
    """Along a random walk over the subsets, against inverses made anew."""
    draw = np.random.default_rng(0)
    A = draw.normal(size=(60, 9))
    Q = A.T @ A / 60
    swept = Swept(Q, np.array([2, 5]))
    for _ in range(40):
        inside = draw.random(9) < 0.5
        S, N = np.flatnonzero(inside), np.flatnonzero(~inside)
        swept.to(S)
        inverse = np.linalg.inv(Q[np.ix_(S, S)])
        np.testing.assert_allclose(swept.T[np.ix_(S, S)], -inverse, atol=1e-9)
        np.testing.assert_allclose(swept.T[np.ix_(S, N)], inverse @ Q[np.ix_(S, N)], atol=1e-9)
        left = Q[np.ix_(N, N)] - Q[np.ix_(N, S)] @ inverse @ Q[np.ix_(S, N)]
        np.testing.assert_allclose(swept.T[np.ix_(N, N)], left, atol=1e-9)


@pytest.mark.parametrize("r", PROFILES, ids=lambda r: type(r).__name__)
def test_a_neighbour_is_as_low_as_is_said(r: Any) -> None:
    """At critical points; moves that turn the sign of another entry are promised nothing."""
    left = came = 0
    for seed in range(12):
        m = model(r, seed)
        start = np.linalg.solve(m.B.Q, -m.grad) if seed % 2 else np.zeros((D, 1))
        v = start
        for _ in range(200):
            v = m.critical(v, 1e-13)
        swept = Swept(m.B.Q, np.flatnonzero(v))
        change, new = m._changes(v, swept)
        for j in np.flatnonzero(change < np.inf):
            there = m._moved(v, swept, int(j), new)
            assert (there[j] == 0.0) == (v[j] != 0.0)
            if np.any(there * v < 0.0):
                continue
            assert m.value(there) - m.value(v) <= change[j] + 1e-9
            assert m.value(m.critical(there, 1e-10)) <= m.value(there) + 1e-12
            left, came = left + int(v[j, 0] != 0.0), came + int(v[j, 0] == 0.0)
    assert left >= 10 and came >= 5


@pytest.mark.parametrize("r", PROFILES, ids=lambda r: type(r).__name__)
def test_the_way_down_is_one_of_critical_points(r: Any) -> None:
    seen = 0
    for seed in range(12):
        m = model(r, seed)
        v = m.critical(np.linalg.solve(m.B.Q, -m.grad), 1e-10)
        values = [m.value(p) for p in (v, *m.lower(v, 1e-10, 1e-6))]
        assert all(b < a for a, b in zip(values, values[1:], strict=False))
        seen += len(values) - 1
    assert seen >= 3


def lowest(P: dcopt.Problem, X: Any, y: Any) -> float:
    """The least F of DCA from the least squares of every subset of the columns."""
    d, found = X.shape[1], np.inf
    for S in chain.from_iterable(combinations(range(d), k) for k in range(d + 1)):
        x = np.zeros(d)
        if S:
            x[list(S)] = np.linalg.lstsq(X[:, S], y, rcond=None)[0]
        found = min(found, dcopt.solve(P, "dca-local", x0=x, tol=1e-9, measure="criticality", trace=None).certificate.F)
    return found


SETTINGS: dict[str, Any] = {"tol": 1e-9, "measure": "criticality", "trace": None, "seed": 0}


@pytest.mark.parametrize("r", [MCP(lam=0.1), Exponential(lam=0.04, alpha=4.0)], ids=lambda r: type(r).__name__)
def test_auto_finds_the_least_of_all_critical_points(r: Any) -> None:
    """Against enumeration; DCA from the same starts is held up above it."""
    above = []
    for seed in (4, 5, 8):
        X, y = alike(d=7, seed=seed)
        P = dcopt.erm(X, y, "squared", r)
        least = lowest(P, X, y)
        auto, plain = (dcopt.solve(P, method, **SETTINGS) for method in ("auto", "dca-local"))
        assert auto.status.name == plain.status.name == "CONVERGED"
        assert abs(auto.certificate.F - least) <= 1e-9
        assert dcopt.measures.criticality(P, auto.x) <= 1e-9
        above.append(plain.certificate.F - least)
    assert sum(gap > 1e-4 for gap in above) >= 2


def clicks(n: int = 5000, d: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """Labels of a sigmoid of columns that stand for each other."""
    draw = np.random.default_rng(seed)
    X = (draw.normal(size=(n, d)) + draw.normal(size=(n, 1))) * (draw.random((n, d)) < 0.5)
    return X, np.where(X[:, ::3].sum(axis=1) + 2 * draw.logistic(size=n) > 0, 1.0, -1.0)


@pytest.fixture
def stuck() -> dcopt.Problem:
    X, y = clicks(seed=7)
    return dcopt.erm(normalize(X), y, "squared-sigmoid", Exponential(lam=2e-3, alpha=5.0))


def test_a_run_that_searches_descends_and_says_so(stuck: dcopt.Problem) -> None:
    path: list[float] = []
    auto = dcopt.solve(stuck, "auto", **SETTINGS, callbacks=[lambda s: path.append(stuck.value(s.x)) or False])
    full = path[7:]  # steps on samples are over
    assert len(full) > 12 and all(b <= a + 1e-14 for a, b in zip(full, full[1:], strict=False))
    times, before, after = _left(auto)
    assert times >= 2 and before > after == float(f"{auto.certificate.F:.6g}")
    assert auto.status.name == "CONVERGED" and dcopt.measures.criticality(stuck, auto.x) <= 1e-9
    plain = dcopt.solve(stuck, "dca-nested", **SETTINGS)
    assert auto.certificate.F < plain.certificate.F


def _left(res: dcopt.Result) -> tuple[int, float, float]:
    """What the note says: how many critical points were left, F at the first of them, and F at the end."""
    words = res.notes[-1].split()
    assert words[:2] == ["it", "left"] and words[-9:-5] == ["F", "fell", "from", words[-6]]
    return 1 if words[2] == "a" else int(words[2]), float(words[-6]), float(words[-4])


def test_who_gives_x0_stays_there(stuck: dcopt.Problem) -> None:
    """The critical point that belongs to the given start, to the bit, as dca-nested and dca-local find it."""
    x0 = np.zeros(stuck.shape)
    auto = dcopt.solve(stuck, "auto", x0=x0, **SETTINGS)
    plain = dcopt.solve(stuck, auto.method, x0=x0, **SETTINGS)
    np.testing.assert_array_equal(auto.x, plain.x)
    assert auto.spent == plain.spent


def test_search_is_asked_for_or_forbidden(stuck: dcopt.Problem) -> None:
    """From an x0 of one's own with True, with dca-local too; with False nothing is searched anywhere."""
    x0 = np.zeros(stuck.shape)
    plain = dcopt.solve(stuck, "dca-local", x0=x0, **SETTINGS)
    lower = dcopt.solve(stuck, "dca-local", x0=x0, search=True, **SETTINGS)
    assert lower.certificate.F < plain.certificate.F and lower.status.name == plain.status.name == "CONVERGED"
    assert "lower ones" in lower.notes[-1] and not plain.notes
    auto = dcopt.solve(stuck, "auto", search=False, **SETTINGS)
    assert not any("lower ones" in note for note in auto.notes)
    again = dcopt.solve(stuck, auto.method, x0=x0, search=False, **SETTINGS)
    assert np.array_equal(again.x, dcopt.solve(stuck, auto.method, x0=x0, **SETTINGS).x)
    for wrong in ("yes", 1):
        with pytest.raises(dcopt.BadSettings, match="search"):
            dcopt.solve(stuck, "auto", search=wrong, **SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(dcopt.BadSettings, match="search"):
        dcopt.solve(stuck, "dca-page", search=True, **SETTINGS)
    with pytest.raises(dcopt.BadSettings, match="subsolver"):
        dcopt.solve(stuck, "dca-local", search=True, subsolver="prox", **SETTINGS)
    one = dcopt.solve(stuck, "dca-local", x0=x0, search=np.True_, **SETTINGS)  # type: ignore[arg-type]
    assert np.array_equal(one.x, lower.x)
    X, y = clicks(n=400, d=6)
    for method in ("auto", "dca-local"):
        with pytest.raises(dcopt.BadSettings, match="search.*TopK"):
            dcopt.solve(dcopt.erm(X, y, "logistic", TopK(lam=5e-3, k=4)), method, search=True)
    assert dcopt.solve(dcopt.erm(X, y, "logistic", L1(lam=5e-3)), "dca-page", search=True, steps=2).steps == 2


def test_a_search_uses_the_settings_of_the_method(stuck: dcopt.Problem) -> None:
    """With least = 1 a point would have to be lower than 0: nothing is left for a lower one."""
    x0 = np.zeros(stuck.shape)
    strict = Local(escape=Escape(near=0.0, far=0.0, least=1.0))
    plain = dcopt.solve(stuck, Local(), x0=x0, **SETTINGS)
    kept = dcopt.solve(stuck, strict, x0=x0, search=True, **SETTINGS)
    lower = dcopt.solve(stuck, Local(), x0=x0, search=True, **SETTINGS)
    assert lower.certificate.F < plain.certificate.F == kept.certificate.F


def test_epochs_do_not_stand_in_the_way_of_a_search() -> None:
    """decomposition="local": from a critical point of a loose tolerance the leaps come first, and end as low."""
    draw = np.random.default_rng(0)
    X = 0.5 * (draw.normal(size=(3000, 15)) + draw.normal(size=(3000, 1)))
    z = X @ np.where(np.arange(15) % 3 == 0, 1.0, -0.3)
    y = np.where(z + draw.logistic(size=3000) > 0, 1, -1)
    P, S = (dcopt.erm(X, y, "squared-sigmoid", MCP(lam=0.03), decomposition=k) for k in ("local", "scalar"))
    told: dict[str, Any] = {"tol": 1e-3, "measure": "criticality", "passes": 200, "seed": 0}
    start = dcopt.solve(P, "dca-page", **told)
    want = dcopt.solve(S, "dca-local", x0=start.x, search=True, **told).certificate.F
    got = dcopt.solve(P, "dca-page", x0=start.x, search=True, **told)
    assert want < start.certificate.F - 1e-3
    assert got.certificate.F == pytest.approx(want, abs=1e-4) and _left(got)[0] >= 1


ROWS = Exponential(lam=5e-3, alpha=5.0, groups="rows")


@pytest.mark.parametrize("r", [L1(lam=5e-3), TopK(lam=5e-3, k=4), ROWS], ids=lambda r: type(r).__name__)
def test_nothing_is_searched_where_there_is_nothing_to_find(r: Any) -> None:
    """A convex penalty, one that is no sum, and one of rows (the same as entries for a vector, not for classes)."""
    X, y = clicks(n=400, d=6)
    P = dcopt.erm(X, np.arange(400) % 3, "softmax", r) if r is ROWS else dcopt.erm(X, y, "logistic", r)
    assert not Run(P, resolve("auto", P), Goal(search=True), 0).may_search
    P = dcopt.erm(X, y, "logistic", MCP(lam=5e-3))
    assert Run(P, resolve("auto", P), Goal(search=True), 0).may_search


def test_a_run_that_searches_goes_on_from_every_step(stuck: dcopt.Problem, tmp_path: Path) -> None:
    """Stopped anywhere, also where it had converged and went on, and resumed: the same bits, passes and notes."""
    whole = dcopt.solve(stuck, "auto", **SETTINGS, callbacks=[lambda s: False])
    assert whole.steps > 12
    for k in range(1, whole.steps):
        path = tmp_path / f"{k}.safetensors"
        dcopt.solve(stuck, "auto", **SETTINGS, callbacks=[lambda s, k=k: s.t >= k], checkpoint=path)  # type: ignore[misc]
        after = dcopt.resume(path, stuck)
        np.testing.assert_array_equal(after.x, whole.x)
        assert after.spent == whole.spent and after.steps == whole.steps
        assert after.notes[-1] == whole.notes[-1] and _left(whole)[0] >= 2


def test_a_finished_run_is_not_searched_again(stuck: dcopt.Problem, tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    done = dcopt.solve(stuck, "auto", **SETTINGS, checkpoint=path)
    again = dcopt.resume(path, stuck)
    np.testing.assert_array_equal(done.x, again.x)
    assert again.steps == done.steps and again.spent.gradients == done.spent.gradients


def test_what_is_not_penalised_never_pays_to_leave() -> None:
    """It only costs; with the same penalty on it, it would pay."""
    for r, leaves in ((Except(MCP(lam=0.3), 1), False), (MCP(lam=0.3), True)):
        m = model(r, 3)
        v = m.critical(np.full((D, 1), 0.1), 1e-12)
        v[-1] = 1e-3
        change, _ = m._changes(v, Swept(m.B.Q, np.flatnonzero(v)))
        assert (change[-1] < 0.0) == leaves


def test_budgets_hold_while_it_searches(stuck: dcopt.Problem) -> None:
    """Where a budget ends a run that has converged, it has converged; none is overdrawn by more than a step's looks."""
    plain = dcopt.solve(stuck, "auto", **SETTINGS)
    n, most = stuck.n or 1, plain.spent.gradients
    for steps in range(1, plain.steps):
        assert dcopt.solve(stuck, "auto", **SETTINGS, steps=steps).steps <= steps
    for passes in np.linspace(1.0, most / n, 12):
        assert dcopt.solve(stuck, "auto", **SETTINGS, passes=passes).spent.gradients <= (passes + 5) * n
    X = np.random.default_rng(0).normal(size=(200, 2))  # F → 0 along the first column, which costs nothing
    P = dcopt.erm(X, np.sign(X[:, 0]), "logistic", MCP(lam=0.01, weights=[0.0, 1.0]))
    assert dcopt.solve(P, "auto", tol=1e-3, passes=10, seed=0).spent.gradients <= 15 * 200


def test_a_search_begins_in_the_first_half_of_a_budget(stuck: dcopt.Problem) -> None:
    """Else there is no time to converge again, and what has converged is returned."""
    first = next(k for k in range(8, 40) if _meets(stuck, k))
    for steps in range(first, 2 * first):
        res = dcopt.solve(stuck, "auto", **SETTINGS, steps=steps)
        assert res.status.name == "CONVERGED" and res.steps == first and "may leave" in res.notes[-1]


def test_two_tolerances_search_once_and_a_budget_leaves_the_search_to_who_resumes(
    stuck: dcopt.Problem, tmp_path: Path
) -> None:
    rule = dcopt.stop.Tol(1e-8) | dcopt.stop.Tol(1e-9)
    two = dcopt.solve(stuck, "auto", stop=rule, measure="criticality", seed=0, trace=None)
    assert two.status.name == "CONVERGED" and _left(two)[0] >= 2
    first = next(k for k in range(8, 40) if _meets(stuck, k))
    path = tmp_path / "run.safetensors"
    half = dcopt.solve(stuck, "auto", **SETTINGS, steps=first, checkpoint=path)
    after, whole = dcopt.resume(path, stuck, steps=500), dcopt.solve(stuck, "auto", **SETTINGS, steps=500)
    assert half.status.name == "CONVERGED" and after.certificate.F < half.certificate.F
    np.testing.assert_array_equal(after.x, whole.x)
    cut = dcopt.solve(stuck, "auto", **SETTINGS, steps=2 * first + 1)
    assert cut.certificate.F < half.certificate.F and cut.notes[-1].startswith("it left ")


def _meets(P: dcopt.Problem, steps: int) -> bool:
    return bool(dcopt.solve(P, "auto", **SETTINGS, steps=steps).status.name == "CONVERGED")


def test_a_rule_of_ones_own_is_not_overruled(stuck: dcopt.Problem) -> None:
    class Third(Rule):
        def __call__(self, run: Any) -> Status | None:
            return Status.CONVERGED if run.t >= 3 else None

    assert dcopt.solve(stuck, "auto", stop=Third(), seed=0).steps == 3


def test_a_loose_tolerance_is_still_where_it_stops() -> None:
    """Steps that are no leaps are not made: from a point that meets tol there is a lower critical point, or the end."""
    X, y = clicks(n=3000)
    P = dcopt.erm(X, y, "logistic", MCP(lam=0.02))
    auto, plain = (dcopt.solve(P, method, tol=1e-3, seed=0) for method in ("auto", "dca-local"))
    assert auto.status.name == plain.status.name == "CONVERGED"
    assert auto.spent.gradients <= plain.spent.gradients + 12 * 3000


@pytest.mark.parametrize("kind", ["dense", "csr", "wider than 600"])
def test_wide_data_is_searched_among_the_columns_that_matter(kind: str) -> None:
    draw = np.random.default_rng(0)
    d = 900 if kind.startswith("wider") else 200
    X = draw.normal(size=(60, d)) * (draw.random((60, d)) < (1.0 if kind == "dense" else 0.3))
    y = np.sign(X[:, :10].sum(axis=1) + 0.3 * draw.normal(size=60))
    P = dcopt.erm(X if kind == "dense" else csr_array(X), y, "logistic", SCAD(lam=0.02))
    auto, plain = (dcopt.solve(P, method, **SETTINGS) for method in ("auto", "dca-local"))
    assert auto.status.name == plain.status.name == "CONVERGED"
    assert auto.certificate.F < 0.9 * plain.certificate.F


def test_the_model_is_that_of_r_whatever_majorizer_a_step_takes() -> None:
    """Reweighted steps and DCA's end at the same place where the search decides."""
    same = 0
    for seed in range(5):
        X, y = alike(d=7, seed=seed)
        problems = (dcopt.erm(X, y, "squared", MCP(lam=0.1), concave_step=step) for step in ("dca", "reweighted"))
        one, other = (dcopt.solve(P, "auto", **SETTINGS).certificate.F for P in problems)
        same += abs(one - other) <= 1e-9
    assert same >= 4


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_a_leap_into_nowhere_is_not_taken(worst: float, monkeypatch: pytest.MonkeyPatch, stuck: dcopt.Problem) -> None:
    """F is not a number there, or no finite one: the run goes on as if nothing had been tried."""
    nowhere = [worst, 1e300]
    monkeypatch.setattr(PenalisedModel, "lower", lambda self, v, *_: [np.full_like(v, number) for number in nowhere])
    auto = dcopt.solve(stuck, "auto", **SETTINGS)
    assert auto.status.name == "CONVERGED" and np.isfinite(auto.x).all() and "may leave" in auto.notes[-1]


def test_a_singular_curvature_ends_the_way() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        Swept(np.ones((3, 3)), np.array([0])).to(np.array([0, 1]))
    r = MCP(lam=0.1)
    own = PenaltyOnWorkingSet(r, np.zeros((2, 1)), np.arange(2), parts(r, (2,)), (2,))
    flat = PenalisedModel(DenseModel(np.ones((2, 2)), np.zeros(2)), np.ones((2, 1)), own)
    assert flat.lower(np.ones((2, 1)), 1e-9, 1e-9) == []


def test_a_flat_loss_is_not_left_for_the_far_side() -> None:
    """φ''(0) = 0: a model at 0 says that f falls without end, and leaps of 10⁷ ended high."""
    for seed in range(4):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(200, 8))
        y = np.sign(X @ np.linspace(1, -1, 8) + 0.5 * draw.normal(size=200))
        P = dcopt.erm(X, y, "sigmoid", MCP(lam=0.05), intercept=True)
        auto = dcopt.solve(P, "auto", tol=1e-6, measure="criticality", passes=300, seed=0)
        assert np.abs(auto.x).max() < 1e4 and auto.certificate.F < 0.1


def test_what_an_entry_adds_to_r() -> None:
    x = np.array([[0.5, -2.0], [0.0, 1.0], [3.0, 4.0]])
    r = MCP(lam=0.3, weights=(1.0, 2.0))
    found = entries(Except(r, 1), x)
    assert found is not None and found.shape == x.shape
    np.testing.assert_array_equal(found[-1], 0.0)
    np.testing.assert_allclose(found.sum(), r.value(x[:2]))
    assert entries(Exponential(lam=0.1, alpha=1.0, groups="rows"), x) is None
    assert entries(Exponential(lam=0.1, alpha=1.0, groups=[[0, 1], [2]]), x[:, 0]) is None
    assert entries(TopK(lam=0.1, k=1), x) is None


@pytest.mark.parametrize("seed", [*range(8), 26])
def test_a_search_that_is_asked_for_ends_no_higher_than_none(seed: int) -> None:
    """Its first critical point is where a run without it ends; leaps on the way led elsewhere (seeds 7 and 26)."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(80, 7))
    y = (X.sum(axis=1) + 2 * draw.normal(size=80) > 0).astype(int)
    P = dcopt.erm(X, y, "logistic", SCAD(0.1), intercept=True)
    settings: dict[str, Any] = {"x0": np.zeros(8), "tol": 1e-6, "measure": "criticality", "passes": 500}
    plain, searched = (dcopt.solve(P, "dca-local", search=search, **settings) for search in (False, True))
    assert plain.status is searched.status is Status.CONVERGED
    assert searched.certificate.F <= plain.certificate.F + 1e-9
