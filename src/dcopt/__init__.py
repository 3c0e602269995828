"""dcopt: stochastic optimization of differences of convex functions.

min F(x) = G(x) − H(x) + r1(x) − r2(x), with H a mean of many components: DCA-PAGE and the methods it is compared
with, scikit-learn-sized problems to streams, and never CONVERGED without a recomputed certificate.
"""

from typing import TYPE_CHECKING, Any

from . import adaptive, estimators, losses, measures, problems, regularizers
from .datasets.named import load_dataset, load_libsvm
from .datasets.save import save_libsvm
from .datasets.shards.pack import pack
from .errors import (
    BadFile,
    BadInput,
    BadModel,
    BadSettings,
    CannotFetch,
    CannotSolve,
    ColumnScaleWarning,
    DcoptError,
    LostWorkers,
    NeedsFiniteSum,
    ResumeMismatch,
)
from .laws import LawBroken, check
from .method import Method
from .methods import METHODS
from .problem import Problem
from .problems.erm import erm
from .problems.stream import stream
from .runs import stop
from .runs.resume import resume
from .shards import Shards
from .shards import open_set as open
from .solve import iterate, solve
from .state import Certificate, Result, State
from .status import Status
from .store import load_model, peek, save_model
from .sums import Function, components
from .sums.from_dask import from_dask
from .theory.estimate import estimate_constants
from .theory.plan import Plan, plan
from .version import __version__ as __version__

if TYPE_CHECKING:
    from .fit import path
    from .learn import (
        DCClassifier,
        DCClassifierCV,
        DCFormula,
        DCRegressor,
        DCRegressorCV,
        DCSurvival,
        DCSurvivalCV,
        PathResult,
        adaptive_weights,
        bootstrap_inclusion,
        stability_selection,
    )

__all__ = [
    "METHODS",
    "BadFile",
    "BadInput",
    "BadModel",
    "BadSettings",
    "CannotFetch",
    "CannotSolve",
    "Certificate",
    "ColumnScaleWarning",
    "DCClassifier",
    "DCClassifierCV",
    "DCFormula",
    "DCRegressor",
    "DCRegressorCV",
    "DCSurvival",
    "DCSurvivalCV",
    "DcoptError",
    "Function",
    "LawBroken",
    "LostWorkers",
    "Method",
    "NeedsFiniteSum",
    "PathResult",
    "Plan",
    "Problem",
    "Result",
    "ResumeMismatch",
    "Shards",
    "State",
    "Status",
    "adaptive",
    "adaptive_weights",
    "bootstrap_inclusion",
    "check",
    "components",
    "erm",
    "estimate_constants",
    "estimators",
    "from_dask",
    "iterate",
    "load_dataset",
    "load_libsvm",
    "load_model",
    "losses",
    "measures",
    "open",
    "pack",
    "path",
    "peek",
    "plan",
    "problems",
    "regularizers",
    "resume",
    "save_libsvm",
    "save_model",
    "solve",
    "stability_selection",
    "stop",
    "stream",
]

_LEARN = (
    "DCClassifier", "DCClassifierCV", "DCFormula", "DCRegressor", "DCRegressorCV", "DCSurvival", "DCSurvivalCV",
    "PathResult", "adaptive_weights", "bootstrap_inclusion", "path", "stability_selection",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """The estimators at first use: scikit-learn takes longer to import than everything else here."""
    if name not in _LEARN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import learn

    return getattr(learn, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LEARN})
