"""Test the map of all heads."""

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image

from selfattn.charts.head_map import head_grid, head_map, one_picture, thumbnail
from selfattn.charts.theme import LIGHT
from selfattn.tidy_tables import heads_frame
from tests.charts.scene import drawn, on_ramp, same_color, texts

LAYERS, HEADS = 3, 5
EFFECT = torch.linspace(-0.4, 1.0, LAYERS * HEADS).reshape(LAYERS, HEADS)
FRAME = heads_frame(effect=EFFECT, control=-EFFECT, entropy=EFFECT.abs())
MAPS = [np.eye(4) * (i + 1) for i in range(LAYERS * HEADS)]


@pytest.mark.parametrize("maximum", [0.9, 0.0176, 0.0068, 3e-6])
@pytest.mark.parametrize("measure", ["effect", "share"])
def test_tick_labels_are_distinct(maximum, measure):
    """With two decimals, the labels would be "+0.01, +0.01, +0.00"."""
    frame = heads_frame(**{measure: torch.tensor([[maximum, -maximum / 3], [0.0, maximum / 2]])})
    ticks = texts(head_map(frame, measure, LIGHT, "L0 H0"), "legend-label")
    assert len(ticks) >= 3 and len(set(ticks)) == len(ticks), ticks
    assert max(len(tick) for tick in ticks) <= 10, ticks


@pytest.mark.parametrize(("measure", "kind"), [("effect", "effect"), ("control", "signed"), ("entropy", "weights")])
def test_head_is_in_row_of_its_layer(measure, kind):
    spec = head_map(FRAME, measure, LIGHT, "L1 H3", kind=kind)
    found = [item for item in drawn(spec, "rect") if item.get("stroke") != LIGHT.ink]
    step, down = found[0]["width"], found[0]["height"]
    values = np.array(FRAME[measure]).reshape(LAYERS, HEADS)
    largest = np.abs(values).max()
    for item in found:
        layer, head = int(item["y"] / down + 0.5), int(item["x"] / step + 0.5)
        share = values[layer, head] / largest if kind == "weights" else (values[layer, head] / largest + 1) / 2
        assert same_color(item["fill"], on_ramp(getattr(LIGHT, kind), share)), (layer, head)
        assert item["description"].startswith(f"L{layer} H{head}")
    assert len(found) == LAYERS * HEADS
    formats = {tip["field"]: tip.get("format") for tip in spec["layer"][0]["encoding"]["tooltip"]}
    assert formats == {"name": None, "effect": "+.4f", "control": "+.4f", "entropy": ".3f"}


def test_each_head_has_attention_map_and_bar():
    spec = head_grid(MAPS, FRAME, "effect", LIGHT, "L1 H3", "effect")
    outlines, bars = (drawn(spec, "rect")[at::2] for at in (0, 1))
    for bar, value in zip(bars, FRAME["effect"], strict=True):
        assert bar["width"] == pytest.approx(88 * abs(value), abs=0.02)
        assert same_color(bar["fill"], LIGHT.effect[3 if value >= 0 else 1]), value
    assert [line["stroke"] == LIGHT.ink for line in outlines].index(True) == 8  # L1 H3
    for line, image, bar in zip(outlines, drawn(spec, "image"), bars, strict=True):
        assert (image["x"], image["y"]) == pytest.approx((line["x"] + 1, line["y"] + 1))
        assert image["width"] == image["height"] == 88 and bar["y"] > image["y"] + 88
        assert bar["x"] == pytest.approx(image["x"], abs=0.02)
    assert texts(spec)[-1] == "Bar below each map: effect. A full bar is 1."


def test_thumbnail_keeps_peaks():
    weights = np.zeros((500, 500))
    weights[437, 19] = 0.5
    small = thumbnail(weights, 40)
    assert small.shape == (40, 40) and (small > 0).sum() == 1
    (row,), (column,) = np.nonzero(small)
    assert small[row, column] == 255 and 437 in range(row * 500 // 40, (row + 1) * 500 // 40 + 1) and column == 1
    larger = thumbnail(np.array([[1.0, 0.0], [0.5, 1.0]]), 4)
    assert larger.tolist() == [[255, 255, 0, 0]] * 2 + [[128, 128, 255, 255]] * 2


def test_picture_stores_weights_as_opacity():
    maps = [np.full((2, 2), 0.5), np.eye(2), np.array([[1.0, 0.5], [0.0, 0.0]])]
    uri = one_picture([*maps, np.eye(2)], 2, 2)
    image = Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1])))
    assert image.mode == "LA" and not np.asarray(image)[..., 0].any()
    assert np.asarray(image)[..., 1].tolist() == [
        [255, 255, 255, 0],
        [255, 255, 0, 255],
        [255, 128, 255, 0],
        [0, 0, 0, 255],
    ]


def test_wide_map_fits_490_pixels():
    cells = drawn(head_map(heads_frame(effect=torch.rand(2, 64)), "effect", LIGHT, ""), "rect")
    assert max(cell["x"] + cell["width"] for cell in cells) <= 490
