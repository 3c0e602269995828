"""F, gap and criticality from the formulas: dense, float64 (the gap in longer numbers), nothing from the library.

Written for checking certificates, so it shares no line with what it checks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

CURVATURE = {"squared-sigmoid": (39 + 55 * np.sqrt(33)) / 2304, "logistic": 0.25, "squared": 1.0, "softmax": 0.5}


class Penalty(NamedTuple):
    """kind(lam, other): "exponential" (alpha), "mcp" (gamma), "l1"; over entries or over rows of x."""

    kind: str
    lam: float
    other: float = 0.0
    rows: bool = False
    free: int = 0  # so many last entries (rows) of x are not penalised


class Evaluation(NamedTuple):
    F: float
    gap: float
    criticality: float


def losses(name: str, z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and slopes, row by row. y: −1/+1, class numbers or targets."""
    if name == "squared-sigmoid":
        s = 1.0 / (1.0 + np.exp(y * z))
        return s**2, -2.0 * y * s**2 * (1.0 - s)
    if name == "logistic":
        return np.log1p(np.exp(-y * z)), -y / (1.0 + np.exp(y * z))
    if name == "squared":
        return 0.5 * (z - y) ** 2, z - y
    p = np.exp(z) / np.exp(z).sum(axis=1)[:, None]
    one = np.zeros_like(p)
    one[np.arange(len(y)), y] = 1.0
    return -np.log(p[np.arange(len(y)), y]), p - one


def penalty(r: Penalty, a: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """ψ'(0), ψ(a), ψ'(a)"""
    if r.kind == "exponential":
        e = np.exp(-r.other * a)
        return r.lam * r.other, r.lam * (1.0 - e), r.lam * r.other * e
    if r.kind == "mcp":
        flat = a >= r.other * r.lam
        psi = np.where(flat, r.other * r.lam**2 / 2, r.lam * a - a**2 / (2 * r.other))
        return r.lam, psi, np.where(flat, 0.0, r.lam - a / r.other)
    return r.lam, r.lam * a, np.full_like(a, r.lam)


def evaluate(X: np.ndarray, y: np.ndarray, loss: str, r: Penalty, x: np.ndarray, weights: Any = None) -> Evaluation:
    """X dense with its column of ones, if any. κ = sup|φ''| max w_i ‖a_i‖²."""
    X, x = np.asarray(X, np.float64), np.asarray(x, np.float64)
    n = len(X)
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64) * n / np.sum(weights)
    values, slopes = losses(loss, X @ x, y)
    f = np.sum(w * values) / n
    grad = X.T @ (w[:, None] * slopes.reshape(n, -1)) / n
    kappa = CURVATURE[loss] * np.max(w * np.sum(X**2, axis=1))

    blocks = x.reshape(len(x), -1)  # one row a feature
    last = len(x) - r.free
    pen, free = blocks[:last], blocks[last:]
    a = np.sqrt(np.sum(pen**2, axis=1, keepdims=True)) if r.rows else np.abs(pen)
    c, psi, dpsi = penalty(r, a)
    way = np.divide(pen, a, out=np.zeros_like(pen), where=a > 0)
    u_pen = (c - dpsi) * way - grad[:last]
    u_free = -grad[last:]

    u_norm = np.sqrt(np.sum(u_pen**2, axis=1, keepdims=True)) if r.rows else np.abs(u_pen)
    at_zero = np.where(a == 0, np.maximum(u_norm - c, 0.0), 0.0)
    elsewhere = np.where(a == 0, 0.0, u_pen - c * way)
    criticality = np.sqrt(np.sum(at_zero**2) + np.sum(elsewhere**2) + np.sum(u_free**2))

    long = np.longdouble
    v = pen.astype(long) + u_pen.astype(long) / long(kappa)
    v_norm = np.sqrt(np.sum(v**2, axis=1, keepdims=True)) if r.rows else np.abs(v)
    shrink = np.maximum(1 - (c / long(kappa)) / np.where(v_norm == 0, 1, v_norm), 0)
    best = np.concatenate([v * shrink, free.astype(long) + u_free.astype(long) / long(kappa)])

    def q(point: np.ndarray) -> np.longdouble:
        head = point[:last]
        size = np.sqrt(np.sum(head**2, axis=1)) if r.rows else np.abs(head)
        linear = long(kappa) * blocks.astype(long) + np.concatenate([u_pen, u_free]).astype(long)
        return long(kappa) / 2 * np.sum(point**2) + long(c) * np.sum(size) - np.sum(linear * point)

    return Evaluation(float(f + psi.sum()), float(q(blocks.astype(long)) - q(best)), float(criticality))
