"""A function in NumPy, whose gradient the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadSettings
from ...xp import Array
from .base import Engine, refuse_numbers


@dataclass(eq=False)
class NumpyEngine(Engine):
    """fn and grad are called with NumPy arrays."""

    name = "NumPy"

    def values(self, x: Array, batch: Any, b: int) -> Array:
        out = self.fn(self.argument(x), batch)
        refuse_numbers(out, b, x.dtype)
        return np.asarray(out)

    def hess_dot(self, x: Array, v: Array, batch: Any, w: Any) -> Array:
        raise BadSettings("fn", "a function in NumPy", "one in PyTorch or JAX, whose Hessian can be multiplied")

    def given(self, x: Array, batch: Any) -> Any:
        assert self.grad is not None  # `choose` has refused a NumPy function without it.
        return self.grad(self.argument(x), batch)

    def argument(self, x: Array) -> Any:
        """A copy, which the user's function may write into."""
        x = np.array(x)
        return x if self.tree is None else self.tree.unravel(x)
