"""The page of policies lists the numbers of the local method as they are in the code."""

from __future__ import annotations

import importlib
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dcopt.adaptive import Adaptive
from dcopt.local import Accuracy, Descent, Escape, Ridge, WorkingSet, costs

PAGE = (Path(__file__).parents[2] / "docs/policies.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| [^-n]", line)]
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PARTS = {"⅛": 0.125, "½": 0.5, "¼": 0.25}


def numbers(cell: str) -> set[float]:
    """Those of a cell such as "0.05", "1/16, 1/4", "10⁻³", "⅛ of all" """
    found = {value for sign, value in _PARTS.items() if sign in cell}
    for base, power in re.findall(r"(\d+(?:[./]\d+)?)([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*)", cell):
        found.add(float(Fraction(base) ** int(power.translate(_RAISED) or 1)))
    return found


def names(cell: str) -> list[tuple[str, str]]:
    """(module, name in it) for `policy.Escape.near`, `far`; files and functions have no number"""
    found: list[tuple[str, str]] = []
    for name in re.findall(r"`([\w/.]+)`", cell):
        if name.endswith(".py"):
            continue
        module, dot, rest = name.partition(".")
        if not dot:  # as the one before it, but for the last word
            module, before = found[-1]
            rest = ".".join([*before.split(".")[:-1], name])
        found.append((module, rest))
    return found


def value_of(module: str, name: str) -> Any:
    path = module.replace("/", ".")
    rooms = ("dcopt.local.", "dcopt.") if "/" not in module or module.startswith("models") else ("dcopt.",)
    for room in rooms:
        try:
            found: Any = importlib.import_module(room + path)
        except ModuleNotFoundError:
            continue
        for part in name.split("."):
            found = getattr(found, part)
        return found
    raise AssertionError(f"no module {module}")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:50])
def test_a_number_on_the_page_is_that_of_the_code(row: list[str]) -> None:
    shown = numbers(row[0])
    for module, name in names(row[1]):
        value = value_of(module, name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float):
                assert any(abs(number - one) <= 1e-12 * abs(number) for one in shown), (name, number, row[0])


def test_the_page_has_every_policy_and_every_threshold() -> None:
    listed = {name for row in ROWS for _, name in names(row[1])}
    for policy in (Accuracy, Descent, Escape, Ridge, WorkingSet, Adaptive):
        for field in fields(policy):
            if field.default is not None and not isinstance(field.default, bool):
                assert f"{policy.__name__}.{field.name}" in listed
    assert {name for name in vars(costs) if re.fullmatch(r"[A-Z_]+", name)} <= listed
