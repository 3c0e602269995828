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
from ..losses import Loss, MultiSquared, Quantile, Squared, WithOffset
from ..losses.constant import best_constant
from .base import DCBase
from .offsets import Offsets
from .online import Online


class Regresses(RegressorMixin, DCBase):
    """Real targets."""

    _estimator_type_ = "regressor"

    def _examine_targets(self, y: Any) -> None:
        numeric(y, "y")

    def _targets(self, y: NDArray[Any], weights: NDArray[Any] | None, dtype: Any) -> tuple[Any, Any, Loss, Any]:
        loss = self._loss()
        if np.ndim(y) == 2:
            if not isinstance(loss, Squared):
                raise BadSettings("loss", self.loss, f"'squared' for {np.shape(y)[1]} targets")
            return check.target_columns(y, len(y), dtype), weights, MultiSquared(), (np.shape(y)[1],)
        labels, _ = check.labels(y, len(y), "real", dtype)
        check.in_domain(labels, loss.domain)
        return labels, weights, loss, ()

    def _loss(self, c: int = 0, y: Any = None) -> Loss:
        loss: Loss = part_of("loss", self.loss)
        if loss.labels != "real":
            raise BadSettings("loss", self.loss, "one for real targets; this one is for DCClassifier")
        return loss

    def _attributes(self, x: NDArray[Any]) -> dict[str, Any]:
        d = self.n_features_in_
        if x.ndim == 2:
            b = x[d] if len(x) > d else np.zeros(x.shape[1], x.dtype)
            return {"x_": x, "coef_": np.ascontiguousarray(x[:d].T), "intercept_": np.array(b)}
        return {"x_": x, "coef_": np.array(x[:d]), "intercept_": x.dtype.type(x[d] if len(x) > d else 0.0)}

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> NDArray[Any]:
        """z = ⟨a, x⟩ + b + offset; with a log link the mean, exposure · eᶻ"""
        z = self._scores(X)
        known = Offsets(offset, exposure).of(len(z), self._loss())
        with np.errstate(over="ignore"):
            out: NDArray[Any] = self._loss().mean(z if known is None else (z + known).astype(z.dtype))
        return out

    def deviance(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:  # fmt: skip
        """(2/Σw) Σ w_i φ(z_i, y_i): the mean deviance; of the squared loss the mean squared error"""
        return self._deviances(X, y, sample_weight, Offsets(offset, exposure))[0]

    def d2(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:  # fmt: skip
        """D² = 1 − deviance / deviance of the best constant score for these rows"""
        mine, null = self._deviances(X, y, sample_weight, Offsets(offset, exposure))
        return 1.0 - mine / null if null > 0.0 else float(mine == 0.0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D² for losses that measure no distance from the mean (log links, quantiles), else R²"""
        loss = self._loss()
        if loss.link == "log" or isinstance(loss, Quantile):
            return self.d2(X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _deviances(self, X: Any, y: Any, sample_weight: Any, offsets: Offsets) -> tuple[float, float]:
        """The mean deviance of these rows from the model, and from the best constant score"""
        z, loss = np.asarray(self._scores(X), np.float64), self._loss()
        n = len(z)
        if z.ndim == 2:
            labels, loss = check.target_columns(y, n, np.float64), MultiSquared()
        else:
            labels, _ = check.labels(y, n, "real")
        check.in_domain(labels, loss.domain)
        w = check.sample_weights(sample_weight, n, np.float64)
        w = np.ones(n) if w is None else w
        if (known := offsets.of(n, loss)) is not None:
            labels, loss = np.stack([labels, known], axis=1), WithOffset(loss)
        null = np.broadcast_to(best_constant(loss, labels, w, z.shape[1:])[0], z.shape)
        mine, least = (2.0 * float(np.mean(w * loss.value(score, labels))) for score in (z, null))
        return mine, least


class DCRegressor(Online, Regresses):
    """min (1/Σw) Σ w_i φ(⟨a_i, x⟩ + b + offset_i, y_i) + r(x): a regression with a loss, a penalty and a certificate.

    Losses: "squared", "huber", and "welsch", "cauchy", "geman-mcclure", "tukey", whose scale is `loss__c`; these
    start from the median, since far from all targets they are flat. "quantile(q=0.9)" and "epsilon-insensitive" have a
    corner that is rounded over `loss__width`, in units of y. "poisson", "gamma" and "negative-binomial(alpha=1.0)" have
    the mean eᶻ, half the deviance as their loss, and an `exposure`. All other settings and attributes are those of
    `DCClassifier`; coef_ is (d,), intercept_ a number.

    Several targets, y (N, k), are fitted together by "squared", with features that enter for all of them or for none
    (groups="rows"; "entries": each coefficient by itself); coef_ is then (k, d), intercept_ (k,).

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
        positive: bool = False,
        bounds: Any = None,
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
        self.positive, self.bounds = positive, bounds
        self.fit_intercept, self.standardize = fit_intercept, standardize
        self.solver, self.search, self.tol, self.measure = solver, search, tol, measure
        self.max_passes, self.max_seconds, self.warm_start = max_passes, max_seconds, warm_start
        self.validation_fraction, self.patience, self.holdout = validation_fraction, patience, holdout
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state
