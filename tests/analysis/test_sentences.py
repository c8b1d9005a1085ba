"""Compare the effects of hiding sentences with effects that transformers computes without selfattn."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

from selfattn import load_encoder
from selfattn.analysis import explaining, sentences
from selfattn.analysis.explaining import explain
from selfattn.analysis.sentences import is_long, sentence_spans, sentences_of
from selfattn.analysis.targets import Along, changed, class_score, similarity
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.pooling import load_pooling
from tests.analysis.test_explaining import CLASSES, ENTERING, SECOND, cosine, margin
from tests.encoders.test_pooling import embedder

TEXT = (
    "The bank of the river was muddy. She sat by the water, and the banker waited. It rained in the morning! The bank approved "
    "the loan. Who came to the bank? A boat lay on the river. The money was in the bank. They rowed home. The rain came down. "
    "She had no money for the boat."
)

SMALL = "The bank of the river was muddy. She sat by the water! The bank approved the loan. The banker waited."  # under 64 tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two!  Three? four", ["One.", "Two!", "Three? four"]),
        ('He said "No!" Then he left.', ['He said "No!"', "Then he left."]),
        ("Dr. J. Smith, i.e. Ann, paid 3.50 on No. 5. Good.", ["Dr. J. Smith, i.e. Ann, paid 3.50 on No. 5.", "Good."]),
        ("Title\n\nWait ... what? (Yes.) End", ["Title", "Wait ... what?", "(Yes.)", "End"]),
        ("他来了。她走了！好", ["他来了。", "她走了！", "好"]),
        ("  no end ", ["no end"]),
        ("", []),
    ],
)
def test_split_text_into_sentences(text, expected):
    assert [text[start:stop] for start, stop in sentence_spans(text)] == expected


def test_every_word_is_in_one_sentence(encoder_of):
    for name in ("BERT", "RoBERTa"):
        tokens = encoder_of(name).tokenize("Who sat? I.", "  One (two) . Three.\nFour")
        parts = sentences_of(tokens)
        assert [word for each in parts for word in each.words] == list(tokens.words)
        assert [(each.segment, each.text) for each in parts[2:]] == [(1, "One (two) ."), (1, "Three."), (1, "Four")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTERING)
def test_effects_of_hiding_sentences_match_plain_transformers(name, tmp_path, monkeypatch):
    monkeypatch.setattr(explaining, "OPENED", 2)
    monkeypatch.setattr(sentences, "DRAWS", 2)
    encoder = load_encoder(embedder(save_tiny(FAMILIES[name], tmp_path / "tiny", classes=CLASSES)))
    tokens = encoder.tokenize(SMALL)
    for number, target in (
        (partial(margin, encoder, name, text=SMALL), class_score(load_class_head(encoder), "POSITIVE")),
        (partial(cosine, encoder, name, text=SMALL), similarity(encoder, load_pooling(encoder), SECOND)),
    ):
        found = explain(encoder, tokens, target(tokens), heads=(), sentences=sentences_of(tokens))
        before = number()
        near = {"abs": 1e-5 * max(1.0, abs(before), float(found.by_sentence.abs().max()))}
        assert found.number == pytest.approx(before, **near) and len(found.sentences) == 4
        for each, effect in list(zip(found.sentences, found.by_sentence.tolist()))[::2]:
            assert effect == pytest.approx(number(hidden=each.positions) - before, **near)
        two = found.by_sentence.abs().argsort(descending=True)[:2].tolist()
        assert found.words == tuple(word for at in sorted(two) for word in found.sentences[at].words)
        assert set(found.sentence_frame.query("opened")["place"]) == set(two)
        word, effect = found.words[0], float(found.effect[0])
        assert effect == pytest.approx(number(hidden=word.positions) - before, **near)
        size = sentences._rounded(len(found.sentences[0].positions))
        draws = [number(hidden=draw) - before for draw in sentences._draws(tokens.words, size)]
        assert float(found.level[0]) == pytest.approx(max(map(abs, draws)), **near)


def test_random_word_sets_reach_requested_number_of_tokens(encoder_of):
    words = encoder_of("RoBERTa").tokenize(SMALL).words
    sizes = {word.positions: len(word.positions) for word in words}
    for size in (1, 12, 1000):
        draws = sentences._draws(words, size)
        assert len(draws) == sentences.DRAWS and draws == sentences._draws(words, size)
        for draw in draws:
            assert min(size, sum(sizes.values())) <= len(draw) < size + max(sizes.values())
    assert [sentences._rounded(n) for n in (1, 2, 4, 5, 8, 9, 20)] == [1, 3, 6, 6, 12, 12, 26]


@pytest.fixture
def classified(tmp_path):
    """Return an encoder, and a classification head that ignores the text."""
    encoder = load_encoder(str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("A", "B"))))
    head = load_class_head(encoder)
    torch.nn.init.zeros_(head._model.classifier.weight)
    return encoder, head


def test_no_sentence_has_effect_on_constant_score(classified):
    encoder, head = classified
    tokens = encoder.tokenize(SMALL)
    found = explain(encoder, tokens, class_score(head, "B")(tokens), heads=(), sentences=sentences_of(tokens))
    assert found.named == () and found.by_sentence.abs().max() == 0 and found.level.abs().max() == 0
    assert not found.sentence_frame["named"].any()


def test_single_sentence_has_no_noise_level(encoder):
    tokens = encoder.tokenize("She sat by the muddy water and the banker waited")
    target = similarity(encoder, load_pooling(encoder), "Mud.")(tokens)
    found = explain(encoder, tokens, target, heads=(), sentences=sentences_of(tokens))
    assert found.named == () and found.level.isnan().all() and found.by_sentence.abs().min() > 0.01
    assert len(found.words) == len(tokens.words)
    assert replace(found, by_sentence=found.by_sentence * 1e6).named == ()


@pytest.mark.slow
def test_hiding_sentence_does_not_hide_target_word(encoder):
    tokens = encoder.tokenize(SMALL)
    parts = sentences_of(tokens)
    word = parts[1].words[0]
    target = Along(word.positions, torch.ones(encoder.d_model))
    found = explain(encoder, tokens, target, heads=(), sentences=parts)
    others = [p for p in parts[1].positions if p not in word.positions]
    before, after = changed(encoder, tokens, target, [(), others]).tolist()
    assert float(found.by_sentence[1]) == pytest.approx(after - before, abs=1e-6)
    assert found.level.isfinite().all() and found.sentence_frame["opened"].all()


@pytest.mark.slow
def test_explain_names_sentence_that_answers_query(encoder):
    text = TEXT.replace("They rowed home.", "To send back a web order, print the label and post the parcel.")
    tokens = encoder.tokenize(text)
    target = similarity(encoder, load_pooling(encoder), "How do I return an item I bought online?")(tokens)
    found = explain(encoder, tokens, target, heads=(), sentences=sentences_of(tokens))
    assert [found.sentences[at].text[:7] for at in found.named] == ["To send"]
    assert float(found.by_sentence[7]) < -0.1


def test_65_tokens_and_three_sentences_make_text_long(encoder):
    assert is_long(encoder.tokenize(TEXT)) and is_long(encoder.tokenize("Who?", TEXT))
    assert not is_long(encoder.tokenize("bank " * 100)) and not is_long(encoder.tokenize("One. Two. Three. Four."))
    parts = [encoder.tokenize(f"One. Two. {'Bank ' * (n - 8)}three.") for n in (64, 65)]
    assert [(len(each.ids), is_long(each)) for each in parts] == [(64, False), (65, True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "T5 (encoder half)"])
def test_pooling_shortens_text_like_sentence_transformers(name, tmp_path):
    template = save_tiny(FAMILIES[name], tmp_path / "tiny")
    steps = modules.Transformer(str(template), max_seq_length=20), modules.Pooling(32)
    theirs = SentenceTransformer(modules=[*steps], device="cpu")
    theirs.save(str(tmp_path / "mine"))
    encoder = load_encoder(str(tmp_path / "mine"))
    pooling = load_pooling(encoder)
    read, whole = pooling.read(encoder, SMALL)
    assert len(read.ids) == 20 < len(whole.ids) and SMALL.startswith(read.text)
    vector = encoder.encode(read).vector(encoder.n_layers, pooling.positions(read))
    torch.testing.assert_close(vector, torch.tensor(theirs.encode(SMALL)), atol=1e-5, rtol=0)
    assert pooling.read(encoder, "She sat.")[0].text == "She sat." and whole.cut(len(whole.ids)) is whole
