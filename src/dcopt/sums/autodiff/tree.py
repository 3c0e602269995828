"""x as one vector, and as the tree of parameters (dicts, tuples, lists of arrays) that it stands for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.batches import kind_of
from ...errors import BadInput, a_kind
from ...xp import Array


@dataclass(frozen=True, eq=False)
class Tree:
    """The shapes of the leaves of an example, in order, and how a tree is made of them."""

    example: Any  # the structure, with the shape of each leaf in its place
    shapes: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    dtype: Any
    home: str  # of the example's leaves: "numpy", "torch" or "jax"

    @classmethod
    def of(cls, like: Any) -> Tree:
        found: list[tuple[str, Any]] = []

        def shape_of(name: str, leaf: Any) -> _Shape:
            found.append((name, leaf))
            return _Shape(tuple(leaf.shape))

        example = _walk(like, shape_of, "")
        if not found:
            raise BadInput("like", "holds no parameters")
        kinds = {str(leaf.dtype).rpartition(".")[2] for _, leaf in found}
        for name, leaf in found:
            if str(leaf.dtype).rpartition(".")[2] not in ("float32", "float64"):
                only = "give the parameters only, such as dict(model.named_parameters())"
                raise BadInput("like", f"{name or 'the array'} holds {leaf.dtype}, not float32 or float64: {only}")
        if len(kinds) > 1:
            raise BadInput("like", "holds both float32 and float64: give parameters of one type")
        homes = {kind_of(leaf) for _, leaf in found}
        home = "torch" if "torch" in homes else "jax" if "jax" in homes else "numpy"
        names, shapes = tuple(name for name, _ in found), tuple(tuple(leaf.shape) for _, leaf in found)
        return cls(example, shapes, names, np.dtype(kinds.pop()), home)

    @property
    def sizes(self) -> list[int]:
        return [math.prod(shape) for shape in self.shapes]

    def build(self, parts: Any) -> Any:
        """The tree whose leaves are the parts, each brought to its shape."""
        left = iter(parts)
        return _walk(self.example, lambda name, shape: next(left).reshape(shape.of), "")

    def unravel(self, x: Array) -> Any:
        """The tree of views of a NumPy vector"""
        return self.build(np.split(x, np.cumsum(self.sizes)[:-1]))

    def ravel(self, tree: Any, lead: int = 0) -> Array:
        """One vector of all leaves; `lead`: the number of leading dimensions that leaves have beyond their shapes."""
        found: list[Any] = []
        _walk(tree, lambda name, leaf: found.append(as_numpy(leaf)), "")
        shapes = [tuple(a.shape)[lead:] for a in found]
        if tuple(shapes) != self.shapes:
            raise BadInput("tree", f"expected leaves of shapes {list(self.shapes)}, got {shapes}")
        return np.concatenate([a.reshape(*a.shape[:lead], -1) for a in found], axis=-1).astype(self.dtype, copy=False)


@dataclass(frozen=True)
class _Shape:
    of: tuple[int, ...]


def as_numpy(a: Any) -> Array:
    """A NumPy array of the same numbers, without a copy where that is possible."""
    return a.detach().cpu().numpy() if kind_of(a) == "torch" else np.asarray(a)


def _walk(tree: Any, visit: Callable[[str, Any], Any], name: str) -> Any:
    def inside(key: Any, part: Any) -> Any:
        return _walk(part, visit, f"{name}.{key}" if name else str(key))

    if isinstance(tree, Mapping):
        return {key: inside(key, part) for key, part in tree.items()}
    if isinstance(tree, (tuple, list)):
        parts = [inside(k, part) for k, part in enumerate(tree)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if not (isinstance(tree, _Shape) or kind_of(tree) in ("numpy", "torch", "jax")):
        raise BadInput("like", f"{name or 'it'} is {a_kind(tree)}: give an array, or dicts, tuples and lists of arrays")
    return visit(name, tree)
