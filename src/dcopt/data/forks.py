"""A fork waits until no other thread imports or compiles: in the child nobody would let go of what that thread holds.

Those are the locks of modules, the compiler's lock, and the lock file of the kernels, which a child would keep. Until
Python 3.12 each cached property has a lock too, for all instances; these are free in a child.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cached_property
from importlib import import_module
from typing import Any

COMPILING = threading.RLock()  # held by the thread that compiles or loads kernels, for all of them
locks: list[Any] = [COMPILING]  # in the order in which they are taken; the compiler adds its own
_OURS = __name__.partition(".")[0] + "."
_taken: list[Any] = []


def _ours() -> list[tuple[str, Any]]:
    return [(name, module) for name, module in list(sys.modules.items()) if name.startswith(_OURS)]


def _before() -> None:
    for name, _ in _ours():
        import_module(name)  # waits for a thread that is at it
    for lock in locks.copy():
        lock.acquire()
        _taken.append(lock)


def _after() -> None:
    while _taken:
        _taken.pop().release()


def _in_child() -> None:
    _after()
    if sys.version_info < (3, 12):
        for _, module in _ours():
            for kind in [one for one in vars(module).values() if isinstance(one, type)]:
                for one in [one for one in vars(kind).values() if isinstance(one, cached_property)]:
                    one.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
