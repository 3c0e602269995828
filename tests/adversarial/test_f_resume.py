"""F. Killed and resumed: the same bits as if nothing had happened, and a file that is always whole."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from faults import FaultyRows, faulty_calls
from small import EXP, binary, matrix, signs

import dcopt
from dcopt import BadModel, BadSettings, ResumeMismatch, Status, erm, peek, resume, solve
from dcopt.convex import ScaledIdentity
from dcopt.data.check import as_rows
from dcopt.estimators import ESTIMATORS, PAGE, SAGA, Fresh, Full
from dcopt.regularizers import L1, SCAD
from dcopt.runs.stop import Rule, Steps
from dcopt.store import checkpoint as writing
from dcopt.store import keeper

FAST = writing.CALLS._replace(fsync=lambda handle: None)  # no test here pulls the plug
HOWS = [*dcopt.METHODS, *ESTIMATORS]


def how(name: str) -> Any:
    return ESTIMATORS.get(name, name)


def convex(**options: Any) -> dcopt.Problem:
    """One that every method solves."""
    return binary(loss="logistic", **options)


def bits(result: dcopt.Result) -> tuple[Any, ...]:
    """All of a result but its timings."""
    lines = [record._replace(seconds=0.0) for record in result.trace]
    end = result.status, result.message, result.certificate, result.spent, result.steps, result.seed, result.method
    return result.x.tobytes(), result.x.dtype, lines, *end


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A run with every=0 leaves one file for each step, path.t."""

    def save(path: Any, origin: Any, run: Any, calls: Any) -> None:
        writing.save(f"{path}.{run.t}", origin, run, FAST)

    monkeypatch.setattr(keeper, "save", save)
    yield


def same_from(path: Path, t: int, P: dcopt.Problem, want: dcopt.Result, **more: Any) -> None:
    file = path.with_name(f"{path.name}.{t}")
    assert peek(file).header["state"]["t"] == t
    got = resume(file, P, every=1e9, **more)
    assert bits(got) == bits(want), t


# ---- F2, F5


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("name", HOWS)
def test_f2_resume_at_every_step(name: str, tmp_path: Path) -> None:
    told: dict[str, Any] = {"steps": 60, "tol": 1e-14, "seed": 5, "trace": 0.7}
    want = solve(convex(), how(name), **told)
    path = tmp_path / "run"
    assert bits(solve(convex(), how(name), checkpoint=path, every=0.0, **told)) == bits(want)  # F5: saving is invisible
    last = want.steps
    assert last > 20 or name in ("dca-local", "dca-nested")  # which need few
    for t in range(min(50, last) + 1):
        same_from(path, t, convex(), want)
    same_from(path, last, convex(), want)


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("output", ["last", "best", "uniform", "uniform-before"])
@pytest.mark.parametrize("name", ["dca", "dca-page", "sdca", "dca-svrg"])
def test_f2_every_output(name: str, output: Any, tmp_path: Path) -> None:
    told: dict[str, Any] = {"passes": 12, "seed": 3, "output": output}
    want = solve(binary(), name, **told)
    solve(binary(), name, checkpoint=tmp_path / "run", every=0.0, **told)
    for t in range(0, want.steps, max(1, want.steps // 7)):
        same_from(tmp_path / "run", t, binary(), want)


def rich(form: Any, loss: str, dtype: Any) -> dcopt.Problem:
    X = matrix(60, 8, density=0.6).astype(dtype)
    y = np.arange(60) * 7 % 3 if loss == "softmax" else signs(X)
    weights = np.random.default_rng(0).random(60)
    return erm(form(X), y, loss, SCAD(lam=0.01, weights=np.arange(8.0)), intercept=True, sample_weight=weights)


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", ["softmax", "squared-sigmoid"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_f2_all_kinds_of_data(form: Any, loss: str, dtype: Any, tmp_path: Path) -> None:
    for name in ("dca-page", "dca-saga", "mm-svrg", "ssdc-spg"):
        told: dict[str, Any] = {"steps": 25, "seed": 1, "measure": "criticality"}
        want = solve(rich(form, loss, dtype), name, **told)
        solve(rich(form, loss, dtype), name, checkpoint=tmp_path / name, every=0.0, **told)
        for t in (0, 1, 9, 24, 25):
            same_from(tmp_path / name, t, rich(form, loss, dtype), want)


@pytest.mark.parametrize("P", [
    lambda: dcopt.problems.sparse_regression(matrix(30, 5), matrix(30, 5)[:, 0]),
    lambda: dcopt.problems.robust_regression(matrix(30, 5), matrix(30, 5)[:, 0], scale=1.0),
    lambda: dcopt.problems.nmf(np.abs(matrix(12, 5)), 2),
])  # fmt: skip
def test_f2_problems_with_a_general_g(P: Any, tmp_path: Path) -> None:
    x0 = np.abs(np.random.default_rng(0).standard_normal(P().shape))
    want = solve(P(), "dca", steps=12, seed=0, x0=x0)
    solve(P(), "dca", steps=5, seed=0, x0=x0, checkpoint=tmp_path / "run")
    assert bits(resume(tmp_path / "run", P(), steps=12)) == bits(want)


def test_f2_a_finished_run_goes_on(tmp_path: Path) -> None:
    """Budget by budget, tolerance by tolerance: the file of each end is the start of the next."""
    path = tmp_path / "run"
    for k, passes in enumerate((0, 3, 3, 7.5, 40)):
        want = solve(convex(), "dca-page", passes=passes, seed=2)
        if k == 0:
            go = solve(convex(), "dca-page", passes=0, seed=2, checkpoint=path)
        else:
            go = resume(path, convex(), passes=passes)
        assert bits(go) == bits(want)
    path = tmp_path / "tol"
    solve(convex(), "dca-page", tol=1e-2, seed=2, checkpoint=path)
    for tol in (1e-3, 1e-5):
        assert bits(resume(path, convex(), tol=tol)) == bits(solve(convex(), "dca-page", tol=tol, seed=2))
    assert resume(path, convex()).status is Status.CONVERGED


def test_f2_a_budget_replaces_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "run"
    solve(convex(), "dca-page", steps=4, seconds=1e3, seed=0, checkpoint=path)
    more = resume(path, convex(), passes=9)
    assert bits(more) == bits(solve(convex(), "dca-page", passes=9, seed=0)) and more.steps > 4
    assert peek(path).header["origin"]["told"]["steps"] is None
    assert resume(path, convex(), passes=5).steps == more.steps  # less than was spent: nothing happens


def test_f2_endings_are_kept(tmp_path: Path) -> None:
    """STALLED, and F that rose: the resumed run says the same."""
    X = np.sign(matrix(20, 3)).astype(np.float32)
    stalled = lambda: erm(X, X[:, 0] + 0.5, "squared", L1(0.01))  # noqa: E731
    diverges = lambda: binary(kappa=1e-3)  # noqa: E731
    for k, (P, name) in enumerate(((stalled, "dca"), (diverges, "dca"), (diverges, "dca-page"))):
        path = tmp_path / str(k)
        end = solve(P(), name, tol=0.0, passes=3000, seed=0, checkpoint=path)
        assert end.status is (Status.STALLED if k == 0 else Status.DIVERGED)
        assert bits(resume(path, P())) == bits(end)


@pytest.mark.usefixtures("every_step")
def test_f2_checks_without_progress_are_counted_on(tmp_path: Path) -> None:
    X = np.sign(matrix(20, 3)).astype(np.float32)
    P = erm(X, X[:, 0] + 0.5, "squared", L1(0.01))
    told: dict[str, Any] = {"tol": 0.0, "passes": 3000, "seed": 0}
    want = solve(P, "dca", **told)
    assert want.status is Status.STALLED
    solve(P, "dca", checkpoint=tmp_path / "run", every=0.0, **told)
    for t in range(want.steps % 7, want.steps, max(1, want.steps // 12)):
        same_from(tmp_path / "run", t, P, want)


@pytest.mark.usefixtures("every_step")
def test_f2_the_best_point_may_be_long_ago(tmp_path: Path) -> None:
    told: dict[str, Any] = {"passes": 12, "seed": 0, "output": "best"}
    noisy = Fresh(b=1)
    want = solve(binary(), noisy, **told)
    best = want.certificate.t
    assert 0 < best < want.steps - 10
    solve(binary(), noisy, checkpoint=tmp_path / "run", every=0.0, **told)
    for t in (best - 1, best, best + 1, want.steps - 1, want.steps):
        same_from(tmp_path / "run", t, binary(), want)


def test_f2_a_plan(tmp_path: Path) -> None:
    P = convex()
    plan = dcopt.plan(P, 0.05)
    want = solve(P, plan, seed=1)
    solve(P, plan, steps=min(plan.T, 9), seed=1, output=plan.output, checkpoint=tmp_path / "run")
    Q = convex()
    again = dcopt.plan(Q, 0.05)
    assert bits(resume(tmp_path / "run", Q, again, steps=again.T)) == bits(want)
    with pytest.raises(ResumeMismatch, match="G: "):
        resume(tmp_path / "run", Q)


def test_f2_a_named_subsolver_and_a_rule_of_ones_own(tmp_path: Path) -> None:
    class Odd(Rule):
        def __call__(self, run: Any) -> Status | None:
            return Status.BUDGET if run.t >= 7 else None

    path = tmp_path / "run"
    first = solve(convex(), "dca", stop=Odd(), seed=0, subsolver="fista", checkpoint=path)
    assert first.steps == 7
    with pytest.raises(BadSettings, match="stop"):
        resume(path, convex())
    want = solve(convex(), "dca", stop=Steps(11), seed=0, subsolver="fista")
    assert bits(resume(path, convex(), stop=Steps(11))) == bits(want)


def test_f2_callbacks_see_every_step_once(tmp_path: Path) -> None:
    seen: list[int] = []
    look = [lambda state: seen.append(state.t)]
    solve(convex(), "dca-page", steps=9, seed=0, callbacks=look, checkpoint=tmp_path / "run")
    resume(tmp_path / "run", convex(), steps=20, callbacks=look)
    assert seen == list(range(1, 21))


# ---- F1

CHILD = """
import sys, time
sys.path[:0] = sys.argv[3:]
from test_f_resume import long_problem
import dcopt
def slowly(state):
    if state.t == 1:
        print("running", flush=True)
    time.sleep(0.001)
path, method = sys.argv[1:3]
dcopt.solve(long_problem(), method, steps=1500, seed=7, output="best", checkpoint=path, every=0.02, callbacks=[slowly])
print("done", flush=True)
"""
TOLD: dict[str, Any] = {"steps": 1500, "seed": 7, "output": "best"}


def long_problem() -> dcopt.Problem:
    X = matrix(400, 30, density=0.3)
    return erm(sp.csr_array(X), signs(X), regularizer=EXP, intercept=True)


def kill_once(path: Path, method: str, moment: float, want: dcopt.Result) -> bool:
    """Kill a run, look at what is there, resume. Whether it was still running."""
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", CHILD, str(path), method, here, *sys.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "running\n"
        time.sleep(moment)
        child.send_signal(signal.SIGKILL)
        cut = child.stdout.read() == ""
    t = peek(path).header["state"]["t"]  # whole
    assert bits(resume(path, long_problem())) == bits(want)
    left = {p.name for p in path.parent.iterdir()}
    assert left <= {path.name, path.name + ".prev"}  # what the dead process left is gone
    return cut and t < want.steps


@pytest.mark.parametrize("method", ["dca-page", "sdca", "dca-svrg", "mm-saga"])
def test_f1_kill(method: str, tmp_path: Path) -> None:
    moment = random.Random(method).uniform(0.05, 0.8)
    want = solve(long_problem(), method, **TOLD)
    assert kill_once(tmp_path / "run", method, moment, want)


@pytest.mark.slow
def test_f1_fifty_kills(tmp_path: Path) -> None:
    wants = {m: solve(long_problem(), m, **TOLD) for m in ("dca-page", "sdca", "dca-svrg", "mm-saga", "dca-saga")}
    moments = random.Random(1)
    cut = 0
    for k in range(50):
        (tmp_path / str(k)).mkdir()
        method = list(wants)[k % len(wants)]
        cut += kill_once(tmp_path / str(k) / "run", method, moments.uniform(0.0, 1.6), wants[method])
    assert cut > 25


# ---- F3: tests/store/test_atomic.py does it for files; here for whole runs


@pytest.mark.parametrize("what", ["error", "short"])
def test_f3_a_run_whose_saves_fail_in_turn(what: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = solve(convex(), "mm-saga", steps=8, seed=0)
    calls, log = faulty_calls(None)
    keep(monkeypatch, lambda: calls)
    solve(convex(), "mm-saga", steps=8, seed=0, checkpoint=tmp_path / "clean", every=0.0)
    first = log.index("open", 1) + 2  # the calls of the first save, which may not fail
    for at in range(first, len(log), 7):
        path = tmp_path / f"{at}"
        calls, _ = faulty_calls(at, what)
        result = solve(convex(), "mm-saga", steps=8, seed=0, checkpoint=path, every=0.0)
        assert bits(result) == bits(want) and bool(result.notes) == (what == "error")
        assert bits(resume(path, convex())) == bits(want)
    assert not list(tmp_path.glob(".*"))


def keep(monkeypatch: pytest.MonkeyPatch, calls: Any) -> None:
    monkeypatch.setattr(keeper, "save", lambda path, origin, run, _: writing.save(path, origin, run, calls()))


# ---- F4


def test_f4_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, full = tmp_path / "run", [False]

    def write(handle: int, data: Any) -> int:
        if full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(handle, data)

    keep(monkeypatch, lambda: FAST._replace(write=write))
    fill = [lambda state: full.__setitem__(0, state.t >= 10)]
    want = solve(convex(), "dca-page", steps=30, seed=0)
    result = solve(convex(), "dca-page", steps=30, seed=0, checkpoint=path, every=0.0, callbacks=fill)
    assert bits(result) == bits(want)
    assert len(result.notes) == 1 and "No space left" in result.notes[0] and "No space left" in str(result)
    assert peek(path).header["state"]["t"] == 9 and not list(tmp_path.glob(".*"))
    full[0] = False
    assert bits(resume(path, convex())) == bits(want)


@pytest.mark.parametrize("back", [False, True])
def test_f4_a_folder_that_goes(back: bool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    def remove(state: dcopt.State) -> None:
        if state.t == 10:
            shutil.rmtree(folder)
        if state.t == 20 and back:
            folder.mkdir()

    result = solve(convex(), "dca-page", steps=30, seed=0, checkpoint=folder / "run", every=0.0, callbacks=[remove])
    assert bits(result) == bits(solve(convex(), "dca-page", steps=30, seed=0))
    (note,) = result.notes
    assert ("the last one did not" in note) if back else ("No such file" in note)
    assert not back or bits(resume(folder / "run", convex())) == bits(result)


def test_f4_a_file_that_becomes_read_only(tmp_path: Path) -> None:
    path = tmp_path / "run"
    lock = [lambda state: path.chmod(0o444) if state.t == 10 else None]
    result = solve(convex(), "dca-page", steps=30, seed=0, checkpoint=path, every=0.0, callbacks=lock)
    assert "read-only" in result.notes[0] and peek(path).header["state"]["t"] == 9


@pytest.mark.parametrize("where", ["no/run", "folder", "link"])
def test_f4_a_place_that_cannot_be_written_is_found_at_once(where: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "else")
    with pytest.raises(BadSettings) as caught:
        solve(convex(), "dca-page", steps=10**9, seed=0, checkpoint=tmp_path / where)
    assert caught.value.setting == "checkpoint" and not (tmp_path / "else").exists()


# ---- F6


def changed(X: np.ndarray, row: int = 7, column: int = 3) -> np.ndarray:
    X = X.copy()
    X[row, column] = np.nextafter(X[row, column], 9.0)  # the last bit
    return X


def test_f6_another_problem_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run"
    X = matrix()
    y = signs(X)
    make = lambda X=X, y=y, **more: erm(X, y, **{"loss": "logistic", "regularizer": EXP} | more)  # noqa: E731
    solve(make(), "dca-page", steps=5, seed=0, checkpoint=path)
    order = np.random.default_rng(0).permutation(len(X))
    flipped = y.copy()
    flipped[3] *= -1
    other = {
        "values of X": make(changed(X)),
        "values of X, labels": make(X[order], y[order]),
        "labels": make(y=flipped),
        "dtype: float64 then, float32 now": make(X.astype(np.float32)),
        "how X is stored: DenseRows then, CsrRows now": make(sp.csr_array(X)),
        "how X is stored: DenseRows then, WithIntercept of DenseRows now": make(intercept=True),
        "number of components: 40 then, 39 now": make(X[:-1], y[:-1]),
        "shape of x": make(X[:, :-1]),
        "sample weights": make(sample_weight=np.r_[2.0, np.ones(39)]),
        "loss: Logistic() then, SquaredSigmoid() now": make(loss="squared-sigmoid"),
        "alpha=5.0": make(regularizer=L1(0.1)),
        "regularizer": make(regularizer=dcopt.regularizers.Exponential(lam=0.002, alpha=5.5)),
        "G: chosen by the method then, ScaledIdentity(kappa=3.0) now": make(kappa=3.0),
    }
    before = path.read_bytes()
    for words, P in other.items():
        with pytest.raises(ResumeMismatch) as caught:
            resume(path, P, steps=9)
        for word in words.split(", "):
            assert word in str(caught.value), str(caught.value)
        assert caught.value.path == str(path) and caught.value.differs
    for given, word in (
        ({"seed": 1}, "seed: 0 then, 1 now"), ({"method": "dca"}, "dca-page then, dca now"),
        ({"method": PAGE(p=0.5, b_small=7)}, "PAGE"),
    ):  # fmt: skip
        with pytest.raises(ResumeMismatch, match=word):
            resume(path, make(), steps=9, **given)
    assert path.read_bytes() == before
    assert resume(path, make(), "dca-page", seed=0, steps=9, tol=1e-9).steps == 9


def test_f6_settings_of_an_estimator(tmp_path: Path) -> None:
    path = tmp_path / "run"
    solve(convex(), SAGA(b=3), steps=5, seed=0, checkpoint=path)
    with pytest.raises(ResumeMismatch, match="SAGA.b=3"):
        resume(path, convex(), SAGA(b=4), steps=9)
    want = solve(convex(), SAGA(b=3), steps=9, seed=0)
    assert bits(resume(path, convex(), SAGA(b=3), steps=9)) == bits(want)


def test_f6_indices_of_another_width_are_the_same_data(tmp_path: Path) -> None:
    X = sp.csr_array(matrix(density=0.5))
    wide = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    y = signs(X.toarray())
    solve(erm(X, y), steps=5, seed=0, checkpoint=tmp_path / "run")
    assert bits(resume(tmp_path / "run", erm(wide, y), steps=9)) == bits(solve(erm(X, y), steps=9, seed=0))


def test_f6_functions_are_told_by_their_values(tmp_path: Path) -> None:
    def function(c: float) -> dcopt.Problem:
        H = dcopt.Function(lambda x: c * float(x @ x) / 2, lambda x: c * x, (3,), L=2.0)
        return dcopt.Problem(ScaledIdentity(2.0), H, "l1")

    solve(function(1.0), "dca", steps=5, seed=0, x0=np.ones(3), checkpoint=tmp_path / "run")
    with pytest.raises(ResumeMismatch, match="F at a point"):
        resume(tmp_path / "run", function(1.5), steps=9)
    assert resume(tmp_path / "run", function(1.0), steps=9).steps == 9


OTHER_BLAS = """
import sys, numpy as np, dcopt
from dcopt.store.fingerprint import _digest
decomposition, path, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
X = np.random.default_rng(0).standard_normal((3000, 300))
P = dcopt.erm(X, X[:, :5].sum(1), "squared", "scad", decomposition=decomposition)
if steps == 5:
    dcopt.solve(P, "dca", steps=5, seed=0, checkpoint=path)
else:
    assert dcopt.resume(path, P, steps=steps).steps == steps
print(_digest(P.G.Q if decomposition == "gram" else P.G.m))
"""


@pytest.mark.parametrize("decomposition", ["gram", "diagonal"])
def test_h5_another_number_of_threads_and_another_machine(decomposition: str, tmp_path: Path) -> None:
    """BLAS computes G from the data, with other last bits: the run is the same all the same."""
    path = tmp_path / "run"
    machines = [
        {"OPENBLAS_NUM_THREADS": "1"}, {"OPENBLAS_NUM_THREADS": "2"},
        {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"},
    ]  # fmt: skip
    for steps, machine in zip((5, 7, 9), machines, strict=True):
        call = [sys.executable, "-c", OTHER_BLAS, decomposition, str(path), str(steps)]
        done = subprocess.run(call, env=os.environ | machine, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]


def test_h5_another_inner_tolerance(tmp_path: Path) -> None:
    """That of the convex programs follows tol, which may be another one."""
    from dataclasses import replace

    P = convex(decomposition="gram")
    solve(replace(P, inner_tol=1e-6), "dca", steps=5, seed=0, checkpoint=tmp_path / "run")
    assert resume(tmp_path / "run", P, steps=9, tol=1e-12).steps == 9


def test_f6_a_checkpoint_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    solve(convex(), "dca-page", steps=5, seed=0, checkpoint=tmp_path / "run")
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(BadSettings, match="resume"):
        solve(convex(), "dca-page", steps=5, seed=0, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == before


def test_what_has_no_checkpoint(tmp_path: Path) -> None:
    class Mine(Full):
        pass

    source = ((matrix(16), signs(matrix(16))) for _ in range(9))
    stream = dcopt.stream(source, holdout=32)
    for P, more in (
        (stream, {"samples": 100}), (convex(), {"method": Mine(), "steps": 3}),
        (convex(), {"subsolver": lambda *a, **k: None, "steps": 3}), (convex(), {"every": -1.0, "steps": 3}),
        (convex(), {"every": float("nan"), "steps": 3}),
        (convex(), {"method": dcopt.Method("mine", lambda n: Full()), "steps": 3}),
    ):  # fmt: skip
        with pytest.raises(BadSettings):
            solve(P, checkpoint=tmp_path / "run", **more)
    with pytest.raises(BadSettings):
        solve(convex(), checkpoint=3, steps=3)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    with pytest.raises(dcopt.BadInput):
        resume(tmp_path / "run", matrix())  # type: ignore[arg-type]
    with pytest.raises(BadModel, match="does not exist"):
        resume(tmp_path / "run", convex())


# ---- F7


@pytest.mark.parametrize("name", ["dca-page", "sdca"])
def test_f7_ctrl_c_leaves_a_checkpoint(name: str, tmp_path: Path) -> None:
    saved = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        press = [lambda state: signal.raise_signal(signal.SIGINT) if state.t == 13 else None]
        cut = solve(convex(), name, steps=40, seed=0, callbacks=press, checkpoint=tmp_path / "run", every=1e9)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, saved)
    assert cut.status is Status.INTERRUPTED and cut.steps == 13 and np.isfinite(cut.x).all()
    assert bits(resume(tmp_path / "run", convex())) == bits(solve(convex(), name, steps=40, seed=0))


def test_f7_an_observer_that_stops_or_raises(tmp_path: Path) -> None:
    want = bits(solve(convex(), "sdca", steps=40, seed=0))
    for k, stop in enumerate((lambda state: state.t == 9, lambda state: 1 / (9 - state.t) and None)):
        cut = solve(convex(), "sdca", steps=40, seed=0, callbacks=[stop], checkpoint=tmp_path / str(k))
        assert cut.status is Status.INTERRUPTED and cut.steps == 9
        assert bits(resume(tmp_path / str(k), convex())) == want


@pytest.mark.parametrize("what", ["nan", "raise"])
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_a_step_that_fails_leaves_the_last_good_file(what: Any, every: float, tmp_path: Path) -> None:
    """Its table is half written: that is not what is saved."""
    calls = [0]
    when = lambda call: call.rows is not None and calls.__setitem__(0, calls[0] + 1) is None and calls[0] > 40  # noqa: E731
    P = erm(FaultyRows(as_rows(matrix()), what, when), signs(matrix()), "logistic", EXP)
    try:
        assert solve(P, "sdca", steps=60, seed=0, checkpoint=tmp_path / "run", every=every).status is Status.DIVERGED
    except RuntimeError:
        assert what == "raise"
    whole = FaultyRows(as_rows(matrix()), what, lambda call: False)
    got = resume(tmp_path / "run", erm(whole, signs(matrix()), "logistic", EXP))
    assert got.x.tobytes() == solve(convex(), "sdca", steps=60, seed=0).x.tobytes()


# ---- damaged files


def test_a_damaged_file_has_one_before_it(tmp_path: Path) -> None:
    path = tmp_path / "run"
    want = solve(convex(), "dca-saga", steps=40, seed=0)
    solve(convex(), "dca-saga", steps=20, seed=0, checkpoint=path, every=0.0)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    got = resume(path, convex(), steps=40)
    assert bits(got) == bits(want) and "the one before" in got.notes[0]
    path.unlink()
    assert bits(resume(path, convex(), steps=40)) == bits(want)
    path.write_bytes(data[:-1])
    path.with_name("run.prev").write_bytes(data[1:])
    with pytest.raises(BadModel, match="damaged"):
        resume(path, convex())


def test_a_forged_checkpoint_is_refused(tmp_path: Path) -> None:
    """A right digest around nonsense: refused, not run. Compiled code never meets a shape that was not checked."""
    from dcopt.store import tensors

    path, X = tmp_path / "run", matrix(density=0.5)
    P = erm(sp.csr_array(X), signs(X), regularizer=EXP)
    for name in ("dca-svrg", "sdca", "dca-page"):
        good = tmp_path / name
        solve(P, name, steps=9, seed=0, checkpoint=good)
        header, arrays = tensors.read(good, "checkpoint", allow_nonfinite=True)
        spoilt: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for key, a in arrays.items():
            if not key.startswith("trace.") and a.ndim and a.shape[0] > 1:
                spoilt += [(header, arrays | {key: a[:1]}), (header, {k: v for k, v in arrays.items() if k != key})]
                spoilt += [(header, arrays | {key: a.astype(bool)})]
        for part in ("origin", "state", "ledger"):
            for key in header[part]:
                for value in (None, "x", {}, [-1]):
                    if value != header[part][key]:
                        spoilt.append((header | {part: header[part] | {key: value}}, arrays))
            spoilt.append(({k: v for k, v in header.items() if k != part}, arrays))
        for h, a in spoilt:
            path.unlink(missing_ok=True)
            tensors.save(path, "checkpoint", h, a, allow_nonfinite=True, calls=FAST)
            try:
                resume(path, P, steps=12)
            except (BadModel, ResumeMismatch, BadSettings):
                continue


def forge(path: Path, **spoilt: Any) -> None:
    """The checkpoint with other arrays, under a right digest; double underscores stand for dots."""
    from dcopt.store import tensors

    header, arrays = tensors.read(path, "checkpoint", allow_nonfinite=True)
    changed = {name.replace("__", "."): a for name, a in spoilt.items()}
    assert changed.keys() <= arrays.keys()
    path.unlink()
    tensors.save(path, "checkpoint", header, arrays | changed, allow_nonfinite=True, calls=FAST)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda slot, counts: (np.full_like(slot, 2**28), counts),
        lambda slot, counts: (np.full_like(slot, -1), counts),
        lambda slot, counts: (np.where(np.arange(len(slot)) == 17, len(counts), slot), counts),
        lambda slot, counts: (np.zeros_like(slot), counts),
        lambda slot, counts: (slot, counts + 1),
        lambda slot, counts: (slot, counts[:-1]),
    ],
)
@pytest.mark.parametrize("method", ["dca-saga", "sdca"])
def test_h4_a_table_that_refers_to_points_that_are_not_there(method: str, spoil: Any, tmp_path: Path) -> None:
    """A checkpoint of some kilobytes made np.bincount take 2 GB; every row is checked, not only those of a batch."""
    import tracemalloc

    path, P = tmp_path / "run", binary()
    solve(P, method, steps=7, seed=3, checkpoint=path)
    arrays = peek_arrays(path)
    slot, counts = spoil(arrays["memory.stale.slot"], arrays["memory.stale.counts"])
    forge(path, memory__stale__slot=slot, memory__stale__counts=counts)
    tracemalloc.start()
    with pytest.raises(BadModel, match="memory"):
        resume(path, P, steps=9)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**22


def peek_arrays(path: Path) -> dict[str, Any]:
    from dcopt.store import tensors

    return tensors.read(path, "checkpoint", allow_nonfinite=True)[1]


def test_h4_a_memory_of_another_width_where_x_is_one_number(tmp_path: Path) -> None:
    """Arrays of length 1 may grow in a table, but the gradient has the shape of x."""
    path, X = tmp_path / "run", matrix(40, 1)
    P = erm(X, signs(X), "logistic")
    solve(P, "dca-page", steps=7, seed=3, checkpoint=path)
    forge(path, memory__g=np.zeros(1000))
    with pytest.raises(BadModel, match="gradient of shape"):
        resume(path, P, steps=9)


@pytest.mark.parametrize("spoil", [lambda a: a[None], lambda a: a[None, None], lambda a: np.full(len(a), np.inf)])
def test_l4_a_trace_that_is_no_table(spoil: Any, tmp_path: Path) -> None:
    path, P = tmp_path / "run", binary()
    solve(P, "dca-page", steps=7, seed=3, checkpoint=path)
    arrays = peek_arrays(path)
    forge(path, **{f"trace__{name}": spoil(arrays[f"trace.{name}"]) for name in ("t", "F", "nnz")})
    with pytest.raises(BadModel, match=r"trace\.t"):
        resume(path, P, steps=9)


# ---- F9, F10


def test_f10_the_clock_may_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter(range(10**9, 0, -(10**5)))
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    result = solve(convex(), seconds=0.05, seed=0, checkpoint=tmp_path / "run", every=0.01)
    assert result.status is Status.TIME and 0.05 <= result.seconds < 5.0


def test_seconds_go_on_and_saving_takes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(path: Any, origin: Any, run: Any, calls: Any) -> None:
        time.sleep(0.02)
        writing.save(path, origin, run, FAST)

    monkeypatch.setattr(keeper, "save", slowly)
    first = solve(convex(), "dca-page", steps=20, seed=0, checkpoint=tmp_path / "run", every=0.0)
    assert first.seconds < 0.3  # 22 saves took 0.44
    second = resume(tmp_path / "run", convex(), steps=40)
    assert second.seconds > first.seconds
