"""The methods that take part: the registered ones, and controls without a theorem."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..errors import pick
from ..estimators import ESTIMATORS, SAGA
from ..method import Method
from ..methods import METHODS, as_method

# Do the batches of theory have to be so large? SAGA with PAGE's, for which no theorem is known.
CONTROLS = {"mm-saga-sqrt": Method("mm-saga-sqrt", lambda n: SAGA(b=math.isqrt(n - 1) + 1), says="SAGA, b = ⌈√N⌉")}
KNOWN = METHODS | CONTROLS


def method(name: str, variants: dict[str, dict[str, Any]]) -> Method:
    """A method by name, or a variant: an estimator with settings of its own."""
    if name in variants:
        settings = dict(variants[name])
        sample: Any = ESTIMATORS[pick(f"variants.{name}: estimator", settings.pop("estimator", None), ESTIMATORS)]
        for key in settings:
            pick(f"variants.{name}: key", key, sample.__dataclass_fields__)
        return replace(as_method(replace(sample, **settings)), name=name, says=_says(sample, settings))
    return KNOWN[pick("methods", name, KNOWN | variants)]


def _says(sample: Any, settings: dict[str, Any]) -> str:
    return f"{type(sample).__name__}, " + ", ".join(f"{k} = {v}" for k, v in settings.items())


def label(name: str) -> str:
    """As the paper prints it."""
    if name in CONTROLS:
        return "MM-SAGA, b = √N"
    return name.upper().replace("PAGE-", "PAGE, b = ").replace("ONLINE-DCA", "Online DCA")
