"""The estimators come without scipy.stats, and nobody can tell."""

from __future__ import annotations

import subprocess
import sys

import pytest

NOT_THERE = """
import sys, dcopt
dcopt.DCRegressor
assert "scipy.stats" not in sys.modules and "numba" not in sys.modules
"""
USES = {
    "through scikit-learn": """
import numpy as np
from sklearn.utils.fixes import _mode
assert _mode(np.array([1, 2, 2]), axis=0).mode == 2
""",
    "by name": "import scipy.stats; assert scipy.stats.norm.cdf(0.0) == 0.5",
    "from": "from scipy.stats import norm; assert norm.cdf(0.0) == 0.5",
    "a part": "from scipy.stats.distributions import norm; assert norm.cdf(0.0) == 0.5",
}
MEANWHILE = """
import sys
from dcopt.learn.light import later
with later():
    import scipy.stats
    if {how!r} == "from":
        from scipy.stats import norm
    elif {how!r} == "a part":
        from scipy.stats.distributions import norm
    else:
        import scipy.stats as st
        norm = st.norm
    assert norm.cdf(0.0) == 0.5
import scipy.stats
assert scipy.stats is sys.modules["scipy.stats"] and scipy.stats.norm is norm and scipy.stats.__file__
"""


def run(text: str) -> None:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", USES)
def test_it_is_there_when_it_is_asked_for(how: str) -> None:
    run(NOT_THERE + USES[how])


@pytest.mark.parametrize("how", ["from", "a part", "as"])
def test_who_needs_it_meanwhile_has_it(how: str) -> None:
    run("import dcopt\n" + MEANWHILE.format(how=how))


def test_what_is_there_stays() -> None:
    run(
        "import scipy.stats as before\n"
        + NOT_THERE.split("assert")[0]
        + "import scipy.stats; assert scipy.stats is before"
    )
