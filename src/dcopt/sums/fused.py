"""A loss compiled together with the rows of a CSR matrix: a batch, or all rows, without leaving compiled code.

Reading a row once and making no arrays in between halves the time of a step. The loss is still written once: what is
compiled is the text of its ϕ and ϕ′, whose functions (`exp`, `clip`, `expit` …) get a scalar meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from hashlib import sha256
from inspect import getsource
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Can
from ..errors import BadSettings
from ..losses import Loss, base
from ..xp import Array

_OURS = "dcopt.losses."  # Kernels of other losses are not cached on disk: what their texts refer to may change.
_ROWS = 128  # that stay in the nearest cache between A x and Aᵀ c
_READY: set[Any] = set()  # kernels and types of arrays for which they are loaded


class Fused:
    """f(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i) of rows a_i in CSR, perhaps with a 1 behind each (an intercept)"""

    def __init__(self, can: Can, d: int, loss: Loss, labels: Array, weights: Array | None) -> None:
        self._csr, self._d = can.csr, d
        self._ones_and_scale = can.ones, float(getattr(loss, "c", 0.0))  # with ones?; the scale of a residual
        w = np.ones(0, labels.dtype) if weights is None else weights
        self._arrays = *can.csr.fixed, labels, w
        self._kernels: dict[Any, Any] = {}
        self._loss = type(loss)
        self._formulas = _formulas_of(loss)

    @property
    def large(self) -> bool:
        """Whether the matrix is worth the compilation of `look`."""
        return bool(self._csr.large)

    def diff(self, rows: Array, x: Array, prev: Array) -> Array:
        """(1/b) Σ_{i∈rows} w_i (φ'(⟨a_i, x⟩) − φ'(⟨a_i, prev⟩)) a_i"""
        kernel = self._kernels.get((_diff, x.dtype)) or self._ready(_diff, x.dtype)
        out: Array = kernel(*self._arrays, rows, x, prev, *self._ones_and_scale)
        return out

    def look(self, x: Array, n: int) -> tuple[Array, Array, Array]:
        """z_i = ⟨a_i, x⟩ and w_i φ(z_i) of n rows (all, or 0: not asked for), and Σ_i w_i φ'(z_i) a_i of all.

        All in the type of x.
        """
        kernel = self._kernels.get((_look, x.dtype)) or self._ready(_look, x.dtype)
        z, values = np.empty(n, x.dtype), np.empty(n, x.dtype)
        there = np.flatnonzero(x[: self._csr.d])
        few = self._csr.by_columns.few(there) or self._csr.fixed  # all that A x needs

        def visit(start: int, stop: int, x: Array, out: Array) -> None:
            kernel(*self._arrays, *few, start, stop, x, there.size > 0, z, values, out, *self._ones_and_scale)

        return z, values, self._csr.sweep(x, visit).astype(x.dtype, copy=False)

    def _ready(self, make: Callable[..., Any], dtype: Any) -> Any:
        """The kernel, compiled or loaded off the clock, on no rows at all."""
        kernel = self._kernels[make, dtype] = _compiled(make, self._formulas)
        kinds = kernel, dtype, *((part.dtype, part.flags.writeable) for part in self._arrays)
        if kinds not in _READY:  # the parts of a stream are sums of their own: the lock is for the first one
            from ..data.kernels.compiler import one_process_at_a_time

            x, none, out = np.zeros(self._d, dtype), np.zeros(0, dtype), np.zeros(self._d)
            nothing: tuple[Any, ...] = (none.astype(np.int64), x, x)
            if make is _look:
                nothing = (*self._csr.fixed, 0, 0, x, False, none, none, out)
            with one_process_at_a_time():
                self._first(kernel, nothing)
            _READY.add(kinds)
        return kernel

    def _first(self, kernel: Any, nothing: tuple[Any, ...]) -> None:
        """The first call, which compiles: a loss of the user's may hold what a compiler cannot read."""
        try:
            kernel(*self._arrays, *nothing, *self._ones_and_scale)
        except Exception as why:
            if self._loss.__module__.startswith(_OURS):
                raise
            said = "formulas that can be compiled (arithmetic and the functions of dcopt.losses.base) where it says"
            raise BadSettings(f"loss {self._loss.__name__}", "elementwise = True", f"{said} so: {why}") from why


def fused(can: Can, d: int, loss: Loss, labels: Array, weights: Array | None) -> Fused | None:
    """None where the data is not CSR, the loss does not declare itself elementwise, or nothing can be compiled."""
    if can.csr is None or not _compilable(loss):
        return None
    from ..data.kernels.compiler import ENGINE

    return None if ENGINE == "python" else Fused(can, d, loss, labels, weights)


def _compilable(loss: Loss) -> bool:
    """A loss from a function whose formula is known, or one that declares itself elementwise and can be read.

    The text of a loss may refer to no setting but the scale.
    """
    if loss.formulas is not None:
        return bool(loss.formulas.compilable)
    if not loss.elementwise or loss.wide:
        return False
    if not {f.name for f in fields(loss)} <= {"c"}:  # type: ignore[arg-type]  # an elementwise loss is a dataclass
        return False
    return _has_text(type(loss))


@cache
def _has_text(kind: type) -> bool:
    """Whether the text of a class can be read, which takes some milliseconds: every sum of a path asks."""
    try:
        getsource(kind)
    except (OSError, TypeError):  # written at a prompt
        return False
    return True


class _Programs(NamedTuple):
    """The formulas of a loss from a function, and whether they are of a margin"""

    margin: bool
    phi: Any
    dphi: Any


def _formulas_of(loss: Loss) -> Any:
    """What the kernels of a loss are made of: its formulas as data, or the class in whose text they stand"""
    if loss.formulas is None:
        return type(loss)
    return _Programs(isinstance(loss, base.Margin), *loss.formulas.programs[:2])


@cache
def _compiled(make: Callable[..., Any], kind: Any) -> Any:
    from ..data.kernels import csr_kernels, elementary
    from ..data.kernels.compiler import compiled, give_scalar_meaning

    formulas = value, slope, *_ = _traced(kind) if isinstance(kind, _Programs) else _formulas(kind)
    give_scalar_meaning(base, *formulas)
    kernel = make(value, slope, csr_kernels)
    # The kernel has its own file in the disk cache, named after all texts: never another loss's, never a stale one.
    texts = "" if isinstance(kind, _Programs) else "".join(map(getsource, (kind, base, csr_kernels, elementary)))
    kernel.__qualname__ = f"{kernel.__name__}_{sha256(texts.encode()).hexdigest()[:16]}"
    return compiled(kernel, keep=not isinstance(kind, _Programs) and kind.__module__.startswith(_OURS))


def _traced(of: _Programs) -> tuple[Callable[..., Any], ...]:
    """(z, y, c) ↦ ϕ and ϕ′ at scale c, from programs"""
    from ..data.kernels.programs import function_of

    phi, dphi = function_of(of.phi), function_of(of.dphi)
    if of.margin:
        return lambda z, y, c: phi(y * z), lambda z, y, c: y * dphi(y * z)
    return lambda z, y, c: c * c * phi((z - y) / c), lambda z, y, c: c * dphi((z - y) / c)


def _formulas(kind: Any) -> tuple[Callable[..., Any], ...]:
    """(z, y, c) ↦ ϕ and ϕ′ at scale c, and what they are made of, all of it the loss's own text"""
    if issubclass(kind, base.Margin):
        phi, dphi = kind.phi, kind.dphi
        return lambda z, y, c: phi(None, y * z), lambda z, y, c: y * dphi(None, y * z), phi, dphi
    if issubclass(kind, base.Residual):
        phi, dphi = kind.phi, kind.dphi
        return lambda z, y, c: c * c * phi(None, (z - y) / c), lambda z, y, c: c * dphi(None, (z - y) / c), phi, dphi
    phi, dphi = kind.value, kind.slope
    return lambda z, y, c: phi(None, z, y), lambda z, y, c: dphi(None, z, y), phi, dphi


def _diff(value: Any, slope: Any, kernels: Any) -> Callable[..., Any]:
    def diff(indptr, indices, data, labels, weights, rows, x, prev, ones, c):  # type: ignore[no-untyped-def]
        out = np.zeros(x.size, np.float64)
        last = x.size - 1
        for k in range(rows.size):
            i = rows[k]
            one = 0.0
            two = 0.0
            for j in range(indptr[i], indptr[i + 1]):
                col = np.uint64(indices[j])  # unsigned: no test for Python's negative indices
                one += data[j] * x[col]
                two += data[j] * prev[col]
            if ones:
                one += x[last]
                two += prev[last]
            s = (slope(one, labels[i], c) - slope(two, labels[i], c)) / rows.size
            if weights.size:
                s *= weights[i]
            for j in range(indptr[i], indptr[i + 1]):
                out[np.uint64(indices[j])] += s * data[j]
            if ones:
                out[last] += s
        return out.astype(x.dtype)

    return diff


def _look(value: Any, slope: Any, kernels: Any) -> Callable[..., Any]:
    def look(  # type: ignore[no-untyped-def]
        indptr, indices, data, labels, weights, few, where, what, start, stop, x, moved, z, values, out, ones, c
    ):
        s, room = np.empty(_ROWS, z.dtype), np.empty(_ROWS, z.dtype)
        for first in range(start, stop, _ROWS):
            end = min(first + _ROWS, stop)
            here, y = z[first:end] if z.size else room[: end - first], labels[first:end]
            if moved:
                kernels.dot1_part(few, where, what, first, end, x, here)
            else:
                here[:] = 0.0
            if ones:
                here += x[x.size - 1]
            if values.size:  # loops without a question in them: the compiler takes four numbers at once
                v = values[first:end]
                for k in range(here.size):
                    v[k] = value(here[k], y[k], c)
                    s[k] = slope(here[k], y[k], c)
            else:
                for k in range(here.size):
                    s[k] = slope(here[k], y[k], c)
            if weights.size:
                for k in range(here.size):
                    s[k] *= weights[first + k]
                if values.size:
                    for k in range(here.size):
                        values[first + k] *= weights[first + k]
            kernels.tdot1_part(indptr, indices, data, first, end, s, out)
            if ones:
                for k in range(here.size):
                    out[out.size - 1] += s[k]

    return look
