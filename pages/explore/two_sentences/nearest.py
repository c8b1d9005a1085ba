"""What the word's vector means, in words: the labelled sentences nearest to it alone, in its sentence, and with a word hidden."""

import streamlit as st

from selfattn import numbers
from selfattn.captions import nearest_sentences as captions
from selfattn.dashboard.answer import labelled_rows
from selfattn.dashboard.cache import cached
from selfattn.dashboard.figures import say, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.dashboard.word_figure import hidden_now
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_by_stage
from selfattn.views.two_sentences import WordInTwoSentences


def show(view: WordInTwoSentences) -> None:
    """The three labelled sentences nearest to A's word in the chosen state, and of which senses they are, for who asks."""
    asked = st.expander("The sentences with the nearest vectors", key="nearest", on_change="rerun")
    if not asked.open:
        return
    with asked:
        encoder, word = this_page().encoder, view.word
        rows = labelled_rows(word)
        if rows.empty:
            say(captions.no_sentences(word))
            return
        key = ("labelled", word.casefold(), tuple(rows["sentence"]))
        vectors = cached(encoder, key, lambda _: labelled_vectors(encoder, rows), costly=True)
        hidden = None if encoder.hide_reason else hidden_now(view).get("A")
        first = view.pair.placed[0]
        asked_for = ("nearest", first.key, hidden and hidden.positions, tuple(rows["sentence"]))
        stages = cached(encoder, asked_for, lambda _: nearest_by_stage(encoder, first, vectors, hidden))
        names = dict(zip(("alone", "sentence", "hidden"), stages))
        state = segmented("Its vector", names, key="nearest_to", label_visibility="collapsed", default="sentence")
        name = names.get(state, names["sentence"])
        near = stages[name].head(captions.NEAREST).itertuples()
        say("\n".join(f"{numbers.cosine(row.cosine)}  {row.sentence} ({row.sense})" for row in near))
        say(captions.nearest({name: stages[name]}))
