"""Rank labelled sentences by the cosine between the labelled word's vector and a given vector."""

import pandas as pd
from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.analysis.usable_rows import check_rows, rejecting_what_breaks_down
from selfattn.encoders.capture import Hide
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.placed_word import PlacedWord
from selfattn.senses.word_vectors import word_vectors
from selfattn.words import Word

DIGITS = 4  # cosines equal in this many digits count as equal


@rejecting_what_breaks_down
def labelled_vectors(encoder: Encoder, frame: pd.DataFrame) -> tuple[pd.DataFrame, Tensor]:
    """Return usable rows and their words' vectors: (n, n_layers + 1, d_model)."""
    rows, _ = check_rows(encoder, frame)
    return rows, word_vectors(encoder, rows["placed"].tolist()).layers


def ranked_sentences(rows: pd.DataFrame, vectors: Tensor, vector: Tensor, but: str = "") -> pd.DataFrame:
    """Sort sentences by the cosine of `vectors` with `vector`, largest first. At equal cosines, senses alternate.

    vectors (len(rows), d): the labelled word's vector in each sentence. vector (d,). but: a sentence to leave out.
    """
    found = rows[["sentence", "sense"]].assign(cosine=similarity(vectors, vector).tolist())
    found = found[found["sentence"] != but]
    near = found["cosine"].round(DIGITS)
    turn = found.groupby([near, found["sense"]]).cumcount()
    order = pd.DataFrame({"near": -near, "turn": turn}).sort_values(["near", "turn"], kind="stable").index
    return found.loc[order].reset_index(drop=True)


def nearest_by_stage(
    encoder: Encoder, word: PlacedWord, labelled: tuple[pd.DataFrame, Tensor], hidden: Word | None = None
) -> dict[str, pd.DataFrame]:
    """Return a ranking of the labelled sentences for each of three vectors of `word`.

    A ranking sorts the sentences by the cosine of their word's vector with the vector of `word`.
    The three vectors: before the first layer; after the last layer; after the last layer, with `hidden` hidden.
    labelled: from `labelled_vectors`. hidden: the word of `word.others` to hide (None: skip the third ranking).
    Raises TextError, NotRecomputable.
    """
    (rows, layers), encoding = labelled, encoder.encoded(word)
    states = {
        "alone": (0, encoding.vector(0, word.positions)),
        "in its sentence": (-1, encoding.vector(encoder.n_layers, word.positions)),
    }
    if hidden is not None:
        encoder.check_hideable()
        vector = encoder.changed_vectors(word, hidden=[[Hide(word.positions, hidden.positions)]])[0]
        states[f'with "{hidden.label}" hidden'] = -1, vector
    return {name: ranked_sentences(rows, layers[:, at], vector, encoding.text) for name, (at, vector) in states.items()}
