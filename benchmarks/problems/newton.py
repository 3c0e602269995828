"""Convex programs with a twice differentiable G and a nonsmooth r1: proximal Newton against FISTA inside DCA.

The first program of a run is solved to 1e-8 of ‖y‖, and DCA runs with either sub-solver until the critical distance is
1e-7 of that at the start, or for 60 seconds. Time is processor time. Passes are gradients, values and columns of
Hessians, each over all rows of G.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import Any

import numpy as np

import dcopt
from dcopt.convex import Mean
from dcopt.data.dense import DenseRows
from dcopt.losses import Quartic
from dcopt.regularizers import L1, Regularizer
from dcopt.subproblems import SUBPROBLEMS
from dcopt.sums import KnownSquare, LinearSum


def valley(seed: int) -> tuple[dcopt.Problem, Any]:
    """G = (1/4N) Σ ⟨a_i, x⟩⁴ + .05‖x‖², columns of length .1 to 10, H a quadratic, l1 over three groups"""
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(9, 9)) * np.logspace(-1, 1, 9)[draw.permutation(9)]
    G = Mean(LinearSum(DenseRows(A), Quartic(), np.zeros(9)), 0.1)
    B = draw.normal(size=(9, 9))
    Q = 10.0 * B.T @ B
    H = dcopt.Function(lambda x: 0.5 * float(x @ Q @ x), lambda x: Q @ x, (9,))
    return dcopt.Problem(G, H, L1(0.3, groups=[[0, 3, 6], [1, 4, 7], [2, 5, 8]])), draw.normal(size=9)


def phases(r: Regularizer, spread: float = 0.0) -> tuple[dcopt.Problem, Any]:
    """600 measurements of a signal of 100 entries, 20 of them not 0; columns of length 1 to 10^spread"""
    draw = np.random.default_rng(0)
    A = draw.normal(size=(600, 100)) * np.logspace(0, spread, 100)
    x = np.where(np.arange(100) < 20, draw.normal(size=100), 0.0)
    b = (A @ x) ** 2
    P = dcopt.problems.phase_retrieval(A, b)
    return dcopt.Problem(P.G, P.H, r, eta=P.eta, inner_tol=P.inner_tol), dcopt.problems.spectral_start(A, b)


def logistic(spread: float) -> tuple[dcopt.Problem, Any]:
    """G = logistic mean + μ/2‖x‖², H = μ/2‖x‖², l1; N = 5000, d = 50, columns of length 1 to 10^−spread"""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(5000, 50)) * np.logspace(0, -spread, 50)
    y = np.sign(X @ np.where(np.arange(50) % 5 == 0, 2.0, 0.0) + draw.logistic(size=5000))
    P = dcopt.erm(X, y, "logistic", L1(1e-3))
    assert isinstance(P.f, LinearSum)
    return dcopt.Problem(Mean(P.f, 1e-3), KnownSquare(1e-3, P.f), P.r), np.ones(50)


GROUPS = [list(range(k, k + 5)) for k in range(0, 100, 5)]
CASES: dict[str, Any] = {
    "valley, group l1, seed 0": lambda: valley(0),
    "valley, group l1, seed 1": lambda: valley(1),
    "phase retrieval, l1": lambda: phases(L1(0.1)),
    "phase retrieval, group l1": lambda: phases(L1(0.2, groups=GROUPS)),
    "phase retrieval, l1, columns 1 to 10": lambda: phases(L1(0.1), 1.0),
    "phase retrieval, group l1, columns 1 to 10": lambda: phases(L1(0.2, groups=GROUPS), 1.0),
    "logistic mean, l1": lambda: logistic(0.0),
    "logistic mean, l1, columns 1 to .01": lambda: logistic(2.0),
}


def main(*only: str, limit: float = 60.0) -> list[str]:
    lines = ["| G and r1 | sub-solver | steps, first program | passes | residual / ‖y‖ | ms | "]
    lines[0] += "DCA: steps | passes | critical distance | F | seconds |"
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|")
    for case, make in CASES.items():
        if only and not any(word in case for word in only):
            continue
        for name in ("fista", "prox-newton"):
            P, x0 = make()
            solver, n = SUBPROBLEMS[name], P.G.components
            point = P.examine(x0)
            y = point.u + P.G.grad(x0)  # ∇H(x0) + w
            size = float(np.linalg.norm(y))
            solver(P.G, P.r, y, warm=x0, tol=0.1 * size)  # Compile outside of the measured time.
            began = process_time()
            one = solver(P.G, P.r, y, warm=x0, tol=1e-8 * size)
            ms = 1e3 * (process_time() - began)
            tol = 1e-7 * float(np.linalg.norm(point.down))
            began, state, distance = process_time(), None, np.inf
            for state in dcopt.iterate(P, "dca", x0=x0, subsolver=solver):
                distance = dcopt.measures.criticality(P, state.x)
                if distance <= tol or process_time() - began > limit or state.t >= 2000:
                    break
            seconds = process_time() - began
            assert state is not None
            passes = (state.spent.gradients - state.t * (P.n or 0)) / n
            lines.append(
                f"| {case} | {name} | {one.steps} | {one.cost.gradients / n:.0f} | {one.certified / size:.1e} "
                f"| {ms:.1f} | {state.t} | {passes:.0f} | {distance:.1e} | {P.value(state.x):.8g} | {seconds:.2f} |"
            )
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    print("\n".join(main(*sys.argv[1:])))
