"""get_params and set_params that reach into a loss and a penalty, which are frozen: another one takes their place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..errors import BadSettings, DcoptError
from ..losses import loss as as_loss
from ..regularizers import regularizer as as_regularizer

PARTS: dict[str, Callable[[Any], Any]] = {"loss": as_loss, "penalty": as_regularizer}


class WithParts:
    """`penalty__gamma`, `loss__c`: settings of a part, also of one that is given by its name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]  # beside BaseEstimator
        if deep:
            for name in PARTS:
                params |= {f"{name}__{key}": value for key, value in _settings(name, params.get(name)).items()}
        return params

    def set_params(self, **params: Any) -> Any:
        plain, nested = {}, defaultdict[str, dict[str, Any]](dict)
        for key, value in params.items():
            name, _, setting = key.partition("__")
            if name in PARTS and setting:
                nested[name][setting] = value
            else:
                plain[key] = value
        super().set_params(**plain)  # type: ignore[misc]  # first: a part may come together with its settings
        for name, settings in nested.items():
            part = PARTS[name](getattr(self, name))
            known = list(_settings(name, part))
            for setting in settings:
                if setting not in known:
                    raise BadSettings(f"{name}__{setting}", settings[setting], f"one of {known} for {part!r}")
            setattr(self, name, replace(part, **settings))
        return self


def _settings(name: str, spec: Any) -> dict[str, Any]:
    """The settings of a part; none of something that is no part: nothing is refused before fit."""
    try:
        part = PARTS[name](spec)
    except (DcoptError, TypeError):
        return {}
    if not is_dataclass(part):
        return {}
    return {field.name: getattr(part, field.name) for field in fields(part) if field.init}
