"""The losses, by name. A new one is a file and a line here. The laws run on the instance in this table."""

from __future__ import annotations

from ..errors import pick
from .base import Loss, Margin, Residual
from .cauchy import Cauchy
from .epsilon_insensitive import EpsilonInsensitive
from .from_function import from_function
from .gamma import Gamma
from .geman_mcclure import GemanMcClure
from .huber import Huber
from .logistic import Logistic
from .multi_squared import MultiSquared
from .negative_binomial import NegativeBinomial
from .poisson import Poisson
from .quantile import Quantile
from .quartic import Quartic
from .sigmoid import Sigmoid
from .smoothed_hinge import SmoothedHinge
from .smoothed_ramp import SmoothedRamp
from .softmax import Softmax
from .squared import Squared
from .squared_hinge import SquaredHinge
from .squared_sigmoid import SquaredSigmoid
from .tukey import Tukey
from .welsch import Welsch
from .with_offset import WithOffset

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
    "quantile": Quantile(),
    "epsilon-insensitive": EpsilonInsensitive(),
    "squared-hinge": SquaredHinge(),
    "poisson": Poisson(),
    "gamma": Gamma(),
    "negative-binomial": NegativeBinomial(),
}


def loss(spec: str | Loss) -> Loss:
    """A loss by name, or the instance itself."""
    return spec if isinstance(spec, Loss) else LOSSES[pick("loss", spec, LOSSES, "a Loss")]


__all__ = [
    "LOSSES",
    "Cauchy",
    "EpsilonInsensitive",
    "Gamma",
    "GemanMcClure",
    "Huber",
    "Logistic",
    "Loss",
    "Margin",
    "MultiSquared",
    "NegativeBinomial",
    "Poisson",
    "Quantile",
    "Quartic",
    "Residual",
    "Sigmoid",
    "SmoothedHinge",
    "SmoothedRamp",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredSigmoid",
    "Tukey",
    "Welsch",
    "WithOffset",
    "from_function",
    "loss",
]
