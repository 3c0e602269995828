"""Principal directions of a stream: python examples/streaming_pca.py [figure.png]

Rows come once. The angle between the k directions found so far and the true ones, against the rows seen: DCA-PAGE,
DCA on batches that grow, Oja's rule with two rates, and the singular vectors of all rows so far, which are all that the
rows tell.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

D, K = 30, 5
SCALES = 1.3 ** -np.arange(D)  # The deviations of the features; the first K are the principal directions.
RATE = 20.0  # of Oja's rule: the best of 3, 10, 20, 40, 100 on the seeds 100 to 102; about 1/(λ_K − λ_{K+1}).


def rows(seed: int):
    rng = np.random.default_rng(seed)
    return lambda b: rng.normal(size=(b, D)) * SCALES


def start(seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng([seed, 1]).normal(size=(D, K)))[0]


def sine(V: np.ndarray) -> float:
    """The sine of the largest angle between the span of V and that of the first K unit vectors."""
    Q = np.linalg.qr(V)[0]
    return float(np.linalg.norm(Q[K:], 2))


def by_dca(method: str, samples: int, seed: int) -> tuple[list[int], list[float]]:
    """Samples seen, those held out included, and the sine after them."""
    P = dcopt.problems.pca_stream(rows(seed), K)
    seen, sines, cost = [], [], P.sum.stream.drawn
    for state in dcopt.iterate(P, method, seed=seed, x0=start(seed)):
        drawn = P.sum.stream.drawn
        if drawn > samples:
            break
        if drawn >= 1.1 * cost:
            cost = drawn
            seen.append(drawn)
            sines.append(sine(state.x))
    return seen, sines


def by_oja(samples: int, seed: int, rate: float) -> tuple[list[int], list[float]]:
    """x + rate/(t + 1000) a aᵀx for every row a, orthonormal again after every tenth."""
    A, V, seen, sines = rows(seed)(samples), start(seed), [], []
    for t, a in enumerate(A, 1):
        V = V + rate / (t + 1000) * np.outer(a, a @ V)
        if t % 10 == 0:
            V = np.linalg.qr(V)[0]
        if t >= 1.1 * (seen[-1] if seen else 1000):
            seen.append(t)
            sines.append(sine(V))
    return seen, sines


def by_svd(samples: int, seed: int) -> tuple[list[int], list[float]]:
    """The leading eigenvectors of the mean of aaᵀ over all rows so far."""
    draw, M, total, seen, sines = rows(seed), np.zeros((D, D)), 0, [], []
    while total < samples:
        A = draw(max(1000, total // 10))
        M, total = M + A.T @ A, total + len(A)
        seen.append(total)
        sines.append(sine(np.linalg.eigh(M)[1][:, -K:]))
    return seen, sines


def curves(samples: int, seed: int) -> dict[str, tuple[list[int], list[float]]]:
    return {
        "dca-page": by_dca("dca-page", samples, seed),
        "online-dca": by_dca("online-dca", samples, seed),
        "Oja, tuned rate": by_oja(samples, seed, RATE),
        "Oja, a tenth of it": by_oja(samples, seed, RATE / 10),
        "all rows so far": by_svd(samples, seed),
    }


def main(figure_path: str | None = None, samples: int = 100_000, seeds: int = 5) -> None:
    every = [curves(samples, seed) for seed in range(seeds)]
    for name in every[0]:
        last = [of[name][1][-1] for of in every]
        print(f"{name:18} sine of the angle after {every[0][name][0][-1]} rows: median {np.median(last):.4f}, "
              f"{min(last):.4f} to {max(last):.4f} in {seeds} runs")  # fmt: skip
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
        colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "0.3")
        for colour, name in zip(colours, every[0], strict=True):
            for i, of in enumerate(every):
                axis.loglog(*of[name], color=colour, lw=1, alpha=0.7, label=name if i == 0 else None)
        axis.set(xlabel="rows seen", ylabel="sine of the angle to the truth")
        axis.legend(fontsize=8, frameon=False, loc="lower left")
        figure.savefig(figure_path, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:2])
