"""From nothing to a fitted model: a fresh process imports, fits MCP regression on 200 × 100, and ends.

    python benchmarks/first_model.py [another python with skglm]      pip install skglm: both in one environment

Turn by turn, median of five; compiled code is in its caches after a first round that is not counted.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter

DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 100))
y = X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=200)
"""
OURS = DATA + """
import dcopt
m = dcopt.DCRegressor(penalty=dcopt.regularizers.MCP(lam=0.1, gamma=3.0), fit_intercept=False).fit(X, y)
print(np.count_nonzero(m.coef_), m.status_)
"""
THEIRS = DATA + """
from skglm import MCPRegression
m = MCPRegression(alpha=0.1, gamma=3.0, fit_intercept=False).fit(X, y)
print(np.count_nonzero(m.coef_))
"""


def seconds(python: str, text: str) -> float:
    began = perf_counter()
    subprocess.run([python, "-c", text], check=True, capture_output=True)
    return perf_counter() - began


def main(peer: str) -> list[str]:
    both = (sys.executable, OURS), (peer, THEIRS)
    rounds = [[seconds(*one) for one in both] for _ in range(6)][1:]
    ours, theirs = (statistics.median(r[k] for r in rounds) for k in (0, 1))
    return ["| | seconds |", "|---|---|", f"| dcopt | {ours:.2f} |", f"| skglm | {theirs:.2f} |",
            f"| ratio | {statistics.median(a / b for a, b in rounds):.3f} |"]  # fmt: skip


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)))
