"""Partial sums over the rows of a CSR matrix.

The parts depend on the matrix alone, so that the sum has the same bits for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_PARTS = 16  # The largest number of parts.
_SPARE = 2**23  # The largest number of float64 numbers in all partial sums together.


def count(work: int, size: int) -> int:
    """The number of parts (a power of two) for this many additions, where each partial sum has `size` numbers.

    No part is small, and adding the partial sums costs little.
    """
    most = min(_PARTS, work // 2**16, work // (8 * max(size, 1)), _SPARE // max(size, 1))
    return 1 << max(most.bit_length() - 1, 0)


def cuts(indptr: NDArray[Any], parts: int) -> list[int]:
    """0 = r_0 ≤ … ≤ r_parts = N: rows r_k ≤ i < r_{k+1} with about as many stored entries for every k"""
    entries = np.arange(1, parts) * int(indptr[-1]) // parts
    rows = np.searchsorted(indptr, entries.astype(indptr.dtype))
    return [0, *rows.tolist(), indptr.size - 1]


def plain(a: NDArray[Any]) -> NDArray[Any]:
    """The array in row order and writable, the form for which the kernels of parts are compiled."""
    return a if a.flags.c_contiguous and a.flags.writeable else np.array(a, order="C")


def added(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_k parts_k, one after the other"""
    total: NDArray[np.float64] = parts[0].copy()  # A view would keep all parts in memory.
    for part in parts[1:]:
        total += part
    return total
