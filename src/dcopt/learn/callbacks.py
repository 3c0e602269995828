"""Callbacks: scikit-learn's protocol where it has one (1.9), functions of a State, early stopping, printed lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fit.task import Task
from ..fit.tuning import Step
from ..measures import MEASURES
from ..problem import Problem
from ..state import State

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9 does not have it.

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty base class."""

    def with_callbacks(method: Any) -> Any:
        return method


_EVERY = 1.0  # Seconds between two lines of a path.


class EveryPass:
    """Calls `act(state, passes)` after every pass over n components. The run ends if it returns a true value."""

    def __init__(self, n: int, act: Callable[[State, float], Any]) -> None:
        self.n, self.act, self.due = n, act, 1.0

    def __call__(self, state: State) -> bool:
        passes = state.spent.gradients / self.n
        if state.t <= 1:
            self.due = 1.0  # Another run has begun.
        if passes < self.due:
            return False
        self.due = np.floor(passes) + 1.0
        return bool(self.act(state, passes))


class Patience:
    """Keeps the x with the least loss on rows set aside, and ends the run if it does not fall any more."""

    def __init__(self, aside: Task, patience: int, x0: NDArray[Any]) -> None:
        self.aside, self.patience = aside, patience
        self.x, self.loss, self.waited, self.losses = x0.copy(), aside.mean_loss(x0), 0, []  # type: ignore[var-annotated]

    @property
    def over(self) -> bool:
        return self.waited >= self.patience

    def __call__(self, state: State, passes: float) -> bool:
        loss = self.aside.mean_loss(state.x)
        self.losses.append(loss)
        if loss < self.loss:
            self.x, self.loss, self.waited = np.array(state.x), loss, 0
        else:
            self.waited += 1
        return self.over


class Lines:
    """A line at passes 1, 2, 4, … (verbose=1), or at every pass (verbose=2). Each line costs a pass over all rows."""

    def __init__(self, problem: Callable[[], Problem], measure: str, verbose: int) -> None:
        self.problem, self.measure, self.verbose, self.next = problem, measure, verbose, 1.0

    def __call__(self, state: State, passes: float) -> None:
        if passes >= self.next or self.verbose > 1:
            self.next = max(self.next, 2.0 ** np.floor(np.log2(passes) + 1.0)) if passes >= 1.0 else 1.0
            P, x = self.problem(), np.asarray(state.x, np.float64)
            point = P.examine(x)
            value = MEASURES[self.measure](P, point)
            print(
                f"[dcopt] pass {passes:8.1f}  step {state.t:6d}  F {point.F:.6g}  {self.measure} {value:.3g}  "
                f"non-zeros {np.count_nonzero(x)}"
            )


class PathLines:
    """A line for a λ of a path or of a fold: at most one in a second and the last (verbose=1), or each (verbose=2)."""

    def __init__(self, verbose: int) -> None:
        self.verbose, self.said = verbose, time.monotonic()

    def __call__(self, step: Step) -> None:
        if self.verbose < 2 and step.at < step.of and time.monotonic() - self.said < _EVERY:
            return
        self.said = time.monotonic()
        where = f"fold {step.part}/{step.parts}" if step.part else "all rows"
        left = "" if step.left is None else f"  {step.left:.0f} s left"
        print(f"[dcopt] {where}  λ {step.at}/{step.of} = {step.lam:.4g}  F {step.F:.6g}  non-zeros {step.nnz}{left}")


def say_end(text: object) -> None:
    """The last line of a fit."""
    print(f"[dcopt] {text}")


def scikit_learn_tasks(estimator: Any, context: Any, attributes: Callable[[Any], dict[str, Any]]) -> Any:
    """One task of scikit-learn's callbacks for every pass. A callback may end the run."""

    def act(state: State, passes: float) -> bool:
        task = context.subcontext(task_name="pass")
        task.call_on_fit_task_begin(estimator=estimator)
        x = np.array(state.x)
        return bool(task.call_on_fit_task_end(estimator=estimator, reconstruction_attributes=lambda: attributes(x)))

    return act
