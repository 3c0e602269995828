"""What is asked of a data file, what a model was fitted to, and what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .coding import Coded, Coding

Say = Callable[[str], None]  # is told, in a sentence, what was made of the columns
_FEW = 20  # whole numbers with at most so many values are classes, unless a loss says otherwise


class Fitted(NamedTuple):
    """What a model was fitted to: `names` and `width` are of its features, `coding` is what made them of columns."""

    names: tuple[str, ...] | None
    width: int
    coding: Coding | None = None
    zero_based: bool = False

    @property
    def columns(self) -> tuple[Coded, ...] | None:
        """None where the columns have no names, and are told by their order."""
        if self.coding is not None:
            return self.coding.columns
        return None if self.names is None else tuple(Coded(name, "numbers") for name in self.names)

    @property
    def named(self) -> bool:
        return self.names is not None and (self.coding is None or self.coding.header)


class Columns(NamedTuple):
    """Which columns are meant, and how the file is read: by the options, or as for a model that was fitted before."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    must: bool = True  # whether there has to be a target: it is a fit
    missing: str = "refuse"
    categorical: tuple[str, ...] = ()
    decimal: str | None = None
    header: bool | None = None
    zero_based: bool = False
    fitted: Fitted | None = None
    by_position: bool = False  # columns without names may stand for those of a model that has names


class Data(NamedTuple):
    """Rows, targets (None where there are none), the names of the features, and what is known of the task."""

    X: Any
    y: NDArray[Any] | None
    names: tuple[str, ...] | None
    kind: str | None  # "binary", "multiclass", "regression"
    source: str
    form: str
    coding: Coding | None = None
    zero_based: bool = False

    @property
    def real(self) -> bool:
        """Whether the targets are numbers to be met, not classes."""
        if self.kind is not None:
            return self.kind == "regression"
        if self.y is None or self.y.dtype.kind == "f":
            return self.y is not None
        return self.y.dtype.kind == "i" and len(np.unique(self.y)) > _FEW

    @property
    def fitted(self) -> Fitted:
        """For other data that are to be read as these were."""
        return Fitted(self.names, int(self.X.shape[1]), self.coding, self.zero_based)

    @property
    def reading(self) -> dict[str, Any]:
        """What a model file keeps of it."""
        return {
            "table": None if self.coding is None else self.coding.plain(),
            "zero_based": self.zero_based or None,
        }
