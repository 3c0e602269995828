"""Losses from Python functions mean what the built-in ones mean: values, derivatives, curvature, and compiled runs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from functions import TORCH
from scipy.special import expit

import dcopt
from dcopt.data.check import as_rows
from dcopt.errors import BadInput, BadSettings
from dcopt.laws.losses import LAWS
from dcopt.losses import LOSSES, Cauchy, Huber, Loss, Squared, Tukey, Welsch, base, from_function
from dcopt.regularizers import Exponential
from dcopt.sums import LinearSum


def _tukey(e: Any) -> Any:
    return (1.0 - (1.0 - np.minimum(e * e, 1.0)) ** 3) / 6.0


def _logistic(m: Any) -> Any:
    return base.log1p(base.exp(-base.absolute(m))) + base.clip(-m, 0.0, 1e9)


def _huber(e: Any) -> Any:
    return np.where(np.abs(e) <= 1.0, 0.5 * e**2, np.abs(e) - 0.5)


CASES: dict[str, tuple[Callable[[Any], Any], Loss]] = {  # at scale 1
    "squared-sigmoid": (lambda m: expit(-m) ** 2, LOSSES["squared-sigmoid"]),
    "logistic": (lambda m: np.logaddexp(0.0, -m), LOSSES["logistic"]),
    "cauchy, our words": (lambda e: 0.5 * base.log1p(e * e), Cauchy(c=1.0)),
    "sigmoid": (lambda m: expit(-m), LOSSES["sigmoid"]),
    "squared": (lambda e: e * e / 2, Squared()),
    "welsch": (lambda e: (1 - np.exp(-(e**2))) / 2, Welsch(c=1.0)),
    "cauchy": (lambda e: np.log1p(e**2) / 2, Cauchy(c=1.0)),
    "geman-mcclure": (lambda e: e**2 / (2 * (1 + e**2)), dcopt.losses.GemanMcClure(c=1.0)),
    "tukey": (_tukey, Tukey(c=1.0)),
    "huber": (_huber, Huber(c=1.0)),
}  # fmt: skip


def made(name: str, **settings: Any) -> tuple[Loss, Loss]:
    phi, want = CASES[name]
    return from_function(phi, kind="residual" if want.labels == "real" else "margin", **settings), want


@pytest.mark.parametrize("name", CASES)
def test_values_slopes_bends_and_curvature_of_the_built_in_loss(name: str) -> None:
    own, want = made(name)
    z = np.concatenate([np.linspace(-6.0, 6.0, 240), [0.0, 1e-9, -30.0, 30.0, 700.0, -700.0]])  # no kink is among them
    for y in (-1.0, 1.0):
        labels = np.full_like(z, y)
        for verb in ("value", "slope", "bend"):
            got, told = getattr(own, verb)(z, labels), getattr(want, verb)(z, labels)
            np.testing.assert_allclose(got, told, rtol=1e-12, atol=1e-14, err_msg=verb)
    np.testing.assert_allclose(own.curvature, want.curvature, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["squared-sigmoid", "logistic", "cauchy", "huber", "tukey", "squared"])
def test_law(name: str, law: str) -> None:
    LAWS[law](made(name)[0])


def problem(loss: Loss, weighted: bool = False) -> dcopt.Problem:
    rng = np.random.default_rng(7)
    X = sp.random(120, 15, density=0.3, format="csr", random_state=rng)
    y = rng.normal(size=120) if loss.labels == "real" else np.where(rng.random(120) < 0.4, -1.0, 1.0)
    weights = rng.uniform(0.1, 3.0, 120) if weighted else None
    return dcopt.erm(X, y, loss, Exponential(lam=0.01, alpha=5.0), sample_weight=weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["dca-page", "dca", "dca-svrg", "dca-saga"])
@pytest.mark.parametrize("name", ["squared-sigmoid", "logistic", "tukey", "huber"])
def test_compiled_runs_are_those_of_the_built_in_loss(name: str, method: str, weighted: bool) -> None:
    own, want = made(name, curvature=CASES[name][1].curvature)
    P, Q = problem(own, weighted), problem(want, weighted)
    assert P.f.fused is not None  # type: ignore[union-attr]
    runs = zip(dcopt.iterate(P, method, seed=3), dcopt.iterate(Q, method, seed=3), strict=True)
    for one, two in islice(runs, 100):
        np.testing.assert_allclose(one.x, two.x, rtol=0, atol=1e-12)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {  # every operation at least once
    "exp": lambda z: np.exp(-(z**2)), "expm1": lambda z: np.expm1(-(z * z)), "log": lambda z: np.log(2.0 + z * z),
    "log1p": lambda z: np.log1p(-0.5 * np.exp(-z * z)), "sqrt": lambda z: np.sqrt(1.0 + z**2),
    "tanh": lambda z: np.tanh(z) * z, "sin": lambda z: np.sin(z) + np.cos(2.0 * z),
    "arctan": lambda z: z * np.arctan(z),
    "expit": lambda z: expit(3.0 * z) / (1.0 + z**4), "pow": lambda z: (1.0 + z * z) ** 0.25 - (2.0 + z**2) ** -1.5,
    "abs": lambda z: np.abs(z - 0.3) ** 3 / (1.0 + np.abs(z)) ** 3, "where": lambda z: np.where(z > 0.1, z**3, z**4),
    "sign": lambda z: np.sign(z) * z**3, "maximum": lambda z: np.maximum(z - 1.0, 0.0) ** 2 + np.minimum(-1.0, z) ** 2,
    "logaddexp": lambda z: np.logaddexp(z, 1.0 - z), "square": lambda z: np.square(z - 1.0) / 2.0 - +z,
    "clip": lambda z: np.clip(z, -1.0, 2.0) ** 2, "constant": lambda z: 0.0 * z + 1.0,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_operation_and_its_derivatives_in_arrays_and_compiled(name: str) -> None:
    phi = FUNCTIONS[name]
    loss = from_function(phi, curvature=(-np.inf, np.inf))
    z = np.array([-2.37, -1.6, -0.7, 0.013, 0.55, 1.4, 2.9])
    np.testing.assert_allclose(loss.phi(z), phi(z), rtol=1e-13, atol=1e-15)  # type: ignore[attr-defined]
    t = 1e-3
    for order, upper in (("dphi", loss.phi), ("ddphi", loss.dphi)):  # type: ignore[attr-defined]
        near, far = (upper(z + k * t) - upper(z - k * t) for k in (1, 2))
        np.testing.assert_allclose(getattr(loss, order)(z), (8 * near - far) / (12 * t), rtol=1e-8, atol=1e-8)
    X = sp.csr_array(np.diag(z))
    fused = LinearSum(as_rows(X), loss, np.zeros(7)).fused
    assert fused is not None
    _, values, slopes = fused.look(np.ones(7), 7)
    np.testing.assert_allclose(values, phi(z), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(slopes, z * loss.dphi(z), rtol=1e-12, atol=1e-14)  # type: ignore[attr-defined]


@TORCH
def test_a_function_in_pytorch_is_the_same_formula() -> None:
    import torch

    own = from_function(lambda m: torch.sigmoid(-m) ** 2 + 0.0 * torch.nn.functional.softplus(m), kind="margin")
    assert own.curvature == made("squared-sigmoid")[0].curvature


def test_given_derivatives_are_used() -> None:
    own = from_function(lambda e: e**2 / 2, lambda e: 2.0 * e, lambda e: 0.0 * e + 3.0, curvature=(0.0, 3.0))
    z = np.array([1.0, 2.0])
    assert own.slope(z, 0.0 * z).tolist() == [2.0, 4.0] and own.bend(z, 0.0 * z).tolist() == [3.0, 3.0]


def test_functions_that_are_no_formulas_work_with_their_derivatives() -> None:
    table = np.linspace(-9.0, 9.0, 10_001)

    def phi(e: Any) -> Any:
        return np.interp(e, table, 0.5 * table**2)

    own = from_function(phi, lambda e: np.interp(e, table, table), lambda e: np.ones(len(e)), curvature=(0.0, 1.0))
    P = problem(own)
    assert P.f.fused is None  # type: ignore[union-attr]
    want = dcopt.solve(problem(Squared()), "dca", steps=50)
    np.testing.assert_allclose(dcopt.solve(P, "dca", steps=50).x, want.x, atol=1e-5)
    with pytest.raises(BadSettings, match="dphi = None: expected a function here: phi is no formula .*interp"):
        from_function(phi)


@pytest.mark.parametrize(("phi", "said"), [
    (lambda e: e**4, "ϕ″ still grows at |z| = 1e"),
    (lambda e: np.abs(e), "ϕ′ jumps, or rises faster, near"),
    (lambda e: np.maximum(e, 0.0), "ϕ′ jumps, or rises faster, near"),
    (_logistic, "ϕ′ jumps, or rises faster, near -1e-08"),  # Two kinks cancel at 0, where the derived ϕ′ is wrong.
    (lambda e: np.sqrt(np.abs(e)), "ϕ″ is"),
    (lambda e: np.log(e), "ϕ″ is "),
])  # fmt: skip
def test_a_curvature_that_cannot_be_estimated_is_asked_for(phi: Any, said: str) -> None:
    with pytest.raises(BadSettings) as error:
        from_function(phi)
    assert str(error.value).startswith("curvature = None: expected a pair (inf ϕ″, sup ϕ″) here: " + said)


def test_a_given_curvature_must_hold() -> None:
    for phi in (_logistic, lambda m: np.exp(-m * m)):
        with pytest.raises(BadSettings, match=r"= \(0.0, 0.25\): expected a range of ϕ″ that holds: ϕ′ jumps"):
            from_function(phi, kind="margin", curvature=(0.0, 0.25))


def test_an_estimated_curvature_is_said_in_the_result() -> None:
    own = made("cauchy")[0]
    said = "the curvature of the loss, [-0.125, 1], was estimated on a grid"
    assert said in dcopt.solve(problem(own), "dca", steps=3).notes
    given = made("cauchy", curvature=(-0.125, 1.0))[0]
    assert not any("estimated" in note for note in dcopt.solve(problem(given), "dca", steps=3).notes)


def test_settings_are_refused_by_name() -> None:
    with pytest.raises(BadSettings, match="kind = 'loss'"):
        from_function(np.exp, kind="loss")  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match="phi = 1.0: expected a function of one number"):
        from_function(1.0)  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match=r"curvature = \(1.0, 0.0\): expected a pair"):
        from_function(lambda e: e * e / 2, curvature=(1.0, 0.0))
    with pytest.raises(BadSettings, match="c = 2.0: expected 1 for a loss of the margin"):
        from_function(lambda m: m * m, kind="margin", c=2.0)
    with pytest.raises(BadSettings, match=r"an if on the argument: use where"):
        from_function(lambda e: e if e > 0 else -e)
    with pytest.raises(BadSettings, match="a function of the module math"):
        from_function(lambda e: __import__("math").exp(e))
    with pytest.raises(BadInput, match="phi: returned shape"):
        from_function(lambda e: np.array([1.0, *np.interp(e, [0, 1], [0, 1])]), np.cos, np.sin)
    loss = from_function(lambda e: e * e / 2, lower=0.0, c=3.0)
    assert loss.lower == 0.0 and repr(loss) == "a loss of the residual from a function, curvature [1, 1]"


def test_estimators_take_a_loss_from_a_function() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.where(X[:, 0] > 0, "yes", "no")
    one, two = (dcopt.DCClassifier(loss=loss, random_state=0).fit(X, y) for loss in made("logistic"))
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-4)
