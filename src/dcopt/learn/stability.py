"""Stability selection: the features that enter early on most halves of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from ..errors import BadInput, BadSettings, require, require_count, require_number
from ..fit.null import null_model
from ..fit.path import follow, grid
from ..fit.penalties import free_rows
from ..fit.resamples import groups_of, halves
from ..fit.task import Done, Task
from ..sums import Parted
from .base import DCBase
from .jobs import side_by_side


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """The result of `stability_selection`.

    frequencies : (d,), the share of the halves on which each feature is selected; NaN for features without a penalty
    along : (λ, d), the share on which it is selected no later than at λ = shares · lam_max of that half
    selected : the features whose frequency is at least `threshold`, the most frequent first
    bound : q² / ((2 threshold − 1) p), the bound on the expected number of false ones among them
    q, p, threshold, n_halves : the numbers of that formula, and how many halves there were
    sizes : how many features each half selected, at most q
    """

    frequencies: NDArray[np.float64]
    along: NDArray[np.float64]
    shares: NDArray[np.float64]
    sizes: NDArray[np.int64]
    q: int
    p: int
    threshold: float
    names: tuple[str, ...]

    @property
    def n_halves(self) -> int:
        return len(self.sizes)

    @property
    def bound(self) -> float:
        return self.q**2 / ((2.0 * self.threshold - 1.0) * self.p)

    @property
    def selected(self) -> list[str] | list[int]:
        """Names where the columns have them, else numbers."""
        often = np.flatnonzero(self.frequencies >= self.threshold - 1e-12)
        order: list[int] = often[np.argsort(-self.frequencies[often], kind="stable")].tolist()
        return [self.names[j] for j in order] if self.names else order

    def plot(self, ax: Any = None) -> Any:
        """The frequencies along λ: selected features with names and colours, others grey. Needs dcopt[plot]."""
        from ..fit.plots_of_resamples import draw_stability

        return draw_stability(self, ax)

    def __repr__(self) -> str:
        found, share = self.selected, 2.0 * self.threshold - 1.0
        often = f"on at least {self.threshold:.0%} of {self.n_halves} halves"
        said = f"{len(found)} of {self.p} features are selected {often}: {', '.join(map(str, found)) or 'none'}"
        bound = f"{self.q}² / ({share:.3g} · {self.p}) = {self.bound:.3g}"
        return f"{said}\nthe expected number of false ones is at most {bound}"


def stability_selection(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    max_false: float | None = None,
    q: int | None = None,
    threshold: float = 0.75,
    n_halves: int = 100,
    n_lams: int = 50,
    ratio: float = 1e-2,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Stability:
    """Features that are selected on at least `threshold` of the halves of the rows: E[false] ≤ q² / ((2π − 1) p).

    On every half a path from lam_max down selects the features that enter first, as long as they are at most q. The
    halves come in pairs without common rows; of classes each half has its share. With the threshold π and p features,
    the expected number of selected features that enter by chance alone is at most q² / ((2π − 1) p)
    (Meinshausen and Bühlmann 2010). "By chance alone": on a half such a feature is selected with probability at most
    q / p (Shah and Samworth 2013, Theorem 1, whose bound holds for any number of pairs and any estimator).

    Parameters
    ----------
    estimator : a DCClassifier, DCRegressor or DCSurvival, whose λ does not matter; it is not changed
    max_false : the bound that is asked for, from which q follows; 1 unless q is given
    q : the largest number of features that a half may select
    threshold : π, above 1/2 and at most 1
    n_halves : the number of halves, which is even
    n_lams, ratio : the path of a half has so many λ down to ratio · lam_max; it ends before when q features are in
    n_jobs : parallel jobs over pairs, as in scikit-learn; the result is the same to the bit for any number of them
    random_state : the seed of the halves

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> draw = np.random.default_rng(0)
    >>> X = draw.normal(size=(200, 50))
    >>> y = X[:, 3] - X[:, 7] + draw.normal(size=200)
    >>> found = dcopt.stability_selection(dcopt.DCRegressor(penalty="l1"), X, y, random_state=0)
    >>> sorted(found.selected), found.q, found.bound
    ([3, 7], 5, 1.0)
    """
    plain = isinstance(estimator, DCBase) and not hasattr(estimator, "cv")
    require(plain, "estimator", estimator, "a DCClassifier, DCRegressor or DCSurvival: λ is not chosen")
    require_number("threshold", threshold, 0.5, 1.0, open_low=True)
    require_count("n_halves", n_halves, 2)
    require(n_halves % 2 == 0, "n_halves", n_halves, "an even number: halves come in pairs")
    require_count("n_lams", n_lams, 2)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    if isinstance(X, Parted):
        raise BadInput("X", "is rows in parts: halves need rows in memory")
    me = clone(estimator)
    if me.random_state is None:
        me.set_params(random_state=seed)
    task = me._task(X, y, None)
    r = me._penalty(task)
    grid(task, r, null_model(task.problem(r)), n_lams, ratio, None)  # It refuses penalties without a path.
    free = free_rows(r, task.d)
    p = task.d - len(free)
    q = _most(p, max_false, q, float(threshold))
    codes = task.fold_codes
    groups = groups_of(codes, task.n, 2 if codes is not None else 4, "halves")

    def pair(number: int) -> list[NDArray[np.int64]]:
        return [_entered(me, X, y, rows, q, n_lams, ratio, free) for rows in halves(groups, seed, number)]

    entered = np.array([one for two in side_by_side(pair, n_halves // 2, n_jobs) for one in two])  # (halves, d)
    along = np.array([(entered <= k).mean(axis=0) for k in range(n_lams)])
    along[:, free] = np.nan
    names = tuple(map(str, getattr(me, "feature_names_in_", ())))
    sizes = np.sum(entered < n_lams, axis=1)
    shares = np.geomspace(1.0, ratio, n_lams)
    return Stability(along[-1], along, shares, sizes, q, p, float(threshold), names)


def _part(y: Any, rows: NDArray[np.int64]) -> Any:
    """Some of the labels; of survival times given as a pair (time, event), of both."""
    if isinstance(y, tuple) and len(y) == 2 and np.ndim(y[0]) == 1:
        return tuple(_safe_indexing(one, rows) for one in y)
    return _safe_indexing(y, rows)


def _most(p: int, max_false: float | None, q: int | None, threshold: float) -> int:
    """q as given, or the largest q whose bound is at most `max_false`."""
    if q is not None:
        require(max_false is None, "max_false", max_false, "None where q is given: the bound follows from q")
        require_count("q", q)
        require(q <= p, "q", q, f"at most the number of features with a penalty, {p}")
        return int(q)
    wanted = 1.0 if max_false is None else max_false
    require_number("max_false", wanted, 0.0, open_low=True)
    found = math.floor(math.sqrt(wanted * (2.0 * threshold - 1.0) * p) * (1.0 + 1e-12))
    if found < 1:
        least = 1.0 / ((2.0 * threshold - 1.0) * p)
        raise BadSettings(
            "max_false", wanted, f"at least {least:.3g} = 1 / ((2 threshold − 1) p), for p = {p} features"
        )
    return min(found, p)


def _entered(
    me: Any, X: Any, y: Any, rows: NDArray[np.int64], q: int, n_lams: int, ratio: float, free: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The number of the λ at which each feature enters the path of these rows; n_lams for those that are not selected.

    The path ends before the first λ at which more than q features have been in.
    """
    here = clone(me)
    task: Task = here._task(_safe_indexing(X, rows), _part(y, rows), None)
    r = here._penalty(task)
    x0 = null_model(task.problem(r))
    entered = np.full(task.d, n_lams)
    at = 0

    def enough(done: Done) -> bool:
        nonlocal at
        new = np.any(done.x[: task.d].reshape(task.d, -1) != 0.0, axis=1) & (entered == n_lams)
        new[free] = False
        over = int(np.sum(entered < n_lams) + np.sum(new)) > q
        if not over:
            entered[new] = at
        at += 1
        return over or int(np.sum(entered < n_lams)) == q

    budget = here._budget(task, None, None)[0]._replace(callbacks=())
    follow(task, r, x0, here.solver, budget, grid(task, r, x0, n_lams, ratio, None), False, until=enough)
    return entered
