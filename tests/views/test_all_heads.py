"""Test the panels of the page "All heads"."""

import base64
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from selfattn import Head, numbers
from selfattn.analysis.measures import MEASURES
from selfattn.analysis.patterns import PATTERNS, nearest_first
from selfattn.charts.theme import LIGHT
from selfattn.examples import labelled_sentences
from selfattn.panel import Look
from selfattn.senses.what_heads_do import TOP
from selfattn.stored_reports import stored
from selfattn.tidy_tables import heads_frame
from selfattn.views.all_heads import every_head, habit, moved_word, profile, small_maps

WEIGHTS = torch.tensor([0.126, 0.001, 1.0]) * torch.eye(3)
MAPPED = SimpleNamespace(
    n_layers=1,
    n_heads=3,
    tokens=("the", "old", "bank"),
    weights=lambda _, head=None: WEIGHTS.expand(3, 3, 3) if head is None else WEIGHTS * (head + 1),
)
MAPS = {"picture": "data:image/png;base64,", "side": 3, "tokens": [*MAPPED.tokens], "rows": [2], "sentence": "A"}
COMPARED = SimpleNamespace(sides={"A": SimpleNamespace(word=SimpleNamespace(text="bank"))}, cosine=0.312)


def panel(measure, chosen, **columns):
    frame = heads_frame(**{name: torch.tensor([own]) for name, own in columns.items()})
    return every_head(MAPPED, MAPS, frame, MEASURES[measure], chosen, compared=COMPARED)


def test_finding_names_heads_at_both_extremes():
    own = panel("entropy", Head(0, 1), entropy=[2.75, 0.25, 1.5])
    assert own.finding == "How widely it looks: highest in L0 H0 (2.75 bits), lowest in L0 H1 (0.25 bits)."
    assert own.live.data["chosen"] == 1 and own.live.data["said"][1] == "0.25 bits"
    assert own.live.data["depths"] == "100,9,55" and own.method.startswith(MEASURES["entropy"].caption)
    assert not own.one_head and own.table["entropy"].tolist() == [2.75, 0.25, 1.5]
    assert own.tables["map: L0 H1"]["weight"].tolist()[:5] == pytest.approx([0.252, 0, 0, 0, 0.002])
    assert own.picture(Look())["datasets"]["rects"][5]["entropy"] == 1.5


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (
            [0.01, 0.05],
            "In the control sentence, L0 H1 has the largest effect: +0.050. In A and B, the effect of L0 H1 is not larger than",
        ),
        (
            [-0.05, 0.0],
            "In the control sentence, L0 H0 has the largest effect: −0.050. In A and B, the effect of L0 H1 is larger than this.",
        ),
        (None, "Add a control sentence to see whether the effect has to do with the word's meaning."),
    ],
)
def test_note_compares_effect_with_that_in_control_sentence(control, expected):
    own = panel(
        "effect",
        Head(0, 0),
        effect=[0.02, -0.0501 if control == [-0.05, 0.0] else -0.05],
        **{"control": control} if control else {},
    )
    assert own.finding == 'Removing L0 H1 changes the cosine of the two "bank" vectors most: by −0.050, from 0.31.'
    assert own.note.startswith(expected)


def test_weights_of_chosen_head_reach_browser():
    own = panel("entropy", Head(0, 1), entropy=[2.75, 0.25, 1.5]).live.data["maps"]
    assert own == MAPS | {"said": "0.25,0.00,0.00,0.00,0.002,0.00,0.00,0.00,2.00"}
    frame = heads_frame(entropy=torch.ones(1, 3))
    for n in (40, 41):
        long = SimpleNamespace(**vars(MAPPED) | {"tokens": ("of",) * n})
        assert bool(every_head(long, MAPS, frame, MEASURES["entropy"], Head(0, 1)).live.data["maps"]["said"]) == (
            n == 40
        )


def test_small_maps_show_all_heads(encoder):
    encoding = encoder.encode("We sat on the bank.")
    own = small_maps(encoding)
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(own["picture"].split(",")[1]))))[..., 1]
    assert own["side"] == len(own["tokens"]) == 8 and own["tokens"][-2:] == [".", "[SEP]"]
    assert picture.shape == (6 * 8, 12 * 8)
    weights = encoding.weights(3, 7).numpy()
    assert picture[24:32, 56:64] == pytest.approx(255 * weights / weights.max(), abs=0.5)


def test_example_sentence_shows_weight_of_attended_word(encoder):
    frame = labelled_sentences()
    report = stored("head_profiles", encoder, frame).report
    report = replace(report, sentences=report.sentences.replace({"rank": {383: TOP}}))
    own = habit(encoder, report, frame, Head(0, 10))
    place = own.table.iloc[0]
    words = own.live.data["rows"][0]["words"]
    assert [word["text"] for word in words if word["number"]] == [place["to"]]
    headings = [row.get("heading", "") for row in own.live.data["rows"]]
    strongest, typical = (
        "The largest weights in 768 sentences, from the underlined word to the blue word",
        "Typical sentences: the weight is near the median of all 768 sentences",
    )
    assert headings == [strongest, "", "", "", typical, ""]
    assert own.table["rank"].tolist() == [0, 1, 2, 3, 4, 384]
    drawn = str(own.picture(Look()))
    assert strongest in drawn and typical in drawn
    assert LIGHT.weights[2] in drawn and LIGHT.effect[3] not in drawn  # weights are blue
    assert [word["text"] for word in words if word["kind"] == "chosen"] == [frame["word"][place["row"]]]


def test_note_counts_heads_with_larger_effect_than_chosen_head(encoder):
    moves = stored("hidden_words", encoder, labelled_sentences()).report
    every = moves.heads.query("word == 'all'").sort_values("share", ascending=False).reset_index(drop=True)
    every.loc[2, "leads"] = 0.005
    moves = replace(moves, heads=every.assign(word="all"))
    for place in (0, 1, 2, 40):
        row = every.loc[place]
        own = moved_word(moves, Head(int(row["layer"]), int(row["head"])))
        assert f"moves, on average, {numbers.decimal(100 * row['share'], 1)}\u00a0% of the distance" in own.finding
        assert own.live.data["chosen"] == 12 * row["layer"] + row["head"]
        assert own.live.data["said"][own.live.data["chosen"]].endswith(
            f"{numbers.decimal(100 * row['share'], 1)}\u00a0%"
        )
        assert own.note.startswith(
            f"Hiding the word with the largest effect moves the labelled word further in {place or 'none'} of the other 71 "
            "heads than in the chosen head."
        )
        head = Head(int(row["layer"]), int(row["head"]))
        drawn = f"{head} has the largest effect in {numbers.share(row['leads'])} of random resamples of the words."
        assert own.note.endswith(drawn) == (row["leads"] >= 0.005)


SHARES = dict(zip(PATTERNS, (0.05, 0.06, 0.21, 0.4, 0.1, 0.8)))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "has no clear pattern: 40 % of the weight goes to special tokens, and 21 % to the token itself."),
        (
            {"next token": 0.5, "broad": 0.91},
            "has weights with at least 90 % of the maximum entropy (0.91) and at least half of its weight on the token "
            "after (0.50).",
        ),
    ],
)
def test_profile_describes_patterns_of_head(more, expected):
    assert profile(nearest_first(SHARES | more), "L3 H7", "In this sentence") == f"In this sentence L3 H7 {expected}"
