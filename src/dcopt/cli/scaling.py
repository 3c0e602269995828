"""--standardize: columns of deviation 1 for the fit, coefficients in the units of the data afterwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Scaling(NamedTuple):
    """z_j = (a_j − mean_j) / scale_j. Sparse rows stay sparse: only what is dense, and has an intercept, is centred."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]  # the deviation, and 1 of a column that is constant
    spread: NDArray[np.float64]  # the deviation, and 0 of a column that is constant

    def of(self, X: Any) -> Any:
        """The rows that are fitted."""
        if hasattr(X, "tocsr"):
            out = X.tocsr().astype(np.float64)
            out.data = out.data / self.scale[out.indices]
            return out
        return (X - self.mean) / self.scale

    def fold(self, x: NDArray[Any]) -> NDArray[Any]:
        """From a solution for the scaled rows to the one of the same predictions for the rows as they are."""
        d, out = len(self.scale), np.array(x, np.float64)
        shape = (d,) + (1,) * (x.ndim - 1)
        out[:d] = x[:d] / self.scale.reshape(shape)
        if len(x) > d:
            out[d] = x[d] - (self.mean.reshape(shape) * out[:d]).sum(axis=0)
        return out


def scaling_of(X: Any, intercept: bool) -> Scaling:
    """The deviation of every column, about 0 where there is no intercept; a column that is constant stays as it is."""
    n, d = X.shape
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        total = np.bincount(X.indices, X.data, d) / n
        square = np.bincount(X.indices, np.asarray(X.data, np.float64) ** 2, d) / n
        spread = np.sqrt(np.maximum(square - (total**2 if intercept else 0.0), 0.0))
        mean = np.zeros(d)
    else:
        mean = X.mean(axis=0) if intercept else np.zeros(d)
        spread = np.sqrt(((X - mean) ** 2).mean(axis=0))
        square = (X**2).mean(axis=0)
    flat = ~(spread > 1e-10 * np.sqrt(square))
    return Scaling(mean, np.where(flat, 1.0, spread), np.where(flat, 0.0, spread))
