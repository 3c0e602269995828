"""general.md: the exponents of Table I on problems (M), and the constants that decide them."""

from __future__ import annotations

from collections.abc import Sequence

from ..estimators.base import KnowsItsError
from . import contestants, general
from .scaling_report import Findings
from .slopes import Row


class GeneralFindings(Findings):
    """Everything that is fitted to the records of problems with a general G."""

    title = "Component gradients on a general G"

    def setting(self) -> str:
        recipe = self.recipe
        return (
            "Gradients of the h_i until the critical distance d(x) = dist(∇H(x) + w, ∂(G + r₁)(x)) is first seen at or "
            "below ε, on problem (M) with a G of its own, for the batch sizes of theory as registered in "
            f"`dcopt.METHODS`. Rows of length √{recipe.dim} in {recipe.dim} dimensions; every N is a prefix of one "
            "synthetic population. Every estimator has the smallest shift η/2 ‖x‖² of G and H with which its error "
            "leaves a descent (a = ρ/2 − s L_v ≥ ρ/4); `dca` has no error and no shift. Two controls: `sdca-unshifted` "
            "is SDCA with the G of `dca`, for its convergence needs h_i that are convex and no bound of an error; "
            "`saga-sqrt` is SAGA with the b = ⌈√N⌉ and the shift of `dca-page`, for which no theorem is known. The "
            "column with programs adds what the convex programs cost where G is a mean over the rows itself: a pass "
            "over G counts N; the theorems do not count it."
        )

    def constants(self) -> str:
        """ρ, L_H, L_v, and the spread and shift of every method, at the largest N."""
        methods = dict.fromkeys(m for f in self.families for m in self.recipe.methods_on(f) if m != "dca")
        head = ("problem", "N", "ρ", "L_H", "L_v", *(f"s, η of `{m}`" for m in methods))
        lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for f in self.families:
            n = max(f.sizes)
            P = general.PROBLEMS[f.data](n, self.recipe.dim).P
            c = P.constants
            cells = [f.data, str(n), f"{c.rho:.3g}", *("–" if v is None else f"{v:.3g}" for v in (c.L_H, c.L_v))]
            for m in methods:
                if m not in self.recipe.methods_on(f):
                    cells.append("–")
                    continue
                given, method = general.contestant(m, P)
                tuned, estimator = method.prepare(given)
                s = estimator.spread(n) if isinstance(estimator, KnowsItsError) else 0.0
                cells.append(f"{s:.2f}, {tuned.eta - P.eta:.3g}")
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)

    def markdown(self) -> str:
        return super().markdown() + f"\n## Constants\n\n{self.constants()}\n"

    def compared(self, in_N: Sequence[Row]) -> list[str]:
        page = [row for row in in_N if row.method == "dca-page"]
        said = [
            f"On {row.data} `dca-page` has {row.honest} in N, its batch sizes alone {row.sizes:.2f}, its steps "
            f"{row.steps}."
            for row in page
        ]
        said += [
            f"With what the programs cost it has {row.programs} on {row.data}."
            for row in page
            if row.programs is not None
        ]
        for data, passes in self.passes.items():
            if "dca-page" in passes and "dca-svrg" in passes:
                share = passes["dca-page"] / passes["dca-svrg"]
                said.append(f"On {data} it spends {share:.2f} of what {contestants.label('dca-svrg')} spends.")
        return said
