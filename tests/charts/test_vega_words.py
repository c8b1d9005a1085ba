"""Words that Vega would take for names: without the spelling it draws nothing, with it the picture has the word."""

import json
from html import escape

import pytest
import vl_convert as vlc

from selfattn.charts.labels import TAKEN_FOR_NAMES, expression

WORDS = ["bank", 'a "quoted" one', "back\\slash", "雨", "'", "]", "datum", "null", "__ob", *sorted(TAKEN_FOR_NAMES)]


def drawn(labels: str) -> str:
    places = list(range(len(WORDS)))
    axis = {"values": places, "labelExpr": f"{labels}[datum.value]", "labelLimit": 400, "labelOverlap": False}
    y = {"field": "y", "type": "quantitative", "axis": axis}
    return vlc.vegalite_to_svg({"data": {"values": [{"y": y} for y in places]}, "mark": "point", "encoding": {"y": y}})


def test_every_word_is_drawn_as_it_is_spelled():
    svg = drawn(expression(WORDS)).replace("&quot;", '"')
    assert [word for word in WORDS if f">{escape(word, quote=False)}<" not in svg] == []


@pytest.mark.parametrize("word", ["if", "constructor", "toString"])
def test_vega_still_fails_on_the_bare_words(word):
    with pytest.raises(ValueError, match="conversion failed"):
        drawn(json.dumps([word]))
