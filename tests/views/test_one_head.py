"""One head in A and in B: each with its own map on one colour scale, and their difference."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from vl_convert import vegalite_to_svg

from selfattn import Head, Hide
from selfattn.analysis.compare import compare_sentences
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.charts.theme import LIGHT
from selfattn.encoders.placed_word import PlacedWord
from selfattn.views.one_head import against, whole_head
from tests.charts.scene import drawn, on_ramp, same_color, texts

HEAD = Head(3, 7)


@pytest.fixture(scope="module")
def placed(sides):
    return {name: PlacedWord(side.encoding, side.word.positions) for name, side in sides.items()}


def specs(pictures):
    return {name: picture.spec for name, picture in pictures.items()}


@pytest.fixture(scope="module")
def maps(sides):
    """B's map is fainter, and has to stay so beside A's."""
    found = {name: word_map(s.encoding, s.encoding.weights(3, 7)) for name, s in sides.items()}
    return {**found, "B": replace(found["B"], matrix=found["B"].matrix / 2)}


@pytest.fixture(scope="module")
def charts(placed, maps):
    return specs(whole_head(placed, maps, HEAD, LIGHT, "scratch"))


@pytest.mark.parametrize("sentence", ["A", "B"])
def test_both_maps_have_their_own_numbers_on_the_scale_of_both(charts, maps, sentence):
    largest = max(float(words.matrix.max()) for words in maps.values())
    matrix = maps[sentence].matrix
    cells = [item for item in drawn(charts[sentence], "rect") if "value" in item.get("description", "")]
    assert len(cells) == matrix.numel()
    for item, value in zip(cells, matrix.flatten().tolist()):
        assert same_color(item["fill"], on_ramp(LIGHT.weights, value / largest))
    assert texts(charts[sentence], "axis-label") == list(maps[sentence].labels) * 2


def two_maps(**n):
    """Maps of so many words each, of which A's have a long one."""
    views = {}
    for name, count in n.items():
        labels = ["electroencephalographers" if name == "A" else "if", *["bank"] * (count - 1)]
        groups, special = [(i,) for i in range(count)], [False] * count
        views[name] = WordMap(labels=labels, groups=groups, special=special, matrix=torch.eye(count))
    word = SimpleNamespace(positions=[1], sentence=SimpleNamespace(hides=(), words=()))
    return specs(whole_head(dict.fromkeys("AB", word), views, HEAD, LIGHT, "scratch")).values()


def whole_width(spec):
    return re.search(r'width="(\d+)"', vegalite_to_svg(spec))[1]


def test_sentences_that_differ_in_length_have_cells_of_one_size():
    """A narrow window shrinks each picture to its column: those of one width by one part."""
    a, b = two_maps(A=40, B=3)
    for spec, n in ((a, 40), (b, 3)):
        cells = [item for item in drawn(spec, "rect") if "value" in item.get("description", "")]
        assert len(cells) == n * n
        assert {(round(item["width"], 3), round(item["height"], 3)) for item in cells} == {(10.0, 10.0)}
    assert whole_width(a) == whole_width(b)


def test_long_sentences_that_differ_in_length_have_pictures_of_one_scale():
    specs = two_maps(A=80, B=66)
    sizes = [(item["width"], item["height"]) for spec in specs for item in drawn(spec, "image")]
    assert sizes == [(400, 400), (330, 330)]


def test_a_hidden_word_stands_in_its_sentences_title_and_name(encoder, placed, maps):
    b = placed["B"]
    (wings,) = b.sentence.places("wings")
    without = encoder.encode(b.sentence.text, hidden=[Hide(b.positions, wings.positions)])
    pictures = whole_head(placed | {"B": PlacedWord(without, b.positions)}, maps, HEAD, LIGHT, "own")
    assert [chart["title"]["text"] for chart in specs(pictures).values()] == ["A   L3 H7", 'B   L3 H7, "wings" hidden']
    assert pictures["B"].name == 'what each word attends to in B, model\'s own, "wings" hidden'


@pytest.mark.slow
def test_the_difference_is_a_minus_b_centred_with_the_gaps_named(sides, placed):
    comparison = compare_sentences(*placed.values(), *HEAD)
    _, whole = against(placed, HEAD, LIGHT)
    spec = whole.spec
    folded = [{token.casefold(): at for at, token in enumerate(s.encoding.tokens)} for s in sides.values()]
    largest = np.nanmax(np.abs(comparison.matrix))
    cells = [item for item in drawn(spec, "rect") if "weight in A minus weight in B" in item.get("description", "")]
    labels = comparison.labels
    numbers = {(labels[row["row"]], labels[row["column"]]): row["value"] for row in spec["datasets"]["cells"]}
    for (query, key), value in numbers.items():
        a, b = (
            float(side.weights[places[query.casefold()], places[key.casefold()]])
            for side, places in zip(sides.values(), folded)
        )
        assert value == pytest.approx(a - b, abs=1e-5), (query, key)
    for item, value in zip(cells, numbers.values(), strict=True):
        assert same_color(item["fill"], on_ramp(LIGHT.signed, (value / largest + 1) / 2))
    hues = {item["text"]: item["fill"] for item in drawn(spec, "text", "axis-label")}
    assert hues["beam"] == LIGHT.sentence_a and hues["wings"] == LIGHT.sentence_b and hues["crane"] == LIGHT.muted
    assert texts(spec, "legend-title") == ["weight in A minus weight in B"]
    assert texts(spec, "title-text") == ["A minus B   L3 H7"]
