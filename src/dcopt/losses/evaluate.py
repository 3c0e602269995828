"""Programs: formulas of one number as plain data, and their values on arrays.

A program is a tuple of lines (operation, arguments); an argument is the number of an earlier line. The last line is the
result. `data/kernels/programs.py` compiles the same lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..xp import Array, namespace
from .base import absolute, exp, expit, expm1, log1p

Program: TypeAlias = tuple[tuple[Any, ...], ...]

OPERATIONS: dict[str, Callable[..., Array]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": lambda a: -a, "abs": absolute, "exp": exp, "expm1": expm1, "log1p": log1p, "expit": expit,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "logaddexp": lambda a, b: _logaddexp(a, b),
    "arctan": lambda a: namespace(a).atan(a),
    "where": lambda c, a, b: namespace(c).where(c, a, b),
}  # fmt: skip
for _name in ("log", "sqrt", "tanh", "sin", "cos", "sign"):
    OPERATIONS[_name] = lambda a, name=_name: getattr(namespace(a), name)(a)


def _logaddexp(a: Array, b: Array) -> Array:
    """log(eᵃ + eᵇ); NumPy's own warns of NaN"""
    return namespace(a if hasattr(a, "shape") else b).maximum(a, b) + log1p(exp(-absolute(a - b)))


def evaluate(program: Program, z: Array) -> Array:
    """The program at every entry of an array, in its type"""
    seen: list[Any] = []
    for op, *args in program:
        if op == "z":
            seen.append(z)
        elif op == "const":
            seen.append(args[0])
        elif op == "pow":
            seen.append(seen[args[0]] ** args[1])
        else:
            seen.append(OPERATIONS[op](*(seen[i] for i in args)))
    return namespace(z).astype(seen[-1], z.dtype, copy=False)
