"""Charts: what they hold, that every spec is valid Vega-Lite, and that hostile tokens stay text."""

import base64
import io
import json

import altair as alt
import numpy as np
import pandas as pd
import pytest
import torch
import vl_convert as vlc
from PIL import Image

from selfattn.charts.bars import bars, sentence_rows
from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap, image_uri
from selfattn.charts.theme import DARK, LIGHT, THEMES
from selfattn.charts.word_strip import _place_words, word_strip
from selfattn.frames import heads_frame

HOSTILE = [
    '"',
    "if",
    "\\",
    "<script>alert(1)</script>",
    "datum.x",
    "${x}",
    "##ing",
    "constructor",
    "银行",
    "the",
    "the",
    "\n",
]


def random_weights(n):
    return torch.rand(n, n, generator=torch.Generator().manual_seed(n)).softmax(-1).numpy()


def strip_data():
    return pd.DataFrame(
        {
            "sentence": ["A"] * 12 + ["B"] * 12,
            "place": [*range(12)] * 2,
            "text": HOSTILE * 2,
            "weight": np.linspace(0, 1, 24),
            "chosen": [i == 3 for i in range(24)],
            "special": [i % 12 == 0 for i in range(24)],
        }
    )


def all_charts(theme):
    steps = pd.DataFrame(
        {
            "sentence": ["A", "A", "B", "B"],
            "key_pos": [0, 1] * 2,
            "key": ["x", "x"] * 2,
            "value": [1.0, -np.inf, 0.5, -2.0],
        }
    )
    curve = pd.DataFrame({"curve": ["m"] * 3, "depth": range(3), "stage": ["a", "b", "c"], "similarity": [1, 0.5, 0.2]})
    return {
        "strip": word_strip(strip_data(), theme),
        "head_map": head_map(
            heads_frame(effect=torch.randn(3, 4), control=torch.randn(3, 4)), "effect", theme, "L1 H2"
        ),
        "step_bars": bars(sentence_rows(steps, theme), theme, width=118),
        "heatmap": heatmap(random_weights(12), HOSTILE, theme, marked=[3]),
        "signed heatmap": heatmap(random_weights(12) - 0.5, HOSTILE, theme, kind="signed"),
        "long heatmap": heatmap(random_weights(100), [*HOSTILE, *["the"] * 88], theme, marked=[3, 4]),
        "drift": drift_curve(curve, theme, {"m": theme.ink}),
    }


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("name", all_charts(LIGHT))
def test_every_chart_is_valid_and_draws(theme, name):
    spec = all_charts(theme)[name]
    alt.Chart.from_dict(spec, validate=True)
    with Image.open(io.BytesIO(vlc.vegalite_to_png(spec, allowed_base_urls=[]))) as picture:
        assert picture.width > 100 and picture.height > 50
        colors = picture.convert("RGB").getcolors(1 << 24)
    assert len(colors) > 10, "an empty picture"
    background = tuple(int(theme.background[i : i + 2], 16) for i in (1, 3, 5))
    assert max(colors)[1] == background


def test_hostile_tokens_stay_text_in_the_drawn_labels():
    svg = vlc.vegalite_to_svg(heatmap(random_weights(12), HOSTILE, LIGHT))
    assert "<script>" not in svg
    assert "&lt;script&gt;alert(1)&lt;/" in svg
    assert svg.count(">the</text>") == 4  # both repeated words, on both axes


def test_heatmap_cells_are_keyed_on_position_so_that_repeated_words_keep_their_cells():
    spec = heatmap(random_weights(12), HOSTILE, LIGHT)
    (data,) = [rows for rows in spec["datasets"].values() if len(rows) == 144]
    assert {(row["row"], row["column"]) for row in data} == {(i, j) for i in range(12) for j in range(12)}


def test_a_long_map_is_one_image_with_a_band_a_row_and_stays_small():
    n = 512
    spec = heatmap(random_weights(n), ["the"] * n, LIGHT)
    assert max(len(rows) for rows in spec["datasets"].values()) == n
    assert len(json.dumps(spec)) < 1_000_000


def test_the_image_holds_every_cell_in_the_ramps_colours():
    matrix = np.array([[0.0, 0.5], [1.0, 0.25]])
    uri = image_uri(matrix, LIGHT, "weights", 1.0)
    with Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))) as picture:
        assert picture.size == (2, 2)
        levels = np.array(picture)
        shown = picture.convert("RGB")
        assert shown.getpixel((0, 0)) == (255, 255, 255)
        assert shown.getpixel((0, 1)) == (8, 48, 107)
    assert levels.tolist() == [[0, 127], [255, 63]]


def test_signed_images_are_centred_on_zero():
    uri = image_uri(np.array([[-1.0, 0.0, 1.0]]), DARK, "signed", 1.0)
    with Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))) as picture:
        middle = picture.convert("RGB").getpixel((1, 0))
    assert all(abs(a - b) <= 4 for a, b in zip(middle, (15, 19, 26)))


def test_words_are_laid_out_in_lines_within_the_width():
    placed = _place_words(strip_data(), 300)
    assert (placed["x2"] <= 300 + 30).all()
    for _, line in placed.groupby("y"):
        assert (line["x"].iloc[1:].to_numpy() > line["x2"].iloc[:-1].to_numpy()).all()
    assert not set(placed.loc[placed["sentence"] == "A", "y"]) & set(placed.loc[placed["sentence"] == "B", "y"])


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_looks_read_in_grey_and_with_enough_contrast(theme):
    ramp = [luminance(color) for color in theme.weights]
    assert ramp == sorted(ramp, reverse=theme.name == "light"), "the weights' ramp must be monotone in grey"
    assert theme.weights[0] == theme.background and theme.effect[2] == theme.signed[2] == theme.background
    for color in (theme.ink, theme.muted, theme.sentence_a, theme.sentence_b):
        minimum = 4.5 if color != theme.sentence_b else 3.0  # sentence B's hue names large letters and bars only
        assert contrast(color, theme.background) >= minimum
