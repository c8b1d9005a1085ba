"""Make the panels that compare two encoders' heads."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.compare import EncoderComparison
from selfattn.analysis.cosine_parts import CosineParts
from selfattn.charts.head_map import HOW
from selfattn.charts.heatmap import heatmap
from selfattn.charts.two_encoders import difference_bars
from selfattn.charts.vega import fluid
from selfattn.encoders.capture import Head
from selfattn.panel import Panel, Tables
from selfattn.senses import CheckpointsReport
from selfattn.tidy_tables import named_heads, weights_frame
from selfattn.views.dots_and_heads import heads_panel
from selfattn.words import NAMED, numbered

MAP, LETTERS = 400, 14  # pixels
LISTED = 12  # words, or word pairs, with a bar


def about(names: Sequence[str], partner: str) -> str:
    """Return the sentence that introduces the page.

    partner: "counterpart" or "untrained twin", the name for the same head in the second encoder; "" if heads don't correspond.
    """
    if not partner:
        return f"Compare a head of {names[0]} with a head of {names[1]} on one sentence."
    explained = ": the same architecture with random weights" if partner.endswith("twin") else ""
    second = f"its {partner}" if explained else names[1]
    return f"Compare each head of {names[0]} with the same head of {second}{explained}."


def one_sentence(compared: EncoderComparison, names: Sequence[str], heads: Sequence[Head]) -> Iterator[Panel]:
    """Yield the panels of one sentence: the word whose weights differ most, all words, each encoder's map."""
    at = _most_different(compared)
    yield _row(compared, at, names, heads)
    yield _every_word(compared, at, names)
    top = float(max(compared.first.max(), compared.second.max()))
    for side, encoder, head in zip(("first", "second"), names, heads):
        yield _own_map(side, getattr(compared, side), compared.words, f"{encoder}, {head}", top)


def _spelled(words: Sequence[str]) -> list[str]:
    """Return the words, with each punctuation mark replaced by its name."""
    return [word if NAMED.search(word) else unicodedata.name(word[0], word).lower() for word in words]


def _most_different(compared: EncoderComparison) -> int:
    """Return the index of the word, preferably not punctuation, whose weights differ most between the encoders."""
    largest = compared.difference.abs().amax(dim=1).tolist()
    return max(range(len(largest)), key=lambda at: (bool(NAMED.search(compared.words[at])), largest[at]))


def _quoted(word: str, label: str = "") -> str:
    return f'"{label or word}"' if NAMED.search(word) else f"the {label or _spelled([word])[0]}"


def _mention(words: Sequence[str], at: int) -> str:
    return _quoted(words[at], numbered(_spelled(words))[at])


def _more(value: float, write: Callable[[float], str] = numbers.weight) -> str:
    return f"{write(abs(value))} {'more' if value > 0 else 'less'}"


def _gives(compared: EncoderComparison, row: int, column: int) -> str:
    """State how much more weight the word at `row` gives the word at `column` in the first encoder than in the second."""
    much, words = _more(float(compared.difference[row, column])), compared.words
    return f"{_mention(words, row)} gives {_mention(words, column)} {much} weight"


def _row(compared: EncoderComparison, at: int, names: Sequence[str], heads: Sequence[Head]) -> Panel:
    """Make the panel of one word's weights in both encoders."""
    sides = {side: getattr(compared, side)[at].numpy() for side in ("first", "second")}
    frame = pd.DataFrame({"label": numbered(_spelled(compared.words)), **sides})
    frame["difference"] = frame["first"] - frame["second"]
    word, most = _mention(compared.words, at), int(frame["difference"].abs().argmax())
    finding, notes = "Every word gives the same weights in both encoders.", []
    if compared.difference.any():
        where, than = _heads(names, heads)
        finding = f"In {where}, {_gives(compared, at, most)} than in {than}."
        one, other = (numbers.weight(float(frame[side][most])) for side in ("first", "second"))
        given = f"The weight from {word} to {_mention(compared.words, most)} is {one} in {names[0]} and {other} in {names[1]}"
        notes = [f"{given}. Special tokens are left out, and the other weights are scaled to sum to 1."]
    drawn = frame.loc[frame["difference"].abs().nlargest(LISTED).index.sort_values()].reset_index(drop=True)
    if len(drawn) < len(frame):
        notes.append(f"The bars show the {len(drawn)} largest of {len(frame)} differences.")
    if compared.left_out:
        notes.append(f"Words that one of the encoders can't read are left out: {', '.join(compared.left_out)}.")
    return _bars(
        "row", finding, drawn, names, f"What {word} attends to (the outlined row of the maps)", tables={"row": frame},
        note=" ".join(notes),
        method="Special tokens are left out, and each row of weights is scaled to sum to 1. So weights are larger here than on "
        "pages with special tokens. Which words get different weights in the two encoders depends on the sentence.",
        one_head=True,
    )  # fmt: skip


def _heads(names: Sequence[str], heads: Sequence[Head]) -> tuple[str, str]:
    """Name both encoders' heads. If layer and head are the same in both, the second name is only the encoder's."""
    first, second = heads
    if first == second:
        return f"{_named(*first)} of {names[0]}", names[1]
    return f"{first} of {names[0]}", f"{second} of {names[1]}"


def _named(layer: int, head: int) -> str:
    return f"head {head} of layer {layer}"


def _bars(name: str, finding: str, drawn: pd.DataFrame, names: Sequence[str], title: str, **parts: Any) -> Panel:
    places = 2 if drawn["difference"].abs().max() >= 0.1 else 3
    rows = (f"{row.label} {numbers.change(row.difference, places)}" for row in drawn.itertuples())
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: difference_bars(drawn, look.theme, names, title=title, places=places, width=look.width),
        alt=f"{finding} {title}, {names[0]} minus {names[1]}: {'; '.join(rows)}.",
        **parts,
    )


def _every_word(compared: EncoderComparison, at: int, names: Sequence[str]) -> Panel:
    """Make the map of the first encoder's weights minus the second's. The finding ignores the row of the word at `at`."""
    rest = compared.difference.abs()
    rest[at] = 0
    finding, note = "No other word differs.", ""
    if compared.difference.any():
        note = f"The outlined row belongs to the word whose weights differ most: {_mention(compared.words, at)}."
    if rest.any():
        finding = (
            "Largest difference outside the outlined row: in the first encoder, "
            f"{_gives(compared, *_largest(rest))} than in {names[1]}."
        )
    of_names = {"kind": "signed", "marked": [at], "ends": names, "legend": "difference", "note": note}
    name = "first minus second"
    return _map(name, finding, compared.difference, compared.words, f"{names[0]} minus {names[1]}", **of_names)


def _own_map(name: str, matrix: Tensor, words: Sequence[str], title: str, top: float) -> Panel:
    """Make the map of one encoder's attention weights. top: the largest weight in either encoder."""
    row, column = _largest(matrix)
    largest = numbers.weight(float(matrix[row, column]))
    finding = f"Largest weight: {largest}, from {_mention(words, row)} to {_mention(words, column)}."
    return _map(name, finding, matrix, words, title, title=title, maximum=top, legend="weight")


def _largest(matrix: Tensor) -> tuple[int, int]:
    return divmod(int(matrix.argmax()), matrix.shape[1])


def _map(
    name: str, finding: str, matrix: Tensor, words: Sequence[str], what: str, note: str = "", **look_of: Any
) -> Panel:
    """Make a panel with a map of weights, (n_words, n_words)."""
    return Panel(
        name=name,
        finding=finding,
        picture=lambda look: fluid(
            heatmap(matrix.numpy(), numbered(_spelled(words)), look.theme, size=MAP, letters=LETTERS, **look_of),
            look.width,
        ),
        alt=f"{what}: a map of the weight from each word to each word. {finding}",
        tables=Tables({name: lambda: weights_frame(matrix, words)}),
        note=note,
        one_head=True,
    )


def similarity(first: CosineParts, second: CosineParts, names: Sequence[str]) -> Panel:
    """Make the panel of the word pairs whose parts of the cosine differ most between two encoders.

    Raises ValueError if the encoders' tokens differ.
    """
    if (first.a.ids, first.b.ids) != (second.a.ids, second.b.ids):
        raise ValueError(
            "The encoders split these texts into different tokens. Choose encoders with the same tokeniser."
        )
    pairs = first.parts[["word_a", "word_b"]].assign(first=first.parts["part"], second=second.parts["part"])
    pairs["difference"] = pairs["first"] - pairs["second"]
    leading = pairs[first.parts["interaction"].notna()]
    leading = leading.sort_values("difference", key=lambda change: -change.abs(), kind="stable")[:LISTED]
    sides = (_spelled(leading[side].tolist()) for side in ("word_a", "word_b"))
    leading = leading.assign(label=[" – ".join(pair) for pair in zip(*sides)]).reset_index(drop=True)
    top = leading.iloc[0]
    pair, much = (
        " and ".join(map(_quoted, top[["word_a", "word_b"]])),
        _more(top["difference"], partial(numbers.decimal, places=3)),
    )
    return _bars(
        "similarity", f"In {names[0]}, {pair} add {much} to the cosine than in {names[1]}.",
        leading[["label", "first", "second", "difference"]], names, "What a pair of words adds to the cosine",
        tables={"similarity": leading, "pairs": pairs},
        note=f"The cosine is {numbers.cosine(first.cosine)} in {names[0]} and {numbers.cosine(second.cosine)} in {names[1]}.",
        method="With mean pooling, the cosine of two texts is a sum over pairs of words. The bars show what a pair adds in the "
        "first encoder, minus what it adds in the second.",
    )  # fmt: skip


def over_many(report: CheckpointsReport, head: Head, n_texts: int, partner: str) -> Iterator[Panel]:
    """Yield the panels of each head's distance from the same head of the second encoder.

    partner: what to call that head of the second encoder, such as "counterpart".
    """
    frame = named_heads(report.heads).assign(**report.heads[["low", "high", "others"]])
    yield _distances(report, frame, head, n_texts, partner)
    if len(report.by_chance):
        yield _chance(report, frame, head, partner)


def _distances(report: CheckpointsReport, frame: pd.DataFrame, head: Head, n_texts: int, partner: str) -> Panel:
    own, far = frame[frame["name"] == str(head)].iloc[0], frame.loc[frame["distance"].idxmax()]
    n, rejected = int(own["n"]), report.rejected
    (farthest, much, span), (chosen, little, own_span) = (
        (
            _named(row["layer"], row["head"]),
            numbers.weight(row["distance"]),
            numbers.span(row["low"], row["high"], numbers.weight),
        )
        for row in (far, own)
    )
    most = f"differs most from its {partner} (distance {much})"
    finding, intervals = f"the chosen {chosen} {most}", f"95 % interval: {own_span}."
    if far["name"] != own["name"]:
        finding = f"{farthest} {most}; the chosen {chosen} has distance {little}"
        intervals = f"95 % intervals: {span} for {farthest}; {own_span} for the chosen head."
    notes = [
        f"Distance 0 means the same weights as the {partner}; 1 means no weight in common. Click a head to open it below.",
        *[intervals] * (n > 1),
    ]
    if len(rejected):
        at, reason = rejected.iloc[0]
        notes.append(f"{len(rejected)} of {n_texts} sentences are left out. The first is sentence {at + 1}: {reason}")
    return heads_panel(
        "counterparts", f"Over {n} sentence{'s' * (n != 1)}, {finding}.",
        frame.drop(columns="n"), "distance", head,
        look_of={"kind": "weights", "title": "share of the weight that the two heads give to different tokens"},
        note=" ".join(notes),
        method=f"A head's {partner} is the head with the same layer and number in the second encoder. The distance is the share "
        "of the weight that the two heads give to different tokens, on average over the sentences.",
        tables={"counterparts": frame.drop(columns="n"), "counterparts by chance": report.by_chance},
    )  # fmt: skip


def _chance(report: CheckpointsReport, frame: pd.DataFrame, head: Head, partner: str) -> Panel:
    """Make the map of heads that are nearer to their counterparts in the second encoder than to its other heads."""
    nearer, wrong, what = frame["nearer"], report.by_chance["nearer"], partner.split()[-1]
    by = frame.assign(**{"nearer by": (frame["others"] - frame["distance"]).where(nearer)})
    ends = zip(frame["others"] - frame["high"], frame["others"] - frame["low"])
    known = bool(frame["high"].notna().any())
    spans = [numbers.span(*each, numbers.effect) for each in ends] if known else []
    return heads_panel(
        "chance", _nearer(int(nearer.sum()), len(frame), int(wrong.min()), int(wrong.max()), partner),
        by.assign(**{HOW: spans}) if known else by, "nearer by", head,
        look_of={"title": f"how much nearer to its own {what} than to other heads' {what}s"},
        note=f"Coloured heads are nearer to their own {what} than to those of other heads. "
        f"{'Tooltips show how much nearer, with the 95 % interval in brackets. ' * known}"
        f"To count how many heads would be nearer by chance, each head is paired with another head's {what}.",
        method=f"A head counts as nearer if its distance from its own {what}, even at the upper end of its 95 % interval over "
        f"sentences, is less than its mean distance from the {what}s of the layer's other heads. To count how many heads "
        f"would be nearer by chance, each head is paired with the {what} of the next head in the layer, then of the head after "
        "that, and so on."
        + (" The untrained twin has the encoder's architecture and new random parameters. What the encoder and the twin have in "
           "common need not come from training. The encoder's training didn't start from the twin's parameters, so if more "
           "heads were nearer than by chance, that would point to a fault in the test. Another twin gives other numbers."
           ) * (what == "twin"),
        tables={"chance": frame},
    )  # fmt: skip


def _nearer(nearer: int, n: int, least: int, most: int, partner: str) -> str:
    if nearer == n:
        return f"Each head is nearer to its own {partner} than to other heads' {partner}s."
    if not nearer:
        return f"No head is nearer to its own {partner} than to other heads' {partner}s."
    chance = f"by chance, {' to '.join(map(str, sorted({least, most})))} would be"
    only = "Only " * (nearer <= most)
    heads = "heads is nearer to its own" if nearer == 1 else "heads are nearer to their own"
    return f"{only}{nearer} of {n} {heads} {partner} than to other heads' {partner}s; {chance}."
