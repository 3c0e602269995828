"""The convex parts G. A new one is a file and one line below: that line puts it under the laws."""

from __future__ import annotations

import numpy as np

from ..data.dense import DenseRows
from ..losses import loss
from ..sums import LinearSum
from .base import Convex, Part
from .component_mean import ComponentMean
from .diagonal import Diagonal
from .gram import Gram, majorizing_gram
from .majorizer import Majorizer, variance_smoothness
from .majorizing_diagonal import MajorizingDiagonal, equilibrated_diagonal, majorizing_diagonal
from .mean import Mean
from .quadratic import Quadratic, gram, least_squares
from .radial import Radial
from .scaled_identity import LocalCurvature, ScaledIdentity, UnknownScale
from .shifted import Shifted

_A = np.cos(1.7 * np.arange(48.0)).reshape(8, 6)  # A few rows for the samples.
_SUM = LinearSum(DenseRows(_A + 2.0 * np.eye(8, 6)), loss("logistic"), np.array([-1.0, 1.0] * 4))

CONVEX: dict[str, Convex] = {  # The laws run on the sample of each name.
    "scaled-identity": ScaledIdentity(1.5),
    "local-curvature": LocalCurvature(1.5),
    "diagonal": Diagonal([0.5, 1.0, 2.0, 1.0, 3.0, 0.1]),
    "quadratic": Quadratic(_A.T @ _A / 8 + 0.1 * np.eye(6), _A[0], const=0.5),
    "gram": majorizing_gram(_SUM),
    "majorizing-diagonal": majorizing_diagonal(_SUM),
    "mean": Mean(LinearSum(DenseRows(_A), _SUM.loss, _SUM.labels), mu=0.1),
    "radial": Radial(a=0.5, b=1.0),
    "shifted": Shifted(Radial(a=1.0, b=0.0), 0.3),
}

__all__ = [
    "CONVEX", "ComponentMean", "Convex", "Diagonal", "Gram", "LocalCurvature", "Majorizer", "MajorizingDiagonal",
    "Mean", "Part", "Quadratic", "Radial", "ScaledIdentity", "Shifted", "UnknownScale", "equilibrated_diagonal",
    "gram",
    "least_squares", "majorizing_diagonal", "majorizing_gram", "variance_smoothness",
]  # fmt: skip
