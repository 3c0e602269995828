"""A batch of a linear model: some rows of data under a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..data.rows import pair
from ..xp import Array, namespace
from .fused import Fused

if TYPE_CHECKING:
    from .linear import LinearSum


class LinearBatch(NamedTuple):
    """f_B(x) = (1/|B|) Σ_{i∈B} w_i φ(⟨a_i, x⟩, label_i)"""

    sum: LinearSum
    rows: Array | None
    size: int

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self.look(x)[1:]

    def look(self, x: Array) -> tuple[Array, float, Array]:
        """z = A x, f_B(x) and ∇f_B(x)"""
        if (fused := self._fused) is not None:
            z, values, g = fused.look(x, self.size)
            return z, self._mean(values), g / self.size
        seen: dict[tuple[int, int], Array] = {}  # by place: pieces come in any order, and may be empty

        def slopes(z: Array, start: int, stop: int | None) -> Array:
            seen[start, len(z)], s = self._both(z, start, stop)
            return s

        z, g = self._through(x, slopes)
        values = [seen[place] for place in sorted(seen)]
        return z, self._mean(values[0] if len(values) == 1 else namespace(z).concat(values)), g

    def grad(self, x: Array) -> Array:
        if (fused := self._fused) is not None:
            return fused.look(x, 0)[2] / self.size
        return self._through(x, self.slopes_at)[1]

    @property
    def _fused(self) -> Fused | None:
        """Loss and rows in one compiled pass over all rows, where that is possible and they are many."""
        fused = self.sum.fused if self.rows is None else None
        return fused if fused is not None and fused.large else None

    def _mean(self, values: Array) -> float:
        xp = namespace(values)
        return float(xp.sum(values, dtype=xp.float64)) / self.size

    def _through(self, x: Array, of: Callable[[Array, int, int | None], Array]) -> tuple[Array, Array]:
        """z = A x and (1/|B|) Aᵀ of(z); all rows are read once where the storage can, and `of` is asked in pieces."""
        one_pass = self.sum.can.one_pass
        if self.rows is None and one_pass is not None:
            z, g = one_pass(x, of)
            return z, g / self.size
        z = self.sum.a.dot(x, self.rows)
        return z, self.pull(of(z, 0, None))

    def diff(self, x: Array, prev: Array) -> Array:
        if self.rows is not None and self.sum.fused is not None:  # the same numbers from one compiled pass
            return self.sum.fused.diff(self.rows, x, prev)
        s = self.slopes_at(pair(self.sum.a, x, prev, self.rows))
        return self.pull(s[0] - s[1])

    def slopes(self, x: Array) -> Array:
        return self.slopes_at(self.sum.a.dot(x, self.rows))

    def pull(self, c: Array) -> Array:
        return self.sum.a.tdot(c, self.rows) / self.size

    def slopes_at(self, z: Array, start: int = 0, stop: int | None = None) -> Array:
        """φ'(z) of the components from start to stop, in the order of the batch"""
        s, w = self.sum.loss.slope(z, self.mine(self.sum.labels)[start:stop]), self._weights(start, stop)
        return s if w is None else s * self._wide(w)

    def _both(self, z: Array, start: int, stop: int | None) -> tuple[Array, Array]:
        """φ(z) and φ'(z), likewise"""
        values, s = self.sum.loss.both(z, self.mine(self.sum.labels)[start:stop])
        w = self._weights(start, stop)
        return (values, s) if w is None else (values * w, s * self._wide(w))

    def _weights(self, start: int, stop: int | None) -> Array | None:
        return None if self.sum.weights is None else self.mine(self.sum.weights)[start:stop]

    def _wide(self, w: Array) -> Array:
        return w[:, None] if self.sum.loss.wide else w

    def mine(self, a: Array) -> Array:
        """The entries of a that belong to the rows of the batch."""
        return a if self.rows is None else namespace(a).take(a, self.rows, axis=0)
