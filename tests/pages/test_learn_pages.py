"""Every lesson page through Streamlit's AppTest: the published figures first, changed inputs, bad numbers."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.learn.from_scratch.stops import STOPS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def page(name, **query):
    at = AppTest.from_file(str(ROOT / "pages" / name / "page.py"), default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def stop(slug, reveal=True):
    return page("learn/from_scratch", stop=slug, **({"reveal": "yes"} if reveal else {}))


def words(at):
    """All that the page says, readings included."""
    return "\n".join(element.value for element in [*at.text, *at.markdown])


def n_charts(at):
    return len(at.get("vega_lite_chart"))


@pytest.mark.parametrize("slug", STOPS)
def test_every_stop_shows_its_title_and_its_picture(slug):
    at = stop(slug)
    assert not at.exception
    assert not at.error
    assert at.subheader[0].value == STOPS[slug].TITLE
    assert n_charts(at) or slug == "kernel"


@pytest.mark.parametrize(
    ("slug", "published"),
    [
        ("projections", "0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820; context (0.3061, 0.8210)"),
        ("dot-product", "(2 × 5) + (3 × -1)  =  7"),
        ("magnitude", "long, misaligned: 7; short, aligned: 5."),
        ("three-words", "0.46 + 0.32 + 0.22 = 1."),
        ("worked-example", "=  [1.79, 1.44]"),
        ("worked-example", '"animal" gets 87%.'),
        ("geometry", "animal 10 → 87%, street 7 → 10%, because 5 → 3%"),
        ("twelve-tokens", '"not" 0.67, "amazing" 0.33. Context [0.99999467, 0.33023767].'),
        ("annotated-heatmap", '"amazing" attends most to soundtrack, amazing (0.50)'),
        ("kernel", "weights  [0.87, 0.10, 0.03]"),
    ],
)
def test_the_published_figures_are_what_a_visitor_sees_first(slug, published):
    assert published in words(stop(slug))


@pytest.mark.parametrize(
    ("slug", "box", "typed", "expected"),
    [
        ("dot-product", "dot-product.a", "1, 1", "(1 × 5) + (1 × -1)  =  4"),
        ("worked-example", 'worked-example.query of "it"', "1, 4", '"street" gets 100%.'),
        ("three-words", "three-words.not", "0, 1", "0.40 + 0.40 + 0.20 = 1."),
        ("soft-lookup", "soft-lookup.query", "1, 0", '"loans" fits best.'),
        ("geometry", "geometry.key: street", "0, 0", "street 0 → 0%"),
        ("twelve-tokens", "twelve-tokens.Q = K of not", "0, 0", '"amazing" 1.00'),
        (
            "annotated-heatmap",
            "annotated-heatmap.Q = K of soundtrack",
            "0, 0",
            '"amazing" attends most to amazing (1.00)',
        ),
        ("magnitude", "magnitude.long, misaligned", "0, 1", "long, misaligned: 1; short, aligned: 5."),
        ("projections", "projections.journey", "0, 0, 0", '"journey" becomes (0.00, 0.00).'),
    ],
)
def test_every_number_follows_what_the_visitor_types(slug, box, typed, expected):
    at = stop(slug)
    before = words(at)
    at.text_input(key=box).set_value(typed).run()
    assert not at.exception
    assert expected in words(at)
    at.button(key=f"{slug}.reset").click().run()
    assert words(at) == before


def test_order_takes_the_visitors_words_and_refuses_what_it_cannot_shuffle():
    at = stop("order")
    before = words(at)
    at.text_input(key="order.words").set_value("rain follows sun today").run()
    assert not at.exception and "rain attends to: rain" in words(at)
    assert re.search(r"in the other: [0-9.]+e-1[4-9]|in the other: 0", words(at))
    at.text_input(key="order.words").set_value("sun sun").run()
    assert not at.exception and n_charts(at) == 0 and "Expected two to 8 different words" in at.error[0].value
    at.button(key="order.reset").click().run()
    assert words(at) == before


@pytest.mark.parametrize("typed", ["", "nan, 1", "1e12, 1", "three, one", "3", "$x$, :red[1]"])
def test_bad_numbers_get_a_message_and_no_traceback(typed):
    at = stop("worked-example")
    at.text_input(key='worked-example.query of "it"').set_value(typed).run()
    assert not at.exception
    assert at.error[0].value == "These numbers can't be used."
    assert "expected" in words(at)
    assert n_charts(at) == 0


@pytest.mark.parametrize("slug", ["magnitude", "scaling", "causal-mask", "twelve-tokens", "order", "drawn-numbers"])
def test_a_question_stands_before_its_answer(slug):
    at = stop(slug, reveal=False)
    assert n_charts(at) == 0
    question = at.radio(key=f"{slug}.prediction")
    question.set_value(question.options[0]).run()
    assert n_charts(at) > 0
    assert "The reason is below." in words(at)


def test_just_show_me_reveals_without_a_guess():
    at = stop("scaling", reveal=False)
    at.button(key="scaling.show").click().run()
    assert "The answer: **one word takes nearly all the weight**" in words(at)
    assert n_charts(at) == 4


def test_previous_and_next_walk_the_path_and_write_the_address():
    at = page("learn/from_scratch")
    assert at.button[0].disabled
    at.button[1].click().run()
    assert at.query_params["stop"] == "projections"
    assert at.subheader[0].value == STOPS["projections"].TITLE
    at.selectbox(key="choice of stop").set_value("drawn-numbers").run()
    assert at.query_params["stop"] == "drawn-numbers"
    assert at.button[1].disabled


def test_an_unknown_stop_opens_the_first():
    assert stop("nowhere").subheader[0].value == STOPS["soft-lookup"].TITLE


def test_the_causal_toggle_gives_everything_to_not():
    at = stop("twelve-tokens")
    at.toggle(key="twelve-tokens.causal").set_value(True).run()
    assert '"not" 1.00' in words(at)


def test_a_low_temperature_makes_the_lookup_hard():
    at = stop("soft-lookup")
    at.slider(key="soft-lookup.t").set_value(-2.0).run()
    assert "**Hard answer 20.0, soft answer 20.0.**" in words(at)


def test_the_masks_four_cases_on_a_real_head():
    at = stop("causal-mask")
    at.radio(key="causal-mask.source").set_value("my own sentence, a real head").run()
    at.text_input(key="causal-mask.sentence").set_value("One two three.").run()
    assert not at.exception
    assert n_charts(at) == 4
    assert words(at).count("at most 0.00 of a row falls on later words") == 3


def test_a_sentence_that_no_encoder_reads_gets_a_message():
    at = stop("not-symmetric")
    at.text_input(key="not-symmetric.sentence").set_value("   ").run()
    assert not at.exception
    assert at.error


def test_recurrence_counts_and_follows_the_published_sentence():
    at = page("learn/recurrence")
    assert '"bank", to word 7, "it": 5 steps through a recurrence, with 4 states in between.' in words(at)
    assert "plain recurrence 0.59" in words(at)
    at.slider(key="recurrence.gain").set_value(1.0).run()
    assert "plain recurrence 1.00" in words(at)
    next(button for button in at.button if button.label == "cat … ran").click().run()
    assert '"cat", to word 19, "ran": 17 steps' in words(at)
    assert not at.exception


def test_recurrence_takes_the_visitors_sentence_and_refuses_one_word():
    at = page("learn/recurrence")
    at.text_input(key="recurrence.sentence").set_value("Never odd or even").run()
    assert not at.exception
    assert '"odd", to word 4, "even"' in words(at)
    at.text_input(key="recurrence.sentence").set_value("Never").run()
    assert not at.exception
    assert "Expected a sentence of 2 to 60 words, got 1" in words(at)


def test_recurrence_is_timed_live():
    at = page("learn/recurrence")
    next(button for button in at.button if button.label == "Time it").click().run()
    assert "times as long as the one matrix product" in words(at)


def test_the_tiny_model_trains_in_the_page_and_answers():
    at = page("learn/train_a_tiny_one")
    assert "**777 numbers**" in words(at)
    at.number_input(key="tiny.epochs").set_value(4).run()
    next(button for button in at.button if button.label == "Train").click().run()
    assert not at.exception
    said = words(at)
    assert "Accuracy 100.0 %; of 165 positives it finds 100 %." in said
    assert "Sentence 103 of the data, [0 34 13 33 42 17 3]: 0.9" in said
    at.text_input(key="tiny.try").set_value("1, 2, 3, 4, 5, 6").run()
    assert "It says no" in words(at)
    at.text_input(key="tiny.try").set_value("1, 2, 3, 4, 5, 600").run()
    assert "whole numbers from 1 to 50" in words(at)
    assert not at.exception


def test_random_labels_find_nothing():
    at = page("learn/train_a_tiny_one")
    at.number_input(key="tiny.epochs").set_value(2).run()
    at.toggle(key="tiny.random").set_value(True).run()
    next(button for button in at.button if button.label == "Train").click().run()
    assert "of 165 positives it finds 0 %." in words(at)
    assert "**The control.**" in words(at)


def test_one_word_starts_from_one_vector_and_takes_the_visitors_sentences():
    at = page("learn/one_word_one_vector")
    assert not at.exception
    assert 'Bare vectors of "bank" in 6 sentences: largest difference 0.' in words(at)
    assert n_charts(at) == 3
    at.slider(key="one-word.layer").set_value(1).run()
    assert not at.exception
    at.text_input(key="one-word.word").set_value("bat").run()
    assert "expected the word 'bat'" in words(at)
    at.text_area(key="one-word.text").set_value("A bat flew by.\nHe swung the bat. | sport").run()
    assert 'Bare vectors of "bat" in 2 sentences' in words(at)
    assert not at.exception
    at.text_area(key="one-word.text").set_value("A bat flew by.").run()
    assert "Expected 2 to 8 sentences, got 1" in words(at)


def view(name, **query):
    at = AppTest.from_file(str(ROOT / "pages/learn/pronouns_and_negation/page.py"), default_timeout=120)
    at.session_state["view"] = name
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def test_pronouns_ask_first_then_judge_the_best_head_on_the_other_half():
    at = view("Pronouns")
    assert n_charts(at) == 0
    at.radio(key="pronouns.prediction").set_value("no better than luck can explain").run()
    assert not at.exception
    assert len(at.metric) == 4
    assert "a coin is right in 50 %" in words(at)
    at.selectbox(key="pronouns.twin").set_value(at.selectbox(key="pronouns.twin").options[2]).run()
    at.toggle(key="pronouns.remove").set_value(True).run()
    assert not at.exception
    assert "of 72." in words(at)


def test_negation_shows_the_printed_row_beside_a_real_one():
    at = view("Negation")
    assert not at.exception
    assert "On not: 0.55." in words(at)
    assert n_charts(at) == 4


def test_many_heads_name_what_each_looks_at_in_the_visitors_sentence():
    at = view("Many heads")
    assert "What gets most weight, in how many heads: a special token" in words(at)
    at.text_input(key="many-heads.sentence").set_value("Dog bites man").run()
    assert not at.exception
    assert n_charts(at) == 1


def test_what_it_cannot_tell_computes_a_counterexample_for_each_claim():
    at = page("about/what_it_cannot_tell")
    assert not at.exception
    said = words(at)
    for part in (
        "of the context",
        "of all weight moved elsewhere",
        "add up to",
        "equal weights",
        "heads guessed",
    ):
        assert part in said


def test_class_links_open_a_question_unrevealed():
    from pages.learn.from_scratch.class_materials import QUESTIONS, link

    assert link("http://host:8501/from-scratch?stop=order&reveal=yes", "scaling") == (
        "http://host:8501/from-scratch?stop=scaling"
    )
    assert len(QUESTIONS) >= 3
    assert all(n_charts(stop(slug, reveal=False)) == 0 for slug in QUESTIONS)
