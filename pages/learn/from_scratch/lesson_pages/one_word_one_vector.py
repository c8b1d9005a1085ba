"""Draw the lesson page about static vectors: a word has the same vector in each sentence.

Sources: Ethayarajh 2019, "How contextual are contextualized word representations?"; on senses, Wiedemann et al. 2019.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import NEUTRAL_SENTENCES, STATIC_WORD_SENTENCES
from selfattn.numbers import cosine
from selfattn.senses.nearest_centroid import cosines
from selfattn.views.lesson import drawing
from selfattn.views.stage import SHARE, Column, Mark, Plane, Scene

SENSES = ("water", "water", "money", "money", "money", "water")
WORD, LANDMARKS, TEXT = "one-vector.word", "one-vector.landmarks", "one-vector.text"  # keys of st.session_state
PUBLISHED = {
    WORD: "bank",
    LANDMARKS: "river, loan",
    TEXT: "\n".join(f"{sentence} | {sense}" for sentence, sense in zip(STATIC_WORD_SENTENCES, SENSES)),
}
MOST = 8  # sentences
# Stages: -1 is the embedding table, 0 the input of layer 0, l + 1 the output of layer l.
TABLE = -1
Places = Sequence[tuple[Encoding, Sequence[int]]]  # sentence and token positions of each occurrence


def one_vector() -> Scene:
    encoder = current_encoder()
    show_encoder(encoder)
    stages = range(TABLE, encoder.n_layers + 1)
    stage = st.select_slider("After", stages, encoder.n_layers, format_func=_stage_name, key="one-vector.layer")
    for key, value in PUBLISHED.items():
        st.session_state.setdefault(key, value)
    with st.expander("Your own word and sentences"):
        st.text_input("Word", key=WORD, max_chars=40)
        st.text_input("Two words to compare the word with", key=LANDMARKS, max_chars=80)
        hint = "Type two to eight sentences with the word, one per line. You can add the word's sense after a bar (|)."
        st.text_area("Sentences | sense", key=TEXT, height=200, max_chars=3000, help=hint)
        teaching.reset("one-vector", PUBLISHED, "Reset the sentences")
    with teaching.messages("These sentences can't be used."):
        word, places, senses = typed(encoder)
        landmarks = _landmarks(encoder)
    marks = [(each, each.words[0].positions) for each in landmarks.values()]
    every = {each: near(places, marks, each) for each in stages}
    hues = dict(zip(dict.fromkeys(filter(None, senses)), "ab"))
    dots = [
        Mark(str(n), str(n), after, kind=hues.get(sense, ""), tip=f"Sentence {n}: {sense}", before=(None, before))
        for n, (after, before, sense) in enumerate(zip(every[stage], every[TABLE], senses), 1)
    ]
    reached = torch.stack([*every.values()])
    ends = float(reached.min()) - 0.06, float(reached.max()) + 0.06
    first, second = landmarks
    nearer = [sense for sense, (one, other) in zip(senses, every[stage].tolist()) if one > other]
    counted = ", ".join(f"{nearer.count(sense)} of {senses.count(sense)} with the sense {sense}" for sense in hues)
    n = len({tuple(each) for each in every[stage].mul(1e4).round().tolist()})
    axes = f"cosine with the text “{first}” →", f"↑ cosine with the text “{second}”"
    means = baselines(places, senses, (), encoder.n_layers).set_index("stage").loc[[stage]]
    last = ", the last" if stage == encoder.n_layers else ""
    return Scene(
        f'{_stage_name(stage).capitalize()}{last}, "{word}" has {"one vector" if n == 1 else f"{n} vectors"}.',
        list(means["pairs"]) if hues else (),
        [Column("cosine", "mean cosine", torch.tensor(means["cosine"].tolist()), SHARE, asked=True)] if hues else (),
        planes=[
            Plane(
                "meaning", f'Where "{word}" is', dots, (ends, ends), axes, (f"nearer to {second}", f"nearer to {first}")
            )
        ],
        sentences=[(*_parts(placed), hues.get(sense, "")) for placed, sense in zip(places, senses)],
        note=f"Sentences nearer to “{first}” than to “{second}”: {counted}." if hues else "",
    )


def _stage_name(stage: int) -> str:
    return "in the table" if stage == TABLE else "with its position" if stage == 0 else f"after layer {stage - 1}"


def _parts(placed: PlacedWord[Encoding]) -> tuple[str, str, str]:
    text, (start, stop) = placed.sentence.text, placed.word.span
    return text[:start], text[start:stop], text[stop:]


def _landmarks(encoder: Encoder) -> dict[str, Encoding]:
    names = [each.strip() for each in st.session_state[LANDMARKS].split(",")]
    if len({*names} - {""}) != 2:
        raise ValueError("Expected two different words, separated by a comma. Type two words, such as: river, loan.")
    found = {name: encode_or_stop(encoder, name, "The word to compare with") for name in names}
    if not all(each.words for each in found.values()):
        raise ValueError(
            "Expected two words to compare with, got a word without letters. Type two words, such as: river, loan."
        )
    return found


def typed(encoder: Encoder) -> tuple[str, list[PlacedWord[Encoding]], list[str]]:
    """Return the typed word, the word's place in each sentence, and the senses. Raises ValueError."""
    word = st.session_state[WORD].strip()
    lines = [line for line in st.session_state[TEXT].splitlines() if line.strip()]
    if not 2 <= len(lines) <= MOST:
        raise ValueError(f"Expected 2 to {MOST} sentences, got {len(lines)}. Type one sentence on each line.")
    places, senses = [], []
    for number, line in enumerate(lines, start=1):
        sentence, _, sense = line.partition("|")
        encoding = encode_or_stop(encoder, sentence.strip(), f"Sentence {number}")
        found = encoding.places(word)
        if not found:
            why = encoding.why_unknown(word) or f"expected the word {word!r}. Add the word, or choose another."
            raise ValueError(f"Sentence {number}: {why}")
        places.append(found[0])
        senses.append(sense.strip())
    return word, places, senses


def vectors(places: Places, stage: int) -> Tensor:
    """Return the word's vectors at k places, (k, d). A word of several tokens gets the tokens' mean.

    stage: TABLE (the embedding table), or an index of the hidden states
    """
    rows = (encoding.static if stage == TABLE else encoding.hidden[stage] for encoding, _ in places)
    return torch.stack([row[list(at)].mean(0) for row, (_, at) in zip(rows, places)])


def near(places: Places, marks: Places, stage: int) -> Tensor:
    """Return the cosines of the word's k vectors with two other words' vectors: (k, 2). stage: as in `vectors`."""
    ours, theirs = vectors(places, stage).double(), vectors(marks, stage).double()
    return cosine_similarity(ours[:, None], theirs[None], dim=-1)


def baselines(places: Places, senses: Sequence[str], others: Places, n_layers: int) -> pd.DataFrame:
    """Return the mean cosine of pairs of word vectors at each stage (embedding table, then hidden states).

    columns: stage, pairs ("same sense", "different senses", "two other words"), cosine
    """
    same, n = torch.tensor([[one == other for one in senses] for other in senses]), len(others)
    compared = {"same sense": (places, same), "different senses": (places, ~same)}
    compared["two other words"] = others, torch.ones(n, n, dtype=torch.bool)  # dropped below if `others` is empty
    rows = [
        (stage, name, float(cosines(vectors(where, stage))[chosen.triu(1)].mean()))
        for name, (where, chosen) in compared.items()
        if chosen.triu(1).any()
        for stage in range(TABLE, n_layers + 1)
    ]
    return pd.DataFrame(rows, columns=["stage", "pairs", "cosine"])


def one_vector_details() -> None:
    encoder = current_encoder()
    with st.expander("Details: mean cosines of word vectors, layer by layer"):
        _, places, senses = typed(encoder)
        encodings = (cached_encode(encoder, sentence) for sentence in NEUTRAL_SENTENCES)
        others = [(each, max(each.words, key=lambda word: len(word.text)).positions) for each in encodings]
        curves = baselines(places, senses, others, encoder.n_layers)
        last = curves[curves["stage"] == encoder.n_layers]
        said = ", ".join(f"{pairs} {cosine(value)}" for pairs, value in zip(last["pairs"], last["cosine"]))
        chart = drawing(lines, curves, "stage", "cosine", series="pairs", titles=("layers", ""), size=(420, 240))
        finding = f"Mean cosines after the last layer: {said}."
        teaching.steps("cosines", finding, {"Mean cosine after n layers (n = −1: embedding table)": chart})
