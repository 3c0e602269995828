"""Every row matrix keeps every law: CSR and dense, both precisions, both index types, as users hand them in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dcopt.data.check import as_rows
from dcopt.data.csr import CsrRows
from dcopt.data.dense import DenseRows
from dcopt.data.intercept import WithIntercept
from dcopt.data.rows import RowMatrix
from dcopt.laws.base import LawBroken, run
from dcopt.laws.rows import LAWS, dense


def table(dtype: str = "float64", n: int = 7, d: int = 5) -> Any:
    """Sparse, with an empty first, middle and last row and column."""
    draw = np.random.default_rng(0)
    a = draw.normal(size=(n, d)) * (draw.random((n, d)) < 0.6)
    a[[0, n // 2, n - 1]] = 0.0
    a[:, [0, d // 2, d - 1]] = 0.0
    return a.astype(dtype)


def csr(dtype: str = "float64", index: str = "int32") -> Any:
    X = sp.csr_array(table(dtype))
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    return X


def unsorted() -> Any:
    X = csr()
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
    return sp.csr_array((X.data, X.indices, X.indptr), X.shape)


def duplicated() -> Any:
    """Every entry in two halves."""
    X = csr()
    return sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape)


def read_only(X: Any) -> Any:
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    return X


def frozen(a: Any) -> Any:
    a.flags.writeable = False
    return a


HANDED_IN: dict[str, Callable[[], Any]] = {
    **{
        f"csr-{dtype}-{index}": lambda dtype=dtype, index=index: csr(dtype, index)
        for dtype in ("float64", "float32")
        for index in ("int32", "int64")
    },
    "csr-read-only": lambda: read_only(csr()),
    "csr-unsorted": unsorted,
    "csr-duplicates": duplicated,
    "csr-duplicates-read-only": lambda: read_only(duplicated()),
    "csc": lambda: sp.csc_array(table()),
    "coo": lambda: sp.coo_array(table()),
    "csr-matrix": lambda: sp.csr_matrix(table()),
    "csr-of-integers": lambda: sp.csr_array(np.round(3 * table()).astype(np.int16)),
    "csr-all-zero": lambda: sp.csr_array((4, 3)),
    "dense-float64": table,
    "dense-float32": lambda: table("float32"),
    "dense-column-order": lambda: np.asfortranarray(table()),
    "dense-read-only": lambda: frozen(table()),
    "dense-strided": lambda: table(d=12)[::2, ::3],
    "dense-big-endian": lambda: table().astype(">f8"),
    "dense-one-row": lambda: np.array([[1.0, -2.0, 3.0]]),
    "dense-one-column": lambda: np.array([[1.0], [-2.0], [0.5]]),
    "list": lambda: table().tolist(),
}
OWN: dict[str, Callable[[], RowMatrix]] = {
    "intercept-csr": lambda: WithIntercept(as_rows(csr())),
    "intercept-csr-float32": lambda: WithIntercept(as_rows(csr("float32"))),
    "intercept-dense": lambda: WithIntercept(as_rows(table())),
    "intercept-dense-float32": lambda: WithIntercept(as_rows(table("float32"))),
    "intercept-twice": lambda: WithIntercept(WithIntercept(as_rows(table()))),
    "csr-columns-in-any-order": lambda: CsrRows(
        np.array([0, 0, 3, 5]), np.array([4, 0, 2, 3, 1]), np.array([1.0, -2.0, 3.0, 0.5, -1.5]), 5
    ),
}
ALL: dict[str, Callable[[], RowMatrix]] = {
    **{name: (lambda make=make: as_rows(make())) for name, make in HANDED_IN.items()},
    **OWN,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ALL)
def test_law(name: str, law: str) -> None:
    LAWS[law](ALL[name]())


def as_dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("name", HANDED_IN)
def test_the_door_keeps_the_numbers_and_changes_nothing(name: str) -> None:
    X, twin = HANDED_IN[name](), HANDED_IN[name]()
    rows = as_rows(X)
    want = as_dense(twin).astype(np.float64)
    tol = 0.0 if "duplicates" not in name else 1e-15
    np.testing.assert_allclose(dense(rows), want, rtol=tol, atol=tol)
    run(LAWS, rows)
    np.testing.assert_array_equal(as_dense(X), as_dense(twin))
    if sp.issparse(X) and X.format == "csr":
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(X, part), getattr(twin, part))
            assert getattr(X, part).dtype == getattr(twin, part).dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_clean_csr_is_not_copied(dtype: str, index: str) -> None:
    X = csr(dtype, index)
    rows = as_rows(X)
    assert isinstance(rows, CsrRows)
    assert rows.dtype == dtype
    assert rows.indices.dtype == rows.indptr.dtype == index
    assert np.shares_memory(rows.data, X.data)
    assert np.shares_memory(rows.indices, X.indices)


def test_csr_and_dense_agree() -> None:
    one, two = as_rows(csr()), as_rows(table())
    np.testing.assert_array_equal(dense(one), dense(two))
    np.testing.assert_allclose(one.norms2(), two.norms2(), rtol=1e-15)
    assert one.shape == two.shape == (7, 5)


def test_intercept_is_a_last_column_of_ones() -> None:
    a = table()
    ones = np.concatenate((a, np.ones((7, 1))), axis=1)
    np.testing.assert_array_equal(dense(WithIntercept(as_rows(a))), ones)


def test_float32_products_are_summed_in_float64() -> None:
    """2²⁴ + 1 + … + 1 in float32 alone would stay at 2²⁴."""
    a = np.ones((1, 9), np.float32)
    a[0, 0] = 2.0**24
    rows = as_rows(sp.csr_array(a))
    assert rows.dot(np.ones(9, np.float32))[0] == 2.0**24 + 8
    assert rows.take(np.zeros(1, np.int64)).dot(np.ones((9, 2), np.float32))[0, 1] == 2.0**24 + 8
    column = as_rows(sp.csr_array(a.T.copy()))
    assert column.tdot(np.ones(9, np.float32))[0] == 2.0**24 + 8
    assert column.tdot(np.ones((9, 2), np.float32))[0, 1] == 2.0**24 + 8


# ---- broken row matrices are refused


@dataclass(frozen=True, eq=False)
class Repeats(DenseRows):
    """Writes where it should add: a row drawn twice counts once."""

    def tdot(self, c: Any, rows: Any = None) -> Any:
        if rows is None:
            return super().tdot(c)
        whole = np.zeros((self.shape[0], *c.shape[1:]), c.dtype)
        whole[rows] = c
        return super().tdot(whole)


class Sorts(DenseRows):
    def dot(self, x: Any, rows: Any = None) -> Any:
        return super().dot(x, None if rows is None else np.sort(rows))


class NotTransposed(DenseRows):
    def tdot(self, c: Any, rows: Any = None) -> Any:
        return 1.001 * super().tdot(c, rows)


class OneBehind(DenseRows):
    def pair(self, x: Any, prev: Any, rows: Any = None) -> Any:
        return super().pair(x, x, rows)


class TakesASlice(DenseRows):
    def take(self, rows: Any) -> Any:
        return DenseRows(self.a[: len(rows)])


class NotSquared(DenseRows):
    def norms2(self) -> Any:
        return np.sqrt(super().norms2())


class Unweighted(DenseRows):
    def gram(self, weights: Any, columns: Any) -> Any:
        return super().gram(None, columns)


class Narrow(DenseRows):
    def norms2(self) -> Any:
        return super().norms2().astype(np.float32)


class Rounds(DenseRows):
    def dot(self, x: Any, rows: Any = None) -> Any:
        return super().dot(x.astype(self.dtype), rows)


class WidensAll(DenseRows):
    def dot(self, x: Any, rows: Any = None) -> Any:
        return super().dot(x.astype(np.float64), rows)


class Flat(DenseRows):
    def dot(self, x: Any, rows: Any = None) -> Any:
        buffer = np.frombuffer(x.T.tobytes() if x.flags.f_contiguous else x.tobytes(), x.dtype).reshape(x.shape)
        return super().dot(buffer, rows)


class ScalesInPlace(DenseRows):
    def tdot(self, c: Any, rows: Any = None) -> Any:
        out = super().tdot(c, rows)
        c *= 1.0 + 1e-9
        return out


SMALL = table("float32")
BROKEN: list[tuple[RowMatrix, str]] = [
    (Repeats(table()), "tdot-is-dense"),
    (Repeats(table()), "adjoint"),
    (Sorts(table()), "dot-is-dense"),
    (NotTransposed(table()), "adjoint"),
    (OneBehind(table()), "pair-is-two-dots"),
    (TakesASlice(table()), "take-is-these-rows"),
    (NotSquared(table()), "norms-are-squared"),
    (Narrow(table()), "norms-are-squared"),
    (Unweighted(table()), "gram-is-dense"),
    (Rounds(SMALL), "wide-points-stay-wide"),
    (WidensAll(SMALL), "describes-itself"),
    (Flat(table()), "any-layout-is-welcome"),
    (ScalesInPlace(table()), "nothing-is-changed"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=lambda x: x if isinstance(x, str) else type(x).__name__)
def test_broken_row_matrix_is_refused(broken: RowMatrix, law: str) -> None:
    with pytest.raises(LawBroken):
        LAWS[law](broken)


def test_every_law_refuses_something() -> None:
    assert {law for _, law in BROKEN} == set(LAWS)
