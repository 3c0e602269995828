"""G(x) = f(x) + μ/2 ‖x‖², f a mean of components that the user wrote."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import BadSettings, require, require_number
from ..sums import Components
from ..xp import Array
from .base import OverComponents, inner


@dataclass(frozen=True, eq=False)
class ComponentMean(OverComponents):
    """G(x) = (1/N) Σ w_i g_i(x) + μ/2 ‖x‖², g_i(x) = fn(x, data[i]) of `dcopt.components(…, convex=True)`.

    `strong`: the strong convexity that the mean of the g_i is known to have. Its smoothness is the L_H of the sum, and
    infinite where that is not known: then the sub-solvers look for the lengths of their steps.
    """

    sum: Components
    mu: float = 0.0
    strong: float = 0.0

    def __post_init__(self) -> None:
        require_number("mu", self.mu, 0.0)
        require_number("strong", self.strong, 0.0)
        object.__setattr__(self, "mu", float(self.mu))
        if not isinstance(self.sum, Components):
            raise BadSettings("sum", self.sum, "a finite sum made by dcopt.components")
        require(self.sum.facts().convex, "sum", self.sum, "components that are declared convex=True: G must be convex")
        if self.sum.engine.differentiates:  # The method is absent where there is no autodiff.
            object.__setattr__(self, "hess_dot", partial(_hess_dot, self))

    @property
    def rho(self) -> float:
        return self.strong + self.mu

    @property
    def L(self) -> float:
        known = self.sum.facts().L_H
        return math.inf if known is None else known + self.mu

    @property
    def L_component(self) -> float:
        """The mean-squared smoothness of the components, where it was given"""
        known = self.sum.facts().L
        return math.inf if known is None else known

    def shift(self, eta: float) -> ComponentMean:
        require_number("eta", eta, 0.0)
        return ComponentMean(self.sum, self.mu + eta, self.strong)

    def value(self, x: Array) -> float:
        return self.sum.all().value(x) + 0.5 * self.mu * inner(x, x)

    def grad(self, x: Array) -> Array:
        return self.sum.all().grad(x) + self.mu * x

    def bregman(self, x: Array, y: Array) -> float:
        """Component by component, which loses less to cancellation than the difference of the means."""
        batch, h = self.sum.all(), x - y
        rise = float(np.mean(batch.values(x) - batch.values(y)))
        return rise - inner(batch.grad(y), h) + 0.5 * self.mu * inner(h, h)


def _hess_dot(G: ComponentMean, x: Array, v: Array) -> Any:
    """∇²G(x) v"""
    return G.sum.hess_dot(x, v) + G.mu * v
