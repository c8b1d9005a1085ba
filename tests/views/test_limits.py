"""The panels of What it cannot tell: each number the library's own, to the printed digit."""

import numpy as np
import pytest

from selfattn.examples import NEUTRAL_SENTENCES, PRONOUNS
from selfattn.lessons import counterexamples, pronouns
from selfattn.numbers import change, decimal, effect, error, share
from selfattn.panel import Look
from selfattn.stored_reports import stored
from selfattn.tidy_tables import heads_frame
from selfattn.views import limits
from selfattn.views.rounding import NOISE
from tests.charts.scene import drawn

EFFECTS = np.array([[0.01, -0.03], [0.002, 0.004]])


def frame():
    return heads_frame(effect=EFFECTS, control=EFFECTS / 2)


def test_other_weights_move_and_their_result_stays(encoder):
    passage = encoder.encode(" ".join(NEUTRAL_SENTENCES))
    head, rows = counterexamples.freest_row(passage, 2)
    panel = limits.other_weights(passage)
    assert panel.finding.startswith(f'{share(rows.moved)} of the weight of "train"'.replace(" %", "\u00a0%"))
    assert f"{head} would" in panel.finding
    assert panel.note.startswith(f'The text begins "{NEUTRAL_SENTENCES[0]}" The two contexts differ by')
    assert panel.note.endswith(f"{error(rows.difference)}.") and panel.method.endswith(passage.text)
    top = rows.before.topk(8).indices
    own, other = ([*each[top].tolist(), 1 - float(each[top].sum())] for each in (rows.before, rows.after))
    assert list(panel.table["token"].dropna())[-1] == "all other tokens"
    drawn_weights = [panel.table[column].dropna() for column in panel.table if column.endswith(("weights", "result"))]
    assert all(np.allclose(shown, each, atol=1e-6) for shown, each in zip(drawn_weights, (own, other), strict=True))
    assert limits.other_weights(encoder.encode("Two words.")) is None


def test_removed_heads_are_summed_beside_all_at_once():
    panel = limits.removed_heads(frame(), 0.02, "float32")
    assert panel.finding == (
        f"Removed one at a time, the heads change the cosine by {change(-0.014)} in all; removed together, by {change(0.02)}."
    )
    assert panel.note == f"One head alone also moves two sentences of one sense, the control: by {effect(-0.015)}."
    assert panel.table["change of the cosine"].dropna().tolist() == pytest.approx([-0.014, 0.02, -0.03, -0.015])
    printed = [text["text"] for text in drawn(panel.picture(Look()), "text")]
    assert {effect(-0.014), effect(0.02)} <= {*printed}


def test_effects_under_the_noise_count_for_nothing(monkeypatch):
    monkeypatch.setitem(NOISE, "float32", 0.005)
    panel = limits.removed_heads(frame(), 0.02, "float32")
    assert f"by {change(-0.02)} in all;" in panel.finding
    assert "by up to 0.005: 2 of 4 heads lie under that" in panel.note


def test_the_best_head_is_beside_luck_and_new_sentences(encoder):
    weights = stored("pronouns", encoder, PRONOUNS).report
    chosen = pronouns.choose_head(weights, *pronouns.halves(PRONOUNS))
    panel = limits.lucky_head(weights)
    hits = [decimal(100 * value, 0) for value in (chosen.chosen_with, chosen.luck)]
    assert panel.finding.startswith(f"The best of 72 heads is right in {hits[0]} of 100 sentences; ")
    assert panel.finding.endswith(f"would reach {hits[1]} once in twenty tries.")
    assert panel.table["value"].tolist() == pytest.approx([chosen.chosen_with, chosen.luck, chosen.accuracy])
    assert panel.table[["low", "high"]].iloc[-1].tolist() == pytest.approx(chosen.interval)


def test_noise_is_beside_its_difference_to_torch():
    own, other = counterexamples.noise_weights()
    panel = limits.recomputed_noise()
    assert error(float((own - other).abs().max())) in panel.finding
    assert np.allclose(panel.table["value"].dropna(), [*own.flatten(), *(own - other).flatten()], rtol=1e-4, atol=0)
