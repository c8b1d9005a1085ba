"""Draw the lesson pages about softmax and masks.

The scores of the example "good, not, the" come from a public lesson.
"""

import streamlit as st
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages import twelve_tokens
from pages.learn.from_scratch.lesson_pages.hand_made import by_place
from selfattn.analysis.what_if import causal_mask as lower_triangle
from selfattn.analysis.what_if import four_ways
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached
from selfattn.kernel import attend
from selfattn.kernel_inputs import Term
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.one_head_by_hand import BANK, WORDS
from selfattn.numbers import decimal, error, weight
from selfattn.views.stage import SHARE, Column, Scene

TOKENS = ("good", "not", "the")
QUERY = torch.tensor((0.0, 1.0), dtype=torch.float64)
KEYS = torch.tensor(((0.0, 1.0), (0.5, 0.5), (0.0, 0.0)), dtype=torch.float64)
LINES = (  # the four ways to mask, in the order of `four_ways`
    "weights = softmax(scaled.masked_fill(~allowed, -inf))",
    "weights = softmax(scaled * allowed)",
    "weights = softmax(scaled) * allowed",
    "weights = w * allowed / (w * allowed).sum(-1)   # w = softmax(scaled)",
)
SOURCES = {
    "bank": "bank of the river",
    "first": "the first hand-made sentence",
    "second": "the second hand-made sentence",
    "real": "my own sentence, in a real head",
}


def three_words() -> Scene:
    """Return the figure's data for one row of attention weights."""
    bank = one_head_by_hand.compute().trace
    examples = {  # the query's token, the query, the tokens, and their keys
        "bank": (BANK, bank.query[BANK], WORDS["river"], bank.key),
        "good, not, the": (0, QUERY, TOKENS, KEYS),
    }
    asks, query, tokens, keys = examples[teaching.example("three-words", tuple(examples))]
    place, n = tokens.index("river") if "river" in tokens else 0, len(tokens)
    more = st.slider(f"Raise the score of {tokens[place]} by", -3.0, 5.0, 0.0, 0.5, key="three-words.more")
    others = st.slider("Extra words with the score 0", 0, 200, 0, key="three-words.others")
    query, *rows = teaching.own_numbers("three-words", {"query": query, **by_place(tokens, keys)}).values()
    raised = torch.zeros(n + others, dtype=torch.float64)
    raised[place] = more
    keys = torch.cat([torch.stack(rows), query.new_zeros(others, len(query))])
    trace = worked_example.compute(query, keys, torch.zeros_like(keys), [Term("raised by", raised)])

    def together(row: Tensor) -> Tensor:
        """Replace the entries of the extra words (from index n on) by the sum of these entries."""
        return torch.cat([row[:n], row[n:].sum().reshape(1)]) if others else row

    shown = [*tokens, *([f"{others} more"] if others else [])]
    scaled, powers, weights = trace.masked[0][: len(shown)], together(trace.masked[0].exp()), together(trace.weights[0])
    total, (best, second) = powers.sum(), weights.topk(2).indices.tolist()
    lines = [
        f"{word}: {f'{others} × ' if at == n else ''}e^{decimal(score)} = {decimal(power)}; "
        f"{decimal(power)} / {decimal(total)} = {weight(share)} (rounded)"
        for at, (word, score, power, share) in enumerate(zip(shown, scaled, powers, weights.tolist()))
    ]
    return Scene(
        f'"{shown[best]}" gets the weight {weight(float(weights[best]))}. This is {decimal(weights[best] / weights[second], 1)} '
        f'times the weight of "{shown[second]}", {weight(float(weights[second]))}.',
        shown,
        (
            Column("scaled", "score ÷ √2", scaled, (-3.0, 3.0)),
            Column("power", "e to that", powers, (0.0, 10.0), foot=("sum", total), asked=True),
            Column("weights", "weight", weights, SHARE, foot=("sum", weights.sum()), asked=True),
        ),
        asks=asks,
        lit=best,
        lines=lines,
        note="The code first subtracts the largest score, which doesn't change the weights. Adding words lowers every weight.",
    )


def not_symmetric(picture, answered: bool) -> None:
    """Draw a head's scores and weights, to compare each pair of tokens in both directions."""
    if teaching.example("not-symmetric", ("equal scores", "a real head")) == "a real head":
        _, encoding, head = teaching.choose_head("not-symmetric", "The bank of the river was muddy after the rain.")
        trace, tokens = encoding.trace(*head), encoding.tokens
    else:
        query, tokens = one_head_by_hand.compute().trace.query, WORDS["river"]
        trace = attend(query, query, query)
    n, weights = len(tokens), trace.weights
    st.text(
        f"{n} tokens form {n * (n - 1) // 2} pairs. Attention compares each pair in both directions, at any distance."
    )
    row, column = divmod(int((weights - weights.T).argmax()), n)  # the pair whose two weights differ most
    a, b = tokens[row], tokens[column]
    charts = {
        "Scores": teaching.small_map(trace.scores, tokens, kind="signed"),
        "Weights": teaching.small_map(teaching.asked(weights, answered, row, column), tokens, maximum=1.0),
    }
    finding = (
        f'"{a}" gives "{b}" the weight {weight(float(weights[row, column]))}. "{b}" gives "{a}" the weight '
        f"{weight(float(weights[column, row]))}."
    )
    scores = weight(float((trace.scores - trace.scores.T).abs().max()))
    with picture:
        note = f"In every pair of tokens, the scores in the two directions differ by at most {scores}."
        teaching.steps("forth and back", finding, charts, note=note, answered=answered)


def causal_mask(picture, answered: bool) -> None:
    """Draw attention weights for four ways to mask later words."""
    source = teaching.example("causal-mask", SOURCES, "Take the queries and keys of", "source")
    if source == "real":
        _, encoding, head = teaching.choose_head("causal-mask", "The cat sat on the mat because it was tired.")
        trace, tokens = encoding.trace(*head), encoding.tokens
    elif source == "bank":
        trace, tokens = one_head_by_hand.compute().trace, WORDS["river"]
    else:
        keys = twelve_tokens.QUERIES_AND_KEYS if source == "first" else twelve_tokens.OF_THE_MAP
        trace, tokens = twelve_tokens.compute(keys), twelve_tokens.TOKENS
    ways = four_ways(trace, lower_triangle(len(tokens)))
    first, scores, cut, _ = ways
    charts = {
        way.name.capitalize(): teaching.small_map(
            teaching.asked(way.weights, answered or way is first), tokens, maximum=1.0
        )
        for way in ways
    }
    finding = (
        f"If scores are multiplied by 0, later words still get up to {scores.leaked.max():.2f} of a word's attention. If weights "
        f"are multiplied by 0, a word's weights can sum to only {cut.weights.sum(-1).min():.2f}."
    )
    with picture:
        teaching.steps("four ways", finding, charts, columns=2, answered=answered)
        if answered:
            st.code("\n".join(LINES), language=None, wrap_lines=True)
            teaching.formula(r"w = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right)")
            teaching.formula(r"M_{ij} = -\infty \text{ where } j > i")  # a separate formula, to fit a narrow window


def padding_mask(picture, answered: bool) -> None:
    """Draw the attention map of a sentence with padding."""
    encoder, encoding, head = teaching.choose_head("padding-mask", teaching.REAL)
    n = len(encoding.tokens)
    room = min(16, encoder.max_tokens - n)
    if room <= 4:
        st.text(
            f"The encoder reads at most {encoder.max_tokens} tokens, so this sentence leaves no room for padding. "
            "Type a shorter sentence."
        )
        return
    extra = st.slider("Tokens of padding", 4, room, key="padding-mask.extra")
    key = ("padded", encoding.text, n + extra)
    padded = cached(encoder, key, lambda _: encoder.encode(encoding.text, pad_to=n + extra))
    weights = padded.trace(*head).weights
    changed = float((weights[:n, :n] - encoding.weights(*head)).abs().max())
    share = float(weights[:n, n:].sum(-1).max())
    gets = f"at most {error(share)}" if share else "exactly 0"
    differ = f"change by at most {error(changed)}" if changed else "stay the same"
    finding = (
        f"[PAD] gives {weight(float(weights[n:, :n].sum(-1).min()))} of its weight to the sentence's tokens. The sentence's "
        f"tokens give {gets} to [PAD]. With padding, the weights between the sentence's tokens {differ}."
    )
    shown = teaching.asked(weights, answered, *range(n, n + extra))
    with picture:
        charts = {"One row per token, [PAD] included": teaching.small_map(shown, padded.tokens, 520, maximum=1.0)}
        teaching.steps("padding", finding, charts, answered=answered)
