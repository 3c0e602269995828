"""Functions of the user's as components: their values and gradients, by NumPy, PyTorch or JAX.

PyTorch is imported in `with_torch` and JAX in `with_jax`, and only where a user's function or data need them.
"""

from .base import Engine
from .choose import engine_for

__all__ = ["Engine", "engine_for"]
