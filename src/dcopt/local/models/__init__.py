"""Models of f on the working set: as a matrix, or as the columns of A where that costs less."""

from .base import Model
from .build import dense_model, model
from .columns import ColumnModel, SoftmaxColumnModel
from .dense import DenseModel

__all__ = ["ColumnModel", "DenseModel", "Model", "SoftmaxColumnModel", "dense_model", "model"]
