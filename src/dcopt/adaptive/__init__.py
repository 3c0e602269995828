"""κ from what a run sees: an iterator of states beside `loop.dca`."""

from .levels import not_adaptive
from .policy import Adaptive
from .step import adaptive_dca, blank

__all__ = ["Adaptive", "adaptive_dca", "blank", "not_adaptive"]
