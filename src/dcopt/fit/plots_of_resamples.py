"""Figures of stability selection and of bootstrap inclusion frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from .plots import MOST_NAMED, new_axes

_BARS = 20  # The number of bars, which is limited by the names that can be read.


def draw_stability(found: Any, ax: Any) -> Any:
    """One line for every feature, selected ones in colour, up to ten with names; dotted is the threshold."""
    ax = new_axes(ax)
    last = np.nan_to_num(found.frequencies)
    often = last >= found.threshold - 1e-12
    named = [j for j in np.argsort(-last, kind="stable").tolist() if often[j]][:MOST_NAMED]
    for j in np.flatnonzero(~often & (last > 0.0)).tolist():
        ax.plot(found.shares, found.along[:, j], color="0.75", lw=0.7)
    for j in np.flatnonzero(often).tolist():
        label = (found.names[j] if found.names else f"x{j}") if j in named else None
        ax.plot(found.shares, found.along[:, j], color=f"C{named.index(j)}" if label else "0.3", lw=1.4, label=label)
    ax.axhline(found.threshold, color="0.4", ls=":", lw=1)
    ax.set(xscale="log", ylim=(0.0, 1.02), xlabel="λ / lam_max of the half", ylabel="share of the halves")
    ax.set_title(f"at most {found.bound:.3g} false ones expected", fontsize="medium")
    ax.invert_xaxis()
    if named:
        ax.legend(fontsize="small", loc="center right")
    return ax


def draw_inclusion(found: Any, ax: Any) -> Any:
    """Bars of the most frequent features, the most frequent at the top; dark ones are in the model of all rows."""
    ax = new_axes(ax)
    order = np.argsort(-found.frequencies, kind="stable")[:_BARS][::-1]
    mine = np.any(np.atleast_2d(found.coef) != 0.0, axis=0)
    names = [found.names[j] if found.names else f"x{j}" for j in order.tolist()]
    ax.barh(range(len(order)), found.frequencies[order], color=["C0" if mine[j] else "0.75" for j in order.tolist()])
    ax.set_yticks(range(len(order)), names, fontsize="small")
    ax.set(xlim=(0.0, 1.0), xlabel=f"share of {len(found.coefs)} bootstrap samples")
    ax.set_title("blue: in the model of all rows", fontsize="medium")
    return ax
