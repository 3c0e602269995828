"""From a critical point to a lower one: the model of F, its neighbours, and what a run makes of them."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import normalize

import dcopt
from dcopt.job import Job, Told
from dcopt.matrices import Swept
from dcopt.regularizers import L1, MCP, SCAD, CappedL1, Except, Exponential, LogSum, TopK
from dcopt.subproblems.metrics import Matrix
from dcopt.subproblems.model import Model
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


def model(r: Any, seed: int) -> Model:
    """That of a least-squares problem at 0, which is the problem itself."""
    X, y = alike(seed=seed)
    B = X.T @ X / len(X)
    return Model.of(r, Matrix(B, 0.0), np.zeros((D, 1)), -X.T @ y / len(X), np.arange(D), parts(r, (D,)), (D,))


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
    X, y = clicks(seed=1)
    return dcopt.erm(normalize(X), y, "squared-sigmoid", Exponential(lam=3e-3, alpha=5.0))


def test_a_run_that_searches_descends_and_says_so(stuck: dcopt.Problem) -> None:
    path: list[float] = []
    auto = dcopt.solve(stuck, "auto", **SETTINGS, callbacks=[lambda s: path.append(stuck.value(s.x)) or False])
    full = path[7:]  # steps on samples are over
    assert len(full) > 12 and all(b <= a + 1e-14 for a, b in zip(full, full[1:], strict=False))
    (note,) = (note for note in auto.notes if "lower critical points" in note)
    assert "left 2 for them: F fell from 0.123356 to 0.122461" in note and f"{auto.certificate.F:.6g}" in note
    assert auto.status.name == "CONVERGED" and dcopt.measures.criticality(stuck, auto.x) <= 1e-9
    plain = dcopt.solve(stuck, "dca-nested", **SETTINGS)
    assert auto.certificate.F < plain.certificate.F


def test_who_gives_x0_stays_there(stuck: dcopt.Problem) -> None:
    """The critical point that belongs to the given start, to the bit, as dca-nested and dca-local find it."""
    x0 = np.zeros(stuck.shape)
    auto = dcopt.solve(stuck, "auto", x0=x0, **SETTINGS)
    plain = dcopt.solve(stuck, auto.method, x0=x0, **SETTINGS)
    np.testing.assert_array_equal(auto.x, plain.x)
    assert auto.spent == plain.spent


ROWS = Exponential(lam=5e-3, alpha=5.0, groups="rows")


@pytest.mark.parametrize("r", [L1(lam=5e-3), TopK(lam=5e-3, k=4), ROWS], ids=lambda r: type(r).__name__)
def test_nothing_is_searched_where_there_is_nothing_to_find(r: Any) -> None:
    """A convex penalty, one that is no sum, and one of rows (the same as entries for a vector, not for classes)."""
    X, y = clicks(n=400, d=6)
    P = dcopt.erm(X, np.arange(400) % 3, "softmax", r) if r is ROWS else dcopt.erm(X, y, "logistic", r)
    job = Job(P, "auto", Told(search=True), 0, None)
    assert not job.searches
    assert Job(dcopt.erm(X, y, "logistic", MCP(lam=5e-3)), "auto", Told(search=True), 0, None).searches


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
        assert after.notes[-1] == whole.notes[-1] and "left 2 for them" in whole.notes[-1]


def test_a_finished_run_is_not_searched_again(stuck: dcopt.Problem, tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    done = dcopt.solve(stuck, "auto", **SETTINGS, checkpoint=path)
    again = dcopt.resume(path, stuck)
    np.testing.assert_array_equal(done.x, again.x)
    assert again.steps == done.steps and again.spent.gradients == done.spent.gradients


def test_an_intercept_is_never_taken_out() -> None:
    X, y = clicks(n=500, d=8)
    P = dcopt.erm(X, np.where(np.arange(500) % 5 == 0, y, 1.0), "logistic", MCP(lam=0.05), intercept=True)
    auto = dcopt.solve(P, "auto", **SETTINGS)
    assert auto.status.name == "CONVERGED" and auto.x[-1] != 0.0


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
