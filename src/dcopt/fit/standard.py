"""standardize=True: a fit on columns of deviation 1, and its coefficients in the units of the data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.column_statistics import moments, scaled
from ..data.rows import RowMatrix

_FEW = 10  # A column with fewer nonzero entries does not determine its unit.
_FLAT = 1e-10  # Below this ratio of deviation to root mean square, a column is constant up to rounding.
UNEVEN = 100.0  # From this ratio of the scales of two columns on, units decide which features a penalty selects.


class Columns(NamedTuple):
    """The statistics of every column, over rows weighted by w, in float64."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]  # Standard deviations.
    size: NDArray[np.float64]  # Root mean squares.
    typical: NDArray[np.float64]  # The size, about the mean, of the entries that are not 0; 0 where these are few.

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
        """The ratio of the largest to the smallest scale of a column; inf where it is not a number."""
        large, small = self.extremes
        with np.errstate(over="ignore"):
            return 1.0 if large == small else float(self.typical[large] / self.typical[small])


def columns_of(rows: RowMatrix, weights: NDArray[Any] | None = None) -> Columns:
    """Mean, deviation and size of every column."""
    # The weights are scaled so that no sum overflows.
    w = None if weights is None else np.asarray(weights, np.float64) / np.max(weights)
    mean, square, share = moments(rows, w)
    deviation = np.sqrt(square)
    few = (share * rows.shape[0] < _FEW) & (share < 0.5)
    typical = np.where(few, 0.0, deviation / np.sqrt(share))
    return Columns(mean, deviation, np.hypot(deviation, mean), typical)


def columns_from(n: int, counts: NDArray[Any], mean: NDArray[Any], mean_squares: NDArray[Any]) -> Columns:
    """The same from sums that are known, of rows without weights"""
    square = np.maximum(mean_squares - mean**2, 0.0)
    share = np.where(counts > 0, counts / n, 1.0)
    deviation = np.sqrt(square)
    few = (share * n < _FEW) & (share < 0.5)
    return Columns(mean, deviation, np.sqrt(mean_squares), np.where(few, 0.0, deviation / np.sqrt(share)))


class Scaling(NamedTuple):
    """z_j = (a_j − mean_j) / scale_j. Sparse rows stay sparse: only dense ones, with an intercept, are centred."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def of(self, rows: RowMatrix) -> RowMatrix:
        """The scaled rows, in the precision of those given."""
        return scaled(rows, self.mean, self.scale)

    def fold(self, x: NDArray[Any]) -> NDArray[Any]:
        """Convert a solution for the scaled rows to one for the original rows, with the same predictions."""
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

    def bounds(self, given: tuple[Any, Any]) -> tuple[Any, Any]:
        """Bounds on coefficients of the original rows, as bounds on those of the scaled rows."""
        low, high = (np.asarray(b, np.float64) for b in given)
        scale = self.scale[:, None] if max(low.ndim, high.ndim) == 2 else self.scale
        return tuple(np.where(b == 0.0, 0.0, b * scale) for b in (low, high))  # type: ignore[return-value]  # two

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
    """A note if the scales of the columns differ so much that their units decide which features are selected."""
    if not columns.ratio > UNEVEN:
        return None
    large, small = (f"column {j}" if names is None else repr(str(names[j])) for j in columns.extremes)
    times = f"a factor of {columns.ratio:.2g}" if math.isfinite(columns.ratio) else "more than any number"
    return (
        f"columns of X differ in scale by {times} ({large} against {small}), and the penalty is the same for all "
        "coefficients: standardize=True divides every column by its standard deviation"
    )
