"""The examples of problems run, and show what their pages say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import dcopt

ROOT = Path(__file__).parents[2]


def example(name: str) -> dict:
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def test_the_path_of_mcp_is_less_biased_than_that_of_the_lasso():
    module = example("sparse_path")
    X, y, true = module["data"]()
    errors = {}
    for name, penalty in (("l1", dcopt.regularizers.L1), ("mcp", dcopt.regularizers.MCP)):
        lams, rows = module["path"](X, y, penalty, points=15)
        assert not rows[0].any() and len(lams) == 15
        assert any(np.array_equal(x != 0, true != 0) for x in rows)
        errors[name] = min(np.linalg.norm(x - true) for x in rows)
    assert errors["mcp"] < 0.8 * errors["l1"]


def test_the_robust_line_is_the_line_of_the_many():
    module = example("robust_regression")
    X, y = module["data"]()
    assert np.abs(module["fit"](X, y) - [2.0, 1.0]).max() < 0.1
    assert np.abs(np.linalg.lstsq(np.column_stack([X, np.ones(200)]), y)[0] - [2.0, 1.0]).min() > 1.0


def test_parts_of_digits_are_better_than_their_mean():
    module = example("nmf_digits")
    X = dcopt.load_dataset("digits")[0][:200]
    V, F = module["parts"](X, rank=5, steps=30)
    assert V.shape == (64, 5) and V.min() == 0.0 and 2 * F < X.var(axis=0).sum()
    v, variance = module["direction"](X)
    assert v.min() >= 0.0 and variance == pytest.approx(float(((X - X.mean(axis=0)) @ v).var()), rel=1e-6)


def test_weights_of_the_least_discrepancy_help_on_the_target():
    module = example("domain_adaptation")
    for seed in (0, 1):
        errors = module["compare"](seed, ridges=(0.01,))
        assert errors["target"] < errors["ridge 0.01"] < 0.6 * errors["equal"]
    before, after, again = module["discrepancies"]()
    assert after < 0.05 * before and again == pytest.approx(before, rel=1e-6)


def test_streams_of_rows_tell_their_directions():
    module = example("streaming_pca")
    last = {name: sines[-1] for name, (_, sines) in module["curves"](20_000, 0).items()}
    assert last["all rows so far"] < last["online-dca"] < 0.1 < last["Oja, a tenth of it"]


def test_completion_without_shrinking_is_nearer():
    module = example("matrix_completion")
    errors = {rank: errors[best] for rank, (_, errors, best, _) in module["compare"](0, points=8).items()}
    assert 0.5 < errors[5] < 0.8 * errors[0]


def test_mcp_of_differences_keeps_the_heights_of_a_trend():
    module = example("trend")
    y, true = module["data"]()
    tv, mcp = (module["fit"](y, 0.01, concave) for concave in (False, True))
    assert np.flatnonzero(np.diff(mcp)).size == 6 and np.flatnonzero(np.diff(true)).size == 6
    assert module["bias"](mcp, y, true) < 0.5 * module["bias"](tv, y, true)
    assert np.linalg.norm(mcp - true) < 0.7 * np.linalg.norm(tv - true)


DRAWN = {"robust_regression": {}, "domain_adaptation": {"seeds": 2}, "streaming_pca": {"samples": 3000, "seeds": 1},
         "matrix_completion": {"seeds": 1}, "clustering": {}, "two_layer": {}}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_figures_are_drawn(name: str, tmp_path: Path):
    example(name)["main"](str(tmp_path / "figure.png"), **DRAWN[name])
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_swaps_find_all_clusters_from_one_corner():
    module = example("clustering")
    A = module["data"]()
    P = dcopt.problems.clustering(A, 15)
    led = module["fit"](P, A[:15])
    swapped, smoothed = module["swapped"](P, led, trials=25), module["smoothed"](A, A[:15])
    assert P.value(swapped) < 0.3 < 0.5 < P.value(smoothed) < 0.7 < P.value(led)
    true = module["fit"](P, np.reshape(A, (15, 200, 2)).mean(axis=1))
    assert P.value(swapped) == pytest.approx(P.value(true), rel=0.01)


def test_the_network_separates_the_spirals():
    module = example("two_layer")
    X, y = module["data"]()
    P, x, trace = module["fit"](X, y, passes=150)
    new, labels = module["data"](1)
    assert np.mean((dcopt.problems.two_layer_output(P, x, new) > 0) == labels) > 0.98
    assert trace[-1, 1] == pytest.approx(P.value(x)) and trace[-1, 1] < 0.1 * trace[0, 1]


@pytest.mark.parametrize("page", ["problems.md", "from-cvxpy.md"])
def test_the_code_of_the_page_runs(page):
    """All blocks of a page in a row; what needs DCCP is told by its import and only compiled."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.S):
        program = compile(code, page, "exec")
        if "import dccp" not in code:
            exec(program, names)
    assert names["res"].success


def test_the_page_has_a_section_for_every_problem():
    text = (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")
    for name in {name.split(":")[0] for name in dcopt.problems.PROBLEMS}:
        assert f"dcopt.problems.{name.replace('-', '_')}(" in text
