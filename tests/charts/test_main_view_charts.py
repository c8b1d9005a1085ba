"""The main view's own pictures: those that stay while another head is chosen, A against B."""

from collections import Counter

import pytest
import torch
from vl_convert import vegalite_to_scenegraph

from selfattn.charts.bars import butterfly
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import DARK, LIGHT
from selfattn.charts.vega import updatable
from selfattn.tidy_tables import against_frame, heads_frame, strip_frame
from tests.charts.scene import drawn


@pytest.fixture(scope="module")
def against(sides):
    return against_frame(*(strip_frame(s.encoding, s.weights[s.word.start], s.word, name) for name, s in sides.items()))


def every_mark(spec):
    """All that Vega lays out, axes, legends and titles too: kind, role, and the item without what is inside it."""
    found = []

    def walk(node):
        for item in node.get("items", []):
            own = {key: value for key, value in item.items() if key != "items"}
            found.append((node.get("marktype"), node.get("role"), repr(sorted(own.items(), key=str))))
            walk(item) if node.get("marktype") != "group" else [walk(inner) for inner in item.get("items", [])]

    walk(vegalite_to_scenegraph(spec)["scenegraph"])
    return Counter(found)


def test_a_steady_chart_draws_the_same_marks_and_one_unseen_that_says_the_reading(against):
    heads = heads_frame(share=torch.linspace(-0.2, 0.4, 6).view(2, 3))
    for spec in (
        butterfly(against, LIGHT, name="L1 H2"),
        head_map(heads, "share", LIGHT, "L1 H2"),
        heatmap(torch.eye(3) * 0.4, ["a", "b", "c"], LIGHT, marked=[1], title="A   L1 H2"),
    ):
        before, after = every_mark(spec), every_mark(updatable(spec, "what is to be seen"))
        assert before.total() > 20 and not before - after
        (unseen,) = [item for kind, _, item in after - before if kind == "text"]
        assert "'what is to be seen'" in unseen and "('opacity', 0)" in unseen and "('text'" not in unseen


def test_each_word_has_its_weight_in_both_sentences_and_the_words_of_one_are_named(against, sides):
    assert against["text"].tolist() == [
        "[CLS]", "The", "crane", "lifted", "a", "steel", "beam", "spread", "its", "wings", ".", "[SEP]",
    ]  # fmt: skip
    assert against["only"].tolist() == ["", "", "", *"AAAABBB", "", ""]
    assert against["a"].dropna().tolist() == pytest.approx(sides["A"].weights[2].tolist())
    assert against["b"].dropna().tolist() == pytest.approx(sides["B"].weights[2].tolist())
    assert against.loc[against["chosen"], "text"].tolist() == ["crane"]


def test_a_words_bars_go_left_for_a_and_right_for_b_in_the_colour_of_who_has_it(against):
    theme = DARK
    spec = butterfly(against, theme, name="L3 H7")
    bars = drawn(spec, "rect")
    middle = spec["width"] / 2
    left = [bar for bar in bars if bar["x"] < middle - 1e-6]
    right = [bar for bar in bars if bar not in left]
    unit = middle / 1.25 / against[["a", "b"]].max().max()
    for side, drawn_bars, hue in (("a", left, theme.sentence_a), ("b", right, theme.sentence_b)):
        rows = against.dropna(subset=side)
        assert [bar["width"] for bar in drawn_bars] == pytest.approx((rows[side] * unit).tolist(), abs=0.01)
        assert [bar["fill"] for bar in drawn_bars] == [hue if only else theme.muted for only in rows["only"]]
    labels = {item["text"]: item["fill"] for item in drawn(spec, "text", "axis-label")}
    assert (labels["steel"], labels["wings"], labels["crane"]) == (theme.sentence_a, theme.sentence_b, theme.muted)
