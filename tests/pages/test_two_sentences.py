"""Test the start page: widgets, and messages about bad input."""

import json
import re

import pandas as pd
import pytest
import torch

from selfattn import Hide, load_encoder, numbers
from selfattn.analysis.measures import similarity
from selfattn.analysis.word_map import WordMap
from selfattn.dashboard import answer, download, figures, pickers, queue, session, word_figure
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.stored_reports import stored
from selfattn.views.finding import finding, named_words
from selfattn.views.layer_by_layer import NO_CONTROL
from selfattn.views.main_view import measured
from tests.pages.conftest import open_link
from tests.pages.pictures import charts, live, matrix, same, spec_of

pytestmark = pytest.mark.slow


def texts(at):
    return [element.value for element in at.get("text")] + messages(at.markdown)


def has(at, part):
    return any(part in text for text in texts(at))


def sentences(at):
    return tuple(at.text_input(key=key).value for key in "abc")


def messages(elements):
    return [element.value.replace("\\", "") for element in elements]


def figure(at):
    return live(at, "way")


def chosen_head(at):
    (named,) = (named for text in messages(at.markdown) if (named := re.match(r"\*\*Head (\d+) of layer (\d+)", text)))
    return f"L{named[2]} H{named[1]}"


def words_of(at, side=0):
    return [word["text"] for word in figure(at)["sides"][side]["words"]]


def finding_of(encoder, pair, way="senses"):
    """Return the finding that the figure must show, computed without the page."""
    places = [encoder.encode(text).places(pair.word)[0] for text in (pair.first, pair.second, pair.control)]
    labelled = labelled_sentences()
    means = stored("sense_means", encoder, labelled).report.of(pair.word, encoder, labelled)
    level = stored("hidden_words", encoder, labelled).report.level.level if way == "senses" else float("nan")
    found = measured(encoder, *places, means if way == "senses" else None)
    return finding(found, named_words(found, level), level)


def example(word):
    return next(pair for pair in PAIRS if pair.word == word)


def test_chosen_head_is_shown_instead_of_default(main_view, encoder):
    at = main_view
    assert sentences(at) == PAIRS[0].sentences and chosen_head(at) == "L0 H10"
    at = at.button_group(key="example").set_value("mouse").run()
    assert sentences(at) == example("mouse").sentences and figure(at)["finding"] == finding_of(
        encoder, example("mouse")
    )
    assert at.query_params["example"] == "mouse" and messages(at.title) == ['Where does "mouse" get its meaning?']
    at.session_state["head"] = "L3 H7"
    at.run()
    assert chosen_head(at) == "L3 H7"
    assert any("Head 7 of layer 3" in text for text in messages(at.markdown))
    assert chosen_head(at.button_group(key="example").set_value("bank").run()) == "L3 H7"
    assert at.query_params["head"] == "L3 H7"


def test_example_chosen_in_list_is_shown(main_view):
    at = main_view.selectbox(key="more").set_value("bat").run()
    assert sentences(at) == example("bat").sentences and at.button_group(key="example").value == "bat"
    assert at.selectbox(key="more").value is None


def test_figure_has_line_between_senses_or_between_sentences(main_view, encoder):
    assert figure(main_view)["way"]["between"] == "senses"
    at = main_view.button_group(key="way").set_value("sentences").run()
    assert figure(at)["finding"] == finding_of(encoder, PAIRS[0], way="sentences")
    assert figure(at)["way"]["between"] == "sentences" and "not two senses" in figure(at)["beyond"]["text"]


def test_all_figures_hide_words_named_in_link(encoder):
    at = open_link(hide_a="river", hide_b="loan")
    assert figure(at)["chosen"]["hidden"] == [6, 6]
    titles = [part["title"]["text"] for part in spec_of(at.get("vega_lite_chart")[0])["hconcat"]]
    sides = zip(charts(at), titles, (PAIRS[0].first, PAIRS[0].second), ("river", "loan"))
    for marks, title, text, hidden in sides:
        tokens = encoder.encode(text)
        word, other = (tokens.places(each)[0].positions for each in ("bank", hidden))
        run = encoder.encode(text, hidden=[Hide(word, other)])
        drawn = matrix(marks)
        assert same(drawn, run.weights(0, 10)) and drawn[word[0], other[0]] == 0
        assert f'"{hidden}" hidden' in title
    for side, hidden in zip(live(at, "kernel")["sides"], ("river", "loan")):
        assert [row["text"] for row in side["rows"] if row["hidden"]] == [hidden]
        assert [row["cells"]["masked"] for row in side["rows"] if row["hidden"]] == ["−∞"]
    assert (at.query_params["hide_a"], at.query_params["hide_b"]) == ("river", "loan")
    at = at.button_group(key="example").set_value("mouse").run()
    assert figure(at)["chosen"]["hidden"] == [None, None] and not {"hide_a", "hide_b"} & {*at.query_params}


def test_hide_parameter_can_name_second_occurrence_of_word(encoder):
    at = open_link(hide_a="the (2)")
    assert figure(at)["chosen"]["hidden"] == [5, None] and at.query_params["hide_a"] == "the (2)"
    at = open_link(hide_a="lake")
    assert figure(at)["chosen"]["hidden"] == [None, None]
    assert (
        "The link asks to hide 'lake', but sentence A doesn't have this word. Shown instead: nothing hidden."
        in messages(at.warning)[0]
    )


@pytest.mark.parametrize(
    ("state", "value"),
    [
        ("head", 72), ("head", -1), ("head", "10"), ("head", None), ("hidden", [9, None]), ("hidden", [True]), ("hidden", "ab"),
        ("hidden", [0.5, None]), ("hidden", None), ("guess", [2, 0]), ("guess", [0, 99]), ("guess", [0, None]), ("guess", 7),
    ],
)  # fmt: skip
def test_invalid_values_from_browser_are_ignored(encoder, monkeypatch, state, value):
    monkeypatch.setattr(word_figure.st, "rerun", lambda *_: pytest.fail("the value was accepted"))
    pair = answer.Pair(*(encoder.encode(text).places("bank")[0] for text in PAIRS[0].sentences))
    word_figure._choose(encoder, answer.answer_of(encoder, pair), state, value)


@pytest.mark.parametrize(("value", "chosen"), [(43, "L3 H7"), (10, "L0 H10"), (72, None), (True, None), ("4", None)])
def test_click_in_kernel_figure_chooses_head(encoder, main_view, monkeypatch, value, chosen):
    show, clicks = figures.show_live, [value]

    def clicked(live, key, choose, *states):
        show(live, key, choose, *states)
        if "query" in states and clicks:
            choose("head", clicks.pop())

    monkeypatch.setattr(figures, "show_live", clicked)
    at = main_view.run().run()
    assert chosen_head(at) == (chosen or "L0 H10")
    assert at.query_params.get("head") == (chosen if chosen == "L3 H7" else None)


def test_edit_keeps_chosen_word(main_view):
    main_view.session_state["a"] = "The gnome left the bank."
    at = main_view.text_input(key="b").set_value("The gnome found a bank.").run()
    assert at.selectbox(key="word").value == "gnome" and at.button_group(key="example").value is None
    at.selectbox(key="word").set_value("bank").run()
    at = at.text_input(key="a").set_value("A gnome and the bank.").run()
    assert at.selectbox(key="word").value == "bank"


NEXT = 'There is no control sentence yet. Write a third sentence in which "bank" has the same sense as in A.'


def test_edit_of_sentence_a_affects_control_sentence(main_view):
    main_view.session_state["layers"] = True
    at = main_view.text_input(key="b").set_value("The bank lent us money.").run()
    # Sentence A hasn't changed, so the control sentence stays.
    assert at.text_input(key="c").value == PAIRS[0].control and NEXT not in messages(at.caption)
    at = at.text_input(key="a").set_value("The bank was robbed.").run()
    assert at.text_input(key="c").value == "" and NEXT in messages(at.caption)
    assert sum(NO_CONTROL in text for text in texts(at)) == 1
    at = at.text_input(key="c").set_value("They robbed the bank.").run()
    assert not messages(at.info) and not has(at, NO_CONTROL)
    at = at.text_input(key="a").set_value("The bank of the Nile.").run()
    assert at.text_input(key="c").value == "They robbed the bank."
    assert messages(at.info) == [
        'Sentence A has changed. Does "bank" still have the same sense in the control as in A?'
    ]
    at = at.text_input(key="c").set_value("A sentence that has it not.").run()
    assert messages(at.info)[0].startswith('The control sentence doesn\'t contain "bank".')


def test_link_with_two_sentences_has_no_control_sentence():
    at = open_link(a="The bank was robbed.", b=PAIRS[0].second)
    assert at.text_input(key="c").value == "" and at.button_group(key="example").value is None
    assert at.selectbox(key="word").value == "bank" and NEXT in messages(at.caption)


def test_word_unknown_to_tokeniser_is_reported(main_view):
    glued, unknown = (
        "They lay on the bank🏦 of the stream.",
        'doesn\'t know "bank🏦". The encoder reads [UNK] instead.',
    )
    main_view.session_state["layers"] = True
    at = main_view.text_input(key="c").set_value(glued).run()
    first, second = messages(at.info)
    assert first.startswith("The control sentence: ") and unknown in first
    assert "doesn't know 'bank🏦' and reads it as [UNK]" in second and "So the control sentence isn't used." in second
    assert has(at, NO_CONTROL) and not has(at, "A and the control")
    at = at.text_input(key="a").set_value(glued).run()
    assert "bank" not in at.selectbox(key="word").options
    assert "bank🏦 [UNK]" in words_of(at)


def test_infinite_vectors_are_reported(overflowing):
    (error,) = messages(open_link(model="another ...", other=str(overflowing)).error)
    assert error.startswith("Sentence B: ") and "in float32, first in the embeddings" in error


def test_effects_become_exact_when_map_of_heads_opens(nothing_computed):
    at = open_link()
    assert not any(side["exact"] for side in figure(at)["sides"])
    at.session_state[session.HEADS] = at.session_state[session.HIDDEN][0]  # as if the map were opened
    assert all(side["exact"] for side in figure(at.run())["sides"])


def test_kernel_figure_hands_on_exact_effects_of_hidden_word(nothing_computed):
    at = open_link(hide_a="of")
    assert "exact" not in live(at, "kernel")
    at.session_state[session.HEADS] = at.session_state[session.HIDDEN][0]
    exact, shown = live(at.run(), "kernel")["exact"], figure(at)
    (of,) = (str(word["at"]) for word in shown["sides"][0]["words"] if word["text"] == "of")
    assert exact["key"] == shown["key"] and of in exact["sides"][0]
    assert exact["sides"] == [side["exact"] for side in shown["sides"]]


def test_download_has_exact_effects_of_heads(main_view, monkeypatch):
    runs, offered, noted = [], [], word_figure.note_hidden
    monkeypatch.setattr(word_figure, "note_hidden", lambda *given: (runs.append(given), noted(*given)))
    shown = download.show_download
    monkeypatch.setattr(download, "show_download", lambda page: (offered.append(page.panels), shown(page)))
    at = main_view.text_input(key="b").set_value("The bank kept the money of a widow.").run()
    assert not any(side["exact"] for side in offered[-1][0].live.data["sides"])
    at.session_state[session.DOWNLOAD] = True
    runs.clear()
    at.run()
    assert len(runs) == 1 and all(side["exact"] for side in offered[-1][0].live.data["sides"])
    assert offered[-1][-1].name == "layers"  # although the box with the curves is folded


def test_new_session_draws_sentences_before_results(nothing_computed, monkeypatch):
    shown, b = [], "The bank kept the coins of a cook."
    monkeypatch.setattr(word_figure, "show_stored", lambda name, data: shown.append(data))
    open_link(b=b)
    assert not shown
    monkeypatch.setattr(word_figure, "LONG", 0)
    open_link(b=b)
    assert not shown  # the pair was measured already
    at = open_link(b="The bank kept the coins of a baker.")
    (data,) = shown
    assert (
        data["finding"] == 'Hiding one word at a time from "bank" ...'
        and data["sides"][1]["words"][-2]["text"] == "baker"
    )
    assert (data["way"], data["heads"], data["guess"]) == (None, None, False)
    at.text_input(key="b").set_value("The bank kept the coins of a nurse.").run()
    assert len(shown) == 1  # the earlier figure stays


def test_only_first_run_of_session_waits_for_browser(monkeypatch):
    starts = []
    monkeypatch.setattr(queue, "let_browser_draw", lambda: starts.append(1))
    at = open_link()
    assert len(starts) == 1
    at.text_input(key="b").set_value("The bank kept the coins of a nurse.").run()
    assert len(starts) == 1


def test_edit_of_sentence_b_recomputes_only_sentence_b(main_view, monkeypatch):
    asked, made = [], answer.hidden_by_head

    def by_head(encoder, words, targets):
        asked.extend(word.sentence.text for word in words)
        return made(encoder, words, targets)

    monkeypatch.setattr(answer, "hidden_by_head", by_head)
    changed = "The bank kept the gold of a baker."
    main_view.text_input(key="b").set_value(changed).run()
    assert asked == [changed]


@pytest.mark.parametrize("family", ["XLNet", "LiLT"])
def test_default_head_has_strongest_attention_if_hiding_is_impossible(checkpoint, family):
    folder = str(checkpoint(family))
    at = open_link(model="another ...", other=folder)
    assert not at.error and figure(at)["finding"].startswith('No word can be hidden from "bank" in this encoder')
    assert figure(at)["heads"]["reason"] and not any(side["exact"] or side["named"] for side in figure(at)["sides"])
    shown = load_encoder(folder)
    assert (
        has(at, "selfattn can't show how this head computes weights: in layer 0 of lilt, the recomputed weights")
        == shown.patchable
    )
    most = 0
    for text in (PAIRS[0].first, PAIRS[0].second):
        (word,) = shown.encode(text).places("bank")
        rows = word.sentence.word_rows(word.positions)
        most += torch.stack([rows[..., list(other.positions)].sum(-1) for other in word.others]).amax(0)
    assert chosen_head(at) == str(shown.all_heads[int(most.argmax())])


def test_page_lists_sentences_nearest_to_chosen_vector(encoder):
    frame = labelled_sentences().query("word == 'bank'")
    (word,), (river,) = (encoder.encode(PAIRS[0].first).places(each) for each in ("bank", "river"))
    hidden = encoder.encode(PAIRS[0].first, hidden=[Hide(word.positions, river.positions)])
    labelled = encoder.encode_batch(frame["sentence"].tolist())
    at = open_link(hide_a="river")
    at.session_state["nearest"] = True
    at = at.run()
    assert at.button_group(key="nearest_to").options == ["alone", "in its sentence", 'with "river" hidden']
    distinct = set()
    for state, run in (("alone", None), ("sentence", word.sentence), ("hidden", hidden)):
        at = at.button_group(key="nearest_to").set_value(state).run()
        findings = [text.value for text in at.markdown if text.value.startswith("**Of the three sentences nearest ")]
        distinct |= set(findings)
        if run is None:
            continue  # before attention, all sentences are equally near
        vector, near = run.vector(6, word.positions), []
        for row, other in zip(frame.itertuples(), labelled, strict=True):
            cosine = float(similarity(other.vector(6, other.places("bank")[0].positions), vector))
            near.append((cosine, row.sentence, row.sense))
        rows = json.loads(at.get("bidi_component")[-1].proto.json)["rows"]
        shown = [(row["said"], "".join(" " * word["gap"] + word["text"] for word in row["words"])) for row in rows]
        three = sorted(near, reverse=True)[:3]
        assert shown == [(f"cosine {numbers.cosine(cosine)}, {sense}", sentence) for cosine, sentence, sense in three]
    assert len(distinct) == 3


MINT = {
    "coin": ("The mint struck a coin for the king.", "The mint made silver coins all year.", "Gold left the mint as coins.",
             "A mint stamps coins and medals.", "The royal mint issued a new coin."),
    "leaf": ("She put mint in the tea.", "The mint leaves smelled fresh.", "Chop the mint and add it to the salad.",
             "A sprig of mint cooled the drink.", "He grew mint and basil in a pot."),
}  # fmt: skip


def test_figure_uses_senses_of_uploaded_table(encoder):
    a, b = "They brought the metal to the mint for new coins.", "We cut some mint for a cup of tea."
    at = open_link(a=a, b=b, word="mint")
    assert not any(button.key == "way" for button in at.button_group)
    assert figure(at)["way"]["between"] == "sentences"
    rows = [(sentence, "mint", sense) for sense, sentences in MINT.items() for sentence in sentences]
    table = pd.DataFrame(rows, columns=["sentence", "word", "sense"])
    at.session_state[session.TABLE_READ] = ("id", table, None, "digest")
    at.run()
    found = measured(encoder, *(encoder.encode(text).places("mint")[0] for text in (a, b)), senses=table)
    assert found.senses == ("coin", "leaf")
    nan = float("nan")  # no noise level is known
    assert figure(at)["finding"] == finding(found, named_words(found, nan), nan)
    assert [end["label"] for end in figure(at)["way"]["ends"]] == ["coin", "leaf"] and figure(at)["way"][
        "level"
    ] is None


def test_answer_appears_only_after_guess(encoder):
    at = open_link(guess="yes")
    asked = figure(at)
    assert asked["guess"] and asked["finding"] == 'Which word, if hidden, would change "bank" most? Click one.'
    assert "44" not in json.dumps(asked["sides"]) and not has(at, "44") and asked["beyond"] == {"text": ""}
    assert not any(word["share"] for side in asked["sides"] for word in side["words"])
    at.session_state["guessed"] = (0, 4)
    at = at.run()
    assert (
        'You guessed "of" in A. Hiding "of" moves "bank" 16 % of the way. Hiding "river" moves "bank" furthest, 44 % of the way.'
        in texts(at)
    )
    assert any("Ask a friend the same" in element.value and "guess=yes" in element.value for element in at.markdown)
    assert "guess" not in at.query_params and figure(at)["finding"] == finding_of(encoder, PAIRS[0])
    assert figure(at)["guessed"] == [0, 4]
    at.session_state["guessed"] = (1, 6)
    assert 'You guessed "loan" in B. Right: hiding "loan" moves "bank" furthest, 20 % of the way.' in texts(at.run())


BAD = {
    "": "The text is empty", "No such word here at all.": "No word is in both sentences", "word " * 2000: "at most 512",
    "\x01\x02": "only special tokens",
}  # fmt: skip


def test_bad_input_is_reported(main_view):
    for text, message in BAD.items():
        at = main_view.text_input(key="a").set_value(text).run()
        assert any(message in error for error in messages(at.error))


def test_map_of_long_sentence_shrinks_and_zooms(main_view, monkeypatch):
    monkeypatch.setattr(WordMap.binned, "__defaults__", (32,))  # instead of 256, to be quick
    monkeypatch.setattr(pickers, "ZOOM", 32)
    at = main_view.text_input(key="a").set_value("The bank of the river. " + "It was a quiet day. " * 8).run()
    assert has(at, "Each cell shows the largest of 2 × 2 weights")
    assert any("the words with the largest effects, estimated by gradient" in line for line in figure(at)["below"])
    (zoom,) = [slider for slider in at.slider if slider.label == "Rows and columns drawn"]
    zoom.set_value((0, 20)).run()
    assert not has(at, "Each cell shows the largest")


def test_picker_lists_occurrences_of_frequent_word():
    at = open_link(a="bank " * 12, b="A bank.", word="bank")
    picker = at.selectbox(key="at_a")
    assert (
        picker.label == "The word occurs 12 times in sentence A. Which occurrence do you mean?"
        and len(picker.options) == 12
    )
    at = picker.set_value(12).run()
    assert [word["kind"] for word in figure(at)["sides"][0]["words"]].index("chosen") == 11


def test_chinese_word_of_several_tokens_can_be_chosen():
    at = open_link(a="我中国大", b="大中国人", word="中国")
    word = at.selectbox(key="word")
    assert not at.exception and word.value == "中国" and word.options[-1] == "中国" and {"中", "国"} <= {*word.options}
    assert "中国" in messages(at.title)[0]


def test_word_matches_any_case_and_unicode_form():
    at = open_link(a="A cafe\u0301 by the river.", b="The café was shut.", word="CAFÉ")
    assert not at.exception and at.selectbox(key="word").value == "cafe\u0301"


def test_chosen_word_is_replaced_if_missing(main_view):
    for key, text in (("a", "中国的 bank."), ("b", "A bank in 中国.")):
        at = main_view.text_input(key=key).set_value(text).run()
    at = at.selectbox(key="word").set_value("国").run()
    at = at.text_input(key="b").set_value("A bank.").run()
    notice = '"国" isn\'t in both sentences. Shown instead: "bank".'
    assert notice in messages(at.run().info) and at.selectbox(key="word").value == "bank"
    at = at.text_input(key="b").set_value("A bank in 日本, 中.").run()
    assert notice in messages(at.info)
    assert notice not in messages(at.selectbox(key="word").set_value("中").run().info)
