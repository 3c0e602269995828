"""scikit-learn estimators: the only room that knows its API, and the only one that warns."""

from .light import later

with later():
    from .classifier import DCClassifier
    from .cv import DCClassifierCV, DCRegressorCV
    from .path import PathResult, path
    from .regressor import DCRegressor

__all__ = ["DCClassifier", "DCClassifierCV", "DCRegressor", "DCRegressorCV", "PathResult", "path"]
