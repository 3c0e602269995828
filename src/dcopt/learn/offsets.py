"""Offsets and exposures: the known part of the score of every row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..errors import BadInput, BadSettings
from ..losses import Loss


class Offsets(NamedTuple):
    """offset + log(exposure), as a caller gave them"""

    offset: Any = None
    exposure: Any = None

    def of(self, n: int, loss: Loss) -> NDArray[np.float64] | None:
        """(N,), or None where neither is given; refuses another length, what is no number, and exposures not above 0"""
        if self.offset is None and self.exposure is None:
            return None
        if loss.labels != "real":
            which = "offset" if self.exposure is None else "exposure"
            raise BadSettings(which, getattr(self, which), "None: offsets are for DCRegressor")
        out = np.zeros(n)
        if self.offset is not None:
            out += self._vector("offset", n)
        if self.exposure is not None:
            if loss.link != "log":
                expected = (
                    f"None: the loss {type(loss).__name__} has no log link; a known part of the score is an offset"
                )
                raise BadSettings("exposure", self.exposure, expected)
            given = self._vector("exposure", n)
            bad = np.flatnonzero(given <= 0.0)
            if bad.size:
                raise BadInput("exposure", f"{given[bad[0]]:g} is not above 0", row=int(bad[0]))
            out += np.log(given)
        return out

    def _vector(self, name: str, n: int) -> NDArray[np.float64]:
        v = np.asarray(check.vector(getattr(self, name), name, n), np.float64)
        check.finite(v[:, None], name, lambda k: (k, None))
        return v


NO_OFFSETS = Offsets()
