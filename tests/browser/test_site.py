"""The built site in a real browser, from files: pages at two widths, the search, and no access to a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium: neither $CHROMIUM nor `chromium` on the PATH"),
    pytest.mark.skipif(not (SITE / "searchindex.js").exists(), reason="the site is not built: make docs"),
]
QUIET = (
    "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update "
    "disable-sync"
)
PAGES = [
    "index.html", "for-fitting.html", "tutorial-fit.html", "problems.html", "benchmarks.html", "gallery/index.html",
    "gallery/select_genes.html", "commands.html", "reference.html", "api/dcopt.html",
    "api/names/dcopt.DCClassifier.html", "architecture.html", "contributing.html",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        shown = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in QUIET.split()])
        yield shown
        shown.close()


@pytest.fixture(params=[1280, 400])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page of this width; afterwards: no error, and nothing asked of a network."""
    complaints: list[str] = []
    opened = browser.new_page(viewport={"width": request.param, "height": 800})
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("requestfailed", lambda asked: complaints.append(asked.url))
    opened.on(
        "request", lambda asked: None if asked.url.startswith(("file:", "data:")) else complaints.append(asked.url)
    )
    yield opened
    opened.close()
    assert complaints == []


def test_pages_fit_their_window_and_show_their_pictures(page: Any) -> None:
    for name in PAGES:
        page.goto((SITE / name).as_uri())
        assert page.locator("h1").first.is_visible(), name
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        page.evaluate("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
        page.wait_for_function("[...document.images].every(image => image.complete)")
        assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)"), name


def test_dark_pages_are_dark(page: Any) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto((SITE / "index.html").as_uri())
    red = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    assert page.evaluate(red) < 60


@pytest.mark.parametrize(("words", "found"), [("elastic net", "ElasticNet"), ("held-out sample", "Streams")])
def test_the_search_finds_pages(page: Any, words: str, found: str) -> None:
    page.goto((SITE / "search.html").as_uri() + f"?q={words}")
    page.get_by_text("Search finished").wait_for()
    assert any(found in title for title in page.locator("#search-results li > a").all_inner_texts())
