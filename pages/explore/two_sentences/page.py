"""Draw the main view, "A word in two sentences"."""

import streamlit as st

from pages.explore.two_sentences import guess, one_head
from pages.explore.two_sentences.gallery import LINKS
from selfattn.dashboard import answer as answers
from selfattn.dashboard import session
from selfattn.dashboard.answer import Answer
from selfattn.dashboard.cache import cached
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.figures import literal, note_panel, say, show_method, show_panel, this_page
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.parts import show_part
from selfattn.dashboard.pickers import segmented, settled_head
from selfattn.dashboard.queue import let_browser_draw
from selfattn.dashboard.word_figure import complete_figure, hidden_words_now, note_hidden, show_figure, show_unmeasured
from selfattn.encoders.encoder import Encoder
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_by_stage
from selfattn.views.kernel_view import METHOD
from selfattn.views.layer_by_layer import beside_its_sense, layer_by_layer
from selfattn.views.nearest_sentences import nearest_sentences


def answer_now() -> Answer:
    page = this_page()
    answer = answers.answer_of(page.encoder, page.pair)
    if answer.found.senses is None:
        return answer
    with page.own:
        way = segmented("The distance that counts as 100 %", answers.NAMED, key=session.WAY, default=answers.SENSES)
    return answer if way == answers.SENSES else answers.answer_of(page.encoder, page.pair, way)


def show_layers(encoder: Encoder, answer: Answer) -> None:
    panel, asked = layer_by_layer(answer.found), st.expander("Layer by layer", key="layers", on_change="rerun")
    if not asked.open:
        note_panel(panel)
        return
    with asked:
        show_panel(panel)
        if beside := answers.beside_its_sense(encoder, answer):
            say(beside_its_sense(answer.found, *beside))


def show_nearest(encoder: Encoder, answer: Answer) -> None:
    """Show the labelled sentences in which the word's vector is nearest to its vector in sentence A."""
    asked = st.expander(
        "The sentences in which the word's vector is nearest to its vector in A", key="nearest", on_change="rerun"
    )
    if not asked.open:
        return
    with asked:
        labels, first, word = answer.labels, answer.pair.first, answer.pair.word
        if labels.rows.empty:
            say(f'No labelled sentence contains "{word}", so there is nothing to compare with.')
            return
        vectors = cached(
            encoder, ("labelled", labels.key), lambda _: labelled_vectors(encoder, labels.rows), costly=True
        )
        hidden = None if encoder.hide_reason else hidden_words_now(answer).get("A")
        asked_for = ("nearest", first.key, hidden and hidden.positions, labels.key)
        stages = cached(encoder, asked_for, lambda _: nearest_by_stage(encoder, first, vectors, hidden))
        names = dict(zip(("alone", "sentence", "hidden"), stages))
        state = segmented(
            "Vector of the word", names, key="nearest_to", label_visibility="collapsed", default="sentence"
        )
        name = names.get(state, names["sentence"])
        show_panel(nearest_sentences(encoder, word, name, stages[name]))


page = this_page()
encoder, pair = page.encoder, page.pair
with page.headline.container(key="question"):
    st.title(literal(f'Where does "{pair.word}" get its meaning?'), anchor=False)
new, unmeasured = session.HIDDEN.get() == session.HIDDEN.first, show_unmeasured(encoder, pair)
answer = answer_now()
asked = guess.asked()
missed = st.container()  # for warnings about the link
show_part("figure", lambda: show_figure(encoder, answer))
if method := page.panels[0].method:
    show_method(method)  # outside the part that reruns, because the method never changes
unmeasured.empty()
with missed:
    page.leading = answers.leading_head_of(encoder, answer)
    page.head = settled_head(encoder, page.leading)
    note_hidden(answer)
with page.beside:
    guess.show(answer.found)
call = "notebook.hidden_words(encoder, a, b, control, word, at=at, senses=senses)"
page.python = lines(answers.copied_senses(answer), load_pair(encoder, pair), call)
if new:
    let_browser_draw()
if not asked:  # the rest of the page gives the answer away
    st.subheader("One head, number by number", anchor=False)
    one_head.pick(encoder)
    show_part("head", lambda: one_head.show(encoder, answer))
    if encoder.recomputable:
        show_method(METHOD)  # outside the part that reruns
    show_layers(encoder, answer)
    show_nearest(encoder, answer)
    with st.expander("Six views to open"):
        st.markdown("\n".join(LINKS))
        show_link("from-scratch", "New to attention? Start here")
    complete_figure(encoder, answer)
