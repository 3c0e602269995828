"""Regularizers r = r₁ - r₂. A new one is a file, a line below, and a line in laws/samples.py, for the laws."""

from __future__ import annotations

from ..errors import pick
from .ball import Ball
from .base import Convex, Regularizer
from .bounded import Bounded
from .box import Box, Nonnegative
from .capped_l1 import CappedL1
from .elastic_net import ElasticNet
from .excepting import Except
from .exponential import Exponential
from .fused import Fused
from .geman import Geman
from .l0 import L0
from .l1 import L1
from .l1_minus_l2 import L1MinusL2
from .l2 import L2
from .log_sum import LogSum
from .lp_smooth import LpSmooth
from .mcp import MCP
from .nuclear_minus_ky_fan import NuclearMinusKyFan
from .profiled import Profiled
from .reweighted import Reweighted, reweighted
from .scad import SCAD
from .simplex import Simplex
from .sparse_group import SparseGroup
from .spectral_ball import SpectralBall
from .top_k import TopK
from .transformed_l1 import TransformedL1
from .units import WeightedL1
from .zero import Zero

# What a registered name stands for where no settings are given. The estimators of dcopt.learn and `dcopt fit` take the
# settings other than λ from here; their λ comes from the data (fit/penalties.py). The laws run on laws/samples.py.
REGULARIZERS: dict[str, Regularizer] = {
    "exponential": Exponential(lam=0.1, alpha=5.0),
    "capped-l1": CappedL1(lam=0.1, theta=0.5),
    "scad": SCAD(lam=0.1),
    "mcp": MCP(lam=0.1),
    "log-sum": LogSum(lam=0.1, eps=0.5),
    "transformed-l1": TransformedL1(lam=0.1, a=1.0),
    "geman": Geman(lam=0.1, theta=0.5),
    "lp-smooth": LpSmooth(lam=0.1, p=0.5, eps=0.1),
    "l1-minus-l2": L1MinusL2(lam=0.1),
    "top-k": TopK(lam=0.1, k=2),
    "l0": L0(lam=0.1, k=10),
    "l1": L1(lam=0.1),
    "l2": L2(lam=0.1),
    "elastic-net": ElasticNet(lam=0.1, mu=0.05),
    "sparse-group": SparseGroup(lam=0.1, share=0.5),
    "box": Box(low=-1.0, high=1.0),
    "nonnegative": Nonnegative(),
    "zero": Zero(),
}


def regularizer(spec: str | Regularizer, called: str = "regularizer") -> Regularizer:
    """An instance unchanged, or the registered instance of a name. `called` is the caller's name of the argument."""
    return spec if isinstance(spec, Regularizer) else REGULARIZERS[pick(called, spec, REGULARIZERS, "a Regularizer")]


__all__ = [
    "L0", "L1", "L2", "MCP", "REGULARIZERS", "SCAD", "Ball", "Bounded", "Box", "CappedL1", "Convex", "ElasticNet",
    "Except", "Exponential", "Fused", "Geman", "L1MinusL2", "LogSum", "LpSmooth", "Nonnegative", "NuclearMinusKyFan",
    "Profiled", "Regularizer", "Reweighted", "Simplex", "SparseGroup", "SpectralBall", "TopK", "TransformedL1",
    "WeightedL1", "Zero", "regularizer", "reweighted",
]  # fmt: skip
