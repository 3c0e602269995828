"""Dense rows: blocks that fit the cache, rough Gram matrices, and the door that needs one look."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.data import dense
from dcopt.data.check import as_rows
from dcopt.data.dense import DenseRows
from dcopt.data.intercept import WithIntercept
from dcopt.data.rows import rough_gram
from dcopt.sums.grams import Grams


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [(), (3,)])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, dtype: Any, width: tuple[int, ...]) -> None:
    """z and Aᵀc in one pass have the bits of two, every row is seen once, and the sums are those of one block."""
    rng = np.random.default_rng(0)
    X, x = rng.normal(size=(1000, 7)).astype(dtype), rng.normal(size=(7, *width)).astype(dtype)
    whole = X.T @ np.tanh(X @ x)
    monkeypatch.setattr(dense, "_CACHE", X[:64].nbytes)
    a, seen = DenseRows(X), []

    def of(z: Any, start: int, stop: int) -> Any:
        seen.append((start, stop))
        return np.tanh(z)

    z, g = a.through(x, of)
    assert seen == [(i, min(i + 64, 1000)) for i in range(0, 1000, 64)] and z.dtype == g.dtype == dtype
    assert np.array_equal(g, a.tdot(np.tanh(z)))
    np.testing.assert_allclose(g, whole, rtol=1e-12 if dtype == np.float64 else 2e-4)
    np.testing.assert_allclose(z, X @ x, rtol=1e-12 if dtype == np.float64 else 2e-4, atol=1e-6)


def test_a_gram_matrix_in_float32_is_near_and_a_sampled_one_is_a_metric() -> None:
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(20_000, 12)), rng.uniform(0.0, 2.0, 20_000)
    columns = np.array([0, 3, 4, 9, 11])
    want = (X[:, columns].T * w) @ X[:, columns]
    a = DenseRows(X)
    np.testing.assert_allclose(a.gram(w, columns), want, rtol=1e-9, atol=1e-8)
    single = a.gram(w, columns, np.float32)
    np.testing.assert_allclose(single, want, atol=1e-6 * want.max())
    assert single.dtype == np.float64 and np.any(single != want)
    assert np.array_equal(rough_gram(a, w, columns, 32), a.gram(w, columns))  # cheap: why not exact
    far = X[:, columns] + 1e4 * np.array([1.0, -1.0, 0.0, 3.0, 0.0])  # a variance of 1 beside 10⁸
    exact = np.cov(X[:, columns].T, aweights=w, bias=True)
    gram = DenseRows(far).gram(w, np.arange(5), np.float32)
    mean = w @ far / w.sum()
    np.testing.assert_allclose(gram / w.sum() - np.outer(mean, mean), exact, atol=1e-5)
    np.testing.assert_allclose(gram, DenseRows(far).gram(w, np.arange(5)), rtol=1e-7, atol=1e-2)
    first = np.where(np.arange(20_000)[:, None] < 300, 1e6, X[:, columns])  # rows unlike the others, without weight
    gram = DenseRows(first).gram(np.where(np.arange(20_000) < 300, 0.0, w), np.arange(5), np.float32)
    np.testing.assert_allclose(gram, (X[300:, columns].T * w[300:]) @ X[300:, columns], atol=1e-6 * want.max())
    signed = w - 1.0
    pair = (DenseRows(far).gram(signed, np.arange(5), dtype) for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(*pair, rtol=1e-6, atol=1e-2)
    X, every = rng.normal(size=(20_000, 90)), np.arange(90)
    a = DenseRows(X)
    for weights, full, per in ((None, X.T @ X, 16), (w, (X.T * w) @ X, 32)):
        rough = rough_gram(a, weights, every, per)
        ends = np.linalg.eigvals(np.linalg.solve(full, rough)).real
        off = per**-0.5  # of some of the rows
        assert 0.9 * (1 - off) ** 2 < ends.min() < 0.99 and 1.01 < ends.max() < 1.1 * (1 + off) ** 2
        assert np.array_equal(rough, rough_gram(a, weights, every, per))  # the same ones each time


def test_a_rough_gram_matrix_keeps_the_digits_of_columns_far_from_zero() -> None:
    """In float32 a mean of 10⁴ would leave nothing of a variance of 1."""
    X = np.random.default_rng(3).normal(size=(5000, 120)) + 1e4
    Q = rough_gram(WithIntercept(as_rows(X)), None, np.arange(121), 32) / 5000
    left = Q[:-1, :-1] - np.outer(Q[:-1, -1], Q[-1, :-1]) / Q[-1, -1]
    np.testing.assert_allclose(left, np.cov(X.T, bias=True), atol=1e-4)


def test_a_rough_gram_matrix_with_an_intercept_is_of_the_same_rows_everywhere() -> None:
    """Columns with a mean: borders of all rows around a sample of them would not be positive definite."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 90)) + 5.0
    rough = rough_gram(WithIntercept(as_rows(X)), None, np.arange(91), 16)
    exact = WithIntercept(as_rows(X)).gram(None, np.arange(91))
    ends = np.linalg.eigvals(np.linalg.solve(exact, rough)).real
    assert 0.9 * 0.75**2 < ends.min() < 0.99 and 1.01 < ends.max() < 1.1 * 1.25**2
    assert WithIntercept(as_rows(csr_array(X))).can().rough is None


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e18, 1e60])
def test_a_gram_matrix_in_float32_has_no_scale(scale: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6))
    single = DenseRows(scale * X).gram(None, np.arange(6), np.float32) / scale**2
    np.testing.assert_allclose(single, X.T @ X, atol=1e-3)


def test_the_gram_matrix_of_least_squares_is_a_function_of_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is a part of that of all columns: what was asked for before leaves no trace in the bits."""
    rng = np.random.default_rng(2)
    P = dcopt.erm(rng.normal(size=(300, 40)), rng.normal(size=300), "squared")
    sets = [np.sort(rng.permutation(40)[:k]) for k in (3, 19, 21, 40, 21, 3)]
    for most in (2**30, 0):
        monkeypatch.setattr("dcopt.sums.grams._WHOLE", most)
        grams, X = Grams(P.f), P.f.a.a
        for some in sets:
            Q = grams.on(some)
            assert np.array_equal(Q, Grams(P.f).on(some))
            np.testing.assert_allclose(Q, X[:, some].T @ X[:, some] / 300, rtol=1e-9, atol=1e-12)


def test_the_program_of_an_exact_gram_matrix_is_the_problem() -> None:
    """Least squares and a convex penalty: one step, whatever the start."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 30)) @ rng.normal(size=(30, 30))
    P = dcopt.erm(X, X[:, :5].sum(axis=1) + rng.normal(size=200), "squared", dcopt.regularizers.L1(lam=0.5))
    for x0 in (np.zeros(30), rng.normal(size=30)):
        x = dcopt.solve(P, "dca-local", x0=x0, steps=1).x
        assert dcopt.measures.criticality(P, x) <= 1e-6 * dcopt.measures.criticality(P, x0)
        assert 0 < np.count_nonzero(x) < 30


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e71])
def test_one_look_at_the_norms_sees_every_entry(value: float) -> None:
    X = np.ones((50, 4))
    X[31, 2] = value
    with pytest.raises(dcopt.errors.BadInput, match=r"row 31.*column 2|31, 2"):
        as_rows(X)


def test_entries_below_the_limit_pass_though_their_sum_is_above_it() -> None:
    X = np.full((2, 3), 9e69)
    assert as_rows(X).shape == (2, 3)


def test_float32_least_squares_of_low_rank_do_not_run_away() -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 5)) @ rng.normal(size=(5, 10))).astype(np.float32)
    res = dcopt.solve(dcopt.erm(X, rng.normal(size=300).astype(np.float32), "squared"), "dca-local", passes=20)
    assert np.abs(res.x).max() < 10.0
