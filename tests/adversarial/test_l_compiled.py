"""L. Compiled code: absent, broken, without a place to be kept, out of date, for the first time, out of bounds."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small import matrix, signs

import dcopt
from dcopt import Status
from dcopt.data import engine

PACKAGE = Path(dcopt.__file__).parent
TESTS = Path(__file__).parents[1]
NOWHERE = "/dev/null/nowhere"  # not for root either
posix = pytest.mark.skipif(os.name == "nt", reason="/dev/null, limits of a process")


def python(*words: str, **environ: str) -> str:
    """What a process of its own prints; it has to end well."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "DCOPT_", "PYTHON"))}
    kept["PYTHONPATH"] = os.pathsep.join((str(PACKAGE.parent), str(TESTS)))
    command = [sys.executable, "-B", *words]  # -B: a limit on files would cut Python's own in two
    done = subprocess.run(command, capture_output=True, text=True, env=kept | environ, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def said(code: str, **environ: str) -> Any:
    """The last line of a program, which is JSON; a warning is an error, and no text of a module is kept on disk."""
    return json.loads(python("-W", "error", "-B", "-c", code, **environ).splitlines()[-1])


SOLVE = """
import json
import numpy as np, scipy.sparse as sp
import dcopt
from dcopt.regularizers import Exponential
from small import matrix, signs

def problem(dtype="float64", loss="squared-sigmoid", **options):
    X = matrix(50, 6, density=0.5).astype(dtype)
    y = np.arange(50) % 3 if loss == "softmax" else signs(X)
    groups = "rows" if loss == "softmax" else None
    return dcopt.erm(sp.csr_array(X), y, loss, Exponential(lam=0.002, alpha=5.0, groups=groups), **options)

RUNS = [
    ("dca-page", {}),
    ("mm-saga", {}),
    ("dca-page", {"dtype": "float32", "sample_weight": 1.0 + np.arange(50) % 3}),
    ("dca-page", {"loss": "softmax", "intercept": True}),
    ("dca-local", {}),
    ("dca", {"loss": "softmax", "decomposition": "gram"}),  # rows: not to be solved without a loop
]

def solve(which=slice(None), **more):
    runs = [dcopt.solve(problem(**options), method, passes=6, seed=0, **more) for method, options in RUNS[which]]
    return [[res.x.tolist(), res.certificate.F, str(res.x.dtype), res.notes] for res in runs]
"""
WATCH = """
from numba.core import event

class Watch(event.Listener):
    count = 0
    def on_start(self, one):
        pass
    def on_end(self, one):
        self.count += 1

watch = Watch()
event.register("numba:compile", watch)
"""
TWICE = WATCH + SOLVE + "print(json.dumps([solve(), watch.count, solve(), watch.count]))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def usual(folder: str) -> Any:
    """Solved twice in a process that finds no kernels: answers and compilations so far, after each."""
    return said(TWICE, NUMBA_CACHE_DIR=folder)


# a module with kernels, one of which uses another
LOOPS = """
from dcopt.data.kernels.compiler import compiled

@compiled
def one(x):
    return x + 1.0

@compiled
def two(x):
    return one(x) + one(x)

@compiled
def three(x):
    return 3.0 * x

@compiled
def four(x):
    return 4.0 * x

@compiled
def five(x):
    return 5.0 * x
"""
CALL = """
import json
import loops
kernels = loops.two, loops.three, loops.four, loops.five
values = [kernel(1.0) for kernel in kernels]
hits, misses = ([sum(getattr(k.stats, name).values()) for k in kernels] for name in ("cache_hits", "cache_misses"))
print(json.dumps([values, hits, misses]))
"""


@pytest.fixture
def loops(tmp_path: Path) -> Path:
    file = tmp_path / "lib" / "loops.py"
    file.parent.mkdir()
    file.write_text(LOOPS, encoding="utf-8")
    return file


def call(file: Path, before: str = "", **environ: str) -> Any:
    """The values of `two` to `five` at 1, and whether each was found in the cache, or missed there."""
    return said(f"import sys; sys.path.insert(0, {str(file.parent)!r})\n" + before + CALL, **environ)


# ---- L1

FAULTS = {
    "absent": "import sys; sys.modules['numba'] = None\n",
    "no llvmlite": "import sys; sys.modules['llvmlite'] = None\n",
    "broken": """
import sys
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("numba"):
            raise OSError("libLLVM.so: cannot open shared object file")
sys.meta_path.insert(0, Broken())
""",
    "switched off": "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'\n",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_l1_without_numba_the_answers_are_the_same_and_the_result_says_so(fault: str, usual: Any) -> None:
    told = said(FAULTS[fault] + SOLVE + "print(json.dumps(solve()))")
    for (x, F, dtype, notes), (want, least, _, nothing) in zip(told, usual[0], strict=True):
        tol = 1e-4 if dtype == "float32" else 1e-8
        np.testing.assert_allclose(x, want, rtol=tol, atol=tol)
        assert F == pytest.approx(least, rel=tol**1.5)
        assert nothing == [] and len(notes) == 1 and "not compiled" in notes[0] and "numba" in notes[0]


def test_l1_the_rows_keep_their_laws_without_numba() -> None:
    code = """
import json
import numpy as np
from conformance.test_rows import ALL
from dcopt.data import csr
from dcopt.laws.base import run
from dcopt.laws.rows import LAWS
for make in ALL.values():
    run(LAWS, make())
n = 70_000  # large enough to be visited in parts
rows = csr.CsrRows(np.arange(n + 1) * 4, np.tile(np.arange(4), n), np.ones(4 * n, np.float32), 4)
assert np.array_equal(rows.dot(np.arange(4.0)), np.full(n, 6.0))
assert np.array_equal(rows.tdot(np.ones((n, 2))), np.full((4, 2), n))
assert np.array_equal(rows.can().gram(None, np.array([1, 3])), np.full((2, 2), n))
wide = csr.CsrRows(np.arange(n + 1) * 4, np.tile(np.arange(20), n // 5), np.arange(4.0 * n), 20)
whole = wide.can().gram(None, np.arange(20))
for _ in range(2):  # the entries of few columns are set aside, and found again
    assert np.allclose(wide.can().gram(None, np.array([7, 2])), whole[np.ix_([7, 2], [7, 2])], rtol=1e-14)
    indptr, indices, data = wide.by_columns.few(np.array([2, 7]))
    assert indptr[-1] == indices.size == data.size == n // 5 * 2 and set(indices) == {2, 7}
print(json.dumps(csr.kernels.__name__))
"""
    assert said(FAULTS["absent"] + code) == "dcopt.data.kernels.csr_scipy"


# ---- L2


@posix
def test_l2_no_place_for_kernels(tmp_path: Path, usual: Any) -> None:
    """Package folder, home and folder for temporary files cannot be written, by whomever: then nothing is kept."""
    copy = tmp_path / "lib" / "dcopt"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_bytes(b"")  # a file: no folder can be made, by root neither
    fault = f"""
import sys, tempfile
sys.path.insert(0, {str(copy.parent)!r})
def gettempdir():
    raise FileNotFoundError("No usable temporary directory found")
tempfile.gettempdir = gettempdir
"""
    tell = """
told = solve(slice(4, None))
from dcopt.data.kernels import csr_kernels
from dcopt.subproblems import cd_kernels
where = [csr_kernels.__file__, *(k.stats.cache_path for k in (csr_kernels.dot1, csr_kernels.tdot1, cd_kernels.descend))]
print(json.dumps([told, where]))
"""
    environ = {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "TMPDIR": NOWHERE}
    told, where = said(fault + SOLVE + tell, **environ)
    assert told == usual[0][4:] and where == [str(copy / "data" / "kernels" / "csr_kernels.py"), None, None, None]


@posix
def test_l2_a_full_disk_costs_a_compilation_and_not_the_run(tmp_path: Path, loops: Path) -> None:
    fault = """
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # no file may grow
try:
    with open(os.path.join(os.environ["NUMBA_CACHE_DIR"], "probe"), "w") as probe:
        probe.write("x")
    raise SystemExit("the fault does not happen")
except OSError:
    pass
"""
    assert call(loops, fault, NUMBA_CACHE_DIR=str(tmp_path)) == [[4.0, 3.0, 4.0, 5.0], [0] * 4, [1] * 4]


def test_l2_torn_files_are_compiled_again_and_mended(tmp_path: Path, loops: Path) -> None:
    for found in (0, 0, 1):
        told = call(loops, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
        assert told == [[4.0, 3.0, 4.0, 5.0], [found] * 4, [1 - found] * 4]
        if (tmp_path / "torn").exists():
            continue
        (tmp_path / "torn").touch()
        for kind in ("two*.nbi", "three*.nbi", "four*.nbc", "five*.nbc"):  # indices, and code
            (file,) = (tmp_path / "kernels").rglob("loops." + kind)
            file.write_bytes(b"" if kind[:2] in ("tw", "fo") else b"\x80\x05garbage")


# ---- L3

STAMPS = {
    "as it is": "",
    "size and time only": """
import os
from numba.core import caching
def stamp(self):
    about = os.stat(self._py_file)
    return about.st_mtime, about.st_size
caching._SourceFileBackedLocatorMixin.get_source_stamp = stamp
""",
}


def rewrite(file: Path, old: str, new: str) -> None:
    """Another text of the same size and time, as in packages whose files are all of the same date."""
    text, about = file.read_text(encoding="utf-8"), file.stat()
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert file.stat().st_size == about.st_size and file.stat().st_mtime_ns == about.st_mtime_ns


@pytest.mark.parametrize("stamps", STAMPS)
def test_l3_never_a_stale_kernel(tmp_path: Path, loops: Path, stamps: str) -> None:
    def values() -> Any:
        return call(loops, STAMPS[stamps], NUMBA_CACHE_DIR=str(tmp_path / "kernels"))[0]

    assert values() == [4.0, 3.0, 4.0, 5.0]
    rewrite(loops, "3.0 * x", "7.0 * x")
    assert values() == [4.0, 7.0, 4.0, 5.0]
    rewrite(loops, "x + 1.0", "x + 2.0")  # of which another kernel is made
    assert values() == [6.0, 7.0, 4.0, 5.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("data/kernels/compiler.py", "return math.exp(z)", "return math.exp(0)"), ("losses/welsch.py", "e * ", "1 * ")],
)
def test_l3_nor_one_that_is_made_of_several_files(tmp_path: Path, file: str, old: str, new: str) -> None:
    copy = tmp_path / "lib" / "dcopt"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        f"import sys; sys.path.insert(0, {str(copy.parent)!r})\n"
        + """
import json
import numpy as np, scipy.sparse as sp
import dcopt
f = dcopt.erm(sp.csr_array(np.eye(2)), [1.0, 2.0], "welsch").f
print(json.dumps(f.fused(np.arange(2), np.array([1.0, 0.5]), np.zeros(2)).tolist()))
"""
    )
    before = said(code, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
    rewrite(copy / file, old, new)
    assert said(code, NUMBA_CACHE_DIR=str(tmp_path / "kernels")) != before


# ---- L4


def test_l4_a_second_call_compiles_nothing(usual: Any, folder: str) -> None:
    """Neither in the same process, nor in another one: the kernels of the first are on the disk."""
    first, some, second, all_in_all = usual
    assert first == second and 0 < some == all_in_all
    third, none, fourth, still_none = said(TWICE, NUMBA_CACHE_DIR=folder)
    assert first == third == fourth and none == still_none == 0


def test_l4_compiling_is_off_the_clock(tmp_path: Path) -> None:
    """Every compilation takes an hour, on a clock of the test's own: no trace has seen it, no limit was met."""
    late = (
        WATCH
        + """
import time
from dcopt.data import engine
engine.perf_counter = lambda: time.perf_counter() + 3600.0 * watch.count
"""
    )
    tell = """
from dcopt.runs.driver import Driver
go, inside = Driver.go, []
def count(*args, **more):
    before = watch.count
    end = go(*args, **more)
    inside.append(watch.count - before)
    return end
Driver.go = count
told = []
for method, options in (RUNS[5], RUNS[4], RUNS[0]):
    res = dcopt.solve(problem(**options), method, seed=0, passes=6, seconds=1800.0, measure="criticality", trace=0.1)
    longest = max(record.seconds for record in res.trace)
    told.append([res.status.name, res.seconds < 1800.0 and longest < 1800.0])
print(json.dumps([told, inside]))
"""
    told, inside = said(late + SOLVE + tell, NUMBA_CACHE_DIR=str(tmp_path))
    assert told == [["BUDGET", True]] * 3 and inside[0] > 0  # coordinate descent is compiled where it is needed first


def test_l4_the_clock_counts_what_is_not_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(engine, "perf_counter", lambda: now[0])
    began = engine.clock()
    now[0] += 1.0
    with engine.off_the_clock():
        now[0] += 10.0
        with engine.off_the_clock():
            now[0] += 100.0
        now[0] += 1000.0
    now[0] += 2.0
    assert engine.clock() - began == pytest.approx(3.0, abs=1e-6)  # what was compiled before is in both
    with pytest.raises(ValueError), engine.off_the_clock():
        now[0] += 1e4
        raise ValueError
    assert engine.clock() - began == pytest.approx(3.0, abs=1e-6)  # what was compiled before is in both


# ---- L5


def test_l5_first_calls_from_many_threads(tmp_path: Path, usual: Any) -> None:
    code = """
import threading
from concurrent.futures import ThreadPoolExecutor
ready = threading.Barrier(4)
def work(which):
    ready.wait()
    return solve(which)
with ThreadPoolExecutor(4) as pool:
    print(json.dumps(list(pool.map(work, [slice(0, 2), slice(0, 1), slice(3, 6), slice(3, 6)]))))
"""
    first = usual[0]
    told = said(SOLVE + code, NUMBA_CACHE_DIR=str(tmp_path))
    assert told == [first[:2], first[:1], first[3:], first[3:]]


# ---- M12: the lock

LOCK = """
import json, os, sys, time
from dcopt.data import engine
from dcopt.data.kernels import compiler
compiler._PATIENCE = 0.5
path = compiler._folder() / compiler._LOCK
path.parent.mkdir(parents=True, exist_ok=True)
"""
TAKE = """
began = time.monotonic()
found = []
for _ in range(3):
    with compiler.one_process_at_a_time():
        found.append(compiler._alone.kept)
print(json.dumps([found, time.monotonic() - began, engine.notes(), compiler._alone.kept]))
"""


@posix
def test_m12_the_lock_is_where_the_kernels_are(tmp_path: Path) -> None:
    code = LOCK + TAKE.replace("engine.notes()", "str(path)")
    found, _, path, _ = said(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert found == [True] * 3 and Path(path).is_relative_to(tmp_path) and Path(path).is_file()


@posix
@pytest.mark.parametrize(
    ("trap", "why"),
    [
        ("os.mkfifo(path)", "not a regular file"),
        ("os.symlink(path.with_name('target'), path)", "symbolic links"),
        ("path.mkdir()", "directory"),
        ("import fcntl; other = open(path, 'a'); fcntl.flock(other, fcntl.LOCK_EX)", "another process has held"),
    ],
)
def test_m12_a_lock_that_cannot_be_had_costs_a_compilation(trap: str, why: str, tmp_path: Path) -> None:
    """A FIFO of its name, or a stopped process that held it, kept every other one waiting, without a word."""
    found, took, notes, after = said(LOCK + trap + TAKE, NUMBA_CACHE_DIR=str(tmp_path))
    assert found == [False] * 3 and took < 10.0 and after
    assert len(notes) == 1 and "for this process alone" in notes[0] and why in notes[0]
    assert not list(tmp_path.rglob("target"))


@posix
def test_m12_what_is_compiled_alone_is_neither_kept_nor_taken_from_the_disk(loops: Path, tmp_path: Path) -> None:
    environ = {"NUMBA_CACHE_DIR": str(tmp_path)}
    alone = "from dcopt.data.kernels import compiler\ncompiler._alone.kept = False\n"
    assert call(loops, alone, **environ)[0] == [4.0, 3.0, 4.0, 5.0] and not list(tmp_path.rglob("*.nbc"))
    assert call(loops, **environ)[0] == [4.0, 3.0, 4.0, 5.0]
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}
    assert kept and call(loops, alone, **environ) == [[4.0, 3.0, 4.0, 5.0], [0] * 4, [1] * 4]
    assert kept == {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")}


# ---- L6

BOUNDS = ("conformance/test_rows.py", "lockstep/test_fused.py", "adversarial/test_a_door.py")


@pytest.mark.slow
def test_l6_with_bounds_checked(tmp_path: Path) -> None:
    """What the door lets in is in bounds for every kernel; that bounds are looked at is tested first."""
    environ = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    code = """
import json
import numpy as np
from dcopt.data.csr import CsrRows
rows = CsrRows(np.array([0, 1]), np.array([7]), np.ones(1), 2)
found = []
for beyond in (lambda: rows.dot(np.ones(2)), lambda: rows.tdot(np.ones(1)), lambda: rows.dot(np.ones((2, 2)))):
    try:
        beyond()
    except IndexError as error:
        found.append(str(error))
print(json.dumps(found))
"""
    assert len(said(code, **environ)) == 3
    options = ("-q", "-p", "no:cacheprovider", "-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(TESTS))
    words = "csr or sparse or fused or malformed or law"
    out = python("-m", "pytest", *options, *(str(TESTS / name) for name in BOUNDS), "-k", words, **environ)
    assert " passed" in out and "failed" not in out
    assert said(SOLVE + "print(json.dumps([row[1] for row in solve()]))", **environ)


def test_l6_nothing_is_compiled_that_may_change_sums() -> None:
    """No fastmath (NaN is dropped, sums are reordered), no parallel reductions: as options, or as texts of options."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = {getattr(node, part, None) for part in ("arg", "id", "attr")}
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
            assert not names & {"fastmath", "parallel", "prange"}, path


def test_an_ordinary_result_says_nothing_of_it() -> None:
    X = matrix(30, 4, density=0.5)
    res = dcopt.solve(dcopt.erm(sp.csr_array(X), signs(X)), "dca", passes=2)
    assert res.status is Status.BUDGET and res.notes == engine.notes() == ()
