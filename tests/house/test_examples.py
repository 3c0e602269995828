"""The examples run, and show what their pages say."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_gap_or_distance(tmp_path: Path) -> None:
    module = runpy.run_path(str(EXAMPLES / "gap_or_distance.py"))
    points, distance, own = module["absolute_value"]()
    assert distance == [1.0] * len(points)
    np.testing.assert_allclose(own, points - points**2 / 2, rtol=1e-9)
    dca, lagged, far = module["exact_dca"]()
    assert max(lagged) < 1e-15 and min(dca) > 1e-4 and min(far) > 1e-3
    module["main"](str(tmp_path / "figure.png"))
    assert (tmp_path / "figure.png").stat().st_size > 10_000
