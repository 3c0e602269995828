"""The compiled pass means what the array formulas mean: every loss, with and without weights, over whole runs."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt.data import csr
from dcopt.data.intercept import WithIntercept
from dcopt.draw import Draw
from dcopt.estimators import PAGE, SARAH, SVRG
from dcopt.losses import LOSSES
from dcopt.regularizers import Exponential
from dcopt.sums import LinearSum

SCALARS = [name for name, loss in LOSSES.items() if loss.labels != "class" and loss.bounded]
PLAIN = {"smoothed-ramp", "quantile", "epsilon-insensitive"}  # losses with settings beside a scale


def problem(name: str, weighted: bool) -> dcopt.Problem:
    rng = np.random.default_rng(7)
    X = sp.random(120, 15, density=0.3, format="csr", random_state=rng)
    y = rng.normal(size=120) if LOSSES[name].labels == "real" else np.where(rng.random(120) < 0.4, "a", "b")
    weights = rng.uniform(0.1, 3.0, 120) if weighted else None
    return dcopt.erm(X, y, name, Exponential(lam=0.01, alpha=5.0), sample_weight=weights)


def without_fusion(P: dcopt.Problem) -> dcopt.Problem:
    f = P.f
    assert isinstance(f, LinearSum)
    plain = LinearSum(f.a, f.loss, f.labels, f.weights, f.classes)
    plain.__dict__["fused"] = None  # what the cached property would have found
    return dcopt.Problem(P.G, r=P.r, f=plain)


def test_most_losses_are_fused() -> None:
    fused = {name for name in SCALARS if problem(name, False).f.fused is not None}  # type: ignore[union-attr]
    assert fused == set(SCALARS) - PLAIN


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("estimator", [PAGE(p=0.1, b_small=7), SARAH(b_small=7, period=9), SVRG(b_small=7, period=9)])
def test_fused_runs_in_lockstep(name: str, weighted: bool, estimator: Any) -> None:
    P = problem(name, weighted)
    runs = zip(dcopt.iterate(P, estimator, seed=3), dcopt.iterate(without_fusion(P), estimator, seed=3), strict=True)
    for fused, plain in islice(runs, 200):
        np.testing.assert_allclose(fused.x, plain.x, rtol=0, atol=1e-12)
        assert fused.spent == plain.spent


@pytest.mark.parametrize("name", SCALARS)
def test_nan_and_huge_points_pass_through(name: str) -> None:
    P = problem(name, False)
    batch = P.sum.sample(40, Draw(0, 1))
    x = np.full(15, 1e5)
    assert np.isfinite(batch.diff(x, -x)).all()
    x[3] = np.nan
    assert np.isnan(batch.diff(x, np.zeros(15))).any()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SCALARS)
def test_a_look_at_all_rows_is_that_of_the_arrays(
    name: str, weighted: bool, ones: bool, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """z, f and ∇f, at 0, somewhere and far away; ∇f alone has the same bits, on any number of threads."""
    monkeypatch.setattr(csr, "_LARGE", 0)
    monkeypatch.setattr(csr, "parts_for", lambda work, size: 4)
    rng, n = np.random.default_rng(5), 401  # not a multiple of anything
    X = sp.random(n, 15, density=0.3, format="csr", random_state=rng, dtype=dtype)
    a: Any = csr.CsrRows(X.indptr, X.indices, X.data, 15)
    y = (rng.normal(size=n) if LOSSES[name].labels == "real" else np.sign(rng.normal(size=n))).astype(dtype)
    w = rng.uniform(0.1, 3.0, n).astype(dtype) if weighted else None
    f, plain = (LinearSum(WithIntercept(a) if ones else a, LOSSES[name], y, w) for _ in range(2))
    plain.__dict__["fused"] = None
    assert (f.fused is None) == (name in PLAIN)
    tol, tiny = (1e-12, 1e-300) if dtype == "float64" else (1e-5, 1e-7)  # compiled slopes are float64 in between
    for scale in (0.0, 1.0, 1e4):
        x = (scale * rng.normal(size=f.shape)).astype(dtype)
        z, value, g = f.all().look(x)
        want = plain.all().look(x)
        assert np.array_equal(z, want[0])
        np.testing.assert_allclose(value, want[1], rtol=tol)
        np.testing.assert_allclose(g, want[2], rtol=tol, atol=tol * np.abs(want[2]).max() + tiny)
        assert g.dtype == want[2].dtype == np.dtype(dtype)
        for threads in ("1", "2"):
            monkeypatch.setenv("DCOPT_THREADS", threads)
            assert np.array_equal(f.all().grad(x), g) and f.all().look(x)[1] == value


@pytest.mark.parametrize("name", SCALARS)
def test_a_look_keeps_nan(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csr, "_LARGE", 0)
    f = problem(name, False).f
    x = np.zeros(15)
    x[3] = np.nan
    z, value, g = f.all().look(x)  # type: ignore[union-attr]
    assert np.isnan(z).any() and np.isnan(value) and np.isnan(g).any()


@pytest.mark.parametrize("name", SCALARS)
def test_a_look_keeps_infinity(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far out the compiled value and slopes are those of the arrays: 0, large or infinite alike."""
    monkeypatch.setattr(csr, "_LARGE", 0)
    f = problem(name, False).f
    plain = without_fusion(problem(name, False)).f
    for far in (1e155, 1e200, 1e305):
        with np.errstate(all="ignore"):
            _, value, g = f.all().look(np.full(15, far))  # type: ignore[union-attr]
            _, want, slopes = plain.all().look(np.full(15, far))  # type: ignore[union-attr]
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(g, slopes, rtol=1e-12)


def test_rows_of_ones_own_with_the_arrays_of_csr_are_not_compiled() -> None:
    """Who brings the verbs, and by chance the names, keeps the verbs."""
    P = problem("logistic", False)

    class Own:
        def __init__(self, a: Any) -> None:
            self.indptr, self.indices, self.data, self.shape, self.dtype = a.indptr, a.indices, a.data, a.shape, a.dtype
            self.dot, self.pair, self.tdot, self.take, self.norms2, self.gram = (
                a.dot, a.pair, a.tdot, a.take, a.norms2, a.can().gram
            )  # fmt: skip

        def count(self, columns: Any) -> int:
            return int(np.isin(self.indices, columns).sum())

        columns = None

    own = dcopt.erm(Own(P.f.a), P.f.labels, "logistic", Exponential(lam=0.01, alpha=5.0))  # type: ignore[union-attr]
    for method in ("dca", "dca-page"):
        x, want = (dcopt.solve(Q, method, passes=5, seed=0).x for Q in (own, P))
        np.testing.assert_allclose(x, want, rtol=0, atol=1e-12)
