"""Test a lesson's panel: its charts in light and dark, and their numbers."""

import pandas as pd
import torch
import vl_convert

from selfattn.charts.bars import bar_list
from selfattn.charts.theme import DARK, LIGHT
from selfattn.panel import Look
from selfattn.views.lesson import drawing, lesson_panel
from selfattn.views.stage import Column, Scene, square, stage_panel

FRAME = pd.DataFrame({"token": ["not", "good"], "weight": [0.75, 0.25]})


def panel(columns=0):
    charts = {title: drawing(bar_list, FRAME, "weight", width=100) for title in ("One", "Other")}
    return lesson_panel("two", "Not leads.", charts, columns=columns, note="A note.")


def test_lesson_panel():
    made = panel()
    assert (made.alt, made.note) == ("Not leads. Drawn: One; Other.", "A note.")
    assert made.table["weight"].dropna().tolist() == [0.75, 0.25]


def test_picture_in_both_looks():
    for dark, theme in ((False, LIGHT), (True, DARK)):
        svg = vl_convert.vegalite_to_svg(panel().picture(Look(dark=dark)))
        assert theme.background in svg and theme.weights[4] in svg
        assert svg.count(">One<") == svg.count(">Other<") == 1


def test_charts_side_by_side():
    assert panel().picture(Look())["columns"]["signal"] == "window_width < 760 ? 1 : 2"
    wide, tall = (vl_convert.vegalite_to_svg(panel(columns).picture(Look())) for columns in (2, 1))
    assert size(wide)[0] > size(tall)[0] and size(wide)[1] < size(tall)[1]


def size(svg):
    """Return the width and height in pixels."""
    return [float(part) for part in svg.split('viewBox="0 0 ')[1].split('"')[0].split()]


def test_a_static_stage_shows_minus_infinity():
    masked = Column("masked", "score, masked", torch.tensor([1.5, -torch.inf]), (-3.0, 3.0))
    made = stage_panel(Scene("", ("bank", "river"), [masked]), [], "")
    assert [made.live.data[row] for row in ("asks", "lit", "hidden")] == [-1, -1, -1]
    svg = vl_convert.vegalite_to_svg(made.picture(Look()))
    assert ">river −∞<" in svg and ">1.50<" in svg and svg.count('aria-roledescription="bar"') == 1


def test_a_plane_holds_its_vectors_and_the_origin():
    vectors = torch.tensor([[2.0, 3.0], [4.0, 6.0]])
    assert square(vectors) == ((-0.5, 6.5),) * 2 and square(-vectors) == ((-6.5, 0.5),) * 2
    assert square(vectors[0], -vectors[1]) == ((-6.5, 3.5),) * 2
