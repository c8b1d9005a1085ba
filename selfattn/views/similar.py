"""Make the panel that shows which words make two texts similar."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.cosine_parts import CosineParts, cosine_parts, hidden_cosines
from selfattn.charts.labels import right_to_left
from selfattn.charts.similar import similar as drawn
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.pooling import NoPooling, load_pooling
from selfattn.panel import Live, Panel, Tables
from selfattn.senses.unrelated_pairs import UnrelatedPairs
from selfattn.tidy_tables import sentence_words
from selfattn.views.shaded import keyed
from selfattn.words import fold

LINES = 5  # number of word pairs joined by a line, and of effects printed
RELATED = 0.95  # percentile among unrelated pairs from which texts count as close
THOUSANDTHS = 1000

METHOD = (
    "A text's vector is the mean of its tokens' last hidden states. So the cosine is exactly a sum over pairs of tokens: "
    "h_i · h_j / (n m |a| |b|), where h are the last hidden states, a and b their means, and n and m the numbers of tokens. A "
    "word pair's part is the sum over its token pairs; pairs with a special token are counted separately. For some words, "
    "the parts with all words of the other text are large. So the thickness of a line shows an interaction: the part of the word "
    "pair, minus the mean part of each of the two words, plus the mean of all parts. The parts don't show causes: attention has "
    "mixed every word into each hidden state.",
    "A hidden word is treated like padding: no token attends to the word, and the mean leaves it out. The other tokens keep "
    "their positions. Brown: the cosine falls without the word. Teal: the cosine rises. Effects of single words don't add up.",
    "The unrelated pairs are 1,000 random pairs of labelled sentences, drawn with a fixed seed. The labelled words of a pair "
    "differ.",
)


def similar(
    encoder: Encoder,
    a: Encoding,
    b: Encoding,
    *,
    unrelated: UnrelatedPairs | None = None,
    code: str = "",
    progress: Progress = silent,
) -> Panel:
    """Compute which words make two texts similar, and make the panel.

    Raises NoPooling for an encoder without a sentence vector, TextError for a text longer than the sentence embedder reads.
    """
    pooling = load_pooling(encoder)
    try:
        parts, why = cosine_parts(encoder, a, b, pooling=pooling), ""
    except NoPooling as error:
        parts, why = None, str(error)
    cosines = hidden_cosines(encoder, pooling, a, b, progress=progress)
    return put_together(a, b, cosines, parts, unrelated, why=why, code=code)


def put_together(
    a: Encoding,
    b: Encoding,
    cosines: Tensor,
    parts: CosineParts | None,
    unrelated: UnrelatedPairs | None = None,
    *,
    why: str = "",
    code: str = "",
) -> Panel:
    """Make the panel from given cosines. why: the reason why `parts` is None."""
    sides = (a, b)
    effects = hidden_frame(sides, cosines)
    lines = parts.joined(LINES) if parts else []
    leading = effects[(effects["kind"] == "word") & effects["effect"].notna()]
    leading = leading.sort_values("effect", key=lambda effect: -effect.abs(), kind="stable")[:LINES]
    place = unrelated.percentile(float(cosines[0, 0])) if unrelated else None
    finding = _finding(sides, lines, leading, place)
    below = [*filter(None, (beside(float(cosines[0, 0]), unrelated), _agree(sides, lines, leading), why))]
    data = _data(sides, cosines, parts, unrelated, effects, leading.index, finding, below[1:])
    makers = {"hidden words": lambda: effects}
    if parts:
        makers = {"pairs": lambda: parts.parts, **makers}
    if unrelated:
        makers["unrelated pairs"] = lambda: unrelated.pairs
    return Panel(
        name="similar",
        finding=finding,
        picture=lambda look: drawn(data, look.theme, look.width),
        alt=" ".join([finding, *below]),
        tables=Tables(makers),
        arrays={"cosines": cosines.numpy()},
        code=code,
        method="\n\n".join(METHOD if parts else METHOD[1:]),
        live=Live("similar", data),
    )


def hidden_frame(sides: Sequence[Encoding], cosines: Tensor) -> pd.DataFrame:
    """Return how much hiding one word changes the cosine of the two texts, for each word of both texts.

    place: the word's index. gap: True if a space precedes the word.
    """
    rows = []
    for name, side, alone in zip("AB", sides, (cosines[1:, 0], cosines[0, 1:])):
        changes = (alone - cosines[0, 0]).tolist()
        rows += [(name, word, word.label, change, False) for word, change in zip(side.words, changes)]
    frame = sentence_words(rows, "sentence", "effect")
    frame.insert(1, "place", frame.groupby("sentence").cumcount())
    return frame


def _finding(
    sides: Sequence[Encoding], lines: Sequence[tuple[int, int]], leading: pd.DataFrame, percentile: float | None
) -> str:
    if sides[0].ids == sides[1].ids:
        return "Both texts are the same, so their cosine is 1."
    if leading.empty:
        return "There is no word to hide."
    if alone := _sets_apart(sides, leading):
        return alone
    if percentile is not None and percentile < RELATED:
        return "These two texts are no closer than unrelated texts."
    first = leading.iloc[0]
    way = "falls" if first["effect"] < 0 else "rises"
    moved = f"the cosine {way} by {numbers.cosine(abs(first['effect']))}"
    return f'Hide "{first["text"]}" in {first["sentence"]}, and {moved}.'


def _sets_apart(sides: Sequence[Encoding], leading: pd.DataFrame) -> str:
    """If one text has all words of the other and one more, name the added word. Otherwise return ""."""
    a, b = (Counter(fold(word.text) for word in side.words) for side in sides)
    for name, words, other in (("A", a, b), ("B", b, a)):
        (extra, n), *more = [*(words - other).items(), ("", 0)]
        row = leading[(leading["sentence"] == name) & (leading["text"].map(fold) == extra)]
        if n == 1 and len(more) == 1 and not other - words and len(row) == 1:
            effect = float(row["effect"].iloc[0])
            does = "lowers" if effect > 0 else "raises"
            amount = numbers.cosine(abs(effect))
            return f'The texts differ only by "{row["text"].iloc[0]}" in {name}, which {does} the cosine by {amount}.'
    return ""


def beside(cosine: float, unrelated: UnrelatedPairs | None) -> str:
    """State the cosine, and its percentile among the cosines of unrelated pairs."""
    if unrelated is None:
        return f"Cosine {numbers.cosine(cosine)}."
    part = {0.0: "none", 1.0: "all"}.get(
        share := unrelated.percentile(cosine)
    ) or f"{numbers.decimal(100 * share, 1)}\u00a0%"
    n, median = numbers.count(len(unrelated.cosines)), numbers.cosine(unrelated.median)
    return f"Cosine {numbers.cosine(cosine)}, above {part} of {n} unrelated pairs (median {median})."


def _agree(sides: Sequence[Encoding], lines: Sequence[tuple[int, int]], leading: pd.DataFrame) -> str:
    """Name the words that the thickest line joins, and state which of the words with the largest effects have lines."""
    if not lines or leading.empty:
        return ""
    i, j = lines[0]
    pair = f'The thickest line joins "{sides[0].words[i].label}" and "{sides[1].words[j].label}".'
    joined = {"A": {i for i, _ in lines}, "B": {j for _, j in lines}}
    alone = [row for row in leading.itertuples() if row.place not in joined[row.sentence]]
    n, words = len(leading) - len(alone), f"the {len(leading)} words with the largest effects"
    if not alone:
        return f"{pair} Each of {words} has a line to a word of the other text."
    names = " and ".join(f'"{row.text}" in {row.sentence}' for row in alone)
    has, no = ("has" if count == 1 else "have" for count in (n, len(alone)))
    return f"{pair} Of {words}, {n or 'none'} {has} a line to a word of the other text. {names} {no} no line."


def _data(
    sides: Sequence[Encoding],
    cosines: Tensor,
    parts: CosineParts | None,
    unrelated: UnrelatedPairs | None,
    effects: pd.DataFrame,
    printed: pd.Index,
    finding: str,
    below: Sequence[str],
) -> dict[str, Any]:
    """Return the data in the format of similar.schema.json."""
    deepest = float(effects["effect"].where(effects["kind"] == "word").abs().max())
    words: dict[str, list[dict[str, Any]]] = {"A": [], "B": []}
    for row in effects.itertuples():
        depth = row.effect / deepest if deepest > 0 and row.effect == row.effect and row.kind == "word" else 0.0
        words[row.sentence].append(
            {
                "text": row.text,
                "gap": bool(row.gap),
                "kind": row.kind,
                "depth": round(100 * max(-1.0, min(1.0, depth))),
                "number": numbers.change(row.effect) if row.Index in printed else "",
                "lines": _lines(parts, **{row.sentence.lower(): row.place}) if row.kind == "word" else [],
            }
        )
    data = {
        "version": 1,
        "finding": finding,
        "below": [*below],
        "sides": [
            {"name": name, "dir": "rtl" if right_to_left(side.text) else "ltr", "words": words[name]}
            for name, side in zip("AB", sides)
        ],
        "lines": _lines(parts),
        "cosines": [_thousandths(row) for row in cosines.tolist()],
        "sum": None,
        "unrelated": None,
    }
    if parts:
        joined = sum(float(parts.table[pair]) for pair in parts.joined(LINES))
        others = float(parts.table[:-1, :-1].sum()) - joined
        data["sum"] = {
            "lines": round(joined, 5), "others": round(others, 5), "special": round(parts.of_special, 5),
            "difference": numbers.error(parts.difference),
        }  # fmt: skip
    if unrelated:
        data["unrelated"] = {"cosines": _thousandths(unrelated.cosines.tolist()), "median": round(unrelated.median, 3)}
    return keyed(data)


def _lines(parts: CosineParts | None, **of: int) -> list[list[float]]:
    """Return [index in A, index in B, part of the cosine, `parts.interaction`] for each pair of words joined by a line."""
    if parts is None:
        return []
    return [
        [*pair, *(float(f"{number[pair]:.4g}") for number in (parts.table, parts.interaction))]
        for pair in parts.joined(LINES, **of)
    ]


def _thousandths(values: Iterable[float]) -> str:
    """Return the values as whole thousandths, separated by commas. NaN becomes an empty text."""
    return ",".join("" if value != value else str(round(THOUSANDTHS * value)) for value in values)
