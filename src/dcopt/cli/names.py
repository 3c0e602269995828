"""Names for the shell to complete. Every press of the Tab key imports this module, which must stay light."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields

import typer

from ..datasets.named import DATASETS
from ..errors import pick
from ..experiments.recipe import KINDS
from ..losses import LOSSES
from ..methods import METHODS
from ..regularizers import REGULARIZERS, Regularizer

EXPERIMENTS = (*KINDS, "all")
EXPERIMENTS_SAID = f"Experiments to run: {', '.join(KINDS)}, or all."
PENALTIES_SAID = f"Penalty: {', '.join(REGULARIZERS)}."
LOSSES_SAID = f"Loss: {', '.join(LOSSES)}."
SOLVERS_SAID = f"Method: auto, {', '.join(METHODS)}."


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """A completion from a fixed list."""
    known = list(names)
    return lambda incomplete: [name for name in known if name.startswith(incomplete)]


cases = among(("finite-sum", "online"))
datasets = among(DATASETS)
decompositions = among(("scalar", "diagonal", "gram"))
experiments = among(EXPERIMENTS)
losses = among(LOSSES)
measures = among(("gap", "criticality"))
methods = among(METHODS)
missing = among(("refuse", "drop", "mean"))
modes = among(("certified", "paper", "practical"))
penalties = among(REGULARIZERS)
rules = among(("best", "1se", "aic", "bic", "ebic"))
solvers = among(("auto", *METHODS))


def settings(context: typer.Context, incomplete: str) -> list[str]:
    """`lam=`, `alpha=`, … of the penalty named before."""
    name = context.params.get("penalty")
    known = settings_of(REGULARIZERS[name]) if name in REGULARIZERS else ()
    return [f"{key}=" for key in known if key.startswith(incomplete)]


def settings_of(r: Regularizer) -> tuple[str, ...]:
    """The settings that `--set` can change."""
    return tuple(f.name for f in fields(r) if f.name != "weights")  # type: ignore[arg-type]  # they are dataclasses


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Experiments in the order of the report, each once; `all` is all of them."""
    asked = {pick("experiment", name, EXPERIMENTS) for name in names}
    return KINDS if "all" in asked else tuple(kind for kind in KINDS if kind in asked)
