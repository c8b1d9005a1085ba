"""The main job: what a word attends to in two sentences, what removing heads does, how a head gets there, where they part."""

import streamlit as st

from pages.explore.two_sentences import words_and_maps as view
from pages.explore.two_sentences.removal_map import MAPS, show_head_map
from pages.explore.two_sentences.tour import show_tour
from selfattn.captions import attention as captions
from selfattn.charts.word_strip import word_strip
from selfattn.dashboard.figures import current_theme, show_chart, this_page
from selfattn.dashboard.pickers import segmented

with this_page().links:
    show_tour()
with this_page().beside:
    measure = segmented("Map of all heads", list(MAPS), default="effect", key="map")
choice = this_page().choice

with st.container(horizontal=True, gap="medium"):
    look, heads = st.container(width=view.COLUMN, gap="xsmall"), st.container(width=view.COLUMN, gap="xsmall")
with look:
    st.markdown(
        "**What the word attends to**",
        help="A head gives each word a row of weights over all words; they sum to 1 and say how much of each word's value "
        "goes into the mixture. L0 H10 is head 10 of layer 0: layers and heads count from 0.",
    )
    frame = view.strip(choice)
    show_chart(
        word_strip(frame, current_theme()),
        captions.most_weight(frame, choice.pair.word, str(choice.head)),
        width="content",
        name="what the word attends to",
        table=lambda: frame,
    )
    st.text(captions.special_weight(frame, choice.pair.word), width="stretch")

view.show_steps(choice)
with st.container(horizontal=True):
    inside = f"Inside {choice.head}: every step"
    st.page_link("pages/explore/inside_a_head/page.py", label=inside, icon=":material/search:")
    st.page_link("pages/explore/all_heads/page.py", label="All heads at a glance", icon=":material/grid_view:")
view.show_maps(choice)
view.show_parting(choice)
view.offer_figure(choice)

with heads:
    st.markdown(
        "**All heads: what removing each one does to the difference**",
        help="Each head's output is set to zero in both sentences, one head at a time. The colour is the change of the "
        "cosine between the word's two last hidden states: positive means that without the head they are nearer to each other.",
    )
    if choice.encoder.recomputable:
        show_head_map(choice, measure)
    else:
        st.info("Heads can be removed only where the attention is recomputed.")
    st.caption(
        "Attention is not explanation: this is the effect of removing a head in this pair, not why the model decides."
    )
