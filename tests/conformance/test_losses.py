"""Every loss keeps every law; broken ones do not; values and constants by hand."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, exp, inf, log, sqrt
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

from dcopt.errors import BadSettings
from dcopt.laws.base import LawBroken, run
from dcopt.laws.losses import LAWS
from dcopt.losses import (
    LOSSES,
    Cauchy,
    EpsilonInsensitive,
    Gamma,
    GemanMcClure,
    Huber,
    Logistic,
    Loss,
    Margin,
    MultiSquared,
    NegativeBinomial,
    Poisson,
    Quantile,
    Residual,
    Sigmoid,
    SmoothedRamp,
    Softmax,
    Squared,
    SquaredHinge,
    SquaredSigmoid,
    Tukey,
    Welsch,
    WithOffset,
    loss,
)

OTHERS = {  # the samples of the registry at other settings
    "tukey(c=1)": Tukey(c=1.0),
    "huber(c=0.1)": Huber(c=0.1),
    "welsch(c=30)": Welsch(c=30.0),
    "cauchy(c=0.05)": Cauchy(c=0.05),
    "geman-mcclure(c=3)": GemanMcClure(c=3.0),
    "smoothed-ramp(s=-1,width=2)": SmoothedRamp(s=-1.0, width=2.0),
    "smoothed-ramp(s=0.9,width=0.1)": SmoothedRamp(s=0.9, width=0.1),
    "quantile(q=0.9,width=1)": Quantile(q=0.9, width=1.0),
    "epsilon-insensitive(epsilon=0,width=2)": EpsilonInsensitive(epsilon=0.0, width=2.0),
    "negative-binomial(alpha=0.05)": NegativeBinomial(alpha=0.05),
    "negative-binomial(alpha=20)": NegativeBinomial(alpha=20.0),
}
ALL = LOSSES | OTHERS


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ALL)
def test_law(name: str, law: str) -> None:
    LAWS[law](ALL[name])


# (loss, z, label, value, slope, bend), by hand
S3 = 1 / (1 + e)  # σ(−1)
HAND: list[tuple[Loss, float, float, float, float, float]] = [
    (SquaredSigmoid(), 0.0, 1.0, 1 / 4, -1 / 4, 1 / 8),
    (SquaredSigmoid(), log(2), 1.0, 1 / 9, -4 / 27, 4 / 27),
    (SquaredSigmoid(), log(2), -1.0, 4 / 9, 8 / 27, 0.0),
    (Logistic(), 0.0, 1.0, log(2), -1 / 2, 1 / 4),
    (Logistic(), log(3), 1.0, log(4 / 3), -1 / 4, 3 / 16),
    (Logistic(), log(3), -1.0, log(4), 3 / 4, 3 / 16),
    (Sigmoid(), 0.0, 1.0, 1 / 2, -1 / 4, 0.0),
    (Sigmoid(), log(3), 1.0, 1 / 4, -3 / 16, 3 / 32),
    (Sigmoid(), 1.0, -1.0, 1 - S3, S3 * (1 - S3), -S3 * (1 - S3) * (1 - 2 * S3)),
    (SmoothedRamp(), 2.0, 1.0, 0.0, 0.0, 0.0),
    (SmoothedRamp(), 0.75, 1.0, 1 / 16, -1 / 2, 2.0),
    (SmoothedRamp(), 0.25, 1.0, 1 / 2, -1.0, 0.0),
    (SmoothedRamp(), 0.25, -1.0, 15 / 16, 1 / 2, -2.0),
    (SmoothedRamp(), -7.0, 1.0, 1.0, 0.0, 0.0),
    (SmoothedRamp(s=-1.0, width=2.0), -1.0, 1.0, 1.0, -1.0, 0.0),
    (SmoothedRamp(s=-1.0, width=2.0), -9.0, 1.0, 2.0, 0.0, 0.0),
    (Squared(), 3.0, 1.0, 2.0, 2.0, 1.0),
    (Welsch(), 2.0, 1.0, (1 - 1 / e) / 2, 1 / e, -1 / e),
    (Welsch(c=2.0), 2.0, 0.0, 2 * (1 - 1 / e), 2 / e, -1 / e),
    (Cauchy(), 2.0, 1.0, log(2) / 2, 1 / 2, 0.0),
    (Cauchy(c=2.0), -4.0, 0.0, 2 * log(5), -4 / 5, -3 / 25),
    (GemanMcClure(), 2.0, 1.0, 1 / 4, 1 / 4, -1 / 4),
    (GemanMcClure(c=3.0), 3.0, 0.0, 9 / 4, 3 / 4, -1 / 4),
    (Tukey(c=1.0), 0.5, 0.0, 37 / 384, 9 / 32, -3 / 16),
    (Tukey(c=2.0), -1.0, 0.0, 37 / 96, -9 / 16, -3 / 16),
    (Tukey(), 9.0, 1.0, 4.685**2 / 6, 0.0, 0.0),
    (Huber(c=1.0), 0.5, 0.0, 1 / 8, 1 / 2, 1.0),
    (Huber(c=2.0), -5.0, 0.0, 8.0, -2.0, 0.0),
    (Huber(), 3.0, 0.0, 1.345 * 3 - 1.345**2 / 2, 1.345, 0.0),
    (Quantile(q=0.75, width=1.0), 0.0, 0.5, 1 / 8, -1 / 2, 1.0),
    (Quantile(q=0.75, width=1.0), 0.0, 2.0, 3 / 2 - 9 / 32, -3 / 4, 0.0),
    (Quantile(q=0.75, width=1.0), 2.0, 0.0, 1 / 2 - 1 / 32, 1 / 4, 0.0),
    (EpsilonInsensitive(epsilon=0.5, width=1.0), 0.25, 0.0, 0.0, 0.0, 0.0),
    (EpsilonInsensitive(epsilon=0.5, width=1.0), -1.0, 0.0, 1 / 8, -1 / 2, 1.0),
    (EpsilonInsensitive(epsilon=0.5, width=1.0), 3.0, 0.0, 2.0, 1.0, 0.0),
    (SquaredHinge(), 0.5, 1.0, 1 / 8, -1 / 2, 1.0),
    (SquaredHinge(), 0.5, -1.0, 9 / 8, 3 / 2, 1.0),
    (SquaredHinge(), 2.0, 1.0, 0.0, 0.0, 0.0),
    (Poisson(), 0.0, 0.0, 1.0, 1.0, 1.0),
    (Poisson(), log(2), 1.0, 2 - log(2) - 1, 1.0, 2.0),
    (Poisson(), log(3), 3.0, 0.0, 0.0, 3.0),
    (Gamma(), 0.0, 2.0, 1 - log(2), -1.0, 2.0),
    (Gamma(), log(4), 1.0, log(4) - 3 / 4, 3 / 4, 1 / 4),
    (NegativeBinomial(), 0.0, 0.0, log(2), 1 / 2, 1 / 4),
    (NegativeBinomial(), 0.0, 3.0, 3 * log(3) - 4 * log(2), -1.0, 1.0),
    (NegativeBinomial(alpha=2.0), log(3 / 2), 0.0, log(2), 3 / 8, 3 / 32),
]


@pytest.mark.parametrize("row", HAND, ids=lambda row: f"{type(row[0]).__name__}-{row[1]:.3g}-{row[2]:g}")
def test_values_by_hand(row: tuple[Loss, float, float, float, float, float]) -> None:
    f, z, y, *want = row
    at = np.array([z]), np.array([y])
    got = [float(g(*at)[0]) for g in (f.value, f.slope, f.bend)]
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


def test_every_scalar_loss_has_values_by_hand() -> None:
    assert {type(row[0]) for row in HAND} | {Softmax} == {type(f) for f in LOSSES.values()}


def test_softmax_by_hand() -> None:
    z, y = np.log([[1.0, 2.0, 5.0], [2.0, 1.0, 1.0]]), np.array([1, 0])
    np.testing.assert_allclose(Softmax().value(z, y), [log(4), log(2)], rtol=1e-14)
    slope = [[1 / 8, -3 / 4, 5 / 8], [-1 / 2, 1 / 4, 1 / 4]]
    np.testing.assert_allclose(Softmax().slope(z, y), slope, rtol=1e-14)
    np.testing.assert_allclose(Softmax().bend(z, y), [15 / 32, 1 / 2], rtol=1e-14)


def test_softmax_works_along_the_last_axis() -> None:
    draw = np.random.default_rng(5)
    z, y = draw.normal(size=(6, 4, 3)), draw.integers(3, size=6)
    for k in range(4):
        np.testing.assert_array_equal(Softmax().value(z, y[:, None])[:, k], Softmax().value(z[:, k], y))
        np.testing.assert_array_equal(Softmax().slope(z, y[:, None])[:, k], Softmax().slope(z[:, k], y))


def test_softmax_with_one_score_far_above_the_rest() -> None:
    z, y = np.array([[1e5, 0.0, 0.0], [1e5, 0.0, 0.0]]), np.array([0, 2])
    np.testing.assert_array_equal(Softmax().value(z, y), [0.0, 1e5])
    np.testing.assert_array_equal(Softmax().slope(z, y), [[0.0, 0.0, 0.0], [1.0, 0.0, -1.0]])


def test_softmax_bend_is_within_twice_the_largest_eigenvalue() -> None:
    draw = np.random.default_rng(6)
    for c in (2, 3, 7):
        p = draw.dirichlet(np.full(c, 0.5), size=300)
        top = np.linalg.eigvalsh(p[:, :, None] * np.eye(c) - p[:, :, None] * p[:, None, :])[:, -1]
        bend = Softmax().bend(np.log(p), np.zeros(300, dtype=int))
        assert np.all(bend >= top - 1e-15)
        assert np.all(bend <= 2 * top + 1e-15)
        if c == 2:
            np.testing.assert_allclose(bend, top, atol=1e-14)


CONSTANTS = {
    "squared-sigmoid": ((39 - 55 * sqrt(33)) / 2304, (39 + 55 * sqrt(33)) / 2304),
    "logistic": (0.0, 1 / 4),
    "softmax": (0.0, 1 / 2),
    "squared": (1.0, 1.0),
    "sigmoid": (-1 / (6 * sqrt(3)), 1 / (6 * sqrt(3))),
    "welsch": (-2 * exp(-1.5), 1.0),
    "cauchy": (-1 / 8, 1.0),
    "geman-mcclure": (-1 / 4, 1.0),
    "tukey": (-0.8, 1.0),
    "smoothed-ramp": (-2.0, 2.0),
    "huber": (0.0, 1.0),
    "quantile": (0.0, 10.0),
    "epsilon-insensitive": (0.0, 10.0),
    "squared-hinge": (0.0, 1.0),
    "poisson": (0.0, inf),
    "gamma": (0.0, inf),
    "negative-binomial": (0.0, inf),
}
# where the two ends are met: (z of the least, z of the most), label 1 or 0
ENDS = {
    "squared-sigmoid": tuple(log((1 - s) / s) for s in ((15 + sqrt(33)) / 24, (15 - sqrt(33)) / 24)),
    "sigmoid": tuple(log((1 - s) / s) for s in ((1 + 1 / sqrt(3)) / 2, (1 - 1 / sqrt(3)) / 2)),
    "welsch": (sqrt(1.5), 0.0),
    "cauchy": (sqrt(3), 0.0),
    "geman-mcclure": (1.0, 0.0),
    "tukey": (4.685 * sqrt(0.6), 0.0),
    "smoothed-ramp": (-0.25, 0.75),
}


@pytest.mark.parametrize("name", LOSSES)
def test_curvature_constant(name: str) -> None:
    assert LOSSES[name].curvature == pytest.approx(CONSTANTS[name], rel=1e-12, abs=1e-15)


def test_curvature_decimals_of_the_squared_sigmoid() -> None:
    assert LOSSES["squared-sigmoid"].curvature == pytest.approx((-0.1202044035, 0.1540585701), abs=5e-11)


@pytest.mark.parametrize("name", ENDS)
def test_bend_meets_both_ends_of_the_curvature(name: str) -> None:
    f, z = LOSSES[name], np.array(ENDS[name])
    y = np.full(2, 1.0 if f.labels == "binary" else 0.0)
    np.testing.assert_allclose(f.bend(z, y), f.curvature, rtol=1e-12)
    wide = np.linspace(-40.0, 40.0, 400_001)
    bend = f.bend(wide, np.full_like(wide, y[0]))
    assert f.curvature[0] - 1e-12 <= bend.min()
    assert bend.max() <= f.curvature[1] + 1e-12


@pytest.mark.parametrize("name", [k for k, f in ALL.items() if f.labels == "binary"])
def test_labels_and_scores_change_sign_together(name: str) -> None:
    f, z, y = ALL[name], np.linspace(-6.0, 6.0, 101), np.ones(101)
    np.testing.assert_array_equal(f.value(z, y), f.value(-z, -y))
    np.testing.assert_array_equal(f.slope(z, y), -f.slope(-z, -y))
    np.testing.assert_array_equal(f.bend(z, y), f.bend(-z, -y))
    assert np.all(f.slope(z, y) <= 0)  # a larger margin never costs more


@pytest.mark.parametrize("name", [k for k, f in ALL.items() if isinstance(f, Residual | Squared)])
def test_residual_losses_are_even_and_like_least_squares_at_zero(name: str) -> None:
    f, y = ALL[name], np.full(101, 0.5)
    z = np.arange(101) / 16  # sums with 0.5 are exact
    np.testing.assert_array_equal(f.value(0.5 + z, y), f.value(0.5 - z, y))
    small = np.array([1e-7])
    np.testing.assert_allclose(f.value(small, 0 * small), 5e-15, rtol=1e-9)  # no cancellation near zero
    np.testing.assert_allclose(f.slope(small, 0 * small), small, rtol=1e-9)


def test_limits_far_out() -> None:
    far, one, zero = np.array([-1e6, 1e6]), np.ones(2), np.zeros(2)
    np.testing.assert_array_equal(SquaredSigmoid().value(far, one), [1.0, 0.0])
    np.testing.assert_array_equal(Sigmoid().value(far, one), [1.0, 0.0])
    np.testing.assert_array_equal(Logistic().value(far, one), [1e6, 0.0])
    np.testing.assert_array_equal(Logistic().slope(far, one), [-1.0, 0.0])
    np.testing.assert_array_equal(SmoothedRamp().value(far, one), [1.0, 0.0])
    np.testing.assert_array_equal(Welsch().value(far, zero), [0.5, 0.5])
    np.testing.assert_allclose(Cauchy().value(far, zero), log(1e6), rtol=1e-12)
    np.testing.assert_allclose(GemanMcClure().value(far, zero), 0.5, rtol=1e-11)
    np.testing.assert_allclose(Tukey().value(far, zero), 4.685**2 / 6, rtol=1e-14)
    np.testing.assert_allclose(Huber().value(far, zero), 1.345e6 - 1.345**2 / 2, rtol=1e-14)
    np.testing.assert_array_equal(Squared().value(far, zero), [5e11, 5e11])


def test_well_classified_rows_keep_their_relative_accuracy() -> None:
    z = np.array([40.0])
    np.testing.assert_allclose(SquaredSigmoid().value(z, 1.0), exp(-80), rtol=1e-13)
    np.testing.assert_allclose(SquaredSigmoid().slope(z, 1.0), -2 * exp(-80), rtol=1e-13)
    np.testing.assert_allclose(Logistic().value(z, 1.0), exp(-40), rtol=1e-13)


# ---- broken losses are refused


class WrongSlope(SquaredSigmoid):
    def dphi(self, m: Any) -> Any:
        return 1.001 * super().dphi(m)


class WrongSlopeOfOneClass(Softmax):
    def slope(self, z: Any, labels: Any) -> Any:
        return super().slope(z, labels) * np.where(np.arange(z.shape[-1]) == 1, 1.01, 1.0)


class WrongBend(Tukey):
    def ddphi(self, e: Any) -> Any:
        return 1.0 - 6.0 * e * e


class SmallBend(Softmax):
    def bend(self, z: Any, labels: Any) -> Any:
        return 0.5 * super().bend(z, labels)


class LooseCurvature(SquaredSigmoid):
    curvature = (-0.1202044035, 0.25)


class LooseBelow(Cauchy):
    curvature = (-1.0, 1.0)


class TraceCurvature(Softmax):
    curvature = (0.0, 2 / 3)


class SmallCurvature(SquaredSigmoid):
    curvature = (-0.1202044035, 0.1540)


class ConvexInName(Welsch):
    curvature = (0.0, 1.0)


class SmallSoftmax(Softmax):
    curvature = (0.0, 0.25)


class SwallowsNaN(Huber):
    def dphi(self, e: Any) -> Any:
        return np.where(e > 1, 1.0, np.where(e < -1, -1.0, np.nan_to_num(e)))


class Overflows(Logistic):
    def phi(self, m: Any) -> Any:
        return np.log(1 + np.exp(-m))


class Saturates(Logistic):
    def phi(self, m: Any) -> Any:
        return np.log1p(np.exp(np.minimum(-m, 80.0)))


class Cancels(SmoothedRamp):
    def phi(self, m: Any) -> Any:
        def hinge(a: float) -> Any:
            t = np.clip(a - m, 0.0, self.width)
            return t * (a - m - 0.5 * t) / self.width

        return hinge(1.0) - hinge(self.s)


class Widens(Sigmoid):
    def dphi(self, m: Any) -> Any:
        return super().dphi(m).astype(np.float64)


class SeesTheBatch(Squared):
    def slope(self, z: Any, labels: Any) -> Any:
        return (z - labels) * (1.0 if z.shape[0] == 1 else 1.0 + 1e-9)


class Unshifted(Softmax):
    def value(self, z: Any, labels: Any) -> Any:
        return super().value(z, labels) + 1e-9 * np.sum(z, axis=-1)


class BelowZero(Sigmoid):
    def phi(self, m: Any) -> Any:
        return super().phi(m) - 0.5


class Steeper(Logistic):
    """The slope of its parent is larger than it says."""

    steepest = 0.5


class LooseSlope(Sigmoid):
    steepest = 0.5


class Unbounded(Huber):
    """Says that its curvature has no bound"""

    curvature = (0.0, inf)


class Bounded(Poisson):
    """Says that its curvature has a bound"""

    curvature = (0.0, 1e6)


class ForgetsBoth(SquaredSigmoid):
    """Its own ϕ and ϕ′, and the `both` of another loss."""

    def phi(self, m: Any) -> Any:
        return 2.0 * super().phi(m)

    def dphi(self, m: Any) -> Any:
        return 2.0 * super().dphi(m)


BROKEN: list[tuple[Loss, str]] = [
    (ForgetsBoth(), "both-is-value-and-slope"),
    (BelowZero(), "above-its-bound"),
    (Steeper(), "steepest-is-tight"),
    (LooseSlope(), "steepest-is-tight"),
    (WrongSlope(), "slope-is-derivative"),
    (WrongSlopeOfOneClass(), "slope-is-derivative"),
    (WrongBend(), "bend-is-derivative"),
    (SmallBend(), "bend-is-derivative"),
    (LooseCurvature(), "curvature-is-tight"),
    (LooseBelow(), "curvature-is-tight"),
    (TraceCurvature(), "curvature-is-tight"),
    (Unbounded(), "curvature-is-tight"),
    (Bounded(), "curvature-bounds-slopes"),
    (SmallCurvature(), "curvature-bounds-slopes"),
    (ConvexInName(), "curvature-bounds-slopes"),
    (SmallSoftmax(), "curvature-bounds-slopes"),
    (SwallowsNaN(), "nan-in-nan-out"),
    (Overflows(), "finite-when-huge"),
    (Saturates(), "asymptote-is-right"),
    (Cancels(s=0.1, width=0.3), "asymptote-is-right"),
    (Widens(), "finite-when-huge"),
    (SeesTheBatch(), "batch-is-one-by-one"),
    (Unshifted(), "classes-are-shift-invariant"),
    (WrongSlopeOfOneClass(), "two-classes-are-logistic"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[f"{type(f).__name__}:{law}" for f, law in BROKEN])
def test_broken_loss_is_refused(broken: Loss, law: str) -> None:
    with pytest.raises(LawBroken):
        LAWS[law](broken)


def test_every_law_refuses_something() -> None:
    assert {law for _, law in BROKEN} == set(LAWS)


def test_all_broken_laws_are_named_at_once() -> None:
    with pytest.raises(LawBroken, match="LooseCurvature breaks curvature-is-tight: .*0.25 is loose"):
        run(LAWS, LooseCurvature())
    assert run(LAWS, Logistic()) == list(LAWS)


def test_unknown_kind_of_labels_is_refused() -> None:
    class Ordinal(Logistic):
        labels = "ordinal"  # type: ignore[assignment]

    with pytest.raises(LawBroken, match="labels = 'ordinal'"):
        LAWS["slope-is-derivative"](Ordinal())


# ---- losses of a mean eᶻ, and offsets


@pytest.mark.parametrize("f", [Poisson(), Gamma(), NegativeBinomial(), NegativeBinomial(alpha=0.1)], ids=repr)
def test_a_log_link_is_half_the_deviance(f: Loss) -> None:
    """0 and flat where eᶻ is the label; minus the log likelihood of SciPy up to a function of the label."""
    from scipy import stats

    y, z = np.array([1.0, 3.0, 8.0])[:, None], np.linspace(-2.0, 3.0, 11)
    at = np.log(y)
    np.testing.assert_allclose(f.value(at, y), 0.0, atol=1e-14)
    np.testing.assert_allclose(f.slope(at, y), 0.0, atol=1e-14)
    mu = np.exp(z)
    if isinstance(f, Poisson):
        logs = stats.poisson.logpmf(y, mu)
    elif isinstance(f, Gamma):  # shape 1: the deviance does not depend on the dispersion
        logs = stats.gamma.logpdf(y, 1.0, scale=mu)
    else:
        r = 1.0 / f.alpha  # type: ignore[attr-defined]
        logs = stats.nbinom.logpmf(y, r, r / (r + mu))
    rest = f.value(np.broadcast_to(z, logs.shape), y) + logs
    np.testing.assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), rtol=1e-10)
    np.testing.assert_allclose(f.mean(z), mu, rtol=1e-15)


def test_a_score_far_above_every_count_is_a_number() -> None:
    """Above 40 the exponential is continued by its parabola: the loss, its slope and its bend stay continuous."""
    y, ends = np.ones(2), np.array([40.0 - 1e-9, 40.0 + 1e-9])
    for f, z in ((Poisson(), ends), (Gamma(), -ends)):
        for g in (f.value, f.slope, f.bend):
            below, above = g(z, y)
            assert below == pytest.approx(above, rel=1e-8)


@pytest.mark.parametrize("name", ["poisson", "gamma", "negative-binomial", "squared", "huber", "logistic"])
def test_an_offset_is_a_part_of_the_score(name: str) -> None:
    f, draw = LOSSES[name], np.random.default_rng(1)
    z, o = draw.normal(size=9), draw.normal(size=9)
    y = np.sign(draw.normal(size=9)) if f.labels == "binary" else draw.integers(1, 5, 9).astype(float)
    own, pairs = WithOffset(f), np.stack([y, o], axis=1)
    for g, h in ((own.value, f.value), (own.slope, f.slope), (own.bend, f.bend)):
        np.testing.assert_array_equal(g(z, pairs), h(z + o, y))
        both = np.stack([z, 2.0 * z])
        np.testing.assert_array_equal(g(both, pairs)[1], h(2.0 * z + o, y))
    assert own.curvature == f.curvature and own.lower == f.lower and own.steepest == f.steepest


# ---- one text for every array library


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ALL)
def test_formulas_run_in_another_array_namespace(name: str, dtype: str) -> None:
    f, draw = ALL[name], np.random.default_rng(4)
    z = (4.0 * draw.normal(size=(30, 3))).astype(dtype)
    y = draw.integers(3, size=30) if f.labels == "class" else np.sign(draw.normal(size=(30, 1))).astype(dtype)
    y = y if f.domain == "any" else np.abs(y)
    z[0], z[1] = np.nan, 1e4
    for g in (f.value, f.slope, f.bend):
        with np.errstate(all="ignore"):
            got = g(strict.asarray(z), strict.asarray(y))
        want = g(z, y)
        assert type(got) is type(strict.asarray(z))
        assert got.dtype == getattr(strict, dtype)
        assert want.dtype == dtype
        eps = float(np.finfo(dtype).eps)
        np.testing.assert_allclose(np.asarray(got), want, rtol=30 * eps, atol=30 * eps)


@pytest.mark.parametrize("name", [k for k, f in ALL.items() if f.labels != "class"])
def test_a_python_number_is_a_batch_of_one(name: str) -> None:
    f = ALL[name]
    for g in (f.value, f.slope, f.bend):
        assert float(g(0.3, 1.0)) == pytest.approx(float(g(np.array([0.3]), np.array([1.0]))[0]), rel=1e-15)


# ---- registry and settings


def test_names() -> None:
    assert loss("tukey") is LOSSES["tukey"]
    mine = Tukey(c=2.0)
    assert loss(mine) is mine
    with pytest.raises(BadSettings, match="did you mean 'logistic'"):
        loss("logistc")


def test_default_scales() -> None:
    assert (Tukey().c, Huber().c, Welsch().c, Cauchy().c, GemanMcClure().c) == (4.685, 1.345, 1.0, 1.0, 1.0)
    assert SmoothedRamp() == SmoothedRamp(s=0.0, width=0.5)


@pytest.mark.parametrize("c", [0.0, -1.0, float("nan"), float("inf"), "1", None, True])
@pytest.mark.parametrize("kind", [Welsch, Cauchy, GemanMcClure, Tukey, Huber])
def test_scale_must_be_positive(kind: type[Residual], c: Any) -> None:
    with pytest.raises(BadSettings, match="^c = "):
        kind(c=c)


@pytest.mark.parametrize(
    ("s", "width", "blamed"),
    [
        (0.0, 0.0, "width"),
        (0.0, 1.01, "width"),
        (0.5, 0.6, "width"),
        (1.0, 0.1, "width"),
        (0.0, float("nan"), "width"),
        (2.0, 0.1, "s"),
        (float("nan"), 0.1, "s"),
        (-float("inf"), 0.1, "s"),
    ],
)
def test_ramp_settings(s: float, width: float, blamed: str) -> None:
    with pytest.raises(BadSettings, match=f"^{blamed} = "):
        SmoothedRamp(s=s, width=width)


def test_a_new_loss_is_three_formulas() -> None:
    @dataclass(frozen=True)
    class Savage(Margin):
        """ϕ(m) = 4σ(−m)²: four times the squared sigmoid"""

        @property
        def curvature(self) -> tuple[float, float]:
            lo, hi = SquaredSigmoid().curvature
            return 4 * lo, 4 * hi

        def phi(self, m: Any) -> Any:
            return 4 * SquaredSigmoid().phi(m)

        def dphi(self, m: Any) -> Any:
            return 4 * SquaredSigmoid().dphi(m)

        def ddphi(self, m: Any) -> Any:
            return 4 * SquaredSigmoid().ddphi(m)

    assert run(LAWS, Savage()) == list(LAWS)


@pytest.mark.parametrize("name", ["geman-mcclure", "cauchy", "welsch", "tukey", "huber"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_residuals_whose_square_overflows(name: str, dtype: type) -> None:
    """φ, φ′ and φ″ are numbers at any finite residual; that of Geman and McClure was NaN beyond 1e154."""
    loss, big = LOSSES[name], float(np.finfo(dtype).max)
    for size in (1e5, 1e9, big**0.49, big**0.51, big / 4):
        z, zero = np.array([size, -size], dtype), np.zeros(2, dtype)
        with np.errstate(all="ignore"):
            assert not np.isnan([loss.value(z, zero), loss.slope(z, zero), loss.bend(z, zero)]).any(), size
        if name == "geman-mcclure":
            assert loss.value(z, zero).tolist() == pytest.approx([0.5, 0.5], rel=1e-9)
    if name == "geman-mcclure":
        assert np.isnan(loss.value(np.array([np.nan], dtype), zero[:1])).all()


# ---- several targets


@pytest.mark.parametrize("law", LAWS)
def test_the_squared_loss_of_several_targets_keeps_the_laws(law: str) -> None:
    LAWS[law](MultiSquared())


@pytest.mark.parametrize(
    ("part", "law"),
    [("value", "slope-is-derivative"), ("bend", "bend-is-derivative"), ("curvature", "curvature-is-tight")],
)
def test_a_broken_one_does_not(part: str, law: str) -> None:
    class Broken(MultiSquared):
        curvature = (1.0, 1.5) if part == "curvature" else (1.0, 1.0)

        def value(self, z: Any, labels: Any) -> Any:
            return super().value(z, labels) * (2.0 if part == "value" else 1.0)

        def bend(self, z: Any, labels: Any) -> Any:
            return super().bend(z, labels) * (0.5 if part == "bend" else 1.0)

    with pytest.raises(LawBroken):
        LAWS[law](Broken())
