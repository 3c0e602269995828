"""The command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..errors import DcoptError

app = typer.Typer(no_args_is_help=True, add_completion=True, help="Stochastic difference-of-convex optimization.")


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        print(f"dcopt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Options of the program itself."""


@app.command()
def reproduce(
    passes: Annotated[float, typer.Option(help="Budget of every method, in honestly counted passes.")] = 20.0,
    seed: Annotated[int, typer.Option(help="Seed of every run.")] = 0,
) -> None:
    """Run every method on the paper's problems: a table of F against passes.

    Data: a9a, w8a and dna.scale from the folder DCOPT_DATA; without them, sets that ship with scikit-learn.
    """
    from .reproduce import tables

    tables(passes, seed)


@app.command()
def datasets() -> None:
    """List the data sets known by name, and which of them are here."""
    from ..data.datasets import BUNDLED, LIBSVM, available

    for name in (*LIBSVM, *BUNDLED):
        where = "with scikit-learn" if name in BUNDLED else "in DCOPT_DATA" if available(name) else "not here"
        print(f"{name:20} {where}")


def main() -> None:
    """Exit codes: 0 done, 1 bad input, 130 interrupted."""
    try:
        app()
    except DcoptError as error:
        print(f"dcopt: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
