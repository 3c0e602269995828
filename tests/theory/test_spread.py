"""How much of the steps' lengths the error of an estimator is, and what a metric made of the data makes of it."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from small import matrix, signs, targets

import dcopt
from dcopt.convex import Majorizer, variance_smoothness
from dcopt.draw import Draw
from dcopt.errors import CannotSolve
from dcopt.estimators import PAGE, SAG, SAGA, SARAH, SVRG, Fresh, Full, LooplessSVRG
from dcopt.methods import METHODS, as_method
from dcopt.regularizers import SCAD
from dcopt.theory.formulas import spread, steady

N, D, T, RUNS = 30, 3, 60, 150
OWN = {
    "page": PAGE(p=0.2, b_small=3),
    "page-once": PAGE(p=1.0, b_small=3),
    "page-sequence": PAGE(p=(0.0,) * 7 + (1.0, 0.1, 0.5, 0.3), b_small=3),
    "sarah": SARAH(b_small=3, period=6),
    "svrg": SVRG(b_small=3, period=6),
    "loopless-svrg": LooplessSVRG(b_small=3, q=0.2),
    "saga": SAGA(b=6),
    "saga-distinct": SAGA(b=6, sampling="distinct"),
    "page-distinct": PAGE(p=0.2, b_small=15, sampling="distinct"),
    "page-all": PAGE(p=0.2, b_small=30, sampling="distinct"),
    "sarah-distinct": SARAH(b_small=15, period=6, sampling="distinct"),
    "svrg-distinct": SVRG(b_small=15, period=6, sampling="distinct"),
    "loopless-svrg-distinct": LooplessSVRG(b_small=15, q=0.2, sampling="distinct"),
    "sag": SAG(b=6),
    "full": Full(),
}


@pytest.mark.parametrize("estimator", OWN.values(), ids=OWN)
@pytest.mark.parametrize("walk", ["straight", "there and back"])
def test_errors_are_below_the_bound_and_not_far_below(estimator: Any, walk: str) -> None:
    """Σ E‖g_t − ∇f(x_t)‖² ≤ s² L_v² Σ‖x_{t+1} − x_t‖², over seeds, on a walk that was fixed before."""
    X = matrix(N, D)
    f = dcopt.erm(X, targets(X), "squared").sum
    values, vectors = np.linalg.eigh((X.T * np.sum(X * X, axis=1)) @ X / N)
    step, L_v = vectors[:, -1], np.sqrt(values[-1])  # where the bound is an equality: rows as they are
    signs_of = np.ones(T) if walk == "straight" else np.where(np.arange(T) // 4 % 2, -1.0, 1.0)
    path = np.concatenate((np.zeros((1, D)), np.cumsum(signs_of[:, None] * step, axis=0)))
    errors = 0.0
    for seed in range(RUNS):
        estimate = estimator.start(f, path[0], Draw(seed, 0))
        for t in range(1, T):
            estimate = estimator.step(f, path[t], path[t - 1], estimate.memory, Draw(seed, t))
            errors += float(np.sum((estimate.g - f.all().grad(path[t])) ** 2)) / RUNS
    s = estimator.spread(N)
    if s == 0.0:
        assert errors < 1e-20
    else:
        share = errors / (s * s * L_v * L_v * T)
        assert share <= 1.05
        assert walk != "straight" or type(estimator) is SAG or share > 0.2  # steps are not asked to be far too short


def test_the_spread_of_page_is_that_of_the_plans() -> None:
    assert PAGE(p=0.1, b_small=7).spread(100) == spread(0.1, 7)
    assert SARAH(b_small=4, period=1).spread(100) == SVRG(b_small=4, period=1).spread(100) == 0.0
    assert LooplessSVRG(b_small=4, q=1.0).spread(100) == Fresh(b=3).spread(100) == 0.0


def test_the_spread_of_a_sequence() -> None:
    """One probability is the sequence of one; in general, the largest sum that the recursion leaves to a step."""
    assert PAGE(p=(0.1,), b_small=7).spread(100) == PAGE(p=(0.1, 0.1, 0.1), b_small=7).spread(100) == spread(0.1, 7)
    assert PAGE(p=(1.0, 1.0), b_small=3).spread(9) == 0.0
    p = (0.3, 0.0, 0.0, 0.9, 0.05, 0.2)
    at = np.array(p + (0.2,) * 2000)  # at[t − 1] = p_t
    sums = [sum(np.cumprod(1.0 - at[j : j + 1500])) for j in range(20)]  # of step j, over t > j
    assert PAGE(p=p, b_small=5).spread(100) == pytest.approx(np.sqrt(max(sums) / 5), rel=1e-12)
    assert max(sums) > sums[-1]


def test_mm_saga_has_the_batches_that_its_theory_asks_for() -> None:
    """b = (4N)^(2/3): s = 2N/b^(3/2) (1 + o(1)) = ½, and κ = L/2 + s L is the paper's L."""
    for n in (10**5, 10**7):
        b = int((4 * n) ** (2 / 3))
        assert SAGA(b=b).spread(n) == pytest.approx(0.5, rel=0.05)


LARGE = [
    PAGE(p=0.2, b_small=40), SARAH(b_small=40, period=5), SVRG(b_small=40, period=5), LooplessSVRG(b_small=40, q=0.2),
    SAGA(b=80), SAG(b=120),
]  # fmt: skip


@pytest.mark.parametrize("decomposition", ["diagonal", "gram"])
@pytest.mark.parametrize("estimator", LARGE, ids=lambda e: type(e).__name__)
def test_every_estimator_descends_in_a_metric_made_of_the_data(estimator: Any, decomposition: str) -> None:
    """On average over seeds, with the τ that its spread asks for; and it ends at a critical point."""
    X = matrix(200, 5)
    P = dcopt.erm(X, signs(X), "squared-sigmoid", SCAD(lam=0.005), decomposition=decomposition)
    G = as_method(estimator).ready(P).P.G
    assert isinstance(G, Majorizer) and G.tau == pytest.approx(
        steady(estimator.spread(200) * G.tau * variance_smoothness(P.f, G)), rel=1e-6  # type: ignore[arg-type]
    )
    paths = [
        [P.value(s.x) for s in islice(dcopt.iterate(P, estimator, seed=seed), 0, 100, 10)] for seed in range(5)
    ]
    F = np.mean(paths, axis=0)
    assert np.all(np.diff(F) <= 1e-9) and F[-1] < F[0] - 1e-3
    end = dcopt.solve(P, estimator, atol=1e-3, passes=3000, seed=0, trace=None)
    assert end.success and dcopt.measures.criticality(P, end.x) <= 1e-3


def test_the_quadratic_is_outside_where_g_is_made_of_the_data() -> None:
    X = matrix(200, 5)
    P = dcopt.erm(X, signs(X), decomposition="gram")
    for name in ("dca-saga", "sdca"):
        assert METHODS[name].ready(P).estimator.quadratic == "outside"  # type: ignore[attr-defined]


class Unknown:
    """An estimator that does not say how long steps may be."""

    def check(self, n: Any) -> None: ...

    def start(self, sum: Any, x: Any, draw: Draw) -> Any:
        return Full().start(sum, x, draw)

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Any:
        return self.start(sum, x, draw)


def test_spreads_of_rare_visits_are_numbers() -> None:
    assert LooplessSVRG(b_small=1, q=1e-17).spread(10) == pytest.approx(2e17)
    assert SAGA(b=1).spread(10**18) == pytest.approx(2e18) and SAG(b=1).spread(1) == 0.0


def test_one_that_does_not_say_is_refused() -> None:
    X = matrix(40, 5)
    for estimator in (PAGE(p=0.2, b_small=3, sampling="cyclic"), SAGA(b=3, sampling="cyclic")):  # no random sample
        with pytest.raises(CannotSolve, match="in order"):
            dcopt.solve(dcopt.erm(X, signs(X), decomposition="diagonal"), estimator, steps=1)
    with pytest.raises(CannotSolve, match="spread"):
        dcopt.solve(dcopt.erm(X, signs(X), decomposition="gram"), Unknown(), steps=1)
    assert dcopt.solve(dcopt.erm(X, signs(X)), Unknown(), steps=1).steps == 1
