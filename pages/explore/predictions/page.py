"""Predictions: the encoder's own answer (a class, a similarity, a gap), and which words and heads it rests on."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages.explore.predictions.over_table import show_over_table
from pages.explore.predictions.questions import pick_question
from selfattn.analysis.explaining import Explained, explain, removed_in_turn
from selfattn.captions import predictions as captions
from selfattn.captions.vectors import OF_LOG_PROBABILITY, noise_floor
from selfattn.charts.head_map import head_map
from selfattn.charts.which_word import shaded_sentences
from selfattn.dashboard.answer import SHORT
from selfattn.dashboard.cache import cached
from selfattn.dashboard.figures import current_theme, say, show_chart, side_by_side, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.export.notebook_lines import predictions_lines
from selfattn.tidy_tables import explained_heads_frame, explained_words_frame
from selfattn.views.predictions import Question


def explained(encoder: Encoder, question: Question) -> Explained:
    """The question's words and heads, the chosen head run as well, from the cache or now."""
    sentence, head = question.sentence, this_page().head
    key = ("explained", sentence.text, *question.key)
    target = question.asked(sentence)
    found = cached(
        encoder, key, lambda progress: explain(encoder, sentence, target, progress=progress), "Hiding each word ...",
        costly=len(sentence.tokens) > SHORT,
    )  # fmt: skip
    if found.heads.isnan().all() or found.heads[head].isfinite():
        return found
    (without,) = cached(encoder, (*key, head), lambda _: removed_in_turn(encoder, sentence, target, [head]))
    heads = found.heads.clone()
    heads[head] = without - found.number
    return replace(found, heads=heads)


def show_words(found: Mapping[Question, Explained]) -> None:
    """The words, shaded by what hiding each does to the answer."""
    st.markdown("**Which words it rests on**", help=captions.HELP)
    what = f"change of {next(iter(found)).what}"
    frame = explained_words_frame(
        {f"{what}, each word hidden{question.where}": each for question, each in found.items()}
    )
    readings = [captions.words(each, question.what, question.write, question.where) for question, each in found.items()]
    chart = shaded_sentences(frame, current_theme(), effect=what)
    show_chart(chart, "\n".join(readings), one_head=False, name="what hiding each word does", table=lambda: frame)


def show_answers(question: Question) -> None:
    """The classes, or the likeliest words of the gap, with their probabilities."""
    if len(question.answers):
        bar = st.column_config.ProgressColumn(format="%.3f", min_value=0.0, max_value=1.0)
        st.dataframe(question.answers, hide_index=True, column_config={"probability": bar}, width="stretch")
        this_page().tables["answers"] = lambda: question.answers


def show_heads(encoder: Encoder, question: Question, found: Explained) -> None:
    """Layers x heads by what removing each does to the answer; a click chooses a head."""
    if found.notes:
        st.info("No head can be removed from this encoder.")
        say("\n".join(found.notes))
        return
    chosen, frame = str(this_page().head), explained_heads_frame(found)
    floor = {"effect": OF_LOG_PROBABILITY if question.key[0] != "similarity" else 1.0}
    frame, noise = noise_floor(frame, "effect", encoder.dtype, floor)
    reading = captions.heads(frame, chosen, question.what, question.write, question.where)
    title = f"change of {question.what}"
    chart = head_map(frame, "effect", current_theme(), chosen, title=[title, "the largest are exact"])
    show_chart(chart, f"{reading} {noise}".rstrip(), key="predictions", heads=True, name=title)


encoder = this_page().encoder
questions = pick_question(encoder, this_page().sentence)
found = {question: explained(encoder, question) for question in questions}
this_page().python = predictions_lines(questions, this_page().head), {"encoder": encoder}
show_words(found)
heads, answers = side_by_side()
with heads:
    st.markdown("**Through which heads**", help=captions.HEADS_HELP)
    show_heads(encoder, questions[0], found[questions[0]])
with answers:
    show_answers(questions[0])
show_over_table(encoder, questions[0])
