"""Where a lesson turns to the visitor's encoder: choose a sentence and a head, compare with drawn numbers."""

import pandas as pd
import streamlit as st
import torch

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.encoder_picker import cached_encode, current_encoder, encode_or_stop
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.kernel import AttentionTrace
from selfattn.lessons import textbook_weights as drawn_numbers
from selfattn.lessons.order_in_an_encoder import compare_orders
from selfattn.words import between_groups

BANK_OPTIONS = ("deposit", "the", "check")
MOST_TOKENS = 64  # a map with more cells than that is drawn on the Explore pages


def choose_sentence(stop: str, sentence: str, encoder: Encoder | None = None) -> tuple[Encoder, Encoding]:
    """A box for a sentence, run through the encoder; the page says so and ends where that can't be done."""
    encoder = encoder or current_encoder()
    key = f"{stop}.sentence"
    st.session_state.setdefault(key, sentence)
    typed = st.text_input("Sentence", key=key, max_chars=500, width=parts.TEXT_WIDTH)
    encoding = encode_or_stop(encoder, typed, "Sentence")
    if len(encoding.tokens) > MOST_TOKENS:
        st.warning(
            f"This lesson shows up to {MOST_TOKENS} tokens; the sentence has {len(encoding.tokens)}. Shorten it."
        )
        st.stop()
    if not encoder.recomputable:
        st.warning("This encoder's attention is shown, not recomputed, so its queries and keys are not at hand.")
        st.stop()
    return encoder, encoding


def choose_head(stop: str, sentence: str) -> tuple[AttentionTrace, tuple[str, ...]]:
    """A sentence and one head of the encoder; layers and heads count from 0."""
    encoder, encoding = choose_sentence(stop, sentence)
    with st.container(horizontal=True):
        layer = st.slider("Layer", 0, encoder.n_layers - 1, 0, key=f"{stop}.layer", width=260)
        head = st.slider("Head", 0, encoder.n_heads - 1, min(4, encoder.n_heads - 1), key=f"{stop}.head", width=260)
    return encoding.trace(layer, head), encoding.tokens


def score_spread(key: str) -> None:
    """How widely the scores of real heads spread, with the division."""
    parts.prose(
        "**And in a real encoder?** The standard deviation of each head's scaled scores, on a sentence of yours."
    )
    encoder, encoding = choose_sentence(key, "The bank of the river was muddy after the rain.")
    spread = torch.stack(
        [torch.stack([encoding.trace(layer, head).scaled.std() for head in range(encoder.n_heads)])
         for layer in range(encoder.n_layers)]
    )  # fmt: skip
    rows, columns = [f"L{n}" for n in range(encoder.n_layers)], [f"H{n}" for n in range(encoder.n_heads)]
    chart = charts.heatmap(spread, rows, columns, current_theme(), names=("layer", "head"), cell=36)
    layer, head = divmod(int(spread.argmax()), encoder.n_heads)
    reading = (
        f"Median {float(spread.median()):.2f}, largest {float(spread.max()):.2f} in L{layer} H{head}. "
        f"Without the division all would be {encoder.d_head**0.5:.1f} times as large (d_head = {encoder.d_head})."
    )
    show_chart(chart, reading, width="content")


def order_on_encoder() -> None:
    """Dog bites man on the real encoder, with and without its positions."""
    parts.prose("**On the real encoder.** The same two sentences; then once more with position 0 for every token.")
    encoder = current_encoder()
    try:
        found = compare_orders(encoder, "dog bites man", "man bites dog", "dog")
    except ValueError as error:
        st.text(str(error))
        return
    with st.container(horizontal=True):
        st.metric("Cosine of the two “dog”, positions as usual", f"{found.with_positions:.3f}", width="content")
        st.metric("All at one position", f"{found.without_positions:.3f}", width="content")
    st.text(f"Without positions the two vectors differ by {found.difference_without:.0e} at most.")


def bank_looks_at(encoder: Encoder) -> str:
    """Of the three drawn words, the one that "bank" looks at most, averaged over all heads: "deposit", "the", "check"."""
    drawn = drawn_numbers.DRAWN[0]
    between = _between(drawn, cached_encode(encoder, drawn.sentence))
    return BANK_OPTIONS[int(between.mean((0, 1, 2)).argmax())]


def drawn_beside_encoder(encoder: Encoder) -> None:
    """One set of drawn numbers beside the heads that come nearest."""
    titles = [drawn.title for drawn in drawn_numbers.DRAWN]
    chosen = st.radio("Made-up numbers for", titles, key="drawn-numbers.which", horizontal=True)
    drawn = drawn_numbers.DRAWN[titles.index(chosen)]
    encoding = encode_or_stop(encoder, drawn.sentence, "Sentence")
    asking, asked = ([encoding.words[place] for place in places] for places in (drawn.asking, drawn.asked))
    st.text(f"{drawn.sentence}\n{drawn.note}")
    _three_maps(drawn, _between(drawn, encoding), [w.text for w in asking], [w.text for w in asked])


def _between(drawn: drawn_numbers.Drawn, encoding: Encoding) -> torch.Tensor:
    """(n_layers, n_heads, n_asking, n_asked): the encoder's weights between the drawn words."""
    asking, asked = ([encoding.words[place].positions for place in places] for places in (drawn.asking, drawn.asked))
    weights = torch.stack([encoding.weights(layer) for layer in range(encoding.n_layers)])
    return between_groups(weights, asking, asked)


def _three_maps(drawn: drawn_numbers.Drawn, between: torch.Tensor, asking: list[str], asked: list[str]) -> None:
    found = drawn_numbers.compare(between, drawn.numbers)
    total = sum(drawn.numbers[0])
    shown = [("As drawn", torch.tensor(drawn.numbers), f"The first row sums to {total:.2f}.")]
    for place, title in ((0, "Nearest head"), (len(found) // 2, "Middle head")):
        line = found.iloc[place]
        layer, head = int(line.layer), int(line["head"])
        reading = (
            f"Distance {line.distance:.2f} (0 = alike, 1 = nothing in common); "
            f"these words get {line.kept:.2f} of its weight."
        )
        shown.append((f"{title}: L{layer} H{head}", drawn_numbers.own_shares(between[layer, head]), reading))
    with parts.row():
        for title, matrix, reading in shown:
            with parts.figure(title, 400):
                chart = charts.heatmap(matrix, asking, asked, current_theme(), highest=1.0, cell=52)
                show_chart(chart, reading, width="content")
    near = int((found["distance"] < 0.1).sum())
    st.text(f"{near} of {len(found)} heads come within .10 of the drawn numbers.")
    frame = pd.DataFrame(found).head(8)
    st.dataframe(frame, hide_index=True, width="content", key="drawn-numbers.table")
