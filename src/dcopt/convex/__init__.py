"""The convex parts G."""

from .base import Convex
from .scaled_identity import ScaledIdentity

__all__ = ["Convex", "ScaledIdentity"]
