"""The report in a real browser: every control, what is drawn against the data, phones, print, and no network."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from browser.sample_report import HOSTILE, PAPER, hostile, sample

from dcopt.report.html_page import write
from dcopt.report.panels import MEANING

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: neither $CHROMIUM nor `chromium` on the PATH")

QUIET = (
    "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update "
    "disable-sync"
)
REPORT = sample()
DESKTOP, PHONE = (1280, 900), (360, 740)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in QUIET.split()])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("report")
    return {"sample": write(REPORT, folder / "report.html"), "hostile": write(hostile(), folder / "hostile.html")}


@pytest.fixture
def visit(browser: Any, pages: dict[str, Path]) -> Iterator[Any]:
    """Open a page; afterwards: nothing on the console, no dialog, nothing asked of a network."""
    complaints: list[str] = []
    contexts = []

    def guard(route: Any) -> None:
        if not route.request.url.startswith("file:"):
            complaints.append(f"request for {route.request.url}")
        route.abort() if complaints else route.continue_()

    def dialog(box: Any) -> None:
        complaints.append(f"dialog: {box.message}")
        box.dismiss()

    def go(name: str = "sample", size: tuple[int, int] = DESKTOP, **how: Any) -> Any:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True, **how)
        contexts.append(context)
        context.route("**/*", guard)
        page = context.new_page()
        page.set_default_timeout(60_000)  # a fuse, not a measure
        page.on("console", lambda m: complaints.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("dialog", dialog)
        page.goto(pages[name].as_uri())
        page.wait_for_selector(".chart .curve")
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []


def panel_of(page: Any, index: int) -> SimpleNamespace:
    root = page.locator(f'[data-panel="{index}"]')
    return SimpleNamespace(
        root=root,
        data=REPORT.panels[index],
        do=lambda name: root.locator(f'[data-do="{name}"]'),
        box=lambda method: root.locator(f'input[data-method="{method}"]'),
        drawn=lambda: set(root.locator(".line").evaluate_all("all => all.map(g => g.dataset.method)")),
        note=lambda: root.locator("[data-note]").inner_text(),
        label=lambda which: root.locator(f".chart .label.{which}").text_content(),
    )


def points(panel: SimpleNamespace, method: str, kind: str = "curve") -> list[list[tuple[float, float]]]:
    """The pieces of a path, each as its points."""
    path = panel.root.locator(f'.line[data-method="{method}"] .{kind}')
    d = path.get_attribute("d") if path.count() else ""
    numbers = [re.findall(r"[-\d.]+", piece) for piece in (d or "").split("M")[1:]]
    return [list(zip(map(float, n[::2]), map(float, n[1::2]), strict=True)) for n in numbers]


def expect_line(panel: SimpleNamespace, method: str, x: str, y: str, logx: bool, logy: bool) -> None:
    """All that is drawn of a curve is an affine image of the data (of their logarithms), and nothing else is."""
    curve = panel.data.curves[method][x]
    fx, fy = (math.log if logx else float), (math.log if logy else float)
    there = [
        (fx(a), fy(b))
        for a, b in zip(curve.x, curve.bands[y].middle, strict=True)
        if math.isfinite(b) and not (logx and a <= 0) and not (logy and b <= 0)
    ]
    drawn = [p for piece in points(panel, method) for p in piece]
    assert len(drawn) == len(there)
    for k, sign in ((0, 1), (1, -1)):  # to the right, and up, which is less in SVG
        want, have = [p[k] for p in there], [p[k] for p in drawn]
        low, high = min(range(len(want)), key=want.__getitem__), max(range(len(want)), key=want.__getitem__)
        if want[high] - want[low] < 1e-6 * abs(want[high]):
            continue
        slope = (have[high] - have[low]) / (want[high] - want[low])
        assert slope * sign > 0
        assert max(abs(have[low] + slope * (w - want[low]) - h) for w, h in zip(want, have, strict=True)) < 0.1


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_choice_of_axes_draws_the_data(visit: Any, size: tuple[int, int]) -> None:
    page = visit(size=size)
    for index in (0, 2):
        panel = panel_of(page, index)
        methods = [m.id for m in panel.data.methods if m.shown]
        for x in panel.data.xs:
            if len(panel.data.xs) > 1:  # a choice of one is not shown
                panel.do("x").select_option(x.id)
            for y in panel.data.ys:
                panel.do("y").select_option(y.id)
                assert (panel.label("x"), panel.label("y")) == (x.label, y.label)
                assert panel.do("logy").is_checked() == y.log and panel.do("logx").is_checked() == x.log
                have = [m for m in methods if y.id in panel.data.curves[m][x.id].bands and (m, index) != ("sdca", 2)]
                assert panel.drawn() == set(have)
                for m in have[:2] if index else have:
                    expect_line(panel, m, x.id, y.id, x.log, y.log)


def test_scales_are_switched(visit: Any) -> None:
    panel = panel_of(visit(), 0)
    expect_line(panel, "dca-svrg", "passes", "excess", False, True)
    panel.do("logy").uncheck()
    expect_line(panel, "dca-svrg", "passes", "excess", False, False)
    expect_line(panel, "dca-page", "passes", "excess", False, False)  # zeros are seen on a linear scale
    assert panel.note() == ""
    panel.do("logx").check()
    expect_line(panel, "dca-svrg", "passes", "excess", True, False)
    assert panel.note() == "Not on the log scale: 4 values that are zero or less."  # x = 0, once for each method
    panel.do("logy").check()
    expect_line(panel, "dca-svrg", "passes", "excess", True, True)
    assert all(t for t in panel.root.locator(".tick").all_text_contents())


def test_a_log_scale_leaves_out_what_is_not_positive(visit: Any) -> None:
    panel = panel_of(visit(), 0)
    zeros = sum(v <= 0 for v in REPORT.panels[0].curves["dca-page"]["passes"].bands["excess"].middle)
    assert zeros == 11
    assert panel.note() == f"Not on the log scale: {zeros} values that are zero or less."
    last = points(panel, "dca-page")[-1][-1]
    assert last[0] < points(panel, "dca-svrg")[-1][-1][0]  # the line ends where the zeros begin


def test_gaps_are_gaps(visit: Any) -> None:
    page = visit()
    panel = panel_of(page, 0)
    panel.do("y").select_option("gap")
    assert [len(p) for p in points(panel, "dca-svrg")] == [30, 56]
    assert panel.drawn() == {"dca-page", "dca-svrg", "dca-saga"}
    assert panel.root.locator(".method", has_text="SDCA").locator(".nodata").is_visible()
    panel.do("y").select_option("F")
    assert panel.root.locator(".nodata:visible").count() == 0
    scaling = panel_of(page, 2)  # points between gaps are marked, not joined
    assert [len(p) for p in points(scaling, "dca-saga")] == [3]
    assert scaling.root.locator('.line[data-method="dca-saga"] .mark').count() == 5
    assert scaling.root.locator('.line[data-method="dca-page"] .mark').count() == 7


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_methods_are_chosen(visit: Any, size: tuple[int, int]) -> None:
    panel = panel_of(visit(size=size), 0)
    every = [m.id for m in panel.data.methods]
    paper = {m.id for m in panel.data.methods if m.shown}
    assert panel.drawn() == paper
    for m in every:
        before = panel.drawn()
        panel.box(m).click()
        assert panel.drawn() == before ^ {m}
        panel.box(m).click()
        assert panel.drawn() == before
    panel.root.locator('[data-pick="all"]').click()
    assert panel.drawn() == set(every)
    colours = panel.root.locator(".curve").evaluate_all("all => all.map(p => getComputedStyle(p).stroke)")
    assert len(set(colours)) == len(every)
    panel.root.locator('[data-pick="none"]').click()
    assert panel.drawn() == set()
    assert panel.root.locator(".chart .empty").text_content() == "No method is shown."
    panel.root.locator('[data-pick="paper"]').click()
    assert panel.drawn() == paper


def test_swatches_have_the_colours_of_the_lines(visit: Any) -> None:
    panel = panel_of(visit(), 0)
    panel.root.locator('[data-pick="all"]').click()
    for m in panel.data.methods:
        line = panel.root.locator(f'.line[data-method="{m.id}"]')
        swatch = panel.root.locator(f'.method:has([data-method="{m.id}"]) .swatch')
        colour = "node => getComputedStyle(node).color"
        assert line.evaluate(colour) == swatch.evaluate(colour)
        assert line.locator(".mark").first.get_attribute("href") == swatch.locator("use").get_attribute("href")


def test_the_range_of_runs(visit: Any) -> None:
    panel = panel_of(visit(), 0)
    assert panel.root.locator(".band").count() == 4
    band = REPORT.panels[0].curves["sdca"]["passes"].bands["excess"]
    (outline,), (line,) = points(panel, "sdca", "band"), points(panel, "sdca")
    n = len(band.middle)
    low, high = outline[:n], outline[n:][::-1]
    assert all(h[1] - 0.02 <= m[1] <= l[1] + 0.02 for l, m, h in zip(low, line, high, strict=True))
    panel.do("band").uncheck()
    assert panel.root.locator(".band").count() == 0 and panel.root.locator(".curve").count() == 4
    panel.do("band").check()
    assert panel.root.locator(".band").count() == 4


def test_the_end_of_the_axis(visit: Any) -> None:
    panel = panel_of(visit(), 0)
    for value, passes in (("50", 25.0), ("20", 10.0), ("100", 50.0)):
        panel.do("end").fill(value)
        within = sum(x <= passes for x in REPORT.panels[0].curves["sdca"]["passes"].x)
        assert len(points(panel, "sdca")[0]) == within


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pointing_at_a_curve_reads_the_data(visit: Any, size: tuple[int, int]) -> None:
    page = visit(size=size, has_touch=size == PHONE)
    panel = panel_of(page, 0)
    chart, tip = panel.root.locator(".chart"), panel.root.locator(".tip")
    chart.scroll_into_view_if_needed()
    zoom = chart.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    for method, i in (("dca-page", 70), ("sdca", 90), ("dca-svrg", 60)):
        px, py = points(panel, method)[0][i]
        spot = {"x": px * zoom, "y": py * zoom}
        chart.tap(position=spot) if size == PHONE else chart.hover(position=spot)
        curve = panel.data.curves[method]["passes"]
        said = tip.inner_text()
        label = next(m.label for m in panel.data.methods if m.id == method)
        assert said.splitlines()[0] == label
        values = [number(t) for t in re.findall(r"−?\d[\d.]*(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", said.split("\n", 1)[1])]
        band = curve.bands["excess"]
        assert values == pytest.approx([curve.x[i], band.middle[i], band.low[i], band.high[i]], rel=1e-3)
        place, frame = tip.bounding_box(), panel.root.locator(".plot").bounding_box()
        assert place["x"] >= frame["x"] - 1 and place["x"] + place["width"] <= frame["x"] + frame["width"] + 1
    if size == DESKTOP:
        page.mouse.move(5, 5)
        assert tip.is_hidden()


def number(text: str) -> float:
    head, _, exponent = text.partition("·10")
    raised = exponent.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(head.replace("−", "-")) * 10.0 ** int(raised or 0)


def test_the_keyboard_does_it_all(visit: Any) -> None:
    page = visit()
    panel = panel_of(page, 0)
    tip = panel.root.locator(".tip")
    panel.root.locator(".chart").focus()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("DCA-PAGE\npasses 0\n")
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("DCA-PAGE\npasses 0.5\n")
    page.keyboard.press("ArrowDown")
    assert tip.inner_text().startswith("DCA-SVRG\npasses 0.5\n")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert tip.inner_text().startswith("DCA-PAGE\npasses 0\n")
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    panel.box("dca").focus()
    page.keyboard.press("Space")
    assert "dca" in panel.drawn()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, .chart, .scroll")]
        .filter(n => !n.labels?.[0]?.innerText.trim() && !n.ariaLabel && !n.innerText?.trim()).length"""
    )
    assert nameless == 0


def test_all_figures_together(visit: Any) -> None:
    page = visit()
    first, second, scaling = (panel_of(page, k) for k in range(3))
    first.do("y").select_option("test")
    assert second.label("y") == "F − best known"
    page.locator("#linked").check()
    first.do("y").select_option("nonzeros")
    first.do("band").uncheck()
    first.box("dca-page").uncheck()
    assert second.label("y") == "non-zeros" and not second.do("logy").is_checked()
    assert scaling.label("y") == "gradients after the first N"  # it has no such axis
    for panel in (second, scaling):
        assert not panel.do("band").is_checked()
        assert "dca-page" not in panel.drawn()
    second.root.locator('[data-pick="all"]').click()
    assert len(first.drawn()) == 9
    page.locator("#linked").uncheck()
    second.root.locator('[data-pick="none"]').click()
    assert len(first.drawn()) == 9


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_claims_are_filtered(visit: Any, size: tuple[int, int]) -> None:
    page = visit(size=size)
    rows = page.locator("[data-verdict]")
    assert rows.count() == len(REPORT.claims)
    for verdict in (*MEANING, ""):
        page.locator(f'input[name="verdict"][value="{verdict}"]').check()
        want = [c for c in REPORT.claims if verdict in ("", c.verdict)]
        shown = page.locator("[data-verdict]:visible")
        assert shown.count() == len(want)
        assert page.locator("#claims-count").inner_text() == f"{len(want)} of {len(REPORT.claims)} claims"
        for row, claim in zip(shown.all(), want, strict=True):
            text = row.inner_text()
            says = re.sub(r"\^\(([^)]*)\)", r"\1", claim.says).replace("ε-", "ε−")  # raised, without the caret
            assert claim.verdict in text and says in text and claim.where in text
            assert claim.why in text


def test_contents_lead_somewhere(visit: Any) -> None:
    page = visit()
    links = page.locator("nav a")
    assert links.count() >= 6 + len(REPORT.panels)
    for link in links.all():
        target = link.get_attribute("href")
        assert page.locator(target).count() == 1, target
        link.click()
        assert page.url.endswith(target)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(n => n.id).filter(Boolean)")
    assert len(ids) == len(set(ids))
    text = page.locator("body").inner_text()
    assert all(t in text for t in (*REPORT.protocol, *REPORT.notices, *REPORT.made, *REPORT.made.values()))


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_table_that_scrolls_says_so(visit: Any, size: tuple[int, int]) -> None:
    page = visit(size=size)
    boxes = page.locator(".scroll").all()
    assert boxes
    for box in boxes:
        wider = box.evaluate("n => n.scrollWidth > n.clientWidth + 1")
        assert box.locator("xpath=preceding-sibling::*[1][contains(@class, 'sideways')]").is_visible() == wider
    assert page.locator(".sideways:visible").count() >= (1 if size == PHONE else 0)


def test_a_wide_table_breaks_between_numbers_and_intervals(visit: Any) -> None:
    for size, below in ((DESKTOP, True), (PHONE, False)):  # a phone has no room for a table of any height
        cells = visit(size=size).locator("td.n:has(.interval)").all()
        assert cells
        for cell in cells:
            lines = cell.evaluate("n => n.getClientRects()[0].height / parseFloat(getComputedStyle(n).lineHeight)")
            assert cell.locator(".interval").evaluate("n => n.getClientRects().length") == 1 and (lines > 2) == below


def test_what_is_missing_is_one_sentence_until_it_is_opened(visit: Any) -> None:
    page = visit()
    notices = page.locator(".notices")
    assert REPORT.notices[0] in notices.inner_text() and not notices.locator("li").is_visible()
    notices.locator("summary").click()
    assert notices.locator("li").inner_text() == REPORT.details[0]
    link = page.locator(".origin a")
    assert link.get_attribute("href") == PAPER.url and link.inner_text() == PAPER.title
    assert PAPER.authors in page.locator(".origin").inner_text() and REPORT.ran in page.locator(".origin").inner_text()
    page.locator(".scale summary").click()
    assert page.locator(".scale dt").count() == len(MEANING)  # one scale, with a sentence for each verdict


def test_nothing_sticks_out_on_a_phone(visit: Any) -> None:
    for name in ("sample", "hostile"):
        page = visit(name, PHONE)
        page.locator('[data-panel="0"] [data-pick="all"]').click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        beyond = page.evaluate(
            """() => [...document.querySelectorAll("main *, header *")].filter(n => !n.closest(".scroll") &&
            n.getBoundingClientRect().right > innerWidth + 1).map(n => n.outerHTML.slice(0, 80))"""
        )
        assert beyond == []
    page = visit(size=PHONE)
    tick = page.locator('[data-panel="0"] .tick').first.evaluate("t => t.getBoundingClientRect().height")
    assert tick >= 10  # not shrunk with the figure
    wide = page.locator("#tables .scroll")
    assert wide.evaluate("n => n.scrollWidth > n.clientWidth")


def test_a_window_that_changes_its_width(visit: Any) -> None:
    page = visit()
    before = points(panel_of(page, 0), "sdca")[0][-1][0]
    page.set_viewport_size({"width": 420, "height": 800})
    drawn = page.locator(".chart").first
    sync_api.expect(drawn).to_have_attribute("viewBox", re.compile(r"^0 0 [34]\d\d "))  # polls without eval
    assert points(panel_of(page, 0), "sdca")[0][-1][0] < before


def test_print(visit: Any, tmp_path: Path) -> None:
    page = visit(color_scheme="dark")
    panel = panel_of(page, 0)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    panel.box("sdca").uncheck()
    page.emulate_media(media="print")
    assert page.locator("input:visible, select:visible, button:visible, nav:visible, .tip:visible").count() == 0
    names = panel.root.locator(".method:visible").all_inner_texts()
    assert [n.strip() for n in names] == ["DCA-PAGE", "DCA-SVRG", "DCA-SAGA"]  # the legend of what is drawn
    assert panel.root.locator(".curve").count() == 3
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    made = page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert made.startswith(b"%PDF") and len(made) > 20_000


def test_hostile_text_is_only_text(visit: Any) -> None:
    page = visit("hostile")
    page.locator('[data-pick="all"]').click()
    page.locator(".chart").hover()
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.title() == HOSTILE
    assert page.locator(".chart .label.y").text_content() == HOSTILE
    assert page.locator("script").count() == 2 and page.locator("img").count() == 0
    assert page.locator("[onerror], [onmouseover]").count() == 0


def test_it_is_one_file_that_asks_for_nothing(pages: dict[str, Path]) -> None:
    text = pages["sample"].read_text(encoding="utf-8")
    outside = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\s\"']+", outside)) == {"http://www.w3.org/2000/svg", PAPER.url}
    assert "default-src 'none'" in text and "NaN" not in text
    assert not re.search(r"<(link|img|iframe|script src)", outside)
