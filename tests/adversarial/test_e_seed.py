"""E. Same seed, same path: on every engine, in every process and thread, whatever else draws random numbers."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from faults import FaultyRows
from small import EXP, METHODS, binary, matrix, signs
from threadpoolctl import threadpool_limits

import dcopt
from dcopt import BadSettings, erm, iterate, solve
from dcopt.draw import Draw
from dcopt.estimators import ESTIMATORS

DETERMINISTIC = "dca", "cccp", "dca-svrg", "mm-svrg"  # the SVRGs: full gradients for so few rows

# one text for this process and others: every method, dense and CSR, one line each
PATHS = """
import hashlib
import numpy as np, scipy.sparse as sp
import dcopt
rng = np.random.Generator(np.random.PCG64(0))
X = rng.standard_normal((300, 20)) * (rng.random((300, 20)) < 0.3)
y = np.where(rng.random(300) < 0.5, "a", "b")
def paths():
    for form in (np.asarray, sp.csr_array):
        for loss, labels in (("squared-sigmoid", y), ("softmax", rng2(3))):
            P = dcopt.erm(form(X), labels, loss, dcopt.regularizers.Exponential(lam=1e-3, alpha=5.0), intercept=True)
            for method in (m for m in dcopt.METHODS if m != "pdcae"):  # needs a convex f
                r = dcopt.solve(P, method, passes=6, seed=11, output="uniform")
                last = dcopt.solve(P, method, passes=6, seed=11)
                told = (r.x.tobytes() + last.x.tobytes() + repr((last.spent, last.steps, last.trace["F"])).encode())
                yield form.__name__, loss, method, hashlib.sha256(told).hexdigest()
def rng2(k):
    return np.arange(300) * 7 % k
"""


def _here() -> list[str]:
    space: dict[str, Any] = {}
    exec(PATHS, space)
    return [" ".join(line) for line in space["paths"]()]


def _elsewhere(before: str = "", **environment: str) -> list[str]:
    text = before + PATHS + "\nfor line in paths():\n    print(*line)\n"
    where = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=where, check=True, timeout=120
    )
    return done.stdout.splitlines()


def _bits(P: dcopt.Problem, method: Any, seed: int, **options: Any) -> tuple[Any, ...]:
    result = solve(P, method, passes=5, seed=seed, **options)
    return result.x.tobytes(), result.spent, result.steps, tuple(result.trace["F"]), result.status


# ---- E1, E7


def test_e1_twice_here_and_twice_elsewhere() -> None:
    """E7 as well: random hashes, other import orders, one thread."""
    here = _here()
    assert len(here) == 4 * (len(dcopt.METHODS) - 1) and here == _here()
    assert here == _elsewhere(PYTHONHASHSEED="random")
    unusual = (
        "import random, numba, sklearn, scipy.special, dcopt.laws, dcopt.solve, dcopt.losses.softmax\nrandom.seed(1)\n"
    )
    assert here == _elsewhere(unusual, PYTHONHASHSEED="random", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


@pytest.mark.parametrize("method", [*METHODS, *ESTIMATORS])
def test_e1_the_callers_random_numbers_do_not_matter(method: str) -> None:
    how = ESTIMATORS.get(method, method)
    want = _bits(binary(), how, 5)
    np.random.seed(0)  # noqa: NPY002, TID251
    random.seed(0)
    before = np.random.get_state()[1].tobytes(), random.getstate()  # noqa: NPY002
    assert _bits(binary(), how, 5) == want
    assert (np.random.get_state()[1].tobytes(), random.getstate()) == before  # noqa: NPY002  # and they are left alone
    noise = [lambda state: (np.random.rand(), random.random()) and None]  # noqa: NPY002
    assert _bits(binary(), how, 5, callbacks=noise) == want


@pytest.mark.parametrize("method", [*METHODS, *ESTIMATORS])
def test_e1_iterate_and_solve_walk_the_same_path(method: str) -> None:
    how = ESTIMATORS.get(method, method)
    seen: list[np.ndarray] = []
    solve(binary(), how, steps=25, seed=9, callbacks=[lambda state: seen.append(state.x.copy()) or None])
    states = [state.x.copy() for state, _ in zip(iterate(binary(), how, seed=9), range(25), strict=False)]
    np.testing.assert_array_equal(seen, states)


@pytest.mark.parametrize("method", [*METHODS, *ESTIMATORS])
@pytest.mark.parametrize("cut", [1, 2, 7, 64])
def test_e1_a_path_continued_is_the_path(method: str, cut: int) -> None:
    how = ESTIMATORS.get(method, method)
    whole = [state for state, _ in zip(iterate(binary(), how, seed=9), range(cut + 10), strict=False)]
    *_, middle = islice(iterate(binary(), how, seed=9), cut)  # not one step more: its memory is the newest state's
    for _ in range(2):  # the state is not used up by continuing from it
        rest = [state for state, _ in zip(iterate(binary(), how, seed=9, state=middle), range(10), strict=False)]
        assert [s.t for s in rest] == [s.t for s in whole[cut:]]
        assert [s.spent for s in rest] == [s.spent for s in whole[cut:]]
        np.testing.assert_array_equal([s.x for s in rest], [s.x for s in whole[cut:]])


def test_e1_a_draw_does_not_depend_on_what_was_drawn_before() -> None:
    forwards = [(Draw(3, t).coin(), *Draw(3, t).rows(100, 7)) for t in range(300)]
    backwards = [(Draw(3, t).coin(), *Draw(3, t).rows(100, 7)) for t in reversed(range(300))][::-1]
    assert forwards == backwards
    Draw(3, 5).rows(100, 7)[:] = 0  # what was handed out is the caller's
    assert forwards[5] == (Draw(3, 5).coin(), *Draw(3, 5).rows(100, 7))


# ---- E2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_e2_eight_threads_at_once(method: str, form: Any) -> None:
    X = matrix(200, 10)
    P = erm(form(X), signs(X), regularizer=EXP)  # one problem, shared
    one_by_one = [_bits(P, method, seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            assert list(pool.map(lambda seed: _bits(P, method, seed), range(8))) == one_by_one
    assert len({bits[0] for bits in one_by_one}) == (1 if method in DETERMINISTIC else 8)


# ---- E3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", ["squared-sigmoid", "softmax"])
def test_e3_csr_has_the_same_bits_for_any_number_of_threads(method: str, loss: str) -> None:
    X = matrix(400, 300, density=0.05)
    y = signs(X) if loss == "squared-sigmoid" else np.arange(400) % 3
    P = erm(sp.csr_array(X), y, loss, EXP)
    ends = []
    for threads in (1, 2, 8):
        with threadpool_limits(threads):
            ends.append(_bits(P, method, 2))
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("method", METHODS)
def test_e3_dense_agrees_to_rounding(method: str) -> None:
    X = matrix(400, 300)
    P = erm(X, signs(X), regularizer=EXP)
    ends = []
    for threads in (1, 2, 8):
        with threadpool_limits(threads):
            ends.append(solve(P, method, passes=5, seed=2).x)
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=0, atol=1e-12)
    sparse = solve(erm(sp.csr_array(X), signs(X), regularizer=EXP), method, passes=5, seed=2).x
    np.testing.assert_allclose(sparse, ends[0], rtol=0, atol=1e-12)  # the two engines as well


# ---- E8


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63, 2**64 - 1, np.uint64(2**64 - 1), np.int8(3)])
@pytest.mark.parametrize("method", ["dca-page", "mm-saga", "sdca"])
def test_e8_seeds_of_any_size(seed: Any, method: str) -> None:
    result = solve(binary(), method, passes=3, seed=seed)
    assert result.seed == int(seed) and type(result.seed) is int
    np.testing.assert_array_equal(result.x, solve(binary(), method, passes=3, seed=int(seed)).x)


def test_e8_different_seeds_are_different_paths() -> None:
    ends = {solve(binary(), "dca-page", passes=3, seed=s).x.tobytes() for s in (*range(20), 2**32, 2**63, 2**64 - 1)}
    assert len(ends) == 23


@pytest.mark.parametrize("bad", [-1, 2**64, 1.0, "1", True, np.nan, [1], np.random.default_rng(0)])
def test_e8_bad_seeds_are_refused(bad: Any) -> None:
    for use in (solve, iterate):
        with pytest.raises(BadSettings) as caught:
            use(binary(), seed=bad)
        assert caught.value.setting == "seed"


def test_e8_no_seed_is_a_seed_that_is_told() -> None:
    one, two = (solve(binary(), "dca-page", passes=3) for _ in range(2))
    assert one.seed != two.seed and 0 <= one.seed < 2**64
    np.testing.assert_array_equal(solve(binary(), "dca-page", passes=3, seed=one.seed).x, one.x)
    assert not np.array_equal(one.x, two.x)


def test_e8_the_rows_are_those_of_the_seed() -> None:
    drawn = {}
    for seed in (3, 3, 4):
        rows = FaultyRows(dcopt.data.check.as_rows(matrix()))
        solve(erm(rows, signs(matrix()), regularizer=EXP), "mm-saga", steps=10, seed=seed, trace=None)
        now = [call.rows.tolist() for call in rows.log if call.rows is not None and call.verb == "dot"][1:]
        assert drawn.setdefault(seed, now) == now
    assert drawn[3] != drawn[4]
