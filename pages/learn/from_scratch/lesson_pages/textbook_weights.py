"""Compare made-up attention weights from public lessons with a real encoder's.

Source: textbook_weights.toml
"""

import math
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoding import Encoding
from selfattn.tidy_tables import heads_frame
from selfattn.views.lesson import drawing
from selfattn.words import between_groups

shares = partial(normalize, p=1, dim=-1)  # scales each row to sum to 1, except rows of zeros
# A near head has a distance below NEAR from the made-up weights, and gives at least KEPT of its weight to `keys`.
NEAR, KEPT = 0.1, 0.25


class TextbookWeights(NamedTuple):
    """Made-up attention weights. queries, keys: word indices of rows and columns."""

    title: str
    sentence: str
    queries: Sequence[int]
    keys: Sequence[int]
    weights: Sequence[Sequence[float]]
    note: str


TEXTBOOK = [
    TextbookWeights(**each) for each in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["lesson"]
]


def drawn_numbers(picture, answered: bool) -> None:
    """Draw the made-up weights, the mean over all heads, the nearest head, and the head at the median distance.

    Distances are from the made-up weights.
    """
    encoder = current_encoder()
    textbooks = {textbook.title: textbook for textbook in TEXTBOOK}
    textbook = textbooks[st.selectbox("Made-up numbers for", list(textbooks), key="drawn-numbers.which")]
    encoding = encode_or_stop(encoder, textbook.sentence, "Sentence")
    st.text(f"{textbook.sentence}\n{textbook.note}")
    own = between_words(encoding, textbook)
    heads = compare(own, textbook.weights)
    near = int(((heads["distance"] < NEAR) & (heads["kept"] >= KEPT)).sum())
    mean = own.mean((0, 1))
    pictures = {"As printed": torch.tensor(textbook.weights), "Average over all heads": shares(mean)}
    nearest, middle = heads.iloc[0], heads.iloc[len(heads) // 2]
    for title, line in (("Nearest head", nearest), ("Middle head", middle)):
        pictures[f"{title}: {line['name']}"] = shares(own[line["layer"], line["head"]])
    rows, columns = ([encoding.words[n].text for n in places] for places in (textbook.queries, textbook.keys))
    looks = {"columns": columns, "maximum": 1.0, "cell": (min(80, 310 // len(columns)), 46)}
    finding = (
        f"The head nearest to the made-up weights is {nearest['name']}, at distance {nearest.distance:.2f}. This head gives "
        f"{nearest.kept:.2f} of its weight to the words that label the columns."
    )
    kept = float(mean.sum(-1).mean())
    note = (
        f"The first row of the made-up weights sums to {sum(textbook.weights[0]):.2f}. On average, a head gives {kept:.2f} of "
        "its weight to the words that label the columns."
    )
    with picture:
        charts = {
            title: drawing(heatmap, teaching.asked(matrix, answered or title == "As printed"), rows, **looks)
            for title, matrix in pictures.items()
        }
        teaching.steps("drawn numbers", finding, charts, note=note, columns=2, answered=answered)
        if answered:
            teaching.prose(
                "Before the comparison, we scale a head's weights on these words to sum to 1. Distance 0 means equal weights. "
                f"Distance 1 means that the head and the lesson never give weight to the same word. {near} of {len(heads)} heads "
                "have a distance below 0.10 and give these words at least a quarter of their weight."
            )
            if textbook.title.startswith("it"):
                _whole(encoding, textbook, Head(nearest["layer"], nearest["head"]))


def _whole(encoding: Encoding, textbook: TextbookWeights, head: Head) -> None:
    words = [word.text for word in encoding.words]
    drawn = torch.full((len(words), len(words)), math.nan)
    drawn[textbook.queries[0], list(textbook.keys)] = torch.tensor(textbook.weights[0])
    places = [word.positions for word in encoding.words]
    own = between_groups(encoding.weights(*head), places, places)
    maps = {"As printed: one row": drawn, f"{head}: every row": own}
    charts = {title: teaching.small_map(matrix, words, 320, maximum=1.0) for title, matrix in maps.items()}
    teaching.steps(
        "whole sentence", "The made-up weights are the row of one word. A head has a row for each word.", charts
    )


def answer(options: Sequence[str]) -> str:
    """Return the word that "bank" attends to most, on average over heads."""
    own = between_words(cached_encode(current_encoder(), TEXTBOOK[0].sentence), TEXTBOOK[0])
    return options[int(own.mean((0, 1, 2)).argmax())]


def between_words(encoding: Encoding, textbook: TextbookWeights) -> Tensor:
    """Return the weights between the textbook's words: (n_layers, n_heads, n_queries, n_keys)."""
    queries, keys = ([encoding.words[n].positions for n in places] for places in (textbook.queries, textbook.keys))
    return torch.stack([between_groups(encoding.weights(layer), queries, keys) for layer in range(encoding.n_layers)])


def compare(weights: Tensor, textbook: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return each head's distance from the textbook's weights, nearest first.

    weights (n_layers, n_heads, n_queries, n_keys): from `between_words`
    distance: total variation of rows scaled to sum to 1; 0 (equal) to 1 (nothing in common)
    kept: the head's weight on the textbook's words before scaling, 0 to 1
    """
    printed = torch.tensor(textbook, dtype=torch.float64)
    distance = (shares(weights) - shares(printed)).abs().sum(-1).mean(-1) / 2
    frame = heads_frame(distance=distance, kept=weights.sum(-1).mean(-1))
    return frame.sort_values("distance", ignore_index=True)
