"""Inside a head and All heads by AppTest: what they show at first, what each control changes, what bad input meets."""

import re
from urllib.parse import parse_qs

import altair as alt
import pytest
import torch
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from vl_convert import vegalite_to_svg

from selfattn import load_encoder, numbers
from selfattn.analysis.measures import Compared
from selfattn.analysis.patterns import fits, nearest_first
from selfattn.analysis.steps import head_steps
from selfattn.analysis.swapping import swap_pair
from selfattn.captions import attention as captions
from selfattn.captions.vectors import NOISE, OF_PAIR_SWAPS
from selfattn.encoders.families import FAMILIES, Family, save_tiny
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.stored_reports import stored

from .conftest import open_link, open_page
from .pictures import spec_of

pytestmark = pytest.mark.slow

INSIDE, ALL = "pages/explore/inside_a_head/page.py", "pages/explore/all_heads/page.py"
LONG = " ".join(("The bank of the river was muddy after the rain " * 60).split()[:480])


BANKS = dict(zip("abc", REAL.sentences))  # what is in the address goes before the pages' own first pair


def start(page, **state):
    at = open_page(page)
    for key, value in state.items():
        at.session_state[key] = value
    return at.run() if state else at


def texts(at):
    return [element.value for element in at.get("text")]


def codes(at):
    return [element.value for element in at.get("code")]


def specs(at):
    return [spec_of(chart) for chart in at.get("vega_lite_chart")]


@pytest.fixture
def inside():
    return start(INSIDE, head="L0 H10", **BANKS)


# Inside a head


def rail(at):
    return at.button_group(key="step")


def test_every_step_stands_in_the_rail_and_one_is_shown(inside, encoder):
    assert not inside.error
    steps = head_steps(encoder, encoder.encode("The bank of the river."), 0, 10)
    assert rail(inside).options == [step.name for step in steps.steps] and rail(inside).value == "input"
    errors = []
    for step in steps.steps:
        at = rail(inside).set_value(step.name).run()
        assert [code for code in codes(at) if code.startswith(("def", "import"))] == [step.code]
        errors += [text for text in texts(at) if "Largest difference to" in text]
    assert len(errors) == len(steps.steps) - 1  # the layer's input is the model's own
    shown = [float(found[1]) for text in errors if (found := re.search(r": (0[\d.]*);", text))]
    assert len(shown) == len(errors) and 0 < max(shown) < 1e-5


def test_the_buttons_step_and_end_where_the_steps_end(inside):
    assert inside.button(key="arrow_back").disabled
    at = inside.button(key="arrow_forward").click().run()
    assert rail(at).value == "query"
    at = at.button(key="arrow_back").click().run()
    assert rail(at).value == "input"
    at = rail(at).set_value("output").run()
    assert at.button(key="arrow_forward").disabled and not at.button(key="arrow_back").disabled


def test_a_step_that_this_head_has_not_got_is_said():
    at = open_link("inside-a-head", step="turned query")
    assert rail(at).value == "input"
    assert any("asks for the step" in warning.value for warning in at.warning)


def test_the_dot_product_opens_on_the_largest_key_until_another_is_chosen(inside, encoder):
    def written(at, steps, key):
        score = numbers.decimal(float(steps.trace.scores[2, key]), 3)
        return any(score in code and "sum, the score" in code for code in codes(at))

    at = rail(inside).set_value("scores").run()
    encoding = encoder.encode("The bank of the river.")
    steps, other = head_steps(encoder, encoding, 0, 10), head_steps(encoder, encoding, 3, 7)
    first, then = (int(one.trace.scores[2].argmax()) for one in (steps, other))
    assert first != then and at.selectbox(key="with_a").value == first and written(at, steps, first)
    at = at.select_slider(key="head").set_value("L3 H7").run()
    assert at.selectbox(key="with_a").value == then and written(at, other, then)
    at = at.selectbox(key="with_a").set_value(3).run()
    assert written(at, other, 3)
    at = at.select_slider(key="head").set_value("L0 H10").run()
    assert at.selectbox(key="with_a").value == 3 and written(at, steps, 3)


@pytest.mark.usefixtures("quickly_ranked")
def test_the_choice_of_the_main_view_is_carried_over():
    at = open_link()
    at = at.select_slider(key="head").set_value("L3 H7").run()
    at = at.text_input(key="a").set_value("The old bank was closed.").run()
    at = at.switch_page(INSIDE).run()
    assert at.select_slider(key="head").value == "L3 H7"
    assert at.text_input(key="a").value == "The old bank was closed."


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
    assert any(said in element.value for element in at.error)


@pytest.mark.parametrize(
    ("page", "words"),
    [(INSIDE, "<script>alert(1)</script> **constructor** if"), (ALL, "<script>alert(1)</script> **constructor** if")],
)
@pytest.mark.usefixtures("quickly_ranked")
def test_hostile_words_stay_text(page, words):
    at = start(page, a=f"The bank $x^2$ :red[so] {words}")
    assert not at.error
    for element in [*at.markdown, *at.caption]:
        assert "script" not in element.value and "construct" not in element.value
    assert all("<svg" in vegalite_to_svg(spec) for spec in specs(at))


def test_an_encoder_that_is_shown_only_says_so(tmp_path, monkeypatch):
    folder = save_tiny(FAMILIES["XLNet"], tmp_path)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = start(INSIDE)
    assert any("can't be recomputed" in element.value for element in at.info)
    at = start(ALL)
    assert not at.error
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
    assert not at.error
    assert len(placed_heads(at)) == 3 * 2


def profile_lines(at):
    (found,) = [element.value for element in at.markdown if element.value.startswith("In these it attends most")]
    return re.findall(r"^- \[(.*)\]\(\./\?(.*)\)$", found, re.M)


def test_the_passport_is_the_stored_report_of_the_chosen_head(encoder):
    at = start(ALL, head="L5 H7")
    report = stored("head_profiles", encoder, labelled_sentences()).report
    own = report.sentences.query("layer == 5 and head == 7")
    patterns = report.patterns.query("layer == 5 and head == 7").iloc[0]
    assert captions.head_profile(nearest_first(patterns), "L5 H7", "Over 768 labelled sentences") in texts(at)
    lines = profile_lines(at)
    frame = labelled_sentences().loc[own["row"]]
    for (label, query), place, row in zip(lines, own.itertuples(), frame.itertuples(), strict=True):
        assert label.replace("\\", "") == f"{numbers.weight(place.weight)} {row.word} → {place.to}: {row.sentence}"
        asked = {key: value for key, (value,) in parse_qs(query, keep_blank_values=True).items()}
        assert (asked["a"], asked["word"], asked["head"]) == (row.sentence, row.word, "L5 H7")
        senses = labelled_sentences().set_index("sentence")["sense"]
        assert senses[asked["b"]] != row.sense == senses[asked["c"]] and asked["c"] != row.sentence
    main = open_link(**{key: value for key, (value,) in parse_qs(lines[1][1]).items()})
    assert not main.error
    assert main.text_input(key="a").value == frame.iloc[1]["sentence"]
    assert main.select_slider(key="head").value == "L5 H7"
    assert f'"{own.iloc[1]["to"]}"' in " ".join(texts(main))


def test_an_encoder_without_a_stored_passport_has_this_sentences(tmp_path, monkeypatch):
    folder = save_tiny(FAMILIES["BERT"], tmp_path)
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = start(ALL, head="L1 H1", **BANKS)
    other = load_encoder(str(folder), trusted=True)
    encoding = other.encode("The bank of the river.")
    assert captions.head_profile(fits(encoding.weights(1, 1), encoding), "L1 H1", "In this sentence") in texts(at)
    assert not any("labelled" in text for text in texts(at))


@pytest.mark.parametrize("measure", ["swap, A from B", "swap, B from A"])
def test_of_the_same_sentence_twice_no_head_can_move_a_word(measure):
    at = start(ALL, measure=measure, a="The bank.", b="The bank.", c="", word="bank")
    assert 'The two "bank" vectors have cosine 1.00. They are the same: no head can move one.' in texts(at)
    assert "swap, A from control" not in at.selectbox(key="measure").options


def test_swaps_under_the_noise_of_a_precision_are_drawn_as_0(encoder, monkeypatch):
    """The noise of a share is that of the squared way: the shorter the way, the larger."""
    a, b = (encoder.encode(text).places("bank")[0] for text in PAIRS[0].sentences[:2])
    way = 2 * (1 - Compared({"A": a, "B": b}, None, None).cosine)
    share = swap_pair(encoder, a, b).a_from_b.flatten()
    monkeypatch.setitem(NOISE, "float32", 0.02 * way / OF_PAIR_SWAPS)
    at = start(ALL, measure="swap, A from B")
    wanted = torch.where(share.abs() >= 0.02, share, 0.0)
    assert placed_heads(at)["swap, A from B"].tolist() == pytest.approx(wanted.tolist(), abs=1e-4)
    assert 0 < (wanted == 0).sum() < 72
    assert any(f"by up to 0.02: {(wanted == 0).sum()} of 72 heads lie under that" in text for text in texts(at))


def test_effects_under_the_noise_of_a_precision_are_drawn_as_0(monkeypatch):
    effects = placed_heads(start(ALL, measure="effect")).set_index("name")["effect"]
    monkeypatch.setitem(NOISE, "float32", 0.005)
    at = start(ALL, measure="effect")
    shown = placed_heads(at).set_index("name")["effect"]
    assert shown.to_dict() == effects.where(effects.abs() >= 0.005, 0.0).to_dict()
    assert any(f"by up to 0.005: {(shown == 0).sum()} of 72 heads lie under that" in text for text in texts(at))


def test_sorting_puts_the_most_first():
    at = start(ALL, measure="entropy", sorted=True)
    places = placed_heads(at).sort_values(["y", "x"])
    assert list(places["entropy"]) == sorted(places["entropy"], reverse=True)


# The pictures


def test_every_spec_is_valid(inside):
    for at in (
        *(rail(inside).set_value(name).run() for name in ("query", "masked", "context", "output")),
        start(ALL, sorted=True),
        start(ALL, tab="Lines from the word"),
    ):
        for spec in specs(at):
            alt.Root.validate(spec)
