"""Recipes and ledgers of wrong types are refused with the name of the file and of the key, before anything runs."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcopt.errors import BadInput, BadSettings
from dcopt.experiments import curves, recipe, records, scaling_recipe
from dcopt.experiments.ledger import Ledger
from dcopt.experiments.reproduce import reproduce
from dcopt.experiments.typed import build

EVIL: list[Any] = [
    5, -1, 0, 0.5, True, "x", "", [], ["x"], [5], [[]], {}, {"a": 1}, [{"a": 1}], math.nan, math.inf,
    datetime.date(2025, 1, 1), 10**400,
]  # fmt: skip
FORMS = {"binary": curves.Recipe, "online": curves.Recipe, "scaling": scaling_recipe.Recipe}


def mutants(value: Any) -> Iterator[Any]:
    """The value with one of its parts replaced by each of the evil ones."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from (value | {key: mutant} for mutant in (*EVIL, *mutants(part)))
        yield value | {"unknown": 1}
    if isinstance(value, list):
        for k, part in enumerate(value[:2]):
            yield from ([*value[:k], mutant, *value[k + 1 :]] for mutant in (*EVIL, *mutants(part)))


@pytest.mark.parametrize("kind", FORMS)
def test_a_recipe_of_wrong_types_is_refused_by_key_and_file(kind: str) -> None:
    where = "recipe mine.toml"
    refused = 0
    for table in mutants(recipe.read(kind)):
        try:
            build(FORMS[kind], table, where)
        except (BadSettings, BadInput) as why:
            assert str(why).startswith(where), (table, why)
            refused += 1
    assert refused > 200


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("data = 5", r"mine\.toml: data = 5: expected a list"),
        ("methods = 3", r"mine\.toml: methods = 3: expected a list"),
        ('methods = ["dca-page", 3]', r"mine\.toml: methods, entry 2 = 3: expected a text"),
        ("passes = true", r"mine\.toml: passes = True: expected a number"),
        ("runs = 2.5", r"mine\.toml: runs = 2\.5: expected an integer"),
        ("penalty = 'l1'", r"mine\.toml: penalty = 'l1': expected a table"),
        ("quick = 1", r"mine\.toml: quick = 1: expected a table"),
        ("title = " + "[" * 5000, r"mine\.toml: has lists or tables that are nested too deeply"),
        ("runs = " + "1" * 5000, r"mine\.toml: is not TOML"),
    ],
)
def test_the_message_names_file_and_key(tmp_path: Path, line: str, says: str) -> None:
    good = recipe.read("binary")
    key = line.split()[0]
    rest = "\n".join(f"{k} = {json.dumps(v)}" for k, v in good.items() if k not in (key, "penalty"))
    penalty = "" if key == "penalty" else 'penalty = { name = "l1", lam = 0.1 }\n'
    path = tmp_path / "mine.toml"
    path.write_text(f"{line}\n{penalty}{rest}\n", encoding="utf-8")
    with pytest.raises((BadSettings, BadInput), match=says):
        reproduce(["binary"], tmp_path / "out", recipe=path)
    assert not (tmp_path / "out").exists()


def test_a_recipe_that_is_no_file(tmp_path: Path) -> None:
    for path in (Path("/dev/zero"), tmp_path, tmp_path / "none.toml"):
        with pytest.raises(BadInput, match="is not a file"):
            recipe.read("binary", path=path)


# ---- ledgers

TRACE = {
    "key": "a9a/dca/0", "data": "a9a", "method": "dca", "seed": 0, "status": "done", "n": 9, "shape": [3],
    "says": "F 0.1", "columns": {name: [0, 1.5] for name in curves.COLUMNS},
}  # fmt: skip
RECORD = records.Record("a9a", 9, "dca", 0, 0.5, 0.1, "crossed", 18, 18, 2, 9, 0.1)
CROSSED = {"key": "a9a/9/dca/0", "says": "", "records": [RECORD._asdict()]}


@pytest.mark.parametrize(("line", "check"), [(TRACE, curves.check_line), (CROSSED, records.check_line)])
def test_a_ledger_of_wrong_types_is_refused_by_line(line: dict[str, Any], check: Any, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    head = json.dumps({"head": {}})
    path.write_text(f"{head}\n{json.dumps(line)}\n", encoding="utf-8")
    assert list(Ledger(path, {}, check=check).lines) == [line["key"]]
    refused = 0
    for mutant in [*EVIL, *mutants(line)]:
        text = json.dumps(mutant, default=str)
        path.write_text(f"{head}\n{text}\n", encoding="utf-8")
        try:
            Ledger(path, {}, check=check)
        except BadInput as why:
            assert why.row == 2 and "traces.jsonl, row 2: is not a line of this ledger" in str(why)
            refused += 1
    assert refused > 100
    path.write_text(f"{head}\n{'[' * 100_000}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="row 2"):
        Ledger(path, {}, check=check)


def test_missing_numbers_and_torn_columns_are_refused() -> None:
    columns = TRACE["columns"]
    assert isinstance(columns, dict)
    for bad in ({"F": [0, None]}, {"F": [0]}, {"test": [0, 1, 2]}, {"gap": [0, math.nan]}, {"t": []}):
        with pytest.raises(BadSettings, match="columns"):
            curves.check_line(TRACE | {"columns": columns | bad}, "line 2")
    curves.check_line(TRACE | {"columns": columns | {"test": [None, None]}}, "line 2")


# ---- recipes that no claim follows from

SMALL = """
title = "Small"
data = ["breast_cancer"]
loss = "squared-sigmoid"
penalty = { name = "exponential", lam = "1/N", alpha = 5.0 }
passes = 2.0
runs = 2
"""
ONE_BATCH = '[variants]\npage-64 = { estimator = "page", b = 64, b_small = 8, p = 0.125 }\n'


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("binary", 'methods = ["dca-page", "dca"]'),  # none of the rivals
        ("binary", 'methods = ["dca-svrg", "dca"]'),  # a rival, but not DCA-PAGE
        ("multiclass", 'methods = ["dca"]'),
        ("gap", 'methods = ["dca"]'),
        ("online", f'online = true\nmethods = ["page-64", "online-dca"]\n{ONE_BATCH}'),  # one batch size has no slope
        ("online", 'online = true\nmethods = ["online-dca"]'),
    ],
)
def test_a_recipe_without_claims_ends_with_a_report(tmp_path: Path, kind: str, more: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SMALL + more, encoding="utf-8")
    done = reproduce([kind], tmp_path / "out", recipe=path)
    assert done.report.exists() and all(file.stat().st_size > 0 for file in done.files)
    assert not any(c.id.startswith(("binary", "multiclass", "gap-breast", "online-floor")) for c in done.claims)


def test_a_complexity_of_one_size_ends_with_a_report(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "One"\nmethods = ["dca"]\ndim = 4\nruns = 1\n[[families]]\ndata = "synthetic"\nsizes = [64]\n'
        "at = 64\nlevels = [0.5]\nfine = []\n",
        encoding="utf-8",
    )
    done = reproduce(["scaling"], tmp_path / "out", recipe=path)
    assert done.report.exists() and done.claims == ()
