"""NMF with U and V by turns: step by step what plain NumPy and scikit-learn do, and a certificate that is true."""

from __future__ import annotations

import warnings
from itertools import islice

import numpy as np
import pytest
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import dcopt
from dcopt.errors import BadInput, BadSettings
from dcopt.problems import nmf, nmf_blocks, nmf_start
from dcopt.problems.nmf_blocks import turns
from dcopt.solve import first_state


def data(seed: int = 0, n: int = 23, d: int = 9, rank: int = 4) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return np.maximum(draw.random((n, rank)) @ draw.random((rank, d)) + 0.3 * draw.normal(size=(n, d)), 0.0)


def hals(X: np.ndarray, U: np.ndarray, V: np.ndarray, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """One column of a factor after the other, its least squares in closed form."""
    U, V = U.copy(), V.copy()
    for A, B, M in ((U, V, X), (V, U, X.T)):
        for _ in range(sweeps):
            for j in range(A.shape[1]):
                rest = M - A @ B.T + np.outer(A[:, j], B[:, j])
                A[:, j] = np.maximum(rest @ B[:, j] / (B[:, j] @ B[:, j]), 0.0)
    return U, V


def value(X: np.ndarray, U: np.ndarray, V: np.ndarray) -> float:
    return 0.5 * float(np.sum((X - U @ V.T) ** 2)) / len(X)


def criticality(X: np.ndarray, U: np.ndarray, V: np.ndarray) -> float:
    """dist(−∇F, the cone normal to U, V ≥ 0)"""
    E = (U @ V.T - X) / len(X)
    total = 0.0
    for A, g in ((U, E @ V), (V, E.T @ U)):
        total += float(np.sum(np.where(A > 0.0, g, np.minimum(g, 0.0)) ** 2))
    return total**0.5


def states(X: np.ndarray, rank: int, many: int, sweeps: int = 1) -> list:
    P = nmf(X, rank)
    return list(islice(turns(P, first_state(P, nmf_start(X, rank, 1)), sweeps), many))


@pytest.mark.parametrize("sweeps", [1, 3])
def test_a_step_is_that_of_hals(sweeps):
    X = data()
    Z = nmf_start(X, 4, 1)
    U, V = Z[:23], Z[23:]
    for state in states(X, 4, 60, sweeps):
        U, V = hals(X, U, V, sweeps)
        np.testing.assert_allclose(state.x, np.concatenate([U, V]), rtol=0, atol=1e-10)
    assert 0 < np.count_nonzero(state.x) < state.x.size  # bounds were met on the way


@pytest.mark.parametrize("seed", range(3))
def test_steps_are_iterations_of_scikit_learn(seed):
    X = dcopt.load_dataset("digits")[0][:300]
    P, Z = nmf(X, 6), nmf_start(X, 6, seed)
    model = NMF(6, init="custom", max_iter=40, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        U = model.fit_transform(X, W=Z[:300].copy(), H=np.ascontiguousarray(Z[300:].T))
    res = nmf_blocks(P, steps=40, x0=Z)
    assert res.certificate.F == pytest.approx(value(X, U, model.components_.T), rel=1e-9)
    np.testing.assert_allclose(res.x, np.concatenate([U, model.components_.T]), atol=1e-6)


@pytest.mark.parametrize("sweeps", [1, 2])
def test_no_turn_raises_F(sweeps):
    X = data(1)
    before = states(X, 3, 1)[0].prev
    for state in states(X, 3, 100, sweeps):
        U, V, new_U, new_V = before[:23], before[23:], state.x[:23], state.x[23:]
        F = [value(X, U, V), value(X, new_U, V), value(X, new_U, new_V)]
        assert F[1] <= F[0] * (1 + 1e-14) and F[2] <= F[1] * (1 + 1e-14)
        assert state.t > 10 or F[2] < F[1] < F[0]
        assert state.x.min() >= 0.0
        before = state.x


def test_the_certificate_is_that_of_the_joint_problem():
    X = data(2)
    P = nmf(X, 3)
    for budget in ({"steps": 7}, {"tol": 1e-7}, {"seconds": 0.0}):
        res = nmf_blocks(P, seed=3, **budget)
        U, V = res.x[:23], res.x[23:]
        assert res.certificate.measure == "criticality"
        assert res.certificate.F == pytest.approx(value(X, U, V), rel=1e-12)
        assert res.certificate.value == pytest.approx(criticality(X, U, V), rel=1e-6, abs=1e-14)
        assert res.certificate.nnz == np.count_nonzero(res.x)
        assert res.spent.gradients == 2 * 23 * res.steps
    assert nmf_blocks(P, seed=3, tol=1e-7).status is dcopt.Status.CONVERGED
    assert nmf_blocks(P, seed=3, tol=1e-7, steps=2).status is dcopt.Status.BUDGET
    assert nmf_blocks(P, seed=3, loose_tol=1e3, steps=2).status is dcopt.Status.ACCEPTABLE
    assert nmf_blocks(P, seed=3, seconds=0.0).status is dcopt.Status.TIME
    assert nmf_blocks(P, seed=3).steps == 200


def test_the_point_is_critical_for_joint_dca_too():
    """Block after block ends where U and V at once would not move either."""
    X = data(3)
    P = nmf(X, 2)
    x = nmf_blocks(P, tol=1e-9, seed=0).x
    step = dcopt.solve(P, "dca", steps=1, x0=x, trace=None)
    assert np.abs(step.x - x).max() < 1e-6
    assert dcopt.measures.gap(P, x) < 1e-12


def test_runs_repeat_and_starts_matter():
    P = nmf(data(4), 3)
    one, two, other = (nmf_blocks(P, seed=seed).x for seed in (5, 5, 6))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def test_what_is_nothing_stays_nothing():
    """A matrix of zeros, a factor that is zero from the start, a column without data: numbers stay numbers."""
    X = data(5)
    X[:, 2] = 0.0
    Z = nmf_start(X, 3, 0)
    Z[:, 1] = 0.0
    res = nmf_blocks(nmf(X, 3), x0=Z, steps=50)
    assert res.status is dcopt.Status.BUDGET and not res.x[:, 1].any() and not res.x[23 + 2].any()
    assert nmf_blocks(nmf(np.zeros((4, 3)), 2), tol=1e-12, x0=np.ones((7, 2))).certificate.F == 0.0


def test_float32_stays():
    X = data(6)
    res = nmf_blocks(nmf(X.astype(np.float32), 3), seed=0, steps=60)
    assert res.x.dtype == np.float32 and res.status is dcopt.Status.BUDGET
    assert res.certificate.F == pytest.approx(nmf_blocks(nmf(X, 3), seed=0, steps=60).certificate.F, rel=1e-3)


def test_bad_arguments_are_refused():
    P = nmf(data(), 2)
    with pytest.raises(BadInput, match="not a factorisation"):
        nmf_blocks(dcopt.problems.pca(data()))
    with pytest.raises(BadInput, match="x0"):
        nmf_blocks(P, x0=-np.ones((32, 2)))
    for wrong in ({"sweeps": 0}, {"steps": -1}, {"tol": -1.0}, {"seconds": -1.0}, {"loose_tol": -1.0}, {"trace": -1.0}):
        with pytest.raises(BadSettings) as error:
            nmf_blocks(P, **wrong)
        assert error.value.setting == next(iter(wrong))
