"""`make bench-check`: what has become slower, as ratios to SciPy, measured turn by turn and compared with kept ones.

    python benchmarks/check.py            now, kept, change; exit code 1 if something is more than 1.3 times slower
                                          (1.6 times where processor or versions are others than those kept)
    python benchmarks/check.py --keep     the ratios of now become those in benchmarks/kept.json

A ratio of two things that run in turns on the same data moves little when the machine is busy, and is tried three times
before it counts as slower; it does depend on the processor and on the versions, which are kept with it. One thread.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

ONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")} | {"DCOPT_THREADS": "1"}
if __name__ == "__main__" and any(os.environ.get(key) != one for key, one in ONE.items()):  # read when libraries load
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE)

import datetime  # noqa: E402
import platform  # noqa: E402

import numba  # noqa: E402
import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import step  # noqa: E402

import dcopt  # noqa: E402
from dcopt.datasets.named import available  # noqa: E402
from dcopt.estimators import PAGE  # noqa: E402
from dcopt.regularizers import L1, MCP, Exponential  # noqa: E402

KEPT = Path(__file__).with_name("kept.json")
ROUNDS, LONG, ATTEMPTS = 9, 1.0, 3  # at least so many rounds, and so many seconds of them
SLOWER, ELSEWHERE = 1.3, 1.6
Pair = tuple[Callable[[], object], Callable[[], object]]  # ours, SciPy's


def pairs() -> dict[str, Pair]:
    """What is compared: each pair does about the same amount of work on the same data."""
    name, W, v = step.data()
    A, y = a9a()
    lam = 1e-2 * float(np.abs(A.T @ y).max()) / (2 * len(y))
    rng = np.random.default_rng(0)
    x, z, w = rng.normal(size=W.shape[1]), rng.normal(size=A.shape[1]), rng.random(A.shape[0])
    f, g = dcopt.erm(W, v, "logistic").f, dcopt.erm(A, y, "logistic").f
    assert f is not None and g is not None
    page = dcopt.erm(W, v, "squared-sigmoid", Exponential(lam=1 / len(v), alpha=step.ALPHA))
    few, p = 300, 1.0 / step.B_SMALL

    def solve(penalty: object) -> Callable[[], object]:
        P = dcopt.erm(A, y, "logistic", penalty)
        return lambda: dcopt.solve(P, "dca-local", tol=1e-6, measure="criticality", passes=1e3, seed=0, trace=None)

    def gradients(many: int, B: sp.csr_matrix, labels: np.ndarray, at: np.ndarray) -> Callable[[], object]:
        return lambda: [B.T @ (-labels / (1.0 + np.exp(labels * (B @ at)))) for _ in range(many)]

    return {
        f"full gradient, {name} / Ax, slopes, Aᵀc": (lambda: f.all().value_grad(x), gradients(1, W, v, x)),
        "Gram matrix, a9a / Aᵀ diag(w) A": (
            lambda: g.a.can().gram(w, np.arange(A.shape[1])),  # type: ignore[union-attr]
            lambda: (A.T @ A.multiply(w[:, None]).tocsr()).toarray(),
        ),
        f"{few} dca-page steps, {name} / row slicing": (
            lambda: dcopt.solve(page, PAGE(p=p, b_small=step.B_SMALL), steps=few, seed=0, trace=None),
            lambda: step.slicing(W, v, 1 / len(v), page.G.L, few, p),
        ),
        "dca-local, a9a, MCP, to 1e-6 / 20 gradients": (solve(MCP(lam)), gradients(20, A, y, z)),
        "dca-local, a9a, l1, to 1e-6 / 20 gradients": (solve(L1(lam)), gradients(20, A, y, z)),
        "erm, a9a / 1 gradient": (lambda: dcopt.erm(A, y, "logistic", L1(lam)), gradients(1, A, y, z)),
    }


def a9a() -> tuple[sp.csr_matrix, np.ndarray]:
    """a9a, or a random matrix of its shape and density."""
    if available("a9a"):
        X, y = dcopt.load_dataset("a9a")
        return sp.csr_matrix(X), y
    rng = np.random.default_rng(0)
    X = sp.random(32561, 123, density=0.1128, format="csr", random_state=rng, data_rvs=lambda k: np.ones(k))
    return X, np.where(rng.random(32561) < 0.24, 1.0, -1.0)


def ratio(pair: Pair) -> float:
    """Ours / SciPy's, each the least of rounds in which both run, one after the other: those that nothing disturbed."""
    for function in pair:  # compiles
        function()
    times: tuple[list[float], list[float]] = ([], [])
    while len(times[0]) < ROUNDS or sum(times[0]) + sum(times[1]) < LONG:
        for function, mine in zip(pair, times, strict=True):
            began = perf_counter()
            function()
            mine.append(perf_counter() - began)
    return min(times[0]) / min(times[1])


def processor() -> str:
    """Which one, as far as the system says: its name alone does not tell one generation from the next."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    pairs = dict(line.split(":", 1) for line in info.read_text().split("\n\n")[0].splitlines() if ":" in line)
    said = {key.strip(): value.strip() for key, value in pairs.items()}
    return " ".join(said.get(key, "?") for key in ("vendor_id", "cpu family", "model", "cache size"))


def versions() -> dict[str, str]:
    """What the ratios depend on beside the code."""
    return {
        "date": str(datetime.date.today()), "python": platform.python_version(), "numpy": np.__version__,
        "scipy": scipy.__version__, "numba": numba.__version__, "machine": platform.machine(),
        "processor": processor(),
        "data": "LIBSVM" if available("a9a") and available("w8a") else "synthetic",
    }  # fmt: skip


def main() -> int:
    """The table; 1 if something is slower."""
    keep = "--keep" in sys.argv
    kept = json.loads(KEPT.read_text()) if KEPT.exists() and not keep else {"ratios": {}}
    own = versions()
    other = {k: v for k, v in kept.get("versions", own).items() if k != "date" and own[k] != v}
    limit = ELSEWHERE if other else SLOWER
    if other:
        here = {k: own[k] for k in other}
        print(f"kept with {other}, now {here}: a change of up to {ELSEWHERE} may come from there\n")
    slower, found = [], {}
    print(f"| ours / SciPy's, one thread | now | kept {kept.get('versions', {}).get('date', '')} | change |")
    print("|---|---|---|---|")
    for key, pair in pairs().items():
        before, tries = kept["ratios"].get(key), [ratio(pair)]
        while len(tries) < ATTEMPTS and (keep or (before is not None and min(tries) > limit * before)):
            tries.append(ratio(pair))
        now = float(np.median(tries)) if keep else min(tries)
        found[key] = round(now, 4)
        change = "new" if before is None else f"{now / before:.2f}"
        if before is not None and now > limit * before:
            slower.append(key)
            change += " slower"
        print(f"| {key} | {now:.3f} | {'' if before is None else f'{before:.3f}'} | {change} |", flush=True)
    if keep:
        KEPT.write_text(json.dumps({"versions": own, "ratios": found}, indent=2, ensure_ascii=False) + "\n")
    if slower:
        print(f"\nslower than {limit} times the kept ratio, three times in a row: " + "; ".join(slower))
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main())
