"""Test the attention maps of one head in two sentences."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from vl_convert import vegalite_to_svg

from selfattn import Head, Hide
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.charts.theme import LIGHT
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Look
from selfattn.views.one_head import head_maps, largest_difference, left_out, surest_word
from tests.charts.scene import drawn, on_ramp, same_color, texts

HEAD = Head(3, 7)


@pytest.fixture(scope="module")
def placed(sides):
    return {name: PlacedWord(side.encoding, side.word.positions) for name, side in sides.items()}


def specs(panel):
    whole = panel.picture(Look())
    both = whole.pop("hconcat")
    return {name: {**whole, **part} for name, part in zip("AB", both, strict=True)}


@pytest.fixture(scope="module")
def maps(sides):
    """Make the maps of sentences A and B. B's weights are halved, so that B is paler."""
    found = {name: word_map(s.encoding, s.encoding.weights(3, 7)) for name, s in sides.items()}
    return {**found, "B": replace(found["B"], matrix=found["B"].matrix / 2)}


@pytest.fixture(scope="module")
def charts(placed, maps):
    return specs(head_maps(placed, maps, HEAD, "scratch"))


@pytest.mark.parametrize("sentence", ["A", "B"])
def test_maps_share_colour_scale(charts, maps, sentence):
    largest = max(float(words.matrix.max()) for words in maps.values())
    matrix = maps[sentence].matrix
    cells = [item for item in drawn(charts[sentence], "rect") if "value" in item.get("description", "")]
    assert len(cells) == matrix.numel()
    for item, value in zip(cells, matrix.flatten().tolist()):
        assert same_color(item["fill"], on_ramp(LIGHT.weights, value / largest))
    assert texts(charts[sentence], "axis-label") == list(maps[sentence].labels) * 2


def two_maps(**n):
    """Return the charts of the attention maps of sentences A and B. n: their numbers of words, such as A=40, B=3."""
    views = {}
    for name, count in n.items():
        labels = ["electroencephalographers" if name == "A" else "if", *["bank"] * (count - 1)]
        groups, special = [(i,) for i in range(count)], [False] * count
        views[name] = WordMap(labels=labels, groups=groups, special=special, matrix=torch.eye(count))
    word = SimpleNamespace(positions=[1], sentence=SimpleNamespace(hides=(), words=()))
    return specs(head_maps(dict.fromkeys("AB", word), views, HEAD, "scratch")).values()


def svg_width(spec):
    return re.search(r'width="(\d+)"', vegalite_to_svg(spec))[1]


@pytest.mark.slow
def test_maps_of_unequally_long_sentences_have_equal_cells():
    """Both charts have the same width, so a narrow window shrinks their cells equally."""
    a, b = two_maps(A=40, B=3)
    for spec, n in ((a, 40), (b, 3)):
        cells = [item for item in drawn(spec, "rect") if "value" in item.get("description", "")]
        assert len(cells) == n * n
        assert {(round(item["width"], 3), round(item["height"], 3)) for item in cells} == {(10.0, 10.0)}
    assert svg_width(a) == svg_width(b)


def test_maps_of_long_sentences_have_equal_scale():
    specs = two_maps(A=80, B=66)
    sizes = [(item["width"], item["height"]) for spec in specs for item in drawn(spec, "image")]
    assert sizes == [(400, 400), (330, 330)]


def test_map_names_head_and_hidden_word(encoder, placed, maps):
    b = placed["B"]
    (wings,) = b.sentence.places("wings")
    without = encoder.encode(b.sentence.text, hidden=[Hide(b.positions, wings.positions)])
    panel = head_maps(placed | {"B": PlacedWord(without, b.positions)}, maps, HEAD, "own")
    titles = [chart["title"]["text"] for chart in specs(panel).values()]
    assert titles == ["A   L3 H7, model's own", 'B   L3 H7, model\'s own, "wings" hidden']
    assert panel.finding.startswith('Head 7 of layer 3, "wings" hidden in B. Of the words in A, ')
    assert panel.one_head and [*panel.tables] == ["map of A", "map of B"]
    for table, view in zip(panel.tables.values(), maps.values()):
        assert table["weight"].tolist() == pytest.approx(view.matrix.flatten().tolist())


def a_map(matrix, labels=("[CLS]", "beam", "."), special=(True, False, False), **more):
    return WordMap(labels=labels, groups=((0,), (1,), (2,)), special=special, matrix=torch.tensor(matrix), **more)


def test_texts_describe_attention_map():
    view = a_map([[0.9, 0.1, 0.0], [0.3, 0.2, 0.5], [0.0, 1.0, 0.0]])
    assert surest_word(view, "in A") == 'Of the words in A, "beam" gives the largest weight: 0.50 to ".".'
    to_special = a_map([[0.9, 0.1, 0.0], [0.6, 0.2, 0.2], [0.0, 1.0, 0.0]])
    assert surest_word(to_special, "in A").endswith(": 0.60 to [CLS].")
    assert surest_word(replace(view, special=(True, True, True)), "in A") == "There is no word in A."
    errors = a_map([[0.0, 1e-7, 0.0], [0.0, -2.9e-7, 0.0], [0.0, 0.0, 0.0]])
    assert largest_difference(errors, "B") == (
        'In B, the recomputed weights differ from the model\'s by at most 0.0000003 (the weight from "beam" to "beam").'
    )
    assert left_out(view) == ""
    assert left_out(replace(view, hidden=0.314, step=2)) == (
        "Special tokens get 31 % of the weight and are left out. Each row is scaled to sum to 1. Each cell shows the "
        "largest of 2 × 2 weights, because a map has at most 256 rows."
    )
