"""One full gradient on a synthetic CSR matrix that no cache holds, against a plain sum over the same bytes.

`python benchmarks/kernels.py [gigabytes] [columns] [entries a row]`, 2 10000 50 unless told otherwise. The columns of a
row are spread evenly, which is the worst case: none is more popular, and so nearer, than another. Speeds count the
matrix once, however often it is read. Numbers mean something on an idle machine only.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numba
import numpy as np

from dcopt.data.csr import CsrRows
from dcopt.losses import LOSSES
from dcopt.sums import LinearSum

ROUNDS = 9


def synthetic(gigabytes: float, d: int, filled: int) -> LinearSum:
    """Rows of float64 values at int32 columns, one column in each of `filled` stretches; labels −1 and +1."""
    n, rng = int(gigabytes * 1e9 / (12 * filled)), np.random.default_rng(0)
    indices, data = np.empty((n, filled), np.int32), np.empty((n, filled))
    stretch = d // filled
    for start in range(0, n, 2**16):
        part = slice(start, start + 2**16)
        indices[part] = rng.integers(0, stretch, indices[part].shape, np.int32) + stretch * np.arange(filled)
        rng.standard_normal(out=data[part])
    indptr = filled * np.arange(n + 1, dtype=np.int64)
    a = CsrRows(indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr, indices.ravel(), data.ravel(), d)
    return LinearSum(a, LOSSES["logistic"], np.where(rng.random(n) < 0.5, 1.0, -1.0))


@numba.njit(nogil=True, cache=True)
def total(a):
    """Σ a_i, one after the other"""
    s = a[0] - a[0]
    for i in range(a.size):
        s += a[i]
    return s


def plain_sum(f: LinearSum, pool: ThreadPoolExecutor, words: bool = False) -> None:
    """Values and columns once, a half of each in each of two threads.

    As words: the same bytes as integers, which may be added in any order, so that only the memory is waited for.
    """
    arrays = [part[: part.size // 4 * 4].view(np.int64) if words else part for part in (f.a.data, f.a.indices)]
    list(pool.map(total, [half for part in arrays for half in np.array_split(part, 2)]))


def two_passes(f: LinearSum, x: np.ndarray) -> np.ndarray:
    """∇f(x), all of A x before the first slope"""
    return f.a.tdot(f.loss.slope(f.a.dot(x), f.labels)) / f.n


def on(count: int, function: Callable[..., object], *args: object) -> Callable[[], object]:
    """The call, on so many threads."""

    def go() -> object:
        os.environ["DCOPT_THREADS"] = str(count)
        return function(*args)

    return go


def main(gigabytes: float = 2.0, d: int = 10_000, filled: int = 50) -> list[str]:
    """Medians over rounds in which all contenders take their turns."""
    f = synthetic(gigabytes, d, filled)
    x = np.random.default_rng(1).normal(size=d) / filled
    size = f.a.data.nbytes + f.a.indices.nbytes
    with ThreadPoolExecutor(2) as pool:
        contenders = {
            "plain sum, 2 threads": lambda: plain_sum(f, pool),
            "the same bytes as integers, 2 threads": lambda: plain_sum(f, pool, words=True),
            "∇f, 2 threads": on(2, f.all().grad, x),
            "∇f, 1 thread": on(1, f.all().grad, x),
            "f and ∇f, 2 threads": on(2, f.all().value_grad, x),
            "f and ∇f, 1 thread": on(1, f.all().value_grad, x),
            "∇f in two passes, 2 threads": on(2, two_passes, f, x),
        }
        one, two = contenders["f and ∇f, 1 thread"](), contenders["f and ∇f, 2 threads"]()
        assert one[0] == two[0] and np.array_equal(one[1], two[1])  # the bits do not depend on the threads
        np.testing.assert_allclose(one[1], contenders["∇f in two passes, 2 threads"](), rtol=1e-9, atol=1e-15)
        seconds: dict[str, list[float]] = {key: [] for key in contenders}
        for _ in range(ROUNDS):
            for key, function in contenders.items():
                began = perf_counter()
                function()
                seconds[key].append(perf_counter() - began)
    times = {key: np.array(values) for key, values in seconds.items()}
    plain, words = list(times.values())[:2]
    lines = [
        f"{datetime.date.today()}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "",
        f"| CSR of {size / 1e9:.2f} GB, {f.n} × {d}, {filled} a row (median of {ROUNDS}) | s | GB/s "
        "| of the plain sum | of the sum of integers |",
        "|---|---|---|---|---|",
    ]
    for key, t in times.items():
        shares = " | ".join(f"{100 * np.median(best / t):.0f} %" for best in (plain, words))
        lines.append(f"| {key} | {np.median(t):.3f} | {size / np.median(t) / 1e9:.1f} | {shares} |")
    lines += ["", "| 1 thread / 2 threads | |", "|---|---|"]
    for key in ("∇f", "f and ∇f"):
        lines.append(f"| {key} | {np.median(times[key + ', 1 thread'] / times[key + ', 2 threads']):.2f} |")
    return lines


if __name__ == "__main__":
    print("\n".join(main(*(kind(text) for kind, text in zip((float, int, int), sys.argv[1:], strict=False)))))
