"""`dcopt.open`: shards on disk as the parts of a sum, f = Σ_k (n_k/N) f_k with one part for each shard.

A pass reads the shards in turn: while one is in use, the next is read ahead. The arrays are mapped, so that they take
no memory of the process; the system keeps as many of their pages as there is room for. A set that is larger than the
memory would drive out each page before it comes to use again. Therefore the first shards stay, as many as fit, and the
pages of the others are given back after use.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data import check
from .data.csr import CsrRows
from .data.dense import DenseRows
from .data.intercept import WithIntercept
from .data.rows import Can, RowMatrix
from .datasets.shards.manifest import Manifest
from .datasets.shards.opened import ShardRows, decoded, open_shards
from .datasets.shards.shard import Shard
from .errors import BadInput
from .losses import Loss
from .sums import Here, LinearSum, PartData, Parted, PartsSum, Recipe, pieces
from .sums import part_pieces as at_home
from .sums.dask_parts import DaskHomes
from .sums.homes import Home, Own, Piece, everyone, in_rows
from .xp import Array

_KEPT = 0.6  # The share of the memory that the shards may take which stay, where all together are larger.
# These pieces read all rows of a part, unless they are told which.
_PASSES = (
    at_home.value_grad, at_home.grad, at_home.diff, at_home.slopes, at_home.pull, at_home.bend_gram, at_home.negative,
    at_home.crosses, pieces.product, pieces.weighted_product, pieces.weighted_gram, pieces.squares_of_columns,
    pieces.sums_of_columns,
)  # fmt: skip


def open_set(
    path: str | os.PathLike[str], *, verify: bool | None = None, target: str = "y", client: Any = None
) -> Shards:
    """The rows in a folder that `dcopt pack` wrote, or in a Zarr group in AnnData's encoding, uncompressed.

    It is taken in the place of X, and brings its labels and weights. The files are mapped, not read. Sizes and the
    digests of all small files are checked at once. The digest of an array is checked when it is read for the first
    time; with verify=True now; with verify=False not at all. `target` is the column of obs with the labels, in a group
    that another program wrote. With a `client` of dask.distributed the workers read the shards, to the same bits: they
    have to see the same folder.

    Examples
    --------
    >>> import dcopt, numpy as np, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "set"
    >>> made = dcopt.pack([(np.eye(4), [0, 1, 0, 1])], folder)
    >>> P = dcopt.erm(dcopt.open(folder), loss="logistic", regularizer="scad")
    >>> P.n
    4
    """
    return Shards.of(open_shards(path, verify=verify, target=target), client)


@dataclass(frozen=True)
class Loaded:
    """How a part is loaded: the rows of a shard, its labels as they are kept, and its weights"""

    shard: Shard

    def __call__(self) -> PartData:
        labels = self.shard.vector("y")
        rows = self.shard.rows
        return PartData(rows, np.zeros(0) if labels is None else labels, self.shard.vector("weight"))


class Reader:
    """Reads ahead, and gives pages back, where parts are visited in turn. It changes no number of a run."""

    def __init__(self, shards: tuple[Shard, ...], memory: int | None = None) -> None:
        self.shards = shards
        room = (physical_memory() if memory is None else memory) * _KEPT
        ends = np.cumsum([shard.bytes for shard in shards])
        self.stays = [True] * len(shards) if ends[-1] <= room else (ends <= room).tolist()
        self._coming: dict[int, Future[None]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Reader, (self.shards,)

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="dcopt-shards")

    def before(self, k: int, following: int | None) -> None:
        """Part k is due: have the one after it read. An error of reading is raised where the part is due."""
        if (now := self._coming.pop(k, None)) is not None:
            now.result()
        if following is not None and following not in self._coming:
            self._coming[following] = self._thread.submit(self.shards[following].soon)

    def after(self, k: int) -> None:
        """Part k is done."""
        if not self.stays[k]:
            self.shards[k].forget()


@dataclass(frozen=True, eq=False)
class InTurn(Here):
    """Parts in this process, which are read from the disk one after the other."""

    reader: Reader | None = None

    def _asked(self, make: Recipe | None, piece: Piece, args: tuple[Any, ...], own: Own | None) -> Iterable[Any]:
        assert self.reader is not None  # `Shards.of` has given it.
        told, args = everyone(self.sizes) if own is None else own, in_rows(args)
        whole = [k for k, more in enumerate(told) if more is not None and _reads_all(piece, args, more)]
        for k, (home, more) in enumerate(zip(self.homes, told, strict=True)):
            if more is None:
                yield None
                continue
            if k in whole:
                place = whole.index(k)
                self.reader.before(k, whole[place + 1] if place + 1 < len(whole) else None)
            yield home.ask(make, piece, *args, *in_rows(more))
            if k in whole:
                self.reader.after(k)


def _reads_all(piece: Piece, args: tuple[Any, ...], own: tuple[Any, ...]) -> bool:
    """Whether the piece visits all rows of its part; a part of a batch comes with its rows."""
    return piece in _PASSES and not any(isinstance(one, np.ndarray) and one.dtype == np.int64 for one in own[:1])


@dataclass(frozen=True, eq=False)
class Stored(Recipe):
    """The loss over the rows of a shard, whose labels are kept as codes: −1 and +1, or 0, 1, …"""

    loss: Loss
    classes: NDArray[Any]
    scale: tuple[float, float] | None = None
    intercept: bool = False

    def __call__(self, data: PartData, number: int) -> LinearSum:
        rows: Any = WithIntercept(data.rows) if self.intercept else data.rows
        labels: Any = data.labels
        if self.loss.labels == "real":
            labels = decoded(labels, self.classes)
        elif self.loss.labels == "class" and len(self.classes) == 2:
            labels = labels > 0
        labels = labels.astype(np.int64 if self.loss.labels == "class" else rows.dtype, copy=False)
        weights = None
        if self.scale is not None and data.weights is not None:
            w = np.array(data.weights, np.float64)
            weights = (w / self.scale[0] * self.scale[1]).astype(rows.dtype)
        return LinearSum(rows, self.loss, labels, weights, () if self.loss.labels != "class" else (len(self.classes),))


@dataclass(frozen=True, eq=False)
class Leading(Recipe):
    """The first rows of every shard, which are a sample because the rows were shuffled: no row is copied."""

    of: Recipe
    sizes: tuple[int, ...]

    def __call__(self, data: PartData, number: int) -> LinearSum:
        n, rows = self.sizes[number], data.rows
        weights = None if data.weights is None else data.weights[:n]
        return self.of(PartData(leading(rows, n), data.labels[:n], weights), number)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class ShardsSum(PartsSum):
    """A sum whose rows were shuffled when they were packed."""

    def part(self, seed: int, share: float) -> PartsSum:
        """The mean over the first rows of every shard, about this share of them"""
        sizes = tuple(min(size, math.ceil(share * size)) for size in self.sizes)
        kept = self.__dict__.get("_part")
        if kept is None or kept.sizes != sizes:
            kept = self.__dict__["_part"] = PartsSum(self.homes, Leading(self.recipe, sizes), sizes)
        found: PartsSum = kept
        return found


def leading(rows: RowMatrix, n: int) -> RowMatrix:
    """The first n rows, as views of the arrays"""
    if n == rows.shape[0]:
        return rows
    if isinstance(rows, DenseRows):
        return DenseRows(rows.a[:n])
    assert isinstance(rows, CsrRows)  # A shard has no other rows.
    end = int(rows.indptr[n])
    return CsrRows(rows.indptr[: n + 1], rows.indices[:end], rows.data[:end], rows.d, rows.lean)


@dataclass(frozen=True, eq=False)
class Shards(Parted):
    """Rows in shards on disk, with labels and weights: what `dcopt.open` gives, and what is taken in the place of X."""

    data: ShardRows

    @classmethod
    def of(cls, data: ShardRows, client: Any = None) -> Shards:
        """`client`: of a cluster whose workers keep the shards; None: they are read here, in turn."""
        sizes = tuple(shard.n for shard in data.shards)
        if client is not None:
            return cls(DaskHomes(client, map(Loaded, data.shards), sizes), data)
        homes = tuple(Home(Loaded(shard), k) for k, shard in enumerate(data.shards))
        return cls(InTurn(homes, sizes, Reader(data.shards)), data)

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def manifest(self) -> Manifest | None:
        return self.data.manifest

    @property
    def shards(self) -> tuple[Shard, ...]:
        return self.data.shards

    @property
    def classes(self) -> NDArray[Any] | None:
        """The different labels; None where they are numbers that are no classes"""
        return self.data.classes

    @property
    def y(self) -> NDArray[Any] | None:
        """All labels as they were given, in memory"""
        return self.data.y

    @property
    def sample_weight(self) -> NDArray[Any] | None:
        """All weights, in memory; None if there are none"""
        return self.data.sample_weight

    def places(self) -> NDArray[np.int64]:
        """The number of every row in the input"""
        return self.data.places()

    def columns(self, name: str) -> NDArray[Any] | None:
        """`counts`, `means` or `mean_squares` of all columns; None where they were not written"""
        return self.data.columns(name)

    def __repr__(self) -> str:
        return repr(self.data)

    # ---- a row matrix

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        return self.data.dot(x, rows)

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        return self.data.tdot(c, rows)

    def take(self, rows: Array) -> RowMatrix:
        return self.data.take(rows)

    def norms2(self) -> Array:
        return self.data.norms2()

    def can(self) -> Can:
        return self.data.can()

    # ---- a sum

    def sum(self, loss: Loss, intercept: bool) -> tuple[PartsSum, NDArray[Any] | None]:
        if self.manifest is not None and not self.manifest.labels:
            raise BadInput("y", f"{self.data.folder} has no labels: pack them with the rows")
        if self.classes is None:
            return super().sum(loss, intercept)
        classes = self.classes
        if loss.labels == "binary" and len(classes) > 2:
            shown = ", ".join(map(str, classes[:5])) + (", …" if len(classes) > 5 else "")
            raise BadInput("y", f'{len(classes)} classes ({shown}): this loss takes two; use loss="softmax"')
        if loss.labels == "real":
            if classes.dtype.kind in "US":
                raise BadInput("y", f"has words, such as {classes[0]}: this loss takes numbers")
            check.in_domain(classes.astype(np.float64), loss.domain)
        recipe = Stored(loss, classes, self._stored_scale(), intercept)
        return ShardsSum(self.homes, recipe, self.homes.sizes), None if loss.labels == "real" else classes

    def in_memory(self) -> Shards:
        """The same parts, copied into memory: the same bits at every step"""
        return Shards.of(self.data.in_memory())

    def _stored_scale(self) -> tuple[float, float] | None:
        """The largest weight w, and N / Σ w_i/w; None without weights. `dcopt pack` has refused negative ones."""
        found = [w for shard in self.shards if (w := shard.vector("weight")) is not None]
        if not found:
            return None
        largest = max(float(w.max()) for w in found)
        if not largest > 0.0:
            raise BadInput("sample_weight", "all weights are zero")
        return largest, self.shape[0] / sum(float(np.sum(w / largest, dtype=np.float64)) for w in found)


def physical_memory() -> int:
    """Bytes of the machine"""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**33
