"""A description of a problem in a few lines: text where it is short, and a SHA-256 digest for data."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..convex import Diagonal, LocalCurvature, Majorizer, Quadratic
from ..problem import Problem
from ..sums import LinearSum
from ..xp import Array

SAME = 1e-9  # The relative difference up to which two numbers count as the same but for rounding.
# This matches the repr of a float, no integer, and no digest.
_NUMBER = re.compile(r"(?<![\w.:])(-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+)(?![\w.])")
_BLOCK = 1 << 20  # The number of entries that are hashed at once.
_DEEP = 30
_SHORT = 120
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def fingerprint(P: Problem) -> dict[str, str]:
    """One line a part. Every value of X, the labels and the weights is in it; a κ that methods choose is not.

    Nor is what was computed from the data: its last bits depend on the machine and on the threads of BLAS. A G of this
    kind is described by the data that it was made of. Tolerances are no part of a problem.
    """
    parts = {
        "the shape of x": str(tuple(P.shape)),
        "the number of components": str(P.n),
        "the dtype": np.dtype(P.dtype).name,
        "the regularizer": _text(P.r),
        "G": _chosen(P.G) if P.tunable else _convex(P),
        "eta": repr(float(P.eta)),
    }
    f = P.sum.facts().rows
    parts["the form"] = "G − H" if P.f is None else "f"
    if P.f is None and P.settled:
        parts["the shift"] = "fixed"
    if f is None:
        return parts | {"the sum": _text(P.sum)}
    return parts | _joined(f.each(data_of)) | {"the loss": _text(f.loss)}


def data_of(f: LinearSum) -> dict[str, str]:
    """The data of one part"""
    return {
        "how X is stored": _storage(f.a),
        "the values of X": _digest(f.a),
        "the labels": _digest(f.labels),
        "the sample weights": "None" if f.weights is None else _digest(f.weights),
    }


def _joined(parts: list[dict[str, str]]) -> dict[str, str]:
    """The data of all parts; it matters where the rows were cut, because that decides in which order sums are added."""
    if len(parts) == 1:
        return parts[0]
    said = {name: _digest(tuple(part[name] for part in parts)) for name in parts[0]}
    if all(part["the sample weights"] == "None" for part in parts):
        said["the sample weights"] = "None"
    ways = " and ".join(dict.fromkeys(part["how X is stored"] for part in parts))
    return said | {"how X is stored": f"{ways} in {len(parts)} parts"}


def _chosen(G: Any) -> str:
    return "f's curvature" if isinstance(G, LocalCurvature) else "chosen by the method"


def _convex(P: Problem) -> str:
    G = P.G
    if not isinstance(G, Quadratic | Diagonal) or G.made_of is None:
        return _text(G)
    of = "f" if G.made_of is P.f else _digest(G.made_of)
    return f"{type(G).__name__} of {of}" + (f", tau={G.tau!r}" if isinstance(G, Majorizer) else "")


def mismatch(then: Mapping[str, str], P: Problem) -> tuple[str, ...]:
    """The parts in which P differs from the problem of a file."""
    return differences(then, fingerprint(P))


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The differences, in words."""
    said = []
    for name in dict.fromkeys((*then, *now)):
        old, new = then.get(name, "absent"), now.get(name, "absent")
        if not _alike(old, new):
            shown = "sha256:" not in old + new
            said.append(f"{name}: {old} then, {new} now" if shown else f"{name} differ{'' if name[-1] == 's' else 's'}")
    return tuple(said)


def _alike(old: str, new: str) -> bool:
    """Whether two lines have the same words and numbers that differ by rounding only, as settings made from data do."""
    one, two = _NUMBER.split(old), _NUMBER.split(new)  # Every second part is a number.
    if one[::2] != two[::2]:
        return False
    return all(math.isclose(float(a), float(b), rel_tol=SAME) for a, b in zip(one[1::2], two[1::2], strict=True))


def _storage(rows: Any) -> str:
    inner = getattr(rows, "a", None)
    name = type(rows).__name__
    return name if inner is None or isinstance(inner, np.ndarray) else f"{name} of {_storage(inner)}"


def _text(value: Any) -> str:
    """The repr where it is short and says everything, otherwise the class and a digest."""
    said = repr(value) if is_dataclass(value) and _all_plain(value) else ""
    return said if 0 < len(said) <= _SHORT else f"{type(value).__name__} {_digest(value)}"


def _all_plain(value: Any) -> bool:
    if is_dataclass(value):
        return all(f.repr and _all_plain(getattr(value, f.name)) for f in _counting(value))
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_all_plain, value)))


def _counting(value: Any) -> list[Field[Any]]:
    """The fields that are compared. The others follow from these or from another part of the problem."""
    return [f for f in fields(value) if f.compare]


def _digest(value: Any) -> str:
    h = hashlib.sha256()
    _feed(h, value, 0)
    return "sha256:" + h.hexdigest()[:32]


def _feed(h: Any, value: Any, depth: int) -> None:
    """Settings and data, recursively. Functions count by name only: F at a point of the run is compared as well."""
    h.update(type(value).__name__.encode() + b"\0")
    if depth > _DEEP:
        return
    if isinstance(value, np.ndarray):
        _feed_array(h, value)
    elif isinstance(value, (*_PLAIN, np.generic, np.dtype, type)):
        h.update(repr(value).encode() + b"\0")
    elif isinstance(value, dict):
        _feed(h, tuple(value.items()), depth + 1)
    elif hasattr(value, "__dlpack__") and hasattr(value, "detach"):  # A tensor of PyTorch.
        _feed_array(h, value.detach().cpu().numpy())
    elif hasattr(value, "__dlpack__"):
        _feed_array(h, np.asarray(value))
    elif hasattr(value, "tocsr"):
        _feed(h, (value.indptr, value.indices, value.data, value.shape), depth + 1)
    elif isinstance(value, (tuple, list)):
        h.update(b"%d\0" % len(value))
        for v in value:
            _feed(h, v, depth + 1)
    elif is_dataclass(value):
        for f in _counting(value):
            _feed(h, (f.name, getattr(value, f.name)), depth + 1)
    elif callable(value) and hasattr(value, "__qualname__"):
        h.update(value.__qualname__.encode() + b"\0")
    else:  # Of the caller's own object, hash the public settings, and no logs or caches.
        for name, own in sorted(getattr(value, "__dict__", {}).items()):
            hidden = name.startswith("_") or isinstance(getattr(type(value), name, None), cached_property)
            if not hidden and not isinstance(own, (list, dict, set)):
                _feed(h, (name, own), depth + 1)


def _feed_array(h: Any, a: Array) -> None:
    """Shape, type and all bytes; integers as 64 bits, so that the width of an index does not matter."""
    dtype = np.dtype("<i8") if a.dtype.kind in "iu" else a.dtype.newbyteorder("<")
    h.update(f"{dtype.str}{a.shape}\0".encode())
    if a.dtype.kind == "O" or not a.size:
        h.update(repr(a.tolist()).encode())
        return
    rows = a.reshape(1) if a.ndim == 0 else a
    step = max(1, _BLOCK // max(1, math.prod(rows.shape[1:])))
    for start in range(0, len(rows), step):
        block = np.ascontiguousarray(rows[start : start + step], dtype)
        h.update(block.reshape(-1).view(np.uint8).data)
