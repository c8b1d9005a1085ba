"""The weights that lessons print, beside a real encoder's."""

import streamlit as st
import torch

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder, encode_or_stop
from selfattn.dashboard.figures import current_theme
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.lessons import textbook_weights
from selfattn.lessons.textbook_weights import TEXTBOOK

TITLE = "Numbers people draw"
STEP = "consequences"
IDEA = (
    "Lessons like to print attention weights: *bank* gives *deposit* .85, *it* gives *animal* .9. They are made up, "
    "and real heads give others."
)
QUESTION = "*Deposit the check at the bank.* Averaged over all heads of the encoder: which does *bank* attend to most?"
OPTIONS = ("deposit", "the", "check")
TAKE = "Printed weights illustrate. Real ones are spread over many heads and over special tokens; 1 % of the weight is no match."


def show(*_) -> None:
    encoder = current_encoder()
    teaching.prose(
        "Each set stands beside what the encoder's heads really give those words: their average, the head that comes "
        "nearest, and a middling one. All are cut to the words that were drawn and made to sum to 1; how much of the "
        "weight that leaves out is said too."
    )
    titles = [textbook.title for textbook in TEXTBOOK]
    title = st.radio("Made-up numbers for", titles, key="drawn-numbers.which", horizontal=True)
    _beside_encoder(encoder, TEXTBOOK[titles.index(title)])


def answer() -> str:
    """Of the three words, the one that "bank" attends to most, averaged over all heads."""
    own = textbook_weights.between_words(cached_encode(current_encoder(), TEXTBOOK[0].sentence), TEXTBOOK[0])
    return OPTIONS[int(own.mean((0, 1, 2)).argmax())]


def _beside_encoder(encoder: Encoder, textbook: textbook_weights.TextbookWeights) -> None:
    """One set of made-up weights beside the head that comes nearest, and a middling one."""
    encoding = encode_or_stop(encoder, textbook.sentence, "Sentence")
    st.text(f"{textbook.sentence}\n{textbook.note}")
    own = textbook_weights.between_words(encoding, textbook)
    heads = textbook_weights.compare(own, textbook.weights)
    mean = own.mean((0, 1))
    caption = (
        f"The average over all {len(heads)} heads: these words get {float(mean.sum(-1).mean()):.2f} of the weight."
    )
    pictures = [
        ("As drawn", torch.tensor(textbook.weights), f"The first row sums to {sum(textbook.weights[0]):.2f}."),
        ("Average over all heads", textbook_weights.shares(mean), caption),
    ]
    for place, title in ((0, "Nearest head"), (len(heads) // 2, "Middle head")):
        line = heads.iloc[place]
        head = Head(int(line["layer"]), int(line["head"]))
        caption = (
            f"Distance {line.distance:.2f} (0 = the same, 1 = nothing in common); "
            f"these words get {line.kept:.2f} of its weight."
        )
        pictures.append((f"{title}: {head}", textbook_weights.shares(own[head]), caption))
    rows, columns = ([encoding.words[n].text for n in places] for places in (textbook.queries, textbook.keys))
    with teaching.row():
        for title, matrix, caption in pictures:
            chart = heatmap(matrix, rows, current_theme(), columns=columns, maximum=1.0, cell=52)
            teaching.figure(title, chart, caption, 400)
    if textbook.title.startswith("it"):
        head = Head(*map(int, heads.iloc[0][["layer", "head"]]))
        chart = heatmap(encoding.weights(*head), encoding.tokens, current_theme(), cell=36)
        teaching.figure(
            f"The whole sentence in the nearest head, {head}", chart, "Each row is one word's attention.", 700
        )
    teaching.code("weights")
    near = textbook_weights.near(heads)
    st.text(
        f"{near} of {len(heads)} heads come within .10 of the drawn numbers with a quarter of their weight on these words."
    )
    st.dataframe(heads.head(8), hide_index=True, width="content", key="drawn-numbers.table")
