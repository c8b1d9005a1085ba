"""What the word's vector means, in words: the labelled sentences nearest to it, before attention, after it, after a swap."""

from functools import partial

import streamlit as st

from selfattn import numbers
from selfattn.captions import answer
from selfattn.dashboard.cache import cached
from selfattn.dashboard.choice import Choice
from selfattn.dashboard.compute_again import labelled
from selfattn.dashboard.figures import say
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_before_and_after

NEAREST = 3


def show_meaning(choice: Choice, one: bool) -> None:
    """The three labelled sentences nearest to A's word in each state, and of which senses they are, for who asks."""
    encoder, pair, word = choice.encoder, choice.pair, choice.pair.word
    asked = st.expander("The sentences with the nearest vectors", key="meaning", on_change="rerun")
    if not asked.open:
        return
    known = labelled()[labelled()["word"] == word.casefold()]
    if known.empty:
        with asked:
            say(answer.no_sentences(word))
        return
    heads = (choice.head,) if one else tuple(encoder.all_heads)
    vectors = cached(encoder, ("labelled", word.casefold()), lambda _: labelled_vectors(encoder, known), costly=True)
    key = ("nearest", pair.first.key, pair.second.key, heads)
    make = partial(nearest_before_and_after, encoder, pair.first, pair.second, vectors, heads)
    stages = cached(encoder, key, lambda _: make(), runs=True)
    with asked:
        for name, ranked in stages.items():
            near = ranked.head(NEAREST).itertuples()
            lines = (f"{numbers.cosine(row.cosine)}  {row.sentence} ({row.sense})" for row in near)
            st.caption(f"{name[0].upper()}{name[1:]}")
            say("\n".join(lines))
        say(answer.nearest(stages, NEAREST))
