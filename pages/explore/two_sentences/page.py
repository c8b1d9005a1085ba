"""The main job: what a word attends to in two sentences, which heads matter, how a head gets there, where they part."""

import streamlit as st

from pages.explore.two_sentences import parts as view
from pages.explore.two_sentences.removal_map import MAPS, show_head_map
from pages.explore.two_sentences.tour import show_tour
from selfattn.captions import attention as captions
from selfattn.charts import vega as charts
from selfattn.dashboard.carried import carry_choice
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import current_theme, segmented, show_chart
from selfattn.dashboard.pickers import pick_head, pick_pair
from selfattn.dashboard.shown import heading
from selfattn.encoders.capture import Head

with heading("A word in two sentences"):
    show_tour()

encoder = current_encoder()
show_encoder(encoder)
theme = current_theme()
carry_choice("two_sentences")
pair = pick_pair(encoder)

with st.container(horizontal=True, gap="medium"):
    look, heads = st.container(width=view.COLUMN, gap="xsmall"), st.container(width=view.COLUMN, gap="xsmall")
with look:
    st.markdown(
        "**What the word looks at**",
        help="A head gives each word a row of weights over all words; they sum to 1 and say how much of each word's value "
        "goes into the mixture. L0 H10 is head 10 of layer 0: layers and heads count from 0.",
    )
    words = st.container(gap="xsmall")
    layer, head = pick_head(encoder)
name = str(Head(layer, head))

with words:
    frame = view.strip(pair, layer, head)
    show_chart(
        charts.finish(charts.strip(frame, theme), theme),
        captions.most_weight(frame, pair.word, name),
        width="content",
        name="what the word looks at",
        table=lambda: frame,
    )
    st.text(captions.special_weight(frame, pair.word), width="stretch")

view.show_steps(encoder, pair, layer, head)
with st.container(horizontal=True):
    st.page_link("pages/explore/inside_a_head/page.py", label=f"Inside {name}: every step", icon=":material/search:")
    st.page_link("pages/explore/all_heads/page.py", label="All heads at a glance", icon=":material/grid_view:")
view.show_maps(encoder, pair, layer, head)
view.show_parting(encoder, pair)
view.take_away(encoder, pair, layer, head)

with heads:
    st.markdown(
        "**All heads: what removing each one does to the difference**",
        help="Each head's output is set to zero in both sentences, one head at a time. The colour is the change of the "
        "cosine between the word's two last hidden states: positive means that without the head they are more alike.",
    )
    measure = segmented(
        "Map", list(MAPS), default="effect", required=True, key="map", bind="query-params", label_visibility="collapsed"
    )
    if encoder.recomputable:
        show_head_map(encoder, pair, layer, head, measure)
    else:
        st.info("Heads can be removed only where the attention is recomputed.")
    st.caption(
        "Attention is not explanation: this is the effect of removing a head in this pair, not why the model decides."
    )
