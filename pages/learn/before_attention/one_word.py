"""One word has one static vector; its sentences move it. Points in a plane, layer by layer, and their cosines beside."""

import streamlit as st

from pages.learn.before_attention.plane_and_cosines import show_baselines, show_cosines, show_plane
from selfattn.dashboard import teaching
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.encoder import Encoder
from selfattn.examples import STATIC_WORD_SENTENCES
from selfattn.lessons import one_word_one_vector

SENSES = ("water", "water", "money", "money", "money", "water")
DEFAULT = "\n".join(f"{sentence} | {sense}" for sentence, sense in zip(STATIC_WORD_SENTENCES, SENSES))
MOST = 8
TAKE = "One word has one static vector; only its sentence can part it. Part of what it moves comes with any sentence, so compare."


def choose(encoder: Encoder) -> tuple[str, list[str], one_word_one_vector.WordPaths]:
    """The word, a sense label a sentence, and the word's vectors."""
    published = {"one-word.word": "bank", "one-word.text": DEFAULT}
    for key, value in published.items():
        st.session_state.setdefault(key, value)
    word = st.text_input("Word", key="one-word.word", width=200, max_chars=40).strip()
    hint = "Two to eight sentences with the word, one a line. After a bar you may name the sense it has there."
    width = teaching.TEXT_WIDTH
    text = st.text_area("Sentences", key="one-word.text", height=200, max_chars=3000, help=hint, width=width)
    teaching.reset("one-word", published, "Reset the sentences")
    lines = [line for line in text.splitlines() if line.strip()]
    if not 2 <= len(lines) <= MOST:
        raise ValueError(f"Expected 2 to {MOST} sentences, got {len(lines)}. Put one on each line.")
    places, senses = [], []
    for number, line in enumerate(lines, start=1):
        sentence, _, sense = line.partition("|")
        encoding = encode_or_stop(encoder, sentence.strip(), f"Sentence {number}")
        found = encoding.places(word)
        if not found:
            why = encoding.why_unknown(word) or f"expected the word {word!r} in it. Add it, or change the word."
            raise ValueError(f"Sentence {number}: {why}")
        places.append(found[0])
        senses.append(sense.strip())
    return word, senses, one_word_one_vector.word_paths(places)


def show() -> None:
    teaching.prose(
        "A lookup table gives a word the same vector wherever it stands. In the encoder its vector then changes with the "
        "sentence, layer by layer. Move the slider and watch one point become many."
    )
    teaching.explain("token", "encoder", "layer", "cosine")
    encoder = current_encoder()
    show_encoder(encoder)
    with teaching.messages("These sentences can't be used."):
        word, senses, paths = choose(encoder)
    difference = float((paths.static - paths.static[0]).abs().max())
    st.text(f'Static vectors of "{word}", {len(senses)} sentences: largest difference {difference:g}.', width="stretch")
    if not paths.same_tokens:
        teaching.prose(
            "This encoder splits the word differently in some sentences (capitals, spaces), hence the difference."
        )
    layer = st.slider("After how many layers", 0, encoder.n_layers, encoder.n_layers, key="one-word.layer", width=420)
    with teaching.row():
        show_plane(encoder, word, paths, senses, layer)
        show_cosines(paths.layers[layer])
    with teaching.row():
        with teaching.panel("How far is far?", 490):
            teaching.prose(
                "Beside two sentences of different senses stand two baselines: sentences of the *same* sense, whose vectors "
                "differ, too, and any two words, which have some cosine. The gap between the first two curves goes with the "
                "sense, and with whatever else these sentences differ in."
            )
        with st.container(width=560):
            show_baselines(encoder, paths, senses)
