"""scaling.md: slopes beside claims, and what they say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from . import contestants
from .records import Record
from .scaling_recipe import Recipe
from .slopes import Row, against_eps, against_N

HEAD = ("method", "claimed", "measured, honest", "paper's count", "all gradients", "steps", "batch sizes alone")


class Findings:
    """Everything that is fitted to the records of one recipe."""

    title = "Component gradients against N and ε"

    def __init__(self, recipe: Recipe, records: Sequence[Record]) -> None:
        self.recipe, self.records = recipe, records
        self.families = [f for f in recipe.families if any(r.data == f.data for r in records)]
        self.in_N: dict[str, list[Row]] = {}
        self.in_eps: dict[str, list[Row]] = {}
        self.passes: dict[str, dict[str, float]] = {}  # The fits at the largest N.
        for f in self.families:
            mine = [r for r in records if r.data == f.data]
            self.in_N[f.data] = against_N(mine, f.levels[-1])
            self.in_eps[f.data] = against_eps(mine, f.at)
            top = [r for r in mine if r.n == max(f.sizes) and r.level == f.levels[-1]]
            self.passes[f.data] = {
                m: median(float("inf") if r.gradients is None else r.gradients / r.n for r in top if r.method == m)
                for m in recipe.methods_on(f)
                if any(r.method == m for r in top)
            }

    def markdown(self) -> str:
        """The whole report."""
        parts = [
            f"# {self.title}",
            self.protocol(),
            "## Exponents in N",
            f"ε = {self.families[0].levels[-1]:g} · d(x⁰). Slope of log(gradients after the first N) against log N.",
            _table([row for rows in self.in_N.values() for row in rows]),
            "## Exponents in 1/ε",
            "N = " + ", ".join(f"{f.at} ({f.data})" for f in self.families) + ". Slope against log(1/ε).",
            _table([row for rows in self.in_eps.values() for row in rows]),
            "## Passes at the largest N",
            f"Median of all gradients (honest) / N until d ≤ {self.families[0].levels[-1]:g} · d(x⁰).",
            self._passes_table(),
            "## What it says",
            self.says(),
        ]
        return "\n\n".join(parts) + "\n"

    def protocol(self) -> str:
        """What was done, in a paragraph."""
        recipe = self.recipe
        censored = sum(r.status == "censored" for r in self.records)
        return (
            f"{self.setting()} {recipe.runs} seeds, one for {_names(recipe.once)}. The distance is looked at whenever "
            f"the gradients after the first N have grown by {100 * (recipe.ratio - 1):.0f} %; looking is not counted. "
            "Exponents: least squares in log-log through the medians over seeds, 95 % intervals from resampling the "
            "seeds at every point: they know nothing of the misfit of a straight line. Sizes at which every step of a "
            "method takes all N gradients are left out: DCA-SVRG with a loop of one step is DCA. The claims O(N + N^a "
            "ε^(-2)) are upper bounds for the gradients after the first N; a verdict widens the interval by 0.05, for "
            "batch sizes are rounded to integers, and the column on batch sizes has the exponent of the expected "
            "gradients in one step. Honest count: a correction at two points costs two gradients; the paper counts it "
            f"once. {len(self.records)} lines, {censored} of them censored (no crossing within {recipe.cap:g} passes)."
        )

    def setting(self) -> str:
        """The problems and the methods."""
        recipe = self.recipe
        return (
            "Component gradients until the critical distance d(x) = dist(∇H(x) + w, ∂(G + r₁)(x)) is first seen at or "
            "below ε, for the batch sizes and κ of theory as registered in `dcopt.METHODS`, and a control outside "
            "of theory, `mm-saga-sqrt`: SAGA with the b = ⌈√N⌉ of PAGE. Squared sigmoid, rows of "
            f"length 1, λ = {recipe.lam:g} for every N (the paper's 1/N would change F with N), α = {recipe.alpha:g}, "
            "x⁰ = 0; every N is a prefix of one population in a fixed random order; synthetic: Gaussian rows with "
            f"covariance diag(1, 1/2, …, 1/{recipe.dim}) scaled to length 1, logistic labels of a planted x."
        )

    def _passes_table(self) -> str:
        lines = ["| method | " + " | ".join(f"{f.data}, N = {max(f.sizes)}" for f in self.families) + " |"]
        lines.append("|---" * (len(self.families) + 1) + "|")
        for m in dict.fromkeys(m for mine in self.passes.values() for m in mine):
            cells = (self.passes[f.data].get(m, float("nan")) for f in self.families)
            lines.append(f"| `{m}` | " + " | ".join(f"{c:.2f}" for c in cells) + " |")
        return "\n".join(lines)

    def says(self) -> str:
        """The paragraph, from the numbers alone."""
        in_N = [row for rows in self.in_N.values() for row in rows]
        in_eps = [row for rows in self.in_eps.values() for row in rows]
        said = [f"Claims in N: {_tally(in_N)}. Claims in 1/ε: {_tally(in_eps)}."]
        said += [
            f"On {row.data} `{row.method}` grows faster with N than claimed: {row.honest}."
            for row in in_N
            if row.verdict == "not supported"
        ]
        said += self.compared(in_N)
        if in_eps:
            slopes = [row.honest.value for row in in_eps]
            said.append(
                f"Against 1/ε the exponents are {min(slopes):.2f} to {max(slopes):.2f}; the claimed 2 is a bound for "
                f"the worst function, and deterministic DCA has {_list([r for r in in_eps if r.method == 'dca'])}: "
                "this measures the problems more than the methods."
            )
        for data, passes in self.passes.items():
            order = sorted(passes, key=lambda m: passes[m])
            said.append(f"On {data}, from the cheapest at the largest N: {', '.join(order)}; {_lead(passes, order[0])}")
        page = [row for row in in_N if row.method == "dca-page"]
        if page:
            total = ", ".join(f"{row.total.value:.2f} ({row.data})" for row in page)
            means = ", ".join(f"{row.mean} ({row.data})" for row in page if row.mean is not None)
            said.append(
                f"With the first full gradient counted, the exponent of `dca-page` is {total}: the term N takes over "
                "where √N exceeds three times the number of steps. There runs often end before their first refresh, "
                "which a median does not see; through means (the theorems bound expectations) it is "
                f"{means or 'not known, because some runs are censored'}."
            )
        return " ".join(said)

    def compared(self, in_N: Sequence[Row]) -> list[str]:
        """What the exponents say of batch sizes and of estimators."""
        if not in_N:
            return []
        steps = [row.steps.value for row in in_N]
        said = [
            f"The number of steps hardly depends on N (exponents {min(steps):.2f} to {max(steps):.2f}), so the "
            "exponents in N are those of the batch sizes that theory prescribes, rounded to integers: what is "
            "confirmed is that these batches are large enough, not that they are needed."
        ]
        control, page = ([row for row in in_N if row.method == m] for m in ("mm-saga-sqrt", "dca-page"))
        if control and page:
            shares = (c.honest.medians[-1] / p.honest.medians[-1] for c, p in zip(control, page, strict=False))
            said.append(
                f"The control, SAGA with b = ⌈√N⌉, has no theorem and the exponents {_list(control)}; after the first "
                f"N it spends {', '.join(f'{share:.2f}' for share in shares)} of what `dca-page` spends at the largest "
                "N. So the order N^(3/4) > N^(2/3) > N^(1/2) of Table I is one of batch sizes in proofs; a difference "
                "between the estimators does not show here."
            )
        return said


def _names(methods: Sequence[str]) -> str:
    return " and ".join(f"`{m}`" for m in methods)


def _list(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row.honest} ({row.data})" for row in rows)


def _lead(passes: dict[str, float], best: str) -> str:
    if "dca" not in passes or best == "dca":
        return f"{best} is the cheapest."
    return f"{best} needs {passes['dca'] / passes[best]:.0f} times fewer gradients than dca."


def _tally(rows: Sequence[Row]) -> str:
    counts = Counter(r.verdict for r in rows if r.claim is not None)
    return ", ".join(f"{count} of {counts.total()} {what}" for what, count in counts.items())


def _table(rows: Sequence[Row]) -> str:
    programs = any(r.programs is not None for r in rows)
    head = ("data", *HEAD, *(["with programs"] if programs else []), "verdict")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join((r.data, f'`{r.method}`', *cells(r, programs)[1:]))} |" for r in rows]
    return "\n".join(lines)


def cells(r: Row, programs: bool) -> tuple[str, ...]:
    """A row as text: HEAD, the exponent with the gradients of programs if asked, the verdict."""
    sizes = "–" if math.isnan(r.sizes) else f"{r.sizes:.2f}"
    shown = [str(v) for v in (r.honest, r.paper, r.total, r.steps)]
    with_programs = [str(r.programs or r.honest)] if programs else []
    return (contestants.label(r.method), _claim(r.claim), *shown, sizes, *with_programs, r.verdict)


def _claim(claim: float | None) -> str:
    return "–" if claim is None else f"{claim:.2f}"
