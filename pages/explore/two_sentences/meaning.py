"""What the word's vector means, in words: the labelled sentences nearest to it, before attention, after it, after a swap."""

import streamlit as st

from pages.explore.two_sentences.swaps import ONE, labelled
from selfattn import numbers
from selfattn.captions import answer
from selfattn.dashboard.cache import cached
from selfattn.dashboard.choice import Choice
from selfattn.senses.nearest_sentences import labelled_vectors, nearest_before_and_after

NEAREST = 3


def show_meaning(choice: Choice) -> None:
    """The three labelled sentences nearest to A's word in each state, and of which senses they are."""
    encoder, (first, second, _), word = choice.encoder, choice.pair.places, choice.pair.word
    st.markdown(
        "**What that means in words**", help="Labelled sentences whose word has the vector nearest to A's, by cosine."
    )
    if (known := labelled(word.casefold())).empty:
        st.text(answer.no_sentences(word), width="stretch")
        return
    one = encoder.recomputable and st.session_state.get("swap") == ONE
    heads = (choice.head,) if one else tuple(encoder.all_heads)
    vectors = cached(encoder, ("labelled", word.casefold()), lambda _: labelled_vectors(encoder, known), runs=True)
    texts = cached(
        encoder,
        ("nearest", first, second, heads),
        lambda _: _said(nearest_before_and_after(encoder, first, second, vectors, heads)),
        runs=True,
    )
    for name, lines in texts:
        if name:
            st.caption(name)
        st.text(lines, width="stretch")


def _said(stages: dict) -> list[tuple[str, str]]:
    """Each state with its nearest sentences, and what is to be seen in them."""
    texts = []
    for name, ranked in stages.items():
        near = ranked.head(NEAREST).itertuples()
        lines = (f"{numbers.cosine(row.cosine)}  {row.sentence} ({row.sense})" for row in near)
        texts.append((f"{name[0].upper()}{name[1:]}", "\n".join(lines)))
    return [*texts, ("", answer.nearest(stages, NEAREST))]
