"""S17: every head, with what one word looks at most in it."""

import streamlit as st
import torch

from pages.learn.from_scratch.real_heads import choose_sentence
from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.encoder import Encoder
from selfattn.lessons import many_heads


def show(encoder: Encoder) -> None:
    parts.prose(
        '"One head, one relation; many heads, many relations." That is how lessons put it. Here are all heads, each with '
        "the token that the chosen word looks at most."
    )
    _, encoding = choose_sentence("many-heads", "The animal didn't cross the street because it was too tired.", encoder)
    words = range(len(encoding.words))
    default = next((n for n in words if encoding.words[n].text == "it"), 0)
    index = st.selectbox(
        "Word",
        words,
        default,
        format_func=lambda n: encoding.words[n].text,
        key=f"many-heads.word.{len(words)}",
        width=220,
    )
    position = encoding.words[index].start
    found = many_heads.favourites(encoding.rows(position), position, encoding.tokens, encoding.special)
    weights = torch.tensor(found["weight"].tolist()).reshape(encoding.n_layers, encoding.n_heads)
    rows, columns = [f"L{n}" for n in range(encoding.n_layers)], [f"H{n}" for n in range(encoding.n_heads)]
    # Heads down and layers across, so that a token's width fits into a narrow window.
    labels = [_short(token) for token in found.sort_values(["head", "layer"])["token"]]
    counted = ", ".join(f"{kind} {n}" for kind, n in many_heads.count_kinds(found).items() if n)
    chart = charts.heatmap(
        weights.T, columns, rows, current_theme(), highest=1.0, names=("head", "layer"), cell=(74, 30), labels=labels
    )
    show_chart(chart, f"Heads that look most at: {counted}.", width="content")
    special = many_heads.count_kinds(found)["a special token"]
    parts.prose(
        f"In **{special} of {len(found)}** heads the favourite is a special token: a place to rest when there is nothing to "
        "fetch. Several heads share one habit, and few of them deserve the name of a relation."
    )


def _short(token: str) -> str:
    """A token that fits a cell; what is cut is marked."""
    return token if len(token) <= 9 else f"{token[:8]}…"
