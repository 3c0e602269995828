"""Shards on disk: the rows that went in come out, however they came, and other programs read them."""

from __future__ import annotations

import csv
import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt.datasets.shards.scatter import bucket_of

SMALL = 0.02  # megabytes of a shard, so that there are several


def sample(n: int = 2000, d: int = 40, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.1, format="csr", random_state=rng)
    X = (X @ sp.diags([1.0] * (d - 1) + [0.0])).tocsr()  # The last column is empty.
    X.eliminate_zeros()
    return X, rng.integers(0, 2, n)


def same(S: dcopt.Shards, X: Any, y: Any) -> None:
    """The set holds the rows of X and the labels y, in the order of `places`."""
    p = S.places()
    assert np.array_equal(np.sort(p), np.arange(len(y)))
    assert S.shape[0] == X.shape[0] and np.array_equal(S.y, np.asarray(y)[p])
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    got = np.concatenate([np.asarray(s.rows.dot(np.eye(S.shape[1], dtype=S.dtype))) for s in S.shards])
    np.testing.assert_allclose(got, dense[p][:, : S.shape[1]], rtol=1e-6)


def test_libsvm_text_comes_out_as_it_went_in(tmp_path: Path) -> None:
    X, y = sample()
    dcopt.save_libsvm(tmp_path / "in.svm", X, y)
    dcopt.pack(tmp_path / "in.svm", tmp_path / "out", shard_mb=SMALL)
    S = dcopt.open(tmp_path / "out", verify=True)
    assert len(S.shards) > 3 and S.shape == (2000, 39)  # The text does not tell of the empty column.
    same(S, X, y)
    assert not list(tmp_path.glob(".out*"))
    with gzip.open(tmp_path / "in.svm.gz", "wb") as file:
        file.write((tmp_path / "in.svm").read_bytes())
    dcopt.pack(tmp_path / "in.svm.gz", tmp_path / "gz", shard_mb=SMALL)
    assert np.array_equal(dcopt.open(tmp_path / "gz").places(), S.places())


def test_several_files_are_one_set(tmp_path: Path) -> None:
    X, y = sample()
    dcopt.save_libsvm(tmp_path / "1.svm", X[:900], y[:900])
    dcopt.save_libsvm(tmp_path / "2.svm", X[900:], y[900:])
    dcopt.pack([str(tmp_path / "1.svm"), str(tmp_path / "2.svm")], tmp_path / "out", shard_mb=SMALL)
    same(dcopt.open(tmp_path / "out"), X, y)


def test_the_order_depends_on_the_seed_alone(tmp_path: Path) -> None:
    X, y = sample()
    places = []
    for k, (seed, size, block) in enumerate([(0, SMALL, 100), (0, 1.0, 700), (1, SMALL, 100)]):
        blocks = ((X[i : i + block], y[i : i + block]) for i in range(0, len(y), block))
        dcopt.pack(blocks, tmp_path / str(k), seed=seed, shard_mb=size)
        places.append(dcopt.open(tmp_path / str(k)).places())
    assert np.array_equal(places[0], places[1]) and not np.array_equal(places[0], places[2])
    plain = tmp_path / "plain"
    dcopt.pack([(X, y)], plain, shuffle=False, shard_mb=SMALL)
    assert np.array_equal(dcopt.open(plain).places(), np.arange(2000))


def test_the_shuffle_is_fair() -> None:
    """Every bucket gets its share of rows: chi-square with 127 degrees of freedom, at six standard deviations."""
    counts = np.bincount(bucket_of(3, 10_000, 200_000, 128), minlength=128)
    expected = 200_000 / 128
    assert np.sum((counts - expected) ** 2 / expected) < 127 + 6 * np.sqrt(2 * 127)
    cut = np.concatenate([bucket_of(3, 10_000, 777, 128), bucket_of(3, 10_777, 199_223, 128)])
    assert np.array_equal(cut, bucket_of(3, 10_000, 200_000, 128))


def test_npz_dense_and_sparse(tmp_path: Path) -> None:
    X, y = sample()
    np.savez(tmp_path / "dense.npz", X=X.toarray(), y=y, sample_weight=np.linspace(0.5, 2.0, 2000))
    dcopt.pack(tmp_path / "dense.npz", tmp_path / "dense", shard_mb=0.1)
    S = dcopt.open(tmp_path / "dense", verify=True)
    same(S, X, y)
    np.testing.assert_array_equal(S.sample_weight, np.linspace(0.5, 2.0, 2000)[S.places()])
    X32 = X.astype(np.float32)
    X32.sort_indices()
    np.savez_compressed(
        tmp_path / "csr.npz", data=X32.data, indices=X32.indices, indptr=X32.indptr, shape=X.shape, format=b"csr", y=y
    )
    dcopt.pack(tmp_path / "csr.npz", tmp_path / "csr", shard_mb=SMALL)
    S = dcopt.open(tmp_path / "csr")
    assert S.dtype == np.float32
    same(S, X32, y)
    sp.save_npz(tmp_path / "without.npz", X)
    dcopt.pack(tmp_path / "without.npz", tmp_path / "without")
    assert dcopt.open(tmp_path / "without").y is None


def table(path: Path, n: int = 3000) -> tuple[list[list[str]], list[str]]:
    rng = np.random.default_rng(1)
    levels = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    levels[-1] = "violet"  # a level that the first rows do not have
    cells = zip(rng.normal(size=n), levels, rng.choice(["no", "yes"], n), strict=True)
    rows = [[f"{size:.3f}", str(level), member] for size, level, member in cells]
    labels = rng.choice(["bought", "left"], n).tolist()
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "colour", "member", "what"])
        writer.writerows([*row, label] for row, label in zip(rows, labels, strict=True))
    return rows, labels


def test_tables_are_coded_as_a_fit_codes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dcopt.datasets.shards import table_source
    from dcopt.datasets.tables import Columns, read

    table(tmp_path / "in.csv")
    whole = read(str(tmp_path / "in.csv"), Columns("what"))
    monkeypatch.setattr(table_source, "_ROWS", 500)
    monkeypatch.setattr(table_source, "_CELLS", 4000)
    dcopt.pack(tmp_path / "in.csv", tmp_path / "out", target="what", shard_mb=SMALL)
    S = dcopt.open(tmp_path / "out")
    assert S.manifest is not None and S.manifest.names == whole.names and S.classes is not None
    assert S.manifest.reading["table"] == whole.reading["table"]
    same(S, whole.X, whole.y)


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    a, y, w = rng.normal(size=500), rng.normal(size=500), rng.uniform(size=500)
    pq.write_table(pa.table({"a": a, "y": y, "w": w}), tmp_path / "in.parquet")
    dcopt.pack(tmp_path / "in.parquet", tmp_path / "out", target="y", weights="w")
    S = dcopt.open(tmp_path / "out")
    assert S.classes is None
    same(S, a[:, None], y)
    np.testing.assert_array_equal(S.sample_weight, w[S.places()])


def test_labels_of_many_kinds(tmp_path: Path) -> None:
    X = np.arange(12.0).reshape(6, 2)
    for name, y, classes in (
        ("two", np.array([3, 8, 3, 3, 8, 8]), [3, 8]),
        ("three", np.array([5, 1, 9, 5, 1, 9]), [1, 5, 9]),
        ("words", np.array(["b", "a", "c", "a", "b", "c"]), ["a", "b", "c"]),
        ("real", np.array([0.5, 1.0, 2.0, -1.0, 3.0, 2.5]), None),
    ):
        dcopt.pack([(X, y)], tmp_path / name)
        S = dcopt.open(tmp_path / name)
        assert (None if S.classes is None else S.classes.tolist()) == classes
        same(S, X, y)


def test_values_of_ones_are_stored_once(tmp_path: Path) -> None:
    X, y = sample()
    X.data[:] = 1.0
    dcopt.pack([(X, y)], tmp_path / "ones", shard_mb=SMALL)
    S = dcopt.open(tmp_path / "ones", verify=True)
    assert S.manifest is not None and S.manifest.ones
    assert not list((tmp_path / "ones").glob("shard-*/X/data/c")) and (tmp_path / "ones" / "ones").is_dir()
    same(S, X, y)


def test_statistics_of_columns(tmp_path: Path) -> None:
    X, y = sample()
    dcopt.pack([(X[:700], y[:700]), (X[700:], y[700:])], tmp_path / "out", shard_mb=SMALL)
    S = dcopt.open(tmp_path / "out")
    np.testing.assert_array_equal(S.columns("counts"), X.getnnz(axis=0))
    np.testing.assert_allclose(S.columns("means"), np.asarray(X.mean(axis=0)).ravel())
    np.testing.assert_allclose(S.columns("mean_squares"), np.asarray(X.multiply(X).mean(axis=0)).ravel())
    assert S.manifest is not None
    np.testing.assert_allclose(S.manifest.norm2, X.multiply(X).sum(axis=1).max())


def test_rows_in_any_order(tmp_path: Path) -> None:
    X, y = sample()
    dcopt.pack([(X, y)], tmp_path / "out", shard_mb=SMALL)
    S, rng = dcopt.open(tmp_path / "out"), np.random.default_rng(2)
    A, rows, x, c = X[S.places()], rng.integers(0, 2000, 300), rng.normal(size=(40, 2)), rng.normal(size=300)
    np.testing.assert_allclose(S.dot(x, rows), A[rows] @ x)
    np.testing.assert_allclose(S.tdot(c, rows), A[rows].T @ c)
    np.testing.assert_allclose(S.tdot(np.arange(2000.0)), A.T @ np.arange(2000.0))
    np.testing.assert_allclose(S.norms2(), A.multiply(A).sum(axis=1).A1)
    some = S.take(rows)
    np.testing.assert_allclose(some.dot(x), A[rows] @ x)
    np.testing.assert_allclose(some.take(np.array([5, 3, 5])).dot(x), A[rows[[5, 3, 5]]] @ x)
    np.testing.assert_allclose(some.tdot(c), A[rows].T @ c)
    np.testing.assert_allclose(some.norms2(), A[rows].multiply(A[rows]).sum(axis=1).A1)


# ---- other programs


@pytest.fixture
def anndata() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("zarr", reason="zarr is not installed")
        yield pytest.importorskip("anndata", reason="anndata is not installed")


@pytest.mark.parametrize("kind", ["csr", "dense", "ones"])
def test_anndata_reads_every_shard(tmp_path: Path, anndata: Any, kind: str) -> None:
    import zarr

    X, y = sample()
    if kind == "ones":
        X.data[:] = 1.0
    given = X.toarray() if kind == "dense" else X
    dcopt.pack([(given, y, np.ones(2000))], tmp_path / "out", shard_mb=0.1 if kind == "dense" else SMALL)
    S = dcopt.open(tmp_path / "out")
    assert len(S.shards) > 3
    for shard in S.shards:
        whole, own = anndata.read_zarr(shard.folder), X[shard.places()].toarray()
        np.testing.assert_array_equal(whole.X.toarray() if kind != "dense" else whole.X, own)
        np.testing.assert_array_equal(whole.obs["y"], 2 * y[shard.places()] - 1)
        assert list(whole.obs.columns) == ["y", "weight"] and whole.obs_names[0] == str(shard.places()[0])
        element = anndata.io.read_elem(zarr.open_group(shard.folder, mode="r")["X"])
        np.testing.assert_array_equal(element.toarray() if kind != "dense" else element, own)


def write_with_anndata(anndata: Any, path: Path, X: Any, y: Any, chunks: bool, compressed: bool) -> None:
    import pandas as pd
    import zarr

    group = zarr.open_group(path, mode="w", zarr_format=3)
    own: dict[str, Any] = {} if compressed else {"compressors": None}
    if not chunks:
        own["chunks"] = X.shape if isinstance(X, np.ndarray) else (10**6,)
    group.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    anndata.io.write_elem(group, "X", X, dataset_kwargs=own)
    frame = pd.DataFrame({"kind": y}, index=[str(i) for i in range(len(y))])
    anndata.io.write_elem(group, "obs", frame, dataset_kwargs={"compressors": None})


@pytest.mark.parametrize("dense", [False, True])
def test_a_group_that_anndata_wrote_opens(tmp_path: Path, anndata: Any, dense: bool) -> None:
    X, y = sample()
    given = X.toarray() if dense else X
    write_with_anndata(anndata, tmp_path / "a.zarr", given, y, chunks=False, compressed=False)
    S = dcopt.open(tmp_path / "a.zarr", target="kind")
    np.testing.assert_array_equal(S.y, y)
    np.testing.assert_allclose(S.dot(np.eye(40)), X.toarray())


def test_what_cannot_be_mapped_is_refused_and_can_be_packed(tmp_path: Path, anndata: Any) -> None:
    X, y = sample()
    write_with_anndata(anndata, tmp_path / "a.zarr", X, y, chunks=True, compressed=True)
    with pytest.raises(dcopt.BadFile, match="dcopt pack converts it"):
        dcopt.open(tmp_path / "a.zarr", target="kind")
    dcopt.pack(tmp_path / "a.zarr", tmp_path / "out", target="kind", shard_mb=SMALL)
    same(dcopt.open(tmp_path / "out"), X, y)


def test_h5ad(tmp_path: Path, anndata: Any) -> None:
    pytest.importorskip("h5py", reason="h5py is not installed")
    import pandas as pd

    X, y = sample()
    obs = pd.DataFrame({"kind": pd.Categorical(np.where(y, "b", "a"))}, index=[str(i) for i in range(2000)])
    anndata.AnnData(X, obs=obs).write_h5ad(tmp_path / "a.h5ad", compression="gzip")
    dcopt.pack(tmp_path / "a.h5ad", tmp_path / "out", target="kind", shard_mb=SMALL)
    same(dcopt.open(tmp_path / "out"), X, np.where(y, "b", "a"))
    with pytest.raises(dcopt.BadSettings, match="kind"):
        dcopt.pack(tmp_path / "a.h5ad", tmp_path / "again", target="kinds")


def test_reading_and_writing_need_numpy_alone(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = f"""
import sys, numpy as np, dcopt
for name in ("zarr", "anndata", "h5py", "pyarrow", "sklearn"):
    sys.modules[name] = None
dcopt.pack([(np.eye(4), [0, 1, 0, 1])], {str(tmp_path / "out")!r})
print(dcopt.open({str(tmp_path / "out")!r}, verify=True).dot(np.ones(4)).sum())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(out) == 4.0


def test_the_root_says_what_is_in_the_set(tmp_path: Path) -> None:
    X, y = sample()
    dcopt.pack([(X, y)], tmp_path / "out", shard_mb=SMALL, seed=7)
    said = json.loads((tmp_path / "out" / "zarr.json").read_text())["attributes"]["dcopt"]
    assert said["complete"] is True and said["n"] == 2000 and said["d"] == 40 and said["seed"] == 7
    assert sum(one["rows"] for one in said["shards"]) == 2000 and said["dtype"] == "float64"
    shard = said["shards"][0]
    for name, (size, _) in shard["files"].items():
        assert (tmp_path / "out" / shard["name"] / name).stat().st_size == size
