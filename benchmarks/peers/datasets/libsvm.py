"""LIBSVM's sets, from DCOPT_DATA or downloaded; classes against rest and columns scaled as the README says."""

from benchmark_utils.problems import load
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """X is CSR, or dense where more than half of it is not 0."""

    name = "libsvm"
    requirements = ["dcopt"]
    parameters = {
        "set, loss": [
            *((name, "logistic") for name in ("a9a", "w8a", "connect-4", "news20", "sector.scale")),
            ("madelon", "logistic"), ("colon-cancer", "logistic"), ("madelon", "squared"), ("cadata", "squared"),
        ]
    }  # fmt: skip

    def get_data(self):
        X, y = load(self.set, self.loss)
        return {"X": X, "y": y, "loss": self.loss}
