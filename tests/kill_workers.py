"""Workers killed with kill -9 at random moments of a run: the bits stay those of an undisturbed run in one process.

Also a program: python tests/kill_workers.py [--kills 50] [--workers 4]. One line for each run, and an exit code.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import dcopt
from dcopt.data.check import as_rows
from dcopt.regularizers import SCAD
from dcopt.sums import Given, Here, PartData, Parted
from dcopt.sums.dask_parts import DaskHomes

METHODS = ("dca", "dca-page", "auto")


def loads(parts: int = 9, rows: int = 400) -> list[Given]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((parts * rows, 200)) * (rng.random((parts * rows, 200)) < 0.1)
    y = np.where(X[:, :20].sum(axis=1) + 0.5 * rng.standard_normal(len(X)) > 0.0, 1, 0)
    whole = as_rows(csr_array(X))
    cuts = [np.arange(k * rows, (k + 1) * rows) for k in range(parts)]
    return [Given(PartData(whole.take(cut), y[cut])) for cut in cuts]


class Killer(threading.Thread):
    """Kills the process of a random worker after a random time, again and again while a run goes on."""

    def __init__(self, cluster: Any, seed: int, most: int) -> None:
        super().__init__(daemon=True)
        self.cluster, self.most, self.killed = cluster, most, 0
        self.rng, self.over = np.random.default_rng(seed), threading.Event()

    def run(self) -> None:
        while self.killed < self.most and not self.over.wait(0.2 + 2.0 * self.rng.random()):
            there = set(self.cluster.scheduler.workers)  # Dask gives up a worker that is killed while it comes back.
            pids = [nanny.pid for nanny in list(self.cluster.workers.values()) if nanny.worker_address in there]
            if len(pids) > 1:
                os.kill(pids[int(self.rng.integers(len(pids)))], signal.SIGKILL)
                self.killed += 1


def main() -> int:
    from distributed import Client, LocalCluster

    args = argparse.ArgumentParser()
    args.add_argument("--kills", type=int, default=50)
    args.add_argument("--workers", type=int, default=4)
    given = args.parse_args()
    import dask

    patient = {"distributed.scheduler.allowed-failures": 10**6, "distributed.deploy.lost-worker-timeout": "1h"}
    dask.config.set(patient | {"logging.distributed": "critical"})
    killed, wrong, turn = 0, 0, 0
    made = LocalCluster(n_workers=given.workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with made as cluster, Client(cluster, set_as_default=False) as client:
        while killed < given.kills:
            method, options = METHODS[turn % len(METHODS)], {"passes": 40.0, "seed": turn, "tol": 0.0}
            P, Q = (
                dcopt.erm(Parted(homes), loss="logistic", regularizer=SCAD(lam=0.002), intercept=True)
                for homes in (Here.of(loads()), DaskHomes(client, loads()))
            )
            want, killer = dcopt.solve(P, method, **options), Killer(cluster, turn, given.kills - killed)
            killer.start()
            got = dcopt.solve(Q, method, callbacks=[lambda state: threading.Event().wait(0.05)], **options)
            killer.over.set()
            killer.join()
            same = np.array_equal(got.x, want.x) and got.steps == want.steps
            killed, wrong, turn = killed + killer.killed, wrong + (not same), turn + 1
            sys.stdout.write(f"{method}: {got.steps} steps, {killer.killed} killed, same bits: {same}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{killed} workers killed in {turn} runs, {wrong} runs with other bits\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
