"""What the root of a set of shards says: sizes, the seed of the shuffle, and the digest of every file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import BadFile
from . import zarr_files as zarr

VERSION = 1
KEY = "dcopt"  # of the attribute of the root that holds all of this


class Written(NamedTuple):
    """A file as it was written"""

    bytes: int
    crc32: int


@dataclass(frozen=True)
class ShardFacts:
    """One shard: its folder, sizes, the largest ‖a_i‖², and all its files by their names inside the folder."""

    name: str
    rows: int
    entries: int
    norm2: float
    files: Mapping[str, Written] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """The whole set. `seed` is that of the shuffle, None where the rows are in the order of the input."""

    n: int
    d: int
    dtype: str
    kind: str  # "csr" or "dense"
    entries: int
    seed: int | None
    shards: tuple[ShardFacts, ...]
    ones: bool = False  # All values are 1, and are stored once for all shards.
    labels: bool = True
    weights: bool = False
    classes: tuple[Any, ...] | None = None  # What the labels stand for: −1 and +1, or 0, 1, …
    names: tuple[str, ...] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)  # What a model keeps of how its data were read.
    files: Mapping[str, Written] = field(default_factory=dict)  # Those of the root: columns and ones.

    @property
    def size(self) -> int:
        """Bytes of all files"""
        return sum(f.bytes for part in (self.files, *(s.files for s in self.shards)) for f in part.values())

    @property
    def norm2(self) -> float:
        """The largest ‖a_i‖²"""
        return max((s.norm2 for s in self.shards), default=0.0)

    def root(self) -> bytes:
        """The zarr.json of the root, which says that the set is complete and holds the digest of what it says."""
        said = _plain(self)
        return zarr.group({KEY: said | {"crc32": _digest(said), "complete": True}})


def _plain(manifest: Manifest) -> dict[str, Any]:
    return json.loads(json.dumps({"version": VERSION} | asdict(manifest)))  # type: ignore[no-any-return]  # a dict


def _digest(said: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def is_set(folder: Path) -> bool:
    """Whether the folder looks like the root of a set of shards."""
    try:
        return KEY in zarr.read_group(folder)
    except BadFile:
        return False


def read_manifest(folder: Path) -> Manifest:
    """What the root says; BadFile where it is not complete, damaged, or of a newer version."""
    path = folder / zarr.META
    said = zarr.read_group(folder).get(KEY)
    if not isinstance(said, dict):
        raise BadFile(path, "is no set of shards: dcopt pack makes one")
    if said.pop("complete", None) is not True:
        raise BadFile(path, "the set of shards is not complete: the program that wrote it has not ended")
    if isinstance(said.get("version"), int) and said["version"] > VERSION:
        raise BadFile(path, f"was written by a newer version of dcopt (format {said['version']}, known is {VERSION})")
    if said.pop("crc32", None) != _digest(said):
        raise BadFile(path, "is damaged: it does not have the digest that was written with it")
    try:
        said.pop("version")
        shards = tuple(_shard(one) for one in said.pop("shards"))
        for key in ("classes", "names"):
            said[key] = None if said[key] is None else tuple(said[key])
        manifest = Manifest(**(said | {"shards": shards, "files": _files(said["files"])}))
        if sum(s.rows for s in shards) != manifest.n or manifest.kind not in ("csr", "dense"):
            raise ValueError("its sizes do not add up")
    except (KeyError, TypeError, ValueError, AttributeError) as why:
        raise BadFile(path, f"is no set of shards ({str(why)[:80]})") from None
    return manifest


def _shard(said: Mapping[str, Any]) -> ShardFacts:
    return ShardFacts(**{**said, "files": _files(said["files"])})


def _files(said: Mapping[str, Any]) -> dict[str, Written]:
    return {name: Written(int(size), int(crc)) for name, (size, crc) in said.items()}
