"""One real head from the layer's input to what it adds: a step at a time, with its formula, code, numbers and error."""

import streamlit as st

from pages.explore.inside_a_head.steps import pick_sides, show_steps
from pages.explore.inside_a_head.what_if import show_what_if
from selfattn.dashboard.figures import say, show_links, this_page

page = this_page()
with page.links:
    show_links("main", "heads")

if not page.encoder.recomputable:
    st.info("This encoder's attention is shown as the model reports it; its steps can't be recomputed.")
    say(page.encoder.reason)
    st.stop()
with page.beside:
    sides = pick_sides(page)

steps, what_if = st.tabs(["Steps", "What if"], key="part", bind="query-params")
if steps.open:
    with steps:
        show_steps(sides)
if what_if.open:
    with what_if:
        show_what_if(page, sides)
