"""Data sets by name: LIBSVM's from the folder DCOPT_DATA, the cache or their site, and those of scikit-learn."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..errors import BadFile, pick
from . import cache as kept
from .catalogue import CATALOGUE as LIBSVM
from .catalogue import Entry
from .download import address, aside, fetch, place
from .libsvm import Loaded, finish, load_libsvm, parse
from .parsed import Parsed

__all__ = ["BUNDLED", "DATASETS", "LIBSVM", "available", "load_dataset", "load_libsvm", "where"]

BUNDLED = ("breast_cancer", "digits", "wine", "diabetes")
DATASETS = (*LIBSVM, *BUNDLED)
_ENDINGS = ("", ".bz2", ".gz")


def where(name: str) -> Literal["scikit-learn", "DCOPT_DATA", "cache", "download"] | None:
    """From where `load_dataset(name)` would take its data; None: from nowhere, its file has to be in DCOPT_DATA."""
    if pick("name", name, (*LIBSVM, *BUNDLED)) in BUNDLED:
        return "scikit-learn"
    entry, home = LIBSVM[name], kept.home()
    if _file(name) is not None:
        return "DCOPT_DATA"
    if home is not None and (place(entry, home).is_file() or kept.of_key(home, entry.key) is not None):
        return "cache"
    return None if address(entry) is None else "download"


def available(name: str) -> bool:
    """Whether `load_dataset(name)` will find its data on this machine."""
    return where(name) not in ("download", None)


def load_dataset(name: str, *, normalize: bool = False, cache: bool = True) -> Loaded:
    """(X, y): X is CSR for LIBSVM sets (see `LIBSVM`), dense for those that ship with scikit-learn (`BUNDLED`).

    A LIBSVM set is looked for in the folder named by the environment variable DCOPT_DATA (plain text, bzip2 or gzip),
    then in the cache (the folder DCOPT_CACHE, by default the usual one of the system; empty: no cache), and is
    otherwise downloaded from LIBSVM's site, or from the same place under the address DCOPT_MIRROR. Its text has to have
    the checksum of the catalogue. Labels are as in the file. `normalize` scales every row to ‖a_i‖ = 1 (empty rows
    stay empty). `cache=False` reads the text and keeps nothing.
    """
    if pick("name", name, (*LIBSVM, *BUNDLED)) in BUNDLED:
        return _bundled(name, normalize)
    entry, home = LIBSVM[name], kept.home() if cache else None
    path = _file(name)
    if path is not None:
        return finish(path, _read(entry, path, home), entry.features, normalize=normalize)
    parsed = kept.of_key(home, entry.key)
    if parsed is None or entry.differs(parsed.sha256, len(parsed.labels), parsed.data.size):
        parsed = _fetched(entry, home)
    return finish(name, parsed, entry.features, normalize=normalize)


def _read(entry: Entry, path: Path, home: Path | None) -> Parsed:
    """From the cache if it was made of this very file, otherwise from the text."""
    parsed = kept.of_file(home, path, entry.key)
    fresh = parsed is None
    if parsed is None:
        parsed = parse(path, n_features=entry.features)
    difference = entry.differs(parsed.sha256, len(parsed.labels), parsed.data.size)
    if difference:
        raise BadFile(path, f"is not LIBSVM's {entry.name}: {difference}")
    if fresh:
        kept.keep_file(home, path, parsed, entry.key)
    return parsed


def _fetched(entry: Entry, home: Path | None) -> Parsed:
    """From the download in the cache; without one, or if it is spoilt, from a new one."""
    folder = os.environ.get("DCOPT_DATA")
    instead = f"put its file into the folder DCOPT_DATA (now {folder!r}), or take one of {', '.join(BUNDLED)}"
    path = None if home is None or entry.page is None else place(entry, home)
    if path is not None and path.is_file():
        try:
            return _read(entry, path, home)
        except BadFile:
            with suppress(OSError):
                os.replace(path, aside(path))
    home = kept.writable(home)
    if home is None:
        with tempfile.TemporaryDirectory(prefix="dcopt-") as scratch:
            return _read(entry, fetch(entry, Path(scratch), instead), None)
    kept.sweep(home)
    return _read(entry, fetch(entry, home, instead), home)


def _bundled(name: str, normalize: bool) -> Loaded:
    from sklearn import datasets, preprocessing

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Loaded(preprocessing.normalize(X) if normalize else X, y)


def _file(name: str) -> Path | None:
    folder = os.environ.get("DCOPT_DATA")
    if not folder:
        return None
    return next((path for end in _ENDINGS if (path := Path(folder) / (name + end)).is_file()), None)
