"""Problems (M) with a general G: F(x) = G(x) − (1/N) Σ h_i(x) + r(x), every N a prefix of one synthetic population.

phase-retrieval    G = (1/4N) Σ ⟨a_i, x⟩⁴ + η/2 ‖x‖²      h_i = b_i ⟨a_i, x⟩²/2 + η/2 ‖x‖²
robust-regression  G = (1/2N) Σ (⟨a_i, x⟩ − y_i)²          h_i = e_i²/2 − Welsch(e_i)              r = λ‖x‖₁
ramp-svm           G = (1/N) Σ H₁(m_i) + μ/2 ‖x‖²          h_i = H₋₁(m_i), H a hinge with a rounded corner
mean-of-rows       G = (1/N) Σ ℓ(m_i) + μ/2 ‖x‖²           h_i = ℓ(m_i + 2), ℓ(m) = log(1 + e^(−m))
components         G = ½ ⟨x, Qx⟩                           h_i = log Σ_k exp⟨a_ik, x⟩, no loss of one ⟨a_i, x⟩
autodiff           the same, with gradients that PyTorch takes of h_i

F ≥ 0 for the first four.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ..convex import Convex, Mean, Quadratic
from ..data import check
from ..losses import Logistic
from ..method import Method
from ..problem import Problem
from ..problems.base import ConvexSum, resolution
from ..problems.phase_retrieval import phase_retrieval
from ..problems.ramp_svm import ramp_svm
from ..problems.robust_regression import robust_regression
from ..regularizers import L1, Regularizer, Zero
from ..subproblems import Inner, Subsolver, choose
from ..sums import LinearSum, components
from ..xp import Array
from .contestants import KNOWN

_BAG = 4  # The number of rows of a component of "components".


class Start(NamedTuple):
    """A problem, the x0 of its runs, a number below inf F, and σ with σ² ≥ E‖∇h_i(x) − ∇H(x)‖² at every x."""

    P: Problem
    x0: Array
    lower: float = 0.0
    sigma: float | None = None  # None: there is none, because the gradients are not bounded.


@lru_cache(maxsize=1)
def _rows(n: int, dim: int) -> tuple[Array, Array, Array]:
    """Rows of length √d, standard normal noise and uniform numbers; the first do not depend on n."""
    normal, noise, coins = (np.random.default_rng([1, k]) for k in range(3))
    a = normal.standard_normal((n, dim)) * np.arange(1, dim + 1) ** -0.25
    a *= dim**0.5 / np.linalg.norm(a, axis=1)[:, None]
    return a, noise.standard_normal(n), coins.random(n)


def _planted(dim: int) -> Array:
    """(1, −1, 1, …)"""
    return np.where(np.arange(dim) % 2 == 0, 1.0, -1.0)


def _phase(n: int, dim: int) -> Start:
    """b_i = ⟨a_i, x*⟩², ‖x*‖ = 2, from a point at a right angle to x* but for a quarter of its length."""
    a, _, _ = _rows(n, dim)
    signal = 2.0 * _planted(dim) / dim**0.5
    return Start(phase_retrieval(a, (a @ signal) ** 2, eta=1.0), 0.25 * signal + 0.5 * np.abs(signal))


def _robust(n: int, dim: int) -> Start:
    """y = ⟨a, x*⟩ + noise of deviation 0.3, but 10 in a fifth of the rows"""
    a, noise, coins = _rows(n, dim)
    y = a @ _planted(dim) + np.where(coins < 0.2, 10.0, 0.3) * noise
    return Start(robust_regression(a, y, "welsch", L1(0.01), scale=2.0), np.zeros(dim))


def _signs(n: int, dim: int) -> tuple[Array, Array]:
    """Rows, and labels of ⟨a, x*⟩ of which a quarter is turned"""
    a, noise, coins = _rows(n, dim)
    return a, np.where(a @ _planted(dim) + 0.5 * noise > 0.0, 1.0, -1.0) * np.where(coins < 0.25, -1.0, 1.0)


def _ramp(n: int, dim: int) -> Start:
    a, y = _signs(n, dim)
    return Start(ramp_svm(a, y, Zero(), s=-1.0, width=0.5, mu=0.05, intercept=False), np.zeros(dim))


@dataclass(frozen=True)
class LaterLogistic(Logistic):
    """ϕ(m) = log(1 + e^(−m − 2))"""

    elementwise = False

    def phi(self, m: Array) -> Array:
        return super().phi(m + 2.0)

    def dphi(self, m: Array) -> Array:
        return super().dphi(m + 2.0)

    def ddphi(self, m: Array) -> Array:
        return super().ddphi(m + 2.0)


def _mean(n: int, dim: int) -> Start:
    """The loss of a row is at most 2: ℓ(m) − ℓ(m + 2)."""
    a, y = _signs(n, dim)
    rows = check.as_rows(a)
    G, H = Mean(LinearSum(rows, Logistic(), y), 0.02), ConvexSum(rows, LaterLogistic(), y)
    return Start(Problem(G, H, Zero(), inner_tol=resolution(dim**0.5)), np.zeros(dim))


def _log_sums(x: Array, bags: Array) -> Array:
    """log Σ_k exp⟨a_ik, x⟩ of every component"""
    return np.log(np.exp(bags @ x).sum(axis=-1))


def _softmaxes(x: Array, bags: Array) -> Array:
    """∇h_i(x) = Σ_k p_k a_ik, p = softmax(⟨a_i1, x⟩, …), of every component"""
    p = np.exp(bags @ x)
    return np.einsum("ik,ikj->ij", p / p.sum(axis=1, keepdims=True), bags)


def _log_sums_autodiff(x: Any, bags: Any) -> Any:
    """The same in PyTorch, which differentiates it"""
    import torch

    return torch.logsumexp(bags @ x, -1)


def _bags(n: int, dim: int) -> Array:
    a, _, _ = _rows(_BAG * n, dim)
    return (a + 0.5 * _planted(dim)).reshape(n, _BAG, dim)


def _smoothness(bags: Array) -> tuple[float, float]:
    """L_H and L ≥ L_v: ∇²h_i = Σ_k p_k (a_ik − ā)(a_ik − ā)ᵀ ⪯ ½ Σ_k (a_ik − mean)(a_ik − mean)ᵀ

    ½ is the largest eigenvalue of diag(p) − ppᵀ.
    """
    own = bags - bags.mean(axis=1, keepdims=True)
    bounds = 0.5 * np.einsum("ikj,ikl->ijl", own, own)
    tops = (np.linalg.eigvalsh(m)[-1] for m in (bounds.mean(axis=0), np.mean(bounds @ bounds, axis=0)))
    L_H, squared = map(float, tops)
    return L_H, squared**0.5


def _components(n: int, dim: int, least: float = 0.3, most: float = 1.0, autodiff: bool = False) -> Start:
    """F(x) ≥ ρ/2 ‖x‖² − log K − m ‖x‖, m the mean of max_k ‖a_ik‖, which also bounds the gradients."""
    bags = _bags(n, dim)
    longest = np.sqrt((bags**2).sum(axis=2)).max(axis=1)
    lower = -math.log(_BAG) - float(longest.mean()) ** 2 / (2.0 * least)
    L_H, L = _smoothness(bags)
    fn, grad = (_log_sums_autodiff, None) if autodiff else (_log_sums, _softmaxes)
    H = components(fn, bags, shape=dim, grad=grad, convex=True, L_H=L_H, L=L, L_v=L)
    P = Problem(Quadratic(np.diag(np.linspace(least, most, dim))), H, L1(0.01))
    return Start(P, np.zeros(dim), lower, float(np.mean(longest**2)) ** 0.5)


def _autodiff(n: int, dim: int) -> Start:
    return _components(n, dim, autodiff=True)


def _ridge(n: int, dim: int) -> Start:
    """G so strongly convex that the conditions of the printed theorems hold. Then G − H is convex: see `theorems`."""
    return _components(n, dim, 16.0, 16.0)


PROBLEMS: dict[str, Callable[[int, int], Start]] = {
    "phase-retrieval": _phase,
    "robust-regression": _robust,
    "ramp-svm": _ramp,
    "mean-of-rows": _mean,
    "components": _components,
    "autodiff": _autodiff,
}
CONVEX = {"components-ridge": _ridge}


def at_hand(name: str) -> bool:
    """Whether the packages that a problem needs are installed."""
    return name != "autodiff" or find_spec("torch") is not None


def contestant(name: str, P: Problem) -> tuple[Problem, Method]:
    """The problem that a method is given, and the method. Controls have a G that does not follow from their error."""
    if name == "saga-sqrt":
        return KNOWN["dca-page"].prepare(P)[0].fixed(), KNOWN[name]
    return P.fixed() if name == "sdca-unshifted" else P, KNOWN[name]


class Metered:
    """The sub-solver of a problem, and the component gradients of G that its programs have cost."""

    def __init__(self, P: Problem) -> None:
        self.solver: Subsolver = choose(P.G, P.r)
        self.gradients = 0

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        found = self.solver(G, r, y, warm, tol)
        self.gradients += found.cost.gradients
        return found
