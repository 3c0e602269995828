"""A loss of the user's own: ϕ as a Python function, with ϕ′ and ϕ″ given or derived from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..errors import BadInput, BadSettings, pick, require, require_number
from ..xp import Array
from .base import Loss, Margin, Residual
from .differentiate import derivative
from .evaluate import Program, evaluate
from .tracing import Lines, NotTraceable, Traced

_FAR, _NEAR = 1e6, 1e-8  # The largest and the least |z| at which ϕ″ is looked at, beside 0.
_POINTS = 4001  # Points of the grid on each side of 0, and as many in [−20, 20], where losses bend.
_CLOSER = 60  # Steps of the golden section from a point of the grid; each shortens the interval to 0.618.
_GROWS = 1.01  # ϕ″ that grows by more than this factor over the last decade of the grid has no known bound.


@dataclass(frozen=True)
class Formulas:
    """ϕ, ϕ′ and ϕ″ as programs where they could be traced, as the user's functions elsewhere."""

    programs: tuple[Program | None, Program | None, Program | None]
    functions: tuple[Callable[..., Any] | None, ...] = field(compare=False, repr=False)

    def at(self, order: int, z: Array) -> Array:
        program = self.programs[order]
        if program is not None:
            return evaluate(program, z)
        function = self.functions[order]
        assert function is not None  # `_formulas` has derived or refused what is missing.
        return function(z)

    @property
    def compilable(self) -> bool:
        return self.programs[0] is not None and self.programs[1] is not None


class _Own:
    """What both kinds share"""

    formulas: Formulas
    range: tuple[float, float]
    estimated: bool

    @property
    def curvature(self) -> tuple[float, float]:
        return self.range

    def phi(self, z: Array) -> Array:
        return self.formulas.at(0, z)

    def dphi(self, z: Array) -> Array:
        return self.formulas.at(1, z)

    def ddphi(self, z: Array) -> Array:
        return self.formulas.at(2, z)

    @property
    def remark(self) -> str:
        low, high = self.range
        return f"the curvature of the loss, [{low:.4g}, {high:.4g}], was estimated on a grid" if self.estimated else ""


@dataclass(frozen=True, repr=False)
class MarginFunction(_Own, Margin):
    """ϕ(m), m = label · z, from a function of the user's"""

    formulas: Formulas = None  # type: ignore[assignment]  # `from_function` gives it
    range: tuple[float, float] = (-math.inf, math.inf)
    estimated: bool = False
    lower: float | None = None

    def __repr__(self) -> str:
        return _described("margin", self)


@dataclass(frozen=True, repr=False)
class ResidualFunction(_Own, Residual):
    """c² ϕ((z − label)/c) from a function of the user's"""

    formulas: Formulas = None  # type: ignore[assignment]  # as above
    range: tuple[float, float] = (-math.inf, math.inf)
    estimated: bool = False
    lower: float | None = None

    def __repr__(self) -> str:
        return _described("residual", self)


def _described(kind: str, loss: Any) -> str:
    low, high = loss.range
    return f"a loss of the {kind} from a function, curvature [{low:.6g}, {high:.6g}]"


def from_function(
    phi: Callable[[Any], Any],
    dphi: Callable[[Any], Any] | None = None,
    ddphi: Callable[[Any], Any] | None = None,
    *,
    kind: Literal["residual", "margin"] = "residual",
    curvature: tuple[float, float] | None = None,
    lower: float | None = None,
    c: float = 1.0,
) -> Loss:
    """The loss ϕ(m), m = label · z (kind="margin"), or c² ϕ(e), e = (z − label)/c (kind="residual").

    Parameters
    ----------
    phi : a function of one number, written with arithmetic and functions of NumPy, scipy.special.expit, PyTorch or
        dcopt.losses.base; `where` in place of `if`. It is called once, with an object that notes its formula: ϕ′ and
        ϕ″ follow by the rules of differentiation, and the formulas are compiled with the rows of sparse data
    dphi, ddphi : ϕ′ and ϕ″, if they are not to be derived. All three must be given where phi is no such formula
    curvature : (inf ϕ″, sup ϕ″). By default estimated on a grid over |z| ≤ 1e6, which results say; refused where ϕ″
        grows to the end of the grid. A ϕ′ that jumps is refused, too
    lower : a number below ϕ, for plans
    c : the scale of a residual

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> loss = dcopt.losses.from_function(lambda m: np.logaddexp(0.0, -m), kind="margin", lower=0.0)
    >>> tuple(round(float(v), 6) for v in loss.curvature)
    (0.0, 0.25)
    """
    pick("kind", kind, ("residual", "margin"))
    for name, function in (("phi", phi), ("dphi", dphi), ("ddphi", ddphi)):
        require(callable(function) or (function is None and name != "phi"), name, function, "a function of one number")
    if lower is not None:
        require_number("lower", lower, -math.inf)
    formulas = _formulas(phi, dphi, ddphi)
    estimated = curvature is None
    range_ = _estimated(formulas) if curvature is None else _given(curvature)
    _refuse_jumps(formulas, curvature, range_)
    if kind == "margin":
        require(c == 1.0, "c", c, "1 for a loss of the margin")
        return MarginFunction(formulas, range_, estimated, lower)
    return ResidualFunction(float(c), formulas, range_, estimated, lower)


def _formulas(phi: Any, dphi: Any, ddphi: Any) -> Formulas:
    """The three formulas: what is given is traced, what is not is derived from the one before it."""
    functions, programs, last = (phi, dphi, ddphi), [], None
    for order, function in enumerate(functions):
        name = ("phi", "dphi", "ddphi")[order]
        if function is not None:
            last, why = _traced(function)
        elif last is not None:
            last = derivative(last)
        else:
            said = f"no formula from which {name} can be derived ({why})"
            raise BadSettings(name, None, f"a function here: {('phi', 'phi', 'dphi')[order]} is {said}")
        programs.append(None if last is None else last.lines.program(last))
    for name, function, program in zip(("phi", "dphi", "ddphi"), functions, programs, strict=True):
        if program is None:
            _refuse_other_shapes(name, function)
    return Formulas(tuple(programs), functions)  # type: ignore[arg-type]  # three of them


def _traced(function: Any) -> tuple[Traced | None, str]:
    """The formula of a function; or None, and why there is none."""
    lines = Lines()
    try:
        out = function(lines.z)
        return lines.number(out), ""
    except NotTraceable as why:
        return None, str(why)
    except ImportError as why:
        raise BadInput("phi", f"needs {why.name}, which is not installed") from why
    except Exception as why:
        return None, f"{type(why).__name__}: {' '.join(str(why).split())[:200]}"


def _refuse_other_shapes(name: str, function: Any) -> None:
    z = np.linspace(-1.0, 1.0, 5)
    try:
        out = function(z.copy())
    except Exception as why:
        raise BadInput(name, f"raised {type(why).__name__} for an array of 5 numbers: {why}") from why
    if getattr(out, "shape", None) != z.shape or not isinstance(out, np.ndarray) or out.dtype != z.dtype:
        shape, dtype = getattr(out, "shape", None), getattr(out, "dtype", None)
        raise BadInput(name, f"returned shape {shape} and dtype {dtype} for 5 numbers: expected 5 float64 numbers")


def _given(curvature: Any) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in curvature)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    require(low <= high, "curvature", curvature, "a pair (inf ϕ″, sup ϕ″)")
    return low, high


def _estimated(formulas: Formulas) -> tuple[float, float]:
    """(inf ϕ″, sup ϕ″) over |z| ≤ 1e6: the extremes on a grid, each found closer by the golden section."""
    grid = _grid()
    with np.errstate(all="ignore"):
        bend = formulas.at(2, grid)
        if (bad := np.flatnonzero(~np.isfinite(bend))).size:
            said = f"ϕ″ is {bend[bad[0]]} at {grid[bad[0]]:.3g}"
            raise BadSettings("curvature", None, f"a pair (inf ϕ″, sup ϕ″) here: {said}")
        ends = [_closer(formulas, grid, int(np.argmax(sign * bend)), sign) for sign in (-1.0, 1.0)]
    near = np.abs(grid) <= _FAR / 10.0
    if np.abs(bend).max() > _GROWS * np.abs(bend[near]).max():
        raise BadSettings("curvature", None, f"a pair (inf ϕ″, sup ϕ″) here: ϕ″ still grows at |z| = {_FAR:g}")
    return ends[0], ends[1]


def _grid() -> Array:
    far = np.geomspace(_NEAR, _FAR, _POINTS)
    return np.unique(np.concatenate((-far, [0.0], far, np.linspace(-20.0, 20.0, _POINTS))))


def _refuse_jumps(formulas: Formulas, given: Any, range_: tuple[float, float]) -> None:
    """Refuse a ϕ′ that rises faster than ϕ″ allows: it jumps, or its formula is wrong where kinks of ϕ cancel."""
    grid = _grid()
    with np.errstate(all="ignore"):
        slope = formulas.at(1, grid)
        rise = np.diff(slope) / np.diff(grid)
    low, high = range_
    rounding = 1e-3 * max(abs(low), abs(high)) + 1e-3 + 1e-12 * np.abs(slope[1:]) / np.diff(grid)
    jumps = np.flatnonzero((rise > high + rounding) | (rise < low - rounding))
    if jumps.size:
        here = "a pair (inf ϕ″, sup ϕ″) here" if given is None else "a range of ϕ″ that holds"
        raise BadSettings("curvature", given, f"{here}: ϕ′ jumps, or rises faster, near {grid[jumps[0]]:.3g}")


def _closer(formulas: Formulas, grid: Array, k: int, sign: float) -> float:
    """The extreme of ϕ″ between the neighbours of a point of the grid"""
    low, high, best = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, len(grid) - 1)]), -math.inf
    share = (math.sqrt(5.0) - 1.0) / 2.0
    best = sign * float(formulas.at(2, grid[k : k + 1])[0])
    for _ in range(_CLOSER):
        a, b = high - share * (high - low), low + share * (high - low)
        one, two = (sign * float(v) for v in formulas.at(2, np.array([a, b])))
        low, high = (low, b) if one > two else (a, high)
        best = max(best, one, two)
    return sign * best
