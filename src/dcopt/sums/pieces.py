"""Pieces: sums over the rows of one part, which a sum adds up over its parts (`total`) or lists (`each`).

A piece is a function at the top of a module, so that its name can be sent to where a part lives. It gives sums over
rows, never means. Code above the sums writes its own pieces in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.column_statistics import column_sizes
from ..data.rows import gram, rough_gram
from ..xp import Array, namespace

if TYPE_CHECKING:
    from .linear import LinearSum


def kept(f: LinearSum, name: str, key: Array, make: Callable[[], Any]) -> Any:
    """make(), which stays with f until it is asked for with another key: a function of f and the key alone."""
    held = f.__dict__.get(name)
    if held is None or not np.array_equal(held[0], key):
        held = f.__dict__[name] = (np.array(key), make())
    return held[1]


def weights(f: LinearSum) -> NDArray[np.float64]:
    """w_i"""
    return np.ones(f.n) if f.weights is None else np.asarray(f.weights, np.float64)


def row_weights(f: LinearSum, n: int, by_size: bool) -> NDArray[np.float64]:
    """w_i / n, or w_i² ‖a_i‖² / n"""
    return np.asarray(weights(f) * f.row_sizes / n if by_size else weights(f) / n)


def most(f: LinearSum, n: int, by_size: bool) -> float:
    """The largest of these weights"""
    return float(row_weights(f, n, by_size).max())


def product(f: LinearSum, v: Array, n: int, by_size: bool, scale: float) -> NDArray[np.float64]:
    """Σ c_i a_i ⟨a_i, v⟩, c the same weights over `scale`"""
    return weighted_product(f, v, row_weights(f, n, by_size) / scale)


def weighted_product(f: LinearSum, v: Array, c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Aᵀ (c ∘ A v)"""
    z = f.a.dot(namespace(v).astype(v, f.dtype))
    return np.asarray(f.a.tdot(z * (c if z.ndim == 1 else c[:, None]).astype(z.dtype)), np.float64)


def weighted_gram(f: LinearSum, columns: Array) -> NDArray[np.float64]:
    """Σ w_i a_i a_iᵀ on these columns"""
    return np.asarray(gram(f.a, f.weights, columns), np.float64)


def rough_weighted_gram(f: LinearSum, columns: Array, n: int, rows: int) -> Array:
    """The same of some rows, where the storage has a rough Gram matrix: `rows` of all n for every column"""
    return rough_gram(f.a, f.weights, columns, share_of(rows, f.n, n))


def share_of(rows: int, here: int, n: int) -> int:
    """How many of `rows` rows for each column are taken from a part with `here` of n rows"""
    return math.ceil(rows * here / n)


def squares_of_columns(f: LinearSum) -> Array | None:
    """Σ w_i a_ij² of every column; None where the storage does not show its entries"""
    return column_sizes(f.a, f.weights)


def sums_of_columns(f: LinearSum) -> NDArray[np.float64]:
    """Σ w_i a_ij of every column"""
    return np.asarray(f.a.tdot(weights(f).astype(f.dtype)), np.float64)


def squared_rows(f: LinearSum) -> float:
    """Σ w_i² ‖a_i‖²"""
    sizes = np.asarray(f.a.norms2(), np.float64) * (1.0 if f.weights is None else np.asarray(f.weights) ** 2)
    return float(sizes.sum())


def largest_row(f: LinearSum) -> float:
    """max w_i ‖a_i‖²"""
    return f.largest_row


def mean_row(f: LinearSum) -> float:
    """The mean of w_i ‖a_i‖²"""
    return f.mean_row


def largest_bend(f: LinearSum, x: Array) -> float:
    """max |φ''_i| at x"""
    return float(np.max(np.abs(f.loss.bend(f.a.dot(x.astype(f.dtype)), f.labels))))


def mean_weight(f: LinearSum) -> float:
    """The mean of w_i"""
    return f.mean_weight


def shares_of_rows(f: LinearSum, mean: float) -> Array:
    """w_i ‖a_i‖² over the mean of these over all rows; 1 where that is 0"""
    return f.row_sizes / mean if mean > 0.0 else np.ones(f.n)


def labels_and_weights(f: LinearSum) -> tuple[Array, NDArray[np.float64]]:
    """The labels, each once with the sum of its weights where they are classes"""
    labels, w = np.asarray(f.labels), weights(f)
    if f.loss.labels == "real":
        return labels, w
    found, where = np.unique(labels, return_inverse=True)
    return found, np.asarray(np.bincount(where, w), np.float64)


def columns(f: LinearSum, some: Array) -> tuple[NDArray[np.float64], Array, NDArray[np.float64]]:
    """These columns of A, the labels and the weights"""
    unit = np.zeros((f.shape[0], len(some)), f.dtype)
    unit[some, np.arange(len(some))] = 1.0
    return np.asarray(f.a.dot(unit), np.float64), np.asarray(f.labels), weights(f)
