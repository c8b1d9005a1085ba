"""Two encoders on the same sentence: a head of each side by side; checkpoints of one architecture head by head."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from selfattn import examples
from selfattn.analysis.compare import (
    EncoderComparison,
    compare_encoders,
    counterpart_distances,
    told_apart,
    why_no_counterparts,
)
from selfattn.captions import attention as captions
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.copy_as_python import lines, load
from selfattn.dashboard.encoder_picker import pick_second_encoder, short_name
from selfattn.dashboard.figures import current_theme, say, show_chart, show_error, side_by_side, this_page
from selfattn.dashboard.permissions import beyond_localhost
from selfattn.dashboard.pickers import head_slider
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.senses import compare_checkpoints
from selfattn.settings import Settings
from selfattn.tidy_tables import heads_frame, named_heads, weights_frame

MAP = 270  # pixels: three maps fit side by side in a window of 1440
MINUS = "second minus first"
DISTANCE = "distance of the weights"


def show_over_many(first: Encoder, second: Encoder, chosen: Head) -> None:
    """Show each head's mean distance from its counterpart over the visitor's sentences."""
    drawn, limits = st.container(), Settings.read()
    _, own, *_ = session.TABLE_READ.get()
    built_in = (*examples.STATIC_WORD_SENTENCES, *examples.NEUTRAL_SENTENCES)
    sentences = built_in if own is None else own["sentence"].astype(str)
    typed = st.text_area(
        "Sentences, one a line", "\n".join(sentences), key=session.SENTENCES, bind="query-params", height=140,
        help="At first those of your own table on the page Senses, where you have opened one.",
    )  # fmt: skip
    texts = tuple(line.strip() for line in typed.splitlines() if line.strip())
    if len(texts) > limits.max_rows or len(typed) > limits.max_table_characters:
        most = f"{limits.max_rows:,} sentences of {limits.max_table_characters:,} characters"
        show_error(
            f"These are {len(texts):,} sentences of {len(typed):,} characters; this server takes at most {most}."
        )
        return
    make, key = partial(compare_checkpoints, first, second, texts), ("checkpoints", encoder_key(second), texts)
    try:
        with drawn:
            report = cached(first, key, make, "Comparing the checkpoints ...", costly=True)
    except ValueError as error:
        show_error(error)
        return
    with drawn:
        frame = named_heads(report.heads)
        chart = head_map(frame, "distance", current_theme(), str(chosen), kind="weights", title=DISTANCE)
        show_chart(
            chart, captions.over_texts(frame, str(chosen)), key="over_many", heads=True, name="over many sentences"
        )
        if len(report.rejected):
            row, reason = report.rejected.iloc[0]
            say(f"Left out: {len(report.rejected)} of {len(texts)} sentences; the first is number {row + 1}: {reason}")


def show_comparison(comparison: EncoderComparison, titles: Sequence[str]) -> None:
    """Show both heads on one colour scale, and the second minus the first."""
    theme, words = current_theme(), comparison.words
    top = float(max(comparison.first.max(), comparison.second.max()))
    draw = partial(heatmap, rows=words, theme=theme, size=MAP)
    maps = (
        (comparison.first, "weight", titles[0], partial(draw, maximum=top, color=theme.sentence_a)),
        (comparison.second, "weight", titles[1], partial(draw, maximum=top, color=theme.sentence_b)),
        (comparison.difference, "difference", MINUS, partial(draw, legend=MINUS, kind="signed")),
    )
    for (matrix, what, title, drawn), place in zip(maps, side_by_side(len(maps), MAP + 90)):
        with place:
            reading = captions.largest_cell(matrix.numpy(), words, what)
            chart = drawn(matrix.numpy(), title=title)
            show_chart(chart, reading, name=title, table=partial(weights_frame, matrix, words))
    if comparison.left_out:
        say("Left out, because one of the two can't read it: " + ", ".join(comparison.left_out))
    st.caption("Words only: special tokens are hidden, and each row is scaled up to sum to 1 again.")


page = this_page()
first, text, chosen = page.encoder, page.sentence, page.head
with page.beside:
    second = pick_second_encoder(first)
if second is None:
    st.info("Name a second encoder. Both stay loaded while you compare; from the Hub, the first time takes a while.")
    st.stop()
if not second.digest:
    st.caption(
        "The second has the first one's architecture and random weights: what both do, training need not have taught."
    )
one, other = encode_or_stop(first, text, first.title), encode_or_stop(second, text, second.title)
compare = partial(why_no_counterparts, first, second)
key = ("counterparts", encoder_key(second), first.reader, second.reader)
why = cached(first, key, lambda _: compare())
if why:
    partner = head_slider(second, "Its head", session.SECOND_HEAD, "L0 H0")
    say(f"Their heads are no counterparts of one another: {why}. So you choose a head of each.")
else:
    partner, frame = chosen, heads_frame(distance=counterpart_distances(one, other))
    chart = head_map(frame, "distance", current_theme(), str(chosen), kind="weights", title=DISTANCE)
    reading = captions.counterparts(frame, str(chosen))
    this_sentence, many = side_by_side()
    with this_sentence:
        show_chart(chart, reading, key="counterparts", heads=True, name="each head and its counterpart")
    with many:
        show_over_many(first, second, chosen)
# Beyond localhost, show no part of a folder's path.
named = [short_name(each.name) for each in (first, second)] if beyond_localhost() else told_apart(first, second)
twin = "from selfattn.senses import random_twin\nsecond = random_twin(encoder)"
if why:
    call = f"from selfattn import Head\nnotebook.difference(encoder, second, {text!r}, {chosen!r}, {partner!r})"
else:
    call = f"notebook.counterparts(encoder, second, {text!r}, chosen='{chosen}')"
page.python = lines(load(first), load(second, "second") if second.digest else twin, call)
titles = [f"{name}, {head}" for name, head in zip(named, (chosen, partner))]
show_comparison(compare_encoders(one, chosen, other, partner), titles)
