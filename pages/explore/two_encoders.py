"""Two encoders on the same sentence: a head of each side by side; checkpoints of one architecture head by head."""

import streamlit as st
from torch import Tensor

from selfattn.analysis.compare import EncoderComparison, compare_encoders, counterpart_distances, why_no_counterparts
from selfattn.captions import attention as captions
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard.encoder_picker import encode_or_stop, pick_second_encoder
from selfattn.dashboard.figures import current_theme, say, show_chart, this_page
from selfattn.dashboard.pickers import head_slider
from selfattn.encoders.capture import Head
from selfattn.frames import heads_frame, weights_frame

MAP = 270  # three of them side by side at 1440


def show_comparison(comparison: EncoderComparison, titles: tuple[str, str]) -> None:
    """Both heads on one colour scale, and the second minus the first."""
    theme = current_theme()
    top = float(max(comparison.first.max(), comparison.second.max()))
    places = st.container(horizontal=True, gap="medium")
    for matrix, title, color in zip(
        (comparison.first, comparison.second), titles, (theme.sentence_a, theme.sentence_b)
    ):
        chart = heatmap(
            matrix.numpy(), comparison.words, theme, maximum=top, title=title, color=color, size=MAP
        )  # fmt: skip
        with places.container(width=MAP + 90):
            reading = captions.largest_cell(matrix.numpy(), comparison.words)
            table = lambda matrix=matrix: weights_frame(matrix, comparison.words)  # noqa: E731
            show_chart(chart, reading, table=table)
    chart = heatmap(
        comparison.difference.numpy(), comparison.words, theme, kind="signed", title="second minus first", size=MAP,
        legend="second minus first",
    )  # fmt: skip
    reading = captions.largest_cell(comparison.difference.numpy(), comparison.words, "difference")
    with places.container(width=MAP + 90):
        table = lambda: weights_frame(comparison.difference, comparison.words)  # noqa: E731
        show_chart(chart, reading, table=table)
    if comparison.left_out:
        say("Left out, because one of the two can't read it: " + ", ".join(comparison.left_out))
    st.caption("Words only: special tokens are hidden, and each row is scaled up to sum to 1 again.")


def show_counterparts(distances: Tensor, head: Head) -> None:
    """Layers x heads by how far each head is from its counterpart; a click chooses a head."""
    frame = heads_frame(distance=distances)
    chart = head_map(frame, "distance", current_theme(), str(head), kind="weights", title="distance of the weights")
    reading = captions.counterparts(frame, str(head))
    show_chart(chart, reading, key="counterparts", heads=True, name="each head and its counterpart")


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
one, other = encode_or_stop(first, text, first.name), encode_or_stop(second, text, second.name)
why = why_no_counterparts(first, second)
if why:
    partner = head_slider(second, "Its head", "head2", "L0 H0")
    say(f"Their heads are no counterparts of one another: {why}. So you choose a head of each.")
else:
    partner = chosen
    show_counterparts(counterpart_distances(one, other), chosen)
titles = tuple(f"{e.name.split('/')[-1]}, {h}" for e, h in ((first, chosen), (second, partner)))
show_comparison(compare_encoders(one, chosen, other, partner), titles)
