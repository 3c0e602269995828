"""Tables of a fitted model: features with sign and effect, scores beside those of the null model, and errors.

The null model has no features: its score is the intercept alone, at its best constant for the training rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from ..sums import Parted
from .fit_scores import Floats, against_the_others, codes_of, mean_loss, r2, roc
from .panels import Table

_MOST_ROWS = 200  # The number of rows of the table of features.
_MOST_COLUMNS = 5  # Up to this many classes have a column of coefficients each.
_ALONE = ("rows", "AUC")  # These scores need no null model for comparison: its AUC is ½.


class Rows(NamedTuple):
    """Rows with known targets: "training rows", "test rows"."""

    name: str
    X: Any
    y: NDArray[Any]
    seen: bool = False  # Whether the fit used these rows.

    @property
    def told(self) -> str:
        return self.name + (", which the model was fitted to" if self.seen else "")


class Fitted(NamedTuple):
    """A fitted DCClassifier or DCRegressor, with what it does not keep itself."""

    model: Any
    loss: Loss
    null: Floats  # The intercepts of the null model.
    name: Callable[[int], str]  # The name of a feature.
    deviations: Floats  # The deviations of the columns.

    @property
    def classes(self) -> list[Any]:
        """Empty for a regression."""
        return [] if self.loss.labels == "real" else list(self.model.classes_.tolist())

    @property
    def labels(self) -> list[str]:
        """The classes as they are shown: numbers are not taken for counts."""
        return [c if isinstance(c, str) else f"class {c}" for c in self.classes]

    def scores(self, X: Any) -> Floats:
        """⟨a_i, x⟩ + b: (N, 1), or (N, c) for c > 2 classes."""
        coef, intercept = np.atleast_2d(self.model.coef_), np.atleast_1d(self.model.intercept_)
        product = X.scores(coef, np.zeros(len(coef))) if isinstance(X, Parted) else X @ coef.T
        z: Floats = np.asarray(product, np.float64) + intercept
        return z

    def targets(self, y: NDArray[Any]) -> NDArray[Any]:
        """Codes of the classes, or the numbers."""
        return codes_of(y.tolist(), self.classes) if self.classes else np.asarray(y, np.float64)

    def probabilities(self, X: Any) -> Floats | None:
        """(N, c); None where the loss is no score of a probability."""
        if not hasattr(self.model, "predict_proba"):  # scikit-learn signals it by AttributeError.
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # These rows have no names of columns.
            return np.asarray(self.model.predict_proba(X), np.float64)


def decide(z: Floats) -> NDArray[np.int64]:
    """The class of the largest score."""
    found = z[:, 0] > 0 if z.shape[1] == 1 else np.argmax(z, axis=1)
    return found.astype(np.int64)


# ------------------------------------------------------------------------------------------------- features


def features_table(fit: Fitted) -> Table:
    """The features in the model, the largest effect first, and the intercept."""
    coef, intercept = np.atleast_2d(fit.model.coef_), np.atleast_1d(fit.model.intercept_)
    effects = coef * fit.deviations
    most = np.abs(effects).argmax(axis=0)  # The class with the largest coefficient.
    lead = effects[most, np.arange(effects.shape[1])]
    chosen = [int(j) for j in np.argsort(-np.abs(lead), kind="stable") if coef[:, j].any()]
    classes, rows = fit.labels, []
    several = len(classes) > 2
    for j in chosen[:_MOST_ROWS]:
        rows.append((fit.name(j), float(lead[j]), *([classes[most[j]]] if several else []),
                     *_for_class(classes, coef[:, j])))  # fmt: skip
    if fit.model.fit_intercept:
        rows.append(("(intercept)", math.nan, *(["–"] if several else []), *_for_class(classes, intercept)))
    head = (*(["on"] if several else []), "favours", *_columns(classes)) if classes else ("coefficient",)
    more = f"; the {_MOST_ROWS} with the largest effect" if len(chosen) > _MOST_ROWS else ""
    count = f"{len(chosen)} of {coef.shape[1]} features{more}. "
    return Table("Chosen features", ("feature", "effect", *head), tuple(rows), count + _meaning(classes), bars="effect")


def _columns(classes: Sequence[str]) -> list[str]:
    return list(classes) if 2 < len(classes) <= _MOST_COLUMNS else ["coefficient"]


def _for_class(classes: Sequence[str], values: Floats) -> tuple[str | float, ...]:
    """The cells behind the effect: the class whose score is raised most, and the coefficients."""
    if not classes:
        return (float(values[0]),)
    if len(classes) == 2:
        return classes[int(values[0] > 0)], float(values[0])
    favours = classes[int(values.argmax())] if values.max() > 0.0 else "–"
    largest = float(values[np.abs(values).argmax()])
    return favours, *(map(float, values) if len(classes) <= _MOST_COLUMNS else (largest,))


def _meaning(classes: Sequence[str]) -> str:
    effect = "The effect is the coefficient times the standard deviation of its column"
    if not classes:
        return f"{effect}: how far the prediction moves when the feature moves by one standard deviation."
    if len(classes) == 2:
        return f"{effect}: positive where more of the feature favours {classes[1]}, negative where {classes[0]}."
    return (
        f"{effect}, on the score of the class that it moves most. A feature favours the class whose score it raises "
        "most. The other columns are the coefficients of the classes."
    )


# ------------------------------------------------------------------------------------------------- scores


def scores_table(fit: Fitted, left_out: dict[str, tuple[float, float]], sets: Sequence[Rows]) -> Table:
    """The model beside the null model on the rows left out by cross-validation, the test rows, the training rows.

    `left_out`: by name the scores of both in the cross-validation, as far as they are known.
    """
    columns = [(rows.name, _on(fit, rows)) for rows in sets]
    note = "The null model has no features, only an intercept."
    if left_out:
        columns.insert(0, ("cross-validation", left_out))
        note += " Cross-validation: means over the folds, on the rows left out."
    if len(fit.classes) > 2:
        note += " AUC: the mean over the classes, each against the others."
    absent = math.nan, math.nan
    cells: list[tuple[str | float, ...]] = [
        (name if k == 0 else f"{name} of the null model", *(measured.get(name, absent)[k] for _, measured in columns))
        for name in columns[-1][1]
        for k in range(2)
        if not (k == 1 and name in _ALONE)
    ]
    return Table("Scores", ("score", *(name for name, _ in columns)), tuple(cells), note)


def _on(fit: Fitted, rows: Rows) -> dict[str, tuple[float, float]]:
    """By name the scores of the model and of the null model."""
    z, targets = fit.scores(rows.X), fit.targets(rows.y)
    both = z, np.broadcast_to(fit.null, z.shape)

    def pair(score: Callable[[Floats], float]) -> tuple[float, float]:
        return score(both[0]), score(both[1])

    found = {"rows": (float(len(targets)), math.nan), "mean loss": pair(lambda v: mean_loss(fit.loss, v, targets))}
    if fit.classes:
        found["accuracy"] = pair(lambda v: float(np.mean(decide(v) == targets)))
        return found | {"AUC": pair(lambda v: area(v, targets))}
    found["R²"] = pair(lambda v: r2(targets, v[:, 0]))
    return found | {"root mean square error": pair(lambda v: math.sqrt(float(np.mean((targets - v[:, 0]) ** 2))))}


def area(z: Floats, codes: NDArray[np.int64]) -> float:
    """The area under the ROC curve; of more than two classes the mean over those that have rows."""
    odds = against_the_others(z)
    curves = [roc(odds[:, k], codes == (k if z.shape[1] > 1 else 1)) for k in range(z.shape[1])]
    areas = [curve.area for curve in curves if curve is not None]
    return float(np.mean(areas)) if areas else math.nan


# ------------------------------------------------------------------------------------------------- settings


def described(name: str, r: Any) -> str:
    """A penalty by its name, with those of its settings that were set, without λ."""
    settings = {f.name: getattr(r, f.name) for f in fields(r) if f.name != "lam"}
    said = [f"{key} = {value:g}" for key, value in settings.items() if isinstance(value, int | float)]
    if settings.get("groups") == "rows":
        said.append("each feature for all classes together")
    elif settings.get("groups") is not None:
        said.append("groups of features")
    if settings.get("weights") is not None:
        said.append("weights")
    return name + (f" ({', '.join(said)})" if said else "")


def loading(path: str | None) -> str:
    """Lines of Python that load the model."""
    place, note = ("model.dcm", "  # written by: dcopt fit … --out model.dcm") if path is None else (path, "")
    load = f"model = load_estimator({place!r}){note}"
    return f"from dcopt.learn.files import load_estimator\n\n{load}\nmodel.predict(X)\n"
