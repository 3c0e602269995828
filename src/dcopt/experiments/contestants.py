"""The methods that take part: the registered ones, and controls without a theorem."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..errors import pick
from ..estimators import ESTIMATORS, SAGA
from ..method import Method
from ..methods import METHODS, as_method
from ..theory.compare import rate_of
from ..theory.formulas import ProblemConstants
from .batch_svrg import BatchSVRG


def _saga_sqrt(n: int) -> SAGA:
    return SAGA(b=math.isqrt(n - 1) + 1)


# Do the batches of theory have to be so large? SAGA with PAGE's, for which no theorem is known.
CONTROLS = {"mm-saga-sqrt": Method("mm-saga-sqrt", _saga_sqrt, says="SAGA, b = ⌈√N⌉")}
GENERAL_CONTROLS = {  # On problem (M); `general.contestant` says which G they have.
    "saga-sqrt": Method("saga-sqrt", _saga_sqrt, says="SAGA, b = ⌈√N⌉, with the G of dca-page"),
    "sdca-unshifted": replace(METHODS["sdca"], name="sdca-unshifted", says="SAG, b = N/10, with the G of dca"),
}
_SAMPLES: dict[str, Any] = ESTIMATORS | {"batch-svrg": BatchSVRG(1, 1, 1)}
KNOWN = METHODS | CONTROLS | GENERAL_CONTROLS


def method(name: str, variants: dict[str, dict[str, Any]]) -> Method:
    """A method by name, or a variant: an estimator with settings of its own."""
    if name in variants:
        settings = dict(variants[name])
        sample: Any = _SAMPLES[pick(f"variants.{name}: estimator", settings.pop("estimator", None), _SAMPLES)]
        for key in settings:
            pick(f"variants.{name}: key", key, sample.__dataclass_fields__)
        return replace(as_method(replace(sample, **settings)), name=name, says=_says(sample, settings))
    return KNOWN[pick("methods", name, KNOWN | variants)]


def step_cost(name: str, n: int) -> float:
    """The expected component gradients of a step of a known method with N = n."""
    return rate_of(KNOWN[name].estimator(n), ProblemConstants(float(n), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)).cost


def is_dca(name: str, n: int) -> bool:
    """Whether every step takes all N gradients: the loop of DCA-SVRG is one step long for a small N."""
    return step_cost(name, n) >= n and name not in ("sdca", "sdca-unshifted")


def _says(sample: Any, settings: dict[str, Any]) -> str:
    return f"{type(sample).__name__}, " + ", ".join(f"{k} = {v}" for k, v in settings.items())


def label(name: str) -> str:
    """As the paper prints it."""
    if name in CONTROLS:
        return "MM-SAGA, b = √N"
    if name in GENERAL_CONTROLS:
        return {"saga-sqrt": "SAGA, b = √N", "sdca-unshifted": "SDCA, not shifted"}[name]
    if name == "online-dca":
        return "Online DCA"
    return name.upper().replace("PAGE-", "PAGE, b = ").replace("SVRG-", "SVRG, b = ")
