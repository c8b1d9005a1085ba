"""Measure, over many sentences, what each head attends to."""

from dataclasses import dataclass

import pandas as pd
import torch

from selfattn.analysis.patterns import PATTERNS, pattern_values
from selfattn.analysis.usable_rows import rejecting_what_breaks_down, require_rows
from selfattn.encoders.encoder import Encoder, Progress, followed, silent
from selfattn.notebook_repr import OfTables
from selfattn.words import between_groups

TOP = 4  # sentences kept for each head: those with the largest weights; one or two with the median weight follow


@dataclass(frozen=True, eq=False, repr=False)
class HeadProfiles(OfTables):
    """Attention patterns and largest attention weights of each head."""

    patterns: pd.DataFrame  # layer, head, and a column for each of PATTERNS: its mean over sentences
    sentences: pd.DataFrame
    # layer, head
    # rank: 0 for the sentence with the largest weight
    # row: row label of the sentence
    # to: the word attended to
    # weight: attention weight from the labelled word, 0 to 1
    n: int  # number of sentences


@rejecting_what_breaks_down
def head_profiles(encoder: Encoder, frame: pd.DataFrame, progress: Progress = silent) -> HeadProfiles:
    """Measure each head's attention patterns, and its attention weights from the labelled word to other words.

    frame: a table with the columns sentence, word and sense.
    Of each sentence, only the largest weight to another word counts. Punctuation doesn't count as a word.
    The weight from a word of several tokens is the mean over its tokens; the weight to such a word is the sum.
    Raises ValueError if no row can be used.
    """
    usable, _ = require_rows(encoder, frame)
    patterns, weights, words = [], [], []
    for row in followed(list(usable.itertuples()), progress):
        encoding = encoder.encode(row.placed.sentence)
        maps = torch.stack([encoding.weights(layer) for layer in range(encoder.n_layers)])
        patterns.append(torch.stack(list(pattern_values(maps, encoding).values())))
        others = [word for word in row.placed.others if not word.is_punctuation]
        to_others = between_groups(maps, [row.placed.positions], [word.positions for word in others])[..., 0, :]
        best = to_others.max(-1) if others else None
        weights.append(torch.zeros(maps.shape[:2]) if best is None else best.values)
        words.append([] if best is None else [[others[i].label for i in layer] for layer in best.indices.tolist()])
    means = torch.stack(patterns).mean(0).flatten(1).tolist()
    values, order = torch.stack(weights).sort(dim=0, descending=True, stable=True)
    sentences, middle = [], (len(words) - 1) // 2
    ranks = sorted({*range(min(TOP, len(words))), middle, len(words) // 2})
    for layer, head in encoder.all_heads:
        for rank, value, place in zip(ranks, values[ranks, layer, head].tolist(), order[ranks, layer, head].tolist()):
            if words[place]:
                sentences.append((layer, head, rank, usable.index[place], words[place][layer][head], value))
    return HeadProfiles(
        patterns=pd.DataFrame(encoder.all_heads, columns=["layer", "head"]).assign(**dict(zip(PATTERNS, means))),
        sentences=pd.DataFrame(sentences, columns=["layer", "head", "rank", "row", "to", "weight"]),
        n=len(usable),
    )
