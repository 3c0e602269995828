"""One experiment: what is missing of its runs, then its panels, tables and claims."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ..report.panels import Claim, Panel, Table
from ..store import atomic
from . import (
    claims,
    curves,
    export,
    general,
    orders,
    records,
    scaling,
    scaling_recipe,
    source,
    statement_claims,
    statements,
    theorems,
    views,
)
from . import recipe as recipes
from .campaign import Watch, Workers, campaign
from .general_report import GeneralFindings
from .ledger import Ledger, Line
from .scaling_report import Findings
from .typed import build


class Part(NamedTuple):
    """One experiment, finished."""

    kind: str
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    protocol: str
    remarks: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()  # The files, the ledger first.
    head: tuple[str, ...] = ()
    rows: tuple[export.Row, ...] = ()
    tables: tuple[Table, ...] = ()


class Noted:
    """A Watch that also keeps the notes, for the report."""

    def __init__(self, watch: Watch) -> None:
        self.kept: list[str] = []
        self.begin, self.advance, self.end, self._note = watch.begin, watch.advance, watch.end, watch.note

    def note(self, text: str) -> None:
        self.kept.append(text)
        self._note(text)


class Way(NamedTuple):
    """How experiments run: where the files go, which recipe, and who looks."""

    out: Path
    quick: bool
    force: bool
    recipe: Path | None
    workers: Workers
    watch: Noted
    lack: source.Missing

    def part(self, kind: str) -> Part:
        """The experiment of this name."""
        table = recipes.read(kind, self.quick, self.recipe)
        own = {"scaling": _scaling, "general": _scaling, "theorems": _theorems, "statements": _statements}
        return own.get(kind, _curves)(self, kind, table)

    def read(self, hint: type[Any], kind: str, table: dict[str, Any]) -> Any:
        return build(hint, table, f"recipe {self.recipe or kind}")

    def ledger(self, kind: str, table: dict[str, Any], check: Callable[[Line, str], object]) -> Ledger:
        head = {"dcopt": version("dcopt"), "digest": recipes.digest(table), "recipe": table}
        return Ledger(self.out / "traces" / f"{kind}.jsonl", head, self.force, check)


def _curves(way: Way, kind: str, table: dict[str, Any]) -> Part:
    chosen: curves.Recipe = way.read(curves.Recipe, kind, table)
    ledger = way.ledger(kind, table, curves.check_line)
    sets = way.lack.at_hand(chosen.data, chosen.instead)
    lines = campaign(chosen.title, list(curves.jobs(chosen, sets)), ledger, way.workers, way.watch)
    runs = views.runs(chosen, lines)
    said = claims.of(kind, runs)
    rows = tuple(export.looks(kind, lines))
    panels = tuple(views.panel(kind, here) for here in runs)
    remarks = tuple(orders.field_remarks(runs)) if kind in ("binary", "multiclass") else ()
    return Part(kind, panels, tuple(said), _protocol(chosen), remarks, (ledger.path,), export.HEAD, rows)


def _scaling(way: Way, kind: str, table: dict[str, Any]) -> Part:
    chosen: scaling_recipe.Recipe = way.read(scaling_recipe.Recipe, kind, table)
    ledger = way.ledger(kind, table, records.check_line)
    names = tuple(f.data for f in chosen.families)
    sets = tuple(filter(general.at_hand, names)) if chosen.is_general else way.lack.at_hand(names, None)
    if chosen.is_general and len(sets) < len(names):
        way.watch.note('components by autodiff need PyTorch: pip install "dcopt[torch]"')
    lines = campaign(chosen.title, list(scaling.jobs(chosen, sets)), ledger, way.workers, way.watch)
    found = (GeneralFindings if chosen.is_general else Findings)(chosen, records.records(lines))
    stem = way.out / kind
    atomic.write(stem.with_suffix(".md"), [found.markdown().encode()])
    files = export.save(records.Record._fields, found.records, stem)
    panels = tuple(views.scaling_panels(found))
    said = tuple(orders.order_claims(found))
    return Part(kind, panels, said, found.protocol(), (), (ledger.path, stem.with_suffix(".md"), *files))


def _theorems(way: Way, kind: str, table: dict[str, Any]) -> Part:
    chosen: theorems.Recipe = way.read(theorems.Recipe, kind, table)
    ledger = way.ledger(kind, table, theorems.check_line)
    names = tuple(dict.fromkeys(c.problem for c in chosen.cases if c.problem in source.NAMES))
    sets = way.lack.at_hand(names, None) if names else ()
    lines = campaign(chosen.title, list(theorems.jobs(chosen, sets)), ledger, way.workers, way.watch)
    said = tuple(theorems.bound_claims(lines))
    protocol = (
        f"{chosen.title}: {chosen.runs} runs of the settings that `dcopt.plan` makes for each theorem, seeds 0 to "
        f"{chosen.runs - 1}, from x⁰ until T. Online: batches of b < N of the N components. D0 = F(x⁰) − inf F and σ "
        "are bounds that hold for the problem; the measure is that of the plan's G."
    )
    return Part(kind, (), said, protocol, (), (ledger.path,), tables=(theorems.bound_table(lines),))


def _statements(way: Way, kind: str, table: dict[str, Any]) -> Part:
    chosen: statements.Recipe = way.read(statements.Recipe, kind, table)
    ledger = way.ledger(kind, table, statements.check_line)
    sets = way.lack.at_hand(chosen.data, chosen.instead)
    lines = campaign(chosen.title, list(statements.jobs(chosen, sets)), ledger, way.workers, way.watch)
    said = tuple(statement_claims.statement_claims(lines))
    protocol = f"{chosen.title}: every number is computed in {chosen.runs} runs, seeds 0 to {chosen.runs - 1}."
    return Part(kind, (), said, protocol, (), (ledger.path,))


def _protocol(chosen: curves.Recipe) -> str:
    how = ", samples drawn with replacement" if chosen.online else ""
    return (
        f"{chosen.title}: {', '.join(chosen.data)}{how}; loss {chosen.loss}, penalty {views.penalty(chosen)}; "
        f"{chosen.runs} runs, seeds 0 to {chosen.runs - 1}, {100 * chosen.test:g} % of the rows for testing; budget "
        f"{views.passes(chosen.passes)} in the paper's count, {views.passes(chosen.every)} of the honest count between "
        f"two looks; the long run has {views.passes(chosen.reference)}."
    )
