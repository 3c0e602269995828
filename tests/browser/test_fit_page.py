"""fit.html in a real browser: every figure is drawn, nothing is asked of a network, nothing complains."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dcopt.experiments.fit_report import Along, Story, fit_report
from dcopt.experiments.panels import Table
from dcopt.experiments.report import write
from dcopt.watch import Record

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: neither $CHROMIUM nor `chromium` on the PATH")
QUIET = (
    "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update "
    "disable-sync"
)


def story(name: str = "income") -> Story:
    records = [Record(t, 0.1 * t, 50 * t, 50 * t, float(t), 1.0 / (t + 1), 10.0**-t, t) for t in range(6)]
    lams = (1.0, 0.5, 0.25)
    along = Along("loss", lams, (0.7, 0.5, 0.6), (0.6, 0.4, 0.5), (0.8, 0.6, 0.7), (0, 1, 2), (name, "age"),
                  ((0.0, 0.5, 1.0), (0.0, 0.0, -0.5)), 0.5)  # fmt: skip
    table = Table("Chosen features", ("feature", "coefficient", "effect"), ((name, 2.0, 1.0),))
    return Story(
        "scad fit", "CONVERGED.", "dca-local", "criticality", 1e-4, records, along, table, {"loss": "logistic"}
    )


@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_draws_its_three_figures(width: int, tmp_path: Path) -> None:
    page_file = write(fit_report(story("<img src=x onerror=alert(1)>")), tmp_path / "fit.html")
    complaints: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in QUIET.split()])
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.on("console", lambda m: complaints.append(m.text))
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("request", lambda r: None if r.url.startswith("file:") else complaints.append(r.url))
        page.goto(page_file.as_uri())
        page.wait_for_selector(".chart .curve", state="attached")
        assert page.locator(".panel").count() == 3
        drawn = [page.locator(f'[data-panel="{k}"] .line').count() for k in range(3)]
        assert drawn == [2, 3, 2]
        assert not page.locator("#claims").is_visible() and not page.locator("#methods").is_visible()
        assert "Chosen features" in page.locator("#tables").inner_text() and page.locator("td img").count() == 0
        page.locator('[data-panel="0"] [data-do="y"]').select_option("F")
        assert page.locator('[data-panel="0"] .line').count() == 1  # tol has no F
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        browser.close()
    assert complaints == []


def test_a_fit_without_a_path_has_one_figure(tmp_path: Path) -> None:
    from dataclasses import replace

    report = fit_report(replace(story(), along=None, records=()))
    assert [p.id for p in report.panels] == ["convergence"]
    assert "How to read it" in write(report, tmp_path / "fit.html").read_text(encoding="utf-8")
