"""Estimators on rows in parts: from what `dcopt.open` gives to a task, and to scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, BadSettings
from ..fit.parted_task import PartedTask
from ..fit.standard import Columns, columns_from
from ..losses import Softmax
from ..sums import Parted
from .offsets import NO_OFFSETS, Offsets


def parted_task(estimator: Any, X: Parted, y: Any, sample_weight: Any, offsets: Offsets = NO_OFFSETS) -> PartedTask:
    """The task of a fit; sets what describes the features and the labels."""
    _bring_their_own(y, sample_weight)
    refused = {"standardize": False, "class_weight": None, "validation_fraction": None}
    for name, expected in refused.items():
        if getattr(estimator, name, expected) not in (expected, 0):
            value = getattr(estimator, name)
            raise BadSettings(name, value, f"{expected} with rows in parts, which are fitted as they were packed")
    if offsets != NO_OFFSETS:
        raise BadInput("offset", "is not known of rows in parts: expected None")
    intercept = bool(estimator.fit_intercept)
    if estimator._estimator_type_ == "classifier":
        classes = X.sum(Softmax(), intercept)[1]
        assert classes is not None  # Softmax is a loss for classes.
        loss = estimator._loss(len(classes))
        task, estimator.classes_ = PartedTask.of(X, loss, intercept, _columns(X))
    else:
        task, _ = PartedTask.of(X, estimator._loss(), intercept, _columns(X))
    estimator.n_features_in_ = task.d
    names = X.feature_names
    if names is not None:
        estimator.feature_names_in_ = np.array(names, object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return task


def _bring_their_own(y: Any, sample_weight: Any) -> None:
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise BadInput(name, "was given beside rows in parts, which bring their own: expected None")


def _columns(X: Parted) -> Columns | None:
    """The statistics of the columns, where they were written when the rows were packed"""
    found = X.statistics()
    return None if found is None else columns_from(X.shape[0], *found)


def parted_scores(estimator: Any, X: Parted) -> NDArray[Any]:
    """Scores of all rows, in their order"""
    if X.shape[1] != estimator.n_features_in_:
        raise BadInput("X", f"has {X.shape[1]} features, and the model was fitted to {estimator.n_features_in_}")
    coef = np.atleast_2d(np.asarray(estimator.coef_))
    scores: NDArray[Any] = X.scores(coef.astype(X.dtype), np.atleast_1d(estimator.intercept_))
    return np.asarray(scores[:, 0] if np.ndim(estimator.coef_) == 1 else scores)


def learn_parts(estimator: Any, X: Parted, y: Any, classes: Any, sample_weight: Any) -> Any:
    """partial_fit with the parts one after the other, each seen once"""
    _bring_their_own(y, sample_weight)
    if classes is None and estimator._estimator_type_ == "classifier":
        classes = X.sum(Softmax(), False)[1]
    for rows, labels, weights in X.blocks():
        estimator.partial_fit(rows, labels, classes, weights)
    return estimator
