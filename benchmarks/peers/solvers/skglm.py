"""skglm, as benchmark_utils/solvers.py calls it: three of its solvers."""

from benchmark_utils.base import TableSolver


class Solver(TableSolver):
    """ProxNewton (logistic), AndersonCD, GramCD (least squares)."""

    name = "skglm"
    requirements = ["pip::skglm"]
    parameters = {"variant": ["skglm-newton", "skglm-anderson", "skglm-gram"]}
