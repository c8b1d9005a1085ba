"""Make the panel of the labelled sentences whose word vectors are nearest to a given vector."""

import pandas as pd

from selfattn import numbers
from selfattn.encoders.encoder import Encoder
from selfattn.panel import Panel, Tables
from selfattn.tidy_tables import sentence_words
from selfattn.views.shaded import Tint, shaded_data, shaded_picture
from selfattn.words import fold

NEAREST = 3
SAME = 1e-4  # cosines that differ by at most this count as equal


def nearest_sentences(encoder: Encoder, word: str, stage: str, ranked: pd.DataFrame) -> Panel:
    """Make the panel of the three labelled sentences nearest to a word's vector. ranked: from `ranked_sentences`."""
    first = ranked.head(NEAREST)
    rows = [
        (at, each, each.label, float("nan"), fold(each.text) == fold(word))
        for at, text in first["sentence"].items()
        for each in encoder.tokenize(text).words
    ]
    said = {row.Index: f"cosine {numbers.cosine(row.cosine)}, {row.sense}" for row in first.itertuples()}
    finding = senses_of(stage, ranked)
    tint = Tint("share", numbers.share, "{}", 1.0)
    return Panel(
        name="nearest sentences",
        finding=finding,
        **shaded_picture(shaded_data(sentence_words(rows, "row", "share"), said, tint)),
        alt=f"{finding} " + " ".join(f"{row.sentence} ({said[row.Index]})" for row in first.itertuples()),
        tables=Tables({"nearest sentences": lambda: ranked}),
        sentences=("A",),
    )


def senses_of(stage: str, ranked: pd.DataFrame) -> str:
    """State the senses of the three sentences nearest to the word's vector."""
    first, rest = ranked.head(NEAREST), ranked.iloc[NEAREST:]
    senses = first["sense"].value_counts(sort=False)
    which = " and ".join(
        f"{count} {'has' if count == 1 else 'have'} the sense {sense}" for sense, count in senses.items()
    )
    as_near = int((first["cosine"].iloc[-1] - rest["cosine"] <= SAME).sum())
    more = f" ({as_near} other{'s are' if as_near > 1 else ' is'} as near as the third)" if as_near else ""
    all_three = f"all have the sense {senses.index[0]}"
    return f"Of the three sentences nearest to the word {stage}, {all_three if len(senses) == 1 else which}{more}."
