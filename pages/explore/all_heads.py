"""Maps of all heads for one sentence, the chosen head's profile, and one word's row in several heads."""

from functools import partial
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.measures import Compared, head_measures, offered, rollout
from selfattn.analysis.patterns import fits, nearest_first
from selfattn.analysis.word_map import word_map
from selfattn.captions import attention as captions
from selfattn.captions.steps import largest
from selfattn.captions.vectors import by_head, noise_floor
from selfattn.charts.bars import bars, rows_frame
from selfattn.charts.head_map import head_grid, thumbnail
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, cached_effect
from selfattn.dashboard.compute_again import labelled, stored_report
from selfattn.dashboard.copy_as_python import lines, load_pair
from selfattn.dashboard.encoder_picker import link_to
from selfattn.dashboard.figures import (
    Page,
    current_theme,
    literal,
    say,
    show_chart,
    side_by_side,
    this_page,
)
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.navigation import show_link
from selfattn.dashboard.pickers import binning, pick_map_options, segmented, whole, zoomed
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import other_sentences
from selfattn.senses import HeadProfiles
from selfattn.tidy_tables import heads_frame, weights_frame
from selfattn.views.all_heads import lines_of_word, one_map, overlays

SENTENCES = {"A": "A", "B": "B", "both": "A and B as one text"}
TABS = "Maps", "Lines from the word"
MOST_LINES, LINE = 6, 400  # most heads to compare, and the width of a head's row in pixels
AVERAGES = {"average": "average", "rollout": "rollout"}
NAMED = {"head": "{head}", "average": "The average of L{layer}'s heads", "rollout": "Rollout up to L{layer}"}
FORMULAS = {
    "average": r"$\bar A^{(l)} = \frac{1}{H} \sum_h A^{(l,h)}$: the mean of the layer's heads.",
    "rollout": r"$R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)}$: half attention, half the token "
    "itself, multiplied up through the layers (Abnar and Zuidema 2020).",
}


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
    kind, marked = "effect" if measure.signed else "weights", str(page.head)
    chart = head_grid(maps, frame, name, current_theme(), marked, kind=kind, columns=across, named=ordered)
    if measure.beside:
        reading = by_head(frame, list(beside), marked, compared.cosine, f'"{side.word.text}"')
    else:
        reading = captions.measure_by_head(frame, name, measure.unit, marked)
    reading = f"{reading} {noise}".strip()
    show_chart(chart, reading, key="grid", heads=True, in_place=True, name="all heads", table=lambda: frame)
    st.caption(measure.caption)


def _thumbnails(encoder: Encoder, encoding: Encoding) -> list[np.ndarray]:
    """Every head's map, shrunk to at most 184 x 184 pixels; peaks are kept."""
    side = min(len(encoding.tokens), 184)
    every = (weights for layer in range(encoder.n_layers) for weights in encoding.weights(layer).numpy())
    key = ("thumbnails", encoding.text, encoding.pair)
    return cached(encoder, key, lambda _: [thumbnail(weights, side) for weights in every])


def show_card(page: Page, side: PlacedWord) -> None:
    """Show the chosen head's map, and a table of each word's largest weight."""
    encoding, head, own = side.sentence, page.head, str(page.head)
    which = segmented("Map", {"head": "this head"} | AVERAGES, key="map_of", label_visibility="collapsed")
    name = NAMED[which].format(head=own, layer=head.layer)
    weights = one_map(encoding, which, head, partial(_rollout, page.encoder))
    if which in FORMULAS:
        st.markdown(FORMULAS[which])
    pick_map_options(st.container(horizontal=True))
    shown = zoomed(whole(weights, encoding), "card")
    chart = heatmap(shown.matrix.numpy(), shown.labels, current_theme(), marked=shown.rows_of(side.positions), size=330)
    most = _most(weights, encoding)
    reading = captions.surest_word(most, name) + binning(shown)
    one_head = which == "head"
    show_chart(
        chart, reading, one_head=one_head, name=f"map: {name}", table=lambda: weights_frame(shown.matrix, shown.labels)
    )
    if session.HIDE_SPECIAL.get():
        say(captions.hidden_weight({name: shown.hidden}))
    show_link("inside-a-head", f"Inside {own}: every step")
    with st.expander("What each word attends to most"):
        st.dataframe(most, hide_index=True, height=min(280, 36 * len(most) + 38))


def _rollout(encoder: Encoder, encoding: Encoding) -> Tensor:
    return cached(encoder, ("rollout", encoding.text, encoding.pair), lambda _: rollout(encoding))


def _most(weights: Tensor, encoding: Encoding) -> pd.DataFrame:
    """Each word's largest weight: columns word, attends most to, weight."""
    by_word = word_map(encoding, weights)
    weight, top = by_word.matrix.max(dim=-1)
    most = [by_word.labels[j] for j in top.tolist()]
    table = pd.DataFrame({"word": by_word.labels, "attends most to": most, "weight": weight.tolist()})
    return table[[not special for special in by_word.special]]


def show_lines(page: Page) -> None:
    """Show the word's row in several heads, one below the other, for both sentences."""
    known, theme = overlays(page.encoder), current_theme()
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
    for option in AVERAGES:
        if option in {known[name][0] for name in chosen}:
            st.markdown(FORMULAS[option])
    for (name, side), column in zip(page.pair.sides, side_by_side()):
        rows = lines_of_word(page.encoder, side, name, chosen, theme, partial(_rollout, page.encoder))
        with column:
            st.markdown(f"**{name}**")
            weights = {row.name: Tensor(row.values) for row in rows}
            reading = largest(weights, {row.name: row.labels for row in rows}, "weight")
            name = f"attention as lines in {name}"
            chart, table = bars(rows, theme, what="weight", width=LINE), partial(rows_frame, rows, "weight")
            show_chart(chart, reading, one_head=False, name=name, sentence=name[-1], table=table)


def show_what_it_does(encoder: Encoder, encoding: Encoding, head: Head) -> None:
    """Show the chosen head's profile, from the stored report on the labelled sentences or, without one, from this sentence."""
    st.markdown(f"**What {head} does**")
    found = stored_report(HeadProfiles, encoder)
    if found is None:
        say(captions.head_profile(fits(encoding.weights(*head), encoding), str(head), "In this sentence"))
        return
    report = found.report
    own = [
        table[(table["layer"] == head.layer) & (table["head"] == head.head)]
        for table in (report.patterns, report.sentences)
    ]
    where = f"Over {report.n} labelled sentences"
    say(captions.head_profile(nearest_first(own[0].iloc[0]), str(head), where))
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
            show_card(page, side)
        show_what_it_does(page.encoder, side.sentence, page.head)
if of_word.open:
    with of_word:
        show_lines(page)
