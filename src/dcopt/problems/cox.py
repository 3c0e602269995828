"""Cox regression: survival times, censored from the right, as a problem."""

from __future__ import annotations

from typing import Any, Literal

from ..data import check
from ..data.survival import survival, survival_strata
from ..errors import pick
from ..problem import Problem
from ..regularizers import Regularizer
from ..regularizers import regularizer as as_regularizer
from ..sums import CoxSum


def cox(
    X: Any,
    time: Any,
    event: Any,
    regularizer: str | Regularizer = "zero",
    *,
    ties: Literal["efron", "breslow"] = "efron",
    strata: Any = None,
    sample_weight: Any = None,
) -> Problem:
    """F(x) = −(1/Σw) log L(x) + r(x),   log L = Σ_events w_i (⟨a_i, x⟩ − log Σ_{j at risk at t_i} w_j e^{⟨a_j, x⟩})

    time : (N,) numbers above 0, to the event or to the end of the observation
    event : (N,) True, or 1, where the event was seen; False, or 0, where the row is censored
    ties : how equal times of events are counted, as in the packages survival (R) and lifelines
    strata : (N,) labels; rows are compared within a stratum only

    f is convex and no mean over rows, so that every step takes a full gradient. `dca-local` makes Newton steps.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> time = rng.exponential(np.exp(-X[:, 0]))
    >>> P = dcopt.problems.cox(X, time, time < 2.0, dcopt.regularizers.L1(lam=0.05))
    >>> np.flatnonzero(dcopt.solve(P).x).tolist()
    [0]
    """
    pick("ties", ties, ("efron", "breslow"))
    rows, r = check.as_rows(X), as_regularizer(regularizer)
    n = rows.shape[0]
    t, e = survival(time, event, n)
    check.sample_weights(sample_weight, n, rows.dtype)  # This refuses negative weights.
    weights = None if sample_weight is None else check.vector(sample_weight, "sample_weight", n).astype(float)
    return Problem(r=r, f=CoxSum(rows, t, e, survival_strata(strata, n), weights, ties))
