"""`dcopt plan`: the theorems for a data file."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..data.datasets import BUNDLED, LIBSVM, load_dataset, load_libsvm
from ..errors import BadSettings, pick
from ..plan import plan
from ..problem import erm
from ..regularizers import REGULARIZERS, Regularizer


def explain(
    data: str, loss: str, penalty: str, settings: list[str], normalize: bool, compare: bool, **asked: Any
) -> str:
    """The plan as prose, with the comparison of all methods behind it if asked."""
    known = data in LIBSVM or data in BUNDLED
    X, y = load_dataset(data, normalize=normalize) if known else load_libsvm(Path(data), normalize=normalize)
    chosen = plan(erm(X, y, loss, regularizer_with(penalty, settings)), **asked)
    return f"{chosen}\n\n{chosen.compare()}" if compare else str(chosen)


def regularizer_with(name: str, settings: list[str]) -> Regularizer:
    """A registered regularizer with `key=value` settings put over those of its sample instance."""
    r: Any = REGULARIZERS[pick("penalty", name, REGULARIZERS)]
    own = {f.name for f in fields(r)} - {"groups", "weights"}
    changes: dict[str, Any] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        if key == "groups":
            changes[key] = value
            continue
        pick(f"setting of {name}", key, own)
        try:
            changes[key] = int(value) if value.lstrip("+-").isdigit() else float(value)
        except ValueError:
            raise BadSettings(key, value, "a number, as in --set lam=0.01") from None
    result: Regularizer = replace(r, **changes)
    return result
