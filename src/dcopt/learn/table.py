"""A fitted model for readers: a table of its coefficients, and a summary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..errors import BadSettings, require
from ..fit.criteria import Criteria, criteria
from ..fit.null import null_model
from ..fit.text_table import Table
from .offsets import Offsets

_SHOWN = 20  # The number of features in a summary; coef_table() has all.
INTERCEPT = "(intercept)"


class Described:
    """summary(), coef_table() and criteria() of a fitted estimator."""

    def coef_table(self: Any) -> Any:
        """The features in the model, the largest effect first, then the intercept: a pandas.DataFrame, else a Table.

        coefficient : in the units of the data
        effect : coefficient × standard deviation of its column, how far the score moves with one deviation
        favours : of two classes, the one whose score rises with the feature
        class : of more than two classes, which have a row each, the one whose score this is
        """
        columns = self._coef_columns()
        try:
            import pandas
        except ImportError:
            return Table(columns)
        return pandas.DataFrame(columns)

    def _coef_columns(self: Any) -> dict[str, list[Any]]:
        check_is_fitted(self)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        classes = getattr(self, "classes_", None)
        scale = getattr(self, "scale_", None)
        effect = np.full(coef.shape, np.nan) if scale is None else coef * scale
        order = np.abs(coef if scale is None else effect).max(axis=0)
        chosen = [j for j in np.argsort(-order, kind="stable") if coef[:, j].any()]
        rows = [(self._name(j), k, coef[k, j], effect[k, j]) for j in chosen for k in range(len(coef))]
        rows += [(INTERCEPT, k, intercept[k], np.nan) for k in range(len(coef))] if self.fit_intercept else []
        columns: dict[str, list[Any]] = {"feature": [row[0] for row in rows]}
        if classes is None and len(coef) > 1:
            columns["target"] = [row[1] for row in rows]
        if classes is not None and len(classes) > 2:
            columns["class"] = [classes[row[1]] for row in rows]
        columns |= {"coefficient": [float(row[2]) for row in rows], "effect": [float(row[3]) for row in rows]}
        if classes is not None and len(classes) == 2:
            columns["favours"] = [classes[int(row[2] > 0.0)] for row in rows]
        return columns

    def _name(self: Any, j: Any) -> str:
        names: NDArray[Any] | None = getattr(self, "feature_names_in_", None)
        return f"x{j}" if names is None else str(names[j])

    def summary(self: Any) -> Text:
        """The model as text: settings, largest features, certificate and notes."""
        columns = self._coef_columns()
        used = int(np.atleast_2d(self.coef_).any(axis=0).sum())
        kind = self.penalty if isinstance(self.penalty, str) else type(self.penalty).__name__
        loss = self.loss if isinstance(self.loss, str) else type(self.loss).__name__
        lam = "" if self.lam_ is None else f", λ = {self.lam_:.6g}"
        scaled = ", columns divided by their standard deviation for the fit" if self.standardize else ""
        lines = [f"{type(self).__name__}: loss {loss}, penalty {kind}{lam}{scaled}"]
        lines.append(f"{used} of {self.n_features_in_} features are in the model{self._favours()}")
        lines.append(str(Table(_shortened(columns, self.fit_intercept))))
        lines.append(str(self.certificate_))
        return Text("\n".join([*lines, *(f"note: {note}" for note in getattr(self, "notes_", ()))]))

    def criteria(
        self: Any, X: Any, y: Any, sample_weight: Any = None, *, gamma: float = 1.0, offset: Any = None,
        exposure: Any = None,
    ) -> Criteria:  # fmt: skip
        """Deviance, AIC, BIC and EBIC(γ) of this model on the rows that it was fitted to.

        The formulas are those of `dcopt.fit.criteria.Criteria`. They compare models of the same rows and loss.
        """
        check_is_fitted(self)
        like, width = clone(self), np.shape(self.x_)
        task = like._task(X, y, sample_weight, Offsets(offset, exposure))
        expected = f"the rows of the fit: {self.n_features_in_} features"
        if (task.d, *task.width) != (self.n_features_in_, *width[1:]):
            raise BadSettings("X", (task.d, *task.width), expected + (f" and {width[1]} classes" if width[1:] else ""))
        for classes, now in zip(_classes(self), _classes(like), strict=True):
            require(np.array_equal(classes, now), "y", now, f"the classes of the fit, {classes}")
        x, null = task.scaled(self.x_), null_model(task.problem(like._penalty(task)))
        return criteria(task.loss, task.mean_loss(x), task.mean_loss(null), x[: task.d], task.total, gamma)

    def _favours(self: Any) -> str:
        classes = getattr(self, "classes_", None)
        if classes is None:
            return ""
        if len(classes) == 2:
            return f"; a positive coefficient favours class {classes[1]}, a negative one class {classes[0]}"
        return "; a positive coefficient favours the class of its row"


def _classes(model: Any) -> list[NDArray[Any]]:
    """The classes of a classifier, in a list that is empty for a regressor."""
    return [model.classes_] if hasattr(model, "classes_") else []


class Text(str):
    """A string that a prompt shows as its lines."""

    def __repr__(self) -> str:
        return str(self)


def _shortened(columns: dict[str, list[Any]], intercept: bool) -> dict[str, list[Any]]:
    """The first features, and all intercepts."""
    names = columns["feature"]
    last = len(names) - names.count(INTERCEPT) if intercept else len(names)
    if last <= _SHOWN:
        return columns
    more = f"… {last - _SHOWN} more rows: coef_table()"
    return {
        key: [*values[:_SHOWN], more if key == "feature" else "", *values[last:]] for key, values in columns.items()
    }
