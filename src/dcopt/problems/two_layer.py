"""A two-layer network: F(x) = (1/N) Σ ℓ(u_i − v_i, y_i) + μ/2 ‖x‖², u and v convex functions of the weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex, Quadratic, ScaledIdentity
from ..data import check
from ..draw import as_seed
from ..errors import BadInput, BadSettings, pick, require, require_count, require_number
from ..problem import Problem
from ..regularizers import Zero
from ..xp import Array
from .network import Network, NetworkMean
from .outer import PARTS

_FLOOR = 1e-10  # of κ tr(C): what rounding may take from the least eigenvalue of the Gram matrix, and more


def two_layer(
    X: Any,
    y: Any,
    hidden: int = 16,
    *,
    loss: Literal["logistic", "squared"] = "logistic",
    mu: float = 1e-3,
    sharpness: float = 4.0,
    intercept: bool = True,
    form: Literal["difference", "gram", "scalar"] = "gram",
    kappa: float | None = None,
) -> Problem:
    """F(x) = (1/N) Σ ℓ(u_i − v_i, y_i) + μ/2 ‖x‖², u_i = Σ φ(⟨x_j, a_i⟩) over half of the hidden units, v_i the others.

    The output weights are +1 for the first half and −1 for the other (a positive factor of a unit can be in its x_j, as
    far as φ(t) = log(1 + e^βt) / β is ReLU). u and v are convex in the weights x (d, hidden) and positive. So, with
    y₊ = max(y, 0) and y₋ = max(−y, 0), these are differences of convex functions:
        log(1 + e^−y(u − v)) = log(e^u + e^v) − (u if y = 1, else v),
        ½(u − v − y)² = [u² + v² + y₋u + y₊v + ½y²] − [½(u + v)² + y₊u + y₋v].

    "gram":        G = κ/2 Σ_j ⟨x_j, Cx_j⟩ + μ/2 ‖x‖², C = XᵀX/N, H = G − F. A gradient and a solve with C a step.
    "scalar":      G = κ/2 ‖x‖², H = G − F. A gradient a step; slow where the features depend on each other.
    "difference":  G = the mean of the first parts + μ/2 ‖x‖², H that of the second. A program over all rows a step.

    Parameters
    ----------
    X, y : (N, d) dense, and N labels of two classes ("logistic") or N numbers ("squared")
    hidden : at least 2
    sharpness : β
    kappa : with loss="logistic" default a bound with which H is convex, κ = (hidden + β)/4 in the form "gram", times
        λ_max(C) and + μ in the form "scalar"; it is larger than needed. With "squared" there is no bound: give κ, or
        solve with kappa="adaptive".

    From x = 0 all units of a sign stay equal: start from `two_layer_start`.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> y = np.array([0, 0, 1, 1])
    >>> P = dcopt.problems.two_layer(X, y, hidden=4)
    >>> x = dcopt.solve(P, "dca", steps=100, x0=dcopt.problems.two_layer_start(P, seed=0)).x
    >>> (dcopt.problems.two_layer_output(P, x, X) > 0).astype(int)
    array([0, 0, 1, 1])
    """
    pick("loss", loss, PARTS)
    pick("form", form, ("difference", "gram", "scalar"))
    require_count("hidden", hidden)
    require(hidden >= 2, "hidden", hidden, "at least 2, one of each sign")
    require_number("mu", mu, 0.0)
    require_number("sharpness", sharpness, 0.0, open_low=True)
    a = _rows(X, intercept)
    if loss == "logistic":
        targets, classes = check.labels(y, len(a), "binary", a.dtype)
    else:
        targets, classes = check.labels(y, len(a), "real", a.dtype)[0], None
    o, g, h = PARTS[loss]
    f = Network(a, targets, int(hidden), float(sharpness), o, float(mu))
    if form == "difference":
        if kappa is not None:
            raise BadSettings("kappa", kappa, 'None: form="difference" has no κ')
        H = replace(f, outer=h, mu=0.0)
        return Problem(NetworkMean(replace(f, outer=g)), H=H, r=Zero(), classes=classes, inner_tol=1e-8)
    if kappa is None:
        kappa = f.bend_bound if form == "gram" else f.facts().L_H
        if kappa is None or np.isinf(kappa):
            expected = 'a number, or form="difference": with loss="squared" the curvature of F has no bound'
            raise BadSettings("kappa", None, expected)
    require_number("kappa", kappa, 0.0, open_low=True)
    G: Convex = ScaledIdentity(float(kappa)) if form == "scalar" else _gram(f, float(kappa))
    return Problem(G, f=f, r=Zero(), classes=classes)


def two_layer_start(P: Problem, *, seed: int | None = 0) -> Array:
    """Normal weights of deviation √(8 / (d · hidden)), from a seed"""
    f = _network(P)
    draw = np.random.Generator(np.random.Philox(as_seed(seed)))
    return (draw.standard_normal(f.shape) * np.sqrt(8.0 / (f.shape[0] * f.hidden))).astype(f.dtype)


def two_layer_output(P: Problem, x: Any, X: Any) -> NDArray[Any]:
    """u − v for the rows of X: the log-odds of the second class, or the prediction of y"""
    f = _network(P)
    w = check.point(x, f.shape, np.float64, "x")
    given = np.asarray(X)
    a = _rows(X, given.ndim == 2 and given.shape[1] == f.a.shape[1] - 1)
    if a.shape[1] != f.a.shape[1]:
        raise BadInput("X", f"expected the columns of the X of the problem, got shape {given.shape}")
    u, v = f.units(a @ w)
    return np.asarray(u - v)


def _gram(f: Network, kappa: float) -> Quadratic:
    """κ/2 Σ_j ⟨x_j, Cx_j⟩ + μ/2 ‖x‖², with what keeps it positive definite where columns of X depend on each other"""
    a = f.a.astype(np.float64, copy=False)
    C = a.T @ a / f.n
    eta = max(f.mu, _FLOOR * kappa * float(np.trace(C)))
    return Quadratic(kappa * C + eta * np.eye(len(C)), made_of=("two layers", f.a, kappa, eta))


def _network(P: Any) -> Network:
    f = P.sum if isinstance(P, Problem) else None
    require(isinstance(f, Network), "P", P, "a problem made by dcopt.problems.two_layer")
    return f  # type: ignore[return-value]  # seen above


def _rows(X: Any, intercept: bool) -> NDArray[Any]:
    require(isinstance(intercept, bool), "intercept", intercept, "True or False")
    a = check.real_array(X.toarray() if hasattr(X, "toarray") else X, "X")
    if a.ndim != 2:
        raise BadInput("X", f"expected 2 dimensions, got shape {a.shape}")
    check.not_empty(a.shape, "X")
    check.finite(a, "X")
    return np.concatenate([a, np.ones((len(a), 1), a.dtype)], axis=1) if intercept else np.ascontiguousarray(a)


def sample(seed: int) -> Problem:
    return two_layer(*_data(seed, True), hidden=3, mu=0.1)


def scalar_sample(seed: int) -> Problem:
    return two_layer(*_data(seed, True), hidden=3, mu=0.1, form="scalar")


def difference_sample(seed: int) -> Problem:
    return two_layer(*_data(seed, True), hidden=3, mu=0.1, form="difference")


def squared_sample(seed: int) -> Problem:
    return two_layer(*_data(seed, False), hidden=3, loss="squared", mu=0.1, form="difference")


def objective(seed: int) -> Callable[[Array], float]:
    X, y = _data(seed, True)
    return lambda x: float(np.mean(np.log1p(np.exp(-y * _plain(x, X))))) + 0.05 * float(np.sum(x * x))


def squared_objective(seed: int) -> Callable[[Array], float]:
    X, y = _data(seed, False)
    return lambda x: float(np.mean((_plain(x, X) - y) ** 2)) / 2 + 0.05 * float(np.sum(x * x))


def _plain(x: Array, X: Array) -> Array:
    z = np.log1p(np.exp(4.0 * (X @ x[:-1] + x[-1]))) / 4.0
    return np.asarray(z[:, 0] + z[:, 1] - z[:, 2])


def _data(seed: int, signs: bool) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    X, y = draw.normal(size=(10, 3)), draw.normal(size=10)
    y[:2] = 1.0, -1.0
    return X, np.sign(y) if signs else y
