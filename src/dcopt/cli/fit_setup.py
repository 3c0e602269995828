"""The data of `dcopt fit` and the estimator that its options describe, put together."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..datasets.tables import Data
from ..errors import BadFile, BadInput, BadSettings, DcoptError, pick
from ..fit.standard import UNEVEN
from ..fit.steps import Fit
from ..learn import DCClassifier, DCRegressor
from ..losses import LOSSES, Loss
from ..state import State
from ..sums import Parted
from .journal import Asked
from .plan import number, regularizer_with
from .progress import EVERY
from .sources import data_of
from .terminal import Terminal


class Bench(NamedTuple):
    """The data, the estimator for it, and the options it comes from."""

    data: Data
    fit: Fit
    loss: str
    model: Any
    test: Data | None

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The deviations of the original columns."""
        assert self.fit.task.columns is not None
        return self.fit.task.columns.deviation

    def name(self, j: int) -> str:
        """The name of a feature, or its number, from 1 on as in a LIBSVM file."""
        return f"feature {j + 1}" if self.data.names is None else self.data.names[j]


def bench_of(terminal: Terminal, asked: Asked) -> Bench:
    """Read the data, and make the estimator that the options describe."""
    data = data_of(asked.data, asked.columns(), terminal.note)
    in_parts = isinstance(data.X, Parted)
    assert data.y is not None
    mine = [s for s in asked.settings if s.startswith("loss.")]
    penalty = regularizer_with(asked.penalty, [s for s in asked.settings if s not in mine])
    name = asked.loss or ("squared" if data.real else "logistic")
    loss = _with(name, [s.removeprefix("loss.") for s in mine])
    real = loss.labels == "real"
    if real and data.y.dtype.kind not in "fi":
        raise BadSettings("loss", name, f"one for classes: the targets are words, such as {str(data.y[0])!r}")
    if not real and data.y.dtype.kind == "f":
        said = f"one for numbers, such as squared: the targets are numbers, such as {data.y[0]:g}"
        raise BadSettings("loss", name, said)
    if asked.lam != "auto" and not hasattr(penalty, "lam"):
        raise BadSettings("lam", asked.lam, f"no --lam: {asked.penalty} has none")
    if any(s.startswith("lam=") for s in asked.settings):
        raise BadSettings("set", "lam", "--lam, which is a number or auto")
    fixed = None if asked.lam == "auto" else number("lam", asked.lam, "--lam 0.01")
    model = (DCRegressor if real else DCClassifier)(
        loss=loss, penalty=penalty, lam=fixed, fit_intercept=asked.intercept, standardize=asked.standardize,
        solver=asked.solver, tol=asked.tol, max_passes=asked.max_passes, max_seconds=asked.max_seconds,
        random_state=asked.seed, callbacks=[Beat(terminal, data.X.shape[0])],
    )  # fmt: skip
    y = data.y.astype(np.float64) if real else data.y
    with refusing():
        fit = Fit(model, data.X, None if in_parts else y)
    if data.names is not None:
        model.feature_names_in_ = np.array(data.names, object)
    test = None if asked.test is None else _test(asked.test, asked, data, real, terminal.note)
    if not real and fit.task.loss.labels == "class":
        name = "softmax"
    bench = Bench(data._replace(y=y), fit, name, model, test)
    terminal.note(_opening(asked, bench))
    columns = fit.task.columns
    if not asked.standardize and columns is not None and columns.ratio > UNEVEN:
        said = f"columns differ in scale by a factor of {columns.ratio:.1e}, and lam depends on their units"
        terminal.note(f"{said}: --standardize fits columns of standard deviation 1")
    return bench


def _test(path: str, asked: Asked, data: Data, real: bool, note: Callable[[str], None]) -> Data:
    """The rows of --test, with the columns and the classes of the training data."""
    try:
        test = data_of(path, asked.columns(data.fitted), note)
    except BadSettings as why:
        raise BadFile(path, str(why)) from None
    assert test.y is not None and data.y is not None
    if real and test.y.dtype.kind not in "fi":
        raise BadFile(path, f"the targets are words, such as {str(test.y[0])!r}, and numbers in {data.source}")
    if not real and not set(map(str, test.y.tolist())) & (classes := set(map(str, data.y.tolist()))):
        shown = ", ".join(sorted(classes)[:5])
        raise BadFile(path, f"no target is a class of {data.source}: {shown}{', …' if len(classes) > 5 else ''}")
    return test


def _with(name: str, settings: Sequence[str]) -> Loss:
    """A registered loss with settings of one's own."""
    loss: Any = LOSSES[pick("loss", name, LOSSES)]
    for setting in settings:
        key, _, value = setting.partition("=")
        pick(f"setting of {name}", key, loss.__dataclass_fields__)
        loss = replace(loss, **{key: number(key, value)})
    out: Loss = loss
    return out


def _opening(asked: Asked, bench: Bench) -> str:
    rows, columns = bench.data.X.shape
    classes = getattr(bench.model, "classes_", None)
    task = "regression" if classes is None else f"{len(classes)} classes"
    if classes is not None and len(classes) > 2 and classes.dtype.kind in "iu" and not asked.loss:
        task += " (--loss squared takes the targets for numbers)"
    why = "" if asked.loss else ", the default"
    return (
        f"{bench.data.source}: {rows} rows, {columns} features, {task}; loss {bench.loss}{why}; penalty {asked.penalty}"
    )


@contextmanager
def refusing() -> Iterator[None]:
    """Errors of scikit-learn become errors about the data; the exit code replaces its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except DcoptError:
            raise
        except ValueError as why:
            raise BadInput("data", str(why)) from None


class Beat:
    """A progress note every ten seconds."""

    def __init__(self, terminal: Terminal, n: int) -> None:
        self.terminal, self.n, self.said = terminal, n, time.monotonic()

    def __call__(self, state: State) -> None:
        if state.t <= 1:
            self.said = time.monotonic()  # The run begins now.
        if time.monotonic() - self.said >= EVERY:
            self.said = time.monotonic()
            nnz = int(np.count_nonzero(state.x))
            self.terminal.note(f"pass {state.spent.gradients / self.n:.0f}, step {state.t}, {nnz} non-zeros")
