"""Every layer and head of a sentence at a glance, and one word's row in several heads."""

import streamlit as st

from pages.explore.all_heads.maps_and_lines import segments, show_card, show_grid, show_lines
from pages.explore.all_heads.what_it_does import show_what_it_does
from selfattn.dashboard import session
from selfattn.dashboard.figures import show_links, side_by_side, this_page
from selfattn.dashboard.pickers import segmented
from selfattn.export.notebook_lines import SAID, TABS

page = this_page()
with page.links:
    show_links("main", "head")

with page.beside:
    note = "As one text: the encoder reads A and B together as two segments, as it does for pairs of sentences."
    name = segmented("Sentence", SAID["sentence"], key=session.SENTENCE, help=note)
side = segments(page) if name == "both" else dict(page.pair.sides)[name]

maps, lines = st.tabs(TABS, key=session.TAB, bind="query-params")
if maps.open:
    with maps:
        grid, card = side_by_side()
        with grid:
            show_grid(page, side)
        with card:
            show_card(page, side)
        show_what_it_does(page.encoder, side.sentence, page.head)
if lines.open:
    with lines:
        show_lines(page)
