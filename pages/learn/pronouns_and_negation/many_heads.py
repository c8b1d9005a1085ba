"""Every head, with what one word attends to most in it."""

import streamlit as st
import torch

from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme, show_chart, this_page
from selfattn.encoders.encoder import Encoder
from selfattn.lessons import many_heads


def show(encoder: Encoder) -> None:
    teaching.prose(
        '"One head, one relation; many heads, many relations." That is how lessons put it. Here are all heads, each with '
        "the token that the chosen word attends to most."
    )
    sentence = "The animal didn't cross the street because it was too tired."
    _, encoding = teaching.choose_sentence("many-heads", sentence, encoder)
    this_page().python = f"all_heads(encoder, {encoding.text!r})", {"encoder": encoder}
    words = [word.label for word in encoding.words]
    default, key = words.index("it") if "it" in words else 0, f"many-heads.word.{len(words)}"
    index = st.selectbox("Word", range(len(words)), default, format_func=lambda n: words[n], key=key, width=220)
    position = encoding.words[index].start
    heads = many_heads.favourites(encoding.rows(position), position, encoding.tokens, encoding.special)
    counted = many_heads.count_kinds(heads)
    kinds = ", ".join(f"{kind} {n}" for kind, n in counted.items() if n)
    question = f"What gets most weight from this word in most of the {len(heads)} heads?"
    most = max(counted, key=counted.__getitem__)
    if not teaching.predict("many-heads", question, list(counted), most, f"In so many heads: {kinds}."):
        return
    weights = torch.tensor(heads["weight"].tolist()).reshape(encoding.n_layers, encoding.n_heads)
    layers, across = [f"L{n}" for n in range(encoding.n_layers)], [f"H{n}" for n in range(encoding.n_heads)]
    # Heads down and layers across, so that a token's width fits into a narrow window.
    tokens = heads.sort_values(["head", "layer"])["token"]
    labels = [token if len(token) <= 9 else f"{token[:8]}…" for token in tokens]  # what is cut is marked
    chart = heatmap(
        weights.T, across, current_theme(), columns=layers, maximum=1.0, names=("head", "layer"), cell=(74, 30),
        numbers=labels,
    )  # fmt: skip
    show_chart(chart, f"What gets most weight, in how many heads: {kinds}.", name="what gets most weight")
    teaching.prose(
        f"In **{counted['a special token']} of {len(heads)}** heads the favourite is a special token. Whether such a head "
        "rests or works, its weights don't tell: its values may be small or large. Several heads share one habit; that a "
        "head has a favourite doesn't make it a relation."
    )
