"""All heads: the maps that a card can show, and several heads' rows for one word."""

from collections.abc import Callable, Sequence

from torch import Tensor

from selfattn.analysis.measures import head_average, rollout
from selfattn.charts.bars import Row
from selfattn.charts.theme import Theme
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import strip_frame

Rollout = Callable[[Encoding], Tensor]  # to (n_layers, n, n)


def overlays(encoder: Encoder) -> dict[str, tuple[str, Head]]:
    """What can be seen beneath one another, by its name: heads, averages over a layer's, rollout; each as `one_map` has it."""
    named = {str(head): ("head", head) for head in encoder.all_heads}
    named |= {f"average of L{layer}": ("average", Head(layer, 0)) for layer in range(encoder.n_layers)}
    return {**named, "rollout": ("rollout", Head(encoder.n_layers - 1, 0))}


def one_map(encoding: Encoding, which: str, head: Head, rolled: Rollout = rollout) -> Tensor:
    """The map (n, n) of one head, of the average over its layer's heads, or of rollout up to its layer."""
    if which == "average":
        return head_average(encoding, head.layer)
    return rolled(encoding)[head.layer] if which == "rollout" else encoding.weights(*head)


def lines_of_word(
    encoder: Encoder, side: PlacedWord[Encoding], name: str, of: Sequence[str], theme: Theme, rolled: Rollout = rollout
) -> list[Row]:
    """What a word attends to, word by word, in the sentence of this name, "A" or "B": for `charts.bars`, a row for each head.

    of: names of `overlays`; raises ValueError for another.
    """
    known, rows = overlays(encoder), []
    for source in of:
        if source not in known:
            raise ValueError(f"Expected heads such as 'L0 H1', 'average of L0' or 'rollout', got {source!r}.")
        weights = one_map(side.sentence, *known[source], rolled)[list(side.positions)].mean(0)
        frame = strip_frame(side.sentence, weights, side.word, name)
        place = int(frame["chosen"].argmax())
        rows.append(Row(source, frame["weight"].tolist(), frame["text"].tolist(), theme.sentence(name), place))
    return rows
