"""Paths: solutions for decreasing λ, from the null model on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..errors import BadSettings, pick, require_count, require_number
from ..losses import Loss
from ..regularizers import L0, Regularizer
from .chords import Chords
from .criteria import CRITERIA, Criteria, criteria
from .null import lam_max, null_model
from .penalties import with_lam
from .solver_choice import choices
from .task import Budget, Done, Progress, Task, run
from .text_table import in_lines

# The share of the null model's loss that a solution removes. Above it classes are separable, and numbers are met
# exactly: only the penalty bounds the next solutions, which rounding determines. glmnet ends its paths at the same
# share of the deviance.
SEPARATED = 0.999
_LONG, _WIDE = 1e-3, 1e-2  # The last λ of a grid as a share of the first: usually, and with more features than rows.
_LINES = 6  # The number of rows of a path that are printed.
_NEAR = 1e-9  # The relative rounding of a λ that is read from a path.


@dataclass(frozen=True, eq=False, repr=False)
class PathResult:
    """Solutions for decreasing λ. nnz counts the features in the model.

    A path ends early, with the first solution that removes 99.9 % of the null model's loss, unless the λ are given;
    `notes` say so. `names` are those of the features, None where they have none; `scale` are the deviations of the
    columns; `classes` are None for numbers.

    aic = D + 2 df, bic = D + df log N, ebic = bic + 2 γ nnz log d, with the free coefficients df, D = 2 N f of the mean
    loss f, and D = N log 2f for least squares. deviance is 2 N f, explained the share of the null model's loss that a
    solution removes.
    """

    lams: NDArray[np.float64]
    coefs: NDArray[Any]
    intercepts: NDArray[Any]
    F: NDArray[np.float64]
    loss: NDArray[np.float64]
    nnz: NDArray[np.int64]
    df: NDArray[np.int64]
    deviance: NDArray[np.float64]
    explained: NDArray[np.float64]
    aic: NDArray[np.float64]
    bic: NDArray[np.float64]
    ebic: NDArray[np.float64]
    statuses: tuple[str, ...]
    certificates: tuple[str, ...]
    names: tuple[str, ...] | None = None
    scale: NDArray[np.float64] | None = None
    classes: tuple[Any, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def separated(self) -> bool:
        """Whether the last solution separates the classes and another one does not."""
        return self.classes is not None and bool(self.loss[-1] <= (1.0 - SEPARATED) * self.loss[0])

    def best(self, criterion: str = "ebic") -> int:
        """The index of the least aic, bic or ebic."""
        pick("criterion", criterion, CRITERIA)
        return int(np.argmin(getattr(self, criterion)))

    def coef_at(self, lam: float) -> NDArray[Any]:
        """The coefficients of the λ of the path that is nearest, in ratio, to this one."""
        require_number("lam", lam, 0.0)
        low, high = float(self.lams[-1]), float(self.lams[0])
        if not low * (1.0 - _NEAR) <= lam <= high * (1.0 + _NEAR):
            raise BadSettings("lam", lam, f"a number on the path, from {low:.6g} to {high:.6g}")
        tiny = np.finfo(np.float64).tiny
        nearest = np.argmin(np.abs(np.log(np.maximum(self.lams, tiny)) - math.log(max(lam, tiny))))
        return np.array(self.coefs[nearest])

    def plot_path(self, ax: Any = None, names: Any = None, effects: bool = False) -> Any:
        """Coefficients, or effects, against λ; returns the axes. Needs matplotlib (dcopt[plot])."""
        from .plots import draw_path

        return draw_path(self, ax, self.names if names is None else names, effects)

    def __repr__(self) -> str:
        k, shown = len(self.lams), np.unique(np.linspace(0, len(self.lams) - 1, _LINES).round().astype(int))
        head = f"PathResult of {k} λ from {self.lams[0]:.4g} to {self.lams[-1]:.4g}; coefs {self.coefs.shape}"
        rows = [[i, float(self.lams[i]), self.nnz[i], float(self.loss[i]), float(self.ebic[i])] for i in shown.tolist()]
        best = self.best()
        chosen = np.flatnonzero(self.coefs[best].reshape(-1, self.coefs.shape[-1]).any(axis=0))
        named = [f"x{j}" if self.names is None else self.names[j] for j in chosen[:_LINES].tolist()]
        ends = ", ".join(f"{self.statuses.count(status)} {status}" for status in sorted(set(self.statuses)))
        return "\n".join([
            head,
            in_lines(("index", "λ", "features", "loss", "ebic"), rows),
            f"best by ebic: index {best}, λ = {self.lams[best]:.4g}, {self.nnz[best]} features: "
            + ", ".join(named) + (", …" if len(chosen) > _LINES else ""),
            f"statuses: {ends}",
            *self.notes,
        ])  # fmt: skip


def grid(
    task: Task, r: Regularizer, x0: NDArray[Any], n_lams: int, ratio: float | None, lams: Any
) -> NDArray[np.float64]:
    """λ from lam_max down to ratio · lam_max, in equal ratios; or the given ones, the largest first.

    ratio: None is 1e-3, or 1e-2 where there are more features than observations.
    """
    if not hasattr(r, "lam") or isinstance(r, L0):
        expected = "a penalty with lam, because a path varies lam"
        instead = "; to choose the size k of l0: GridSearchCV over penalty__k" if isinstance(r, L0) else ""
        raise BadSettings("penalty", r, expected + instead)
    if lams is not None:
        given = np.sort(check.real_array(lams, "lams").ravel())[::-1]
        if not (given.size and np.isfinite(given).all() and given[-1] >= 0.0):
            raise BadSettings("lams", lams, "finite numbers >= 0")
        return given
    require_count("n_lams", n_lams)
    ratio = (_WIDE if task.d > task.total else _LONG) if ratio is None else ratio
    require_number("ratio", ratio, 0.0, 1.0, open_low=True)
    top = lam_max(task.problem(r), x0) or 1.0  # At 0 the null model is critical for every λ.
    return top * np.geomspace(1.0, ratio, n_lams) if n_lams > 1 else np.array([top])


def follow(
    task: Task, r: Regularizer, x0: NDArray[Any], solver: str, budget: Budget, lams: NDArray[np.float64],
    whole: bool = True, seen: Callable[[int, float, Done], Any] | None = None,
    until: Callable[[Done], bool] | None = None,
) -> list[Done]:  # fmt: skip
    """The solutions, each started at the one before. Unless `whole`, they end where 99.9 % of the loss is removed.

    `seen` is called after each of them, with the number and the value of its λ. The path ends where `until` is true.
    """
    ways, out, x = choices(solver, task, r, near=True), list[Done](), x0
    ends = not whole and isinstance(task.loss, Loss)  # The loss of survival times has no least value.
    least = (1.0 - SEPARATED) * task.mean_loss(x0) if ends else -1.0
    chords = Chords.of(task, r, ways[0], budget)
    for k, lam in enumerate(lams):
        at = Progress(x) if chords is None else chords.run(float(lam), x)
        done = at if isinstance(at, Done) else run(task, with_lam(r, float(lam)), at, ways, budget)
        if done.ctrl_c:
            raise KeyboardInterrupt  # Ctrl-C ends the whole path.
        out.append(done)
        if seen is not None:
            seen(k, float(lam), done)
        x = done.x
        if until is not None and until(done):
            break
        if ends and loss_of(task, done) <= least:
            break
    return out


def loss_of(task: Task, done: Done) -> float:
    """The mean loss of a solution, in float64"""
    return task.mean_loss(done.x) if done.loss is None else done.loss


def summary(
    task: Task, runs: list[Done], lams: NDArray[Any], gamma: float, estimator: Any, r: Regularizer
) -> PathResult:
    """The results of the runs of a path, of which there may be fewer than values of λ."""
    names, classes = (getattr(estimator, name, None) for name in ("feature_names_in_", "classes_"))
    notes, lams = _early(lams, len(runs)), lams[: len(runs)]
    shown = [estimator._attributes(task.in_units(done.x)) for done in runs]
    loss = np.array([loss_of(task, done) for done in runs])
    nnz = np.array([_in_model(done.x[: task.d]) for done in runs], np.int64)
    null = task.mean_loss(null_model(task.problem(r)))
    each = [
        criteria(task.loss, f, null, done.x[: task.d], task.total, gamma) for f, done in zip(loss, runs, strict=True)
    ]
    numbers = {name: np.array([getattr(one, name) for one in each]) for name in Criteria._fields}
    return PathResult(
        lams=lams,
        coefs=np.array([a["coef_"] for a in shown]),
        intercepts=np.array([a["intercept_"] for a in shown]),
        F=np.array([done.result.certificate.F for done in runs]),
        loss=loss,
        nnz=nnz,
        **numbers,
        statuses=tuple(done.result.status.name for done in runs),
        certificates=tuple(str(done.result.certificate) for done in runs),
        names=None if names is None else tuple(map(str, names)),
        scale=None if task.columns is None else task.columns.deviation,
        classes=None if classes is None else tuple(classes.tolist()),
        notes=notes,
    )


def _early(lams: NDArray[np.float64], done: int) -> tuple[str, ...]:
    """The note of a path that has ended before its grid."""
    if done == len(lams):
        return ()
    share = f"{SEPARATED:.1%} of the loss of the model without features"
    return (f"the path ends after {done} of {len(lams)} values of lam, at {lams[done - 1]:.4g}: it removes {share}",)


def _in_model(coef: NDArray[Any]) -> int:
    return int(np.count_nonzero(np.any(coef.reshape(len(coef), -1) != 0.0, axis=1)))


def path(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> PathResult:
    """`estimator.path(X, y, …)`: the path of a DCClassifier or DCRegressor, which is not changed."""
    out: PathResult = estimator.path(X, y, sample_weight, **options)
    return out
