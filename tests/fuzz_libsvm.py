"""Mutated data files: `load_libsvm` against a reference parser of thirty lines that shares nothing with it.

    python tests/fuzz_libsvm.py --cases 100000 [--seed 1]

Both must take the same decision on every case and, where they read it, find the same bits. The files are sets that ship
with scikit-learn and, where DCOPT_DATA is given, LIBSVM's; mutations are the mistakes of people, programs and disks.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import os
import random
import re
import struct
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

import dcopt

SETS = ("a9a", "w8a", "dna.scale", "heart_scale", "abalone_scale", "breast-cancer", "news20", "madelon", "cadata")
FLOAT = rb"[-+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)?"


class Refused(Exception):
    """The reference parser's no."""


def reference(raw: bytes, n_features: int | None) -> tuple[list[float], list[list[tuple[int, float]]]]:
    """Labels, and the pairs of every row; written for being read, not for speed."""
    try:
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else bz2.decompress(raw) if raw[:3] == b"BZh" else raw
    except (OSError, EOFError, ValueError, gzip.zlib.error) as why:
        raise Refused from why
    labels, rows, largest = [], [], 0
    for line in re.split(rb"\r\n|\r|\n", raw.removeprefix(b"\xef\xbb\xbf")):
        if b"\0" in line:
            raise Refused
        words = [word for word in re.split(rb"[ \t]", line.split(b"#")[0]) if word]
        if words:
            row = []
            for word in words[1:]:
                match = re.fullmatch(rb"[+]?([0-9]+):(" + FLOAT + rb")", word)
                if not match or len(match[1].lstrip(b"0")) > 18 or int(match[1]) <= (row[-1][0] if row else 0):
                    raise Refused
                row.append((int(match[1]), float(match[2])))
                largest = max(largest, row[-1][0])
            if not re.fullmatch(FLOAT, words[0]):
                raise Refused
            labels.append(float(words[0]))
            rows.append(row)
    numbers = labels + [value for row in rows for _, value in row]
    d = n_features or largest
    if not labels or not all(map(np.isfinite, numbers)) or not 0 < d or largest > (n_features or 10**8):
        raise Refused
    return labels, rows


# ------------------------------------------------------------------------------------------------ mutations

PIECES = (
    *(b"\0", b"\r", b"\n", b"\r\n", b"\n\n\n", b"\t", b" ", b":", b"::", b"#", b"# note\n", b",", b";", b"_", b"+"),
    *(b"-", b".", b"e", b"E5", b"e-400", b"1e400", b"nan", b"inf", b"-0", b"0x1", b"1_0", b"0:1", b"-1:1", b"1:1"),
    *(b"+5:1", b" 7:", b" :7", b"qid:3", b" qid:1 ", b"2147483648:1", b"99999999999999999999:1", b" 100000001:2"),
    *(b"word", b"\xef\xbb\xbf", b"\xff", b"\x0b", b"\x1a", b"\xc3\xa9", b"\x85", b"\xa0", b"1 2 3", b"0" * 40),
    *(b"9" * 400, b"1." + b"0" * 300),
)


def mutate(text: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, removed, inserted, doubled or moved."""
    data = bytearray(text)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((1, 1, 2, 5, 20)))
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] = rng.choice((rng.randrange(256), *b"0123456789 :.-+e\t\r\n#"))
        elif kind == 1:
            del data[at:to]
        elif kind == 2:
            data[at:at] = rng.choice(PIECES)
        elif kind == 3:
            data[at:at] = data[at:to]
        elif kind == 4 and to < len(data):
            data[at : to + 1] = data[to : to + 1] + data[at:to]
        else:
            data[at:to] = rng.choice(PIECES)
    return bytes(data)


def case(texts: list[list[bytes]], rng: random.Random) -> tuple[bytes, int | None]:
    """Some lines of a real file, mutated, now and then with other line ends or compressed."""
    lines = rng.choice(texts)
    start = rng.randrange(len(lines))
    text = b"\n".join(lines[start : start + rng.randint(1, 6)]) + rng.choice((b"\n", b"\n", b""))
    ends = rng.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r"))
    text = mutate(text.replace(b"\n", ends), rng)
    if rng.random() < 0.1:
        text = bz2.compress(text, 1) if rng.random() < 0.5 else gzip.compress(text, 1)
        text = mutate(text, rng) if rng.random() < 0.5 else text
    return text, rng.choice((None, None, None, None, None, 10, 123, 10**9))


def real_lines() -> list[list[bytes]]:
    """Files, each as up to 400 lines of at most 500 bytes."""
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("breast_cancer", "digits", "wine", "diabetes"):
            X, y = dcopt.load_dataset(name)
            dcopt.save_libsvm(Path(folder) / name, X[:400], y[:400])
            texts.append((Path(folder) / name).read_bytes())
    data = os.environ.get("DCOPT_DATA")
    for name in SETS if data else ():
        for path in (Path(str(data)) / name, Path(str(data)) / f"{name}.bz2"):
            if path.is_file():
                raw = path.read_bytes()
                texts.append(bz2.decompress(raw) if path.suffix == ".bz2" else raw)
    return [[line[:500] for line in text.splitlines()[:400]] for text in texts]


# ----------------------------------------------------------------------------------------------- comparison


class Report(NamedTuple):
    cases: int
    accepted: int
    wrong: list[str]
    slowest: float  # seconds of the processor

    def __str__(self) -> str:
        head = f"{self.cases} cases, {self.accepted} read and {self.cases - self.accepted} refused: "
        return head + f"{len(self.wrong)} disagreements or crashes, the slowest case {1e3 * self.slowest:.1f} ms of CPU"


def bits(values: object) -> bytes:
    return struct.pack(f"{len(values)}d", *values)  # type: ignore[arg-type]


def disagreement(path: Path, raw: bytes, n_features: int | None) -> tuple[str | None, bool, float]:
    """What is wrong, if anything; whether the file was read; the seconds that took."""
    path.write_bytes(raw)
    began, got, no = process_time(), None, ""
    try:
        got = dcopt.load_libsvm(path, n_features=n_features, cache=False)
    except dcopt.BadFile as why:
        no = str(why)
    except Exception as why:
        return f"{type(why).__name__}: {why}", False, process_time() - began
    took = process_time() - began
    try:
        labels, rows = reference(raw, n_features)
    except Refused:
        return (None if got is None else "read, and should have been refused"), got is not None, took
    if got is None:
        return f"refused ({no}), and should have been read", False, took
    X, y = got
    same = (
        bits(y.tolist()) == bits(labels)
        and X.indptr.tolist() == np.cumsum([0, *map(len, rows)]).tolist()
        and (X.indices + 1).tolist() == [j for row in rows for j, _ in row]
        and bits(X.data.tolist()) == bits([v for row in rows for _, v in row])
        and X.shape[1] == (n_features or max((j for row in rows for j, _ in row), default=0))
    )
    return (None if same else "other numbers"), True, took


def campaign(cases: int, seed: int, limit: int = 10) -> Report:
    """So many cases, a pure function of the seed; stops after `limit` mistakes."""
    texts, wrong, accepted, slowest = real_lines(), [], 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case"
        disagreement(path, b"1 1:1\n", None)  # imports
        for k in range(cases):
            raw, n_features = case(texts, random.Random(f"{seed}/{k}"))
            problem, read, took = disagreement(path, raw, n_features)
            accepted, slowest = accepted + read, max(slowest, took)
            if problem:
                wrong.append(f"case {k} of seed {seed}, n_features={n_features}: {problem}\n  {raw!r}")
                if len(wrong) >= limit:
                    return Report(k + 1, accepted, wrong, slowest)
    return Report(cases, accepted, wrong, slowest)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--cases", type=int, default=100_000)
    words.add_argument("--seed", type=int, default=0)
    asked = words.parse_args()
    report = campaign(asked.cases, asked.seed)
    sys.stdout.write("\n".join([*report.wrong, str(report)]) + "\n")
    sys.exit(bool(report.wrong))
