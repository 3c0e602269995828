"""Logistic regression with an l1 penalty on a packed set: dcopt from shards beside Spark, SGD, Vowpal Wabbit, dask-ml.

    python benchmarks/criteo_like.py packed --rows 1e7
    python benchmarks/scale_peers.py prepare packed work    # text for Spark and Vowpal Wabbit
    python benchmarks/scale_peers.py dcopt packed work      # one contestant in a process, and environment, of its own
    python benchmarks/scale_peers.py spark packed work      # pyspark and Java; likewise sgd, vw, dask
    python benchmarks/scale_peers.py table packed work

All minimise (1/N) Σ log(1 + exp(−y_i a_i·x)) + λ‖x‖₁ with λ = .01 λ_max and no intercept, on two cores. A contestant
writes points, each with the seconds that led to it. The seconds of dcopt, SGD and Vowpal Wabbit contain the reading of
the data; Spark and dask-ml get data that is in memory. The table computes the critical distance of every point, as a
share of the one at x = 0, and its log loss on the rows that were held out.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

SHARE = 0.01  # λ / λ_max
LIMITS = (1e-2, 1e-4)  # shares of the critical distance at x = 0
EPOCHS = 20  # of the stochastic methods
ITERATIONS = (3, 5, 10, 20, 40, 80)  # of Spark and dask-ml: fits of their own, of which the first that suffices counts
MOST = 1800.0  # seconds of a contestant


# ---- the data, read without dcopt


def _array(folder: Path) -> np.ndarray | None:
    said = json.loads((folder / "zarr.json").read_text())
    file = folder / "c" / "0"
    if not file.exists():
        return None
    return np.memmap(file, said["data_type"], "r", shape=tuple(said["shape"]))


def shards(packed: Path) -> list[Path]:
    root = json.loads((packed / "zarr.json").read_text())["attributes"]["dcopt"]
    return [packed / shard["name"] for shard in root["shards"]]


def columns(packed: Path) -> int:
    return int(json.loads((packed / "zarr.json").read_text())["attributes"]["dcopt"]["d"])


def block(folder: Path, d: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """A shard as a SciPy matrix on its memory maps, and its labels −1 and 1."""
    indptr, indices, data = (_array(folder / "X" / name) for name in ("indptr", "indices", "data"))
    values = np.ones(len(indices)) if data is None else data
    a = sp.csr_matrix((len(indptr) - 1, d), dtype=values.dtype)
    a.indptr, a.indices, a.data = np.asarray(indptr, np.int32), indices, values  # scikit-learn takes 32 bits only
    return a, np.where(np.asarray(_array(folder / "obs" / "y")) > 0, 1.0, -1.0)


def blocks(packed: Path) -> Iterator[tuple[sp.csr_matrix, np.ndarray]]:
    d = columns(packed)
    return (block(folder, d) for folder in shards(packed))


def rows_after(packed: Path) -> tuple[sp.csr_matrix, np.ndarray]:
    """A million rows that follow those of the packed set, from the same model."""
    import criteo_like as made

    n = sum(len(_array(folder / "obs" / "y")) for folder in shards(packed))
    x, first = made.coefficients(0), math.ceil(n / made.BLOCK)
    some = [made.block(0, first + k, made.BLOCK, x) for k in range(8)]
    shape = (made.BLOCK, made.COLUMNS)
    parts = [sp.csr_matrix((b.data, b.indices, b.indptr), shape) for b in some]
    return sp.vstack(parts, format="csr"), np.concatenate([b.labels for b in some])


def gradient(packed: Path, x: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean logistic loss and its gradient"""
    total, loss, g = 0, 0.0, np.zeros(len(x))
    for a, y in blocks(packed):
        margin = y * (a @ x)
        loss += float(np.logaddexp(0.0, -margin).sum())
        g -= a.T @ (y / (1.0 + np.exp(margin)))
        total += len(y)
    return loss / total, g / total


def distance(g: np.ndarray, x: np.ndarray, lam: float) -> float:
    """dist(−g, λ ∂‖x‖₁)"""
    away = np.where(x != 0, g + lam * np.sign(x), np.maximum(np.abs(g) - lam, 0.0))
    return float(np.linalg.norm(away))


# ---- points


class Points:
    """The points of a contestant, written as they are found."""

    def __init__(self, work: Path, name: str) -> None:
        self.work, self.name, self.k = work, name, 0
        (work / f"{name}.jsonl").write_text("")

    def add(self, seconds: float, x: np.ndarray, how: str) -> None:
        kept = np.flatnonzero(x)
        np.savez(self.work / f"{self.name}-{self.k}.npz", at=kept, x=np.asarray(x)[kept])
        with (self.work / f"{self.name}.jsonl").open("a") as out:
            out.write(json.dumps({"k": self.k, "seconds": seconds, "how": how}) + "\n")
        self.k += 1
        print(f"{self.name}: {seconds:.1f} s, {how}, {len(kept)} features", flush=True)


def prepare(packed: Path, work: Path) -> None:
    """λ, the distance at 0, and the rows as text: LIBSVM's for Spark, and Vowpal Wabbit's."""
    work.mkdir(parents=True, exist_ok=True)
    g = gradient(packed, np.zeros(columns(packed)))[1]
    lam = SHARE * float(np.abs(g).max())
    zero = distance(g, np.zeros(len(g)), lam)
    (work / "problem.json").write_text(json.dumps({"lam": lam, "zero": zero}))
    with (work / "train.svm").open("w") as svm, (work / "train.vw").open("w") as vw:
        for a, y in blocks(packed):
            for i in range(a.shape[0]):
                some, values = a.indices[a.indptr[i] : a.indptr[i + 1]], a.data[a.indptr[i] : a.indptr[i + 1]]
                pairs = list(zip(some.tolist(), values.tolist(), strict=True))
                svm.write(f"{(y[i] + 1) / 2:g} {' '.join(f'{j + 1}:{v:g}' for j, v in pairs)}\n")
                vw.write(f"{y[i]:g} | {' '.join(f'{j}:{v:g}' if v != 1 else str(j) for j, v in pairs)}\n")


# ---- the contestants


def run_dcopt(packed: Path, work: Path, lam: float, zero: float) -> None:
    import dcopt

    points = Points(work, "dcopt")
    for share in (LIMITS[0], LIMITS[1]):
        began = time.perf_counter()
        data = dcopt.open(packed)
        P = dcopt.erm(data, loss="logistic", regularizer=dcopt.regularizers.L1(lam))
        result = dcopt.solve(P, atol=0.9 * share * zero, seed=0)
        seconds, passes = time.perf_counter() - began, result.spent.gradients / data.shape[0]
        points.add(seconds, result.x, f"{share:g}: {result.status.name}, {passes:.1f} passes")


def run_spark(packed: Path, work: Path, lam: float, zero: float) -> None:
    from pyspark.ml.classification import LogisticRegression
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "14g")
    spark = session.config("spark.ui.enabled", "false").getOrCreate()
    began = time.perf_counter()
    reader = spark.read.format("libsvm").option("numFeatures", str(columns(packed)))
    data = reader.load(str(work / "train.svm")).cache()
    print(f"spark: {data.count()} rows cached in {time.perf_counter() - began:.0f} s", flush=True)
    points = Points(work, "spark")
    for steps in ITERATIONS:
        fit = LogisticRegression(
            maxIter=steps, regParam=lam, elasticNetParam=1.0, fitIntercept=False, standardization=False, tol=1e-12
        )
        began = time.perf_counter()
        x = fit.fit(data).coefficients.toArray()
        points.add(seconds := time.perf_counter() - began, x, f"{steps} iterations")
        if seconds > MOST / 2:
            break
    spark.stop()


def run_sgd(packed: Path, work: Path, lam: float, zero: float) -> None:
    from sklearn.linear_model import SGDClassifier

    points, rng, took = Points(work, "sgd"), np.random.default_rng(0), 0.0
    model = SGDClassifier(loss="log_loss", penalty="l1", alpha=lam, fit_intercept=False, random_state=0)
    folders, d = shards(packed), columns(packed)
    for epoch in range(1, EPOCHS + 1):
        began = time.perf_counter()
        for k in rng.permutation(len(folders)):
            a, y = block(folders[k], d)
            model.partial_fit(a, y, classes=[-1.0, 1.0])
        took += time.perf_counter() - began
        if epoch in (1, 2, 5, 10, 20):
            points.add(took, model.coef_[0], f"{epoch} epochs")
        if took > MOST:
            break


def run_vw(packed: Path, work: Path, lam: float, zero: float) -> None:
    from vowpalwabbit import Workspace

    points = Points(work, "vw")
    bits = math.ceil(math.log2(columns(packed)))
    for passes in (1, 5, EPOCHS):
        began = time.perf_counter()
        cache = "" if passes == 1 else f"--cache_file {work / 'vw.cache'} -k --holdout_off --passes {passes}"
        vw = Workspace(
            f"-d {work / 'train.vw'} --loss_function logistic --l1 {lam} --noconstant -b {bits} --quiet {cache}"
        )
        vw.run_parser()
        seconds = time.perf_counter() - began
        x = np.array([vw.get_weight(j) for j in range(columns(packed))])
        vw.finish()
        points.add(seconds, x, f"{passes} passes")
        if seconds > MOST:
            break


def run_dask(packed: Path, work: Path, lam: float, zero: float) -> None:
    """dask-ml's solvers take dense blocks; what they say of sparse ones is kept."""
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression

    points = Points(work, "dask")
    some = list(blocks(packed))
    rows = [da.from_delayed(_delayed(a), a.shape, dtype=a.dtype) for a, _ in some]
    labels = da.concatenate([da.from_array((y > 0).astype(int), chunks=len(y)) for _, y in some])
    n = sum(len(y) for _, y in some)
    for steps in ITERATIONS:
        fit = LogisticRegression(
            penalty="l1", C=1.0 / (lam * n), solver="proximal_grad", fit_intercept=False, max_iter=steps, tol=0.0
        )
        began = time.perf_counter()
        fit.fit(da.concatenate(rows), labels)
        points.add(time.perf_counter() - began, np.ravel(fit.coef_), f"{steps} iterations")


def _delayed(a: Any) -> Any:
    import dask

    return dask.delayed(lambda: a)()


# ---- the table


def table(packed: Path, work: Path, lam: float, zero: float) -> None:
    held_out = rows_after(packed)
    print(f"λ = {lam:.4g}; the critical distance at 0 is {zero:.4g}")
    print("| contestant | point | seconds | distance / at 0 | F | features | held-out log loss |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(work.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            said = json.loads(line)
            found = np.load(work / f"{path.stem}-{said['k']}.npz")
            x = np.zeros(columns(packed))
            x[found["at"]] = found["x"]
            loss, g = gradient(packed, x)
            held = float(np.logaddexp(0.0, -held_out[1] * (held_out[0] @ x)).mean())
            far, F = distance(g, x, lam) / zero, loss + lam * float(np.abs(x).sum())
            numbers = f"{said['seconds']:.1f} | {far:.2e} | {F:.7f} | {len(found['at'])} | {held:.5f}"
            print(f"| {path.stem} | {said['how']} | {numbers} |", flush=True)


def main() -> None:
    what, packed, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if what == "prepare":
        prepare(packed, work)
        return
    said = json.loads((work / "problem.json").read_text())
    if what == "table":
        table(packed, work, said["lam"], said["zero"])
        return
    runs = {"dcopt": run_dcopt, "spark": run_spark, "sgd": run_sgd, "vw": run_vw, "dask": run_dask}
    runs[what](packed, work, said["lam"], said["zero"])


if __name__ == "__main__":
    main()
