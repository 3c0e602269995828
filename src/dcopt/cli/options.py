"""Options that several commands share, and the panels of the help."""

from __future__ import annotations

from typing import Annotated

import typer

from . import names

WHAT, HOW, WHERE = "What is run", "How", "Where to"  # The panels of the help.
PROMISE, PROBLEM = "The promise", "The problem"
DATA, LAMBDA, BUDGET = "The data", "lam", "When to stop"

Penalty = Annotated[
    str, typer.Option(help=names.PENALTIES_SAID, autocompletion=names.penalties, rich_help_panel=PROBLEM)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        help="Setting of the penalty (in fit also of the loss, as loss.NAME=NUMBER). May be repeated.",
        metavar="NAME=NUMBER",
        autocompletion=names.settings,
        rich_help_panel=PROBLEM,
    ),
]

Target = Annotated[
    str | None,
    typer.Option(help="Column to predict (CSV, Parquet): its name, or its number from 1 on.", rich_help_panel=DATA),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.", rich_help_panel=DATA)]
Missing = Annotated[
    str,
    typer.Option(
        help="Rows with missing cells: refuse, drop, or mean (fill in the mean of the column).",
        autocompletion=names.missing,
        rich_help_panel=DATA,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        help="A column whose values are levels, though they look like numbers; may be repeated.",
        metavar="COLUMN",
        rich_help_panel=DATA,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal sign of CSV cells, a point or a comma.",
        metavar="CHARACTER",
        show_default="by the cells",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV has names.",
        show_default="by the line",
        rich_help_panel=DATA,
    ),
]
ZeroBased = Annotated[
    bool,
    typer.Option("--zero-based", help="Indices of LIBSVM text start at 0, not at 1.", rich_help_panel=DATA),
]
