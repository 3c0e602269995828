"""scikit-learn estimators: the only package that uses scikit-learn's API, and the only one that issues warnings."""

from ..fit.path import PathResult, path
from ..fit.relaxed import adaptive_weights
from .bootstrap import Inclusion, bootstrap_inclusion
from .classifier import DCClassifier
from .cv import DCClassifierCV, DCRegressorCV
from .formula import DCFormula
from .regressor import DCRegressor
from .stability import Stability, stability_selection
from .survival import DCSurvival, DCSurvivalCV

__all__ = [
    "DCClassifier", "DCClassifierCV", "DCFormula", "DCRegressor", "DCRegressorCV", "DCSurvival", "DCSurvivalCV",
    "Inclusion", "PathResult", "Stability", "adaptive_weights", "bootstrap_inclusion", "path", "stability_selection",
]  # fmt: skip
