"""Several heads: is it one relation a head? Each head with what a word attends to most in it.

Source: the lesson's "one head, one relation"; surface patterns as in Clark et al. 2019, section 3.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
from torch import Tensor

KINDS = ("a special token", "itself", "the token before", "the token after", "another token")


def favourites(rows: Tensor, position: int, tokens: Sequence[str], special: Sequence[bool]) -> pd.DataFrame:
    """One row a head: layer, head, token, weight, kind; rows (n_layers, n_heads, n) of the token at `position`."""
    weights, places = rows.max(-1)
    favourite = []
    for head in np.ndindex(*weights.shape):
        place = int(places[head])
        favourite.append((*head, tokens[place], float(weights[head]), _kind(place, position, special)))
    return pd.DataFrame(favourite, columns=["layer", "head", "token", "weight", "kind"])


def count_kinds(frame: pd.DataFrame) -> dict[str, int]:
    """In how many heads the favourite is of each kind, in the order of KINDS."""
    counted = Counter(frame["kind"])
    return {kind: counted[kind] for kind in KINDS}


def _kind(place: int, position: int, special: Sequence[bool]) -> str:
    if special[place]:
        return "a special token"
    nearby = {0: "itself", -1: "the token before", 1: "the token after"}
    return nearby.get(place - position, "another token")
