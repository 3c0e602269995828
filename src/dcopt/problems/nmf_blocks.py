"""NMF with alternating updates of U and V. If one of them is fixed, F is a convex quadratic in the other (H = 0)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..draw import as_seed
from ..errors import BadInput, require_count, require_number
from ..problem import Problem
from ..runs.driver import Driver
from ..runs.goal import Goal
from ..runs.judge import Promise
from ..runs.result import result
from ..runs.stop import Rule, Seconds, Steps, Tol
from ..solve import first_state
from ..state import Result, State
from ..subproblems.cd import sweep
from ..subproblems.parts import parts
from ..sums import Cost
from .factors import Factors
from .nmf import nmf_start

_STEPS, _MOST = 200, 100_000  # The budgets without any setting, and where only tol is given.


def nmf_blocks(
    P: Problem,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    tol: float | None = None,
    loose_tol: float | None = None,
    sweeps: int = 1,
    x0: Any = None,
    seed: int | None = None,
    callbacks: Sequence[Callable[[State], Any]] = (),
    trace: float | None = None,
) -> Result:
    """min F(U, V) = (1/2N) ‖X − UVᵀ‖² over U, V ≥ 0, P = nmf(X, rank): block DCA, a step is U⁺ and then V⁺.

        U⁺ ≈ argmin_{U ≥ 0} F(U, V):    N·F = ½⟨Uᵀ, Q Uᵀ⟩ − ⟨q, Uᵀ⟩ + ½‖X‖²,   Q = VᵀV,     q = VᵀXᵀ
        V⁺ ≈ argmin_{V ≥ 0} F(U⁺, V):   N·F = ½⟨Vᵀ, Q Vᵀ⟩ − ⟨q, Vᵀ⟩ + ½‖X‖²,   Q = U⁺ᵀU⁺,   q = U⁺ᵀX

    by `sweeps` passes of coordinate descent, none of which raises F. With one pass these are the steps of HALS.
    More passes solve the programs better and take longer; they do not lead to better points.

    Until the first of `steps` (default 200), `seconds`, `tol` on the criticality of P (U and V at once). A step counts
    as two passes: every row is seen once for U and once for V. x0 : U above V, default `nmf_start(X, rank, seed)`.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> P = dcopt.problems.nmf(np.outer([1.0, 2.0, 3.0], [2.0, 1.0]), rank=1)
    >>> res = dcopt.problems.nmf_blocks(P, tol=1e-10, seed=0)
    >>> res.status.name, (res.x[:3] @ res.x[3:].T).round(6).tolist()
    ('CONVERGED', [[2.0, 1.0], [4.0, 2.0], [6.0, 3.0]])
    """
    f = P.f
    if not isinstance(f, Factors):
        raise BadInput("P", "is not a factorisation: build it with dcopt.problems.nmf(X, rank)")
    require_count("sweeps", sweeps)
    seed = as_seed(seed)
    rule: Rule = Steps(steps if steps is not None else _STEPS if seconds is None and tol is None else _MOST)
    for budget, kind in ((seconds, Seconds), (tol, Tol)):
        rule = rule if budget is None else kind(budget) | rule
    for name, value in (("loose_tol", loose_tol), ("trace", trace)):
        if value is not None:
            require_number(name, value, 0.0)
    state = first_state(P, nmf_start(f.a, f.rank, seed) if x0 is None else x0)
    promise = Promise(float(np.finfo(P.dtype).eps), descends=True, measure="criticality")
    run = Driver(P, Goal(tol=tol, loose_tol=loose_tol, trace=trace), promise, seed, state)
    with np.errstate(all="ignore"):  # Numbers that are not finite end the run with a status; NumPy need not warn.
        end = run.go(turns(P, state, sweeps), rule, callbacks)
        return result(run, end, "nmf-blocks")


def turns(P: Problem, state: State, sweeps: int = 1) -> Iterator[State]:
    """(U, V) → (U⁺, V) → (U⁺, V⁺), without end."""
    f: Factors = P.f  # type: ignore[assignment]  # seen by the caller
    n, X = f.n, np.asarray(f.a, np.float64)
    U, V = (np.array(block.T, np.float64, order="C") for block in (state.x[:n], state.x[n:]))
    for_U, for_V = parts(P.r, U.shape), parts(P.r, V.shape)
    while True:
        U = sweep(V @ V.T, V @ X.T, U, for_U, sweeps)
        V = sweep(U @ U.T, U @ X, V, for_V, sweeps)
        x = np.concatenate([U.T, V.T]).astype(f.dtype, copy=False)
        seen = state.spent.gradients + 2 * n
        state = State(state.t + 1, x, state.x, None, Cost(seen, seen), None)
        yield state
