"""A matrix from a quarter of its entries: python examples/matrix_completion.py [figure.png]

The nuclear norm makes the rank low and shrinks the singular values that are kept. With the k largest left out of the
penalty (Ky Fan's norm subtracted) they are not. λ is chosen on entries that were held out; errors are of others.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

M, N, K, NOISE = 120, 100, 5, 0.5


def data(seed: int, share: float = 0.25):
    """A matrix of rank K with noise: places, and the numbers there, to fit, to choose λ and to test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(M, K)) @ rng.normal(size=(K, N))
    places = rng.permutation(M * N)[: int((share + 0.1) * M * N)]
    i, j = np.divmod(places, N)
    v = X[i, j] + NOISE * rng.normal(size=len(i))
    fit = int(share * M * N)
    half = (len(i) + fit) // 2
    return [(i[part], j[part], v[part]) for part in (slice(fit), slice(fit, half), slice(half, None))]


def rmse(X: np.ndarray, part) -> float:
    i, j, v = part
    return float(np.sqrt(np.mean((X[i, j] - v) ** 2)))


def path(fit, rank: int, points: int = 20) -> tuple[np.ndarray, list[np.ndarray]]:
    """λ from the one at which the nuclear norm gives 0, and the solutions, each from the one before."""
    top = dcopt.problems.largest_singular_value(dcopt.problems.matrix_completion(*fit, (M, N), rank, 0.0))
    lams, xs, x = top * np.logspace(0, -2.5, points), [], np.zeros((M, N))
    for lam in lams:
        P = dcopt.problems.matrix_completion(*fit, (M, N), rank, lam)
        x = dcopt.solve(P, "pdcae", tol=1e-4, passes=300, x0=x, trace=None).x
        xs.append(x)
    return lams / top, xs


def compare(seed: int, points: int = 20):
    """For the nuclear norm (k = 0) and for k = K: λ, the errors on test entries, and the one of the chosen λ."""
    fit, choose, test = data(seed)
    out = {}
    for rank in (0, K):
        lams, xs = path(fit, rank, points)
        best = int(np.argmin([rmse(x, choose) for x in xs]))
        kept = dcopt.regularizers.NuclearMinusKyFan(1.0).rank(xs[best])
        out[rank] = (lams, [rmse(x, test) for x in xs], best, kept)
    return out


def main(figure_path: str | None = None, seeds: int = 5) -> None:
    every = [compare(seed) for seed in range(seeds)]
    print(f"{M} x {N} of rank {K}, a quarter of the entries, noise {NOISE}: error on entries that were not seen")
    for rank in (0, K):
        errors = [of[rank][1][of[rank][2]] for of in every]
        ranks = [of[rank][3] for of in every]
        name = "nuclear norm" if rank == 0 else f"nuclear norm minus the {rank} largest"
        said = f"{np.mean(errors):.4f} ({min(errors):.4f} to {max(errors):.4f}), rank {min(ranks)} to {max(ranks)}"
        print(f"{name:32} {said}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
        for rank, colour, name in ((0, "#D55E00", "nuclear norm"), (K, "#0072B2", f"minus the {K} largest")):
            for i, of in enumerate(every):
                lams, errors, best, _ = of[rank]
                axis.semilogx(lams, errors, color=colour, lw=1, alpha=0.7, label=name if i == 0 else None)
                axis.plot(lams[best], errors[best], "o", color=colour, ms=5)
        axis.axhline(NOISE, color="0.6", ls=":", lw=1)
        axis.text(axis.get_xlim()[0] * 1.1, NOISE * 1.03, "noise", color="0.4", fontsize=8, va="bottom")
        axis.set(xlabel="λ / λ at which the nuclear norm gives 0", ylabel="error on entries not seen", ylim=(0.0, None))
        axis.set_title("points: the λ chosen on held-out entries", fontsize=9)
        axis.legend(fontsize=8, frameon=False)
        figure.savefig(figure_path, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:2])
