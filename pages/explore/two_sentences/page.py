"""The main view: which words give a word its meaning in two sentences, through which heads, and the limits of that answer."""

import streamlit as st

from pages.explore.two_sentences import guess, one_head
from pages.explore.two_sentences.gallery import LINKS
from selfattn import numbers
from selfattn.captions import hidden_words as captions
from selfattn.captions import nearest_sentences
from selfattn.captions.terms import TERMS
from selfattn.charts.labels import isolated
from selfattn.dashboard import answer, session
from selfattn.dashboard.cache import cached
from selfattn.dashboard.choice import Pair
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.figures import literal, say, show_links, this_page
from selfattn.dashboard.parts import show_part
from selfattn.dashboard.pickers import keep_head, segmented
from selfattn.dashboard.word_figure import hidden_now, show_figure
from selfattn.encoders.encoder import Encoder
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_by_stage
from selfattn.views.two_sentences import WordInTwoSentences


def pick_way(encoder: Encoder, pair: Pair) -> str:
    """Return the chosen way, by default between the senses. If the sentences don't fit the senses, the answer says why."""
    asked = session.WAY.get() or st.query_params.get(session.WAY)
    return answer.SENTENCES if asked == answer.SENTENCES and answer.between_senses(encoder, pair) else answer.SENSES


def show_answer(encoder: Encoder, pair: Pair, view: WordInTwoSentences) -> None:
    """Show the answer in large type and its limit; below, in one row, the choice of way, the guess and a link to Senses."""
    asked, this_page().lines = guess.asked(), (*view.answer, view.limit, *view.notes)
    with st.container(key="answer", gap=None):
        if asked:
            st.markdown(literal(f'Which word would change "{view.word}" most? Click one.'))
        else:
            st.markdown("  \n".join(map(literal, view.answer)))
    if not asked and view.limit:
        st.text(view.limit, width="stretch")
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        if answer.between_senses(encoder, pair):
            segmented(
                "How far it moves", answer.NAMED, key=session.WAY, default=answer.SENSES, label_visibility="collapsed"
            )
        guess.show(view)
        st.page_link("pages/explore/senses/page.py", label="Many sentences", icon=":material/arrow_forward:")
        st.markdown("What do the % mean?", help=captions.SHARE_HELP, width="content")


def show_notes(encoder: Encoder, pair: Pair, view: WordInTwoSentences) -> None:
    """Show the cosines in words, those with labelled sentences of A's sense, and the notes on this pair."""
    found = answer.beside_its_sense(encoder, pair)
    same = captions.beside_its_sense(view.pair, *found) if found else ""
    say("\n".join(filter(None, (captions.compared(view.pair), same, *view.notes))))


def show_nearest(encoder: Encoder, view: WordInTwoSentences) -> None:
    """Show, on request, the labelled sentences nearest to the vector of A's word, and their senses.

    The vector is that of the word alone, in its sentence, or with the word hidden that the figure hides.
    """
    asked = st.expander("The sentences with the nearest vectors", key="nearest", on_change="rerun")
    if not asked.open:
        return
    with asked:
        rows = answer.labelled_rows(view.word)
        if rows.empty:
            say(nearest_sentences.no_sentences(view.word))
            return
        labels, first = answer.labels_key(encoder, view.word), view.pair.placed[0]
        key = ("labelled", labels)
        vectors = cached(encoder, key, lambda _: labelled_vectors(encoder, rows), costly=True)
        hidden = None if encoder.hide_reason else hidden_now(view).get("A")
        asked_for = ("nearest", first.key, hidden and hidden.positions, labels)
        stages = cached(encoder, asked_for, lambda _: nearest_by_stage(encoder, first, vectors, hidden))
        names = dict(zip(("alone", "sentence", "hidden"), stages))
        state = segmented("Its vector", names, key="nearest_to", label_visibility="collapsed", default="sentence")
        name = names.get(state, names["sentence"])
        near = stages[name].head(nearest_sentences.NEAREST).itertuples()
        say("\n".join(f"{numbers.cosine(row.cosine)}  {isolated(row.sentence)} ({row.sense})" for row in near))
        say(nearest_sentences.nearest({name: stages[name]}))


page = this_page()
encoder, pair = page.encoder, page.pair
with page.headline:
    st.caption(
        "**selfattn** · look inside a text encoder: which words give a word its meaning, through which attention heads"
    )
    st.subheader(f'Where does "{literal(pair.word)}" get its meaning?', anchor=False)
with page.links:
    show_links("lessons")
way = pick_way(encoder, pair)
view = answer.answer_of(encoder, pair, way)
call = "notebook.hidden_words(encoder, a, b, control, word, at=at, senses=senses)"
page.python = lines(answer.copied_senses(encoder, pair, way), load_pair(encoder, pair), call)
show_part("kept_head", lambda: keep_head(view.first_head), computes=False)
show_answer(encoder, pair, view)
show_part("figure", lambda: show_figure(encoder, way))
show_notes(encoder, pair, view)
st.markdown("**3  The chosen head, open: A beside B**", help=f"{one_head.HELP} {TERMS['weight']}")
show_part("controls", lambda: one_head.pick(encoder, pair, way), computes=False)
show_part("head", lambda: one_head.show(encoder, pair, way))
show_nearest(encoder, view)
st.markdown("\n".join(("**Six views to open**", *LINKS)))
if answer.complete(encoder, pair, way):
    st.rerun()
