"""A fork waits until no other thread imports or compiles: in the child nobody would let go of what that thread holds.

Those are the locks of modules, the compiler's lock, and the lock file of the kernels, which a child would keep. Until
Python 3.12 each cached property has a lock too, for all instances; these are free in a child.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from functools import cached_property
from time import monotonic, sleep
from typing import Any

COMPILING = threading.RLock()  # held by the thread that compiles or loads kernels, for all of them
locks: list[Any] = [COMPILING]  # in the order in which they are taken; the compiler adds its own
_OURS = __name__.partition(".")[0]
_PACKAGES = {_OURS, "llvmlite", "numba", "numpy", "scipy", "threadpoolctl"}  # what the library imports when needed
_PATIENCE = 60.0  # seconds that a fork waits for imports; no import of these packages takes so long
_taken: list[Any] = []


def _ours() -> list[Any]:
    return [module for name, module in list(sys.modules.items()) if name.startswith(_OURS + ".")]


def _importing() -> bool:
    """Whether another thread holds the lock of a module of these packages: it looks for it, or is half through it."""
    mine = None, threading.get_ident()
    held = list(getattr(importlib._bootstrap, "_module_locks", {}).items())
    owners = (getattr(lock(), "owner", None) for name, lock in held if name.partition(".")[0] in _PACKAGES)
    return any(owner not in mine for owner in owners)


def _before() -> None:
    """Take the locks at a moment at which nobody imports; a thread that compiles may begin to import, and reversely."""
    until = monotonic() + _PATIENCE
    while True:
        while _importing() and monotonic() < until:
            sleep(0.001)
        for lock in locks.copy():
            lock.acquire()
            _taken.append(lock)
        if monotonic() >= until or not _importing():
            return
        _after()


def _after() -> None:
    while _taken:
        _taken.pop().release()


def _in_child() -> None:
    _after()
    if sys.version_info < (3, 12):
        for module in _ours():
            for kind in [one for one in vars(module).values() if isinstance(one, type)]:
                for one in [one for one in vars(kind).values() if isinstance(one, cached_property)]:
                    one.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
