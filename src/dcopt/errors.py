"""What can go wrong, with fields and not only text: every error names the argument, what came and what was expected."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")
_MOST_ENTRIES, _MOST_LETTERS = 6, 300  # of a value in a message

# names that other libraries have for ours
_ELSEWHERE = {
    "lasso": "l1", "ridge": "l2", "tikhonov": "l2", "enet": "elastic-net", "minimax-concave": "mcp", "none": "zero",
    "log-loss": "logistic", "logloss": "logistic", "cross-entropy": "logistic", "bce": "logistic",
    "multinomial": "softmax", "categorical-cross-entropy": "softmax", "mse": "squared", "l2-loss": "squared",
    "least-squares": "squared", "ols": "squared", "biweight": "tukey", "ramp": "smoothed-ramp",
    "gd": "dca", "gradient-descent": "dca", "proximal-gradient": "dca", "ista": "dca", "fista": "pdcae",
    "sgd": "dca-page", "spider": "dca-page", "newton": "dca-local",
}  # fmt: skip


class DcoptError(Exception):
    """The root of all errors raised by dcopt."""

    def __reduce__(self) -> tuple[Any, ...]:  # copies and pickles keep the fields
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[DcoptError], args: tuple[Any, ...], fields: dict[str, Any]) -> DcoptError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class ColumnScaleWarning(UserWarning):
    """Columns differ so much in scale that a penalty on their coefficients decides by their units."""


class BadInput(DcoptError, ValueError):
    """Data that cannot be used: names the argument, and the row and column where there is one."""

    def __init__(self, argument: str, reason: str, *, row: int | None = None, column: int | None = None) -> None:
        self.argument, self.reason, self.row, self.column = argument, reason, row, column
        where = "".join(f", {k} {v}" for k, v in (("row", row), ("column", column)) if v is not None)
        super().__init__(f"{argument}{where}: {reason}")


class BadFile(DcoptError, ValueError):
    """A data file that cannot be used: names the file and, counted from 1, the line and the column (in bytes)."""

    def __init__(self, path: object, reason: str, *, line: int | None = None, column: int | None = None) -> None:
        self.path, self.reason, self.line, self.column = str(path), reason, line, column
        where = "".join(f", {k} {v}" for k, v in (("line", line), ("column", column)) if v is not None)
        super().__init__(f"{path}{where}: {reason}")


class BadModel(DcoptError, ValueError):
    """A model or checkpoint that cannot be used: names the file and what is wrong with it."""

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{path}: {reason}")


class ResumeMismatch(DcoptError, ValueError):
    """A checkpoint belongs to another run: names what differs."""

    def __init__(self, path: object, differs: tuple[str, ...]) -> None:
        self.path, self.differs = str(path), differs
        super().__init__(f"{path} belongs to another run: {'; '.join(differs)}")


class CannotFetch(DcoptError, OSError):
    """A data set that is not on this machine and could not be fetched: says from where, why, and what else would do."""

    def __init__(self, name: str, url: str | None, reason: str, instead: str) -> None:
        self.name, self.url, self.reason, self.instead = name, url, reason, instead
        source = "" if url is None else f" from {url}"
        super().__init__(f"the data set {name} is not here and cannot be fetched{source}: {reason}; {instead}")


class BadSettings(DcoptError, ValueError):
    """A setting outside its domain: names the setting, its value and what is accepted."""

    def __init__(self, setting: str, value: object, expected: str) -> None:
        self.setting, self.value, self.expected = setting, value, expected
        super().__init__(f"{setting} = {_shown(value)}: expected {expected}")


def _shown(value: object) -> str:
    """A value in a message: an array by its shape, anything else that is long by its beginning."""
    shape = getattr(value, "shape", None)
    if hasattr(value, "dtype") and isinstance(shape, tuple) and math.prod(shape) > _MOST_ENTRIES:
        return f"an array of shape {shape}"
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "…"


class CannotSolve(DcoptError, TypeError):
    """A method was asked to solve a problem that it cannot: says why and names one that can."""

    def __init__(self, method: str, reason: str, instead: str) -> None:
        self.method, self.reason, self.instead = method, reason, instead
        super().__init__(f"{method} cannot solve this problem: {reason}; use {instead!r}")


class NeedsFiniteSum(CannotSolve):
    """The method visits all N components, or remembers each of them; a stream has neither."""

    def __init__(self, method: str, instead: str = "online-dca") -> None:
        super().__init__(method, "it needs a finite sum and was given a stream", instead)


class OutOfData(DcoptError):
    """A stream ended before a batch was full: what was left stays in the stream, no step is made of it."""

    def __init__(self, wanted: int, left: int, drawn: int) -> None:
        self.wanted, self.left, self.drawn = wanted, left, drawn
        super().__init__(f"the stream ended after {drawn + left} samples: {wanted} were due, {left} were left")


class LostWorkers(DcoptError):
    """No worker of a cluster can be reached: a run ends, and its last checkpoint can be resumed elsewhere."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        said = "the last checkpoint can be resumed on another cluster, or without one"
        super().__init__(f"no worker of the cluster could be reached for {seconds:g} s: {said}")


def require(ok: bool, setting: str, value: object, expected: str) -> None:
    """Refuse a setting by name. Write `ok` so that NaN makes it False."""
    if not ok:
        raise BadSettings(setting, value, expected)


def require_number(setting: str, value: Any, low: float, high: float = math.inf, *, open_low: bool = False) -> None:
    """Accept a finite real number with low ≤ value ≤ high (low < value if `open_low`)."""
    good = False
    if hasattr(value, "__float__") and not isinstance(value, bool):
        try:
            v = float(value)
        except (OverflowError, TypeError, ValueError):
            v = math.nan
        good = math.isfinite(v) and (low < v if open_low else low <= v) and v <= high
    where = f" in {'(' if open_low else '['}{low:g}, {high:g}]"
    if high == math.inf:
        where = "" if low == -math.inf else f" {'>' if open_low else '>='} {low:g}"
    require(good, setting, value, f"a finite number{where}")


def require_count(setting: str, value: Any, low: int = 1) -> None:
    """Accept an integer ≥ low (no floats, no booleans)."""
    try:
        good = not isinstance(value, bool) and operator.index(value) >= low
    except TypeError:
        good = False
    require(good, setting, value, f"an integer >= {low}")


def a_kind(value: object) -> str:
    """The type of a value, with its article."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def elsewhere(**known: str) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """A keyword that the function does not have is refused with the one that it has: `known`, or the nearest name."""

    def wrap(function: Callable[Given, Made]) -> Callable[Given, Made]:
        names = tuple(name for name in inspect.signature(function).parameters if name != "self")
        called = function.__qualname__.split(".")[0 if function.__name__ == "__init__" else -1]

        @wraps(function)
        def checked(*args: Given.args, **given: Given.kwargs) -> Made:
            for name in given.keys() - set(names) - {"self"}:
                near = nearest(name, names)
                hint = known.get(name) or (None if near is None else f"{near}=")
                said = f"it has {', '.join(names)}" if hint is None else f"say {hint}"
                raise TypeError(f"{called}() has no argument {name!r}; {said}")
            return function(*args, **given)

        return checked

    return wrap


def pick(kind: str, name: object, table: Iterable[str], more: str = "") -> str:
    """Look a name up, and say the nearest one when it is unknown; `more`: what else would have done."""
    names = list(table)
    if isinstance(name, str) and name in names:
        return name
    if isinstance(name, type):
        raise BadSettings(kind, name, f"an instance, {name.__name__}(…), not the class")
    said = str(name)
    near = nearest(said.partition("(")[0], names)
    hint = "known: " + ", ".join(sorted(names)) if near is None else f"did you mean {near!r}?"
    if near is not None and "(" in said:
        hint = f"a name has no settings: give {near!r}, or an instance that has them"
    raise BadSettings(kind, name, f"a known name{more and f' or {more}'}; {hint}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The same name in other letters or of another library, the shortest with it as a part, or one spelt nearly so."""
    plain = {_plain(known): known for known in names}
    said = _plain(name)
    if said not in plain and _ELSEWHERE.get(said) in plain:
        said = _ELSEWHERE[said]
    if said not in plain:
        longer = sorted((known for known in plain if said in known and len(said) >= 3), key=len)
        said = next(iter([*longer, *get_close_matches(said, plain, n=1, cutoff=0.65)]), said)
    return plain.get(said)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")
