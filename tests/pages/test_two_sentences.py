"""The main view by AppTest: what it shows at first, what each control changes, and what bad input meets."""

import json

import pytest

from pages.explore.two_sentences.words_and_maps import embeddings_mix
from selfattn import load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import PAIRS

pytestmark = pytest.mark.slow


def texts(at):
    return [element.value for element in at.get("text")]


def errors(at):
    return [element.value for element in at.error]


def specs(at):
    return [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]


def test_the_classic_pair_stands_there_at_first(main_view):
    at = main_view
    assert not at.exception and not at.error
    assert at.text_input(key="a").value == "The bank of the river."
    assert at.text_input(key="b").value == "The bank approved the loan."
    assert any('"bank" gives most weight in A to "river" (0.62)' in text for text in texts(at))
    assert any("No head does it alone" in text for text in texts(at))
    assert any(text.startswith("Check: our weights equal the model's own to 0.000000") for text in texts(at))
    assert len(specs(at)) == 11  # the strip, the map of heads, six steps, two maps, the curve


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.word)
def test_every_example_opens(main_view, pair):
    at = main_view.selectbox(key="example").set_value(pair.word).run()
    assert not at.exception and not at.error
    assert at.text_input(key="a").value == pair.first
    assert any(f'The two "{pair.word}" vectors have cosine' in text for text in texts(at))
    assert any("In the control pair" in text for text in texts(at))


def test_choosing_a_head_changes_the_readings_and_the_outline(main_view):
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    assert not at.exception
    assert any(text.startswith("In L3 H7,") for text in texts(at))
    assert any("datum.name === 'L3 H7'" in json.dumps(spec) or '"L3 H7"' in json.dumps(spec) for spec in specs(at))


@pytest.mark.parametrize("measure", ["control", "effect minus control", "special tokens"])
def test_each_map_is_drawn(main_view, measure):
    at = main_view.button_group(key="map").set_value(measure).run()
    assert not at.exception
    field = measure.replace(" ", "_") + ":Q"
    assert any(
        field[:-2] == layer.get("encoding", {}).get("color", {}).get("field")
        for spec in specs(at)
        for layer in spec.get("layer", [])
    )


def test_the_models_own_weights_and_the_difference(main_view):
    at = main_view.button_group(key="view").set_value("difference").run()
    assert not at.exception
    assert sum(text.startswith("Largest difference to the model's own: 0.0000") for text in texts(at)) == 2
    at.button_group(key="view").set_value("model's own").run()
    assert not at.exception
    assert sum(text.startswith("Largest weight:") for text in texts(at)) == 2


def test_hiding_special_tokens_says_how_much_weight_went(main_view):
    at = main_view.toggle(key="hide").set_value(True).run()
    assert not at.exception
    assert any(text.startswith("Special tokens hidden:") and "% in A" in text for text in texts(at))


def test_the_master_switch(main_view):
    at = main_view.toggle(key="attention").set_value(False).run()
    assert not at.exception
    assert any("to the last bit" in text for text in texts(at))


def test_the_master_switch_at_different_positions_says_that_the_position_remains(main_view):
    main_view.text_input(key="b").set_value("Yesterday the bank approved the loan.").run()
    at = main_view.toggle(key="attention").set_value(False).run()
    assert not at.exception
    assert any("stands at different positions" in text for text in texts(at))


@pytest.mark.parametrize(("name", "mixes"), [("BERT", False), ("MobileBERT", True), ("T5 (encoder half)", False)])
def test_only_where_embeddings_mix_no_neighbours_in_may_the_switch_say_only_attention(tmp_path, name, mixes):
    encoder = load_encoder(str(save_tiny(FAMILIES[name], tmp_path)))
    assert embeddings_mix(encoder) == mixes
    without = encoder.without_attention(["The bank of the river.", "The bank was muddy."])
    at = encoder.encode("The bank was muddy.").words[1].start
    assert (float((without[0][:, at] - without[1][:, at]).abs().max()) > 1e-3) == mixes


def test_a_word_that_occurs_twice_can_be_chosen_each_time(main_view):
    at = main_view.text_input(key="a").set_value("The bank near the other bank of the river.").run()
    assert not at.exception
    before = texts(at)
    at.button_group(key="at_a").set_value(2).run()
    assert not at.exception and texts(at) != before


def test_a_word_split_into_pieces_is_one_word(main_view):
    main_view.text_input(key="a").set_value("Electroencephalographers work here.")
    at = main_view.text_input(key="b").set_value("We met two electroencephalographers.").run()
    assert not at.exception and not at.error
    assert at.selectbox(key="word").value == "Electroencephalographers"


def test_without_a_control_the_map_says_so(main_view):
    main_view.text_input(key="c").set_value("A sentence that has it not.").run()
    at = main_view.button_group(key="map").set_value("control").run()
    assert not at.exception
    assert any("there is no control to show" in text for text in texts(at))


BAD = {
    "": "The text is empty",
    "   ": "The text is empty",
    "No such word here at all.": "No word stands in both sentences",
    "word " * 2000: "at most 512",
    "\x01\x02": "no token",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_bad_input_meets_a_message(main_view, text):
    at = main_view.text_input(key="a").set_value(text).run()
    assert not at.exception
    assert any(BAD[text] in message for message in errors(at))


STRANGE = [
    "😀 bank 😀",
    "بنك bank بنك",
    "银行 bank 河",
    "<script>alert(1)</script> bank",
    "$$x$$ **bank** `bank` :red[x]",
    "\"bank\" 'bank' \\bank",
    pytest.param("bank " * 500, marks=pytest.mark.long),
]


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_strange_input_is_only_text(main_view, text):
    at = main_view.text_input(key="a").set_value(text).run()
    assert not at.exception and not at.error
    markdown = " ".join(element.value for element in at.markdown)
    assert "script" not in markdown and "red[" not in markdown


def test_the_tour_has_four_stops(main_view):
    at = main_view
    for _ in range(3):
        next(button for button in at.button if button.label == "Next").click().run()
    assert not at.exception
    assert next(button for button in at.button if button.label == "Next").disabled


def test_the_link_carries_the_whole_view(main_view):
    main_view.session_state["download"] = True  # the popover is open
    at = main_view.select_slider(key="head").set_value("L2 H3").run()
    (link,) = [element.value for element in at.code]
    for part in ("model=all-MiniLM-L6-v2", "a=The+bank+of+the+river.", "head=L2+H3", "word=bank"):
        assert part in link


def test_words_put_the_pieces_together(main_view):
    main_view.text_input(key="a").set_value("Electroencephalographers near the bank.").run()
    before = [spec for spec in specs(main_view) if "##" in json.dumps(spec)]
    at = main_view.toggle(key="words").set_value(True).run()
    assert not at.exception
    assert len([spec for spec in specs(at) if "##" in json.dumps(spec)]) < len(before)


def test_a_long_text_is_drawn_in_bins_and_can_be_zoomed(main_view):
    at = main_view.text_input(key="a").set_value("The bank of the river. " + "It was a long and quiet day. " * 50).run()
    assert not at.exception and not at.error
    assert any("Each cell is the largest of 2 × 2 weights" in text for text in texts(at))
    (zoom,) = [slider for slider in at.slider if slider.label == "Rows and columns drawn"]
    zoom.set_value((0, 40)).run()
    assert not at.exception
    assert not any("Each cell is the largest" in text for text in texts(at))
