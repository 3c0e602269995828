"""The examples run, and show what their pages say."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from functions import FRAMEWORKS

import dcopt

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_own_components(framework: str, tmp_path: Path) -> None:
    module = runpy.run_path(str(EXAMPLES / "own_components.py"))
    p = module["points"]()
    result = module["fit"](framework, p)
    assert result.status is dcopt.Status.CONVERGED
    np.testing.assert_allclose(result.x, [1.0, -0.5, 2.0], atol=0.01)
    assert abs(module["least_squares"](p)[0] - 1.0) > 1.0
    module["main"](framework, str(tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_gap_or_distance(tmp_path: Path) -> None:
    module = runpy.run_path(str(EXAMPLES / "gap_or_distance.py"))
    points, distance, own = module["absolute_value"]()
    assert distance == [1.0] * len(points)
    np.testing.assert_allclose(own, points - points**2 / 2, rtol=1e-9)
    dca, lagged, far = module["exact_dca"]()
    assert max(lagged) < 1e-15 and min(dca) > 1e-4 and min(far) > 1e-3
    module["main"](str(tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.slow
def test_insurance_rates(capsys: pytest.CaptureFixture[str]) -> None:
    """SCAD and MCP keep the features that matter; the exposure is a part of the expected number of claims."""
    module = runpy.run_path(str(EXAMPLES / "insurance_rates.py"))
    X, claims, years = module["portfolio"](2000)
    model = dcopt.DCRegressorCV(loss="poisson", penalty="scad", cv=3).fit(X, claims, exposure=years)
    assert set(module["MATTER"]) <= set(np.flatnonzero(model.coef_).tolist())
    module["main"]()
    lines = capsys.readouterr().out.splitlines()
    kept = {(words[0], words[1]): int(words[2]) for words in map(str.split, lines[1:7])}
    assert kept["poisson", "scad"] == kept["poisson", "mcp"] == len(module["MATTER"]) < kept["poisson", "l1"]


@pytest.mark.slow
def test_survival(capsys: pytest.CaptureFixture[str]) -> None:
    """SCAD and MCP keep the features that matter, the lasso more; their risks order new patients as well."""
    module = runpy.run_path(str(EXAMPLES / "survival.py"))
    module["main"]()
    rows = {words[0]: words[1:] for words in map(str.split, capsys.readouterr().out.splitlines()[1:])}
    assert int(rows["scad"][0]) == int(rows["mcp"][0]) == len(module["MATTER"]) < int(rows["l1"][0])
    assert float(rows["scad"][1]) < float(rows["l1"][1]) and all(float(row[2]) > 0.8 for row in rows.values())


def test_unknown_constants(capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused by name; adapted and estimated runs end at the same point, near amplitude 3 and rate 0.7."""
    module = runpy.run_path(str(EXAMPLES / "unknown_constants.py"))
    P, x, h = module["problem"](500), np.array([2.0, 0.5]), 1e-6
    slope = [(P.value(x + h * e) - P.value(x - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(P.f.all().grad(x), slope, rtol=1e-6)
    module["main"]()
    refused, constants, *runs = capsys.readouterr().out.splitlines()
    assert "smoothness of f is not known" in refused and "not proven" in constants
    assert len(runs) == 2 and all("CONVERGED" in line and "[3.  0.7]" in line for line in runs)
