"""The main view: where a word in two sentences gets its meaning: one claim, one picture, one action, one limit."""

import streamlit as st

from pages.explore.two_sentences import words_and_maps as view
from pages.explore.two_sentences.curve_and_steps import show_curve, show_steps
from pages.explore.two_sentences.gallery import show_gallery
from pages.explore.two_sentences.meaning import show_meaning
from pages.explore.two_sentences.swaps import show_leading_head
from selfattn.dashboard.figures import literal, this_page

page = this_page()
choice, words = page.choice, view.strip(page.choice)
with page.headline.container(gap=None):
    st.caption("**selfattn** · look inside a text encoder: its attention heads, recomputed step by step")
    st.subheader(f'Where does "{literal(choice.pair.word)}" get its meaning?', anchor=False)
with page.links:
    st.page_link("pages/learn/from_scratch/page.py", label="New to attention? Start here", icon=":material/school:")

with st.container(horizontal=True, gap="medium"):
    curve, heads = st.container(width=view.COLUMN, gap="xsmall"), st.container(width=view.COLUMN, gap="xsmall")
with curve:
    show_curve(choice)
    meaning = st.container(gap="xsmall")
with heads:
    show_leading_head(choice, words)
with meaning:
    show_meaning(choice)
show_steps(choice)
with st.container(horizontal=True):
    inside = f"Inside {choice.head}: every step"
    st.page_link("pages/explore/inside_a_head/page.py", label=inside, icon=":material/search:")
    st.page_link("pages/explore/all_heads/page.py", label="All heads at a glance", icon=":material/grid_view:")
view.offer_figure(choice, words, view.show_maps(choice))
show_gallery()
