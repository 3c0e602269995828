"""Atomic writes, files of tensors without code, models and checkpoints. docs/files.md describes the format."""

from .models import Model, load_model, save_model
from .tensors import Peek, peek

__all__ = ["Model", "Peek", "load_model", "peek", "save_model"]
