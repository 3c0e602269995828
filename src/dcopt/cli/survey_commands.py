"""The commands that describe or reproduce: reproduce, datasets, plan, inspect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import names
from .options import (
    HOW,
    PROBLEM,
    PROMISE,
    WHAT,
    WHERE,
    Categorical,
    Decimal,
    Drop,
    Header,
    Missing,
    Penalty,
    Settings,
    Target,
    ZeroBased,
)


def reproduce(
    context: typer.Context,
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT", help=names.EXPERIMENTS_SAID, autocompletion=names.experiments, show_default="all"
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run small versions, with fewer runs and methods.", rich_help_panel=WHAT)
    ] = False,
    recipe: Annotated[
        Path | None, typer.Option(help="Recipe of your own, in TOML.", metavar="FILE", rich_help_panel=WHAT)
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of processes.", metavar="N", rich_help_panel=HOW)
    ] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder of the report and the traces.", metavar="FOLDER", rich_help_panel=WHERE)
    ] = Path("results"),
    force: Annotated[
        bool, typer.Option("--force", help="Delete results that exist, and start over.", rich_help_panel=WHERE)
    ] = False,
) -> None:
    """Run the paper's experiments, and put its claims beside what was measured.

    Runs that ended are kept in the folder of the results: the same command continues where it was cut off.

    \b
    Examples:
      dcopt reproduce --quick --jobs 2
      dcopt reproduce binary multiclass --out figures
      dcopt reproduce binary --recipe mine.toml
    """
    from .reproduce import run

    run(context.obj, experiments or ["all"], out, quick, jobs, force, recipe)


def datasets(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Data set to describe in detail.", autocompletion=names.datasets),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download the data set into the cache.", rich_help_panel=HOW)
    ] = False,
) -> None:
    """List the data sets known by name: their sizes, where they are, and their licences.

    LIBSVM files are taken from the folder DCOPT_DATA, if that variable is set, and else from the cache.

    \b
    Examples:
      dcopt datasets
      dcopt datasets a9a --fetch
      dcopt datasets --json | jq '.datasets[] | select(.rows > 9999) | .name'
    """
    from .datasets import run

    run(context.obj, name, fetch)


def plan(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="LIBSVM text, .csv, .parquet, the name of a data set, or - for stdin.",
            autocompletion=names.datasets,
        ),
    ],
    eps: Annotated[float, typer.Option(help="Accuracy to plan for: E measure(x̂) ≤ eps.", rich_help_panel=PROMISE)],
    measure: Annotated[
        str,
        typer.Option(
            help="Measure of accuracy: gap or criticality.", autocompletion=names.measures, rich_help_panel=PROMISE
        ),
    ] = "gap",
    setting: Annotated[
        str,
        typer.Option(
            help="Setting of the theorems: finite-sum or online.", autocompletion=names.cases, rich_help_panel=PROMISE
        ),
    ] = "finite-sum",
    mode: Annotated[
        str,
        typer.Option(
            help="Kind of the plan: certified, paper or practical.", autocompletion=names.modes, rich_help_panel=PROMISE
        ),
    ] = "certified",
    loss: Annotated[
        str, typer.Option(help=names.LOSSES_SAID, autocompletion=names.losses, rich_help_panel=PROBLEM)
    ] = "squared-sigmoid",
    penalty: Penalty = "zero",
    set: Settings = None,
    target: Target = None,
    drop: Drop = None,
    missing: Missing = "refuse",
    categorical: Categorical = None,
    decimal: Decimal = None,
    header: Header = None,
    zero_based: ZeroBased = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale every row to norm 1.", rich_help_panel=PROBLEM)
    ] = False,
    decomposition: Annotated[
        str,
        typer.Option(
            help="Kind of G: scalar, diagonal or gram.", autocompletion=names.decompositions, rich_help_panel=PROBLEM
        ),
    ] = "scalar",
    compare: Annotated[
        bool, typer.Option("--compare", help="Also predict the cost of every method of Table I.")
    ] = False,
) -> None:
    """Batch sizes, probability, κ, steps and cost that the theorems give for your data.

    \b
    Examples:
      dcopt plan breast_cancer --normalize --eps 1e-3
      dcopt plan a9a --normalize --penalty exponential --set lam=3e-5 --eps 1e-3
      dcopt plan houses.csv --target sold --loss logistic --penalty scad --eps 1e-3 --compare
    """
    from ..datasets.tables import Columns
    from .plan import explain

    asked = {"eps": eps, "measure": measure, "setting": setting, "mode": mode}
    wanted = Columns(
        target, tuple(drop or ()), missing=missing, categorical=tuple(categorical or ()), decimal=decimal,
        header=header, zero_based=zero_based,
    )  # fmt: skip
    explain(context.obj, data, wanted, loss, penalty, set or [], normalize, compare, decomposition, **asked)


def inspect(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="Model, checkpoint, journal of a fit, shards, or data.", autocompletion=names.datasets)
    ],
    target: Annotated[str | None, typer.Option(help="Column of the targets (CSV, Parquet).")] = None,
    decimal: Decimal = None,
    header: Header = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read all shards, and compare their digests.")] = False,
) -> None:
    """Describe a file: shapes, settings, coefficients, certificate and digest; of data, classes and scales.

    \b
    Examples:
      dcopt inspect model.dcm
      dcopt inspect run.ckpt --json | jq .step
      dcopt inspect houses.csv --target price
    """
    from .inspect import run

    run(context.obj, file, target, decimal, header, verify)
