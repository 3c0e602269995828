"""What a cluster costs: a round, a pass, and a small step with and without rows that are fetched ahead.

A LocalCluster with a process for each worker. Overhead is the least time of a round on the cluster minus that of the
same parts in this process; its bytes are those of one x to each worker and one gradient back. Run alone on a machine:

    python benchmarks/dask_rounds.py [--workers 2] [--rows 2000000] [--hashed 1000000] [--columns 1000 100000 1000000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import dcopt
from dcopt.data.csr import CsrRows
from dcopt.data.dense import DenseRows
from dcopt.estimators import PAGE
from dcopt.sums import Here, PartData, Parted
from dcopt.sums.dask_parts import DaskHomes

PARTS, ENTRIES = 8, 39


def wide(columns: int, seed: int) -> PartData:
    """Two dense rows, whose gradient is dense: what a round costs beside the arithmetic"""
    rng = np.random.default_rng(seed)
    return PartData(DenseRows(rng.standard_normal((2, columns))), np.array([-1.0, 1.0]))


def hashed(rows: int, columns: int, seed: int) -> PartData:
    """39 entries a row among the columns, whose counts follow a power law"""
    rng = np.random.default_rng(seed)
    at = (columns * rng.random((rows, ENTRIES)) ** 4).astype(np.int32)
    at = np.sort(at, axis=1) + np.arange(ENTRIES, dtype=np.int32)  # Equal ones become neighbours.
    data = np.ones(at.size, np.float32)
    a = CsrRows(np.arange(rows + 1, dtype=np.int64) * ENTRIES, at.reshape(-1), data, columns + ENTRIES)
    score = (at % 7 == 0).sum(axis=1) - ENTRIES / 7 + rng.standard_normal(rows)
    return PartData(a, np.where(score > 0.0, 1, 0))


@dataclass(frozen=True)
class Made:
    """A part that is made where it lives"""

    make: Callable[[int], PartData]
    seed: int

    def __call__(self) -> PartData:
        return self.make(self.seed)


def problem(homes: Any) -> dcopt.Problem:
    return dcopt.erm(Parted(homes), loss="logistic", regularizer=dcopt.regularizers.L1(lam=1e-4), kappa=1e3)


def seconds(call: Callable[[], Any], times: int) -> float:
    """The least of so many calls, after one that is not counted: others may use the machine too"""
    call()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def rounds(client: Any, columns: list[int]) -> None:
    print("\n| columns | x and gradient | round here, ms | on the cluster, ms | overhead, ms |\n|---|---|---|---|---|")
    for d in columns:
        loads = [Made(partial(wide, d), k) for k in range(2)]
        here, there = problem(Here.of(loads)), problem(DaskHomes(client, loads))
        for name, x in (("dense", np.full(d, 1e-3)), ("x 1 % not 0", np.where(np.arange(d) % 100 == 0, 1e-3, 0.0))):
            times = 60 if d <= 10**6 else 5
            one, two = (seconds(partial(P.f.all().grad, x), times) * 1e3 for P in (here, there))
            print(f"| {d:,} | {name} | {one:.2f} | {two:.2f} | {two - one:.2f} |")


def passes(client: Any, rows: int, columns: int) -> tuple[Any, Any]:
    loads = [Made(partial(hashed, rows // PARTS, columns), k) for k in range(PARTS)]
    here, there = problem(Here.of(loads)), problem(DaskHomes(client, loads))
    x = np.zeros(here.shape, np.float32)
    x[:: max(1, here.shape[0] // 400)] = 0.01
    one, two = (seconds(partial(P.f.look, x), 7) for P in (here, there))
    same = np.array_equal(here.f.look(x).grad, there.f.look(x).grad)
    size = f"{rows:,} rows with {ENTRIES} entries, d = {here.shape[0]:,}, {PARTS} parts"
    print(f"\nA pass over {size}; same bits: {same}")
    print("\n| | s a pass | rows/s |\n|---|---|---|")
    for name, taken in (("one process, its threads", one), ("cluster", two)):
        print(f"| {name} | {taken:.3f} | {rows / taken:,.0f} |")
    print(f"\nratio {two / one:.2f}")
    return here, there


def steps(client: Any, here: Any, there: Any, b: int, count: int) -> None:
    """Small steps: PAGE with a p at which no pass falls into the run, but for its first"""
    page = PAGE(p=1e-9, b_small=b)
    plain = problem(DaskHomes(client, there.f.homes._loads))
    plain.f.homes.ahead = 1
    print(f"\n`dca-page`, {count} small steps of {b} rows\n\n| | ms a step |\n|---|---|")
    taken, ends = {}, []
    for name, P in (("one process", here), ("cluster, rows fetched ahead", there), ("a round trip a step", plain)):
        dcopt.solve(P, page, steps=20, seed=1, tol=0.0, trace=None)
        times = [time.perf_counter()]
        for many in (count, 3 * count):  # The difference leaves out the pass at the start, and the first block.
            ends.append(dcopt.solve(P, page, steps=many, seed=2, tol=0.0, trace=None).x)
            times.append(time.perf_counter())
        taken[name] = (times[2] - 2.0 * times[1] + times[0]) / (2 * count) * 1e3
        print(f"| {name} | {taken[name]:.2f} |")
    one, two, three = taken.values()
    same = all(np.array_equal(ends[k % 2], x) for k, x in enumerate(ends))
    print(f"\nfetched ahead {three / two:.1f} times as fast; same bits: {same}")


def main() -> None:
    from distributed import Client, LocalCluster

    args = argparse.ArgumentParser()
    args.add_argument("--workers", type=int, default=2)
    args.add_argument("--rows", type=int, default=2_000_000)
    args.add_argument("--hashed", type=int, default=1_000_000, help="columns of the sparse rows")
    args.add_argument("--columns", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    args.add_argument("--only", choices=("rounds", "passes"))
    given = args.parse_args()
    made = LocalCluster(n_workers=given.workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with made as cluster, Client(cluster, set_as_default=False) as client:
        print(f"{given.workers} workers")
        if given.only != "passes":
            rounds(client, given.columns)
        if given.only != "rounds":
            here, there = passes(client, given.rows, given.hashed)
            for b in (32, 256):
                steps(client, here, there, b, 200)


if __name__ == "__main__":
    main()
