"""Atomic writing: old or new, never torn; nothing left behind; nothing else touched."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from faults import Crash, faulty_calls

from dcopt.store.atomic import previous, write

OLD, NEW, THIRD = b"old" * 10, b"new" * 20_000, b"third"


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_a_save_replaces_and_keeps_the_previous_generation(tmp_path: Path) -> None:
    path = tmp_path / "a file"
    for k, chunks in enumerate(([b"1"], [b"2", b"", b"2"], [memoryview(b"3")])):
        write(path, chunks, keep=True)
        assert path.read_bytes() == b"".join(chunks)
        assert previous(path).exists() == (k > 0)
    assert previous(path).read_bytes() == b"22" and names(tmp_path) == {"a file", "a file.prev"}


def test_without_keep_there_is_one_file(tmp_path: Path) -> None:
    for text in (OLD, NEW):
        write(tmp_path / "x", [text])
    assert names(tmp_path) == {"x"} and (tmp_path / "x").read_bytes() == NEW


def clean_log(tmp_path: Path) -> list[str]:
    calls, log = faulty_calls(None)
    write(tmp_path / "x", [OLD], calls=calls)
    log.clear()
    write(tmp_path / "x", [NEW, NEW], keep=True, calls=calls)
    return log


@pytest.mark.parametrize("what", ["error", "short", "before", "after"])
def test_f3_every_call_fails_in_turn(tmp_path: Path, what: Any) -> None:
    (tmp_path / "clean").mkdir()
    log = clean_log(tmp_path / "clean")
    assert log == ["open", "write", "write", "fsync", "link", "replace", "replace", "open", "fsync"]
    for at, name in enumerate(log):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        path = folder / "x"
        write(path, [OLD])
        calls, _ = faulty_calls(at, what)
        if what == "short":
            write(path, [NEW, NEW], keep=True, calls=calls)
        else:
            with pytest.raises(OSError if what == "error" else Crash):
                write(path, [NEW, NEW], keep=True, calls=calls)
        assert path.read_bytes() in (OLD, NEW + NEW), (at, name)
        if what == "error":
            assert names(folder) <= {"x", "x.prev"}, (at, name)
        write(path, [THIRD], keep=True)
        assert path.read_bytes() == THIRD and previous(path).read_bytes() in (OLD, NEW + NEW)
        assert names(folder) == {"x", "x.prev"}, (at, name)


def test_a_write_that_makes_no_progress_is_an_error(tmp_path: Path) -> None:
    calls, _ = faulty_calls(None)
    with pytest.raises(OSError, match="nothing"):
        write(tmp_path / "x", [OLD], calls=calls._replace(write=lambda handle, data: 0))
    assert names(tmp_path) == set()


def test_chunks_that_raise_leave_the_old_file(tmp_path: Path) -> None:
    def chunks() -> Any:
        yield NEW
        raise KeyboardInterrupt

    write(tmp_path / "x", [OLD])
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "x", chunks())
    assert names(tmp_path) == {"x"} and (tmp_path / "x").read_bytes() == OLD


def test_h11_what_is_never_replaced(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (outside / "target").write_bytes(OLD)
    (inside / "link").symlink_to(outside / "target")
    (inside / "dangling").symlink_to(outside / "nothing")
    (inside / "folder").mkdir()
    (inside / "read-only").write_bytes(OLD)
    (inside / "read-only").chmod(0o444)
    os.mkfifo(inside / "fifo")
    before = names(inside), names(outside)
    for name in ("link", "dangling", "folder", "read-only", "fifo", "none/x", ".", "read-only/x"):
        with pytest.raises(OSError):
            write(inside / name, [NEW], keep=True)
    assert (names(inside), names(outside)) == before and (outside / "target").read_bytes() == OLD
    assert (inside / "read-only").read_bytes() == OLD
    write(inside / ".." / "in" / "x", [NEW])
    assert names(inside) == before[0] | {"x"} and names(outside) == before[1]


def test_h11_a_private_file_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write(path, [OLD])
    path.chmod(0o600)
    write(path, [NEW])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


WRITER = """
import sys, time
from dcopt.store import save_model
import numpy as np
path, me = sys.argv[1], int(sys.argv[2])
end = time.monotonic() + 1.5
saves = 0
while time.monotonic() < end:
    save_model(path, {"who": me}, {"coef": np.full(2000, float(me))})
    saves += 1
print(saves)
"""


def test_f8_two_processes_save_to_one_path(tmp_path: Path) -> None:
    from dcopt import load_model

    path = tmp_path / "model.safetensors"
    where = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), k], stdout=subprocess.PIPE, text=True, env=where)
        for k in ("1", "2")
    ]
    seen = []
    while any(w.poll() is None for w in writers):
        if path.exists():
            model = load_model(path)  # whole, at every moment
            assert (model.arrays["coef"] == model.header["who"]).all()
            seen.append(model.header["who"])
    saves = [int(w.communicate()[0]) for w in writers]
    assert all(w.returncode == 0 for w in writers) and min(saves) > 3 and seen
    assert names(tmp_path) == {"model.safetensors"}
