"""Newton's method on a quadratic and r1 over entries: against enumeration of all pieces, and never uphill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from dcopt.linalg.symmetric import positive, solve, square
from dcopt.local.models import DenseModel
from dcopt.subproblems.cd import sweep
from dcopt.subproblems.newton import SMALL, newton
from dcopt.subproblems.parts import Parts
from dcopt.subproblems.quadratic import distances

INF = np.inf


def program(d: int, rows: int, seed: int, low: float = -INF, high: float = INF) -> tuple[Any, Any, Parts, Any]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, d)) @ np.diag(np.logspace(0, -2, d))
    Q = A.T @ A / rows + 1e-9 * np.eye(d)
    b = Q @ rng.normal(size=(d, 1)) * 3 + 0.05 * rng.normal(size=(d, 1))
    c, m = rng.choice([0.0, 0.02, 0.2], (d, 1)), rng.choice([0.0, 0.1], (d, 1))
    x = np.clip(rng.normal(size=(d, 1)) * (rng.random((d, 1)) < 0.7), low, high)
    return Q, b, Parts(c, m, np.full((d, 1), low), np.full((d, 1), high), False), x


def value(Q: Any, b: Any, p: Parts, x: Any) -> float:
    return float((0.5 * x.T @ Q @ x).item() - np.sum(b * x) + np.sum(p.c * np.abs(x) + p.m / 2 * x * x))


def least(Q: Any, b: Any, p: Parts) -> float:
    """The minimum over all choices of sign, zero or bound for every entry: each a linear system."""
    best, d = INF, len(b)
    for signs in product((-1.0, 0.0, 1.0, 2.0, 3.0), repeat=d):  # 2 and 3: at the bounds
        s = np.array(signs)[:, None]
        x = np.where(s == 2.0, p.low, np.where(s == 3.0, p.high, 0.0))
        free = np.abs(s[:, 0]) == 1.0
        if not np.isfinite(x).all():
            continue
        if free.any():
            M = (Q + np.diag(p.m[:, 0]))[np.ix_(free, free)]
            x[free] = np.linalg.solve(M, (b - Q @ x - s * p.c)[free])
        if np.all((x >= p.low) & (x <= p.high)):
            best = min(best, value(Q, b, p, x))
    return best


@pytest.mark.parametrize("bounds", [(-INF, INF), (0.0, INF), (-0.5, 0.7)])
@pytest.mark.parametrize("seed", range(6))
def test_it_finds_the_least_of_all_pieces(seed: int, bounds: tuple[float, float]) -> None:
    Q, b, p, x = program(5, 40, seed, *bounds)
    v = DenseModel(Q, np.full(len(Q), 1e-9)).minimize(x, b - Q @ x, p, 1e-12)
    assert value(Q, b, p, v) == pytest.approx(least(Q, b, p), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bounds", [(-INF, INF), (0.0, INF), (-0.5, 0.7)])
@pytest.mark.parametrize("d", [6, SMALL + 60])
@pytest.mark.parametrize("seed", range(5))
def test_no_step_is_uphill_or_out_of_bounds(seed: int, d: int, bounds: tuple[float, float]) -> None:
    Q, b, p, x = program(d, d // 2 + 2, seed, *bounds)  # fewer rows than columns: as good as singular
    for _ in range(6):
        v = newton(Q, b, x, p)
        assert value(Q, b, p, v) <= value(Q, b, p, x) + 1e-12 * abs(value(Q, b, p, x))
        assert np.all((v >= p.low) & (v <= p.high))
        x = v


def test_a_singular_matrix_does_not_throw_it_far_away() -> None:
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(3, 1)), rng.normal(size=(3, 1))
        Q, zero = a @ a.T, np.zeros((3, 1))
        p = Parts(*(np.full((3, 1), v) for v in (0.5, 0.0, -INF, INF)), False)
        v = newton(Q, b, zero, p, 1)
        assert value(Q, b, p, v) <= 1e-12, seed


def test_it_ends_where_coordinate_descent_crawls() -> None:
    """Neighbours with a correlation of 0.99: four hundred passes of coordinate descent alone are far from the end."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 200))
    for j in range(1, 200):
        A[:, j] = 0.99 * A[:, j - 1] + 0.14 * A[:, j]
    Q, b = A.T @ A / 300, A.T @ (A @ rng.normal(size=(200, 1)) + rng.normal(size=(300, 1))) / 300
    p = Parts(*(np.full((200, 1), v) for v in (1e-3, 0.0, -INF, INF)), False)

    def off(v: Any) -> float:
        return float(np.linalg.norm(distances(b - Q @ v, v, p)))

    zero = np.zeros((200, 1))
    assert off(sweep(Q, b, zero, p, 400)) > 1e-4
    v = DenseModel(Q, np.full(len(Q), 1e-12)).minimize(zero, b, p, 1e-10)
    assert off(v) <= 1e-10 and np.count_nonzero(v) > 100


def test_matrices() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(9, 6))
    Q, b = A.T @ A, rng.normal(size=6)
    places = np.array([1, 2, 5])
    assert np.array_equal(square(Q, places), Q[np.ix_(places, places)])
    whole = square(Q, np.arange(6))
    whole[0, 0] = 0.0  # a copy
    assert Q[0, 0] > 0.0 and positive(Q) and not positive(Q - 1.01 * np.linalg.eigvalsh(Q)[0] * np.eye(6))
    assert not positive(np.where(np.eye(6) > 0, np.nan, Q))
    for M in (Q, Q - 3.0 * np.eye(6)):  # definite, and not
        np.testing.assert_allclose(M @ solve(M, b), b, atol=1e-10)
    assert solve(np.zeros((2, 2)), np.ones(2)) is None and solve(np.zeros((0, 0)), np.zeros(0)).size == 0


def test_both_libraries_of_blas_are_held_to_one_thread() -> None:
    """NumPy's and SciPy's are two; SciPy's, which solves here, may not have been loaded before."""
    code = """if True:
        from dcopt.linalg.symmetric import one_thread
        with one_thread(100):
            import scipy.linalg.lapack, threadpoolctl
            print([i["num_threads"] for i in threadpoolctl.threadpool_info() if i["user_api"] == "blas"])
        print([i["num_threads"] for i in threadpoolctl.threadpool_info() if i["user_api"] == "blas"])
    """
    two = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=two)
    inside, outside = (json.loads(line) for line in run.stdout.splitlines())
    assert inside and set(inside) == {1} and len(inside) == len(outside)
