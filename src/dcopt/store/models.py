"""Files of fitted models: numbers, strings and settings, whose meaning is defined by the code that saves them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..xp import Array
from . import tensors


class Model(NamedTuple):
    """`header`: plain settings. `arrays`: coefficients, classes, names, columns of a trace."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def save_model(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any], *, allow_nonfinite: bool = False
) -> None:
    """Write a model, completely or not at all. An existing file is replaced.

    Parameters
    ----------
    header : numbers (also inf and nan), strings, True, False, None, and lists and dicts of them; below 1 MiB as JSON.
        Tuples come back as lists. Components go in as `dcopt.store.components.describe` gives them
    arrays : by name; float32, float64, integers, booleans, or one-dimensional strings. Integers other than int32
        come back as int64
    allow_nonfinite : write NaN and infinity in arrays; otherwise they are refused

    Examples
    --------
    >>> import dcopt, numpy as np, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> dcopt.save_model(path, {"loss": "logistic"}, {"coef": np.array([1.0, 0.0]), "classes": ["no", "yes"]})
    >>> dcopt.load_model(path).arrays["classes"]
    array(['no', 'yes'], dtype='<U3')
    """
    tensors.save(path, "model", header, arrays, allow_nonfinite=allow_nonfinite)


def load_model(path: str | os.PathLike[str], *, allow_nonfinite: bool = False) -> Model:
    """Read a model. Nothing in the file is executed or imported; BadModel says what is wrong with it.

    NaN and infinity in arrays are refused unless `allow_nonfinite`.
    """
    return Model(*tensors.read(path, "model", allow_nonfinite=allow_nonfinite))
