"""Formulas that were traced (losses/evaluate.py), as functions of one number that compiled loops may call.

A program becomes machine code line by line, without text in between. All lines are computed in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from . import elementary
from .compiler import numba

_LOG2 = math.log(2.0)


@cache
def _functions() -> dict[str, Callable[..., Any]]:
    """The operations that are no single instruction"""
    inline = numba.njit(forceinline=True, error_model="numpy")
    exp, log1p_above_0 = inline(elementary.exp), inline(elementary.log1p)

    def log1p(z: float) -> Any:
        return log1p_above_0(z) if z >= 0.0 else math.log1p(z)

    def expit(z: float) -> Any:
        e = exp(-abs(z))
        return (e if z < 0.0 else 1.0) / (1.0 + e)

    def logaddexp(a: float, b: float) -> Any:
        return (a if a > b else b) + (log1p_above_0(exp(-abs(a - b))) if a != b else _LOG2)  # ∞ − ∞ is no number.

    def sign(z: float) -> float:
        return 1.0 if z > 0.0 else -1.0 if z < 0.0 else z

    return {
        "exp": elementary.exp, "expm1": lambda z: math.expm1(z), "log": lambda z: math.log(z), "log1p": log1p,
        "sqrt": lambda z: math.sqrt(z), "tanh": lambda z: math.tanh(z), "sin": lambda z: math.sin(z),
        "cos": lambda z: math.cos(z), "arctan": lambda z: math.atan(z), "expit": expit, "logaddexp": logaddexp,
        "abs": lambda z: abs(z), "sign": sign, "pow": lambda z, p: math.pow(z, p),
    }  # fmt: skip


@cache
def function_of(program: tuple[tuple[Any, ...], ...]) -> Any:
    """z ↦ the program's result, for functions that Numba compiles"""
    types, double = numba.core.types, numba.core.types.float64
    emit = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}

    def lines(typing: Any, z: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            def constant(value: float) -> Any:
                return context.get_constant(double, value)

            seen: list[Any] = []
            for op, *args in program:
                if op == "z":
                    seen.append(context.cast(builder, given[0], signature.args[0], double))
                elif op == "const":
                    seen.append(constant(args[0]))
                elif op in emit:
                    seen.append(getattr(builder, emit[op])(seen[args[0]], seen[args[1]]))
                elif op == "neg":
                    seen.append(builder.fneg(seen[args[0]]))
                elif op in ("lt", "le"):
                    seen.append(builder.fcmp_ordered("<" if op == "lt" else "<=", seen[args[0]], seen[args[1]]))
                elif op == "where":
                    seen.append(builder.select(seen[args[0]], seen[args[1]], seen[args[2]]))
                else:
                    own = [constant(args[1])] if op == "pow" else [seen[i] for i in args[1:]]
                    numbers = [seen[args[0]], *own]
                    seen.append(_call(context, builder, _functions()[op], double(*(double for _ in numbers)), numbers))
            return seen[-1]

        return (double(z), code) if isinstance(z, types.Float) else None

    return numba.extending.intrinsic(lines)


def _call(context: Any, builder: Any, function: Callable[..., Any], kind: Any, numbers: list[Any]) -> Any:
    """A call that is always inlined: without inlining, loops are not vectorised."""
    flags = numba.core.targetconfig.ConfigStack().top().copy()
    flags.forceinline = True
    made = context.compile_subroutine(builder, function, kind, flags=flags)
    return context.call_internal(builder, made.fndesc, kind, numbers)
