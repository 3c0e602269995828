"""Loading a9a: from its text and from the cache, turn by turn in one run."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

import dcopt

ROUNDS = 7


def text(folder: Path) -> tuple[str, Path]:
    """a9a from DCOPT_DATA, or a text of its shape and density."""
    from dcopt.datasets.named import _file

    path = _file("a9a")
    if path is not None:
        return path.name, path
    rng = np.random.default_rng(0)
    X = sp.random(32561, 123, density=0.1128, format="csr", random_state=rng, data_rvs=lambda k: np.ones(k))
    dcopt.save_libsvm(folder / "text", X, np.where(rng.random(32561) < 0.24, 1, -1))
    time.sleep(0.1)  # a file has to be older than the tick of the clock to be kept
    return "a text of the size of a9a", folder / "text"


def seconds(path: Path, cache: bool) -> float:
    began = perf_counter()
    dcopt.load_libsvm(path, n_features=123, cache=cache)
    return perf_counter() - began


def main() -> list[str]:
    """Medians, and the median of the ratios of neighbours."""
    before = os.environ.get("DCOPT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DCOPT_CACHE"] = f"{folder}/cache"
        name, path = text(Path(folder))
        seconds(path, True)  # fills the cache, and imports what is needed
        pairs = [(seconds(path, False), seconds(path, True)) for _ in range(ROUNDS)]
    os.environ.pop("DCOPT_CACHE") if before is None else os.environ.update(DCOPT_CACHE=before)
    parse, cached = (1e3 * statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    return [f"loading {name}: {parse:.0f} ms from the text, {cached:.2f} ms from the cache, {ratio:.0f} times faster"]


if __name__ == "__main__":
    print("\n".join(main()))
