"""The laws of an estimator, by enumeration of all draws on four rows: expectations are finite sums, not statistics.

With the quadratic inside an estimate is of ∇H, H = κ/2 ‖x‖² − f, so errors are those of y = κ·at − g throughout.
Bias and variance have formulas only for known kinds (subclasses included); everything else applies to any estimator.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from ..draw import Draw
from ..errors import BadSettings, DcoptError, NeedsFiniteSum
from ..estimators import PAGE, SAG, SAGA, SVRG, Estimator, Fresh, Full
from ..estimators.table import Table
from ..sums import LinearSum
from ..xp import Array
from .base import Law, demand
from .four_rows import (
    N,
    Stream,
    Watched,
    chosen,
    gradients,
    points,
    sums,
    variance_smoothness2,
)
from .outcomes import Permuted, outcomes
from .walks import (
    KAPPA,
    SEEDS,
    STEPS,
    Step,
    cases,
    coin,
    draws,
    everywhere,
    in_order,
    near,
    refresh,
    spread,
    steps,
    term,
    truth,
    walk,
    with_batch,
)

KNOWN = (Full, Fresh, PAGE, SVRG, SAGA)  # with their subclasses: SARAH, loopless SVRG, SAG

# ---- expectations


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


# ---- no randomness left


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


# ---- tables


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


# ---- accounts and conduct


def cost_is_what_was_evaluated(estimator: Estimator) -> None:
    """cost.gradients: the slopes that an instrumented loss saw; cost.paper: each batch once, also at two points"""
    for f in cases(estimator):
        watched = Watched(f)
        for seed in range(6):
            for t, now in enumerate(walk(estimator, watched, points(f, STEPS), draws(seed))):
                gradients, paper = watched.seen()
                told = f"at step {t}: cost says {tuple(now.cost)}"
                demand(now.cost.gradients == gradients, f"{gradients} gradients were evaluated {told}")
                demand(now.cost.paper == paper, f"batches of {paper} rows in all were drawn {told}")


def names_of_rows_do_not_matter(estimator: Estimator) -> None:
    """Rows and draws permuted together: the same estimates"""
    for f in cases(estimator):
        path = points(f, STEPS)
        for seed, order in enumerate(([1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 1, 0])):
            moved, names = chosen(f, np.array(order)), np.argsort(order)
            here = walk(estimator, f, path, draws(seed))
            there = walk(estimator, moved, path, lambda t, s=seed, to=names: Permuted(Draw(s, t), to))  # type: ignore[misc]
            for x, one, two in zip(path, here, there, strict=True):
                near(term(x, two), term(x, one), "the order of the rows matters")


def memory_is_all(estimator: Estimator) -> None:
    """All that a step needs is in its memory, a NamedTuple: a copy continues with the same bits; points stay"""
    for f in cases(estimator):
        path = points(f, STEPS)
        for x in path:
            x.flags.writeable = False  # a write would raise
        for seed in SEEDS:
            copies: list[tuple[Array, Any]] = []
            for now in walk(estimator, f, path, draws(seed)):
                good = isinstance(now.memory, tuple) and hasattr(now.memory, "_fields")
                demand(good, f"the memory is a {type(now.memory).__name__}, not a NamedTuple")
                copies.append((now.g.copy(), deepcopy(now.memory)))
            for t in range(STEPS - 1):
                other = estimator.start(f, path[-1], Draw(99, 0))  # another run in between
                estimator.step(f, path[0], path[-1], other.memory, Draw(99, 1))
                again = estimator.step(f, path[t + 1], path[t], copies[t][1], Draw(seed, t + 1))
                same = np.array_equal(again.g, copies[t + 1][0])
                demand(same, f"a copy of the memory of step {t} does not continue the run")


def stream_is_refused_or_served(estimator: Estimator) -> None:
    """check(None) raises NeedsFiniteSum, or the estimator works on samples without identity as on rows"""
    try:
        estimator.check(None)
    except NeedsFiniteSum:
        return
    except DcoptError as why:
        demand(False, f"refuses a stream with {type(why).__name__}, not NeedsFiniteSum")
    for f in cases(estimator):
        path = points(f, STEPS)
        for seed in SEEDS:
            here, there = (walk(estimator, g, path, draws(seed)) for g in (f, Stream(f)))
            try:
                for x, one, two in zip(path, here, there, strict=True):
                    near(term(x, two), term(x, one), "a stream is served worse than rows")
                    demand(one.cost == two.cost, "a stream is charged otherwise than rows")
            except NeedsFiniteSum:
                demand(False, "check(None) accepts a stream, and a step needs a finite sum")


def too_large_batches_are_refused(estimator: Estimator) -> None:
    """A batch of N + 1 rows of N: BadSettings"""
    large = with_batch(estimator, N + 1)
    if large is not None:
        try:
            large.check(N)
        except BadSettings:
            return
        demand(False, f"check({N}) accepts batches of {N + 1} rows")


def precision_is_kept(estimator: Estimator) -> None:
    """float32 rows and points: float32 estimates and memory, near those in float64"""
    cases(estimator)
    for single, double in zip(sums(dtype=np.float32), sums(), strict=True):
        short, long = points(single, STEPS), points(double, STEPS)
        pair = walk(estimator, single, short, draws(1)), walk(estimator, double, long, draws(1))
        for t, (now, want) in enumerate(zip(*pair, strict=True)):
            for name, array in [("g", now.g), ("at", now.at), *_arrays(now.memory)]:
                wide = getattr(array, "dtype", None) == np.float64
                demand(not wide, f"{name} is float64 for float32 rows at step {t}")
            near(term(short[t], now), term(long[t], want), f"float32 is far from float64 at step {t}", 1e-4)


def _arrays(memory: Any) -> Iterator[tuple[str, Any]]:
    for name, part in zip(memory._fields, memory, strict=True):
        if hasattr(part, "_fields"):
            yield from _arrays(part)
        else:
            yield f"memory.{name}", part


LAWS: dict[str, Law] = {
    "starts-unbiased": starts_unbiased,
    "bias-is-the-methods": bias_is_the_methods,
    "variance-recursion": variance_recursion,
    "exact-with-all-rows": exact_with_all_rows,
    "exact-with-one-row": exact_with_one_row,
    "exact-with-equal-rows": exact_with_equal_rows,
    "exact-at-rest": exact_at_rest,
    "table-is-the-textbooks": table_is_the_textbooks,
    "table-means-are-means": table_means_are_means,
    "cost-is-what-was-evaluated": cost_is_what_was_evaluated,
    "names-of-rows-do-not-matter": names_of_rows_do_not_matter,
    "memory-is-all": memory_is_all,
    "stream-is-refused-or-served": stream_is_refused_or_served,
    "too-large-batches-are-refused": too_large_batches_are_refused,
    "precision-is-kept": precision_is_kept,
}
