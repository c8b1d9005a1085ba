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
    nearby = {position: "itself", position - 1: "the token before", position + 1: "the token after"}
    favourite = []
    for head in np.ndindex(*weights.shape):
        place = int(places[head])
        kind = "a special token" if special[place] else nearby.get(place, "another token")
        favourite.append((*head, tokens[place], float(weights[head]), kind))
    return pd.DataFrame(favourite, columns=["layer", "head", "token", "weight", "kind"])


def count_kinds(frame: pd.DataFrame) -> dict[str, int]:
    """In how many heads the favourite is of each kind, in the order of KINDS."""
    counted = Counter(frame["kind"])
    return {kind: counted[kind] for kind in KINDS}
