"""The solutions along λ, from the null model down."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..errors import BadSettings, pick, require_count, require_number
from ..losses import Squared
from ..regularizers import Regularizer
from .choice import choices
from .null import lam_max, null_model
from .penalties import with_lam
from .task import Budget, Done, Progress, Task, run

# Share of the null model's loss that a solution removes. Beyond it the classes are separable: the coefficients of the
# next solutions have no bound but the penalty's, and rounding decides them. glmnet ends its paths at the same share.
SEPARATED = 0.999


@dataclass(frozen=True, eq=False)
class PathResult:
    """Solutions for decreasing λ. nnz counts the features in the model, which is its degrees of freedom here.

    A path for classes ends early, with the first solution that removes 99.9 % of the null model's loss, unless the λ
    are given.

    bic = 2 N f + df log N with the mean loss f (N log 2f for least squares), ebic adds 2 γ df log d.
    """

    lams: NDArray[np.float64]
    coefs: NDArray[Any]
    intercepts: NDArray[Any]
    F: NDArray[np.float64]
    loss: NDArray[np.float64]
    nnz: NDArray[np.int64]
    bic: NDArray[np.float64]
    ebic: NDArray[np.float64]
    statuses: tuple[str, ...]
    certificates: tuple[str, ...]

    def best(self, criterion: str = "ebic") -> int:
        """The index of the least bic or ebic."""
        pick("criterion", criterion, ("bic", "ebic"))
        return int(np.argmin(getattr(self, criterion)))

    def plot_path(self, ax: Any = None, names: Any = None) -> Any:
        """Coefficients against λ; returns the axes. Needs matplotlib (dcopt[plot])."""
        from .plots import draw_path

        return draw_path(self, ax, names)


def grid(task: Task, r: Regularizer, x0: NDArray[Any], n_lams: int, ratio: float, lams: Any) -> NDArray[np.float64]:
    """λ from lam_max down to ratio · lam_max, in equal ratios; or the given ones, the largest first."""
    if not hasattr(r, "lam"):
        raise BadSettings("penalty", r, "one with lam, which is what a path goes along")
    if lams is not None:
        given = np.sort(check.real_array(lams, "lams").ravel())[::-1]
        if not (given.size and np.isfinite(given).all() and given[-1] >= 0.0):
            raise BadSettings("lams", lams, "finite numbers >= 0")
        return given
    require_count("n_lams", n_lams)
    require_number("ratio", ratio, 0.0, 1.0, open_low=True)
    top = lam_max(task.problem(r), x0) or 1.0  # 0: the null model is critical whatever λ is
    return top * np.geomspace(1.0, ratio, n_lams) if n_lams > 1 else np.array([top])


def follow(
    task: Task, r: Regularizer, x0: NDArray[Any], solver: str, budget: Budget, lams: NDArray[np.float64],
    whole: bool = True, seen: Callable[[float, Done], Any] | None = None,
) -> list[Done]:  # fmt: skip
    """The solutions, each from the one before. Not `whole`: they end with the first that separates the classes.

    `seen` is called with every λ and its solution.
    """
    ways, out, x = choices(solver, task.n, task.shape, task.loss, r), list[Done](), x0
    least = -1.0 if whole or task.loss.labels == "real" else (1.0 - SEPARATED) * task.mean_loss(x0)
    for lam in lams:
        done = run(task, with_lam(r, float(lam)), Progress(x), ways, budget)
        if done.ctrl_c:
            raise KeyboardInterrupt  # Ctrl-C ends the path, not one of its points
        out.append(done)
        x = done.x
        if seen is not None:
            seen(float(lam), done)
        if least >= 0.0 and task.mean_loss(x) <= least:
            break
    return out


def follow_path(
    task: Task, r: Regularizer, x0: NDArray[Any] | None, solver: str, budget: Budget, n_lams: int, ratio: float,
    lams: Any, gamma: float, attributes: Callable[[Any], dict[str, Any]],
) -> PathResult:  # fmt: skip
    """The path and its criteria."""
    require_number("ebic_gamma", gamma, 0.0)
    x0 = null_model(task.problem(r)) if x0 is None else x0
    values = grid(task, r, x0, n_lams, ratio, lams)
    return summary(task, follow(task, r, x0, solver, budget, values, lams is not None), values, gamma, attributes)


def summary(task: Task, runs: list[Done], lams: NDArray[Any], gamma: float, attributes: Any) -> PathResult:
    """What the runs of a path came to; there may be fewer than λ."""
    lams = lams[: len(runs)]
    shown = [attributes(done.x) for done in runs]
    loss = np.array([task.mean_loss(done.x) for done in runs])
    nnz = np.array([_in_model(done.x[: task.d]) for done in runs], np.int64)
    n = task.total
    fit = n * np.log(np.maximum(2.0 * loss, 1e-300)) if isinstance(task.loss, Squared) else 2.0 * n * loss
    bic = fit + nnz * math.log(max(n, 2.0))
    return PathResult(
        lams, np.array([a["coef_"] for a in shown]), np.array([a["intercept_"] for a in shown]),
        np.array([done.result.certificate.F for done in runs]), loss, nnz, bic,
        bic + 2.0 * gamma * nnz * math.log(task.d), tuple(done.result.status.name for done in runs),
        tuple(str(done.result.certificate) for done in runs),
    )  # fmt: skip


def _in_model(coef: NDArray[Any]) -> int:
    return int(np.count_nonzero(np.any(coef.reshape(len(coef), -1) != 0.0, axis=1)))


def path(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> PathResult:
    """`estimator.path(X, y, …)`: the path of a DCClassifier or DCRegressor, which stays as it is."""
    out: PathResult = estimator.path(X, y, sample_weight, **options)
    return out
