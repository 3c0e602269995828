"""The laws of what a row matrix declares beside its four verbs: every facet of `Can` agrees with the verbs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.rows import NOTHING, Can, RowMatrix
from ..xp import Array
from .base import Law, demand
from .rows import agree, dense, some

_WIDTHS = (None, 1, 3)  # x is (d,), (d, 1), (d, 3)


def declared(A: RowMatrix) -> Can:
    """What A declares: nothing, if it has the four verbs alone."""
    return A.can() if hasattr(A, "can") else NOTHING


def parts(A: RowMatrix) -> Iterator[tuple[str, RowMatrix]]:
    """A, and some of its rows, unsorted and one of them twice."""
    yield "all rows", A
    n = A.shape[0]
    yield "some rows", A.take(np.array([n - 1, 0, n // 2, n - 1], np.int64))


def sets(d: int) -> Iterator[Array]:
    """Columns in increasing order: all, some, fewer of these, all again, the last one, none"""
    every = np.arange(d)
    yield from (every, every[::2], every[::2][1:], every, every[-1:], every[:0])


def can_is_declared(A: RowMatrix) -> None:
    """can() returns a Can, the same facets every time"""
    first = declared(A)
    demand(isinstance(first, Can), f"can() returns {type(first).__name__}: expected dcopt.data.rows.Can")
    same = all((one is None) == (two is None) for one, two in zip(first, declared(A), strict=True))
    demand(same, "can() declares other facets the second time")


def one_pass_is_dot_and_tdot(A: RowMatrix) -> None:
    """one_pass(x, of) = (z, Aᵀ c), z = dot(x), c = of(z): every row is asked for once, at its own place"""
    for name, part in parts(A):
        if (own := declared(part).one_pass) is None:
            continue
        D, n = dense(part), part.shape[0]
        for width in _WIDTHS:
            for dtype in {np.dtype(part.dtype), np.dtype(np.float64)}:
                for x in (some(part.shape[1], width, dtype), 0.0 * some(part.shape[1], width, dtype)):
                    seen = np.zeros(n, np.int64)

                    def of(z: Array, start: int, stop: int, seen: Array = seen) -> Array:
                        demand(len(z) == stop - start, f"one_pass gives {len(z)} of {stop - start} rows")
                        seen[start:stop] += 1
                        return _of(z, start, stop)

                    z, g = own(x, of)
                    demand(bool(np.all(seen == 1)), f"one_pass ({name}) asks for rows {seen.tolist()} times")
                    agree(z, D @ x, np.abs(D) @ np.abs(x), f"one_pass ({name}): z")
                    c = _of(np.asarray(z), 0, n)
                    agree(g, D.T @ c, np.abs(D).T @ np.abs(c), f"one_pass ({name}): Aᵀ of(z)")


def _of(z: Array, start: int, stop: int) -> Array:
    """Another function of z for every row"""
    place = np.arange(1 + start, 1 + stop, dtype=z.dtype).reshape(-1, *(1 for _ in z.shape[1:]))
    return np.tanh(z) + place


def pair_is_declared_right(A: RowMatrix) -> None:
    """pair(x, prev, rows): z at x first, then at prev, stacked"""
    for name, part in parts(A):
        if (own := declared(part).pair) is None:
            continue
        D, rows = dense(part), np.array([part.shape[0] - 1, 0], np.int64)
        for width in _WIDTHS:
            x, prev = (some(part.shape[1], width, part.dtype, seed) for seed in (0, 1))
            for chosen, E in ((None, D), (rows, D[rows])):
                want = np.stack([E @ x, E @ prev])
                size = np.stack([np.abs(E) @ np.abs(x), np.abs(E) @ np.abs(prev)])
                agree(own(x, prev, chosen), want, size, f"pair ({name})")


def gram_is_a_sum_of_products(A: RowMatrix) -> None:
    """gram(w, columns) = Σ w_i a_i a_iᵀ in float64, symmetric, for weights of any sign; None is ones"""
    for name, part in parts(A):
        own, D = declared(part).gram, dense(part)
        for columns in sets(part.shape[1]) if own is not None else ():
            for weights in _weights(len(D)):
                got = own(weights, columns)  # type: ignore[misc]  # not None
                demand(got.dtype == np.float64, f"gram ({name}) is {got.dtype}: expected float64")
                E, w = D[:, columns], np.ones(len(D)) if weights is None else weights
                size = 4 * np.abs(E).T @ (np.abs(E) * np.abs(w)[:, None])
                agree(got, E.T @ (E * w[:, None]), size, f"gram ({name}, {len(columns)} columns)")
                demand(bool(np.allclose(got, got.T, rtol=1e-12, atol=0.0)), f"gram ({name}) is not symmetric")


def _weights(n: int) -> Iterator[Array | None]:
    signed = some(n, None, np.float64)
    yield from (None, np.abs(signed), signed, np.zeros(n))


def single_gram_is_nearly_gram(A: RowMatrix) -> None:
    """single_gram(w, columns) is gram to the digits of float32, also of columns that are far from 0"""
    for name, part in parts(A):
        own, D = declared(part).rough, dense(part)
        for columns in sets(part.shape[1]) if own is not None else ():
            for weights in (None, np.abs(some(len(D), None, np.float64))):
                got, E = own.single_gram(weights, columns), D[:, columns]  # type: ignore[union-attr]  # not None
                w = np.ones(len(D)) if weights is None else weights
                lengths = np.sqrt(np.sum(w[:, None] * E * E, axis=0))
                off = np.abs(got - E.T @ (E * w[:, None])) - 1e-5 * np.outer(lengths, lengths)
                demand(bool(np.all(off <= 1e-300)), f"single_gram ({name}) is off by more than 1e-5")


def rough_weights_stand_for_all(A: RowMatrix) -> None:
    """rough_weights(w, k, rows): some rows with c w_i, c ≥ 1 the same for all, the others with 0; c n' is about n"""
    if declared(A).rough is None:
        return
    n = 400  # rows: so many that a count tells
    own: Any = declared(A.take(np.arange(n) % A.shape[0])).rough
    for weights in (None, 1.0 + np.abs(some(n, None, np.float64))):
        for k, rows in ((1, 1), (A.shape[1], 1), (A.shape[1], n), (A.shape[1], 10**9)):
            got, again = (own.rough_weights(weights, k, rows) for _ in range(2))
            if got is None or again is None:
                demand(got is again, "rough_weights differ the second time")
                demand(weights is None, "rough_weights drops the weights")
                continue
            demand(bool(np.array_equal(got, again)), "rough_weights differ the second time")
            demand(got.shape == (n,), f"rough_weights has shape {got.shape}, expected ({n},)")
            kept = got != 0.0
            factor = got[kept] / (1.0 if weights is None else weights[kept])
            if factor.size:
                c = float(factor[0])
                demand(c >= 1.0 - 1e-12 and bool(np.allclose(factor, c)), "rough_weights scales rows differently")
                near = abs(c * factor.size - n) <= 6.0 * np.sqrt(n * c)
                demand(bool(near), f"rough_weights: {factor.size} rows of weight {c:.3g} for {n}")


def columns_are_the_stored_entries(A: RowMatrix) -> None:
    """columns(c): begin, end, rows (in order, int32) and values (float64) of these columns; count(c): how many"""
    for name, part in parts(A):
        own, D = declared(part).columns, dense(part)
        for columns in sets(part.shape[1]) if own is not None else ():
            begin, end, rows, values = own.columns(columns)  # type: ignore[union-attr]  # not None
            out, total = np.zeros((len(D), len(columns))), 0
            for j in range(len(columns)):
                place = np.asarray(rows[begin[j] : end[j]])
                demand(bool(np.all(np.diff(place) > 0)), f"columns ({name}): rows of a column are not in order")
                out[place, j] = values[begin[j] : end[j]]
                total += len(place)
            agree(out, D[:, columns], np.abs(D[:, columns]), f"columns ({name})")
            kinds = rows.dtype == np.int32 and values.dtype == np.float64
            demand(kinds, f"columns ({name}): {rows.dtype} rows and {values.dtype} values, not int32 and float64")
            count = own.count(columns)  # type: ignore[union-attr]  # not None
            demand(count == total, f"count ({name}) says {count}, columns has {total} entries")


def entrywise_is_of_every_entry(A: RowMatrix) -> None:
    """entrywise(function) is the matrix of function(a_ij), for functions that leave 0 and 1 as they are"""
    for name, part in parts(A):
        if (own := declared(part).entrywise) is None:
            continue
        D = dense(part)
        for function in (_square, np.abs):
            want = function(D)
            agree(dense(own(function)), want, want, f"entrywise ({name})")
        agree(dense(part), D, np.abs(D), f"the matrix after entrywise ({name})")


def _square(a: Array) -> Array:
    return np.square(a, dtype=np.float64)


def stored_counts_entries(A: RowMatrix) -> None:
    """stored: as many entries as `columns` shows, at least those that are not 0; None where all are"""
    for name, part in parts(A):
        own, D = declared(part), dense(part)
        if own.stored is None:
            continue
        demand(np.count_nonzero(D) <= own.stored <= D.size, f"stored ({name}) is {own.stored} of {D.size} entries")
        if own.columns is not None:
            count = own.columns.count(np.arange(D.shape[1]))
            demand(count == own.stored, f"stored ({name}) is {own.stored}, count says {count}")


def csr_holds_the_entries(A: RowMatrix) -> None:
    """csr: indptr, indices and data (read-only) of A, without its last column if `ones`, which then holds ones"""
    for name, part in parts(A):
        own, D = declared(part), dense(part)
        if own.csr is None:
            demand(not own.ones, "ones without csr")
            continue
        d = D.shape[1] - int(own.ones)
        demand(own.csr.d == d, f"csr ({name}) has {own.csr.d} columns, expected {d}")
        demand(not own.ones or bool(np.all(D[:, -1] == 1.0)), f"ones ({name}): the last column is another one")
        indptr, indices, data = own.csr.fixed
        frozen = not any(array.flags.writeable for array in (indptr, indices, data))
        demand(frozen, f"csr ({name}) may be written to")
        out = np.zeros((len(D), d))
        np.add.at(out, (np.repeat(np.arange(len(D)), np.diff(indptr)), indices[: indptr[-1]]), data[: indptr[-1]])
        agree(out, D[:, :d], np.abs(D[:, :d]), f"csr ({name})")


def compiled_is_said(A: RowMatrix) -> None:
    """compiled: rows with csr arrays say that their first use compiles, so that a run gets ready off the clock"""
    own = declared(A)
    demand(own.csr is None or own.compiled, "csr is declared and compiled is not")


def facets_change_nothing(A: RowMatrix) -> None:
    """A facet writes to none of its arguments, and gives the same bits again"""
    n, d = A.shape
    x, prev = (some(d, None, A.dtype, seed) for seed in (0, 1))
    w, columns = np.abs(some(n, None, np.float64)), np.arange(d)
    kept = [part.copy() for part in (x, prev, w, columns)]
    own = declared(A)
    told: Any = ((own.gram, (w, columns)), (own.pair, (x, prev)), (own.one_pass, (x, _of)))
    for facet, arguments in told:
        if facet is None:
            continue
        both = zip(facet(*arguments), facet(*arguments), strict=True)
        demand(all(np.array_equal(a, b) for a, b in both), "the bits differ the second time")
    if (shown := own.columns) is not None:
        one, two = shown.columns(columns), shown.columns(columns)
        demand(all(np.array_equal(a, b) for a, b in zip(one, two, strict=True)), "columns differ the second time")
    if (rough := own.rough) is not None:
        demand(np.array_equal(rough.single_gram(w, columns), rough.single_gram(w, columns)), "single_gram differs")
        rough.rough_weights(w, d, 1)
    now = x, prev, w, columns
    demand(all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True)), "an argument was written to")


LAWS: dict[str, Law] = {
    "can-is-declared": can_is_declared,
    "one-pass-is-dot-and-tdot": one_pass_is_dot_and_tdot,
    "pair-is-declared-right": pair_is_declared_right,
    "gram-is-a-sum-of-products": gram_is_a_sum_of_products,
    "single-gram-is-nearly-gram": single_gram_is_nearly_gram,
    "rough-weights-stand-for-all": rough_weights_stand_for_all,
    "columns-are-the-stored-entries": columns_are_the_stored_entries,
    "entrywise-is-of-every-entry": entrywise_is_of_every_entry,
    "stored-counts-entries": stored_counts_entries,
    "csr-holds-the-entries": csr_holds_the_entries,
    "compiled-is-said": compiled_is_said,
    "facets-change-nothing": facets_change_nothing,
}
