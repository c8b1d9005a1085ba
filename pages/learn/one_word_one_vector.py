"""S1: one word has one static vector; its sentences move it. Points in a plane, layer by layer, and the likenesses beside."""

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from pages.learn import parts
from selfattn.dashboard.show import current_theme, show_chart
from selfattn.dashboard.state import HASHED, cached_encode, current_encoder, encode_or_stop, show_encoder
from selfattn.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES, STATIC_WORD_SENTENCES
from selfattn.lessons import charts, static_word
from selfattn.words import find

SENSES = ("water", "water", "money", "money", "money", "water")
DEFAULT = "\n".join(f"{sentence} | {sense}" for sentence, sense in zip(STATIC_WORD_SENTENCES, SENSES))
MOST = 8


def choose(encoder: Encoder) -> tuple[str, list[str], static_word.WordPaths]:
    """The word, a sense label a sentence, and the word's vectors."""
    st.session_state.setdefault("one-word.word", "bank")
    st.session_state.setdefault("one-word.text", DEFAULT)
    word = st.text_input("Word", key="one-word.word", width=200, max_chars=40).strip()
    hint = "Two to eight sentences with the word, one a line. After a bar you may name the sense it has there."
    text = st.text_area("Sentences", key="one-word.text", height=200, max_chars=3000, help=hint, width=parts.TEXT_WIDTH)
    parts.reset("one-word", {"one-word.word": "bank", "one-word.text": DEFAULT}, "Reset the sentences")
    lines = [line for line in text.splitlines() if line.strip()]
    if not 2 <= len(lines) <= MOST:
        raise ValueError(f"Expected 2 to {MOST} sentences, got {len(lines)}. Put one on each line.")
    found, senses = [], []
    for number, line in enumerate(lines, start=1):
        sentence, _, sense = line.partition("|")
        encoding = encode_or_stop(encoder, sentence.strip(), f"Sentence {number}")
        places = find(encoding.words, word)
        if not places:
            raise ValueError(f"Sentence {number}: expected the word {word!r} in it. Add it, or change the word.")
        found.append((encoding, encoding.words[places[0]].positions))
        senses.append(sense.strip())
    return word, senses, static_word.word_paths(found)


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
    titles = ("-1 = bare token, 0 = with position, then after each layer", "mean cosine")
    chart = charts.lines(frame, "stage", "cosine", current_theme(), "pairs", titles=titles, size=(620, 260))
    reading = "At the end: " + ", ".join(f"{name} {value:.2f}" for name, value in last.items()) + "."
    show_chart(chart, reading, width="content")


st.header("One word, one vector", anchor=False)
parts.prose(
    "A lookup table gives a word the same vector wherever it stands. Then attention lets its neighbours in, layer by "
    "layer. Move the slider and watch one point become many."
)
encoder = current_encoder()
show_encoder(encoder)
with parts.messages("These sentences can't be used."):
    word, senses, paths = choose(encoder)
difference = float((paths.static - paths.static[0]).abs().max())
st.text(f'Bare vectors of "{word}" in {len(senses)} sentences: largest difference {difference:g}.', width="stretch")
if not paths.same_tokens:
    parts.prose("This encoder splits the word differently in some sentences (capitals, spaces), hence the difference.")
layer = st.slider("After how many layers", 0, encoder.n_layers, encoder.n_layers, key="one-word.layer", width=420)
with parts.row():
    with parts.figure("Where each sentence takes it", 600):
        show_plane(paths, senses, layer)
    with parts.figure("How alike the vectors are (cosine)", 460):
        show_likeness(paths.layers[layer], layer)
st.subheader("How far is far?", anchor=False)
parts.prose(
    "Sentences of the *same* sense part, too: that is the yardstick. And any two words are alike to some degree: that is "
    "the floor. A gap between the first two curves is what the sense adds. It doesn't grow steadily with depth."
)
show_yardsticks(encoder, paths, senses)
