"""sdist and wheel, built and used in a bare environment: python packaging/check_wheel.py

The wheel holds py.typed and the recipes and no tests, the sdist holds the tests and the documents. `pip check` is
content. The Python and the command lines of README.md run. The seconds of the import and of a first model are printed,
not judged.
"""

from __future__ import annotations

import csv
import re
import statistics
import tarfile
import zipfile
from pathlib import Path

import bare

TABLES = """
import csv, numpy as np
rows = np.random.default_rng(0).normal(size=(80, 4))
for name in ("train.csv", "test.csv"):
    with open(name, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "c", "d", "y"])
        out.writerows([*map(float, row), int(row[0] > 0.3 * row[1])] for row in rows)
"""
IMPORT = "import dcopt"
FIRST = """
import numpy as np, dcopt
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 100))
y = X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=200)
print(dcopt.DCRegressor(penalty="mcp", lam=0.1).fit(X, y).status_)
"""
TIMED = """
import os, subprocess, sys, time
began, before = time.perf_counter(), os.times()
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True, capture_output=True)
spent = os.times()
print(time.perf_counter() - began, spent.children_user + spent.children_system)
"""


def contents(wheel: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as files:
        inside = set(files.namelist())
    with tarfile.open(sdist) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("dcopt/py.typed", "dcopt/__init__.py", "dcopt/experiments/recipes/binary.toml"):
        if name not in inside:
            raise SystemExit(f"{name} is not in {wheel.name}")
    strangers = {name for name in inside if not name.startswith(("dcopt/", "dcopt-"))}
    if strangers:
        raise SystemExit(f"{wheel.name} also holds {sorted(strangers)[:5]}")
    for name in ("tests/small.py", "docs/index.md", "examples/drift.py", "pyproject.toml", "LICENSE", "Makefile"):
        if name not in source:
            raise SystemExit(f"{name} is not in {sdist.name}")
    print(f"{wheel.name}: {len(inside)} files; {sdist.name}: {len(source)}")


def seconds(python: Path, code: str, rounds: int = 5) -> str:
    """Median seconds of a fresh process, by the clock and of the processor, after one that fills the caches."""
    bare.run(python, "-c", code)
    both = [[float(word) for word in bare.run(python, "-c", TIMED, code).split()] for _ in range(rounds)]
    clock, own = (statistics.median(column) for column in zip(*both, strict=True))
    return f"{clock:.2f} s by the clock, {own:.2f} s of the processor"


def readme(python: Path) -> None:
    """Its first Python block prints its text block; its command lines run on a table as it describes."""
    text = (bare.ROOT / "README.md").read_text(encoding="utf-8")
    code, said = (re.search(rf"```{kind}\n(.*?)```", text, re.S)[1] for kind in ("python", "text"))  # type: ignore[index]
    if bare.run(python, "-W", "error", "-c", code).split() != said.split():
        raise SystemExit("README.md prints something else with the wheel")
    place = bare.WORK / "readme"
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    bare.run(python, "-c", TABLES, cwd=place)
    lines = re.findall(r"^    (dcopt (?:fit|resume|predict) [^#\n]*)", text, re.M)
    for line in lines:
        words = line.split()
        if not bare.run(python, "-m", "dcopt.cli", *words[1:], cwd=place).strip():
            raise SystemExit(f"{line} printed nothing")
    with open(place / "train.csv", newline="") as file:
        rows = len(list(csv.reader(file))) - 1
    print(f"README.md: its Python and {len(lines)} command lines run, on {rows} rows")


def main() -> None:
    bare.WORK.mkdir(parents=True, exist_ok=True)
    wheel = bare.build()
    contents(wheel)
    python = bare.environment("wheel", wheel)
    where = bare.run(python, "-c", "import dcopt; print(dcopt.__version__, dcopt.__file__)").split()
    if "site-packages" not in where[1]:
        raise SystemExit(f"dcopt was imported from {where[1]}")
    print(f"dcopt {where[0]} is installed, pip check is content")
    readme(python)
    print(f"python -c pass      {seconds(python, 'pass')}")
    print(f"import dcopt        {seconds(python, IMPORT)} (with Python itself)")
    print(f"first model         {seconds(python, FIRST)} (with Python itself)")


if __name__ == "__main__":
    main()
