"""Fitted models for other programs: scikit-learn, JSON, and models from formulas."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import dcopt
from dcopt import DCClassifier, DCFormula, DCRegressor, DCSurvival
from dcopt.errors import BadInput, BadSettings

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 5))
COUNTS = rng.poisson(np.exp(0.5 * X[:, 0] - 0.4 * X[:, 2])).astype(float)
KINDS = {
    "squared": ("LinearRegression", X[:, 0] + rng.normal(size=120)),
    "huber": ("LinearRegression", X[:, 0] + rng.normal(size=120)),
    "poisson": ("PoissonRegressor", COUNTS),
    "negative-binomial": ("PoissonRegressor", COUNTS),
    "gamma": ("GammaRegressor", COUNTS + 0.5),
}


@pytest.mark.parametrize("loss", KINDS)
def test_numbers_to_scikit_learn(loss: str) -> None:
    kind, y = KINDS[loss]
    model = DCRegressor(loss=loss, penalty="mcp", lam=0.05).fit(X, y)
    other = pickle.loads(pickle.dumps(model.to_sklearn()))
    assert type(other).__name__ == kind and type(other).__module__.startswith("sklearn.")
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "squared-sigmoid", "squared-hinge", "smoothed-ramp"])
def test_two_classes_to_scikit_learn(loss: str) -> None:
    y = np.where(X[:, 1] + 0.5 * rng.normal(size=120) > 0.0, "yes", "no")
    model = DCClassifier(loss=loss, penalty="l1", lam=0.02).fit(X, y)
    other = model.to_sklearn()
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), rtol=1e-12)
    assert hasattr(other, "predict_proba") == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), rtol=1e-9)


def test_more_classes_to_scikit_learn() -> None:
    iris, y = load_iris(return_X_y=True)
    model = DCClassifier(penalty="l1", lam=0.01).fit(iris, y)
    other = model.to_sklearn()
    np.testing.assert_array_equal(other.predict(iris), model.predict(iris))
    np.testing.assert_allclose(other.predict_proba(iris), model.predict_proba(iris), rtol=1e-9)


def test_names_go_with_it_and_survival_times_do_not() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=list("abcde"))
    model = DCRegressor(lam=0.01).fit(table, X[:, 0])
    assert model.to_sklearn().feature_names_in_.tolist() == list("abcde")
    cox = DCSurvival(lam=0.05).fit(X, (COUNTS + 1.0, COUNTS < 3))
    with pytest.raises(BadSettings, match="survival"):
        cox.to_sklearn()
    assert json.loads(cox.to_json())["loss"] == "cox"


def test_json_gives_the_scores() -> None:
    model = DCRegressor(loss="poisson", penalty="mcp", lam=0.1).fit(X, COUNTS)
    said = json.loads(model.to_json())
    (score,) = said["scores"].values()
    z = score["intercept"] + sum(value * X[:, int(name[1:])] for name, value in score["coefficients"].items())
    assert said["link"] == "log" and len(score["coefficients"]) == np.count_nonzero(model.coef_)
    np.testing.assert_allclose(np.exp(z), model.predict(X), rtol=1e-12)
    iris, y = load_iris(return_X_y=True)
    model = DCClassifier(penalty="l1", lam=0.02).fit(iris, y)
    said = json.loads(model.to_json())
    z = np.column_stack([
        s["intercept"] + sum(v * iris[:, int(n[1:])] for n, v in s["coefficients"].items())
        for s in said["scores"].values()
    ])  # fmt: skip
    np.testing.assert_allclose(z, model.decision_function(iris), rtol=1e-9)
    assert said["classes"] == ["0", "1", "2"] == list(said["scores"])


# ---- formulas

formulaic = pytest.importorskip("formulaic")
pd = pytest.importorskip("pandas")


def table(n: int = 150, seed: int = 0) -> Any:
    draw = np.random.default_rng(seed)
    out = pd.DataFrame({"age": draw.uniform(20, 60, n), "dose": draw.normal(size=n), "years": draw.uniform(0.5, 2, n)})
    out["region"] = draw.choice(["north", "south", "west"], n)
    out["claims"] = draw.poisson(out.years * np.exp(0.02 * out.age + 0.5 * (out.region == "west") - 1.0))
    out["sick"] = np.where(out.dose + draw.normal(size=n) > 0.0, "yes", "no")
    out["time"] = draw.exponential(np.exp(-0.5 * out.dose))
    out["seen"] = draw.random(n) < 0.7
    return out


def test_a_formula_is_the_columns_that_it_names() -> None:
    data = table()
    model = DCFormula("claims ~ age + C(region) + age:dose", DCRegressor("poisson", "l1", 0.01, tol=1e-9))
    model.fit(data, exposure="years")
    columns = np.column_stack([data.age, data.region == "south", data.region == "west", data.age * data.dose])
    plain = DCRegressor("poisson", "l1", 0.01, tol=1e-9).fit(columns.astype(float), data.claims, exposure=data.years)
    np.testing.assert_allclose(model.predict(data, exposure="years"), plain.predict(columns, exposure=data.years))
    assert model.model_.feature_names_in_.tolist() == list(model.terms(data).columns)
    assert model.score(data) == pytest.approx(plain.score(columns, data.claims))


def test_levels_and_splines_are_those_of_the_fit() -> None:
    data = table()
    model = DCFormula("dose ~ bs(age, df=4) + region", DCRegressor(penalty="l1", lam=0.01)).fit(data)
    few = data[data.region != "north"].iloc[:7]
    np.testing.assert_allclose(model.predict(few), model.predict(data)[few.index], rtol=1e-10)


def test_without_an_intercept() -> None:
    data = table()
    model = DCFormula("dose ~ age - 1", DCRegressor(penalty="l1", lam=0.0, tol=1e-10)).fit(data)
    assert model.model_.intercept_ == 0.0
    assert model.model_.coef_[0] == pytest.approx(float(data.age @ data.dose / (data.age @ data.age)), rel=1e-6)


def test_classes_and_survival_times() -> None:
    data = table()
    model = DCFormula("sick ~ dose + age", DCClassifier(penalty="l1", lam=0.02, standardize=True)).fit(data)
    assert set(model.predict(data)) == {"yes", "no"} and model.predict_proba(data).shape == (150, 2)
    assert model.score(data) > 0.6
    cox = DCFormula("time + seen ~ dose + age", DCSurvival("l1", 0.01, standardize=True)).fit(data, strata="region")
    plain = DCSurvival("l1", 0.01, standardize=True)
    plain.fit(data[["dose", "age"]].to_numpy(), (data.time, data.seen), strata=data.region.to_numpy())
    np.testing.assert_allclose(cox.model_.coef_, plain.coef_)
    assert cox.score(data) == plain.score(data[["dose", "age"]].to_numpy(), (data.time, data.seen))


def test_bad_formulas_and_tables_are_refused_by_name() -> None:
    data = table()
    with pytest.raises(BadInput, match="no column 'agee'.*age, dose"):
        DCFormula("dose ~ agee", DCRegressor()).fit(data)
    with pytest.raises(BadSettings, match="^formula"):
        DCFormula("dose ~ (age", DCRegressor()).fit(data)
    with pytest.raises(BadSettings, match="targets, ~ and terms"):
        DCFormula("age + dose", DCRegressor()).fit(data)
    with pytest.raises(BadSettings, match="at least one term"):
        DCFormula("dose ~ 1", DCRegressor()).fit(data)
    with pytest.raises(BadSettings, match="^formula"):
        DCFormula(None, DCRegressor()).fit(data)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="^exposure: 'weeks' is no column"):
        DCFormula("claims ~ age", DCRegressor("poisson")).fit(data, exposure="weeks")
    model = DCFormula("dose ~ age + region", DCRegressor(lam=0.01)).fit(data)
    with pytest.raises(BadInput, match="no column 'region'"):
        model.predict(data[["age"]])
    holes = data.assign(age=np.where(np.arange(150) == 3, np.nan, data.age))
    with pytest.raises(BadInput, match="^data"):
        DCFormula("dose ~ age", DCRegressor()).fit(holes)
    assert dcopt.DCFormula is DCFormula
