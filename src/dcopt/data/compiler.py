"""Loops compiled by Numba and kept on disk, or as they are where there is no Numba.

No jitclass (cannot be cached), no fastmath (drops NaN).
"""

from __future__ import annotations

import inspect
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..version import __version__
from . import elementary, engine


def _import() -> Any:
    """Numba, or None where it is absent, or broken in one of many ways."""
    try:
        import numba
        import numba.extending
    except Exception as why:
        engine.trouble = f"numba cannot be imported ({why!r})"
        return None
    return numba


numba = _import()
ENGINE = "python" if numba is None else "numba"


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with the disk cache, or without it where no folder can be written; without Numba, the function itself."""
    if numba is None:
        return function
    function.__qualname__ += "_" + _text(inspect.getfile(function))  # its file in the disk cache: never a stale one
    try:
        kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # "no locator available": a read-only installation without a home
        return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    kernel._cache = _Kept(kernel._cache)
    return kernel  # type: ignore[no-any-return]


@cache
def _text(path: str) -> str:
    """A digest of all that the kernels of this file are made of: an older Numba looks at its size and time only."""
    return sha256(__version__.encode() + Path(__file__).read_bytes() + Path(path).read_bytes()).hexdigest()[:16]


class _Kept:
    """Numba's disk cache, whose troubles (a full disk, a torn file) cost another compilation and not the run."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *args: Any) -> Any:
        try:
            return self._cache.load_overload(*args)
        except Exception:
            with suppress(Exception):
                self._cache.flush()
            return None

    def save_overload(self, *args: Any) -> None:
        with suppress(Exception):
            self._cache.save_overload(*args)


@contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """Compile and load in here: Numba's disk cache mixes up its entries when two processes write at once."""
    with engine.off_the_clock(), ExitStack() as held:
        with suppress(ImportError, OSError):  # another system, or no place to write: the cache is not written either
            import fcntl

            name = f"dcopt-kernels-{os.getuid()}.lock"
            lock = held.enter_context(open(os.path.join(tempfile.gettempdir(), name), "a"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def give_scalar_meaning(names: Any, *formulas: Any) -> None:
    """Teach the compiler what array functions (attributes of `names`) mean for one number, and formulas of them."""

    def absolute(z: float) -> float:
        return abs(z)

    def expm1(z: float) -> float:
        return math.expm1(z)

    def clip(z: float, low: float, high: float) -> float:
        return low if z < low else high if z > high else z  # NaN stays

    def expit(z: float) -> Any:
        e = names.exp(-abs(z))
        return (e if z < 0.0 else 1.0) / (1.0 + e)

    scalars = absolute, elementary.exp, elementary.log1p, expm1, clip, expit
    for function, scalar in [(getattr(names, f.__name__), f) for f in scalars] + [(f, f) for f in formulas]:
        numba.extending.overload(function, {"forceinline": True}, strict=False)(_always(scalar))  # or no vectors


def _always(scalar: Callable[..., float]) -> Callable[..., Any]:
    """Numba asks with the types of the arguments for an implementation: it is always this one."""
    return lambda *types: scalar
