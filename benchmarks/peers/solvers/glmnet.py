"""glmnet, as benchmark_utils/solvers.py calls it."""

from benchmark_utils.base import TableSolver


class Solver(TableSolver):
    """See the README for what it solves."""

    name = "glmnet"
    requirements = ["pip::python-glmnet"]
