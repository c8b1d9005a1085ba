"""The pictures of one word's vectors: the plane, the likenesses, and the yardsticks over depth."""

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard.encoder_picker import HASHED, cached_encode
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES
from selfattn.lessons import static_word


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=HASHED)
def other_words(encoder: Encoder) -> static_word.WordPaths:
    """The longest word of each of twelve unrelated sentences: how alike are any two words?"""
    found = []
    for sentence in NEUTRAL_SENTENCES:
        encoding = cached_encode(encoder, sentence)
        longest = max(encoding.words, key=lambda word: len(word.text))
        found.append((encoding, longest.positions))
    return static_word.word_paths(found)


def colours(senses: list[str]) -> list[str]:
    """The first sense in the hue of sentence A, the second in that of B, the rest in the muted ink."""
    theme, kinds = current_theme(), list(dict.fromkeys(senses))
    hues = {kind: hue for kind, hue in zip(kinds, (theme.sentence_a, theme.sentence_b))}
    return [hues.get(sense, theme.muted) for sense in senses]


def _hues(senses: list[str]) -> str:
    """The two named senses with their colours, in words."""
    named = [sense for sense in dict.fromkeys(senses) if sense]
    hues = ", ".join(f"{hue}: {sense}" for hue, sense in zip(("violet", "orange"), named))
    return f" ({hues})" if hues and len(named) == len(set(senses)) else ""


def show_plane(paths: static_word.WordPaths, senses: list[str], layer: int) -> None:
    found = static_word.plane(paths)
    points = found.points[layer]
    frame = pd.DataFrame({"x": points[:, 0].tolist(), "y": points[:, 1].tolist()})
    frame["x0"], frame["y0"] = found.start[:, 0].tolist(), found.start[:, 1].tolist()
    frame["label"] = [str(number) for number in range(1, len(senses) + 1)]
    frame["detail"] = [f"sentence {number}: {sense}" for number, sense in enumerate(senses, start=1)]
    frame["colour"] = colours(senses)
    one = "one for all sentences" if paths.same_tokens else "several, as the tokens differ"
    reading = (
        f"Dot: the static vector, {one}. Numbers: the sentences{_hues(senses)}; what all of them share at a layer is "
        f"taken away. "
        f"The plane keeps {found.explained:.0%} of the variance over all layers."
    )
    extent = torch.cat([found.points.flatten(0, 1), found.start])
    show_chart(charts.moves(frame, current_theme(), within=extent), reading, width="content")


def show_likeness(vectors: Tensor, layer: int) -> None:
    matrix = static_word.similarities(vectors)
    names = [str(number) for number in range(1, len(matrix) + 1)]
    least = float(matrix.min())
    row, column = divmod(int(matrix.argmin()), len(matrix))
    chart = charts.heatmap(matrix, names, names, current_theme(), highest=1.0, names=("sentence", "and"), cell=46)
    show_chart(chart, f"Least alike: sentences {row + 1} and {column + 1}, cosine {least:.2f}.", width="content")


def show_yardsticks(encoder: Encoder, paths: static_word.WordPaths, senses: list[str]) -> None:
    frame = static_word.yardsticks(paths, senses, other_words(encoder))
    last = frame[frame["stage"] == frame["stage"].max()].set_index("pairs")["cosine"]
    titles = ("−1 bare, 0 with position, then after each layer", "mean cosine")
    chart = charts.lines(frame, "stage", "cosine", current_theme(), "pairs", titles=titles, size=(440, 260))
    reading = "At the end: " + ", ".join(f"{name} {value:.2f}" for name, value in last.items()) + "."
    show_chart(chart, reading, width="content")
