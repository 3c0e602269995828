"""Which genes tell the tissues apart? python examples/select_genes.py [figure.png]

SCAD and the lasso on colon-cancer (62 × 2000), or on breast_cancer where that is not at hand. The lasso shrinks what
it keeps, and so it takes more features than it needs for a given loss; SCAD leaves large coefficients alone.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """Standardised columns."""
    try:
        X, y = dcopt.load_dataset("colon-cancer")
        X, name = X.toarray(), "colon-cancer"
    except dcopt.CannotFetch:
        print("colon-cancer is not at hand (its file belongs into the folder DCOPT_DATA): breast_cancer instead")
        (X, y), name = dcopt.load_dataset("breast_cancer"), "breast_cancer"
    return (X - X.mean(axis=0)) / X.std(axis=0), y, name


def fit(X: np.ndarray, y: np.ndarray, penalty: str, n_lams: int = 15) -> dcopt.DCClassifierCV:
    """λ by cross-validation."""
    model = dcopt.DCClassifierCV(penalty=penalty, n_lams=n_lams, ratio=0.2, cv=10, solver="dca-local", random_state=0)
    return model.fit(X, y)


def needed(model: dcopt.DCClassifierCV, loss: float) -> int:
    """How many features until the loss on the rows left out is as low as this."""
    return int(model.path_.nnz[np.argmax(model.cv_loss_.mean(axis=1) <= loss)])


def main(figure_path: str | None = None) -> None:
    X, y, name = data()
    models = {penalty: fit(X, y, penalty) for penalty in ("l1", "scad")}
    for penalty, model in models.items():
        size, most, loss = np.count_nonzero(model.coef_), np.abs(model.coef_).max(), model.cv_loss_.mean(axis=1).min()
        said = f"{size} of {X.shape[1]} features, the largest coefficient {most:.2f}"
        print(f"{name}, {penalty:4}: loss {loss:.3f} on the rows left out with {said}")
    both = max(model.cv_loss_.mean(axis=1).min() for model in models.values())
    print(f"for a loss of {both:.3f}: " + ", ".join(f"{name} needs {needed(m, both)}" for name, m in models.items()))
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
        for (penalty, model), mark, colour in zip(models.items(), "os", ("#0072B2", "#D55E00"), strict=True):
            loss = model.cv_loss_.mean(axis=1)
            axis.plot(model.path_.nnz, loss, mark, ls=":", lw=0.8, color=colour, label=penalty, alpha=0.7)
            axis.plot(model.path_.nnz[model.index_], loss[model.index_], mark, ms=10, mfc="none", color=colour)
        start = loss[0]  # of the model without features
        axis.set(xlabel="features in the model", ylabel="loss on the rows left out", ylim=(0, 1.2 * start), title=name)
        axis.legend()
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
