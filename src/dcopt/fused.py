"""The correction of a recursive or anchored estimator in one compiled pass over the rows of a CSR matrix.

Reading a row once and never leaving compiled code halves the time of a step. The loss is still written once: what is
compiled is the text of its ϕ′ (`dphi`), with `exp`, `clip` and `expit` given their scalar meaning here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from hashlib import sha256
from inspect import getsource
from typing import Any

import numpy as np

from .data.rows import RowMatrix
from .losses import Loss, base
from .xp import Array


def fused_diff(
    a: RowMatrix, loss: Loss, labels: Array, weights: Array | None
) -> Callable[[Array, Array, Array], Array] | None:
    """(rows, x, prev) ↦ (1/b) Σ_{i∈rows} w_i (φ'(⟨a_i, x⟩) − φ'(⟨a_i, prev⟩)) a_i.

    None where the data is not CSR, the loss is not one number a row, or nothing can be compiled.
    """
    if not all(hasattr(a, part) for part in ("indptr", "indices", "data")) or not _compilable(loss):
        return None
    from .data.compiler import ENGINE, one_process_at_a_time

    if ENGINE == "python":
        return None
    kernel = _kernel(type(loss).dphi)  # type: ignore[attr-defined]  # margins and residuals have one
    scale = float(getattr(loss, "c", 0.0))  # 0: a margin
    w = np.ones(0, labels.dtype) if weights is None else weights
    arrays = a.indptr, a.indices, a.data, labels, w  # type: ignore[attr-defined]
    with one_process_at_a_time():
        zero = np.zeros(a.shape[1], a.dtype)
        kernel(*arrays, np.zeros(0, np.int64), zero, zero, scale)

    def diff(rows: Array, x: Array, prev: Array) -> Array:
        return kernel(*arrays, rows, x, prev, scale)

    return diff


def _compilable(loss: Loss) -> bool:
    """Our own margins and residuals without settings but the scale: their ϕ′ is arithmetic on one number."""
    if not (hasattr(loss, "dphi") and type(loss).__module__.startswith("dcopt.losses.")):
        return False
    return {f.name for f in fields(loss)} <= {"c"}  # type: ignore[arg-type]  # ours are dataclasses


@cache
def _kernel(dphi: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    from .data.compiler import compiled, give_scalar_meaning

    give_scalar_meaning(base.exp, base.clip, base.expit, dphi)

    def diff(indptr, indices, data, labels, weights, rows, x, prev, c):  # type: ignore[no-untyped-def]
        out = np.zeros(x.size, np.float64)
        for k in range(rows.size):
            i = rows[k]
            one = 0.0
            two = 0.0
            for j in range(indptr[i], indptr[i + 1]):
                col = np.uint64(indices[j])  # unsigned: no test for Python's negative indices
                one += data[j] * x[col]
                two += data[j] * prev[col]
            y = labels[i]
            if c > 0.0:  # a residual
                s = c * (dphi(None, (one - y) / c) - dphi(None, (two - y) / c))
            else:
                s = y * (dphi(None, y * one) - dphi(None, y * two))
            s /= rows.size
            if weights.size:
                s *= weights[i]
            for j in range(indptr[i], indptr[i + 1]):
                out[np.uint64(indices[j])] += s * data[j]
        return out.astype(x.dtype)

    # its own file in the disk cache, named after the text: never another loss's kernel, never a stale one
    diff.__qualname__ = "diff_" + sha256(getsource(dphi).encode()).hexdigest()[:16]
    return compiled(diff)
