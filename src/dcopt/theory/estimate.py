"""Constants of a sum of which nothing is known, for problems and plans."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import check
from ..draw import as_seed
from ..errors import BadInput, a_kind, require_count
from ..problem import Problem
from ..solve import first_state
from ..sums import EstimatedSum, Sum, estimated


def estimate_constants(of: Problem | Sum, *, x0: Any = None, seed: int | None = None, near: int = 3) -> EstimatedSum:
    """L̄, the least curvature, L and L_v of f (or H), by Lanczos on products with Hessians of f and of its components.

    The answer is the same sum, whose facts are the largest values that were seen: `Problem(f=…)`, methods and plans use
    them. They are estimates: curvature may be larger where nobody looked, and every text says how they were found.
    Printed, it shows the least and the largest value over the points, and the component gradients that it took.

    Parameters
    ----------
    of : a sum, such as `dcopt.Function`, or a problem, of which f (or H) is taken
    x0 : the first point; zeros by default. Give the start of the run
    near : further points: the end of a gradient step from x0, and others at its distance in random directions
    seed : decides which components are seen (4096 for the mean and 128 one by one, at most) and the directions

    Products come from the sum where it has `hess_dot`, else from differences of two gradients; each counts as two
    component gradients for every component.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> Q = np.diag([1.0, 4.0])
    >>> f = dcopt.Function(lambda x: 0.5 * x @ Q @ x, lambda x: Q @ x, shape=(2,))
    >>> found = dcopt.estimate_constants(f, x0=np.ones(2), seed=0)
    >>> round(found.Lbar.high, 6)
    4.0
    >>> P = dcopt.Problem(f=found, r="zero")
    >>> round(P.G.L, 6)
    4.0
    """
    if isinstance(of, Problem):
        f, x = of.sum, first_state(of, x0).x
    else:
        if isinstance(of, type) or not all(hasattr(of, verb) for verb in ("n", "shape", "dtype", "sample", "facts")):
            raise BadInput("of", f"is {a_kind(of)}: expected a problem, or a sum such as dcopt.Function(…)")
        f, x = of, check.point(x0, of.shape, of.dtype)
    require_count("near", near, 0)
    with np.errstate(all="ignore"):
        found = estimated(f, np.array(x), as_seed(seed), int(near))
    values = (found.Lbar.high, found.L.high, found.L_v.high)
    if not np.isfinite(values).all():
        raise BadInput("x0", "or a point near it has gradients that are not finite: give a start where f is finite")
    return found
