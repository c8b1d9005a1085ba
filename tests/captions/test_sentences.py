"""Captions of sentence similarity: each branch, with numbers of its own."""

import pandas as pd
import pytest

from selfattn.captions import sentences


def frame(own, control=None):
    table = pd.DataFrame({"name": ["L0 H0", "L0 H1"], "m": own})
    return table if control is None else table.assign(**{"m, control": control})


SWAPS = [
    (([0.02, 0.09], [0.01, 0.02]), "L0 H1",
     "The two sentence vectors have cosine 0.31. Swapped, L0 H1 moves one furthest to the other: 9 % of the way. From the "
     "control sentence L0 H1 moves A 2 %. One pair is a hint: over other sentences other heads may lead."),
    (([0.02, 0.09], [0.01, 0.05]), "L0 H0",
     "The two sentence vectors have cosine 0.31. Swapped, L0 H1 moves one furthest to the other: 9 % of the way. L0 H0 moves "
     "it 2 %. From the control sentence L0 H1 moves A 5 %. So that is not about what sets A and B apart. One pair is a hint: "
     "over other sentences other heads may lead."),
    (([0.02, 0.09],), "L0 H1",
     "The two sentence vectors have cosine 0.31. Swapped, L0 H1 moves one furthest to the other: 9 % of the way. No control "
     "sentence yet, so we can't say whether this is about the meaning. One pair is a hint: over other sentences other heads "
     "may lead."),
    (([float("nan")] * 2,), "L0 H1", "The two sentence vectors have cosine 0.31. They are the same: no head can move one."),
    (([0.02, 0.09], [0.01, float("nan")]), "L0 H1",
     "The two sentence vectors have cosine 0.31. Swapped, L0 H1 moves one furthest to the other: 9 % of the way. From the "
     "control sentence L0 H1 moves A unknown. So that is not about what sets A and B apart. One pair is a hint: over other "
     "sentences other heads may lead."),
]  # fmt: skip
REMOVALS = [
    (([0.01, -0.04], [0.0, 0.01]), "L0 H1",
     "The two sentence vectors have cosine 0.31. Without L0 H1 it changes most, by −0.040. Between A and the control sentence "
     "L0 H1's removal changes it by +0.010. One pair is a hint: over other sentences other heads may lead."),
    (([0.01, -0.04], [0.0, -0.03]), "L0 H0",
     "The two sentence vectors have cosine 0.31. Without L0 H1 it changes most, by −0.040. Without L0 H0 it changes by +0.010. "
     "Between A and the control sentence L0 H1's removal changes it by −0.030. So that is not about what sets A and B apart. "
     "One pair is a hint: over other sentences other heads may lead."),
    (([0.01, -0.04],), "L0 H1",
     "The two sentence vectors have cosine 0.31. Without L0 H1 it changes most, by −0.040. No control sentence yet, so we can't "
     "say whether this is about the meaning. One pair is a hint: over other sentences other heads may lead."),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "chosen", "expected"), SWAPS, ids=range(len(SWAPS)))
def test_swaps(columns, chosen, expected):
    assert sentences.by_head(frame(*columns), "m", "share", chosen, 0.31) == expected


@pytest.mark.parametrize(("columns", "chosen", "expected"), REMOVALS, ids=range(len(REMOVALS)))
def test_removals(columns, chosen, expected):
    assert sentences.by_head(frame(*columns), "m", "effect", chosen, 0.31) == expected
