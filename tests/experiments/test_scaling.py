"""Measured complexity: crossings, slopes, and a command that can be cut off."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from dcopt.errors import BadSettings
from dcopt.experiments import recipe
from dcopt.experiments.contestants import CONTROLS
from dcopt.experiments.records import Record, records
from dcopt.experiments.scaling import Task, crossings, jobs, population, problem
from dcopt.experiments.scaling_recipe import Family, Recipe
from dcopt.experiments.scaling_report import Findings
from dcopt.experiments.slopes import CLAIMED, Slope, against_eps, against_N, fit_slope, verdict
from dcopt.experiments.typed import build
from dcopt.measures import criticality
from dcopt.solve import iterate

TESTED = ("dca", "dca-saga", "dca-svrg", "mm-saga", "mm-svrg", "mm-sarah", "dca-page", *CONTROLS)
FAMILY = Family("synthetic", (64, 128, 256), 128, (1 / 2, 1 / 4), (1, 2, 3))
TINY = Recipe("tiny", (FAMILY,), ("dca", "mm-saga", "dca-page"), runs=3, dim=6)


def task(method: str, n: int = 256, seed: int = 0, **changes: float) -> Task:
    chosen = Recipe("one", (FAMILY,), TESTED, runs=3, dim=6, **changes)  # type: ignore[arg-type]
    ground = problem(chosen, FAMILY, n)
    start = ground.look([ground.x0])[0]
    return Task(chosen, FAMILY, n, method, seed, tuple((level, level * start) for level in (1 / 2, 1 / 4, 1 / 8)))


def made(job: Task) -> list[Record]:
    return crossings(problem(job.recipe, job.family, job.n), job)


def brute(job: Task, steps: int) -> list[tuple[int, int, float]]:
    """(steps, gradients, d) at every step, with the library's own measure."""
    P = problem(job.recipe, job.family, job.n).P
    method = CONTROLS.get(job.method, job.method)
    states = islice(iterate(P, method, seed=job.seed), steps)
    return [(s.t, s.spent.gradients, criticality(P, s.x)) for s in states]


# ---- where d first falls below ε


@pytest.mark.parametrize("method", TESTED)
@pytest.mark.parametrize("seed", [0, 1])
def test_looking_at_every_step_finds_the_first_crossing(method: str, seed: int) -> None:
    job = task(method, seed=seed, ratio=1.0 + 1e-9)
    records = made(job)
    path = brute(job, max(r.steps or 0 for r in records))
    for record in records:
        first = next((t, gradients) for t, gradients, d in path if d <= record.eps)
        assert (record.steps, record.gradients) == first


@pytest.mark.parametrize("method", TESTED)
def test_looking_seldom_finds_it_within_the_ratio(method: str) -> None:
    """d ≤ ε at the recorded step, d > ε at the look before, and between them 4 % of the gradients or one step."""
    job = task(method)
    records = made(job)
    path = brute(job, max(r.steps or 0 for r in records))
    spent = {gradients: (t, d) for t, gradients, d in path}
    for record in records:
        assert record.status == "crossed" and record.gradients is not None
        t, d = spent[record.gradients]
        assert t == record.steps and d <= record.eps
        if record.before:
            earlier, above = spent[record.before]
            assert above > record.eps
            due = job.n + job.recipe.ratio * (record.before - job.n)
            assert path[t - 2][1] < due or t == earlier + 1  # the step before the recorded one was not due yet
        if method == "dca":  # monotone here: the first crossing lies between the two looks
            first = next(t for t, _, d in path if d <= record.eps)
            assert record.before // job.n < first <= record.steps


def test_the_paper_counts_a_correction_once() -> None:
    saga, page = made(task("mm-saga"))[-1], made(task("dca-page"))[-1]
    assert saga.gradients == saga.paper
    assert page.gradients is not None and page.paper is not None
    assert 256 < page.paper < page.gradients < 2 * page.paper


def test_a_run_that_does_not_cross_is_censored_and_has_no_number() -> None:
    records = made(task("dca", cap=4.0))
    assert [r.status == "crossed" for r in records] == [r.gradients is not None for r in records]
    last = records[-1]
    assert last.status == "censored" and (last.gradients, last.paper, last.steps) == (None, None, None)
    assert last.before == 4 * 256  # looked at up to the cap


def test_several_points_at_once_have_the_distances_of_the_measure() -> None:
    P, _, look = problem(TINY, FAMILY, 256)
    points = [np.random.default_rng(k).standard_normal(P.shape).astype(P.dtype) * (k % 3) for k in range(5)]
    assert look(points) == pytest.approx([criticality(P, x) for x in points], rel=1e-5)


def test_the_problem_does_not_change_with_n() -> None:
    """Prefixes of one population; L_f, and so κ, is the same for all."""
    X, y = population("synthetic", 256, 6)
    small, signs = population("synthetic", 64, 6)
    assert np.array_equal(X[:64], small) and np.array_equal(y[:64], signs)
    assert np.allclose(np.linalg.norm(X, axis=1), 1.0, atol=1e-6)
    kappas = [problem(TINY, FAMILY, n)[0].G.L for n in FAMILY.sizes]
    assert kappas == pytest.approx([kappas[0]] * 3, rel=1e-5)


# ---- slopes


def test_a_power_law_is_recovered() -> None:
    xs = [2.0**k for k in range(8, 15)]
    exact = fit_slope(xs, [[3.0 * x**0.7] for x in xs])
    assert exact.value == pytest.approx(0.7, abs=1e-12) and exact.at(100.0) == pytest.approx(3.0 * 100.0**0.7)
    assert exact.low == pytest.approx(exact.high)
    rng = np.random.default_rng(0)
    hits = 0
    for repeat in range(40):
        noisy = [3.0 * x**0.7 * np.exp(0.2 * rng.standard_normal(10)) for x in xs]
        fit = fit_slope(xs, noisy, resamples=300, seed=repeat)
        assert fit.low <= fit.value <= fit.high
        hits += fit.low <= 0.7 <= fit.high
    assert hits >= 34  # 95 % intervals, with room for 40 repeats and ten seeds


def test_censored_runs_are_above_every_number_and_never_one() -> None:
    xs = [1.0, 2.0, 4.0, 8.0]
    values = [[x, x, x, math.inf] for x in xs[:3]] + [[8.0, math.inf, math.inf, math.inf]]
    fit = fit_slope(xs, values)
    assert fit.value == pytest.approx(1.0) and fit.xs == (1.0, 2.0, 4.0) and fit.left_out == 1
    with pytest.raises(BadSettings):
        fit_slope(xs, [[math.inf]] * 4)


@pytest.mark.parametrize(
    ("low", "high", "claim", "said"),
    [
        (0.49, 0.53, 1 / 2, "supported"),
        (0.68, 0.72, 2 / 3, "not distinguishable"),  # 3/4 is in reach, too
        (0.40, 0.90, 1 / 2, "not distinguishable"),
        (0.30, 0.40, 1 / 2, "bound holds, not attained"),
        (0.80, 0.90, 2 / 3, "not supported"),
    ],
)
def test_verdicts(low: float, high: float, claim: float, said: str) -> None:
    slope = Slope((low + high) / 2, low, high, 0.0, (1.0, 2.0), (1.0, 2.0), 0, 10)
    assert verdict(slope, claim, (1 / 2, 2 / 3, 3 / 4, 1.0)) == said


def test_dca_is_linear_in_n() -> None:
    """Made-up records: 7 steps at every N, twice as many for half the ε."""
    records = [
        Record("made-up", n, "dca", 0, level, level, "crossed", steps * n, steps * n, steps, 0, 0.0)
        for n in (64, 128, 256)
        for level, steps in ((0.5, 8), (0.25, 15))
    ]
    (row,) = against_N(records, 0.5)
    assert row.honest.value == pytest.approx(1.0) and row.steps.value == pytest.approx(0.0)
    assert row.verdict == "supported" and row.claim == CLAIMED["dca"]
    (row,) = against_eps(records, 128)
    assert row.honest.value == pytest.approx(1.0)  # 7 and 14 steps after the first
    assert row.verdict == "bound holds, not attained" and row.claim == 2.0


# ---- recipes and lines


def test_lines_of_a_ledger_are_the_records_again() -> None:
    job = task("dca-page")
    line = json.loads(json.dumps(job.run()))
    assert records([line]) == [r._replace(seconds=s.seconds) for r, s in zip(made(job), records([line]), strict=True)]
    assert line["key"] == "synthetic/256/dca-page/0"


def test_the_recipes_cover_what_is_claimed() -> None:
    full, quick = (build(Recipe, recipe.read("scaling", q), "scaling") for q in (False, True))
    assert {f.data for f in full.families} == {"a9a", "w8a", "synthetic"} and full.runs == 10
    assert max(full.families[-1].sizes) == 2**20 and set(full.methods) - set(CLAIMED) == set(CONTROLS)
    assert full.families[0].wanted(8192)[-1] == 1 / 128 and full.families[0].wanted(512) == (1 / 8, 1 / 16)
    assert quick.runs < full.runs and quick.methods == full.methods


@pytest.mark.parametrize("changes", [{"runs": 0}, {"ratio": 1.0}, {"cap": math.nan}, {"methods": ("dca-pag",)}])
def test_bad_recipes_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(BadSettings):
        replace(TINY, **changes)  # type: ignore[arg-type]
    with pytest.raises(BadSettings):
        Family("synthetic", (64,), 128, (0.5,), ())


def test_every_run_is_listed_once() -> None:
    listed = [job.key for job in jobs(TINY, ("synthetic",))]
    assert len(set(listed)) == len(listed) == 3 * (1 + 3 + 3)  # sizes × (dca once, two methods with three seeds)
    assert list(jobs(TINY, ())) == []


def test_the_page_has_every_table() -> None:
    found = Findings(TINY, [r for job in jobs(TINY, ("synthetic",)) for r in made(job)])
    text = found.markdown()
    assert text.count("| `dca-page` |") == 3 and "λ = 0.0001" in text
    assert len(found.records) == 2 * 7 * 2 + 7 * 3  # two sizes with two ε, one with three
