"""What penalties of singular values share: x as a matrix, its singular values, and which of them are 0 or equal."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import BadSettings
from ..xp import Array, namespace


class Spectrum(NamedTuple):
    """x = U diag(s) Vt, s decreasing; U and Vᵀ have as many columns as there are singular values."""

    U: Array
    s: Array
    Vt: Array

    def times(self, s: Array) -> Array:
        """U diag(s) Vt for other singular values s, of which only those that are not 0 are read."""
        some = int(namespace(s).count_nonzero(s))
        return (self.U[:, :some] * s[:some]) @ self.Vt[:some, :]


def matrix(x: Array) -> Array:
    """x as a matrix; a vector is one column. −0.0 becomes 0.0."""
    return (x if x.ndim == 2 else namespace(x).reshape(x, (-1, 1))) + 0.0


def bad(x: Array) -> bool:
    """Whether x holds NaN or infinity, for which there are no singular values."""
    xp = namespace(x)
    return not bool(xp.all(xp.isfinite(x)))


def spectrum(x: Array) -> Spectrum:
    """The singular value decomposition of x, which is finite."""
    return Spectrum(*namespace(x).linalg.svd(matrix(x), full_matrices=False))


def values(x: Array) -> Array:
    """The singular values of x, which is finite, decreasing."""
    return namespace(x).linalg.svdvals(matrix(x))


def symmetric(a: Array) -> Array:
    return 0.5 * (a + a.T)


def number(step: Any) -> float:
    """The step as a number: with a step for every entry the prox has no closed form."""
    if getattr(step, "ndim", 0) != 0:
        expected = "one number: with a step for every entry the prox of singular values has no closed form"
        raise BadSettings("step", step, expected)
    return float(step)
