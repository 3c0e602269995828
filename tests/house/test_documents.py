"""What the documents show is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from functions import TORCH
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer

import dcopt
from dcopt.auto import RULES
from dcopt.convex import ScaledIdentity

ROOT = Path(__file__).parents[2]


def blocks(name: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize(
    "name",
    [
        "README.md", "docs/decompositions.md", "docs/inference.md", "docs/losses.md", "docs/out_of_core.md",
        "docs/plan.md",
    ],
)  # fmt: skip
def test_a_page_prints_what_it_says(name: str) -> None:
    """All its Python blocks, one after the other; the text blocks are what they print."""
    code, said = "".join(blocks(name, "python")), "".join(blocks(name, "text"))
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == said.split()


@TORCH
def test_the_page_on_components_prints_what_it_says() -> None:
    test_a_page_prints_what_it_says("docs/components.md")


def test_the_fit_that_is_shown_is_what_comes_out(tmp_path: Path) -> None:
    """Its command lines on the rows it names; of a critical distance near 0 the digits are those of rounding."""
    cancer = load_breast_cancer()
    names = ",".join([*(name.replace(" ", "_") for name in cancer.feature_names), "diagnosis"])
    lines = [
        ",".join([*map(repr, row.tolist()), cancer.target_names[target]])
        for row, target in zip(cancer.data, cancer.target, strict=True)
    ]
    for name, part in (("train.csv", lines[:400]), ("test.csv", lines[400:])):
        (tmp_path / name).write_text("\n".join([names, *part, ""]), encoding="utf-8")
    commands = re.findall(r"^    dcopt ((?:fit|predict) .*)$", (ROOT / "docs/fit.md").read_text(encoding="utf-8"), re.M)
    fit, predict = (next(line for line in commands if line.startswith(kind)) for kind in ("fit", "predict"))
    ran = [
        subprocess.run([sys.executable, "-m", "dcopt.cli", *line.split()], cwd=tmp_path, capture_output=True, text=True)
        for line in (fit, predict)
    ]
    assert [run.returncode for run in ran] == [0, 0], ran
    shown, predictions = blocks("docs/fit.md", "text")[:2]
    said, told = (re.sub(r"criticality \S+", "", text).split() for text in (ran[0].stdout, shown))
    assert said == told
    head, *rows = predictions.split()
    written = (tmp_path / "p.csv").read_text(encoding="utf-8").split()
    assert written[0] == head and len(written) == 170
    for row, line in zip(rows, written[1:], strict=False):
        np.testing.assert_allclose([float(v) for v in line.split(",")], [float(v) for v in row.split(",")], rtol=1e-6)


def test_the_messy_table_that_is_shown_is_read_as_shown(tmp_path: Path) -> None:
    """What inspect and predict say on stdout, and what the fit says of the columns on stderr."""
    (tmp_path / "flats.csv").write_text(blocks("docs/fit.md", "csv")[0], encoding="utf-8")
    new = "kind,balcony,area,price\nvilla,no,110.5,390\nflat,,60,150\n"
    (tmp_path / "new.csv").write_text(new, encoding="utf-8")
    steps = re.split(r"^\$ dcopt ", blocks("docs/fit.md", "console")[0], flags=re.M)[1:]
    assert [step.split()[0] for step in steps] == ["inspect", "fit", "predict"]
    for step in steps:
        line, _, shown = step.partition("\n")
        words = [sys.executable, "-m", "dcopt.cli", *line.split()]
        run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
        assert run.returncode == 0, run.stderr
        assert (run.stderr if words[3] == "fit" else run.stdout).split() == shown.split()
    assert new.split()[1] in (text := (ROOT / "docs/fit.md").read_text(encoding="utf-8")) and new.split()[2] in text


def test_the_page_on_decompositions_lists_every_method_and_rule() -> None:
    text = (ROOT / "docs/decompositions.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| ([a-z ]+) \| .* \| .* \|$", text, re.M)) >= {rule.name for rule in RULES}
    assert set(re.findall(r"^\| `([a-z-]+)` \|", text, re.M)) >= set(dcopt.METHODS)


@pytest.mark.parametrize("name", ["LogCosh", "Arctan", "Storm", "FactoredRows", "Centre"])
def test_the_components_of_contributing_keep_the_laws(name: str, tmp_path: Path, monkeypatch) -> None:
    """The worked examples, as files of their own, under the laws of their kind; a sum under those of a problem."""
    code = next(block for block in blocks("CONTRIBUTING.md", "python") if re.search(rf"class {name}\b", block))
    (tmp_path / f"example_{name.lower()}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__(f"example_{name.lower()}")
    draw = np.random.default_rng(0)
    settings: dict[str, dict[str, Any]] = {
        "Arctan": {"lam": 0.3, "theta": 0.5},
        "Storm": {"a": 0.3, "b": 2},
        "FactoredRows": {"U": draw.normal(size=(40, 3)), "V": draw.normal(size=(10, 3))},
        "Centre": {"points": draw.normal(size=(60, 2))},
    }
    component = getattr(module, name)(**settings.get(name, {}))
    if name == "Centre":
        component = dcopt.Problem(ScaledIdentity(1.0), f=component, r=dcopt.regularizers.Ball(10.0))
        assert dcopt.solve(component, "dca-page", x0=np.ones(2), seed=0).status is dcopt.Status.CONVERGED
    assert len(dcopt.check(component)) >= 5


def test_the_loss_of_contributing_is_compiled_to_the_same_numbers(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "example_logcosh_csr.py").write_text(
        next(block for block in blocks("CONTRIBUTING.md", "python") if "class LogCosh(" in block), encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    loss = __import__("example_logcosh_csr").LogCosh()
    X, y, x = np.eye(6)[:, :4] + 0.5, np.arange(6.0), np.linspace(-1.0, 2.0, 4)
    (f, g), (F, G) = (dcopt.erm(a, y, loss).f.all().value_grad(x) for a in (X, csr_array(X)))
    np.testing.assert_allclose([f, *g], [F, *G], rtol=1e-12)


DOCS = [p.relative_to(ROOT) for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts]
PAGES = sorted(["README.md", "CONTRIBUTING.md", *map(str, DOCS)])


def _anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), link
        assert not anchor or anchor in _anchors(there), link
