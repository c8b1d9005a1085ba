"""All heads: what a word attends to as lines, several heads laid over one another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.measures import head_average, rollout
from selfattn.charts.links import links
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import strip_frame

Rollout = Callable[[Encoding], Tensor]  # to (n_layers, n, n)
MOST_WORDS = 60


def overlays(encoder: Encoder) -> dict[str, tuple[str, Head]]:
    """What can be laid over one another, by its name: heads, averages over a layer's heads, rollout; each as `one_map` has it."""
    named = {str(head): ("head", head) for head in encoder.all_heads}
    named |= {f"average of L{layer}": ("average", Head(layer, 0)) for layer in range(encoder.n_layers)}
    return {**named, "rollout": ("rollout", Head(encoder.n_layers - 1, 0))}


def one_map(encoding: Encoding, which: str, head: Head, rolled: Rollout = rollout) -> Tensor:
    """The map (n, n) of one head, of the average over its layer's heads, or of rollout up to its layer."""
    if which == "average":
        return head_average(encoding, head.layer)
    return rolled(encoding)[head.layer] if which == "rollout" else encoding.weights(*head)


@dataclass(frozen=True, eq=False)
class WordLines:
    """What a word attends to in a sentence, in several heads."""

    frame: pd.DataFrame  # of tidy_tables.strip_frame, and its source
    spec: Spec
    left: str  # what is said of words that aren't drawn


def lines_of_word(
    encoder: Encoder, side: PlacedWord[Encoding], name: str, of: Sequence[str], theme: Theme, rolled: Rollout = rollout
) -> WordLines:
    """The lines from a word in the sentence of this name, "A" or "B". of: names of `overlays`; raises ValueError for another."""
    known, parts = overlays(encoder), []
    for source in of:
        if source not in known:
            raise ValueError(f"Expected heads such as 'L0 H1', 'average of L0' or 'rollout', got {source!r}.")
        row = one_map(side.sentence, *known[source], rolled)[list(side.positions)].mean(0)
        parts.append(strip_frame(side.sentence, row, side.word, name).assign(source=source))
    frame = pd.concat(parts, ignore_index=True)
    words, left = _shown_words(frame)
    place = int(words.loc[words["chosen"], "place"].iloc[0])
    return WordLines(frame, links(words, side.word.text, theme, word_place=place, color=theme.sentence(name)), left)


def _shown_words(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The words that are drawn (the heaviest ones of a long text, in their order) and what is said of the others."""
    strongest = frame.groupby("place")["weight"].max()
    own = int(frame.loc[frame["chosen"], "place"].iloc[0])
    strongest[own] = 2.0
    if len(strongest) <= MOST_WORDS:
        return frame, ""
    kept = sorted(strongest.nlargest(MOST_WORDS).index)
    shown = frame[frame["place"].isin(kept)]
    lost = 1 - shown.groupby("source", sort=False)["weight"].sum()
    said = ", ".join(f"{numbers.share(share)} in {source}" for source, share in lost.items())
    shown = shown.assign(place=shown["place"].map({place: i for i, place in enumerate(kept)}))
    return shown, (
        f"{len(strongest)} words are too many for lines: the {MOST_WORDS} with the largest weights are drawn. The others "
        f"hold {said} of the weight."
    )
