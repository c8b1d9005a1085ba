"""Charts: what they hold, that every spec is valid Vega-Lite, and that hostile tokens stay text."""

import io

import altair as alt
import numpy as np
import pandas as pd
import pytest
import torch
import vl_convert as vlc
from PIL import Image

from selfattn.charts.bars import Row, bars
from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT, THEMES
from selfattn.charts.word_strip import word_strip
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
    rows = [Row("A", [1.0, -np.inf], ["x", "x"], theme.sentence_a), Row("B", [0.5, -2.0], ["x", "x"], theme.sentence_b)]
    curve = pd.DataFrame({"curve": ["m"] * 3, "depth": range(3), "stage": ["a", "b", "c"], "similarity": [1, 0.5, 0.2]})
    return {
        "strip": word_strip(strip_data(), theme),
        "head_map": head_map(
            heads_frame(effect=torch.randn(3, 4), control=torch.randn(3, 4)), "effect", theme, "L1 H2"
        ),
        "step_bars": bars(rows, theme, width=118),
        "heatmap": heatmap(random_weights(12), HOSTILE, theme, marked=[3]),
        "signed heatmap": heatmap(random_weights(12) - 0.5, HOSTILE, theme, kind="signed"),
        "long heatmap": heatmap(random_weights(100), [*HOSTILE, *["the"] * 88], theme, marked=[3, 4]),
        "drift": drift_curve(curve, theme, {"m": theme.ink}),
    }


@pytest.mark.parametrize(
    "theme",
    [pytest.param(theme, id=name, marks=pytest.mark.long if name == "dark" else ()) for name, theme in THEMES.items()],
)
@pytest.mark.parametrize("name", all_charts(LIGHT))
@pytest.mark.slow
def test_every_chart_is_valid_and_draws(theme, name):
    spec = all_charts(theme)[name]
    alt.Root.validate(spec)
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
