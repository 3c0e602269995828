"""A loss that is no linear model: a circle through points of which a third are wrong.

python examples/own_components.py [numpy|torch|jax] [figure.png]

f_i(x) = s²/2 log(1 + e_i²/s²), e_i = ‖p_i − (x₁, x₂)‖ − x₃: the distance of a point from the circle with centre
(x₁, x₂) and radius x₃, under a loss that grows slowly. With s = ∞ it is the usual half square. The function is written
once for each framework; PyTorch and JAX need no gradient.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dcopt

SCALE, KAPPA = 0.1, 4.0  # ‖∇e‖² = 2 and ϕ″ ≤ 1: curvature is at most 2, and a little more near the centre.


def points(n: int = 3000, seed: int = 0) -> np.ndarray:
    """Points near the circle around (1, −0.5) with radius 2; the last third is anywhere to the right."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    good = np.array([1.0, -0.5]) + 2.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    good += 0.05 * rng.standard_normal(good.shape)
    wrong = rng.uniform([0.0, -4.0], [8.0, 4.0], (n // 3, 2))
    good[n - n // 3 :] = wrong
    return good


def in_numpy(x: Any, p: Any) -> Any:
    e = np.sqrt((p[:, 0] - x[0]) ** 2 + (p[:, 1] - x[1]) ** 2) - x[2]
    return 0.5 * SCALE**2 * np.log1p((e / SCALE) ** 2)


def gradient(x: Any, p: Any) -> Any:
    """One gradient for each point"""
    away = x[:2] - p
    far = np.sqrt(np.sum(away**2, axis=1))
    e = far - x[2]
    slope = e / (1.0 + (e / SCALE) ** 2)
    return slope[:, None] * np.column_stack((away / far[:, None], -np.ones(len(p))))


def in_torch(x: Any, p: Any) -> Any:
    import torch

    e = torch.linalg.norm(p - x[:2], dim=1) - x[2]
    return 0.5 * SCALE**2 * torch.log1p((e / SCALE) ** 2)


def in_jax(x: Any, p: Any) -> Any:
    import jax.numpy as jnp

    e = jnp.linalg.norm(p - x[:2], axis=1) - x[2]
    return 0.5 * SCALE**2 * jnp.log1p((e / SCALE) ** 2)


def least_squares(p: np.ndarray) -> np.ndarray:
    """‖p‖² = 2⟨p, c⟩ + (r² − ‖c‖²): the start, and what outliers do to a fit"""
    a, b, t = np.linalg.lstsq(np.column_stack((2.0 * p, np.ones(len(p)))), np.sum(p**2, axis=1), rcond=None)[0]
    return np.array([a, b, np.sqrt(t + a * a + b * b)])


def fit(framework: str, p: np.ndarray, method: str = "dca-page") -> dcopt.Result:
    fn = {"numpy": in_numpy, "torch": in_torch, "jax": in_jax}[framework]
    grad = gradient if framework == "numpy" else None
    f = dcopt.components(fn, p, like=least_squares(p), grad=grad, lower=0.0)
    P = dcopt.Problem(dcopt.convex.ScaledIdentity(KAPPA), f=f, r="zero")
    return dcopt.solve(P, method, passes=200, tol=1e-5, x0=f.start, seed=0)


def main(framework: str = "numpy", figure_path: str | None = None) -> None:
    p = points()
    result = fit(framework, p)
    print(f"least squares  centre and radius {np.round(least_squares(p), 3)}")
    print(f"{framework:14} centre and radius {np.round(result.x, 3)}  {result.status.name}, {result.certificate}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
        axes.plot(*p.T, ".", markersize=1, color="0.6")
        for x, name in ((least_squares(p), "least squares"), (result.x, "own loss")):
            angle = np.linspace(0.0, 2.0 * np.pi, 200)
            axes.plot(x[0] + x[2] * np.cos(angle), x[1] + x[2] * np.sin(angle), label=name)
        axes.set_aspect("equal")
        axes.legend()
        figure.savefig(figure_path, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
