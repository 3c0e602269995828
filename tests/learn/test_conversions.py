"""docs/conversions.md: every line of its tables is fitted on both sides."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model, svm

import dcopt

PAGE = (Path(__file__).parents[2] / "docs" / "conversions.md").read_text(encoding="utf-8")
ROWS = [re.split(r" \| ", line.strip("| \n")) for line in PAGE.splitlines() if line.startswith("| `")]
HERE = [(there.strip("`"), here.strip("`")) for there, here in (row for row in ROWS if len(row) == 2)]
R = [(row[0].strip("`"), row[1], row[2].strip("`")) for row in ROWS if len(row) == 3]
N, D = 150, 5

draw = np.random.default_rng(0)
X = draw.normal(size=(N, D)) * np.array([1.0, 2.0, 0.5, 1.0, 1.0])
SCORE = X @ np.array([1.0, -0.3, 0.0, 0.5, 0.0])
TARGETS = {
    "numbers": SCORE + draw.normal(size=N) + 2.0,
    "classes": (SCORE + draw.logistic(size=N) > 0.3).astype(float),
    "counts": draw.poisson(np.exp(0.4 * SCORE)).astype(float),
    "positive": draw.gamma(2.0, np.exp(0.4 * SCORE)),
}
TIME, SEEN = draw.exponential(np.exp(-0.5 * SCORE)), (draw.random(N) < 0.8).astype(float)
NAMES = {
    **{name: getattr(linear_model, name) for name in linear_model.__all__}, **vars(svm),
    "regularizers": dcopt.regularizers,
    "DCRegressor": dcopt.DCRegressor, "DCClassifier": dcopt.DCClassifier, "DCSurvival": dcopt.DCSurvival,
    "a": 0.05, "s": 0.3, "C": 0.4, "N": N, "X": X, "X1": np.column_stack([np.ones(N), X]), "t": TIME, "e": SEEN,
    "free": np.append(0.0, np.ones(D)),
}  # fmt: skip


def target_of(text: str) -> Any:
    if "Classifier" in text:
        return TARGETS["classes"]
    kind = "counts" if "poisson" in text else "positive" if "gamma" in text.split("(")[1].split(",")[0] else "numbers"
    return TARGETS[kind]


def fitted(text: str, y: Any) -> Any:
    return eval(text, NAMES).set_params(tol=1e-10).fit(X, y)


def of_peer(text: str, y: Any) -> Any:
    """The coefficients that the other package finds"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "fit_regularized" in text:
            sm = pytest.importorskip("statsmodels.api")
            more = ", ties='breslow')" if "PHReg" in text else ")"
            exact = ", trim_mode='off', acc=1e-12)" if "Logit" in text else ", cnvrg_tol=1e-13, maxiter=10000)"
            call = re.sub(r"\)\.fit", f"{more.replace(')', '')}).fit", text)[:-1] + exact
            names = NAMES | {"OLS": sm.OLS, "Logit": sm.Logit, "PHReg": sm.PHReg, "y": y}
            params = np.asarray(
                eval(call.replace("X, e, ", "X, status=e, ").replace("X, e)", "X, status=e)"), names).params
            )
            return params if "PHReg" in text else params[1:]
        if "CoxPHFitter" in text:
            lifelines = pytest.importorskip("lifelines")
            pd = pytest.importorskip("pandas")
            table = pd.DataFrame(X / X.std(axis=0, ddof=1)).assign(t=TIME, e=SEEN)
            peer = eval(text, NAMES | vars(lifelines)).fit(table, "t", "e", fit_options={"precision": 1e-12})
            return peer.params_.to_numpy()
        peer = eval(text, NAMES)
        exact = {"tol": 1e-12 if "Logistic" not in text or "saga" not in text else 1e-9, "max_iter": 10**5}
        return np.ravel(peer.set_params(**{k: v for k, v in exact.items() if k in peer.get_params()}).fit(X, y).coef_)


@pytest.mark.parametrize(("there", "here"), HERE, ids=[row[0] for row in HERE])
def test_a_line_of_the_table(there: str, here: str) -> None:
    if "DCSurvival" in here:
        scale = X.std(axis=0, ddof=1) if "CoxPHFitter" in there else np.ones(D)
        mine = eval(here, NAMES).set_params(tol=1e-10).fit(X / scale, (TIME, SEEN))
        np.testing.assert_allclose(mine.coef_, of_peer(there, None), atol=1e-6)
        return
    y = target_of(here)
    mine = fitted(here, y)
    assert np.any(mine.coef_)
    np.testing.assert_allclose(np.ravel(mine.coef_), of_peer(there, y), atol=2e-5)


def objective(text: str, beta: Any, b: float, y: Any) -> float:
    """As the documents of glmnet and ncvreg state it, of standardised columns"""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    z, a = Z @ beta + b, NAMES["a"]
    if "log-likelihood" in text:
        rows = np.exp(z) - y * z if "poisson" in text else np.logaddexp(0.0, z) - y * z
        f = float(np.mean(rows))
    else:
        f = float(np.sum((y - z) ** 2)) / (2 * N)
    u = np.abs(beta)
    if "MCP" in text:
        p = np.where(u <= 3.0 * a, a * u - u * u / 6.0, 0.5 * 3.0 * a * a)
    elif "SCAD" in text:
        g = 3.7
        p = np.where(u <= g * a, (2 * g * a * u - u * u - a * a) / (2 * (g - 1)), a * a * (g + 1) / 2)
        p = np.where(u <= a, a * u, p)
    else:
        p = a * u
    return f + float(np.sum(p))


@pytest.mark.parametrize(("call", "stated", "here"), R, ids=[row[0] for row in R])
def test_a_stated_objective_is_least_along_every_coordinate(call: str, stated: str, here: str) -> None:
    y = target_of(here)
    mine = fitted(here, y)
    beta, b = np.ravel(mine.coef_) * X.std(axis=0), float(np.ravel(mine.intercept_)[0])
    b += float(X.mean(axis=0) @ np.ravel(mine.coef_))
    text = f"{stated} {call}"
    least = objective(text, beta, b, y)
    assert np.any(beta) and not np.all(beta)
    for step in (1e-3, 1e-4):
        for j in range(D):
            for sign in (-step, step):
                assert objective(text, beta + sign * np.eye(D)[j], b, y) > least
        assert min(objective(text, beta, b + sign, y) for sign in (-step, step)) > least
    off = dict(NAMES)
    off["a"] = 1.2 * NAMES["a"]
    other = eval(here, off).set_params(tol=1e-10).fit(X, y)
    moved = np.ravel(other.coef_) * X.std(axis=0)
    assert (
        objective(text, moved, float(np.ravel(other.intercept_)[0] + X.mean(axis=0) @ np.ravel(other.coef_)), y) > least
    )


def test_the_page_has_both_tables() -> None:
    assert len(HERE) == 13 and len(R) == 6
