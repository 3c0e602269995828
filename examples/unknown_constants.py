"""A loss of which nothing is known: constants are estimated, or κ follows what the run sees.

Run with `python examples/unknown_constants.py`; explained in docs/decompositions.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import dcopt
from dcopt.draw import Draw, Sampling
from dcopt.sums import SumBase


class Some(NamedTuple):
    """Some of the measurements; every result is a mean over them."""

    of: Decay
    rows: Any
    size: int

    def value_grad(self, x: Any) -> tuple[float, Any]:
        """e = x_0 exp(−x_1 t) − y,   f = mean of e²/(2 (1 + e²))"""
        t, y = self.of.t[self.rows], self.of.y[self.rows]
        decay = np.exp(-x[1] * t)
        e = x[0] * decay - y
        slope = e / (1.0 + e * e) ** 2
        g = np.array([np.mean(slope * decay), np.mean(slope * -t * x[0] * decay)])
        return float(np.mean(0.5 * e * e / (1.0 + e * e))), g

    def grad(self, x: Any) -> Any:
        return self.value_grad(x)[1]

    def diff(self, x: Any, prev: Any) -> Any:
        return self.grad(x) - self.grad(prev)


@dataclass(frozen=True, eq=False)
class Decay(SumBase):
    """The decay of a signal, measured N times, with gross errors. No smoothness is known: there is none for all x."""

    t: Any
    y: Any
    shape = (2,)
    dtype = np.dtype(np.float64)

    @property
    def n(self) -> int:
        return len(self.t)

    def all(self) -> Some:
        return Some(self, slice(None), self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Some:
        return Some(self, draw.rows(self.n, b, sampling), b)


def problem(n: int = 20_000) -> dcopt.Problem:
    """Amplitude 3 and rate 0.7; a tenth of the measurements are off by some units."""
    draw = np.random.default_rng(0)
    t = draw.uniform(0.0, 5.0, n)
    y = 3.0 * np.exp(-0.7 * t) + np.where(draw.random(n) < 0.1, 4.0, 0.05) * draw.normal(size=n)
    return dcopt.Problem(f=Decay(t, y), r="zero")


def main() -> None:
    """Refused, adapted, estimated."""
    P, x0 = problem(), np.array([1.0, 0.1])
    try:
        dcopt.solve(P, "dca-page", x0=x0, seed=0)
    except dcopt.CannotSolve as error:
        print(error)
    found = dcopt.estimate_constants(P, x0=x0, seed=0)
    print(found)
    for name, Q, kappa in (("adaptive", P, "adaptive"), ("estimated", dcopt.Problem(f=found, r="zero"), None)):
        result = dcopt.solve(Q, "dca-page", x0=x0, seed=0, passes=60, tol=1e-4, kappa=kappa)
        ended = f"{result.status.name}, {result.spent.gradients / 20_000:.1f} passes"
        print(f"{name:9}  F = {result.certificate.F:.7f}  x = {result.x.round(3)}  {ended}")


if __name__ == "__main__":
    main()
