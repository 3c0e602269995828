"""The text of the report: what the browser tests do not need a browser for."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from browser.sample_report import HOSTILE, hostile, sample

from dcopt.errors import BadInput
from dcopt.report.html_page import render, write
from dcopt.report.markup import table
from dcopt.report.panel_data import embed
from dcopt.report.panels import Band, Curve, Report, Table


def test_the_data_come_back_as_they_were():
    report = sample()
    data = json.loads(embed(report.panels))
    for panel, got in zip(report.panels, data, strict=True):
        assert [m["id"] for m in got["methods"]] == [m.id for m in panel.methods]
        for method, by_x in panel.curves.items():
            for x, curve in by_x.items():
                for y, band in curve.bands.items():
                    middle = got["curves"][method][x]["y"][y][0]
                    missing = [math.nan if v is None else v for v in middle]
                    assert missing == pytest.approx(list(band.middle), rel=1e-6, nan_ok=True)


def test_no_text_ends_the_script():
    text = render(hostile())
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL)
    assert len(found) == 1 and not set("<>&") & set(found[0])
    assert json.loads(found[0])[0]["title"] == HOSTILE
    assert text.count("<script") == text.count("</script>") == 2
    assert HOSTILE not in text and HOSTILE in unescape(text)


def test_infinity_is_missing_too():
    panel = sample().panels[0]
    band = Band((math.inf, 1.0), (-math.inf, 1.0), (math.nan, 1.0))
    text = embed([replace(panel, curves={"dca": {"passes": Curve((0.0, 1.0), {"F": band})}})])
    assert json.loads(text)[0]["curves"]["dca"]["passes"]["y"]["F"] == [[None, 1], [None, 1], [None, 1]]


def test_a_band_of_another_length_is_refused():
    panel = sample().panels[0]
    bad = Curve((0.0, 1.0), {"F": Band((1.0,), (1.0,), (1.0,))})
    with pytest.raises(BadInput, match="panel a9a, dca, passes: the band of 'F'"):
        embed([replace(panel, curves={"dca": {"passes": bad}})])


def test_numbers_for_people():
    text = render(sample())
    assert '<td class="n">–</td>' in text  # a missing number
    assert "149\u202f797" in text
    assert "1.13 (95 % interval 1.04 to 1.22)" in text


def test_an_interval_goes_below_its_number_where_a_table_is_wide():
    text = table(Table("t", ("method", "F"), (("a", "0.10692 [0.10516, 0.10869]"), ("b", "–"))))
    assert '<td class="n">0.10692 <span class="interval">[0.10516, 0.10869]</span></td>' in text
    assert table(Table("t", ("a [1, 2]",), (("b [c, d]",),))).count("<span") == 0  # a text is no interval


def test_a_report_of_nothing(tmp_path: Path):
    empty = Report("Empty", "Nothing was run.", (), (), (), {})
    path = write(empty, tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == render(empty)
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_the_same_report_is_the_same_text():
    assert render(sample()) == render(sample())
