"""What a reader found in a LIBSVM file, and how it becomes a matrix."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

D_LIMIT = 10**8  # features that are believed without being asked for: x and the gradients have d numbers each


class Parsed(NamedTuple):
    """CSR rows with the columns counted from 0 and all values kept, and the checksum of the text."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    labels: NDArray[Any]
    sha256: str
    status: os.stat_result | None = None  # of the file, if a later change would show in it
    qid: NDArray[Any] | None = None
    zero_based: bool = False  # whether the file counts its indices from 0

    @property
    def largest(self) -> int:
        """The largest index, counted from 1; 0 if there is none."""
        return int(self.indices.max()) + 1 if self.indices.size else 0

    def narrow(self) -> Parsed:
        """Four-byte indices where they do."""
        small = max(self.largest, self.data.size) < 2**31
        kind = np.int32 if small else np.int64
        return self._replace(indices=self.indices.astype(kind, copy=False), indptr=self.indptr.astype(kind, copy=False))

    def within(self, d: int) -> Parsed:
        """Without the columns from d on."""
        keep = self.indices < d
        ends = np.concatenate(([0], np.cumsum(keep)))[self.indptr]
        return self._replace(data=self.data[keep], indices=self.indices[keep], indptr=ends.astype(self.indptr.dtype))


def too_many(largest: int) -> str:
    return f"d would be {largest:,}; pass n_features (at most {D_LIMIT:,} are taken without)"


def scaled_rows(X: Any) -> Any:
    """A copy with ‖a_i‖ = 1, empty rows as they are: NumPy's and SciPy's sums, scikit-learn's bit for bit."""
    dense = isinstance(X, np.ndarray)
    norms = np.sqrt(np.einsum("ij,ij->i", X, X) if dense else X.multiply(X) @ np.ones(X.shape[1]))
    norms[norms == 0.0] = 1.0
    if dense:
        return X / norms[:, None]
    scaled = X.copy()
    scaled.data /= np.repeat(norms, np.diff(X.indptr))
    return scaled
