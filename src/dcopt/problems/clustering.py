"""Clustering by the minimum sum of squares: F(x) = (1/N) Σ min_j ½ ‖x_j − a_i‖² over k centres x_j."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..convex import ScaledIdentity
from ..data import check
from ..draw import as_seed
from ..errors import BadInput, require, require_count, require_number
from ..problem import Problem
from ..regularizers import Zero
from ..xp import Array
from .nearest import Nearest


def clustering(A: Any, k: int, *, smoothing: float = 0.0, kappa: float = 1.0) -> Problem:
    """F(x) = (1/N) Σ min_j ½ ‖x_j − a_i‖², x (k, d):   G = κ/2 ‖x‖²,   h_i = κ/2 ‖x‖² − min_j ½ ‖x_j − a_i‖².

    With κ = 1, h_i = max_j (½ Σ_{l≠j} ‖x_l‖² + ⟨x_j, a_i⟩) − ½ ‖a_i‖² is convex. A DCA step is damped k-means,
        x_j⁺ = x_j + (n_j / κN) (mean_j − x_j), with the n_j points that are nearest to x_j and their mean;
    a centre without points stays. It descends if κ ≥ n_j / N for every j, whether H is convex or not: the points of a
    cluster keep their centre or find a nearer one.

    F has kinks where a point has two nearest centres. There ∇H is one subgradient, that of the first of them; theorems
    on batches need smooth h_i and say nothing; and a point that is critical need not be a local minimum.

    Parameters
    ----------
    A : (N, d) points
    k : the number of centres; start from `clustering_start(A, k, seed)`
    smoothing : T > 0 takes −T log((1/k) Σ_j exp(−½ ‖x_j − a_i‖² / T)), smooth and at most T log k above the least
    kappa : 1 is safe; the largest share of a cluster is fast, and solve(P, kappa="adaptive") finds it

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> A = np.array([[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 2.0]])
    >>> P = dcopt.problems.clustering(A, k=2)
    >>> dcopt.solve(P, "dca", tol=1e-8, x0=dcopt.problems.clustering_start(A, 2, seed=0)).x.round(4)
    array([[0., 1.],
           [9., 1.]])
    """
    a = _points(A, k)
    require_number("smoothing", smoothing, 0.0)
    require_number("kappa", kappa, 0.0, open_low=True)
    mean = a.mean(axis=0, dtype=np.float64)
    centred = np.ascontiguousarray((a - mean).astype(a.dtype))
    half = 0.5 * np.einsum("ij,ij->i", centred, centred)
    f = Nearest(centred, mean, half, int(k), float(smoothing))
    return Problem(ScaledIdentity(float(kappa)), f=f, r=Zero())


def clustering_start(A: Any, k: int, *, seed: int | None = 0) -> Array:
    """k of the points by greedy k-means++: each leaves least of 2 + ⌊log k⌋ candidates drawn by squared distance."""
    a = _points(A, k)
    draw = np.random.Generator(np.random.Philox(as_seed(seed)))
    wide = a.astype(np.float64, copy=False)
    wide = wide - wide.mean(axis=0)
    square = np.einsum("ij,ij->i", wide, wide)
    chosen = [int(draw.random() * len(a))]
    nearest = _squares(wide, square, chosen)[0]
    for _ in range(1, int(k)):
        found, nearest = _next(draw, wide, square, nearest, int(k))
        chosen.append(found)
    return np.array(a[chosen])


def clustering_swap(P: Problem, x: Any, *, seed: int | None = 0) -> Array:
    """x with one centre moved: one of the quarter that F needs least, to a point drawn as in k-means++.

    A run from there needs few steps, since the other centres are nearly in their places. Repeat, and keep the better x.
    """
    f = _sum(P)
    centres = f.centred(check.point(x, f.shape, np.float64, "x"))
    a = f.a.astype(np.float64, copy=False)
    square, draw = 2.0 * f.half, np.random.Generator(np.random.Philox(as_seed(seed)))
    if f.k == 1:
        return np.array(a[[int(draw.random() * len(a))]] + f.mean)
    d = np.maximum(np.einsum("ij,ij->i", centres, centres) - 2.0 * (a @ centres.T) + square[:, None], 0.0)
    own, i = d.argmin(axis=1), np.arange(len(a))
    near = d[i, own]
    d[i, own] = np.inf
    needed = np.bincount(own, d.min(axis=1) - near, minlength=f.k)
    off = int(np.argsort(needed, kind="stable")[int(draw.random() * -(-f.k // 4))])
    d[i, own] = near
    d[:, off] = np.inf
    moved = np.array(check.point(x, f.shape, np.float64, "x"))
    moved[off] = a[_next(draw, a, square, d.min(axis=1), f.k)[0]] + f.mean
    return moved.astype(f.dtype)


def clusters_of(P: Problem, x: Any) -> NDArray[np.int64]:
    """The number of the nearest centre of every point; of several, the first"""
    f = _sum(P)
    c = f.centred(check.point(x, f.shape, np.float64, "x"))
    return np.asarray((0.5 * np.einsum("ij,ij->i", c, c) - f.a @ c.T).argmin(axis=1), np.int64)


def _next(draw: np.random.Generator, a: Array, square: Array, nearest: Array, k: int) -> tuple[int, Array]:
    """Of 2 + ⌊log k⌋ points drawn by squared distance, the one that leaves least, and the squared distances then"""
    ends = np.cumsum(nearest)
    if not ends[-1] > 0.0:  # All points coincide with centres.
        return int(draw.random() * len(a)), nearest
    places = draw.random(2 + int(np.log(k))) * ends[-1]
    candidates = np.minimum(np.searchsorted(ends, places, side="right"), len(a) - 1)
    left = np.minimum(nearest, _squares(a, square, candidates))
    best = int(left.sum(axis=1).argmin())
    return int(candidates[best]), left[best]


def _sum(P: Any) -> Nearest:
    f = P.f if isinstance(P, Problem) else None
    require(isinstance(f, Nearest), "P", P, "a problem made by dcopt.problems.clustering")
    return f  # type: ignore[return-value]  # seen above


def _squares(a: Array, square: Array, rows: Any) -> Array:
    """‖a_i − a_r‖² for the given r, (len(rows), N)"""
    return np.maximum(square[rows][:, None] + square - 2.0 * (a[rows] @ a.T), 0.0)


def _points(A: Any, k: Any) -> NDArray[Any]:
    a = check.real_array(A.toarray() if hasattr(A, "toarray") else A, "A")
    if a.ndim != 2:
        raise BadInput("A", f"expected 2 dimensions, got shape {a.shape}")
    check.not_empty(a.shape, "A")
    check.finite(a, "A")
    require_count("k", k)
    require(int(k) <= len(a), "k", k, f"at most {len(a)}, the number of points")
    return a


def sample(seed: int) -> Problem:
    return clustering(_data(seed), 3)


def smooth_sample(seed: int) -> Problem:
    return clustering(_data(seed), 3, smoothing=0.3)


def objective(seed: int) -> Callable[[Array], float]:
    A = _data(seed)
    return lambda x: float(np.mean(_halves(x, A).min(axis=1)))


def smooth_objective(seed: int) -> Callable[[Array], float]:
    A = _data(seed)
    return lambda x: float(np.mean(-0.3 * np.log(np.mean(np.exp(-_halves(x, A) / 0.3), axis=1))))


def _halves(x: Array, A: Array) -> Array:
    return np.asarray(0.5 * np.sum((A[:, None, :] - x) ** 2, axis=2))


def _data(seed: int) -> Array:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(12, 2)) + np.repeat([[0.0, 0.0], [2.0, 1.0], [-1.0, 3.0]], 4, axis=0)
