"""Which framework a user's function is written in.

1. Data or parameters that are tensors decide.
2. Otherwise fn is tried on three components with x as a NumPy array: if it returns a tensor, that tensor decides, and
   if it returns an array and grad= is given, it is a function in NumPy.
3. Where fn fails on NumPy arrays it is tried with tensors over the same memory, in the frameworks that the program has
   imported. Where fn is arithmetic that every array has, and grad= is not given, PyTorch differentiates it if it is
   installed, JAX otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...data import batches
from ...errors import BadInput, BadSettings
from ...xp import Array
from .base import Engine
from .tree import Tree
from .with_numpy import NumpyEngine

_TRIED = 3  # Components of the first call: enough to tell one number for each from a mean.
_FRAMEWORKS = ("torch", "jax")
_NO_GRADIENT = (
    "a function here: fn is in NumPy, which has no autodiff. It gives the mean gradient of the batch, or one gradient "
    "for each component. Or write fn in PyTorch or JAX"
)


def engine_for(
    fn: Callable[[Any, Any], Any],
    data: Any,
    x: Array,
    tree: Tree | None,
    home: str,
    grad: Callable[[Any, Any], Any] | None,
) -> Engine:
    """The framework of fn, tried at x on the first components; refuses by name what cannot be used.

    `home` is the library of the parameters that x was made from.
    """
    trial = _Trial((fn, x.shape, x.dtype, tree, grad), data, x)
    decided = {home, *map(batches.kind_of, batches.leaves(data))} & set(_FRAMEWORKS)
    if len(decided) > 1:
        raise BadInput("data", "holds tensors of PyTorch and of JAX: give those of one framework")
    if decided:
        return trial.of(decided.pop())
    try:
        kind = trial.output()
    except Exception as why:
        return _among([name for name in _FRAMEWORKS if name in sys.modules], trial, trial.explained(why, "NumPy"))
    if kind != "numpy" or grad is not None:
        return trial.of(kind)
    installed = [name for name in _FRAMEWORKS if find_spec(name) is not None]
    return _among(installed, trial, BadSettings("grad", None, _NO_GRADIENT))


def _among(names: list[str], trial: _Trial, otherwise: BadInput | BadSettings) -> Engine:
    """The first of these frameworks that fn accepts; else the error."""
    for name in names:
        try:
            return trial.of(name)
        except _Raised:
            continue
    raise otherwise


class _Raised(BadInput):
    """fn raised an error of its own."""


class _Trial:
    """A first call of fn and one gradient, so that what is wrong is said before a run."""

    def __init__(self, settings: tuple[Any, ...], data: Any, x: Array) -> None:
        self.settings, self.data, self.x = settings, data, x
        self.rows = np.arange(_TRIED) % batches.count(data)

    def output(self) -> str:
        """The library of what fn returns for NumPy arrays"""
        engine = NumpyEngine(*self.settings)
        with np.errstate(all="ignore"):
            out = engine.fn(engine.argument(self.x), engine.take(self.data, self.rows))
        kind = batches.kind_of(out)
        return kind if kind in _FRAMEWORKS else "numpy"

    def of(self, name: str) -> Engine:
        """The engine of this framework, if fn returns what it should there."""
        try:
            engine = _engine(name)(*self.settings)
            with np.errstate(all="ignore"):
                self._call(engine)
        except (BadInput, BadSettings):
            raise
        except Exception as why:
            raise self.explained(why, _NAMES[name]) from why
        return engine

    def _call(self, engine: Engine) -> None:
        x, b = self.x, len(self.rows)
        batch = engine.take(engine.prepare(self.data), self.rows)
        bad = np.flatnonzero(np.isnan(engine.values(x, batch, b)))
        if bad.size:
            hint = "give like=, an example of x at which fn is defined" if not x.any() else "fn has to be defined there"
            raise BadInput("fn", f"returned NaN at {'x = 0' if not x.any() else 'like='}: {hint}", row=int(bad[0]))
        if engine.grad is None:
            engine.value_grad(x, batch, engine.shares(None, b, b, x.dtype))
        else:
            engine.each = engine.gradients(x, batch, b).ndim > x.ndim

    def explained(self, why: Exception, name: str) -> BadInput:
        """What fn raised, in a sentence"""
        if isinstance(why, BadInput):
            return why
        if isinstance(why, ImportError):
            package = why.name or "a package"
            hint = f": pip install 'dcopt[{package}]'" if package in _FRAMEWORKS else ""
            return BadInput("fn", f"needs {package}, which is not installed{hint}")
        said = " ".join(str(why).split())[:300]
        where = f"in {name}, for x of shape {self.x.shape} and {len(self.rows)} components"
        return _Raised("fn", f"raised {type(why).__name__} {where}: {said}")


_NAMES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}


def _engine(name: str) -> type[Engine]:
    if name == "torch":
        from .with_torch import TorchEngine

        return TorchEngine
    if name == "jax":
        from .with_jax import JaxEngine

        return JaxEngine
    return NumpyEngine
