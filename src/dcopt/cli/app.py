"""The commands and their options. What a command does is in the file of its name, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import names

HELP = """Stochastic difference-of-convex optimization.

\b
Start here:
  dcopt datasets                        what data there is, and where
  dcopt plan breast_cancer --eps 0.1    what the theory promises for it
  dcopt reproduce --quick               the paper's experiments, small
"""
AFTER = """--quiet, --json and --debug are understood after the command, too.

Exit codes: 0 done, 1 bad input, 2 not converged, 70 a bug in dcopt, 130 interrupted."""
WHAT, HOW, WHERE = "What is run", "How", "Where to"  # panels of the help
PROMISE, PROBLEM = "The promise", "The problem"

app = typer.Typer(
    help=HELP,
    epilog=AFTER,
    invoke_without_command=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def program(
    context: typer.Context,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only results and errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object on stdout.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Errors with their traceback.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Say which dcopt this is.")] = False,
) -> None:
    terminal = context.obj
    terminal.quiet, terminal.json, terminal.debug = quiet, json, debug
    if version:
        from .. import __version__

        terminal.result({"version": __version__}, f"dcopt {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.get_help()  # typer prints it
        raise typer.Exit


@app.command()
def reproduce(
    context: typer.Context,
    experiments: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXPERIMENT", help=names.SAYS, autocompletion=names.experiments, show_default="all"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small versions: fewer runs and methods.", rich_help_panel=WHAT)
    ] = False,
    recipe: Annotated[
        Path | None, typer.Option(help="Your own recipe, in TOML.", metavar="FILE", rich_help_panel=WHAT)
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.", metavar="N", rich_help_panel=HOW)] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder of the report and the traces.", metavar="FOLDER", rich_help_panel=WHERE)
    ] = Path("results"),
    force: Annotated[
        bool, typer.Option("--force", help="Start over where there are results.", rich_help_panel=WHERE)
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


@app.command()
def datasets(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One of them, in detail.", autocompletion=names.datasets)
    ] = None,
    fetch: Annotated[bool, typer.Option("--fetch", help="Bring it into the cache.", rich_help_panel=HOW)] = False,
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


@app.command()
def plan(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="A data set's name, or a LIBSVM file.", autocompletion=names.datasets)],
    eps: Annotated[float, typer.Option(help="The accuracy: E measure(x̂) ≤ eps.", rich_help_panel=PROMISE)],
    measure: Annotated[
        str, typer.Option(help="gap or criticality.", autocompletion=names.measures, rich_help_panel=PROMISE)
    ] = "gap",
    setting: Annotated[
        str, typer.Option(help="finite-sum or online.", autocompletion=names.cases, rich_help_panel=PROMISE)
    ] = "finite-sum",
    mode: Annotated[
        str, typer.Option(help="certified, paper or practical.", autocompletion=names.modes, rich_help_panel=PROMISE)
    ] = "certified",
    loss: Annotated[
        str, typer.Option(help="A loss by name.", autocompletion=names.losses, rich_help_panel=PROBLEM)
    ] = "squared-sigmoid",
    penalty: Annotated[
        str, typer.Option(help="A regularizer by name.", autocompletion=names.penalties, rich_help_panel=PROBLEM)
    ] = "zero",
    set: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of the regularizer; may be repeated.",
            metavar="NAME=NUMBER",
            autocompletion=names.settings,
            rich_help_panel=PROBLEM,
        ),
    ] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale every row to norm 1.", rich_help_panel=PROBLEM)
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Predict the cost of every method of Table I too.")
    ] = False,
) -> None:
    """Batch sizes, probability, κ, steps and cost that the theorems give for your data.

    \b
    Examples:
      dcopt plan breast_cancer --normalize --eps 0.1
      dcopt plan a9a --normalize --penalty exponential --set lam=3e-5 --eps 1e-3
      dcopt plan mine.svm --loss logistic --penalty scad --eps 0.01 --compare
    """
    from .plan import explain

    asked = {"eps": eps, "measure": measure, "setting": setting, "mode": mode}
    explain(context.obj, data, loss, penalty, set or [], normalize, compare, **asked)
