"""`dcopt.components`: a function of the user's and data become the stochastic part of a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data import batches
from ..data.block_stream import BlockStream, is_stream
from ..data.check import sample_weights
from ..errors import BadInput, BadSettings, OutOfData, elsewhere, require, require_count, require_number
from .autodiff import Engine, engine_for
from .autodiff.tree import Tree
from .component_stream import ComponentStream
from .components import CHUNK, Components
from .protocol import Facts

_HELD_OUT = 1024  # Samples of a stream on which F and the measures are estimated, as in `dcopt.stream`.


@elsewhere(gradient="grad=", sample_weight="weights=", x0="like=", params="like=", batch_size="chunk=")
def components(
    fn: Callable[[Any, Any], Any],
    data: Any,
    *,
    shape: int | tuple[int, ...] | None = None,
    like: Any = None,
    grad: Callable[[Any, Any], Any] | None = None,
    weights: Any = None,
    convex: bool = False,
    lower: float | None = None,
    L_H: float | None = None,
    L: float | None = None,
    L_v: float | None = None,
    chunk: int | None = None,
    holdout: int | None = None,
) -> Components | ComponentStream:
    """f(x) = (1/N) Σ w_i fn(x, data[i]): components of your own, as f or H of a Problem, or in `convex.ComponentMean`.

    Parameters
    ----------
    fn : fn(x, batch) gives one number for each component of the batch, not their mean, in the type of x. Its gradient
        is taken by PyTorch or JAX, whichever fn is written in: data or parameters that are tensors decide; otherwise fn
        is tried with x as a NumPy array, and what it returns decides; where that fails, with tensors over the same
        memory
    data : an array, a tensor, a CSR matrix, a tuple or a dict of these, or an object with len(data) and
        data.take(rows); batch is data[rows]. Rows of a CSR matrix reach PyTorch and JAX as dense rows. For
        Φ(x, ζ) on a stream: an iterable of blocks (a list is one), or a function draw(b)
    shape : the shape of x
    like : in place of shape, an example of the parameters (dicts, tuples, lists of arrays; a state_dict): fn gets x in
        this structure, and `ravel` and `unravel` lead from it to the vector x and back
    grad : grad(x, batch), the mean gradient of the batch, or one gradient for each component, (b, *shape), which SAGA,
        SAG and weights need. Needed where fn is in NumPy
    weights : nonnegative weights of the components; they are scaled to mean 1
    convex, lower, L_H, L, L_v : what is known: whether the mean is convex, a lower bound of it, its smoothness, the
        mean-squared smoothness of the components, the smoothness of their variance. None: not known
    chunk : components that are evaluated at once, 8192 by default
    holdout : of a stream, the samples that are taken first and kept to estimate F and the measures, 1024 by default

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X, y = np.eye(4), np.array([1.0, 2.0, 3.0, 4.0])
    >>> def fn(x, batch):
    ...     A, b = batch
    ...     return 0.5 * (A @ x - b) ** 2
    >>> def grad(x, batch):
    ...     A, b = batch
    ...     return (A @ x - b)[:, None] * A
    >>> f = dcopt.components(fn, (X, y), shape=4, grad=grad, lower=0.0, L_H=0.25, L=0.5, L_v=0.5)
    >>> P = dcopt.Problem(dcopt.convex.ScaledIdentity(1.0), f=f, r="zero")
    >>> dcopt.solve(P, "dca", tol=1e-9).x.round(6)
    array([1., 2., 3., 4.])
    """
    require(callable(fn), "fn", fn, "a function fn(x, batch) that gives one number for each component of the batch")
    require(grad is None or callable(grad), "grad", grad, "a function grad(x, batch), or None")
    require(isinstance(convex, (bool, np.bool_)), "convex", convex, "True or False")
    if lower is not None:
        require_number("lower", lower, -np.inf)
    for name, number in (("L_H", L_H), ("L", L), ("L_v", L_v)):
        if number is not None:
            require_number(name, number, 0.0)
    require_count("chunk", CHUNK if chunk is None else chunk)
    facts = Facts(lower=lower, L_H=L_H, L=L, L_v=L_v, known_convex=bool(convex))
    if is_stream(data):
        require(weights is None, "weights", weights, "None: the samples of a stream are equally likely")
        return _on_stream(fn, data, shape, like, grad, facts, chunk or CHUNK, _HELD_OUT if holdout is None else holdout)
    require(holdout is None, "holdout", holdout, "None: data is not a stream")
    return _finite(fn, batches.checked(data), shape, like, grad, weights, facts, chunk or CHUNK)


def _finite(
    fn: Any, data: Any, shape: Any, like: Any, grad: Any, weights: Any, facts: Facts, chunk: int
) -> Components:
    x, tree, home = _parameters(data, shape, like)
    engine = engine_for(fn, data, x, tree, home, grad)
    w = sample_weights(weights, batches.count(data), np.float64)
    if w is not None and grad is not None and not engine.each:
        raise BadSettings("weights", weights, "None, or a grad= that gives one gradient for each component")
    own = engine.prepare(data)
    tables = Facts(**{**vars(facts), "tables": engine.each})
    return Components(data, engine, w, tables, int(chunk), own, _accepts_float64(engine, own), x)


def _on_stream(
    fn: Any, source: Any, shape: Any, like: Any, grad: Any, facts: Facts, chunk: int, holdout: Any
) -> ComponentStream:
    require_count("holdout", holdout, 2)
    stream = BlockStream(source)
    try:
        held = stream.take(int(holdout))
    except OutOfData as end:
        why = f"ended after {end.left} samples, and the held-out sample takes {holdout}: give a smaller holdout="
        raise BadInput("data", why) from None
    return ComponentStream(stream, _finite(fn, held, shape, like, grad, None, facts, chunk))


def _parameters(data: Any, shape: Any, like: Any) -> tuple[Any, Tree | None, str]:
    """x where fn is tried first, the tree that it stands for, and the library of `like`"""
    if (shape is None) == (like is None):
        given = "neither" if shape is None else "both"
        raise BadSettings("shape, like", given, "one of them: shape=, the shape of x, or like=, an example of it")
    if like is not None:
        tree = Tree.of(like)
        x = tree.ravel(like)
        return (x, tree, tree.home) if tree.names != ("",) else (x.reshape(tree.shapes[0]), None, tree.home)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else shape
    good = isinstance(shape, (tuple, list)) and all(isinstance(k, (int, np.integer)) and k > 0 for k in shape)
    require(good and len(shape) > 0, "shape", shape, "that of x, positive integers such as (4,)")
    dtype = batches.first_float(data) or batches.first_float(batches.take(data, np.zeros(1, np.int64)))
    return np.zeros(tuple(map(int, shape)), dtype or np.float64), None, "numpy"


def _accepts_float64(engine: Engine, own: Any) -> bool:
    """Whether a fn for float32 can be evaluated in float64 as well, as certificates are."""
    if np.dtype(engine.dtype) == np.float64:
        return True
    x, batch = np.zeros(engine.shape, np.float64), engine.take(own, np.zeros(1, np.int64))
    try:
        with np.errstate(all="ignore"):
            engine.value_grad(x, batch, engine.shares(None, 1, 1, x.dtype))
    except Exception:  # Whatever a function of the user raises says that it does not take float64.
        return False
    return True
