"""A function in PyTorch: one backward pass with the weights as cotangent. The only place that imports torch."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ...data import batches
from ...errors import BadInput
from ...xp import Array
from .base import Engine, refuse_numbers

_DETACHED = (
    "returned numbers that PyTorch cannot differentiate in x: x went through NumPy, detach(), .data or no_grad()"
)


@dataclass(eq=False)
class TorchEngine(Engine):
    """fn and grad are called with tensors, which share the memory of the user's arrays."""

    name = "PyTorch"
    device: Any = field(default="cpu", init=False)

    def prepare(self, data: Any) -> Any:
        for leaf in batches.leaves(data):
            if batches.kind_of(leaf) == "torch":
                self.device = leaf.device
        return batches.mapped(lambda leaf: self._tensor(leaf) if batches.kind_of(leaf) == "numpy" else leaf, data)

    def take(self, data: Any, rows: Array) -> Any:
        there = torch.from_numpy(np.ascontiguousarray(rows)).to(self.device)

        def one(leaf: Any) -> Any:
            kind = batches.kind_of(leaf)
            return leaf.index_select(0, there) if kind == "torch" else self._tensor(batches.take(leaf, rows))

        return batches.mapped(one, data)

    def cut(self, data: Any, start: int, stop: int) -> Any:
        return batches.mapped(self._tensor, batches.cut(data, start, stop))

    def _tensor(self, part: Any) -> Any:
        """A tensor of the same memory; rows of a SciPy matrix become dense ones."""
        kind = batches.kind_of(part)
        if kind == "sparse":
            part, kind = part.toarray(), "numpy"
        if kind != "numpy":
            return batches.mapped(self._tensor, part) if isinstance(part, (tuple, dict)) else part
        part = part if all(s > 0 for s in part.strides) or not part.size else np.ascontiguousarray(part)
        if part.flags.writeable:
            return torch.from_numpy(part).to(self.device)
        with warnings.catch_warnings():  # PyTorch warns of memory that is read-only; nothing here writes into it.
            warnings.simplefilter("ignore")
            return torch.from_numpy(part).to(self.device)

    # ---- the function

    def values(self, x: Array, batch: Any, b: int) -> Array:
        with torch.no_grad():
            return self._numbers(self._point(x), x, batch, b).cpu().numpy()

    def value_grad(self, x: Array, batch: Any, w: Any) -> tuple[Array, Array]:
        if self.grad is not None:
            return super().value_grad(x, batch, w)
        with torch.enable_grad():
            at = self._point(x).requires_grad_()
            out = self._differentiable(at, x, batch, len(w))
            (g,) = torch.autograd.grad(out, at, self._weights(w, out), allow_unused=True)
        return out.detach().cpu().numpy(), self._host(g)

    def pulled(self, x: Array, batch: Any, w: Any) -> Array:
        return super().pulled(x, batch, w) if self.grad is not None else self.value_grad(x, batch, w)[1]

    def hess_dot(self, x: Array, v: Array, batch: Any, w: Any) -> Array:
        with torch.enable_grad():
            at = self._point(x).requires_grad_()
            out = self._differentiable(at, x, batch, len(w))
            (g,) = torch.autograd.grad(out, at, self._weights(w, out), create_graph=True)
            if not g.requires_grad:  # f is linear in x.
                return np.zeros_like(x)
            (h,) = torch.autograd.grad(g, at, self._point(v), allow_unused=True)
        return np.zeros_like(x) if h is None else self._host(h)

    def given(self, x: Array, batch: Any) -> Any:
        assert self.grad is not None
        with torch.no_grad():
            return self.grad(self._argument(self._point(x)), self._in_type(batch, x))

    def _point(self, x: Array) -> Any:
        """A copy of x, so that nothing that fn does reaches the run's own x."""
        return torch.from_numpy(np.array(x)).to(self.device)

    def _argument(self, at: Any) -> Any:
        return at if self.tree is None else self.tree.build(torch.split(at, self.tree.sizes))

    def _in_type(self, batch: Any, x: Array) -> Any:
        """The batch with its real numbers in the type of x, where x is not in the type of the sum."""
        if x.dtype == self.dtype:
            return batch
        kind = torch.float64 if x.dtype == np.float64 else torch.float32

        def one(leaf: Any) -> Any:
            return leaf.to(kind) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

        return batches.mapped(one, batch)

    def _numbers(self, at: Any, x: Array, batch: Any, b: int) -> Any:
        out = self.fn(self._argument(at), self._in_type(batch, x))
        refuse_numbers(out, b, x.dtype)
        if not isinstance(out, torch.Tensor):
            raise BadInput("fn", _DETACHED)
        return out

    def _differentiable(self, at: Any, x: Array, batch: Any, b: int) -> Any:
        out = self._numbers(at, x, batch, b)
        if not out.requires_grad:
            raise BadInput("fn", _DETACHED)
        return out

    def _weights(self, w: Array, out: Any) -> Any:
        return torch.from_numpy(np.array(w)).to(device=out.device, dtype=out.dtype)

    def _host(self, g: Any) -> Array:
        if g is None:
            raise BadInput("fn", _DETACHED)
        return g.detach().cpu().numpy()
