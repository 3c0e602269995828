"""The derivative of a formula that was traced, as more lines of the same trace."""

from __future__ import annotations

from typing import Any

from .tracing import Lines, Traced, power


def derivative(out: Traced) -> Traced:
    """d out / dz, line by line in the order of the trace"""
    lines, f = out.lines, out.lines.apply
    slopes: list[Traced] = []
    for at in range(out.at + 1):
        op, *args = lines.lines[at]
        here = Traced(lines, at)
        slopes.append(_slope(f, lines, op, args, here, slopes))
    return slopes[out.at]


def _slope(f: Any, lines: Lines, op: str, args: list[Any], here: Traced, slopes: list[Traced]) -> Any:
    """The derivative of one line from those of the lines before it"""
    if op in ("z", "const", "lt", "le", "sign"):
        return lines.number(1.0 if op == "z" else 0.0)
    u = Traced(lines, args[0])
    du = slopes[args[0]]
    if op == "pow":
        return args[1] * power(u, args[1] - 1.0) * du
    if op in ("add", "sub", "mul", "div", "logaddexp"):
        v, dv = Traced(lines, args[1]), slopes[args[1]]
        if op == "logaddexp":
            return f("expit", u - v) * du + f("expit", v - u) * dv
        if op in ("add", "sub"):
            return f(op, du, dv)
        return du * v + u * dv if op == "mul" else (du - here * dv) / v
    if op == "where":
        a, b = slopes[args[1]], slopes[args[2]]
        return a if a.at == b.at else f("where", u, a, b)
    rules: dict[str, Any] = {  # The parts are written only where they are asked for.
        "neg": lambda: lines.number(-1.0),
        "abs": lambda: f("sign", u),
        "exp": lambda: here,
        "expm1": lambda: f("exp", u),
        "log": lambda: 1.0 / u,
        "log1p": lambda: 1.0 / (1.0 + u),
        "sqrt": lambda: 0.5 / here,
        "tanh": lambda: 4.0 * (f("expit", 2.0 * u) * f("expit", -2.0 * u)),  # 1 − tanh² cancels far out.
        "sin": lambda: f("cos", u),
        "cos": lambda: -f("sin", u),
        "arctan": lambda: 1.0 / (1.0 + u * u),
        "expit": lambda: here * f("expit", -u),  # 1 − σ cancels in the right tail.
    }
    return du * rules[op]()
