"""S1: one word has one static vector; its sentences move it. Points in a plane, layer by layer, and the likenesses beside."""

import streamlit as st

from pages.learn.one_word_one_vector.word_paths import show_likeness, show_plane, show_yardsticks
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.encoder_picker import current_encoder, encode_or_stop, show_encoder
from selfattn.dashboard.shown import heading
from selfattn.encoders.encoder import Encoder
from selfattn.examples import STATIC_WORD_SENTENCES
from selfattn.lessons import static_word
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


heading("One word, one vector")
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
    with parts.figure("Where each sentence takes it", 490):
        show_plane(paths, senses, layer)
    with parts.figure("How alike the vectors are (cosine)", 420):
        show_likeness(paths.layers[layer], layer)
st.markdown("#### How far is far?")
parts.prose(
    "Sentences of the *same* sense part, too: that is the yardstick. And any two words are alike to some degree: that is "
    "the floor. A gap between the first two curves is what the sense adds. It doesn't grow steadily with depth."
)
show_yardsticks(encoder, paths, senses)
