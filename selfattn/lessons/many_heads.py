"""Several heads: is it one relation a head? Each head with what a word looks at most in it (system S17).

Source: the lesson's "one head, one relation"; surface patterns as in Clark et al. 2019, section 3.
"""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
from torch import Tensor

KINDS = ("a special token", "itself", "the token before", "the token after", "another token")


def favourites(rows: Tensor, position: int, tokens: Sequence[str], special: Sequence[bool]) -> pd.DataFrame:
    """One row a head: layer, head, token, weight, kind; rows (n_layers, n_heads, n) of the token at `position`."""
    weights, places = rows.max(-1)
    n_layers, n_heads = weights.shape
    found = []
    for layer in range(n_layers):
        for head in range(n_heads):
            place = int(places[layer, head])
            weight = float(weights[layer, head])
            found.append((layer, head, tokens[place], weight, _kind(place, position, special)))
    return pd.DataFrame(found, columns=["layer", "head", "token", "weight", "kind"])


def count_kinds(frame: pd.DataFrame) -> dict[str, int]:
    """How many heads look most at each kind of token, in the order of KINDS."""
    counted = Counter(frame["kind"])
    return {kind: counted.get(kind, 0) for kind in KINDS}


def _kind(place: int, position: int, special: Sequence[bool]) -> str:
    if special[place]:
        return "a special token"
    nearby = {0: "itself", -1: "the token before", 1: "the token after"}
    return nearby.get(place - position, "another token")
