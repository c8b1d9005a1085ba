"""What a word's vector means, in words: the labelled sentences in which the word's vector is nearest to it."""

from collections.abc import Sequence

import pandas as pd
from torch import Tensor

from selfattn.analysis.measures import similarity
from selfattn.analysis.swapping import swapped_vector
from selfattn.analysis.usable_rows import check_rows, rejecting_what_breaks_down
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.placed_word import PlacedWord
from selfattn.senses.word_vectors import word_vectors

DIGITS = 4  # of a cosine: sentences that differ less are equally near


@rejecting_what_breaks_down
def labelled_vectors(encoder: Encoder, frame: pd.DataFrame) -> tuple[pd.DataFrame, Tensor]:
    """The usable rows (columns sentence, word, sense), and their words' vectors after each layer: (n, n_layers + 1, d_model)."""
    rows, _ = check_rows(encoder, frame)
    return rows, word_vectors(encoder, rows["placed"].tolist()).layers


def ranked_sentences(rows: pd.DataFrame, vectors: Tensor, vector: Tensor, but: str = "") -> pd.DataFrame:
    """sentence, sense and cosine of every row, that with the nearest vector first; equally near ones alternate in sense.

    vectors: (len(rows), d), the rows' words'. vector: (d,). but: its own sentence, which isn't to be found.
    """
    found = rows[["sentence", "sense"]].assign(cosine=similarity(vectors, vector).tolist())
    found = found[found["sentence"] != but]
    near = found["cosine"].round(DIGITS)
    turn = found.groupby([near, found["sense"]]).cumcount()
    order = pd.DataFrame({"near": -near, "turn": turn}).sort_values(["near", "turn"], kind="stable").index
    return found.loc[order].reset_index(drop=True)


def nearest_before_and_after(
    encoder: Encoder,
    first: PlacedWord,
    second: PlacedWord,
    labelled: tuple[pd.DataFrame, Tensor],
    heads: Sequence[Head],
) -> dict[str, pd.DataFrame]:
    """What the word in the first text means in each state, by `ranked_sentences` of its vector there.

    Before attention, after it and, where heads can be swapped, with these heads' outputs at it from the second text.
    labelled: `labelled_vectors` of the word. Raises TextError.
    """
    (rows, layers), encoding = labelled, encoder.encoded(first)
    states = {
        "before attention": (0, encoding.vector(0, first.positions)),
        "after it": (-1, encoding.vector(encoder.n_layers, first.positions)),
    }
    if encoder.patchable:
        whose = heads[0] if len(heads) == 1 else "all heads" if len(heads) == len(encoder.all_heads) else "these heads"
        states[f"with the output of {whose} from B"] = -1, swapped_vector(encoder, first, second, heads)
    return {name: ranked_sentences(rows, layers[:, at], vector, encoding.text) for name, (at, vector) in states.items()}
