"""The weights that lessons print, beside a real encoder's."""

from functools import partial

import streamlit as st
import torch

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import current_theme
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.lessons import textbook_weights
from selfattn.lessons.textbook_weights import TEXTBOOK, shares

TITLE = "Numbers people draw"
STEP = "a real head"
IDEA = (
    "Lessons like to print attention weights: *bank* gives *deposit* .85, *it* gives *animal* .9. They are made up, "
    "and real heads give others."
)
QUESTION = "*Deposit the check at the bank.* Averaged over all heads of the encoder: which does *bank* attend to most?"
OPTIONS = ("deposit", "the", "check")
CODE = {
    "drawn": "drawn = typed by hand   # no line of the kernel makes these",
    "mean": "mean = shares(weights.mean(dim=(0, 1)))   # over layers and heads",
    "shares": "shares = weights / weights.sum(dim=-1, keepdim=True)   # of one head, on these words only",
}
REASON = "It is computed from the encoder's weights, which are drawn below beside the made-up ones."
TAKE = "Printed weights illustrate. Real ones are spread over many heads and over special tokens; 1 % of the weight is no match."


def show(picture, numbers) -> None:
    encoder = current_encoder()
    with numbers:
        titles = [textbook.title for textbook in TEXTBOOK]
        textbook = TEXTBOOK[titles.index(st.radio("Made-up numbers for", titles, key="drawn-numbers.which"))]
        encoding = encode_or_stop(encoder, textbook.sentence, "Sentence")
        st.text(f"{textbook.sentence}\n{textbook.note}")
        own = textbook_weights.between_words(encoding, textbook)
        heads = textbook_weights.compare(own, textbook.weights)
        near = textbook_weights.near(heads)
        st.text(
            f"{near} of {len(heads)} heads come within .10 of the drawn numbers with a quarter of their weight on these words."
        )
        st.dataframe(heads.head(8), hide_index=True, width="content", key="drawn-numbers.table")
    mean = own.mean((0, 1))
    pictures = {"drawn": ("As drawn", torch.tensor(textbook.weights)), "mean": ("Average over all heads", shares(mean))}
    said = [
        f"The first row drawn sums to {sum(textbook.weights[0]):.2f}. "
        f"On average these words get {float(mean.sum(-1).mean()):.2f} of the weight."
    ]
    for place, title in ((0, "Nearest head"), (len(heads) // 2, "Middle head")):
        line = heads.iloc[place]
        head = Head(int(line["layer"]), int(line["head"]))
        pictures[f"shares {title}"] = f"{title}: {head}", shares(own[head])
        said.append(f"{head}: distance {line.distance:.2f}, these words get {line.kept:.2f} of its weight.")
    rows, columns = ([encoding.words[n].text for n in places] for places in (textbook.queries, textbook.keys))
    cell = (min(80, 310 // len(columns)), 46)
    draw = partial(heatmap, rows=rows, theme=current_theme(), columns=columns, maximum=1.0, cell=cell)
    charts = {name: (title, draw(matrix)) for name, (title, matrix) in pictures.items()}
    with picture:
        teaching.prose(
            "Beside what is drawn: what the encoder's heads really give those words, cut to them and made to sum to 1. A "
            "distance of 0 is the same, 1 nothing in common."
        )
        teaching.steps(charts, " ".join(said), CODE, columns=2)
        if textbook.title.startswith("it"):
            head = Head(*map(int, heads.iloc[0][["layer", "head"]]))
            chart = heatmap(encoding.weights(*head), encoding.tokens, current_theme(), cell=36)
            teaching.figure(
                f"The whole sentence in the nearest head, {head}", chart, "Each row is one word's attention.", 700
            )


def answer() -> str:
    """Of the three words, the one that "bank" attends to most, averaged over all heads."""
    own = textbook_weights.between_words(cached_encode(current_encoder(), TEXTBOOK[0].sentence), TEXTBOOK[0])
    return OPTIONS[int(own.mean((0, 1, 2)).argmax())]
