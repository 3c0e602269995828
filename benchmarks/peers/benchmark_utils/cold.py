"""A fresh process that imports, reads arrays, fits once and ends: the wall time around it, ours and skglm's.

Code that a package keeps compiled on disk is there from a first round that is not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .measure import GAMMA, Cell
from .problems import folder, load
from .race import threads
from .solvers import METHOD

_SHORT = 10.0  # seconds: a longer process is not repeated
READ = """
import resource
import sys
resource.setrlimit(resource.RLIMIT_AS, (10 * 2**30,) * 2)
import numpy as np
path, out, loss, penalty, lam, gamma, tol, kind = sys.argv[1:]
lam, gamma, tol = float(lam), float(gamma), float(tol)
kept = np.load(path)
y = kept["y"]
if "X" in kept:
    X = kept["X"]
else:
    import scipy.sparse as sp
    X = sp.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"]))
"""
OURS = READ + """
import dcopt
from dcopt.regularizers import L1, MCP, SCAD
r = {"l1": lambda: L1(lam), "mcp": lambda: MCP(lam, gamma=gamma), "scad": lambda: SCAD(lam, a=gamma)}[penalty]()
P = dcopt.erm(X, y, loss, r)
x = dcopt.solve(P, kind, tol=tol, measure="criticality", passes=1e5, trace=None, seed=0,
                x0=np.zeros(P.shape)).x
np.save(out, x)
"""
SKGLM = READ + """
from skglm import datafits, penalties, solvers
X = np.asfortranarray(X) if "X" in kept else X.tocsc()
r = {"l1": penalties.L1, "mcp": penalties.MCPenalty, "scad": penalties.SCAD}[penalty]
r = r(lam) if penalty == "l1" else r(lam, gamma)
f = None if kind == "GramCD" else datafits.Logistic() if loss == "logistic" else datafits.Quadratic()
solver = getattr(solvers, kind)(tol=tol, max_iter=1000, fit_intercept=False)
np.save(out, solver.solve(X, y, f, r)[0])
"""
KINDS = {"skglm-newton": "ProxNewton", "skglm-anderson": "AndersonCD", "skglm-gram": "GramCD"}


def cold(task: dict[str, Any], tol: float, many: int) -> dict[str, Any]:
    """Seconds of such a process, the least of `repeats`, and the benchmark's look at what it left."""
    X, y = load(task["data"], task["loss"], task["quick"])
    cell = Cell(X, y, task["loss"], task["penalty"], task["share"])
    quick = "-quick" if task["quick"] else ""
    kept, own = folder() / f"{task['data']}-{task['loss']}{quick}.npz", task["solver"] == "dcopt"
    text, kind = (OURS, METHOD) if own else (SKGLM, KINDS[task["solver"]])
    at = tol * (cell.distance0 if own else cell.most0)
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "x.npy"
        told = [kept, out, task["loss"], task["penalty"], cell.lam, GAMMA[task["penalty"]], at, kind]
        times: list[float] = []
        for counted in range(task["repeats"] + 1):
            began = perf_counter()
            try:
                subprocess.run([sys.executable, "-c", text, *map(str, told)], env=threads(many), check=True,
                               capture_output=True, timeout=task["limit"])  # fmt: skip
            except subprocess.SubprocessError as error:
                return {"event": "cold", "why": type(error).__name__, "tol": tol}
            took = perf_counter() - began
            if counted or (took > _SHORT and not own):  # our first round may have compiled; skglm keeps nothing
                times.append(took)
            if took > _SHORT and times:
                break
        return {"event": "cold", "seconds": min(times), "tol": tol, "d0": cell.distance0, **cell.look(np.load(out))}
