"""A formula of one number, written down from a Python function.

The function is called once with a `Traced` number, which notes every operation as a line of a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..xp import Functions
from .evaluate import OPERATIONS, Program

Line: TypeAlias = tuple[Any, ...]

# Names of functions in NumPy, SciPy and PyTorch, and the operations that they are.
_SAME = {
    "add": "add", "subtract": "sub", "sub": "sub", "multiply": "mul", "mul": "mul", "divide": "div", "div": "div",
    "true_divide": "div", "negative": "neg", "neg": "neg", "absolute": "abs", "abs": "abs", "fabs": "abs",
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "tanh": "tanh", "sin": "sin",
    "cos": "cos", "arctan": "arctan", "atan": "arctan", "expit": "expit", "sigmoid": "expit", "sign": "sign",
    "logaddexp": "logaddexp", "less": "lt", "lt": "lt", "less_equal": "le", "le": "le",
}  # fmt: skip
_SWALLOW = {"where", "sign", "lt", "le"}  # Operations from which no NaN comes out where one went in.


class NotTraceable(TypeError):
    """A function does something with its argument that is no formula of one number."""


class Lines:
    """The lines of one trace; a line that is there already is not written again."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._where: dict[Line, int] = {}
        self.z = Traced(self, self.put("z"))

    def put(self, *line: Any) -> int:
        if line not in self._where:
            self._where[line] = len(self.lines)
            self.lines.append(line)
        return self._where[line]

    def number(self, value: Any) -> Traced:
        if isinstance(value, Traced):
            return value
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
            raise NotTraceable(f"{type(value).__name__} in a formula of one number")
        return Traced(self, self.put("const", float(value)))

    def constant(self, at: int) -> float | None:
        line = self.lines[at]
        return line[1] if line[0] == "const" else None

    def apply(self, op: str, *args: Any) -> Traced:
        """The line of an operation, with what is known of 0, 1 and constants"""
        ids = [self.number(a).at for a in args]
        known = [self.constant(i) for i in ids]
        if op not in ("where", "lt", "le") and all(k is not None for k in known):
            with np.errstate(all="ignore"):
                return self.number(float(OPERATIONS[op](*(np.float64(k) for k in known))))
        zero, one = ([k == c for k in known] for c in (0.0, 1.0))
        if (op == "add" and zero[0]) or (op == "mul" and one[0]):
            return Traced(self, ids[1])
        if (op in ("add", "sub") and zero[1]) or (op in ("mul", "div") and one[1]):
            return Traced(self, ids[0])
        if op == "mul" and -1.0 in known:
            return self.apply("neg", args[known.index(-1.0) - 1])
        if op == "neg" and self.lines[ids[0]][0] == "neg":
            return Traced(self, self.lines[ids[0]][1])
        if (op == "mul" and any(zero)) or (op == "div" and zero[0]):
            return self.number(0.0)
        return Traced(self, self.put(op, *(sorted(ids) if op in ("add", "mul") else ids)))

    def program(self, out: Traced) -> Program:
        """The lines that `out` needs, as a program that gives NaN for NaN"""
        end = out.at
        needed, left = {end}, [end]
        while left:
            for i in _arguments(self.lines[left.pop()]):
                if i not in needed:
                    needed.add(i)
                    left.append(i)
        needed.add(0)  # z itself
        order = {old: new for new, old in enumerate(sorted(needed))}
        lines = [_renamed(self.lines[old], order) for old in sorted(needed)]
        swallows = any(line[0] in _SWALLOW for line in lines) or lines[order[end]][0] == "const"
        if swallows or order[end] != len(lines) - 1:  # + 0 z
            k = len(lines)
            lines += [("const", 0.0), ("mul", k, 0), ("add", order[end], k + 1)]
        return tuple(lines)


def _arguments(line: Line) -> tuple[int, ...]:
    return () if line[0] in ("z", "const") else line[1:2] if line[0] == "pow" else line[1:]


def _renamed(line: Line, order: dict[int, int]) -> Line:
    if line[0] in ("z", "const"):
        return line
    return (line[0], *(order[i] for i in _arguments(line)), *(line[2:] if line[0] == "pow" else ()))


def _operator(op: str, swapped: bool = False) -> Callable[[Traced, Any], Traced]:
    """The method for an operator; `swapped`: the number is on its right."""
    return lambda a, b: a.lines.apply(op, b, a) if swapped else a.lines.apply(op, a, b)


class Traced:
    """A number of which only the way it was computed is known."""

    functions: ClassVar[Functions]

    def __init__(self, lines: Lines, at: int) -> None:
        self.lines, self.at = lines, at

    def __repr__(self) -> str:
        return f"the number {self.at} of a formula"

    def __bool__(self) -> bool:
        raise NotTraceable("an if on the argument: use where(condition, a, b)")

    def __float__(self) -> float:
        raise NotTraceable("float() of the argument, or a function of the module math: use those of NumPy")

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("div"), _operator("div", swapped=True)
    __lt__, __gt__ = _operator("lt"), _operator("lt", swapped=True)
    __le__, __ge__ = _operator("le"), _operator("le", swapped=True)

    def __neg__(self) -> Traced:
        return self.lines.apply("neg", self)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        return self.lines.apply("abs", self)

    def __pow__(self, to: Any) -> Traced:
        return power(self, to)

    # ---- functions of other libraries

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **more: Any) -> Any:
        if method != "__call__" or more:
            raise NotTraceable(f"numpy.{ufunc.__name__}.{method} with {', '.join(more) or 'no settings'}")
        return call(ufunc.__name__, *args)

    def __array_function__(self, function: Any, types: Any, args: Any, more: Any) -> Traced:
        return call(function.__name__, *args, **more)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), more: Any = None) -> Any:
        return call(function.__name__, *args, **(more or {}))



class _Namespace(Functions):
    """The functions of an array namespace, for formulas that ask the argument for it"""

    def __getattr__(self, name: str) -> Callable[..., Traced]:
        return lambda *args, **more: call(name, *args, **more)


Traced.functions = _Namespace()


def power(z: Traced, to: Any) -> Traced:
    """z to a fixed power"""
    if isinstance(to, bool) or not isinstance(to, (int, float, np.number)):
        raise NotTraceable("a power that is not a fixed number")
    p = float(to)
    if p in (2.0, 3.0, 4.0):
        square = z * z
        return square if p == 2.0 else square * z if p == 3.0 else square * square
    if p in (0.0, 1.0):
        return z if p else z.lines.number(1.0)
    if p == 0.5:
        return z.lines.apply("sqrt", z)
    return Traced(z.lines, z.lines.put("pow", z.at, p))


def call(name: str, *args: Any, **more: Any) -> Traced:
    """The function of this name, of NumPy, SciPy, PyTorch or the array standard"""
    lines = next(a.lines for a in args if isinstance(a, Traced))
    f = lines.apply
    if more and name not in ("clip", "clamp"):
        raise NotTraceable(f"{name} with {', '.join(more)}")
    if name in _SAME:
        return f(_SAME[name], *args)
    if name in ("power", "pow", "float_power"):
        return power(lines.number(args[0]), args[1])
    if name == "square":
        z = lines.number(args[0])
        return z * z
    if name in ("greater", "gt", "greater_equal", "ge"):
        return f("lt" if name[-1] in "rt" else "le", args[1], args[0])
    if name == "where":
        return f("where", *args)
    if name in ("minimum", "fmin"):
        return f("where", f("lt", *args), *args)
    if name in ("maximum", "fmax"):
        return f("where", f("lt", args[1], args[0]), *args)
    if name in ("clip", "clamp"):
        names = ("min", "max") if name == "clamp" else ("a_min", "a_max")
        limits = [*args[1:], *(more[k] for k in (*names, "min", "max") if k in more)]
        low, high = limits if len(limits) == 2 else (None, None)
        if low is None or high is None:
            raise NotTraceable(f"{name} without two limits")
        return call("minimum", call("maximum", args[0], low), high)
    if name == "relu":
        return call("maximum", args[0], 0.0)
    if name == "softplus" and len(args) == 1:
        return f("logaddexp", 0.0, args[0])
    if name in ("log_sigmoid", "logsigmoid"):
        return -f("logaddexp", 0.0, -lines.number(args[0]))
    if name in ("zeros_like", "ones_like"):
        return lines.number(float(name == "ones_like"))
    raise NotTraceable(f"the function {name}, which is not known here")
