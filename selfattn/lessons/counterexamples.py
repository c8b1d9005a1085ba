"""What attention weights, removed heads and recomputation do not show: a live counter-example for each.

Sources: Jain and Wallace 2019 (other weights, same output); Michel et al. 2019 (heads removed one at a time).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.kernel import attend
from selfattn.senses import separation

SENSE_WORDS = 12  # a few seconds; the Senses page takes them all
SHUFFLES = 200


@dataclass(frozen=True, eq=False)
class SameOutput:
    """Other weights, the same context."""

    before: Tensor  # (n,)
    after: Tensor  # (n,)
    moved: float  # total variation between the two rows of weights, 0 to 1
    difference: float  # largest difference of the contexts


@dataclass(frozen=True, eq=False)
class HalvedSenses:
    """How well heads separate senses, by SeparationReport.heads: on the words that choose a head, and on others."""

    chosen_on: pd.DataFrame
    judged_on: pd.DataFrame
    n_words: int  # judged on
    shuffles: int  # of the labels, for the p of the second


def same_output(weights: Tensor, values: Tensor) -> SameOutput:
    """Give the favourite of a row (n,) as little weight as can be, all at least 0, while the context stays put.

    values (n, d_value). There is room to move where n is more than d_value + 1, or values depend on one another: then
    a row of weights is one of many that give the very same context. Solved exactly, as a linear programme.
    """
    from scipy.optimize import linprog  # not at the top: the dashboard's first page would wait for it

    row, matrix = weights.double().numpy(), values.double().numpy()
    fixed = np.vstack([matrix.T, np.ones(len(row))])  # the context, and the sum of the weights
    favourite = np.zeros(len(row))
    favourite[row.argmax()] = 1
    solved = linprog(favourite, A_eq=fixed, b_eq=fixed @ row, bounds=(0, None))
    after = solved.x if solved.success else row
    moved = float(np.abs(after - row).sum()) / 2
    difference = float(np.abs((after - row) @ matrix).max())
    return SameOutput(weights, torch.from_numpy(after), moved, difference)


def freest_row(encoding: Encoding, position: int) -> tuple[Head, SameOutput]:
    """Over all heads, the row whose favourite can lose most weight: the head, and its two rows."""
    heads = [Head(*head) for head in np.ndindex(encoding.n_layers, encoding.n_heads)]
    traces = ((head, encoding.trace(*head)) for head in heads)
    rows = [(head, same_output(trace.weights[position], trace.value)) for head, trace in traces]
    return max(rows, key=lambda row: float(row[1].before.max() - row[1].after[row[1].before.argmax()]))


def halved_senses(encoder: Encoder, frame: pd.DataFrame, progress: Progress = silent) -> HalvedSenses:
    """Sense separation on every second of the first words of labelled sentences, and on the others.

    What is said of a head that was chosen as the best must come from other words than those it was chosen on.
    """
    words = frame["word"].unique()[:SENSE_WORDS]
    first, second = (frame[frame["word"].isin(words[start::2])] for start in (0, 1))
    # The first only chooses: no p is asked for.
    chosen = separation(encoder, first, shuffles=1, floor=False, progress=progress)
    judged = separation(encoder, second, shuffles=SHUFFLES, floor=False, progress=progress)
    return HalvedSenses(chosen.heads, judged.heads, judged.items["word"].nunique(), SHUFFLES)


def recomputed_noise() -> float:
    """The kernel against torch's own attention on pure noise: the arithmetic agrees there, too."""
    query, key, value = torch.randn(3, 1, 12, 32, generator=torch.Generator().manual_seed(0))
    own = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    return float((attend(query, key, value).context - own).abs().max())
