"""DCClassifier: two classes by a margin loss, more by softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ..data import check
from ..errors import BadInput, BadSettings, elsewhere
from ..fit.parts import OTHER_NAMES, part_of
from ..losses import Logistic, Loss, Softmax, SquaredSigmoid
from ..losses.base import expit
from .base import DCBase
from .online import Online


def _has_probabilities(me: Any) -> bool:
    """The logistic losses, and the squared sigmoid, which is the Brier score of σ(z)."""
    return isinstance(part_of("loss", me.loss), Logistic | Softmax | SquaredSigmoid)


class Classifies(ClassifierMixin, DCBase):
    """Labels, scores and probabilities."""

    _estimator_type_ = "classifier"

    def _examine_targets(self, y: Any) -> None:
        check.object_labels(y)

    def _targets(self, y: NDArray[Any], weights: NDArray[Any] | None, dtype: Any) -> tuple[Any, Any, Loss, Any]:
        try:
            check_classification_targets(y)
            classes, codes = np.unique(y, return_inverse=True)
        except TypeError:
            raise BadInput("y", "mixes strings and numbers") from None
        loss = self._loss(len(classes), y)
        if len(classes) < 2:
            raise BadInput("y", f"1 class ({classes[0]}): at least 2 are needed")
        weights = self._weigh_classes(classes, codes, y, weights)
        left = np.unique(codes if weights is None else codes[weights > 0])
        if len(left) < 2:
            raise BadInput("sample_weight", f"1 class ({classes[left[0]]}) has weight: at least 2 are needed")
        self.classes_ = classes
        labels, width = self._coded(codes, loss, dtype)
        return labels, weights, loss, width

    def _loss(self, c: int, y: Any = None) -> Loss:
        """The loss for c classes: the logistic one becomes softmax for more than two."""
        loss: Loss = part_of("loss", self.loss)
        if loss.labels == "real":
            raise BadSettings("loss", self.loss, "one for classes; this one is for DCRegressor")
        if c > 2 and isinstance(loss, Logistic):
            return Softmax()
        if c > 2 and loss.labels == "binary":
            kind = "multiclass" if y is None else type_of_target(y)
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: {c} classes. "
                'For more than two use loss="logistic" or "softmax".'
            )
        return loss

    def _coded(self, codes: NDArray[Any], loss: Loss, dtype: Any) -> tuple[NDArray[Any], tuple[int, ...]]:
        if loss.labels == "class":
            return codes.astype(np.int64), (len(self.classes_),)
        return (2 * codes - 1).astype(dtype), ()

    def _weigh_classes(self, classes: Any, codes: Any, y: Any, weights: NDArray[Any] | None) -> NDArray[Any] | None:
        if self.class_weight is None:
            return weights
        own = np.ones(len(codes)) if weights is None else weights
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            total = np.bincount(codes, own, len(classes))
            each = np.divide(own.sum(), len(classes) * total, out=np.zeros(len(classes)), where=total > 0)
        else:
            each = compute_class_weight(self.class_weight, classes=classes, y=y)
        with np.errstate(over="ignore"):
            out: NDArray[Any] = own * each[codes]
        if not (np.all(each >= 0.0) and out.max() <= np.finfo(np.float64).max / len(out)):
            raise BadSettings("class_weight", self.class_weight, "weights >= 0 with which those of all rows are finite")
        return out

    def _attributes(self, x: NDArray[Any]) -> dict[str, Any]:
        d = self.n_features_in_
        coef, intercept = x[:d], x[d] if len(x) > d else np.zeros(x.shape[1:], x.dtype)
        if x.ndim == 1:
            coef, intercept = coef[None, :], np.reshape(intercept, (1,))
        elif x.shape[1] == 2:  # For softmax on two classes only the difference of the scores matters.
            coef, intercept = (coef[:, 1] - coef[:, 0])[None, :], (intercept[1] - intercept[0])[None]
        else:
            coef, intercept = coef.T, np.asarray(intercept)
        return {"x_": x, "coef_": np.ascontiguousarray(coef), "intercept_": np.array(intercept)}

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores: (N,) for two classes, positive for the second; (N, c) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(np.int64) if scores.ndim == 1 else np.argmax(scores, axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """σ(z), or softmax(z): for losses that are proper scores of it."""
        z = np.asarray(self.decision_function(X), np.float64)
        if z.ndim == 1:
            return np.stack([expit(-z), expit(z)], axis=1)
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """log of predict_proba"""
        z = np.asarray(self.decision_function(X), np.float64)
        z = np.stack([0.0 * z, z], axis=1) if z.ndim == 1 else z
        return np.asarray(z - np.logaddexp.reduce(z, axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            tags.classifier_tags.multi_class = isinstance(part_of("loss", self.loss), Logistic | Softmax)
        except (ValueError, TypeError):  # `fit` will refuse this loss.
            pass
        return tags


class DCClassifier(Online, Classifies):
    """min (1/Σw) Σ w_i φ(⟨a_i, x⟩ + b, y_i) + r(x): a linear classifier with a loss, a penalty and a certificate.

    Parameters
    ----------
    loss, penalty : a registered name, also with settings as in "scad(a=3)", or an instance; the settings are reached as
        `penalty__gamma`, `loss__c`. "logistic" becomes softmax for more than two classes, with a penalty over whole
        features (groups="rows")
    lam : λ. None: an instance keeps its own; a penalty by name gets 5 % of lam_max, the least λ whose answer is the
        model without features (60 % for classes with fewer rows than features)
    lam_scale : "absolute", or "max": lam is a share of lam_max
    groups : lists of features (names or numbers) that enter together, features in none stand alone; or one label for
        each feature; "rows": each feature for all classes together; "entries": each coefficient by itself
    unpenalized : features (names, numbers or a mask) that are never penalised
    positive, bounds : coefficients ≥ 0; (low, high) with low ≤ 0 ≤ high, numbers or one for each feature, in the units
        of the data. Not the intercept. With groups or rows of classes only bounds 0 and ±∞
    fit_intercept : an intercept that is not penalised
    standardize : fit columns divided by their standard deviation (dense ones are centred, too); coefficients and
        predictions are in the units of the data, λ, F and the certificate are those of the standardised columns
    class_weight : None, "balanced" or a dictionary
    solver : "auto" or the name of a method; the choice and its reason are in `solver_`
    search : in fit, leave critical points for lower ones, found by one coefficient more or less at a time; for
        penalties over single coefficients
    tol, measure : converged means that the measure ("criticality" or "gap"), recomputed at the solution, is at most tol
        times its scale: the length of the gradient, or |F|, at the model without features
    max_passes, max_seconds : the budget, in passes over the data and in seconds
    warm_start : start from the last solution instead of the model without features
    validation_fraction, patience : stop early, after `patience` passes without a lower loss on so many rows set aside
    holdout : for partial_fit: so many samples are taken first and kept for the certificate; large batches are as large
    callbacks : functions of a State, called after every step; a true return value ends the fit. scikit-learn's own
        callbacks are set with `set_callbacks` (scikit-learn 1.9)
    verbose : 1 prints a line at passes 1, 2, 4, …, of a path at most one in a second; 2 at every pass and for every λ
    random_state : seed of the draws, an int or a RandomState

    Attributes
    ----------
    coef_ (1 or c, d), intercept_ (1 or c,), classes_, lam_, scale_ (deviations of the columns), objective_, n_iter_
    (steps), status_ (the name of a dcopt.Status), certificate_ (value, measure, tol; as a string one sentence), notes_,
    trace_, solver_, n_features_in_, feature_names_in_; of a stream drift_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import dcopt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = dcopt.DCClassifier(penalty="l1", lam=0.02).fit(X, y)
    >>> model.status_, round(model.score(X, y), 2)
    ('CONVERGED', 0.97)
    """

    @elsewhere(**OTHER_NAMES)
    def __init__(
        self,
        loss: Any = "logistic",
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
        class_weight: Any = None,
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
        self.class_weight, self.solver, self.search = class_weight, solver, search
        self.tol, self.measure = tol, measure
        self.max_passes, self.max_seconds, self.warm_start = max_passes, max_seconds, warm_start
        self.validation_fraction, self.patience, self.holdout = validation_fraction, patience, holdout
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state
