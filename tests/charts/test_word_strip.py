"""The strip: each word with its own weight, its shade and its number, in lines that fit."""

import pandas as pd
import pytest
import torch

from selfattn.charts.theme import LIGHT, THEMES
from selfattn.charts.word_strip import word_strip
from selfattn.tidy_tables import strip_frame
from tests.charts.scene import drawn, on_ramp, same_color

TEXTS = {
    "A": ["[CLS]", "The", "crane", "lifted", "a", "steel", "beam", ".", "[SEP]"],
    "B": ["[CLS]", "The", "crane", "spread", "its", "wings", ".", "[SEP]"],
}


@pytest.fixture(scope="module")
def frame(sides):
    return pd.concat([strip_frame(s.encoding, s.weights[s.word.start], s.word, name) for name, s in sides.items()])


def pieces(spec):
    """Chips, and the texts that stand on them and beneath them, in the frame's order."""
    return (
        [item for item in drawn(spec, "rect")],
        [item for item in drawn(spec, "text") if item["fontSize"] == 14],
        [item for item in drawn(spec, "text") if item["fontSize"] == 10],
    )


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_every_word_has_the_models_weight_in_shade_and_number(frame, sides, theme):
    chips, words, numbers = pieces(word_strip(frame, theme))
    weights = torch.cat([side.weights[side.word.start] for side in sides.values()]).tolist()
    assert [word["text"] for word in words] == TEXTS["A"] + TEXTS["B"]
    assert [number["text"] for number in numbers] == [f"{weight:.2f}" for weight in weights]
    for chip, word, weight in zip(chips, words, weights):
        assert same_color(chip["fill"], on_ramp(theme.weights, weight / max(weights)))
        if weight > 0.5 * max(weights):
            assert same_color(word["fill"], theme.background), "ink on a strong shade"


def test_only_the_chosen_word_has_the_outline(frame):
    chips, words, _ = pieces(word_strip(frame, LIGHT))
    outlined = [word["text"] for chip, word in zip(chips, words) if chip["stroke"] == LIGHT.ink]
    assert outlined == ["crane", "crane"]
    assert {chip["strokeWidth"] for chip in chips if chip["stroke"] == LIGHT.ink} == {2.5}


def test_words_are_laid_out_in_lines_within_the_width(frame):
    chips, _, _ = pieces(word_strip(frame, LIGHT, width=200))
    lines = pd.DataFrame([{key: chip[key] for key in ("x", "y", "width")} for chip in chips])
    assert lines["y"].nunique() > 3 and (lines["x"] + lines["width"] <= 200).all()
    for _, line in lines.groupby("y"):
        assert (line["x"].iloc[1:].to_numpy() > (line["x"] + line["width"]).iloc[:-1].to_numpy()).all()
    assert not set(lines["y"][:9]) & set(lines["y"][9:])


def test_faint_special_tokens_step_back():
    frame = pd.DataFrame(
        {
            "sentence": "A", "place": range(3), "text": ["[CLS]", "crane", "银行"], "weight": [0.1, 0.8, 0.1],
            "chosen": [False, True, False], "special": [True, False, False],
        }
    )  # fmt: skip
    chips, words, _ = pieces(word_strip(frame, LIGHT))
    assert [word["fill"] for word in words] == [LIGHT.muted, LIGHT.background, LIGHT.ink]
    assert chips[2]["width"] > 30, "wide characters have room"
