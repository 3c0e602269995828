"""Regularizers of singular values keep the laws, and do what formulas of their own say, at ties too."""

from __future__ import annotations

import math
from dataclasses import dataclass

import array_api_strict as strict
import cvxpy as cp
import numpy as np
import pytest

import dcopt
from dcopt.convex import Diagonal
from dcopt.errors import BadSettings
from dcopt.laws.base import LawBroken, run
from dcopt.laws.regularizers import LAWS
from dcopt.regularizers import Except, NuclearMinusKyFan, Regularizer, SpectralBall

PENALTIES = [NuclearMinusKyFan(0.15, k) for k in (0, 1, 2, 5)] + [Except(NuclearMinusKyFan(0.15, 2), 2)]
BALLS = [SpectralBall(), SpectralBall(2.5), Except(SpectralBall())]


@pytest.mark.parametrize("r", [*PENALTIES, *BALLS], ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_law(r: Regularizer, law: str) -> None:
    LAWS[law](r)


# ---- what the laws must refuse


class NoThreshold(NuclearMinusKyFan):
    def prox(self, v, step):
        return super().prox(v, 0.9 * step)


class AnyOfATie(NuclearMinusKyFan):
    def steepest(self, x, down):
        return self.subgrad(x)


class OffTheMark(NuclearMinusKyFan):
    def distance(self, u, x):
        return float(np.linalg.norm(u))


class OneMore(NuclearMinusKyFan):
    def subgrad(self, x):
        return NuclearMinusKyFan(self.lam, self.k + 1).subgrad(x)


@dataclass(frozen=True)
class ByEntries(SpectralBall):
    def prox(self, v, step):
        return np.clip(v, -self.radius, self.radius)


class AllIsNormal(SpectralBall):
    def distance(self, u, x):
        return 0.0


BROKEN = [
    (NoThreshold(0.15, 1), "prox-minimizes"),
    (AnyOfATie(0.15, 2), "steepest-is-farthest: F falls faster"),
    (OffTheMark(0.15, 1), "distance-is-exact"),
    (OneMore(0.15, 1), "subgrad-supports-r2"),
    (ByEntries(), "prox-minimizes"),
    (AllIsNormal(), "distance-is-exact"),
]


@pytest.mark.parametrize("r, says", BROKEN, ids=lambda v: type(v).__name__)
def test_a_broken_one_is_refused(r: Regularizer, says: str) -> None:
    with pytest.raises(LawBroken) as caught:
        run(LAWS, r)
    assert says in str(caught.value)


# ---- formulas of their own


@pytest.mark.parametrize("shape", [(5, 5), (6, 4), (3, 7)])
def test_values_and_prox_are_those_of_singular_values(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    r = NuclearMinusKyFan(0.3, 2)
    for _ in range(10):
        X = draw.normal(size=shape)
        U, s, Vt = np.linalg.svd(X, full_matrices=False)
        assert r.r1(X) == pytest.approx(0.3 * s.sum()) and r.value(X) == pytest.approx(0.3 * s[2:].sum())
        np.testing.assert_allclose(r.prox(X, 2.0), U * np.maximum(s - 0.6, 0.0) @ Vt, atol=1e-13)
        np.testing.assert_allclose(r.subgrad(X), 0.3 * U[:, :2] @ Vt[:2], atol=1e-13)
        np.testing.assert_allclose(SpectralBall(0.7).prox(X, 2.0), U * np.minimum(s, 0.7) @ Vt, atol=1e-13)


def test_projections_are_the_oracles() -> None:
    draw = np.random.default_rng(1)
    for _ in range(5):
        V = 2.0 * draw.normal(size=(5, 3))
        X = cp.Variable((5, 3))
        cp.Problem(cp.Minimize(cp.sum_squares(X - V)), [cp.sigma_max(X) <= 1.0]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(SpectralBall().prox(V, 1.0), X.value, atol=1e-4)
        cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X - V) + 0.6 * cp.normNuc(X))).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(NuclearMinusKyFan(0.3).prox(V, 2.0), X.value, atol=1e-4)


def tied(seed: int) -> np.ndarray:
    """A (5, 4) matrix with the singular values 2, 1, 1, 0 or, every second time, 1, 1, 1, 1."""
    draw = np.random.default_rng(seed)
    U, V = (np.linalg.qr(draw.normal(size=(d, 4)))[0] for d in (5, 4))
    return U * ([2.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0])[seed % 2] @ V.T


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_at_ties_the_distance_is_the_steepest_descent(k: int, seed: int) -> None:
    """dist(u + w, ∂r₁(x)) = max −F'(x; d), by F itself: no direction is steeper, and one is as steep."""
    lam, t, x, draw = 0.4, 1e-6, tied(seed), np.random.default_rng(seed)
    r, u = NuclearMinusKyFan(lam, k), 0.5 * draw.normal(size=x.shape)
    d = r.distance(u + r.steepest(x, lambda: u), x)

    def fall(e: np.ndarray) -> float:
        e = e / np.linalg.norm(e)
        return float(np.sum(u * e)) - (r.value(x + t * e) - r.value(x)) / t

    assert max(fall(draw.normal(size=x.shape)) for _ in range(500)) <= d + 1e-5
    step = r.prox(x + t * (u + r.steepest(x, lambda: u)), t) - x  # the DCA step, which is short
    assert fall(step) >= d - 1e-4


def test_away_from_ties_nothing_is_chosen() -> None:
    def refuse() -> np.ndarray:
        raise AssertionError("asked for −∇f where there is no tie")

    x = np.random.default_rng(0).normal(size=(6, 4))
    for k in (1, 2, 4, 9):
        r = NuclearMinusKyFan(0.4, k)
        assert np.array_equal(r.steepest(x, refuse), r.subgrad(x))


def test_rank_and_float32() -> None:
    draw = np.random.default_rng(0)
    X = (draw.normal(size=(30, 3)) @ draw.normal(size=(3, 20))).astype(np.float32)
    r = NuclearMinusKyFan(0.3, 3)
    assert r.rank(X) == 3 and r.rank(X.astype(np.float64)) == 20
    single = r.rounded(np.float32)  # It knows that points checked in float64 were of float32.
    assert single == r and single.rank(X.astype(np.float64)) == 3 and single.rounded(np.float32) is single
    assert r.prox(X, 0.5).dtype == np.float32
    u = 0.3 * np.linalg.svd(X.astype(np.float64), full_matrices=False)[0][:, :3] @ np.zeros((3, 20))
    assert single.distance(u + single.subgrad(X.astype(np.float64)), X.astype(np.float64)) < 1e-5


@pytest.mark.parametrize("r", [NuclearMinusKyFan(0.15, 2), SpectralBall()], ids=str)
def test_the_text_is_array_api(r: Regularizer) -> None:
    draw = np.random.default_rng(2)
    for shape in ((6,), (6, 3)):
        x, u = r.prox(2 * draw.normal(size=shape), 0.1), draw.normal(size=shape)
        sx, su = strict.asarray(x), strict.asarray(u)
        assert r.value(sx) == pytest.approx(r.value(x), rel=1e-13)
        assert r.distance(su, sx) == pytest.approx(r.distance(u, x), rel=1e-13)
        for t in (x, 0.0 * x):
            w = r.steepest(strict.asarray(t), lambda su=su: su)
            np.testing.assert_allclose(np.asarray(w), r.steepest(t, u.copy), rtol=1e-13)
        np.testing.assert_allclose(np.asarray(r.prox(su, 0.7)), r.prox(u, 0.7), rtol=1e-12, atol=1e-15)


def test_bad_settings_and_steps() -> None:
    for bad in (-1, 1.5, None, True):
        with pytest.raises(BadSettings, match="k"):
            NuclearMinusKyFan(0.1, bad)
    for bad in (-1.0, math.nan, None):
        with pytest.raises(BadSettings, match="lam"):
            NuclearMinusKyFan(bad, 1)
        with pytest.raises(BadSettings, match="radius"):
            SpectralBall(bad)
    x = np.ones((3, 2))
    for r in (NuclearMinusKyFan(0.1, 1), SpectralBall()):
        with pytest.raises(BadSettings, match="(?s)step = .*one number"):
            r.prox(x, np.full(x.shape, 0.3))
        P = dcopt.Problem(Diagonal(np.ones(3)), f=dcopt.Function(lambda x: 0.0, np.zeros_like, (3, 2)), r=r)
        assert type(dcopt.METHODS["dca"].ready(P).solver).__name__ == "FISTA"  # its steps are numbers


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_stays_so(bad: float) -> None:
    x = np.ones((3, 2))
    broken = x.copy()
    broken[1, 0] = bad
    for r in (NuclearMinusKyFan(0.1, 1), SpectralBall()):
        assert np.isnan(r.prox(broken, 0.5)).all() and not r.value(broken) <= 1e300
        assert not math.isfinite(r.distance(broken, x)) and not math.isfinite(r.distance(x, broken))
    assert np.isnan(NuclearMinusKyFan(0.1, 2).steepest(0.0 * x, lambda: broken)).all()
