"""A made-up report with all that a real one can bring: bands, gaps, zeros, a method without data, hostile text."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dcopt.report.panels import Axis, Band, Claim, Curve, Method, Panel, Paper, Report, Table

PAPER = Paper("A paper", "A. Author and B. Author", "https://arxiv.org/abs/0000.00000")
HOSTILE = "<script>alert(1)</script></script><img src=x onerror=alert(2)>"

METHODS = (
    Method("dca-page", "DCA-PAGE", "PAGE: b = N, b′ = ⌈√N⌉, p = 1/b′"),
    Method("dca-svrg", "DCA-SVRG", "SVRG: b = ⌊N^(2/3)⌋"),
    Method("dca-saga", "DCA-SAGA", "SAGA with the quadratic inside"),
    Method("sdca", "SDCA", "SAG with the quadratic inside"),
    Method("dca", "DCA", "full gradients", shown=False),
    Method("mm-saga", "MM-SAGA", "SAGA on f", shown=False),
    Method("mm-svrg", "MM-SVRG", "loopless SVRG on f", shown=False),
    Method("mm-sarah", "MM-SARAH", "loopless SARAH on f", shown=False),
    Method("mm-saga-sqrt", "MM-SAGA, b = √N", "a control outside of theory", shown=False),
)
XS = (Axis("passes", "passes"), Axis("paper", "passes, the paper’s count"), Axis("seconds", "seconds"))
YS = (
    Axis("excess", "F − best known", log=True),
    Axis("F", "F"),
    Axis("distance", "critical distance", log=True),
    Axis("gap", "gap", log=True),
    Axis("nonzeros", "non-zeros"),
    Axis("train", "train accuracy"),
    Axis("test", "test accuracy"),
)


def _band(runs: np.ndarray) -> Band:
    return Band(*(tuple(map(float, f(runs, axis=0))) for f in (np.mean, np.min, np.max)))


def _convergence(name: str, title: str, seed: int, length: int = 101) -> Panel:
    rng = np.random.default_rng(seed)
    curves: dict[str, dict[str, Curve]] = {}
    for k, m in enumerate(METHODS):
        passes = np.linspace(0.0, 50.0, length)
        rate = 0.32 / (1 + 0.45 * k)
        noise = 0 if m.id == "dca" else 0.25
        wander = np.cumsum(rng.normal(0, noise, (10, length)), axis=1) / 3
        excess = 0.12 * np.exp(-rate * passes + wander * (passes > 0)) + 1e-9 * k
        if m.id == "dca-page":
            excess[:, 90:] = 0.0  # the best known value is its own
        distance = 0.6 * np.sqrt(excess + 1e-13)
        gap = distance**2 * (1 + 0.3 * rng.random((10, length)))
        if m.id == "dca-svrg":
            gap[:, 30:45] = math.nan
        nonzeros = np.round(123 * np.exp(-rate * passes / 4)) + rng.integers(0, 9, (10, length)) * (passes > 0)
        train = 0.85 - 0.6 * excess
        ys = {
            "excess": excess,
            "F": 0.1043 + excess,
            "distance": distance,
            "gap": gap,
            "nonzeros": nonzeros,
            "train": train,
            "test": train - 0.008 + 0.002 * rng.random((10, length)),
        }
        if m.id == "sdca":
            del ys["gap"]
        bands = {y: _band(v) for y, v in ys.items()}
        xs = {
            "passes": passes,
            "paper": passes * (0.6 if "page" in m.id else 1.0),
            "seconds": passes * (0.02 + 0.01 * k),
        }
        curves[m.id] = {x: Curve(tuple(map(float, v)), bands) for x, v in xs.items()}
    rows = tuple((m.label, float(curves[m.id]["passes"].bands["F"].middle[-1]), math.nan) for m in METHODS)
    table = Table(f"{title}: at the end", ("method", "F", "seconds to 1e-6"), rows, "Means over ten runs.")
    caption = "Mean of ten runs and the range between the best and the worst; one pass is N component gradients."
    return Panel(name, title, caption, XS, YS, METHODS, curves, tables=(table,))


def _scaling() -> Panel:
    sizes = 2.0 ** np.arange(9, 16)
    slopes = {"dca-page": 0.5, "dca-svrg": 0.66, "dca-saga": 0.75, "dca": 1.0, "mm-saga": 0.66}
    methods = tuple(replace(m, shown=True) for m in METHODS if m.id in (*slopes, "sdca"))
    curves: dict[str, dict[str, Curve]] = {}
    for m, slope in slopes.items():
        work = 40 * sizes**slope * (3 if m == "dca-svrg" else 1)
        if m == "dca-saga":
            work[3] = math.nan  # censored
            work[5] = math.nan
        steps = np.full(sizes.size, 64.0)
        curves[m] = {
            "N": Curve(
                tuple(map(float, sizes)),
                {"work": _band(work * np.array([[0.8], [1.0], [1.2]])), "steps": _band(steps * np.ones((3, 1)))},
            )
        }
    nothing = (math.nan,) * sizes.size
    curves["sdca"] = {"N": Curve(tuple(map(float, sizes)), {"work": Band(nothing, nothing, nothing)})}
    ys = Axis("work", "gradients after the first N", log=True), Axis("steps", "steps", log=True)
    return Panel(
        "scaling-a9a",
        "Scaling: a9a, ε = d(0)/16",
        "Medians over ten seeds.",
        (Axis("N", "N", log=True),),
        ys,
        methods,
        curves,
        True,
    )


def sample() -> Report:
    """Three panels, claims of all three kinds."""
    claims = (
        Claim(
            "page-first",
            "Figure 1",
            "DCA-PAGE reaches the lowest objective for a given number of passes.",
            "a9a",
            "lowest of the four at 10, 25 and 50 passes in 10 of 10 runs",
            "supported",
            0.31,
            (0.28, 0.35),
        ),
        Claim(
            "page-first-w8a",
            "Figure 1",
            "DCA-PAGE reaches the lowest objective for a given number of passes.",
            "w8a",
            "second to `dca-saga` at 10 passes",
            "not supported",
            1.13,
            (1.04, 1.22),
            "With honest counting a correction costs two gradients; by the paper’s count it is first.",
        ),
        Claim(
            "rate",
            "Table I",
            "N + N^(1/2) ε^(-2) component gradients",
            "a9a",
            "exponent in N 0.53 [0.40, 0.58]",
            "supported",
        ),
        Claim(
            "worst",
            "Table I",
            "The rate cannot be improved.",
            "–",
            "no experiment can show a lower bound",
            "not testable here",
            why="It is a statement about the worst function.",
        ),
        Claim(
            "svrg",
            "Section V",
            "DCA-SVRG is ahead of DCA-SAGA.",
            "dna",
            "behind it at every count",
            "not supported",
            1.4,
            (1.2, 1.6),
        ),
        Claim("floor", "Theorem", "The bound holds.", "a9a", "0.12 of the bound", "bound holds, not attained"),
        Claim("tie", "Table I", "N^(1/2) improves on N^(2/3).", "a9a", "0.53 against 0.58", "not distinguishable"),
        Claim("untested", "Section I", "The others need a finite sum.", "–", "–", "not testable here"),
        Claim("hostile", HOSTILE, HOSTILE, HOSTILE, HOSTILE, "supported", why=HOSTILE),
    )
    made = {"dcopt": "0.1.0", "numpy": "2.3.1", "machine": "2 cores", "seeds": "0 to 9", "date": "2025-01-01"}
    sizes = [2**k for k in range(9, 21)]
    wide = Table(
        "Passes until d ≤ d(0)/16",
        ("method", *(f"N = {2**k}" for k in range(9, 21))),
        tuple(
            (m.label, *(f"{n / 7:.1f} [{n / 8:.1f}, {n / 6:.1f}]" if n < 4096 else n / 7 for n in sizes))
            for m in METHODS
        ),
        "Medians; a long table scrolls within itself.",
    )
    return Report(
        "DCA-PAGE: claims and measurements",
        "Of six claims, three are supported by what was measured here, two are not, and one cannot be "
        "tested by experiments. Ten runs for each method, the same data and start for all.",
        claims,
        (
            _convergence("a9a", "Binary classification: a9a", 1),
            _convergence("w8a", "Binary classification: w8a", 2),
            _scaling(),
        ),
        (
            "Rows scaled to norm 1, no intercept, λ = 1/N, α = 5, x⁰ = 0.",
            "Passes are counted honestly: a correction at two points costs two gradients.",
        ),
        made,
        ("dna.scale could not be had: digits, which ships with scikit-learn, instead.",),
        ("dna.scale: no address is associated with the host name",),
        (wide,),
        paper=PAPER,
        ran="2025-01-01",
    )


def hostile() -> Report:
    """The same with text that tries to break out, wherever there is text."""
    report, panel = sample(), _convergence("x", HOSTILE, 3, 21)
    axes = tuple(replace(a, label=HOSTILE) for a in panel.ys)
    methods = tuple(replace(m, label=HOSTILE, says=HOSTILE + '" onmouseover="alert(3)') for m in panel.methods)
    bad = replace(panel, caption=HOSTILE, ys=axes, methods=methods)
    table = Table(HOSTILE, (HOSTILE,), ((HOSTILE,),), HOSTILE)
    return replace(
        report,
        title=HOSTILE,
        summary=HOSTILE,
        panels=(bad,),
        protocol=(HOSTILE,),
        made={HOSTILE: HOSTILE},
        notices=(HOSTILE,),
        details=(HOSTILE,),
        paper=Paper(HOSTILE, HOSTILE, 'https://arxiv.org/"><script>alert(4)</script>'),
        ran=HOSTILE,
        results=(replace(table, bars=HOSTILE),),
        code=HOSTILE,
        tables=(table,),
    )
