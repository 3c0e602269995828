"""The data sets, and what is done to them: the same for every solver."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

LOGISTIC = ("a9a", "w8a", "connect-4", "news20", "sector.scale", "madelon", "colon-cancer")
SQUARED = ("madelon", "cadata", "dense", "sparse")  # the last two are synthetic
DATA = {"logistic": LOGISTIC, "squared": SQUARED}
_DENSE = 0.5  # share of entries that are not 0 from which a matrix is dense, for every solver


def load(name: str, loss: str, quick: bool = False) -> tuple[Any, np.ndarray]:
    """(X, y): X in CSR or C order, float64; prepared once and kept as .npz, so that a child only reads it."""
    kept = folder() / f"{name}-{loss}{'-quick' if quick else ''}.npz"
    if not kept.exists():
        X, y = _prepare(name, loss, quick)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape} if sp.issparse(X) else {
            "X": X}  # fmt: skip
        new = kept.with_suffix(f".{os.getpid()}.npz")
        np.savez(new, y=y, **parts)
        os.replace(new, kept)
    return read(kept)


def folder() -> Path:
    """Where prepared data is kept: PEERS_CACHE, or a folder for temporary files."""
    path = Path(os.environ.get("PEERS_CACHE") or Path(tempfile.gettempdir()) / "dcopt-peers")
    path.mkdir(parents=True, exist_ok=True)
    return path


def read(path: Path | str) -> tuple[Any, np.ndarray]:
    """What `load` has kept."""
    with np.load(path) as kept:
        if "X" in kept:
            return kept["X"], kept["y"]
        return sp.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])), kept["y"]


def _prepare(name: str, loss: str, quick: bool) -> tuple[Any, np.ndarray]:
    if name in ("dense", "sparse"):
        return _synthetic(name, 10**4 if quick else 10**5, 10**5 if name == "sparse" and not quick else 10**3)
    import dcopt

    X, y = dcopt.load_dataset(name)
    X = sp.csr_matrix(X, dtype=np.float64)
    if name in ("madelon", "cadata"):
        X = _standardized(X.toarray())
    elif X.nnz >= _DENSE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    if name == "cadata":
        y = _standardized(np.asarray(y, np.float64))
    else:
        y = np.where(np.isin(y, _positive(name, np.unique(y))), 1.0, -1.0)
    if quick:
        rows = np.random.default_rng(0).permutation(len(y))[:500]
        X, y = X[rows], y[rows]
    return X, y


def _positive(name: str, classes: np.ndarray) -> np.ndarray:
    """The classes that are +1 against the rest."""
    if name == "news20":
        return classes[:10]
    if name == "sector.scale":
        return classes[: len(classes) // 2]
    return np.array([1.0])


def _standardized(A: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1; constant ones become 0."""
    A = A - A.mean(axis=0)
    scale = A.std(axis=0)
    return A / np.where(scale > 0.0, scale, 1.0)


def _synthetic(name: str, n: int, d: int) -> tuple[Any, np.ndarray]:
    """Gaussian entries, columns of mean square 1; 50 (dense) or 100 (sparse, density 10⁻³) true ones; Var ratio 3."""
    rng = np.random.default_rng(0)
    if name == "dense":
        X: Any = rng.normal(size=(n, d))
    else:
        density = 1e-3 if n * d > 10**8 else 1e-2
        many = int(density * n * d)
        X = sp.coo_matrix((rng.normal(size=many) / density**0.5, (rng.integers(0, n, many), rng.integers(0, d, many))),
                          shape=(n, d)).tocsr()  # fmt: skip
    true = rng.permutation(d)[: 50 if name == "dense" else 100]
    x = np.zeros(d)
    x[true] = rng.choice([-1.0, 1.0], len(true)) * rng.uniform(0.5, 1.5, len(true))
    z = X @ x
    return X, z + np.sqrt(z.var() / 3.0) * rng.normal(size=n)
