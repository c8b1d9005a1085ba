"""What it cannot tell: every number that the page says, computed anew; the two rows of weights on one scale."""

import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch.nn.functional import cosine_similarity

from pages.about.what_it_cannot_tell import counterexamples
from pages.about.what_it_cannot_tell.counterexamples import PASSAGE, removal_example
from selfattn.analysis.removing import removal_effect
from selfattn.captions.vectors import NOISE
from selfattn.captions.which_word import on_trial
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.lessons.counterexamples import SENSE_WORDS, SHUFFLES
from selfattn.numbers import change, effect, share, span, weight
from selfattn.senses import separation
from selfattn.stored_reports import stored
from tests.pages.conftest import APP
from tests.pages.pictures import charts, mark

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page():
    at = AppTest.from_file(str(APP.parent / "pages/about/what_it_cannot_tell/page.py"), default_timeout=180).run()
    return at


@pytest.fixture(scope="module")
def said(page):
    return "\n".join(element.value for element in page.text)


def test_how_often_each_way_names_the_telling_word_stands_first(page, said, encoder):
    report = stored("hidden_words", encoder, labelled_sentences()).report
    assert on_trial(report) in said
    dots = next(each for each in charts(page)[0] if each.kind == "point")
    ways = report.agreement.set_index("way")["agreement"]
    assert dict(zip(dots.records["label"], dots.records["value"])) == pytest.approx(ways.to_dict())


def test_where_nothing_is_stored_a_few_sentences_are_asked(encoder, monkeypatch):
    asked = []
    monkeypatch.setattr(counterexamples, "hidden_words", lambda _, frame, progress: asked.append(frame) or "made")
    assert counterexamples.hidden_words_report(encoder, None) == "made"
    assert asked[0].groupby("word")["sense"].value_counts().tolist() == [4] * 6
    assert asked[0]["word"].unique().tolist() == labelled_sentences()["word"].unique()[:3].tolist()


def test_an_encoder_in_which_nothing_can_be_hidden_says_so(checkpoint, monkeypatch):
    monkeypatch.setattr("selfattn.dashboard.permissions.start_model", lambda: str(checkpoint("XLNet")))
    at = AppTest.from_file(str(APP.parent / "pages/about/what_it_cannot_tell/page.py"), default_timeout=180).run()
    assert any(element.value.startswith("No word can be hidden in this encoder: ") for element in at.text)


def test_other_weights_stand_beside_the_heads_own(page, said, encoder):
    _, own, other = charts(page)
    line = next(line for line in said.splitlines() if "moved elsewhere" in line)
    layer, head = (int(part[1:].rstrip(",")) for part in line.split()[:2])
    row = encoder.reference_weights(PASSAGE)[layer, head, 2]
    top = row.topk(8)
    assert mark(own, "bar").values("x") == pytest.approx(top.values.tolist(), abs=1e-5)
    tokens = encoder.encode(PASSAGE).tokens
    assert mark(own, "bar").labels("y") == [f"{place}: {tokens[place]}" for place in top.indices.tolist()]
    assert mark(own, "bar").labels("y") == mark(other, "bar").labels("y")
    assert mark(own, "bar").domain("x") == mark(other, "bar").domain("x")
    assert mark(own, "bar").domain("x")[1] > float(top.values[0])
    before, after = mark(own, "bar").values("x"), mark(other, "bar").values("x")
    assert f"its favourite has {weight(after[0])} instead of {weight(before[0])}" in line
    assert f"These eight: {weight(sum(after))} of 1." in said


def test_effects_are_summed_beside_the_control(said, encoder):
    pair = PAIRS[0]
    places = {text: list(encoder.encode(text).places(pair.word)[0].positions)
              for text in (pair.first, pair.second, pair.control)}  # fmt: skip
    vector = {text: encoder.encode(text).hidden[-1, place].mean(0) for text, place in places.items()}
    without = {text: encoder.knock_out(text, place) for text, place in places.items()}

    def effects(other):
        return cosine_similarity(without[pair.first], without[other], dim=-1) - cosine_similarity(
            vector[pair.first], vector[other], dim=0
        )

    found, control = effects(pair.second), effects(pair.control)
    off = encoder.encode_batch([pair.first, pair.second], [encoder.removed(encoder.all_heads)] * 2)
    alone = [each.hidden[-1, places[each.text]].mean(0) for each in off]
    together = cosine_similarity(*alone, dim=0) - cosine_similarity(vector[pair.first], vector[pair.second], dim=0)
    assert f"add up to {change(float(found.sum()))}; all removed at once: {change(float(together))}." in said
    assert f"{share(float((found < 0).float().mean()))} of the heads have a negative effect" in said
    largest, control_largest = (effect(float(each.abs().max())) for each in (found, control))
    assert (
        f"between the two senses: {largest}. In the control pair, two sentences of one sense: {control_largest}."
        in said
    )


def test_effects_under_the_noise_count_for_nothing(encoder, monkeypatch):
    monkeypatch.setitem(NOISE, "float32", 0.005)
    monkeypatch.setattr(counterexamples, "cached_effect", lambda *of: -removal_effect(*of))  # the largest is below 0
    pair = PAIRS[0]
    places = [(text, pair.word) for text in (pair.first, pair.second)]
    effects = -removal_effect(encoder, *places)
    shown = effects[effects.abs() >= 0.005]
    text, largest = removal_example(encoder)
    assert largest.startswith(f"Largest single effect between the two senses: {effect(float(effects.abs().max()))}.")
    assert text.startswith(
        f"The effects of all heads, removed one at a time at every position, add up to {change(float(shown.sum()))};"
    )
    assert f"{share(float((shown < 0).sum()) / 72)} of the heads have a negative effect." in text
    assert f"by up to 0.005: {72 - len(shown)} of 72 heads lie under that" in text


def test_baselines_stand_beside_the_heads(said, encoder):
    frame = labelled_sentences()
    words = list(dict.fromkeys(frame["word"]))[:SENSE_WORDS]
    chosen, heads = (
        separation(encoder, frame[frame["word"].isin(half)], shuffles=shuffles, floor=False).heads
        for half, shuffles in ((words[::2], 1), (words[1::2], SHUFFLES))
    )
    first = chosen.sort_values("accuracy", ascending=False, kind="stable").iloc[0]
    best = heads[(heads.layer == first.layer) & (heads["head"] == first["head"])].iloc[0]
    for part in (
        f"{(heads.p_value < 0.05).sum()} of 72 heads separate the senses of {SENSE_WORDS // 2} words above chance (p < 0.05",
        f"On {int((heads.uniform >= heads.accuracy - 1e-6).sum())} of 72 equal weights",
        f"on {int((heads.own_value >= heads.accuracy - 1e-6).sum())} the word's own value",
        f"chosen on other words: L{best.layer:.0f} H{best['head']:.0f}, with {share(first.accuracy)} there",
        f"Here it has {share(best.accuracy)} (95 % interval {span(best.low, best.high, share)})",
        f"equal weights {share(best.uniform)}, its own value {share(best.own_value)}.",
    ):
        assert part in said


def test_noise_is_recomputed_as_well(page):
    torch.manual_seed(0)
    text = next(element.value for element in page.markdown if "pure noise" in element.value)
    assert 0 < float(text.split("**")[1]) < 1e-5
