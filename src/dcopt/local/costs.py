"""Thresholds of cost. Every function answers a question with yes or no, and with a sentence that gives the reason.

The numbers were measured on two cores (docs/policies.md has the table). They do not change where a run may end, only
how long it takes to get there.
"""

from __future__ import annotations

from typing import NamedTuple

from ..subproblems.newton import SMALL
from ..sums.curvature import Curvature
from ..xp import Array

COMPILE_ENTRIES = 2**16  # entries of A: for fewer, compiling a kernel takes longer than the whole run
BLOCK_ROWS = 2048  # rows of the Hessian of several classes that is still made as a matrix
COPIED_ENTRIES = 2**24  # entries of dense columns that a model may copy: 192 MB
SMALL_GRAM = SMALL  # columns whose Gram matrix is made whatever it costs: Newton's method solves programs in it at once
DESCENT_PASSES = 30  # over the entries of the columns: where Q is ill-conditioned, more of them cost more than a step
CENTRED_COLUMNS = 512  # dense columns from which an intercept is worth eliminating
FAR_MEANS = 0.25  # share of the mean squares of columns: above it their means are far from 0, and descent crawls
CHEAP_ROW = 256  # stored entries of a row for which a Gram matrix of all columns costs no more than some passes
START_ENTRIES = 2**18  # entries of A, times the classes, up to which several starts are tried: some twenty passes
MANY_ROWS = 4096  # rows below which a full gradient costs less than what a batch saves
GROUP_GRAM = 2048  # features: a Gram matrix of 32 MiB, coordinate descent at a few ms a pass


class Choice(NamedTuple):
    """What is chosen, and why."""

    yes: bool
    why: str


def compile_kernels(n: int, d: int) -> Choice:
    """Whether compiled descent is worth its start."""
    if n * d > COMPILE_ENTRIES:
        return Choice(True, f"A has {n * d} entries")
    return Choice(False, f"compiling takes longer than all steps on {n * d} entries")


def all_columns_are_cheap(C: Curvature, every: Array) -> Choice:
    """Whether the Gram matrix of all columns costs no more than some passes."""
    stored = C.stored(every) if C.shows_columns else C.n * len(every)  # Rows that hide their columns count as full.
    if stored <= CHEAP_ROW * C.n:
        return Choice(True, f"rows have at most {CHEAP_ROW} entries on average")
    return Choice(False, f"rows have more than {CHEAP_ROW} entries on average")


def by_columns(C: Curvature, columns: Array, over_rows: bool, has_unpenalised: bool) -> Choice:
    """Whether descent on the stored entries of these columns costs less than their Gram matrix, for one class.

    over_rows: r1 is over rows of x; has_unpenalised: there are columns, such as an intercept, that r1 leaves alone.
    """
    m = len(columns)
    if not C.shows_columns or over_rows or C.classes > 1:
        return Choice(False, "descent on columns serves entries of one class")
    if m * m < 2 * C.stored(columns):
        return Choice(False, f"a Gram matrix of {m} columns is smaller than their entries")
    if C.constant and m <= SMALL_GRAM:
        return Choice(False, "a small Gram matrix that serves every step is worth more")
    if C.rough and m <= CENTRED_COLUMNS and has_unpenalised:
        return Choice(False, "descent would crawl along the means, which a Gram matrix eliminates")
    return Choice(True, f"a pass over the entries costs less than {m} × {m} numbers")


def classes_by_columns(C: Curvature, columns: Array, penalised: Array) -> Choice:
    """The same for several classes, whose Hessian has a row for every entry."""
    wide = len(columns) * C.classes
    if not (C.shows_columns and C.is_softmax and wide > BLOCK_ROWS):
        return Choice(False, f"a Hessian of {wide} rows is made as a matrix")
    if C.rough and C.stored(columns) > COPIED_ENTRIES:
        return Choice(False, f"the columns would have to be copied: more than {COPIED_ENTRIES} entries")
    if C.means_are_far(penalised, FAR_MEANS):
        return Choice(False, "columns are far from 0, and descent would crawl along their means")
    return Choice(True, f"a Hessian of {wide} rows is never made")


def several_starts(entries: float) -> Choice:
    """Whether several starts cost little."""
    if entries <= START_ENTRIES:
        return Choice(True, f"passes over {entries} entries cost little")
    return Choice(False, f"passes over {entries} entries are better spent on one run")


def batches(n: int | None) -> Choice:
    """Whether batches of so many rows save more than a full gradient costs."""
    if (n or 0) >= MANY_ROWS:
        return Choice(True, f"{n} rows allow batches")
    return Choice(False, f"{n} rows are soon seen")


def gram_of_groups(d: int) -> Choice:
    """Whether the Gram matrix of all features is affordable where r is over groups of them."""
    if d <= GROUP_GRAM:
        return Choice(True, f"the Gram matrix of {d} features is cheap")
    return Choice(False, f"the Gram matrix of {d} features is not cheap")
