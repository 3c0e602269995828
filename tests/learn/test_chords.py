"""A path of a convex problem on one model: certified at every λ, whatever the strong rule has left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

import dcopt
from dcopt.fit import chords, path

TOL = 1e-6


def wide(kind: str, n: int = 60, d: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """More features than rows, some of them alike."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X[:, 1] = X[:, 0]
    score = X[:, :5] @ np.arange(1.0, 6.0) / 3.0 + rng.standard_normal(n)
    y = {"logistic": np.sign(score), "squared": score, "poisson": rng.poisson(np.exp(np.clip(score / 4, -2, 2)))}[kind]
    return X, np.asarray(y, np.float64)


def model(kind: str, **settings: Any) -> Any:
    make = dcopt.DCClassifier if kind == "logistic" else dcopt.DCRegressor
    return make(**{"loss": kind, "penalty": "l1", "tol": TOL, **settings})


def distance(kind: str, X: np.ndarray, y: np.ndarray, lam: float, coef: np.ndarray, b: float, w: np.ndarray) -> float:
    """dist(−∇f, λ ∂|·|₁), in formulas of this file"""
    z = X @ coef + b
    slope = {
        "logistic": lambda: -y * expit(-y * z),
        "squared": lambda: z - y,
        "poisson": lambda: np.exp(z) - y,
    }[kind]() * w / w.sum()
    g = X.T @ slope
    off = np.where(coef != 0.0, g + lam * np.sign(coef), np.maximum(np.abs(g) - lam, 0.0))
    return float(np.hypot(np.linalg.norm(off), slope.sum()))


def worst(kind: str, X: np.ndarray, y: np.ndarray, found: Any, w: np.ndarray | None = None) -> float:
    """The largest distance along a path, as a share of that of the null model"""
    w = np.ones(len(y)) if w is None else w
    coefs = found.coefs.reshape(len(found.lams), -1)
    each = [distance(kind, X, y, *one, w) for one in zip(found.lams, coefs, found.intercepts.ravel(), strict=True)]
    null = distance(kind, X, y, 0.0, coefs[0], float(found.intercepts.ravel()[0]), w)
    return max(each) / null


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["logistic", "squared", "poisson"])
def test_every_point_is_certified_and_that_of_the_methods_for_one_lam(
    kind: str, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wide(kind)
    X[np.abs(X) < 0.8] = 0.0
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    given = sp.csr_array(X) if sparse else X
    found = model(kind).path(given, y, w, n_lams=15, ratio=0.05)
    assert set(found.statuses) == {"CONVERGED"} and found.nnz[-1] > 10
    assert worst(kind, X, y, found, w) <= 1.01 * TOL
    monkeypatch.setattr(chords.Chords, "of", lambda *_: None)
    one_by_one = model(kind, tol=1e-8).path(given, y, w, lams=found.lams)
    np.testing.assert_allclose(found.F, one_by_one.F, rtol=1e-8)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The λ that are left to the methods that serve one λ"""
    left: list[float] = []
    run = path.run

    def noted(task: Any, r: Any, *rest: Any) -> Any:
        left.append(r.lam)
        return run(task, r, *rest)

    monkeypatch.setattr(path, "run", noted)
    return left


@pytest.mark.parametrize("kind", ["logistic", "squared"])
def test_what_a_spoilt_strong_rule_discards_comes_in_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide(kind)
    whole, left = model(kind).path(X, y, n_lams=20, ratio=0.02), counted(monkeypatch)
    monkeypatch.setattr(chords, "strong", lambda g, c, lam, before: np.zeros(len(g), np.bool_))
    found = model(kind).path(X, y, n_lams=20, ratio=0.02)
    assert set(found.statuses) == {"CONVERGED"} and worst(kind, X, y, found) <= 1.01 * TOL and not left
    np.testing.assert_allclose(found.F, whole.F, rtol=1e-9)


def test_a_violator_that_is_never_let_in_is_no_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: without the look at all columns, only the methods that serve one λ solve these."""
    X, y = wide("logistic")
    monkeypatch.setattr(chords, "strong", lambda g, c, lam, before: np.zeros(len(g), np.bool_))
    monkeypatch.setattr(chords, "moving", lambda here: here.look.x != 0.0)
    left = counted(monkeypatch)
    found = model("logistic").path(X, y, n_lams=20, ratio=0.02)
    assert set(found.statuses) == {"CONVERGED"} and worst("logistic", X, y, found) <= 1.01 * TOL
    assert len(left) > 5


@pytest.mark.parametrize(
    "settings",
    [
        {"penalty": "elastic-net"},
        {"unpenalized": [2, 3]},
        {"fit_intercept": False},
        {"standardize": True},
        {"loss": "huber"},
        {"penalty": dcopt.regularizers.L1(lam=1.0, weights=np.linspace(0.5, 2.0, 150))},
    ],
    ids=["elastic net", "unpenalized", "no intercept", "standardize", "huber", "weights"],
)
def test_settings_of_the_convex_problem(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide("squared")
    left = counted(monkeypatch)
    found = model("squared", **settings).path(X, y, n_lams=12, ratio=0.05)
    assert len(left) <= 1 and set(found.statuses) == {"CONVERGED"}  # Where Huber's loss is flat a step may not serve.
    monkeypatch.setattr(chords.Chords, "of", lambda *_: None)
    one_by_one = model("squared", **{**settings, "tol": 1e-8}).path(X, y, lams=found.lams)
    np.testing.assert_allclose(found.F, one_by_one.F, rtol=1e-7)


@pytest.mark.parametrize(
    "settings", [{"penalty": "mcp"}, {"loss": "tukey"}, {"measure": "gap"}, {"solver": "dca"}], ids=str
)
def test_what_is_solved_one_lam_at_a_time(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide("squared", 80, 10)
    left = counted(monkeypatch)
    found = model("squared", **settings).path(X, y, n_lams=5, ratio=0.2)
    assert len(left) == len(found.lams)


def test_a_model_that_would_be_too_wide_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide("squared")
    left = counted(monkeypatch)
    monkeypatch.setattr(chords, "_WIDE", 10)
    found = model("squared").path(X, y, n_lams=12, ratio=0.05)
    assert left and set(found.statuses) == {"CONVERGED"} and worst("squared", X, y, found) <= 1.01 * TOL


def test_a_callback_sees_every_step_and_changes_no_bit() -> None:
    X, y = wide("logistic")
    seen: list[int] = []
    plain = model("logistic").path(X, y, n_lams=10, ratio=0.1)
    watched = model("logistic", callbacks=[lambda state: seen.append(state.t)]).path(X, y, n_lams=10, ratio=0.1)
    np.testing.assert_array_equal(plain.coefs, watched.coefs)
    assert len(seen) >= 9 and seen[0] == 1
    ended = model("logistic", callbacks=[lambda state: True]).path(X, y, n_lams=10, ratio=0.1)
    assert "INTERRUPTED" in ended.statuses


def test_budgets_are_kept() -> None:
    X, y = wide("logistic")
    few = model("logistic", max_passes=1).path(X, y, n_lams=10, ratio=0.01)
    assert "BUDGET" in few.statuses
    late = model("logistic", max_seconds=0.0).path(X, y, n_lams=10, ratio=0.01)
    assert "TIME" in late.statuses


def test_the_numbers_that_decide_when_a_model_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """An old model that is kept too long costs looks; one that is made at every step costs Gram matrices."""
    X, y = wide("logistic", 200, 60)
    made: list[int] = []
    of = chords._Model.of

    def work(**numbers: float) -> tuple[float, int]:
        """Passes and models of a path"""
        made.clear()
        with monkeypatch.context() as patch:
            patch.setattr(chords._Model, "of", lambda *a: made.append(1) or of(*a))
            for name, value in numbers.items():
                patch.setattr(chords, name, value)
            seen: list[int] = []
            model("logistic", callbacks=[lambda state: seen.append(1)]).path(X, y, n_lams=60, ratio=0.01)
        return len(seen), len(made)

    looks, models = work()
    assert work(_SLOW=0.6)[0] > 1.3 * looks  # passes
    assert work(_SLOW=1e-6)[1] > 1.3 * models
    assert work(_AHEAD=0.0)[1] >= models
