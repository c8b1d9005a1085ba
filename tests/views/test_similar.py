"""Test the panel that compares two texts."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn import numbers
from selfattn.analysis.cosine_parts import CosineParts
from selfattn.charts.similar import BIN, TALLEST
from selfattn.charts.similar import similar as picture
from selfattn.charts.theme import LIGHT
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import TEXT_PAIRS
from selfattn.panel import Look
from selfattn.senses import UnrelatedPairs
from selfattn.views.similar import METHOD, beside, put_together, similar
from tests.charts.scene import drawn
from tests.encoders.test_pooling import embedder

# Rows: "We", "sat", ".", special tokens. Columns: "She", "sat", special tokens.
TABLE = torch.tensor([[0.05, 0.0, 0.01], [0.0, 0.2, 0.02], [0.01, 0.0, 0.0], [0.1, 0.1, 0.11]], dtype=torch.float64)
COSINES = torch.tensor([[0.6, 0.62, 0.3], [0.55, 0.5, 0.2], [0.4, 0.45, torch.nan], [0.6, 0.6, 0.3]])
MANY = UnrelatedPairs(pd.DataFrame({"cosine": np.linspace(-0.2, 0.39, 1000)}))


@pytest.fixture(scope="module")
def sides(encoder):
    return encoder.encode("We sat."), encoder.encode("She sat")


@pytest.fixture(scope="module")
def parts(sides):
    return CosineParts(a=sides[0], b=sides[1], cosine=0.6, table=TABLE)


def test_panel_shows_lines_and_parts_of_cosine(sides, parts):
    panel = put_together(*sides, COSINES, parts, MANY)
    assert panel.finding == 'Hide "sat" in B, and the cosine falls by 0.30.'
    assert "Cosine 0.60, above all of 1,000 unrelated pairs (median 0.10)." in panel.alt
    data = panel.live.data
    assert data["below"] == [
        'The thickest line joins "sat" and "sat". Each of the 4 words with the largest effects has a line to a word of '
        "the other text."
    ]
    assert [line[:3] for line in data["lines"]] == [[1, 1, 0.2], [0, 0, 0.05]]
    assert data["lines"][0][3] == pytest.approx(float(parts.interaction[1, 1]), rel=1e-3)
    assert data["sum"] == {"lines": 0.25, "others": 0.01, "special": 0.34, "difference": "0"}
    fine = put_together(*sides, COSINES, replace(parts, table=TABLE + 4e-7), MANY).live.data["sum"]
    assert (fine["lines"], fine["others"], fine["special"]) == (0.25, 0.01, 0.34)  # rounded to five decimals
    assert data["cosines"] == ["600,620,300", "550,500,200", "400,450,", "600,600,300"]
    words = data["sides"][0]["words"]
    assert [(word["text"], word["kind"], word["number"], word["depth"]) for word in words] == [
        ("We", "word", "−0.05", -17), ("sat", "word", "−0.20", -67), (".", "punctuation", "", 0),
    ]  # fmt: skip
    assert words[1]["lines"] == [data["lines"][0]] and words[2]["lines"] == []
    assert list(panel.tables) == ["pairs", "hidden words", "unrelated pairs"]
    assert panel.tables["hidden words"]["effect"].tolist() == pytest.approx([-0.05, -0.2, 0, 0.02, -0.3])
    assert panel.arrays["cosines"].shape == (4, 3)


def test_text_names_words_that_no_line_joins(sides, parts):
    table = torch.zeros(4, 3, dtype=torch.float64)
    table[:3, :2] = torch.tensor([[0.05, -0.05], [0, 0], [-0.05, 0.05]])
    panel = put_together(*sides, COSINES, CosineParts(a=sides[0], b=sides[1], cosine=0.0, table=table))
    assert panel.live.data["below"] == [
        'The thickest line joins "We" and "She". Of the 4 words with the largest effects, 2 have a line to a word of '
        'the other text. "sat" in B and "sat" in A have no line.'
    ]
    assert panel.live.data["unrelated"] is None and "Cosine 0.60." in panel.alt


def test_finding_for_unrelated_texts(sides, parts):
    low = COSINES - 0.3
    low[0, 1] = low[1, 0] = 0.6  # cosines with a hidden word don't count
    panel = put_together(*sides, low, parts, MANY)
    assert "above 84.7 % of" in panel.alt.replace("\u00a0", " ")
    assert panel.finding == "These two texts are no closer than unrelated texts."
    edge = UnrelatedPairs(pd.DataFrame({"cosine": [0.0] * 19 + [0.9]}))  # 0.6 is above 95 % of these
    assert "the cosine falls by" in put_together(*sides, COSINES, parts, edge).finding


def test_single_different_word_is_named(encoder):
    pair = next(pair for pair in TEXT_PAIRS if pair.name == "a negation")
    panel = similar(encoder, encoder.encode(pair.first), encoder.encode(pair.second))
    assert panel.finding == 'The texts differ only by "not" in A, which lowers the cosine by 0.09.'
    assert "Cosine 0.91." in panel.alt
    same = similar(encoder, encoder.encode("It rains."), encoder.encode("It rains."))
    assert same.finding == "Both texts are the same, so their cosine is 1."


def test_finding_states_change_of_cosine_even_if_zero(encoder):
    first, more, other = (encoder.encode(text) for text in ("We sat.", "We sat not.", "She ran"))
    added, changed = (put_together(first, b, torch.full((4, len(b.words) + 1), 0.5), None) for b in (more, other))
    assert added.finding == 'The texts differ only by "not" in B, which raises the cosine by 0.00.'
    lower = torch.tensor([[0.5, 0.5, 0.5, 0.4, 0.5]] * 4)
    assert put_together(first, more, lower, None).finding.endswith("which raises the cosine by 0.10.")
    assert changed.finding == 'Hide "We" in A, and the cosine rises by 0.00.'


def test_note_compares_cosine_with_cosines_of_unrelated_sentences():
    for cosine, place in ((-0.3, "none"), (0.4, "all"), (-0.1412, "10.0\u00a0%")):
        said = f"Cosine {numbers.cosine(cosine)}, above {place} of 1,000 unrelated pairs (median 0.10)."
        assert beside(cosine, MANY) == said


def test_cosine_is_no_sum_without_mean_pooling(tmp_path):
    from selfattn import load_encoder

    own = load_encoder(str(embedder(save_tiny(FAMILIES["BERT"], tmp_path / "mine"), pooling={"pooling_mode": "cls"})))
    panel = similar(own, own.encode("The bank of the river."), own.encode("She sat by water."))
    assert panel.live.data["sum"] is None and panel.live.data["lines"] == []
    assert "mine has the pooling mode cls, so the texts' cosine can't be divided" in panel.live.data["below"][0]
    assert panel.finding.startswith('Hide "') and list(panel.tables) == ["hidden words"]
    assert panel.method == "\n\n".join(METHOD[1:]) and "sum over pairs" not in panel.method
    texts = [item["text"] for item in drawn(panel.picture(Look()), "text")]
    assert "river" in texts and not any("As a sum" in text for text in texts)


@pytest.mark.parametrize("width", [None, 300])
def test_picture_shows_words_lines_and_cosine(sides, parts, width):
    spec = put_together(*sides, COSINES, parts, MANY).picture(Look(width=width))
    texts = [item["text"] for item in drawn(spec, "text")]
    assert {"We", "sat", "She", "−0.20", "−0.30"} <= {*texts}
    assert "0.250 the 2 pairs joined by a line" in " ".join(texts)
    widths = dict.fromkeys(item["strokeWidth"] for item in drawn(spec, "line"))
    assert len(widths) == 2 and max(widths) == 10
    (dot,) = drawn(spec, "symbol")
    first, last = (next(item for item in drawn(spec, "text") if item["text"] == tick) for tick in ("0.00", "1.00"))
    wide = last["x"] - first["x"]
    assert dot["x"] == pytest.approx(first["x"] + 0.6 * wide, abs=0.05) and dot["fill"] == LIGHT.weights[4]
    bars = [each for each in spec["datasets"]["rects"] if each.get("what") == "unrelated"]
    counts = Counter(math.floor(value / BIN) for value in np.round(MANY.cosines, 3))
    for bar in bars:
        n = round((bar["x"] - first["x"]) / wide / BIN)
        assert bar["said"] == f"{counts.pop(n)} of 1000 unrelated pairs"
        assert (bar["x"], bar["x2"]) == pytest.approx(
            [first["x"] + at * BIN * wide - (at > n) for at in (n, n + 1)], abs=0.05
        )
    assert not counts and min(bar["x"] for bar in bars) == pytest.approx(12)  # the smallest of all cosines
    assert max(bar["y2"] - bar["y"] for bar in bars) == TALLEST


def test_bar_of_summand_starts_where_previous_ends(sides, parts):
    """The bar of a negative summand goes left. A gap of one pixel separates the bars."""
    data = dict(put_together(*sides, COSINES, parts).live.data)
    data["sum"] = {"lines": 0.25, "others": -0.1, "special": 0.45, "difference": "0"}
    spec = picture(data, LIGHT, 1024)
    rects = [rect for rect in spec["datasets"]["rects"] if rect.get("what") == "part"]
    ends = [(0, 0.25), (0.15, 0.25), (0.15, 0.6)]
    assert [(rect["x"], rect["x2"]) for rect in rects] == [
        pytest.approx((12 + 1000 * low, 11 + 1000 * high)) for low, high in ends
    ]
    assert [rect["color"] == LIGHT.effect[1] for rect in rects] == [False, True, False]
    said = (
        "As a sum: 0.250 the 2 pairs joined by a line + −0.100 all other pairs of words "
        "+ 0.450 pairs with a special token = 0.600"
    )
    assert said in " ".join(item["text"] for item in drawn(spec, "text"))
