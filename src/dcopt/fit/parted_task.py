"""The task of a fit on rows in parts: shards on disk, or parts of a cluster. Its units are parts, not rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..data.rows import RowMatrix
from ..errors import BadInput, BadSettings, require_count
from ..losses import Loss
from ..sums import LinearSum, Parted, PartsSum, SumOverRows
from .standard import Columns
from .task import Task


@dataclass(eq=False)
class PartedTask(Task):
    """F(x) of rows in parts, with one number a row nowhere but at home. `take` takes numbers of parts."""

    parts: Parted | None = None
    whole: PartsSum | None = None
    sizes: tuple[int, ...] = field(default=())

    @classmethod
    def of(cls, parts: Parted, loss: Loss, intercept: bool, columns: Columns | None) -> tuple[PartedTask, Any]:
        """The task, and the classes"""
        f, classes = parts.sum(loss, intercept)
        rows = cast(RowMatrix, parts)  # For its shape and its dtype.
        task = cls(rows, np.zeros(0), None, loss, f.classes, intercept, None, columns, rows, None)
        task.parts, task.whole, task.sizes = parts, f, tuple(parts.homes.sizes)
        return task, classes

    @property
    def total(self) -> float:
        return float(self.n)

    def sum(self) -> SumOverRows:
        assert self.whole is not None  # `of` has made it.
        return self.whole

    def take(self, rows: NDArray[np.int64]) -> PartedTask:
        assert self.parts is not None  # `of` has given them.
        part, classes = PartedTask.of(self.parts.chosen(rows), self.loss, self.intercept, self.columns)
        if part.width != self.width:
            raise BadInput("y", f"a class is missing in some parts: {classes} are left for a fold")
        return part

    def dealt(self, folds: int, seed: int) -> NDArray[np.int64]:
        """The fold of every part"""
        require_count("folds", folds, 2)
        if len(self.sizes) < folds:
            said = f"at most {len(self.sizes)}, the number of parts, because folds are made of whole parts"
            raise BadSettings("folds", folds, said + "; a smaller shard_mb packs more")
        order = np.random.default_rng(seed).permutation(len(self.sizes))
        out = np.empty(len(order), np.int64)
        out[order] = np.arange(len(order)) % folds
        return out

    def accuracy(self, x: NDArray[Any]) -> float:
        right, all_of_them = self.sum().total(_right, np.ascontiguousarray(x, self.rows.dtype))
        return float(right) / float(all_of_them)


def _right(f: LinearSum, x: NDArray[Any]) -> tuple[float, float]:
    """Σ w_i over the rows whose class has the largest score, and over all rows"""
    z, w = f.a.dot(x), np.ones(f.n) if f.weights is None else np.asarray(f.weights, np.float64)
    right = np.argmax(z, axis=1) == f.labels if f.classes else (z > 0.0) == (f.labels > 0.0)
    return float(w[right].sum()), float(w.sum())
