"""Users' functions for the tests of components: one mean of losses written in every framework that is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import dcopt

WHY = "is not installed: make extras"
TORCH = pytest.mark.skipif(find_spec("torch") is None, reason=f"torch {WHY}")
JAX = pytest.mark.skipif(find_spec("jax") is None, reason=f"jax {WHY}")
FRAMEWORKS = ["numpy", pytest.param("torch", marks=TORCH), pytest.param("jax", marks=JAX)]


def rows(n: int = 60, d: int = 5, seed: int = 0, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels −1, 1"""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    y = np.where(A @ np.arange(1.0, d + 1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    return A.astype(dtype), y.astype(dtype)


def in_numpy(x: Any, batch: Any) -> Any:
    A, y = batch
    return expit(-y * (A @ x)) ** 2


def each_gradient(x: Any, batch: Any) -> Any:
    A, y = batch
    s = expit(-y * (A @ x))
    return (-2.0 * y * s * s * (1.0 - s))[:, None] * A


def mean_gradient(x: Any, batch: Any) -> Any:
    return each_gradient(x, batch).mean(axis=0)


def in_torch(x: Any, batch: Any) -> Any:
    import torch

    A, y = batch
    return torch.sigmoid(-y * (A @ x)) ** 2


def in_jax(x: Any, batch: Any) -> Any:
    import jax

    A, y = batch
    return jax.nn.sigmoid(-y * (A @ x)) ** 2


def squared_sigmoid(framework: str, data: Any, **settings: Any) -> Any:
    """The components of the paper's loss, written in a framework, with what is known of them"""
    fn = {"numpy": in_numpy, "torch": in_torch, "jax": in_jax}[framework]
    grad = mean_gradient if framework == "numpy" else None
    d = np.asarray(data[0][:1].toarray() if hasattr(data[0], "toarray") else data[0][:1]).shape[1]
    return dcopt.components(fn, data, **({"shape": d, "grad": grad, "lower": 0.0} | settings))
