"""The caption of attributions: where three methods agree on what each word contributes, and where they don't."""

from collections.abc import Sequence

import pandas as pd

from selfattn import numbers

FEW = 10  # a rank correlation over fewer words says little


def rollout(frame: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """What rollout puts first, and how its ranks agree with those of hiding.

    frame: Attributions.frame(), with its numbers as `rollout`. agreement: attributions.agreement() of hiding and rollout.
    """
    r = float(agreement["correlation"].iloc[0])
    ranks = f"; its ranks and those of hiding have correlation {numbers.change(r)}" if r == r else ""
    return f'Rollout puts "{frame.loc[frame["rollout"].idxmax(), "word"]}" first{ranks}. It only follows the weights.'


def ranks(frame: pd.DataFrame, agreement: pd.DataFrame, methods: Sequence[str]) -> str:
    """The rank correlations, each method's first word, and the word on which they disagree most.

    frame: Attributions.frame(). agreement: attributions.agreement().
    """
    columns = [f"{method} rank" for method in methods]
    known = agreement.dropna(subset="correlation")
    pairs = [f"{a} and {b} {numbers.change(r)}" for a, b, r in known[["first", "second", "correlation"]].to_numpy()]
    few = " (so few words say little)" if len(frame) < FEW else ""
    parts = [f"Rank correlation over {len(frame)} words{few}: {', '.join(pairs)}."] if pairs else []
    firsts = [frame.loc[frame[column].idxmin(), "word"] for column in columns]
    if len(set(firsts)) == 1:
        parts.append(f'All put "{firsts[0]}" first.')
    else:
        places = ", ".join(f'{method}: "{word}"' for method, word in zip(methods, firsts))
        parts.append(f"First for {places}.")
    spread = frame[columns].max(axis=1) - frame[columns].min(axis=1)
    if spread.max() > 0:
        worst = frame.loc[spread.idxmax()]
        places = dict(zip(methods, worst[columns].astype(float)))
        high, low = min(places, key=places.get), max(places, key=places.get)
        parts.append(
            f'They disagree most on "{worst["word"]}": {high} puts it at {numbers.plain(places[high])} of {len(frame)}, '
            f"{low} at {numbers.plain(places[low])}."
        )
    return " ".join(parts)
