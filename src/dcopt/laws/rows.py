"""The laws of a row matrix A. Its dense form is asked of `dot` with the identity; the rest must agree with that."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data.rows import Declared, RowMatrix, gram, pair
from ..xp import Array
from .base import Law, demand

_WIDTHS = (None, 1, 3)  # x is (d,), (d, 1), (d, 3)


def declared(A: RowMatrix) -> RowMatrix:
    """A, or, where it has the four verbs alone, A as one that declares nothing."""
    return A if hasattr(A, "can") else Declared(A)


def dense(A: RowMatrix) -> Array:
    """A as a float64 array."""
    return np.asarray(A.dot(np.eye(A.shape[1], dtype=A.dtype)), np.float64)


def choices(n: int) -> Iterator[tuple[str, Array]]:
    """Lists of rows, as int64: in order, backwards, repeated and unsorted, one, none."""
    draw = np.random.default_rng(n)
    yield "all in order", np.arange(n, dtype=np.int64)
    yield "all backwards", np.arange(n, dtype=np.int64)[::-1].copy()
    yield "repeated", draw.integers(n, size=2 * n + 3)
    yield "one row thrice", np.full(3, n - 1, dtype=np.int64)
    yield "no row", np.zeros(0, dtype=np.int64)


def some(size: int, width: int | None, dtype: Array, seed: int = 0) -> Array:
    """A vector, or a matrix of `width` columns."""
    shape = (size,) if width is None else (size, width)
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def agree(got: Array, want: Array, scale: Array, what: str) -> None:
    """Equal up to the rounding of sums of terms of the given size, in the precision of `got`."""
    demand(got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}")
    tol = 32 * float(np.finfo(got.dtype).eps)
    off = np.abs(got - want) - tol * scale
    demand(bool(np.all(off <= 1e-300)), f"{what}: off by {np.max(np.abs(got - want), initial=0.0):.3g}")


def describes_itself(A: RowMatrix) -> None:
    """shape is (N, d), dtype is float32 or float64, and products have that dtype"""
    n, d = A.shape
    demand(A.dtype in (np.float32, np.float64), f"dtype is {A.dtype}: expected float32 or float64")
    for width in _WIDTHS:
        for product in (A.dot(some(d, width, A.dtype)), A.tdot(some(n, width, A.dtype))):
            demand(product.dtype == A.dtype, f"a product is {product.dtype}, the rows are {A.dtype}")


def dot_is_dense(A: RowMatrix) -> None:
    """dot(x, rows) = A[rows] x, x of shape (d,) or (d, c), rows None, repeated, unsorted or empty"""
    D = dense(A)
    for width in _WIDTHS:
        x = some(A.shape[1], width, A.dtype)
        agree(A.dot(x), D @ x, np.abs(D) @ np.abs(x), "dot with all rows")
        for name, rows in choices(A.shape[0]):
            agree(A.dot(x, rows), D[rows] @ x, np.abs(D[rows]) @ np.abs(x), f"dot ({name})")


def tdot_is_dense(A: RowMatrix) -> None:
    """tdot(c, rows) = A[rows]ᵀ c: a row that comes twice counts twice, no row gives 0"""
    D = dense(A)
    for width in _WIDTHS:
        c = some(A.shape[0], width, A.dtype)
        agree(A.tdot(c), D.T @ c, np.abs(D).T @ np.abs(c), "tdot with all rows")
        for name, rows in choices(A.shape[0]):
            c = some(len(rows), width, A.dtype)
            agree(A.tdot(c, rows), D[rows].T @ c, np.abs(D[rows]).T @ np.abs(c), f"tdot ({name})")


def adjoint(A: RowMatrix) -> None:
    """⟨A[rows] x, c⟩ = ⟨x, A[rows]ᵀ c⟩"""
    top = float(np.max(np.abs(dense(A)), initial=0.0))
    for width in _WIDTHS:
        x = some(A.shape[1], width, A.dtype)
        for name, rows in choices(A.shape[0]):
            c = some(len(rows), width, A.dtype, seed=1)
            left = float(np.sum(A.dot(x, rows) * c, dtype=np.float64))
            right = float(np.sum(x * A.tdot(c, rows), dtype=np.float64))
            size = top * float(np.sum(np.abs(x)) * np.sum(np.abs(c)))
            slack = 32 * float(np.finfo(A.dtype).eps) * size
            demand(abs(left - right) <= slack, f"⟨Ax, c⟩ = {left:.9g}, ⟨x, Aᵀc⟩ = {right:.9g} ({name})")


def pair_is_two_dots(A: RowMatrix) -> None:
    """pair(x, prev, rows) = (dot(x, rows), dot(prev, rows)), stacked"""
    D = dense(A)
    for width in _WIDTHS:
        x, prev = (some(A.shape[1], width, A.dtype, seed) for seed in (0, 1))
        for name, rows in [("all rows", None), *choices(A.shape[0])]:
            part = D if rows is None else D[rows]
            want = np.stack([part @ x, part @ prev])
            scale = np.stack([np.abs(part) @ np.abs(x), np.abs(part) @ np.abs(prev)])
            agree(pair(declared(A), x, prev, rows), want, scale, f"pair ({name})")


def take_is_these_rows(A: RowMatrix) -> None:
    """take(rows) is A[rows] as a matrix of its own: its dot is dot(rows)"""
    D = dense(A)
    for name, rows in choices(A.shape[0]):
        part = A.take(rows)
        demand(tuple(part.shape) == (len(rows), A.shape[1]), f"take ({name}) has shape {part.shape}")
        demand(part.dtype == A.dtype, f"take ({name}) turns {A.dtype} into {part.dtype}")
        agree(part.norms2(), np.sum(D[rows] ** 2, axis=1), np.sum(D[rows] ** 2, axis=1), f"take ({name}).norms2")
        for width in _WIDTHS:
            x, c = some(A.shape[1], width, A.dtype), some(len(rows), width, A.dtype, seed=1)
            agree(part.dot(x), D[rows] @ x, np.abs(D[rows]) @ np.abs(x), f"take ({name}).dot")
            agree(part.tdot(c), D[rows].T @ c, np.abs(D[rows]).T @ np.abs(c), f"take ({name}).tdot")


def norms_are_squared(A: RowMatrix) -> None:
    """norms2() = ‖a_i‖², in float64 for any dtype"""
    norms, D = A.norms2(), dense(A)
    demand(norms.dtype == np.float64, f"norms2 is {norms.dtype}: expected float64")
    agree(norms, np.sum(D * D, axis=1), np.sum(D * D, axis=1), "norms2")


def gram_is_dense(A: RowMatrix) -> None:
    """gram(w, columns) = Σ w_i a_i a_iᵀ over these columns, in float64; w None is ones"""
    (n, d), D = A.shape, dense(A)
    w = np.abs(some(n, None, np.float64))
    for name, columns in (("all", np.arange(d)), ("every second", np.arange(0, d, 2)), ("the last", np.arange(d)[-1:])):
        part = D[:, columns]
        for weights in (None, w):
            heavy = part if weights is None else part * weights[:, None]
            got = gram(declared(A), weights, columns)
            demand(got.dtype == np.float64, f"gram is {got.dtype}: expected float64")
            agree(got, part.T @ heavy, 4 * np.abs(part).T @ np.abs(heavy), f"gram ({name} columns)")


def wide_points_stay_wide(A: RowMatrix) -> None:
    """A float64 point meets float32 rows in float64: certificates are computed so"""
    D, (n, d) = dense(A), A.shape
    for width in _WIDTHS:
        x, c = some(d, width, np.float64), some(n, width, np.float64, seed=1)
        for got, want, size in (
            (A.dot(x), D @ x, np.abs(D) @ np.abs(x)),
            (A.tdot(c), D.T @ c, np.abs(D).T @ np.abs(c)),
        ):
            demand(got.dtype == np.float64, f"a float64 point is rounded to {got.dtype}")
            agree(got, want, size, "a product with a float64 point")


def any_layout_is_welcome(A: RowMatrix) -> None:
    """Read-only, strided and column-ordered points and rows give what plain copies give"""
    n, d = A.shape
    for width in (None, 3):
        x, c = some(d, width, A.dtype), some(n, width, A.dtype, seed=1)
        want = A.dot(x), A.tdot(c)
        scale = (np.abs(dense(A)) @ np.abs(x), np.abs(dense(A)).T @ np.abs(c))
        frozen = x.copy(), c.copy()
        for point in frozen:
            point.flags.writeable = False
        strided = np.repeat(x, 2, axis=0)[::2], np.repeat(c, 2, axis=0)[::2]
        columns = np.asfortranarray(x), np.asfortranarray(c)
        for name, (y, e) in (("read-only", frozen), ("strided", strided), ("column-ordered", columns)):
            agree(A.dot(y), want[0], scale[0], f"dot with a {name} point")
            agree(A.tdot(e), want[1], scale[1], f"tdot with {name} numbers")
    rows = np.arange(n, dtype=np.int64)[::-1]  # a negative stride
    x = some(d, None, A.dtype)
    agree(A.dot(x, rows), A.dot(x, rows.copy()), np.abs(dense(A)[rows]) @ np.abs(x), "dot with strided rows")


def nothing_is_changed(A: RowMatrix) -> None:
    """Products write to none of their arguments, and give the same bits again"""
    n, d = A.shape
    for width in _WIDTHS:
        x, prev, c = (some(size, width, A.dtype, seed) for seed, size in enumerate((d, d, n)))
        rows = np.random.default_rng(2).integers(n, size=n)
        kept = [part.copy() for part in (x, prev, c, rows)]
        first = A.dot(x, rows), pair(declared(A), x, prev, rows), A.tdot(c, rows), A.norms2(), A.take(rows).dot(x)
        second = A.dot(x, rows), pair(declared(A), x, prev, rows), A.tdot(c, rows), A.norms2(), A.take(rows).dot(x)
        same = all(np.array_equal(a, b) for a, b in zip(kept, (x, prev, c, rows), strict=True))
        demand(same, "an argument was written to")
        demand(all(np.array_equal(a, b) for a, b in zip(first, second, strict=True)), "the bits differ the second time")


LAWS: dict[str, Law] = {
    "describes-itself": describes_itself,
    "dot-is-dense": dot_is_dense,
    "tdot-is-dense": tdot_is_dense,
    "adjoint": adjoint,
    "pair-is-two-dots": pair_is_two_dots,
    "take-is-these-rows": take_is_these_rows,
    "norms-are-squared": norms_are_squared,
    "gram-is-dense": gram_is_dense,
    "wide-points-stay-wide": wide_points_stay_wide,
    "any-layout-is-welcome": any_layout_is_welcome,
    "nothing-is-changed": nothing_is_changed,
}
