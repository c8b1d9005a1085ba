"""Sentences of a long text hidden whole, against a plain transformers loop; noise levels; where nothing may be named."""

from dataclasses import replace

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from torch.nn.functional import cosine_similarity
from transformers import AutoModel, AutoModelForSequenceClassification

from selfattn import load_encoder
from selfattn.analysis import explaining
from selfattn.analysis import sentences as own
from selfattn.analysis.explaining import explain
from selfattn.analysis.sentences import is_long, sentence_spans, sentences_of
from selfattn.analysis.targets import Along, changed, class_score, similarity
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.pooling import load_pooling
from tests.encoders.test_pooling import embedder

EIGHT = ["BERT", "RoBERTa", "XLM-R", "ELECTRA", "DistilBERT", "MPNet", "ModernBERT", "DeBERTa"]
TEXT = (
    "The bank of the river was muddy. She sat by the water, and the banker waited. It rained in the morning! The bank approved "
    "the loan. Who came to the bank? A boat lay on the river. The money was in the bank. They rowed home. The rain came down. "
    "She had no money for the boat."
)

SMALL = "The bank of the river was muddy. She sat by the water! The bank approved the loan. The banker waited."  # for 64 tokens


@pytest.mark.parametrize(
    ("text", "sentences"),
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
def test_where_sentences_end(text, sentences):
    assert [text[start:stop] for start, stop in sentence_spans(text)] == sentences


def test_every_word_is_in_one_sentence(encoder_of):
    for name in ("BERT", "RoBERTa"):
        tokens = encoder_of(name).tokenize("Who sat? I.", "  One (two) . Three.\nFour")
        parts = sentences_of(tokens)
        assert [word for each in parts for word in each.words] == list(tokens.words)
        assert [(each.segment, each.text) for each in parts[2:]] == [(1, "One (two) ."), (1, "Three."), (1, "Four")]


def plain(folder, inputs, hidden, cut=None):
    """A class's margin, or the cosine of the mean with `cut`, by transformers alone with these positions masked."""
    inputs = {name: each.clone() for name, each in inputs.items()}
    inputs["attention_mask"][0, list(hidden)] = 0
    kind = AutoModelForSequenceClassification if cut is None else AutoModel
    with torch.no_grad():
        found = kind.from_pretrained(folder, attn_implementation="eager").eval()(**inputs)
    if cut is None:
        logits = found.logits[0]
        return float(logits[1] - max(logits[0], logits[2]))
    kept = [at for at in range(inputs["input_ids"].shape[1]) if at not in hidden]
    return float(cosine_similarity(found.last_hidden_state[0][kept].mean(dim=0), cut, dim=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", EIGHT)
def test_sentences_and_words_against_plain_transformers(name, tmp_path, monkeypatch):
    monkeypatch.setattr(explaining, "OPENED", 2)
    monkeypatch.setattr(own, "DRAWS", 2)
    folder = str(embedder(save_tiny(FAMILIES[name], tmp_path / "tiny", classes=("A", "B", "C"))))
    encoder = load_encoder(folder)
    tokens = encoder.tokenize(SMALL)
    other = encoder.encode("She sat.").states[-1].mean(dim=0)
    for target, cut in (
        (class_score(load_class_head(encoder), "B")(tokens), None),
        (similarity(encoder, load_pooling(encoder), "She sat.")(tokens), other),
    ):
        found = explain(encoder, tokens, target, heads=(), sentences=sentences_of(tokens))
        inputs = encoder.inputs([tokens])
        before = plain(folder, inputs, (), cut)
        near = {"abs": 1e-5 * max(1.0, abs(before), float(found.by_sentence.abs().max()))}
        assert found.number == pytest.approx(before, **near) and len(found.sentences) == 4
        for each, effect in list(zip(found.sentences, found.by_sentence.tolist()))[::2]:
            assert effect == pytest.approx(plain(folder, inputs, each.positions, cut) - before, **near)
        two = found.by_sentence.abs().argsort(descending=True)[:2].tolist()
        assert found.words == tuple(word for at in sorted(two) for word in found.sentences[at].words)
        assert set(found.sentence_frame.query("opened")["place"]) == set(two)
        word, effect = found.words[0], float(found.effect[0])
        assert effect == pytest.approx(plain(folder, inputs, word.positions, cut) - before, **near)
        size = own._rounded(len(found.sentences[0].positions))
        draws = [plain(folder, inputs, draw, cut) - before for draw in own._draws(tokens.words, size)]
        assert float(found.level[0]) == pytest.approx(max(map(abs, draws)), **near)


def test_draws_have_enough_tokens_and_repeat(encoder_of):
    words = encoder_of("RoBERTa").tokenize(SMALL).words
    sizes = {word.positions: len(word.positions) for word in words}
    for size in (1, 12, 1000):
        draws = own._draws(words, size)
        assert len(draws) == own.DRAWS and draws == own._draws(words, size)
        for draw in draws:
            assert min(size, sum(sizes.values())) <= len(draw) < size + max(sizes.values())
    assert [own._rounded(n) for n in (1, 2, 4, 5, 8, 9, 20)] == [1, 3, 6, 6, 12, 12, 26]


@pytest.fixture
def classified(tmp_path):
    """An encoder and a head that answers by its last layer, which reads nothing."""
    encoder = load_encoder(str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("A", "B"))))
    head = load_class_head(encoder)
    torch.nn.init.zeros_(head._model.classifier.weight)
    return encoder, head


def test_an_answer_that_reads_nothing_rests_on_no_sentence(classified):
    encoder, head = classified
    tokens = encoder.tokenize(SMALL)
    found = explain(encoder, tokens, class_score(head, "B")(tokens), heads=(), sentences=sentences_of(tokens))
    assert found.named == () and found.by_sentence.abs().max() == 0 and found.level.abs().max() == 0
    assert not found.sentence_frame["named"].any()


def test_one_sentence_has_no_noise_level_and_is_never_named(encoder):
    tokens = encoder.tokenize("She sat by the muddy water and the banker waited")
    found = explain(
        encoder,
        tokens,
        similarity(encoder, load_pooling(encoder), "Mud.")(tokens),
        heads=(),
        sentences=sentences_of(tokens),
    )
    assert found.named == () and found.level.isnan().all() and found.by_sentence.abs().min() > 0.01
    assert len(found.words) == len(tokens.words)
    twice = replace(found, by_sentence=found.by_sentence * 1e6)
    assert twice.named == ()


def test_the_word_that_is_asked_about_stays_in_its_sentence(encoder):
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
def test_the_sentence_that_answers_a_query_is_named(encoder):
    """The others are unrelated to the query; a sentence put into their midst isn't."""
    text = TEXT.replace("They rowed home.", "To send back a web order, print the label and post the parcel.")
    tokens = encoder.tokenize(text)
    asked = similarity(encoder, load_pooling(encoder), "How do I return an item I bought online?")
    found = explain(encoder, tokens, asked(tokens), heads=(), sentences=sentences_of(tokens))
    assert [found.sentences[at].text[:7] for at in found.named] == ["To send"]
    assert float(found.by_sentence[7]) < -0.1


def test_which_texts_are_long(encoder):
    assert is_long(encoder.tokenize(TEXT)) and is_long(encoder.tokenize("Who?", TEXT))
    assert not is_long(encoder.tokenize("bank " * 100)) and not is_long(encoder.tokenize("One. Two. Three. Four."))
    parts = [encoder.tokenize(f"One. Two. {'Bank ' * (n - 8)}three.") for n in (64, 65)]
    assert [(len(each.ids), is_long(each)) for each in parts] == [(64, False), (65, True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "T5 (encoder half)"])
def test_a_cut_text_is_what_sentence_transformers_reads(name, tmp_path):
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
