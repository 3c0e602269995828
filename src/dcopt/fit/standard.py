"""standardize=True: a fit on columns of deviation 1, and its coefficients in the units of the data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.column_statistics import moments, scaled
from ..data.rows import RowMatrix

_FEW = 10  # entries of a column that are not 0: fewer do not tell its unit
_FLAT = 1e-10  # deviation over root mean square: below it a column is constant but for rounding
UNEVEN = 100.0  # ratio of two columns' scales from which on a penalty decides by their units


class Columns(NamedTuple):
    """What is known of every column, over rows weighted by w, in float64."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]  # about the mean
    size: NDArray[np.float64]  # root mean square
    typical: NDArray[np.float64]  # size, about the mean, of the entries that are not 0; 0 where these are few

    @property
    def flat(self) -> NDArray[np.bool_]:
        """The columns that are constant."""
        return ~(self.deviation > _FLAT * self.size)

    @property
    def extremes(self) -> tuple[int, int]:
        """The columns of the largest and the smallest scale, without constant ones; (0, 0) where there is none."""
        some = np.flatnonzero(~self.flat & (self.typical > 0.0))
        if not some.size:
            return 0, 0
        return int(some[np.argmax(self.typical[some])]), int(some[np.argmin(self.typical[some])])

    @property
    def ratio(self) -> float:
        """How often the largest scale of a column is the smallest; inf where it is no number."""
        large, small = self.extremes
        with np.errstate(over="ignore"):
            return 1.0 if large == small else float(self.typical[large] / self.typical[small])


def columns_of(rows: RowMatrix, weights: NDArray[Any] | None = None) -> Columns:
    """Mean, deviation and size of every column."""
    w = None if weights is None else np.asarray(weights, np.float64) / np.max(weights)  # so that no sum overflows
    mean, square, share = moments(rows, w)
    deviation = np.sqrt(square)
    few = (share * rows.shape[0] < _FEW) & (share < 0.5)
    typical = np.where(few, 0.0, deviation / np.sqrt(share))
    return Columns(mean, deviation, np.hypot(deviation, mean), typical)


class Scaling(NamedTuple):
    """z_j = (a_j − mean_j) / scale_j. Sparse rows stay sparse: only dense ones, with an intercept, are centred."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def of(self, rows: RowMatrix) -> RowMatrix:
        """The rows that are fitted, in the precision of those given."""
        return scaled(rows, self.mean, self.scale)

    def fold(self, x: NDArray[Any]) -> NDArray[Any]:
        """From a solution for the scaled rows to the one that predicts the same for the rows as they are."""
        mean, scale, d = self._beside(x)
        out = np.array(x, np.float64)
        out[:d] /= scale
        if len(x) > d:
            out[d] -= (mean * out[:d]).sum(axis=0)
        return out.astype(x.dtype)

    def unfold(self, x: NDArray[Any]) -> NDArray[Any]:
        """The reverse of `fold`."""
        mean, scale, d = self._beside(x)
        out = np.array(x, np.float64)
        if len(x) > d:
            out[d] += (mean * out[:d]).sum(axis=0)
        out[:d] *= scale
        return out.astype(x.dtype)

    def _beside(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        shape = (-1,) + (1,) * (x.ndim - 1)
        return self.mean.reshape(shape), self.scale.reshape(shape), len(self.scale)


def scaling_of(columns: Columns, sparse: bool, intercept: bool) -> Scaling:
    """To deviation 1, about 0 where there is no intercept; a constant column keeps its scale."""
    spread = columns.deviation if intercept else columns.size
    centred = intercept and not sparse
    mean = columns.mean if centred else np.zeros_like(columns.mean)
    return Scaling(mean, np.where(columns.flat & intercept | (spread == 0.0), 1.0, spread))


def uneven(columns: Columns, names: Any) -> str | None:
    """What to say where the columns differ so much in scale that the penalty decides by their units."""
    if not columns.ratio > UNEVEN:
        return None
    large, small = (f"column {j}" if names is None else repr(str(names[j])) for j in columns.extremes)
    times = f"a factor of {columns.ratio:.2g}" if math.isfinite(columns.ratio) else "more than any number"
    return (
        f"columns of X differ in scale by {times} ({large} against {small}), and the penalty is the same for all "
        "coefficients: standardize=True divides every column by its standard deviation"
    )
