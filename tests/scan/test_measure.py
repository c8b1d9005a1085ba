"""Compare `measure` with one forward pass for each sentence."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from selfattn import Head, Hide, NotRecomputable, load_encoder
from selfattn.analysis.measures import entropy, special_share
from selfattn.encoders.batches import length_batches
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import OutOfMemory
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.scan.measure import measure
from selfattn.scan.tables import Row

SENTENCES = [
    ("The bank of the river was muddy after the rain.", "bank"),
    ("A bank beside a bank.", "bank"),
    ("A swashbuckler leapt.", "swashbuckler"),
    ("bank", "bank"),
    ("Bank!", "bank"),
]
SHORT, LONG = (
    "The bank of the river.",
    "The bank of the river was muddy after the rain and the water was near the bank of the bank.",
)
SHORT_AND_LONG = [(SHORT, "bank"), (LONG, "bank")]


def rows_of(pairs):
    return [Row(number, "table.csv", number + 2, *pair, None) for number, pair in enumerate(pairs)]


def expected(encoder, text, word):
    encoding = encoder.encode(text)
    for place in encoding.places(word):
        rows = torch.stack([encoding.rows(position) for position in place.positions]).mean(0)
        to_words = torch.stack([rows[..., w.start : w.stop].sum(-1) for w in encoding.words], dim=-1)
        yield to_words, entropy(rows), special_share(rows, encoding.special), encoding, place.word


def check(encoder, pairs, tolerance=2e-5, batch_tokens=40):
    table, rejects = measure(encoder, rows_of(pairs), vectors=True, batch_tokens=batch_tokens)
    assert not rejects
    lines = iter(table.to_pylist())
    for number, (text, word) in enumerate(pairs):
        for to_words, bits, special, encoding, place in expected(encoder, text, word):
            line = next(lines)
            assert (line["row"], line["sentence"], line["word"]) == (number, text, place.text)
            assert text[line["start"] :].startswith(place.text)
            assert line["entropy"] == pytest.approx(bits.flatten().tolist(), abs=10 * tolerance)
            assert line["special_share"] == pytest.approx(special.flatten().tolist(), abs=tolerance)
            assert line["top_weight"] == pytest.approx(to_words.amax(-1).flatten().tolist(), abs=tolerance)
            spelled = np.array([w.text for w in encoding.words])
            for name, weights in zip(line["top_word"], to_words.flatten(0, 1)):
                assert name in spelled[(weights > weights.max() - tolerance).numpy()]
            vectors = encoding.hidden[:, list(place.positions)].mean(1).flatten().tolist()
            assert line["vectors"] == pytest.approx(vectors, abs=1e-4)
    assert next(lines, None) is None


def test_batch_matches_one_pass_per_sentence(encoder):
    check(encoder, SENTENCES)


@pytest.mark.parametrize("until", [0, 2, 5])
def test_layers_above_highest_measured_head_are_skipped(encoder, until):
    ran = []
    layers = encoder.model.encoder.layer
    handles = [layer.register_forward_pre_hook(lambda *_, at=at: ran.append(at)) for at, layer in enumerate(layers)]
    heads = [Head(until, 3), Head(0, 7)]
    table, _ = measure(encoder, rows_of(SENTENCES[:1]), heads=heads)
    assert ran == [*range(until + 1)]
    ran.clear()
    full, _ = measure(encoder, rows_of(SENTENCES[:1]), vectors=True)
    assert ran == [*range(6)]
    for handle in handles:
        handle.remove()
    weights = np.stack(full["top_weight"].to_pylist())[:, [head.layer * encoder.n_heads + head.head for head in heads]]
    assert np.stack(table["top_weight"].to_pylist()) == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize("name", ["ModernBERT", "DeBERTa-v3", "MPNet", "RoFormer", "XLNet"])
@pytest.mark.slow
def test_stopping_early_gives_weights_of_full_run(encoder_of, name):
    encoder = encoder_of(name)
    full, _ = measure(encoder, rows_of(SHORT_AND_LONG), vectors=True)
    table, _ = measure(encoder, rows_of(SHORT_AND_LONG), heads=[Head(0, 1)])
    for column in ("top_weight", "entropy", "special_share"):
        wanted = np.stack(full[column].to_pylist())[:, [1]]
        assert np.stack(table[column].to_pylist()) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("name", ["ModernBERT", "RoBERTa", "DeBERTa-v3", "XLNet"])
@pytest.mark.slow
def test_batch_matches_single_sentences_in_four_families(encoder_of, name):
    """The encoders have attention windows, added score terms, byte tokens, or weights that can't be recomputed."""
    check(encoder_of(name), SHORT_AND_LONG, tolerance=1e-4, batch_tokens=1000)


def test_bad_rows_are_rejected(encoder):
    good = [Row(at, "t", 2, "The bank opened.", "bank", sense) for at, sense in enumerate((" money ", 7, float("nan")))]
    bad = {
        "missing": (None, "bank", None),
        " missing": ("The bank opened.", "", None),
        "not a word": ("The river.", "bank", None),
        "512": ("bank " * 600, "bank", None),
        "Unicode": ("half \ud83d of a pair", "half", None),
        "broken line": ("The bank opened.", "bank", None, "broken line"),
        "is missing": (float("nan"), "bank", None),
    }
    rows = [Row(at, "t", at, *cells) for at, cells in enumerate(bad.values(), 3)]
    counted = []
    table, rejects = measure(encoder, [*good[:2], *rows, good[2]], batch_tokens=8, progress=counted.append)
    assert table["sense"].to_pylist() == ["money", "7", None] and sum(counted) == 10 and len(counted) > 2
    assert [reject.row for reject in rejects] == rows
    assert all(part in reject.reason for part, reject in zip(bad, rejects)), [r.reason for r in rejects]
    assert len(measure(encoder, rows)[0]) == 0


@pytest.mark.parametrize(("name", "heads"), [("BERT", None), ("BERT", [Head(0, 0)]), ("XLNet", None)])
@pytest.mark.slow
def test_text_with_nan_is_rejected(tmp_path, name, heads):
    """The numbers in the embedding of "loan" are so large that their sum is infinite."""
    encoder = load_encoder(str(save_tiny(FAMILIES[name], tmp_path)), device="cpu")
    tokens = encoder.tokenize("loan")
    with torch.no_grad():
        encoder.model.get_input_embeddings().weight[tokens.ids[tokens.words[0].start]] = 3e38
    river, rain = ("The bank of the river.", "bank"), ("rain", "rain")
    rows = rows_of([("The bank of the loan.", "bank"), river, ("The loan.", "loan"), rain, ("No such.", "bank")])
    table, rejects = measure(encoder, rows, vectors=True, heads=heads)
    alone, _ = measure(encoder, [rows[1], rows[3]], vectors=True, heads=heads)
    for column in ("row", "start", "top_weight", "entropy", "vectors"):
        found, wanted = (np.stack(one[column].to_pylist()) for one in (table, alone))
        assert found == pytest.approx(wanted, abs=1e-4)
    assert [reject.row.row for reject in rejects] == [0, 2, 4]
    assert all("computes NaN or infinity for this text in float32" in reject.reason for reject in rejects[:2])


def test_texts_in_one_batch_have_similar_lengths():
    batches = list(length_batches([5, 1, 9, 2, 2, 9, 40, 3], lambda n: n, 20))
    assert batches == [[40], [9, 9], [5, 3, 2, 2], [1]]


WITH_SOURCES = [
    *SENTENCES,
    ("The river, the river: a bank.", "bank"),  # a repeated word and punctuation
    ("A swashbuckler leapt off the swashbuckler's bank.", "bank"),  # the hidden word has several tokens
    ("Muddy bank.", "bank"),
    ("On bank bank they slept.", "bank"),  # the word occurs twice in a row
    ("A loan🏦 of the bank.", "bank"),  # a word that the tokeniser doesn't know
]


def moves_one_by_one(encoder, text, word):
    """For each occurrence of `word`, hide each other word in turn. Yield a list of (1 - cosine, label of the hidden word).

    The cosine is between the occurrence's vectors with and without hiding.
    """
    plain = encoder.encode(text)
    for place in plain.places(word):
        at = list(place.positions)
        moves = []
        for other in plain.words:
            if other.start != place.positions[0] and any(letter.isalnum() for letter in other.text):
                hidden = encoder.encode(text, hidden=[Hide(place.positions, other.positions)])
                before, after = (one.hidden[-1, at].double().mean(0) for one in (plain, hidden))
                moves.append((1 - torch.cosine_similarity(before, after, dim=0).item(), other.label))
        yield moves


def check_sources(encoder, pairs, **options):
    table, rejects = measure(encoder, rows_of(pairs), sources=True, **options)
    assert not rejects
    lines = iter(table.to_pylist())
    for text, word in pairs:
        for moves in moves_one_by_one(encoder, text, word):
            line = next(lines)
            expected = sorted((far for far, _ in moves), reverse=True)[:3]
            assert line["source_moves"] == pytest.approx(expected, abs=1e-5), text
            assert line["source_moves"] == sorted(line["source_moves"], reverse=True)
            for name, far in zip(line["sources"], line["source_moves"], strict=True):
                assert far >= 0 and any(other == name and abs(one - far) <= 1e-5 for one, other in moves), text
    assert next(lines, None) is None
    return table


@pytest.mark.slow
def test_sources_are_words_with_largest_effects(encoder):
    table = check_sources(encoder, WITH_SOURCES, batch_tokens=40)
    words = dict(zip(table["sentence"].to_pylist(), table["sources"].to_pylist()))
    assert words["bank"] == words["Bank!"] == [] and words["Muddy bank."] == ["Muddy"]
    assert words["The river, the river: a bank."].count("river") == 2
    assert "bank" in words["On bank bank they slept."] and "loan🏦 [UNK]" in words["A loan🏦 of the bank."]


@pytest.mark.parametrize("name", ["ModernBERT", "DeBERTa-v3", "XLM"])
@pytest.mark.slow
def test_sources_in_three_families_have_largest_effects(encoder_of, name):
    """A word's sources are the words whose hiding moves its vector most.

    The long text is longer than ModernBERT's attention window.
    """
    check_sources(encoder_of(name), SHORT_AND_LONG, batch_tokens=1000)


def test_batches_with_hidden_words_respect_token_limit(encoder_of, monkeypatch):
    """Encoders with `equal_lengths` get batches without padding, because padding changes their results."""
    encoder, passes, most, in_copies = encoder_of("BERT"), [], 1000, Encoder.in_copies
    texts = ("The bank.", "A bank of the river.", "The river " * 12 + "bank", "My bank leapt.")
    pairs = [(text, "bank") for text in texts]

    def counted(self, copies, layers=False):
        passes.append([len(copy.word.sentence.ids) for copy in copies])
        if len(copies) > most:
            raise OutOfMemory("no room")
        return in_copies(self, copies, layers)

    monkeypatch.setattr(Encoder, "in_copies", counted)
    check_sources(encoder, pairs, batch_tokens=120)
    assert all(max(lengths) * len(lengths) <= 120 for lengths in passes)
    assert sum(map(len, passes)) == 1 + 4 + 24 + 2 and len(passes) == 24 / 4 + 1 and len({*passes[-1]}) == 3
    passes.clear()
    check_sources(replace(encoder, equal_lengths=True), pairs, batch_tokens=120)
    assert all(len({*lengths}) == 1 for lengths in passes) and len(passes) == 24 / 4 + 3
    most = 4
    check_sources(encoder, pairs, batch_tokens=120)
    assert max(map(len, passes)) > 4


def test_text_is_rejected_if_hiding_gives_nan(encoder_of, monkeypatch):
    def broken(self, copies, layers=False):
        return torch.tensor([[torch.nan if "rain" in copy.word.sentence.text else 1.0] for copy in copies])

    monkeypatch.setattr(Encoder, "in_copies", broken)
    rows = rows_of([("The bank of the river.", "bank"), ("A bank of rain.", "bank")])
    table, rejects = measure(encoder_of("BERT"), rows, sources=True)
    assert table["row"].to_pylist() == [0] and [reject.row.row for reject in rejects] == [1]


def test_option_sources_needs_encoder_that_can_hide_words(encoder_of):
    with pytest.raises(NotRecomputable, match="No word can be hidden in xlnet"):
        measure(encoder_of("XLNet"), rows_of(SENTENCES[:1]), sources=True)


def test_measure_accepts_word_of_several_tokens(encoder):
    texts = ("我中国大", "大 a bank 中国")
    table, rejects = measure(encoder, rows_of([(text, "中国") for text in texts]), sources=True)
    assert not rejects and table["word"].to_pylist() == ["中国"] * 2 and table["start"].to_pylist() == [1, 9]
    assert set(table["sources"][0].as_py()) == {"我", "大"} and set(table["sources"][1].as_py()) == {"大", "a", "bank"}
    weights = encoder.encode(texts[0]).word_rows((2, 3))  # (n_layers, n_heads, n)
    most = torch.stack([weights[..., 1], weights[..., 2] + weights[..., 3], weights[..., 4]], -1).max(-1)
    names = [["我", "中国", "大"][at] for at in most.indices.flatten().tolist()]
    assert table["top_word"][0].as_py() == names
    assert table["top_weight"][0].as_py() == pytest.approx(most.values.flatten().tolist(), abs=1e-5)
