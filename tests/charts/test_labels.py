"""Every token, word, stage and head that fits has its label: Vega drops neighbours' labels wherever a chart lets it."""

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.charts.bars import Row, bars
from selfattn.charts.butterfly import butterfly
from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.charts.kernel_steps import kernel_steps
from selfattn.charts.links import links
from selfattn.charts.theme import LIGHT
from selfattn.charts.vega import LABELS
from selfattn.charts.word_strip import word_strip
from selfattn.frames import drift_frame, heads_frame, stage_names
from tests.charts.scene import drawn

WORDS = [f"token{i}" for i in range(24)]
MANY = [f"token{i}" for i in range(LABELS)]
EVEN = [1 / 24] * 24


def strip(words):
    flags = {"chosen": [i == 1 for i in range(len(words))], "special": [i == 0 for i in range(len(words))]}
    columns = {"sentence": "A", "place": range(len(words)), "text": words, "weight": 1 / len(words), **flags}
    return pd.DataFrame(columns)


def steps():
    rows = pd.DataFrame({"key_pos": range(24), "key": WORDS, "value": EVEN})
    names = ("scores", "scaled", "masked", "weights", "share")
    both = [rows.assign(sentence=sentence, step=step) for step in names for sentence in "AB"]
    context = pd.DataFrame({"dimension": range(8), "value": [0.1] * 8})
    return kernel_steps(pd.concat(both), pd.concat(context.assign(sentence=name) for name in "AB"), LIGHT)


def map_of(words, **look):
    return heatmap(np.eye(len(words)), words, LIGHT, marked=[2], **look)


CHARTS = {
    "a map": lambda: (map_of(MANY), MANY, 2),
    "a map over two sentences": lambda: (map_of(WORDS, kind="signed", sides=["A", "B", *["both"] * 22]), WORDS, 2),
    "a small table": lambda: (heatmap(np.eye(12), WORDS[:12], LIGHT, cell=36), WORDS[:12], 2),
    "A against B": lambda: (
        butterfly(pd.DataFrame({"text": WORDS, "only": "", "a": 0.1, "b": 0.2, "chosen": False}), LIGHT, name=""),
        WORDS,
        1,
    ),
    "the steps": lambda: (steps(), WORDS, 10),
    "bars": lambda: (bars([Row("A", EVEN, WORDS, LIGHT.ink, 3)], LIGHT, width=430), WORDS, 1),
    "the curve": lambda: (
        drift_curve(drift_frame(one=torch.rand(26)), LIGHT, {"one": LIGHT.ink}),
        stage_names(24),
        1,
    ),
    "the map of heads": lambda: (
        head_map(heads_frame(effect=torch.rand(24, 16)), "effect", LIGHT, "L0 H0"),
        [*map(str, range(16)), *map(str, range(24))],
        1,
    ),
    "lines": lambda: (
        links(strip(WORDS).assign(source="L0 H0"), "token1", LIGHT, word_place=1, color=LIGHT.ink),
        WORDS,
        1,
    ),
    "words": lambda: (word_strip(strip(WORDS), LIGHT), WORDS, 1),
}


def shown(spec):
    """The texts that are painted: Vega makes those that it drops transparent."""
    items = [item for role in ("axis-label", "mark") for item in drawn(spec, "text", role)]
    return [item["text"] for item in items if item.get("opacity", 1) and item.get("fillOpacity", 1)]


@pytest.mark.parametrize("name", CHARTS)
def test_every_label_that_fits_is_painted(name):
    spec, labels, times = CHARTS[name]()
    painted = shown(spec)
    missing = {label: painted.count(label) for label in labels if painted.count(label) < times}
    assert not missing, (len(missing), len(labels))
