"""Losses and penalties as an estimator is given them, and get_params and set_params that reach into them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..errors import BadSettings, DcoptError, pick
from ..losses import LOSSES, Loss
from ..regularizers import REGULARIZERS, Regularizer

_KINDS: dict[str, tuple[type, Mapping[str, Any]]] = {"loss": (Loss, LOSSES), "penalty": (Regularizer, REGULARIZERS)}
_CALL = re.compile(r"\s*([\w-]+)\s*\((.*)\)\s*", re.S)
_SAMPLE = {"loss": "huber(c=2.0)", "penalty": "scad(a=3.0)"}
# Names that other libraries use, and the names here.
_ELSEWHERE = {
    "loss": {
        "log-loss": "'logistic'", "logloss": "'logistic'", "cross-entropy": "'logistic'", "deviance": "'logistic'",
        "binomial": "'logistic'", "multinomial": "'softmax'", "hinge": "dcopt.losses.SmoothedHinge()",
        "mse": "'squared'", "ls": "'squared'", "l2": "'squared'", "gaussian": "'squared'", "least-squares": "'squared'",
        "None": "'logistic' or 'squared'",
    },
    "penalty": {
        "lasso": "'l1'", "ridge": "'l2'", "enet": "'elastic-net'", "none": "'zero'", "None": "'zero' for no penalty",
        "group-lasso": "'l1' with groups=…", "grlasso": "'l1' with groups=…", "best-subset": "'l0(k=…)'",
        "trimmed-lasso": "'top-k(k=…)'",
    },
}  # fmt: skip
OTHER_NAMES = {  # Arguments of other libraries' estimators, and their names here.
    "max_iter": "max_passes=", "n_epochs": "max_passes=", "passes": "max_passes=", "alpha": "lam=", "lambda_": "lam=",
    "C": "lam=, which is 1 / (N C)", "regularizer": "penalty=", "method": "solver=", "seed": "random_state=",
    "alphas": "lams=", "Cs": "lams=", "n_alphas": "n_lams=", "normalize": "standardize=", "eps": "ratio=",
}  # fmt: skip


def part_of(kind: str, spec: Any) -> Any:
    """A loss or a penalty: an instance unchanged, a registered name, or a name with settings such as "scad(a=3)"."""
    base, known = _KINDS[kind]
    if isinstance(spec, base):
        return spec
    if isinstance(spec, type):
        inside = "lam=…" if kind == "penalty" else ""
        name = next((f" or {name!r}" for name, part in known.items() if type(part) is spec), "")
        raise BadSettings(kind, spec, f"an instance, not the class: {spec.__name__}({inside}){name}")
    call = _CALL.fullmatch(spec) if isinstance(spec, str) else None
    name = spec if call is None else call[1]
    advice = _ELSEWHERE[kind].get(str(name).lower().replace("_", "-") if isinstance(name, str) else str(name))
    if advice is not None:
        raise BadSettings(kind, spec, f"a known name or a {base.__name__}; write {advice}")
    sample = known[pick(kind, name, known, f"a {base.__name__}")]
    return sample if call is None else replace(sample, **_settings_in(kind, spec, sample, call[2]))


def own_lam(spec: Any) -> bool:
    """Whether a penalty has its own λ: an instance does; for a name the estimator chooses λ."""
    return isinstance(spec, Regularizer)


def _settings_in(kind: str, spec: str, sample: Any, inside: str) -> dict[str, Any]:
    """The settings in the brackets after a name."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        assert isinstance(call, ast.Call) and not call.args
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (AssertionError, SyntaxError, ValueError):
        raise BadSettings(kind, spec, f"settings with their names, as in {_SAMPLE[kind]!r}") from None
    if "lam" in given:
        raise BadSettings(kind, spec, f"no lam in the brackets: it is a setting of the estimator, lam={given['lam']!r}")
    for setting in given:
        pick(f"setting of {spec.split('(')[0]}", setting, [f.name for f in fields(sample) if f.name != "lam"])
    return given


def _spelled(name: str, part: Any, sample: Any) -> str:
    """The name with those settings of a part that differ from the registered ones."""
    differ = {key: value for key, value in _settings(part).items() if key != "lam" and value != getattr(sample, key)}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in differ.items())})" if differ else name


class WithParts:
    """`penalty__gamma`, `loss__c`: settings of a part, also of one that is given by its name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]  # beside BaseEstimator
        if deep:
            for kind in _KINDS:
                params |= {f"{kind}__{key}": value for key, value in _settings_of(kind, params.get(kind)).items()}
        return params

    def set_params(self, **params: Any) -> Any:
        plain, nested = {}, defaultdict[str, dict[str, Any]](dict)
        for key, value in params.items():
            kind, _, setting = key.partition("__")
            if kind in _KINDS and setting:
                nested[kind][setting] = value
            else:
                plain[key] = value
        super().set_params(**plain)  # type: ignore[misc]  # first: a part may come together with its settings
        for kind, settings in nested.items():
            setattr(self, kind, _changed(kind, getattr(self, kind), settings))
        return self


def _changed(kind: str, spec: Any, settings: dict[str, Any]) -> Any:
    """A part with other settings. A penalty given by name stays a name, unless the settings include λ."""
    part, known = part_of(kind, spec), _settings_of(kind, spec)
    for setting in settings:
        if setting not in known:
            raise BadSettings(f"{kind}__{setting}", settings[setting], f"one of {list(known)} for {part!r}")
    if kind != "penalty" or own_lam(spec):
        return replace(part, **settings)
    if settings.get("lam") is not None:
        return replace(part, **settings)
    name = spec.partition("(")[0].strip()
    changed = replace(part, **{key: value for key, value in settings.items() if key != "lam"})
    return _spelled(name, changed, REGULARIZERS[name])


def _settings_of(kind: str, spec: Any) -> dict[str, Any]:
    """The settings of a part; none if the value is invalid, because only `fit` refuses invalid values."""
    try:
        part = part_of(kind, spec)
    except (DcoptError, TypeError):
        return {}
    found = _settings(part)
    return found | {"lam": None} if kind == "penalty" and "lam" in found and not own_lam(spec) else found


def _settings(part: Any) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part) if field.init} if is_dataclass(part) else {}
