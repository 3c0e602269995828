"""A mean of differences of convex functions that the user wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..convex import ComponentMean
from ..data.block_stream import is_stream
from ..errors import BadInput, elsewhere
from ..problem import Problem
from ..regularizers import Regularizer
from ..sums import components


@elsewhere(penalty="regularizer=", reg="regularizer=", regularization="regularizer=", r="regularizer=")
def difference(
    data: Any,
    *,
    g: Callable[[Any, Any], Any],
    h: Callable[[Any, Any], Any],
    regularizer: str | Regularizer = "zero",
    shape: int | tuple[int, ...] | None = None,
    like: Any = None,
    g_grad: Callable[[Any, Any], Any] | None = None,
    h_grad: Callable[[Any, Any], Any] | None = None,
    g_L: float | None = None,
    h_L_H: float | None = None,
    h_L: float | None = None,
    h_L_v: float | None = None,
    mu: float = 0.0,
    strong: float = 0.0,
    weights: Any = None,
    chunk: int | None = None,
) -> Problem:
    """F(x) = (1/N) Σ w_i (g_i(x) − h_i(x)) + r(x),   G = (1/N) Σ w_i g_i + μ/2 ‖x‖²,   H = (1/N) Σ w_i h_i + μ/2 ‖x‖².

    Parameters
    ----------
    data, shape, like, weights, chunk : as in `dcopt.components`
    g, h : functions of (x, batch) that give one number for each component; the means of both must be convex
    g_grad, h_grad : their gradients, where they are in NumPy
    g_L, h_L_H, h_L, h_L_v : the smoothness of G, and L_H, L and L_v of the h_i, where they are known
    mu : what is added to both, which keeps F and makes the convex programs better conditioned
    strong : the strong convexity of the mean of the g_i, where it is known

    The convex programs go over all components. They are solved by products with the Hessian of G where autodiff gives
    them and r1 is smooth, by accelerated gradients elsewhere. Their passes are counted.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> a = np.array([1.0, 2.0, 3.0])
    >>> P = dcopt.problems.difference(  # ½(x − a_i)² − ½ x²: linear, so that only the ball holds x
    ...     a, shape=1, regularizer=dcopt.regularizers.Ball(1.0),
    ...     g=lambda x, a: 0.5 * (x[0] - a) ** 2, g_grad=lambda x, a: x - a.mean(),
    ...     h=lambda x, a: 0.5 * x[0] ** 2 + 0.0 * a, h_grad=lambda x, a: x,
    ... )
    >>> dcopt.solve(P, "dca", tol=1e-8).x
    array([1.])
    """
    if is_stream(data):
        raise BadInput("data", "is a stream: G must be a mean over components that can be visited again")
    given = {"shape": shape, "like": like, "weights": weights, "chunk": chunk}
    mean = components(g, data, grad=g_grad, convex=True, L_H=g_L, **given)
    H = components(h, data, grad=h_grad, convex=True, L_H=h_L_H, L=h_L, L_v=h_L_v, **given)
    G = ComponentMean(mean, 0.0, strong)  # type: ignore[arg-type]  # no stream
    P = Problem(G, H=H, r=regularizer)  # type: ignore[arg-type]  # a name is made a regularizer
    return P.shift(mu) if mu else P
