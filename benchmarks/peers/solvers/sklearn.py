"""scikit-learn, as benchmark_utils/solvers.py calls it: liblinear and SAGA (logistic), Lasso (least squares)."""

from benchmark_utils.base import TableSolver


class Solver(TableSolver):
    """newton-cholesky and the others have no l1."""

    name = "sklearn"
    requirements = ["pip::scikit-learn"]
    parameters = {"variant": ["liblinear", "saga", "sklearn-lasso"]}
