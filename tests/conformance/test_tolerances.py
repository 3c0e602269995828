"""CONVERGED means what a reader takes it to mean: the measure, relative tolerances, what a run hands back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import dcopt
from dcopt import Status
from dcopt.local.models import DenseModel
from dcopt.measures import criticality, rounding, scale
from dcopt.regularizers import L1, SCAD, Box, CappedL1


def one_long_column() -> dcopt.Problem:
    """Convex, min F = .155332; the last of 10 columns is 10⁴ times as long as the others."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(2000, 10))
    y = np.where(A @ np.r_[np.ones(5), np.zeros(5)] + 0.5 * rng.normal(size=2000) > 0, 1, -1)
    A[:, 9] *= 1e4
    return dcopt.erm(A, y, "logistic", L1(lam=1e-3))


@pytest.mark.parametrize("measure", [None, "gap"])
def test_auto_is_converged_at_the_minimum_whatever_the_columns(measure: Any) -> None:
    res = dcopt.solve(one_long_column(), "auto", tol=1e-6, measure=measure)
    assert res.status is Status.CONVERGED and 0.0 <= res.certificate.F - 0.155332 < 1e-5


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-svrg", "mm-saga"])
def test_a_method_far_from_the_minimum_does_not_say_converged(method: str) -> None:
    res = dcopt.solve(one_long_column(), method, tol=1e-6, passes=50, seed=0)
    assert res.certificate.measure == "criticality"
    assert res.status is Status.BUDGET and res.certificate.F > 0.69


def test_solve_alone_is_auto_to_a_certificate() -> None:
    P = one_long_column()
    res = dcopt.solve(P)
    assert res.status is Status.CONVERGED and res.method in ("dca-local", "dca-nested")
    assert criticality(P, res.x) <= 1e-6 * scale(P) and res.certificate.tol == pytest.approx(1e-6 * scale(P))
    single = dcopt.erm(np.eye(4, dtype=np.float32), [0, 1, 0, 1], "logistic", L1(lam=0.01))
    assert dcopt.solve(single).certificate.tol == pytest.approx(1e-4 * scale(single))


def test_the_scale_is_the_gradient_at_the_null_point() -> None:
    """With the intercept at the log-odds, or at the mean; without the intercept's own part; whatever x0 is."""
    X, y = load_breast_cancer(return_X_y=True)
    p = y.mean()
    P = dcopt.erm(X, y, "logistic", SCAD(lam=0.05), intercept=True)
    assert scale(P) == pytest.approx(np.linalg.norm(X.T @ (p - y)) / len(y), rel=1e-6)
    assert scale(P, x0=np.ones(P.shape)) == scale(P)
    t = X[:, 0] + 1e3
    Q = dcopt.erm(X, t, "squared", SCAD(lam=0.05), intercept=True)
    assert scale(Q) == pytest.approx(np.linalg.norm(X.T @ (t.mean() - t)) / len(t), rel=1e-6)
    assert scale(Q, "gap") == pytest.approx(0.5 * np.var(t), rel=1e-9)


def test_the_scale_is_that_of_the_start_where_the_null_point_is_critical() -> None:
    """∇F(0) = 0 by symmetry in phase retrieval and PCA."""
    P = dcopt.problems.pca(np.random.default_rng(0).normal(size=(50, 3)), nonnegative=False)
    x0 = np.full(3, 0.2)
    assert scale(P, x0=x0) == pytest.approx(np.linalg.norm(P.examine(x0).u)) and scale(P) == 1.0


def test_units_of_the_target_change_no_step() -> None:
    X = np.random.default_rng(0).normal(size=(200, 6))
    y = X[:, 0] - X[:, 1] + np.random.default_rng(1).normal(size=200)
    runs = [dcopt.solve(dcopt.erm(X, c * y, "squared", L1(lam=0.05 * c)), "dca", tol=1e-6) for c in (1.0, 2.0**20)]
    assert runs[0].steps == runs[1].steps and runs[0].status is runs[1].status is Status.CONVERGED
    np.testing.assert_allclose(runs[1].x, 2.0**20 * runs[0].x, rtol=1e-9)


def test_absolute_tolerances_and_known_scales() -> None:
    P = one_long_column()
    assert dcopt.solve(P, atol=1e-3).certificate.tol == 1e-3
    assert dcopt.solve(P, tol=1e-6, scale=2.0).certificate.tol == 2e-6
    assert dcopt.solve(P, tol=1e-6, atol=1e-3).certificate.tol == 1e-3  # the larger one
    assert dcopt.solve(P, tol=1e-2, atol=1e-9).certificate.tol == pytest.approx(1e-2 * scale(P))
    assert "relative" in str(dcopt.solve(P).certificate) and "relative" not in str(dcopt.solve(P, atol=1.0).certificate)
    for name in ("atol", "scale", "tol"):
        with pytest.raises(dcopt.BadSettings, match=name):
            dcopt.solve(P, **{"tol": 1e-6, name: -1.0})


def test_a_start_at_the_solution_is_converged() -> None:
    """The tolerance does not shrink with the start."""
    P = one_long_column()
    there = dcopt.solve(P).x
    assert dcopt.solve(P, "dca", x0=there).steps == 0


def test_a_resumed_run_keeps_the_scale(tmp_path: Any) -> None:
    P = one_long_column()
    want = dcopt.solve(P, "dca-local", tol=1e-9, seed=0)
    dcopt.solve(P, "dca-local", tol=1e-1, seed=0, checkpoint=tmp_path / "run")
    got = dcopt.resume(tmp_path / "run", P, tol=1e-9)
    assert got.certificate == want.certificate and got.x.tobytes() == want.x.tobytes()


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-svrg", "auto"])
def test_the_methods_of_the_readme_converge(method: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    P = dcopt.erm(X, y, "logistic", SCAD(lam=0.05), intercept=True, decomposition="local")
    res = dcopt.solve(P, method, tol=1e-6, seed=0)
    assert res.status is Status.CONVERGED and criticality(P, res.x) <= 1e-6 * scale(P)


# ---- searches


def test_a_search_hands_back_the_certified_point_that_it_passed() -> None:
    """Cut off after any number of steps: as soon as one point was certified, the result is."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(120, 25)) @ np.linalg.cholesky(0.7 + 0.3 * np.eye(25)).T
    y = X[:, :5].sum(axis=1) - X[:, 5:8].sum(axis=1) + rng.normal(size=120) > 0
    P = dcopt.erm(X, y, "logistic", CappedL1(lam=0.03, theta=0.3))
    x0 = np.zeros(25)
    plain = dcopt.solve(P, "dca-local", x0=x0, seed=0)
    whole = dcopt.solve(P, "dca-local", x0=x0, search=True, seed=0)
    assert plain.status is whole.status is Status.CONVERGED
    assert whole.certificate.F < plain.certificate.F
    between = 0  # runs that are cut off at a lower point that is not critical
    for steps in range(plain.steps, whole.steps):
        res = dcopt.solve(P, "dca-local", x0=x0, search=True, tol=1e-6, steps=steps, seed=0)
        assert res.status is Status.CONVERGED and res.certificate.F <= plain.certificate.F * (1 + 1e-9)
        assert criticality(P, res.x) <= res.certificate.tol
        between += criticality(P, res.state.x) > res.certificate.tol
    assert between >= 2


# ---- rounding


@pytest.mark.parametrize("seed", range(5))
def test_no_step_of_dca_local_raises_F_in_float32(seed: int) -> None:
    """Rounding makes Q indefinite here: a fall that is promised is never below 0."""
    X = (30 * np.random.default_rng(seed).standard_normal((5, 80))).astype("f4")
    P = dcopt.erm(X, np.arange(5) % 3, "softmax", Box(-0.125, 0.25))
    res = dcopt.solve(P, "dca-local", tol=1e-6, seed=1, trace=1e-9)
    F = np.array(res.trace["F"])
    assert res.status is Status.CONVERGED and np.all(np.diff(F) <= 1e-6 * F[0])


def test_a_step_whose_model_promises_a_rise_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounding makes ⟨d, Qd⟩ < 0, a test against it would accept a rise of F."""
    monkeypatch.setattr(DenseModel, "quad", lambda Q, d: -1.0)
    X = np.random.default_rng(0).normal(size=(50, 4))
    res = dcopt.solve(dcopt.erm(X, X[:, 0], "squared", L1(lam=0.01)), "dca-local", x0=np.ones(4), seed=0)
    assert res.status is Status.STALLED and res.x.tolist() == [1.0] * 4


def test_a_run_that_diverges_hands_back_its_best_point() -> None:
    X = np.random.default_rng(0).normal(size=(100, 5))
    P = dcopt.erm(X, X[:, 0] + 1.0, "squared", L1(lam=0.01), kappa=0.3)
    res = dcopt.solve(P, "dca", steps=400, seed=0)
    assert res.status is Status.DIVERGED
    assert res.certificate.F == min(res.trace["F"]) and P.value(res.x) == pytest.approx(res.certificate.F)


def test_what_rounding_hides_of_the_distance_is_not_certified() -> None:
    """One row far from 0: the slope in float64 is 0 where the exact one is not."""
    from fractions import Fraction

    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        a = 1e8 + rng.normal(size=5)
        y = float(rng.normal())
        P = dcopt.erm(a[None, :], np.array([y]), "squared", "zero")
        res = dcopt.solve(P, "dca-local", atol=4.6e-12, passes=50, seed=0)
        pairs = zip(map(float, a), map(float, res.x), strict=True)
        e = sum((Fraction(v) * Fraction(w) for v, w in pairs), -Fraction(y))
        exact = abs(float(e)) * float(np.linalg.norm(a))
        assert exact <= res.certificate.value + 8.0 * rounding(P, P.examine(np.asarray(res.x)))
        wrong += res.status is Status.CONVERGED and exact > res.certificate.tol
    assert wrong == 0
