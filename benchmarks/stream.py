"""A stream of 10^7 samples: memory, the floor of the error against b, and the same bits for three cuts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from itertools import islice
from time import perf_counter

import numpy as np

import dcopt
from dcopt.estimators import PAGE
from dcopt.regularizers import Exponential

SAMPLES, D, CHUNK = 10**7, 20, 2**12
R = Exponential(lam=0.01, alpha=5.0)
BATCHES, SEEDS, STEPS, WARM_UP = (64, 256, 1024, 4096), 16, 2000, 500
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
WEIGHTS = WEIGHTS / np.sqrt(2 * np.pi)
KAPPA = 1.5  # above L̄/2 + L_v = 0.13 + 1.17 for standard normal rows


def truth() -> np.ndarray:
    """The weights that the labels come from, none of them zero."""
    return np.random.default_rng(0).choice([-1.0, 1.0], D) * np.linspace(0.3, 0.6, D)


def chunk(seed: int, k: int, n: int = CHUNK) -> tuple[np.ndarray, np.ndarray]:
    """Samples number k n … (k + 1) n − 1: normal rows, labels of a logistic model."""
    rng = np.random.default_rng([seed, k])
    X = rng.standard_normal((n, D))
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-(X @ truth()))), 1.0, -1.0)


def blocks(seed: int, sizes: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same samples, cut into the chunks themselves, blocks of 1000, or blocks of random sizes."""
    rng, k = np.random.default_rng(1), 0
    while True:
        X, y = chunk(seed, k)
        at, k = 0, k + 1
        while at < CHUNK:
            size = {"4096": CHUNK, "1000": 1000, "random": int(rng.integers(1, 5000))}[sizes]
            yield X[at : at + size], y[at : at + size]
            at += size


def resident() -> int:
    """Bytes of this process in memory (Linux; elsewhere the peak, which is as good for growth)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def flat(sizes: str) -> tuple[dcopt.Result, float, float]:
    """A whole run; how much more memory (median, MiB) it holds in its last tenth than in its second; seconds."""
    P = dcopt.stream(blocks(0, sizes), "logistic", R, kappa=KAPPA)
    seen: list[tuple[int, int]] = []

    def watch(state: dcopt.State) -> None:
        if state.t % 1000 == 0:
            seen.append((state.spent.paper, resident()))

    began = perf_counter()
    result = dcopt.solve(P, "dca-page", samples=SAMPLES, seed=0, callbacks=[watch])
    tenths = [[size for count, size in seen if k <= 10 * count / SAMPLES < k + 1] for k in (1, 9)]
    return result, float(np.median(tenths[1]) - np.median(tenths[0])) / 2**20, perf_counter() - began


def gradient(x: np.ndarray) -> np.ndarray:
    """∇f exactly: E a σ(⟨a, x⟩) = x E σ'(|x| Z) for normal rows (Stein), and the labels' part likewise."""

    def times(v: np.ndarray) -> np.ndarray:
        s = 1.0 / (1.0 + np.exp(-np.linalg.norm(v) * NODES))
        return v * float(WEIGHTS @ (s * (1.0 - s)))

    return times(x) - times(truth())


def floor(page: PAGE, seed: int) -> float:
    """The mean of d² over a run, every eighth step after the warm-up; d is exact, no sample is involved."""
    P = dcopt.stream(blocks(seed, "4096"), "logistic", R, kappa=KAPPA, holdout=2, classes=[-1, 1])
    states = dcopt.iterate(P, page, seed=seed, x0=truth())
    points = (state.x for state in islice(states, WARM_UP, WARM_UP + STEPS, 8))
    pairs = [(x, gradient(x)) for x in points]
    return float(np.mean([R.distance(R.steepest(x, partial(np.negative, g)) - g, x) ** 2 for x, g in pairs]))


def slope(values: np.ndarray) -> float:
    """Of log(mean) against log(b)."""
    return float(np.polyfit(np.log(BATCHES), np.log(values.mean(axis=1)), 1)[0])


def main() -> list[str]:
    """Three tables."""
    lines = [f"{SAMPLES:.0e} samples, d = {D}, logistic, exponential penalty, dca-page (b = 1024, b' = 32)", ""]
    lines += ["| cut | s | samples/s | growth (MiB) | F | sha256 of x |", "|---|---|---|---|---|---|"]
    for sizes in ("4096", "1000", "random"):
        result, growth, seconds = flat(sizes)
        bits = hashlib.sha256(result.x.tobytes()).hexdigest()[:16]
        rate, F = result.spent.paper / seconds, result.certificate.F
        lines.append(f"| blocks of {sizes} | {seconds:.1f} | {rate:.2e} | {growth:.2f} | {F:.12f} | {bits} |")
    lines += ["", f"Floor: mean of the exact d² over {STEPS} steps near the solution, {SEEDS} seeds; theory: -1", ""]
    lines += ["| b | " + " | ".join(map(str, BATCHES)) + " | slope | 95 % |", "|---" * (len(BATCHES) + 3) + "|"]
    settings = {
        "b' = 32, p = 1/16": [PAGE(p=1 / 16, b_small=32, b=b) for b in BATCHES],
        "b' = √b, p = 1/b'": [PAGE(p=b**-0.5, b_small=round(b**0.5), b=b) for b in BATCHES],
    }
    for name, pages in settings.items():
        values = np.array([[floor(page, page.b * 100 + seed) for seed in range(SEEDS)] for page in pages])
        rng = np.random.default_rng(0)
        again = [slope(np.array([row[rng.integers(0, SEEDS, SEEDS)] for row in values])) for _ in range(2000)]
        low, high = np.quantile(again, [0.025, 0.975])
        shown = " | ".join(f"{row.mean():.3e}" for row in values)
        lines.append(f"| {name} | {shown} | {slope(values):.3f} | [{low:.3f}, {high:.3f}] |")
    return lines


if __name__ == "__main__":
    print("\n".join(main()))
