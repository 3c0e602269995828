"""The table of all methods: one measure for every row, each method with its own spread, and problem (M) too."""

from __future__ import annotations

from math import ceil, e, floor, inf, sqrt
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt import problems
from dcopt.convex import Quadratic, ScaledIdentity
from dcopt.datasets.named import available
from dcopt.methods import METHODS
from dcopt.regularizers import L1, Exponential
from dcopt.sums import Function


@pytest.mark.skipif(not available("a9a"), reason="a9a is not in DCOPT_DATA")
def test_the_table_of_a9a_by_hand() -> None:
    """The gap of κ_ref = L_f for all, and SVRG with L_v: 2.81e5 for dca-page (gap), 1.49e9 for dca-svrg (distance)."""
    X, y = dcopt.load_dataset("a9a", normalize=True)
    P = dcopt.erm(X, y, regularizer=Exponential(lam=1e-4, alpha=5.0))
    A = X.toarray()
    N, norms = len(A), np.sum(A * A, axis=1)
    assert N == 32561 and np.all(y * y == 1)
    top = (39 + 55 * sqrt(33)) / 2304  # of φ″, and its least value
    low = (39 - 55 * sqrt(33)) / 2304
    L_f, m_f = top * norms.max(), -low * np.linalg.eigvalsh(A.T @ A / N)[-1]
    Lbar, L_v = top * np.linalg.eigvalsh(A.T @ A / N)[-1], top * sqrt(np.linalg.eigvalsh((A.T * norms) @ A / N)[-1])
    D0, L_r2, eps = 0.25, 1e-4 * 25, 1e-3
    root = ceil(sqrt(N))
    b, M = floor(N ** (2 / 3)), floor(N ** (1 / 3) / (4 * sqrt(e - 1)))
    page = sqrt(1 - 1 / root), N, N / root + 2 * (1 - 1 / root) * root  # s, first estimate, cost of a step
    svrg = sqrt(M * (M - 1) / (2 * b)), N, (N + 2 * b * (M - 1)) / M

    def least(s: float, first: float, cost: float, measure: str) -> float:
        found = inf
        for kappa in np.geomspace(Lbar, 1000 * L_f, 20_000):
            a = kappa - Lbar / 2 - s * L_v
            if a <= 0:
                continue
            if measure == "gap":  # gap of κ_ref ≤ max(1, κ/κ_ref) gap of κ
                T = D0 / eps * max(1.0, kappa / L_f) * (1 + (s * L_v) ** 2 / (2 * kappa * a))
            else:
                L_H = max(kappa + m_f, Lbar - kappa)
                T = 2 * D0 * ((L_H + L_r2) ** 2 + (s * L_v) ** 2) / (a * eps**2)
            found = min(found, first + (ceil(T) - 1) * cost)
        return found

    for measure, method, numbers, want in (
        ("gap", "dca-page", page, 2.81e5), ("criticality", "dca-svrg", svrg, 1.49e9), ("gap", "dca-svrg", svrg, None),
        ("criticality", "dca-page", page, 2.25e8),
    ):  # fmt: skip
        table = dcopt.plan(P, eps, measure).compare()  # type: ignore[arg-type]
        row = next(row for row in table.rows if row.method == method)
        mine = least(*numbers, measure)
        assert row.best_gradients == pytest.approx(mine, rel=0.01)
        assert want is None or float(f"{row.best_gradients:.2e}") == want
        assert table.knob == "κ" and ("ρ_φ = 0.1541" in str(table)) == (measure == "gap")


def test_the_gap_of_a_stronger_g_bounds_that_of_a_weaker_one() -> None:
    """gap_G ≤ max(1, (ρ_φ + η)/ρ_φ) gap_{G+η}, and gap_{G+η} ≤ gap_G, for a quadratic, a general and a scalar G."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + rng.normal(size=60) > 0
    tight = 0.0
    for P in (
        dcopt.erm(X, y, "logistic", L1(0.05)), problems.ramp_svm(X, y, L1(0.05), mu=0.2),
        problems.robust_regression(X, X[:, 0] * 2, "cauchy", L1(0.05), scale=1.0),
    ):  # fmt: skip
        rho = P.constants.rho_phi
        for _ in range(20):
            x = rng.normal(size=P.shape)
            gap = dcopt.measures.gap(P, x)
            for eta in (0.1 * rho, rho, 30.0 * rho):
                more = dcopt.measures.gap(P.shift(eta), x)
                assert more <= gap * (1 + 1e-9) and gap <= (rho + eta) / rho * more * (1 + 1e-6)
                tight = max(tight, gap / ((rho + eta) / rho * more))
    assert tight > 0.99


def general() -> dict[str, tuple[dcopt.Problem, float]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5)) * [3, 1, 1, 1, 1]
    return {
        "scalar G": (problems.pca(X, nonnegative=False), 5.0),
        "general G": (problems.ramp_svm(X, X[:, 0] > 0, mu=0.05), 0.5),
        "quadratic G": (problems.robust_regression(X, X[:, 0], "welsch", "l1", scale=1.0), 0.5),
    }


@pytest.mark.parametrize("measure", ["gap", "criticality"])
@pytest.mark.parametrize("kind", general())
def test_a_table_for_problem_m_has_all_methods_with_one_policy(kind: str, measure: Any) -> None:
    P, eps = general()[kind]
    plan = dcopt.plan(P, eps, measure, D0=10.0, x0=np.full(P.shape, 0.1))
    table = plan.compare()
    assert table.knob == "η" and [row.method for row in table.rows] == [
        "dca", "sdca", "dca-saga", "dca-svrg", "dca-page",
    ]  # fmt: skip
    for row in table.rows:
        tuned, _ = METHODS[row.method].prepare(P)  # what the method runs with is what the row is of
        assert row.own == pytest.approx(tuned.eta - P.eta, abs=1e-12) and row.covered
        c, omega = tuned.constants, tuned.omega
        estimator: Any = METHODS[row.method].estimator(4000)
        theta = estimator.spread(4000) * c.L_v  # type: ignore[operator]
        a = c.rho / 2 - theta - omega
        assert row.a == pytest.approx(a) and row.best_gradients <= row.gradients * 1.05  # type: ignore[operator]
        if measure == "gap":
            reference = P.constants.rho_phi + plan.eta
            T = 10.0 / eps * max(1.0, c.rho_phi / reference) * (1 + (theta + omega) ** 2 / (2 * c.rho_phi * a))
        else:
            T = 2 * 10.0 * ((c.L_H + (c.L_r2 or 0.0) + omega) ** 2 + theta**2) / (a * eps**2)  # type: ignore[operator]
        assert abs(row.own_T - T) <= 1 + 1e-9 * T
    page = table.rows[-1]
    assert page.own == pytest.approx(plan.eta) and page.gradients == pytest.approx(plan.gradients, rel=1e-4)
    assert "cheapest: " in str(table)


def test_empty_rows_are_no_trouble() -> None:
    for P in (
        dcopt.erm(np.zeros((4, 2)), [1, -1, 1, -1], "logistic"),
        dcopt.erm(np.zeros((4, 2)), [1, -1, 1, -1], "logistic", L1(0.1), decomposition="gram"),
        problems.pca(np.zeros((4, 2)), nonnegative=False),
    ):
        for measure in ("gap", "criticality"):
            plan = dcopt.plan(P, 0.1, measure, D0=1.0)  # type: ignore[arg-type]
            assert plan.compare().cheapest.T >= 1 and plan.violated == ()
            assert dcopt.solve(P, plan, seed=0).steps == plan.T


def test_a_stream_has_one_row_and_a_function_has_its_own() -> None:
    H = Function(lambda x: 0.5 * float(x @ x), lambda x: x, (3,), L=1.0, rho=1.0)
    table = dcopt.plan(dcopt.Problem(Quadratic(2.0 * np.eye(3)), H, "zero"), 0.1, D0=1.0).compare()
    assert len(table.rows) == 5 and all(row.covered and row.own == 0.0 for row in table.rows)


@pytest.mark.parametrize("rows", [3, 40])
def test_the_text_of_a_plan_holds_no_matrix(rows: int) -> None:
    H = Function(lambda x: 0.0, lambda x: 0.0 * x, (rows,), L=0.0)
    for G in (Quadratic(np.eye(rows)), Quadratic(np.eye(rows)).shift(1.0), ScaledIdentity(1.0)):
        text = str(dcopt.plan(dcopt.Problem(G, H, "zero"), 0.1, D0=1.0))
        assert "[" not in text and "array" not in text and len(text) < 2500
