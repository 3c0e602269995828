"""Counts the files and the depth of calls of a run: python benchmarks/layers.py [-v]

Of src/dcopt: the files of which a function is called, and the most calls inside one another. With -v also which.
What was imported or compiled by an earlier run is not counted.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from scipy import sparse

import dcopt

SOURCE = str(Path(dcopt.__file__).parent)


def traced(run: Callable[[], Any]) -> tuple[dict[str, set[str]], list[CodeType]]:
    """The functions that are called, by file, and the deepest stack of calls"""
    files: dict[str, set[str]] = defaultdict(set)
    stack: list[CodeType] = []
    deepest: list[CodeType] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(SOURCE):
            return
        if event == "call":
            stack.append(code)
            if all(one.co_name != "<module>" for one in stack):
                files[code.co_filename[len(SOURCE) + 1 :]].add(code.co_qualname)
                deepest[:] = max(deepest, stack, key=len)
        elif event == "return":
            stack.pop()

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return files, deepest


def main() -> None:
    draw = np.random.default_rng(0)
    X = sparse.random(300, 40, 0.2, random_state=draw, format="csr")
    truth = draw.normal(size=40) * (draw.random(40) < 0.3)
    y = np.where(X @ truth + 0.3 * draw.normal(size=300) > 0.0, 1.0, -1.0)
    P = dcopt.erm(X, y, loss="logistic", regularizer=dcopt.regularizers.SCAD(lam=0.01))
    runs: dict[str, Callable[[], Any]] = {
        'solve(P, "auto")': lambda: dcopt.solve(P, "auto"),
        'solve(P, "dca-page")': lambda: dcopt.solve(P, "dca-page", passes=5),
        "DCClassifier().fit(X, y)": lambda: dcopt.DCClassifier(lam=0.01).fit(X, y),
    }
    for name, run in runs.items():
        run()  # What is imported and compiled only once is left out.
        files, deepest = traced(run)
        print(f"{name}: {len(files)} files, {sum(map(len, files.values()))} functions, {len(deepest)} calls deep")
        if "-v" in sys.argv:
            for file in sorted(files):
                print(f"    {file}: {', '.join(sorted(files[file]))}")
            for code in deepest:
                print(f"        {code.co_filename[len(SOURCE) + 1 :]} {code.co_qualname}")


main()
