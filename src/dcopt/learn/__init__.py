"""scikit-learn estimators: the only package that uses scikit-learn's API, and the only one that issues warnings."""

from ..fit.path import PathResult, path
from .classifier import DCClassifier
from .cv import DCClassifierCV, DCRegressorCV
from .regressor import DCRegressor

__all__ = ["DCClassifier", "DCClassifierCV", "DCRegressor", "DCRegressorCV", "PathResult", "path"]
