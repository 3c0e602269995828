"""Collections of Dask as rows in parts: every block is a part that its worker computes when it is asked for.

What is sent to a worker is how to compute its blocks, never the rows. A block is computed again where its worker was
lost, so that a collection must not live in the memory of the cluster already (`persist`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import check
from ..errors import BadInput, BadSettings, a_kind
from .dask_parts import PATIENCE, DaskHomes, usable
from .homes import Load, PartData
from .over_rows import Parted

_EXPECTED = (
    "a Dask array, a data frame of Dask's, a bag whose items are blocks (rows, labels[, weights]), or a list of such "
    "blocks as functions or delayed values"
)


def from_dask(X: Any, y: Any = None, sample_weight: Any = None, *, client: Any, patience: float = PATIENCE) -> Parted:
    """Rows in parts on the workers of a client, from a collection: give it in the place of X.

    Parameters
    ----------
    X : a Dask array in blocks of rows, dense or with sparse blocks; a data frame of Dask's; or a bag, or a list of
        functions or delayed values, of blocks (rows, labels) or (rows, labels, weights)
    y, sample_weight : arrays or series of Dask's with the blocks of X; None where the blocks bring them
    client : a dask.distributed.Client, which stays open
    patience : seconds without any worker after which a run ends with `LostWorkers`
    """
    usable(client)
    if isinstance(X, list | tuple):
        _no_more(y, sample_weight)
        if not X:
            raise BadInput("X", "has no parts")
        return Parted(DaskHomes(client, [_one(k, part) for k, part in enumerate(X)], None, patience))
    kind = type(X).__module__.partition(".")[0]
    if kind not in ("dask", "dask_expr") or not callable(getattr(X, "to_delayed", None)):
        raise BadInput("X", f"is {a_kind(X)}: expected {_EXPECTED}")
    if hasattr(X, "chunks"):
        return Parted(DaskHomes(client, _arrays(X, y, sample_weight), X.chunks[0], patience))
    if hasattr(X, "divisions"):
        columns = [_delayed(X), _delayed(y, "y"), _delayed(sample_weight, "sample_weight")]
        return Parted(DaskHomes(client, _together(columns), None, patience))
    _no_more(y, sample_weight)
    return Parted(DaskHomes(client, [Bag(part) for part in _kept_nowhere("X", X, X.to_delayed())], None, patience))


def _arrays(X: Any, y: Any, sample_weight: Any) -> list[Load]:
    if X.ndim != 2:
        raise BadInput("X", f"expected 2 dimensions, got shape {X.shape}")
    if y is None:
        raise BadInput("y", "is None: expected an array of Dask's with the blocks of X")
    for name, a in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        if a is None:
            continue
        if not hasattr(a, "chunks"):
            raise BadInput(name, f"is {a_kind(a)}: expected an array of Dask's with the blocks of X")
        if any(math.isnan(size) for sizes in a.chunks for size in sizes):
            raise BadInput(name, "has chunks of unknown sizes: call compute_chunk_sizes() first")
        if a.chunks[0] != X.chunks[0]:
            said = f"has blocks of {_few(a.chunks[0])} rows, X of {_few(X.chunks[0])}"
            raise BadInput(name, f"{said}: call rechunk with the chunks of X")
    if len(X.chunks[1]) > 1:
        raise BadInput("X", f"is cut into {len(X.chunks[1])} blocks of columns: call X.rechunk({{1: -1}}) first")
    blocks = [a if a is None else a.to_delayed().reshape(-1).tolist() for a in (X, y, sample_weight)]
    names = ("X", "y", "sample_weight")
    collections = (X, y, sample_weight)
    return _together(
        [None if b is None else _kept_nowhere(n, a, b) for n, a, b in zip(names, collections, blocks, strict=True)]
    )


def _few(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes[:3])) + (", …" if len(sizes) > 3 else "")


def _delayed(frame: Any, name: str = "X") -> list[Any] | None:
    """The partitions of a data frame or series"""
    if frame is None:
        return None
    if not callable(getattr(frame, "to_delayed", None)):
        raise BadInput(name, f"is {a_kind(frame)}: expected a series of Dask's with the partitions of X")
    return _kept_nowhere(name, frame, frame.to_delayed())


def _together(columns: Sequence[list[Any] | None]) -> list[Load]:
    """One loader for the k-th blocks of X, y and the weights"""
    X, y, w = columns
    assert X is not None
    if y is None:
        raise BadInput("y", "is None: expected a series of Dask's with the partitions of X")
    for name, other in (("y", y), ("sample_weight", w)):
        if other is not None and len(other) != len(X):
            raise BadInput(name, f"has {len(other)} partitions, X has {len(X)}")
    weights = [None] * len(X) if w is None else w
    return [Blocks(*blocks) for blocks in zip(X, y, weights, strict=True)]


def _no_more(y: Any, sample_weight: Any) -> None:
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise BadInput(name, "was given beside blocks that bring their own: expected None")


def _one(number: int, part: Any) -> Load:
    if hasattr(part, "dask") and callable(getattr(part, "compute", None)):
        return Whole(_kept_nowhere("X", part, [part])[0])
    if not callable(part):
        raise BadInput("X", f"part {number} is {a_kind(part)}: expected {_EXPECTED}")
    return Called(part)


def _kept_nowhere(name: str, collection: Any, blocks: list[Any]) -> list[Any]:
    """The blocks; refuses those whose values are on the cluster, where they may be lost for ever."""
    from distributed import Future
    from distributed.client import futures_of

    if any(isinstance(one, Future) for one in futures_of(collection)):
        said = "is persisted on the cluster, and what a lost worker held could not be computed again: give the "
        raise BadInput(name, said + "collection before persist()")
    return blocks


# ---- loaders, which workers call


def as_part(rows: Any, labels: Any, weights: Any = None) -> PartData:
    """A block, checked; data frames and series as arrays"""
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    labels = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
    weights = None if weights is None else np.asarray(weights)
    if rows.shape[0] == 0:
        return PartData(_nothing(rows), labels, weights)
    made = check.as_rows(rows)
    for name, side in (("y", labels), ("sample_weight", weights)):
        if side is not None and side.shape[:1] != made.shape[:1]:
            raise BadInput(name, f"has {side.shape[0]} entries, X has {made.shape[0]} rows")
    return PartData(made, labels, weights)


def _nothing(rows: Any) -> Any:
    """No rows: a part may be empty, which the checks of whole matrices refuse."""
    from ..data.dense import DenseRows

    return DenseRows(np.zeros((0, rows.shape[1])))


def _computed(*delayed: Any) -> Any:
    import dask

    return dask.compute(*delayed, scheduler="synchronous")


@dataclass(frozen=True)
class Blocks:
    """The k-th blocks of three collections"""

    X: Any
    y: Any
    weights: Any = None

    def __call__(self) -> PartData:
        return as_part(*_computed(self.X, self.y, self.weights))


@dataclass(frozen=True)
class Whole:
    """A delayed (rows, labels[, weights])"""

    block: Any

    def __call__(self) -> PartData:
        return _of(_computed(self.block)[0])


@dataclass(frozen=True)
class Called:
    """A function that gives (rows, labels[, weights]), or a `PartData`"""

    load: Callable[[], Any]

    def __call__(self) -> PartData:
        return _of(self.load())


@dataclass(frozen=True)
class Bag:
    """A partition of a bag: blocks of rows one above the other"""

    partition: Any

    def __call__(self) -> PartData:
        from scipy.sparse import issparse, vstack

        blocks = [tuple(block) for block in _computed(self.partition)[0]]
        if not blocks:
            raise BadInput("X", "has a partition without blocks: repartition the bag")
        sides = list(zip(*blocks, strict=True))
        rows = vstack(sides[0], format="csr") if issparse(sides[0][0]) else np.concatenate(sides[0])
        return as_part(rows, *(np.concatenate([np.asarray(part) for part in side]) for side in sides[1:]))


def _of(block: Any) -> PartData:
    if isinstance(block, PartData):
        return block
    if not (isinstance(block, tuple | list) and len(block) in (2, 3)):
        raise BadSettings("a part", a_kind(block), "(rows, labels) or (rows, labels, weights)")
    return as_part(*block)
