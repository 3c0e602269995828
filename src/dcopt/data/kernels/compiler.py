"""Loops that Numba compiles and caches on disk. Without Numba they run as plain Python.

No jitclass (cannot be cached), no fastmath (drops NaN).
"""

from __future__ import annotations

import inspect
import math
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ...version import __version__
from .. import engine
from . import elementary

if sys.platform == "win32":
    _LOCKS = False
else:
    import fcntl

    _LOCKS = True

_LOCK = "dcopt-kernels.lock"
_PATIENCE = 60.0  # Seconds to wait for another process that compiles, more than all kernels take.
_PAUSE = 0.02  # Seconds between two attempts.


def _import() -> Any:
    """Numba, or None where it is absent, switched off or broken."""
    try:
        import numba
        import numba.extending
    except Exception as why:
        engine.trouble = f"numba cannot be imported ({why!r})"
        return None
    settings: Any = numba.config  # Its attributes are made when it is loaded.
    if settings.DISABLE_JIT:
        engine.trouble = "numba is told not to compile (NUMBA_DISABLE_JIT)"
        return None
    return numba


numba = _import()
ENGINE = "python" if numba is None else "numba"


def compiled(function: Callable[..., Any], keep: bool = True) -> Callable[..., Any]:
    """Compile with the disk cache, or without it (keep=False, or no folder can be written).

    Without Numba this returns the function itself.
    """
    if numba is None:
        return function
    if not keep:
        return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    # The digest is part of the name of the cache file, so that no stale file is loaded.
    function.__qualname__ += "_" + _text(inspect.getfile(function))
    try:
        kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # Numba says "no locator available" for a read-only installation without a home folder.
        return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    kernel._cache = _Kept(kernel._cache)
    return kernel  # type: ignore[no-any-return]


@cache
def _text(path: str) -> str:
    """A digest of all sources of the kernels in this file. Older versions of Numba compare only its size and time."""
    return sha256(__version__.encode() + Path(__file__).read_bytes() + Path(path).read_bytes()).hexdigest()[:16]


class _Kept:
    """Numba's disk cache. An error in it (a full disk, a torn file) causes another compilation, not a failure."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *args: Any) -> Any:
        if not _alone.kept:
            return None
        try:
            return self._cache.load_overload(*args)
        except Exception:
            with suppress(Exception):
                self._cache.flush()
            return None

    def save_overload(self, *args: Any) -> None:
        with suppress(Exception):
            if not _alone.kept:
                return
            self._cache.save_overload(*args)


class _Alone(threading.local):
    kept = True  # Whether the disk cache may be read and written.


_alone = _Alone()


@contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """Compile and load in here: Numba's disk cache mixes up its entries when two processes write at once.

    A process that waits longer than the limit compiles in memory.
    """
    with engine.off_the_clock(), ExitStack() as held:
        folder, before = _folder(), _alone.kept
        if folder is not None and _LOCKS:
            try:
                _alone.kept = _locked(folder / _LOCK, held)
                yield
            finally:
                _alone.kept = before
        else:  # On other systems, or without a folder to write, the cache is not written either.
            yield


def _locked(path: Path, held: ExitStack) -> bool:
    """Try to hold the lock until `held` ends. A symbolic link or a FIFO in place of the lock file is refused."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        held.callback(os.close, handle)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is not a regular file")
        # The process has waited once before; it does not wait again.
        until = monotonic() + (0.0 if engine.alone else _PATIENCE)
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            if monotonic() >= until:
                raise OSError(f"another process has held {path} for more than {_PATIENCE:g} seconds")
            sleep(_PAUSE)
    except OSError as why:
        engine.alone = str(why)
        return False


@cache
def _folder() -> Path | None:
    """Where Numba keeps the kernels of this folder; None where it keeps none."""
    if numba is None:
        return None

    def nothing() -> None:
        return None

    try:
        return Path(numba.njit(cache=True)(nothing).stats.cache_path)
    except RuntimeError:
        return None


def give_scalar_meaning(names: Any, *formulas: Any) -> None:
    """Register scalar versions of array functions (attributes of `names`), and formulas of them, with the compiler."""

    def absolute(z: float) -> float:
        return abs(z)

    def expm1(z: float) -> float:
        return math.expm1(z)

    def clip(z: float, low: float, high: float) -> float:
        return low if z < low else high if z > high else z  # NaN stays NaN.

    def expit(z: float) -> Any:
        e = names.exp(-abs(z))
        return (e if z < 0.0 else 1.0) / (1.0 + e)

    scalars = absolute, elementary.exp, elementary.log1p, expm1, clip, expit
    for function, scalar in [(getattr(names, f.__name__), f) for f in scalars] + [(f, f) for f in formulas]:
        # Without inlining, loops are not vectorised.
        numba.extending.overload(function, {"forceinline": True}, strict=False)(_always(scalar))


def _always(scalar: Callable[..., float]) -> Callable[..., Any]:
    """Numba asks for an implementation for the types of the arguments. The answer is always this one."""
    return lambda *types: scalar
