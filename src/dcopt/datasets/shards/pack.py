"""`dcopt.pack`: data of any size into a set of shards, in two passes and bounded memory; killed, it goes on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import check
from ...errors import BadFile, BadSettings, require, require_count, require_number
from ..file_form import form_of
from ..request import Columns
from ..text import Progress
from .array_sources import AnnDataSource, NpzSource
from .block import Block
from .manifest import Manifest, is_set
from .scatter import Scatter, bucket_of
from .set_writer import SetWriter
from .sources import BlocksSource, ChainSource, LibsvmSource, Source

SHARD_MB = 256.0
BUCKETS = 128  # of the shuffle. The order of the rows depends on their number, and not on the size of a shard.
_MOST_COLUMNS = 10**8  # that are believed of LIBSVM text without `n_features`
_DTYPES = ("float32", "float64")


def pack(
    source: str | os.PathLike[str] | Sequence[str] | Iterable[Any],
    out: str | os.PathLike[str],
    *,
    shuffle: bool = True,
    seed: int = 0,
    shard_mb: float = SHARD_MB,
    dtype: str | None = None,
    target: str | None = None,
    weights: str | None = None,
    drop: Sequence[str] = (),
    missing: str = "refuse",
    categorical: Sequence[str] = (),
    n_features: int | None = None,
    zero_based: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Write the folder `out`: shards of about `shard_mb` megabytes, the rows shuffled by `seed`.

    `source` is a file or a list of files of one kind (LIBSVM text, CSV, Parquet, .npz, .h5ad, or a Zarr store in
    AnnData's encoding), or an iterable of blocks (X,), (X, y) or (X, y, weights). `target` and `weights` are columns of
    a table, or of obs; `drop`, `missing` ("refuse" or "drop") and `categorical` are as in `dcopt fit`. Memory is
    bounded by a block of the input and a slice of a shard. The folder appears when it is whole. Until then all work is
    in the folder `.NAME.packing` beside it: packing that was killed goes on from there, if the source is files that
    have not changed and the settings are the same.
    """
    require_count("seed", seed, 0)
    require_number("shard_mb", shard_mb, 0.0, open_low=True)
    if dtype is not None:
        require(dtype in _DTYPES, "dtype", dtype, "float32 or float64")
    folder = Path(out)
    if os.path.lexists(folder) and not (force and is_set(folder)):
        hint = (
            "it is no set of shards, and is not replaced" if force else "force=True (--force) replaces a set of shards"
        )
        raise BadFile(folder, f"exists already: {hint}")
    aside = folder.with_name(f".{folder.name}.packing")
    columns = Columns(target, tuple(drop), missing=missing, categorical=tuple(categorical))
    made = _source(source, aside, columns, weights, n_features, zero_based)
    if made.identity() is None:
        shutil.rmtree(aside, ignore_errors=True)
    settings = {"shuffle": shuffle, "seed": seed, "shard_mb": shard_mb, "dtype": dtype}
    asked = json.loads(json.dumps({"source": made.identity()} | settings))
    scatter, told = Scatter(aside, asked), progress or (lambda share: None)
    if not scatter.done:
        _scatter(made, scatter, shuffle, seed, shard_mb * 1e6, dtype, lambda share: told(0.5 * share))
    writer = _writer(folder, aside, scatter, made, seed if shuffle else None)
    return _gather(scatter, writer, made, shard_mb * 1e6, lambda share: told(0.5 + 0.5 * share))


def _source(
    source: Any, aside: Path, columns: Columns, weights: str | None, n_features: int | None, zero_based: bool
) -> Source:
    if isinstance(source, str | os.PathLike):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(one, str | os.PathLike) for one in source):
        paths = [os.fspath(one) for one in source]
        kinds = [_kind(path) for path in paths]
        if len(set(kinds)) > 1:
            raise BadSettings("source", paths, f"files of one kind, got {', '.join(dict.fromkeys(kinds))}")
        if kinds[0] in ("CSV", "Parquet"):
            from .table_source import TableSource

            return TableSource(paths, form_of(paths[0]), columns, weights)
        _no_columns(kinds[0], columns, weights)
        made = [_one(path, kinds[0], aside, columns, weights, n_features, zero_based) for path in paths]
        return made[0] if len(made) == 1 else ChainSource(made)
    if not hasattr(source, "__iter__"):
        raise BadSettings("source", source, "files, or an iterable of blocks (X, y)")
    return BlocksSource(source)


def _kind(path: str) -> str:
    end = Path(path).suffix.lower()
    if end == ".npz":
        return "npz"
    return "AnnData" if end in (".h5ad", ".h5", ".zarr") or os.path.isdir(path) else form_of(path)


def _one(
    path: str, kind: str, aside: Path, columns: Columns, weights: str | None, n_features: int | None, zero_based: bool
) -> Source:
    if kind == "npz":
        return NpzSource(path)
    if kind == "AnnData":
        return AnnDataSource(path, columns.target, weights)
    return LibsvmSource(path, lambda: _folder(aside), zero_based, n_features)


def _no_columns(kind: str, columns: Columns, weights: str | None) -> None:
    """Refuse options of tables where there are no columns with names."""
    given = {"drop": columns.drop, "categorical": columns.categorical}
    if kind != "AnnData":
        given |= {"target": columns.target, "weights": weights}  # type: ignore[dict-item]  # shown as they are
    for name, value in given.items():
        if value:
            raise BadSettings(name, value, f"none for {kind}, whose labels are in the file")


def _folder(aside: Path) -> Path:
    aside.mkdir(parents=True, exist_ok=True)
    return aside


def _scatter(
    source: Source, scatter: Scatter, shuffle: bool, seed: int, size: float, dtype: str | None, told: Progress
) -> None:
    """The first pass: every row into its bucket."""
    for piece in source.pieces(scatter.cursor, scatter.n):
        block = piece.block if dtype is None else piece.block._replace(data=_narrowed(piece.block.data, dtype))
        if block.labels is not None:
            block = block._replace(labels=scatter.labels.add(np.asarray(block.labels)))
        if scatter.files is None:
            scatter.begin(block, BUCKETS if shuffle else 1)
        if shuffle:
            buckets = bucket_of(seed, scatter.n, block.rows, BUCKETS)
        else:
            buckets = scatter.in_order(block.rows, size)
        scatter.add(block, buckets, piece.cursor)
        told(piece.share)
    if not scatter.n:
        raise BadFile(scatter.folder, "there is no row to pack")
    scatter.end()


def _narrowed(data: NDArray[Any], dtype: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        narrow = data.astype(dtype)
    check.finite(narrow, "X")
    return narrow


def _writer(out: Path, aside: Path, scatter: Scatter, source: Source, seed: int | None) -> SetWriter:
    zero = _from_zero(source, scatter)
    d = source.d if source.d is not None else scatter.high + zero
    if scatter.high >= 0 and scatter.high + zero > d:
        raise BadFile(out, f"the input has {scatter.high + zero:,} columns, and n_features is {d:,}")
    if source.d is None and d > _MOST_COLUMNS:
        raise BadFile(out, f"the input would have {d:,} columns: give n_features if that is right")
    if d < 1:
        raise BadFile(out, "no row has a column: give n_features")
    reading = dict(source.about.get("reading", {}))
    if source.zero_based is None and zero:
        reading["zero_based"] = True
    about = source.about | {"seed": seed, "reading": reading}
    return SetWriter(out, aside, int(d), scatter.ones, scatter.labels.classes, about)


def _gather(scatter: Scatter, writer: SetWriter, source: Source, size: float, told: Progress) -> Manifest:
    """The second pass: buckets, one after the other and shuffled within, become shards."""
    zero, seed = _from_zero(source, scatter), writer.about["seed"]
    plan = scatter.plan(size)
    for k, slices in list(enumerate(plan))[len(writer.shards) :]:
        blocks = (block for one in slices for block in scatter.rows_of(one, seed))
        writer.shard(_finished(scatter, block, 0 if zero else 1) for block in blocks)
        for one in slices:
            if one.stop == scatter.rows[one.bucket]:
                scatter.remove(one.bucket)
        told((k + 1) / len(plan))
    if os.path.lexists(writer.out):
        os.replace(writer.out, writer.aside / "old")  # It was asked for by force.
    return writer.finish()


def _from_zero(source: Source, scatter: Scatter) -> bool:
    """Whether column numbers begin at 0"""
    return scatter.low == 0 if source.zero_based is None else source.zero_based


def _finished(scatter: Scatter, block: Block, offset: int) -> Block:
    """Columns from 0 on, and labels as they are kept"""
    if offset and block.indices is not None:
        block = block._replace(indices=block.indices - offset)
    if block.labels is None:
        return block
    return block._replace(labels=scatter.labels.coded(np.asarray(block.labels)))
