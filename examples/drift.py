"""A source that changes: python examples/drift.py [figure.png]

partial_fit sees every sample once. `drift_` compares the loss of recent samples, before they were learned from, with
that of the past: it stays near 1 until the source changes, half-way here, and rises at once when it does.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

BATCH = 1000


def batches(count: int, change: int, seed: int = 0):
    """20 features, three matter; from the batch `change` on three others do."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        truth = np.zeros(20)
        truth[[0, 1, 2] if k < change else [5, 6, 7]] = 3.0, -2.0, 2.0
        X = rng.uniform(-1.0, 1.0, (BATCH, 20))
        yield X, rng.random(BATCH) < 1.0 / (1.0 + np.exp(-X @ truth))


def watch(count: int = 80, change: int = 40) -> tuple[dcopt.DCClassifier, np.ndarray, np.ndarray]:
    """The model at the end, and drift and coefficients after every batch."""
    model = dcopt.DCClassifier(penalty="scad", lam=0.01, holdout=256, random_state=0)
    drift, coefs = [], []
    for X, y in batches(count, change):
        model.partial_fit(X, y, classes=[False, True])
        drift.append(model.drift_)
        coefs.append(model.coef_[0])
    return model, np.array(drift), np.array(coefs)


def main(figure_path: str | None = None) -> None:
    count, change = 80, 40
    model, drift, coefs = watch(count, change)
    alarm = change + int(np.argmax(drift[change:] > 1.1))
    print(f"drift_ is at most {drift[10:change].max():.2f} before the change, {drift[change:].max():.2f} after it")
    print(f"the change after {change * BATCH} samples is seen after {(alarm + 1 - change) * BATCH} more (drift_ > 1.1)")
    print(model.certificate_)
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        samples = BATCH * np.arange(1, count + 1)
        figure, axes = plt.subplots(2, 1, figsize=(7, 4.2), sharex=True, layout="constrained")
        for j in range(20):
            old, new = j < 3, 5 <= j < 8
            colour = "#0072B2" if old else "#D55E00" if new else "0.8"
            axes[0].plot(samples, coefs[:, j], color=colour, lw=1.2 if old or new else 0.6)
        axes[0].set_ylabel("coefficients")
        axes[1].plot(samples, drift, color="0.2")
        axes[1].axhline(1.1, color="0.6", ls=":", lw=1)
        axes[1].set(ylabel="drift_", xlabel="samples")
        for axis in axes:
            axis.axvline(change * BATCH, color="0.6", ls="--", lw=1)
        axes[0].set_title("blue: what matters before the dashed line, orange: after it", fontsize=9)
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
