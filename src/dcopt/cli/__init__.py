"""The command line."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
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


class Experiment(StrEnum):
    """What `reproduce` can run."""

    paper = "paper"
    scaling = "scaling"


@app.command()
def reproduce(
    experiment: Annotated[
        Experiment, typer.Argument(help="F against passes, or gradients against N.")
    ] = Experiment.paper,
    passes: Annotated[float, typer.Option(help="paper: budget of every method, honestly counted passes.")] = 20.0,
    seed: Annotated[int, typer.Option(help="paper: seed of every run.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="scaling: a small version, in half a minute.")] = False,
    out: Annotated[Path, typer.Option(help="scaling: folder of the results.")] = Path("results"),
    force: Annotated[bool, typer.Option("--force", help="scaling: start over where results exist.")] = False,
    jobs: Annotated[int, typer.Option(help="scaling: processes.")] = 1,
) -> None:
    """Run every method on the paper's problems: a table of F against passes.

    Data: a9a, w8a and dna.scale from the folder DCOPT_DATA; without them, sets that ship with scikit-learn.

    With `scaling`: component gradients until the critical distance falls below ε, against N and against ε, with the
    exponents of Table I beside the measured ones. About ten minutes; a run that was cut off continues.
    """
    if experiment is Experiment.scaling:
        from .scaling import scaling

        scaling(out, quick, force, jobs)
    else:
        from .reproduce import tables

        tables(passes, seed)


@app.command()
def datasets() -> None:
    """List the data sets known by name, and which of them are here."""
    from ..data.datasets import BUNDLED, LIBSVM, available

    for name in (*LIBSVM, *BUNDLED):
        where = "with scikit-learn" if name in BUNDLED else "in DCOPT_DATA" if available(name) else "not here"
        print(f"{name:20} {where}")


@app.command()
def plan(
    data: Annotated[str, typer.Argument(help="A data set's name, or a LIBSVM file.")],
    eps: Annotated[float, typer.Option(help="The accuracy: E measure(x̂) ≤ eps.")],
    loss: Annotated[str, typer.Option(help="A loss by name.")] = "squared-sigmoid",
    penalty: Annotated[str, typer.Option(help="A regularizer by name.")] = "zero",
    set: Annotated[list[str] | None, typer.Option(help="Its settings, e.g. --set lam=0.01 --set alpha=5.")] = None,
    measure: Annotated[str, typer.Option(help="gap or criticality.")] = "gap",
    setting: Annotated[str, typer.Option(help="finite-sum or online.")] = "finite-sum",
    mode: Annotated[str, typer.Option(help="certified, paper or practical.")] = "certified",
    normalize: Annotated[bool, typer.Option(help="Scale every row to norm 1.")] = False,
    compare: Annotated[bool, typer.Option(help="Predict the cost of every method of Table I too.")] = False,
) -> None:
    """Batch sizes, probability, κ, steps and cost that the theorems give for your data.

    Example: dcopt plan a9a --normalize --penalty exponential --set lam=3e-5 --set alpha=5 --eps 1e-3 --compare
    """
    from .plan import explain

    asked = {"eps": eps, "measure": measure, "setting": setting, "mode": mode}
    print(explain(data, loss, penalty, set or [], normalize, compare, **asked))


def main() -> None:
    """Exit codes: 0 done, 1 bad input, 130 interrupted."""
    try:
        app()
    except DcoptError as error:
        print(f"dcopt: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
