"""`dcopt datasets`: the data sets that are known by name, and their places."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..datasets.catalogue import CATALOGUE
from ..datasets.download import address
from ..datasets.named import DATASETS, load_dataset, where
from ..errors import BadSettings, pick
from .terminal import Terminal

PLACES = {"download": "can be downloaded", None: "not available"}  # The other names need no explanation.
_BUNDLED = {  # Task, rows, features, classes and credit. These files do not change.
    "breast_cancer": ("binary", 569, 30, 2, "Breast cancer Wisconsin: UCI, CC BY 4.0"),
    "digits": ("multiclass", 1797, 64, 10, "Handwritten digits: UCI, CC BY 4.0"),
    "wine": ("multiclass", 178, 13, 3, "Wine: UCI, CC BY 4.0"),
    "diabetes": ("regression", 442, 10, 0, "Efron et al. 2004, no licence stated"),
}


class Listed(NamedTuple):
    """One data set; `bytes` is the size of its text, `classes` 0 for regression, `where` is None if unavailable."""

    name: str
    task: str
    rows: int
    features: int
    classes: int
    bytes: int | None
    where: str | None
    licence: str
    source: str | None


def run(terminal: Terminal, name: str | None, fetch: bool) -> None:
    """List all data sets, or describe one, after downloading it if asked."""
    if name is None:
        if fetch:
            raise BadSettings("fetch", name, "the name of a data set, as in: dcopt datasets a9a --fetch")
        listing(terminal)
        return
    pick("data set", name, DATASETS)
    if fetch:
        bring(terminal, look(name))
    one = look(name)
    rows = [("name", one.name), ("task", one.task), *zip(HEAD[1:], row(one)[1:], strict=True)]
    terminal.result(one, terminal.table(("", ""), [*rows, ("source", one.source or "–")], head=False))


def look(name: str) -> Listed:
    entry = CATALOGUE.get(name)
    if entry is None:
        task, rows, features, classes, credit = _BUNDLED[name]
        return Listed(name, task, rows, features, classes, None, where(name), credit, None)
    shape = entry.rows, entry.features, entry.classes
    return Listed(name, entry.kind, *shape, entry.bytes, where(name), entry.credit, address(entry))


def bring(terminal: Terminal, one: Listed) -> None:
    """Download a set that is not here yet. Sets in the cache were checked."""
    if one.where not in ("download", None):
        terminal.note(f"{one.name} is here already: {one.where}")
        return
    if one.source:
        if os.environ.get("DCOPT_CACHE") == "":
            raise BadSettings("DCOPT_CACHE", "", "a folder: an empty name disables the cache")
        terminal.note(f"{one.name}: {size(one.bytes)} from {one.source}")
    load_dataset(one.name)  # Without a source, the error says what to do instead.


HEAD = ("name", "rows", "features", "classes", "size", "where", "licence")


def listing(terminal: Terminal) -> None:
    everything = [look(name) for name in DATASETS]
    table = terminal.table(HEAD, map(row, everything), numbers=HEAD[1:5])
    terminal.result({"datasets": everything}, table)


def row(one: Listed) -> tuple[str, ...]:
    counts = str(one.rows), str(one.features), str(one.classes or "–")
    return (one.name, *counts, size(one.bytes), PLACES.get(one.where, str(one.where)), one.licence)


def size(count: int | None) -> str:
    """A size such as 2.3 MB, in decimal units."""
    if count is None:
        return "–"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
