"""Files that must survive: atomic writes, tensors without code, models, checkpoints. The format: docs/files.md."""

from .models import Model, load_model, save_model
from .tensors import Peek, peek

__all__ = ["Model", "Peek", "load_model", "peek", "save_model"]
