"""Models from a formula and a data frame, by the package formulaic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..errors import BadInput, BadSettings

_CONSTANT = "Intercept"


class DCFormula(BaseEstimator):
    """y ~ terms, fitted by an estimator: DCFormula("claims ~ age + C(region) + age:bonus", DCRegressor("poisson"))

    formula : targets on the left, terms on the right, as R and formulaic write them. "- 1" leaves out the intercept.
        Two targets, "time + event ~ …", are survival times
    estimator : a dcopt estimator; it gets the columns of the terms by their names, and its own intercept

    Needs formulaic (dcopt[formula]). `fit` and `predict` take a data frame, or a dictionary of columns; `offset`,
    `exposure`, `sample_weight` and `strata` may be names of its columns. `model_` is the fitted estimator; levels of
    factors, splines and centred terms are those of the fit.

    Examples
    --------
    >>> import numpy as np, pandas as pd, dcopt
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(["a", "b"], 200)})
    >>> table["y"] = 2.0 * table.x + (table.g == "b") + 0.1 * rng.normal(size=200)
    >>> model = dcopt.DCFormula("y ~ x + g", dcopt.DCRegressor(penalty="l1", lam=0.01)).fit(table)
    >>> model.coef_table()["feature"].tolist()
    ['x', 'g[T.b]', '(intercept)']
    """

    def __init__(self, formula: str, estimator: Any) -> None:
        self.formula, self.estimator = formula, estimator

    def fit(self, data: Any, **rows: Any) -> DCFormula:
        """Fit to a table. `rows`: what the estimator's fit takes beside X and y, as vectors or names of columns."""
        table = _table(data)
        left, right = _matrices(self.formula, table)
        if left is None or right is None:
            raise BadSettings("formula", self.formula, "targets, ~ and terms, as in 'y ~ a + b'")
        X = right.drop(columns=[_CONSTANT], errors="ignore")
        if not X.shape[1]:
            raise BadSettings("formula", self.formula, "at least one term besides the intercept")
        self.model_ = clone(self.estimator)
        if "fit_intercept" in self.model_.get_params():
            self.model_.set_params(fit_intercept=_CONSTANT in right.columns)
        self.spec_, self.targets_ = right.model_spec, list(left.columns)
        self.model_.fit(X, self._labels(left, table), **_columns(rows, table))
        return self

    def predict(self, data: Any, **rows: Any) -> NDArray[Any]:
        """The predictions of the estimator for the rows of a table"""
        table = _table(data)
        out: NDArray[Any] = self.model_.predict(self.terms(table), **_columns(rows, table))
        return out

    def predict_proba(self, data: Any) -> NDArray[Any]:
        """The chances of the classes"""
        out: NDArray[Any] = self.model_.predict_proba(self.terms(data))
        return out

    def score(self, data: Any, **rows: Any) -> float:
        """The score of the estimator, with the targets of the formula"""
        table = _table(data)
        left, _ = _matrices(self.formula, table)
        return float(self.model_.score(self.terms(table), self._labels(left, table), **_columns(rows, table)))

    def terms(self, data: Any) -> Any:
        """The columns of the terms, as the estimator has them"""
        check_is_fitted(self)
        return _made(self.spec_, _table(data)).drop(columns=[_CONSTANT], errors="ignore")

    def summary(self) -> Any:
        """The summary of the estimator"""
        check_is_fitted(self)
        return self.model_.summary()

    def coef_table(self) -> Any:
        """The coefficients of the estimator"""
        check_is_fitted(self)
        return self.model_.coef_table()

    def _labels(self, left: Any, table: Any) -> Any:
        """The targets; a column of classes as it is, not as the indicators that a formula makes of it"""
        name = self.formula.partition("~")[0].strip()
        if getattr(self.estimator, "_estimator_type_", "") == "classifier" and name in table.columns:
            return table[name].to_numpy()
        return left.to_numpy() if left.shape[1] > 1 else left.to_numpy()[:, 0]


def _table(data: Any) -> Any:
    import pandas

    if isinstance(data, pandas.DataFrame):
        return data
    try:
        return pandas.DataFrame(data)
    except (TypeError, ValueError) as why:
        raise BadInput("data", f"is no table ({why})") from None


def _matrices(formula: Any, table: Any) -> tuple[Any, Any]:
    """Left and right side"""
    if not isinstance(formula, str):
        raise BadSettings("formula", formula, "a string such as 'y ~ a + b'")
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError:
        raise BadSettings("formula", formula, "the package formulaic: pip install 'dcopt[formula]'") from None
    try:
        spec = Formula(formula)
    except FormulaicError as why:
        raise BadSettings("formula", formula, f"a formula ({_first_line(why)})") from None
    made = _made(spec, table)
    return getattr(made, "lhs", None), getattr(made, "rhs", None)


def _made(spec: Any, table: Any) -> Any:
    from formulaic.errors import FormulaicError

    missing = sorted(name for name in map(str, spec.required_variables) if name not in table.columns)
    if missing:
        raise BadInput("data", f"has no column {missing[0]!r}, which the formula names; it has {_shown(table.columns)}")
    try:
        return spec.get_model_matrix(table, na_action="raise")
    except (FormulaicError, ValueError, TypeError) as why:
        raise BadInput("data", f"does not fit the formula ({_first_line(why)})") from None


def _shown(columns: Any) -> str:
    names = [str(name) for name in columns]
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")


def _first_line(why: BaseException) -> str:
    return (str(why).strip().splitlines() or [type(why).__name__])[0][:200]


def _columns(rows: dict[str, Any], table: Any) -> dict[str, Any]:
    """Names of columns as their values"""
    out = {}
    for name, value in rows.items():
        if isinstance(value, str) and value not in table.columns:
            raise BadInput(name, f"{value!r} is no column of the table; it has {_shown(table.columns)}")
        out[name] = np.asarray(table[value]) if isinstance(value, str) else value
    return out
