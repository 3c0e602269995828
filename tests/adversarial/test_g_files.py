"""G. Files that are not what they seem: binary, cut short, compressed, changing, endless."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dcopt
from dcopt import BadFile
from dcopt.data import bounds
from dcopt.datasets.text import MAX_LINE, Text

PLAIN = b"".join(b"%d 1:%d 3:0.25\n" % ((-1) ** i, i) for i in range(2000))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def refused(path: Path, **options: object) -> BadFile:
    with pytest.raises(BadFile) as caught:
        dcopt.load_libsvm(path, cache=False, **options)
    return caught.value


# ------------------------------------------------------------------------------------------ G3: not text at all


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\0" * 10_000, "a NUL byte: this is not text"),
        (b"\x7fELF\x02\x01\x01\0\0", "a NUL byte: this is not text"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "the label '%PDF-1.7' is not a number"),
        (b"\x89PNG\r\n\x1a\n\0\0", r"the label '\x89PNG' is not a number"),
        (b"<!DOCTYPE html>\n<html>", "the label '<!DOCTYPE' is not a number"),
        (b"version https://git-lfs.github.com/spec/v1\n", "the label 'version' is not a number"),
        (b"5.1,3.5,1.4,0.2,setosa\n", "the label '5.1,3.5,1.4,0.2,setosa' is not a number: decimals"),
        (b"1\xc3\x28 1:1\n", r"the label '1\xc3(' is not a number"),
        ("1 1:1\n".encode("utf-16"), "is UTF-16 text: save it as UTF-8"),
        (b"PK\3\4\x14\0", "is a zip file: plain text, gzip and bzip2 are read"),
        (b"\xfd7zXZ\0\0\4", "is a xz file: plain text, gzip and bzip2 are read"),
        (b"\x28\xb5\x2f\xfd\0", "is a zstd file: plain text, gzip and bzip2 are read"),
    ],
)
def test_g3_what_is_not_text_is_refused(file: Path, content: bytes, reason: str) -> None:
    file.write_bytes(content)
    assert refused(file).reason.startswith(reason)


def test_g3_noise_is_refused(file: Path) -> None:
    noise = np.random.default_rng(0)
    for _ in range(50):
        file.write_bytes(noise.bytes(5000))
        refused(file)


CODE = """
import resource, sys, dcopt
from dcopt.datasets import libsvm_strict
import sklearn.datasets, scipy.sparse
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    dcopt.load_libsvm(sys.argv[1], cache=False)
except dcopt.BadFile as why:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, why.line, why.reason)
"""


@pytest.mark.parametrize("piece", [b"9", b"x", b"1 ", b"\xff"])
def test_g3_a_line_of_a_gigabyte_costs_a_bounded_memory(file: Path, piece: bytes) -> None:
    member = gzip.compress(piece * (2**24 // len(piece)), 1)
    with open(file, "wb") as out:
        out.write(gzip.compress(b"1 1:1\n\n") + member * 64)
    run = subprocess.run([sys.executable, "-c", CODE, str(file)], capture_output=True, text=True, check=True)
    kilobytes, line, reason = run.stdout.split(maxsplit=2)
    assert reason.strip() == f"is longer than {MAX_LINE:,} bytes, the longest line allowed" and line == "3"
    assert int(kilobytes) * 1024 < 6 * MAX_LINE


def test_g3_a_long_line_within_the_bound_is_read(file: Path) -> None:
    d = 300_000
    file.write_bytes(b"1 " + b" ".join(b"%d:0.5" % j for j in range(1, d + 1)) + b"\n-1 2:1\n")
    X, _ = dcopt.load_libsvm(file, cache=False)
    assert X.shape == (2, d) and X.nnz == d + 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("line", [b"1 1:1\n", b"\n", b"# note\n"])
def test_g3_a_file_that_unpacks_to_far_more_is_refused(file: Path, pack, line: bytes, monkeypatch) -> None:
    """The ratio counts from 64 MB on; the test puts this bound at a megabyte."""
    monkeypatch.setattr(bounds, "_FREE", 2**20)
    file.write_bytes(pack(line * (2**22 // len(line))))
    assert 200 * file.stat().st_size < 2**22
    assert re.match(r"its text has more than 1,[0-9,]+ bytes: set DCOPT_MAX_BYTES", refused(file).reason)
    monkeypatch.setenv("DCOPT_MAX_BYTES", "1e9")
    assert line != b"1 1:1\n" or dcopt.load_libsvm(file, cache=False)[0].nnz == 2**22 // 6


def test_g3_the_limit_is_of_the_text_and_has_a_name(file: Path, monkeypatch) -> None:
    file.write_bytes(b"1 1:1\n" * 1000)
    monkeypatch.setenv("DCOPT_MAX_BYTES", "5999")
    assert "its text has more than 5,999 bytes" in refused(file).reason
    monkeypatch.setenv("DCOPT_MAX_BYTES", "6e3")
    assert dcopt.load_libsvm(file, cache=False)[0].nnz == 1000
    for bad in ("much", "0", "-5", "nan", "1e999"):
        monkeypatch.setenv("DCOPT_MAX_BYTES", bad)
        with pytest.raises(dcopt.BadSettings, match="a number of bytes"):
            dcopt.load_libsvm(file, cache=False)


def test_reading_tells_how_far_it_is(file: Path) -> None:
    for text in (b"1 1:1\n" * 500_000, b"# odd\n" + b"1 1:1\n" * 500_000):
        shares: list[float] = []
        file.write_bytes(text)
        dcopt.load_libsvm(file, cache=False, progress=shares.append)
        assert len(shares) >= 3 and sorted(shares)[-1] == shares[-1] == 1.0


# ----------------------------------------------------------------------------- G4: the file, not its content


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, bytes], ids=["bzip2", "gzip", "plain"])
@pytest.mark.parametrize("name", ["file", "file.bz2", "file.gz", "file.txt"])
def test_g4_compression_is_told_by_the_first_bytes(tmp_path: Path, pack, name: str) -> None:
    (tmp_path / name).write_bytes(pack(PLAIN))
    got = dcopt.load_libsvm(tmp_path / name, cache=False)
    assert got[0].shape == (2000, 3) and got[0].sum() == 2000 * 1999 / 2 + 500
    assert got.sha256 == hashlib.sha256(PLAIN).hexdigest()


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress], ids=["bzip2", "gzip"])
def test_g4_a_compressed_file_that_is_cut_or_spoilt_is_refused(file: Path, pack) -> None:
    whole = pack(PLAIN)
    for size in (5, 12, len(whole) // 2, len(whole) - 5, len(whole) - 1):
        file.write_bytes(whole[:size])
        assert refused(file).reason.startswith("is cut short: the")
    file.write_bytes(whole[:100] + bytes(b ^ 0x55 for b in whole[100:200]) + whole[200:])
    assert "cannot be read as" in refused(file).reason or "cut short" in refused(file).reason


def test_g4_several_streams_in_a_row_are_one_text(file: Path) -> None:
    file.write_bytes(gzip.compress(PLAIN) + gzip.compress(b"5 2:1\n"))
    assert dcopt.load_libsvm(file, cache=False)[0].shape == (2001, 3)
    file.write_bytes(bz2.compress(PLAIN) + bz2.compress(b"5 2:1\n"))
    assert dcopt.load_libsvm(file, cache=False)[0].shape == (2001, 3)


def test_g4_ranges_need_plain_text(file: Path) -> None:
    file.write_bytes(gzip.compress(PLAIN))
    assert refused(file, byte_range=(0, 5), n_features=3).reason == "is compressed (gzip): byte_range needs plain text"


def test_g4_an_empty_file_is_refused(file: Path) -> None:
    for content in (b"", b"\n\n", b"# only a comment", b"\xef\xbb\xbf", gzip.compress(b""), bz2.compress(b"")):
        file.write_bytes(content)
        assert refused(file).reason == "is empty: there is no row in it"


def test_g4_only_regular_files_are_opened(tmp_path: Path) -> None:
    assert refused(tmp_path).reason == "is a folder, not a file"
    os.mkfifo(tmp_path / "fifo")
    assert refused(tmp_path / "fifo").reason == "is not a regular file"
    assert refused(Path("/dev/zero")).reason == "is not a regular file"
    assert refused(tmp_path / "nothing").reason == "does not exist"
    (tmp_path / "loop").symlink_to("loop")
    assert refused(tmp_path / "loop").reason.startswith("cannot be opened")
    assert "null byte" in refused(Path("a\0b")).reason
    (tmp_path / "file").write_bytes(b"1 1:1\n")
    (tmp_path / "link").symlink_to("file")
    assert dcopt.load_libsvm(tmp_path / "link", cache=False)[0].shape == (1, 1)


@pytest.mark.parametrize("size", [10, 2**21, 2**24])
def test_g4_a_file_that_changes_while_it_is_read_is_refused(file: Path, size: int) -> None:
    file.write_bytes(b"1 1:1\n" * 2**20)
    with Text(file) as text:
        stream = io.BufferedReader(text, 2**16)
        stream.read(2**16)
        os.truncate(file, size)  # shorter, or longer
        with pytest.raises(BadFile, match="changed while it was read: from 6,291,456 bytes to"):
            while stream.read(2**20):
                pass


# ------------------------------------------------------------------------------------------------ G9: locale

LOCALE = """
import locale, sys, dcopt
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == "," and locale.str(1.5) == "1,5"
X, y = dcopt.load_libsvm(sys.argv[1])
dcopt.save_libsvm(sys.argv[1] + ".new", X, y)
X, y = dcopt.load_libsvm(sys.argv[1])  # from the cache
print(X.toarray().tolist(), y.tolist(), open(sys.argv[1] + ".new").read().split())
"""


def test_g9_a_decimal_comma_has_no_effect(file: Path, tmp_path: Path) -> None:
    if not shutil.which("localedef"):
        pytest.skip("no localedef: a locale with a decimal comma cannot be made")
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")]
    made = subprocess.run(command, capture_output=True)
    if made.returncode > 1:
        pytest.skip("the sources of de_DE are not installed")
    file.write_text("1.5 1:0.25 2:-1.75e-1\n")
    environment = os.environ | {"LOCPATH": str(tmp_path), "DCOPT_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", LOCALE, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "[[0.25, -0.175]] [1.5] ['1.5', '1:0.25', '2:-0.175']", run.stderr
