"""Problems (M) with a general G: F is what it says, counts are kept apart, controls have the G that they say."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt.errors import BadSettings
from dcopt.experiments import general, recipe, statements
from dcopt.experiments.contestants import is_dca, step_cost
from dcopt.experiments.general_report import GeneralFindings
from dcopt.experiments.records import Record, beyond
from dcopt.experiments.scaling import Task, crossings, jobs, problem
from dcopt.experiments.scaling_recipe import Family, Recipe
from dcopt.experiments.slopes import against_N
from dcopt.experiments.typed import build
from dcopt.measures import criticality

BY_HAND = [name for name in general.PROBLEMS if name != "autodiff"]
N, DIM = 300, 6


def values(name: str, x: Any) -> float:
    """F from its formula alone."""
    a, noise, coins = general._rows(N, DIM)
    star = np.where(np.arange(DIM) % 2 == 0, 1.0, -1.0)
    if name == "phase-retrieval":
        b = (a @ (2.0 * star / DIM**0.5)) ** 2
        return float(np.mean(((a @ x) ** 2 - b) ** 2) / 4)
    if name == "robust-regression":
        e = (a @ x - a @ star - np.where(coins < 0.2, 10.0, 0.3) * noise) / 2.0
        return float(np.mean(4.0 * (1.0 - np.exp(-e * e)) / 2)) + 0.01 * float(np.abs(x).sum())
    if name in ("ramp-svm", "mean-of-rows"):
        y = np.where(a @ star + 0.5 * noise > 0, 1.0, -1.0) * np.where(coins < 0.25, -1.0, 1.0)
        m = y * (a @ x)
        if name == "mean-of-rows":
            return float(np.mean(np.logaddexp(0, -m) - np.logaddexp(0, -m - 2.0))) + 0.01 * float(x @ x)

        def hinge(at: float) -> Any:
            t = np.clip(at - m, 0.0, 0.5)
            return t * (at - m - 0.5 * t) / 0.5

        return float(np.mean(hinge(1.0) - hinge(-1.0))) + 0.025 * float(x @ x)
    bags = (general._rows(4 * N, DIM)[0] + 0.5 * star).reshape(N, 4, DIM)
    Q = np.linspace(0.3, 1.0, DIM)
    return float(0.5 * Q @ x**2 - np.mean(np.log(np.exp(bags @ x).sum(axis=1)))) + 0.01 * float(np.abs(x).sum())


@pytest.mark.parametrize("name", BY_HAND)
def test_F_is_its_formula(name: str) -> None:
    P, x0, lower, _ = general.PROBLEMS[name](N, DIM)
    rng = np.random.default_rng(0)
    for x in (x0, *rng.standard_normal((5, DIM))):
        assert P.value(x) == pytest.approx(values(name, x), rel=1e-9, abs=1e-12)
        assert P.value(x) >= lower


@pytest.mark.parametrize("name", BY_HAND)
def test_prefixes_of_one_population(name: str) -> None:
    """The first components do not depend on N."""
    small, large = (general.PROBLEMS[name](n, DIM) for n in (N, 2 * N))
    assert np.array_equal(small.x0, large.x0)
    x = np.random.default_rng(1).standard_normal(DIM)
    one, two = (statements.gradients(start.P, x)[:N] for start in (small, large))
    assert one.shape == (N, DIM)
    weights = name == "phase-retrieval"  # b_i are weights, scaled to mean 1, and η is the same
    if not weights:
        assert np.allclose(one, two, rtol=1e-10)
    assert np.allclose(one.mean(axis=0), small.P.sum.all().grad(x) + small.P.eta * x)


@pytest.mark.parametrize("name", [*BY_HAND, "components-ridge"])
def test_the_known_constants_bound_what_is_seen(name: str) -> None:
    P, x0, _, sigma = (general.PROBLEMS | general.CONVEX)[name](N, DIM)
    seen = statements.seen_L(P, x0, seed=0)
    assert P.constants.L is not None and 0.05 * P.constants.L < seen <= P.constants.L * (1 + 1e-3)
    if sigma is not None:
        for x in np.random.default_rng(2).standard_normal((5, DIM)) * 3.0:
            g = statements.gradients(P, x)
            assert float(np.mean(((g - g.mean(axis=0)) ** 2).sum(axis=1))) <= sigma**2


def test_autodiff_has_the_paths_of_gradients_by_hand() -> None:
    pytest.importorskip("torch")
    one, two = (general.PROBLEMS[name](N, DIM) for name in ("components", "autodiff"))
    for method in ("dca", "dca-page", "dca-svrg"):
        paths = [islice(dcopt.iterate(start.P, method, seed=3, x0=start.x0), 40) for start in (one, two)]
        assert all(np.allclose(a.x, b.x, rtol=0.0, atol=1e-10) for a, b in zip(*paths, strict=True))


# ---- who runs with which G


def test_one_policy_for_the_shift_and_two_controls() -> None:
    P = general.PROBLEMS["robust-regression"](N, DIM).P

    def eta(name: str) -> float:
        tuned, method = general.contestant(name, P)
        return method.prepare(tuned)[0].eta

    assert eta("dca") == eta("sdca-unshifted") == 0.0
    assert eta("dca-page") == eta("saga-sqrt") > 0.0
    assert eta("sdca") > eta("dca-page") > eta("dca-saga")


def test_the_cost_of_a_step_is_that_of_runs() -> None:
    P, x0, *_ = general.PROBLEMS["robust-regression"](N, DIM)
    for name in ("dca", "dca-saga", "sdca-unshifted", "saga-sqrt", "dca-page", "dca-svrg"):
        tuned, method = general.contestant(name, P)
        ends = [list(islice(dcopt.iterate(tuned, method, seed=seed, x0=x0), 121))[-1] for seed in range(8)]
        steps = [state.spent.gradients - N for state in ends]
        room = 0.3 if name == "dca-page" else 1e-9  # coins
        assert np.mean(steps) / 120 == pytest.approx(step_cost(name, N), rel=room)
    assert [is_dca("dca-svrg", n) for n in (1024, 2048)] == [True, False]
    assert not is_dca("dca-page", 16) and not is_dca("sdca", 5) and is_dca("dca", 99)


# ---- crossings

FAMILY = Family("mean-of-rows", (128, 256), 256, (1 / 4, 1 / 16), (1, 2, 3))
TINY = Recipe("tiny", (FAMILY,), ("dca", "dca-page", "saga-sqrt"), runs=2, dim=4)


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-saga", "sdca-unshifted", "saga-sqrt"])
def test_gradients_of_the_programs_are_kept_apart(method: str) -> None:
    """Both together are what the run says it spent, at the first step with d ≤ ε."""
    chosen = Recipe("one", (FAMILY,), (method,), dim=4, ratio=1.0 + 1e-9)
    ground = problem(chosen, FAMILY, 256)
    eps = 0.1 * criticality(ground.P, ground.x0)
    (record,) = crossings(ground, Task(chosen, FAMILY, 256, method, 1, ((0.1, eps),)))
    P, tuned = general.contestant(method, ground.P)
    for state in dcopt.iterate(P, tuned, seed=1, x0=ground.x0):
        if criticality(ground.P, state.x) <= eps:
            break
    assert record.status == "crossed" and record.steps == state.t and record.programs and record.gradients
    assert record.programs % 256 == 0 and record.gradients + record.programs == state.spent.gradients
    assert beyond(record, "with programs") == state.spent.gradients - 256
    if method == "dca":
        assert record.gradients == 256 * state.t


def test_a_size_at_which_a_method_is_dca_is_left_out() -> None:
    sizes = (512, 1024, 2048, 4096, 8192)
    records = [
        Record("made-up", n, m, 0, 0.5, 0.5, "crossed", 9 * n, 9 * n, 9, 0, 0.0)
        for n in sizes for m in ("dca-svrg", "dca-page", "dca")
    ]  # fmt: skip
    rows = {row.method: row for row in against_N(records, 0.5)}
    assert rows["dca-svrg"].honest.xs == (2048.0, 4096.0, 8192.0)
    assert rows["dca-page"].honest.xs == rows["dca"].honest.xs == tuple(map(float, sizes))
    assert rows["dca"].sizes == pytest.approx(1.0) and rows["dca-page"].sizes == pytest.approx(0.5, abs=0.01)


def test_the_page_says_what_decides() -> None:
    sets = ("mean-of-rows",)
    found = GeneralFindings(TINY, [Record(**r) for job in jobs(TINY, sets) for r in job.run()["records"]])
    text = found.markdown()
    assert text.count("| `dca-page` |") == 3 and "with programs" in text and "s, η of `saga-sqrt`" in text
    assert " – |" not in text.partition("## Constants")[2]
    row = next(row for row in found.in_N["mean-of-rows"] if row.method == "dca-page")
    assert row.programs is not None and row.programs.value > row.honest.value


def test_a_method_that_one_problem_refuses_is_missing_in_its_row() -> None:
    pytest.importorskip("torch")
    other = Family("autodiff", (64, 128), 128, (1 / 2,), (), methods=("dca", "dca-page"))
    found = GeneralFindings(Recipe("two", (FAMILY, other), ("dca-saga",), runs=1, dim=4), [])
    found.families = [FAMILY, other]
    rows = found.constants().splitlines()[2:]
    assert [row.count("| – ") for row in rows] == [1, 1]


def test_the_recipe_has_five_kinds_of_G_and_components_by_autodiff() -> None:
    full, quick = (build(Recipe, recipe.read("general", q), "general") for q in (False, True))
    assert {f.data for f in full.families} == set(general.PROBLEMS) and full.is_general
    assert all(min(f.sizes) == 256 and max(f.sizes) >= 16384 for f in full.families)
    assert all({"dca", "dca-page", "dca-svrg"} <= set(full.methods_on(f)) for f in full.families)
    assert quick.runs < full.runs
    with pytest.raises(BadSettings, match="not both"):
        Recipe("x", (FAMILY, Family("synthetic", (64,), 64, (0.5,), ())), ("dca",))
