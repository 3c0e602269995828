"""All rows, side by side: the same bits for any number of threads, whatever the matrix, whatever went wrong before."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dcopt.data import csr, csr_columns
from dcopt.data.check import as_rows
from dcopt.data.csr import CsrRows
from dcopt.data.workers import each, threads
from dcopt.errors import BadSettings
from dcopt.laws.base import run
from dcopt.laws.rows import LAWS
from dcopt.losses import LOSSES
from dcopt.sums import LinearBatch, LinearSum

THREADS = ("1", "2", "3")


def matrix(n: int = 400, d: int = 30, density: float = 0.3, seed: int = 0) -> Any:
    draw = np.random.default_rng(seed)
    return sp.random_array((n, d), density=density, format="csr", rng=draw, data_sampler=draw.normal)


def holes() -> Any:
    X = matrix().toarray()
    X[:70] = X[150:151] = X[-90:] = 0.0
    X[:, ::4] = 0.0
    return sp.csr_array(X)


def one_heavy_row() -> Any:
    X = np.zeros((50, 300))
    X[17] = np.random.default_rng(0).normal(size=300)
    return sp.csr_array(X)


def unsorted() -> Any:
    X, draw = matrix(), np.random.default_rng(1)
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        order = draw.permutation(X.indptr[i + 1] - X.indptr[i])
        X.indices[part], X.data[part] = X.indices[part][order], X.data[part][order]
    return X


def wide_indices() -> Any:
    X = matrix()
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return X


def read_only() -> Any:
    X = matrix()
    for part in (X.indptr, X.indices, X.data):
        part.flags.writeable = False
    return X


MATRICES: dict[str, Callable[[], Any]] = {
    "plain": matrix,
    "holes": holes,
    "one row": lambda: matrix(1, 500),
    "one column": lambda: matrix(500, 1),
    "all in one row": one_heavy_row,
    "few rows, all full": lambda: matrix(7, 90, 1.0),
    "unsorted": unsorted,
    "int64": wide_indices,
    "read-only": read_only,
}


def rows_of(X: Any) -> CsrRows:
    """As it is: the door would sort the columns."""
    return CsrRows(X.indptr, X.indices, X.data, X.shape[1])


@pytest.fixture
def cut_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix is large, and cut into 16 parts of several blocks."""
    monkeypatch.setattr(csr, "_LARGE", 0)
    monkeypatch.setattr(csr, "_BLOCK", 100)
    for module in (csr, csr_columns):
        monkeypatch.setattr(module, "parts_for", lambda work, size: 16)


@pytest.fixture(params=["partial sums", "bands"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, cut_small: None) -> None:
    """A Gram matrix has two ways to be shared: parts of the rows, or bands of the result."""
    if request.param == "bands":
        for module in (csr, csr_columns):
            monkeypatch.setattr(module, "parts_for", lambda work, size: 5 if size == 1 else 1)


def products(A: CsrRows) -> Iterator[tuple[str, Any, Any, Any]]:
    """(what, product, the same by SciPy, the same of absolute values)"""
    (n, d), draw = A.shape, np.random.default_rng(5)
    X = sp.csr_array((A.data.astype(np.float64), A.indices.copy(), A.indptr.copy()), A.shape)  # SciPy sorts in place
    size = abs(X)
    for dtype in {A.dtype, np.dtype(np.float64)}:
        for width in ((), (1,), (3,)):
            x, c = draw.normal(size=(d, *width)).astype(dtype), draw.normal(size=(n, *width)).astype(dtype)
            prev = x[::-1]
            yield f"dot {dtype} {width}", A.dot(x), X @ x, size @ abs(x)
            yield f"tdot {dtype} {width}", A.tdot(c), X.T @ c, size.T @ abs(c)
            yield f"pair {dtype} {width}", A.pair(x, prev)[1], X @ prev, size @ abs(prev)
            z, out = A.through(x, lambda z, start, stop: np.tanh(z))
            yield f"through {dtype} {width}, z", z, X @ x, size @ abs(x)
            yield f"through {dtype} {width}", out, X.T @ np.tanh(z), size.T @ abs(np.tanh(z))
    w = draw.normal(size=n)
    w[::3] = 0.0
    for columns in (np.arange(d), np.arange(d)[1::2], np.arange(0)):
        part = X[:, columns].toarray()
        for weights in (None, w):
            heavy = part if weights is None else part * weights[:, None]
            yield f"gram of {len(columns)}", A.can().gram(weights, columns), part.T @ heavy, abs(part).T @ abs(heavy)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MATRICES)
def test_same_bits_and_right(name: str, dtype: str, both_ways: None, monkeypatch: pytest.MonkeyPatch) -> None:
    X = MATRICES[name]()
    A = CsrRows(X.indptr, X.indices, X.data if dtype == "float64" else X.data.astype(dtype), X.shape[1])
    seen: dict[str, list[Any]] = {}
    for count in THREADS:
        monkeypatch.setenv("DCOPT_THREADS", count)
        for k, (what, got, want, size) in enumerate(products(A)):
            tol = 1e-12 if got.dtype == np.float64 else 1e-6
            assert np.all(np.abs(got - want) <= tol * size), what
            seen.setdefault(f"{k} {what}", []).append(got)
    for what, results in seen.items():
        assert len(results) == len(THREADS)
        assert all(np.array_equal(results[0], other) and results[0].dtype == other.dtype for other in results), what


@pytest.mark.parametrize("name", MATRICES)
def test_the_laws_in_parts(name: str, both_ways: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "2")
    run(LAWS, rows_of(MATRICES[name]()))


def large(dtype: str = "float64") -> Any:
    return matrix(20_000, 300, 0.05, seed=3).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_large_matrix_is_cut(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the sizes as they are: in parts, and the bits of one pass are those of two."""
    X = large(dtype)
    assert X.nnz >= csr._LARGE
    A, x = as_rows(X), np.random.default_rng(0).normal(size=300).astype(dtype)
    used = set()
    for module in (csr, csr_columns):
        monkeypatch.setattr(module, "each", lambda task, count: used.add(count) or each(task, count))
    starts = []

    def slopes(z: Any, start: int, stop: int) -> Any:
        starts.append(start)
        return z * z

    seen = []
    for count in THREADS:
        monkeypatch.setenv("DCOPT_THREADS", count)
        z, out = A.through(x, slopes)
        assert np.array_equal(z, A.dot(x)) and np.array_equal(out, A.tdot(z * z))
        assert np.array_equal(z[::7], A.dot(x, np.arange(0, 20_000, 7)))  # a batch has the bits of the whole
        seen.append((z, out, A.can().gram(z.astype(np.float64), np.arange(300))))
    assert all(np.array_equal(a, b) for other in seen[1:] for a, b in zip(seen[0], other, strict=True))
    assert min(used) > 1 and len(set(starts)) > 1


def test_a_small_matrix_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bits are those of one sum from the first row to the last."""
    X = matrix(2000, 40)
    alone: Any = lambda task, count: [task(0)] if count == 1 else 1 / 0  # noqa: E731
    for module in (csr, csr_columns):
        monkeypatch.setattr(module, "each", alone)
    A, c = as_rows(X), np.random.default_rng(0).normal(size=2000)
    want = np.zeros(40)
    for i in range(2000):
        part = slice(X.indptr[i], X.indptr[i + 1])
        want[X.indices[part]] += c[i] * X.data[part]
    assert np.array_equal(A.tdot(c), want)
    assert np.array_equal(A.through(np.ones(40), lambda z, start, stop: c)[1], want)
    dense, half = X.toarray(), np.zeros((40, 40))
    for i in range(2000):
        half += np.outer(c[i] * dense[i], dense[i])
    assert np.array_equal(np.triu(A.can().gram(c, np.arange(40))), np.triu(half))


def test_partial_sums_stay_small() -> None:
    """They take a small share of the memory and the time of the matrix, and never more than 64 MiB."""
    for work in (2**18, 2**22, 2**30):
        for size in (0, 1, 300, 10_000, 10**6, 10**8):
            parts = csr.parts_for(work, size)
            assert parts in (1, 2, 4, 8, 16)
            assert parts == 1 or (8 * parts * size <= 2**26 and 8 * parts * size <= work)
    assert csr.parts_for(2**18, 100) == 4


def test_rows_without_weight_add_nothing_to_a_dense_gram_matrix() -> None:
    draw = np.random.default_rng(0)
    a, w = draw.normal(size=(9000, 12)), draw.normal(size=9000)
    w[:4096] = 0.0
    w[5000:5100] = 0.0
    w[8300:] *= draw.random(700) < 0.2
    for columns in (np.arange(12), np.arange(0, 12, 5)):
        part = a[:, columns]
        got, size = as_rows(a).gram(w, columns), abs(part).T @ abs(part * w[:, None])
        assert np.all(abs(got - part.T @ (part * w[:, None])) <= 1e-12 * size)


# ---- the threads


def test_all_tasks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (*THREADS, "50"):
        monkeypatch.setenv("DCOPT_THREADS", count)
        for tasks in (0, 1, 2, 100):
            done: list[int] = []
            each(done.append, tasks)
            assert sorted(done) == list(range(tasks))


def test_one_thread_is_the_caller_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "1")
    seen: list[tuple[int, int]] = []
    each(lambda k: seen.append((k, threading.get_ident())), 20)
    assert seen == [(k, threading.get_ident()) for k in range(20)]


def together() -> Callable[[], bool]:
    """A function which two threads must call before either goes on: True for the helper."""
    barrier, caller = threading.Barrier(2, timeout=60), threading.get_ident()

    def meet() -> bool:
        barrier.wait()
        return threading.get_ident() != caller

    return meet


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
@pytest.mark.parametrize("helper_fails", [True, False])
def test_after_an_exception_the_threads_work_on(
    error: type[BaseException], helper_fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "2")
    for _ in range(3):
        meet = together()
        begun: list[int] = []

        def task(k: int, meet: Callable[[], bool] = meet, begun: list[int] = begun) -> None:
            begun.append(k)
            if k < 2 and meet() == helper_fails:
                raise error("no")

        with pytest.raises(error):
            each(task, 10_000)
        assert len(begun) <= 10_000
        meet, who = together(), []
        each(lambda k, meet=meet, who=who: who.append(meet()), 2)
        assert sorted(who) == [False, True]


def test_a_failing_function_in_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "2")
    A, x = as_rows(large()), np.ones(300)
    want = A.dot(x)

    def fails(z: Any, start: int, stop: int) -> Any:
        raise ZeroDivisionError(start)

    with pytest.raises(ZeroDivisionError):
        A.through(x, fails)
    assert np.array_equal(A.dot(x), want)


def test_helpers_see_the_callers_floating_point_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "2")
    meet = together()

    def overflow(k: int) -> None:
        meet()
        np.exp(np.full(3, 1e4))

    with np.errstate(over="ignore"):
        each(overflow, 2)
    meet = together()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        each(overflow, 2)


def test_a_helper_may_ask_for_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "2")
    done: list[tuple[int, int]] = []
    each(lambda k: each(lambda l: done.append((k, l)), 5), 8)
    assert sorted(done) == [(k, l) for k in range(8) for l in range(5)]


def test_eight_callers_share_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "3")
    A, x = as_rows(large()), np.ones(300)
    want = A.through(x, lambda z, start, stop: np.tanh(z))
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: A.through(x, lambda z, start, stop: np.tanh(z)), range(16)):
            assert np.array_equal(got[0], want[0]) and np.array_equal(got[1], want[1])


def _in_the_child(A: CsrRows, x: Any, want: Any) -> None:
    sys.exit(0 if np.array_equal(A.tdot(A.dot(x)), want) else 3)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child has the memory of its parent, but none of its threads."""
    monkeypatch.setenv("DCOPT_THREADS", "2")
    A, x = as_rows(large()), np.ones(300)
    want = A.tdot(A.dot(x))
    child = multiprocessing.get_context("fork").Process(target=_in_the_child, args=(A, x, want))
    child.start()
    child.join(120)
    assert child.exitcode == 0
    assert np.array_equal(A.tdot(A.dot(x)), want)


@pytest.mark.parametrize("value", ["0", "-1", "two", "", "1.5", "nan", "9" * 5000])
def test_bad_number_of_threads(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    A = as_rows(large())
    monkeypatch.setenv("DCOPT_THREADS", value)
    with pytest.raises(BadSettings, match="DCOPT_THREADS.*a positive integer"):
        A.dot(np.ones(300))


def test_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_THREADS", "7")
    assert threads() == 7
    monkeypatch.delenv("DCOPT_THREADS")
    assert threads() >= 1


def test_an_intercept_goes_through_in_one_pass_too() -> None:
    """The bits of dot and tdot, with an empty block and a row that holds most entries."""
    from dcopt.data.intercept import WithIntercept

    rng = np.random.default_rng(5)
    counts = np.r_[np.zeros(40, np.int64), np.full(1, 9000), np.full(30_000, 10), np.zeros(7, np.int64)]
    indptr = np.r_[0, np.cumsum(counts)]
    indices = np.concatenate([rng.choice(9000, c, replace=False) for c in counts]).astype(np.int32)
    a = CsrRows(indptr, indices, rng.normal(size=indptr[-1]), 9000)
    both, x = WithIntercept(a), rng.normal(size=9001)
    z, out = both.through(x, lambda z, start, stop: np.tanh(z))
    assert np.array_equal(z, both.dot(x))
    np.testing.assert_allclose(out, both.tdot(np.tanh(z)), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("ones", [False, True])
def test_few_columns_are_kept_apart_and_the_bits_are_the_same(ones: bool, dtype: str) -> None:
    """Gram matrices and looks at an x that is mostly 0, before and after the entries of its columns are kept."""
    from dcopt.data.intercept import WithIntercept

    X, rng = large(dtype), np.random.default_rng(2)
    y, some = np.where(rng.random(X.shape[0]) < 0.5, 1.0, -1.0).astype(dtype), np.array([3, 4, 50, 51, 299])
    w = rng.uniform(0.5, 1.5, X.shape[0])
    x = np.zeros(300 + ones, dtype)
    x[[3, 50, 299]] = 1.0, -2.0, 0.5
    x[300:] = 0.3

    def seen(A: CsrRows, keep: Any) -> Any:
        f = LinearSum(WithIntercept(A) if ones else A, LOSSES["logistic"], y)
        if keep is not None:
            assert A.by_columns.few(keep, make=True) is not None
        z, value, g = f.all().look(x)
        return z.tobytes(), value, g.tobytes(), A.can().gram(w, some).tobytes(), A.can().gram(w, some[:2]).tobytes()

    plain = as_rows(X)
    want = seen(plain, None)
    few = plain.by_columns.few  # The Gram matrix has kept them.
    assert few(some) is not None and few(np.arange(20)) is None
    for keep in (some, np.arange(0, 300, 5), np.array([7])):
        assert seen(as_rows(X), keep) == want
    assert as_rows(X).by_columns.few(np.arange(200), make=True) is None  # not few
    indptr, indices, data = plain.by_columns.few(some)
    few = sp.csr_array((data, indices, indptr), X.shape)
    assert abs(few[:, some] - X[:, some]).max() == 0.0 and few.nnz == X[:, some].nnz


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("loss", ["logistic", "squared", "softmax"])
def test_a_full_look_is_that_of_row_by_row(
    kind: str, loss: str, cut_small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """f and ∇f with weights: each row's own value and slope in its own place, in the same bits for all threads."""
    A, rng = rows_of(MATRICES[kind]()), np.random.default_rng(3)
    n, d = A.shape
    y = {"logistic": np.sign(rng.normal(size=n)), "squared": rng.normal(size=n), "softmax": rng.integers(0, 3, n)}[loss]
    f = LinearSum(A, LOSSES[loss], y, rng.uniform(0.5, 1.5, n), (3,) if loss == "softmax" else ())
    x, seen = rng.normal(size=f.shape), []
    for many in THREADS:
        monkeypatch.setenv("DCOPT_THREADS", many)
        value, g = f.all().value_grad(x)
        assert np.array_equal(g, f.all().grad(x))
        seen.append((value, g.tobytes()))
    assert len(set(seen)) == 1
    rows = [LinearBatch(f, np.array([i]), 1).value_grad(x) for i in range(n)]
    np.testing.assert_allclose(value, np.mean([v for v, _ in rows]), rtol=1e-12)
    np.testing.assert_allclose(g, np.mean([g for _, g in rows], axis=0), rtol=1e-10, atol=1e-13)
