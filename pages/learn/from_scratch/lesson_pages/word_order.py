"""Draw the lesson page about word order.

Sources: Vaswani et al. 2017, section 3.5; Lee et al. 2019, "Set Transformer", property 1.
"""

from collections.abc import Sequence

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.measures import similarity
from selfattn.analysis.what_if import causal_mask
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import show_error
from selfattn.encoders.encoder import Encoder
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons.encoded_words import first_word
from selfattn.lessons.recurrence import word_vectors
from selfattn.numbers import decimal, error
from selfattn.views.lesson import drawing

MOST = 8
D_MODEL = 8


def order(picture, answered: bool) -> None:
    """Draw the words' context vectors in two word orders."""
    published = {"order.words": "dog bites man"}
    for key, value in published.items():
        st.session_state.setdefault(key, value)
    words = st.text_input("Your words (two to eight)", key="order.words").split()
    teaching.reset("order", published, "Reset the words")
    if not 2 <= len(words) <= MOST or len(set(words)) < len(words):
        show_error(
            f"Expected two to {MOST} different words, got {len(words)} words ({len(set(words))} different). Change the words."
        )
        return
    positions = st.toggle("Add a vector for each position", key="order.positions")
    causal = st.toggle("Causal mask: no word attends to a later word", key="order.causal")
    first, second = both_orders(words, positions, causal)
    difference = float((first.context.flip(0) - second.context).abs().max())
    columns = [str(n + 1) for n in range(D_MODEL)]
    looks = {"columns": columns, "names": ("word", "number"), "kind": "signed", "maximum": 2.0, "cell": (32, 36)}
    charts = {
        "Contexts in your order": drawing(heatmap, first.context, words, **looks),
        "Contexts in reverse order": drawing(heatmap, teaching.asked(second.context, answered), words[::-1], **looks),
    }
    with picture:
        finding = f"In the two orders, a word's contexts differ by at most {decimal(difference)}."
        teaching.steps("order", finding, charts, answered=answered)
        if answered:
            teaching.prose(
                f"**Shuffling the words only shuffles the contexts** (the difference of {error(difference)} is a rounding error)."
                if difference < 1e-9
                else "**Now a word's contexts in the two orders differ,** because they depend on the word's position."
            )
            _on_encoder()


def _on_encoder() -> None:
    teaching.prose("**In a real encoder:** compare *dog* in *dog bites man* and in *man bites dog*.")
    try:
        usual, same = compare_orders(current_encoder(), "dog bites man", "man bites dog", "dog")
    except ValueError as refusal:
        st.text(str(refusal))
        return
    with st.container(horizontal=True):
        st.metric(
            "Cosine of the two vectors of “dog”, with normal positions",
            f"{float(similarity(*usual)):.3f}",
            width="content",
        )
        st.metric("The same cosine, with all tokens at position 0", f"{float(similarity(*same)):.3f}", width="content")


def both_orders(words: Sequence[str], positions: bool, causal: bool = False) -> tuple[AttentionTrace, AttentionTrace]:
    """Return the attention traces of the words in the given order and in reverse order."""
    vectors, places = word_vectors(words, D_MODEL), torch.zeros(len(words), D_MODEL)
    if positions:  # half a word vector's length: longer ones would decide the scores alone
        places = 0.5 * normalize(_random(1, len(words), D_MODEL), dim=-1)
    matrices = _random(0, 3, D_MODEL, D_MODEL)
    mask = causal_mask(len(words)) if causal else None
    projected = [(each + places) @ matrices for each in (vectors, vectors.flip(0))]
    first, second = (attend(query, key, value, mask) for query, key, value in projected)
    return first, second


def _random(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def compare_orders(encoder: Encoder, first: str, second: str, word: str) -> tuple[list[Tensor], list[Tensor]]:
    """Return the word's last-layer vectors in both sentences: with the usual positions, and with all positions 0.

    Raises ValueError if the word is missing, the sentences' tokens differ, or the encoder takes no position ids.
    """
    placed = [first_word(encoder.encode(text), word) for text in (first, second)]
    ids = [each.sentence.ids for each in placed]
    if sorted(ids[0]) != sorted(ids[1]):
        raise ValueError(
            "Expected the same tokens in both sentences, but got different tokens from this tokeniser. Choose another encoder."
        )
    rows = torch.tensor(ids, device=encoder.device)
    inputs = {"input_ids": rows, "attention_mask": torch.ones_like(rows), "position_ids": torch.zeros_like(rows)}
    try:
        with torch.no_grad():
            states = encoder.model(**inputs).last_hidden_state.float().cpu()
    except TypeError:
        raise ValueError(
            "Can't set all positions to 0: this encoder doesn't accept position ids. Choose another encoder."
        ) from None
    usual = [each.sentence.vector(encoder.n_layers, each.positions) for each in placed]
    return usual, [state[list(each.positions)].mean(0) for state, each in zip(states, placed)]
