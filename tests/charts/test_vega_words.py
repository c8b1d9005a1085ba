"""Words that Vega would take for names: without the spelling it draws nothing, with it the picture has the word."""

import json

import pytest
import vl_convert as vlc

from selfattn.charts.labels import TAKEN_FOR_NAMES, expression

WORDS = ["bank", 'a "quoted" one', "back\\slash", "雨", "'", "]", "datum", "null", "__ob", *sorted(TAKEN_FOR_NAMES)]


def drawn(labels: str) -> str:
    axis = {"values": [0], "labelExpr": f"{labels}[datum.value]", "labelLimit": 400}
    return vlc.vegalite_to_svg(
        {
            "data": {"values": [{"x": 0}]},
            "mark": "point",
            "encoding": {"x": {"field": "x", "type": "quantitative", "axis": axis}},
        }
    )


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.slow
def test_every_word_is_drawn_as_it_is_spelled(word):
    from html import escape

    assert f">{escape(word, quote=False)}<" in drawn(expression([word])).replace("&quot;", '"')


@pytest.mark.parametrize("word", ["if", "constructor", "toString"])
def test_vega_still_fails_on_the_bare_words(word):
    with pytest.raises(ValueError, match="conversion failed"):
        drawn(json.dumps([word]))
