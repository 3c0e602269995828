"""A law is a function of a component that raises LawBroken; `dcopt.check` runs those that apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Law: TypeAlias = Callable[[Any], None]


class LawBroken(AssertionError):
    """A component breaks a law: says which, and where it was seen."""


def demand(ok: bool, detail: str) -> None:
    """Raise LawBroken(detail) unless ok. Write `ok` so that NaN makes it False."""
    if not ok:
        raise LawBroken(detail)


def run(laws: Mapping[str, Law], component: object) -> list[str]:
    """Run all laws, then report every broken one in a single LawBroken; the names of the laws kept otherwise."""
    broken = []
    for name, law in laws.items():
        try:
            law(component)
        except LawBroken as why:
            broken.append(f"{name}: {why}")
    if broken:
        raise LawBroken(f"{type(component).__name__} breaks " + "; ".join(broken))
    return list(laws)
