"""Variance-reduced proximal gradients for a G that is itself a large sum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..convex import ComponentMean, Convex, Mean
from ..draw import Draw
from ..errors import require_count
from ..regularizers import Regularizer
from ..sums import Cost, Sum
from ..xp import Array, finite, namespace
from .base import Best, Inner, Solver, nowhere, rounding

_SEED = 0x53565247  # This differs from common seeds, because inner and outer draws must not select the same rows.


@dataclass(frozen=True)
class InnerSVRG(Solver):
    """x⁺ = prox_{s r1}(x − s (∇f_B(x) − ∇f_B(a) + ∇f(a) + μx − y)),   a ← x at the end of an epoch.

    The full gradient at every anchor a is also the certificate there. The gradients of the components at the anchor are
    stored where they are one number for each row (`Mean`), so that a step visits each of its b rows once; components
    of the user's are visited at both points. Needs ρ > 0 and the smoothness of G and of its components.
    """

    name = "svrg"
    b: int | None = None  # The default is 2 L_component/L, at most ⌈√N⌉.
    epochs: int = 400  # The number of anchors. An epoch follows each but the last.
    seed: int = _SEED
    start: int = 0  # The number of its first draw.

    def __post_init__(self) -> None:
        if self.b is not None:
            require_count("b", self.b)
        require_count("epochs", self.epochs)

    def at(self, draw: Draw) -> InnerSVRG:
        """The same sub-solver with the draws for step t of a run."""
        return replace(self, seed=draw.seed ^ _SEED, start=draw.t << 24)

    def takes(self, G: Convex, r: Regularizer) -> bool:
        if not isinstance(G, Mean | ComponentMean):
            return False
        return G.rho + r.rho > 0.0 and math.isfinite(G.L) and math.isfinite(G.L_component)

    def worth(self, G: Convex, r: Regularizer) -> bool:
        """Whether an epoch of about one pass is expected to gain more than a few steps with full gradients."""
        many = isinstance(G, Mean | ComponentMean) and G.components >= 10_000
        return many and self.takes(G, r) and G.L_component <= G.components * (G.rho + r.rho)  # type: ignore[attr-defined]

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        assert isinstance(G, Mean | ComponentMean)
        if not finite(y, warm):
            return nowhere(warm)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._solve(G, r, y, warm, tol)

    def _batch(self, G: Mean | ComponentMean) -> int:
        """2 L_component/L: a batch of this size is about as smooth as G, and more rows only cost more."""
        even = 2.0 * G.L_component / max(G.L - G.mu, 1e-300)
        return int(min(math.isqrt(G.components - 1) + 1, max(32.0, even)))

    def _solve(self, G: Mean | ComponentMean, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        f, n, stores = G.sum, G.components, isinstance(G, Mean)
        b = min(n, self.b or self._batch(G))
        L = ((b - 1) * (G.L - G.mu) + G.L_component) / b + G.mu  # The expected smoothness of a batch.
        step = 1.0 / (3.0 * L)
        anchor, spent, t = warm, 0, 0
        best = Best(warm, math.inf)
        for epoch in range(self.epochs):
            slopes, full = _anchored(f, anchor, stores)
            spent += n
            own = full + G.mu * anchor
            if not finite(own):
                anchor, step = best.x, 0.5 * step
                if epoch == 0:
                    return nowhere(warm, Cost(spent, spent))
                continue
            residual = r.distance(y - own, anchor)
            worse = residual > 2.0 * best.residual
            best.offer(anchor, residual)
            last = epoch + 1 == self.epochs  # No certificate would follow another epoch.
            if best.residual <= max(tol, rounding(y, own)) or best.stalled(16 * epoch) or last:
                break
            if worse:  # The step was too long for these rows.
                step *= 0.5
                anchor = best.x
                slopes, full = _anchored(f, anchor, stores)
                spent += n
            x, rest = anchor, full - y
            length = min(math.ceil(n / b), max(8, math.ceil(4.0 / (step * (G.rho + r.rho)))))
            for _ in range(length):
                batch = f.sample(b, Draw(self.seed, self.start + t))
                if stores:
                    known = namespace(slopes).take(slopes, batch.rows, axis=0)
                    change = batch.pull(batch.slopes(x) - known)
                else:
                    change = batch.diff(x, anchor)
                g = change + rest + G.mu * x
                x = r.prox(x - step * g, step)
                t += 1
            spent += length * b * (1 if stores else 2)
            anchor = x
        return Inner(namespace(best.x).asarray(best.x, copy=True), best.residual, t, Cost(spent, spent))


def _anchored(f: Sum, anchor: Array, stores: bool) -> tuple[Array, Array]:
    """What is stored of the components at an anchor, and the full gradient there"""
    if not stores:
        return None, f.all().grad(anchor)
    slopes = f.all().slopes(anchor)
    return slopes, f.all().pull(slopes)


svrg = InnerSVRG()
