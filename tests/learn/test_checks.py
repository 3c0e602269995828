"""scikit-learn's own checks on every estimator, several losses and penalties: no expected failure."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import dcopt
from dcopt.losses import Huber
from dcopt.regularizers import L1, MCP, Exponential

WARNINGS = "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:partial_fit has", "ignore::dcopt.ColumnScaleWarning"
quiet = pytest.mark.filterwarnings(*WARNINGS)

ESTIMATORS = [
    dcopt.DCClassifier(),
    dcopt.DCRegressor(),
    # where λ is small and rows are fewer than unknowns F has flat directions, along which rounding grows to 1e-9
    dcopt.DCClassifier(penalty=MCP(lam=0.2, gamma=2.5)),
    dcopt.DCClassifier(loss="squared-sigmoid", penalty=Exponential(lam=0.002, alpha=5.0)),
    dcopt.DCRegressor(loss=Huber(), penalty="capped-l1", lam=0.1, lam_scale="max"),
    dcopt.DCRegressor(loss="cauchy", penalty="l1", lam=0.01, tol=1e-8),
]
CROSS_VALIDATED = [
    dcopt.DCClassifierCV(ratio=0.01),  # at smaller λ the classes of the check are separable, and rounding grows
    dcopt.DCRegressorCV(),
    # convex: the check's classes are separable, and a nonconvex penalty has no minimizer for them
    dcopt.DCClassifierCV(penalty="l1", n_lams=3, ratio=0.1, cv=2, max_passes=60, tol=1e-3),
    dcopt.DCRegressorCV(n_lams=3, ratio=0.1, cv=2),
]
MORE = [
    dcopt.DCClassifier(loss="softmax", penalty="l2", lam=0.1),
    dcopt.DCClassifier(loss="sigmoid", penalty="log-sum", lam=0.01),
    dcopt.DCClassifier(loss="smoothed-ramp", penalty="transformed-l1", lam=0.01),
    dcopt.DCClassifier(penalty="elastic-net", lam=0.01),
    dcopt.DCRegressor(penalty="mcp", lam=0.01, fit_intercept=False),
    dcopt.DCRegressor(penalty="l2", lam=1e-3),
    dcopt.DCRegressor(loss="welsch", penalty="geman", lam=0.02),
    dcopt.DCRegressor(loss="tukey", penalty="lp-smooth", lam=0.005),
    dcopt.DCRegressor(loss="geman-mcclure", penalty=L1(lam=0.01)),
    dcopt.DCRegressor(penalty="l1-minus-l2", lam=0.01),
    dcopt.DCRegressor(penalty="top-k", lam=0.01),
    dcopt.DCRegressor(penalty="nonnegative"),
    dcopt.DCRegressor(solver="dca"),
    dcopt.DCClassifierCV(rule="1se", n_lams=4, cv=3, penalty="l1"),
    dcopt.DCRegressorCV(loss="huber", rule="1se", n_lams=5, cv=3, scoring="r2"),
]


@quiet
@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    check(estimator)


@quiet
@parametrize_with_checks(CROSS_VALIDATED)
def test_check_cv(estimator, check):
    check(estimator)


@quiet
@pytest.mark.slow
@parametrize_with_checks(MORE)
def test_check_more(estimator, check):
    check(estimator)
