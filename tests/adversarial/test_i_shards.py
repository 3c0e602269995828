"""Group I, out of core: shards that are lost, cut, damaged or do not fit, and packing that is killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt

SMALL = 0.02  # megabytes of a shard


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = sp.random(2000, 30, 0.1, format="csr", random_state=rng)
    out = tmp_path_factory.mktemp("shards") / "set"
    dcopt.pack([(X, rng.integers(0, 2, 2000), rng.uniform(1, 2, 2000))], out, shard_mb=SMALL)
    return out


def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "set"))


def flip(path: Path, bit: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[bit // 8] ^= 1 << bit % 8
    path.write_bytes(raw)


def use(folder: Path) -> None:
    """Open, and read everything once, as the first pass of a fit does."""
    S = dcopt.open(folder)
    S.dot(np.ones(S.shape[1]))
    for shard in S.shards:
        shard.vector("y"), shard.vector("weight")


def test_i11_a_shard_or_a_file_that_is_gone_is_named(whole: Path, tmp_path: Path) -> None:
    folder = copy(whole, tmp_path)
    shutil.rmtree(folder / "shard-00002")
    with pytest.raises(dcopt.BadFile, match="shard-00002: does not exist"):
        dcopt.open(folder)
    for name in ("shard-00001/X/indices/c/0", "shard-00001/obs/y/zarr.json", "columns/means/c/0"):
        shutil.rmtree(folder)
        copy(whole, tmp_path)
        (folder / name).unlink()
        with pytest.raises(dcopt.BadFile, match=name.replace(".", "[.]")):
            dcopt.open(folder)
    with pytest.raises(dcopt.BadFile, match="nowhere"):
        dcopt.open(tmp_path / "nowhere")


def test_i11_a_file_that_is_cut_or_too_long_is_named(whole: Path, tmp_path: Path) -> None:
    for name in ("X/data/c/0", "X/indptr/c/0", "obs/y/c/0", "X/zarr.json"):
        for change in (-1, +1):
            folder = copy(whole, tmp_path)
            path = folder / "shard-00000" / name
            raw = path.read_bytes()
            path.write_bytes(raw[:-1] if change < 0 else raw + b"\0")
            with pytest.raises(dcopt.BadFile, match=name.replace(".", "[.]")):
                dcopt.open(folder)
            shutil.rmtree(folder)


def test_i11_one_bit_anywhere_is_found(whole: Path, tmp_path: Path) -> None:
    """In small files at once, in arrays at the first reading, and with verify=True in all files."""
    files = [path for path in sorted(whole.rglob("*")) if path.is_file()]
    files = [p for p in files if not p.relative_to(whole).parts[0].startswith("shard") or "shard-00001" in p.parts]
    assert len(files) > 15
    rng = random.Random(0)
    for path in files:
        folder = copy(whole, tmp_path)
        own = folder / path.relative_to(whole)
        flip(own, rng.randrange(8 * own.stat().st_size))
        with pytest.raises(dcopt.BadFile) as found:
            dcopt.open(folder, verify=True)
        assert str(own.relative_to(folder)) in str(found.value) or own.parent == folder
        read = own.name == "zarr.json" or own.parts[-3] in ("data", "indices", "indptr", "y", "weight")
        if read:
            with pytest.raises(dcopt.BadFile):
                use(folder)
        shutil.rmtree(folder)


def test_i11_without_verification_no_compiled_loop_reads_outside(whole: Path, tmp_path: Path) -> None:
    """Damage that could crash the process is refused also with verify=False."""
    for name, dtype, value in (("indices", np.int32, 30), ("indices", np.int32, -1), ("indptr", np.int64, 10**12)):
        folder = copy(whole, tmp_path)
        path = folder / "shard-00000" / "X" / name / "c" / "0"
        array = np.fromfile(path, dtype)
        array[len(array) // 2] = value
        array.tofile(path)
        with pytest.raises(dcopt.BadFile, match=name):
            dcopt.open(folder, verify=False).dot(np.ones(30))
        shutil.rmtree(folder)
    folder = copy(whole, tmp_path)
    data = np.fromfile(folder / "shard-00000/X/data/c/0")
    data[3] = np.nan
    data.tofile(folder / "shard-00000/X/data/c/0")
    with pytest.raises(dcopt.BadFile, match="not finite"):
        dcopt.open(folder, verify=False).dot(np.ones(30))


def test_i11_parts_of_another_width_or_dtype_are_named(whole: Path, tmp_path: Path) -> None:
    """Shards that were put together by hand, so that all digests are right."""
    from dcopt.datasets.shards.manifest import read_manifest
    from dcopt.datasets.shards.write import write_root

    for d, dtype, said in ((31, np.float64, "has 31 columns, and the set has 30"), (30, np.float32, "is float32 csr")):
        folder, other = copy(whole, tmp_path), tmp_path / "other"
        X = sp.random(50, d, 0.1, format="csr", dtype=dtype, random_state=np.random.default_rng(0))
        dcopt.pack([(X, np.arange(50) % 2, np.ones(50))], other)
        first, second = read_manifest(folder), read_manifest(other)
        shutil.rmtree(folder / "shard-00001")
        shutil.move(other / "shard-00000", folder / "shard-00001")
        one = second.shards[0].__class__(**{**vars(second.shards[0]), "name": "shard-00001"})
        shards = (first.shards[0], one, *first.shards[2:])
        n = sum(s.rows for s in shards)
        write_root(folder, first.__class__(**{**vars(first), "shards": shards, "n": n}))
        with pytest.raises(dcopt.BadFile, match=said) as found:
            dcopt.open(folder)
        assert "shard-00001" in str(found.value)
        shutil.rmtree(folder)
        shutil.rmtree(other)


def test_i11_what_is_no_set_is_refused(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name in ("file", "empty"):
        with pytest.raises(dcopt.BadFile, match=name):
            dcopt.open(tmp_path / name)
    for text in (
        b"",
        b"{",
        b"[]",
        b'{"zarr_format": 3}',
        b"[" * 10**5,
        b'{"zarr_format": 3, "attributes": {"dcopt": 1}}',
    ):
        folder = copy(whole, tmp_path)
        (folder / "zarr.json").write_bytes(text)
        with pytest.raises(dcopt.BadFile):
            dcopt.open(folder)
        shutil.rmtree(folder)
    folder = copy(whole, tmp_path)
    text = (folder / "zarr.json").read_text()
    (folder / "zarr.json").write_text(text.replace('"complete": true', '"complete": false'))
    with pytest.raises(dcopt.BadFile, match="not complete"):
        dcopt.open(folder)
    (folder / "zarr.json").write_text(text.replace('"version": 1', '"version": 2'))
    with pytest.raises(dcopt.BadFile, match="newer version"):
        dcopt.open(folder)


# ---- packing


def text(path: Path, n: int = 20_000) -> None:
    rng = np.random.default_rng(0)
    lines = []
    columns_of = np.sort(rng.permuted(np.tile(np.arange(1, 100), (n, 1)), axis=1)[:, :8]).tolist()
    values_of, labels = rng.integers(1, 9, (n, 8)).tolist(), rng.integers(0, 2, n).tolist()
    for label, columns, values in zip(labels, columns_of, values_of, strict=True):
        pairs = zip(columns, values, strict=True)
        lines.append(f"{label} " + " ".join(f"{j}:{v}" for j, v in pairs))
    path.write_text("\n".join(lines) + "\n")


_SLOWLY = """
import sys, time
from dcopt.datasets.shards import scatter, sources, set_writer
import dcopt
sources.SPAN, scatter._EVERY = 40_000, 0.0
told = scatter.Scatter.add
def add(self, *given):
    told(self, *given)
    time.sleep(0.02)
scatter.Scatter.add = add
print("begun", flush=True)
dcopt.pack(sys.argv[1], sys.argv[2], shard_mb=0.1, seed=5)
"""


def packed(source: Path, out: Path, seconds: float | None) -> bool:
    """Whether packing came to its end before it was killed"""
    command = [sys.executable, "-c", _SLOWLY, str(source), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        if seconds is not None:
            time.sleep(seconds)
            child.send_signal(signal.SIGKILL)
        code = child.wait()
    assert code in (0, -signal.SIGKILL)
    return code == 0


def kill_and_go_on(tmp_path: Path, kills: int, moments: Callable[[], float]) -> None:
    text(tmp_path / "in.svm")
    assert packed(tmp_path / "in.svm", tmp_path / "whole", None)
    expected, count = dcopt.open(tmp_path / "whole", verify=True), 0
    while count < kills:
        out, done = tmp_path / f"out-{count}", False
        while not done:
            done = packed(tmp_path / "in.svm", out, moments() if count < kills else None)
            count += not done
            if not done and out.exists():
                assert dcopt.open(out, verify=True).manifest == expected.manifest  # It was killed after the rename.
                done = True
            elif not done:
                with pytest.raises(dcopt.BadFile):
                    dcopt.open(out)
        assert dcopt.open(out, verify=True).manifest == expected.manifest
        assert not (tmp_path / f".{out.name}.packing").exists() or count
        shutil.rmtree(out)  # It may have come to its end before it was killed; then the same name is packed again.


def test_i12_packing_that_is_killed_goes_on(tmp_path: Path) -> None:
    rng = random.Random(1)
    kill_and_go_on(tmp_path, 3, lambda: rng.uniform(0.0, 1.0))


@pytest.mark.slow
def test_i12_packing_killed_at_twenty_moments(tmp_path: Path) -> None:
    rng = random.Random(2)
    kill_and_go_on(tmp_path, 20, lambda: rng.uniform(0.0, 2.5))


def test_i12_packing_killed_in_its_first_block_goes_on(tmp_path: Path) -> None:
    """The journal knows no bucket yet, and some rows were written."""
    begun(tmp_path, "_append")
    dcopt.pack(tmp_path / "in.svm", tmp_path / "out", shard_mb=0.1, seed=5)
    dcopt.pack(tmp_path / "in.svm", tmp_path / "whole", shard_mb=0.1, seed=5)
    assert dcopt.open(tmp_path / "out", verify=True).manifest == dcopt.open(tmp_path / "whole").manifest


def begun(tmp_path: Path, ends_in: str = "add") -> Path:
    """Packing that ended in its middle, or in its first block"""
    text(tmp_path / "in.svm", 5000)
    when = "self.n > 2000" if ends_in == "add" else "given[0] > 60"
    code = _SLOWLY.replace("time.sleep(0.02)", f"({when}) and __import__('os')._exit(3)")
    code = code.replace("Scatter.add", f"Scatter.{ends_in}")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "in.svm"), str(tmp_path / "out")], capture_output=True
    )
    assert done.returncode == 3 and not (tmp_path / "out").exists()
    return tmp_path / ".out.packing"


def test_i12_packing_that_cannot_go_on_is_refused(tmp_path: Path) -> None:
    aside = begun(tmp_path)
    given: dict[str, Any] = {"shard_mb": 0.1, "seed": 5}
    with pytest.raises(dcopt.BadFile, match="begun here with other seed"):
        dcopt.pack(tmp_path / "in.svm", tmp_path / "out", shard_mb=0.1, seed=6)
    for name in aside.glob("bucket-*.data"):
        os.truncate(name, 8)
    with pytest.raises(dcopt.BadFile, match="shorter than the journal says"):
        dcopt.pack(tmp_path / "in.svm", tmp_path / "out", **given)
    with open(tmp_path / "in.svm", "a") as file:
        file.write("1 1:1\n")
    with pytest.raises(dcopt.BadFile, match="begun here with other source"):
        dcopt.pack(tmp_path / "in.svm", tmp_path / "out", **given)
    shutil.rmtree(aside)
    assert dcopt.pack(tmp_path / "in.svm", tmp_path / "out", **given).n == 5001


def test_i12_a_folder_that_is_there_is_not_replaced_by_chance(whole: Path, tmp_path: Path) -> None:
    folder = copy(whole, tmp_path)
    blocks = [(np.eye(3), [0, 1, 0])]
    with pytest.raises(dcopt.BadFile, match="force"):
        dcopt.pack(blocks, folder)
    dcopt.pack(blocks, folder, force=True)
    assert dcopt.open(folder).shape == (3, 3)
    (tmp_path / "mine").mkdir()
    with pytest.raises(dcopt.BadFile, match="not replaced"):
        dcopt.pack(blocks, tmp_path / "mine", force=True)


def test_i12_bad_input_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.svm").write_text("1 1:1\n1 2:x\n")
    with pytest.raises(dcopt.BadFile, match=r"bad.svm, line 2, column 5"):
        dcopt.pack(tmp_path / "bad.svm", tmp_path / "out")
    with pytest.raises(dcopt.BadInput, match="row 1, column 0"):
        dcopt.pack([(np.array([[1.0], [np.nan]]), [0, 1])], tmp_path / "nan")
    with pytest.raises(dcopt.BadInput, match="block 1 has 2 columns"):
        dcopt.pack([(np.ones((1, 3)), [0]), (np.ones((1, 2)), [0])], tmp_path / "width")
    with pytest.raises(dcopt.BadFile, match="no row"):
        dcopt.pack([], tmp_path / "none")
    with pytest.raises(dcopt.BadSettings, match="shard_mb"):
        dcopt.pack([(np.eye(2), [0, 1])], tmp_path / "none", shard_mb=0.0)
    assert not any((tmp_path / name).exists() for name in ("out", "nan", "width", "none"))


# ---- memory

_FIT = """
import sys
def memory(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) * 1024
import threading, time
most = [0]
def watch():
    while True:
        most[0] = max(most[0], memory("RssAnon"))
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
import dcopt
S = dcopt.open(sys.argv[1])
P = dcopt.erm(S, loss="logistic", regularizer=dcopt.regularizers.SCAD(lam=0.01), intercept=True)
for method in ("dca-page", "auto"):
    r = dcopt.solve(P, method, passes=12, seed=0)
print(most[0], S.memory_bound(), S.data.bytes, r.certificate.value)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is not known here")
def test_i2_a_run_keeps_to_the_memory_that_is_printed(tmp_path: Path) -> None:
    """The anonymous memory of a run on 108 MB of rows is below the bound."""
    rng = np.random.default_rng(0)

    def blocks() -> Any:
        for _ in range(10):
            indices = np.sort(rng.integers(0, 40, (25_000, 50)) + 40 * np.arange(50), axis=1).astype(np.int32)
            data = rng.standard_normal((25_000, 50)).astype(np.float32)
            X = sp.csr_matrix((data.ravel(), indices.ravel(), np.arange(0, 25_000 * 50 + 1, 50)), shape=(25_000, 2000))
            yield X, np.where(X[:, :200].sum(axis=1).A1 > 0, 1, 0)

    dcopt.pack(blocks(), tmp_path / "set", shard_mb=10.0)
    command = [sys.executable, "-c", _FIT, str(tmp_path / "set")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    most, bound, size = map(int, out[:3])
    assert size > 100_000_000 and most < bound, (most, bound, size)
