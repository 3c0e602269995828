"""`dcopt plan`: the theorems for a data file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..datasets.parsed import scaled_rows
from ..datasets.tables import Columns
from ..errors import BadSettings, pick
from ..problems.erm import erm
from ..regularizers import REGULARIZERS, Regularizer
from ..sums import Parted
from ..theory.plan import Plan, plan
from .names import settings_of
from .sources import data_of
from .terminal import Terminal

NUMBERS = (
    "mode setting measure eps b_small p gamma kappa eta tau omega floor a T D0 gradients paper_gradients bytes output"
).split()


def explain(
    terminal: Terminal,
    data: str,
    wanted: Columns,
    loss: str,
    penalty: str,
    settings: list[str],
    normalize: bool,
    compare: bool,
    decomposition: str,
    **asked: Any,
) -> None:
    """The plan as prose, with the comparison of all methods behind it if asked; as JSON, its numbers."""
    found, r = data_of(data, wanted, terminal.note), regularizer_with(penalty, settings)
    in_parts = isinstance(found.X, Parted)
    if in_parts and normalize:
        raise BadSettings("normalize", True, "no --normalize: the rows of shards are as they were packed")
    X = scaled_rows(found.X) if normalize else found.X
    chosen = plan(erm(X, None if in_parts else found.y, loss, r, decomposition=decomposition), **asked)
    table = chosen.compare() if compare else None
    numbers = {"data": data, "loss": loss, "penalty": repr(r), "decomposition": decomposition} | numbers_of(chosen)
    if table is not None:
        numbers["compare"] = {"cheapest": table.cheapest.method, "rows": table.rows}
    terminal.result(numbers, str(chosen), *([] if table is None else ["", str(table)]))


def numbers_of(p: Plan) -> dict[str, Any]:
    """What the paragraph says, by name; b is a number also where it is all N."""
    numbers = {"n": p.P.n, "shape": p.P.shape} | {name: getattr(p, name) for name in NUMBERS} | {"b": p.batch}
    passes = None if p.P.n is None else p.gradients / p.P.n
    return numbers | {
        "passes": passes,
        "violated": p.violated,
        "uncertified": p.uncertified,
        "conditions": p.conditions,
        "constants": p.constants,
        "remarks": p.remarks,
    }


def regularizer_with(name: str, settings: list[str]) -> Regularizer:
    """A registered regularizer with `key=value` settings put over those of its sample instance."""
    r: Any = REGULARIZERS[pick("penalty", name, REGULARIZERS)]
    changes: dict[str, Any] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        pick(f"setting of {name}", key, settings_of(r))
        changes[key] = value if key == "groups" else number(key, value)
    result: Regularizer = replace(r, **changes)
    return result


def number(key: str, text: str, option: str = "--set {}=0.01") -> int | float:
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise BadSettings(key, text, f"a number, as in {option.format(key)}") from None
