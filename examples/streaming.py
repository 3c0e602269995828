"""Learning from a stream: samples are seen once, budgets are in samples, certificates come from a held-out sample.

Run with `python examples/streaming.py`; explained in docs/streams.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dcopt

TRUTH = np.array([1.5, -1.0, 0.8] + [0.0] * 17)


def clicks(seed: int, samples: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of 1000 samples: 20 features of which three matter, labels "no" and "yes"."""
    rng = np.random.default_rng(seed)
    for _ in range(0, samples, 1000):
        X = rng.uniform(-1.0, 1.0, (1000, 20))
        yield X, np.where(rng.random(1000) < 1.0 / (1.0 + np.exp(-X @ TRUTH)), "yes", "no")


def fit(method: str, samples: int = 200_000, budget: int = 150_000) -> dcopt.Result:
    """A sparse logistic model; the stream may end before the budget does."""
    penalty = dcopt.regularizers.SCAD(lam=0.02)
    P = dcopt.stream(clicks(0, samples), "logistic", penalty, classes=["no", "yes"], holdout=4096)
    return dcopt.solve(P, method, samples=budget, measure="criticality", seed=0)


def main() -> None:
    """Two methods, and a stream that is too short."""
    for method in ("dca-page", "online-dca"):
        result = fit(method)
        kept = np.flatnonzero(result.x).tolist()
        print(f"{method:10} {result.status.name}: {result.certificate}; features {kept}")
    short = fit("dca-page", samples=50_000)
    print(f"{'too short':10} {short.status.name}: {short.message}")


if __name__ == "__main__":
    main()
