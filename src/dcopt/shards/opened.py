"""What `dcopt.open` gives: rows in shards on disk, with labels and weights, in the place of X."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..data.rows import Can, RowMatrix
from ..datasets.shards.manifest import Manifest
from ..datasets.shards.opened import ShardRows, decoded, open_shards
from ..datasets.shards.shard import Shard
from ..errors import BadInput
from ..losses import Loss
from ..sums import PartData, Parted, PartsSum
from ..sums.dask_parts import DaskHomes
from ..sums.homes import Home
from ..xp import Array
from .reader import InTurn, Reader
from .recipes import ShardsSum, Stored

_MADE = 2  # sums of a part that are kept: the one over all rows, and a sample. Each holds predictions.
# What a run takes beside the mapped files. Measured with 10⁶ columns, it was 0.6 to 0.7 of this for 10⁶ to 10⁸ rows.
_BASE = 200_000_000  # bytes of the interpreter and of compiled loops
_VECTORS = 48  # vectors of float64 with a number for each column
_PREDICTIONS = 7  # numbers for each row
_SHARD = 64  # bytes for each row of the largest shard


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
        for home in homes:
            home.most_made = _MADE
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
        known = self._known(intercept) if recipe.scale is None else (None, None)
        shuffled = self.manifest is not None and self.manifest.seed is not None
        f = ShardsSum(self.homes, recipe, self.homes.sizes, shuffled, *known)
        return f, None if loss.labels == "real" else classes

    def _known(self, intercept: bool) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Means and mean squares of the columns, where they were written; those of an intercept are 1."""
        found = self.statistics()
        if found is None:
            return None, None
        one = np.ones(int(intercept))
        means, squares = (np.concatenate((values, one)) for values in found[1:])
        return means, squares

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self.manifest is None else self.manifest.names

    def statistics(self) -> tuple[NDArray[Any], ...] | None:
        found = [self.columns(name) for name in ("counts", "means", "mean_squares")]
        return None if any(one is None for one in found) else tuple(one for one in found if one is not None)

    def blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        for shard in self.shards:
            labels = shard.vector("y")
            yield shard.matrix(), None if labels is None else decoded(labels, self.classes), shard.vector("weight")

    def chosen(self, parts: NDArray[np.int64]) -> Shards:
        return Shards.of(self.data.chosen(parts))

    def memory_bound(self) -> int:
        """Bytes that a run with a loss of one number a row takes at most, beside the mapped files"""
        n, d = self.shape
        largest = max(shard.n for shard in self.shards)
        return _BASE + _VECTORS * 8 * d + _PREDICTIONS * int(self.dtype.itemsize) * n + _SHARD * largest

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
