"""Captions of a head's steps: the sentence, the token and the number of each step."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from selfattn.analysis.steps import head_steps
from selfattn.captions import steps as captions
from tests.captions.conftest import HEAD, LAYER


@pytest.fixture(scope="module")
def chains(encoder, sides):
    return {name: head_steps(encoder, encoding, LAYER, HEAD) for name, (encoding, _, _) in sides.items()}


@pytest.fixture(scope="module")
def row(chains, sides):
    """The word's row of a step in both sentences."""
    return lambda step: {name: chains[name][step].values[word.start] for name, (_, word, _) in sides.items()}


def test_kernel_error_says_both_comparisons():
    assert captions.kernel_error(1e-7, None) == "Check: our weights equal the model's own to 0.0000001."
    text = captions.kernel_error(1e-7, 2e-6)
    assert text == "Check: our weights equal the model's own to 0.0000001, and to 0.000002 in an independent run."


def test_step_error_is_the_worst_of_the_sentences(chains):
    steps = {name: chain["scores"] for name, chain in chains.items()}
    steps["B"] = replace(steps["B"], own=steps["B"].own + 1e-4)  # else both might have the same error
    errors = [float((step.values.double() - step.own.double()).abs().max()) for step in steps.values()]
    sizes = [float(step.values.abs().max()) for step in steps.values()]
    text = captions.step_error(steps)
    bound = text.split(": ")[1].split(";")[0]
    assert max(errors) <= float(bound) <= 2 * max(errors)
    assert f"largest number of the step is {max(sizes):.2f}," in text
    assert captions.step_error(dict(reversed(steps.items()))) == text


def test_step_error_of_a_step_without_a_counterpart(chains):
    step = chains["A"]["input"]
    assert step.own is None
    assert captions.step_error({"A": step}).casefold() == f"{step.own_from}.".casefold()


def test_vector_lengths_and_their_cosine(row):
    a, b = (values.double().numpy() for values in row("query").values())
    text = captions.vector_lengths(row("query"), "query")
    cosine = f"{a @ b / np.linalg.norm(a) / np.linalg.norm(b):.2f}".replace("-", "−")
    lengths = f"The word's own query has length {np.linalg.norm(a):.2f} in A and {np.linalg.norm(b):.2f} in B"
    assert text == f"{lengths}; the two have cosine {cosine}."
    assert captions.vector_lengths({"B": row("query")["B"]}, "query").endswith(f"length {np.linalg.norm(b):.2f} in B.")


def test_the_largest_of_a_step_by_the_models_own_weights(row, sides):
    labels = {name: encoding.tokens for name, (encoding, _, _) in sides.items()}
    parts = []
    for name, (encoding, word, weights) in sides.items():
        place = int(weights[word.start].argmax())
        parts.append(f"{encoding.tokens[place]} in {name} ({weights[word.start, place]:.2f})")
    assert captions.largest(row("weights"), labels, "weight") == f"The largest weight: {'; '.join(parts)}."


def test_the_largest_is_not_the_largest_by_absolute_value():
    text = captions.largest({"B": torch.tensor([-3.0, 0.5, -0.2])}, {"B": ("x", "y", "z")}, "score")
    assert text == "The largest score: y in B (0.50)."


def test_hidden_tokens_are_counted_in_each_sentence():
    rows = {"A": torch.tensor([0.0, -math.inf, -math.inf]), "B": torch.tensor([0.0, 1.0])}
    assert captions.hidden_tokens(rows) == "The mask hides 2 of 3 tokens in A, none of 2 tokens in B."


def test_a_score_is_the_sum_of_its_terms(chains, sides):
    trace, place = chains["B"].trace, sides["B"][1].start
    query, key = (tensor.double().numpy() for tensor in (trace.query[place], trace.key[5]))
    terms = query * key
    order = np.argsort(-np.abs(terms))
    total, three = (f"{value:.3f}".replace("-", "−") for value in (terms.sum(), terms[order[:3]].sum()))
    text = captions.score(torch.tensor(terms), "crane", "near")
    assert f"From crane to near the score is {total}." in text
    assert f"in dimensions {order[0]}, {order[1]}, {order[2]}, come to {three}." in text
    lines = captions.score_terms(trace.query[place], trace.key[5]).splitlines()
    assert [int(line.split()[0]) for line in lines[1:7]] == order[:6].tolist()
    written = [[float(part.replace("−", "-")) for part in line.split()[1::2]] for line in lines[1:7]]
    assert written == [pytest.approx([query[i], key[i], terms[i]], abs=6e-4) for i in order[:6]]
    assert (
        lines[7].split()
        == f"the other {len(terms) - 6} terms together {terms[order[6:]].sum():.3f}".replace("-", "−").split()
    )
    assert lines[8].endswith(f" {total}") and len(lines) == 9


def test_short_vectors_have_no_other_terms():
    lines = captions.score_terms(torch.tensor([1.0, -2.0]), torch.tensor([3.0, 4.0])).splitlines()
    assert [line.split()[-1] for line in lines] == ["term", "−8.000", "3.000", "−5.000"]


def test_head_output_says_what_is_added_to_what(row):
    text = captions.head_output(row("output"), row("input"))
    for name in "AB":
        added, stream = (float(torch.linalg.norm(row(step)[name].double())) for step in ("output", "input"))
        assert added < stream
        assert f"{added:.2f} to a vector of length {stream:.2f} in {name}" in text


def test_a_changed_row_goes_from_before_to_after():
    text = captions.changed_row(torch.tensor([0.7, 0.3]), torch.tensor([0.4, 0.6]), (0.88, 0.97), -0.25, "B")
    assert (
        text
        == "B: entropy 0.88 → 0.97 bits, largest weight 0.70 → 0.60. The context has cosine −0.250 to the real one."
    )


@pytest.mark.parametrize(
    ("padded", "error", "parts"),
    [(0.0, 0.0, ("exactly 0 of", "are the unpadded")), (2e-9, 3e-8, ("at most 0.000000002 of", "at most 0.00000003."))],
)
def test_padding_says_nothing_only_for_nothing(padded, error, parts):
    text = captions.padding(12, 4, padded, error)
    assert text.startswith("12 tokens and 4 of padding.") and all(part in text for part in parts)


def test_who_gets_most_weight_and_who_hands_over_most():
    table = pd.DataFrame(
        [
            ("A", 0, "[CLS]", True, False, 1.0, 0.5, 0.2, 0.1), ("A", 1, "crane", False, True, 1.0, 0.5, 0.1, 0.2),
            ("A", 2, "beam", False, False, 1.0, 0.5, 0.7, 0.7), ("B", 0, "[CLS]", True, False, 1.0, 0.5, 0.8, 0.1),
            ("B", 1, "crane", False, True, 1.0, 0.5, 0.2, 1.013), ("B", 2, "shore", False, False, 1.0, -math.inf, 0.0, 0.0),
        ],
        columns=["sentence", "place", "text", "special", "chosen", "score", "masked", "weight", "share"],
    )  # fmt: skip
    assert captions.row(table) == (
        'In A "beam" gets most weight (0.70) and hands over most (70 %); in B [CLS] gets most weight (0.80), the word itself '
        'hands over most (101 %). Hidden, with score −∞ and weight 0: "shore" in B.'
    )
    assert "Hidden" not in captions.row(table.head(3))
    assert captions.row(table.head(3), "crane", 2).endswith(
        '(70 %). "crane" has 2 pieces: each weight is their mean, summed over the other word\'s pieces; what a word hands over '
        "is these weights × V, as a part of the sum over all words, along it."
    )
    assert captions.no_steps("It isn't square.") == (
        "The steps of this head are missing: It isn't square. The weights are the model's own."
    )
