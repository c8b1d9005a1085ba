"""Inside a head and All heads by AppTest: what they show at first, what each control changes, what bad input meets."""

import json
import re

import altair as alt
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest
from vl_convert import vegalite_to_svg

from pages.explore.all_heads.maps_and_lines import MEASURES
from selfattn import Head, numbers
from selfattn.analysis.steps import head_steps
from selfattn.captions.vectors import NOISE
from selfattn.encoders.families import FAMILIES, Family, save_tiny

from .conftest import APP

pytestmark = pytest.mark.slow

INSIDE, ALL = "pages/explore/inside_a_head/page.py", "pages/explore/all_heads/page.py"
LONG = " ".join(("The bank of the river was muddy after the rain " * 60).split()[:480])


def start(page, **state):
    at = AppTest.from_file(str(APP), default_timeout=120).run().switch_page(page).run()
    for key, value in state.items():
        at.session_state[key] = value
    return at.run() if state else at


def texts(at):
    return [element.value for element in at.get("text")]


def codes(at):
    return [element.value for element in at.get("code")]


def specs(at):
    return [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]


def titles(at):
    return [element.value for element in at.markdown]


def bars(spec):
    """The numbers of each row of a bar chart."""
    return [[point["v"] for point in row["layer"][0]["data"]["values"]] for row in spec["vconcat"]]


@pytest.fixture
def inside():
    return start(INSIDE, head="L0 H10")


# Inside a head


def test_every_step_stands_there_at_first(inside, encoder):
    assert not inside.exception and not inside.error
    steps = head_steps(encoder, encoder.encode("The bank of the river."), 0, 10)
    for step in steps.steps:
        assert step.code in codes(inside), step.name
    errors = [text for text in texts(inside) if "Largest difference to" in text]
    assert len(errors) == len(steps.steps) - 1  # the layer's input is the model's own
    shown = [float(found[1]) for text in errors if (found := re.search(r": (0[\d.]*);", text))]
    assert len(shown) == len(errors) and 0 < max(shown) < 1e-5
    assert any("The largest weight: river in A (0.62); [CLS] in B (0.31)." in text for text in texts(inside))


def test_the_bars_are_the_steps_numbers(inside, encoder):
    followed = [
        head_steps(encoder, encoder.encode(text), 0, 10)
        for text in ("The bank of the river.", "The bank approved the loan.")
    ]
    drawn = [bars(spec) for spec in specs(inside) if "layer" in spec["vconcat"][0]]
    for name in ("query", "scores", "weights"):
        expected = [steps[name].values[2].tolist() for steps in followed]
        assert any(
            len(rows) == 2 and all(row == pytest.approx(wanted, rel=1e-4) for row, wanted in zip(rows, expected))
            for rows in drawn
        ), name


def test_the_dot_product_is_written_out_with_the_chosen_key(inside, encoder):
    steps = head_steps(encoder, encoder.encode("The bank of the river."), 0, 10)
    assert any(
        numbers.decimal(float(steps.trace.scores[2, 5]), 3) in code and "sum, the score" in code
        for code in codes(inside)
    )
    at = inside.selectbox(key="with_a").set_value(3).run()
    assert any(
        numbers.decimal(float(steps.trace.scores[2, 3]), 3) in code and "sum, the score" in code for code in codes(at)
    )


@pytest.mark.parametrize("which", ["A", "B"])
def test_one_sentence_can_be_followed_alone(inside, which):
    at = inside.button_group(key="follow").set_value(which).run()
    assert not at.exception
    assert all(len(spec["vconcat"]) == 1 for spec in specs(at))
    assert {row["title"]["text"] for spec in specs(at) for row in spec["vconcat"]} == {which}


def test_the_choice_of_the_main_view_is_carried_over():
    at = AppTest.from_file(str(APP), default_timeout=120).run()
    at = at.select_slider(key="head").set_value("L3 H7").run()
    at = at.text_input(key="a").set_value("The old bank was closed.").run()
    at = at.switch_page(INSIDE).run()
    assert at.select_slider(key="head").value == "L3 H7"
    assert at.text_input(key="a").value == "The old bank was closed."


def test_of_a_split_word_one_piece_is_followed():
    at = start(INSIDE, a="The riverbanks were muddy.", b="The riverbanks were dry.")
    assert not at.exception
    picker = at.selectbox(key="piece_a")
    first = specs(at)[1]
    at = picker.set_value(3).run()
    assert not at.exception
    assert specs(at)[1] != first


def what_if(at, **switches):
    at.session_state["part"] = "What if"
    for key, value in switches.items():
        at.session_state[key] = value
    return at.run()


def test_nothing_is_changed_at_first(inside):
    at = what_if(inside)
    assert not at.exception
    for spec in specs(at):
        before, after = bars(spec)
        assert before == after
    assert any("cosine 1.000 to the real one" in text for text in texts(at))


@pytest.mark.parametrize("key", ["unscaled", "causal", "even", "alone"])
def test_each_switch_changes_the_weights(inside, key):
    head = {"head": "L3 H7"} if key == "alone" else {}  # in layer 0 nothing stands before the head
    at = what_if(inside, **{key: True}, **head)
    assert not at.exception
    for spec in specs(at):
        before, after = bars(spec)
        assert before != pytest.approx(after, abs=1e-3)
        assert sum(after) == pytest.approx(1, abs=1e-4)
    assert any("to the real one" in text for text in texts(at))
    assert any("as the only attention" in text for text in texts(at)) == (key == "alone")


def test_temperature_evens_out(inside):
    at = what_if(inside, temperature=5.0)
    before, after = bars(specs(at)[0])
    assert max(after) < max(before)


def test_four_ways_to_mask(inside):
    inside.session_state["part"] = "Four ways to mask"
    at = inside.run()
    assert not at.exception
    added, scores, weights, divided = (bars(spec)[0] for spec in specs(at))
    assert added[3:] == [0.0] * 5 and sum(added) == pytest.approx(1, abs=1e-4)
    assert min(scores[3:]) > 0
    assert sum(weights) < 0.9
    assert divided == pytest.approx(added, abs=1e-5)
    at = at.button_group(key="hidden_tokens").set_value("the special tokens").run()
    first = bars(specs(at)[0])[0]
    assert first[0] == 0 and first[-1] == 0 and first[5] > 0.6


def test_padding(inside):
    inside.session_state["part"] = "The padding mask"
    at = inside.run()
    assert not at.exception
    masked, weights = specs(at)[:2]
    signs = [layer for layer in masked["vconcat"][0]["layer"] if layer["mark"].get("text") == "−∞"]
    assert [point["i"] for point in signs[0]["data"]["values"]] == [8, 9, 10, 11]
    assert bars(weights)[0][8:] == [0.0] * 4
    assert any("Padding gets exactly 0" in text for text in texts(at))
    at = at.slider(key="padding").set_value(7).run()
    assert len(bars(specs(at)[1])[0]) == 15


@pytest.mark.parametrize("page", [INSIDE, ALL])
@pytest.mark.parametrize(
    ("a", "said"),
    [
        ("", "The text is empty"),
        ("Rivers!", "No word stands in both"),
        ("\u200b", "no token that the encoder can read"),
        (LONG * 2, "tokens"),
    ],
)
def test_bad_input_is_told_and_the_page_stands(page, a, said):
    at = start(page, a=a)
    assert not at.exception
    assert any(said in element.value for element in at.error)


@pytest.mark.parametrize(
    ("page", "words"),
    [(INSIDE, "<script>alert(1)</script> **constructor** if"), (ALL, "<script>alert(1)</script> **constructor** if")],
)
def test_hostile_words_stay_text(page, words):
    at = start(page, a=f"The bank $x^2$ :red[so] {words}")
    assert not at.exception and not at.error
    for element in [*at.markdown, *at.caption]:
        assert "script" not in element.value and "construct" not in element.value
    assert all("<svg" in vegalite_to_svg(spec) for spec in specs(at))


def test_an_encoder_that_is_shown_only_says_so(tmp_path, monkeypatch):
    folder = save_tiny(FAMILIES["DeBERTa-v2"], tmp_path)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = start(INSIDE)
    assert not at.exception
    assert any("can't be recomputed" in element.value for element in at.info)
    at = start(ALL)
    assert not at.exception and not at.error
    assert "effect" not in at.selectbox(key="measure").options


# All heads


def placed_heads(at):
    """The grid's rows: a head each, with its place in the picture."""
    for chart in at.get("vega_lite_chart"):
        for held in chart.proto.datasets:
            frame = convert_arrow_bytes_to_pandas_df(held.data.data)
            if {"name", "x", "y", "entropy"} <= set(frame.columns):
                return frame
    raise AssertionError("no grid on the page")


def test_an_encoder_with_fewer_heads_than_its_config_says_opens(tmp_path, monkeypatch):
    """Half of ConvBERT's heads are convolutions."""
    family = Family("ConvBERT", "convbert", "wordpiece", {"embedding_size": 16, "head_ratio": 2})
    folder = save_tiny(family, tmp_path)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = start(ALL)
    assert not at.exception and not at.error
    assert len(placed_heads(at)) == 3 * 2


def test_all_heads_at_first(encoder):
    at = start(ALL)
    assert not at.exception and not at.error
    assert placed_heads(at)["name"].nunique() == encoder.n_layers * encoder.n_heads
    assert any(text.startswith("Entropy: most in") for text in texts(at))
    assert any("named pattern" in text for text in texts(at))


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "entropy"])
def test_each_measure_colours_the_grid(measure):
    at = start(ALL, measure=measure)
    assert not at.exception
    assert any(text.startswith(f"{measure[0].upper()}{measure[1:]}: most in") for text in texts(at))


def test_effects_under_the_noise_of_a_precision_are_drawn_as_0(monkeypatch):
    effects = placed_heads(start(ALL, measure="effect")).set_index("name")["effect"]
    monkeypatch.setitem(NOISE, "float32", 0.005)
    at = start(ALL, measure="effect")
    shown = placed_heads(at).set_index("name")["effect"]
    assert shown.to_dict() == effects.where(effects.abs() >= 0.005, 0.0).to_dict()
    assert any(f"by about 0.005: {(shown == 0).sum()} of 72 heads lie under that" in text for text in texts(at))


def test_sorting_puts_the_most_first():
    at = start(ALL, measure="entropy", sorted=True)
    places = placed_heads(at).sort_values(["y", "x"])
    assert list(places["entropy"]) == sorted(places["entropy"], reverse=True)


@pytest.mark.parametrize("which", ["average", "rollout"])
def test_average_and_rollout_come_with_their_formula(which):
    at = start(ALL, map_of=which, head="L2 H3")
    assert not at.exception
    assert any("A^{(l" in title for title in titles(at))
    assert any("up to L2" in text or "average of L2" in text for text in texts(at))


def test_the_other_sentence():
    at = start(ALL, sentence="B")
    assert "loan" in json.dumps(specs(at)[1]) and "river" not in json.dumps(specs(at)[1])


def test_lines_from_the_word():
    at = start(ALL, tab="Lines from the word", head="L0 H10")
    assert not at.exception
    assert len(specs(at)) == 2
    assert any(text.startswith('"bank" gives most weight in L0 H10 to "river" (0.62)') for text in texts(at))
    at = at.multiselect(key="overlaid").set_value([]).run()
    assert any("Choose at least one head" in text for text in texts(at))


def test_lines_of_a_long_sentence_say_what_is_left_out():
    at = start(ALL, tab="Lines from the word", a=LONG)
    assert any("words are too many for lines" in text and "of the weight" in text for text in texts(at))


def test_attributions():
    at = start(ALL, tab="Attributions", head="L4 H2")
    assert not at.exception
    assert sum("Rank correlation over 5 words" in text for text in texts(at)) == 2
    assert any("They disagree most on" in text for text in texts(at))
    assert any("replaced by [MASK]" in text for text in texts(at))
    assert any("already mixtures" in caption.value for caption in at.caption)


def test_attributions_on_a_long_text_are_asked_for():
    at = start(ALL, tab="Attributions", a=" ".join(LONG.split()[:120]))
    assert not at.exception
    assert "takes minutes" in at.toggle(key="ask").label
    assert not specs(at)
    at = at.toggle(key="ask").set_value(True).run()
    assert sum("Rank correlation over" in text for text in texts(at)) == 2


def test_attributions_on_the_same_sentence_twice():
    at = start(ALL, tab="Attributions", b="The bank of the river.")
    assert not at.exception
    assert any("no difference to explain" in text for text in texts(at))


# A against B, on the main view


def test_the_aligned_difference_on_the_main_view():
    at = AppTest.from_file(str(APP), default_timeout=120)
    at.session_state["head"] = "L0 H10"
    at = at.run().button_group(key="view").set_value("A against B").run()
    assert not at.exception
    assert any('only in A: "river" 0.62' in text and 'only in B: "loan"' in text for text in texts(at))
    assert any(
        "Words that stand in both sentences take 60 % of the weight in A and 68 % in B" in text for text in texts(at)
    )
    assert any('"bank" itself differs most in what it gives "[CLS]" (−0.19)' in text for text in texts(at))
    at = at.toggle(key="hide").set_value(True).run()
    assert not at.exception
    assert any("Special tokens hidden" in text for text in texts(at))
    assert any('"bank" itself differs most in what it gives' in text and "[CLS]" not in text for text in texts(at))


def test_the_aligned_difference_can_be_downloaded(encoder):
    from pages.explore.two_sentences.words_and_maps import against, against_figure
    from selfattn.dashboard.choice import Choice, Occurrence, Pair

    a, b = encoder.encode("The bank of the river."), encoder.encode("The bank approved the loan.")
    pair = Pair(Occurrence(a, a.words[1]), Occurrence(b, b.words[1]), None)
    choice = Choice(encoder, pair, Head(0, 10))
    svg = vegalite_to_svg(against_figure(choice, against(choice, False)))
    assert svg.count(">river<") == 3 and ">approved<" in svg  # in the strip, and on both axes


# The pictures


def test_every_spec_is_valid(inside):
    for at in (
        inside,
        start(ALL, sorted=True),
        start(ALL, tab="Attributions"),
        start(ALL, tab="Lines from the word"),
    ):
        for spec in specs(at):
            alt.Chart.from_dict(spec)


def test_two_segments_are_read_as_one_text():
    at = start(ALL, sentence="A and B as one text")
    assert not at.exception and not at.error
    assert "effect" not in at.selectbox(key="measure").options
    labels = [json.dumps(spec) for spec in specs(at)]
    assert any("river" in label and "approved" in label for label in labels), "one map holds both sentences"


def test_the_card_shows_words_and_hides_special_tokens():
    at = start(ALL, a="Electroencephalographers of the bank.", words=True, hide=True)
    assert not at.exception and not at.error
    assert any("Electroencephalographers" in json.dumps(spec) for spec in specs(at))
    assert any(text.startswith("Special tokens hidden:") for text in texts(at))
