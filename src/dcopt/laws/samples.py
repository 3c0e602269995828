"""Regularizers on which the laws run. They are no defaults: `dcopt.regularizers.REGULARIZERS` has what users get."""

from __future__ import annotations

from ..regularizers import (
    L0,
    L1,
    L2,
    MCP,
    SCAD,
    Box,
    CappedL1,
    ElasticNet,
    Exponential,
    Geman,
    L1MinusL2,
    LogSum,
    LpSmooth,
    Nonnegative,
    Regularizer,
    SparseGroup,
    TopK,
    TransformedL1,
    Zero,
)

SAMPLES: dict[str, Regularizer] = {  # One sample for every registered name.
    "exponential": Exponential(lam=0.15, alpha=4.0),
    "capped-l1": CappedL1(lam=0.15, theta=0.6),
    "scad": SCAD(lam=0.15, a=3.2),
    "mcp": MCP(lam=0.15, gamma=2.5),
    "log-sum": LogSum(lam=0.15, eps=0.4),
    "transformed-l1": TransformedL1(lam=0.15, a=1.5),
    "geman": Geman(lam=0.15, theta=0.6),
    "lp-smooth": LpSmooth(lam=0.15, p=0.6, eps=0.2),
    "l1-minus-l2": L1MinusL2(lam=0.15),
    "top-k": TopK(lam=0.15, k=2),
    "l0": L0(lam=0.15, k=3),
    "l1": L1(lam=0.15),
    "l2": L2(lam=0.15),
    "elastic-net": ElasticNet(lam=0.15, mu=0.08),
    "sparse-group": SparseGroup(lam=0.15, share=0.3),
    "box": Box(low=-1.5, high=1.0),
    "nonnegative": Nonnegative(),
    "zero": Zero(),
}
