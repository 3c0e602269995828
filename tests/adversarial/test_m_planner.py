"""M. The planner: a finite plan or a refusal with the reason."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt.convex import ScaledIdentity
from dcopt.errors import BadSettings
from dcopt.estimators import PAGE
from dcopt.regularizers import CappedL1, Zero
from dcopt.sums import Facts, SumBase

MODES, SETTINGS, MEASURES = ("certified", "paper", "practical"), ("finite-sum", "online"), ("gap", "criticality")


class Given(SumBase):
    shape, dtype = (3,), np.dtype(float)

    def __init__(
        self, n: int | None, rho: float = 1.0, L_H: float = 2.0, L: float = 2.0, L_v: float | None = 0.5
    ) -> None:
        self.n, self.known = n, Facts(rho=rho, L_H=L_H, L=L, L_v=L_v)

    def facts(self) -> Facts:
        return self.known


def given(n: int | None, kappa: float = 1.0, **constants: Any) -> dcopt.Problem:
    H: Any = Given(n, **constants)
    return dcopt.Problem(ScaledIdentity(kappa), H, Zero())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [1, 2, 1000, 2**53])
@pytest.mark.parametrize("eps", [1e-300, 1e-8, 1.0, 1e300])
@pytest.mark.parametrize("sigma", [0.0, 1.0])
@pytest.mark.parametrize("L", [0.0, 2.0])
def test_m1_extremes(mode: Any, setting: Any, measure: Any, n: int, eps: float, sigma: float, L: float) -> None:
    try:
        plan = dcopt.plan(given(n, L_v=L, L=L, L_H=L), eps, measure, setting, mode, D0=1.0, sigma=sigma)
    except BadSettings as why:
        assert why.setting in ("eps", "mode")  # beyond counting, or the printed theorems' L > 0
        return
    assert 1 <= plan.T < 2**63 and 1 <= plan.b_small <= plan.batch and 0 < plan.p <= 1
    assert math.isfinite(plan.gradients) and plan.bytes > 0
    assert plan.estimator == PAGE(p=plan.p, b_small=plan.b_small, b=plan.b)


def test_m1_nothing_strongly_convex() -> None:
    plan = dcopt.plan(given(100, kappa=1e-300, rho=0.0), 0.1, D0=1.0)
    assert plan.violated == () and plan.T >= 1 and plan.eta > 0
    with pytest.raises(BadSettings, match="eps"):  # a = ρ/2 = 5e-301 is positive, but no count of steps fits
        dcopt.plan(given(100, kappa=1e-300, rho=0.0, L_v=0.0), 0.1, "criticality", D0=1.0)


@pytest.mark.parametrize("eps", [0.0, -1.0, math.nan, math.inf, "small", None])
def test_m1_eps_is_refused_by_name(eps: Any) -> None:
    with pytest.raises(BadSettings, match="eps"):
        dcopt.plan(given(10), eps, D0=1.0)


@pytest.mark.parametrize(("name", "value"), [("L_v", math.nan), ("L_H", math.inf), ("L", math.nan), ("rho", math.nan)])
def test_nan_constants_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(BadSettings, match=name):
        dcopt.plan(given(10, **{name: value}), 0.1, D0=1.0)


def test_missing_constants_are_asked_for() -> None:
    with pytest.raises(BadSettings, match="D0"):
        dcopt.plan(given(10), 0.1)
    with pytest.raises(BadSettings, match="sigma"):
        dcopt.plan(given(10), 0.1, setting="online", D0=1.0)
    with pytest.raises(BadSettings, match="sigma"):
        dcopt.plan(given(10), 0.1, setting="online", D0=1.0, sigma=math.nan)
    P = given(10, L_v=None)
    with pytest.raises(BadSettings, match="L_v"):
        dcopt.plan(P, 0.1, D0=1.0)
    with pytest.raises(BadSettings, match="online"):
        dcopt.plan(given(None), 0.1, D0=1.0)


@pytest.mark.parametrize("n", [100, 10**4, 10**8])
def test_m2_the_condition_does_not_come_with_large_n(n: int) -> None:
    """ρ = 2, L = 2: violated whatever N is; certified raises η until it holds, and prints the constants."""
    printed = dcopt.plan(given(n), 0.1, "criticality", mode="paper", D0=1.0)
    assert printed.violated[0] == "b' ≥ 4(1−p)L²/(pρ²)"
    certified = dcopt.plan(given(n, L_v=2.0), 0.1, "criticality", D0=1.0)
    assert certified.violated == () and certified.eta > 0
    assert f"η = {certified.eta:.4g}" in " ".join(str(certified).split())


def test_m3_criticality_needs_a_smooth_r2() -> None:
    P = dcopt.erm(np.eye(3), [0, 1, 0], regularizer=CappedL1(lam=0.1, theta=0.5))
    with pytest.raises(BadSettings, match="gap"):
        dcopt.plan(P, 0.1, "criticality")
    assert dcopt.plan(P, 0.1, "gap").T >= 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("measure", MEASURES)
def test_m5_monotone(setting: Any, measure: Any) -> None:
    """Smaller ε, larger L, smaller ρ never lower the cost."""

    def cost(eps: float = 0.1, kappa: float = 4.0, **constants: Any) -> float:
        n = 10**12 if setting == "online" else 1000
        return dcopt.plan(given(n, kappa, **constants), eps, measure, setting, D0=1.0, sigma=1.0).gradients

    assert np.all(np.diff([cost(eps=eps) for eps in (1.0, 0.3, 0.1, 0.03, 0.01)]) > 0)
    assert np.all(np.diff([cost(L_v=L, L_H=4 * L, L=4 * L) for L in (0.1, 0.3, 1.0, 2.0)]) >= 0)
    assert np.all(np.diff([cost(rho=rho) for rho in (3.0, 1.0, 0.3, 0.0)]) >= 0)


def test_m6_both_counts_are_reconciled_with_a_run() -> None:
    """Measured over 20 seeds, honest and paper's counts agree with the plan's expectations within 10 %."""
    rng = np.random.default_rng(0)
    P = dcopt.erm(rng.normal(size=(100, 3)), rng.normal(size=100) > 0, "logistic", "l1")
    plan = dcopt.plan(P, 0.002)
    runs = [dcopt.solve(P, plan, seed=seed, trace=None) for seed in range(20)]
    assert np.mean([run.spent.gradients for run in runs]) == pytest.approx(plan.gradients, rel=0.1)
    assert np.mean([run.spent.paper for run in runs]) == pytest.approx(plan.paper_gradients, rel=0.1)
    assert plan.paper_gradients < plan.gradients


def test_a_plan_belongs_to_its_problem() -> None:
    one, two = (dcopt.erm(np.eye(3), [0, 1, 0]) for _ in range(2))
    with pytest.raises(BadSettings, match="plan"):
        dcopt.solve(two, dcopt.plan(one, 0.1))


def test_w7_a_plan_takes_the_start_that_it_was_made_with() -> None:
    """Where no lower bound of F is known, it was refused as another one."""
    P, x0 = dcopt.problems.pca(np.random.default_rng(0).normal(size=(50, 3)), nonnegative=False), np.ones(3) * 0.2
    assert P.lower_bound is None
    plan = dcopt.plan(P, 0.5, "gap", D0=9.0, x0=x0)
    assert dcopt.solve(P, plan, x0=x0.copy(), seed=0).x.tolist() == dcopt.solve(P, plan, seed=0).x.tolist()
    with pytest.raises(dcopt.BadSettings, match="another start"):
        dcopt.solve(P, plan, x0=x0 + 0.1)
    zeros = dcopt.plan(P, 0.5, "gap", D0=9.0)
    assert dcopt.solve(P, zeros, x0=np.zeros(3), seed=0).steps == zeros.T
