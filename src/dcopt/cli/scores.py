"""Scores of a model beside those of the model without features."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..datasets.tables import Data
from ..fit.tuning import Tuning
from ..losses import Squared


class Score(NamedTuple):
    """`null` is the score of the model without features on the same rows."""

    value: float
    null: float


class Scores(NamedTuple):
    """`name`: accuracy for classes, R² for numbers; `cv` is None where λ was not chosen by cross-validation."""

    name: str
    train: Score
    test: Score | None
    cv: Score | None  # In the cross-validation; also None for numbers with a loss other than the squared one.
    cv_loss: Score | None
    majority: Any  # The largest class; None for numbers.

    @property
    def plain(self) -> dict[str, Any]:
        """For --json and the model file."""
        rows = {"train": self.train, "test": self.test}
        cv = {self.name: self.cv, "loss": self.cv_loss}
        found = {name: score for name, score in cv.items() if score is not None}
        return {
            "score": self.name,
            "scores": {which: score.value for which, score in rows.items() if score is not None},
            "null_scores": {which: score.null for which, score in rows.items() if score is not None},
            "cross_validation": {name: score.value for name, score in found.items()} or None,
            "null_cross_validation": {name: score.null for name, score in found.items()} or None,
        }

    @property
    def without(self) -> str:
        """A sentence about the predictions of the model without features."""
        return "the mean" if self.majority is None else f"{self.majority!r} for every row"

    def lines(self) -> list[str]:
        """The scores in words."""
        said = []
        if self.cv_loss is not None:
            both = [f"loss {_number(self.cv_loss.value)} ({_number(self.cv_loss.null)})"]
            both += [] if self.cv is None else [f"{self.name} {self.cv.value:.4f} ({self.cv.null:.4f})"]
            said.append(f"cross-validation: {', '.join(both)}")
        rows = [f"{self.train.value:.4f} ({self.train.null:.4f}) on the training rows"]
        rows += [] if self.test is None else [f"{self.test.value:.4f} ({self.test.null:.4f}) on the test rows"]
        said.append(f"{self.name}: {', '.join(rows)}")
        return [*said, f"in brackets: the model without features, which predicts {self.without}"]

    def verdict(self) -> str:
        """A sentence if the model is no better than one without features, on left-out rows if there are any."""
        found = [("in cross-validation", self.cv), ("on the test rows", self.test)]
        bad = [(where, score) for where, score in found if score is not None and not score.value > score.null]
        if self.cv is None and self.test is None and not self.train.value > self.train.null:
            bad = [("on the training rows", self.train)]
        if self.cv is None and self.cv_loss is not None and not self.cv_loss.value < self.cv_loss.null:
            said = f"loss {_number(self.cv_loss.value)} in cross-validation, against {_number(self.cv_loss.null)}"
            return f"no better than predicting {self.without}: {said}"
        if not bad:
            return ""
        said = "; ".join(f"{self.name} {score.value:.4f} {where}, against {score.null:.4f}" for where, score in bad)
        return f"no better than predicting {self.without}: {said}"


def _number(value: float) -> str:
    return f"{value:.4g}"


def scores_of(model: Any, data: Data, test: Data | None, tuning: Tuning | None) -> Scores:
    """All scores of a fitted model."""
    assert data.y is not None
    classes = hasattr(model, "classes_")
    majority = None
    if classes:
        labels, counts = np.unique(data.y, return_counts=True)
        majority = labels[counts.argmax()].item()
    train = Score(score_of(model, data), null_score(data, data, majority))
    other = None if test is None else Score(score_of(model, test), null_score(test, data, majority))
    cv = cv_loss = None
    if tuning is not None and tuning.losses:
        loss, null = float(np.mean([losses[tuning.index] for losses in tuning.losses])), np.mean(tuning.nulls, axis=0)
        cv_loss = Score(loss, float(null[0]))
        if classes:
            cv = Score(float(np.mean([hits[tuning.index] for hits in tuning.hits])), float(null[1]))
        elif isinstance(model.loss, Squared) and null[0] > 0.0:
            cv = Score(1.0 - loss / float(null[0]), 0.0)
    return Scores("accuracy" if classes else "R²", train, other, cv, cv_loss, majority)


def score_of(model: Any, data: Data) -> float:
    """The accuracy or R² on rows with targets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # These rows have no names.
        return float(model.score(data.X, data.y))


def null_score(rows: Data, training: Data, majority: Any) -> float:
    """The score of the largest class, or of the mean of the training rows."""
    assert rows.y is not None and training.y is not None
    if majority is not None:
        return float(np.mean(rows.y == majority))
    spread = float(((rows.y - rows.y.mean()) ** 2).sum())
    left = float(((rows.y - training.y.mean()) ** 2).sum())
    return 1.0 - left / spread if spread > 0.0 else 0.0
