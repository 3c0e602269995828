"""Figures of panels: the same bytes for the same numbers, gaps that stay gaps, nothing drawn of nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser.sample_report import sample

from dcopt.errors import BadInput, BadSettings
from dcopt.report import figures
from dcopt.report.figures import panel_figure, paper_figure
from dcopt.report.palette import INKS, SHAPES, inks
from dcopt.report.panels import Band, Curve, Panel

A9A, W8A, SCALING = sample().panels


def _texts(svg: Path) -> str:
    return svg.read_text(encoding="utf-8")  # text is drawn as paths, with the words in comments


def test_three_files_and_the_same_bytes_again(tmp_path: Path):
    first = panel_figure(A9A, tmp_path / "a.b", "passes", "excess")
    assert [p.name for p in first] == ["a.b.png", "a.b.svg", "a.b.pdf"]
    second = panel_figure(A9A, tmp_path / "again", "passes", "excess")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_side_by_side_with_one_legend(tmp_path: Path):
    words = _texts(paper_figure([A9A, W8A], tmp_path / "two", "passes", "distance")[1])
    for once in ("DCA-PAGE", "SDCA", "critical distance", A9A.title, W8A.title):
        assert words.count(f"<!-- {once} -->") == 1
    assert "MM-SAGA" not in words
    assert "<!-- MM-SAGA -->" in _texts(panel_figure(A9A, tmp_path / "all", "passes", "F", every=True)[1])


def test_a_method_without_values_says_so(tmp_path: Path):
    assert "<!-- SDCA (no data) -->" in _texts(panel_figure(SCALING, tmp_path / "s", "N", "work")[1])
    without = replace(W8A, curves={m: c for m, c in W8A.curves.items() if m != "dca-saga"})
    words = _texts(paper_figure([A9A, without], tmp_path / "p", "passes", "F")[1])
    assert "<!-- no data: DCA-SAGA -->" in words and "<!-- DCA-SAGA -->" in words


@pytest.mark.parametrize("values", [(math.nan,) * 3, (0.0, -1.0, 0.0), ()])
def test_nothing_to_draw_is_refused(tmp_path: Path, values: tuple[float, ...]):
    panel = _panel(values)
    with pytest.raises(BadInput, match="panel a9a: there is nothing to draw for excess against passes"):
        panel_figure(panel, tmp_path / "x", "passes", "excess")
    with pytest.raises(BadInput):
        paper_figure([A9A, panel], tmp_path / "x", "passes", "excess")
    with pytest.raises(BadInput):
        paper_figure([], tmp_path / "x", "passes", "excess")
    assert list(tmp_path.iterdir()) == []


def test_an_axis_that_is_not_there(tmp_path: Path):
    with pytest.raises(BadSettings, match="did you mean 'passes'"):
        panel_figure(A9A, tmp_path / "x", "pases", "excess")


def test_what_is_missing_is_a_gap_and_never_a_number():
    values = (1.0, math.nan, 0.5, 0.0, -2.0, 0.1, 0.05, math.inf)
    line = figures._Line(_panel(values), "dca-page", "passes", "excess")
    np.testing.assert_array_equal(line.there, [True, False, True, False, False, True, True, False])
    np.testing.assert_array_equal(np.isnan(line.middle), ~line.there)
    np.testing.assert_array_equal(np.flatnonzero(line.alone()), [0, 2])
    on_a_linear_scale = figures._Line(_panel(values, "F"), "dca-page", "passes", "F")
    np.testing.assert_array_equal(np.flatnonzero(~on_a_linear_scale.there), [1, 7])


def test_gaps_and_single_points_can_be_drawn(tmp_path: Path):
    for values in ((1.0, math.nan, 0.5, 0.0, 0.1), (math.nan, 3.0, math.nan)):
        assert len(panel_figure(_panel(values), tmp_path / "g", "passes", "excess")) == 3


def test_every_method_has_its_ink_and_strangers_borrow():
    assert len({ink.colour for ink in INKS.values()}) == len({ink.mark for ink in INKS.values()}) == len(INKS)
    assert {ink.mark for ink in INKS.values()} == set(SHAPES)
    lent = inks(["dca-page", "one", "other", "dca"])
    assert lent["dca-page"] == "dca-page" and lent["dca"] == "dca" and len(set(lent.values())) == 4
    assert set(inks(map(str, range(30))).values()) == set(INKS)


def _panel(values: tuple[float, ...], y: str = "excess") -> Panel:
    curve = Curve(tuple(float(k) for k in range(len(values))), {y: Band(values, values, values)})
    return replace(A9A, curves={"dca-page": {"passes": curve}})
