"""Data from a name, a LIBSVM file, CSV or Parquet: rows, targets and, where there are any, the names of the columns."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.catalogue import CATALOGUE
from ..data.datasets import load_dataset, load_libsvm
from ..data.text import Text
from ..errors import BadFile, BadSettings, nearest
from .names import DATASETS

_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_MISSING = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)  # numbers that are none
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_FEW = 20  # whole numbers with at most so many values are classes, unless a loss says otherwise


class Columns(NamedTuple):
    """Which columns are meant: of the options, or of a model that was fitted before."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None  # of the features of a model
    width: int | None = None  # and their number
    must: bool = True  # whether there has to be a target
    by_position: bool = False  # columns without names may stand for those of a model that has names


class Data(NamedTuple):
    """Rows, targets (None where there are none), the names of the columns, and what is known of the task."""

    X: Any
    y: NDArray[Any] | None
    names: tuple[str, ...] | None
    kind: str | None  # "binary", "multiclass", "regression"
    source: str
    form: str

    @property
    def real(self) -> bool:
        """Whether the targets are numbers to be met, not classes."""
        if self.kind is not None:
            return self.kind == "regression"
        if self.y is None or self.y.dtype.kind == "f":
            return self.y is not None
        return self.y.dtype.kind == "i" and len(np.unique(self.y)) > _FEW


def read(source: str, wanted: Columns = Columns()) -> Data:  # noqa: B008  # it is frozen
    """The data; BadFile names the place of what cannot be used."""
    end = Path(re.sub(r"\.(gz|bz2)$", "", source)).suffix.lower()
    if source in DATASETS or end not in (".csv", ".tsv", ".parquet", ".pq"):
        if wanted.target is not None and wanted.must:
            raise BadSettings("target", wanted.target, "no --target: every line of LIBSVM text begins with its own")
        if wanted.drop:
            raise BadSettings("drop", ", ".join(wanted.drop), "no --drop: the columns of LIBSVM text have no names")
        return _named(source, wanted) if source in DATASETS else _libsvm(source, wanted)
    return _csv(source, wanted) if end in (".csv", ".tsv") else _parquet(source, wanted)


# ---- rows of LIBSVM


def _named(name: str, wanted: Columns) -> Data:
    X, y = load_dataset(name)
    _fits(name, X.shape[1], wanted)
    entry = CATALOGUE.get(name)
    kind = entry.kind if entry is not None else "regression" if name == "diabetes" else None
    return Data(X, targets(y.tolist()), None, kind, name, "data set")


def _libsvm(path: str, wanted: Columns) -> Data:
    X, y = load_libsvm(path, n_features=wanted.width)
    _fits(path, X.shape[1], wanted)
    return Data(X, targets(y.tolist()), None, None, path, "LIBSVM text")


def _fits(path: str, width: int, wanted: Columns) -> None:
    if wanted.width is not None and width != wanted.width:
        raise BadFile(path, f"has {width} features, the model was fitted to {wanted.width}")
    if wanted.names is not None and not wanted.by_position:
        raise BadFile(path, f"has no names of columns, and the model was fitted to {_list(wanted.names)}: "
                            "--by-position takes its columns in that order")  # fmt: skip


def targets(values: Sequence[Any]) -> NDArray[Any]:
    """Whole numbers as integers, other numbers as floats, else strings."""
    if any(isinstance(v, str) and not _NUMBER.fullmatch(v) for v in values):  # float() takes 1_0
        return np.array([str(v) for v in values])
    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError):
        return np.array([str(v) for v in values])
    whole = np.isfinite(numbers).all() and (np.abs(numbers) < 2**53).all() and (numbers == np.floor(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers


# ---- which columns


class _Chosen(NamedTuple):
    features: tuple[int, ...]
    target: int | None
    names: tuple[str, ...] | None


def _choose(path: str, names: tuple[str, ...] | None, width: int, wanted: Columns) -> _Chosen:
    """Positions of the features and of the target."""
    target = None if wanted.target is None else _position(path, "target", wanted.target, names, width, wanted)
    if wanted.must and target is None:
        shown = "a number from 1 on" if names is None else _list(names)
        raise BadSettings("target", None, f"--target, a column of {path}: {shown}")
    if wanted.names is not None and names is not None and not wanted.by_position:
        at = {name: j for j, name in enumerate(names)}
        for name in wanted.names:
            if name not in at:
                raise BadFile(path, f"has no column {name!r}, which the model was fitted to{_near(name, names)}")
        return _Chosen(tuple(at[name] for name in wanted.names), target, wanted.names)
    out = {_position(path, "drop", name, names, width, wanted) for name in wanted.drop} | {target}
    left = tuple(j for j in range(width) if j not in out)
    if wanted.width == width and target is not None and not wanted.must:
        left, target = tuple(range(width)), None  # the columns of the model, and no target among them
    _fits(path, len(left), wanted)
    if not left:
        raise BadFile(path, "has no column beside the target")
    return _Chosen(left, target, None if names is None else tuple(names[j] for j in left))


def _position(
    path: str, option: str, said: str, names: tuple[str, ...] | None, width: int, wanted: Columns
) -> int | None:
    """A column by its name, or by its number from 1 on (-1 is the last)."""
    if names is not None and said in names:
        return names.index(said)
    if re.fullmatch(r"-?[1-9][0-9]*", said) and 1 <= abs(int(said)) <= width:
        return int(said) - 1 if int(said) > 0 else width + int(said)
    if not wanted.must:
        return None  # data to predict need not have a target
    hint = "the file has no names" if names is None else "a column" + _near(said, names)
    raise BadSettings(option, said, f"{hint}; or a number from 1 to {width}")


def _list(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def _near(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {near!r}?"


# ---- CSV


def _csv(path: str, wanted: Columns) -> Data:
    with Text(path) as raw, io.TextIOWrapper(io.BufferedReader(raw), "utf-8-sig", newline="") as file:
        try:
            return _rows(path, file, wanted)
        except UnicodeDecodeError as why:
            raise BadFile(path, f"is not UTF-8 text ({why.reason} at byte {why.start})") from None
        except csv.Error as why:
            raise BadFile(path, f"cannot be read as CSV ({why})") from None


def _rows(path: str, file: io.TextIOWrapper, wanted: Columns) -> Data:
    lines = _Lines(file)
    first = next(lines, None)
    if first is None:
        raise BadFile(path, "is empty")
    names = None if all(map(_NUMBER.fullmatch, first)) else _headed(path, [cell.strip() for cell in first])
    chosen = _choose(path, names, len(first), wanted)
    values, labels, at = array("d"), [], array("q")
    pick = itemgetter(*chosen.features) if len(chosen.features) > 1 else lambda cells: (cells[chosen.features[0]],)
    for cells in chain([first] if names is None else [], lines):
        if len(cells) != len(first):
            raise BadFile(path, f"{len(cells)} cells, where the first line has {len(first)}", line=lines.number)
        mine = pick(cells)
        try:
            values.extend(map(float, mine))
        except ValueError:
            raise _blame(path, names, cells, chosen.features, lines.number) from None
        if "_" in "".join(mine):  # float() takes 1_000
            raise _blame(path, names, cells, chosen.features, lines.number)
        if chosen.target is not None:
            label = cells[chosen.target].strip()
            if not label or _MISSING.fullmatch(label):
                said = f"the target is {label or 'empty'}"
                raise BadFile(path, said, line=lines.number, column=chosen.target + 1)
            labels.append(label)
        at.append(lines.number)
    if not at:
        raise BadFile(path, "has no rows")
    X = np.frombuffer(values, np.float64).reshape(len(at), -1).copy()
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        i, j = bad[0]
        raise BadFile(path, _says(names, chosen.features[j], str(X[i, j])), line=at[i], column=chosen.features[j] + 1)
    return Data(X, targets(labels) if labels else None, chosen.names, None, path, "CSV")


class _Lines:
    """Records of a CSV file whose delimiter its first line shows; blank lines are passed over."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        head = file.readline()
        between = max(",;\t", key=_QUOTED.sub("", head).count)
        self._reader = csv.reader(_again(head, file), delimiter=between, strict=True)

    @property
    def number(self) -> int:
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        while not (cells := next(self._reader)):
            pass
        return cells


def _again(head: str, file: io.TextIOWrapper) -> Iterator[str]:
    yield head
    yield from file


def _headed(path: str, names: list[str]) -> tuple[str, ...]:
    for j, name in enumerate(names):
        if not name or name in names[:j]:
            said = "a column without a name" if not name else f"two columns are called {name!r}"
            raise BadFile(path, said, line=1, column=j + 1)
    return tuple(names)


def _blame(path: str, names: Any, cells: Sequence[str], features: Sequence[int], line: int) -> BadFile:
    """The first cell that is no number."""
    j = next((j for j in features if not _NUMBER.fullmatch(cells[j])), features[0])
    return BadFile(path, _says(names, j, cells[j].strip()), line=line, column=j + 1)


def _says(names: Sequence[str] | None, j: int, cell: str) -> str:
    what = f"{cell[:40]!r} is not a number" if cell else "the cell is empty: missing values must be filled in"
    return what if names is None else f"{names[j]}: {what}; --drop leaves a column out"


# ---- Parquet


def _parquet(path: str, wanted: Columns) -> Data:
    if find_spec("pyarrow") is None:
        raise BadFile(path, 'is Parquet, which needs pyarrow: pip install "dcopt[arrow]"')
    import pyarrow
    import pyarrow.parquet

    if not Path(path).is_file():
        raise BadFile(path, "is not a file")
    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as why:
        raise BadFile(path, f"cannot be read as Parquet ({str(why).splitlines()[0][:80]})") from None
    names = _headed(path, list(table.column_names))
    chosen = _choose(path, names, len(names), wanted)
    if not table.num_rows:
        raise BadFile(path, "has no rows")
    X = np.column_stack([_column(path, names[j], table.column(j).to_pylist()) for j in chosen.features])
    y = None
    if chosen.target is not None:
        labels = table.column(chosen.target).to_pylist()
        for i, label in enumerate(labels):
            if label is None or (isinstance(label, float) and not math.isfinite(label)):
                raise BadFile(path, f"row {i + 1}: the target is {'missing' if label is None else label}")
        y = targets(labels)
    return Data(X, y, chosen.names, None, path, "Parquet")


def _column(path: str, name: str, values: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array([_finite(v) for v in values])
    except (TypeError, ValueError):
        i = next(i for i, v in enumerate(values) if not _is_number(v))
        raise BadFile(path, f"row {i + 1}, {name}: {values[i]!r:.40} is not a number") from None


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(_finite(value))
    except (TypeError, ValueError):
        return False


def _finite(value: Any) -> float:
    if isinstance(value, str | bytes) or not math.isfinite(number := float(value)):
        raise ValueError(value)
    return number
