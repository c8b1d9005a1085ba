"""Test the colours for contrast and for colour-blind readers.

Sources: Machado, Oliveira and Fernandes 2009, table 1 (severity 1.0, linear RGB); CIELAB (D65); WCAG 2.2, 1.4.3.
"""

import numpy as np
import pytest

from selfattn.charts.theme import DARK, LIGHT

SEEN_BY = {
    "everyone": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])

pytestmark = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def linear(color):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(color, seen_by="everyone"):
    seen = np.clip(np.asarray(SEEN_BY[seen_by]) @ linear(color), 0, 1)
    xyz = TO_XYZ @ seen / TO_XYZ.sum(axis=1)
    root = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(first, second, seen_by):
    return float(np.linalg.norm(lab(first, seen_by) - lab(second, seen_by)))


def contrast(first, second):
    light, dark = sorted((TO_XYZ[1] @ linear(color) for color in (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("seen_by", SEEN_BY)
def test_lightness_changes_steadily_along_ramp(theme, seen_by):
    ramps = [theme.weights, *(arm for ramp in (theme.signed, theme.effect) for arm in (ramp[2::-1], ramp[2:]))]
    for ramp in ramps:
        steps = np.diff([lab(color, seen_by)[0] for color in ramp])
        assert (np.abs(steps) > 4).all() and len(set(np.sign(steps))) == 1, ramp
    assert theme.weights[0] == theme.effect[2] == theme.signed[2] == theme.background


@pytest.mark.parametrize("seen_by", SEEN_BY)
def test_colour_blind_readers_can_distinguish_colours(theme, seen_by):
    for ramp in (theme.signed, theme.effect):
        assert distance(ramp[0], ramp[-1], seen_by) > 25
        assert distance(ramp[1], ramp[-2], seen_by) > 25
    assert distance(theme.sentence_a, theme.sentence_b, seen_by) > 25


def test_text_has_enough_contrast(theme):
    for ground in (theme.background, theme.panel):
        assert contrast(theme.ink, ground) > 7
        for color in (theme.muted, theme.sentence_a, theme.sentence_b):
            assert contrast(color, ground) >= 4.5, color
