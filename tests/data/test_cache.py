"""The cache: the same numbers, only sooner; whatever happens to it, the text is read instead."""

from __future__ import annotations

import json
import mmap
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dcopt

TEXT = "".join(f"{(-1) ** i} {i % 5 + 1}:{i + 0.25} 9:-1\n" for i in range(300)) + "7\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DCOPT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "file.svm", TEXT)


def written(path: Path, text: str) -> Path:
    """A file that is older than the tick of the clock."""
    path.write_text(text)
    time.sleep(0.03)
    return path


def mapped(a: np.ndarray) -> bool:
    while isinstance(a, np.ndarray):
        a = a.base  # type: ignore[assignment]
    return isinstance(a, mmap.mmap)


def same(a, b) -> bool:
    parts = [(a[1], b[1])] + [(getattr(a[0], k), getattr(b[0], k)) for k in ("data", "indices", "indptr")]
    return a[0].shape == b[0].shape and all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in parts)


def entries(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_the_second_time_comes_from_the_cache(file: Path, cache: Path) -> None:
    first, second = dcopt.load_libsvm(file), dcopt.load_libsvm(file)
    assert same(first, second) and first.sha256 == second.sha256 and len(entries(cache)) == 1
    for k, got in enumerate((first, second)):
        assert all(mapped(a) == bool(k) for a in (got[0].data, got[0].indices, got[0].indptr, got[1]))
    assert type(second[0].data) is np.ndarray and second[0].data.flags.writeable
    (other,) = (p for p in cache.rglob("data.npy"))
    before = other.read_bytes()
    second[0].data[:] = 0.0  # our own copy of the pages
    assert other.read_bytes() == before and same(first, dcopt.load_libsvm(file))


def test_options_share_an_entry(file: Path, cache: Path) -> None:
    for _ in range(2):
        assert dcopt.load_libsvm(file, n_features=20)[0].shape == (301, 20)
        assert dcopt.load_libsvm(file, n_features=5, extra="drop").dropped == 300
        assert dcopt.load_libsvm(file)[0].shape == (301, 9)
        with pytest.raises(dcopt.BadFile, match="line 1, column 10: 300 values have an index beyond n_features = 8"):
            dcopt.load_libsvm(file, n_features=8)
        norms = np.sqrt(dcopt.load_libsvm(file, normalize=True)[0].power(2).sum(axis=1))
        assert np.allclose(norms.ravel()[0, :-1], 1) and norms[-1, 0] == 0
    assert len(entries(cache)) == 1


def test_a_solver_takes_the_mapped_arrays(file: Path, cache: Path) -> None:
    results = []
    for _ in range(2):
        X, y = dcopt.load_libsvm(file, normalize=False)
        P = dcopt.erm(X[:-1], y[:-1], regularizer=dcopt.regularizers.L1(lam=0.01))
        results.append(dcopt.solve(P, passes=3, seed=0).x)
    assert np.array_equal(*results)


def test_a_changed_file_is_read_again_and_its_old_entry_goes(file: Path, cache: Path) -> None:
    dcopt.load_libsvm(file)
    (old,) = entries(cache)
    status = file.stat()
    written(file, TEXT.replace("-1", "-2"))  # the same size
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))  # and the same time
    time.sleep(0.03)
    X, y = dcopt.load_libsvm(file)
    assert X[:, 8].min() == -2 and y.min() == -2
    assert len(entries(cache)) == 1 and entries(cache) != [old]
    assert mapped(dcopt.load_libsvm(file)[1])


def test_a_file_as_fresh_as_the_clock_is_not_kept(file: Path, cache: Path) -> None:
    now = time.time_ns() + 10**9
    os.utime(file, ns=(now, now))
    dcopt.load_libsvm(file)
    assert not cache.exists()


def test_two_paths_are_two_entries_and_a_link_is_none(file: Path, cache: Path, tmp_path: Path) -> None:
    written(tmp_path / "other", TEXT)
    (tmp_path / "link").symlink_to(file)
    for path in (file, tmp_path / "other", tmp_path / "link"):
        dcopt.load_libsvm(path)
    assert len(entries(cache)) == 2


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)


def retell(entry: Path, **said: object) -> None:
    path = entry / "entry.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))


SPOIL = {
    "data flipped": lambda e: flip(e / "data.npy"),
    "indices flipped": lambda e: flip(e / "indices.npy"),
    "labels cut": lambda e: os.truncate(e / "labels.npy", 200),
    "indptr empty": lambda e: os.truncate(e / "indptr.npy", 0),
    "data gone": lambda e: (e / "data.npy").unlink(),
    "json gone": lambda e: (e / "entry.json").unlink(),
    "json cut": lambda e: os.truncate(e / "entry.json", 40),
    "json foreign": lambda e: (e / "entry.json").write_text("[1, 2]"),
    "json huge": lambda e: (e / "entry.json").write_text("[" * 100_000),
    "another format": lambda e: retell(e, format=99),
    "another source": lambda e: retell(e, source=["elsewhere", 1, 2, 3, 4]),
    "float32": lambda e: np.save(e / "data.npy", np.zeros(600, np.float32)),
    "objects": lambda e: np.save(e / "labels.npy", np.array([{}] * 301), allow_pickle=True),
    "a folder for a file": lambda e: ((e / "data.npy").unlink(), (e / "data.npy").mkdir()),
}


@pytest.mark.parametrize("how", SPOIL)
def test_a_spoilt_entry_is_ignored_and_replaced(file: Path, cache: Path, how: str) -> None:
    first = dcopt.load_libsvm(file)
    (name,) = entries(cache)
    SPOIL[how](cache / name)
    again = dcopt.load_libsvm(file)
    assert same(first, again) and not mapped(again[1])
    assert mapped(dcopt.load_libsvm(file)[1]) and entries(cache) == [name]


def test_an_entry_with_right_sums_and_a_wrong_matrix_is_ignored(file: Path, cache: Path) -> None:
    import zlib

    first = dcopt.load_libsvm(file)
    (name,) = entries(cache)
    for part, change in (("indptr", np.s_[5]), ("indices", np.s_[0])):
        array = np.load(cache / name / f"{part}.npy")
        array[change] = -7
        np.save(cache / name / f"{part}.npy", array)
        sums = json.loads((cache / name / "entry.json").read_text())["crc32"]
        retell(cache / name, crc32=sums | {part: zlib.crc32(array.tobytes())})
        assert same(first, dcopt.load_libsvm(file))


WRONG = {  # a change that keeps the checksums right: the array, where, and what is written there
    "a repeated index": ("indices", 1, 0),
    "an index that falls": ("indices", 7, -3),
    "a value that is none": ("data", 5, np.nan),
    "an infinite value": ("data", 5, np.inf),
    "a label that is none": ("labels", 3, np.nan),
    "an indptr that falls": ("indptr", 2, 0),
}


@pytest.mark.parametrize("how", WRONG)
def test_an_entry_that_nobody_would_have_written_is_ignored(file: Path, cache: Path, how: str, monkeypatch) -> None:
    import zlib

    from dcopt.datasets import cache as module

    monkeypatch.setattr(module, "_BLOCK", 4)  # many blocks
    first = dcopt.load_libsvm(file)
    assert mapped(dcopt.load_libsvm(file)[1])
    part, place, value = WRONG[how]
    (name,) = entries(cache)
    array = np.load(cache / name / f"{part}.npy")
    array[place] = value
    np.save(cache / name / f"{part}.npy", array)
    sums = json.loads((cache / name / "entry.json").read_text())["crc32"]
    retell(cache / name, crc32=sums | {part: zlib.crc32(array.tobytes())})
    again = dcopt.load_libsvm(file)
    assert same(first, again) and not mapped(again[1])


@pytest.mark.parametrize("part", ["entry.json", "data.npy", "labels.npy"])
def test_an_entry_of_another_user_is_ignored(file: Path, cache: Path, part: str, monkeypatch) -> None:
    first, real = dcopt.load_libsvm(file), os.fstat
    (foreign,) = cache.rglob(part)
    number = foreign.stat().st_ino

    def fstat(handle: int) -> os.stat_result:
        """That of a file whose owner is somebody else."""
        status = real(handle)
        return status if status.st_ino != number else os.stat_result((*status[:4], os.getuid() + 1, *status[5:]))

    monkeypatch.setattr(os, "fstat", fstat)
    again = dcopt.load_libsvm(file)
    assert same(first, again) and not mapped(again[1])


def test_a_file_in_place_of_the_entry_is_no_harm(file: Path, cache: Path) -> None:
    first = dcopt.load_libsvm(file)
    (name,) = entries(cache)
    for path in (cache / name).iterdir():
        path.unlink()
    (cache / name).rmdir()
    (cache / name).write_text("not a folder")
    assert same(first, dcopt.load_libsvm(file)) and same(first, dcopt.load_libsvm(file))


@pytest.mark.parametrize("place", ["", "/dev/null/cache", "/proc/cache"])
def test_a_cache_that_cannot_be_written_is_no_error(file: Path, place: str, monkeypatch) -> None:
    monkeypatch.setenv("DCOPT_CACHE", place)
    assert same(dcopt.load_libsvm(file), dcopt.load_libsvm(file))


def test_no_cache_if_not_wanted(file: Path, cache: Path) -> None:
    dcopt.load_libsvm(file, cache=False)
    dcopt.load_libsvm(file, byte_range=(0, 100), n_features=9)
    assert not cache.exists()


def test_a_full_disk_is_no_error(file: Path, cache: Path) -> None:
    """A limit on the size of files that the process may write: less than the arrays need."""
    code = "import dcopt, sys; X, y = dcopt.load_libsvm(sys.argv[1]); print(X.shape, y.sum())"
    run = subprocess.run(
        [sys.executable, "-B", "-c", code, str(file)],  # -B: the limit would cut Python's own files in two
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert run.stdout.startswith("(301, 9)"), run.stderr
    assert entries(cache) == []


MANY = """
import sys, hashlib, dcopt
for _ in range(20):
    X, y = dcopt.load_libsvm(sys.argv[1])
    print(hashlib.sha256(X.data.tobytes() + X.indices.tobytes() + X.indptr.tobytes() + y.tobytes()).hexdigest())
    if sys.argv[2] == "spoil":
        import pathlib, os
        for path in pathlib.Path(os.environ["DCOPT_CACHE"]).glob("*/entry.json"):
            path.unlink(missing_ok=True)
"""


def test_processes_may_write_at_once(file: Path, cache: Path) -> None:
    """Three read and write, one keeps removing a part of the entry."""
    kinds = ("read", "read", "read", "spoil")
    runs = [
        subprocess.Popen([sys.executable, "-c", MANY, str(file), kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for kind in kinds
    ]
    ends = [run.communicate() for run in runs]
    assert not any(run.returncode for run in runs), ends
    assert len({line for out, _ in ends for line in out.split()}) == 1
    assert len(entries(cache)) <= 1 and not list(cache.glob(".new-*"))
    assert same(dcopt.load_libsvm(file), dcopt.load_libsvm(file, cache=False))


def test_entries_of_files_that_are_gone_go_too(file: Path, cache: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other", TEXT)
    dcopt.load_libsvm(file)
    file.unlink()
    dcopt.load_libsvm(other)
    assert [name.split("-")[0] for name in entries(cache)] == ["other"]


def test_what_a_killed_process_left_is_swept_away(file: Path, cache: Path) -> None:
    for name, age in ((".new-old", 7200), (".new-young", 10)):
        (cache / name).mkdir(parents=True)
        (cache / name / "data.npy").write_bytes(b"half")
        os.utime(cache / name, (time.time() - age, time.time() - age))
    dcopt.load_libsvm(file)
    assert len(entries(cache)) == 2 and ".new-young" in entries(cache)
