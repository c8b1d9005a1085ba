"""Maps of all heads for one sentence, the chosen head's profile, and one word's row in several heads."""

from functools import partial
from urllib.parse import urlencode

import numpy as np
import streamlit as st
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.measures import Compared, head_measures, offered, rollout
from selfattn.analysis.patterns import fits, nearest_first
from selfattn.charts.head_map import thumbnail
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, cached_effect
from selfattn.dashboard.compute_again import labelled, stored_report
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.encoder_picker import link_to
from selfattn.dashboard.figures import Page, literal, say, show_panel, side_by_side, this_page
from selfattn.dashboard.kernel_figure import errors_of, queries_now, show_kernel
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.pickers import pick_map_options, segmented, whole, zoomed
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import other_sentences
from selfattn.senses import HeadProfiles
from selfattn.tidy_tables import heads_frame
from selfattn.views.all_heads import FORMULAS, every_head, one_map, opened_map, overlays, profile, word_lines
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from selfattn.views.rounding import noise_floor

SENTENCES = {"A": "A", "B": "B", "both": "A and B as one text"}
TABS = "Maps", "Lines from the word"
MOST_LINES = 6  # heads to compare
MAPS = {"head": "this head", "average": "average", "rollout": "rollout"}


def segments(page: Page) -> PlacedWord:
    """Encode A and B as the two segments of one text, and return A's word in it."""
    pair = page.pair
    a, b = (side.sentence.text for _, side in pair.sides)
    encoding = encode_or_stop(page.encoder, a, "A and B together", pair=b)
    return encoding.places(pair.first.word.text)[pair.first.number - 1]  # A comes first, so its places do


def show_grid(page: Page, side: PlacedWord) -> None:
    """Show every head's map in one picture; a click chooses a head."""
    encoder, pair = page.encoder, page.pair
    sides = dict(zip(("A", "B", "control"), pair.all))
    compared = Compared(sides, partial(cached_effect, encoder))
    # Two segments are one text, so there is no second text to compare with.
    measures = offered(sides if side.sentence.pair is None and encoder.patchable else ())
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        session.MEASURE.keep_within(measures, next(iter(measures)))
        name = st.selectbox("Coloured strip", list(measures), key=session.MEASURE, bind="query-params", width=220)
        ordered = st.toggle("Sort the heads by it", key="sorted", bind="query-params")
    missing = "The link asks for the measure {!r}, which this page hasn't got.".format
    say_what_is_missing(session.MEASURE, measures, name, missing)
    key, measure = ("measures", side.sentence.text, side.sentence.pair), measures[name]
    columns = dict(cached(encoder, key, lambda _: head_measures(side.sentence), "Measuring all heads ..."))
    beside = measure.columns(compared) if measure.of == "word" else {}
    frame, noise = noise_floor(heads_frame(**columns | beside), name, encoder.dtype, dict.fromkeys(beside, 1.0))
    if ordered:
        frame = frame.sort_values(name, ascending=False, kind="stable", ignore_index=True)
    if side.sentence.pair is None:
        which = f"second=b, control=control, word=word, at=at, maps_of={session.SENTENCE.get()!r}"
    else:
        which = "pair=b"
    call = f"notebook.all_heads(encoder, a, {name!r}, {which}, chosen='{page.head}')"
    page.python = lines(load_pair(encoder, pair), call)
    every, across = _thumbnails(encoder, side.sentence), encoder.n_heads
    maps = [every[place] for place in frame["layer"] * across + frame["head"]]
    panel = every_head(
        maps,
        frame,
        measure,
        page.head,
        across=across,
        ordered=ordered,
        compared=compared if beside else None,
        noise=noise,
    )
    show_panel(panel, key="grid", clicks=True, in_place=True)


def _thumbnails(encoder: Encoder, encoding: Encoding) -> list[np.ndarray]:
    """Every head's map, shrunk to at most 184 x 184 pixels; peaks are kept."""
    side = min(len(encoding.tokens), 184)
    every = (weights for layer in range(encoder.n_layers) for weights in encoding.weights(layer).numpy())
    key = ("thumbnails", encoding.text, encoding.pair)
    return cached(encoder, key, lambda _: [thumbnail(weights, side) for weights in every])


def show_opened(page: Page, side: PlacedWord) -> str:
    """Show the chosen head's map, or its layer's average or rollout; return which."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = segmented("Map", MAPS, key="map_of", label_visibility="collapsed")
        pick_map_options(st)
    if which in FORMULAS:
        st.markdown(FORMULAS[which])
    weights = one_map(side.sentence, which, page.head, partial(_rollout, page.encoder))
    shown = zoomed(whole(weights, side.sentence), "card")
    show_panel(opened_map(shown, weights, side, which, page.head))
    return which


def _rollout(encoder: Encoder, encoding: Encoding) -> Tensor:
    return cached(encoder, ("rollout", encoding.text, encoding.pair), lambda _: rollout(encoding))


def show_row(page: Page, name: str, side: PlacedWord) -> None:
    """Show how the chosen head computes the word's row. name: "A" or "B", or "" for both as one text."""
    sides = {name: side}
    row = word_row(side, page.head, name, query=queries_now(page.encoder, sides)[name])
    show_kernel(
        kernel_panel(row, head=page.head, errors=errors_of(page.encoder, [side], page.head)), page.encoder, sides
    )


def show_lines(page: Page) -> None:
    """Show the word's row in several heads, one below the other, for both sentences."""
    known = overlays(page.encoder)
    label = f"Heads, averages and rollout, one beneath the other (up to {MOST_LINES})"
    chosen = st.multiselect(
        label, list(known), (str(page.head), f"average of L{page.head.layer}", "rollout"), key=session.OVERLAID,
        bind="query-params",
        max_selections=MOST_LINES,
    )  # fmt: skip
    if not chosen:
        st.text("Choose at least one head.")
        return
    call = f"notebook.word_lines(encoder, a, b, word, at=at, of={chosen})"
    page.python = lines(load_pair(page.encoder, page.pair), call)
    for option, formula in FORMULAS.items():
        if option in {known[name][0] for name in chosen}:
            st.markdown(formula)
    panels = word_lines(page.encoder, dict(page.pair.sides), chosen, partial(_rollout, page.encoder))
    for panel, column in zip(panels, side_by_side()):
        with column:
            show_panel(panel)


def show_what_it_does(encoder: Encoder, encoding: Encoding, head: Head) -> None:
    """Show the chosen head's profile, from the stored report on the labelled sentences or, without one, from this sentence."""
    st.markdown(f"**What {head} does**")
    found = stored_report(HeadProfiles, encoder)
    if found is None:
        say(profile(fits(encoding.weights(*head), encoding), str(head), "In this sentence"))
        return
    report = found.report
    own = [
        table[(table["layer"] == head.layer) & (table["head"] == head.head)]
        for table in (report.patterns, report.sentences)
    ]
    say(profile(nearest_first(own[0].iloc[0]), str(head), f"Over {report.n} labelled sentences"))
    lines = [_line(encoder, head, place) for place in own[1].itertuples()]
    intro = f"In these it attends most from the labelled word to another (computed on {found.date}):\n"
    st.markdown(intro + "\n".join(lines))


def _line(encoder: Encoder, head: Head, place) -> str:
    """Link one sentence to the main view, with the first sentence of the word's other sense as B."""
    frame = labelled()
    row = frame.loc[place.row]
    other, control = other_sentences(frame, place.row)
    view = {"example": "", "a": row["sentence"], "b": other, "c": control, "word": row["word"], "head": str(head)}
    said = f"{numbers.weight(place.weight)} {row['word']} → {place.to}: {row['sentence']}"
    return f"- [{literal(said)}](./?{urlencode(link_to(encoder) | view)})"


page = this_page()
with page.links:
    show_link("")
    show_link("inside-a-head")

with page.beside:
    note = "As one text: the encoder reads A and B together as two segments, as it does for pairs of sentences."
    name = segmented("Sentence", SENTENCES, key=session.SENTENCE, help=note)
side = segments(page) if name == "both" else dict(page.pair.sides)[name]

of_all, of_word = st.tabs(TABS, key=session.TAB, bind="query-params")
if of_all.open:
    with of_all:
        grid, card = side_by_side()
        with grid:
            show_grid(page, side)
        with card:
            which = show_opened(page, side)
        if which == "head" and page.encoder.recomputable:
            show_row(page, "" if name == "both" else name, side)
        show_what_it_does(page.encoder, side.sentence, page.head)
if of_word.open:
    with of_word:
        show_lines(page)
