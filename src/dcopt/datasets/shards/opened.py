"""A set of shards, or one group that another program wrote, as a row matrix with labels and weights."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.rows import RowMatrix
from ...data.stacked import StackedRows
from ...errors import BadFile
from . import zarr_files as zarr
from .manifest import Manifest, is_set, read_manifest
from .shard import Shard, check_digest, check_files


class ShardRows(StackedRows):
    """Rows in shards on disk, with their labels and weights.

    Rows have the numbers of the set, which follow from the shuffle: `places()` are their numbers in the input.
    """

    def __init__(self, folder: Path, shards: tuple[Shard, ...], manifest: Manifest | None) -> None:
        self.folder, self.shards, self.manifest = folder, shards, manifest
        kinds = {shard.dtype for shard in shards}, {shard.sparse for shard in shards}
        for shard in shards:
            if shard.dtype != shards[0].dtype or shard.sparse != shards[0].sparse:
                now, first = (f"{s.dtype} {'csr' if s.sparse else 'dense'}" for s in (shard, shards[0]))
                raise BadFile(shard.folder, f"is {now}, and {shards[0].folder.name} is {first}")
        assert all(len(kind) == 1 for kind in kinds)  # The loop has refused others.
        sizes = [shard.n for shard in shards]
        super().__init__([Deferred(shard) for shard in shards], sizes, shards[0].d, shards[0].dtype)

    def visit(self) -> Iterator[tuple[int, RowMatrix]]:
        return ((k, shard.rows) for k, shard in enumerate(self.shards))

    @property
    def classes(self) -> NDArray[Any] | None:
        """What the labels stand for; None where they are numbers as they are"""
        if self.manifest is None or self.manifest.classes is None:
            return None
        return np.array(self.manifest.classes)

    @cached_property
    def y(self) -> NDArray[Any] | None:
        """All labels as they were given, in memory"""
        parts = [shard.vector("y") for shard in self.shards]
        if any(part is None for part in parts):
            return None
        return decoded(np.concatenate([part for part in parts if part is not None]), self.classes)

    @cached_property
    def sample_weight(self) -> NDArray[Any] | None:
        """All weights, in memory; None if there are none"""
        parts = [shard.vector("weight") for shard in self.shards]
        found = [part for part in parts if part is not None]
        return np.concatenate(found) if len(found) == len(parts) else None

    def chosen(self, numbers: NDArray[np.int64]) -> ShardRows:
        """Some of the shards"""
        return ShardRows(self.folder, tuple(self.shards[int(k)] for k in numbers), self.manifest)

    def in_memory(self) -> ShardRows:
        """The same shards, copied into memory"""
        return ShardRows(self.folder, tuple(shard.in_memory() for shard in self.shards), self.manifest)

    def places(self) -> NDArray[np.int64]:
        """The number of every row in the input"""
        return np.concatenate([shard.places() for shard in self.shards])

    def columns(self, name: str) -> NDArray[Any] | None:
        """`counts`, `means` or `mean_squares` of all columns; None where they were not written, and of some shards"""
        if self.manifest is None or len(self.shards) < len(self.manifest.shards):
            return None
        array = zarr.read_array(self.folder / "columns" / name)
        return zarr.MappedFile(array).values

    @property
    def bytes(self) -> int:
        """What a pass over all rows reads"""
        return sum(shard.bytes for shard in self.shards)

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<dcopt.open({os.fspath(self.folder)!r}): {n:,} rows, {d:,} columns, {len(self.shards)} shards>"


class Deferred:
    """The rows of a shard, which are opened when they are used."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard

    @property
    def shape(self) -> tuple[int, int]:
        return self.shard.n, self.shard.d

    @property
    def dtype(self) -> Any:
        return self.shard.dtype

    def dot(self, x: Any, rows: Any = None) -> Any:
        return self.shard.rows.dot(x, rows)

    def tdot(self, c: Any, rows: Any = None) -> Any:
        return self.shard.rows.tdot(c, rows)

    def take(self, rows: Any) -> RowMatrix:
        return self.shard.rows.take(rows)

    def norms2(self) -> Any:
        return self.shard.rows.norms2()

    def can(self) -> Any:
        return self.shard.rows.can()


def decoded(values: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    """Labels as they were given"""
    if classes is None:
        return values
    codes = values > 0 if len(classes) == 2 else values
    out: NDArray[Any] = classes[codes.astype(np.int64)]
    return out


def open_shards(path: str | os.PathLike[str], *, verify: bool | None = None, target: str = "y") -> ShardRows:
    """The shards in a folder that `dcopt pack` wrote, or a Zarr group in AnnData's encoding, uncompressed.

    The files are mapped, not read. Sizes and the digests of all small files are checked at once. The digest of an array
    is checked when it is read for the first time; with verify=True now; with verify=False not at all. `target` is the
    column of obs that has the labels, in a group that another program wrote.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise BadFile(folder, "does not exist" if not folder.exists() else "is a file: dcopt pack makes shards of it")
    opened = _set(folder, verify) if is_set(folder) else _foreign(folder, target)
    if verify:
        verify_all(opened)
    return opened


def _set(folder: Path, verify: bool | None) -> ShardRows:
    manifest = read_manifest(folder)
    if not manifest.shards:
        raise BadFile(folder, "has no shard")
    check_files(folder, manifest.files, folder)
    ones = zarr.read_array(folder / "ones" / "values") if manifest.ones else None
    if ones is not None:
        check_digest(folder / "ones" / "values" / "c" / "0", manifest.files["ones/values/c/0"])
    shards = []
    for facts in manifest.shards:
        base = folder / facts.name
        if not base.is_dir():
            raise BadFile(base, "does not exist: the set has lost a shard")
        shards.append(Shard(base, facts, manifest.d, verify is not False, ones, "y" if manifest.labels else None))
    return ShardRows(folder, tuple(shards), manifest)


def _foreign(folder: Path, target: str) -> ShardRows:
    """One group of AnnData that another program wrote"""
    if not (folder / "X").is_dir():
        raise BadFile(folder, "is no set of shards and no group of AnnData: it has neither zarr.json of a set nor X")
    if (folder / "X" / "indptr").is_dir():
        shape = zarr.read_group(folder / "X").get("shape")
    else:
        shape = list(zarr.read_array(folder / "X").shape)
    if not isinstance(shape, list) or len(shape) != 2:
        raise BadFile(folder / "X", "has no shape: expected a group csr_matrix, or an array")
    return ShardRows(folder, (Shard(folder, None, int(shape[1]), False, None, target),), None)


def verify_all(opened: ShardRows) -> None:
    """Read every file of the set, and compare its digest."""
    if opened.manifest is None:
        for shard in opened.shards:
            shard.rows  # noqa: B018  # it is checked when it is opened
        return
    for name, written in opened.manifest.files.items():
        check_digest(opened.folder / name, written)
    for shard in opened.shards:
        assert shard.facts is not None  # It is of a set.
        for name, written in shard.facts.files.items():
            check_digest(shard.folder / name, written)
