"""The laws of the bias and the variance of an estimator: expectations over all draws, which are finite sums."""

from __future__ import annotations

import numpy as np

from ..estimators import PAGE, SAG, SVRG, Estimator, Fresh
from ..xp import Array
from .base import Law, demand
from .four_rows import N, gradients, points, variance_smoothness2
from .walks import KNOWN, cases, coin, everywhere, in_order, near, outcomes, refresh, spread, steps, term, truth


def starts_unbiased(estimator: Estimator) -> None:
    """E g_0 = ∇f(x_0), and ∇G is taken at x_0"""
    if in_order(estimator):
        return
    for f in cases(estimator):
        x = points(f, 1)[0]
        ends = outcomes(0, coin(estimator), lambda draw, f=f, x=x: estimator.start(f, x, draw))  # type: ignore[misc]
        near(sum(chance * term(x, end) for chance, end in ends), truth(f, x), "the first estimate is biased")


def bias_is_the_methods(estimator: Estimator) -> None:
    """E y_t − ∇H(x_t) = 0, or (1−p)(y_{t−1} − ∇H(x_{t−1})) for PAGE, or P(row not drawn)(y_{t−1} − ∇H(x_t)) for SAG"""
    if in_order(estimator) or not isinstance(estimator, KNOWN):
        return
    for f in cases(estimator):
        for at in steps(estimator, f):
            want = truth(f, at.x)
            if isinstance(estimator, PAGE):
                want = want + (1.0 - refresh(estimator, at.t)) * (term(at.prev, at.before) - truth(f, at.prev))
            elif isinstance(estimator, SAG):
                b = estimator.b
                missed = 1.0 - b / N if estimator.sampling == "distinct" else (1.0 - 1.0 / N) ** b
                now = at.prev if estimator.quadratic == "inside" else at.x  # outside, ∇G is never stale
                want = want + missed * (term(now, at.before) - want)
            mean = sum(chance * term(at.x, end) for chance, end in everywhere(estimator, f, at))
            near(mean, want, f"E y is not what {type(estimator).__name__} promises at step {at.t}")


def variance_recursion(estimator: Estimator) -> None:
    """PAGE: E‖e_t‖² ≤ (1−p)(‖e_{t−1}‖² + L_v²/b' ‖x_t − x_{t−1}‖²) [+ p σ²/b]; SVRG: from the snapshot, without e_{t−1}

    Fresh samples: E‖e_t‖² = σ²(x_t)/b_t, and 0 once b_t ≥ N.

    Without replacement b' counts (N−1)/(N−b') times. The recursion is also met with equality, with the variance of the
    ∇f_i(x_t) − ∇f_i(x_{t−1}) themselves in place of L_v²‖x_t − x_{t−1}‖².
    """
    if in_order(estimator) or not isinstance(estimator, (Fresh, PAGE, SVRG)):
        return
    if isinstance(estimator, Fresh):
        return _fresh_variance(estimator)
    for f in cases(estimator):
        steep = variance_smoothness2(f)
        for at in steps(estimator, f):
            p, share = refresh(estimator, at.t), spread(estimator, estimator.b_small, f.n)
            error = fresh = 0.0
            if isinstance(estimator, PAGE):
                known, error = at.prev, _size2(term(at.prev, at.before) - truth(f, at.prev))
                if estimator.b is not None:
                    fresh = spread(estimator, estimator.b, f.n) * _scatter(gradients(f, at.x))
            else:
                known = at.before.memory.x
            moved = share * _scatter(gradients(f, at.x) - gradients(f, known))
            exact = (1.0 - p) * (error + moved) + p * fresh
            bound = (1.0 - p) * (error + share * steep * _size2(at.x - known)) + p * fresh
            got = sum(c * _size2(term(at.x, end) - truth(f, at.x)) for c, end in everywhere(estimator, f, at))
            demand(got <= bound * (1 + 1e-9) + 1e-24, f"E‖e‖² = {got:.6g} > {bound:.6g} at step {at.t}")
            demand(abs(got - exact) <= 1e-9 * exact + 1e-24, f"E‖e‖² = {got:.6g}, not {exact:.6g}, at step {at.t}")


def _fresh_variance(estimator: Fresh) -> None:
    for f in cases(estimator):
        for at in steps(estimator, f):
            b = estimator.size(at.t)
            want = spread(estimator, b, f.n) * _scatter(gradients(f, at.x)) if b < f.n else 0.0
            got = sum(c * _size2(term(at.x, end) - truth(f, at.x)) for c, end in everywhere(estimator, f, at))
            demand(abs(got - want) <= 1e-9 * want + 1e-24, f"E‖e‖² = {got:.6g}, not {want:.6g}, at step {at.t}")


def _size2(v: Array) -> float:
    return float(np.sum(v * v))


def _scatter(rows: Array) -> float:
    """(1/N) Σ ‖v_i − v̄‖²"""
    return _size2(rows - np.mean(rows, axis=0)) / len(rows)


LAWS: dict[str, Law] = {
    "starts-unbiased": starts_unbiased,
    "bias-is-the-methods": bias_is_the_methods,
    "variance-recursion": variance_recursion,
}
