"""`dcopt pack`: data files into a set of shards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import DATA, HOW, WHERE, Categorical, Drop, Target, ZeroBased

if TYPE_CHECKING:
    from .terminal import Terminal

_EVERY = 5.0  # seconds between two notes


def pack(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="LIBSVM text, .csv, .parquet, .npz, .h5ad or .zarr; last, the folder to write."
        ),
    ],
    target: Target = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of the weights (CSV, Parquet, .h5ad).", rich_help_panel=DATA)
    ] = None,
    drop: Drop = None,
    missing: Annotated[
        str, typer.Option(help="Rows with missing cells: refuse or drop.", rich_help_panel=DATA)
    ] = "refuse",
    categorical: Categorical = None,
    zero_based: ZeroBased = False,
    n_features: Annotated[
        int | None, typer.Option(help="Columns of LIBSVM text.", show_default="those that appear", rich_help_panel=DATA)
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle/--no-shuffle", help="Put the rows into a random order.", rich_help_panel=HOW)
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of the order.", rich_help_panel=HOW)] = 0,
    shard_mb: Annotated[float, typer.Option(help="Megabytes of a shard.", rich_help_panel=HOW)] = 256.0,
    dtype: Annotated[
        str | None,
        typer.Option(help="float32 or float64.", show_default="as the input has it", rich_help_panel=HOW),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a set of shards that exists.", rich_help_panel=WHERE)
    ] = False,
) -> None:
    """Write data of any size as shards, which are fitted without being in memory.

    A shard is a Zarr group in AnnData's encoding. Packing that was killed goes on with the same command.

    \b
    Examples:
      dcopt pack clicks.svm clicks/ --dtype float32
      dcopt pack 2023.parquet 2024.parquet visits/ --target bought
      dcopt fit clicks/ --penalty scad
    """
    from ..datasets.shards.pack import pack as run
    from ..errors import BadSettings

    terminal: Terminal = context.obj
    if len(paths) < 2:
        raise BadSettings("paths", paths[0], "one or more files to read, and the folder to write")
    *sources, out = paths
    made = run(
        sources, out, shuffle=shuffle, seed=seed, shard_mb=shard_mb, dtype=dtype, target=target, weights=weights,
        drop=drop or (), missing=missing, categorical=categorical or (), n_features=n_features, zero_based=zero_based,
        force=force, progress=_Notes(terminal, out),
    )  # fmt: skip
    known: dict[str, Any] = {
        "out": out, "rows": made.n, "columns": made.d, "non-zeros": made.entries, "shards": len(made.shards),
        "bytes": made.size, "classes": made.classes,
    }  # fmt: skip
    size = f"{len(made.shards)} shards, {made.size / 1e6:,.1f} MB"
    terminal.result(known, f"{out}: {made.n:,} rows, {made.d:,} columns, {size}")


class _Notes:
    """A note every few seconds on how much of the work is done."""

    def __init__(self, terminal: Terminal, out: str) -> None:
        self.terminal, self.out, self.said = terminal, out, time.monotonic()

    def __call__(self, share: float) -> None:
        if time.monotonic() - self.said > _EVERY:
            self.said = time.monotonic()
            self.terminal.note(f"{self.out}: {100 * share:.0f} % packed")
