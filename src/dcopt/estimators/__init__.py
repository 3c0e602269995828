"""Gradient estimators: one file and one line each. The registry maps a name to the instance the laws run on."""

from .base import Estimate, Estimator
from .extrapolated import Extrapolated
from .fresh import Fresh
from .full import Full
from .loopless_svrg import LooplessSVRG
from .page import PAGE
from .sag import SAG
from .saga import SAGA
from .sarah import SARAH
from .svrg import SVRG

ESTIMATORS: dict[str, Estimator] = {
    "full": Full(),
    "fresh": Fresh(b=2, growth=0.15),
    "page": PAGE(p=0.25, b_small=2),
    "sarah": SARAH(b_small=2, period=3),
    "svrg": SVRG(b_small=2, period=3),
    "loopless-svrg": LooplessSVRG(b_small=2, q=0.25),
    "saga": SAGA(b=2),
    "saga-inside": SAGA(b=2, quadratic="inside"),
    "sag": SAG(b=2),
    "sag-inside": SAG(b=2, quadratic="inside"),
}

__all__ = [
    "ESTIMATORS",
    "Estimate",
    "Estimator",
    "Extrapolated",
    "Fresh",
    "Full",
    "LooplessSVRG",
    "PAGE",
    "SAG",
    "SAGA",
    "SARAH",
    "SVRG",
]
