"""The length of a key counts: a long one that points elsewhere can outscore a short one that fits.

Source: the published example has query [3, 1] and the three keys below. The lesson suggests that dividing by sqrt(d_k)
removes the effect; it can't, for it divides every key's score by the same number. Cosine similarity would.
"""

from collections.abc import Sequence

import pandas as pd

from selfattn.kernel import attend
from selfattn.lessons import typed_numbers

QUERY = (3.0, 1.0)
NAMES = ("short, aligned", "long, misaligned", "long, aligned")
KEYS = ((1.5, 0.5), (1.0, 4.0), (3.0, 1.0))
BANK = ((1.0, 1.0), ("bank", "river", "of"), ((1.0, 1.0), (0.0, 3.0), (-1.0, -1.0)))  # the thread
EXAMPLES = {"bank": BANK, "the source's": (QUERY, NAMES, KEYS)}


def compare(
    query: Sequence[float] = QUERY, keys: Sequence[Sequence[float]] = KEYS, names: Sequence[str] = NAMES
) -> pd.DataFrame:
    """One row a key: name, score, scaled (over sqrt d_k), cosine (to the query)."""
    key = typed_numbers.matrix("Keys", keys)
    wanted = typed_numbers.vector("Query", query, key.shape[1])[None]
    lengths = key.norm(dim=1)
    if bool((lengths == 0).any()) or float(wanted.norm()) == 0:
        raise ValueError("Expected vectors with a direction, got a zero vector, which has none. Change one number.")
    trace = attend(wanted, key, key)
    cosines = trace.scores[0] / (wanted.norm() * lengths)
    columns = {"score": trace.scores[0], "scaled": trace.scaled[0], "cosine": cosines}
    return pd.DataFrame({"name": list(names), **{name: numbers.tolist() for name, numbers in columns.items()}})
