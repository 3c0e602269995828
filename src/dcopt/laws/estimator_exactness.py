"""The laws of where an estimate is exact, and of the tables that SAGA and SAG remember."""

from __future__ import annotations

import numpy as np

from ..draw import Draw
from ..errors import DcoptError
from ..estimators import SAG, SAGA, Estimator, Full
from ..estimators.table import Table
from ..sums import LinearSum
from ..xp import Array
from .base import Law, demand
from .four_rows import N, chosen, gradients, points, sums
from .walks import (
    KAPPA,
    KNOWN,
    SEEDS,
    STEPS,
    Step,
    cases,
    coin,
    draws,
    everywhere,
    near,
    outcomes,
    steps,
    term,
    truth,
    walk,
    with_batch,
)


def _stays_exact(estimator: Estimator, f: LinearSum, path: list[Array], when: str) -> None:
    for seed in SEEDS:
        for x, now in zip(path, walk(estimator, f, path, draws(seed)), strict=True):
            near(term(x, now), truth(f, x), f"not exact {when}")


def exact_with_all_rows(estimator: Estimator) -> None:
    """Batches of all N distinct rows: y = ∇H(x)"""
    whole = with_batch(estimator, N)
    if whole is not None or isinstance(estimator, Full):
        whole = estimator if whole is None else whole
        for f in cases(whole):
            _stays_exact(whole, f, points(f, STEPS), "with all rows")


def exact_with_one_row(estimator: Estimator) -> None:
    """N = 1: nothing is left to chance"""
    single = with_batch(estimator, 1) or estimator
    try:
        single.check(1)
    except DcoptError:
        return  # larger batches, and settings that the law does not know
    for f in sums(1):
        _stays_exact(single, f, points(f, STEPS), "with one row")


def exact_with_equal_rows(estimator: Estimator) -> None:
    """All f_i equal: y = ∇H(x). A table is exact for one step only, while it holds no points of several ages."""
    if isinstance(estimator, KNOWN) and not isinstance(estimator, SAG):
        for f in cases(estimator):
            path = points(f, 2 if isinstance(estimator, SAGA) else STEPS)
            _stays_exact(estimator, chosen(f, np.zeros(N, np.int64)), path, "with equal rows")


def exact_at_rest(estimator: Estimator) -> None:
    """x_t = x_0 for all t keeps an exact start exact, whatever is drawn (not so with momentum)"""
    if not isinstance(estimator, KNOWN):
        return
    for f in cases(estimator):
        x = points(f, 1)[0]
        starts = [end for _, end in outcomes(0, coin(estimator), lambda d, f=f, x=x: estimator.start(f, x, d))]  # type: ignore[misc]
        if max(np.max(np.abs(term(x, start) - truth(f, x))) for start in starts) > 1e-12:
            continue  # it starts from a sample, and may start afresh from another
        _stays_exact(estimator, f, [x] * STEPS, "at rest")
        for _, end in everywhere(estimator, f, Step(1, x, x, starts[0])):
            near(term(x, end), truth(f, x), "not exact at rest")


def table_is_the_textbooks(estimator: Estimator) -> None:
    """SAGA: y = ȳ + (1/b) Σ_I (∇h_i(x) − y_i); SAG: y = ȳ with I renewed; N vectors y_i = κφ_i − ∇f_i(φ_i)"""
    if not isinstance(estimator, SAGA):
        return
    kappa = KAPPA if estimator.quadratic == "inside" else 0.0
    for f in cases(estimator):
        path = points(f, 2 * STEPS)
        for seed in SEEDS:
            table = kappa * path[0] - gradients(f, path[0])
            for t, now in enumerate(walk(estimator, f, path, draws(seed))):
                x = path[t]
                new, mean = kappa * x - gradients(f, x), np.mean(table, axis=0)
                if t:
                    rows = Draw(seed, t).rows(N, estimator.b, estimator.sampling)
                    step = np.mean(new[rows] - table[rows], axis=0)  # a row drawn twice weighs double here
                    table[rows] = new[rows]  # and is renewed once
                    mean = np.mean(table, axis=0) if isinstance(estimator, SAG) else mean + step
                at = x if now.at is None else now.at
                near(kappa * at - now.g, mean, f"not the textbook's estimate at step {t}")


def table_means_are_means(estimator: Estimator) -> None:
    """The remembered means are the means of what is remembered, also after a row was drawn twice"""
    for f in cases(estimator):
        for at in steps(estimator, f):
            if not isinstance(at.before.memory, Table):
                return
            for _, end in everywhere(estimator, f, at):
                slopes, mean, stale = end.memory[:3]
                near(mean, f.all().pull(slopes), f"the mean of the table drifts at step {at.t}")
                if stale is not None:
                    near(stale.mean, np.mean(stale.points[stale.slot], axis=0), f"x̄ drifts at step {at.t}")
                    demand(
                        bool(np.all(np.bincount(stale.slot, minlength=len(stale.counts)) == stale.counts)),
                        f"the visitors of a stale point are miscounted at step {at.t}",
                    )


LAWS: dict[str, Law] = {
    "exact-with-all-rows": exact_with_all_rows,
    "exact-with-one-row": exact_with_one_row,
    "exact-with-equal-rows": exact_with_equal_rows,
    "exact-at-rest": exact_at_rest,
    "table-is-the-textbooks": table_is_the_textbooks,
    "table-means-are-means": table_means_are_means,
}
