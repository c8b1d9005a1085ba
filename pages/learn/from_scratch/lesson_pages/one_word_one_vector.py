"""The problem: one word has one static vector; its sentences move it. Points in a plane, and their cosines by layer.

Source: Ethayarajh 2019 ("How contextual are contextualized word representations?", self-similarity and its baseline);
Wiedemann et al. 2019 (the vectors separate the senses). Points are unit vectors, so that only direction is drawn.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from selfattn.charts.arrows import moves
from selfattn.charts.curves import lines
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached, cached_encode
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.examples import NEUTRAL_SENTENCES, STATIC_WORD_SENTENCES
from selfattn.numbers import cosine, share
from selfattn.senses.nearest_centroid import cosines
from selfattn.views.lesson import drawing

TITLE = "The problem: one word, one vector"
STEP = "embeddings"
IDEA = (
    "A computer knows a word by a row of numbers, its vector, looked up in a table: *bank* has one, whether rivers or loans "
    "stand around it. An encoder then changes it, layer by layer."
)
QUESTION = "Six sentences with *bank*, of two senses. How many different vectors has *bank* after the last layer?"
OPTIONS = ("six, nearer to each other within a sense", "two, one for each sense", "one, as in the table")
REASON = "Every sentence moves the word its own way: even two sentences of one sense give it different vectors."
TAKE = "The table gives one vector; the sentence moves it. What moves it is attention: the path shows how."
SENSES = ("water", "water", "money", "money", "money", "water")
DEFAULT = "\n".join(f"{sentence} | {sense}" for sentence, sense in zip(STATIC_WORD_SENTENCES, SENSES))
MOST = 8
LANDMARKS = ("river", "loan", "money")  # of "bank"
CODE = (
    "static = table[token]   # one row, wherever the word stands",
    "vectors = layer(vectors)   # once for each layer: here the word meets its sentence",
    "cosines = unit @ unit.T   # of every two sentences",
)


class Paths(NamedTuple):
    """One word in k sentences: its bare vector and its vector entering each layer."""

    static: Tensor  # (k, d_embedding): all the same where the word's tokens are
    layers: Tensor  # (n_layers + 1, k, d_model): hidden[0] ... hidden[n_layers]

    @property
    def comparable(self) -> bool:
        """Whether the bare vectors live in the hidden states' space (they don't where d_embedding differs)."""
        return self.static.shape[-1] == self.layers.shape[-1]


def show(picture) -> None:
    encoder = current_encoder()
    show_encoder(encoder)
    with teaching.messages("These sentences can't be used."):
        senses, paths, word = choose(encoder)
    layer = st.slider("After how many layers", 0, encoder.n_layers, encoder.n_layers, key="one-vector.layer")
    names = LANDMARKS if word.lower() == "bank" else ()
    alone = [cached_encode(encoder, name) for name in names]  # each as a sentence of its own
    marks = word_paths([(each, each.words[0].positions) for each in alone]) if names else None
    difference = float((paths.static - paths.static[0]).abs().max())
    one = "several: capitals and spaces make other tokens" if difference else "one for all"
    named = list(dict.fromkeys(filter(None, senses)))
    said = ", ".join(f"{hue}: {sense}" for hue, sense in zip(("violet", "orange"), named))
    toward = _toward(paths, marks, layer, {sense: [each == sense for each in senses] for sense in named})
    curves = baselines(paths, senses, cached(encoder, "other words", lambda _: unrelated(encoder)))
    last = curves[curves["stage"] == curves["stage"].max()]
    at_end = ", ".join(f"{pairs} {cosine(value)}" for pairs, value in zip(last["pairs"], last["cosine"]))
    (start, points, known), explained = plane(paths, marks)
    frame = pd.DataFrame(torch.cat([start[layer], points[layer]], 1).numpy(), columns=["x0", "y0", "x", "y"])
    frame["label"] = [str(number) for number in range(1, len(senses) + 1)]
    frame["detail"] = [f"sentence {number}: {sense}" for number, sense in enumerate(senses, start=1)]
    landmarks = pd.DataFrame(known[layer].numpy(), columns=["x", "y"]).assign(label=list(names))
    extent = torch.cat([points, start, known], 1).flatten(0, 1)

    def moved(theme: Theme) -> Spec:
        # The first sense has the hue of sentence A, the second that of B, the rest the muted ink.
        hues = dict(zip(dict.fromkeys(senses), (theme.sentence_a, theme.sentence_b)))
        colours = [hues.get(sense, theme.muted) for sense in senses]
        return moves(frame.assign(colour=colours), theme, within=extent, landmarks=landmarks)

    charts = {
        "Where each sentence takes it": moved,
        "Mean cosine (−1: static)": drawing(
            lines, curves, "stage", "cosine", series="pairs", titles=("layers", ""), size=(270, 250)
        ),
    }
    note = (
        f"Dot: the static vector, {one} (largest difference {difference:g}). Numbers: the sentences"
        f"{f' ({said})' if said and len(named) == len(set(senses)) else ''}. {toward}"
    )
    with picture:
        finding = f"Mean cosines after the last layer: {at_end}."
        method = (
            f"We subtract the average vector of each layer; the flat picture keeps {share(explained)} of what is left. "
            "The curves: sentences of two senses, of one sense, and two unrelated words."
        )
        teaching.steps("one word", finding, charts, *CODE, note=note, method=method)


def choose(encoder: Encoder) -> tuple[list[str], Paths, str]:
    """A sense label a sentence, the word's vectors, and the word."""
    published = {"one-vector.word": "bank", "one-vector.text": DEFAULT}
    for key, value in published.items():
        st.session_state.setdefault(key, value)
    word = st.text_input("Word", key="one-vector.word", max_chars=40).strip()
    hint = "Two to eight sentences with the word, one a line. After a bar you may name the sense it has there."
    text = st.text_area("Sentences | sense", key="one-vector.text", height=200, max_chars=3000, help=hint)
    teaching.reset("one-vector", published, "Reset the sentences")
    typed = [line for line in text.splitlines() if line.strip()]
    if not 2 <= len(typed) <= MOST:
        raise ValueError(f"Expected 2 to {MOST} sentences, got {len(typed)}. Put one on each line.")
    places, senses = [], []
    for number, line in enumerate(typed, start=1):
        sentence, _, sense = line.partition("|")
        encoding = encode_or_stop(encoder, sentence.strip(), f"Sentence {number}")
        found = encoding.places(word)
        if not found:
            why = encoding.why_unknown(word) or f"expected the word {word!r} in it. Add it, or change the word."
            raise ValueError(f"Sentence {number}: {why}")
        places.append(found[0])
        senses.append(sense.strip())
    return senses, word_paths(places), word


def _toward(paths: Paths, marks: Paths | None, layer: int, senses: dict[str, list[bool]]) -> str:
    """How near the word is to its first landmark: before any sentence, and in those of each sense (True: of it)."""
    if marks is None or not paths.comparable:
        return ""
    static = float(cosine_similarity(paths.static[0], marks.static[0], dim=0))
    near_first = cosine_similarity(paths.layers[layer], marks.layers[layer, 0], dim=-1)
    near = ", ".join(
        f"{cosine(float(near_first[chosen].mean()))} in those of {sense}" for sense, chosen in senses.items()
    )
    return f'Cosine with "{LANDMARKS[0]}": {cosine(static)} for the static vectors, here {near}.'


def unrelated(encoder: Encoder) -> Paths:
    """The longest word of each of some sentences that have nothing in common."""
    encodings = (cached_encode(encoder, sentence) for sentence in NEUTRAL_SENTENCES)
    return word_paths([(each, max(each.words, key=lambda word: len(word.text)).positions) for each in encodings])


def word_paths(places: Sequence[tuple[Encoding, Sequence[int]]]) -> Paths:
    """The word's vectors in each sentence; places: (encoding, positions of the word), a split word being averaged."""
    static = torch.stack([encoding.static[list(at)].mean(0) for encoding, at in places])
    return Paths(static, torch.stack([encoding.hidden[:, list(at)].mean(1) for encoding, at in places], dim=1))


def plane(paths: Paths, marks: Paths | None = None) -> tuple[list[Tensor], float]:
    """Where each sentence takes the word: principal components of unit vectors, each layer's mean subtracted.

    The bare vectors as they lie beside the layer's, the points, the landmarks: (n_layers + 1, k, 2) each, in one plane for
    every layer, so that the slider moves the points and not the picture; and the share of the variance of all points in it.
    The mean is what all sentences do to the word; without it even the first layer's norm would fill the picture.
    Bare vectors of another width than the hidden states' can't be drawn there and stand at the origin.
    """
    layers = normalize(paths.layers.double(), dim=-1)
    middle = layers.mean(1, keepdim=True)
    moved = layers - middle
    start = normalize(paths.static.double(), dim=-1) - middle if paths.comparable else torch.zeros_like(moved)
    known = normalize(marks.layers.double(), dim=-1) - middle if marks else moved[:, :0]
    _, sizes, directions = torch.linalg.svd(moved.flatten(0, 1), full_matrices=False)
    total = float(sizes.square().sum())
    explained = float(sizes[:2].square().sum()) / total if total > 0 else 1.0
    return [each @ directions[:2].T for each in (start, moved, known)], explained


def baselines(paths: Paths, senses: Sequence[str], others: Paths) -> pd.DataFrame:
    """Mean cosine at each stage: columns stage, pairs, cosine, n. Stage -1 is the bare token vector.

    pairs: "same sense", "different senses" (by the labels given) and "two other words": what any two words reach.
    """
    same, n = torch.tensor([[one == other for one in senses] for other in senses]), len(others.static)
    compared = {"same sense": (paths, same), "different senses": (paths, ~same)}
    compared["two other words"] = others, torch.ones(n, n, dtype=torch.bool)
    rows = []
    for name, (word, chosen) in compared.items():
        if pairs := int(chosen.triu(1).sum()):
            stages = enumerate([word.static, *word.layers], start=-1)
            rows += [(stage, name, float(cosines(each)[chosen.triu(1)].mean()), pairs) for stage, each in stages]
    return pd.DataFrame(rows, columns=["stage", "pairs", "cosine", "n"])
