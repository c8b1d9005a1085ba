"""The main view by AppTest: what it shows at first, what each control changes, and what bad input meets."""

import json

import pandas as pd
import pytest
import torch

from selfattn import Hide, load_encoder
from selfattn.analysis.hiding import hidden_heads
from selfattn.analysis.sense_means import rows_of, sense_means, within_sense
from selfattn.captions import hidden_words as captions
from selfattn.dashboard import answer, session
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.stored_reports import stored
from selfattn.views.two_sentences import word_in_two_sentences
from tests.pages.conftest import open_link
from tests.pages.pictures import everything, marks_of, matrix, records_of, same, spec_of

pytestmark = pytest.mark.slow


def texts(at):
    return [element.value for element in at.get("text")]


def lines(at):
    return "\n".join(texts(at)).split("\n")


def sentences(at):
    return tuple(at.text_input(key=key).value for key in "abc")


def messages(elements):
    return [element.value.replace("\\", "") for element in elements]


def specs(at):
    return [spec_of(chart) for chart in at.get("vega_lite_chart")]


def chosen_head(at):
    return at.select_slider(key="head").value


def view_of(encoder, pair, way="senses"):
    """What the library makes of a pair, with the stored means of its word's senses where there are such."""
    places = [encoder.encode(text).places(pair.word)[0] for text in (pair.first, pair.second, pair.control)]
    labelled = labelled_sentences()
    means = None
    if way == "senses" and pair.word in set(labelled["word"]):
        means = stored("sense_means", encoder, labelled).report.of(pair.word, encoder, labelled)
    return word_in_two_sentences(encoder, *places, senses=means)


def headings(at):
    return [element.value.replace("\\", "") for element in at.markdown]


def answers(at):
    """What stands in large type above all."""
    return headings(at)[0].split("  \n")


def test_the_question_the_answer_and_the_limit_stand_there_at_first(main_view, encoder):
    at = main_view
    assert not at.error
    assert [title.value for title in at.subheader] == ['Where does "bank" get its meaning?']
    assert sentences(at) == PAIRS[0].sentences
    view = view_of(encoder, PAIRS[0])
    assert answers(at) == list(view.answer)
    assert 'hide "loan", 20 % ("to", 7 %)' in view.answer[1] and '"bank" moves 44 % of the way' in view.answer[1]
    (limit,) = [text for text in texts(at) if text.startswith("This is about these two sentences.")]
    assert "Tested on 32 words, 768 sentences" in limit
    assert captions.compared(view.pair) in lines(at)
    word = encoder.placed((PAIRS[0].first, "bank"))
    rows, means = (of(encoder, labelled_sentences(), "bank") for of in (rows_of, sense_means))
    found = within_sense(encoder, rows, means, word)
    assert captions.beside_its_sense(view.pair, *found) in lines(at)
    assert "Check: our weights equal the model's own to 0.000000" in "\n".join(texts(at))
    assert chosen_head(at) == str(view.first_head) == "L0 H10"
    assert len(specs(at)) == 4  # words and heads, two whole heads, the row's computation


FEW = 3  # and one that fits no sense; the others in the long run: tests/test_examples.py reads all of them


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, id=pair.word, marks=() if number < FEW or pair.word == "palm" else pytest.mark.long)
        for number, pair in enumerate(PAIRS)
    ],
)
def test_every_example_opens_with_its_answer_and_its_leading_head(main_view, encoder, pair):
    at = main_view.selectbox(key="example").set_value(pair.word).run()
    assert not at.error
    assert sentences(at) == pair.sentences
    view = view_of(encoder, pair)
    assert chosen_head(at) == str(view.first_head)
    assert answers(at) == list(view.answer)
    assert set(view.pair.notes) <= {*lines(at)}


def test_the_answer_between_the_sentences_stands_behind_the_switch(main_view, encoder):
    at = main_view.button_group(key="way").set_value("sentences").run()
    view = view_of(encoder, PAIRS[0], way="sentences")
    assert answers(at) == list(view.answer)
    assert '35 % of the way to B\'s "bank"' in view.answer[1]
    (limit,) = [text for text in texts(at) if text.startswith("This is about these two sentences.")]
    assert "one pair can't tell" in limit and '"river" 44 %' in limit and '"loan" 20 %' in limit


def test_the_words_and_heads_that_are_sent_are_the_librarys(main_view, encoder):
    view = view_of(encoder, PAIRS[0])
    sent = everything(main_view.get("vega_lite_chart")[0])
    for words in view.pair.words:
        assert all(f'"{word.label}"' in sent for word in words)
    for side, top in enumerate(view.pair.top):
        exact = hidden_heads(encoder, view.pair.placed[side], view.pair.words[side][top], view.pair.ways[side])
        assert exact.allclose(next(each for each in view.heads if each.side == side).share, atol=1e-6)


def test_another_head_makes_a_new_figure_and_opens_the_head(main_view):
    before = main_view.get("vega_lite_chart")[0].proto.id
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    assert at.get("vega_lite_chart")[0].proto.id != before  # it was chosen elsewhere than in the figure
    assert any("How head 7 of layer 3 computes it" in text for text in headings(at))


def test_with_words_hidden_the_maps_and_the_row_are_the_kernels_with_its_mask(main_view, encoder):
    group = main_view.button_group(key="without")
    assert group.options == ["as it is", '"river" and "loan" hidden']
    at = group.set_value("hidden").run().run()
    shown = zip(at.get("vega_lite_chart")[1:3], (PAIRS[0].first, PAIRS[0].second), ("river", "loan"))
    for chart, text, hidden in shown:
        tokens = encoder.encode(text)
        word, other = (tokens.places(each)[0].positions for each in ("bank", hidden))
        run = encoder.encode(text, hidden=[Hide(word, other)])
        drawn = matrix(marks_of(chart))
        assert same(drawn, run.weights(0, 10)) and drawn[word[0], other[0]] == 0
        assert f'"{hidden}" hidden' in spec_of(chart)["title"]["text"]
    row = everything(at.get("vega_lite_chart")[3])
    assert row.count("−∞") >= 2


def test_the_first_head_is_the_leading_one_until_a_visitor_chooses(main_view):
    at = main_view.select_slider(key="head").set_value("L3 H7").run()
    at = at.selectbox(key="example").set_value("crane").run()
    assert chosen_head(at) == "L3 H7"
    assert any("How head 7 of layer 3 computes it" in text for text in headings(at))


def test_a_sentence_of_ones_own_is_no_example(main_view):
    at = main_view.text_input(key="c").set_value("We sat on the bank of a stream.").run()
    assert at.selectbox(key="example").value is None
    assert any("A and the control 0." in text for text in texts(at))


def test_an_edited_sentence_chooses_its_word_anew_until_a_visitor_has_chosen(main_view):
    main_view.text_input(key="a").set_value("The gnome left the bank.").run()
    at = main_view.text_input(key="b").set_value("The gnome found a bank.").run()
    assert at.selectbox(key="word").value == "gnome" and not at.error
    at = at.selectbox(key="word").set_value("bank").run()
    at = at.text_input(key="a").set_value("A gnome and the bank.").run()
    assert at.selectbox(key="word").value == "bank"


def test_a_word_that_occurs_twice_can_be_chosen_each_time(main_view):
    at = main_view.text_input(key="a").set_value("The bank near the other bank of the river.").run()
    before = texts(at)
    at.selectbox(key="at_a").set_value(2).run()
    assert texts(at) != before


def test_a_word_split_into_pieces_is_one_word(main_view):
    main_view.text_input(key="a").set_value("Electroencephalographers work here.")
    at = main_view.text_input(key="b").set_value("We met two electroencephalographers.").run()
    assert not at.error
    assert at.selectbox(key="word").value == "Electroencephalographers"


@pytest.mark.parametrize(
    ("control", "asked"),
    [
        ("", 'Next, a control: write a third sentence with "bank" in A\'s sense.'),
        ("A sentence that has it not.", 'The control has no "bank", so it isn\'t used.'),
    ],
)
def test_without_a_control_the_words_say_so_and_ask_for_one(main_view, control, asked):
    at = main_view.text_input(key="c").set_value(control).run()
    assert sum(captions.NO_CONTROL in text for text in texts(at)) == 1
    (info,) = messages(at.info)
    assert info.startswith(asked)


GLUED = "They lay on the bank🏦 of the stream."
UNKNOWN = 'doesn\'t know "bank🏦". It reads [UNK] there, as for anything else'


def test_a_control_whose_word_the_tokeniser_does_not_know_is_not_compared_and_that_is_said(main_view):
    """Its cosine was shown, and explained by the spelling."""
    at = main_view.text_input(key="c").set_value(GLUED).run()
    assert UNKNOWN in messages(at.info)[0] and messages(at.info)[0].startswith("The control sentence: ")
    assert (
        "doesn't know 'bank🏦': it reads [UNK]" in messages(at.info)[1]
        and "So the control isn't used." in messages(at.info)[1]
    )
    assert any(captions.NO_CONTROL in text for text in texts(at))
    assert not any("A and the control" in text for text in texts(at))


def test_a_word_that_the_tokeniser_does_not_know_is_marked_and_cannot_be_chosen(main_view):
    at = main_view.text_input(key="a").set_value(GLUED).run()
    assert "bank" not in at.selectbox(key="word").options and UNKNOWN in messages(at.info)[0]
    assert "bank [UNK]" in everything(at.get("vega_lite_chart")[0])
    at = at.text_input(key="a").set_value("bank🏦").run()
    assert messages(at.error) == ["No word stands in both sentences. Change one of them so that they share a word."]
    assert UNKNOWN in messages(at.info)[0]


def test_a_sentence_that_gives_no_finite_numbers_is_named_with_its_layer(overflowing):
    at = open_link(model="another ...", other=str(overflowing))
    (error,) = messages(at.error)
    assert error.startswith("Sentence B: ") and "in float32, first in the embeddings" in error


def test_an_examples_control_is_never_used_for_another_sentence_a(main_view):
    at = main_view.text_input(key="b").set_value("The bank lent us money.").run()
    assert at.text_input(key="c").value == PAIRS[0].control and not messages(
        at.info
    )  # A is as it was, and so is its sense
    at = at.text_input(key="a").set_value("The bank was robbed.").run()
    assert at.text_input(key="c").value == ""
    assert messages(at.info) == ['Next, a control: write a third sentence with "bank" in A\'s sense.']
    at = at.text_input(key="c").set_value("They robbed the bank.").run()
    assert not messages(at.info) and not any(captions.NO_CONTROL in text for text in texts(at))
    at = at.text_input(key="a").set_value("The bank of the Nile.").run()
    assert at.text_input(key="c").value == "They robbed the bank."
    assert messages(at.info) == ['A has changed. Does the control still have "bank" in A\'s sense?']


def test_a_link_to_two_sentences_has_no_control_and_no_example():
    at = open_link(a="The bank was robbed.", b=PAIRS[0].second)
    assert at.text_input(key="c").value == "" and at.selectbox(key="example").value is None
    assert at.selectbox(key="word").value == "bank" and len(messages(at.info)) == 1


def test_the_words_of_both_are_offered_rarest_first(main_view):
    text = "The bank of the river and the old mill with its wheel in a very deep green valley."
    main_view.text_input(key="a").set_value(text).run()
    at = main_view.text_input(key="b").set_value(text.replace("bank", "shore")).run()
    word = at.selectbox(key="word")
    assert word.value == word.options[0] and not {"The", "of"} & {*word.options[:5]} and "The" in word.options
    linked = open_link(a=text, b=text.replace("bank", "shore"), word="The")
    assert not linked.warning and linked.selectbox(key="word").value == "The"


def test_the_heads_of_the_answer_are_by_gradient_first_and_then_run(encoder, monkeypatch):
    """The page stands before they are run, and has them when it is done."""
    exact = []
    made = answer.put_together

    def put_together(own, pair, heads, **more):
        exact.append([each.exact for each in heads])
        return made(own, pair, heads, **more)

    monkeypatch.setattr(answer, "put_together", put_together)
    at = open_link()
    assert exact[0] == [False, False] and exact[-1] == [True, True]
    assert chosen_head(at) == str(view_of(encoder, PAIRS[0]).first_head)
    first, exact[:] = chosen_head(at), []
    monkeypatch.setattr(answer, "alone", lambda: False)
    at = open_link(a="The bank of this river.", b="The bank gave me a loan.", word="bank")
    assert exact and not any(map(any, exact)), "others wait: the map stays by gradient"
    monkeypatch.undo()
    assert not exact_now(at) and exact_now(at.run()) and chosen_head(open_link()) == first


def exact_now(at):
    """Whether the words' heads are run in the figure that stands there."""
    return len(records_of(at.get("vega_lite_chart")[0], "heads")) > 1


def test_an_encoder_that_is_only_shown_opens_on_the_head_that_gives_most_to_another_word(tmp_path):
    folder = save_tiny(FAMILIES["XLNet"], tmp_path / "tiny")
    at = open_link(model="another ...", other=str(folder))
    assert not at.error
    assert any('no word can be hidden from "bank"' in text for text in texts(at))
    assert not any(button.key == "without" for button in at.button_group)
    shown = load_encoder(str(folder), trusted=True)
    most = 0
    for text in (PAIRS[0].first, PAIRS[0].second):
        encoding = shown.encode(text)
        (word,) = encoding.places("bank")
        rows = encoding.word_rows(word.positions)
        most += torch.stack([rows[..., list(other.positions)].sum(-1) for other in word.others]).amax(0)
    assert chosen_head(at) == str(shown.all_heads[int(most.argmax())])


def test_an_encoder_that_is_shown_only_says_that_the_steps_are_missing(tmp_path):
    folder = save_tiny(FAMILIES["LiLT"], tmp_path / "tiny")
    texts_ = {"a": "The bank of the river.", "b": "The bank gave a loan.", "word": "bank"}
    at = open_link(model="another ...", other=str(folder), **texts_)
    assert not at.error
    shown = load_encoder(str(folder), trusted=True)
    assert shown.patchable and not shown.recomputable and shown.hide_reason
    said = "\n".join(texts(at))
    assert "The steps of this head are missing: in lilt, layer 0, the kernel's" in said
    assert 'no word can be hidden from "bank"' in said
    assert not any("computes it" in element.value for element in at.markdown)


def test_the_nearest_sentences_stand_in_three_states(main_view, encoder):
    main_view.session_state["nearest"] = True
    at = main_view.run()
    group = at.button_group(key="nearest_to")
    assert group.options == ["alone", "in its sentence", 'with "river" hidden']
    senses = {}
    for state in ("alone", "sentence", "hidden"):
        at = group.set_value(state).run()
        (senses[state],) = [text for text in texts(at) if text.startswith("Senses of the three nearest")]
    assert senses["sentence"].endswith("all three of river side.") and len(set(senses.values())) == 3
    assert "six more are as near" in senses["alone"] or "more are as near" in senses["alone"]


MINT = {
    "coin": ("The mint struck a coin for the king.", "The mint made silver coins all year.", "Gold left the mint as coins.",
             "A mint stamps coins and medals.", "The royal mint issued a new coin."),
    "leaf": ("She put mint in the tea.", "The mint leaves smelled fresh.", "Chop the mint and add it to the salad.",
             "A sprig of mint cooled the drink.", "He grew mint and basil in a pot."),
}  # fmt: skip


def test_the_labels_of_a_visitors_own_table_give_the_way_between_the_senses(encoder):
    a, b = "They brought the metal to the mint for new coins.", "We cut some mint for a cup of tea."
    at = open_link(a=a, b=b, word="mint")
    assert not any(button.key == "way" for button in at.button_group)
    assert any('Label sentences of "mint" to see whether it holds.' in text for text in texts(at))
    rows = [(sentence, "mint", sense) for sense, sentences in MINT.items() for sentence in sentences]
    table = pd.DataFrame(rows, columns=["sentence", "word", "sense"])
    at.session_state[session.TABLE_READ] = ("id", table, None, "digest")
    at.run()
    view = word_in_two_sentences(encoder, *(encoder.encode(text).places("mint")[0] for text in (a, b)), senses=table)
    assert not at.error and view.pair.senses == ("coin", "leaf")
    assert answers(at) == list(view.answer) and "of the way to its other sense" in " ".join(view.answer)
    assert any("A is taken for coin, B for leaf." in text for text in texts(at))


def test_a_guess_is_asked_for_without_the_answer_and_stands_beside_it(encoder):
    at = open_link(guess="yes")
    assert answers(at) == ['Which word would change "bank" most? Click one.']
    assert not any("Tested on" in text for text in texts(at))
    sent = everything(at.get("vega_lite_chart")[0])
    assert "44 %" not in sent and "20 %" not in sent
    of = encoder.encode(PAIRS[0].first).places("of")[0].positions[0]
    at.session_state["guessed"] = ("A", of)
    at = at.run()
    assert 'Your guess: "of" in A (16 %). The word that moves it most there: "river" (44 %).' in texts(at)
    assert any("Ask a friend the same" in element.value and "guess=yes" in element.value for element in at.markdown)
    assert "guess" not in at.query_params
    assert answers(at) == list(view_of(encoder, PAIRS[0]).answer)
    at.session_state["guessed"] = ("B", encoder.encode(PAIRS[0].second).places("loan")[0].positions[0])
    right = 'Your guess: "loan" in B (20 %). Right: no word of this sentence moves it further.'
    assert right in texts(at.run())


def test_the_same_sentence_twice_has_no_way_between_the_sentences_and_that_is_said():
    at = open_link(a=PAIRS[0].first, b=PAIRS[0].first, word="bank")
    assert any("Both sentences are taken for one sense" in text for text in texts(at))
    at = at.button_group(key="way").set_value("sentences").run()
    assert not at.error
    assert any("A and B are the same sentence" in line for line in answers(at))


BAD = {
    "": "The text is empty", "   ": "The text is empty", "No such word here at all.": "No word stands in both sentences",
    "word " * 2000: "at most 512", "\x01\x02": "no token",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_bad_input_meets_a_message(main_view, text):
    at = main_view.text_input(key="a").set_value(text).run()
    assert any(BAD[text] in message for message in messages(at.error))


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


def test_what_is_left_out_of_a_long_sentence_is_said(main_view):
    at = main_view.text_input(key="a").set_value("The bank of the river. " + "It was a quiet day. " * 6).run()
    assert any("other words only the 8 that lead by gradient were hidden" in text for text in texts(at))
    row = everything(at.get("vega_lite_chart")[-1])
    assert "the 24 with the largest weights" in " ".join(row.split('", "'))


def test_a_word_that_stands_101_times_has_a_list_to_choose_from():
    at = open_link(a="bank " * 101, b="A bank.", word="bank")
    picker = at.selectbox(key="at_a")
    assert picker.label == "The word stands 101 times in A: which one?" and len(picker.options) == 101
    at = picker.set_value(101).run()
    assert at.selectbox(key="at_a").value == 101
    assert this_word(at) == 101


def this_word(at):
    """The number of the chosen word among the words of A."""
    words = records_of(at.get("vega_lite_chart")[0], "words").query("side == 0 and kind != 'special'")
    return words["kind"].tolist().index("chosen") + 1


def test_a_folder_is_called_by_its_name(tmp_path, monkeypatch):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "my-encoder")
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(folder))
    at = open_link()
    assert any(text.value.startswith("my-encoder\n") for text in at.sidebar.text)
    assert not any(str(tmp_path) in element.value for kind in (at.text, at.caption, at.markdown) for element in kind)
