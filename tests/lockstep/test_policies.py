"""Every number of the local method, in local/policy.py and local/costs.py: what it is for; a spoilt one is seen.

Each row of the table names a number, a spoilt value, and what holds with the true one and not with the spoilt one: on a
small problem, in steps, passes, F, or in which choice is made. Never in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_wine

import dcopt
from dcopt.local import Escape, Local, Multistart, Samples, costs
from dcopt.local.place import Place
from dcopt.local.policy import Accuracy, Descent, Ridge, WorkingSet
from dcopt.local.program import searched_set, working_set
from dcopt.regularizers import L1, MCP, SCAD, Exponential
from dcopt.sums import FREE

POLICIES = {
    "descent": Descent, "accuracy": Accuracy, "ridge": Ridge, "working_set": WorkingSet, "escape": Escape,
}  # fmt: skip
NO_NUMBERS = {"working_set.most"}  # None


# ---- problems


def noisy(z: Any, draw: Any) -> Any:
    return np.where(z + draw.logistic(size=len(z)) > 0.0, 1.0, -1.0)


@cache
def classes(lam: float) -> dcopt.Problem:
    X, y = load_wine(return_X_y=True)
    return dcopt.erm((X - X.mean(axis=0)) / X.std(axis=0), y, "softmax", L1(lam=lam), intercept=True)


@cache
def problem(name: str) -> dcopt.Problem:
    if name == "intercept":
        draw = np.random.default_rng(0)
        X = draw.normal(size=(200, 20))
        return dcopt.erm(X, noisy(2.0 * X[:, :4].sum(axis=1), draw), "logistic", MCP(lam=0.05), intercept=True)
    if name == "wide sparse":
        draw = np.random.default_rng(0)
        X = csr_array(draw.normal(size=(60, 900)) * (draw.random((60, 900)) < 0.2))
        return dcopt.erm(X, np.where(draw.random(60) < 0.5, -1.0, 1.0), "logistic", L1(lam=0.01))
    if name == "wide":
        draw = np.random.default_rng(0)
        X = draw.normal(size=(80, 1500))
        return dcopt.erm(X, np.sign(X[:, :10].sum(axis=1) + draw.normal(size=80)), "logistic", L1(lam=0.01))
    if name == "flat at 0":
        draw = np.random.default_rng(3)
        X = draw.normal(size=(200, 8))
        y = np.sign(X @ np.linspace(1, -1, 8) + 0.5 * draw.normal(size=200))
        return dcopt.erm(X, y, "sigmoid", MCP(lam=0.05), intercept=True)
    if name == "alike":
        draw = np.random.default_rng(4)
        X = 0.3 * (draw.normal(size=(80, 16)) + draw.normal(size=(80, 1)))
        y = X @ np.where(np.arange(16) % 3 == 0, 1.0, 0.0) + draw.normal(size=80)
        return dcopt.erm(X, y, "squared", MCP(lam=0.1))
    if name == "few rows":
        draw = np.random.default_rng(0)
        X = draw.normal(size=(60, 200))
        return dcopt.erm(X, np.sign(X[:, :10].sum(axis=1) + 0.3 * draw.normal(size=60)), "logistic", SCAD(lam=0.02))
    if name == "powers":
        draw, t = np.random.default_rng(1), np.linspace(0, 1, 400)[:, None]
        X = t ** np.arange(24)
        return dcopt.erm(X, X[:, :5].sum(axis=1) + 0.1 * draw.normal(size=400), "squared", L1(lam=1e-5))
    if name == "ones":
        draw = np.random.default_rng(1)
        X = 1.0 + 1e-5 * draw.normal(size=(400, 30))
        return dcopt.erm(X, X[:, :5].sum(axis=1) + 0.1 * draw.normal(size=400), "squared")
    if name == "many rows":
        draw = np.random.default_rng(5)
        X = draw.normal(size=(6000, 90))
        y = X @ np.where(np.arange(90) % 3 == 0, 1.0, 0.0) + draw.normal(size=6000)
        return dcopt.erm(X, y, "squared", MCP(lam=1e-2))
    if name == "far from 0":
        draw = np.random.default_rng(0)
        X = draw.normal(size=(50, 400)) + 10.0
        y = np.sign(X[:, :5].sum(axis=1) - 50.0 + draw.normal(size=50))
        return dcopt.erm(X, y, "logistic", L1(lam=0.02), intercept=True)
    if name == "sparse least squares":
        draw = np.random.default_rng(0)
        X = csr_array(draw.normal(size=(60, 100)) * (draw.random((60, 100)) < 0.3))
        return dcopt.erm(X, draw.normal(size=60), "squared", L1(lam=1e-3))
    if name == "bends down":
        draw = np.random.default_rng(0)
        X = draw.normal(size=(120, 30))
        X /= np.linalg.norm(X, axis=1)[:, None]
        return dcopt.erm(X, noisy(6.0 * X[:, :4].sum(axis=1), draw), "squared-sigmoid", MCP(lam=0.005))
    assert name == "concave"
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 60))
    return dcopt.erm(X, noisy(2.0 * X[:, :4].sum(axis=1), draw), "logistic", MCP(lam=0.02))


class Run(NamedTuple):
    """What is counted of a run."""

    steps: int
    passes: float
    F: float
    converged: bool


def run(name: str, how: Local, tol: float = 1e-8) -> Run:
    P = problem(name)
    atol = tol * dcopt.measures.scale(P, "criticality", np.zeros(P.shape))
    res = dcopt.solve(P, how, atol=atol, x0=np.zeros(P.shape), passes=300, trace=None, seed=0)
    return Run(res.steps, res.spent.gradients / (P.n or 1), res.certificate.F, res.status.name == "CONVERGED")


def taken(d: int, dense: bool, how: Local) -> int:
    """How many columns may leave 0 in the first step, where nearly all of d want to"""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(40, d)) * (draw.random((40, d)) < (1.0 if dense else 0.2))
    P = dcopt.erm(X if dense else csr_array(X), np.where(np.arange(40) % 2, 1.0, -1.0), "logistic", L1(lam=1e-9))
    here = Place.of(P, P.sum, P.sum.look(np.zeros(d)))
    return len(working_set(here.C, how.working_set, here.support, here.row_distance))


def leaping(how: Local) -> Local:
    return how if how.escape is not None else replace(how, escape=Escape())


# ---- policies

Holds = Callable[[Local], bool]
TABLE: list[tuple[str, Any, Holds]] = [
    # A step is taken that falls by a tenth of what the model says, and not only one that falls by all of it.
    ("descent.sigma", 1.0, lambda how: run("wide sparse", how).steps <= 8 and run("wide sparse", how).passes <= 9),
    # The metric that majorizes f is found in a few looks, also where the model knows nothing of f.
    ("descent.grow", 1.3, lambda how: run("flat at 0", how).F < 0.2),
    ("descent.looks", 3, lambda how: run("flat at 0", how).F < 0.2),
    # Half of the negative curvature in the model leads to the end sooner than none of it.
    ("descent.partial", 1.0, lambda how: run("bends down", how).passes <= 40),
    # A program is solved so well that the step is Newton's: ten times worse costs a step.
    ("accuracy.share", 0.5, lambda how: run("wide", how).steps <= 7),
    ("accuracy.constant", 0.01, lambda how: run("alike", how).steps <= 2),
    # A larger ridge makes steps short, a smaller one a program that rounding spoils.
    ("ridge.share", 1e-2, lambda how: run("wide sparse", how).steps <= 8),
    ("ridge.exact", 1.0, lambda how: run("alike", how).steps <= 2),
    # In nearly dependent columns a small ridge makes steps long, and a large one programs that are solved.
    ("ridge.exact", 1e-8, lambda how: run("ones", how).F < 0.0048),
    ("ridge.known", 1e-10, lambda how: run("powers", how).steps <= 4),
    ("ridge.known", 1e-3, lambda how: run("powers", how).steps <= 4),
    # Columns that are handed over at once, as many as a pass pays for.
    ("working_set.sparse", 50, lambda how: 8000 <= taken(9000, False, how) <= 8500),
    ("working_set.sparse", 10**5, lambda how: 8000 <= taken(9000, False, how) <= 8500),
    ("working_set.dense", 0.4, lambda how: 150 <= taken(2000, True, how) <= 200),
    ("working_set.dense", 40.0, lambda how: 150 <= taken(2000, True, how) <= 200),
    # Where leaps are tried they end lower, and each of their numbers takes part in that.
    ("escape.near", 0.1, lambda how: run("few rows", leaping(how)).F < 0.017),
    ("escape.far", 0.05, lambda how: run("alike", leaping(how)).F < 0.414),
    ("escape.least", 0.01, lambda how: run("concave", leaping(how)).F < 0.223),
    ("escape.turns", 1, lambda how: run("sparse least squares", leaping(how)).steps <= 2),
    ("escape.close", 0.1, lambda how: run("few rows", leaping(how)).steps <= 20),
    ("escape.width", 60, lambda how: run("few rows", leaping(how)).F < 0.017),
    ("escape.rows", 0.04, lambda how: looking(how) == [False, False, True, True]),
    ("escape.rows", 1.0, lambda how: looking(how) == [False, False, True, True]),
    ("escape.steep", 0.0, lambda how: run("flat at 0", leaping(how)).F < 0.1),
    ("escape.rung", 2, lambda how: run("few rows", leaping(how)).passes <= 22),
]


def looking(how: Local) -> list[bool]:
    """Whether a step looks around in samples of 1/16, 1/4 and 1/2 of all rows, and in all"""
    escape = leaping(how).escape
    assert escape is not None
    return [escape.looks_around(0.1, seen, 4096) for seen in (256, 1024, 2048, 4096)]


def with_number(name: str, value: Any) -> Local:
    """The local method with one number changed"""
    policy, number = name.split(".")
    return replace(Local(), **{policy: replace(POLICIES[policy](), **{number: value})})


@pytest.mark.parametrize(("name", "spoilt", "holds"), TABLE, ids=[f"{name}-{spoilt:g}" for name, spoilt, _ in TABLE])
def test_a_spoilt_policy_is_seen(name: str, spoilt: Any, holds: Holds, request: pytest.FixtureRequest) -> None:
    problem.cache_clear()  # What a problem keeps of its Gram matrices is not for the next case.
    policy, number = name.split(".")
    true = getattr(POLICIES[policy](), number)
    assert holds(with_number(name, true))
    problem.cache_clear()
    assert true != spoilt and not holds(with_number(name, spoilt))


def test_every_policy_is_in_the_table() -> None:
    every = {f"{name}.{field.name}" for name, kind in POLICIES.items() for field in fields(kind)}
    assert {name for name, _, _ in TABLE} | NO_NUMBERS == every


# ---- samples that grow, and starts


def grown(samples: Samples, n: int = 6000, d: int = 60) -> Run:
    draw = np.random.default_rng(1)
    X = draw.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = noisy(6.0 * X[:, :4].sum(axis=1), draw)
    P = dcopt.erm(X, y, "squared-sigmoid", Exponential(lam=1 / n, alpha=5.0))
    res = dcopt.solve(P, Local(samples=samples), atol=1e-7, x0=np.zeros(d), passes=300, trace=None, seed=0)
    return Run(res.steps, res.spent.gradients / n, res.certificate.F, res.status.name == "CONVERGED")


@pytest.mark.parametrize("spoilt", [
    {"shares": (0.5,), "steps": (2,)}, {"shares": (1 / 64, 1 / 4, 1 / 2)}, {"steps": (1, 1, 1)}, {"steps": (9, 6, 6)},
    {"rows": 20.0},
], ids=str)  # fmt: skip
def test_spoilt_samples_are_seen(spoilt: dict[str, Any]) -> None:
    """Steps on few rows, but not many of them, save passes."""
    assert grown(Samples()).passes <= 12.0 < grown(Samples(**spoilt)).passes


def test_samples_of_fewer_rows_than_unknowns_are_seen() -> None:
    """What they choose among the columns is chance: the steps on all rows have to take it back."""
    assert grown(Samples(), 3000, 100).steps <= 9 < grown(Samples(rows=0.2), 3000, 100).steps


def start(starts: Multistart) -> tuple[float, float]:
    """F and the passes of the chosen start"""
    P = problem("concave")
    found = starts.begin(P, Local(), dcopt.State(0, np.zeros(P.shape), None, None, FREE), 0).state
    return P.value(found.x), found.spent.gradients / (P.n or 1)


def test_a_spoilt_start_is_seen() -> None:
    """Starts near 0 end higher, and starts that are followed to their ends cost a hundred passes."""
    F, passes = start(Multistart())
    assert start(Multistart((20.0, 50.0, 100.0)))[0] > F + 1e-3
    assert start(Multistart(steps=1))[0] > F + 1e-3
    assert passes <= 30 and start(Multistart(steps=60))[1] > 100


# ---- thresholds of a machine


def curvature(name: str) -> tuple[Any, Any]:
    P = problem(name)
    return P.sum.curvature(P.sum.look(np.zeros(P.shape))), np.arange(P.shape[0])


def columns_are_copied(stored: int) -> bool:
    """Whether descent goes by columns of a dense matrix of so many entries with several classes"""
    C: Any = SimpleNamespace(
        shows_columns=True, is_softmax=True, classes=10, rough=True, stored=lambda some: stored,
        means_are_far=lambda some, share: share < 0.2,
    )  # fmt: skip
    every = np.arange(1000)
    return costs.classes_by_columns(C, every, every).yes


def searched(name: str, entries: int) -> int:
    """How many columns a search looks at, besides none, where all of them are too many entries"""
    P = problem(name)
    C, every = curvature(name)
    u = np.asarray(P.sum.all().grad(np.zeros(P.shape))).reshape(len(every), -1)
    found = searched_set(C, np.zeros(0, np.int64), u, entries)
    return 0 if found is None else len(found)


def started() -> bool:
    """Whether a run on small data with a concave penalty starts at the lowest of several starts"""
    return bool(dcopt.solve(problem("concave"), "dca-local", tol=1e-6, seed=0).notes)


def class_steps() -> int:
    return dcopt.solve(classes(0.002), "dca-local", tol=1e-7, x0=np.zeros((14, 3)), passes=300).steps


COSTS: list[tuple[str, int, Callable[[], bool]]] = [
    ("COMPILE_ENTRIES", 2**13, lambda: not costs.compile_kernels(500, 100).yes and costs.compile_kernels(700, 100).yes),
    ("COMPILE_ENTRIES", 2**19, lambda: not costs.compile_kernels(500, 100).yes and costs.compile_kernels(700, 100).yes),
    # By columns, with a bound on the curvature of each, several classes take twice the steps.
    ("BLOCK_ROWS", 20, lambda: class_steps() <= 10),
    ("BLOCK_ROWS", 20480, lambda: columns_are_copied(10**6)),
    ("FAR_MEANS", 0.1, lambda: columns_are_copied(10**6)),
    ("COPIED_ENTRIES", 2**21, lambda: columns_are_copied(10**7) and not columns_are_copied(2 * 10**7)),
    ("COPIED_ENTRIES", 2**27, lambda: columns_are_copied(10**7) and not columns_are_copied(2 * 10**7)),
    # A small Gram matrix is solved in to the end; descent on the columns takes a hundred steps.
    ("SMALL_GRAM", 12, lambda: run("sparse least squares", Local()).steps <= 5),
    ("SMALL_GRAM", 1280, lambda: searched("wide", 600) == 128),
    ("DESCENT_PASSES", 3, lambda: run("wide sparse", Local()).steps <= 10),
    # Columns far from 0, of which the intercept takes up the mean.
    ("CENTRED_COLUMNS", 51, lambda: run("far from 0", Local(), 1e-6).steps <= 10),
    ("CENTRED_COLUMNS", 5120, lambda: run("wide", Local()).steps <= 8 and not gram_of_all_columns()),
    ("CHEAP_ROW", 25, started),
    ("START_ENTRIES", 2**12, started),
    ("CHEAP_ROW", 2560, lambda: not costs.all_columns_are_cheap(*curvature("wide")).yes),
]


IN_AUTO = {"MANY_ROWS", "GROUP_GRAM"}  # They are spoilt in test_auto.py.


def gram_of_all_columns() -> bool:
    """Whether 900 dense columns with an intercept are worth their Gram matrix"""
    draw = np.random.default_rng(0)
    P = dcopt.erm(draw.normal(size=(40, 900)), np.where(np.arange(40) % 2, 1.0, -1.0), "logistic", intercept=True)
    C = P.sum.curvature(P.sum.look(np.zeros(901)))
    assert C is not None
    return not costs.by_columns(C, np.arange(901), False, True).yes


@pytest.mark.parametrize(("name", "spoilt", "holds"), COSTS, ids=[f"{name}-{spoilt}" for name, spoilt, _ in COSTS])
def test_a_spoilt_threshold_is_seen(
    name: str, spoilt: int, holds: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem.cache_clear()
    assert holds()
    monkeypatch.setattr(costs, name, spoilt)
    problem.cache_clear()
    assert not holds()


def test_every_threshold_is_in_the_table() -> None:
    every = {name for name, value in vars(costs).items() if name.isupper() and isinstance(value, int | float)}
    assert {name for name, _, _ in COSTS} | {"SMALL"} | IN_AUTO == every  # SMALL_GRAM has that name below.


@pytest.mark.parametrize("spoilt", [0.1, 1e-5])
def test_a_spoilt_share_of_what_is_flat_is_seen(spoilt: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where f is flat, a ridge that is too small gives steps that lead nowhere, a large one short steps."""
    problem.cache_clear()
    assert run("flat at 0", leaping(Local())).F < 0.1
    monkeypatch.setattr("dcopt.local.models.build.FLAT", spoilt)
    problem.cache_clear()
    assert not run("flat at 0", leaping(Local())).F < 0.1


def test_every_choice_gives_its_reason() -> None:
    for choice in (costs.compile_kernels(5, 5), costs.all_columns_are_cheap(*curvature("wide"))):
        assert isinstance(choice.yes, bool) and len(choice.why.split()) > 3
