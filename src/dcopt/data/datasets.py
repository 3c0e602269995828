"""Data sets by name: LIBSVM files from the folder DCOPT_DATA, and the sets that ship with scikit-learn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import BadInput, BadSettings, pick

# name -> number of features (files may stop before the last one)
LIBSVM: dict[str, int] = {
    "a1a": 123,
    "a9a": 123,
    "a9a.t": 123,
    "abalone_scale": 8,
    "breast-cancer": 10,
    "cadata": 8,
    "colon-cancer": 2000,
    "connect-4": 126,
    "dna.scale": 180,
    "dna.scale.t": 180,
    "dna.scale.tr": 180,
    "dna.scale.val": 180,
    "german.numer_scale": 24,
    "heart_scale": 13,
    "housing_scale": 13,
    "madelon": 500,
    "madelon.t": 500,
    "mushrooms": 112,
    "news20": 62061,
    "sector.scale": 55197,
    "sector.t.scale": 55197,
    "splice_scale": 60,
    "w1a": 300,
    "w8a": 300,
    "w8a.t": 300,
}
BUNDLED = ("breast_cancer", "digits", "wine", "diabetes")
_ENDINGS = ("", ".bz2", ".gz")


def available(name: str) -> bool:
    """Whether `load_dataset(name)` will find its data on this machine."""
    return name in BUNDLED or _file(name) is not None


def load_dataset(name: str, *, normalize: bool = False) -> tuple[Any, Any]:
    """(X, y): X is CSR for LIBSVM sets (see `LIBSVM`), dense for those that ship with scikit-learn (`BUNDLED`).

    LIBSVM files, plain or compressed (.bz2, .gz), are looked up in the folder named by the environment variable
    DCOPT_DATA. Labels are as in the file. `normalize` scales every row to ‖a_i‖ = 1 (empty rows stay empty).
    """
    X, y = _load(pick("name", name, (*LIBSVM, *BUNDLED)))
    return _normalized(X) if normalize else X, y


def load_libsvm(path: str | Path, *, n_features: int | None = None, normalize: bool = False) -> tuple[Any, Any]:
    """(X, y) from a LIBSVM text file, plain or compressed (.bz2, .gz); indices start at 1."""
    if not Path(path).is_file():
        raise BadInput(str(path), "is not a file")
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
    except ValueError as why:
        raise BadInput(str(path), f"is not LIBSVM text ({why})") from None
    return _normalized(X) if normalize else X, y


def _normalized(X: Any) -> Any:
    from sklearn.preprocessing import normalize

    return normalize(X)


def _load(name: str) -> tuple[Any, Any]:
    if name in BUNDLED:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y
    path = _file(name)
    if path is None:
        folder = os.environ.get("DCOPT_DATA")
        raise BadSettings("name", name, f"a set whose file is in DCOPT_DATA (now {folder!r}), or one of {BUNDLED}")
    return load_libsvm(path, n_features=LIBSVM[name])


def _file(name: str) -> Path | None:
    folder = os.environ.get("DCOPT_DATA")
    if not folder:
        return None
    return next((path for end in _ENDINGS if (path := Path(folder) / (name + end)).is_file()), None)
