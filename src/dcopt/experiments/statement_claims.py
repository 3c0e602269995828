"""The verdicts on the sentences of `statements`, from the numbers in the ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ..report.panels import Claim, Verdict, weakest
from .intervals import Mean, mean
from .ledger import Line
from .slopes import fit_slope
from .statements import NEAR, PROMISED

_ZERO = 1e-3  # The printed gap counts as 0 below this share of the gap at the point itself.
_EXACT = 1e-9
_LARGE = 1e12  # No larger N is "very large".


def statement_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """One claim for every sentence that was looked at."""
    for name, judge in _JUDGES.items():
        mine = [line for line in lines if line["statement"] == name]
        if mine:
            yield from judge(mine)


def _numbers(lines: Sequence[Line], name: str) -> list[list[float]]:
    return [list(line["numbers"][name]) for line in lines]


def _percent(m: Mean) -> str:
    return f"{100 * m.value:.3g} % [{100 * m.low:.3g}, {100 * m.high:.3g}]"


def _short(m: Mean) -> str:
    return f"{m.value:.3g} [{m.low:.3g}, {m.high:.3g}]"


def _kink(lines: Sequence[Line]) -> Iterator[Claim]:
    (gaps,), (distances,) = _numbers(lines, "gap"), _numbers(lines, "distance")
    apart = max(abs(g - x) for g, x in zip(gaps, NEAR, strict=True))
    holds = apart <= _EXACT and all(abs(d - 1.0) <= _EXACT for d in distances)
    shown = (", ".join(f"{v:g}" for v in values) for values in (NEAR, gaps, distances))
    yield Claim(
        "gap-kink", "Section V", "The gap goes to 0 near a kink, where the critical distance does not", "F(x) = |x|",
        "at x = {}: gap {}; distance {}".format(*shown), "supported" if holds else "not supported", gaps[-1],
        (gaps[-1], gaps[-1]), "G + r1 = |x| and H = r2 = 0 are the paper's; it has gap |x| and distance 1",
    )  # fmt: skip


def _lagged(lines: Sequence[Line]) -> Iterator[Claim]:
    printed, own = _numbers(lines, "printed"), _numbers(lines, "own")
    share = mean([max(abs(v) for v in a) / min(b) for a, b in zip(printed, own, strict=True)])
    least = min(chain(*own))
    verdict: Verdict = "not supported" if share.high < _ZERO else "not distinguishable"
    yield Claim(
        "gap-lagged", "Definition of the gap", "gap(xᵗ) = 0 if and only if xᵗ is stationary (printed with ∇H(xᵗ⁻¹))",
        "squared sigmoid, 200 × 5",
        f"after 3 exact steps the printed gap is {_short(share)} of the gap at the point itself, which is {least:.2g} "
        "or more", "supported" if share.low > _ZERO else verdict, share.value, (share.low, share.high),
        "an exact step minimizes the very program whose value the lagged gap compares; with ∇H(xᵗ) the sentence is "
        "true, and that gap is the one used here",
    )  # fmt: skip


def _concave(lines: Sequence[Line]) -> Iterator[Claim]:
    share = mean([v for (v,) in _numbers(lines, "not concave")])
    parts = max(chain(*_numbers(lines, "parts not convex")))
    yield Claim(
        "concave", "Section VI", "r is concave, and has the trivial DC decomposition", "exponential penalty",
        f"midpoints of {_percent(share)} of random pairs contradict that r is concave; "
        f"{100 * parts:.3g} % contradict that r1 = λα‖x‖₁ and r2 = r1 − r are convex",
        _never(share), share.value, (share.low, share.high),
        "λ(1 − exp(−α|t|)) is concave in |t|, and in t it has a convex kink at 0, so −r is not convex",
    )  # fmt: skip


def _never(share: Mean) -> Verdict:
    """The verdict on "no pair contradicts it"."""
    if share.low > 0.0:
        return "not supported"
    return "supported" if share.high == 0.0 else "not distinguishable"


def _classes(lines: Sequence[Line]) -> Iterator[Claim]:
    share, control = (mean([v for (v,) in _numbers(lines, n)]) for n in ("not convex", "binary not convex"))
    verdict: Verdict = "not supported" if share.high == 0.0 and control.low > 0.0 else "not distinguishable"
    yield Claim(
        "classes-nonconvex", "Section VI", "The multi-class loss is nonconvex", "softmax, random rows and W",
        f"midpoints of {_percent(share)} of random pairs contradict convexity; of the binary loss {_percent(control)}",
        "supported" if share.low > 0.0 else verdict, share.value, (share.low, share.high),
        "log-sum-exp minus a linear function is convex; the binary loss shows that the pairs can find the contrary",
    )  # fmt: skip
    tops = list(zip(*_numbers(lines, "share of L, c = 3 and 10"), strict=True))
    shares = [mean(values) for values in tops]
    yield Claim(
        "classes-L", "Section VI", "The multi-class loss is L-smooth with L = (c − 1)/c max ‖a_i‖²", "softmax",
        f"the largest curvature seen is {_short(shares[0])} of it for c = 3, {_short(shares[1])} for c = 10",
        weakest([s.within() for s in shares]), shares[0].value, (shares[0].low, shares[0].high),
        "the largest eigenvalue of diag(p) − ppᵀ is ½ for every c; (c − 1)/c bounds its trace",
    )  # fmt: skip


def _binary(lines: Sequence[Line]) -> Iterator[Claim]:
    share = mean([v for (v,) in _numbers(lines, "share of L")])
    yield Claim(
        "binary-L", "Section VI", "The binary loss is L-smooth with L = (39 + 55√33)/2304 max ‖a_i‖²",
        "squared sigmoid", f"the largest curvature seen is {share.value:.6f} [{share.low:.6f}, {share.high:.6f}] of it",
        share.within(), share.value, (share.low, share.high),
    )  # fmt: skip


def _batch(lines: Sequence[Line]) -> Iterator[Claim]:
    """Satisfied: at the largest N no more is needed than allowed; a fitted line may say so of a larger N."""
    said: dict[str, str] = {}
    verdicts: dict[str, Verdict] = {}
    for place, mine in _by_place(lines):
        sizes = sorted({line["n"] for line in mine})
        shares = [[v for (v,) in _numbers([x for x in mine if x["n"] == n], "needed over allowed")] for n in sizes]
        last, ratio = mean(shares[-1]), mean([v for (v,) in _numbers(mine, "ratio")])
        slope = fit_slope(sizes, shares)
        verdicts[place] = last.below(1.0)
        if verdicts[place] == "not supported" and slope.high * math.log(_LARGE / sizes[-1]) < -math.log(last.high):
            verdicts[place] = "not distinguishable"  # A larger N may do.
        said[place] = f"{_short(last)} times ⌈√N⌉ at N = {sizes[-1]}, slope in N {slope}, L/ρ = {ratio.value:.2g}"
    yield Claim(
        "batch-condition", "Condition on b'", "For very large N the condition on b' is naturally satisfied",
        ", ".join(said), "needed " + _each(said, verdicts), weakest(verdicts.values()),
        why="with p = N^(−1/2) both sides grow like √N: the condition is L/ρ ≤ ½ for every N, and as ρ_H ≤ L_H ≤ L "
        "that is ρ_φ ≥ L_H, a convex G + r1 − H for r2 = 0; L is seen from below, which favours the sentence",
    )  # fmt: skip


def _shift(lines: Sequence[Line]) -> Iterator[Claim]:
    said: dict[str, str] = {}
    verdicts: dict[str, Verdict] = {}
    for place, mine in _by_place(lines):
        before, after, promised = (mean([v for (v,) in _numbers(mine, n)]) for n in ("before", "after", "promised"))
        verdicts[place] = after.below(promised.value * 1.01)
        said[place] = f"from {before.value:.2g} to {_short(after)} where {promised.value:.2g} is promised"
    yield Claim(
        "shift-ratio", "Condition on b'", "Adding η/2 ‖x‖² to both parts lowers L/ρ to L/(ρ + 2η)", ", ".join(said),
        _each(said, verdicts), weakest(verdicts.values()),
        why=f"η is the one for which the formula gives {PROMISED:g}; η belongs to every h_i, so that L of Assumption 2 "
        "grows with it and the ratio tends to ½; what does not change is the smoothness L_v of the variance",
    )  # fmt: skip


def _by_place(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    names = dict.fromkeys(line["problem"] for line in lines)
    return [(name, [line for line in lines if line["problem"] == name]) for name in names]


def _each(said: dict[str, str], verdicts: dict[str, Verdict]) -> str:
    same = len(set(verdicts.values())) == 1
    return "; ".join(f"{text} ({place}{'' if same else ': ' + verdicts[place]})" for place, text in said.items())


_JUDGES: dict[str, Callable[[Sequence[Line]], Iterator[Claim]]] = {
    "kink": _kink,
    "lagged": _lagged,
    "concave": _concave,
    "classes": _classes,
    "binary": _binary,
    "batch": _batch,
    "shift": _shift,
}
