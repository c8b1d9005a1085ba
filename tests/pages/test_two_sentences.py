"""The main view by AppTest: what it shows at first, what each control changes, and what bad input meets."""

import json
from dataclasses import replace

import pytest
import torch
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from pages.explore.two_sentences import swaps
from selfattn import load_encoder
from selfattn.analysis.swapping import swap_pair
from selfattn.dashboard import pickers
from selfattn.dashboard.figures import this_page
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import PAIRS, labelled_sentences
from tests.pages.conftest import open_link
from tests.pages.pictures import spec_of

pytestmark = pytest.mark.slow


def texts(at):
    return [element.value for element in at.get("text")]


def errors(at):
    return [element.value for element in at.error]


def specs(at):
    return [spec_of(chart) for chart in at.get("vega_lite_chart")]


def chosen_head(at):
    return at.select_slider(key="head").value


def places_of(encoder, pair):
    """The word's place in both sentences and the control."""
    encodings = [encoder.encode(text) for text in (pair.first, pair.second, pair.control)]
    return [(encoding.text, encoding.places(pair.word)[0].positions) for encoding in encodings]


def test_the_question_the_curve_and_the_leading_head_stand_there_at_first(main_view):
    at = main_view
    assert not at.error
    assert [title.value for title in at.subheader] == ['Where does "bank" get its meaning?']
    values = [at.text_input(key=key).value for key in "abc"]
    assert values == [PAIRS[0].first, PAIRS[0].second, PAIRS[0].control]
    assert chosen_head(at) == "L5 H7"
    shown = "\n".join(texts(at))
    assert 'Before attention, the two "bank" vectors are the same (cosine 1.00). After six layers their cosine' in shown
    assert "Two sentences of one sense (river side) end at 0.91" in shown
    assert (
        'Head 7 of layer 5 matters most here. At "bank" it gives 0.29 of its attention to "river" in A and 0.56'
        in shown
    )
    assert "(25 %). From another sentence of A's own sense (river side) it moves 5 % of that way." in shown
    n = (labelled_sentences()["word"] == "bank").sum()
    assert (
        f'One pair is a hint: over {n} labelled sentences of "bank", head 10 of layer 5 leads (16 %; in this pair 7 %).'
        in shown
    )
    assert "Check: our weights equal the model's own to 0.000000" in shown
    assert len(specs(at)) == 7  # the curve, the words, the way, the map of heads, the steps, two whole heads


FEW = 3  # the others in the long run: tests/test_examples.py reads all of them


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, id=pair.word, marks=() if number < FEW else pytest.mark.long)
        for number, pair in enumerate(PAIRS)
    ],
)
def test_every_example_opens_with_its_leading_head(main_view, encoder, pair):
    at = main_view.button_group(key="example").set_value(pair.word).run()
    assert not at.error
    assert [at.text_input(key=key).value for key in "abc"] == [pair.first, pair.second, pair.control]
    share = swap_pair(encoder, *places_of(encoder, pair)).share
    assert chosen_head(at) == str(encoder.all_heads[int(share.argmax())])
    assert any(f'the two "{pair.word}" vectors' in text and pair.senses[0] in text for text in texts(at))


def test_the_first_head_is_the_leading_one_until_a_visitor_chooses(main_view):
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    at = at.button_group(key="example").set_value("crane").run()
    assert chosen_head(at) == "L3 H7"
    assert any("Head 7 of layer 3 is shown." in text for text in texts(at))


def test_a_link_chooses_the_head(encoder):
    assert chosen_head(open_link(head="L2 H3")) == "L2 H3"


def test_choosing_a_head_changes_the_readings_and_the_outline(main_view):
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    assert any(
        text.startswith("Head 7 of layer 3 is shown. Head 7 of layer 5 matters most here (25 %).") for text in texts(at)
    )
    assert any("datum.name === 'L3 H7'" in json.dumps(spec) or '"L3 H7"' in json.dumps(spec) for spec in specs(at))


def test_another_head_changes_the_records_of_the_pictures_and_nothing_else(main_view):
    """A browser lays out anew what has another spec, key or text alternative."""

    def sent(at):
        charts = [chart.proto for chart in at.get("vega_lite_chart")]
        records = [[held.data.data for held in chart.datasets] for chart in charts]
        return [(chart.id, chart.spec) for chart in charts], records, [chart.alt for chart in charts]

    spec, records, alt = sent(main_view.select_slider(key="head").set_value("L3 H7").run())
    other_spec, other_records, other_alt = sent(main_view.select_slider(key="head").set_value("L1 H2").run())
    assert other_spec == spec and other_alt == alt
    assert [one != other for one, other in zip(records, other_records)] == [False, True, False, True, True, True, True]
    again = sent(main_view.select_slider(key="head").set_value("L3 H7").run())
    assert again == (spec, records, alt)  # what is kept of a head is sent whole each time


def test_a_picture_that_stays_says_what_is_to_be_seen_in_it(main_view):
    """Its text alternative may not change with the head, so the reading is the description of a mark."""
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    strip = at.get("vega_lite_chart")[1].proto
    assert strip.alt == 'what "bank" attends to'
    (reading,) = (frame["reading"].item() for frame in frames(strip) if "reading" in frame)
    assert reading.startswith('In L3 H7, "bank" gives most weight')


def test_a_head_whose_click_is_still_held_can_be_clicked_again(main_view):
    """A chart that holds a click sends nothing for the next one on the same head, so it is made anew."""

    def key(at):
        return next(chart.proto.id for chart in at.get("vega_lite_chart") if "-map-" in chart.proto.id)

    before = key(main_view)
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    assert key(at) == before
    at.session_state[before.rsplit("-", 3)[-1]] = None
    name = "map-" + before.rsplit("-", 1)[1]
    at.session_state[name] = {"selection": {"pick": [{"layer": 3, "head": 7}]}}
    assert key(at.run()) == before
    at = at.select_slider(key="head").set_value("L3 H8").run()
    assert key(at) != before


@pytest.mark.parametrize(("measure", "field"), [("swap", "share"), ("control", "control_share"), ("removal", "effect")])
def test_each_map_is_drawn(main_view, measure, field):
    at = main_view.button_group(key="map").set_value(measure).run()
    drawn = [
        layer.get("encoding", {}).get("color", {}).get("field") for spec in specs(at) for layer in spec.get("layer", [])
    ]
    assert field in drawn


def test_swapping_this_head_and_all_heads(main_view):
    at = main_view.button_group(key="swap").set_value("head").run()
    assert any("The mean of both directions" in text for text in texts(at))
    at = at.button_group(key="swap").set_value("all").run()
    (reading,) = [text for text in texts(at) if text.startswith("With every head's output")]
    assert 'A\'s "bank" is B\'s "bank" (cosine 1.00). Attention brought in the whole difference.' in reading
    assert reading.endswith("From another sentence of A's own sense (river side) it moves 37 % of that way.")


@pytest.mark.usefixtures("quickly_ranked")
def test_swapping_all_heads_at_another_position_leaves_the_position(main_view):
    main_view.text_input(key="b").set_value("Yesterday the bank approved the loan.").run()
    at = main_view.button_group(key="swap").set_value("all").run()
    assert any("The rest, " in text and "is its position." in text for text in texts(at))


@pytest.mark.usefixtures("quickly_ranked")
def test_a_sentence_of_ones_own_is_no_example_and_has_no_known_sense(main_view):
    at = main_view.text_input(key="c").set_value("We sat on the bank of a stream.").run()
    assert at.button_group(key="example").value is None
    assert any("Two sentences of one sense (A and the control) end at" in text for text in texts(at))


def test_the_models_own_weights_and_the_difference(main_view):
    at = main_view.button_group(key="view").set_value("difference").run()
    assert sum(text.startswith("Largest difference to the model's own: 0.0000") for text in texts(at)) == 2
    at.button_group(key="view").set_value("own").run()
    assert sum(text.startswith("Largest weight:") for text in texts(at)) == 2


def test_hiding_special_tokens_says_how_much_weight_went(main_view):
    at = main_view.toggle(key="hide").set_value(True).run()
    assert any(text.startswith("Special tokens hidden:") and "% in A" in text for text in texts(at))


@pytest.mark.usefixtures("quickly_ranked")
def test_an_edited_sentence_chooses_its_word_anew_until_a_visitor_has_chosen(main_view):
    main_view.text_input(key="a").set_value("The gnome left the bank.").run()
    at = main_view.text_input(key="b").set_value("The gnome found a bank.").run()
    assert at.button_group(key="word").value == "gnome" and not at.error
    at = at.button_group(key="word").set_value("bank").run()
    at = at.text_input(key="a").set_value("A gnome and the bank.").run()
    assert at.button_group(key="word").value == "bank"


@pytest.mark.usefixtures("quickly_ranked")
def test_a_word_that_occurs_twice_can_be_chosen_each_time(main_view):
    at = main_view.text_input(key="a").set_value("The bank near the other bank of the river.").run()
    before = texts(at)
    at.button_group(key="at_a").set_value(2).run()
    assert texts(at) != before


@pytest.mark.usefixtures("quickly_ranked")
def test_a_word_split_into_pieces_is_one_word(main_view):
    main_view.text_input(key="a").set_value("Electroencephalographers work here.")
    at = main_view.text_input(key="b").set_value("We met two electroencephalographers.").run()
    assert not at.error
    assert at.button_group(key="word").value == "Electroencephalographers"


def infos(at):
    return [element.value.replace("\\", "") for element in at.info]


@pytest.mark.parametrize(
    ("control", "asked"),
    [
        ("", 'Next, a control: write a third sentence with "bank" in A\'s sense.'),
        ("A sentence that has it not.", 'The control has no "bank", so it isn\'t used.'),
    ],
)
@pytest.mark.usefixtures("quickly_ranked")
def test_without_a_control_the_words_say_so_and_ask_for_one(main_view, control, asked):
    main_view.text_input(key="c").set_value(control).run()
    at = main_view.button_group(key="map").set_value("control").run()
    assert sum("No control sentence yet" in text for text in texts(at)) == 2  # the head's sentence and the map's
    (info,) = infos(at)
    assert info.startswith(asked)


GLUED = "They lay on the bank🏦 of the stream."
UNKNOWN = 'doesn\'t know "bank🏦". It reads [UNK] there, as for anything else'


@pytest.mark.usefixtures("quickly_ranked")
def test_a_control_whose_word_the_tokeniser_does_not_know_is_not_compared_and_that_is_said(main_view):
    """Its cosine was shown, and explained by the spelling."""
    at = main_view.text_input(key="c").set_value(GLUED).run()
    assert UNKNOWN in infos(at)[0] and infos(at)[0].startswith("The control sentence: ")
    assert "doesn't know 'bank🏦': it reads [UNK]" in infos(at)[1] and "So the control isn't used." in infos(at)[1]
    assert any("No control sentence yet" in text for text in texts(at))
    assert not any("spelled" in text or "Two sentences of one sense" in text for text in texts(at))


@pytest.mark.usefixtures("quickly_ranked")
def test_a_word_that_the_tokeniser_does_not_know_is_marked_and_cannot_be_chosen(main_view):
    at = main_view.text_input(key="a").set_value(GLUED).run()
    assert "bank" not in at.button_group(key="word").options and UNKNOWN in infos(at)[0]
    strip = next(chart.proto for chart in at.get("vega_lite_chart") if chart.proto.alt.startswith("what"))
    assert any(b"bank [UNK]" in held.data.data for held in strip.datasets)
    at = at.text_input(key="a").set_value("A bank🏦.").run()
    assert [error.replace("\\", "") for error in errors(at)] == [
        "No word stands in both sentences. Change one of them so that they share a word."
    ]
    assert UNKNOWN in infos(at)[0]


def test_a_sentence_that_gives_no_finite_numbers_is_named_with_its_layer(overflowing):
    at = open_link(model="another ...", other=str(overflowing))
    (error,) = (error.replace("\\", "") for error in errors(at))
    assert error.startswith("Sentence B: ") and "in float32, first in the embeddings" in error


@pytest.mark.usefixtures("quickly_ranked")
def test_a_map_by_gradient_says_so_and_names_an_exact_head(encoder):
    own = replace(PAIRS[0], first="We sat for an hour on the bank of the river.")  # not stored
    at = open_link(a=own.first, b=own.second, c=own.control, word="bank", map="control")
    exact = swap_pair(encoder, *places_of(encoder, own))
    top = exact.control.max()
    said = f'{encoder.all_heads[int(exact.control.argmax())]} moves "bank" furthest: {top:.0%}'.replace("%", " %")
    assert any(said in text and "By gradient, the first order of a swap; only the" in text for text in texts(at))
    (map_,) = (
        each for each in map(json.dumps, specs(at)) if '"share of the way, from the control", "by gradient"' in each
    )
    assert '{"field": "how"' in map_  # of each head, in its tooltip
    at = at.button_group(key="map").set_value("swap").run()
    assert any("By gradient, the first order" in text for text in texts(at))


@pytest.mark.usefixtures("quickly_ranked")
def test_an_examples_control_is_never_used_for_another_sentence_a(main_view):
    at = main_view.text_input(key="b").set_value("The bank lent us money.").run()
    assert at.text_input(key="c").value == PAIRS[0].control and not infos(at)  # A is as it was, and so is its sense
    at = at.text_input(key="a").set_value("The bank was robbed.").run()
    assert at.text_input(key="c").value == ""
    assert infos(at) == ['Next, a control: write a third sentence with "bank" in A\'s sense.']
    at = at.text_input(key="c").set_value("They robbed the bank.").run()
    assert not infos(at) and not any("No control sentence yet" in text for text in texts(at))
    at = at.text_input(key="a").set_value("The bank of the Nile.").run()
    assert at.text_input(key="c").value == "They robbed the bank."
    assert infos(at) == ['A has changed. Does the control still have "bank" in A\'s sense?']


@pytest.mark.usefixtures("quickly_ranked")
def test_a_link_to_two_sentences_has_no_control_and_no_example():
    at = open_link(a="The bank was robbed.", b=PAIRS[0].second)
    assert at.text_input(key="c").value == "" and at.button_group(key="example").value is None
    assert at.button_group(key="word").value == "bank" and len(infos(at)) == 1


@pytest.mark.usefixtures("quickly_ranked")
def test_function_words_are_no_chips_where_there_are_content_words(main_view):
    word = main_view.button_group(key="word")
    assert word.options == ["bank"] and "1 more in both" in word.proto.label
    main_view.text_input(key="a").set_value("She was in it for that.").run()
    at = main_view.text_input(key="b").set_value("Was that for him in it?").run()
    assert {"for", "that", "in"} <= {
        option.lower() for option in at.button_group(key="word").options
    }  # there is no other


@pytest.mark.usefixtures("quickly_ranked")
def test_the_words_of_both_are_offered_rarest_first_and_the_chosen_one_always(main_view):
    text = "The bank of the river and the old mill with its wheel in a very deep green valley."
    main_view.text_input(key="a").set_value(text).run()
    at = main_view.text_input(key="b").set_value(text.replace("bank", "shore")).run()
    chips = at.button_group(key="word")
    assert len(chips.options) == 8 and chips.value == chips.options[0] and not {"The", "of"} & set(chips.options)
    assert "7 more in both" in chips.proto.label
    linked = open_link(a=text, b=text.replace("bank", "shore"), word="The")
    word = linked.button_group(key="word")
    assert not linked.warning and word.value == "The" and word.options == [*chips.options, "The"]


def test_where_the_map_takes_long_the_words_stand_first_and_the_leading_head_comes(encoder, monkeypatch):
    before = []  # the map: what stands there already
    shares_of = swaps.shares_of
    monkeypatch.setattr(pickers, "EXACT", 1)
    monkeypatch.setattr(pickers, "AT_ONCE", 1)
    monkeypatch.setattr(swaps, "shares_of", lambda *it: before.append(list(this_page().figures)) or shares_of(*it))
    at = open_link()
    assert len(before) > 1
    assert before[0][1:] == ["2. where the two vectors part", '3. what "bank" attends to']
    share = swap_pair(encoder, *(places_of(encoder, PAIRS[0])), how="gradient").share
    assert chosen_head(at) == str(encoder.all_heads[int(share.argmax())])


def test_the_first_picture_stands_there_before_the_heads_are_ranked(monkeypatch):
    shown = []
    ranked = pickers.leading_head
    monkeypatch.setattr(pickers, "leading_head", lambda *it: shown.append(list(this_page().figures)) or ranked(*it))
    at = open_link()
    at.text_input(key="a").set_value("The bank of the canal.").run()
    assert shown == 2 * [["1. where the two vectors part"]]


def test_the_swaps_of_an_example_as_it_is_are_the_stored_ones(monkeypatch):
    runs, run = [], pickers.cached_swaps
    monkeypatch.setattr(
        pickers,
        "cached_swaps",
        lambda *it, **more: runs.append((it[1].sentence.text, more["heads"])) or run(*it, **more),
    )
    at = open_link()
    assert None not in [heads for _, heads in runs]
    at.text_input(key="a").set_value("The bank of the canal.").run()
    assert ("The bank of the canal.", None) in runs


def test_an_encoder_that_is_only_shown_opens_on_the_head_that_gives_most_to_another_word(tmp_path, monkeypatch):
    monkeypatch.setattr(pickers, "AT_ONCE", 1)  # of any size
    folder = save_tiny(FAMILIES["XLNet"], tmp_path / "tiny")
    at = open_link(model="another ...", other=str(folder))
    assert not at.error
    assert any("So no head can be swapped, removed or followed step by step here." in text for text in texts(at))
    shown = load_encoder(str(folder), trusted=True)
    most = 0
    for text in (PAIRS[0].first, PAIRS[0].second):
        encoding = shown.encode(text)
        at_word = encoding.places("bank")[0].positions[0]
        others = [p for p, special in enumerate(encoding.special) if not special and p != at_word]
        most += torch.stack(
            [encoding.weights(layer)[:, at_word][:, others].amax(-1) for layer in range(shown.n_layers)]
        )
    assert chosen_head(at) == str(shown.all_heads[int(most.argmax())])


@pytest.mark.slow
def test_an_encoder_that_is_shown_only_is_swapped_where_that_was_verified(tmp_path):
    """The main view works but for the kernel's steps, and says so."""
    folder = save_tiny(FAMILIES["LiLT"], tmp_path / "tiny")
    at = open_link(model="another ...", other=str(folder), a="The bank of the river.", b="The bank gave a loan.")
    assert not at.error
    shown = load_encoder(str(folder), trusted=True)
    assert shown.patchable and not shown.recomputable
    places = [(text, find_word(shown, text)) for text in ("The bank of the river.", "The bank gave a loan.")]
    share = swap_pair(shown, *places).share
    head = shown.all_heads[int(share.argmax())]
    assert chosen_head(at) == str(head)
    assert any(
        text.startswith("The steps of this head are missing: in lilt, layer 0, the kernel's") for text in texts(at)
    )
    assert not any("computes it" in element.value for element in at.markdown)
    at.button_group(key="swap").set_value("all").run()
    assert any("With every head's output" in text for text in texts(at))


def find_word(encoder, text):
    return encoder.locate(text, "bank")[0].positions


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
@pytest.mark.usefixtures("quickly_ranked")
def test_strange_input_is_only_text(main_view, text):
    at = main_view.text_input(key="a").set_value(text).run()
    assert not at.error
    markdown = " ".join(element.value for element in at.markdown)
    assert "script" not in markdown and "red[" not in markdown


@pytest.mark.usefixtures("quickly_ranked")
def test_words_put_the_pieces_together(main_view):
    main_view.text_input(key="a").set_value("Electroencephalographers near the bank.").run()
    before = [spec for spec in specs(main_view) if "##" in json.dumps(spec)]
    at = main_view.toggle(key="words").set_value(True).run()
    assert len([spec for spec in specs(at) if "##" in json.dumps(spec)]) < len(before)


def test_a_long_text_is_drawn_in_bins_and_can_be_zoomed(main_view):
    at = main_view.text_input(key="a").set_value("The bank of the river. " + "It was a long and quiet day. " * 50).run()
    assert not at.error
    assert any("Each cell is the largest of 2 × 2 weights" in text for text in texts(at))
    (zoom,) = [slider for slider in at.slider if slider.label == "Rows and columns drawn"]
    zoom.set_value((0, 40)).run()
    assert not any("Each cell is the largest" in text for text in texts(at))


def test_a_long_sentences_steps_say_what_is_left_out(main_view):
    at = main_view.text_input(key="a").set_value("The bank of the river. " + "It was a quiet day. " * 6).run()
    assert any("the 24 with the largest weights are drawn" in text for text in texts(at))


def test_a_word_that_stands_101_times_has_a_list_to_choose_from():
    at = open_link(a="bank " * 101, b="A bank.", word="bank")
    picker = at.selectbox(key="at_a")
    assert picker.label == "The word stands 101 times in A: which one?" and len(picker.options) == 101
    assert not [group for group in at.get("button_group") if "which one?" in group.label]
    at = picker.set_value(101).run()
    assert at.selectbox(key="at_a").value == 101
    assert this_word(at) == 101


def frames(proto):
    return [convert_arrow_bytes_to_pandas_df(held.data.data) for held in proto.datasets]


def this_word(at):
    """The number of the chosen word among the words of A."""
    charts = at.get("vega_lite_chart")
    frame = next(frame for chart in charts for frame in frames(chart.proto) if "chosen" in frame)
    words = frame[(frame["sentence"] == "A") & ~frame["special"].astype(bool)]
    return int(words["chosen"].to_numpy().nonzero()[0][0]) + 1


def test_a_folder_is_called_by_its_name(tmp_path, monkeypatch):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "my-encoder")
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = open_link()
    assert any(text.value.startswith("my-encoder\n") for text in at.sidebar.text)
    assert not any(str(tmp_path) in element.value for kind in (at.text, at.caption, at.markdown) for element in kind)
