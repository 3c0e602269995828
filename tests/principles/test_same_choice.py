"""solve(P) and the estimators choose the same method for the same problem, and both say which."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from principles.shared import rows
from scipy.sparse import csr_array

import dcopt
from dcopt.regularizers import L1, MCP, SCAD, CappedL1, Exponential, L1MinusL2


class Given(NamedTuple):
    """Data, a loss and a penalty, as both interfaces take them."""

    n: int
    d: int
    loss: str
    r: Any
    labels: str = "binary"
    density: float = 1.0

    def data(self) -> tuple[Any, np.ndarray]:
        X, z = rows(self.n, self.d, seed=8, density=self.density)
        y = {"binary": np.where(z > 0, 1.0, -1.0), "class": np.digitize(z, [-0.4, 0.4]), "real": z}[self.labels]
        return X if self.density == 1.0 else csr_array(X), y

    def problem(self, intercept: bool) -> dcopt.Problem:
        X, y = self.data()
        return dcopt.erm(X, y, self.loss, self.r, intercept=intercept)

    def estimator(self, intercept: bool) -> Any:
        kind = dcopt.DCRegressor if self.labels == "real" else dcopt.DCClassifier
        return kind(self.loss, self.r, fit_intercept=intercept, random_state=0, max_passes=3000)


def pairs(d: int) -> list[list[int]]:
    return [[j, j + 1] for j in range(0, d, 2)]


GIVEN = {
    "binary": Given(120, 8, "logistic", MCP(lam=0.01)),
    "binary-nonconvex": Given(120, 8, "squared-sigmoid", Exponential(lam=0.002, alpha=5.0)),
    "binary-convex-penalty": Given(120, 8, "logistic", L1(lam=0.02)),
    "binary-kinks": Given(120, 8, "logistic", CappedL1(lam=0.02, theta=0.5)),
    "wide-sparse": Given(60, 90, "logistic", MCP(lam=0.01), density=0.1),
    "very-wide-sparse": Given(60, 2400, "logistic", MCP(lam=0.02), density=0.01),
    "softmax-rows": Given(150, 6, "softmax", SCAD(lam=0.02, groups="rows"), "class"),
    "softmax-entries": Given(150, 6, "softmax", MCP(lam=0.01), "class"),
    "least-squares": Given(90, 7, "squared", MCP(lam=0.05), "real"),
    "robust": Given(90, 7, "huber", SCAD(lam=0.05), "real"),
    "many-rows": Given(4200, 5, "logistic", SCAD(lam=0.01)),
    "many-rows-sparse": Given(4200, 6, "squared-sigmoid", Exponential(lam=0.0005, alpha=5.0), density=0.4),
    "many-rows-softmax": Given(4200, 4, "softmax", MCP(lam=0.01), "class"),
    "many-rows-least-squares": Given(4200, 5, "squared", MCP(lam=0.05), "real"),
    "pairs": Given(80, 6, "logistic", SCAD(lam=0.02, groups=pairs(6))),
    "pairs-nonconvex": Given(80, 6, "squared-sigmoid", SCAD(lam=0.005, groups=pairs(6))),
    "pairs-least-squares": Given(90, 6, "squared", SCAD(lam=0.05, groups=pairs(6)), "real"),
    "pairs-many-rows": Given(4200, 6, "logistic", SCAD(lam=0.02, groups=pairs(6))),
    "not-separable": Given(80, 6, "logistic", L1MinusL2(lam=0.02)),
}


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("name", GIVEN)
def test_solve_and_the_estimators_choose_the_same_method(name: str, intercept: bool) -> None:
    given = GIVEN[name]
    result = dcopt.solve(given.problem(intercept), steps=1, seed=0)
    model = given.estimator(intercept).fit(*given.data())
    assert model.status_ == "CONVERGED", "a second choice may have followed the first"
    assert result.notes[0].startswith(f"auto took {result.method}")
    assert model.solver_.method == result.method, (
        f"the estimator takes {model.solver_.method} ({model.solver_.reason}); {result.notes[0]}"
    )
