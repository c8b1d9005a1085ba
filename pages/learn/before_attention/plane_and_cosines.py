"""The pictures of one word's vectors: the plane, the cosines, and the baselines over depth."""

import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.charts.arrows import moves
from selfattn.charts.curves import lines
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached, cached_encode
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES
from selfattn.lessons import one_word_one_vector
from selfattn.lessons.one_word_one_vector import Landmarks, WordPaths
from selfattn.numbers import cosine, share
from selfattn.senses.nearest_centroid import cosines

LANDMARKS = {"bank": ("river", "loan", "money")}


def other_words(encoder: Encoder) -> WordPaths:
    """The longest word of each of twelve unrelated sentences: what cosine do any two words have?"""
    encodings = (cached_encode(encoder, sentence) for sentence in NEUTRAL_SENTENCES)
    longest = ((each, max(each.words, key=lambda word: len(word.text)).positions) for each in encodings)
    return cached(encoder, "other words", lambda _: one_word_one_vector.word_paths(list(longest)))


def landmarks(encoder: Encoder, words: tuple[str, ...]) -> Landmarks | None:
    """Words to find one's way by, each as a sentence of its own."""
    if not words:
        return None
    found = [cached_encode(encoder, word) for word in words]
    paths = one_word_one_vector.word_paths([(each, each.words[0].positions) for each in found])
    return Landmarks(words, paths.static, paths.layers)


def colours(senses: list[str]) -> list[str]:
    """The first sense in the hue of sentence A, the second in that of B, the rest in the muted ink."""
    theme, kinds = current_theme(), list(dict.fromkeys(senses))
    hues = dict(zip(kinds, (theme.sentence_a, theme.sentence_b)))
    return [hues.get(sense, theme.muted) for sense in senses]


def _hues(senses: list[str]) -> str:
    """The two named senses with their colours, in words."""
    named = [sense for sense in dict.fromkeys(senses) if sense]
    hues = ", ".join(f"{hue}: {sense}" for hue, sense in zip(("violet", "orange"), named))
    return f" ({hues})" if hues and len(named) == len(set(senses)) else ""


def show_plane(encoder: Encoder, word: str, paths: WordPaths, senses: list[str], layer: int) -> None:
    """Each sentence's vector after `layer` layers, an arrow from the static vector to it."""
    marks = landmarks(encoder, LANDMARKS.get(word.lower(), ()))
    plane = one_word_one_vector.plane(paths, marks)
    frame = pd.DataFrame(
        torch.cat([plane.start[layer], plane.points[layer]], 1).numpy(), columns=["x0", "y0", "x", "y"]
    )
    frame["label"] = [str(number) for number in range(1, len(senses) + 1)]
    frame["detail"] = [f"sentence {number}: {sense}" for number, sense in enumerate(senses, start=1)]
    frame["colour"] = colours(senses)
    one = "one for all sentences" if paths.same_tokens else "several, as the tokens differ"
    caption = (
        f"Dot: the static vector, {one}. Numbers: the sentences{_hues(senses)}. "
        "We subtract the average vector of each layer. "
        f"The plane keeps {share(plane.explained)} of the variance over all layers."
    )
    extent = torch.cat([plane.points, plane.start, plane.marks], 1).flatten(0, 1)
    named = pd.DataFrame(plane.marks[layer].numpy(), columns=["x", "y"]).assign(label=marks.words if marks else [])
    chart = moves(frame, current_theme(), within=extent, landmarks=named)
    teaching.figure(
        "Where each sentence takes it", chart, f"{caption} {_toward(paths, senses, marks, layer)}".strip(), 490
    )


def _toward(paths: WordPaths, senses: list[str], marks: Landmarks | None, layer: int) -> str:
    """How near the word is to its first landmark, in the sentences of each sense, and before any sentence."""
    if marks is None or not paths.comparable:
        return ""
    static = cosine(float(similarity(paths.static[0], marks.static[0])))
    near = [
        f"{cosine(one_word_one_vector.nearness(paths, marks, layer, [s == sense for s in senses]))} in those of {sense}"
        for sense in dict.fromkeys(filter(None, senses))
    ]
    return f'The word\'s cosine with "{marks.words[0]}": {static} for the static vectors, here {", ".join(near)}.'


def show_cosines(vectors: Tensor) -> None:
    """The cosine of every two sentences' vectors (k, d_model) of the word."""
    matrix = cosines(vectors)
    names = [str(number) for number in range(1, len(matrix) + 1)]
    row, column = sorted(divmod(int(matrix.argmin()), len(matrix)))  # the two halves may differ in the last bit
    chart = heatmap(matrix, names, current_theme(), maximum=1.0, names=("sentence", "and"), cell=46)
    caption = f"Lowest: sentences {row + 1} and {column + 1}, cosine {cosine(float(matrix.min()))}."
    teaching.figure("Cosine of every two vectors", chart, caption, 420)


def show_baselines(encoder: Encoder, paths: WordPaths, senses: list[str]) -> None:
    """The mean cosine within a sense, between senses, and of unrelated words, at every stage."""
    frame = one_word_one_vector.baselines(paths, senses, other_words(encoder))
    last = frame[frame["stage"] == frame["stage"].max()].set_index("pairs")["cosine"]
    titles = ("−1 static, 0 as layer 0 reads it, then after each layer", "mean cosine")
    chart = lines(frame, "stage", "cosine", current_theme(), "pairs", titles=titles, size=(440, 260))
    caption = "At the end: " + ", ".join(f"{name} {cosine(value)}" for name, value in last.items()) + "."
    show_chart(chart, caption, name="mean cosine by layer")
