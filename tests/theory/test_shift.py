"""The shift η of problem (M): one policy for every estimator that knows its error, and a plan runs what it prints."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt import problems
from dcopt.convex import Quadratic, ScaledIdentity
from dcopt.errors import CannotSolve
from dcopt.estimators import PAGE, SAG, SAGA, SARAH, SVRG, Full, LooplessSVRG
from dcopt.methods import METHODS, as_method
from dcopt.sums import Facts, SumBase

N = 200
SMALL: dict[str, Any] = {
    "page": PAGE(p=1 / 15, b_small=15), "sarah": SARAH(b_small=15, period=15), "svrg": SVRG(b_small=30, period=9),
    "loopless": LooplessSVRG(b_small=30, q=0.1), "saga": SAGA(b=40), "sag": SAG(b=40),
    "saga-inside": SAGA(b=40, quadratic="inside"),
}  # fmt: skip


def pca(scale: float = 6.0) -> dcopt.Problem:
    return problems.pca(np.random.default_rng(0).normal(size=(N, 5)) * [scale, 1, 1, 1, 1], nonnegative=False)


def ramp() -> dcopt.Problem:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4))
    return problems.ramp_svm(X, X[:, 0] + 0.5 * rng.normal(size=N) > 0, mu=0.05)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("make", [pca, ramp])
def test_every_estimator_gets_the_smallest_shift_with_a_quarter_of_rho(make: Any, name: str) -> None:
    """a = ρ/2 − s L_v − ω = ρ/4 after it, with ω = 0.1 ρ_φ where programs are not solved by a formula."""
    P, estimator = make(), SMALL[name]
    tuned, _ = as_method(estimator).prepare(P)
    c, before = tuned.constants, P.constants
    assert c.L_v == before.L_v and c.L_v is not None
    omega = 0.0 if isinstance(P.G, ScaledIdentity) else 0.1 * c.rho_phi
    assert tuned.eta > P.eta and tuned.omega == pytest.approx(omega)
    assert c.rho / 2 - estimator.spread(N) * c.L_v - omega == pytest.approx(c.rho / 4)
    notes = as_method(estimator).ready(P).notes
    assert len(notes) == 1 and f"η = {tuned.eta - P.eta:.4g}" in notes[0]


@pytest.mark.parametrize("name", ["dca-page", "dca-svrg", "dca-saga", "sdca"])
def test_the_notes_of_a_run_say_it(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(4000, 5)) * [6.0, 1.0, 1.0, 1.0, 1.0]  # Few rows leave SVRG one step.
    P = problems.pca(X, nonnegative=False)
    result = dcopt.solve(P, name, steps=5, x0=np.full(5, 0.2), seed=0)
    assert any("η = " in note and name in note for note in result.notes)
    kept = dcopt.solve(P.fixed(), name, steps=5, x0=np.full(5, 0.2), seed=0)
    assert not kept.notes and METHODS[name].prepare(P.fixed())[0].G.rho == P.G.rho
    assert not np.array_equal(kept.x, result.x)


def test_methods_that_need_no_shift_get_none() -> None:
    for P in (pca(), ramp()):
        for method in ("dca", "cccp", "bdca", Full(), PAGE(p=1.0, b_small=3)):
            ready = as_method(method).ready(P)
            assert ready.P.eta == P.eta and ready.notes == ()
    strong = problems.pca(np.eye(5), nonnegative=False, eta=100.0)
    assert METHODS["dca-page"].ready(strong).P.eta == 100.0 and METHODS["dca-page"].ready(strong).notes == ()


class Given(SumBase):
    """A quadratic H of which only some constants are told."""

    shape, dtype, n = (3,), np.dtype(float), N

    def __init__(self, L_v: float | None) -> None:
        self.L_v = L_v

    def facts(self) -> Facts:
        return Facts(L_H=1.0, L=1.0, L_v=self.L_v)

    def sample(self, b: int, draw: Any, sampling: Any = "iid") -> Any:
        return dcopt.Function(lambda x: 0.5 * float(x @ x), lambda x: x, (3,)).all()

    def all(self) -> Any:
        return self.sample(N, None)


def test_an_unknown_variance_is_said_and_kinks_are_refused() -> None:
    P = dcopt.Problem(Quadratic(2.0 * np.eye(3)), Given(None), "zero")
    assert any("L_v of H is not known" in note for note in as_method(SMALL["svrg"]).ready(P).notes)
    P = dcopt.Problem(Quadratic(2.0 * np.eye(3)), Given(np.inf), "zero")
    for name in ("page", "svrg", "loopless"):
        with pytest.raises(CannotSolve, match="kinks"):
            as_method(SMALL[name]).prepare(P)
    assert as_method("dca").ready(P).notes == ()


def plans() -> dict[str, tuple[dcopt.Problem, dict[str, Any]]]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=N) > 0, 1, -1)
    S = dcopt.erm(X, y, "logistic", dcopt.regularizers.L1(lam=0.01))
    raised = dcopt.erm(X, y, "logistic", dcopt.regularizers.L1(lam=0.01), kappa=0.1)
    x0 = np.full(5, 0.2)
    return {
        "S": (S, {"eps": 0.1}), "S raised": (raised, {"eps": 0.1}),
        "S online": (S, {"eps": 4.0, "setting": "online", "measure": "criticality"}),
        "S gram": (dcopt.erm(X, y, "logistic", "l1", decomposition="gram"), {"eps": 0.1}),
        "M": (pca(), {"eps": 5.0, "D0": 20.0, "x0": x0}),
        "M criticality": (pca(1.5), {"eps": 3.0, "D0": 5.0, "x0": x0[:5], "measure": "criticality"}),
        "M online": (pca(), {"eps": 500.0, "D0": 20.0, "x0": x0, "setting": "online", "sigma": 10.0}),
        "M general G": (ramp(), {"eps": 0.5, "D0": 3.0}),
        "M general G online": (ramp(), {"eps": 40.0, "D0": 3.0, "setting": "online"}),
    }  # fmt: skip


@pytest.mark.parametrize("mode", ["certified", "paper", "practical"])
@pytest.mark.parametrize("kind", plans())
def test_a_plan_runs_what_it_prints(kind: str, mode: Any) -> None:
    """κ, η, b, b', p, T, and the residuals that are asked for: those of the plan are those of the run."""
    P, told = plans()[kind]
    if mode == "practical" and "online" in kind:
        with pytest.raises(dcopt.BadSettings, match="mode"):
            dcopt.plan(P, mode=mode, **told)
        return
    if (kind, mode) == ("S raised", "paper"):
        with pytest.raises(dcopt.BadSettings, match="rho > 0"):
            dcopt.plan(P, mode=mode, **told)
        return
    plan = dcopt.plan(P, mode=mode, **told)
    if "b < N" in plan.violated:
        with pytest.raises(dcopt.BadSettings, match="b = "):
            dcopt.solve(P, plan)
        return
    b = P.n if plan.b is None else plan.b
    assert b is not None and plan.b_small <= b and (plan.b is not None) == ("online" in kind and b < N), plan
    ready = as_method(plan.estimator).ready(plan.P)
    G, text = ready.P.G, " ".join(str(plan).split())
    assert ready.notes == () and ready.P.eta == plan.P.eta
    assert (getattr(G, "kappa", None), getattr(G, "tau", None)) == (plan.kappa, plan.tau)
    if P.f is None:
        assert ready.P.eta == pytest.approx(P.eta + plan.eta)
    assert f"b' = {plan.b_small}, p = {plan.p:.4g}" in text and f"T = {plan.T} steps" in text
    for name, value in (("κ", plan.kappa), ("τ", plan.tau), ("η", plan.eta or None)):
        assert value is None or f"{name} = {value:.5g}" in text or f"{name} = {value:.4g}" in text
    page = ready.estimator
    assert isinstance(page, PAGE) and (page.p, page.b_small, page.b) == (plan.p, plan.b_small, plan.b)
    steps = min(plan.T, 12)
    states = list(islice(dcopt.iterate(P, plan, x0=plan.x0, seed=3), steps))
    for before, state in zip(states, states[1:], strict=False):
        fresh = state.spent.gradients - before.spent.gradients - _inner(plan.P, state)
        eps = float(np.finfo(float).eps)
        asked = max(plan.floor, plan.omega * float(np.linalg.norm(before.x - before.prev)))
        assert fresh in (b, 2 * plan.b_small) or _inner(plan.P, state)
        if mode != "paper" and plan.omega:
            assert asked <= state.asked <= max(asked, 64 * eps * 1e3) and state.residual <= state.asked
    few = {"steps": 12} if plan.T > 3000 else {}
    result = dcopt.solve(P, plan, seed=3, **few)  # type: ignore[arg-type]
    assert result.steps == few.get("steps", plan.T) and result.notes == ()


def _inner(P: dcopt.Problem, state: Any) -> int:
    """Gradients of the rows of G cannot be told from those of H."""
    return 1 if P.G.components else 0


def test_a_run_of_a_plan_is_resumed_with_its_shift(tmp_path: Any) -> None:
    P, told = plans()["M"]
    plan = dcopt.plan(P, mode="paper", **told)  # no shift: dca-page would take one
    whole = dcopt.solve(P, plan, seed=0, steps=30, x0=plan.x0)
    dcopt.solve(P, plan, seed=0, steps=10, x0=plan.x0, checkpoint=tmp_path / "run")
    assert dcopt.resume(tmp_path / "run", P, plan, steps=30).x.tolist() == whole.x.tolist()
    with pytest.raises(dcopt.errors.ResumeMismatch, match="shift"):
        dcopt.resume(tmp_path / "run", P, plan.estimator, steps=30)


def test_a_stream_in_problem_m_is_shifted_too() -> None:
    """The same policy with the spread of the batches that a stream takes."""
    H = Given(4.0)
    H.n = None  # type: ignore[assignment]
    P = dcopt.Problem(Quadratic(2.0 * np.eye(3)), H, "zero")
    page = PAGE(p=0.1, b_small=10, b=100)
    ready = as_method(page).ready(P)
    theta = np.sqrt(0.9) * 4.0
    rho_phi, rho = 2.0 + ready.P.eta, 2.0 + 2 * ready.P.eta
    assert rho / 2 - theta - 0.1 * rho_phi == pytest.approx(rho / 4) and len(ready.notes) == 1
    assert as_method("online-dca").ready(P).notes == ()
