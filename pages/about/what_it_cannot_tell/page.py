"""What weights, removed heads, sense scores and the recomputation do not show, each with a live counter-example."""

import streamlit as st

from pages.about.what_it_cannot_tell import limits
from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.dashboard.shown import heading
from selfattn.encoders.encoder import Encoder
from selfattn.lessons import counterexamples


def show_weights(encoder: Encoder) -> None:
    loud, same, frame = limits.weight_examples(encoder)
    st.markdown("#### A large weight is not a large effect")
    parts.prose(
        "What a word takes home is weight *times value*. A token may get nearly all weight and hand over nearly nothing."
    )
    st.text(loud, width="stretch")
    st.markdown("#### Other weights, the same result")
    parts.prose(
        "In a text with more tokens than a head has dimensions, many rows of weights mix the very same context."
    )
    if frame is None:
        st.text(same, width="stretch")
        return
    with parts.row():
        for column in frame.columns[1:]:
            with parts.figure(column.capitalize(), 400):
                chart = charts.bars(frame, column, current_theme(), domain=(0, 0.5))
                show_chart(chart, f"Its eight largest: {frame[column].sum():.2f} of 1.", width="content")
    st.text(same, width="stretch")


def show_removal(encoder: Encoder) -> None:
    sums, control = limits.removal_example(encoder)
    st.markdown("#### Removing a head is not finding the cause")
    parts.prose("Heads stand in for one another and work against one another. So single effects don't add up.")
    st.text(sums, width="stretch")
    parts.prose("Removing heads moves the vectors of *one* sense, too. That is the control:")
    st.text(control, width="stretch")


def show_senses_and_luck(encoder: Encoder) -> None:
    st.markdown("#### A sense that can be told is not a sense that a head found")
    parts.prose(
        "If a head's output tells two senses apart, the word's own value, or a plain average over the sentence, may do as "
        "well. That is why the Senses page sets every head beside both."
    )
    st.text(limits.sense_example(encoder), width="stretch")
    st.markdown("#### A head that passes one test may be lucky")
    parts.prose("With many heads, one always does well. An example chosen from many proves less than it seems.")
    st.text(limits.luck_example(encoder), width="stretch")


heading("What it cannot tell")
parts.prose(
    "Pictures of attention persuade quickly. Here is what the figures on these pages do *not* show, each with a "
    "counter-example computed just now, on the encoder you chose."
)
encoder = current_encoder()
show_encoder(encoder)
if encoder.recomputable:
    show_weights(encoder)
    show_removal(encoder)
    show_senses_and_luck(encoder)
else:
    st.text(f"This encoder is shown, not recomputed, so some counter-examples are missing here: {encoder.reason}")
st.markdown("#### A proof of arithmetic is not a proof of meaning")
parts.prose(
    "“Recomputed” says that softmax(QKᵀ/√d)V gives the model's own numbers. It would say the same of pure noise: "
    f"on random queries, keys and values the kernel and torch differ by **{counterexamples.recomputed_noise():.0e}**."
)
