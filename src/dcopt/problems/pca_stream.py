"""Principal directions of rows that come once each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np

from ..convex import ScaledIdentity
from ..data.stream import Stream
from ..errors import BadInput, OutOfData, pick, require, require_count, require_number
from ..problem import Problem
from ..regularizers import SpectralBall
from ..sums import StreamSum
from ..sums.constants import largest_eigenvalue
from .base import ConvexSum
from .pca import HalfSquares


def pca_stream(
    source: Any,
    k: int = 1,
    *,
    eta: float | None = None,
    n_features: int | None = None,
    holdout: int = 1024,
    on_bad: Literal["raise", "skip"] = "raise",
) -> Problem:
    """F(x) = −E ‖xᵀa‖²/2 over ‖x‖₂ ≤ 1, x (d, k), for rows a that are seen once:   G = η/2 ‖x‖²,   Φ(x, a) = ‖xᵀa‖²/2.

    A step adds the estimate of E[aaᵀ]x / η to x and takes the polar factor. x = 0 is critical: start elsewhere, at
    `np.linalg.qr(rng.normal(size=(d, k)))[0]`. Rows are taken as they come: subtract the mean for variances.

    Parameters
    ----------
    source : an iterable of blocks X of any sizes, dense or sparse, or a function draw(b) -> X of b fresh rows
    eta : default λ_max of the held-out rows' mean aaᵀ / 10, as in `pca`
    n_features : the width, if the first block shall not decide it
    holdout : so many rows are taken first, and kept to estimate F, the measures and η
    on_bad : "raise" refuses a block with NaN or another width; "skip" leaves out and counts such rows

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> rng = np.random.default_rng(0)
    >>> P = dcopt.problems.pca_stream(lambda b: rng.normal(size=(b, 4)) * [3.0, 2.0, 1.0, 1.0], k=2)
    >>> x0 = np.linalg.qr(rng.normal(size=(4, 2)))[0]
    >>> V = dcopt.solve(P, "online-dca", samples=50_000, x0=x0, seed=0).x
    >>> (V @ V.T).round(1) + 0.0
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """
    require_count("k", k)
    require_count("holdout", holdout, 2)
    if n_features is not None:
        require_count("n_features", n_features)
    pick("on_bad", on_bad, ("raise", "skip"))
    samples = Stream(_with_labels(source), "real", None, n_features, on_bad)
    try:
        rows, zeros = samples.take(holdout)
    except OutOfData as end:
        why = f"ended after {end.left} rows, and the held-out sample takes {holdout}: give a smaller holdout="
        raise BadInput("source", why) from None
    require(int(k) <= rows.shape[1], "k", k, f"at most {rows.shape[1]}, the columns of the rows")
    held = ConvexSum(rows, HalfSquares(), zeros, None, (int(k),))
    if eta is None:
        eta = 0.1 * largest_eigenvalue(rows, np.full(holdout, 1.0 / holdout)) or 1.0
    require_number("eta", eta, 0.0, open_low=True)
    return Problem(ScaledIdentity(float(eta)), StreamSum(samples, HalfSquares(), held), SpectralBall(), eta=float(eta))


def _with_labels(source: Any) -> Any:
    """The same source as one of pairs (X, y), as streams of samples are; y is 0."""
    if isinstance(source, Iterable) and not isinstance(source, tuple):
        return _Blocks(iter(source))
    if callable(source):
        return lambda b: _labelled(source(b))
    return source  # The stream refuses it by name.


class _Blocks:
    """An iterator, which goes on after an interrupt where a generator would have ended."""

    def __init__(self, blocks: Iterator[Any]) -> None:
        self._blocks = blocks

    def __iter__(self) -> _Blocks:
        return self

    def __next__(self) -> Any:
        return _labelled(next(self._blocks))


def _labelled(X: Any) -> Any:
    if X is None:
        return None
    if isinstance(X, tuple):
        raise BadInput("X", "is a tuple: give blocks X of rows alone, without labels")
    shape = np.shape(X)
    return X, np.zeros(shape[0] if shape else 1)
