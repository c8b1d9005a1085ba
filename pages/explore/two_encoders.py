"""Two encoders on the same sentence: a head of each side by side; checkpoints of one architecture head by head."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from selfattn.analysis.compare import EncoderComparison, compare_encoders, counterpart_distances, why_no_counterparts
from selfattn.captions import attention as captions
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import session
from selfattn.dashboard.encoder_picker import pick_second_encoder
from selfattn.dashboard.figures import current_theme, say, show_chart, side_by_side, this_page
from selfattn.dashboard.pickers import head_slider
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.tidy_tables import heads_frame, weights_frame

MAP = 270  # three of them side by side at 1440
MINUS = "second minus first"


def show_comparison(comparison: EncoderComparison, titles: Sequence[str]) -> None:
    """Both heads on one colour scale, and the second minus the first."""
    theme, words = current_theme(), comparison.words
    top = float(max(comparison.first.max(), comparison.second.max()))
    draw = partial(heatmap, rows=words, theme=theme, size=MAP)
    maps = (
        (comparison.first, "weight", partial(draw, title=titles[0], maximum=top, color=theme.sentence_a)),
        (comparison.second, "weight", partial(draw, title=titles[1], maximum=top, color=theme.sentence_b)),
        (comparison.difference, "difference", partial(draw, title=MINUS, legend=MINUS, kind="signed")),
    )
    for (matrix, what, drawn), place in zip(maps, side_by_side(len(maps), MAP + 90)):
        with place:
            reading = captions.largest_cell(matrix.numpy(), words, what)
            show_chart(drawn(matrix.numpy()), reading, table=partial(weights_frame, matrix, words))
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
why = why_no_counterparts(first, second)
if why:
    partner = head_slider(second, "Its head", session.SECOND_HEAD, "L0 H0")
    say(f"Their heads are no counterparts of one another: {why}. So you choose a head of each.")
else:
    partner, frame = chosen, heads_frame(distance=counterpart_distances(one, other))
    chart = head_map(frame, "distance", current_theme(), str(chosen), kind="weights", title="distance of the weights")
    reading = captions.counterparts(frame, str(chosen))
    show_chart(chart, reading, key="counterparts", heads=True, name="each head and its counterpart")
titles = [f"{e.name.split('/')[-1]}, {h}" for e, h in ((first, chosen), (second, partner))]
show_comparison(compare_encoders(one, chosen, other, partner), titles)
