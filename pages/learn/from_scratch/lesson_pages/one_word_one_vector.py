"""The problem: one word has one static vector; its sentences move it. Points in a plane, and their cosines by layer."""

import pandas as pd
import streamlit as st
import torch

from selfattn.analysis.measures import similarity
from selfattn.charts.arrows import moves
from selfattn.charts.curves import lines
from selfattn.charts.heatmap import heatmap
from selfattn.charts.vega import Spec
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached, cached_encode
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import current_theme
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES, STATIC_WORD_SENTENCES
from selfattn.lessons import one_word_one_vector
from selfattn.lessons.one_word_one_vector import Landmarks, WordPaths
from selfattn.numbers import cosine, share
from selfattn.senses.nearest_centroid import cosines

TITLE = "The problem: one word, one vector"
STEP = "embeddings"
IDEA = (
    "A computer knows a word by a row of numbers, its vector, looked up in a table: *bank* has one, whether rivers or loans "
    "stand around it. An encoder then changes it, layer by layer."
)
QUESTION = "Six sentences with *bank*, of two senses. How many different vectors has *bank* after the last layer?"
OPTIONS = ("six, nearer to each other within a sense", "two, one for each sense", "one, as in the table")
REASON = "Every sentence moves the word its own way, and sentences of one sense part, too."
TAKE = "The table gives one vector; the sentence moves it. What moves it is attention: the path shows how."
SENSES = ("water", "water", "money", "money", "money", "water")
DEFAULT = "\n".join(f"{sentence} | {sense}" for sentence, sense in zip(STATIC_WORD_SENTENCES, SENSES))
MOST = 8
LANDMARKS = {"bank": ("river", "loan", "money")}
CODE = {
    "static": "static = table[token]   # one row, wherever the word stands",
    "vectors": "vectors = layer(vectors)   # once for each layer: here the word meets its sentence",
    "cosines": "cosines = unit @ unit.T   # of every two sentences",
}


def show(picture, numbers) -> None:
    encoder = current_encoder()
    with numbers:
        show_encoder(encoder)
        with teaching.messages("These sentences can't be used."):
            senses, paths, word = choose(encoder)
        layer = st.slider("After how many layers", 0, encoder.n_layers, encoder.n_layers, key="one-vector.layer")
    marks = landmarks(encoder, LANDMARKS.get(word.lower(), ()))
    difference = float((paths.static - paths.static[0]).abs().max())
    plane, explained = _plane(paths, senses, marks, layer)
    beside, at_end = _baselines(encoder, paths, senses)
    one = "one for all" if paths.same_tokens else "several: capitals and spaces make other tokens"
    caption = (
        f"Dot: the static vector, {one} (largest difference {difference:g}). Numbers: the sentences{_hues(senses)}. "
        f"{_toward(paths, senses, marks, layer)} After the last layer: {at_end}."
    )
    charts = {
        "vectors": ("Where each sentence takes it", plane),
        "cosines": ("Mean cosine (−1: static)", beside),
    }
    with picture:
        teaching.steps(charts, caption, CODE)
        with st.expander("Details"):
            matrix = cosines(paths.layers[layer])
            names = [str(number) for number in range(1, len(matrix) + 1)]
            row, column = sorted(divmod(int(matrix.argmin()), len(matrix)))  # the two halves may differ in the last bit
            chart = heatmap(matrix, names, current_theme(), maximum=1.0, names=("sentence", "and"), cell=46)
            lowest = f"Lowest: sentences {row + 1} and {column + 1}, cosine {cosine(float(matrix.min()))}."
            teaching.figure("Cosine of every two vectors", chart, lowest, 420)
            st.text(
                f"The plane keeps {share(explained)} of the variance over all layers; the average vector of each layer is "
                "subtracted. The curves: sentences of two senses, of one sense (part of every move comes with any sentence), "
                "and two unrelated words.",
                width="stretch",
            )


def choose(encoder: Encoder) -> tuple[list[str], WordPaths, str]:
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
    return senses, one_word_one_vector.word_paths(places), word


def landmarks(encoder: Encoder, words: tuple[str, ...]) -> Landmarks | None:
    """Words to find one's way by, each as a sentence of its own."""
    if not words:
        return None
    found = [cached_encode(encoder, word) for word in words]
    paths = one_word_one_vector.word_paths([(each, each.words[0].positions) for each in found])
    return Landmarks(words, paths.static, paths.layers)


def _hues(senses: list[str]) -> str:
    """The two named senses with their colours, in words."""
    named = [sense for sense in dict.fromkeys(senses) if sense]
    hues = ", ".join(f"{hue}: {sense}" for hue, sense in zip(("violet", "orange"), named))
    return f" ({hues})" if hues and len(named) == len(set(senses)) else ""


def _plane(paths: WordPaths, senses: list[str], marks: Landmarks | None, layer: int) -> tuple[Spec, float]:
    """Each sentence's vector after `layer` layers, an arrow from the static vector to it; the variance that it keeps."""
    plane, theme = one_word_one_vector.plane(paths, marks), current_theme()
    frame = pd.DataFrame(
        torch.cat([plane.start[layer], plane.points[layer]], 1).numpy(), columns=["x0", "y0", "x", "y"]
    )
    # The first sense has the hue of sentence A, the second that of B, the rest the muted ink.
    hues = dict(zip(dict.fromkeys(senses), (theme.sentence_a, theme.sentence_b)))
    frame["label"] = [str(number) for number in range(1, len(senses) + 1)]
    frame["detail"] = [f"sentence {number}: {sense}" for number, sense in enumerate(senses, start=1)]
    frame["colour"] = [hues.get(sense, theme.muted) for sense in senses]
    extent = torch.cat([plane.points, plane.start, plane.marks], 1).flatten(0, 1)
    named = pd.DataFrame(plane.marks[layer].numpy(), columns=["x", "y"]).assign(label=marks.words if marks else [])
    return moves(frame, theme, within=extent, landmarks=named), plane.explained


def _toward(paths: WordPaths, senses: list[str], marks: Landmarks | None, layer: int) -> str:
    """How near the word is to its first landmark, in the sentences of each sense, and before any sentence."""
    if marks is None or not paths.comparable:
        return ""
    static = cosine(float(similarity(paths.static[0], marks.static[0])))
    near = [
        f"{cosine(one_word_one_vector.nearness(paths, marks, layer, [s == sense for s in senses]))} in those of {sense}"
        for sense in dict.fromkeys(filter(None, senses))
    ]
    return f'Cosine with "{marks.words[0]}": {static} for the static vectors, here {", ".join(near)}.'


def _baselines(encoder: Encoder, paths: WordPaths, senses: list[str]) -> tuple[Spec, str]:
    """The mean cosine within a sense, between senses, and of unrelated words, at every stage; and at the last in words."""
    encodings = (cached_encode(encoder, sentence) for sentence in NEUTRAL_SENTENCES)
    longest = [(each, max(each.words, key=lambda word: len(word.text)).positions) for each in encodings]
    others = cached(encoder, "other words", lambda _: one_word_one_vector.word_paths(longest))
    frame = one_word_one_vector.baselines(paths, senses, others)
    last = frame[frame["stage"] == frame["stage"].max()].set_index("pairs")["cosine"]
    chart = lines(frame, "stage", "cosine", current_theme(), "pairs", titles=("layers", ""), size=(270, 250))
    return chart, ", ".join(f"{name} {cosine(value)}" for name, value in last.items())
