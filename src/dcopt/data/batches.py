"""Users' data as components: arrays, tuples and dicts of arrays, and objects with `len` and `take`.

Every function walks through tuples and dicts to their leaves. A leaf is an array, a SciPy matrix, a tensor of PyTorch
or JAX, or an object of the user's. No other array library is imported here: a tensor is recognised by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import BadInput, a_kind
from ..xp import Array

_EXPECTED = (
    "give an array, a tensor, a CSR matrix, a tuple or a dict of these, or an object with len(data) and data.take(rows)"
)


def kind_of(leaf: Any) -> str:
    """ "numpy", "sparse", "torch", "jax", or "object" for anything else."""
    if isinstance(leaf, np.ndarray):
        return "numpy"
    if hasattr(leaf, "tocsr"):
        return "sparse"
    for kind in type(leaf).__mro__:
        home = kind.__module__.partition(".")[0]
        if home == "torch" and kind.__name__ == "Tensor":
            return "torch"
        if home in ("jax", "jaxlib") and kind.__name__ in ("Array", "ArrayImpl"):
            return "jax"
    return "object"


def leaves(data: Any) -> Iterator[Any]:
    """The leaves, from the left to the right."""
    if isinstance(data, tuple):
        for part in data:
            yield from leaves(part)
    elif isinstance(data, Mapping):
        for part in data.values():
            yield from leaves(part)
    else:
        yield data


def mapped(function: Callable[..., Any], data: Any, *more: Any) -> Any:
    """The same structure with function(leaf, …) in place of every leaf; `more` has the structure of data."""
    if isinstance(data, tuple):
        parts = [mapped(function, *part) for part in zip(data, *more, strict=True)]
        return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
    if isinstance(data, Mapping):
        return {key: mapped(function, data[key], *(m[key] for m in more)) for key in data}
    return function(data, *more)


def checked(data: Any, name: str = "data") -> Any:
    """The same data with SciPy matrices in CSR and numbers in arrays; refuses what has no rows that can be taken."""

    def one(leaf: Any) -> Any:
        kind = kind_of(leaf)
        if kind == "sparse":
            return leaf.tocsr()
        if kind == "numpy" and (leaf.ndim == 0 or leaf.dtype.kind not in "fiub"):
            raise BadInput(name, f"expected arrays of real numbers, got dtype {leaf.dtype} and shape {leaf.shape}")
        if kind == "object" and not (callable(getattr(leaf, "take", None)) and _length(leaf) is not None):
            raise BadInput(name, f"is or holds {a_kind(leaf)}: {_EXPECTED}")
        return leaf

    made = mapped(one, data)
    count(made, name)
    return made


def _length(leaf: Any) -> int | None:
    shape = getattr(leaf, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(leaf)
    except TypeError:
        return None


def count(data: Any, name: str = "data") -> int:
    """The number of components; refuses parts of different lengths."""
    sizes = [_length(leaf) for leaf in leaves(data)]
    if not sizes or None in sizes:
        raise BadInput(name, _EXPECTED)
    if len(set(sizes)) > 1:
        raise BadInput(name, f"has parts of different lengths: {', '.join(map(str, sizes))}")
    if not sizes[0]:
        raise BadInput(name, "is empty: at least one component is needed")
    return int(sizes[0])


def take(data: Any, rows: Array) -> Any:
    """data[rows]"""

    def one(leaf: Any) -> Any:
        kind = kind_of(leaf)
        if kind == "numpy":
            return leaf.take(rows, axis=0)
        return leaf.take(rows) if kind == "object" else leaf[rows]

    return mapped(one, data)


def cut(data: Any, start: int, stop: int) -> Any:
    """data[start:stop], without a copy where the storage allows it."""

    def one(leaf: Any) -> Any:
        whole = start == 0 and stop == _length(leaf)
        if kind_of(leaf) == "object":
            return leaf if whole else leaf.take(np.arange(start, stop))
        return leaf[start:stop]

    return mapped(one, data)


def join(parts: list[Any]) -> Any:
    """Batches one behind the other."""
    return parts[0] if len(parts) == 1 else mapped(_joined, parts[0], *parts[1:])


def _joined(*leaves: Any) -> Any:
    kind = kind_of(leaves[0])
    if kind == "sparse":
        from scipy.sparse import vstack

        return vstack(leaves, format="csr")
    if kind == "torch":
        whole = leaves[0].new_empty((sum(map(len, leaves)), *leaves[0].shape[1:]))
        at = 0
        for leaf in leaves:
            whole[at : at + len(leaf)] = leaf
            at += len(leaf)
        return whole
    return np.concatenate([np.asarray(leaf) for leaf in leaves])


def first_float(data: Any) -> Any:
    """The type of the first leaf with real numbers in floating point: float32 or float64; None if there is none."""
    for leaf in leaves(data):
        name = str(getattr(leaf, "dtype", "")).rpartition(".")[2]  # "torch.float32" as well as "float32"
        if name in ("float32", "float64"):
            return np.dtype(name)
    return None


def form(data: Any) -> Any:
    """The structure of a batch, with the storage, the type and the shape of one sample in place of every leaf."""
    return mapped(lambda leaf: f"{kind_of(leaf)} {leaf.dtype} {tuple(leaf.shape[1:])}", data)
