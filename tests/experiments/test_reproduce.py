"""A reproduction in small: recipes, traces on disk, resuming after a kill, the same numbers twice, claims."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dcopt
from dcopt.errors import BadInput, BadSettings, CannotFetch
from dcopt.experiments import claims, curves, orders, recipe, source, views
from dcopt.experiments.campaign import Silent
from dcopt.experiments.intervals import mean
from dcopt.experiments.ledger import Ledger
from dcopt.experiments.parts import _protocol as protocol
from dcopt.experiments.reproduce import reproduce
from dcopt.experiments.slopes import Row, Slope, verdict
from dcopt.experiments.typed import build

TINY = """
title = "Tiny"
data = ["breast_cancer"]
loss = "squared-sigmoid"
penalty = { name = "exponential", lam = "1/N", alpha = 5.0 }
methods = ["dca-page", "dca-svrg", "dca"]
shown = ["dca-page"]
passes = 3.0
every = 0.5
runs = 2
reference = 5.0
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


def traces(out: Path, kind: str = "binary") -> dict[str, Any]:
    """What was traced, but for the seconds."""
    lines = [json.loads(text) for text in (out / "traces" / f"{kind}.jsonl").read_text("utf-8").splitlines()[1:]]
    for line in lines:
        seconds = line["columns"].pop("seconds")
        assert seconds == sorted(seconds)
    assert len({line["key"] for line in lines}) == len(lines)
    return {line["key"]: line for line in lines}


def test_a_tiny_recipe_end_to_end(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = reproduce(["binary"], out, recipe=tiny)
    assert done.report == out / "report.html" and all(path.stat().st_size > 0 for path in done.files)
    suffixes = {path.suffix for path in done.files}
    assert {".html", ".csv", ".parquet", ".png", ".svg", ".pdf", ".jsonl"} <= suffixes
    lines = traces(out)
    methods = "dca-page", "dca-svrg", "dca", "reference"
    assert set(lines) == {f"breast_cancer/{m}/{seed}" for m in methods for seed in (0, 1)}
    with (out / "traces.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(line["columns"]["t"]) for line in lines.values())
    mine = [float(r["F"]) for r in rows if (r["method"], r["seed"]) == ("dca-page", "1")]
    assert mine == lines["breast_cancer/dca-page/1"]["columns"]["F"]  # to the last bit
    head = json.loads((out / "traces" / "binary.jsonl").read_text("utf-8").splitlines()[0])["head"]
    assert head["recipe"]["penalty"]["lam"] == "1/N" and head["recipe"]["passes"] == 3.0  # echoed whole
    assert {c.verdict for c in done.claims} == {"not testable here"}  # another data set than the paper's

    with pytest.raises(BadSettings, match="--force"):
        reproduce(["binary"], out, recipe=tiny)
    again = reproduce(["binary"], out, recipe=tiny, force=True)
    assert traces(out) == lines and again.claims == done.claims


def test_what_is_traced_is_true() -> None:
    """Every column, computed here from x itself and the formulas."""
    chosen = curves.Recipe("t", ("breast_cancer",), "squared-sigmoid", ("dca",),
                           {"name": "exponential", "lam": "1/N", "alpha": 5.0}, passes=4.0, every=1.0)  # fmt: skip
    columns = curves.Job(chosen, "breast_cancer", "dca", 3).run()["columns"]
    X, y = dcopt.load_dataset("breast_cancer", normalize=True)
    test = np.random.default_rng([3, 90]).permutation(len(y))[: round(0.1 * len(y))]
    kept = np.setdiff1d(np.arange(len(y)), test)
    signs, n = np.where(y == 1, 1.0, -1.0), len(kept)
    r = dcopt.regularizers.Exponential(lam=1 / n, alpha=5.0)
    P = dcopt.erm(X[kept], signs[kept], "squared-sigmoid", r)
    for k, state in zip(range(1, 5), dcopt.iterate(P, "dca"), strict=False):
        x = np.asarray(state.x)
        sigma = 1.0 / (1.0 + np.exp(signs[kept] * (X[kept] @ x)))
        F = float(np.mean(sigma**2)) + float(np.sum(1 - np.exp(-5.0 * np.abs(x)))) / n
        assert columns["F"][k] == pytest.approx(F, rel=1e-12)
        assert columns["gap"][k] == pytest.approx(dcopt.measures.gap(P, x), rel=1e-9)
        assert columns["criticality"][k] == pytest.approx(dcopt.measures.criticality(P, x), rel=1e-9)
        assert columns["nnz"][k] == np.count_nonzero(x)
        for name, rows in (("train", kept), ("test", test)):
            assert columns[name][k] == pytest.approx(np.mean((X[rows] @ x > 0) == (signs[rows] > 0)))
        assert columns["gradients"][k] == columns["paper"][k] == k * n and columns["t"][k] == k


def test_the_papers_count_and_the_honest_one() -> None:
    chosen = build(curves.Recipe, recipe.read("binary"), "binary")
    page = curves.Job(chosen, "breast_cancer", "dca-page", 0).run()
    columns, n = page["columns"], page["n"]
    assert columns["paper"][-1] >= 20 * n > columns["paper"][-2]  # ends when the paper's budget is spent
    assert all(p <= g <= 2 * p for p, g in zip(columns["paper"], columns["gradients"], strict=True))
    assert columns["gradients"][-1] > 1.2 * columns["paper"][-1]


def test_two_processes_give_the_same_traces(tiny: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    reproduce(["binary"], one, recipe=tiny, jobs=1)
    reproduce(["binary"], two, recipe=tiny, jobs=2)
    assert traces(one) == traces(two)


RUN = """
import sys
from pathlib import Path
from dcopt.experiments.parts import _protocol as protocol
from dcopt.experiments.reproduce import reproduce
if __name__ == "__main__":
    reproduce(["binary"], Path(sys.argv[2]), recipe=Path(sys.argv[1]), jobs=int(sys.argv[3]))
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_the_middle_it_continues(tiny: Path, tmp_path: Path, jobs: int) -> None:
    """kill -9 at a random moment, several times; finished runs are kept, and the end is that of an undisturbed run."""
    tiny.write_text(TINY.replace("passes = 3.0", "passes = 30.0"), encoding="utf-8")
    script, out, whole = tmp_path / "run.py", tmp_path / "out", tmp_path / "whole"
    script.write_text(RUN, encoding="utf-8")
    command = [sys.executable, str(script), str(tiny), str(out), str(jobs)]
    ledger = out / "traces" / "binary.jsonl"
    kept: list[str] = []
    for wanted in (2, 4):  # lines in the ledger when the process is killed: the head and one run, three runs
        process = subprocess.Popen(command, start_new_session=True)
        while process.poll() is None and not (ledger.exists() and ledger.read_bytes().count(b"\n") >= wanted):
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)  # the parent alone: its workers have to notice
        process.wait()
        lines = ledger.read_text("utf-8").splitlines(keepends=True)
        assert lines[: len(kept)] == kept
        kept = [line for line in lines if line.endswith("\n")]
        ledger.write_text("".join(kept) + '{"key": "breast_ca', encoding="utf-8")  # torn, as by a power cut
    assert not (out / "report.html").exists()
    subprocess.run(command, check=True)
    assert ledger.read_text("utf-8").startswith("".join(kept))  # not made again, not moved
    reproduce(["binary"], whole, recipe=tiny)
    assert traces(out) == traces(whole)
    assert (out / "claims.csv").read_bytes() == (whole / "claims.csv").read_bytes()


def test_no_worker_outlives_a_killed_parent(tiny: Path, tmp_path: Path) -> None:
    tiny.write_text(TINY.replace("passes = 3.0", "passes = 300.0").replace("runs = 2", "runs = 9"), encoding="utf-8")
    script, out = tmp_path / "run.py", tmp_path / "out"
    script.write_text(RUN, encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(script), str(tiny), str(out), "2"], start_new_session=True)
    ledger = out / "traces" / "binary.jsonl"
    while not (ledger.exists() and ledger.read_bytes().count(b"\n") >= 2):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 300
    while True:  # the session of the parent is empty when its last worker has gone
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline, "workers are left"
        time.sleep(0.05)


# ---- recipes


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("passes =", "passess =", "did you mean 'passes'"),
        ('"dca-svrg"', '"dca-svgr"', "did you mean 'dca-svrg'"),
        ('"breast_cancer"', '"brest_cancer"', "did you mean 'breast_cancer'"),
        ("squared-sigmoid", "squared-sigmoyd", "did you mean 'squared-sigmoid'"),
        ('"exponential"', '"exponental"', "did you mean 'exponential'"),
        ("alpha", "alhpa", "did you mean 'alpha'"),
        ("runs = 2", "runs = 0", "runs"),
        ("every = 0.5", "every = -1", "every"),
        ('shown = ["dca-page"]', 'shown = ["sdca"]', "shown"),
        ('loss = "squared-sigmoid"', "", "loss"),
        ('title = "Tiny"', "title = ", "not TOML"),
    ],
)
def test_misspelt_recipes_are_refused_before_anything_runs(
    tiny: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    tiny.write_text(TINY.replace(old, new), encoding="utf-8")
    with pytest.raises((BadSettings, BadInput), match=says):
        reproduce(["binary"], tmp_path / "out", recipe=tiny)
    assert not (tmp_path / "out" / "report.html").exists()


CURVES = "binary", "multiclass", "multiclass-kappa", "gap", "online"


@pytest.mark.parametrize("kind", CURVES)
@pytest.mark.parametrize("quick", [False, True])
def test_the_recipes_that_ship_are_good(kind: str, quick: bool) -> None:
    chosen = build(curves.Recipe, recipe.read(kind, quick), kind)
    if kind in ("binary", "multiclass"):  # the paper's field and the wider one
        assert set(chosen.shown) == {"dca-page", "dca-svrg", "dca-saga", "sdca"} <= set(chosen.methods)
        assert quick or {"mm-saga", "mm-svrg", "mm-sarah", "dca", "mm-saga-sqrt"} <= set(chosen.methods)
        assert (chosen.passes, chosen.penalty["lam"], chosen.penalty["alpha"]) == (20.0, "1/N", 5.0)
        assert quick or chosen.runs == 10


# ---- the ledger


def test_a_ledger_of_another_recipe_is_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    Ledger(path, {"digest": "one"}).append({"key": "k", "F": 1.0})
    before = path.read_bytes()
    assert Ledger(path, {"digest": "one"}).lines == {"k": {"key": "k", "F": 1.0}}
    with pytest.raises(BadSettings, match="--force"):
        Ledger(path, {"digest": "two"})
    assert path.read_bytes() == before
    assert Ledger(path, {"digest": "two"}, force=True).lines == {}


def test_a_broken_line_is_named_and_a_torn_one_made_again(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    ledger = Ledger(path, {"digest": "one"})
    for key in "ab":
        ledger.append({"key": key})
    whole = path.read_bytes()
    for cut in range(len(whole.splitlines(keepends=True)[0]), len(whole)):  # every way to be cut off after the head
        path.write_bytes(whole[:cut])
        again = Ledger(path, {"digest": "one"})
        assert list(again.lines) == ["a", "b"][: whole[:cut].count(b"\n") - 1]
        assert bool(again.notes) == (whole[cut - 1 : cut] != b"\n")
    path.write_bytes(whole.replace(b'"a"', b'a"'))
    with pytest.raises(BadInput, match="row 2"):
        Ledger(path, {"digest": "one"})
    with pytest.raises(ValueError, match="JSON compliant"):
        ledger.append({"key": "c", "F": math.nan})  # NaN is never written as a number


# ---- claims


def made_up(page: list[float], rival: list[float], data: str = "a9a") -> views.Runs:
    chosen = curves.Recipe("t", (data,), "squared-sigmoid", ("dca-page", "dca-svrg"), {"name": "zero"}, passes=2.0)

    def line(method: str, seed: int, F: float) -> dict[str, Any]:
        columns = {name: [0.0, 1.0, 2.0] for name in curves.COLUMNS} | {"F": [1.0, 0.9, F], "paper": [0, 100, 200]}
        return {"key": f"{method}{seed}", "data": data, "method": method, "seed": seed, "n": 100, "shape": [3],
                "status": "done", "columns": columns | {"gradients": [0, 100, 200]}}  # fmt: skip

    lines = [line("dca-page", s, F) for s, F in enumerate(page)] + [line("dca-svrg", s, F) for s, F in enumerate(rival)]
    return views.Runs(chosen, data, lines)


def test_claims_are_paired_over_seeds() -> None:
    """A constant difference is certain, however much the runs differ among themselves."""
    page = [0.1, 0.5, 0.3, 0.2, 0.4]
    (claim,) = claims.training_loss("binary", made_up(page, [F + 0.01 for F in page]))
    assert claim.verdict == "supported" and claim.value == pytest.approx(-0.01)
    assert claim.interval == pytest.approx((-0.01, -0.01))
    (claim,) = claims.training_loss("binary", made_up(page, page[::-1]))
    assert claim.verdict == "not distinguishable" and claim.interval[0] < 0 < claim.interval[1]
    (claim,) = claims.training_loss("binary", made_up(page, [F - 0.01 for F in page]))
    assert claim.verdict == "not supported" and claim.interval[0] > 0
    (claim,) = claims.training_loss("binary", made_up(page[:1], page[:1]))
    assert claim.verdict == "not distinguishable"  # the interval from one run is infinite


def test_the_interval_is_students() -> None:
    m = mean([1.0, 2.0, 3.0, 4.0])
    assert m.value == 2.5 and m.high - m.value == pytest.approx(3.182446 * math.sqrt(5 / 3) / 2, rel=1e-6)
    assert mean([1.0]).high == math.inf and math.isnan(mean([1.0, math.nan]).value)


def test_a_run_that_did_not_get_there_is_nan_and_shown_as_missing() -> None:
    runs = made_up([0.1, 0.2], [0.3, 0.4])
    short = runs.of("dca-svrg")[0]["columns"]
    for name in short:
        short[name] = short[name][:2]
    assert math.isnan(runs.at_end("dca-svrg", "F")[0]) and runs.at_end("dca-svrg", "F")[1] == 0.4
    curve = views.panel("binary", runs).curves["dca-svrg"]["paper"]
    assert curve.x[-1] == 1.0  # where every run still is


def test_a_run_that_did_not_get_there_decides_nothing() -> None:
    runs = made_up([0.1, 0.2], [0.3, 0.4])
    short = runs.of("dca-svrg")[0]["columns"]
    for name in short:
        short[name] = short[name][:2]
    (claim,) = claims.training_loss("binary", runs)
    assert claim.verdict == "not testable here"


def slope(value: float, low: float, high: float) -> Slope:
    return Slope(value, low, high, 0.0, (1.0, 2.0), (1.0, 2.0), 0, 10)


def row(data: str, method: str, claim: float, honest: Slope) -> Row:
    says = verdict(honest, claim, (1 / 2, 2 / 3, 3 / 4))
    return Row(data, method, claim, honest, honest, honest, honest, None, says, sizes=claim)


def test_the_row_above_says_what_the_panels_below_say() -> None:
    """A bound that is not attained, and exponents that cannot be told apart, are not "supported"."""
    a9a = row("a9a", "dca-page", 1 / 2, slope(0.53, 0.40, 0.58)), row("a9a", "dca-svrg", 2 / 3, slope(0.58, 0.57, 0.59))
    w8a = row("w8a", "dca-page", 1 / 2, slope(0.50, 0.48, 0.52)), row("w8a", "dca-svrg", 2 / 3, slope(0.7, 0.66, 0.72))
    in_eps = {"a9a": [row("a9a", "dca-page", 2.0, slope(1.3, 1.2, 1.4))]}
    found: Any = SimpleNamespace(in_N={"a9a": a9a, "w8a": w8a}, in_eps=in_eps, recipe=SimpleNamespace(is_general=False))
    said = {c.id: c for c in orders.order_claims(found)}
    assert said["order-eps"].verdict == "bound holds, not attained"
    assert said["order-dca-page"].verdict == "supported"
    assert said["order-dca-svrg"].verdict == "not distinguishable"  # of "bound holds, not attained" and this the weaker
    assert "(a9a: bound holds, not attained)" in said["order-dca-svrg"].measured
    assert "(w8a: not distinguishable)" in said["order-dca-svrg"].measured
    assert "N^(2/3) ε^(-2)" in said["order-dca-svrg"].says
    assert said["order-better"].verdict == "not distinguishable"  # on a9a the intervals touch
    assert "(w8a: supported)" in said["order-better"].measured


def test_data_that_cannot_be_had_is_one_sentence(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def rows(name: str) -> Any:
        tried.append(name)
        if name in ("a9a", "w8a"):
            raise CannotFetch(name, "https://example.org/" + name, "gaierror: no such name", "put its file elsewhere")
        return dcopt.load_dataset(name, normalize=True)

    monkeypatch.setattr(source, "rows", rows)
    tiny.write_text(TINY.replace('["breast_cancer"]', '["a9a", "w8a"]'), encoding="utf-8")
    lack = source.Missing(Silent())
    for names in (("a9a", "w8a"), ("a9a",)):
        assert lack.at_hand(names, "breast_cancer") == ("breast_cancer",)
    assert tried == ["a9a", "w8a"]  # once each, however many experiments ask for them
    page = reproduce(["binary"], tmp_path / "out", recipe=tiny).report.read_text("utf-8")
    said = "a9a and w8a could not be had on this machine: breast_cancer takes its place, and claims about these sets"
    shown, _, details = page.partition("<details>")
    assert said in shown and "gaierror" not in shown and details.count("gaierror: no such name") == 2
    assert "https://arxiv.org/abs/2509.11657" in page and "Kim-Chuan Toh" in page and "Date of the runs: 20" in page


def test_one_pass_is_a_pass() -> None:
    assert (views.passes(1.0), views.passes(20.0), views.passes(0.5)) == ("1 pass", "20 passes", "0.5 passes")
    chosen = build(curves.Recipe, recipe.read("binary"), "binary")
    assert "passes" not in protocol(replace(chosen, passes=1.0, every=1.0, reference=1.0))
