"""Harrell's concordance of risks with survival times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1024  # Events whose pairs are counted at once.


def concordance(time: NDArray[Any], event: NDArray[Any], risk: NDArray[Any]) -> float:
    """(concordant + ties/2) / comparable pairs; NaN where no two rows can be compared

    (i, j) can be compared if the event of i was seen, and j was seen alive later, or censored at the same time. It is
    concordant if i has the larger risk.
    """
    comparable = concordant = 0.0
    seen = np.flatnonzero(event)
    for start in range(0, len(seen), _BLOCK):
        i = seen[start : start + _BLOCK, None]
        pairs = (time[None, :] > time[i]) | ((time[None, :] == time[i]) & (event[None, :] == 0))
        comparable += float(np.count_nonzero(pairs))
        larger, same = risk[i] > risk[None, :], risk[i] == risk[None, :]
        concordant += float(np.count_nonzero(pairs & larger)) + 0.5 * float(np.count_nonzero(pairs & same))
    return concordant / comparable if comparable else float("nan")
