"""Draw the lesson pages about attention scores.

Sources: Vaswani et al. 2017, section 3.2.1, footnote 4; a public lesson (its example has a long key that outscores a key
in the query's direction).
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from pages.learn.from_scratch.lesson_pages.hand_made import ZERO, product
from selfattn.charts.bars import bar_list
from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.encoders.capture import Head
from selfattn.kernel import attend
from selfattn.lessons import worked_example
from selfattn.lessons.one_head_by_hand import BANK, LAST, WORDS, compute
from selfattn.numbers import decimal, plain, vector
from selfattn.views.lesson import drawing
from selfattn.views.stage import SHARE, Column, Mark, Plane, Scene, square

SOURCE = {"a": (2.0, 3.0), "b": (5.0, -1.0)}
LENGTHS = {  # the query, and the keys by name
    "bank": ((1.0, 1.0), {"bank": (1.0, 1.0), "river": (0.0, 3.0), "of": (-1.0, -1.0)}),
    "the source's": (
        (3.0, 1.0),
        {"short, aligned": (1.5, 0.5), "long, misaligned": (1.0, 4.0), "long, aligned": (3.0, 1.0)},
    ),
}
IN_A_HEAD = (
    "In head 10 of layer 0 of the bundled encoder, angle matters more than length. For *bank*'s query in *The bank of the "
    "river.*, *river* scores 17.2 and *bank* 5.5, although *river*'s key is only 1.2 times as long as *bank*'s. The keys' "
    "cosines with *bank*'s query are 0.39 and 0.15."
)
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
N_KEYS, N_QUERIES = 32, 256


def dot_product() -> Scene:
    """Return the figure's data for the page about dot products."""
    made = compute()
    which = teaching.example("dot-product", ("bank", "a and b", "two to turn"))
    if which == "two to turn":
        turn = math.radians(st.slider("Angle in degrees", 0, 180, 60, key="dot-product.angle"))
        length = st.slider("Length of b", 0.5, 5.0, 2.0, 0.5, key="dot-product.length")
        b = length * torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
        return _compared({"a": b.new_tensor([2, 0])}, ("b",), b[None], 0, ends=(-5.5, 5.5))
    bank = {"query of bank": made.trace.query[BANK], "key of river": made.trace.key[LAST]}
    named = teaching.own_numbers("dot-product", bank if which == "bank" else SOURCE, check=cosine)
    b = [*named.values()][1]
    if which == "bank":
        return _compared(named, made.words, torch.cat([made.trace.key[:LAST], b[None]]), LAST, BANK)
    return _compared(named, ("b",), b[None], 0)


def _compared(
    named: dict[str, Tensor], names: Sequence[str], keys: Tensor, shown: int, asks: int = 0, ends: tuple | None = None
) -> Scene:
    """Draw the query (first entry of `named`) and the key `keys[shown]`. keys: (n, 2)."""
    (title, query), key = next(iter(named.items())), keys[shown]
    scores, angle = keys @ query, cosine(query, key)
    marks = (
        Mark("query", title, query, ZERO, "ink", 0.3),
        Mark(f"key {shown}", [*named, names[shown]][1], key, ZERO, "", 0.3),
    )
    bounds = (ends, ends) if ends else square(query, key)
    below = ", ".join(f'"{name}"' for name, score in zip(names, scores) if score < 0 and name != names[shown])
    return Scene(
        f'"{names[shown]}" scores {product(query, key, query @ key)}.{f" Scores below 0: {below}." if below else ""}',
        names,
        (
            Column("key", "key", keys, above=(title, query[None])),
            Column("products", "query × key", query * keys, asked=True),
            Column("score", "score", scores, (-2.0, 3.0), asked=True),
        ),
        (Plane("compared", f"{math.degrees(math.acos(angle)):.0f}° apart", marks, bounds),),
        asks=asks,
        lit=shown,
        lines=[f"{name}: {product(query, each, score)}" for name, each, score in zip(names, keys, scores)],
        note=f"The score also equals both vectors' lengths × their cosine: {query.norm():.2f} × {key.norm():.2f} × "
        f"{decimal(angle)}. So a long key can score high at a large angle.",
    )


def cosine(a: Tensor, b: Tensor) -> float:
    """Return the cosine of two vectors (d,). Raises ValueError for a zero vector."""
    lengths = float(a.norm() * b.norm())
    if lengths == 0:
        raise ValueError("Expected vectors with a direction, got a zero vector. Change one number.")
    return max(-1.0, min(1.0, float(a @ b) / lengths))


def magnitude(picture, answered: bool) -> None:
    """Draw a long, misaligned key that outscores a short, aligned key."""
    query, published = LENGTHS[teaching.example("magnitude", tuple(LENGTHS))]
    compared = partial(compare, names=list(published))
    named = teaching.vectors("magnitude", {"query": query, **published}, check=compared)
    wanted, *keys = named.values()
    found = compared(wanted, *keys)
    twice = compare(wanted, 2 * keys[1], names=["twice as long"]).scaled[0]
    short, long = found.iloc[0], found.iloc[1]
    titles = {"score": "Score: the dot product", "scaled": "Scaled: ÷ √d_k", "cosine": "Cosine: the angle alone"}
    shown, domain = (found, None) if answered else (found.assign(**dict.fromkeys(titles, math.nan)), (-1, 1))
    charts = {"The query and the keys": teaching.plane(named, "query", 210)}
    charts |= {title: drawing(bar_list, shown, column, width=150, domain=domain) for column, title in titles.items()}
    finding = (
        f'"{long.token}" has the score {plain(long.score)} and the cosine {decimal(long.cosine)}. '
        f'"{short.token}" has the score {plain(short.score)} and the cosine {decimal(short.cosine)}.'
    )
    with picture:
        teaching.steps("key length", finding, charts, columns=2, answered=answered)
        if answered:
            teaching.prose(
                f"**Does dividing by √d_k remove the effect of length?** No. The key {vector(keys[1])} has the scaled score "
                f"{long.scaled:.2f}, and a key twice as long has {twice:.2f}. Comparing *cosines* would remove the effect, but "
                f"attention compares dot products. So a model can use a key's length to attract attention. {IN_A_HEAD}"
            )


def compare(query: Tensor, *keys: Tensor, names: Sequence[str]) -> pd.DataFrame:
    """Return `worked_example.steps` with an added column `cosine`. Raises ValueError for a zero vector."""
    trace = worked_example.compute(query, keys := torch.stack(keys), keys)
    return worked_example.steps(trace, names).assign(cosine=[cosine(query, each) for each in keys])


def scaling() -> Scene:
    """Return the figure's data for the page about the division by √d_k."""
    words, name = WORDS["river"], "scores of bank at d_k = 2"
    d_k = st.select_slider("d_k", (2, 8, 32, 64, 512), 512, key="scaling.d_k")
    typed = teaching.own_numbers("scaling", {name: compute().trace.scores[BANK]}, 220)[name]
    st.text("The original Transformer has d_k = 64 and divides scores by 8.")
    grown = typed * math.sqrt(d_k / 2)  # the scores of random vectors grow by this factor
    scales = {"divided": d_k**-0.5, "left alone": 1.0, "multiplied": d_k**0.5}
    shares = {name: worked_example.of_scores(grown, scale).weights[0] for name, scale in scales.items()}
    scaled = grown * d_k**-0.5
    return Scene(
        f"At d_k = {d_k}, the largest weight is {decimal(shares['divided'].max())} with the division, "
        f"and {decimal(shares['left alone'].max())} without the division.",
        words,
        (
            Column("score", "score", grown, (-1.0, 1.0)),
            Column("scaled", "score ÷ √d_k", scaled, (-3.0, 3.0), asked=True),
            *(
                Column("weights" if name == "divided" else name, f"weight: {name}", each, SHARE, asked=True)
                for name, each in shares.items()
            ),
        ),
        asks=BANK,
        lit=LAST,
        lines=[
            f"{word}: {plain(one)} × √({d_k} / 2) = {two:.2f}; ÷ √{d_k} = {three:.2f}"
            for word, one, two, three in zip(words, typed, grown, scaled)
        ],
        note="With the division, the weights are the same at any d_k. Some lessons multiply by √d_k by mistake.",
    )


def scaling_details() -> None:
    with st.expander("Details: scores of random vectors, and of a real encoder"):
        frame = measure()
        at_512 = frame[frame["d_k"] == 512].set_index("scaled")
        with teaching.row():
            for title, what, column, log, digits in (
                ("Variance of random scores", "variance", "variance", "xy", 2),
                (f"Entropy of a row of {N_KEYS} weights, in bits", "entropy", "entropy", "x", 2),
                ("How much the weights change if the scores change", "norm of softmax's Jacobian", "gradient", "x", 3),
            ):
                chart = drawing(
                    lines, frame, "d_k", column, series="series", log=log, titles=("d_k", ""), size=(290, 220)
                )
                without, divided = (f"{at_512[column][scaled]:.{digits}f}" for scaled in (False, True))
                finding = f"At d_k = 512, the {what} is {divided} with the division by √d_k, and {without} without the division."
                teaching.steps(column, finding, {title: chart}, width=340)
        teaching.prose(
            "Training could learn the division: a W_Q divided by √d_k has the same effect. The division matters at the "
            "start of training, when the matrices are random."
        )
        encoder, encoding = teaching.choose_sentence("scaling", "The bank of the river was muddy after the rain.")
        heads = np.ndindex(encoder.n_layers, encoder.n_heads)
        spread = torch.stack([encoding.trace(*head).scaled.std() for head in heads]).view(encoder.n_layers, -1)
        widest = Head(*divmod(int(spread.argmax()), encoder.n_heads))
        finding = (
            f"The standard deviation of the scaled scores is {float(spread.median()):.2f} in the median head. It is largest in "
            f"{widest}: {float(spread.max()):.2f}."
        )
        note = (
            f"Without the division by √{encoder.d_head}, the standard deviations would be {encoder.d_head**0.5:.1f} times "
            "as large."
        )
        charts = {"Standard deviation of each head's scaled scores": teaching.heads_chart(spread)}
        teaching.steps("spread of scores", finding, charts, note=note)


@st.cache_data(max_entries=1, show_spinner="Measuring ...")
def measure() -> pd.DataFrame:
    """Measure how the division by √d_k changes the attention of random vectors.

    variance: of the scores that softmax receives
    entropy: of a row of weights, in bits
    gradient: Frobenius norm of softmax's Jacobian
    """
    rows = []
    for depth in DEPTHS:
        draw = torch.Generator().manual_seed(0)
        query, key = (torch.randn(n, depth, generator=draw, dtype=torch.float64) for n in (N_QUERIES, N_KEYS))
        for scaled, scale in ((False, 1.0), (True, 1 / math.sqrt(depth))):
            trace = attend(query, key, key, scale=scale)
            entropy = float(torch.special.entr(trace.weights).sum(-1).mean()) / math.log(2)
            variance, gradient = float(trace.scaled.var()), float(jacobian_norm(trace.weights).mean())
            rows.append((depth, scaled, variance, entropy, gradient, "divided by √d_k" if scaled else "as it is"))
    return pd.DataFrame(rows, columns=["d_k", "scaled", "variance", "entropy", "gradient", "series"])


def jacobian_norm(weights: Tensor) -> Tensor:
    """Return the norm of softmax's Jacobian, diag(w) - w w^T: (..., n) -> (...)."""
    return (weights.diag_embed() - weights[..., None] * weights[..., None, :]).norm(dim=(-2, -1))
