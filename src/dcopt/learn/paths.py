"""path() of an estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import require, require_number
from ..fit.null import null_model
from ..fit.path import PathResult, follow, grid, summary
from ..fit.relaxed import relaxed as without_penalty
from ..fit.tuning import Pace
from .callbacks import PathLines
from .offsets import Offsets


class Followed:
    """path() of an estimator, which it does not change."""

    def path(
        self: Any, X: Any, y: Any, sample_weight: Any = None, *, n_lams: int = 100, ratio: float | None = None,
        lams: Any = None, ebic_gamma: float = 1.0, relaxed: bool = False, offset: Any = None, exposure: Any = None,
    ) -> PathResult:  # fmt: skip
        """Warm-started solutions for λ from lam_max down to ratio · lam_max (or for `lams`); nothing is fitted.

        `relaxed`: every model again, without a penalty on its features (but those with as many features as rows).
        """
        me = clone(self)
        task = me._task(X, y, sample_weight, Offsets(offset, exposure))
        r = me._penalty(task)
        budget = me._budget(task, None, None)[0]
        require_number("ebic_gamma", ebic_gamma, 0.0)
        require(isinstance(relaxed, bool | np.bool_), "relaxed", relaxed, "True or False")
        x0 = null_model(task.problem(r))
        values = grid(task, r, x0, n_lams, ratio, lams)
        pace = Pace(0, len(values), PathLines(int(me.verbose))) if me.verbose else None
        seen = None if pace is None else partial(pace, 0)
        runs = follow(task, r, x0, me.solver, budget, values, lams is not None, seen)
        runs = without_penalty(task, r, runs, me.solver, budget) if relaxed else runs
        return summary(task, runs, values, ebic_gamma, me, r)
