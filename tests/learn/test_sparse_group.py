"""The sparse group penalty of the estimators, against CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from learn.data import numbers, three_classes

import dcopt
from dcopt.regularizers import Bounded, SparseGroup

GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7]]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_least_squares_is_cvxpys(share):
    X, y = numbers()
    r = SparseGroup(0.15, share, groups=GROUPS, weights=[1.0, 2.0, 0.5])
    model = dcopt.DCRegressor(penalty=r, tol=1e-8).fit(X, y)
    x, b = cp.Variable(8), cp.Variable()
    parts = [
        w * (share * cp.norm1(x[g]) + (1 - share) * cp.norm2(x[g])) for g, w in zip(GROUPS, r.weights, strict=True)
    ]
    cp.Problem(cp.Minimize(cp.sum_squares(X @ x + b - y) / 240 + 0.15 * sum(parts))).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.coef_, x.value, atol=1e-5)
    assert model.status_ == "CONVERGED"


def test_a_path_starts_at_the_least_lam_of_the_null_model():
    for make, data in ((dcopt.DCRegressor, numbers()), (dcopt.DCClassifier, three_classes())):
        groups = {"groups": GROUPS} if make is dcopt.DCRegressor else {}
        model = make(penalty="sparse-group(share=0.4)", lam_scale="max", tol=1e-7, **groups)
        path = model.path(*data, n_lams=8, ratio=0.01)
        assert path.nnz[0] == 0 and path.nnz[-1] > 2 and set(path.statuses) == {"CONVERGED"}
        assert not model.set_params(lam=1.0).fit(*data).coef_.any()
        assert model.set_params(lam=0.99).fit(*data).coef_.any()


def test_a_group_that_is_in_may_lack_a_feature():
    X, y = numbers()
    model = dcopt.DCRegressor(penalty="sparse-group(share=0.6)", groups=GROUPS, lam=0.2).fit(X, y)
    assert model.coef_[0] != 0.0 and model.coef_[1] != 0.0 and model.coef_[2] == 0.0 and not model.coef_[3:].any()


def test_free_features_and_refusals():
    X, y = numbers()
    model = dcopt.DCRegressor(penalty="sparse-group", groups=GROUPS, unpenalized=[3, 4], lam=9.0).fit(X, y)
    assert np.flatnonzero(model.coef_).tolist() == [3, 4]
    assert not dcopt.DCRegressor(penalty=SparseGroup(0.0, groups=GROUPS)).path(X, y, n_lams=1).nnz.any()
    for share in (-0.1, 1.5, np.nan, "x"):
        with pytest.raises(dcopt.BadSettings, match="share"):
            SparseGroup(0.1, share)
    with pytest.raises(dcopt.BadSettings, match="not SparseGroup"):
        Bounded(SparseGroup(0.1, groups=GROUPS))
