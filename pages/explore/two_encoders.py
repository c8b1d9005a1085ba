"""Two encoders on the same sentence: a head of each side by side; checkpoints of one architecture head by head."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.analysis.compare import EncoderComparison, compare_encoders, counterpart_distances, why_no_counterparts
from selfattn.captions import attention as captions
from selfattn.charts import vega as charts
from selfattn.dashboard import second_encoder
from selfattn.dashboard.carried import carry_choice
from selfattn.dashboard.encoder_picker import current_encoder, encode_or_stop, show_encoder
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.dashboard.pickers import choose_head, pick_head, pick_sentence
from selfattn.dashboard.shown import heading
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
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
        chart = charts.heatmap(
            matrix.numpy(), comparison.words, theme, maximum=top, title=title, color=color, size=MAP
        )  # fmt: skip
        with places.container(width=MAP + 90):
            reading = captions.largest_cell(matrix.numpy(), comparison.words)
            show_chart(charts.finish(chart, theme), reading, width="content", table=numbers(matrix, comparison.words))
    chart = charts.heatmap(
        comparison.difference.numpy(), comparison.words, theme, kind="signed", title="second minus first", size=MAP,
        legend="second minus first",
    )  # fmt: skip
    reading = captions.largest_cell(comparison.difference.numpy(), comparison.words, "difference")
    with places.container(width=MAP + 90):
        table = numbers(comparison.difference, comparison.words)
        show_chart(charts.finish(chart, theme), reading, width="content", table=table)
    if comparison.left_out:
        st.text("Left out, because one of the two can't read it: " + ", ".join(comparison.left_out), width="stretch")
    st.caption("Words only: special tokens are hidden, and each row is scaled up to sum to 1 again.")


def numbers(matrix: Tensor, words: Sequence[str]) -> Callable[[], pd.DataFrame]:
    """A map's numbers, a line each."""
    return lambda: weights_frame(matrix, words)


def show_counterparts(distances: Tensor, layer: int, head: int) -> None:
    """Layers x heads by how far each head is from its counterpart; a click chooses a head."""
    frame = heads_frame(distance=distances)
    theme, key = current_theme(), f"counterparts-{st.session_state.get('choices', 0)}"
    chart = charts.head_map(
        frame, "distance", theme, str(Head(layer, head)), kind="weights", title="distance of the weights"
    )
    reading = captions.counterparts(frame, str(Head(layer, head)))
    show_chart(charts.finish(chart, theme), reading, key=key, on_select=lambda: clicked(key), width="content")


def clicked(key: str) -> None:
    """A click on a head makes it the chosen one."""
    if picked := st.session_state[key].selection.get("pick"):
        choose_head(int(picked[0]["layer"]), int(picked[0]["head"]))


def other_head(encoder: Encoder) -> tuple[int, int]:
    """A slider of its own for the second encoder, whose heads are no counterparts of the first's."""
    names = [str(head) for head in encoder.all_heads]
    if st.session_state.get("head2", names[0]) not in names:
        st.session_state.head2 = names[0]
    return encoder.all_heads[names.index(st.select_slider("Its head", names, key="head2", bind="query-params"))]


heading("Two encoders on one sentence")
first = current_encoder()
carry_choice("two_encoders")
show_encoder(first)
row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
with row:
    text = pick_sentence()
    second = second_encoder.pick(first)
if second is None:
    st.info("Choose a second encoder. Both stay loaded while you compare; from the Hub, the first time takes a while.")
    st.stop()
one, other = encode_or_stop(first, text, first.name), encode_or_stop(second, text, second.name)
why = why_no_counterparts(first, second)
left, right = st.columns(2)
with left:
    chosen = pick_head(first)
if why:
    with right:
        partner = other_head(second)
    st.text(f"Their heads are no counterparts of one another: {why}. So you choose a head of each.", width="stretch")
else:
    partner = chosen
    show_counterparts(counterpart_distances(one, other), *chosen)
titles = tuple(f"{e.name.split('/')[-1]}, {h}" for e, h in ((first, chosen), (second, partner)))
show_comparison(compare_encoders(one, chosen, other, partner), titles)
