"""The main view: which word another gets its meaning from in two sentences, through which heads, and what that can't say."""

import streamlit as st

from pages.explore.two_sentences import answer, nearest, one_head
from pages.explore.two_sentences.gallery import LINKS
from selfattn.captions.terms import TERMS
from selfattn.dashboard.answer import answer_of, complete
from selfattn.dashboard.figures import literal, show_links, this_page
from selfattn.dashboard.parts import show_part
from selfattn.dashboard.pickers import keep_head
from selfattn.dashboard.word_figure import show_figure

page = this_page()
encoder, pair = page.encoder, page.pair
with page.headline:
    st.caption(
        "**selfattn** · look inside a text encoder: which words give a word its meaning, through which attention heads"
    )
    st.subheader(f'Where does "{literal(pair.word)}" get its meaning?', anchor=False)
with page.links:
    show_links("lessons")
way = answer.pick_way(encoder, pair)
view = answer_of(encoder, pair, way)
show_part("kept_head", lambda: keep_head(view.first_head), computes=False)
answer.show(encoder, pair, view)
show_part("figure", lambda: show_figure(encoder, way))
answer.show_notes(encoder, pair, view)
st.markdown("**3  The chosen head, open: A beside B**", help=f"{one_head.HELP} {TERMS['weight']}")
show_part("controls", lambda: one_head.pick(encoder, pair, way), computes=False)
show_part("head", lambda: one_head.show(encoder, pair, way))
nearest.show(view)
st.markdown("\n".join(("**Six views to open**", *LINKS)))
if complete(encoder, pair, way):
    st.rerun()
