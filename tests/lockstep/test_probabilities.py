"""PAGE with a sequence p_1, p_2, …: the last one goes on."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from small import binary

import dcopt
from dcopt.draw import Draw
from dcopt.estimators import PAGE, SARAH

STEPS = 30


def points(estimator: Any) -> list[Any]:
    return [state.x.tolist() for state in islice(dcopt.iterate(binary(), estimator, seed=5), STEPS)]


def test_certain_refreshes_are_sarah() -> None:
    """p_t = 1 for t = 4, 8, … and 0 between: the steps are those of SARAH, to the bit."""
    assert points(PAGE(p=(0.0, 0.0, 0.0, 1.0) * 10, b_small=3)) == points(SARAH(b_small=3, period=4))


def test_p_t_is_the_chance_of_step_t() -> None:
    page = PAGE(p=(0.9, 0.1, 0.5), b_small=3)
    assert [page.chance(t) for t in (1, 2, 3, 4, 99)] == [0.9, 0.1, 0.5, 0.5, 0.5]
    spent = [state.spent.gradients for state in islice(dcopt.iterate(binary(), page, seed=5), STEPS)]
    fresh = [step == 40 for step in np.diff(spent)]
    assert fresh == [Draw(5, t).coin() < page.chance(t) for t in range(1, STEPS)]
    assert points(PAGE(p=(0.3,) * 4, b_small=3)) == points(PAGE(p=0.3, b_small=3))


def test_a_run_goes_on_from_a_file(tmp_path: Path) -> None:
    page = PAGE(p=(0.9, 0.1, 0.5), b_small=3)
    whole = dcopt.solve(binary(), page, steps=STEPS, seed=5)
    dcopt.solve(binary(), page, steps=2, seed=5, checkpoint=tmp_path / "run")
    again = dcopt.resume(tmp_path / "run", binary(), page, steps=STEPS)
    assert again.x.tolist() == whole.x.tolist() and again.spent == whole.spent
