"""A fork while another thread imports, compiles or computes: the child works on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# `other` runs in a thread and sets `inside`; what the child does decides the exit code
BEGIN = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
inside, leave = threading.Event(), threading.Event()

def fork(other, child, wait=inside.wait):
    thread = threading.Thread(target=other)
    thread.start()
    wait()
    pid = os.fork()
    if not pid:
        signal.alarm(60)  # a child that hangs is killed
        child()
        os._exit(0)
    leave.set()
    thread.join()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""
SOLVE = """
import numpy as np, scipy.sparse as sp
import dcopt

X = sp.random_array((60, 8), density=0.3, format="csr", rng=np.random.default_rng(0))

def work():
    P = dcopt.erm(X, np.arange(60) % 2, "logistic", "scad")
    return dcopt.solve(P, "dca-page", steps=3, seed=0).x.tobytes()
"""


def python(code: str, folder: Path) -> str:
    environ = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], capture_output=True, text=True, env=environ, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("seconds", [0.3, 0.6, 1.0])
def test_the_child_of_a_process_that_compiles_solves(seconds: float, tmp_path: Path) -> None:
    """Somewhere in the imports, the compilations or the rest of a first run: it waited for ever at any of them."""
    code = f"assert fork(work, work, lambda: time.sleep({seconds})) == 0"
    python(SOLVE + code, tmp_path)


@pytest.mark.parametrize("held", ["compiler.one_process_at_a_time()", "compiler.global_compiler_lock"])
def test_a_fork_waits_for_the_thread_that_compiles(held: str, tmp_path: Path) -> None:
    """The thread lets go of the lock only later; nothing of it is held in the child, nor its lock file."""
    code = f"""
from dcopt.data.kernels import compiler
ended = []

def other():
    with {held}:
        inside.set()
        leave.wait(0.5)  # nobody sets it before the fork
        ended.append(True)

def child():
    compiler._PATIENCE = 0.0
    with compiler.one_process_at_a_time(), compiler.global_compiler_lock:
        os._exit(0 if ended and compiler._alone.kept else 3)

assert fork(other, child) == 0
assert all(lock.acquire(blocking=False) for lock in [compiler.forks.COMPILING])
"""
    python(code, tmp_path)


@pytest.mark.parametrize("names", [["dcopt.slow"], ["dcopt.slow", "dcopt.slower"], ["scipy.slow"]])
@pytest.mark.parametrize("where", ["find_spec", "exec_module"])
def test_a_fork_waits_for_the_thread_that_imports(names: list[str], where: str, tmp_path: Path) -> None:
    """Modules that another thread is looking for, or half through, one after the other."""
    code = f"""
import importlib, importlib.abc, importlib.machinery
import dcopt, scipy
NAMES, WHERE = {names}, {where!r}

def wait(place):
    if place == WHERE:
        inside.set()
        leave.wait(0.5)

class Slow(importlib.abc.Loader):
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        wait("exec_module")
        module.whole = True

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in NAMES:
            wait("find_spec")
            return importlib.machinery.ModuleSpec(name, Slow())

sys.meta_path.insert(0, Finder())

def other():
    for name in NAMES:
        importlib.import_module(name)

def child():
    os._exit(0 if all(importlib.import_module(name).whole for name in NAMES) else 3)

assert fork(other, child) == 0
"""
    python(code, tmp_path)


def test_a_fork_in_the_thread_that_imports_goes_on(tmp_path: Path) -> None:
    """A module of the library that is half imported in the thread that forks is not waited for."""
    module = "import os\npid = os.fork()\nif not pid:\n    os._exit(0)\nassert os.waitpid(pid, 0)[1] == 0\n"
    (tmp_path / "forking.py").write_text(module, encoding="utf-8")
    code = f"""
import dcopt
dcopt.__path__.append({str(tmp_path)!r})
import dcopt.forking
"""
    python(code, tmp_path)


def test_a_cached_property_that_another_thread_computes_is_free_in_the_child(tmp_path: Path) -> None:
    code = """
import numpy as np
from dcopt.data.dense import DenseRows

def other():
    class Slow(np.ndarray):
        def __array_function__(self, *args, **kwargs):
            inside.set()
            leave.wait(60)
            return np.zeros(3)
    DenseRows(np.ones((3, 2)).view(Slow)).norms2()

assert fork(other, lambda: DenseRows(np.ones((3, 2))).norms2()) == 0
"""
    python(code, tmp_path)


def test_a_fork_in_the_thread_that_compiles_goes_on(tmp_path: Path) -> None:
    code = """
from dcopt.data.kernels import compiler
with compiler.one_process_at_a_time():
    pid = os.fork()
    if not pid:
        os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
for _ in range(2):
    assert fork(lambda: inside.set(), lambda: None) == 0
"""
    python(code, tmp_path)
