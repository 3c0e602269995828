"""Problems as one-line constructors. A new one is a file and a line in each table, which puts it under the laws."""

from __future__ import annotations

from collections.abc import Callable

from ..problem import Problem
from ..xp import Array
from . import clustering as _clustering
from . import discrepancy as _discrepancy
from . import matrix_completion as _completion
from . import nmf as _nmf
from . import pca as _pca
from . import phase_retrieval as _phase
from . import pu_learning as _pu
from . import ramp_svm as _ramp
from . import robust_regression as _robust
from . import sparse_regression as _sparse
from . import trend as _trend
from . import trimmed_lasso as _trimmed
from . import two_layer as _two_layer
from .clustering import clustering, clustering_start, clustering_swap, clusters_of
from .cox import cox
from .difference import difference
from .discrepancy import discrepancy
from .discrepancy_weights import Reweighting, discrepancy_weights
from .matrix_completion import largest_singular_value, matrix_completion
from .nmf import nmf, nmf_start
from .nmf_blocks import nmf_blocks
from .pca import pca, pca_start
from .pca_stream import pca_stream
from .phase_retrieval import phase_retrieval, spectral_start
from .pu_learning import pu_learning
from .ramp_svm import ramp_svm
from .robust_regression import robust_regression, robust_start, scale_of
from .sharp_corner import SharpCorner, sharp_corner
from .sparse_regression import largest_lam, sparse_regression
from .trend import trend
from .trimmed_lasso import trimmed_lasso
from .two_layer import two_layer, two_layer_output, two_layer_start

PROBLEMS: dict[str, Callable[[int], Problem]] = {  # The laws run on a small sample of each name, made from a seed.
    "phase-retrieval": _phase.sample,
    "phase-retrieval:bregman": _phase.bregman_sample,
    "nmf": _nmf.sample,
    "nmf:bregman": _nmf.bregman_sample,
    "pca": _pca.sample,
    "pca:k": _pca.basis_sample,
    "discrepancy": _discrepancy.sample,
    "discrepancy:source": _discrepancy.source_sample,
    "matrix-completion": _completion.sample,
    "robust-regression": _robust.sample,
    "pu-learning": _pu.sample,
    "sparse-regression": _sparse.sample,
    "trimmed-lasso": _trimmed.sample,
    "trend": _trend.sample,
    "ramp-svm": _ramp.sample,
    "clustering": _clustering.sample,
    "clustering:smoothed": _clustering.smooth_sample,
    "two-layer": _two_layer.sample,
    "two-layer:difference": _two_layer.difference_sample,
    "two-layer:scalar": _two_layer.scalar_sample,
    "two-layer:squared": _two_layer.squared_sample,
}

OBJECTIVES: dict[str, Callable[[int], Callable[[Array], float]]] = {  # F of the same sample, in plain NumPy.
    "phase-retrieval": _phase.objective,
    "phase-retrieval:bregman": _phase.objective,
    "nmf": _nmf.objective,
    "nmf:bregman": _nmf.objective,
    "pca": _pca.objective,
    "pca:k": _pca.basis_objective,
    "discrepancy": _discrepancy.objective,
    "discrepancy:source": _discrepancy.source_objective,
    "matrix-completion": _completion.objective,
    "robust-regression": _robust.objective,
    "pu-learning": _pu.objective,
    "sparse-regression": _sparse.objective,
    "trimmed-lasso": _trimmed.objective,
    "trend": _trend.objective,
    "ramp-svm": _ramp.objective,
    "clustering": _clustering.objective,
    "clustering:smoothed": _clustering.smooth_objective,
    "two-layer": _two_layer.objective,
    "two-layer:difference": _two_layer.objective,
    "two-layer:scalar": _two_layer.objective,
    "two-layer:squared": _two_layer.squared_objective,
}

__all__ = [
    "OBJECTIVES", "PROBLEMS", "Reweighting", "SharpCorner", "clustering", "clustering_start", "clustering_swap",
    "clusters_of", "cox", "difference", "discrepancy", "discrepancy_weights", "largest_lam", "largest_singular_value",
    "matrix_completion", "nmf", "nmf_blocks", "nmf_start", "pca", "pca_start", "pca_stream", "phase_retrieval",
    "pu_learning", "ramp_svm", "robust_regression", "robust_start", "scale_of", "sharp_corner", "sparse_regression",
    "spectral_start", "trend", "trimmed_lasso", "two_layer", "two_layer_output", "two_layer_start",
]  # fmt: skip
