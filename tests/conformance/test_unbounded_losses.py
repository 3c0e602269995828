"""Losses whose curvature has no bound: dca-local and an adaptive κ solve them, and all else refuses them by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small import Verbs

import dcopt
from dcopt.convex import UnknownScale, majorizing_diagonal, majorizing_gram
from dcopt.errors import BadInput, CannotSolve
from dcopt.regularizers import L1, MCP, Zero
from dcopt.status import Status

LOSSES = ("poisson", "gamma", "negative-binomial")
LOCAL = ("dca-local", "dca-nested")


def data(loss: str, n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    mu = np.exp(X @ np.array([0.5, -0.3, 0.0, 0.0, 0.2, 0.0]) + 1.0)
    return X, rng.gamma(2.0, mu / 2.0) if loss == "gamma" else rng.poisson(mu).astype(float)


def problem(loss: str, r: Any = "zero", **more: Any) -> dcopt.Problem:
    return dcopt.erm(*data(loss), loss, r, intercept=True, **more)


@pytest.mark.parametrize("method", sorted(set(dcopt.METHODS) - set(LOCAL)))
def test_methods_that_need_L_refuse_by_name(method: str) -> None:
    with pytest.raises(CannotSolve, match=rf"^{method} .*curvature of the loss Poisson has no bound.*'dca-local'"):
        dcopt.solve(problem("poisson"), method, seed=0)


@pytest.mark.parametrize("decomposition", ["gram", "diagonal", "local"])
def test_metrics_that_majorize_refuse(decomposition: str) -> None:
    with pytest.raises(CannotSolve, match="Gamma has no bound"):
        problem("gamma", decomposition=decomposition)
    f = problem("gamma").f
    for make in (majorizing_gram, majorizing_diagonal):
        with pytest.raises(CannotSolve, match="no bound"):
            make(f)  # type: ignore[operator]


def test_a_penalty_that_the_local_method_cannot_take_is_sent_to_the_adaptive_kappa() -> None:
    P = problem("poisson", L1(lam=0.05, groups=((0, 1, 2), (3, 4, 5))))
    with pytest.raises(CannotSolve, match="adaptive"):
        dcopt.solve(P, seed=0)
    assert dcopt.solve(P, "dca", kappa="adaptive", seed=0, tol=1e-5, passes=3000).status is Status.CONVERGED


def test_streams_refuse() -> None:
    X, y = data("poisson")
    with pytest.raises(CannotSolve, match="a stream .*Poisson"):
        dcopt.stream([(X, y)], "poisson", holdout=100)
    with pytest.raises(CannotSolve, match="partial_fit .*Poisson"):
        dcopt.DCRegressor(loss="poisson", holdout=100).partial_fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", ["auto", *LOCAL])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_local_method_certifies(loss: str, method: str, form: Any) -> None:
    X, y = data(loss)
    P = dcopt.erm(form(X), y, loss, MCP(lam=0.05, gamma=3.0), intercept=True)
    assert isinstance(P.G, UnknownScale)
    result = dcopt.solve(P, method, seed=0, tol=1e-9)
    assert result.status is Status.CONVERGED
    x, h = result.x, 1e-6
    up = np.array([(P.sum.look(x + h * e).f - P.sum.look(x - h * e).f) / (2 * h) for e in np.eye(7)])
    np.testing.assert_allclose(P.sum.look(x).grad, up, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_adaptive_kappa_ends_at_the_same_point(loss: str) -> None:
    P = problem(loss, L1(lam=0.05))
    one = dcopt.solve(P, "dca-local", seed=0, tol=1e-10)
    two = dcopt.solve(P, "dca", kappa="adaptive", seed=0, tol=1e-7, passes=5000)
    np.testing.assert_allclose(one.x, two.x, atol=1e-5)


def test_far_starts_converge() -> None:
    """From scores of ±30 the first Newton steps overshoot by e³⁰: the tested decrease of F brings them back."""
    X, y = data("poisson")
    P = dcopt.erm(X, y, "poisson", "zero", intercept=True)
    want = dcopt.solve(P, seed=0, tol=1e-10).x
    for shift in (-30.0, 30.0):
        start = np.append(np.zeros(6), shift)
        result = dcopt.solve(P, seed=0, tol=1e-8, x0=start)
        assert result.status is Status.CONVERGED
        np.testing.assert_allclose(result.x, want, atol=1e-5)


def test_labels_outside_the_domain_are_refused_with_their_row() -> None:
    X, y = data("poisson")
    cases = ("poisson", -1.0, "counts"), ("negative-binomial", -0.5, "counts"), ("gamma", 0.0, "above")
    for loss, value, what in cases:
        bad = np.where(np.arange(len(y)) == 17, value, y + 1.0)
        with pytest.raises(BadInput, match=what) as caught:
            dcopt.erm(X, bad, loss)
        assert caught.value.argument == "y" and caught.value.row == 17
    with pytest.raises(BadInput, match="all counts are 0"):
        dcopt.erm(X, 0.0 * y, "poisson")


def test_rounding_uses_the_curvature_at_the_point() -> None:
    P = problem("poisson", Zero())
    small, large = (P.sum.rounding(np.append(np.zeros(6), b)) for b in (1.0, 10.0))
    assert small is not None and large is not None and 0.0 < small < large < 1e-8


def test_rows_of_ones_are_not_needed() -> None:
    X, y = data("gamma")
    plain = dcopt.solve(dcopt.erm(Verbs(X), y, "gamma", L1(lam=0.05)), seed=0, tol=1e-9)
    dense = dcopt.solve(dcopt.erm(X, y, "gamma", L1(lam=0.05)), seed=0, tol=1e-9)
    np.testing.assert_allclose(plain.x, dense.x, atol=1e-7)
