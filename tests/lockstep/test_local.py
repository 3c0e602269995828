"""dca-local: a decomposition made anew at every point is still DCA, and each step descends."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from faults import WARM_UP, FaultyRows
from scipy.sparse import csr_array, random

import dcopt
from dcopt.convex import least_squares
from dcopt.data.check import as_rows
from dcopt.data.csr_columns import CsrColumns
from dcopt.data.rows import rough_gram
from dcopt.draw import Draw
from dcopt.errors import CannotSolve
from dcopt.local import Local, WorkingSet
from dcopt.local.candidates import majorized
from dcopt.local.models import ColumnModel, DenseModel, dense_model, model
from dcopt.local.models.build import column_model
from dcopt.local.place import Place
from dcopt.local.program import Program, working_set
from dcopt.regularizers import L1, MCP, SCAD, CappedL1, ElasticNet, Exponential, Nonnegative, TopK, Zero
from dcopt.state import Spent
from dcopt.subproblems import cd
from dcopt.subproblems.parts import parts
from dcopt.sums import LinearSum


def data(n: int = 120, d: int = 12, seed: int = 0) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * (draw.random((n, d)) < 0.6)
    z = X @ np.where(np.arange(d) % 3 == 0, 2.0, 0.0) + 0.5
    return X, np.where(z + draw.logistic(size=n) > 0, 1.0, -1.0)


PENALTIES = [
    SCAD(lam=0.02), MCP(lam=0.02), Exponential(lam=0.01, alpha=5.0), CappedL1(lam=0.02, theta=0.3), L1(lam=0.02),
    ElasticNet(lam=0.02, mu=0.05), Nonnegative(), TopK(lam=0.02, k=3), Zero(),
]  # fmt: skip


@pytest.mark.parametrize("r", PENALTIES, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("loss", ["logistic", "squared-sigmoid"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_step_descends_and_the_end_is_certified(loss: str, r: Any, sparse: bool) -> None:
    X, y = data()
    P = dcopt.erm(csr_array(X) if sparse else X, y, loss, r, intercept=True)
    path = [P.value(s.x) for s in islice(dcopt.iterate(P, "dca-local"), 40)]
    start = P.value(np.zeros(P.shape))
    assert all(b <= a + 1e-14 for a, b in zip([start, *path], path, strict=False))
    res = dcopt.solve(P, "dca-local", tol=1e-8, measure="criticality", passes=400)
    assert res.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-8


def test_least_squares_takes_one_step() -> None:
    """φ'' is constant, so the curvature at x is that of f itself, and the program is the problem."""
    X, _ = data()
    y = X @ np.linspace(-1, 1, 12) + 0.1 * np.random.default_rng(1).normal(size=120)
    for lam in (0.0, 0.05, 0.3):
        P = dcopt.erm(X, y, "squared", L1(lam=lam))
        res = dcopt.solve(P, "dca-local", tol=1e-9, measure="criticality")
        G = least_squares(X, y)
        want = cd(G, L1(lam=lam), np.zeros(12), warm=np.zeros(12), tol=1e-13).x
        assert res.success and np.abs(res.x - want).max() < 1e-7


def test_least_squares_end_where_dca_does() -> None:
    """The first step decides which critical point follows: among columns that stand for each other it must be DCA's.

    (A program that was solved to a tenth of the distance ended elsewhere in 13 of these 36.)
    """
    apart = 0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(300, 40)) + 2.0 * draw.normal(size=(300, 1))
        y = X[:, :5] @ draw.choice([-1.0, 1.0, 2.0], 5) + draw.normal(size=300)
        most = float(np.abs(X.T @ y).max()) / 300
        for share in (0.1, 0.03, 0.01):
            r = Exponential(lam=share * most, alpha=5.0)
            settings: dict[str, Any] = {"tol": 1e-7, "measure": "criticality", "x0": np.zeros(40), "passes": 2000}
            local = dcopt.solve(dcopt.erm(X, y, "squared", r), "dca-local", **settings)
            full = dcopt.solve(dcopt.erm(X, y, "squared", r, decomposition="gram"), "dca", **settings)
            assert local.success and full.success
            apart += abs(local.certificate.F - full.certificate.F) > 1e-6 * full.certificate.F
    assert apart <= 2


@pytest.mark.parametrize("n,d", [(200, 10), (40, 90), (1500, 300)])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_far_from_zero_are_no_harder_than_centred_ones(loss: str, n: int, d: int) -> None:
    """An intercept takes up what their means add: the same solution, in hardly more steps. (There were hundreds.)"""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    z = X[:, :3].sum(axis=1) + draw.logistic(size=n)
    y = z if loss == "squared" else np.where(z > 0.0, 1.0, -1.0)
    r = L1(lam=0.05)
    found = []
    for shift in (0.0, 1e2, 1e4):
        P = dcopt.erm(X + shift, y, loss, r, intercept=True)
        found.append(dcopt.solve(P, "dca-local", tol=1e-4, measure="criticality", passes=60))
    near, *far = found
    for res in far:
        assert res.status.name == "CONVERGED" and res.steps <= near.steps + 6
        assert res.certificate.F == pytest.approx(near.certificate.F, rel=1e-6)
        np.testing.assert_allclose(res.x[:-1], near.x[:-1], atol=2e-3)


def test_the_ridge_of_centred_columns() -> None:
    """⟨v, μRv⟩ = Σ_K μ_j v_j² + μ_F (v_F + S v_K)²: what is left of Q + μR without the intercept is larger by μ_K."""
    from dcopt.regularizers import Except
    from dcopt.subproblems.eliminated import Eliminated
    from dcopt.subproblems.parts import parts

    X = np.random.default_rng(1).normal(size=(50, 6)) + 30.0
    A = np.column_stack((X, np.ones(50)))
    Q, p = A.T @ A / 50, parts(Except(L1(lam=0.1)), (7,))
    less = Eliminated.of(Q, p)
    assert less is not None
    np.testing.assert_allclose(less.Q, np.cov(X.T, bias=True), rtol=1e-9)
    mu = 0.1 + 0.1 * np.arange(7.0)
    R, more = less.ridge(np.eye(7), mu), Q.copy()
    less.add_ridge(more, mu)
    np.testing.assert_allclose(more, Q + R, rtol=1e-12)
    np.testing.assert_allclose(Eliminated.of(more, p).Q, less.Q + np.diag(mu[:6]), rtol=1e-7, atol=1e-9)  # type: ignore[union-attr]
    v = np.arange(7.0)[:, None]
    assert DenseModel(more, mu, ridge_coordinates=less).ridge_quad(v) == pytest.approx(float(v[:, 0] @ R @ v[:, 0]))


def test_without_an_intercept_entries_stay_on_their_bounds() -> None:
    """The others are handed on as they were found: x + (v − x) would miss a bound by a rounding, and look free."""
    from dcopt.subproblems.eliminated import Eliminated
    from dcopt.subproblems.parts import Parts
    from dcopt.subproblems.quadratic import distances

    draw = np.random.default_rng(0)
    free = np.arange(6)[:, None] == 5
    held = 0
    for _ in range(60):
        A = draw.normal(size=(30, 6)) + 3.0
        low, high = np.where(free, -np.inf, -draw.random((6, 1))), np.where(free, np.inf, draw.random((6, 1)))
        p = Parts(np.where(free, 0.0, 0.1), np.zeros((6, 1)), low, high, False)
        Q, u, x = A.T @ A / 30, 3.0 * draw.normal(size=(6, 1)), np.clip(draw.normal(size=(6, 1)), low, high)
        v = DenseModel(Q, np.zeros(6), ridge_coordinates=Eliminated.of(Q, p)).minimize(x, u, p, 1e-10)
        assert np.linalg.norm(distances(u - Q @ (v - x), v, p)) <= 1e-9
        held += int(np.sum((v == low) | (v == high)))
    assert held > 60


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_unpenalised_column_of_ones_is_an_intercept(dtype: Any) -> None:
    """The Gram matrix is in float32, of a − m: what is left of it without the means has digits, and not only noise."""
    from dcopt.regularizers import WeightedL1

    draw = np.random.default_rng(0)
    Z = draw.normal(size=(8000, 100))
    y = np.where(2.0 * Z[:, :3].sum(axis=1) + draw.logistic(size=8000) > 0.0, 1.0, -1.0)
    r, settings = L1(lam=1e-3), {"tol": 1e-3, "measure": "criticality", "steps": 15}
    want = dcopt.solve(dcopt.erm(Z, y, "logistic", r, intercept=True), "dca-local", **settings)
    for mean in (1e2, 1e3) if dtype == np.float64 else (30.0,):
        X = np.hstack((Z + mean, np.ones((8000, 1)))).astype(dtype)
        P = dcopt.erm(X, y, "logistic", WeightedL1(np.r_[np.full(100, 1e-3), 0.0]))
        res = dcopt.solve(P, "dca-local", **settings)
        assert res.status.name == "CONVERGED"
        assert res.certificate.F == pytest.approx(want.certificate.F, rel=1e-5)


def test_a_convex_problem_has_the_solution_of_every_other_method() -> None:
    X, y = data()
    P = dcopt.erm(X, y, "logistic", L1(lam=0.02))
    both = "dca-local", "dca"
    local, page = (dcopt.solve(P, m, tol=1e-9, passes=5000, measure="criticality", seed=0) for m in both)
    assert local.success and page.success
    assert local.certificate.F == pytest.approx(page.certificate.F, abs=1e-10)
    assert np.abs(local.x - page.x).max() < 1e-6 and local.spent.gradients < page.spent.gradients / 10


def test_rows_of_a_multi_class_problem() -> None:
    X, y = dcopt.load_dataset("digits", normalize=True)
    X, y = X[y < 3], y[y < 3]
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.3, (y + 1) % 3, y)  # or F has no minimizer
    P = dcopt.erm(X, y, "softmax", SCAD(lam=0.02, groups="rows"), intercept=True)
    res = dcopt.solve(P, "dca-local", tol=1e-3, passes=400, measure="criticality")
    assert res.status.name == "CONVERGED"
    zero = ~np.any(res.x[:-1] != 0.0, axis=1)
    assert 0 < zero.sum() < 64  # rows leave as a whole


def test_wide_data_is_taken_in_parts() -> None:
    """At most so many new coordinates at once, the certificate speaks of all of them."""
    draw = np.random.default_rng(0)
    X = csr_array(draw.normal(size=(60, 900)) * (draw.random((60, 900)) < 0.2))
    y = np.where(draw.random(60) < 0.5, -1.0, 1.0)
    P = dcopt.erm(X, y, "logistic", L1(lam=0.01))
    whole = dcopt.solve(P, "dca-local", tol=1e-8, measure="criticality", passes=300)
    method = Local(working_set=WorkingSet(most=10))
    few = dcopt.solve(P, method, tol=1e-8, measure="criticality", passes=300)
    first = [np.count_nonzero(next(iter(dcopt.iterate(P, m))).x) for m in ("dca-local", method)]
    assert whole.success and few.success and first[0] > 10 >= first[1]
    assert few.certificate.F == pytest.approx(whole.certificate.F, abs=1e-9)


def test_what_it_spends_is_counted() -> None:
    """A pass for the first gradient and one for every look at F, each of which is the next gradient."""
    X, y = data()
    P = dcopt.erm(X, y, "logistic", SCAD(lam=0.02))
    states = list(islice(dcopt.iterate(P, "dca-local"), 6))
    assert [s.spent.gradients for s in states] == [120 * (2 + t) for t in range(6)]  # no look failed here


def test_it_goes_on_from_a_state_without_its_memory() -> None:
    """What is remembered is a pure function of x: a problem that remembers nothing gives the same bits."""
    X, y = data()
    P, fresh = (dcopt.erm(X, y, "squared-sigmoid", SCAD(lam=0.01)) for _ in range(2))
    states = list(islice(dcopt.iterate(P, "dca-local", seed=3), 8))
    again = list(islice(dcopt.iterate(fresh, "dca-local", seed=3, state=states[3]), 4))
    for one, two in zip(states[4:], again, strict=True):
        assert np.array_equal(one.x, two.x) and one.spent == two.spent and one.t == two.t


def test_float32_stays_and_ends() -> None:
    X, y = data()
    P = dcopt.erm(X.astype(np.float32), y, "logistic", SCAD(lam=0.02))
    res = dcopt.solve(P, "dca-local", tol=1e-5, measure="criticality", passes=100)
    assert res.x.dtype == np.float32 and res.success


def test_what_does_not_fall_apart_is_refused_by_name() -> None:
    X, y = data()
    pairs = SCAD(lam=0.1, groups=[[2 * j, 2 * j + 1] for j in range(6)])
    with pytest.raises(CannotSolve, match="SCAD"):
        dcopt.solve(dcopt.erm(X, y, "logistic", pairs), "dca-local")


def test_nan_is_never_turned_into_a_number() -> None:
    """Born in any product of the run: the run ends there, with the last good point."""
    X, y = data(40, 4)
    watch = FaultyRows(as_rows(X))
    whole = dcopt.solve(dcopt.erm(watch, y, "logistic", SCAD(lam=0.02)), "dca-local", steps=4, trace=None)
    assert whole.status.name == "BUDGET"
    for k in range(WARM_UP, len(watch.log) - 2):  # the last two are the certificate's
        rows = FaultyRows(as_rows(X), "nan", k)
        result = dcopt.solve(dcopt.erm(rows, y, "logistic", SCAD(lam=0.02)), "dca-local", steps=4, trace=None)
        assert len(rows.hits) == 1
        assert result.status.name == "DIVERGED" or np.array_equal(result.x, whole.x), k  # in what a next step would use


def test_a_critical_start_is_paid_for_and_stays() -> None:
    X, y = data()
    P = dcopt.erm(X, y, "logistic", L1(lam=10.0))
    res = dcopt.solve(P, "dca-local", passes=5)
    assert not res.x.any() and res.status.name == "STALLED" and res.steps == 1
    assert res.spent == Spent(120, 120, 120)  # the look at the start, and the certificate
    assert dcopt.solve(P, "dca-local", tol=1e-6).status.name == "CONVERGED"


def test_eight_threads_share_a_problem() -> None:
    X, y = data()
    P = dcopt.erm(csr_array(X), y, "squared-sigmoid", SCAD(lam=0.01))
    alone = dcopt.solve(P, "dca-local", steps=12).x
    with ThreadPoolExecutor(8) as pool:
        for x in pool.map(lambda _: dcopt.solve(P, "dca-local", steps=12).x, range(24)):
            assert np.array_equal(x, alone)


@pytest.mark.parametrize("kind", ["dense", "sparse", "intercept"])
def test_columns_are_those_of_the_matrix(kind: str) -> None:
    from dcopt.data.intercept import WithIntercept

    X = data(30, 12)[0]
    a: Any = as_rows(csr_array(X) if kind == "sparse" else X)
    if kind == "intercept":
        a, X = WithIntercept(as_rows(csr_array(X))), np.column_stack((X, np.ones(30)))
    few, last, every = np.array([0, 3, 4]), np.array([X.shape[1] - 1]), np.arange(X.shape[1])
    own = a.can().columns
    for columns in (few, last, few[1:], every, few, np.zeros(0, np.int64)):  # some are part of those before
        begin, end, rows, values = own.columns(columns)
        out = np.zeros((30, len(columns)))
        for j in range(len(columns)):
            out[rows[begin[j] : end[j]], j] = values[begin[j] : end[j]]
            assert np.all(np.diff(rows[begin[j] : end[j]]) > 0)  # a column with 30 entries has one in each row
        assert np.array_equal(out, X[:, columns]) and own.count(columns) == np.sum(end - begin)


@pytest.mark.parametrize("r", [L1(lam=0.02), ElasticNet(lam=0.02, mu=0.05), Nonnegative()], ids=repr)
def test_columns_and_their_gram_matrix_give_one_program(r: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same convex program: coordinate descent on columns ends where that on Q does."""
    monkeypatch.setattr("dcopt.local.costs.DESCENT_PASSES", 2000)
    rng = np.random.default_rng(2)
    X = csr_array(rng.normal(size=(40, 60)) * (rng.random((40, 60)) < 0.3))
    y = np.where(rng.random(40) < 0.5, -1.0, 1.0)
    P = dcopt.erm(X, y, "squared-sigmoid", r)
    columns, p = np.arange(0, 60, 2), parts(r, (30,))
    C = P.sum.curvature(P.sum.look(rng.normal(size=60)))
    x, u = np.where(rng.random((30, 1)) < 0.5, 0.0, rng.random((30, 1))), 0.2 * rng.normal(size=(30, 1))
    one, two = dense_model(C, columns, p, 1e-1), column_model(C, columns, 1e-1)
    assert isinstance(model(C, columns, p, 1e-1, 1e-1, False), ColumnModel)
    assert isinstance(model(C, columns, p, 1e-1, 1e-1, False, dense=True), DenseModel)
    # Q stays positive definite.
    tame = SimpleNamespace(negative_excess=0.02 * C.negative_excess, negative=lambda some: 0.02 * C.negative(some))
    bend = 0.02 * two.ridge[:, None] * rng.random((30, 1))
    less = tuple(m.minus_negative(tame, columns, (1.0,)).minus_penalty_curvature(bend, x, (1.0,)) for m in (one, two))
    assert less[0] is not one and less[1] is not two and C.negative_excess.any()
    for m, n in ((one, two), less):
        a, b = (some.minimize(x, u, p, 1e-11) for some in (m, n))
        np.testing.assert_allclose(a, b, atol=1e-8)
        assert np.any(a != x)
        assert m.quad(a - x) == pytest.approx(n.quad(a - x), rel=1e-10)
        assert m.ridge_quad(a - x) == pytest.approx(n.ridge_quad(a - x), rel=1e-10)


def test_wide_data_makes_no_gram_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """3000 active columns of 100 rows: their Gram matrix would be 72 MB, and is never asked for."""
    rng = np.random.default_rng(0)
    X = csr_array(rng.normal(size=(100, 3000)) * (rng.random((100, 3000)) < 0.05))
    y = np.where(rng.random(100) < 0.5, -1.0, 1.0)
    P = dcopt.erm(X, y, "logistic", MCP(lam=1e-4))
    asked, gram = [], CsrColumns.gram
    monkeypatch.setattr(CsrColumns, "gram", lambda a, w, columns: asked.append(len(columns)) or gram(a, w, columns))
    res = dcopt.solve(P, "dca-local", tol=1e-6, measure="criticality", passes=200)
    assert res.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-6
    assert max(asked, default=0) < 200


def test_sparse_least_squares_end_alike_however_their_gram_matrix_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """By descent on columns, a set of them in every step, or in the Gram matrix of all."""
    rng = np.random.default_rng(5)
    X = csr_array(rng.normal(size=(900, 1200)) * (rng.random((900, 1200)) < 0.02))
    y = X @ rng.normal(size=1200) + rng.normal(size=900)
    columns = CsrColumns.columns
    for lam in (1e-3, 0.1):
        exact = dcopt.solve(dcopt.erm(X, y, "squared", L1(lam=lam)), "dca-local", tol=1e-8, measure="criticality")
        asked: list[int] = []
        with monkeypatch.context() as patch:
            patch.setattr("dcopt.sums.grams._WHOLE", 0)
            patch.setattr(CsrColumns, "columns", lambda a, m, asked=asked: asked.append(len(m)) or columns(a, m))
            P = dcopt.erm(X, y, "squared", L1(lam=lam))
            res = dcopt.solve(P, "dca-local", tol=1e-8, measure="criticality", passes=500)
        assert res.status.name == exact.status.name == "CONVERGED"
        assert res.certificate.F == pytest.approx(exact.certificate.F, rel=1e-7)
        assert bool(asked) == (lam == 1e-3) and max(asked, default=0) <= 1200


def test_a_rough_metric_goes_on_from_a_state_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Gram matrix of a few of the rows leads to the same end as that of all."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20_000, 90))
    y = X @ np.where(np.arange(90) % 3 == 0, 1.0, 0.0) + rng.normal(size=20_000)
    for r in (L1(lam=1e-3), MCP(lam=1e-3)):

        def fresh(r: Any = r) -> Any:
            return dcopt.erm(X, y, "squared", r)

        settings: dict[str, Any] = {"tol": 1e-7, "measure": "criticality", "x0": np.zeros(90), "seed": 1}
        exact = dcopt.solve(fresh(), "dca-local", **settings)
        with monkeypatch.context() as patch:
            patch.setattr("dcopt.sums.grams._WHOLE", 0)
            rough = dcopt.solve(fresh(), "dca-local", **settings)
            states = list(islice(dcopt.iterate(fresh(), "dca-local", x0=np.zeros(90), seed=1), 5))
            later = list(islice(dcopt.iterate(fresh(), "dca-local", state=states[2], seed=1), 2))
        assert [s.x.tobytes() for s in later] == [s.x.tobytes() for s in states[3:]]
        assert exact.success and rough.success and exact.steps < rough.steps <= 40
        assert rough.certificate.F == pytest.approx(exact.certificate.F, rel=1e-6 if isinstance(r, MCP) else 1e-10)


def test_a_rough_gram_matrix_is_of_so_many_rows_for_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for every caller and in every precision: it is a function of the columns alone."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20_000, 90))
    y = X @ np.where(np.arange(90) % 3 == 0, 1.0, 0.0) + rng.normal(size=20_000)
    monkeypatch.setattr("dcopt.sums.grams._WHOLE", 0)
    for dtype in (np.float64, np.float32):
        f = dcopt.erm(X.astype(dtype), y, "squared", L1(lam=1e-3)).f
        assert isinstance(f, LinearSum) and f.grams is not None
        of_so_many = rough_gram(f.a, None, np.arange(90), 32) * (1.0 / f.n)
        for _ in range(2):
            Q = f.grams.on(np.arange(90))
            assert np.array_equal(Q, of_so_many)
            Q[:] = 0.0
        off = np.abs(of_so_many - X.T @ X / f.n).max()
        assert 1e-3 < off < 0.2


def test_a_flat_valley_has_an_end_and_is_gone_along_to_it() -> None:
    """Near copies, which are singular to rounding: no overflow on the way. With noise of 1e-4: the least squares."""
    rng = np.random.default_rng(5)
    X = np.tile(rng.normal(size=(100, 5)), 8) * (1 + 1e-9 * rng.normal(size=(100, 40)))
    y = rng.normal(size=100)
    for r in (Zero(), MCP(lam=0.05), SCAD(lam=0.05)):
        P = dcopt.erm(X, y, "squared", r, intercept=True)
        values = [P.value(s.x) for s in islice(dcopt.iterate(P, "dca-local", x0=np.zeros(41), seed=0), 20)]
        assert np.all(np.isfinite(values)) and np.all(np.diff(values) <= 1e-12)
    for seed in range(5):
        draw = np.random.default_rng(seed)
        X = 1 + 1e-4 * draw.normal(size=(76, 40))
        y = X[:, :5].sum(axis=1) + 0.1 * draw.normal(size=76)
        P = dcopt.erm(X, y, "squared", Zero())
        tol = 1e-9 * dcopt.measures.criticality(P, np.zeros(40))
        res = dcopt.solve(P, "dca-local", atol=tol, x0=np.zeros(40))
        least = np.linalg.lstsq(X, y, rcond=None)[0]
        assert res.success and res.certificate.F <= 1.001 * P.value(least)


def test_a_shorter_step_by_columns_keeps_the_inequality(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where τQ majorizes f, F(x + d/τ) ≤ F(x) − τ/2 ‖d/τ‖²_Q: f is made steep by scaling Q down, not by trust."""
    monkeypatch.setattr("dcopt.local.costs.DESCENT_PASSES", 5000)
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 150)), rng.normal(size=50)
    P = dcopt.erm(X, y, "squared", L1(lam=0.05))
    x, how = np.where(rng.random(150) < 0.5, 0.0, rng.normal(size=150)), Local()
    program = Program.of(Place.of(P, P.sum, P.sum.look(x)), replace(how, working_set=WorkingSet(most=150)))
    program = replace(program, tol=1e-12)
    Q = column_model(program.here.C, program.columns, how.ridge.share)
    small = replace(Q, **{name: getattr(Q, name) / 8.0 for name in ("weights", "ridge", "h", "mu")})  # τ = 9 is enough
    trials = list(islice(majorized(program, small, how, Draw(0, 0)), 4))
    changes = [P.value(program.moved(trial.step)) - P.value(x) for trial in trials]
    assert changes[0] > 0.0
    for k, (d, fall, _) in enumerate(trials):
        tau = 3.0**k
        np.testing.assert_allclose(d, trials[0].step / tau, rtol=1e-12)
        assert fall == pytest.approx(how.descent.sigma * tau / 2 * small.quad(d))
        assert tau < 9.0 or changes[k] <= -tau / 2 * small.quad(d) * (1 - 1e-9) < 0.0


@pytest.mark.parametrize("n", [1, 3, 4, 7, 30])
def test_full_columns_and_columns_with_a_hole_are_descended_alike(n: int) -> None:
    """A column with an entry in every row is read straight through; one more row, of weight 0, takes the other way."""
    from dcopt.local.models.columns import kernels

    rng, m = np.random.default_rng(n), 12
    A, u, weights = rng.normal(size=(n, m)), rng.normal(size=(m, 1)), rng.uniform(0.1, 1.0, n)
    begin, rows, values = np.arange(m) * n, np.tile(np.arange(n, dtype=np.int32), m), A.T.ravel()
    one, ends = np.ones((m, 1)), []
    for w in (weights, np.append(weights, 0.0)):
        h, v = (A * A).T @ weights + 0.1, np.zeros((m, 1))
        edges = 0.3 * one, 0.0 * one, -np.inf * one, np.inf * one
        kernels().descend_columns(
            begin, begin + n, rows, values, w, h, np.full(m, 0.1), np.zeros((m, 1)), u, v, *edges, 10**4, 1e-13
        )
        ends.append(v[:, 0])
    np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-12)
    off = u[:, 0] - (A.T * weights) @ A @ ends[0] - 0.1 * ends[0]  # u − Qv ∈ ∂r1(v)
    there = ends[0] != 0.0
    np.testing.assert_allclose(off[there], 0.3 * np.sign(ends[0][there]), atol=1e-10)
    assert there.any() and np.all(np.abs(off) <= 0.3 + 1e-10)


def test_a_gram_matrix_of_least_squares_is_kept_while_its_columns_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked for again, is right with weights, and no caller can write into it."""
    from dcopt.data.dense import DenseRows

    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(300, 120)), rng.uniform(0.5, 1.5, 300)
    P = dcopt.erm(X, X[:, :30] @ rng.normal(size=30) + rng.normal(size=300), "squared", MCP(lam=0.05), sample_weight=w)
    asked: list[int] = []
    gram = DenseRows.gram
    monkeypatch.setattr(DenseRows, "gram", lambda a, w, columns: asked.append(len(columns)) or gram(a, w, columns))
    res = dcopt.solve(P, "dca-local", tol=1e-9, measure="criticality", x0=np.zeros(120))
    assert res.status.name == "CONVERGED" and len(asked) <= res.steps
    asked.clear()
    some = np.array([3, 41, 50, 68, 119])
    want = (X[:, some].T * P.f.weights) @ X[:, some] / 300
    for _ in range(2):
        Q = P.f.grams.on(some)
        np.testing.assert_allclose(Q, want, rtol=1e-10)
        Q[:] = 0.0
    assert asked == [5]


def test_least_squares_go_on_from_a_checkpoint_to_the_same_bits(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 300))
    y = X[:, :40] @ rng.normal(size=40) + rng.normal(size=400)

    def P() -> dcopt.Problem:
        return dcopt.erm(X, y, "squared", MCP(lam=0.1))

    whole = dcopt.solve(P(), "dca-local", steps=8, seed=0)
    dcopt.solve(P(), "dca-local", steps=3, seed=0, checkpoint=tmp_path / "run")
    assert np.array_equal(dcopt.resume(tmp_path / "run", P(), steps=8).x, whole.x)


def test_eight_threads_share_the_gram_matrices_of_a_problem() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 60))
    P = dcopt.erm(X, rng.normal(size=200), "squared", L1(lam=0.01))
    sets = [np.sort(rng.permutation(60)[: 5 + k % 40]) for k in range(240)]
    with ThreadPoolExecutor(8) as pool:
        for some, Q in zip(sets, pool.map(P.f.grams.on, sets), strict=True):
            np.testing.assert_allclose(Q, X[:, some].T @ X[:, some] / 200, rtol=1e-10)


def test_runs_on_one_problem_do_not_see_each_other() -> None:
    """What a run knows of x is in its State: another one that looks elsewhere between two steps changes nothing."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 30))
    P = dcopt.erm(X, np.where(X[:, 0] + rng.normal(size=400) > 0, 1, -1), "squared-sigmoid", MCP(lam=0.01))
    x0, elsewhere = rng.normal(size=30), rng.normal(size=30)

    def run(meanwhile: Any) -> Any:
        settings: Any = {"x0": x0, "tol": 1e-9, "measure": "criticality", "trace": 1e-9}
        res = dcopt.solve(P, "dca-local", callbacks=[meanwhile], **settings)
        return res.x.tobytes(), res.spent, [(line.t, line.F, line.measure) for line in res.trace.records]

    def looks_elsewhere(state: Any) -> None:
        P.sum.look(elsewhere)
        dcopt.solve(P, "dca-local", x0=elsewhere, steps=1)

    def another_does(state: Any) -> None:
        thread = Thread(target=looks_elsewhere, args=(state,))
        thread.start()
        thread.join()

    alone = run(lambda state: None)
    assert run(another_does) == alone and run(looks_elsewhere) == alone


def test_settling_takes_the_step_that_squares_what_is_left(tmp_path: Any) -> None:
    """tol is where solve ends by itself; with settle it goes on as long as steps pay."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    P = dcopt.erm(X, np.where(X[:, 0] + rng.normal(size=200) > 0, 1, -1), "logistic", "zero")
    settings: Any = {"atol": 1e-3}
    ends = [dcopt.solve(P, "dca-local", stop=s, **settings) for s in (None, dcopt.stop.Settle())]
    assert all(r.status.name == "CONVERGED" and r.certificate.tol == 1e-3 for r in ends)
    assert ends[0].steps < ends[1].steps
    assert ends[1].certificate.value < 1e-2 * ends[0].certificate.value
    path = tmp_path / "run"
    cut = dcopt.solve(P, "dca-local", stop=dcopt.stop.Settle(), checkpoint=path, steps=2, seed=0, **settings)
    assert cut.steps == 2
    assert dcopt.resume(path, P, steps=100).x.tobytes() == ends[1].x.tobytes()
    assert dcopt.solve(P, "dca-local", stop=dcopt.stop.Settle(), passes=1, x0=np.zeros(10)).status.name == "BUDGET"


def test_a_check_in_float32_is_paid_for() -> None:
    """A certificate is of float64: what a method has seen in float32 is not it."""
    X, y = data()
    spent = []
    for dtype in (np.float64, np.float32):
        P = dcopt.erm(X.astype(dtype), y, "logistic", L1(lam=0.01))
        res = dcopt.solve(P, "dca-local", tol=1e-4, measure="criticality", x0=np.zeros(12), trace=None)
        assert res.status.name == "CONVERGED"
        spent.append(res.spent.checks)
    assert spent[0] == P.n < spent[1]  # the certificate alone; and the checks before it


def test_dense_columns_come_in_sets_and_a_lasso_of_small_lambda_ends() -> None:
    """Their Gram matrix must not cost much more than a pass, so that new columns come 128 at once."""
    rng, d = np.random.default_rng(0), 400
    X = rng.normal(size=(8000, d))
    y = X @ rng.normal(size=d) + rng.normal(size=8000)
    P = dcopt.erm(X, y, "squared", L1(lam=1e-3))
    assert P.f.grams is not None and not P.f.grams.exact
    here = Place.of(P, P.f, P.f.look(np.zeros(d)))
    assert len(working_set(here.C, WorkingSet(), here.support, here.row_distance)) == 128
    res = dcopt.solve(P, "dca-local", tol=1e-6, measure="criticality")
    assert res.status.name == "CONVERGED" and res.steps <= 12


def test_of_columns_that_are_alike_the_first_are_taken() -> None:
    """Ties at the cut are broken by number: the same columns on every machine."""
    X = np.ones((300, 400))
    P = dcopt.erm(X, np.where(np.arange(300) % 3, 1, -1), "logistic", MCP(lam=0.01))
    off = np.full(400, 0.5)
    off[[7, 399]] = 1.0
    C = P.sum.curvature(P.sum.look(np.zeros(400)))
    taken = working_set(C, WorkingSet(), np.zeros(400, np.bool_), off)
    assert taken.tolist() == [*range(127), 399]


def test_a_solved_problem_is_pickled_without_what_it_remembers(tmp_path: Any) -> None:
    """Another process solves it to the same bits; nothing but the data is written."""
    X = random(4000, 90, density=0.9, format="csr", random_state=0)
    y = np.where(np.random.default_rng(0).random(4000) < 0.5, 1.0, -1.0)
    P = dcopt.erm(X, y, "logistic", MCP(lam=0.001), intercept=True)
    size = len(pickle.dumps(P))
    want = [dcopt.solve(P, m, passes=5, seed=0).x.tobytes() for m in ("dca-page", "dca-local")]
    text = pickle.dumps(P)
    assert len(text) < size + 1000 < 1.1 * (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes)
    (tmp_path / "P").write_bytes(text)
    code = f"""if True:
        import dcopt, pickle
        P = pickle.load(open({str(tmp_path / "P")!r}, "rb"))
        x = [dcopt.solve(P, m, passes=5, seed=0).x.tobytes() for m in ("dca-page", "dca-local")]
        pickle.dump(x, open({str(tmp_path / "x")!r}, "wb"))
    """
    subprocess.run([sys.executable, "-c", code], check=True)
    assert pickle.loads((tmp_path / "x").read_bytes()) == want
    assert [dcopt.solve(copy.deepcopy(P), "dca-local", passes=5, seed=0).x.tobytes()] == want[1:]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("degree, lam", [(12, 1e-3), (12, 1e-6), ("ones", 1e-6)])
def test_least_squares_of_nearly_dependent_columns(degree: Any, lam: float, sparse: bool) -> None:
    """Powers of t, and ones with a millionth of noise: steps go along the valley."""
    rng, t = np.random.default_rng(1), np.linspace(0, 1, 400)[:, None]
    A = 1 + 1e-5 * rng.normal(size=(400, 30)) if degree == "ones" else t ** np.arange(degree)
    y = A[:, :5].sum(axis=1) + 0.1 * rng.normal(size=400)
    P = dcopt.erm(csr_array(A) if sparse else A, y, "squared", L1(lam=lam))
    res = dcopt.solve(P, "auto", atol=1e-7, passes=100)
    assert res.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-7
    assert res.steps <= 20  # along the valley, not against it


def test_an_indefinite_curvature_by_columns_is_left_out() -> None:
    """Correlated columns and MCP: the diagonal of ∇²F is positive, ∇²F is not. No overflow throws x to 0."""
    rng = np.random.default_rng(0)
    X = 0.95 * rng.normal(size=(40, 1)) + 0.3 * rng.normal(size=(40, 400))
    y = np.sign(rng.normal(size=40))
    P = dcopt.erm(X, y, "logistic", MCP(lam=0.1, gamma=3.0))
    x = 0.05 * np.ones(400)
    states = list(islice(dcopt.iterate(P, "dca-local", x0=x, seed=0), 5))
    values = [P.value(x), *(P.value(s.x) for s in states)]
    assert np.all(np.diff(values) <= 1e-12) and np.abs(states[0].x).max() < 100.0 and np.any(states[0].x != 0.0)


@pytest.mark.parametrize("loss", ["sigmoid", "smoothed-ramp"])
def test_a_loss_that_is_flat_at_zero_is_left_from_there(loss: str) -> None:
    """φ''(0) = 0: neither a start at 10¹¹ nor an end at 0."""
    X, y = data(400, 5)
    P = dcopt.erm(X, y, loss, MCP(lam=0.01))
    for x0 in (None, np.zeros(5)):
        res = dcopt.solve(P, "auto", tol=1e-6, measure="criticality", passes=200, seed=0, x0=x0)
        assert res.status.name == "CONVERGED" and 0.0 < np.abs(res.x).max() < 1e4
        assert res.certificate.F < P.value(np.zeros(5)) - 0.05


def test_a_step_to_a_bound_ends_on_it() -> None:
    from dcopt.regularizers import Box

    X, y = data(300, 12)
    P = dcopt.erm(X, y, "logistic", Box(-0.7, 0.3))
    for seed in range(5):
        x0 = np.random.default_rng(seed).uniform(-0.7, 0.3, 12)
        for state in islice(dcopt.iterate(P, "dca-local", x0=x0, seed=0), 3):
            assert np.all((state.x >= -0.7) & (state.x <= 0.3)) and state.spent.gradients <= 300 * (state.t + 1)
