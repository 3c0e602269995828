"""The constructor of a problem on a stream."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..convex import ScaledIdentity
from ..data import check
from ..data.intercept import WithIntercept
from ..data.stream import Stream
from ..errors import BadInput, OutOfData, elsewhere, pick, require_count
from ..losses import Loss
from ..losses import loss as as_loss
from ..problem import Problem
from ..regularizers import Except, Regularizer
from ..regularizers import regularizer as as_regularizer
from ..sums import LinearSum, StreamSum
from ..sums.constants import majorizing_kappa, require_bounded


@elsewhere(penalty="regularizer=", reg="regularizer=", regularization="regularizer=", fit_intercept="intercept=")
def stream(
    source: Any,
    loss: str | Loss = "squared-sigmoid",
    regularizer: str | Regularizer = "zero",
    *,
    n_features: int | None = None,
    classes: Any = None,
    kappa: float | None = None,
    intercept: bool = False,
    holdout: int = 1024,
    on_bad: Literal["raise", "skip"] = "raise",
) -> Problem:
    """F(x) = E φ(⟨a, x⟩, y) + r(x) over samples that are seen once, in form (S).

    Parameters
    ----------
    source : an iterable of blocks (X, y) of any sizes, dense or sparse, or a function draw(b) -> (X, y) of fresh
        samples. Results do not depend on how the blocks are cut. The first block fixes width, dtype and storage
    loss, regularizer, intercept : as in `erm`
    n_features : the width, if the first block shall not decide it
    classes : the labels that may come; by default those of the held-out sample
    kappa : default sup|φ''| times the largest ‖a‖² of the held-out sample; a result says if later samples need more
    holdout : so many samples are taken first, and kept to estimate F, the measures and the constants
    on_bad : "raise" refuses a block with NaN, another width or an unknown label; "skip" leaves out and counts such rows

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> rng = np.random.default_rng(0)
    >>> def draw(b):
    ...     X = rng.standard_normal((b, 3))
    ...     return X, np.sign(X[:, 0])
    >>> P = dcopt.stream(draw, "logistic", classes=[-1, 1])
    >>> dcopt.solve(P, "dca-page", samples=20_000, seed=0).certificate.at
    '1024'
    """
    phi, r = as_loss(loss), as_regularizer(regularizer)
    require_count("holdout", holdout, 2)
    if n_features is not None:
        require_count("n_features", n_features)
    pick("on_bad", on_bad, ("raise", "skip"))
    samples = Stream(source, phi.labels, classes, n_features, on_bad)
    try:
        rows, labels = samples.take(holdout)
    except OutOfData as end:
        why = f"ended after {end.left} samples, and the held-out sample takes {holdout}: give a smaller holdout="
        raise BadInput("source", why) from None
    if phi.labels != "real" and samples.classes is None:
        try:
            labels, found = check.labels(labels, holdout, phi.labels, rows.dtype)
        except BadInput as error:
            raise BadInput("y", f"{error.reason} in the held-out sample, or give classes=", row=error.row) from None
        samples.declare(found)  # type: ignore[arg-type]  # there are classes
    if intercept:
        rows, r = WithIntercept(rows), Except(r)
    width = () if phi.labels != "class" else (len(samples.classes),)  # type: ignore[arg-type]
    mean = LinearSum(rows, phi, labels, None, width)
    f = StreamSum(samples, phi, mean, float(np.max(rows.norms2())) if kappa is None else float("inf"))
    if kappa is None:
        require_bounded(mean, "a stream")
        return Problem(ScaledIdentity(majorizing_kappa(mean)), r=r, f=f, tunable=True, classes=samples.classes)
    return Problem(ScaledIdentity(kappa), r=r, f=f, classes=samples.classes)
