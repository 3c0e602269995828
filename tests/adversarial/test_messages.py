"""Mistakes that are made at first: each is refused with the name of the argument, and what to give instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from small import matrix, signs

import dcopt
from dcopt.convex import ScaledIdentity
from dcopt.errors import DcoptError, nearest
from dcopt.problems import nmf_start, pca_start, sparse_regression
from dcopt.problems.sparse_regression import largest_lam
from dcopt.regularizers import SCAD

X = matrix()
Y = signs(X)
P = dcopt.erm(X, Y, "logistic", "scad")
TEXT = pd.array(["a", "b"] * 19 + [None, "a"], dtype="string")


def of(gradient: Callable[[Any], Any], value: Callable[[Any], Any] = lambda x: float(x.sum())) -> dcopt.Problem:
    return dcopt.Problem(ScaledIdentity(2.0), f=dcopt.Function(value, gradient, (4,)), r="l1")


KEYWORDS: dict[str, tuple[Callable[[], Any], str]] = {
    "penalty": (lambda: dcopt.erm(X, Y, penalty="scad"), r"erm\(\) has no argument 'penalty'; say regularizer="),
    "lam": (lambda: dcopt.erm(X, Y, "logistic", "l1", lam=0.1), r"dcopt.regularizers.L1\(lam=0.1\)"),
    "near": (lambda: dcopt.erm(X, Y, regularizr="scad"), "say regularizer="),
    "far": (lambda: dcopt.erm(X, Y, colour="red"), "it has X, y, loss, regularizer"),
    "of a stream": (lambda: dcopt.stream([(X, Y)], penalty="scad"), "say regularizer="),
    "max_iter": (lambda: dcopt.solve(P, max_iter=10), "say passes= or steps="),
    "random_state": (lambda: dcopt.solve(P, random_state=1), "say seed="),
    "max_iter of an estimator": (
        lambda: dcopt.DCClassifier(max_iter=10), r"DCClassifier\(\) has no argument 'max_iter'; say max_passes=",
    ),
    "alpha of an estimator": (lambda: dcopt.DCRegressor(alpha=1.0), r"DCRegressor\(\) has no .* say lam="),
    "C of an estimator": (lambda: dcopt.DCClassifier(C=1.0), r"say lam=, which is 1 / \(N C\)"),
    "regularizer of an estimator": (lambda: dcopt.DCClassifier(regularizer="scad"), "say penalty="),
    "seed of an estimator": (lambda: dcopt.DCClassifierCV(seed=1), r"DCClassifierCV\(\) has.*say random_state="),
    "lam of a cross-validation": (lambda: dcopt.DCRegressorCV(lam=0.1), "say lams=, or DCRegressor for one value"),
    "groups of a fit": (
        lambda: dcopt.DCClassifierCV().fit(X, Y, groups=np.arange(len(Y))),
        r"fit\(\) has no argument 'groups'; say cv=list\(GroupKFold\(5\).split\(X, y, groups\)\), to DCCl",
    ),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_of_other_libraries(name: str) -> None:
    call, says = KEYWORDS[name]
    with pytest.raises(TypeError, match=says):
        call()


def test_the_signatures_stay_as_they_are() -> None:
    for function in (dcopt.erm, dcopt.stream, dcopt.solve, dcopt.DCClassifier, dcopt.DCRegressorCV.fit):
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds and function.__doc__


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "a class for a regularizer": (lambda: dcopt.erm(X, Y, "logistic", SCAD), r"an instance, SCAD\(…\), not the class"),
    "a class for a loss": (lambda: dcopt.erm(X, Y, dcopt.losses.Logistic), r"an instance, Logistic\(…\)"),
    "a class for a method": (lambda: dcopt.solve(P, dcopt.estimators.PAGE), r"an instance, PAGE\(…\)"),
    "settings in a name": (lambda: dcopt.erm(X, Y, "logistic", "scad(0.1)"), "a name has no settings: give 'scad', or"),
    "a name of others, lasso": (lambda: dcopt.erm(X, Y, "logistic", "lasso"), "did you mean 'l1'"),
    "a name of others, log_loss": (lambda: dcopt.erm(X, Y, "log_loss"), "did you mean 'logistic'"),
    "sparse labels": (lambda: dcopt.erm(X, sp.csr_array(Y[:, None]), "logistic"), "y: is a sparse matrix: give"),
    "sparse targets": (lambda: dcopt.erm(X, sp.csr_array(Y[:, None]), "squared"), "y: is a sparse matrix: give"),
    "labels with NA": (lambda: dcopt.erm(X, TEXT, "logistic"), "y, row 38: is <NA>"),
    "labels with NA in a stream": (
        lambda: dcopt.stream([(X, TEXT)], "logistic", holdout=40), "y, row 38: is <NA> in the held-out sample",
    ),
    "mixed labels": (lambda: dcopt.erm(X, ["a", 3] * 20, "logistic"), "y: mixes strings and numbers"),
    "a function for G": (lambda: dcopt.Problem(lambda x: x @ x, f=P.f, r="l1"), r"G = .*dcopt.convex.ScaledIdentity"),
    "a class for G": (lambda: dcopt.Problem(ScaledIdentity, f=P.f, r="l1"), r"G = .*dcopt.convex.ScaledIdentity"),
    "a function for f": (lambda: dcopt.Problem(ScaledIdentity(1.0), f=np.sum, r="l1"), "f = .*dcopt.Function"),
    "a function for H": (lambda: dcopt.Problem(ScaledIdentity(1.0), lambda x: x @ x, "l1"), "H = .*dcopt.Function"),
    "a gradient of another length": (
        lambda: dcopt.solve(of(lambda x: np.ones(3)), "dca", steps=2),
        r"Function: gradient\(x\) is of shape \(3,\), x has shape \(4,\)",
    ),
    "a gradient that is a column": (
        lambda: dcopt.solve(of(lambda x: np.ones((4, 1))), "dca", steps=2), r"of shape \(4, 1\), x has shape \(4,\)",
    ),
    "a gradient that is a number": (lambda: dcopt.solve(of(lambda x: 1.0), "dca", steps=2), "is a float, x has"),
    "no gradient": (lambda: dcopt.solve(of(lambda x: None), "dca", steps=2), r"gradient\(x\) is a NoneType"),
    "a value that is a vector": (
        lambda: dcopt.solve(of(np.cos, np.cos), "dca", steps=2), r"value\(x\) is of shape \(4,\), not a number",
    ),
    "a function's shape": (lambda: dcopt.Function(lambda x: 0.0, lambda x: x, 4), r"shape = 4: .*\(4,\)"),
    "a function's order": (lambda: dcopt.Function((4,), lambda x: 0.0, lambda x: x), "value = .*a function of x"),
    "labels for groups": (
        lambda: dcopt.erm(X, Y, "logistic", SCAD(lam=0.1, groups=np.repeat([0, 1], 4))),
        r"groups = an array of shape \(8,\): .*one label for each feature.*np.flatnonzero\(labels == k\)",
    ),
    "an array for a regularizer": (
        lambda: dcopt.erm(X, Y, "logistic", X), r"regularizer = an array of shape \(\d+, \d+\): expected a known name",
    ),
    "no state": (lambda: dcopt.iterate(P, seed=1, state=3), "state = 3: expected a State"),
    "a scale that has no square": (lambda: dcopt.losses.Huber(c=1e300), "c = 1e"),
    "half a step": (lambda: pca_start(X, steps=0.5), "steps = 0.5"),
    "a negative seed": (lambda: nmf_start(np.abs(X), 2, seed=-1), "seed = -1"),
    "half an intercept": (lambda: largest_lam(sparse_regression(X, Y), free=0.5), "free = 0.5"),
    "no column of a trace": (lambda: dcopt.solve(P, steps=2, seed=0).trace["foo"], "column = 'foo'.*known: F, "),
    "data for a problem": (lambda: dcopt.solve(X, Y), "is an ndarray: build a problem"),
    "a number for a problem": (lambda: dcopt.solve(3), "is an int: build a problem"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name: str) -> None:
    call, says = MISTAKES[name]
    with pytest.raises(DcoptError, match=says):
        call()


def test_a_class_is_no_component() -> None:
    for kind in (SCAD, dcopt.losses.Logistic, dcopt.estimators.PAGE):
        with pytest.raises(TypeError, match=rf"{kind.__name__} is a class: give an instance, {kind.__name__}\(…\)"):
            dcopt.check(kind)
    with pytest.raises(TypeError, match="an int is no loss"):
        dcopt.check(3)


def test_names_of_other_libraries_are_names_of_ours() -> None:
    from dcopt.errors import _ELSEWHERE

    ours = {*dcopt.METHODS, *dcopt.regularizers.REGULARIZERS, *dcopt.losses.LOSSES}
    assert set(_ELSEWHERE.values()) <= ours and not _ELSEWHERE.keys() & ours
    assert nearest("lasso", ["scad", "mcp"]) is None  # only where it is known


@pytest.mark.parametrize("method", ["dca", "dca-page", "sdca", "dca-local"])
def test_l7_float32_of_tiny_scale_with_a_gram_matrix(method: str) -> None:
    """The root of its inverse left the numbers of float32: a raw LinAlgError."""
    tiny = dcopt.erm((X * 1e-44).astype(np.float32), Y, "logistic", "l1", decomposition="gram")
    result = dcopt.solve(tiny, method, steps=3, seed=0)
    assert result.status is not dcopt.Status.DIVERGED and np.isfinite(result.x).all()


@pytest.mark.parametrize(
    ("groups", "wrong"),
    [([[0, 1], [1, 2]], "feature 1 is in 2"), ([[0, 1], [3]], "feature 2 is in 0"), ([[0], []], "non-empty groups")],
)
def test_groups_that_are_no_partition_name_a_feature(groups: list[list[int]], wrong: str) -> None:
    with pytest.raises(DcoptError, match=wrong):
        dcopt.regularizers.SCAD(lam=0.1, groups=groups)
