"""The losses, by name. A new one is a file and a line here. The laws run on the instance in this table."""

from __future__ import annotations

from ..errors import pick
from .base import Loss, Margin, Residual
from .cauchy import Cauchy
from .from_function import from_function
from .geman_mcclure import GemanMcClure
from .huber import Huber
from .logistic import Logistic
from .quartic import Quartic
from .sigmoid import Sigmoid
from .smoothed_hinge import SmoothedHinge
from .smoothed_ramp import SmoothedRamp
from .softmax import Softmax
from .squared import Squared
from .squared_sigmoid import SquaredSigmoid
from .tukey import Tukey
from .welsch import Welsch

LOSSES: dict[str, Loss] = {
    "squared-sigmoid": SquaredSigmoid(),
    "logistic": Logistic(),
    "softmax": Softmax(),
    "squared": Squared(),
    "sigmoid": Sigmoid(),
    "welsch": Welsch(),
    "cauchy": Cauchy(),
    "geman-mcclure": GemanMcClure(),
    "tukey": Tukey(),
    "smoothed-ramp": SmoothedRamp(),
    "huber": Huber(),
}


def loss(spec: str | Loss) -> Loss:
    """A loss by name, or the instance itself."""
    return spec if isinstance(spec, Loss) else LOSSES[pick("loss", spec, LOSSES, "a Loss")]


__all__ = [
    "LOSSES",
    "Cauchy",
    "GemanMcClure",
    "Huber",
    "Logistic",
    "Loss",
    "Margin",
    "Quartic",
    "Residual",
    "Sigmoid",
    "SmoothedHinge",
    "SmoothedRamp",
    "Softmax",
    "Squared",
    "SquaredSigmoid",
    "Tukey",
    "Welsch",
    "from_function",
    "loss",
]
