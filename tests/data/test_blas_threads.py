"""One BLAS thread for short products: which ones are limited, counted and never timed."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt.data.dense import DenseRows
from dcopt.linalg import blas_threads
from dcopt.linalg.blas_threads import for_product, one_thread

TWO = os.environ | {"OPENBLAS_NUM_THREADS": "2"}


class Counted:
    """A BLAS with two threads: how often it is held to one, and what it has now."""

    def __init__(self) -> None:
        self.threads, self.held = 2, 0

    def limit(self, limits: int) -> Counted:
        self.threads, self.held = limits, self.held + 1
        return self

    def restore_original_limits(self) -> None:
        self.threads = 2


@pytest.fixture
def blas(monkeypatch: pytest.MonkeyPatch) -> Counted:
    one = Counted()
    monkeypatch.setattr(blas_threads, "_blas", lambda: one)
    return one


def test_products_between_those_of_one_thread_and_the_long_ones_are_limited(blas: Counted) -> None:
    for size in ((2097, 500), (16_776, 500), (2048, 30, 30), (2048, 100, 100), (2048, 300, 300), (512, 512, 2)):
        blas.held = 0
        with for_product(*size):
            assert (blas.held, blas.threads) == (1, 1), size
        assert blas.threads == 2
    blas.held = 0
    for size in ((64, 500), (512, 512), (2048, 10, 10), (2048, 1000, 1000), (2**20, 2**10)):
        with for_product(*size):
            assert (blas.held, blas.threads) == (0, 2), size
    for rows, held in ((32, 0), (33, 1)):
        with one_thread(rows):
            assert blas.held == held


def test_each_product_of_dense_rows_is_one_limit(blas: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass in blocks sets the limit once, a mini-batch that BLAS does with one thread never."""
    A, x, w = DenseRows(np.ones((4000, 500))), np.ones(500), np.ones(4000)
    some, few, seen = np.arange(1000), np.arange(100), list[int]()

    def of(z: Any, start: int, stop: int) -> Any:
        seen.append(blas.threads)
        return z

    def counts(*rows: Any) -> list[int]:
        out = []
        c = w[: len(rows[0])] if rows else w
        for call in (lambda: A.dot(x, *rows), lambda: A.pair(x, x, *rows), lambda: A.tdot(c, *rows)):
            blas.held = 0
            call()
            out.append(blas.held)
        return out

    assert counts() == [1, 1, 1] and counts(some) == [1, 1, 1] and counts(few) == [0, 0, 0]
    blas.held = 0
    A.through(x, of)
    assert blas.held == 1 and seen == [1] * 4  # blocks of 1048 rows
    for columns, held in ((8, 0), (100, 2), (500, 0)):  # blocks of 2048 and 1952 rows
        blas.held = 0
        A.gram(None, np.arange(columns))
        assert blas.held == held
    monkeypatch.setattr(blas_threads, "_LONG", 0)
    assert counts() == counts(some) == [0, 0, 0]


def test_a_limit_ends_when_the_last_of_those_who_overlap_leaves(blas: Counted) -> None:
    first, second = for_product(1000, 1000), for_product(1000, 1000)
    first.__enter__()
    other = threading.Thread(target=second.__enter__)
    other.start()
    other.join()
    first.__exit__(None, None, None)
    assert (blas.held, blas.threads) == (1, 1)
    second.__exit__(None, None, None)
    assert (blas.held, blas.threads) == (1, 2)


def test_a_path_holds_blas_to_one_thread_in_its_passes() -> None:
    """The threads that NumPy's BLAS has, inside a pass over the rows of a fit and after it."""
    code = """if True:
        import json
        import numpy as np, threadpoolctl
        import dcopt
        from dcopt.data.dense import DenseRows

        def threads():
            return [one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]

        usual, inside, through = threads(), [], DenseRows.through

        def watched(self, x, of):
            def seen(z, start, stop):
                inside.append(threads())
                return of(z, start, stop)
            return through(self, x, seen)

        DenseRows.through = watched
        X = np.random.default_rng(0).standard_normal((2000, 200))
        dcopt.DCClassifier(penalty="scad").fit(X, X[:, 0] > 0)
        print(json.dumps([usual, inside, threads()]))
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=TWO)
    usual, inside, after = json.loads(run.stdout)
    assert inside and {n for one in inside for n in one} == {1} and set(usual) == {2} and set(after) == {2}


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_its_threads_though_another_thread_of_its_parent_was_limited() -> None:
    code = """if True:
        import os, threading, warnings
        import threadpoolctl
        from dcopt.linalg.blas_threads import for_product
        warnings.simplefilter("ignore")
        limit, entered, leave = for_product(1000, 1000), threading.Event(), threading.Event()

        def work():
            with limit:
                entered.set()
                leave.wait()

        other = threading.Thread(target=work)
        other.start()
        entered.wait()
        child = os.fork()
        blas = {one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"}
        if not child:
            with limit:
                pass
            os._exit(0 if blas == {2} else 3)
        leave.set()
        other.join()
        after = {one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"}
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or (blas, after) != ({1}, {2}))
    """
    subprocess.run([sys.executable, "-c", code], check=True, env=TWO, timeout=120)


def test_the_limit_changes_no_answer() -> None:
    X = np.random.default_rng(0).standard_normal((3000, 200))
    rows = DenseRows(X)
    np.testing.assert_allclose(rows.tdot(rows.dot(np.ones(200))), X.T @ X.sum(axis=1), rtol=1e-11, atol=1e-8)
    P = dcopt.erm(X, np.sign(X[:, 0]), "logistic", dcopt.regularizers.SCAD(lam=0.05))
    assert dcopt.solve(P, "dca", passes=5, seed=0).certificate.F < P.value(np.zeros(200))
