"""The same samples as streams that are cut in many ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp


def samples(n: int, d: int = 5, seed: int = 0, kind: str = "binary") -> tuple[np.ndarray, np.ndarray]:
    """n rows of length about 1 with zeros among their entries, and labels of the kind."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(d) * (rng.random((n, d)) < 0.7)
    z = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    if kind == "real":
        return X, z
    return X, np.digitize(z, [-0.3, 0.3]) if kind == "class" else np.where(z > 0, 1.0, -1.0)


def cut(X: Any, y: Any, sizes: Any, form: Callable[[Any], Any] = np.asarray) -> Iterator[tuple[Any, Any]]:
    """Blocks of the given sizes (one number: all of that size), each in the given form."""
    at, k = 0, 0
    while at < len(y):
        size = sizes if isinstance(sizes, int) else sizes[k % len(sizes)]
        yield form(X[at : at + size]), y[at : at + size]
        at, k = at + size, k + 1


def function(X: Any, y: Any, form: Callable[[Any], Any] = np.asarray) -> Callable[[int], Any]:
    """draw(b): the next b samples, or what is left."""
    at = 0

    def draw(b: int) -> Any:
        nonlocal at
        at += b
        return form(X[at - b : at]), y[at - b : at]

    return draw


def ways(X: Any, y: Any, form: Callable[[Any], Any] = np.asarray) -> dict[str, Any]:
    """The stream as one block, blocks of 7, blocks of random sizes (also empty ones), a list, and as a function."""
    sizes = np.random.default_rng(9).integers(0, 50, 1000).tolist()
    other = sp.csr_array if form is np.asarray else np.asarray
    first = [True]

    def mixed(block: Any) -> Any:  # later blocks come in the other storage
        was, first[0] = first[0], False
        return form(block) if was else other(block)

    return {
        "one block": cut(X, y, len(y), form),
        "sevens": cut(X, y, 7, form),
        "random": cut(X, y, [k for k in sizes if k or form is np.asarray], form),
        "ones": list(cut(X, y, 1, form)),
        "function": function(X, y, form),
        "mixed": cut(X, y, 11, mixed),
    }
