"""The pieces of a pass over parts: what a `PartsSum` asks of each part in a step.

A mean over some rows of a part comes with its share of the whole batch, so that the results of all parts add up to the
mean over it. A share of 1 leaves the bits as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.rows import gram, rough_gram
from ..losses import Softmax
from ..xp import Array
from .batch import LinearBatch
from .linear import LinearSum
from .linear_curvature import LinearCurvature
from .pieces import share_of

Rows = NDArray[np.int64] | None
_LOOKS = 2  # Predictions are kept at so many points: where a step is, and at the last candidate.


def agreed(f: LinearSum) -> tuple[Any, ...]:
    """What all parts must agree on"""
    return f.loss, f.shape, f.dtype, f.compiled


def _batch(f: LinearSum, rows: Rows) -> LinearBatch:
    return LinearBatch(f, rows, f.n if rows is None else len(rows))


def _scaled(g: Array, share: float) -> Array:
    """share g, in the type of g"""
    return g if share == 1.0 else (np.asarray(g, np.float64) * share).astype(g.dtype)


def value_grad(f: LinearSum, x: Array, rows: Rows, share: float) -> tuple[float, Array]:
    z, value, g = _batch(f, rows).look(x)
    if rows is None:
        _keep(f, x, z)
    return value * share, _scaled(g, share)


def grad(f: LinearSum, x: Array, rows: Rows, share: float) -> Array:
    return _scaled(_batch(f, rows).grad(x), share)


def diff(f: LinearSum, x: Array, prev: Array, rows: Rows, share: float) -> Array:
    return _scaled(_batch(f, rows).diff(x, prev), share)


def slopes(f: LinearSum, x: Array, rows: Rows, share: float) -> Array:
    return _batch(f, rows).slopes(x)


def pull(f: LinearSum, rows: Rows, share: float, c: Array) -> Array:
    return _scaled(_batch(f, rows).pull(c), share)


# ---- predictions, which stay with the part


def _keep(f: LinearSum, x: Array, z: Array) -> None:
    seen: list[tuple[Array, Array]] = f.__dict__.setdefault("_looks", [])
    seen[:] = [(_shared(x), z), *(other for other in seen if not _same(other[0], x))][:_LOOKS]


_POINTS: list[Array] = []  # The last points, so that all parts in this process hold one copy of each.


def _shared(x: Array) -> Array:
    """A copy of x, the same object for all parts: a cache, from which nothing follows."""
    for there in list(_POINTS):
        if _same(there, x):
            return there
    _POINTS[:] = [x.copy(), *_POINTS[: _LOOKS - 1]]
    return _POINTS[0]


def _same(one: Array, two: Array) -> bool:
    return one.dtype == two.dtype and np.array_equal(one, two)


def predictions(f: LinearSum, x: Array) -> Array:
    """z = Ax of a look at x: kept there, or the same bits again"""
    for there, z in f.__dict__.get("_looks", ()):
        if _same(there, x):
            return z
    z = LinearBatch(f, None, f.n).look(x)[0]
    _keep(f, x, z)
    return z


def slopes_at(f: LinearSum, x: Array) -> Array:
    return f.all().slopes_at(predictions(f, x))


# ---- curvature at a point that was looked at


def _at(f: LinearSum, x: Array) -> LinearCurvature:
    return LinearCurvature(f, predictions(f, x))


def storage(f: LinearSum) -> tuple[bool, bool, int]:
    """Are Gram matrices rough, are columns shown, and how many entries are stored"""
    stored = f.n * f.shape[0] if f.can.stored is None else f.can.stored
    return f.can.rough is not None, f.can.columns is not None, stored


def bend(f: LinearSum, x: Array) -> NDArray[np.float64]:
    return _at(f, x).bend


def sums_of_bend(f: LinearSum, x: Array) -> tuple[float, float]:
    """Σ w_i |φ''_i|, and with a factor ‖a_i‖² where φ'' has no bound"""
    bend = _at(f, x).bend
    return float(bend.sum()), 0.0 if f.loss.bounded else float((bend * f.a.norms2()).sum())


def negative_excess(f: LinearSum, x: Array, n: int) -> NDArray[np.float64]:
    return _at(f, x).negative_excess_over(n)


def row_weights(f: LinearSum, n: int) -> NDArray[np.float64]:
    return np.full(f.n, 1.0 / n) if f.weights is None else np.asarray(f.weights / n, np.float64)


def chances(f: LinearSum, x: Array) -> NDArray[np.float64]:
    return _at(f, x).chances()


def bend_gram(f: LinearSum, x: Array, columns: Array, n: int, rows: int) -> Array:
    """Σ w_i |φ''_i| a_i a_iᵀ on these columns, of `rows` of all n rows for each of them where it may be rough"""
    return rough_gram(f.a, _at(f, x).bend, columns, share_of(rows, f.n, n))


def negative(f: LinearSum, x: Array, columns: Array, n: int) -> Array:
    return gram(f.a, negative_excess(f, x, n), columns)


def crosses(f: LinearSum, x: Array, columns: Array, n: int) -> Array:
    """(1/N) Σ w pᵢ ([i = j] − pⱼ) a aᵀ for j ≤ i < k − 1, one behind the other"""
    C = _at(f, x)
    assert isinstance(f.loss, Softmax)
    return np.stack([gram(f.a, C.weighted(cross) / n, columns) for _, _, cross in f.loss.crosses(predictions(f, x))])


def entries(f: LinearSum, columns: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """How many entries each of the columns has, their rows and their values, one column behind the other"""
    own = f.can.columns
    assert own is not None  # `storage` has said so.
    begin, end, rows, values = own.columns(columns)
    sizes = np.asarray(end - begin, np.int64)
    where = np.repeat(begin - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes) + np.arange(int(sizes.sum()))
    return sizes, rows[where], values[where]


def stored(f: LinearSum, columns: Array) -> int:
    own = f.can.columns
    assert own is not None  # `storage` has said so.
    return own.count(columns)
