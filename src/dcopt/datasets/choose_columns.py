"""Which columns of an open table are features and which is the target, and the data that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.bounds import most_bytes, too_large
from ..errors import BadFile, BadSettings, nearest
from .coding import Coded, Coding, complete, fit_coding
from .columns import NUMBER, Table, repeated
from .csv_file import CsvFile
from .parquet_file import ParquetFile
from .request import Columns, Data, Fitted, Say

_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
TableFile = CsvFile | ParquetFile


def table_data(file: TableFile, wanted: Columns, say: Say) -> Data:
    """Rows, targets and names, of a file to fit or of one to be read as that of a model was."""
    for note in file.notes:
        say(note)
    target = None if wanted.target is None else position(file, "target", wanted.target, wanted)
    if wanted.must and target is None:
        shown = "a number from 1 on" if file.names is None else _list(file.names)
        raise BadSettings("target", None, f"--target, a column of {file.path}: {shown}")
    if wanted.fitted is None:
        return _to_fit(file, wanted, target, say)
    return _as_fitted(file, wanted, wanted.fitted, target, say)


def _to_fit(file: TableFile, wanted: Columns, target: int | None, say: Say) -> Data:
    features = _left(file, wanted, target, say)
    places = {int(at) for name in wanted.categorical if (at := position(file, "categorical", name, wanted)) is not None}
    table = file.read(features, target, places)
    table = _named_columns(table, file.names is not None, say)
    if wanted.missing == "drop":
        table, notes = complete(table)
        for note in notes:
            say(note)
    y = _labels(table, wanted)
    categorical = [at + 1 for at in places]
    coding, notes = fit_coding(table, file.names is not None, categorical, wanted.missing)
    for note in notes:
        say(note)
    X = coding.of(table, fitting=True)
    kept = None if coding.trivial else coding
    names = None if coding.trivial and file.names is None else coding.features
    return Data(X, y, names, None, file.path, file.form, kept)


def _as_fitted(file: TableFile, wanted: Columns, fitted: Fitted, target: int | None, say: Say) -> Data:
    """The columns of the model by their names, or, where either has none, by their order."""
    columns = fitted.columns
    if columns is not None and fitted.named and file.names is not None and not wanted.by_position:
        features = _found(file, columns)
    else:
        width = fitted.width if columns is None else len(columns)
        features = _left(file, wanted, target, say, width)
        if len(features) != width:
            raise BadFile(file.path, f"has {len(features)} features, the model was fitted to {width}")
        if file.names is None and columns is not None:
            _by_position(file.path, wanted, fitted, [one.name for one in columns])
    if columns is None:
        columns = tuple(Coded("", "numbers") for _ in features)
    target = None if target in features else target
    table = file.read(features, target, {j for j, one in zip(features, columns, strict=True) if one.kind == "levels"})
    coding = fitted.coding or Coding(columns)
    if wanted.must and coding.missing == "drop":
        table, notes = complete(table)
        for note in notes:
            say(note)
    y = _labels(table, wanted, say)
    return Data(coding.of(table, wanted.must), y, fitted.names, None, file.path, file.form, fitted.coding)


def _labels(table: Table, wanted: Columns, say: Say = lambda text: None) -> NDArray[Any] | None:
    if table.labels is None:
        return None
    for i, label in enumerate(table.labels):
        if _INFINITE.fullmatch(str(label)):
            raise table.refuse(i, table.target or 0, f"the target is {label}")
    absent = [i for i, label in enumerate(table.labels) if label is None]
    if not absent:
        _affordable_targets(table.path, table.labels)
        return targets(table.labels)
    if wanted.must:
        more = "" if len(absent) == 1 else f" here and in {len(absent) - 1} more rows"
        hint = "; --missing drop leaves such rows out" if wanted.missing == "refuse" else ": it cannot be filled in"
        raise table.refuse(absent[0], table.target or 0, f"the target is missing{more}{hint}")
    say(f"the target is missing in {len(absent)} of {len(table.labels)} rows: no score")
    return None


def _affordable_targets(path: str, labels: Sequence[Any]) -> None:
    """An array of texts gives all of them the room of the longest, in four bytes a character."""
    widest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if 4 * widest * len(labels) > (limit := most_bytes()):
        raise BadFile(path, too_large(f"{len(labels):,} targets, the longest of {widest:,} characters, take", limit))


def targets(values: Sequence[Any]) -> NDArray[Any]:
    """Whole numbers as integers, other numbers as floats, else strings."""
    if any(isinstance(v, str) and not NUMBER.fullmatch(v) for v in values):  # float() takes 1_0
        return np.array([str(v) for v in values])
    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError):
        return np.array([str(v) for v in values])
    whole = np.isfinite(numbers).all() and (np.abs(numbers) < 2**53).all() and (numbers == np.floor(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers


# ---- which columns


def _left(file: TableFile, wanted: Columns, target: int | None, say: Say, width: int | None = None) -> tuple[int, ...]:
    """What is not the target, not left out by --drop, and no index; all columns if that is the width of the model."""
    out = {position(file, "drop", name, wanted) for name in wanted.drop} | {target}
    if file.width == width and not wanted.must:
        return tuple(range(width))
    if file.names and not file.names[0] and 0 not in out:
        say("column 1 has no name and is left out: it is taken for an index")
        out.add(0)
    left = tuple(j for j in range(file.width) if j not in out)
    if not left:
        raise BadFile(file.path, "has no column beside the target")
    shown = [] if width is not None or file.names is None else [file.names[j] or str(j) for j in left]
    if file.names is not None and (twice := repeated(shown)) is not None:
        j = left[twice]
        said = f"two columns are called {file.names[j]!r}; --drop {j + 1} leaves this one out"
        raise BadFile(file.path, said, line=1, column=j + 1)
    return left


def _named_columns(table: Table, header: bool, say: Say) -> Table:
    """Columns without a name among named ones: an empty one is passed over, as a comma at the end of lines makes it."""
    kept = []
    for column in table.columns:
        if not header or column.name:
            kept.append(column)
        elif column.missing.all():
            say(f"column {column.place} has neither a name nor a value and is left out")
        else:
            said = f"a column without a name; --drop {column.place} leaves it out"
            raise BadFile(table.path, said, line=1, column=column.place)
    if not kept:
        raise BadFile(table.path, "has no column beside the target")
    return table._replace(columns=tuple(kept))


def _found(file: TableFile, columns: Sequence[Coded]) -> tuple[int, ...]:
    """Where the columns of the model are."""
    names = file.names or ()
    at = {name: j for j, name in enumerate(names)}
    for one in columns:
        if one.name not in at:
            said = f"has no column {one.name!r}, which the model was fitted to{_near(one.name, names)}"
            raise BadFile(file.path, said)
    mine = {one.name for one in columns}
    if (twice := repeated([name for name in names if name in mine])) is not None:
        name = [name for name in names if name in mine][twice]
        raise BadFile(file.path, f"two columns are called {name!r}, which the model was fitted to")
    return tuple(at[one.name] for one in columns)


def position(file: TableFile, option: str, said: str, wanted: Columns) -> int | None:
    """A column by its name, or by its number from 1 on (-1 is the last)."""
    if file.names is not None and said in file.names:
        return file.names.index(said)
    if re.fullmatch(r"-?[1-9][0-9]*", said) and 1 <= abs(int(said)) <= file.width:
        return int(said) - 1 if int(said) > 0 else file.width + int(said)
    if not wanted.must:
        return None  # data to predict need not have a target
    numbers = f"a number from 1 to {file.width}"
    hint = f"{numbers}: the file has no names" if file.names is None else f"a column or {numbers}"
    raise BadSettings(option, said, hint + _near(said, file.names or ()))


def fits(path: str, width: int, wanted: Columns) -> None:
    """Whether columns without names may be the features of the model."""
    fitted = wanted.fitted
    if fitted is None:
        return
    if width != fitted.width:
        raise BadFile(path, f"has {width} features, the model was fitted to {fitted.width}")
    _by_position(path, wanted, fitted, fitted.names or ())


def _by_position(path: str, wanted: Columns, fitted: Fitted, names: Sequence[str]) -> None:
    if fitted.named and not wanted.by_position:
        said = f"has no names of columns, and the model was fitted to {_list(names)}"
        raise BadFile(path, f"{said}: --by-position takes its columns in that order")


def _list(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def _near(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {near!r}?"
