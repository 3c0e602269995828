"""The program `dcopt`: its own options, and its commands. What a command does is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from .fit_commands import fit, predict, resume
from .pack_command import pack
from .survey_commands import datasets, inspect, plan, reproduce

HELP = """Stochastic difference-of-convex optimization.

\b
Start here:
  dcopt datasets                         what data there is, and where
  dcopt fit breast_cancer                a sparse model, lam by cross-validation
  dcopt plan breast_cancer --eps 1e-5    what the theory promises for it
  dcopt reproduce --quick                the paper's experiments, small
"""
AFTER = """--quiet, --json and --debug are understood after the command, too.

Exit codes: 0 done, 1 bad input, 2 not converged, 70 a bug in dcopt, 130 interrupted, 143 terminated."""

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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object on stdout.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print errors with their traceback.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version of dcopt.")] = False,
) -> None:
    terminal = context.obj
    terminal.quiet, terminal.json, terminal.debug = quiet, json, debug
    if version:
        from ..version import __version__

        terminal.result({"version": __version__}, f"dcopt {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.get_help()  # typer prints the help.
        raise typer.Exit


for command in (reproduce, datasets, pack, plan, fit, resume, predict, inspect):  # This is the order in the help.
    app.command()(command)
