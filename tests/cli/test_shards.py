"""The commands on shards: pack, inspect, fit, resume, predict and plan."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli.shell import Here


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    age, red, noise = rng.normal(40, 10, 1500), rng.integers(0, 2, 1500), rng.normal(size=1500)
    lines = ["age,colour,buys"]
    for a, r, e in zip(age, red, noise, strict=True):
        lines.append(f"{a:.2f},{'red' if r else 'blue'},{'yes' if (a - 40) / 5 + 2 * r - 1 + e > 0 else 'no'}")
    path = tmp_path / "in.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_from_a_table_to_predictions(here: Here, table: Path, tmp_path: Path) -> None:
    out, model, page = tmp_path / "set", tmp_path / "m.dcm", tmp_path / "r.html"
    code, text, _ = here.run("pack", str(table), str(out), "--target", "buys", "--shard-mb", "0.01", "--json")
    packed = json.loads(text)
    assert code == 0 and packed["rows"] == 1500 and packed["shards"] > 3 and packed["classes"] == ["no", "yes"]
    code, text, notes = here.run(
        "fit", str(out), "--lams", "5", "--folds", "3", "--out", str(model), "--report", str(page)
    )
    assert code == 0 and "CONVERGED" in text and "not standardised" in notes and page.stat().st_size > 10_000
    answers = [here.run("predict", str(model), str(source)) for source in (out, table)]
    assert [code for code, _, _ in answers] == [0, 0]
    lines = [text.split("\n")[1:-1] for _, text, _ in answers]
    places = np.argsort(_places(out))
    assert [lines[0][int(k)] for k in places] == lines[1]
    assert "accuracy 0.8" in answers[0][2]


def _places(out: Path) -> np.ndarray:
    import dcopt

    return dcopt.open(out).places()


def test_inspect_says_the_memory_and_finds_damage(here: Here, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    here.run("pack", str(table), str(out), "--target", "buys", "--shard-mb", "0.01")
    code, text, _ = here.run("inspect", str(out), "--json", "--verify")
    said = json.loads(text)
    assert code == 0 and said["rows"] == 1500 and "MB besides mapped files" in said["memory"]
    assert said["digests"] == "all are as written" and said["targets"] == ["no", "yes"]
    path = out / "shard-00001" / "obs" / "place" / "c" / "0"
    raw = bytearray(path.read_bytes())
    raw[3] ^= 1
    path.write_bytes(raw)
    assert here.run("inspect", str(out))[0] == 0
    code, _, error = here.run("inspect", str(out), "--verify")
    assert code == 1 and "shard-00001/obs/place/c/0: is damaged" in error
    shutil.rmtree(out / "shard-00002")
    code, _, error = here.run("fit", str(out))
    assert code == 1 and "shard-00002: does not exist" in error


def test_plan_and_options_that_do_not_fit(here: Here, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert here.run("pack", str(table), str(out), "--target", "buys")[0] == 0
    assert here.run("plan", str(out), "--eps", "1e-2")[0] == 0
    assert here.run("fit", str(out), "--target", "age")[0] == 1
    code, _, error = here.run("pack", str(table), str(out), "--target", "buys")
    assert code == 1 and "--force" in error
    assert here.run("pack", str(table))[0] == 1
    code, _, error = here.run("pack", str(table), str(tmp_path / "b"), "--target", "buys", "--missing", "mean")
    assert code == 1 and "missing" in error
