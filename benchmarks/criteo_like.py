"""Data in the spirit of the Criteo set, of any number of rows, written as shards in bounded memory.

    python benchmarks/criteo_like.py OUT --rows 1e7

A row has 39 categorical values, hashed to 10⁶ columns. How often a value occurs follows a power law, P(v) ∝ 1/v, with
from ten to ten million different values in a column. Labels are −1 and +1 from a sparse logistic model. A row is a
function of the seed and of its number alone, and the rows have no order, so that nothing is shuffled. With --ones the
values, which are all 1, are stored once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dcopt.datasets.shards.block import Block
from dcopt.datasets.shards.set_writer import SetWriter

COLUMNS, CATEGORIES = 10**6, 39
BLOCK = 2**17  # rows that are made together
_PLACES = COLUMNS // CATEGORIES  # of the values of one category; no two categories share a column
_MOST = np.logspace(1, 7, CATEGORIES)  # different values of each category
_ACTIVE, _POPULAR = 400, 40  # coefficients of the model, among the so many most frequent values of a category
_BASE = -1.2  # the intercept of the model, which makes about a quarter of the labels +1


def coefficients(seed: int) -> NDArray[np.float32]:
    """The model: a few frequent values decide."""
    rng, x = np.random.Generator(np.random.Philox(key=[seed, 2**32])), np.zeros(COLUMNS, np.float32)
    category, value = rng.integers(0, CATEGORIES, _ACTIVE), rng.integers(1, _POPULAR, _ACTIVE)
    x[columns_of(category, value)] = rng.normal(0.0, 0.7, _ACTIVE)
    return x


def columns_of(category: NDArray[np.int64], value: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hash the values of a category to its columns."""
    hashed = (value.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
    return (hashed.astype(np.int64) % _PLACES) * CATEGORIES + category


def block(seed: int, number: int, rows: int, x: NDArray[np.float32]) -> Block:
    """Block `number` of BLOCK rows, or its first `rows` rows"""
    rng = np.random.Generator(np.random.Philox(key=[seed, number]))
    draws, labels = rng.random((BLOCK, CATEGORIES), np.float32)[:rows], rng.random(BLOCK, np.float32)[:rows]
    value = np.exp(draws * np.log(_MOST).astype(np.float32)).astype(np.int64)
    at = columns_of(np.arange(CATEGORIES), value)
    at.sort(axis=1)
    y = np.where(labels < 1.0 / (1.0 + np.exp(-_BASE - x[at].sum(axis=1))), 1.0, -1.0).astype(np.float32)
    indices, sizes = at.astype(np.int32).reshape(-1), np.full(rows, CATEGORIES, np.int64)
    places = np.arange(number * BLOCK, number * BLOCK + rows)
    return Block(np.ones(indices.size, np.float32), sizes, indices, y, None, places)


def write(out: Path, rows: int, seed: int = 0, shard_mb: float = 256.0, ones: bool = False) -> None:
    """Write the set; a writer that was killed goes on with the next shard."""
    x, aside = coefficients(seed), out.with_name(f".{out.name}.packing")
    writer = SetWriter(out, aside, COLUMNS, ones, (-1, 1), {"seed": seed})
    per_row = CATEGORIES * (4 if ones else 8) + 20
    each = max(1, round(shard_mb * 1e6 / per_row / BLOCK))  # blocks of a shard
    blocks, begun = -(-rows // BLOCK), time.monotonic()
    for first in range(len(writer.shards) * each, blocks, each):

        def some(first: int = first) -> Iterator[Block]:
            for number in range(first, min(first + each, blocks)):
                yield block(seed, number, min(BLOCK, rows - number * BLOCK), x)

        writer.shard(some())
        done = min(first + each, blocks) / blocks
        print(f"{out}: {100 * done:.0f} % after {time.monotonic() - begun:.0f} s", file=sys.stderr)
    made = writer.finish()
    print(f"{out}: {made.n:,} rows, {made.entries:,} values, {len(made.shards)} shards, {made.size / 1e9:.2f} GB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shard-mb", type=float, default=256.0)
    parser.add_argument("--ones", action="store_true", help="store the values, which are all 1, once")
    given = parser.parse_args()
    write(given.out, int(given.rows), given.seed, given.shard_mb, given.ones)
