"""The local method: DCA with the curvature of f at x as G, tested by a look at F. Read step.py first."""

from .policy import Accuracy, Descent, Escape, Ridge, WorkingSet
from .settings import ALL, Local, Samples
from .starts import Multistart, Started
from .step import local_dca

__all__ = [
    "ALL", "Accuracy", "Descent", "Escape", "Local", "Multistart", "Ridge", "Samples", "Started", "WorkingSet",
    "local_dca",
]  # fmt: skip
