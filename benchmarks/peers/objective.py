"""F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + Σ_j ψ(|x_j|), λ a share of λ_max, no intercept: evaluated here, by no solver."""

import numpy as np
from benchmark_utils.measure import GAMMA, SHARES, Cell
from benchopt import BaseObjective
from benchopt.stopping_criterion import SufficientProgressCriterion


class Objective(BaseObjective):
    """`value` is F; `distance` the critical distance as a share of that at 0; `gap` the duality gap (l1)."""

    name = "Sparse models"
    min_benchopt_version = "1.6"
    requirements = ["numpy", "scipy"]
    parameters = {"penalty": list(GAMMA), "share": list(SHARES)}
    sampling_strategy = "tolerance"
    stopping_criterion = SufficientProgressCriterion(patience=12)  # two tolerances may well give the same point
    test_config = {"dataset": {"name": "synthetic", "kind": "dense", "quick": True}}

    def set_data(self, X, y, loss):
        self.cell = Cell(X, y, loss, self.penalty, self.share)

    def get_objective(self):
        return {"cell": self.cell}

    def evaluate_result(self, x):
        look = self.cell.look(x)
        return {"value": look["F"], "distance": look["distance"] / self.cell.distance0, "gap": look["gap"],
                "nonzeros": look["nonzeros"]}  # fmt: skip

    def get_one_result(self):
        return {"x": np.zeros(self.cell.X.shape[1])}
