"""scikit-learn estimators: the only room that knows its API, and the only one that warns."""

from ..fit.path import PathResult, path
from .classifier import DCClassifier
from .cv import DCClassifierCV, DCRegressorCV
from .regressor import DCRegressor

__all__ = ["DCClassifier", "DCClassifierCV", "DCRegressor", "DCRegressorCV", "PathResult", "path"]
