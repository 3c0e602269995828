"""scikit-learn without scipy.stats, which takes a third of its time to import and serves one function of it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_NAME = "scipy.stats"


@contextmanager
def later() -> Iterator[None]:
    """`import scipy.stats` in here binds `scipy` alone: SciPy itself imports scipy.stats when it is first asked for.

    A stand-in says that the module is there, and is gone afterwards. Whoever wants something of it in the meantime
    (another version of scikit-learn, another thread) gets that of the real one.
    """
    if _NAME in sys.modules:
        yield
        return
    stand_in = ModuleType(_NAME)

    def real(name: str) -> Any:
        if sys.modules.get(_NAME) is stand_in:
            del sys.modules[_NAME]
        return getattr(importlib.import_module(_NAME), name)

    stand_in.__getattr__ = real  # type: ignore[method-assign]
    sys.modules[_NAME] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(_NAME) is stand_in:
            del sys.modules[_NAME]
