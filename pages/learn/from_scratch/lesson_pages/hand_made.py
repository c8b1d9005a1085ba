"""Draw five lesson pages about a hand-made head.

Sources: Bahdanau et al. 2015 (soft search); Graves et al. 2014, "Neural Turing Machines", section 3.3.1 (sharpness);
S. Raschka, "Build a Large Language Model (From Scratch)", section 3.4 (six embeddings and their projections).
"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from selfattn.analysis.steps import head_steps
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.kernel import AttentionTrace, attend
from selfattn.lessons.one_head_by_hand import ABOUT, BANK, LAST, MATRICES, WORDS, Bank, compute, embeddings_of
from selfattn.numbers import decimal, plain, vector, weight
from selfattn.views.stage import SHARE, Column, Mark, Plane, Scene, square

TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
ZERO = (0.0, 0.0)
SIX_WORDS = ("Your", "journey", "starts", "with", "one", "step")
EMBEDDINGS = torch.tensor(
    ((0.43, 0.15, 0.89), (0.55, 0.87, 0.66), (0.57, 0.85, 0.64), (0.22, 0.58, 0.33), (0.77, 0.25, 0.10), (0.05, 0.80, 0.55))
)  # fmt: skip
SEED = 123


def soft_lookup() -> Scene:
    made, drawers = compute().trace, WORDS["river"]
    st.markdown(
        "| | filing cabinet | library | in attention |\n|---|---|---|---|\n| I look for | sticky note | question | query |\n"
        "| filed under | label | spine | key |\n| I get | contents | book | value |"
    )
    name = "Temperature T (low: one drawer gets all the weight, high: all get the same)"
    temperature = st.select_slider(name, TEMPERATURES, 1.0, key="soft-lookup.t")
    query, *keys = teaching.own_numbers(
        "soft-lookup", {"query": made.query[BANK], **by_place(drawers, made.key)}
    ).values()
    key = torch.stack(keys)
    scale = made.scale / temperature  # at temperature 1, the scale is 1/√d_k
    soft, longer = (attend(query[None], labels, labels, scale=scale) for labels in (key, 10 * key))
    scores, best = soft.scores[0], int(soft.scores.argmax())  # the first of equal scores
    return Scene(
        f'"{drawers[best]}" fits best. A hard lookup opens only "{drawers[best]}". A soft lookup takes '
        f"{decimal(soft.weights[0, best])} of it, or {decimal(longer.weights[0, best])} with labels ten times as long.",
        drawers,
        (
            Column("key", "label", key, above=("“bank” asks", query[None])),
            Column("score", "fit", scores, (-1.0, 1.0)),
            Column("hard", "hard", one_hot(scores.argmax(), len(drawers)).to(scores), SHARE),
            Column("weights", "soft" if temperature == 1 else f"soft, T = {temperature:g}", soft.weights[0], SHARE),
            Column("longer", "labels × 10", longer.weights[0], SHARE, asked=True),
        ),
        asks=BANK,
        lit=best,
        lines=[f"{word}: fit {product(query, label, score)}" for word, label, score in zip(drawers, key, scores)],
        note="“Soft” is e^(fit ÷ √2 ÷ T), scaled to sum to 1 (pages 5 and 6).",
    )


def by_place(words: Sequence[str], rows: Tensor) -> dict[str, Tensor]:
    """Return the rows by position and word ("5 bank"), because a word may occur twice."""
    return {f"{place} {word}": row for place, (word, row) in enumerate(zip(words, rows), start=1)}


def product(one: Tensor, other: Tensor, result: float | Tensor) -> str:
    """Return the dot product of two vectors (d,), written out."""
    terms = (f"({plain(a)} × {plain(b)})" for a, b in zip(one.tolist(), other.tolist()))
    return f"{' + '.join(terms)} = {plain(float(result))}"


def projections() -> Scene:
    if teaching.example("projections", {"bank": "bank", "raschka": "six words of a book"}) == "bank":
        made = compute("river", teaching.own_numbers("projections", embeddings_of("river")))
        scene = _projected(made.words, made.embeddings, MATRICES, made.trace)
        return replace(
            scene,
            note=f"The columns of X are money, water, glue. The columns of V are money − water and water − money. {scene.note}",
        )
    typed = teaching.own_numbers("projections", dict(zip(SIX_WORDS, EMBEDDINGS)), 150)
    seed = st.number_input("Seed of the projections", 0, 9999, SEED, key="projections.seed")
    teaching.prose(
        "This example is from S. Raschka, *Build a Large Language Model (From Scratch)*, section 3.4, from page 64. The book "
        "uses random matrices. With the book's seed, this page gets the same numbers."
    )
    embeddings = torch.stack(list(typed.values())).float()  # in float32, as published
    return _projected(SIX_WORDS, embeddings, *project(embeddings, int(seed)))


def project(embeddings: Tensor = EMBEDDINGS, seed: int = SEED) -> tuple[Tensor, AttentionTrace]:
    """Return random W_Q, W_K and W_V, (3, 3, 2), and the trace of attention over `embeddings`, (n, 3)."""
    matrices = torch.rand(3, 3, 2, generator=torch.Generator().manual_seed(seed))
    return matrices, attend(*(embeddings @ matrices))


def _projected(words: Sequence[str], embeddings: Tensor, matrices: Sequence[Tensor], trace: AttentionTrace) -> Scene:
    (n, d_model), d_k, row = embeddings.shape, trace.query.shape[1], 1  # row: the word to write out
    columns, spelled = [Column("embedding", "X", embeddings, shape=f"{n} × {d_model}")], []
    for role, matrix in zip(("query", "key", "value"), matrices):
        rows, name = getattr(trace, role), role[0].upper()
        tips = [[product(x, w, value) for w, value in zip(matrix.T, each)] for x, each in zip(embeddings, rows)]
        above = f"W_{name}", matrix
        columns.append(Column(role, f"{name} = X W_{name}", rows, None, f"{n} × {d_k}", above, tips=tips, asked=True))
        spelled.append(f"the {role} {vector(rows[row], columns[-1].places or None)}")
    return Scene(
        f'Three matrices of {d_model} × {d_k} turn "{words[row]}" into {spelled[0]}, {spelled[1]} and {spelled[2]}.',
        words, columns, asks=row, lit=row,
        lines=[f"{word} × first column of W_Q: {tips[0]}" for word, tips in zip(words, columns[1].tips)],
        note=f"There are n = {n} words. An embedding has d_model = {d_model} numbers, and a query d_k = {d_k}.",
    )  # fmt: skip


def mix() -> Scene:
    made = compute(other_word("mix"))
    trace, words = made.trace, made.words
    query, scores, weights, context = (each[BANK] for each in (trace.query, trace.scores, trace.weights, trace.context))
    handed = weights[:, None] * trace.value
    ends = torch.cat([handed.new_zeros(1, 2), handed.cumsum(0)])
    sizes = (scores.abs() / scores.abs().max()).tolist()
    compared = [
        Mark(f"key {n}", word, key, ZERO, "minus" if score < 0 else "", size)
        for n, (word, key, score, size) in enumerate(zip(words, trace.key, scores, sizes))
    ]
    mixed = [
        Mark(f"value {n}", word, value, ZERO, "", share)
        for n, (word, value, share) in enumerate(zip(words, trace.value, weights.tolist()))
    ]
    mixed += [Mark("context", "context", context, ZERO, "ink", 0.1, asked=True)]
    mixed += [
        Mark(f"handed {n}", "", after, start, "chain", before=(ZERO, value), asked=True)
        for n, (start, after, value) in enumerate(zip(ends, ends[1:], trace.value))
        if value.any()
    ]
    compared.append(Mark("query", "bank asks", query, ZERO, "ink", 0.1))
    return Scene(
        f'The context of "bank" is {vector(context, 2)}.',
        words,
        (
            Column("weights", "weight", weights, SHARE),
            Column("value", "value", trace.value),
            Column("handed", "weight × value", handed, foot=("= the context", context), asked=True),
        ),
        (
            Plane("compared", "Query and keys are compared", compared, square(trace.key, query)),
            Plane("mixed", "Values are mixed", mixed, square(trace.value, context)),
        ),
        asks=BANK,
        lit=LAST,
        lines=_handed(made),
        note="Thick arrows have a large score or weight. Red arrows have a score below 0. Each dashed arrow is a word's "
        "weight × value.",
    )  # fmt: skip


def other_word(stop: str) -> str:
    """Let the visitor choose the sentence's last word, and return it."""
    return st.radio("The other word", list(WORDS), key=f"{stop}.sentence", horizontal=True)


def _handed(made: Bank) -> list[str]:
    shares, values = made.trace.weights[BANK], made.trace.value
    return [
        f"{word}: {decimal(share, 3)} × {vector(value)} = {vector(share * value, 2)}"
        for word, share, value in zip(made.words, shares.tolist(), values)
    ]


def residual() -> Scene:
    sentence = other_word("residual")
    made = compute(sentence, teaching.own_numbers("residual", embeddings_of(sentence)))
    encoder = current_encoder()
    if encoder.recomputable:
        _real(encoder)
    trace, own = made.trace, made.embeddings[BANK]
    mean, spread = made.total.mean(), made.total.std(unbiased=False)
    normed = (made.total - mean) / (spread if spread > 0 else 1.0)  # equal numbers become 0
    added = {"own vector": own, "+ context × W_O": made.added, "= sum": made.total, "layer norm": normed}
    nothing = float(made.added.abs().max()) == 0
    numbers = [f"{name} {decimal(value)}" for value, name in sorted(zip(made.total[:2].tolist(), ABOUT), reverse=True)]
    more, less = numbers
    return Scene(
        'The head doesn\'t change "bank".' if nothing else
        f'After the head, "bank" is more about one topic ({more}) than about the other ({less}).',
        made.words,
        (
            Column("key", "key", trace.key, above=("“bank” asks", trace.query[[BANK]])),
            Column("scaled", "score ÷ √2", trace.scaled[BANK][:, None]),
            Column("weights", "weight", trace.weights[BANK], SHARE),
            Column("handed", "weight × value", trace.weights[BANK][:, None] * trace.value,
                   foot=("= the context", trace.context[BANK])),
        ),
        (meaning(made, own, made.total, "before"),),
        [Column(name, name, values[None], asked=values is not own) for name, values in added.items()],
        asks=BANK,
        lit=LAST,
        lines=_handed(made),
        note="The three numbers of a vector stand for money, water and glue. W_O halves the context and appends a 0 for glue. "
        f"Layer norm subtracts the mean, {decimal(mean)}, so numbers below the mean become negative. Then it divides by the "
        f"standard deviation, {decimal(spread)}.",
    )  # fmt: skip


def meaning(made: Bank, start: Tensor, end: Tensor, was: str) -> Plane:
    """Return a plane on which "bank" moves from `start` to `end`."""
    words = {word.lower(): row[:2] for word, row in zip(made.words, made.embeddings)}
    marks = [Mark(word, word, at) for word, at in words.items() if word not in ("the", "of", "bank")]
    first, last = start[:2], end[:2]
    moved = Mark("bank", "bank", last, first, "ink", 0.15, before=(first, first))
    marks += [Mark("was", was, first, kind="ink", asked=True), moved]
    return Plane("meaning", "What a word is about", marks, square(made.embeddings[:, :2], first, last),
                 ("money →", "↑ water"))  # fmt: skip


def _real(encoder: Encoder) -> None:
    """Show the length of the vector that a head of the encoder adds to the vector of "bank"."""
    encoding, head = cached_encode(encoder, teaching.REAL), Head(0, min(10, encoder.n_heads - 1))
    steps, place = head_steps(encoder, encoding, *head), encoding.words[1].start
    if "output" in steps:
        added, own = (decimal(steps[name].values[place].norm()) for name in ("output", "input"))
        who = f"head {head.head} of layer {head.layer} of the encoder"
        said = f'In “{teaching.REAL}”, {who} adds a vector of length {added} to the vector of "bank", whose length is {own}.'
        st.text(said, width="stretch")


def hide_a_word() -> Scene:
    sentence = other_word("hide-a-word")
    words = WORDS[sentence]
    others = [at for at in range(len(words)) if at != BANK]
    named = {at: f"{at + 1} {words[at]}" for at in others}
    hidden = st.selectbox("Hide from “bank”", others, LAST - 1, named.__getitem__, key="hide-a-word.hidden")
    before, after = compute(sentence), compute(sentence, hidden=hidden)
    lost = float(before.trace.weights[BANK, hidden])
    shares = [made.trace.weights[BANK] for made in (before, after)]
    lines = [
        f"{word}: {decimal(one, 3)} / (1 − {decimal(lost, 3)}) = {weight(other)}"
        for word, one, other in zip(words, *(each.tolist() for each in shares))
    ]
    lines[hidden] = f"{words[hidden]}: hidden, so e^(−∞) = 0"
    as_it_is, without = (decimal(each[BANK]) for each in shares)
    return Scene(
        f'With "{words[hidden]}" hidden, "bank" gives itself the weight {without} instead of {as_it_is}.',
        words,
        (
            Column("masked", "score ÷ √2, masked", after.trace.masked[BANK], (-3.0, 3.0)),
            Column("weights", "weight before", shares[0], SHARE),
            Column("hidden", "weight after", shares[1], SHARE, asked=True),
        ),
        (meaning(before, before.total, after.total, "before"),),
        asks=BANK,
        lit=BANK,
        hidden=hidden,
        lines=lines,
        note=f"In the new vector of “bank”, the numbers for money and water are {vector(before.total[:2], 2)} with all words, "
        f"and {vector(after.total[:2], 2)} with “{words[hidden]}” hidden.",
    )
