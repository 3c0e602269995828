"""Models of f on the working set: as a matrix, or as the columns of A where that costs less."""

from .base import Model
from .build import dense_model, model
from .columns import ColumnModel
from .dense import DenseModel
from .softmax_columns import SoftmaxColumnModel

__all__ = ["ColumnModel", "DenseModel", "Model", "SoftmaxColumnModel", "dense_model", "model"]
