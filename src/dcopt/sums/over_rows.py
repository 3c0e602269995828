"""A loss over rows of data from what a user gives: one matrix with labels, or rows in parts that bring their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..data.intercept import WithIntercept
from ..errors import BadInput, BadSettings
from ..losses import Loss
from ..xp import Array
from .homes import Homes, Own, PartData
from .linear import LinearSum
from .parts import PartsSum
from .protocol import SumOverRows
from .recipes import Coded


class Found(NamedTuple):
    """What the labels and weights of one part are."""

    labels: NDArray[Any]  # each once
    weighs: NDArray[np.bool_]  # Whether a row with this label has a weight above 0.
    weighted: bool
    largest: float  # weight


@dataclass(frozen=True, eq=False)
class Parted:
    """Rows with their labels and weights, in parts that have homes: what is accepted in the place of X.

    `dcopt.open` makes one of a folder of shards. y and sample_weight come with it. Parts with float32 among parts with
    float64, and parts of different widths, are refused by their number; a part may be empty, or lack a class.
    """

    homes: Homes

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.homes.sizes), self._width[0]

    @property
    def dtype(self) -> Any:
        return self._width[1]

    @cached_property
    def _width(self) -> tuple[int, Any]:
        first: tuple[int, Any] | None = None
        for k, seen in enumerate(self.homes.each(None, _width, own=self.numbers())):
            if seen is not None and first is not None and seen != first:
                said = f"part {k} has {seen[0]} columns of {seen[1]}, the parts before it {first[0]} of {first[1]}"
                raise BadInput("X", said)
            first = first or seen
        if first is None:
            raise BadInput("X", "has no rows: all of its parts are empty")
        return first

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, where they are known"""
        return None

    def statistics(self) -> tuple[NDArray[Any], ...] | None:
        """Of all columns the numbers of stored entries, the means and the mean squares, where they are known"""
        return None

    def blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Matrix, labels as they were given, and weights of every part in turn"""
        raise BadInput("X", "its parts cannot be taken one by one here")

    def chosen(self, parts: NDArray[np.int64]) -> Parted:
        """Some of the parts"""
        raise BadInput("X", "some of its parts alone cannot be taken")

    def scores(self, coef: Array, intercept: Array) -> Array:
        """A coefᵀ + intercept, for coef (c, d), from the parts in their order"""
        return np.concatenate(self.homes.each(None, _scores, np.ascontiguousarray(coef.T), intercept))

    def numbers(self) -> Own:
        """The number of each part that has rows, for pieces that name it"""
        return [(k,) if size else None for k, size in enumerate(self.homes.sizes)]

    def sum(self, loss: Loss, intercept: bool) -> tuple[PartsSum, NDArray[Any] | None]:
        """The mean of a loss over all rows, and the classes of all parts"""
        self._width  # noqa: B018  # Parts that differ are refused before their labels are read.
        found = dict(enumerate(self.homes.each(None, _found, loss.labels, loss.domain, own=self.numbers())))
        found = {k: one for k, one in found.items() if one is not None}
        scale = self._scale(found)
        if loss.domain != "any" and not any(one.labels.size for one in found.values()):
            check.in_domain(np.zeros(1), loss.domain)
        classes = None if loss.labels == "real" else self._classes(found, loss.labels)
        return PartsSum(self.homes, Coded(loss, classes, scale, intercept), self.homes.sizes), classes

    def _scale(self, found: dict[int, Found]) -> tuple[float, float] | None:
        """The largest weight w, and N / Σ w_i/w; None where no part has weights"""
        if not any(one.weighted for one in found.values()):
            return None
        largest = max(one.largest for one in found.values())
        if not largest > 0.0:
            raise BadInput("sample_weight", "all weights are zero")
        return largest, self.shape[0] / float(self.homes.total(None, _weight, largest, own=self.numbers()))

    def _classes(self, parts: dict[int, Found], kind: str) -> NDArray[Any]:
        """The sorted classes of all parts; refuses one class, more than the loss takes, and one class with weight."""
        if len({one.labels.dtype.kind in "UST" for one in parts.values()}) > 1:
            raise BadInput("y", "mixes strings and numbers")
        classes = np.unique(np.concatenate([one.labels for one in parts.values()]))
        if len(classes) < 2:
            raise BadInput("y", f"1 class ({classes[0]}): at least 2 are needed")
        if kind == "binary" and len(classes) > 2:
            shown = ", ".join(f"{label} in part {_first(parts, label)}" for label in classes[:5])
            more = ", …" if len(classes) > 5 else ""
            raise BadInput("y", f'{len(classes)} classes ({shown}{more}): this loss takes two; use loss="softmax"')
        left = np.unique(np.concatenate([one.labels[one.weighs] for one in parts.values()]))
        if len(left) < 2:
            raise BadInput("sample_weight", f"1 class ({left[0]}) has weight: at least 2 are needed")
        return classes


def _first(parts: dict[int, Found], label: Any) -> int:
    """The first part that has it"""
    return next(k for k, one in parts.items() if label in one.labels)


def over_rows(
    X: Any, y: Any, loss: Loss, sample_weight: Any = None, intercept: bool = False
) -> tuple[SumOverRows, NDArray[Any] | None]:
    """(1/N) Σ w_i φ(⟨a_i, x⟩, y_i), and the classes of y."""
    if isinstance(X, Parted):
        for name, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None:
                raise BadInput(name, "was given beside rows in parts, which bring their own: expected None")
        if loss.labels == "real" and loss.wide:
            raise BadSettings("loss", loss, "a loss of one target: rows in parts have one label each")
        return X.sum(loss, intercept)
    rows = check.as_rows(X)
    if loss.labels == "real" and loss.wide:
        labels, classes = check.target_columns(y, rows.shape[0], rows.dtype), None
    else:
        labels, classes = check.labels(y, rows.shape[0], loss.labels, rows.dtype)
    check.in_domain(labels, loss.domain)
    weights = check.sample_weights(sample_weight, rows.shape[0], rows.dtype)
    check.weigh_classes(weights, labels, classes)
    width = () if not loss.wide else (len(classes),) if classes is not None else (labels.shape[1],)
    return LinearSum(WithIntercept(rows) if intercept else rows, loss, labels, weights, width), classes


# ---- pieces, of what was loaded


def _width(data: PartData, number: int) -> tuple[int, Any]:
    return data.rows.shape[1], np.dtype(data.rows.dtype)


def _scores(data: PartData, coef: Array, intercept: Array) -> Array:
    if not data.rows.shape[0]:
        return np.zeros((0, *coef.shape[1:]), data.rows.dtype)
    one = coef.ndim == 2 and coef.shape[1] == 1  # Loops over rows are faster for a vector.
    z = data.rows.dot(coef[:, 0])[:, None] if one else data.rows.dot(coef)
    return np.asarray(z + intercept)


def _found(data: PartData, kind: str, domain: str, number: int) -> Found:
    """Labels and weights of a part, checked"""
    n = data.rows.shape[0]
    try:
        labels = _targets(data.labels, n, domain) if kind == "real" else check.class_labels(data.labels, n)
        w = None if data.weights is None else check.vector(data.weights, "sample_weight", n).astype(np.float64)
    except BadInput as why:
        raise BadInput(why.argument, f"part {number}: {why.reason}", row=why.row) from None
    if w is not None and (w < 0.0).any():
        raise BadInput("sample_weight", f"part {number}: {w.min()} is negative", row=int(np.argmin(w)))
    found, where = np.unique(labels, return_inverse=True)
    if w is None:
        return Found(found, np.ones(len(found), bool), False, 1.0)
    return Found(found, np.bincount(where, w[: len(where)] > 0.0, len(found)) > 0.0, True, float(w.max()))


def _targets(y: Any, n: int, domain: str) -> NDArray[Any]:
    """The first target that is not 0, as all are checked"""
    v = check.vector(y, "y", n)
    check.in_domain(np.append(v, 1.0), domain)  # Whether all are 0 is a question to all parts.
    return np.asarray(v[v != 0.0][:1])


def _weight(data: PartData, largest: float, number: int) -> float:
    """Σ w_i / largest"""
    w = np.ones(data.rows.shape[0]) if data.weights is None else np.array(data.weights, np.float64)
    return float((w / largest).sum())
