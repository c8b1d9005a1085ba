"""Test the modules `lesson` and `stage`, which make the figures of the lesson pages."""

import pandas as pd
import torch
import vl_convert

from selfattn.charts.bars import bar_list
from selfattn.charts.theme import DARK, LIGHT
from selfattn.panel import Look
from selfattn.views.lesson import drawing, lesson_panel
from selfattn.views.stage import SHARE, Column, Mark, Plane, Scene, square, stage_data, stage_panel

FRAME = pd.DataFrame({"token": ["not", "good"], "weight": [0.75, 0.25]})


def panel(columns=0):
    charts = {title: drawing(bar_list, FRAME, "weight", width=100) for title in ("One", "Other")}
    return lesson_panel("two", "Not leads.", charts, columns=columns, note="A note.")


def test_lesson_panel_has_texts_and_numbers():
    made = panel()
    assert (made.alt, made.note) == ("Not leads. Charts: One; Other.", "A note.")
    assert made.table["weight"].dropna().tolist() == [0.75, 0.25]


def test_lesson_panel_is_drawn_in_both_themes():
    for dark, theme in ((False, LIGHT), (True, DARK)):
        svg = vl_convert.vegalite_to_svg(panel().picture(Look(dark=dark)))
        assert theme.background in svg and theme.weights[4] in svg
        assert svg.count(">One<") == svg.count(">Other<") == 1


def test_number_of_charts_per_row_can_be_chosen():
    assert panel().picture(Look())["columns"]["signal"] == "window_width < 760 ? 1 : 2"
    wide, tall = (vl_convert.vegalite_to_svg(panel(columns).picture(Look())) for columns in (2, 1))
    assert size(wide)[0] > size(tall)[0] and size(wide)[1] < size(tall)[1]


def size(svg):
    return [float(part) for part in svg.split('viewBox="0 0 ')[1].split('"')[0].split()]


def test_static_figure_shows_minus_infinity():
    masked = Column("masked", "score, masked", torch.tensor([1.5, -torch.inf]), (-3.0, 3.0))
    made = stage_panel(Scene("", ("bank", "river"), [masked]), [], "")
    assert [made.live.data[row] for row in ("asks", "lit", "hidden")] == [-1, -1, -1]
    svg = vl_convert.vegalite_to_svg(made.picture(Look()))
    assert ">river −∞<" in svg and ">1.50<" in svg and svg.count('aria-roledescription="bar"') == 1


def test_asked_parts_are_empty_until_answer():
    """Until the visitor answers, parts with `asked=True` show nothing."""
    matrix = torch.tensor([[1.0, -2.0], [3.0, 4.00004]])
    cells = Column(
        "k", "key", matrix.round(), shape="2 × 2", above=("W", matrix), foot=("sum", torch.tensor([4.0, 2.5])),
        tips=[["a", "b"]], asked=True,
    )  # fmt: skip
    share = Column("w", "weight", torch.tensor([0.0, 1.0]), SHARE, above=("q", matrix[:1]))
    bars = Column("s", "score", torch.tensor([1.5, -torch.inf]), (-3.0, 1.0))
    marks = [
        Mark("m", "moved", (1.0, 2.0), (0.0, 0.0), "a", 0.12345, before=(None, (0.5, 0.25))),
        Mark("n", "new", (-1.0, 0.0), asked=True),
    ]
    scene = Scene("It moves.", ("bank", "river"), [cells, share, bars], [Plane("p", "plane", marks, ((0, 1), (0, 2)))])
    shown = {answered: stage_data(scene, [], "stop", answered) for answered in (True, False)}
    common = {"across": 2, "kind": "cells", "ends": [0, 1], "name": "k", "places": 2, "shape": "2 × 2", "title": "key"}
    assert shown[True]["columns"][0] == common | {
        "rows": [[1, -2], [3, 4]], "tips": [["a", "b"]], "above": {"title": "W 2 × 2", "rows": [[1, -2], [3, 4]]},
        "foot": {"title": "sum", "row": [4, 2.5]},
    }  # fmt: skip
    assert shown[False]["columns"][0] == common | {
        "rows": [], "tips": [], "above": {"title": "W", "rows": []}, "foot": {"title": "sum", "row": []},
    }  # fmt: skip
    for data in shown.values():
        one, other = data["columns"][1:]
        assert (one["kind"], one["ends"], one["places"], one["rows"]) == ("share", [0, 1], 2, [[0], [1]])
        assert one["above"]["title"] == "q" and other["above"] is None and other["foot"] is None
        assert (other["kind"], other["ends"], other["places"], other["rows"]) == ("bars", [-3, 1.5], 2, [[1.5], ["−∞"]])
    before, after = (
        [(mark["name"], mark["at"], mark["origin"]) for mark in shown[at]["planes"][0]["marks"]] for at in shown
    )
    assert before == [("m", [1, 2], [0, 0]), ("n", [-1, 0], None)] and after == [("m", [0.5, 0.25], None)]
    assert shown[True]["planes"][0]["marks"][0]["width"] == 0.123
    assert shown[True]["about"] == (
        "It moves. key: bank [1.00, −2.00], river [3.00, 4.00]. weight: bank [0.00], river [1.00]. score: bank [1.50], "
        "river [−∞]. plane: moved at 1.0, 2.0, new at −1.0, 0.0."
    )
    assert (
        shown[False]["about"].startswith("The answer isn't shown yet. weight: ")
        and Column("", "", matrix.round()).places == 0
    )


def test_axes_include_vectors_and_origin():
    vectors = torch.tensor([[2.0, 3.0], [4.0, 6.0]])
    assert square(vectors) == ((-0.5, 6.5),) * 2 and square(-vectors) == ((-6.5, 0.5),) * 2
    assert square(vectors[0], -vectors[1]) == ((-6.5, 3.5),) * 2
