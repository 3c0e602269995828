"""The task of Cox regression: survival times in the place of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..sums import CoxSum
from .task import Task


@dataclass(frozen=True)
class PartialLikelihood:
    """What a task of survival times has in the place of a loss"""

    ties: Literal["efron", "breslow"] = "efron"
    labels: ClassVar[str] = "real"


@dataclass(eq=False)
class SurvivalTask(Task):
    """F(x) = −(1/N) log L(x) + r(x); labels are (N, 3): time, event, stratum"""

    def sum(self) -> Any:
        """The partial likelihood; it is made once for all penalties."""
        for P in self.problems.values():
            return P.sum
        time, event, strata = (np.ascontiguousarray(column) for column in self.labels.T)
        ties: Any = self.loss.ties  # type: ignore[attr-defined]  # a PartialLikelihood
        return CoxSum(self.rows, time, event, strata, self.weights, ties)

    @property
    def fold_codes(self) -> NDArray[Any]:
        """The events: every fold gets its share of them."""
        return np.asarray(self.labels[:, 1].astype(np.int64))
