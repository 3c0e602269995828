"""Checks before scikit-learn converts its input, which would drop masks, convert dates to numbers, or crash."""

from __future__ import annotations

from typing import Any

from ..data import check
from ..data.numeric import numeric
from ..data.sparse import well_formed


def examine(X: Any, **vectors: Any) -> None:
    """Refuse rows that are masked, malformed, or hold dates or text, and vectors that are masked."""
    for name, values in {"X": X, **vectors}.items():
        check.unmasked(values, name)
    if hasattr(X, "tocsr"):
        well_formed(X, "X")
    else:
        numeric(X, "X")
