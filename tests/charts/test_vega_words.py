"""Test that charts draw words that Vega could mistake for identifiers."""

from html import escape

import vl_convert as vlc

from selfattn.charts.labels import TAKEN_FOR_NAMES, expression

WORDS = ["bank", 'a "quoted" one', "back\\slash", "雨", "'", "]", "datum", "null", "__ob", *sorted(TAKEN_FOR_NAMES)]


def test_every_word_is_drawn_as_spelled():
    places = list(range(len(WORDS)))
    axis = {
        "values": places,
        "labelExpr": f"{expression(WORDS)}[datum.value]",
        "labelLimit": 400,
        "labelOverlap": False,
    }
    y = {"field": "y", "type": "quantitative", "axis": axis}
    spec = {"data": {"values": [{"y": y} for y in places]}, "mark": "point", "encoding": {"y": y}}
    svg = vlc.vegalite_to_svg(spec).replace("&quot;", '"')
    assert [word for word in WORDS if f">{escape(word, quote=False)}<" not in svg] == []
