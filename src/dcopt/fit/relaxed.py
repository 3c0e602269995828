"""Paths without shrinkage: every model again, without a penalty on its features; and weights of an adaptive penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings, require_number
from ..regularizers import Bounded, Box, Regularizer
from .penalties import free_rows
from .solver_choice import choices
from .task import Budget, Done, Progress, Task, run


def relaxed(task: Task, r: Regularizer, runs: Sequence[Done], solver: str, budget: Budget) -> list[Done]:
    """argmin f(x) over the x whose features are those of a run, within the bounds of r, for every run.

    A model with as many features as there are rows is not unique, and stays as it is. Where two runs have the same
    features, the second has the result of the first.
    """
    out, seen = list[Done](), dict[bytes, Done]()
    for done in runs:
        used = np.any(done.x[: task.d].reshape(task.d, -1) != 0.0, axis=1)
        used[free_rows(r, task.d)] = True
        key = used.tobytes()
        if np.count_nonzero(used) >= task.n:
            out.append(done)
            continue
        if key not in seen:
            P = support(r, used, task.shape)
            again = run(task, P, Progress(done.x), choices(solver, task, P, near=True), budget)
            if again.ctrl_c:
                raise KeyboardInterrupt
            seen[key] = again
        out.append(seen[key])
    return out


def support(r: Regularizer, used: NDArray[np.bool_], shape: tuple[int, ...]) -> Box:
    """x_j = 0 for the other features, and the bounds of r for these"""
    low, high = (r.low, r.high) if isinstance(r, Bounded | Box) else (-math.inf, math.inf)
    ends = [np.asarray(b, np.float64) for b in (low, high)]
    if max(b.ndim for b in ends) == 2:
        return Box(*(np.where(used[:, None], np.broadcast_to(b, shape), 0.0) for b in ends))
    return Box(*(np.where(used, b, 0.0) for b in ends))


def adaptive_weights(pilot: Any, power: float = 1.0, *, floor: float = 1e-3, groups: Any = None) -> NDArray[np.float64]:
    """w_j = (max_k |c_k| / max(|c_j|, floor · max_k |c_k|))^power: the weights of an adaptive penalty, at least 1.

    Zou's adaptive lasso, and the same for any penalty with weights. What a first fit finds large is penalised less.
    c_j are its coefficients, of several classes their length, or the length over each group. A feature that it leaves
    out has the largest weight, floor^−power, and may still come in.

    Parameters
    ----------
    pilot : a fitted estimator of dcopt, of which the coefficients are taken in the units in which it penalises them, or
        an array of coefficients, (d,) or (classes, d)
    power, floor : see the formula; power > 0, 0 < floor ≤ 1
    groups : lists of column numbers, for a penalty with these groups; one weight for each

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> draw = np.random.default_rng(0)
    >>> X = draw.normal(size=(100, 5))
    >>> y = 2 * X[:, 1] + draw.normal(size=100)
    >>> weights = dcopt.adaptive_weights(dcopt.DCRegressor(penalty="l2", lam=0.01).fit(X, y))
    >>> model = dcopt.DCRegressorCV(penalty="l1").set_params(penalty__weights=weights.tolist()).fit(X, y)
    >>> np.flatnonzero(model.coef_).tolist()
    [1]
    """
    require_number("power", power, 0.0, open_low=True)
    require_number("floor", floor, 0.0, 1.0, open_low=True)
    given = getattr(pilot, "coef_", pilot)
    try:
        coef = np.atleast_2d(np.asarray(given, np.float64))
    except (TypeError, ValueError):
        raise BadSettings("pilot", pilot, "a fitted estimator, or coefficients (d,) or (classes, d)") from None
    if coef.ndim != 2 or not coef.size or not np.isfinite(coef).all():
        raise BadSettings("pilot", pilot, "finite coefficients (d,) or (classes, d)")
    if getattr(pilot, "standardize", False):
        coef = coef * pilot.scale_
    size = np.sqrt(np.sum(coef**2, axis=0))
    if groups is not None:
        try:
            size = np.array([np.sqrt(np.sum(size[np.asarray(g, np.int64)] ** 2)) for g in groups])
        except (IndexError, TypeError, ValueError):
            raise BadSettings("groups", groups, f"lists of column numbers below {len(size)}") from None
    top = float(size.max(initial=0.0))
    if top == 0.0:
        raise BadSettings("pilot", pilot, "coefficients of which one is not 0: a smaller lam of the first fit")
    return np.asarray((top / np.maximum(size, floor * top)) ** power)
