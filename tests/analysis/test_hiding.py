"""Compare effects of hiding words with the results of a second, simpler implementation."""

import functools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from selfattn import Encoder, Head, Hide, NotRecomputable, Patch
from selfattn.analysis import hiding
from selfattn.analysis.hiding import (
    Along,
    heads_of_word,
    hidden_by_head,
    hidden_heads,
    hidden_pair,
    leading_head,
    unmeasured_pair,
    with_heads,
)
from selfattn.analysis.sense_means import rows_of, sense_means, within_sense
from selfattn.encoders.sources import resolve
from selfattn.examples import labelled_sentences
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.stored_reports import stored
from tests.senses import plain_hiding as plain

pytestmark = pytest.mark.slow

NEW = ("We sat on the bank of the river.", "We went to the bank for a loan.", "They lay on the bank of the stream.")
LESSON = ("The bank of the river.", "The bank approved the loan.")
TWO_SENSES = ("riverside", "finance")
# Sentences with punctuation, repeated words, and words of several tokens.
OWN = (
    "The stalagmite, wet and cold, stood in the unlit cave.",
    "Her stalagmite was an unbelievably sugary cake!",
    "A tall stalagmite rose from the floor of the limestone cave.",
)


@pytest.fixture(scope="module")
def model():
    return plain.load(resolve(None).folder)


@pytest.fixture(scope="module")
def pair_of(encoder):
    """Return a cached function: pair_of(word, *sentences) -> HiddenPair."""

    @functools.cache
    def pair(word: str, *sentences: str):
        return hidden_pair(encoder, *((sentence, word) for sentence in sentences))

    return pair


def percent(share: torch.Tensor, words: tuple) -> dict[str, int]:
    """Return the effect of hiding each word (its `share`), in per cent."""
    return {word.text: round(100 * float(value)) for word, value in zip(words, share)}


def moved(encoder, word: tuple, vectors: torch.Tensor, way: torch.Tensor) -> torch.Tensor:
    """Return how far each of `vectors` lies from the word's unchanged vector along `way`, in lengths of `way`."""
    placed = encoder.placed(word)
    before = encoder.encoded(placed).vector(encoder.n_layers, placed.positions)
    after, before = (torch.nn.functional.normalize(each.double(), dim=-1) for each in (vectors, before))
    return ((after - before) @ way.double() / way.double().square().sum()).float()


@pytest.mark.parametrize(
    ("sentences", "senses", "a", "b", "cosines"),
    [
        (NEW, None, {"river": 35, "of": 19}, {"loan": 23, "to": 5}, [0.80, 0.93, 0.86, 0.92, 0.97]),
        (LESSON, None, {"The": 6, "of": 16, "the": 1, "river": 36, ".": 1}, {"loan": 25, "approved": 11, "The": 5},
         [0.81, 0.94, 0.87]),
        (NEW, TWO_SENSES, {"river": 44, "of": 16}, {"loan": 20, "to": 7}, [0.80, 0.93, 0.86, 0.92, 0.97]),
        (LESSON, TWO_SENSES, {"river": 53}, {"loan": 12, "The": 10}, [0.81]),
    ],
    ids=["between the sentences", "of the lesson", "between the senses", "of the lesson, between the senses"],
)  # fmt: skip
def test_effects_match_numbers_listed_above(encoder, sentences, senses, a, b, cosines):
    labelled = labelled_sentences() if senses else None
    pair = hidden_pair(encoder, *((sentence, "bank") for sentence in sentences), senses=labelled)
    assert pair.senses == senses and pair.notes == ()
    assert a.items() <= percent(pair.share[0], pair.words[0]).items()
    assert b.items() <= percent(pair.share[1], pair.words[1]).items()
    found = (pair.cosine[0, 0], pair.both_hidden, pair.other_words, pair.control_cosine, pair.control_hidden)
    assert [round(float(each), 2) for each in found][: len(cosines)] == cosines
    assert all(math.isnan(each) for each in found[3:]) == (sentences is LESSON)


def test_notes_explain_missing_or_equal_senses(encoder):
    frame = labelled_sentences()
    sides = ("The printer had a paper jam again.", "jam"), ("They ate toast with jam.", "jam")
    jam, unlabelled = hidden_pair(encoder, *sides, senses=frame), hidden_pair(encoder, *sides)
    assert jam.senses is None and torch.equal(jam.share[0], unlabelled.share[0])
    (note,) = jam.notes
    assert re.search(
        r'^A fits no labelled sense of "jam".*\(traffic block\) is 0.24\. For 95 % of the .* is at most 0.18', note
    )
    alike = hidden_pair(encoder, (NEW[0], "bank"), (NEW[2], "bank"), senses=frame)
    assert alike.senses == ("riverside", "riverside")
    assert alike.notes == ("The word's nearest sense is the same in both sentences: riverside.",)
    with pytest.raises(ValueError, match="no labelled sentences of 'river'"):
        hidden_pair(encoder, (NEW[0], "river"), (NEW[0], "river"), senses=frame)


def test_hidden_pair_matches_plain_transformers(encoder, model, pair_of):
    ours = pair_of("stalagmite", *OWN)
    rows = [plain.placed(encoder, sentence, "stalagmite") for sentence in OWN]
    found = [plain.vectors(model, row) for row in rows]
    near = {"atol": 1e-5, "rtol": 0}
    tops = []
    for side, (here, there) in enumerate(((0, 1), (1, 0))):
        way = found[there].u - found[here].u
        share = plain.shares(found[here].u, found[here].hidden, way)
        np.testing.assert_allclose(ours.share[side], share, **near)
        np.testing.assert_allclose(ours.ways[side], way, **near)
        assert [word.positions for word in ours.words[side]] == rows[here].others
        tops.append(plain.largest(rows[here], share))
        if side:
            exact = plain.by_head(model, rows[here], tops[-1], way)
            heads = hidden_heads(encoder, (OWN[here], "stalagmite"), ours.words[side][tops[-1]], ours.ways[side])
            np.testing.assert_allclose(heads, exact, **near)
            slopes = plain.by_head(model, rows[here], tops[-1], way, strength=1e-4) / 1e-4
            np.testing.assert_allclose(ours.by_head[side][tops[-1]], slopes, atol=1e-4)
    assert ours.top == tuple(tops)
    np.testing.assert_allclose(ours.cosine, plain.cosines(*found[:2]), **near)
    both, others = plain.both_hidden(*rows[:2], plain.cosines(*found[:2]), *tops)
    assert ours.both_hidden == pytest.approx(both, abs=1e-5) and ours.other_words == pytest.approx(others, abs=1e-5)
    states = [plain.run(model, row.ids, plain.edges_of(model, row, [(), *row.others]))[0] for row in rows[:2]]
    units = [plain.unit_vectors(row, each) for row, each in zip(rows, states)]
    np.testing.assert_allclose(ours.curves, np.einsum("ild,jld->ijl", *units), **near)
    apart = found[2].u - found[0].u
    i, j = (
        plain.largest(rows[at], plain.shares(found[at].u, found[at].hidden, sign * apart))
        for at, sign in ((0, 1), (2, -1))
    )
    assert ours.control_cosine == pytest.approx(found[0].u @ found[2].u, abs=1e-5)
    assert ours.control_hidden == pytest.approx(found[0].hidden[i] @ found[2].hidden[j], abs=1e-5)


def test_distance_moved_toward_other_senses_matches_second_implementation(encoder, model):
    """The first sentence is in the table of labelled sentences; the sentence `typed` isn't."""
    frame = labelled_sentences()
    frame = frame[frame["word"] == "bark"].groupby("sense").head(5)
    rows = plain.rows_of(encoder, frame)
    u, senses = np.stack([plain.without(model, row, [()])[0] for row in rows]), list(frame["sense"])
    typed = "The bark was wet."
    ours = hidden_pair(encoder, (frame["sentence"].iloc[7], "bark"), (typed, "bark"), senses=frame)
    for side, (row, i) in enumerate(((rows[7], 7), (plain.placed(encoder, typed, "bark"), None))):
        found = plain.vectors(model, row)
        taken, distance, within = plain.taken_for(found.u, u, senses, i)
        assert ours.senses[side] == (senses[7] if i == 7 else taken) and distance <= within
        way = plain.axis_without(u, senses, ours.senses[side], i)
        np.testing.assert_allclose(ours.ways[side], way, atol=1e-6)
        np.testing.assert_allclose(ours.share[side], plain.shares(found.u, found.hidden, way), atol=1e-5)


def test_only_eight_words_of_long_sentence_are_hidden(encoder):
    """The eight words have the largest effects, as estimated by gradient."""
    long = f"We sat on the bank of the river, {'and we saw the boats, the birds, the reeds and the stones ' * 3}there."
    pair = hidden_pair(encoder, (long, "bank"), (NEW[1], "bank"), (long.replace("river", "stream"), "bank"))
    run = ~pair.share[0].isnan()
    assert len(pair.words[0]) > 32 and int(run.sum()) == 8 and not pair.share[1].isnan().any()
    named = [at for at, word in enumerate(pair.words[0]) if not word.is_punctuation]
    ranked = sorted(named, key=lambda at: -float(pair.by_head[0][at].sum()))
    assert all(run[ranked[:8]]) and run[pair.top[0]] and pair.share[0][pair.top[0]] == pair.share[0][run].max()
    assert pair.cosine[1:][~run].isnan().all() and not pair.cosine[1:][run].isnan().any()
    hidden = f"In A, only 8 of {len(pair.words[0])} words around the chosen word were hidden"
    assert pair.notes == (f"{hidden}: the words with the largest effects, estimated by gradient.",)
    alone = hidden_pair(encoder, (long, "bank"), (NEW[1], "bank"))
    torch.testing.assert_close(alone.share[0], pair.share[0], equal_nan=True)  # the control doesn't change the shares
    assert not math.isnan(pair.other_words) and not math.isnan(pair.control_hidden)


def test_with_heads_fills_in_effects_of_heads(encoder, pair_of):
    whole, words = pair_of("bank", *NEW[:2]), [(sentence, "bank") for sentence in NEW[:2]]
    passes = []
    pair = hidden_pair(encoder, *words, heads=False, by_gradient=lambda *given: passes.append(given[1]) or [])
    assert passes == [[]] and all(side.isnan().all() for side in pair.by_head)
    torch.testing.assert_close(pair.share, whole.share)
    torch.testing.assert_close(with_heads(encoder, pair).by_head, whole.by_head)
    assert with_heads(encoder, whole).by_head[0] is whole.by_head[0]  # nothing is run again
    longer = f"We sat on the bank{' and saw the boats and the birds' * 5}."
    ranked = hidden_pair(encoder, (longer, "bank"), words[1], heads=False)
    assert ranked.by_head[0].isfinite().all(), "In a long sentence, the effects of heads choose the words to hide."

    def fails(*_):
        raise NotRecomputable("No gradient.")

    assert with_heads(encoder, pair, fails).notes == ("Heads have no shares: No gradient.",)


def test_sense_label_applies_only_to_its_word_and_sentence(encoder):
    frame = labelled_sentences()
    means = sense_means(encoder, frame, "bank")
    with pytest.raises(ValueError, match="The senses are labelled for 'bank', not for the given word"):
        hidden_pair(encoder, (NEW[0], "We"), (NEW[1], "bank"), senses=means)
    text = frame[frame["word"] == "bank"]["sentence"].iloc[0]
    upper = hidden_pair(encoder, (text.upper(), "bank"), (NEW[1], "bank"), senses=means)  # has equal tokens
    typed = hidden_pair(encoder, (text, "bank"), (NEW[1], "bank"), senses=means)
    torch.testing.assert_close(upper.ways[0], typed.ways[0])
    longer = f"{text} Bank.", encoder.placed((text, "bank")).positions
    other = hidden_pair(encoder, longer, (NEW[1], "bank"), senses=means)
    assert float((other.ways[0] - typed.ways[0]).norm()) > 1e-3  # this sentence isn't labelled


@pytest.mark.parametrize("labelled", [True, False])
def test_within_sense_matches_plain_loops(encoder, labelled):
    """A labelled sentence isn't compared with itself."""
    frame = labelled_sentences()
    means, rows = sense_means(encoder, frame, "bank"), frame[frame["word"] == "bank"]
    text, sense = rows[["sentence", "sense"]].iloc[0] if labelled else (NEW[0], "riverside")
    usable = rows_of(encoder, frame, "bank")
    found, cosines = within_sense(encoder, usable, means, encoder.placed((text, "bank")))

    def last(sentence):
        encoding = encoder.encode(sentence)
        return encoding.hidden[-1, list(encoding.places("bank")[0].positions)].mean(0).double()

    of_sense = rows.loc[(rows["sense"] == sense) & (rows["sentence"] != text), "sentence"]
    wanted = [float(torch.cosine_similarity(last(text), last(other), dim=0)) for other in of_sense]
    assert len(wanted) == 12 - labelled and found == sense
    assert cosines.tolist() == pytest.approx(wanted, abs=1e-5)
    assert within_sense(encoder, usable, replace(means, within=1e-3), encoder.placed((NEW[0], "bank"))) is None


def test_equal_sentences_have_nan_effects(encoder):
    pair = hidden_pair(encoder, (NEW[0], "bank"), (NEW[0], "bank"))
    assert pair.share[0].isnan().all() and pair.by_head[0].isnan().all() and pair.top == (None, None)
    assert "there is no distance between them" in pair.notes[0] and pair.both_hidden == pytest.approx(1)
    heads = heads_of_word(encoder, pair, 0, 0, exact=True)
    assert heads.share.isnan().all() and leading_head(encoder, pair, heads) is None


def test_sentence_without_other_words_has_no_largest_effect(encoder):
    pair = hidden_pair(encoder, ("Bank!", "bank"), (NEW[1], "bank"))
    assert [word.text for word in pair.words[0]] == ["!"] and pair.top[0] is None and pair.top[1] is not None
    assert pair.both_hidden == pytest.approx(float(pair.cosine[0, pair.top[1] + 1])) and math.isnan(pair.other_words)


@pytest.mark.parametrize("name", ["T5 (encoder half)", "DeBERTa", "XLM"])
def test_hidden_pair_and_encoder_hide_give_same_effects(encoder_of, name):
    encoder = encoder_of(name)
    first, second = ("She sat by the river bank.", "bank"), ("The bank lent him the money.", "bank")
    pair, positions = hidden_pair(encoder, first, second), encoder.placed(first).positions
    words = [word.positions for word in pair.words[0]]
    share = moved(encoder, first, encoder.hide(*first, words), pair.ways[0])
    torch.testing.assert_close(share, pair.share[0], atol=1e-4, rtol=0)
    if name == "XLM":
        with pytest.raises(NotRecomputable, match="in single heads"):
            hidden_heads(encoder, first, "river", pair.ways[0])
        return
    at = [word.text for word in pair.words[0]].index("river")
    plain_one = encoder.encode(first[0])
    # Finite differences: move the head's context vector 1 % toward its value without "river", and 1 % away.
    for layer, head in ((layer, head) for layer in (0, encoder.n_layers - 1) for head in range(encoder.n_heads)):
        hidden = encoder.encode(first[0], hidden=[Hide(positions, words[at], Head(layer, head))])
        without, context = (each.own_context(layer)[head, list(positions)] for each in (hidden, plain_one))
        patches = [[Patch(layer, head, positions, context + step * (without - context))] for step in (0.01, -0.01)]
        ends = moved(encoder, first, encoder.changed_vectors(first, patches), pair.ways[0])
        slope = float(pair.by_head[0][at, layer, head])
        assert float(ends[0] - ends[1]) / 0.02 == pytest.approx(slope, abs=2e-4, rel=1e-2)


def test_hidden_pair_refuses_unusable_encoders_and_words(encoder, encoder_of):
    with pytest.raises(NotRecomputable, match="No word can be hidden in"):
        hidden_pair(encoder_of("XLNet"), ("Rain fell.", "rain"), ("The rain.", "rain"))
    with pytest.raises(ValueError, match="no labelled sentences of 'the bank'"):
        hidden_pair(encoder, (NEW[0], (4, 5)), (NEW[1], "bank"), senses=labelled_sentences())
    with pytest.raises(ValueError, match="With the argument 'senses', expected a whole word"):
        hidden_pair(encoder, ("The swashbuckler.", (2, 3)), (NEW[1], "bank"), senses=labelled_sentences())


def test_projection_on_tiny_vector_is_nan():
    vector = torch.randn(3, 4).double()
    assert Along((0,), torch.full((4,), 4e-7)).of(vector[None]).isnan().all()
    assert Along((0,), torch.full((4,), 6e-7)).of(vector[None]).isfinite().all()


def test_hidden_pair_hides_words_of_second_segment(encoder):
    pair = hidden_pair(encoder, ("The bank.", "bank", "A river flows."), ("The bank.", "bank", "A loan was made."))
    assert [word.text for word in pair.words[0]] == ["The", ".", "A", "river", "flows", "."]
    alone = encoder.hide("The bank.", "bank", ["river"], pair="A river flows.")
    share = moved(encoder, ("The bank.", "bank", "A river flows."), alone, pair.ways[0])
    assert float(share) == pytest.approx(float(pair.share[0][3]), abs=1e-5)


def test_heads_of_word_agrees_with_hidden_heads(encoder, pair_of):
    pair, calls = pair_of("bank", *NEW), []
    heads = heads_of_word(encoder, pair, 0, pair.top[0], exact=True, progress=lambda *done: calls.append(done))
    assert heads.exact and heads.word.text == "river" and calls
    torch.testing.assert_close(heads.share, hidden_heads(encoder, (NEW[0], "bank"), "river", pair.ways[0]))


def test_unmeasured_pair_has_no_effects(encoder, encoder_of, pair_of):
    sides = [(sentence, "bank") for sentence in NEW]
    plain, pair = unmeasured_pair(encoder, *sides, notes=("Shown only.",)), pair_of("bank", *NEW)
    assert plain.words == pair.words and plain.notes == ("Shown only.",) and plain.senses is None
    torch.testing.assert_close(plain.curves[0, 0], pair.curves[0, 0])
    assert plain.cosine.shape == pair.cosine.shape
    assert plain.cosine[1:].isnan().all() and plain.cosine[:, 1:].isnan().all()
    assert plain.control_cosine == pytest.approx(pair.control_cosine) and math.isnan(plain.control_hidden)
    assert plain.top == (None, None) and all(share.isnan().all() for share in (*plain.share, *plain.by_head))
    torch.testing.assert_close(plain.ways[1], pair.ways[1])
    assert leading_head(encoder, plain, heads_of_word(encoder, plain, 0, 2, exact=False)) is None
    shown = unmeasured_pair(encoder_of("XLNet"), ("the rain fell.", "rain"), ("no rain.", "rain"))
    assert shown.curves[0, 0].isfinite().all() and math.isnan(shown.control_cosine)


def test_leading_head_has_largest_measured_effect(encoder):
    first, second = (encoder.encode(text).places("bank")[0] for text in REAL.sentences[:2])
    labelled = labelled_sentences()
    means = stored("sense_means", encoder, labelled).report.of("bank", encoder, labelled)
    pair = hidden_pair(encoder, first, second, senses=means)
    at = 0, pair.top[0]
    rough, run = (heads_of_word(encoder, pair, *at, exact=exact) for exact in (False, True))
    largest, largest_by_gradient = (Head(*divmod(int(heads.share.argmax()), 12)) for heads in (run, rough))
    assert largest_by_gradient != largest == Head(0, 10)
    assert leading_head(encoder, pair, rough) == leading_head(encoder, pair, run) == largest
    unknown = replace(pair, by_head=tuple(torch.full_like(side, torch.nan) for side in pair.by_head))
    assert leading_head(encoder, unknown, run) == largest
    assert leading_head(encoder, unknown, heads_of_word(encoder, unknown, *at, exact=False)) is None
    together = replace(encoder, one_head_reason="all heads have one mask")
    assert leading_head(together, pair, rough) == largest_by_gradient


def test_sentences_of_unequal_length_run_separately(encoder, monkeypatch):
    texts = ("The bank of the river.", f"The bank{' of the river' * 15}.")
    words = [encoder.encode(text).places("bank")[0] for text in texts]
    targets = [Along(word.positions, torch.ones(encoder.d_model)) for word in words]
    passes, inputs = [], Encoder.inputs
    monkeypatch.setattr(Encoder, "inputs", lambda own, batch: (passes.append(len(batch)), inputs(own, batch))[1])
    apart = hidden_by_head(encoder, words, targets)
    monkeypatch.setattr(hiding, "PADDING", 1000)
    together = hidden_by_head(encoder, words, targets)
    assert passes == [1, 1, 2]
    for own, padded in zip(apart, together, strict=True):
        torch.testing.assert_close(own, padded, atol=1e-5, rtol=0)
