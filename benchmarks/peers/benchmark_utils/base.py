"""What all solvers of the benchopt benchmark have in common: they are those of the tables."""

from benchopt import BaseSolver

from .solvers import SOLVERS, quietly


class TableSolver(BaseSolver):
    """One of SOLVERS; a subclass gives its name, and its variants as the parameter `variant`."""

    sampling_strategy = "tolerance"

    @property
    def peer(self):
        return SOLVERS[getattr(self, "variant", self.name)]

    def skip(self, cell):
        if not self.peer.solves(cell.loss, cell.penalty):
            return True, f"not {cell.loss} with {cell.penalty}"
        why = self.peer.refuses(cell)
        return why is not None, why

    def set_objective(self, cell):
        self.at = self.peer.make(cell)

    def warm_up(self):
        self.run_once(0.1)

    def get_next(self, tol):
        return min(tol, 1.0) / 10.0

    def pre_run_hook(self, tol):
        self.timed = self.at(min(tol, 0.1))

    def run(self, tol):
        try:
            self.x = quietly(self.timed)
        except Exception:  # this tolerance is too small for it, the one before was not
            if not hasattr(self, "x"):
                raise

    def get_result(self):
        return {"x": self.x}
