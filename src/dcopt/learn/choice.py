"""solver="auto": which decomposition and which method, and why."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..errors import BadSettings, pick
from ..losses import Loss
from ..methods import AUTO, METHODS
from ..regularizers import Regularizer
from ..subproblems.groups import spread_out
from ..subproblems.parts import separable

_GRAM = 2048  # features: a Gram matrix of 32 MiB, coordinate descent at a few ms a pass
_MANY = 4096  # rows: below it a full gradient costs less than what a batch saves
SEARCHES = ("dca-local", "dca-nested")
_EXACT = ("dca", "cccp", "bdca", "pdcae")  # full gradients: nothing disturbs them in the metric of a Gram matrix


class Choice(NamedTuple):
    """One way to solve it; kept as `solver_`."""

    decomposition: str
    method: str
    reason: str


def choices(
    solver: str, n: int, shape: tuple[int, ...], loss: Loss, r: Regularizer, search: bool = False
) -> list[Choice]:
    """The way to solve it, and what to fall back on where it ends without a certificate.

    Shape: that of the coefficients, (features,) or (features, classes). With
    `search` those come first that can leave critical points for lower ones.
    """
    found = _choices(solver, n, shape, loss, r)
    if not search:
        return found
    if solver not in (AUTO, *SEARCHES):
        raise BadSettings("search", True, f'False, or solver="auto", {" or ".join(SEARCHES)}')
    return sorted(found, key=lambda way: way.method not in SEARCHES)


def _choices(solver: str, n: int, shape: tuple[int, ...], loss: Loss, r: Regularizer) -> list[Choice]:
    d, *classes = shape
    apart = separable(r)
    small = d <= _GRAM and not spread_out(r, math.prod(classes))
    if solver != AUTO:
        name = pick("solver", solver, (AUTO, *METHODS))
        metric = "gram" if name in _EXACT and small else "scalar"
        return [Choice(metric, name, "asked for")]
    low, high = loss.curvature
    exact = "pdcae" if 0.0 <= low < high else "dca"  # of least squares the Gram matrix is all of the curvature
    gram = Choice("gram", exact, f"{d} features: their Gram matrix is cheap")
    if apart and small:
        # The local metric needs a tenth of the passes and of the time, and the critical points where paths end are as
        # good (on a9a, w8a and mushrooms now one is lower, now the other).
        return [_LOCAL, gram]
    if n >= _MANY:
        last = Choice("scalar", "dca-page", f"{n} rows allow batches, and the step is a prox")
    else:
        last = Choice("scalar", exact, f"{n} rows: full gradients are cheap, and the step is a prox")
    return [_LOCAL if apart else gram, last] if apart or small else [last]


_LOCAL = Choice("scalar", "dca-local", "r1 falls apart: the curvature at x on the active features, anew at every step")
