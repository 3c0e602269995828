"""Data from a name, a LIBSVM file, CSV or Parquet: rows, targets and, where there are any, the names of the columns."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from ..errors import BadSettings, pick
from .catalogue import CATALOGUE
from .choose_columns import TableFile, fits, table_data, targets
from .coding import MISSING
from .csv_file import open_csv
from .file_form import STDIN, Form, form_of, standard_input
from .named import DATASETS, load_dataset, load_libsvm
from .parquet_file import open_parquet
from .request import Columns, Data, Fitted, Say
from .text import Progress

__all__ = ["Columns", "Data", "Fitted", "Say", "opened", "read", "targets"]

_SILENCE = 5.0  # seconds between two notes on how far the reading is
_DECIMALS = (".", ",")


def read(source: str, wanted: Columns = Columns(), say: Say = lambda text: None) -> Data:  # noqa: B008  # it is frozen
    """The data; BadFile names the place of what cannot be used. `say` is told what was made of the columns."""
    pick("missing", wanted.missing, MISSING)
    if wanted.decimal is not None:
        pick("decimal", wanted.decimal, _DECIMALS)
    if source in DATASETS:
        _no_table(wanted, "no {}: the data set has no names of columns")
        return _named(source, wanted)
    with ExitStack() as stack:
        path = stack.enter_context(standard_input()) if source == STDIN else source
        progress = _Progress(source, say)
        form = form_of(path)
        if form == "LIBSVM text":
            _no_table(wanted, "no {}: the columns of LIBSVM text have no names, and its targets are in it")
            return _libsvm(path, wanted, say, progress, cache=source != STDIN)._replace(source=source)
        file = opened(stack, path, form, wanted, progress)
        return table_data(file, wanted, say)._replace(source=source)


def opened(
    stack: ExitStack, path: str, form: Form, wanted: Columns, progress: Progress | None = None, skip_odd: bool = False
) -> TableFile:
    """A table, open as long as the stack. What was fitted without names is read without names."""
    if form == "Parquet":
        return stack.enter_context(open_parquet(path, progress))
    coding = None if wanted.fitted is None else wanted.fitted.coding
    header = False if coding is not None and not coding.header else wanted.header
    return stack.enter_context(open_csv(path, header, wanted.decimal, wanted.target, skip_odd, progress))


class _Progress:
    """A note every few seconds on how much of the file has been read."""

    def __init__(self, source: str, say: Say) -> None:
        self.source, self.say, self.said = source, say, time.monotonic()

    def __call__(self, share: float) -> None:
        if time.monotonic() - self.said > _SILENCE:
            self.said = time.monotonic()
            self.say(f"{self.source}: {100 * share:.0f} % read")


# ---- rows of LIBSVM


def _no_table(wanted: Columns, expected: str) -> None:
    options = {"target": wanted.target, "drop": wanted.drop, "categorical": wanted.categorical}
    for option, value in options.items():
        if value and wanted.must:
            shown = value if isinstance(value, str) else ", ".join(value)
            raise BadSettings(option, shown, expected.format(f"--{option}"))


def _named(name: str, wanted: Columns) -> Data:
    X, y = load_dataset(name)
    fits(name, X.shape[1], wanted)
    entry = CATALOGUE.get(name)
    kind = entry.kind if entry is not None else "regression" if name == "diabetes" else None
    return Data(X, targets(y.tolist()), None, kind, name, "data set")


def _libsvm(path: str, wanted: Columns, say: Say, progress: Progress, cache: bool) -> Data:
    """The indices begin where those of the model began, otherwise at 1, or at 0 if one is 0."""
    fitted = wanted.fitted
    of_libsvm = fitted is not None and fitted.names is None
    zero: Any = fitted.zero_based if fitted is not None and of_libsvm else wanted.zero_based or "auto"
    width = None if fitted is None else fitted.width
    loaded = load_libsvm(path, n_features=width, zero_based=zero, cache=cache, progress=progress)
    X, y = loaded
    fits(path, X.shape[1], wanted)
    if loaded.zero_based:
        say(f"indices start at 0{'' if zero is True else ', as one of them is 0'}: feature 1 is index 0")
    return Data(X, targets(y.tolist()), None, None, path, "LIBSVM text", zero_based=loaded.zero_based)
