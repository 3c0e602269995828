"""Two measures of optimality, and one that is blind: python examples/gap_or_distance.py [figure.png]

Left: F(x) = |x|. The critical distance is 1 at every point but the solution; the gap goes to 0 with x.
Right: exact DCA on a nonconvex classification problem. The lagged gap (linear term at the previous point) is 0 after
every step, at points that are far from critical; the gap with the linear term at the point itself is not.
"""

from __future__ import annotations

import sys
from itertools import islice

import numpy as np

import dcopt
from dcopt.measures import criticality, gap, lagged_gap


def absolute_value() -> tuple[np.ndarray, list[float], list[float]]:
    """F(x) = |x| = κ/2 x² − κ/2 x² + |x|: distance and gap at x = 1, 1/2, 1/4, …"""
    P = dcopt.erm([[0.0]], [0.0], "squared", dcopt.regularizers.L1(lam=1.0), kappa=1.0)
    points = 2.0 ** -np.arange(21)
    return points, [criticality(P, [x]) for x in points], [gap(P, [x]) for x in points]


def exact_dca(steps: int = 60) -> tuple[list[float], list[float], list[float]]:
    """Own gap, lagged gap and distance along deterministic DCA on breast_cancer (standardised columns)."""
    X, y = dcopt.load_dataset("breast_cancer")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    P = dcopt.erm(X, y, "squared-sigmoid", dcopt.regularizers.Exponential(lam=1 / len(y), alpha=5.0))
    states = list(islice(dcopt.iterate(P, "dca"), steps))
    own = [gap(P, s.x) for s in states]
    lagged = [lagged_gap(P, s.x, s.prev) for s in states]
    return own, lagged, [criticality(P, s.x) for s in states]


def main(path: str | None = None) -> None:
    points, distance, own = absolute_value()
    print("F(x) = |x|       x    distance         gap")
    for k in (0, 1, 5, 10, 20):
        print(f"        {points[k]:10.2e} {distance[k]:11.1f} {own[k]:11.2e}")
    dca, lagged, _ = exact_dca()
    print("exact DCA     step     own gap  lagged gap")
    for t in (1, 10, 30, 60):
        print(f"        {t:10d} {dca[t - 1]:11.2e} {lagged[t - 1]:11.1e}")
    if path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        left.loglog(points, distance, "o-", ms=3, label="critical distance")
        left.loglog(points, own, "s-", ms=3, label="gap")
        left.invert_xaxis()
        left.set(xlabel="x → 0", ylabel="measure", title="F(x) = |x|")
        left.legend(frameon=False)
        steps = np.arange(1, len(dca) + 1)
        right.semilogy(steps, dca, label="gap at the point itself")
        right.semilogy(steps, np.maximum(lagged, 1e-18), label="lagged gap (floor 1e-18)")
        right.set(xlabel="step of exact DCA", title="breast_cancer, squared sigmoid, exponential", ylim=(3e-19, 1))
        right.legend(frameon=False)
        figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
