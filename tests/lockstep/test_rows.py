"""Penalties over rows, one for all classes of a column: the program, its model of r, and what softmax does not see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine

import dcopt
from dcopt.data.check import as_rows
from dcopt.local import costs
from dcopt.local.models import DenseModel, SoftmaxColumnModel, dense_model, model
from dcopt.local.program import PenaltyOnWorkingSet
from dcopt.regularizers import L1, MCP, SCAD, ElasticNet, Except, Exponential, Regularizer
from dcopt.subproblems.eliminated import Eliminated
from dcopt.subproblems.newton import newton_rows
from dcopt.subproblems.parts import Parts, lengths, parts
from dcopt.subproblems.quadratic import distances

CONCAVE = [MCP(lam=0.3, groups="rows"), SCAD(lam=0.2, groups="rows"), Exponential(lam=0.1, alpha=5.0, groups="rows")]


def program(d: int, k: int, seed: int, free: int = 0) -> tuple[Any, Any, Any, Parts]:
    """½⟨v − x, Q (v − x)⟩ − ⟨u, v⟩ + Σ c_j |v_j| + m_j/2 |v_j|², with some rows that r1 leaves alone"""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * d, d * k)) @ np.diag(np.logspace(0, -1, d * k))
    c, m = rng.choice([0.02, 0.2], d), rng.choice([0.0, 0.1], d)
    c[d - free :] = m[d - free :] = 0.0
    wide = [np.repeat(a, k).reshape(d, k) for a in (c, m, np.full(d, -np.inf), np.full(d, np.inf))]
    x = rng.normal(size=(d, k)) * (rng.random((d, 1)) < 0.6)
    return A.T @ A / (3 * d) + 1e-6 * np.eye(d * k), x, rng.normal(size=(d, k)), Parts(*wide, True)


def value(Q: Any, x: Any, u: Any, p: Parts, v: Any) -> float:
    step = (v - x).ravel()
    return float(0.5 * step @ Q @ step - np.sum(u * v) + p.c[:, 0] @ lengths(v) + 0.5 * np.sum(p.m * v * v))


@pytest.mark.parametrize("free", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_program_over_rows_is_solved(seed: int, free: int) -> None:
    """Against a conic solver; rows that r1 leaves alone are eliminated, or not, to the same end."""
    cp = pytest.importorskip("cvxpy")
    Q, x, u, p = program(5, 3, seed, free)
    y = cp.Variable((5, 3))
    flat = cp.reshape(y - x, (15,), order="C")
    half = 0.5 * cp.sum_squares(np.linalg.cholesky(Q).T @ flat) + 0.5 * cp.sum(cp.multiply(p.m, cp.square(y)))
    norms = cp.sum(cp.multiply(p.c[:, 0], cp.norm(y, axis=1)))
    cp.Problem(cp.Minimize(half - cp.sum(cp.multiply(u, y)) + norms)).solve()
    less = Eliminated.of(Q, p)
    assert (less is None) == (free == 0)
    for way in (None, less):
        v = DenseModel(Q, np.zeros(15), ridge_coordinates=way).minimize(x, u, p, 1e-10)
        off = distances(u - (Q @ (v - x).ravel()).reshape(5, 3), v, p)
        assert np.linalg.norm(off) <= 1e-9
        assert value(Q, x, u, p, v) == pytest.approx(value(Q, x, u, p, y.value), rel=1e-6, abs=1e-7)


def test_newton_never_raises_the_program_and_ends_where_descent_crawls() -> None:
    for seed in range(20):
        Q, x, u, p = program(6, 3, seed, seed % 2)
        v, b = x, (Q @ x.ravel()).reshape(x.shape) + u
        values = [value(Q, x, u, p, v)]
        for _ in range(30):
            v = newton_rows(Q, b, v, p, 1e-12, 1)
            values.append(value(Q, x, u, p, v))
        assert np.all(np.diff(values) <= 1e-14 * np.abs(values).max())
        rows = (lengths(v) > 0.0) | (p.c[:, 0] == 0.0)
        assert np.linalg.norm(distances(b - (Q @ v.ravel()).reshape(v.shape), v, p)[rows]) <= 1e-7


@pytest.mark.parametrize("r", CONCAVE, ids=lambda r: type(r).__name__)
def test_the_model_of_rows_is_above_r_and_of_second_order(r: Any) -> None:
    """r(v) ≤ r(x) + Σ (c − |w_j|)(|v_j| − |x_j|) ≤ what DCA takes, with the norms' curvature off by a cube."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 3)) * 0.3
    p = parts(r, x.shape)
    own, w = PenaltyOnWorkingSet(r, x, np.arange(6), p, x.shape), r.subgrad(x)
    slope = p.c[:, 0] - lengths(w)
    for _ in range(200):
        v = x + rng.normal(size=x.shape) * rng.choice([0.01, 0.1, 1.0])
        mine = r.value(x) + slope @ (lengths(v) - lengths(x))
        assert r.value(v) <= mine + 1e-12
        assert mine <= p.c[:, 0] @ lengths(v) + (r.value(x) - p.c[:, 0] @ lengths(x)) - np.sum(w * (v - x)) + 1e-12
    bend, way = own.r2_bend(x), rng.normal(size=x.shape)
    assert bend is not None
    Q = 10.0 * np.eye(18)
    E = Q - DenseModel(Q, np.zeros(18)).minus_penalty_curvature(bend, x, (1.0,)).Q

    def off(t: float) -> float:
        v, s = x + t * way, t * way.ravel()
        return r.value(v) - r.value(x) - slope @ (lengths(v) - lengths(x)) + 0.5 * s @ E @ s

    first, second = off(2e-3), off(1e-3)
    assert abs(first) <= 1e-5 and 6.0 <= first / second <= 10.0  # 2³; a missing second order would make it 4


def test_rows_that_share_one_metric_are_not_bent() -> None:
    Q = DenseModel(np.eye(4), np.zeros(4))
    assert Q.minus_penalty_curvature(np.ones(4), np.ones((4, 3)), (1.0, 0.5)) is None


@pytest.mark.parametrize("r", CONCAVE, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("load", [load_iris, load_wine], ids=["iris", "wine"])
def test_concave_penalties_over_rows_end_with_newtons_steps(load: Any, r: Any) -> None:
    """(By DCA's steps in the curvature alone it took hundreds, on wine's columns of many scales up to a thousand.)"""
    X, y = load(return_X_y=True)
    P = dcopt.erm(X, y, "softmax", r, intercept=True)
    res = dcopt.solve(P, "dca-local", tol=1e-7, measure="criticality", passes=100, x0=np.zeros(P.shape))
    assert res.status.name == "CONVERGED" and res.steps <= 45


@pytest.mark.parametrize("groups", [None, "rows"])
@pytest.mark.parametrize("r", [L1, MCP], ids=["l1", "mcp"])
def test_columns_far_from_zero_are_no_harder_for_several_classes(r: Any, groups: Any) -> None:
    """Their intercepts take up what the means add; all together they are not seen, and rounding does not move them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.argmax(X[:, :3] + rng.gumbel(size=(300, 3)), axis=1)
    found = []
    for shift in (0.0, 1e2, 1e4):
        P = dcopt.erm(X + shift, y, "softmax", r(lam=0.03, groups=groups), intercept=True)
        found.append(dcopt.solve(P, "dca-local", tol=1e-4, measure="criticality", passes=60, x0=np.zeros(P.shape)))
    near, *far = found
    for res in far:
        assert res.status.name == "CONVERGED" and res.steps <= near.steps + 6
        assert res.certificate.F == pytest.approx(near.certificate.F, rel=1e-6)
        assert abs(res.x[-1].sum()) <= 1e-9 * np.abs(res.x[-1]).max()


@pytest.mark.parametrize("r", [L1(lam=0.02, groups="rows"), MCP(lam=0.1, groups="rows"), ElasticNet(lam=0.02, mu=0.1)])
def test_what_the_classes_have_in_common_is_given_up(r: Regularizer) -> None:
    """f does not see a mean over the classes, and r is not less with it: a start that has one ends without it.

    Where r is a sum over entries (the elastic net's) only the intercepts may do so, and only they do.
    """
    X, y = load_iris(return_X_y=True)
    P = dcopt.erm(X, y, "softmax", r, intercept=True)
    rng = np.random.default_rng(3)
    x0 = rng.normal(size=P.shape) + rng.normal(size=(5, 1))
    res = dcopt.solve(P, "dca-local", tol=1e-5, measure="criticality", x0=x0)
    assert res.success
    means = np.abs(res.x.mean(axis=1))
    assert means[-1] <= 1e-12 * np.abs(res.x).max()
    rows = parts(P.r, P.shape).rows
    assert np.all(means <= 1e-12 * np.abs(res.x).max()) == rows


def test_no_class_has_a_ridge_of_its_own() -> None:
    """μ is the same for all classes of a row, so that a step of a gradient that sums to 0 over them does so too."""
    X, y = load_wine(return_X_y=True)
    P: Any = dcopt.erm(X, y, "softmax", L1(lam=0.01, groups="rows"))
    x = 1e-3 * np.random.default_rng(0).normal(size=P.shape)
    C, columns, p = P.f.curvature(P.f.look(x)), np.arange(13), parts(P.r, P.shape)
    one, none = dense_model(C, columns, p, 1e-2), dense_model(C, columns, p, 0.0)
    mu = np.diagonal(one.Q - none.Q).reshape(13, 3)
    np.testing.assert_allclose(mu, np.repeat(one.mu.reshape(13, 3)[:, :1], 3, axis=1), rtol=1e-4)
    np.testing.assert_allclose(mu.mean(axis=1), 1e-2 * np.diagonal(none.Q).reshape(13, 3).mean(axis=1), rtol=1e-3)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "huber"])
def test_columns_of_any_scale_are_no_harder(loss: str, intercept: bool) -> None:
    """A D with the weights of D has the solution D⁻¹x of A, in about as many steps: so does the ridge."""
    rng = np.random.default_rng(1)
    X, scale = rng.normal(size=(250, 15)), np.logspace(-3, 3, 15)
    z = 2.0 * X[:, :4].sum(axis=1) + rng.logistic(size=250)
    y = z if loss == "huber" else np.where(z > 0.0, 1.0, -1.0) if loss == "logistic" else np.digitize(z, [-2.0, 2.0])
    c = np.full(15, 0.01)
    runs = []
    for A, weights in ((X, c), (X * scale, c * scale)):
        groups = "rows" if loss == "softmax" else None
        P = dcopt.erm(A, y, loss, L1(lam=1.0, weights=weights, groups=groups), intercept=intercept)
        settings: dict[str, Any] = {"passes": 25, "x0": np.zeros(P.shape), "trace": 1}
        runs.append([record.F for record in dcopt.solve(P, "dca-local", **settings).trace])
    best = min(map(min, runs))
    steps = [next(t for t, F in enumerate(run) if F <= best + 1e-8 * abs(best)) for run in runs]
    assert steps[1] <= steps[0] + 6


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("shift", [1e2, 1e4])
def test_unpenalised_features_far_from_zero_are_no_harder(loss: str, shift: float) -> None:
    """They and the intercept are eliminated one after the other: what is left of each has its digits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=200) > 0.0, 1, -1)
    if loss == "softmax":
        y = np.argmax(X @ rng.normal(size=(6, 3)) + rng.gumbel(size=(200, 3)), axis=1)
    r = L1(lam=0.01, weights=np.r_[0.0, np.ones(5)])
    ends = []
    for A in (X, X + shift):
        P = dcopt.erm(A, y, loss, r, intercept=True)
        res = dcopt.solve(P, "dca-local", atol=1e-5, passes=30)
        assert res.status.name == "CONVERGED"
        ends.append(res.certificate.F)
    assert ends[1] == pytest.approx(ends[0], rel=1e-7)


@pytest.mark.parametrize("groups", [None, "rows"])
def test_a_start_where_softmax_is_flat_is_left(groups: Any) -> None:
    """All curvature there is 1e-90 or rounding: the ridge is of what it may be at most, column by column."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 10))
    y = np.argmax(X @ rng.normal(size=(10, 4)) + rng.gumbel(size=(200, 4)), axis=1)
    P = dcopt.erm(X, y, "softmax", L1(lam=0.02, groups=groups), intercept=True)
    for seed in range(3):
        x0 = 1e3 * np.random.default_rng(seed).normal(size=P.shape)
        res = dcopt.solve(P, "dca-local", tol=1e-4, measure="criticality", passes=600, x0=x0)
        assert res.status.name == "CONVERGED"


def test_one_large_column_does_not_hold_small_ones_back() -> None:
    """1e14 times larger in square, and not penalised: the others still have a ridge of their own."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 6)) * np.logspace(-2, 2, 6)
    y = np.where(X @ (1.0 / np.logspace(-2, 2, 6)) + rng.logistic(size=200) > 0.0, 1, -1)
    A = np.column_stack((2e5 + 1e3 * rng.normal(size=200), X))
    P = dcopt.erm(csr_array(A), y, "logistic", L1(lam=1e-4, weights=np.r_[0.0, np.ones(6)]))
    res = dcopt.solve(P, "dca-local", tol=1e-6, measure="criticality", passes=60)
    assert res.status.name == "CONVERGED"


def test_an_intercept_is_left_out_of_every_program_or_of_none() -> None:
    """Which rows are eliminated is decided by r1 and not by a slope c − |w_j| that rounding makes 0 or 1e-17."""
    Q, x, u, p = program(4, 3, 0, 1)
    few = p._replace(c=np.where(np.arange(4)[:, None] == 1, 0.0, p.c), m=np.zeros((4, 3)))
    metric = DenseModel(Q, np.zeros(12), ridge_coordinates=Eliminated.of(Q, p))
    a = metric.minimize(x, u, few, 1e-3)
    b = metric.minimize(x, u, few._replace(c=np.maximum(few.c, 1e-17 * (few.c == 0.0) * (p.c > 0.0))), 1e-3)
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse", "intercept"])
@pytest.mark.parametrize("r", [L1(lam=0.02, groups="rows"), L1(lam=0.02), MCP(lam=0.2, groups="rows")])
def test_classes_by_columns_are_those_of_the_matrix(r: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same metric, bent or not, and the same program, with nothing of the size of Q."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 9)) * (rng.random((120, 9)) < 0.5)
    y = np.argmax(X[:, :4] + rng.gumbel(size=(120, 4)), axis=1)
    A, weights = X if kind == "dense" else csr_array(X), rng.uniform(0.5, 2.0, 120)
    P: Any = dcopt.erm(A, y, "softmax", r, intercept=kind == "intercept", sample_weight=weights)
    x = 0.3 * rng.normal(size=P.shape) * (rng.random((P.shape[0], 1)) < 0.6)
    C, columns, p = P.f.curvature(P.f.look(x)), np.arange(P.shape[0]), parts(P.r, P.shape)
    assert isinstance(model(C, columns, p, 1e-2, 1e-2, False), DenseModel)
    monkeypatch.setattr(costs, "BLOCK_ROWS", 10)
    columns_of = model(C, columns, p, 1e-2, 1e-2, False)
    assert isinstance(columns_of, SoftmaxColumnModel)
    monkeypatch.undo()
    whole = dense_model(C, columns, p, 0.0)
    own = np.kron(np.diag(columns_of.mu), np.eye(4))  # the ridges differ
    u = -np.asarray(P.f.all().grad(x))
    bends = None if r.L2 == 0.0 else PenaltyOnWorkingSet(P.r, x, columns, p, x.shape).r2_bend(x)
    metric: Any = columns_of
    full = DenseModel(whole.Q + own, np.zeros(len(own)))
    if bends is not None:
        metric, full = (m.minus_penalty_curvature(0.01 * bends, x, (1.0,)) for m in (metric, full))
        assert metric is not columns_of
    step = rng.normal(size=x.shape)
    if kind == "intercept":
        step -= step.mean(axis=1, keepdims=True)  # along the others f is flat, and the matrix holds the intercepts
    assert metric.quad(step) == pytest.approx(full.quad(step), rel=1e-9)
    assert columns_of.ridge_quad(step) == pytest.approx(float(step.ravel() @ own @ step.ravel()))
    monkeypatch.setattr("dcopt.local.costs.DESCENT_PASSES", 10**5)
    one, two = metric.minimize(x, u, p, 1e-12), full.minimize(x, u, p, 1e-12)
    np.testing.assert_allclose(one, two, atol=1e-6)
    assert np.any(one != x)


@pytest.mark.parametrize("groups", [None, "rows"])
@pytest.mark.parametrize("r", [L1, MCP, SCAD], ids=["l1", "mcp", "scad"])
def test_many_classes_end_by_columns_where_the_matrix_ends(
    r: Any, groups: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    P = dcopt.erm(X, y, "softmax", r(lam=0.05, groups=groups), intercept=True)
    ends = []
    for most in (2048, 10):
        monkeypatch.setattr(costs, "BLOCK_ROWS", most)
        res = dcopt.solve(P, "dca-local", atol=1e-6, passes=400, x0=np.zeros(P.shape))
        assert res.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-6
        ends.append(res.certificate.F)
    assert ends[1] == pytest.approx(ends[0], rel=1e-6) if r is L1 else 0.5 < ends[1] / ends[0] < 1.5


def test_columns_far_from_zero_are_not_descended_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """There one metric for all classes, from which the intercepts are eliminated, is better than the right one."""
    X, y = load_iris(return_X_y=True)
    for A, near in ((X - X.mean(axis=0), True), (X, False)):
        P: Any = dcopt.erm(A, y, "softmax", L1(lam=0.01, groups="rows"), intercept=True)
        monkeypatch.setattr(costs, "BLOCK_ROWS", 10)
        C = P.f.curvature(P.f.look(np.zeros(P.shape)))
        found = model(C, np.arange(5), parts(P.r, P.shape), 1e-2, 1e-2, False)
        assert isinstance(found, SoftmaxColumnModel) == near


class Hidden:
    """A row matrix of one's own: no columns, no entries to be seen."""

    def __init__(self, a: Any) -> None:
        self._a, self.shape, self.dtype = a, a.shape, a.dtype

    def __getattr__(self, name: str) -> Any:
        if name not in ("dot", "tdot", "norms2"):
            raise AttributeError(name)
        return getattr(self._a, name)

    def take(self, rows: Any) -> Hidden:
        return Hidden(self._a.take(rows))


@pytest.mark.parametrize("k", [2, 60])
def test_a_row_matrix_of_ones_own_needs_no_columns(k: int) -> None:
    """Also with an intercept, and with so many classes that others go by columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(350, 45))
    y = np.argmax(X[:, :k] if k == 2 else X @ rng.normal(size=(45, k)), axis=1)
    y[:k] = np.arange(k)
    ends = []
    for a in (Hidden(as_rows(X)), X):
        P = dcopt.erm(a, y, "logistic" if k == 2 else "softmax", L1(lam=0.01), intercept=True)
        ends.append(dcopt.solve(P, "dca-local", passes=40, x0=np.zeros(P.shape)).certificate.F)
    assert ends[0] == pytest.approx(ends[1], rel=1e-6 if k == 2 else 0.1)


def test_except_is_radial_too() -> None:
    from dcopt.subproblems.parts import radial

    assert radial(Except(MCP(lam=0.1, groups="rows"))) and not radial(MCP(lam=0.1))
