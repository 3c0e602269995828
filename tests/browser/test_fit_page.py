"""fit.html in a real browser: every figure is drawn, nothing is asked of a network, nothing complains."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcopt.report.fit_report import Along, Story, fit_report
from dcopt.report.html_page import write
from dcopt.report.panels import Axis, Band, Curve, Method, Panel, Table
from dcopt.runs.trace import Record

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: neither $CHROMIUM nor `chromium` on the PATH")
QUIET = (
    "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update "
    "disable-sync"
)


LAMS = (1.0, 0.5, 0.25)


def story(name: str = "income", along: Along | None = None) -> Story:
    records = [Record(t, 0.1 * t, 50 * t, 50 * t, float(t), 1.0 / (t + 1), 10.0**-t, t) for t in range(6)]
    what = "loss on the rows left out: mean over the folds of a cross-validation"
    along = along or Along(what, LAMS, (7000.0, 0.5, 0.6), (6000.0, 0.4, 0.5), (8000.0, 0.6, 0.7), (0, 1, 2),
                           (name, "age"), ((0.0, 0.5, 1.0), (0.0, 0.0, -0.5)), 0.5)  # fmt: skip
    features = Table("Chosen features", ("feature", "effect", "favours", "coefficient"),
                     ((name, 1.0, "well", 2.0), ("age", -0.5, "sick", -0.1)), bars="effect")  # fmt: skip
    scores = Table("Scores", ("score", "test rows"), (("accuracy", 0.9), ("accuracy of the null model", 0.6)))
    line = Band((0.0, 0.8, 1.0), (0.0, 0.8, 1.0), (0.0, 0.8, 1.0))
    roc = Panel("roc", "ROC curve", "", (Axis("x", "false"),), (Axis("y", "true"),), (Method("c", name),),
                {"c": {"x": Curve((0.0, 0.2, 1.0), {"y": line})}}, band="", simple=True)  # fmt: skip
    dots = Panel("residuals", "Residuals", "", (Axis("x", "prediction"),), (Axis("y", "residual"),),
                 (Method("rows", "rows", joined=False),), {"rows": {"x": Curve((0.0, 0.2, 1.0), {"y": line})}}, band="",
                 simple=True)  # fmt: skip
    return Story(
        "scad fit", "Converged.", features, scores, (roc, dots), along, "dca-local", "criticality", 1e-4, records,
        {"loss": "logistic"}, "model = load_estimator('model.dcm')",
    )  # fmt: skip


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Any]:
    """Open the page of a story; afterwards: nothing on the console, nothing asked of a network."""
    complaints: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in QUIET.split()])

        def go(name: str = "income", width: int = 1280) -> Any:
            page = browser.new_page(viewport={"width": width, "height": 800})
            page.on("console", lambda m: complaints.append(m.text))
            page.on("pageerror", lambda e: complaints.append(str(e)))
            page.on("request", lambda r: None if r.url.startswith("file:") else complaints.append(r.url))
            page.goto(write(fit_report(story(name)), tmp_path / "fit.html").as_uri())
            page.wait_for_selector('[data-panel="4"] .chart .curve', state="attached")
            return page

        yield go
        browser.close()
    assert complaints == []


@pytest.mark.parametrize("width", [1280, 400, 360])
def test_the_page_draws_its_figures(visit: Any, width: int) -> None:
    page = visit("<img src=x onerror=alert(1)>", width)
    assert page.locator(".panel").count() == 5
    drawn = [page.locator(f'[data-panel="{k}"] .line').count() for k in range(5)]
    assert drawn == [3, 2, 1, 1, 2]
    assert not page.locator("#claims").is_visible() and not page.locator("#methods").is_visible()
    assert page.locator("main section:visible h2").first.inner_text() == "Result"
    assert page.locator("td img").count() == 0
    convergence = page.locator('[data-panel="4"]')
    convergence.locator('[data-do="y"]').select_option("F")
    assert convergence.locator(".line").count() == 1  # tol has no F
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for choice in page.locator("select:visible").all():  # no text is cut
        assert choice.evaluate("n => n.scrollWidth <= n.clientWidth + 1")
    assert page.locator('[data-panel="2"] select:visible, [data-panel="2"] .controls:visible').count() == 0  # simple


@pytest.mark.parametrize("width", [1280, 400])
def test_the_two_figures_along_lam_have_the_same_axis(visit: Any, width: int) -> None:
    """The same values at the same pixels, largest λ on the left, whatever the labels of the y axes are."""
    page = visit(width=width)

    def ticks(panel: int) -> list[tuple[str, str | None]]:
        found = page.locator(f'[data-panel="{panel}"] .tick.x').all()
        return [(t.text_content(), t.get_attribute("x")) for t in found]

    def upright(panel: int) -> str:
        d = page.locator(f'[data-panel="{panel}"] .line[data-method="chosen"] .curve').get_attribute("d")
        return str(d[1:].split(" ")[0])

    for change in (None, ("0", "logx"), ("1", "end"), ("1", "y")):
        if change == ("1", "y"):
            page.locator('[data-panel="1"] [data-do="y"]').select_option("nnz")
        elif change == ("1", "end"):
            page.locator('[data-panel="1"] [data-do="end"]').fill("90")
        elif change is not None:
            page.locator('[data-panel="0"] [data-do="logx"]').uncheck()
        assert len(ticks(0)) > 1 and ticks(0) == ticks(1) and upright(0) == upright(1), change
        places = [float(str(x)) for text, x in sorted(ticks(0), key=lambda t: float(t[0]))]
        assert places == sorted(places, reverse=True)
    marks = page.locator('[data-panel="0"] .line[data-method="f0"] .mark')
    assert marks.count() > 1  # along the whole line, though λ falls


def test_effects_are_bars_to_either_side_of_zero(visit: Any) -> None:
    page = visit()
    boxes = [bar.bounding_box() for bar in page.locator("#results .fill").all()]
    up, down = boxes
    assert down["x"] + down["width"] == pytest.approx(up["x"], abs=1)
    assert up["width"] == pytest.approx(2 * down["width"], abs=1)
    assert page.locator("#results td").all_inner_texts()[1:4] == ["1", "well", "2"]


def test_residuals_are_not_joined(visit: Any) -> None:
    page = visit()
    dots = page.locator('[data-panel="3"] .line')
    assert dots.locator(".curve").count() == 0 and dots.locator(".mark").count() == 3


def test_a_fit_without_a_path_has_one_figure(tmp_path: Path) -> None:
    from dataclasses import replace

    report = fit_report(replace(story(), along=None))
    assert [p.id for p in report.panels] == ["roc", "residuals", "convergence"]
    assert "How to read it" in write(report, tmp_path / "fit.html").read_text(encoding="utf-8")
