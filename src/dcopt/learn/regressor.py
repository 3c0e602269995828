"""DCRegressor: least squares and robust losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..data import check
from ..data.numeric import numeric
from ..errors import BadSettings, elsewhere
from ..fit.parts import OTHER_NAMES, part_of
from ..losses import Loss
from .base import DCBase
from .online import Online


class Regresses(RegressorMixin, DCBase):
    """Real targets."""

    _estimator_type_ = "regressor"

    def _examine_targets(self, y: Any) -> None:
        numeric(y, "y")

    def _targets(self, y: NDArray[Any], weights: NDArray[Any] | None, dtype: Any) -> tuple[Any, Any, Loss, Any]:
        labels, _ = check.labels(y, len(y), "real", dtype)
        return labels, weights, self._loss(), ()

    def _loss(self, c: int = 0, y: Any = None) -> Loss:
        loss: Loss = part_of("loss", self.loss)
        if loss.labels != "real":
            raise BadSettings("loss", self.loss, "one for real targets; this one is for DCClassifier")
        return loss

    def _attributes(self, x: NDArray[Any]) -> dict[str, Any]:
        d = self.n_features_in_
        return {"x_": x, "coef_": np.array(x[:d]), "intercept_": x.dtype.type(x[d] if len(x) > d else 0.0)}

    def predict(self, X: Any) -> NDArray[Any]:
        """⟨a, x⟩ + b"""
        return self._scores(X)


class DCRegressor(Online, Regresses):
    """min (1/Σw) Σ w_i φ(⟨a_i, x⟩ + b − y_i) + r(x): a linear regression with a loss, a penalty and a certificate.

    Losses: "squared", "huber", and "welsch", "cauchy", "geman-mcclure", "tukey", whose scale is `loss__c`; these
    start from the median, since far from all targets they are flat. All other settings and attributes are those
    of `DCClassifier`; coef_ is (d,), intercept_ a number.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import dcopt
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = dcopt.DCRegressor(penalty="mcp", lam=0.2, lam_scale="max").fit(X, y)
    >>> model.status_, int((model.coef_ != 0).sum())
    ('CONVERGED', 5)
    """

    @elsewhere(**OTHER_NAMES)
    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "scad",
        lam: float | None = None,
        *,
        lam_scale: str = "absolute",
        groups: Any = None,
        unpenalized: Any = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        solver: str = "auto",
        search: bool = False,
        tol: float = 1e-4,
        measure: str = "criticality",
        max_passes: float = 1000,
        max_seconds: float | None = None,
        warm_start: bool = False,
        validation_fraction: float | None = None,
        patience: int = 5,
        holdout: int = 256,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.loss, self.penalty, self.lam, self.lam_scale = loss, penalty, lam, lam_scale
        self.groups, self.unpenalized = groups, unpenalized
        self.fit_intercept, self.standardize = fit_intercept, standardize
        self.solver, self.search, self.tol, self.measure = solver, search, tol, measure
        self.max_passes, self.max_seconds, self.warm_start = max_passes, max_seconds, warm_start
        self.validation_fraction, self.patience, self.holdout = validation_fraction, patience, holdout
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state
