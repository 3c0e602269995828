"""A state that was overtaken is refused, not continued with another's table; a copy goes on exactly."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt.estimators import SAG, SAGA


def problem() -> dcopt.Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8))
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(200))
    return dcopt.erm(X, y, "logistic", dcopt.regularizers.SCAD(lam=0.05))


@pytest.mark.parametrize("estimator", [kind(b=10, quadratic=q) for kind in (SAGA, SAG) for q in ("inside", "outside")])
def test_an_overtaken_table_is_refused(estimator: Any) -> None:
    P = problem()
    states, kept = [], None
    for state in islice(dcopt.iterate(P, estimator, seed=0), 30):
        states.append(state)
        if state.t == 10:
            kept = state.thawed()
    with pytest.raises(dcopt.BadInput, match="thawed"):
        next(iter(dcopt.iterate(P, estimator, seed=0, state=states[9])))
    again = list(islice(dcopt.iterate(P, estimator, seed=0, state=kept), 20))
    assert np.array_equal(again[-1].x, states[-1].x)


def test_a_state_needs_its_seed() -> None:
    P = problem()
    state = next(iter(dcopt.iterate(P, "dca-page", seed=0)))
    with pytest.raises(dcopt.BadSettings, match="seed"):
        dcopt.iterate(P, "dca-page", state=state)


@pytest.mark.parametrize("output", ["uniform", "uniform-before"])
@pytest.mark.parametrize("method", ["dca", "bdca", "dca-page"])
def test_an_older_output_is_no_divergence(method: str, output: Any) -> None:
    for seed in range(4):
        result = dcopt.solve(problem(), method, steps=10, seed=seed, output=output)
        assert result.status is dcopt.Status.BUDGET


def test_a_warm_start_of_a_noisy_method_is_no_divergence() -> None:
    P = problem()
    x = dcopt.solve(P, "ssdc-spg", passes=300, seed=1).x
    assert dcopt.solve(P, "ssdc-spg", passes=50, seed=2, x0=x).status is dcopt.Status.BUDGET


def test_a_plan_knows_its_start() -> None:
    P = problem()
    plan, far = dcopt.plan(P, 0.02), np.r_[-30.0, np.zeros(7)]
    with pytest.raises(dcopt.BadSettings, match="x0"):
        dcopt.solve(P, plan, x0=far)
    there = dcopt.plan(P, 0.02, x0=far)
    assert there.T > plan.T
    result = dcopt.solve(P, there, seed=0, trace=None)
    assert result.trace.records[0].F == pytest.approx(P.value(far))
    assert dcopt.solve(P, plan, tol=1e-3).status is dcopt.Status.CONVERGED
    assert next(iter(dcopt.iterate(P, plan, seed=0))).t == 1
    assert "array" not in repr(plan) + repr(P)


def test_smoothness_below_the_row_curvature() -> None:
    """L of the h_i where κ < L_f: at least what is measured near 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    X[0] *= 30
    P = dcopt.erm(X, np.sign(X[:, 0]), "logistic")
    kappa = 0.2 * P.G.L
    x, y = 1e-6 * rng.standard_normal((2, 4))
    one = [kappa * (x - y) - (P.sum.take([i]).all().grad(x) - P.sum.take([i]).all().grad(y)) for i in range(50)]  # type: ignore[attr-defined]
    measured = np.sqrt(np.mean(np.sum(np.square(one), axis=1))) / np.linalg.norm(x - y)
    L = P.with_kappa(kappa).constants.L
    assert L is not None and L >= measured
    far = dcopt.plan(P, 1e-8, measure="criticality").compare()
    assert "dca-page" in str(far)


def test_an_unknown_lower_bound_stays_unknown() -> None:
    class Tilted(dcopt.regularizers.L1):
        lower = None  # type: ignore[assignment]

    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    for intercept in (False, True):
        P = dcopt.erm(X, np.sign(X[:, 0]), "logistic", Tilted(lam=0.1), intercept=intercept)
        with pytest.raises(dcopt.BadSettings, match="D0"):
            dcopt.plan(P, 0.1)
