"""Components as registry names and settings. A file holds the name; only the registries map it to code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..errors import BadSettings, DcoptError, pick
from ..estimators import ESTIMATORS
from ..losses import LOSSES
from ..methods import METHODS
from ..regularizers import REGULARIZERS
from ..subproblems import SUBPROBLEMS
from ..xp import Array

REGISTRIES: dict[str, Mapping[str, Any]] = {
    "loss": LOSSES,
    "regularizer": REGULARIZERS,
    "estimator": ESTIMATORS,
    "method": METHODS,
    "subsolver": SUBPROBLEMS,
}


def describe(kind: str, component: Any, arrays: dict[str, Array], at: str = "") -> dict[str, Any]:
    """{"kind", "name", "settings"}: plain values; lists of numbers (weights, groups, bounds) go into `arrays`.

    `at` is the prefix of the names of the arrays. A component that is not registered cannot be described: BadSettings.
    """
    registry = REGISTRIES[pick("kind", kind, REGISTRIES)]
    if kind == "method":  # Methods hold functions, so that only the registered object itself can be named.
        name = next((name for name, known in registry.items() if known is component), None)
        settings: dict[str, Any] = {}
    else:
        name = next((name for name, known in registry.items() if type(known) is type(component)), None)
        settings = {} if name is None else _settings(component)
    if name is None:
        expected = f"a registered {kind} ({', '.join(registry)}): a file holds names, not code"
        raise BadSettings(kind, component, expected)
    prefix = at or kind
    return {
        "kind": kind,
        "name": name,
        "settings": {key: _pack(value, f"{prefix}.{key}", arrays) for key, value in settings.items()},
    }


def rebuild(said: Any, kind: str, arrays: Mapping[str, Array]) -> Any:
    """The component from the registry, checked by its constructor; ValueError if `said` does not describe one."""
    if not isinstance(said, dict) or said.keys() != {"kind", "name", "settings"} or said["kind"] != kind:
        raise ValueError(f"expected a description of a {kind}")
    name, settings = said["name"], said["settings"]
    known = REGISTRIES[kind].get(name) if isinstance(name, str) else None
    if known is None:
        raise ValueError(f"{str(name)[:40]!r} is not a {kind} of this version")
    if kind == "method" and settings == {}:
        return known
    if not isinstance(settings, dict) or not settings.keys() <= _settings(known).keys():
        raise ValueError(f"the settings of {kind} {name!r} are not those of this version")
    try:
        return type(known)(**{key: _unpack(value, arrays) for key, value in settings.items()})
    except (DcoptError, KeyError, TypeError) as why:
        raise ValueError(f"{kind} {name!r}: {why}") from None


def _settings(component: Any) -> dict[str, Any]:
    if not is_dataclass(component):
        return {}
    return {f.name: getattr(component, f.name) for f in fields(component) if f.init}


def _pack(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list, np.ndarray)):
        try:
            a = np.asarray(value)
        except ValueError:  # Groups of different lengths are stored one after the other, with their lengths.
            arrays[name] = np.array([v for part in value for v in part])
            arrays[name + ".sizes"] = np.array([len(part) for part in value])
            return {"parts": name}
        if a.dtype.kind in "iuf":
            arrays[name] = a
            return {"array": name}
    raise BadSettings(name, value, "a number, a string or a list of numbers, which a file can hold")


def _unpack(value: Any, arrays: Mapping[str, Array]) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array"}:
        return arrays[value["array"]].tolist()
    if value.keys() == {"parts"}:
        flat, sizes = arrays[value["parts"]], arrays[value["parts"] + ".sizes"]
        whole = flat.ndim == sizes.ndim == 1 and sizes.dtype.kind == "i" and (sizes >= 0).all()
        if not (whole and sizes.sum() == flat.size):
            raise ValueError("the groups and their lengths are inconsistent")
        return [part.tolist() for part in np.split(flat, np.cumsum(sizes)[:-1])]
    raise ValueError("a setting is not a plain value")
