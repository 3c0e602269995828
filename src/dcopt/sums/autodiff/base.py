"""What a framework does for a user's function: values, gradients with weights, and products with the Hessian."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data import batches
from ...errors import BadInput, a_kind
from ...xp import Array
from .tree import Tree, as_numpy


@dataclass(eq=False)
class Engine(ABC):
    """fn(x, batch) -> one number for each component of the batch, and grad(x, batch) where it is given."""

    fn: Callable[[Any, Any], Any]
    shape: tuple[int, ...]
    dtype: Any
    tree: Tree | None = None
    grad: Callable[[Any, Any], Any] | None = None
    each: bool = field(default=False, init=False)  # Whether grad gives one gradient per component.
    name = "NumPy"

    @property
    def differentiates(self) -> bool:
        """Whether gradients come from fn itself."""
        return self.grad is None

    # ---- the data

    def prepare(self, data: Any) -> Any:
        """The data in the form in which batches are taken from it."""
        return data

    def take(self, data: Any, rows: Array) -> Any:
        """The batch of these rows"""
        return batches.take(data, rows)

    def cut(self, data: Any, start: int, stop: int) -> Any:
        """The batch of the rows from start to stop"""
        return batches.cut(data, start, stop)

    def shares(self, w: Array | None, b: int, of: int, dtype: Any) -> Any:
        """The cotangent of b components of a mean over `of`: w_i / of, or 1 / of; what the methods below take as w"""
        return np.full(b, 1.0 / of) if w is None else w / of

    # ---- the function

    @abstractmethod
    def values(self, x: Array, batch: Any, b: int) -> Array:
        """The b numbers of fn, as a NumPy array in the type of x"""

    def value_grad(self, x: Array, batch: Any, w: Any) -> tuple[Array, Array]:
        """The numbers of fn, and Σ w_i ∇f_i(x)"""
        return self.values(x, batch, len(w)), self.weighted(x, batch, w)

    def pulled(self, x: Array, batch: Any, w: Any) -> Array:
        """Σ w_i ∇f_i(x) alone"""
        return self.weighted(x, batch, w)

    def diff(self, x: Array, prev: Array, batch: Any, w: Any) -> Array:
        """Σ w_i (∇f_i(x) − ∇f_i(prev)), on one batch that was fetched once"""
        return self.pulled(x, batch, w) - self.pulled(prev, batch, w)

    @abstractmethod
    def hess_dot(self, x: Array, v: Array, batch: Any, w: Any) -> Array:
        """Σ w_i ∇²f_i(x) v"""

    @abstractmethod
    def given(self, x: Array, batch: Any) -> Any:
        """grad(x, batch) as the user's function returns it, for x in the framework"""

    def gradients(self, x: Array, batch: Any, b: int) -> Array:
        """What grad= gives, in NumPy: the mean gradient, or (b, *shape) gradients"""
        g, wanted = self.given(x, batch), self.shape
        if self.tree is not None and not hasattr(g, "dtype"):
            g = self.tree.ravel(g, lead=int(self.each))
        g = as_numpy(g)
        kinds = {(b, *wanted): True, wanted: False}
        if g.shape not in kinds:
            said = f"expected the mean gradient, of shape {wanted}, or one for each component, {(b, *wanted)}"
            raise BadInput("grad", f"returned an array of shape {g.shape} for {b} components: {said}")
        if g.dtype.kind != "f":
            raise BadInput("grad", f"returned {g.dtype} numbers: expected {np.dtype(x.dtype)}")
        return g.astype(x.dtype, copy=False)

    def weighted(self, x: Array, batch: Any, w: Array) -> Array:
        """Σ w_i ∇f_i(x) from what grad= gives; a mean gradient stands for equal weights."""
        g = self.gradients(x, batch, len(w))
        if g.ndim == len(self.shape):
            return g * float(w.sum())
        return np.tensordot(w.astype(g.dtype, copy=False), g, axes=1)


def refuse_numbers(out: Any, b: int, dtype: Any) -> None:
    """Refuse what fn returned unless it is b numbers in the type of x."""
    wanted = f"expected one number for each of the {b} components of the batch"
    if isinstance(out, (float, int)) or getattr(out, "shape", None) == ():
        raise BadInput("fn", f"returned one number, such as a sum or a mean: {wanted}")
    if not hasattr(out, "shape") or not hasattr(out, "dtype"):
        raise BadInput("fn", f"returned {a_kind(out)}: {wanted}, as an array")
    if tuple(out.shape) != (b,):
        raise BadInput("fn", f"returned an array of shape {tuple(out.shape)}: {wanted}, shape ({b},)")
    kind = str(out.dtype).rpartition(".")[2]
    if kind != str(np.dtype(dtype)):
        raise BadInput("fn", f"returned {kind} numbers for x in {np.dtype(dtype)}: expected the type of x")
