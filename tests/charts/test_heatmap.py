"""Test the heatmap."""

import base64
import io
import json

import numpy as np
import pytest
import vl_convert as vlc
from PIL import Image

from selfattn.charts.heatmap import heatmap, image_uri
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import palette
from tests.charts.scene import drawn, on_ramp, same_color, texts

SIZE = 400
MATRIX = np.array([[0.1, 0.9, 0.0], [0.5, 0.2, 0.3]])  # not square, so that the tests notice swapped axes


def cells(spec):
    """Return each cell's rectangle by (row, column)."""
    rects = [item for item in drawn(spec, "rect") if "fill" in item and item["width"] < SIZE]
    across, down = rects[0]["width"], rects[0]["height"]
    return {(round(item["y"] / down), round(item["x"] / across)): item for item in rects}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_numbers_on_deep_colours_are_written_in_background_colour(theme):
    spec = heatmap(MATRIX, ["a", "b"], theme, columns=["c", "d", "e"], cell=40)
    inks = {item["text"]: item["fill"] for item in drawn(spec, "text")}
    assert same_color(inks["0.90"], theme.background) and same_color(inks["0.10"], theme.ink)
    assert same_color(inks["0.50"], theme.ink), "0.50 is less than 60 per cent of the maximum"


@pytest.mark.parametrize("kind", ["signed", "effect"])
def test_signed_ramp_has_background_colour_at_zero(kind):
    spec = heatmap(np.array([[-0.25, 0.5], [0.0, 0.1]]), ["a", "b"], LIGHT, kind=kind)
    ramp, found = getattr(LIGHT, kind), cells(spec)
    assert same_color(found[1, 0]["fill"], LIGHT.background)
    assert same_color(found[0, 1]["fill"], ramp[-1])
    assert same_color(found[0, 0]["fill"], on_ramp(ramp, 0.25))


@pytest.mark.parametrize(("scale", "label"), [(1.0, "+0.40"), (1e-8, "+0.000000004")])
def test_legend_prints_tiny_numbers(scale, label):
    spec = heatmap(np.array([[0.4, -0.4], [0.1, 0]]) * scale, ["a", "b"], LIGHT, kind="signed")
    assert label in texts(spec, "legend-label")


@pytest.mark.parametrize(
    ("kind", "labels"), [("weights", ["0", "0.25", "0.49", "0.74"]), ("signed", ["−0.74", "0", "+0.74"])]
)
def test_legend_ends_with_largest_number(kind, labels):
    assert (
        texts(heatmap(np.array([[0.74, -0.3]]), ["a"], LIGHT, columns=["b", "c"], kind=kind), "legend-label") == labels
    )


@pytest.mark.parametrize(("legend", "shown"), [("", "weight"), ("share", "share")])
def test_legend_has_title(legend, shown):
    spec = heatmap(MATRIX, ["a", "b"], LIGHT, columns=["c", "d", "e"], legend=legend)
    assert texts(spec, "legend-title") == [shown]


def test_odd_words_keep_spelling():
    words = ['"', "if", "\\", "<script>alert(1)</script>", "datum.x", "${x}", "constructor", "银行", "the", "the"]
    spec = heatmap(np.eye(10), words, LIGHT)
    assert len(cells(spec)) == 100
    assert texts(spec, "axis-label") == words * 2
    svg = vlc.vegalite_to_svg(spec)
    assert "<script>" not in svg and "&lt;script&gt;alert(1)&lt;/" in svg


def decoded(uri):
    return Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1])))


def test_large_maps_are_images():
    rng = np.random.default_rng(0)
    weights = rng.random((65, 65))
    assert "cells" in heatmap(weights[:64, :64], ["a"] * 64, LIGHT)["datasets"]
    spec = heatmap(weights, [f"w{i}" for i in range(65)], LIGHT, marked=[3], size=SIZE)
    assert "cells" not in spec["datasets"] and len(drawn(spec, "image")) == 1
    levels = np.asarray(decoded(spec["datasets"]["picture"][0]["url"]), float)
    assert levels.shape == (65, 65) and np.abs(levels - weights / weights.max() * 255).max() <= 1
    best = np.argsort(-weights[7])[:5]
    assert spec["datasets"]["rows"][7]["largest"] == weights[7].max()
    assert spec["datasets"]["rows"][7]["most"] == ", ".join(f"w{j} {weights[7, j]:.2f}" for j in best)
    assert len(json.dumps(heatmap(np.full((512, 512), 1 / 512), ["the"] * 512, LIGHT))) < 1_000_000


def test_palette_rounds_colours():
    assert palette(("#000000", "#000001"))[2::3] == [0] * 128 + [1] * 128


def test_image_has_colours_of_ramp():
    shown = decoded(image_uri(np.array([[0.0, 0.5, 1.0]]), LIGHT, "weights", 1.0)).convert("RGB")
    assert [shown.getpixel((x, 0)) for x in (0, 2)] == [(255, 255, 255), (8, 48, 107)]
    shown = decoded(image_uri(np.array([[-1.0, np.nan, 1.0]]), DARK, "signed", 1.0)).convert("RGB")
    assert all(abs(a - b) <= 4 for a, b in zip(shown.getpixel((1, 0)), (15, 19, 26)))
    assert same_color(shown.getpixel((0, 0)), DARK.signed[0]) and same_color(shown.getpixel((2, 0)), DARK.signed[-1])
