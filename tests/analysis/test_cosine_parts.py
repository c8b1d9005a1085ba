"""Compare the terms of a cosine, one for each pair of words, with plain loops."""

import math

import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

from selfattn import TextError, load_encoder
from selfattn.analysis.cosine_parts import cosine_parts, hidden_cosines
from selfattn.analysis.explaining import explain
from selfattn.analysis.targets import similarity
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.pooling import NoPooling, Pooling, load_pooling
from tests.encoders.test_folders import saved_embedder
from tests.encoders.test_pooling import embedder

A, B = "The bank of the river was muddy, didn't it?", "She sat by the water."
NINE = ["BERT", "RoBERTa", "XLM-R", "ELECTRA", "DistilBERT", "MPNet", "ModernBERT", "DeBERTa", "T5 (encoder half)"]


def looped(encoder, a, b):
    """Return the cosine's term for each pair of words, and the cosine, computed by plain loops."""
    model = AutoModel.from_pretrained(encoder.name, attn_implementation="eager").eval()
    states = []
    for side in (a, b):
        with torch.no_grad():
            states.append(model(**encoder.inputs([side])).last_hidden_state[0].tolist())
    means = [[sum(column) / len(state) for column in zip(*state)] for state in states]
    norms = [math.sqrt(sum(x * x for x in mean)) for mean in means]
    word_of = [{p: at for at, word in enumerate(side.words) for p in word.positions} for side in (a, b)]
    parts = [[0.0] * (len(b.words) + 1) for _ in range(len(a.words) + 1)]
    for i, one in enumerate(states[0]):
        for j, other in enumerate(states[1]):
            product = sum(x * y for x, y in zip(one, other)) / (len(states[0]) * len(states[1]) * norms[0] * norms[1])
            parts[word_of[0].get(i, -1)][word_of[1].get(j, -1)] += product
    return parts, sum(x * y for x, y in zip(*means)) / (norms[0] * norms[1])


def near(actual, expected):
    torch.testing.assert_close(torch.as_tensor(actual).double(), torch.as_tensor(expected).double(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["BERT", "RoBERTa", "MPNet"])
def test_cosine_parts_match_plain_loops(family, tmp_path):
    encoder = load_encoder(str(embedder(save_tiny(FAMILIES[family], tmp_path / "mine"))))
    found = cosine_parts(encoder, A, B)
    parts, cosine = looped(encoder, found.a, found.b)
    near(found.table, parts)
    near(found.cosine, cosine)
    assert abs(found.difference) < 1e-5
    near(found.of_special, sum(parts[-1]) + sum(row[-1] for row in parts[:-1]))
    words = [row[:-1] for row in parts[:-1]]
    rows, columns = len(words), len(words[0])
    grand = sum(map(sum, words)) / (rows * columns)
    interaction = [
        [words[i][j] - sum(words[i]) / columns - sum(row[j] for row in words) / rows + grand for j in range(columns)]
        for i in range(rows)
    ]
    near(found.interaction, interaction)


def test_table_of_parts_has_each_pair_of_words_once(encoder):
    found = cosine_parts(encoder, "The bank of the river.", "A loan")
    frame = found.parts
    assert list(frame.columns) == ["word_a", "word_b", "part", "interaction"]
    assert list(dict.fromkeys(frame["word_a"])) == ["The", "bank", "of", "the", "river", ".", "special"]
    assert list(frame["word_b"][:3]) == ["A", "loan", "special"] and len(frame) == 7 * 3
    special = (frame["word_a"] == "special") | (frame["word_b"] == "special")
    assert frame["part"].sum() == pytest.approx(found.cosine, abs=1e-6)
    assert frame.loc[special, "part"].sum() == pytest.approx(found.of_special)
    assert frame["interaction"].isna().equals(special)
    assert frame["interaction"].sum() == pytest.approx(0, abs=1e-9)


def test_joined_returns_largest_interactions(encoder):
    query, document = "How do I return an item I bought online?", "What is the process for sending back a web order?"
    found = cosine_parts(encoder, query, document)
    pairs = [(found.a.words[i].text, found.b.words[j].text) for i, j in found.joined(3)]
    assert pairs == [("return", "back"), ("online", "web"), ("item", "order")]
    assert found.joined() == found.joined(1000)[:5]
    assert not any(found.a.words[i].is_punctuation or found.b.words[j].is_punctuation for i, j in found.joined(1000))
    assert all(found.interaction[pair] > 0 for pair in found.joined(1000))


def test_cosines_with_one_word_hidden_match_explain(encoder):
    pooling = load_pooling(encoder)
    a, b = encoder.encode("The muddy bank of the river."), encoder.encode("The bank approved the loan.")
    found = hidden_cosines(encoder, pooling, a, b)
    assert found.shape == (len(a.words) + 1, len(b.words) + 1)
    for cosines, side, other in ((found[:, 0], a, b), (found[0], b, a)):
        explained = explain(encoder, side, similarity(encoder, pooling, other)(side), heads=[])
        near(cosines[0], explained.number)
        near(cosines[1:] - cosines[0], explained.effect)
    vectors = []
    for side, place in zip((a, b), (1, 4)):
        inputs = encoder.inputs([side])
        inputs["attention_mask"][0, list(side.words[place].positions)] = 0
        with torch.no_grad():
            states = encoder.model(**inputs).last_hidden_state[0]
        vectors.append(states[inputs["attention_mask"][0].bool()].mean(dim=0))
    near(found[2, 5], torch.nn.functional.cosine_similarity(*vectors, dim=0))


def test_cosine_without_pooled_tokens_is_nan(encoder):
    a = encoder.encode("bank")
    one = type("One", (Pooling,), {"positions": lambda self, tokens: (1,)})("mean", None)
    found = hidden_cosines(encoder, one, a, a)
    assert found[0, 0] == pytest.approx(1) and found[1:].isnan().all() and found[:, 1:].isnan().all()


def test_cosine_parts_refuses_long_text(encoder_of):
    encoder = encoder_of("BERT")
    assert cosine_parts(encoder, "bank", "the bank", pooling=Pooling("mean", None)).table.shape == (2, 3)
    with pytest.raises(TextError, match="sentence embedder reads at most 3"):
        cosine_parts(encoder, "bank", "the bank", pooling=Pooling("mean", 3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pooling": {"pooling_mode": "cls"}}, r"mine has the pooling mode cls, .* can't be divided between words\. Choose"),
        ({"pooling": {"pooling_mode": "lasttoken"}}, "has the pooling mode lasttoken, "),
        ({"steps": ("Transformer", "Dense")}, "the steps Transformer, .*Dense in .* Expected .*Without a Pooling step"),
    ],
)  # fmt: skip
def test_cosine_parts_refuses_embedder_without_mean_pooling(changes, message, tmp_path):
    encoder = load_encoder(str(embedder(save_tiny(FAMILIES["BERT"], tmp_path / "mine"), **changes)))
    with pytest.raises(NoPooling, match=message):
        cosine_parts(encoder, A, B)


@pytest.mark.slow
@pytest.mark.parametrize("family", NINE)
def test_parts_add_up_to_sentence_transformers_cosine(family, checkpoint, tmp_path):
    folder = saved_embedder(checkpoint(family), tmp_path / "mine")
    theirs = SentenceTransformer(str(folder), device="cpu")
    vectors = theirs.encode([A, B], convert_to_tensor=True)
    found = cosine_parts(load_encoder(str(folder)), A, B)
    near([found.cosine, float(found.table.sum())], theirs.similarity(vectors[:1], vectors[1:]).expand(1, 2)[0])
