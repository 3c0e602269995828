"""The deterministic references and the stochastic-inner-solver family against plain re-implementations."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import dcopt
from dcopt.estimators import Extrapolated, Full
from dcopt.regularizers import MCP, Exponential


def convex_problem() -> dcopt.Problem:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 10))
    y = np.where(X @ rng.normal(size=10) > 0, 1, -1)
    return dcopt.erm(X, y, "logistic", MCP(lam=0.05, gamma=3.0))


def test_restarted_at_every_step_it_is_dca() -> None:
    P = convex_problem()
    for one, two in islice(zip(dcopt.iterate(P, Extrapolated(period=1)), dcopt.iterate(P, Full()), strict=True), 50):
        np.testing.assert_allclose(one.x, two.x, atol=1e-13)


def test_pdcae_is_the_textbook_recursion() -> None:
    P = convex_problem()
    f, r, L = P.sum.all(), P.r, P.G.L
    x = prev = np.zeros(10)
    u = x
    before = theta = 1.0
    gradients = 0
    for state in islice(dcopt.iterate(P, "pdcae"), 120):
        if np.sum((u - x) * (x - prev)) > 0:
            before = theta = 1.0
        u = x + (before - 1) / theta * (x - prev)
        before, theta = theta, (1 + np.sqrt(1 + 4 * theta**2)) / 2
        v = u - (f.grad(u) - r.subgrad(x)) / L
        prev, x = x, np.sign(v) * np.maximum(np.abs(v) - 0.05 / L, 0.0)
        gradients += 80
        np.testing.assert_allclose(state.x, x, atol=1e-12)
        assert state.spent.gradients == gradients


def test_pdcae_is_faster_than_dca_where_it_may_be_used() -> None:
    P = convex_problem()
    slow, fast = (dcopt.solve(P, m, passes=150).certificate.value for m in ("dca", "pdcae"))
    assert fast < 0.1 * slow


@pytest.mark.parametrize("loss", ["squared-sigmoid", "sigmoid"])
def test_pdcae_refuses_a_nonconvex_f(loss: str) -> None:
    with pytest.raises(dcopt.CannotSolve, match="convex"):
        dcopt.solve(dcopt.erm(np.eye(3), [0, 1, 0], loss), "pdcae")


def test_boosting_never_loses_against_the_step_it_boosts() -> None:
    """F(x_{t+1}) ≤ F(the DCA step from x_t) ≤ F(x_t), and on most steps the search gains."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 6)) * np.geomspace(1, 8, 6)
    P = dcopt.erm(X, X @ rng.normal(size=6) > 0, "squared-sigmoid", Exponential(lam=1e-3, alpha=5.0))
    gained, x = 0, np.zeros(6)
    spent = 0
    for state in islice(dcopt.iterate(P, "bdca"), 40):
        step = next(iter(dcopt.iterate(P, "dca", x0=x))).x
        assert P.value(state.x) <= P.value(step) + 1e-14 <= P.value(x) + 2e-14
        gained += P.value(state.x) < P.value(step)
        x = np.array(state.x)
        assert state.spent.gradients >= spent + 3 * 100  # the gradient, F at the step, at least one trial
        spent = state.spent.gradients
    assert gained > 20


@pytest.mark.parametrize("method", ["ssdc-spg", "ssdc-svrg"])
def test_ssdc_reaches_what_dca_reaches(method: str) -> None:
    """On a problem with one critical point (convex and regularised), from a budget of passes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = X @ rng.normal(size=5) + 0.1 * rng.normal(size=200)
    P = dcopt.erm(X, y, "squared", dcopt.regularizers.ElasticNet(lam=0.1, mu=0.5))
    exact = dcopt.solve(P, "dca", tol=1e-12).x
    result = dcopt.solve(P, method, passes=600, seed=0)
    room = {"ssdc-spg": 0.02, "ssdc-svrg": 1e-5}[method]
    assert np.linalg.norm(result.x - exact) <= room * np.linalg.norm(exact)
    again = dcopt.solve(P, method, passes=600, seed=0)
    assert np.array_equal(result.x, again.x)


def test_table_methods_work_on_given_h() -> None:
    """DCA-SAGA and SDCA on problem (M): the table holds ∇h_i, and in form (S) the same algorithm results."""
    from dcopt.convex import ScaledIdentity
    from dcopt.estimators import SAG, SAGA
    from dcopt.sums import SumBase

    P = convex_problem().with_kappa(3.0)

    class H(SumBase):
        """h_i = κ/2 ‖x‖² − f_i through its gradients alone."""

        n, shape, dtype = 80, (10,), np.dtype(float)

        def all(self):  # type: ignore[no-untyped-def]
            return Some(np.arange(80))

        def sample(self, b, draw, sampling="iid"):  # type: ignore[no-untyped-def]
            return Some(draw.rows(80, b, sampling))

    class Some:
        def __init__(self, rows: np.ndarray) -> None:
            self.rows, self.size = rows, len(rows)

        def slopes(self, x: np.ndarray) -> np.ndarray:
            return np.stack([3.0 * x - P.sum.take([i]).all().grad(x) for i in self.rows])  # type: ignore[attr-defined]

        def pull(self, c: np.ndarray) -> np.ndarray:
            return c.mean(axis=0)

    M = dcopt.Problem(ScaledIdentity(3.0), H(), P.r)  # type: ignore[arg-type]
    for kind in (SAGA, SAG):
        given = dcopt.iterate(M, kind(b=8), seed=1)
        inside = dcopt.iterate(P, kind(b=8, quadratic="inside"), seed=1)
        for one, two in islice(zip(given, inside, strict=True), 30):
            np.testing.assert_allclose(one.x, two.x, atol=1e-11)
