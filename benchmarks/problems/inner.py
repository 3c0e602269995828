"""A convex program over 10^6 rows inside DCA: row visits until the same certificate, SVRG inside against FISTA.

F(x) = (1/N) Σ log(1 + exp(−y_i ⟨a_i, x⟩)) + SCAD, N = 10^6, d = 20, decomposed as G = f + μ/2 ‖x‖², H = μ/2 ‖x‖²: all
rows are in the convex program. DCA runs until the critical distance is at most tol, with one or the other inner solver.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

import dcopt
from dcopt.convex import Mean
from dcopt.subproblems import fista, svrg
from dcopt.sums import KnownSquare, LinearSum


def problem(n: int, mu: float) -> dcopt.Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)) * np.geomspace(1.0, 0.05, 20)
    x = np.where(np.arange(20) % 3 == 0, 2.0, 0.0)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-X @ x)), 1, -1)
    P = dcopt.erm(X, y, "logistic", dcopt.regularizers.SCAD(lam=2e-3))
    f = P.f
    assert isinstance(f, LinearSum)
    return dcopt.Problem(Mean(f, mu), KnownSquare(mu, f), P.r)


def main(n: int = 10**6, tol: float = 1e-6) -> list[str]:
    """Row visits, as passes over N, and seconds."""
    lines = ["| μ | inner solver | outer steps | row visits / N | critical distance | seconds |"]
    lines.append("|---|---|---|---|---|---|")
    for mu in (1e-2, 1e-3):
        P = problem(n, mu)
        for name, solver in (("fista", fista), ("svrg", svrg)):
            began = perf_counter()
            steps = passes = 0
            distance = np.inf
            for state in dcopt.iterate(P, "dca", subsolver=solver):
                steps, passes = state.t, state.spent.gradients / n
                distance = dcopt.measures.criticality(P, state.x)
                if distance <= tol or passes > 3000:
                    break
            seconds = perf_counter() - began
            lines.append(f"| {mu:g} | {name} | {steps} | {passes:.1f} | {distance:.1e} | {seconds:.1f} |")
    return lines


if __name__ == "__main__":
    print("\n".join(main(*(int(float(a)) for a in sys.argv[1:2]))))
