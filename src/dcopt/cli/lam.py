"""The λ of `dcopt fit`: as given, or chosen along a path by cross-validation or a criterion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import pick, require_count
from ..fit.tuning import FOLD_RULES, RULES, Tuning
from ..report.fit_report import MOST_LINES, Along
from .fit_setup import Bench, refusing
from .journal import Asked, Journal
from .progress import Bar, Lines, Quiet
from .terminal import Terminal

_RATIO = 0.01  # The ratio of the last λ to the first.


def begun(asked: Asked, bench: Bench) -> Tuning | None:
    """The grid of λ, None where λ is given. Refuses options that do not fit the data, before anything is solved."""
    pick("rule", asked.rule, RULES)
    if asked.lam != "auto" or not hasattr(bench.fit.r, "lam"):
        return None
    require_count("lams", asked.lams)
    with refusing():
        return bench.fit.tuning(asked.lams, _RATIO, _folds(asked), asked.seed)


def _folds(asked: Asked) -> int:
    """The folds of the cross-validation; 0 for a rule that needs none."""
    return asked.folds if asked.rule in FOLD_RULES else 0


def choose(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench) -> Any:
    """λ, as asked for, and the x to start from."""
    fit, tuning = bench.fit, journal.tuning or begun(asked, bench)
    if tuning is None:
        journal.lam = getattr(fit.r, "lam", None)
        return fit.start()
    folds, n = _folds(asked), len(tuning.lams)
    say = f"{folds}-fold cross-validation" if folds else asked.rule.upper()
    terminal.note(f"lam: {say} over {n} values from {tuning.lams[0]:.4g} to {tuning.lams[-1]:.4g}")
    with terminal.watch() as watch:
        x0 = fit.tune(tuning, folds, asked.seed, asked.rule, journal.folds, _Bars(watch, tuning, folds))
    if tuning.path is not None and tuning.path.separated:
        ends = f"the path ends after {len(tuning.lams)} values of lam, at {tuning.lams[-1]:.4g}"
        terminal.note(f"{ends}: the classes are separable there")
    journal.tuning, journal.lam = tuning, tuning.lam
    journal.along = _along(bench, tuning, asked.rule)
    return x0


class _Bars:
    """A bar for the path of all rows, and one for those of the folds."""

    def __init__(self, watch: Bar | Lines | Quiet, tuning: Tuning, folds: int) -> None:
        self.watch, self.tuning, self.folds, self.first = watch, tuning, folds, True
        watch.begin("path of all rows", len(tuning.lams), 0, "values of lam")

    def __call__(self, fold: int, lam: float, F: float) -> None:
        if fold and self.first:
            self.watch.end()
            # There are fewer values if the path ended early.
            n, title = len(self.tuning.lams), f"{self.folds}-fold cross-validation"
            self.watch.begin(title, self.folds * n, (fold - 1) * n, "values of lam")
            self.first = False
        self.watch.advance((f"fold {fold}, " if fold else "") + f"lam {lam:.4g}, F {F:.6g}")


def _along(bench: Bench, tuning: Tuning, rule: str) -> Along:
    """The data of the path for the report."""
    path, losses = tuning.path, np.array(tuning.losses)
    assert path is not None
    if len(losses):
        error = losses.std(axis=0, ddof=1) / math.sqrt(len(losses))
        middle, what = losses.mean(axis=0), "loss on the rows left out: mean over the folds of a cross-validation"
    else:
        middle, what = getattr(path, rule), rule.upper()
        error = np.zeros_like(middle)
    coefs = path.coefs.reshape(len(path.lams), -1, path.coefs.shape[-1])  # λ, classes, features
    effects = coefs * bench.deviations
    size = np.abs(effects[tuning.index])
    effect, most = size.max(axis=0), size.argmax(axis=0)  # With several classes, that on the score that moves most.
    first = np.argsort(-effect, kind="stable")[: min(MOST_LINES, int((effect > 0).sum()))].tolist()
    lines = [effects[:, most[j], j] for j in first]
    on = [f" (class {bench.model.classes_[most[j]]})" if coefs.shape[1] > 1 else "" for j in first]
    names = tuple(bench.name(j) + k for j, k in zip(first, on, strict=True))
    curves = path.lams, middle, middle - error, middle + error
    lams, middles, low, high = (tuple(map(float, curve)) for curve in curves)
    return Along(
        what, lams, middles, low, high, tuple(map(int, path.nnz)), names,
        tuple(tuple(map(float, line)) for line in lines), tuning.lam, rule,
    )  # fmt: skip
