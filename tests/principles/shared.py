"""What the tests of principle share: small problems, which method runs on which of them, and exact comparisons.

Every registered method is under these tests by being registered. A case is the name of a method and the name of a
problem; `CASES` has all cases that run, and `refusal` says for the others why a method must refuse a problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

import dcopt
from dcopt.losses import LOSSES, Loss
from dcopt.regularizers import MCP, SCAD, CappedL1, Exponential

AUTO = "auto"
NAMES = (*dcopt.METHODS, AUTO)
SEED = 3


class Kind(NamedTuple):
    """A problem and what is true of it. The facts are written by hand, so that they check those of the library."""

    make: Callable[..., dcopt.Problem]  # make(wrap) puts `wrap` around the loss
    smooth_r2: bool = True
    convex_f: bool = True
    separable: bool = True  # r is a sum over entries or over rows of x
    only: tuple[str, ...] | None = None  # the methods that it is made for; None: all


def rows(n: int, d: int, seed: int, density: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """n rows of length about 1, and scores of a sparse linear rule with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / math.sqrt(d * density) * (rng.random((n, d)) < density)
    truth = np.where(np.arange(d) % 3 == 0, 2.0, 0.0)
    return X, X @ truth + 0.5 * rng.standard_normal(n)


def _loss(name: str, wrap: Callable[[Loss], Loss] | None) -> Loss:
    return LOSSES[name] if wrap is None else wrap(LOSSES[name])


def _binary(wrap: Any = None) -> dcopt.Problem:
    X, z = rows(120, 8, seed=0)
    r = Exponential(lam=0.002, alpha=5.0)
    return dcopt.erm(X, np.where(z > 0, 1.0, -1.0), _loss("squared-sigmoid", wrap), r)


def _softmax(wrap: Any = None) -> dcopt.Problem:
    X, z = rows(150, 6, seed=1, density=0.6)
    r = CappedL1(lam=0.01, theta=0.5, groups="rows")
    return dcopt.erm(csr_array(X), np.digitize(z, [-0.4, 0.4]), _loss("softmax", wrap), r)


def _least_squares(wrap: Any = None) -> dcopt.Problem:
    X, z = rows(90, 7, seed=2)
    return dcopt.erm(X, z, _loss("squared", wrap), MCP(lam=0.05))


def _wide(wrap: Any = None) -> dcopt.Problem:
    """Sparse rows with fewer entries than a Gram matrix of the columns in use has."""
    X, z = rows(60, 40, seed=4, density=0.1)
    return dcopt.erm(csr_array(X), np.where(z > 0, 1.0, -1.0), _loss("logistic", wrap), MCP(lam=0.003), intercept=True)


def _pairs(wrap: Any = None) -> dcopt.Problem:
    """Groups of several features: r is no sum over rows of x, so that no local metric serves it."""
    X, z = rows(80, 6, seed=5)
    r = SCAD(lam=0.02, groups=[[0, 1], [2, 3], [4, 5]])
    return dcopt.erm(X, np.where(z > 0, 1.0, -1.0), _loss("logistic", wrap), r)


def _growing(wrap: Any = None) -> dcopt.Problem:
    """Rows enough for samples that grow, and for "auto" to take them."""
    X, z = rows(4200, 5, seed=6)
    return dcopt.erm(X, np.where(z > 0, 1.0, -1.0), _loss("logistic", wrap), SCAD(lam=0.01))


def _growing_sparse(wrap: Any = None) -> dcopt.Problem:
    X, z = rows(4200, 6, seed=7, density=0.4)
    r = Exponential(lam=0.0005, alpha=5.0)
    return dcopt.erm(csr_array(X), np.where(z > 0, 1.0, -1.0), _loss("squared-sigmoid", wrap), r, intercept=True)


_LOCAL = ("dca-local", "dca-nested", AUTO)

KINDS: dict[str, Kind] = {
    "binary": Kind(_binary, convex_f=False),
    "softmax": Kind(_softmax, smooth_r2=False),
    "least-squares": Kind(_least_squares),
    "wide": Kind(_wide),
    "pairs": Kind(_pairs, separable=False),
    "growing": Kind(_growing, only=_LOCAL),
    "growing-sparse": Kind(_growing_sparse, convex_f=False, only=_LOCAL),
}


def is_local(method: str) -> bool:
    """Whether the method makes its own metric of the curvature of f."""
    return method != AUTO and dcopt.METHODS[method].local is not None


def refusal(method: str, kind: str) -> str | None:
    """A pattern of what the method must say when it refuses this problem; None: it must run.

    The method's own attributes say what it needs, the facts of the problem whether it has that.
    """
    if method == AUTO:
        return None
    needs, has = dcopt.METHODS[method], KINDS[kind]
    if needs.smooth_r2 and not has.smooth_r2:
        return "r2 is not smooth"
    if needs.convex_f and not has.convex_f:
        return "not known to be convex"
    if is_local(method) and not has.separable:
        return "does not fall apart|is not separable"
    return None


PAIRS = [(method, kind) for kind, has in KINDS.items() for method in NAMES if has.only is None or method in has.only]
CASES = [(method, kind) for method, kind in PAIRS if refusal(method, kind) is None]


def make(kind: str, wrap: Callable[[Loss], Loss] | None = None) -> dcopt.Problem:
    """A problem that no run has seen: the same data every time, in arrays of its own."""
    return KINDS[kind].make(wrap)


def to_a_tolerance(method: str, tol: float = 1e-5) -> dict[str, Any]:
    """A budget of so many passes that a method which tries several starts has room for them."""
    return {"tol": tol, "passes": 100.0 if method == AUTO or is_local(method) else 15.0}


def point(P: dcopt.Problem, seed: int = 9) -> np.ndarray:
    """A point away from 0 and from every start of a method's own."""
    return 0.3 * np.random.default_rng(seed).standard_normal(P.shape)


# ---- exact comparisons


def facts(result: dcopt.Result) -> dict[str, Any]:
    """All of a result but its timings, as plain values that a file can hold."""
    lines = [record._replace(seconds=0.0) for record in result.trace]
    return {
        "x": (str(result.x.dtype), result.x.shape, result.x.tobytes()),
        "status": result.status.name,
        "message": result.message,
        "notes": result.notes,
        "steps": result.steps,
        "method": result.method,
        "spent": tuple(vars(result.spent).items()),
        "certificate": str(result.certificate),
        "passes of the trace": [line.passes for line in lines],
        "F of the trace": [line.F for line in lines],
        "trace": [tuple(line) for line in lines],
    }


def step_facts(state: dcopt.State) -> tuple[Any, ...]:
    """The number of a step, its point bit for bit, and what was spent."""
    return state.t, str(state.x.dtype), state.x.shape, state.x.tobytes(), tuple(state.spent)


def differences(got: dict[str, Any], want: dict[str, Any]) -> str:
    """The fields in which two results differ, with both values where they are short; "" where they are the same."""
    said = []
    for name in want:
        if got[name] == want[name]:
            continue
        short = name not in ("x", "trace", "F of the trace", "passes of the trace")
        said.append(f"{name}: {got[name]!r}, not {want[name]!r}" if short else name)
    return "; ".join(said)


# ---- counted component gradients


class Seen:
    """Component gradients that were evaluated."""

    def __init__(self) -> None:
        self.count = 0

    def around(self, loss: Loss) -> Loss:
        """The same loss, which counts one for every row and point at which it is evaluated.

        A value without a slope counts too, as a look at F does in what a run says it spent. The class is not one of
        the library's own, so that no compiled kernel takes the place of its formulas.
        """
        seen, kind = self, type(loss)

        def counted(verb: str) -> Callable[..., Any]:
            plain = getattr(kind, verb)

            def call(self: Any, z: Any, labels: Any) -> Any:
                before = seen.count
                out = plain(self, z, labels)
                points = z.shape[:-1] if self.labels == "class" else z.shape
                seen.count = before + math.prod(points)  # What it calls of itself is the same evaluation.
                return out

            return call

        made: Loss = type(f"Counted{kind.__name__}", (kind,), {v: counted(v) for v in ("value", "slope", "both")})()
        return made
