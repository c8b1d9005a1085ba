"""The main view's own pictures: the six steps as one figure, A against B."""

import math
from collections import Counter

import pandas as pd
import pytest
import torch
from vl_convert import vegalite_to_scenegraph, vegalite_to_svg

from selfattn import attend
from selfattn.charts.butterfly import butterfly
from selfattn.charts.head_map import head_map, outlined
from selfattn.charts.heatmap import heatmap
from selfattn.charts.kernel_steps import PALE, STEPS, UNCHANGED, code_lines, kernel_steps, title
from selfattn.charts.theme import DARK, LIGHT, THEMES
from selfattn.charts.vega import updatable
from selfattn.charts.word_strip import word_strip
from selfattn.tidy_tables import against_frame, context_columns, heads_frame, steps_frame, strip_frame
from tests.charts.conftest import HEAD, LAYER
from tests.charts.scene import drawn, texts

TITLES = {step: title(step, at) for at, step in enumerate(STEPS, start=1)}


# A picture that stays while another head is chosen


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


def test_a_steady_chart_draws_the_same_marks_and_one_unseen_that_says_the_reading(followed, sides):
    words = pd.concat([strip_frame(s.encoding, s.weights[s.word.start], s.word, name) for name, s in sides.items()])
    heads = heads_frame(share=torch.linspace(-0.2, 0.4, 6).view(2, 3))
    for spec in (
        kernel_steps(*followed, LIGHT),
        word_strip(words, LIGHT),
        outlined(head_map(heads, "share", LIGHT, ""), "L1 H2"),
        heatmap(torch.eye(3) * 0.4, ["a", "b", "c"], LIGHT, marked=[1], title="A   L1 H2"),
    ):
        before, after = every_mark(spec), every_mark(updatable(spec, "what is to be seen"))
        assert before.total() > 20 and not before - after
        (unseen,) = [item for kind, _, item in after - before if kind == "text"]
        assert "'what is to be seen'" in unseen and "('opacity', 0)" in unseen and "('text'" not in unseen


def test_steady_charts_of_two_heads_differ_in_their_records_only(followed):
    steps, context = followed
    one = updatable(kernel_steps(steps, context, LIGHT), "one head")
    other = updatable(kernel_steps(steps.assign(value=steps["value"] * 3), context, LIGHT), "another")
    assert one.pop("datasets") != other.pop("datasets")
    assert one == other


# The six steps


@pytest.fixture(scope="module")
def followed(sides):
    """The steps and the context of the word's row in both sentences, made by the kernel."""
    steps, contexts = [], []
    for name, side in sides.items():
        trace = side.encoding.trace(LAYER, HEAD, slice(side.word.start, side.word.stop))
        steps.append(steps_frame(trace, range(1), side.encoding.tokens, name))
        contexts.append(pd.DataFrame(context_columns(trace, range(1), name)))
    return pd.concat(steps), pd.concat(contexts)


def views(spec):
    """(step, sentence) -> its view."""
    columns = spec["vconcat"][0]["hconcat"]
    pairs = zip(STEPS, columns, strict=True)
    return {(step, name): view for step, column in pairs for name, view in zip("AB", column["vconcat"])}


def test_a_and_b_share_a_scale_in_each_step_and_no_two_steps_must(followed):
    domains = {}
    for (step, _), view in views(kernel_steps(*followed, LIGHT)).items():
        x = view["layer"][1]["encoding"]["x"] if "layer" in view else view["encoding"]["x"]
        domains.setdefault(step, []).append(x["scale"]["domain"])
    for step, (first, second) in domains.items():
        assert first == second and first[0] <= 0 <= first[1], step
    assert domains["scores"] != domains["weights"]


def test_the_token_under_the_cursor_is_lit_in_every_step(followed):
    spec = kernel_steps(*followed, LIGHT)
    shown, token = spec["params"]
    lit = [view["layer"][0] for view in views(spec).values() if "layer" in view]
    assert sorted(token["views"]) == sorted(layer["name"] for layer in lit) and len(lit) == 10
    assert token["select"]["on"] == "pointerover" and token["select"]["fields"] == ["sentence", "key_pos"]
    assert all(layer["encoding"]["opacity"]["condition"]["param"] == "token" for layer in lit)
    assert all(
        {"sentence", "key_pos"} <= set(row) for v in views(spec).values() if "layer" in v for row in v["data"]["values"]
    )
    assert shown["bind"]["input"] == "radio" and shown["bind"]["options"] == [1, 2, 3, 4, 5, 6] and shown["value"] == 6
    assert shown["bind"]["labels"][:2] == ["1 scores", "2 scaled"]


@pytest.mark.parametrize("now", [1, 4])
@pytest.mark.slow
def test_a_button_lights_a_step_and_its_lines_of_the_kernel(followed, now):
    spec = kernel_steps(*followed, LIGHT)
    spec["params"][0]["value"] = now
    titles = [item["text"] for item in drawn(spec, "text", "title-text") if item["fill"] == LIGHT.ink]
    assert {*titles} & {*TITLES.values()} == {TITLES[STEPS[now - 1]]}
    bars = [item for item in drawn(spec, "rect") if item.get("fill") in (LIGHT.sentence_a, LIGHT.sentence_b)]
    assert {item["opacity"] for item in bars} == {1, PALE}
    code = [item for item in drawn(spec, "text") if item.get("font") == "monospace"]
    lit = [item["text"] for item in code if item["fill"] == LIGHT.ink]
    assert lit == [line["text"] for line in code_lines() if line["first"] <= now <= line["last"]] and lit


def test_a_familys_terms_are_steps_between_scaled_and_masked(encoder_of):
    encoder = encoder_of("DeBERTa-v3")
    steps, contexts = [], []
    for name, text in (("A", "The bank of the river."), ("B", "The bank gave a loan.")):
        encoding = encoder.encode(text)
        trace = encoding.trace(1, 2, slice(2, 3))
        steps.append(steps_frame(trace, range(1), encoding.tokens, name))
        contexts.append(pd.DataFrame(context_columns(trace, range(1), name)))
    spec = kernel_steps(pd.concat(steps), pd.concat(contexts), LIGHT)
    shown = spec["params"][0]["bind"]
    assert shown["labels"] == [
        "1 scores", "2 scaled", "3 content to position", "4 position to content", "5 masked", "6 weights",
        "7 share of weights × V", "8 context",
    ]  # fmt: skip
    columns = spec["vconcat"][0]["hconcat"]
    drawn_terms = [[row["value"] for row in columns[at]["vconcat"][1]["data"]["values"]] for at in (2, 3)]
    assert drawn_terms == [term.values[0].tolist() for term in trace.terms]
    lit = {line["text"].split(" = ")[0]: (line["first"], line["last"]) for line in spec["vconcat"][1]["data"]["values"]}
    assert (lit["masked"], lit["maximum"], lit["scale"], lit["context"]) == ((3, 5), (6, 6), (2, 2), (7, 8))
    assert vegalite_to_svg(spec).count("content to position") >= 1


def test_the_kernels_ten_lines_run_and_make_the_weights():
    lines = code_lines()
    assert len(lines) == 10 and {i for line in lines for i in range(line["first"], line["last"] + 1)} == {*range(1, 7)}
    query, key, value = torch.rand(3, 2), torch.rand(4, 2), torch.rand(4, 2)
    names = {"query": query, "key": key, "value": value, "math": math, "torch": torch}
    names |= {"mask": None, "scale": None, "terms": ()}
    exec("from selfattn.kernel import add_mask\n" + "\n".join(line["text"] for line in lines), names)
    assert torch.equal(names["context"], attend(query, key, value).context)


@pytest.mark.slow
def test_a_step_that_changes_nothing_says_so_and_one_that_does_does_not(followed):
    steps, context = followed

    def said(frame):
        every = views(kernel_steps(frame, context, LIGHT))
        return {step: every[step, "A"]["title"]["subtitle"] for step in STEPS}

    assert said(steps) == {step: UNCHANGED if step == "masked" else "" for step in STEPS}
    hidden = steps.copy()
    hidden.loc[(hidden["step"] == "masked") & (hidden["key_pos"] == 1), "value"] = -math.inf
    assert set(said(hidden).values()) == {""}
    assert "−∞" in texts(kernel_steps(hidden, context, DARK))


# A against B


@pytest.fixture(scope="module")
def against(sides):
    return against_frame(*(strip_frame(s.encoding, s.weights[s.word.start], s.word, name) for name, s in sides.items()))


def test_each_word_has_its_weight_in_both_sentences_in_one_order(against, sides):
    assert against["text"].tolist() == [
        "[CLS]", "The", "crane", "lifted", "a", "steel", "beam", "spread", "its", "wings", ".", "[SEP]",
    ]  # fmt: skip
    assert against["only"].tolist() == ["", "", "", *"AAAABBB", "", ""]
    assert against["a"].dropna().tolist() == pytest.approx(sides["A"].weights[2].tolist())
    assert against["b"].dropna().tolist() == pytest.approx(sides["B"].weights[2].tolist())
    assert against.loc[against["chosen"], "text"].tolist() == ["crane"]


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_words_bars_go_left_for_a_and_right_for_b_in_the_colour_of_who_has_it(against, theme):
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
