"""A fresh process with a warm kernel cache: how much later its first solve ends than its second."""

from __future__ import annotations

import statistics
import subprocess
import sys

CODE = """
from time import perf_counter
import numpy as np, scipy.sparse as sp
began = perf_counter()
import dcopt
imported = perf_counter() - began
X = sp.random(2000, 300, density=0.05, format="csr", random_state=np.random.default_rng(0))
y = np.where(np.arange(2000) % 3, 1.0, -1.0)
def go():
    began = perf_counter()
    P = dcopt.erm(X, y, regularizer=dcopt.regularizers.MCP(lam=0.01, gamma=3.0))
    dcopt.solve(P, passes=5, seed=0)
    return perf_counter() - began
print(imported, go(), go())
"""


def main() -> list[str]:
    """Seconds: import, first solve, second solve, and the difference of the two."""
    runs = []
    for _ in range(6):  # the first fills the cache
        out = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True).stdout
        runs.append([float(v) for v in out.split()])
    imported, first, second = (statistics.median(column) for column in zip(*runs[1:], strict=True))
    cold = runs[0][1] - runs[0][2]
    return [
        "| fresh process, warm kernel cache (median of 5) | seconds |",
        "|---|---|",
        f"| import dcopt | {imported:.2f} |",
        f"| first solve (MCP, 2000 × 300 CSR, 5 passes) | {first:.3f} |",
        f"| second solve | {second:.3f} |",
        f"| first − second | {first - second:.2f} |",
        f"| first − second in the first process of this run (cache as found) | {cold:.2f} |",
    ]


if __name__ == "__main__":
    print("\n".join(main()))
