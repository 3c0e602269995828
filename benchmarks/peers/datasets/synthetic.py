"""Least squares on 10⁵ × 10³ dense or 10⁵ × 10⁵ sparse Gaussian data, 50 or 100 true coefficients; `quick`: smaller."""

from benchmark_utils.problems import load
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """The seed is fixed."""

    name = "synthetic"
    requirements = ["numpy", "scipy"]
    parameters = {"kind": ["dense", "sparse"], "quick": [False]}
    test_parameters = {"kind": ["dense"], "quick": [True]}

    def get_data(self):
        X, y = load(self.kind, "squared", self.quick)
        return {"X": X, "y": y, "loss": "squared"}
