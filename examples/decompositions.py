"""One objective, three G, and "auto": python examples/decompositions.py [figure.png]

F against passes for DCA-PAGE and DCA-SVRG with the paper's G = κ/2 ‖x‖², with a diagonal one, and in the metric of f's
curvature, where F at the end of every epoch decides. a9a if it is at hand, else rows that are made up.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dcopt
from dcopt.datasets.named import available
from dcopt.regularizers import Exponential

METHODS = ("dca-page", "dca-svrg")
KINDS = ("scalar", "diagonal", "local")
PASSES = 12.0


def data() -> tuple[Any, Any, str]:
    """a9a with rows of length 1, or 8000 rows of 40 binary columns, of which some are rare."""
    if available("a9a"):
        X, y = dcopt.load_dataset("a9a", normalize=True)
        return X, y, "a9a"
    draw = np.random.default_rng(0)
    X = (draw.random((8000, 40)) < np.geomspace(0.5, 0.02, 40)).astype(float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    z = X @ np.where(np.arange(40) % 3 == 0, 6.0, -2.0)
    return X, np.where(z + draw.logistic(size=8000) > 0, 1, -1), "made-up rows"


def curves(X: Any, y: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Passes and F, by the name of the curve."""
    found = {}
    r = Exponential(lam=1 / X.shape[0], alpha=5.0)
    for kind in KINDS:
        P = dcopt.erm(X, y, "squared-sigmoid", r, decomposition=kind)
        for method in METHODS:
            run = dcopt.solve(P, method, passes=PASSES, trace=0.25, seed=0)
            found[f"{method}, {kind}"] = run.trace["passes"], run.trace["F"]
    run = dcopt.solve(dcopt.erm(X, y, "squared-sigmoid", r), "auto", passes=PASSES, trace=1e-9, seed=0)
    return found | {"auto": (run.trace["passes"], run.trace["F"])}


def main(path: str | None = None) -> None:
    X, y, name = data()
    found = curves(X, y)
    print(f"{name}: F after {PASSES:g} passes")
    for label, (passes, F) in found.items():
        print(f"{label:20} {[f for p, f in zip(passes, F, strict=True) if p <= PASSES][-1]:.5f}")
    if path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        fig, ax = plt.subplots(figsize=(7, 4))
        colors = dict(zip((*KINDS, "auto"), ("C7", "C0", "C3", "k"), strict=True))
        for label, (passes, F) in found.items():
            ax.plot(passes, F, color=colors[label.split(", ")[-1]], ls="--" if "svrg" in label else "-", label=label)
        ax.set(xlabel="passes over the data", ylabel="F", title=f"{name}: squared sigmoid, exponential penalty",
               xlim=(0, PASSES), ylim=(None, 1.4 * min(F[-1] for _, F in found.values())))  # fmt: skip
        ax.legend(fontsize=8)
        fig.tight_layout()
        fig.savefig(path, dpi=120)
        print("figure:", path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
