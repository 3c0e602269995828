"""Figures of paths and of cross-validation; matplotlib is imported by the functions that draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_NAMED = 10  # The number of lines with a name and a colour, limited by the colours that can be distinguished.
_ROOM = 0.045  # The distance between two names, as a share of the height of the axes.


def new_axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as why:
        raise ImportError('figures need matplotlib: pip install "dcopt[plot]", or ".[plot]" from a clone') from why

    return Figure(figsize=(7, 4.5), layout="constrained").subplots()


def draw_path(path: Any, ax: Any, names: Any, effects: bool, chosen: float | None = None) -> Any:
    """One line for every coefficient that is ever in the model: the largest with colours and names, the others grey.

    Largest by effect, anywhere on the path. The upper axis counts the features, the dotted line is the chosen λ, or
    that of the least ebic. `effects`: the lines are coefficient × deviation of the column, which have one unit.
    A last solution that separates the classes is not drawn: next to its coefficients all others would be flat.
    """
    ax = new_axes(ax)
    lam = path.lams[path.best("ebic")] if chosen is None else chosen
    last = len(path.lams) - int(path.separated and lam > path.lams[-1])
    lams, coefs, d = path.lams[:last], path.coefs[:last].reshape(last, -1), path.coefs.shape[-1]
    called = [_called(j, d, names, path.classes) for j in range(coefs.shape[1])]
    there: list[int] = np.flatnonzero((coefs != 0).any(axis=0)).tolist()
    scaled = coefs if path.scale is None else coefs * np.tile(path.scale, coefs.shape[1] // d)
    effect, coefs = np.abs(scaled).max(axis=0), scaled if effects else coefs
    largest = sorted(there, key=lambda j: -effect[j])[:MOST_NAMED]
    for j in sorted(there, key=lambda j: effect[j]):
        rank = largest.index(j) if j in largest else None
        colour = "0.75" if rank is None else f"C{rank}"
        ax.plot(lams, coefs[:, j], lw=0.7 if rank is None else 1.4, color=colour, label=called[j])
    ax.axvline(lam, color="0.5", ls=":", lw=1)
    _label(ax, "effect: coefficient × deviation" if effects else "coefficient")
    _name_ends(ax, [(called[j], float(coefs[-1, j]), f"C{k}") for k, j in enumerate(largest)])
    _count(ax, lams, path.nnz[:last])
    said = " least ebic" if chosen is None else " chosen"
    ax.text(lam, 0.02, said, transform=ax.get_xaxis_transform(), color="0.4", fontsize="small")
    return ax


def _called(j: int, d: int, names: Any, classes: Any) -> str:
    name = f"x{j % d}" if names is None else str(names[j % d])
    return name if classes is None or len(classes) == 2 else f"{name} (class {classes[j // d]})"


def _name_ends(ax: Any, ends: list[tuple[str, float, str]]) -> None:
    """Names beside the right ends of lines, moved apart where they would cover each other."""
    low, high = ax.get_ylim()
    least, at = _ROOM * (high - low), -np.inf
    for name, y, colour in sorted(ends, key=lambda end: end[1]):
        at = max(at + least, y)
        ax.annotate(
            name, (1.0, y), (1.02, at), xycoords=("axes fraction", "data"), textcoords=("axes fraction", "data"),
            color=colour, fontsize="small", va="center", annotation_clip=False,
        )  # fmt: skip


def _count(ax: Any, lams: NDArray[np.float64], nnz: NDArray[np.int64]) -> None:
    """The number of features along the upper axis."""
    top = ax.secondary_xaxis("top")
    some = np.unique(np.linspace(0, len(lams) - 1, 7).round().astype(int))
    top.set_xticks(lams[some], [str(n) for n in nnz[some]], minor=False)
    top.set_xticks([], minor=True)
    top.set_xlabel("features in the model")


def draw_cv(model: Any, ax: Any) -> Any:
    """The mean and its standard error, without folds the criterion; dashed at the chosen λ, dotted at the least."""
    ax = new_axes(ax)
    folds = model.cv_loss_.shape[1]
    mean = model.cv_loss_.mean(axis=1) if folds else getattr(model.path_, model.rule)
    error = model.cv_loss_.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros_like(mean)
    ax.errorbar(model.lams_, mean, error, marker="o", ms=3, lw=1, elinewidth=0.7)
    ax.axvline(model.lams_[int(np.argmin(mean))], color="0.7", ls=":", lw=1, label="least")
    ax.axvline(model.lam_, color="0.3", ls="--", lw=1, label=f"chosen (rule={model.rule!r})")
    what = "loss on the rows left out" if model.scoring is None else f"−{model.scoring}"
    _label(ax, what if folds else model.rule.upper())
    _count(ax, model.lams_, model.path_.nnz)
    ax.legend(fontsize="small")
    return ax


def _label(ax: Any, what: str) -> None:
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("λ")
    ax.set_ylabel(what)
