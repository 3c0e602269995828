"""A matrix of low rank from some of its entries: least squares with the singular values after the k-th as penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..convex import ScaledIdentity
from ..data import check
from ..errors import BadInput, BadSettings, require, require_count, require_number
from ..problem import Problem
from ..regularizers import NuclearMinusKyFan
from ..xp import Array
from .observed import Observed


def matrix_completion(
    rows: Any,
    cols: Any,
    values: Any,
    shape: tuple[int, int],
    rank: int,
    lam: float,
    *,
    kappa: float | None = None,
) -> Problem:
    """F(X) = (1/2N) Σ (X_ij − v_ij)² + λ Σ_{i>k} σ_i(X), k = rank:   G = κ/2 ‖X‖²,   h_e = κ/2 ‖X‖² − (X_ij − v_ij)²/2.

    The sum is over N observed places, r1 = λ‖X‖_* and r2 = λ times Ky Fan's k-norm, the sum of the k largest singular
    values. A step is a threshold of singular values. rank = 0 is the nuclear norm alone, which also shrinks the
    singular values that are kept. For λ > ‖v‖/N every critical X with F(X) ≤ F(0) has a rank of at most k: a singular
    value behind the k-th needs ‖∇f(X)‖ ≥ λ, and ‖∇f(X)‖² ≤ 2F(X)/N.

    Parameters
    ----------
    rows, cols : (N,) integers, the places from (0, 0) on, each once
    values : (N,) what was observed there
    shape : (m, n) of X
    rank : k, at most the smaller side of X
    kappa : default 1/N, the curvature of f: a step of "dca" puts the observed entries of X at their values, and then
        thresholds. Methods with batches take as much more as their noise needs

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X = np.outer([1.0, 2.0, 3.0], [2.0, 1.0, 1.0])
    >>> rows, cols = np.nonzero(np.arange(9).reshape(3, 3) != 4)    # all but the entry in the middle
    >>> P = dcopt.problems.matrix_completion(rows, cols, X[rows, cols], (3, 3), rank=1, lam=1.0)
    >>> dcopt.solve(P, "dca", tol=1e-9).x.round(4)
    array([[2., 1., 1.],
           [4., 2., 2.],
           [6., 3., 3.]])
    """
    size = _shape(shape)
    i, j = _places(rows, "rows", size[0]), _places(cols, "cols", size[1])
    if len(j) != len(i):
        raise BadInput("cols", f"has {len(j)} entries, rows has {len(i)}")
    v = check.vector(values, "values", len(i))
    places = i * size[1] + j
    _refuse_repeated(places, size[1])
    require_count("rank", rank, 0)
    require(int(rank) <= min(size), "rank", rank, f"at most {min(size)}, the smaller side of X")
    require_number("lam", lam, 0.0)
    own = 1.0 / len(i) if kappa is None else kappa
    require_number("kappa", own, 0.0, open_low=True)
    f, r = Observed(places, np.ascontiguousarray(v), size), NuclearMinusKyFan(float(lam), int(rank))
    return Problem(ScaledIdentity(float(own)), f=f, r=r, tunable=kappa is None)


def largest_singular_value(P: Problem) -> float:
    """‖∇f(0)‖₂: from this λ on the nuclear norm alone (rank = 0) gives X = 0."""
    require(isinstance(P, Problem) and isinstance(P.f, Observed), "P", P, "a problem of matrix_completion")
    assert P.f is not None
    return float(np.linalg.norm(P.f.all().grad(np.zeros(P.shape, P.dtype)), 2))


def _shape(shape: Any) -> tuple[int, int]:
    try:
        m, n = shape
        require_count("shape", m)
        require_count("shape", n)
    except (TypeError, ValueError):
        raise BadSettings("shape", shape, "two integers >= 1, the rows and columns of X") from None
    return int(m), int(n)


def _places(given: Any, name: str, most: int) -> NDArray[np.int64]:
    a = np.asarray(given)
    if a.ndim != 1 or a.dtype.kind not in "iu":
        raise BadInput(name, f"expected a vector of integers, got {a.dtype} of shape {a.shape}")
    if not a.size:
        raise BadInput(name, "is empty: at least one entry must be observed")
    bad = np.flatnonzero((a < 0) | (a >= most))
    if bad.size:
        raise BadInput(name, f"{a[bad[0]]} is not in 0 … {most - 1}", row=int(bad[0]))
    return a.astype(np.int64)


def _refuse_repeated(places: NDArray[np.int64], n: int) -> None:
    order = np.argsort(places, kind="stable")
    same = np.flatnonzero(np.diff(places[order]) == 0)
    if same.size:
        first, again = (int(e) for e in order[same[0] : same[0] + 2])
        i, j = divmod(int(places[first]), n)
        raise BadInput("rows, cols", f"the place ({i}, {j}) was given before, in row {first}", row=again)


def sample(seed: int) -> Problem:
    rows, cols, values = _data(seed)
    return matrix_completion(rows, cols, values, (6, 4), 2, 0.05)


def objective(seed: int) -> Callable[[Array], float]:
    rows, cols, values = _data(seed)

    def F(x: Array) -> float:
        fit = float(np.mean((x[rows, cols] - values) ** 2)) / 2
        return fit + 0.05 * float(np.sum(np.linalg.svd(x, compute_uv=False)[2:]))

    return F


def _data(seed: int) -> tuple[Array, Array, Array]:
    draw = np.random.default_rng(seed)
    rows, cols = np.nonzero(draw.random((6, 4)) < 0.7)
    return rows, cols, draw.normal(size=len(rows))
