"""dcopt: stochastic optimization of differences of convex functions.

min F(x) = G(x) − H(x) + r1(x) − r2(x), with H a mean of many components: DCA-PAGE and the methods it is compared
with, scikit-learn-sized problems to streams, and never CONVERGED without a recomputed certificate.
"""

from . import estimators, losses, measures, problems, regularizers
from .data.datasets import load_dataset, load_libsvm
from .data.save import save_libsvm
from .errors import BadFile, BadInput, BadSettings, CannotFetch, CannotSolve, DcoptError, NeedsFiniteSum
from .laws import LawBroken, check
from .methods import METHODS, Method
from .online import stream
from .plan import Plan, plan
from .problem import Problem, erm
from .solve import iterate, solve
from .state import Certificate, Result, State
from .status import Status
from .sums import Function

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "BadFile",
    "BadInput",
    "BadSettings",
    "CannotFetch",
    "CannotSolve",
    "Certificate",
    "DcoptError",
    "Function",
    "LawBroken",
    "Method",
    "NeedsFiniteSum",
    "Plan",
    "Problem",
    "Result",
    "State",
    "Status",
    "check",
    "erm",
    "estimators",
    "iterate",
    "load_dataset",
    "load_libsvm",
    "losses",
    "measures",
    "plan",
    "problems",
    "regularizers",
    "save_libsvm",
    "solve",
    "stream",
]
