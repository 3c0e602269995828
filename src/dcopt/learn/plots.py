"""Figures of paths and of cross-validation; matplotlib is imported by the functions that draw."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as why:
        raise ImportError('figures need matplotlib: pip install "dcopt[plot]", or ".[plot]" from a clone') from why

    return Figure(figsize=(7, 4.5), layout="constrained").subplots()


def draw_path(path: Any, ax: Any, names: Any) -> Any:
    """One line for every coefficient that is ever in the model, a mark where the ebic is least."""
    ax = _axes(ax)
    coefs = path.coefs.reshape(len(path.lams), -1)
    d = path.coefs.shape[-1]
    for j in np.flatnonzero((coefs != 0).any(axis=0)):
        ax.plot(path.lams, coefs[:, j], lw=1, label=None if names is None else str(names[j % d]))
    ax.axvline(path.lams[path.best("ebic")], color="0.5", ls=":", lw=1)
    _label(ax, "coefficient")
    if names is not None and ax.lines[:-1] and len(ax.lines) <= 16:
        ax.legend(fontsize="small")
    return ax


def draw_cv(model: Any, ax: Any) -> Any:
    """The mean and its standard error; lines at the chosen λ and at the least mean."""
    ax = _axes(ax)
    mean, folds = model.cv_loss_.mean(axis=1), model.cv_loss_.shape[1]
    error = model.cv_loss_.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros_like(mean)
    ax.errorbar(model.lams_, mean, error, marker="o", ms=3, lw=1, elinewidth=0.7)
    ax.axvline(model.lams_[int(np.argmin(mean))], color="0.7", ls=":", lw=1)
    ax.axvline(model.lam_, color="0.3", ls="--", lw=1)
    _label(ax, "loss on the rows left out" if model.scoring is None else f"−{model.scoring}")
    return ax


def _label(ax: Any, what: str) -> None:
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("λ")
    ax.set_ylabel(what)
