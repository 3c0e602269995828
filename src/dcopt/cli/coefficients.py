"""The coefficients of a fitted model: sign, effect, and the class that each favours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.panels import Table

_COLUMNS = 5  # Up to this many classes have a column each; more classes share one, for the largest coefficient.


def classes_of(model: Any) -> list[Any] | None:
    """The classes, in the order of the coefficients; None for a regression."""
    return model.classes_.tolist() if hasattr(model, "classes_") else None


def chosen_features(
    model: Any, name: Callable[[int], str], deviations: NDArray[np.float64] | float
) -> list[dict[str, Any]]:
    """The features in the model, the largest effect first.

    The effect is the coefficient times the deviation of its column: how far the score moves with one standard
    deviation. Of several classes it is that on the score of `effect_on`, which moves most.
    """
    coef, classes = np.atleast_2d(model.coef_), classes_of(model)
    columns = np.arange(coef.shape[1])
    most = np.abs(coef).argmax(axis=0)
    largest = coef[most, columns]
    effect = largest * deviations
    order = [int(j) for j in np.argsort(-np.abs(effect), kind="stable") if largest[j]]
    return [
        {
            "column": j,
            "name": name(j),
            "coefficient": coef[:, j].tolist(),
            "effect": float(effect[j]),
            "effect_on": classes[most[j]] if classes is not None and len(coef) > 1 else None,
            "favours": None if classes is None else _favoured(coef[:, j], classes),
        }
        for j in order
    ]


def _favoured(coef: NDArray[Any], classes: Sequence[Any]) -> Any:
    """The class whose score rises most with the feature; None if that of no class does."""
    if len(classes) == 2 and len(coef) == 1:
        return classes[1] if coef[0] > 0.0 else classes[0]
    return classes[int(coef.argmax())] if coef.max() > 0.0 else None


def table_of(chosen: Sequence[dict[str, Any]], classes: Sequence[Any] | None) -> Table:
    """A row for every feature."""
    several = classes is not None and len(classes) > 2
    each = [f"class {c}" for c in classes or ()] if several else ["coefficient"]
    few = len(each) <= _COLUMNS
    head = ["feature", *(each if few else ["largest coefficient"]), "effect"]
    rows = []
    for one in chosen:
        coefs = one["coefficient"] if few else [max(one["coefficient"], key=abs)]
        on = [str(one["effect_on"])] if several else []
        favours = [] if classes is None else ["–" if one["favours"] is None else str(one["favours"])]
        rows.append((one["name"], *coefs, one["effect"], *on, *favours))
    head += ["on"] if several else []
    head += [] if classes is None else ["favours"]
    return Table("Chosen features", tuple(head), tuple(rows), f"{len(rows)} features, the largest effect first.")


def intercepts(model: Any) -> str:
    """The intercept, of several classes one for each; "" where there is none."""
    values, classes = np.atleast_1d(model.intercept_).tolist(), classes_of(model)
    if not any(values):
        return ""
    if len(values) == 1:
        return f"intercept: {values[0]:.4g}"
    return "intercepts: " + ", ".join(f"{c} {v:.4g}" for c, v in zip(classes or (), values, strict=True))


def direction(classes: Sequence[Any] | None) -> str:
    """What the sign of a coefficient means, for two classes."""
    if classes is None or len(classes) != 2:
        return ""
    return f"a positive coefficient favours {classes[1]!r}, a negative one {classes[0]!r}"
