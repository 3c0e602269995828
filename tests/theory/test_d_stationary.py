"""What "d-stationary" says, against directional derivatives and all extreme subgradients, for few unknowns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt.regularizers import (
    MCP,
    REGULARIZERS,
    CappedL1,
    Except,
    Exponential,
    L1MinusL2,
    Profiled,
    Regularizer,
    TopK,
    reweighted,
)

D = 5
PENALTIES = {
    "top-1": TopK(0.4, 1),
    "top-3": TopK(0.4, 3),
    "top-all": TopK(0.4, 9),
    "top-3 with an intercept": Except(TopK(0.4, 3)),
    "l1 - l2": L1MinusL2(0.4),
    "l1 - l2/2": L1MinusL2(0.4, beta=0.5),
    "capped": CappedL1(0.4, theta=0.5),
    "capped, weights": CappedL1(0.4, theta=0.5, weights=[0.0, 0.5, 1.0, 2.0, 1.0]),
    "capped, groups": CappedL1(0.4, theta=0.5, groups=[[0, 3], [1, 2], [4]], weights=[1.0, 2.0, 0.5]),
    "capped, reweighted": reweighted(CappedL1(0.4, theta=0.5)),
}
METHODS = ["dca", "auto", "dca-page", "bdca", "pdcae"]


def problem(r: Regularizer, seed: int, size: float = 1.0) -> dcopt.Problem:
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(30, D)) @ (np.eye(D) + 0.5 * draw.random((D, D)))
    return dcopt.erm(A, size * (A @ draw.normal(size=D) + draw.normal(size=30)), "squared", r)


def tied(seed: int) -> np.ndarray:
    """Entries of ±1/2 and zeros, now and then some other number; the first one is 0."""
    draw = np.random.default_rng(seed)
    x = draw.choice([-0.5, 0.0, 0.5], size=D) * (seed > 0)
    return np.where(draw.random(D) < 0.1 * (seed > 2), draw.normal(size=D), x)


def slopes(P: dcopt.Problem, x: np.ndarray, directions: np.ndarray, t: float = 1e-7) -> np.ndarray:
    """F'(x; d) for the rows d of length 1: that of f from its gradient, that of r by a difference."""
    g = P.f.all().grad(x)
    return np.array([g @ d + (P.r.value(x + t * d) - P.r.value(x)) / t for d in directions])


def directions(P: dcopt.Problem, x: np.ndarray) -> np.ndarray:
    """All sign patterns, plain and times |∇f|, the steps of soft thresholds, and random ones."""
    u = -P.f.all().grad(x)
    signs = np.array([s for s in product((-1.0, 0.0, 1.0), repeat=D) if any(s)])
    soft = [np.sign(u) * np.maximum(np.abs(u) - c, 0.0) for c in (0.0, 0.2, 0.4, 0.8)]
    draw = np.random.default_rng(0).normal(size=(200, D))
    found = np.concatenate([signs, signs * np.abs(u), np.array(soft) + 1e-300, draw])
    length = np.linalg.norm(found, axis=1)
    return found[length > 1e-200] / length[length > 1e-200, None]


def extreme(r: Regularizer, x: np.ndarray) -> Iterator[np.ndarray]:
    """Every extreme point of ∂r2(x), from the definitions."""
    if isinstance(r, Except):
        yield from (np.append(w, np.zeros(r.last)) for w in extreme(r.of, x[: -r.last]))
    elif isinstance(r, TopK):
        a, k = np.sort(np.abs(x))[::-1], min(r.k, len(x))
        for T in combinations(range(len(x)), k):
            if np.abs(x[list(T)]).sum() == a[:k].sum():
                for signs in product(*([np.sign(x[i])] if x[i] else [-1.0, 1.0] for i in T)):
                    w = np.zeros(len(x))
                    w[list(T)] = r.lam * np.array(signs)
                    yield w
    else:
        r = getattr(r, "of", r)
        assert isinstance(r, CappedL1)
        groups = r.groups or [[j] for j in range(len(x))]
        weights = r.weights or [1.0] * len(groups)
        sides = []
        for group in groups:
            size = np.linalg.norm(x[list(group)])
            sides.append([0.0, 1.0] if abs(size - r.theta) < 1e-12 else [float(size > r.theta)])
        for side in product(*sides):
            w = np.zeros(len(x))
            for group, weight, one in zip(groups, weights, side, strict=True):
                if one:
                    w[list(group)] = r.lam * weight * x[list(group)] / np.linalg.norm(x[list(group)])
            yield w


@pytest.mark.parametrize("name", PENALTIES)
def test_the_critical_distance_is_the_steepest_slope(name: str) -> None:
    """d(x) = max_w dist(−∇f(x) + w, ∂r1(x)) = max_|d|=1 −F'(x; d), at ties as well."""
    r, kinked = PENALTIES[name], 0
    for seed in range(25):
        P, x = problem(r, seed, 0.2 + seed % 3), tied(seed)
        d = dcopt.measures.criticality(P, x)
        steepest = float(np.max(-slopes(P, x, directions(P, x))))
        assert d >= steepest - 1e-5, seed
        assert (dcopt.measures.gap(P, x) > 1e-12) == (d > 1e-4), seed
        u = -P.f.all().grad(x)
        if isinstance(r, L1MinusL2):
            if not x.any():
                assert d == pytest.approx(max(steepest, 0.0), abs=1e-5), seed
                kinked += 1
            continue
        every = [r.distance(u + w, x) for w in extreme(r, x)]
        assert d == pytest.approx(max(every), rel=1e-12, abs=1e-12), seed
        kinked += min(every) < max(every) - 1e-3
    assert kinked >= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PENALTIES)
def test_runs_end_where_f_falls_in_no_direction(name: str, method: str) -> None:
    """From 0 and from points of ties: none ends at a kink at which F falls, and the certificate says so."""
    for seed in range(3):
        P = problem(PENALTIES[name], seed, (0.1, 1.0, 3.0)[seed])
        for x0 in (np.zeros(D), np.full(D, 0.5), tied(seed + 3)):
            res = dcopt.solve(P, method, atol=1e-7, x0=x0, seed=seed, passes=30_000)
            assert res.status.name == "CONVERGED", (seed, x0, str(res))
            assert res.certificate.kind == "d-stationary" and ": d-stationary at step" in str(res.certificate)
            assert float(np.min(slopes(P, res.x, directions(P, res.x), 1e-8))) >= -1e-6, (seed, x0)
            assert P.value(res.x) <= P.value(x0) + 1e-12


def three_features() -> tuple[np.ndarray, np.ndarray]:
    draw, true = np.random.default_rng(0), np.zeros(30)
    A = draw.normal(size=(200, 30))
    true[[1, 5, 9]] = [3.0, -2.0, 1.5]
    return A, A @ true + 0.3 * draw.normal(size=200)


@pytest.mark.parametrize("lam", [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0])
def test_the_trimmed_lasso_finds_its_features_from_0(lam: float) -> None:
    """0 is critical for λ ≥ max |∇f(0)|, and F falls from there along each of the features at no penalty."""
    A, t = three_features()
    trimmed, plain = dcopt.problems.trimmed_lasso(A, t, k=3, lam=lam), dcopt.erm(A, t, "squared", TopK(lam, 3))
    for P, method in product((trimmed, plain), ("dca", "auto")):
        res = dcopt.solve(P, method, atol=1e-6, seed=0)
        assert res.success and np.flatnonzero(res.x).tolist() == [1, 5, 9] and res.certificate.F < 0.0456
    for penalty in (TopK(lam=1.0, k=3), L1MinusL2(lam=1.0)):
        fit = dcopt.DCRegressor(penalty=penalty, lam=lam).fit(A, t)
        assert fit.status_ == "CONVERGED" and fit.coef_.any() and ": d-stationary at step" in str(fit.certificate_)


def test_the_lagged_gap_takes_the_w_of_the_step() -> None:
    """From a kink too, an exact step ends where the program of the previous point is solved."""
    P = problem(TopK(0.4, 3), 0)
    steps = dcopt.iterate(P, "dca", seed=0)
    prev, state = np.zeros(D), next(steps)
    assert dcopt.measures.lagged_gap(P, state.x, prev) < 1e-12 < 1e-3 < dcopt.measures.gap(P, prev)


def test_the_scale_of_a_tolerance_does_not_grow_with_the_penalty() -> None:
    """It is the gradient's length at 0, to which the chosen w does not belong."""
    sizes = [dcopt.measures.scale(problem(TopK(lam, 3), 0)) for lam in (0.1, 100.0)]
    g = problem(TopK(0.1, 3), 0).f.all().grad(np.zeros(D))
    assert sizes == [pytest.approx(np.linalg.norm(g), rel=1e-12)] * 2


def test_on_a_stream_0_is_left_too() -> None:
    """The gradient that chooses is an estimate in the steps, and that of the held-out sample in the certificate."""
    A, t = three_features()
    blocks = ((A[i : i + 20], t[i : i + 20]) for _ in range(60) for i in range(0, 200, 20))
    P = dcopt.stream(blocks, "squared", TopK(5.0, 3), kappa=60.0, holdout=200)
    assert dcopt.measures.criticality(P, np.zeros(30)) > 1.0
    res = dcopt.solve(P, "dca-page", samples=8000, atol=0.5, seed=0)
    assert np.flatnonzero(res.x).tolist() == [1, 5, 9] and res.certificate.kind == "d-stationary"


@dataclass(frozen=True)
class NoChoice(TopK):
    """A regularizer of one's own that knows some subgradient, and not which others there are."""

    certifies = Regularizer.certifies

    def steepest(self, x: Any, down: Any) -> Any:
        return self.subgrad(x)


@dataclass(frozen=True)
class Bends(Profiled):
    """ψ' = λ on [0, 1/2), λ/2 on (1/2, 1), 0 beyond"""

    @property
    def slope0(self) -> float:
        return self.lam

    @property
    def profile_L2(self) -> float | None:
        return None if self.lam > 0.0 else 0.0

    def psi(self, a: Any) -> Any:
        return self.lam / 2 * (np.minimum(a, 0.5) + np.minimum(a, 1.0))

    def dpsi(self, a: Any) -> Any:
        slope = np.where(a <= 0.5, self.lam, np.where(a <= 1.0, self.lam / 2, 0.0))
        return slope.astype(a.dtype) + 0.0 * np.minimum(a, 1.0)


class BendsToldWhere(Bends):
    @property
    def jumps(self) -> tuple[tuple[float, float, float], ...]:
        return ((0.5, self.lam, self.lam / 2), (1.0, self.lam / 2, 0.0)) if self.lam > 0.0 else ()


def test_what_a_regularizer_certifies() -> None:
    """"critical" where r2 has kinks and nobody chooses; the two are one where it has none."""
    assert {r.certifies for r in REGULARIZERS.values()} == {"d-stationary"}
    assert NoChoice(0.1, 2).certifies == Except(NoChoice(0.1, 2)).certifies == Bends(0.1).certifies == "critical"
    assert NoChoice(0.0, 2).certifies == Except(Bends(0.0)).certifies == BendsToldWhere(0.1).certifies == "d-stationary"
    for r in (NoChoice(0.1, 2), Bends(0.1), BendsToldWhere(0.1), BendsToldWhere(0.1, groups="rows")):
        assert "steepest-is-farthest" in dcopt.check(r)
    A, t = three_features()
    res = dcopt.solve(dcopt.erm(A, t, "squared", NoChoice(5.0, 3)), "dca", atol=1e-8)
    assert res.success and not res.x.any()  # F falls from there, and nothing else is claimed
    assert "<= tol 1e-08: critical at step" in str(res)
    res = dcopt.solve(dcopt.erm(A, t, "squared", MCP(0.1)), "dca", atol=1e-12, steps=1)
    assert "> tol 1e-12 at step" in str(res) and "stationary" not in str(res)


def refuse() -> np.ndarray:
    raise AssertionError("asked for −∇f where there is no tie")


@pytest.mark.parametrize("r", [*PENALTIES.values(), Exponential(0.1, 5.0), MCP(0.1)], ids=str)
def test_away_from_kinks_nothing_is_chosen(r: Regularizer) -> None:
    """The same bits as `subgrad` gives, and −∇f is not asked for."""
    for dtype, seed in product((np.float32, np.float64), range(5)):
        x = np.random.default_rng(seed).normal(size=D).astype(dtype)
        np.testing.assert_array_equal(r.steepest(x, refuse), r.subgrad(x), strict=True)
        if not isinstance(r, (TopK, Except)) or seed > 3:
            continue
        x[np.argsort(np.abs(x))[:1]] = 0.0  # a zero that is not among the k largest
        if getattr(getattr(r, "of", r), "k", 9) < D - 1:
            np.testing.assert_array_equal(r.steepest(x, refuse), r.subgrad(x), strict=True)


def test_ties_of_other_numbers() -> None:
    """float32, infinite slopes, −0.0 and rows of x."""
    r, u = CappedL1(0.4, theta=0.1), np.array([1.0, 0.01, -1.0], np.float32)
    x = np.array([0.1, 0.1, 0.1], np.float32)  # the θ of float32
    assert r.steepest(x, u.copy).tolist() == [pytest.approx(0.4), 0.0, 0.0]
    assert r.steepest(x, u.copy).dtype == np.float32
    w = L1MinusL2(0.4).steepest(np.zeros(3), lambda: np.array([3e200, -4e200, 0.1]))
    np.testing.assert_allclose(w, [0.24, -0.32, 0.0], rtol=1e-12)
    np.testing.assert_array_equal(L1MinusL2(0.4).steepest(np.zeros(3), lambda: np.zeros(3)), np.zeros(3))
    x = np.array([[0.0, -0.0], [-0.5, 0.5]])
    w = TopK(0.4, 3).steepest(x, lambda: np.array([[-1.0, 2.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(w, [[0.0, 0.4], [-0.4, 0.4]])
    w = TopK(0.4, 1).steepest(x, lambda: np.array([[-1.0, 2.0], [-3.0, 2.0]]))
    np.testing.assert_array_equal(w, [[0.0, 0.0], [-0.4, 0.0]])
    w = CappedL1(0.4, theta=5.0, groups="rows").steepest(
        np.array([[3.0, 4.0], [0.0, 5.0]]), lambda: np.array([[0.3, 0.4], [9.0, -1.0]])
    )
    np.testing.assert_allclose(w, [[0.24, 0.32], [0.0, 0.0]], rtol=1e-12)
