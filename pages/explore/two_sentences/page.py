"""The main view: where a word in two sentences gets its meaning: one claim, one picture, one action, one limit."""

import streamlit as st

from pages.explore.two_sentences import words_and_maps as view
from pages.explore.two_sentences.curve_and_steps import show_curve, show_steps
from pages.explore.two_sentences.gallery import LINKS
from pages.explore.two_sentences.meaning import show_meaning
from pages.explore.two_sentences.swaps import show_leading_head
from selfattn.dashboard.figures import literal, show_links, side_by_side, this_page
from selfattn.dashboard.pickers import pick_head, quickly_ranked

page = this_page()
with page.headline:
    st.caption("**selfattn** · look inside a text encoder: how its attention heads take in other words, step by step")
    st.subheader(f'Where does "{literal(page.pair.word)}" get its meaning?', anchor=False)
with page.links:
    show_links("lessons")
curve, heads = side_by_side()
with curve:
    show_curve(page.encoder, page.pair)  # no head's: the first picture needn't wait until they are ranked
pick_head(rank=quickly_ranked(page.encoder, page.pair))
choice, words = page.choice, view.strip(page.choice)
shown: list[view.Figures] = []
view.offer_figure(choice, words, shown)
with heads:
    swapped = show_leading_head(choice, words)
with curve:
    show_meaning(choice, one=swapped == "head")
show_steps(choice)
shown.append(view.show_maps(choice))
st.markdown("\n".join(("**Six views to open**", *LINKS)))
