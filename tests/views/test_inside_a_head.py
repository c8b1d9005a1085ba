"""Test the panels of the page "Inside a head" against the model."""

import pytest
import torch

from selfattn import Head, numbers
from selfattn.panel import Look
from selfattn.views.inside_a_head import comes_in, computed, follow, goes_out

HEAD = Head(2, 5)
TEXTS = {"A": "We sat on the bank of the river.", "B": "We went to the bank for a loan."}


@pytest.fixture(scope="module")
def words(encoder):
    return {name: encoder.encode(text).places("bank")[0] for name, text in TEXTS.items()}


@pytest.fixture(scope="module")
def sides(encoder, words):
    return [follow(encoder, name, word, HEAD) for name, word in words.items()]


def vector(table, name, sentence):
    own = table[(table["vector"] == name) & (table["sentence"] == sentence)]
    assert own["dimension"].tolist() == list(range(len(own)))
    return own["value"].tolist()


def near(values):
    return pytest.approx(torch.as_tensor(values).tolist(), abs=1e-5)


def test_input_vectors_match_trace(encoder, sides, words):
    panel, product = comes_in(sides)
    for side in sides:
        trace = words[side.name].sentence.trace(*HEAD)
        wanted = {"input": words[side.name].sentence.hidden[2]} | {
            n: getattr(trace, n) for n in ("query", "key", "value")
        }
        for name, values in wanted.items():
            assert vector(panel.table, name, side.name) == near(values[side.position])
    a, b = (words[name].sentence.hidden[2][words[name].positions[0]] for name in "AB")
    cosine = numbers.cosine(float(torch.cosine_similarity(a, b, dim=0)))
    assert (
        panel.finding
        == f'The layer\'s input for "bank" has 384 numbers. The vectors in A and B have a cosine of {cosine} with each other.'
    )
    errors = panel.tables["largest differences from the model's own numbers"]
    assert errors["error"].max() < 1e-4
    for step, of_step in errors.dropna().groupby("step"):
        assert f"{step} {numbers.error(of_step['error'].max())}" in panel.method
    assert panel.picture(Look())["layer"] and (panel.one_head, product.one_head) == (True, True)


def test_products_and_bias_sum_to_query_entry(encoder, words):
    side = follow(encoder, "A", words["A"], Head(0, 10))  # the largest products have both signs
    _, product = comes_in([side])
    query = side.trace.query[side.position]
    dimension = int(query.abs().argmax())
    bias = float(side.projected.query_bias[dimension])
    assert float(product.table["product"].sum()) + bias == pytest.approx(float(query[dimension]), abs=1e-5)
    assert product.table["product"].tolist() == near(product.table["first"] * product.table["second"])
    number = numbers.decimal(query[dimension])
    assert product.finding == f'Number {dimension} of the query of "bank" is {number}, a sum of 384 products.'
    written = [row["text"] for rows in product.picture(Look())["datasets"].values() for row in rows if "text" in row]
    by_size = product.table.reindex(product.table["product"].abs().sort_values(ascending=False).index)
    for row in by_size[:6].itertuples():
        assert {numbers.decimal(row.first, 4), numbers.decimal(row.second, 4), numbers.decimal(row.product, 3)} <= {
            *written
        }
    assert numbers.decimal(by_size["product"][6:].sum(), 3) in written and "the other 378 products" in written


def test_output_and_residual_match_model(encoder, sides, words):
    out, residual = goes_out(encoder, sides, HEAD)
    block, seen = encoder.model.encoder.layer[2].attention.output, []
    hook = block.register_forward_hook(lambda module, given, result: seen.append(result[0]))
    for text in TEXTS.values():
        encoder.encode(text)
    hook.remove()
    for side, layer in zip(sides, seen, strict=True):
        trace = words[side.name].sentence.trace(*HEAD)
        weight = block.dense.weight.detach()[:, 5 * 32 : 6 * 32]
        added = vector(out.table, "output", side.name)
        assert added == near(weight @ trace.context[side.position])
        assert vector(residual.table, "this head", side.name) == added
        whole = torch.tensor(vector(residual.table, "sum", side.name))
        torch.testing.assert_close(block.LayerNorm(whole).detach(), layer[side.position].detach(), atol=1e-4, rtol=0)
    lengths = [
        numbers.decimal(torch.tensor(vector(residual.table, name, "A")).norm()) for name in ("this head", "own vector")
    ]
    assert (
        residual.finding
        == f"In A the head adds a vector of length {lengths[0]} to a hidden state of length {lengths[1]}."
    )


def test_changed_weights_are_compared_with_real_weights(encoder, words, sides):
    real = computed(sides, HEAD, (1e-7, None))
    assert not real.note and any("recomputed" in line for line in real.live.data["below"])
    changed = [follow(encoder, name, word, HEAD, uniform=True) for name, word in words.items()]
    panel = computed(changed, HEAD, (1e-7, None))
    n = len(words["A"].sentence.tokens)
    rows = panel.tables["what if"].query("sentence == 'A'")
    position = words["A"].positions[0]
    before, after = sides[0].trace, changed[0].trace
    assert rows["weight"].tolist() == near(before.weights[position]) and rows["changed"].tolist() == near([1 / n] * n)
    assert panel.tables["steps"].query("sentence == 'A'")["weight"].tolist() == near([1 / n] * n)
    cosine = torch.cosine_similarity(before.context[position], after.context[position], dim=0)
    top = f"{numbers.weight(before.weights[position].max())} to {numbers.weight(1 / n)}"
    note = f"With the changes, the largest weight in A goes from {top}. The contexts with and without the changes "
    note += f"have cosine {numbers.cosine(float(cosine))}"
    assert panel.note.startswith(note) and computed([changed[0], sides[1]], HEAD, (1e-7, None)).note.startswith(note)
    assert not any("recomputed" in line for line in panel.live.data["below"])


def test_panels_can_show_token_outside_chosen_word(encoder, words):
    side = follow(encoder, "A", words["A"], HEAD, 2)
    panel, product = comes_in([side])
    assert (
        panel.finding == 'The layer\'s input for "sat" has 384 numbers.' and 'of the query of "sat"' in product.finding
    )
    (out, _) = goes_out(encoder, [side], HEAD)
    assert out.finding == 'The head adds a vector of 384 numbers to "sat".'


@pytest.mark.parametrize(
    ("family", "vectors", "n_panels"),
    [
        ("ModernBERT", ["input", "read", "query", "key", "value", "turned query", "turned key"], 4),
        ("MobileBERT", ["input", "read", "query", "key", "value"], 3),  # the head adds to a narrower vector
        ("T5 (encoder half)", ["input", "read", "query", "key", "value"], 4),
        ("MPNet", ["input", "query", "key", "value"], 4),
    ],
)
def test_panels_show_vectors_of_each_encoder_family(encoder_of, family, vectors, n_panels):
    encoder = encoder_of(family)
    word = encoder.encode("The bank of the river was muddy.").places("bank")[0]
    side = follow(encoder, "A", word, Head(1, 1))
    panels = [*comes_in([side]), *goes_out(encoder, [side], Head(1, 1))]
    assert list(dict.fromkeys(panels[0].table["vector"])) == vectors and len(panels) == n_panels
    query = side.steps["turned query" if "turned query" in vectors else "query"].values
    torch.testing.assert_close(query, word.sentence.trace(1, 1).query, atol=1e-4, rtol=1e-4)
    for panel in panels:
        assert panel.picture(Look(dark=True))["layer"] and len(panel.table)


def test_input_and_output_are_omitted_if_projections_are_unknown(encoder, words, monkeypatch):
    monkeypatch.setattr("selfattn.encoders.projections.output_layer", lambda module, around: None)
    side = follow(encoder, "A", words["A"], HEAD)
    (panel,) = comes_in([side])
    assert list(dict.fromkeys(panel.table["vector"])) == ["query", "key", "value"]
    assert "recomputed from the recorded query, key and value" in panel.method
    assert not [*goes_out(encoder, [side], HEAD)]
