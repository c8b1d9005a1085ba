"""Captions of one word over many sentences: whether it brings the sense in, and how well attention names it.

Every number comes from `senses.hidden_words`. 95 % intervals choose the wording: over words or, for one word, over its
sentences.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.captions.senses import FEW_WORDS
from selfattn.senses.telling_words import ATTENTION, CHECKS, CLEAR, GUESS, NAMED, HiddenWordsReport
from selfattn.words import Word

MOSTLY = 0.33  # the smallest share that is called "mostly"
MOST = 3  # most words to name together
ENOUGH, LEFT = 0.8, 0.5  # parts of all words' gain over guessing: for the word alone, for the rest without it
CARRIES = {
    (True, True): "is usually enough and rarely the only one",
    (True, False): "is usually enough, and little is left without it",
    (False, True): "helps, is not enough, and is rarely the only one",
    (False, False): "is needed and not enough",
}
HELP = (
    "In labelled sentences each other word is hidden from the word. The most telling one is the one whose hiding moves it "
    "furthest toward its other senses; one half of the other sentences picks it, and the other half judges: is the right sense "
    "still the nearer one without it, and with it alone? A picked word can carry the topic as well as the sense."
)

SHADES = (
    "How far the word moves toward its other senses when one other word is hidden from it. One word is named where its share is "
    "at least 10 % and one and a half times the next one's. 100 % is the whole way, minus is away from them."
)


class Ranked(NamedTuple):
    """A word that may be named, and its share."""

    text: str
    share: float


def ranked(words: Sequence[Word], share: Tensor) -> list[Ranked]:
    """The words that were measured, without punctuation, the largest share first."""
    known = [Ranked(word.label, float(value)) for word, value in zip(words, share) if not word.is_punctuation]
    return sorted((one for one in known if one.share == one.share), key=lambda one: -one.share)


def source(words: Sequence[Ranked], unit: str = "") -> str:
    """Complete "it comes ..." for one sentence. words: from `ranked`, at least one.

    unit: follows the largest share, which is printed if no word is named.
    """
    first = words[0]
    if first.share < NAMED:
        return f'from no single word: the largest is "{first.text}", {numbers.percent(first.share)}{unit}'
    if len(words) == 1 or first.share >= CLEAR * words[1].share:
        if first.share >= MOSTLY:
            return f'mostly from "{first.text}"'
        return f'more from "{first.text}" than from any other word'
    shared = [f'"{one.text}"' for one in words[:MOST] if one.share >= first.share / 2]
    return f"from {_listed(shared)}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def one_word(report: HiddenWordsReport) -> str:
    """State if one word tells the sense, and if the other words tell it without that word."""
    own = report.of()
    every, hidden, alone = (own.loc[what] for what in ("as it is", "the word hidden", "the word alone"))
    others, without = own.loc["any other alone"], own.loc["any other hidden"]
    n, sure = report.words["word"].nunique(), "Lines: 95 % intervals over"
    said = f"{sure} {n} words." if n > 1 else f"{sure} the sentences of one word."
    said += " So few words say little about others." if n < FEW_WORDS else ""
    if not every["low"] > GUESS:
        return (
            f"Even with all words the sense is told in {_hits(every)} of 100 sentences only ({_span(every)}; guessing "
            f"{_hits(GUESS)}), so no word can be asked for it. {said}"
        )
    told = f"all words {_hits(every)}, guessing {_hits(GUESS)}"
    if not alone["low"] > others["high"]:
        return (
            f"No single word carries it: alone, the most telling word tells the sense in {_hits(alone)} of 100 sentences, any "
            f"other word in {_hits(others)} ({told}). {said}"
        )
    beyond = every["accuracy"] - GUESS
    enough, left = (each["accuracy"] - GUESS for each in (alone, hidden))
    how = CARRIES[enough >= ENOUGH * beyond, left >= LEFT * beyond]
    text = (
        f"One word {how}: alone it tells the sense in {_hits(alone)} of 100 sentences ({told}; any other word alone "
        f"{_hits(others)}), without it the rest does in {_hits(hidden)} (without one of the others {_hits(without)})."
    )
    attended = report.agreement.set_index("way")["agreement"]["most attended"]
    text += f" The most attended word is that word in {_hits(attended)}." if attended == attended else ""
    return f"{text} {said}"


def shaded(ticked: bool, word: str, n: int, shown: int) -> str:
    """Name the sentences that are drawn: the ticked one, or `shown` at either end of the word's n."""
    which = "The ticked sentence" if ticked else f'"{word}", {n} sentences'
    if not ticked and n > 2 * shown:
        which = f'"{word}": the {shown} of {n} sentences in which most hangs on one word, and the {shown} in which least does'
    return (
        f"{which}. Shares of the way to its other senses, minus: away from them; the deepest shade: 40 % and more. Tick a row to "
        "open its sentence with the leading word hidden."
    )


def in_word(report: HiddenWordsReport, word: str) -> str:
    """State the same for one word, or say that it has too few sentences."""
    if not report.words["word"].eq(word).any():
        return f'"{word}" has too few sentences for it: four of each sense are needed, with two other words each.'
    own, n = report.of(word), report.words.loc[report.words["word"] == word, "row"].nunique()
    alone, hidden, every = (own.loc[what] for what in ("the word alone", "the word hidden", "as it is"))
    return (
        f'"{word}", {n} sentences: its most telling word alone tells the sense in {_hits(alone)} of 100 ({_span(alone)}), the '
        f"rest without it in {_hits(hidden)} ({_span(hidden)}), all words in {_hits(every)}."
    )


def not_from_two(report: HiddenWordsReport) -> str:
    """State the limit of two sentences: how often the main view's rule names a word for pairs of one sense, and of two senses."""
    lines = report.between.iloc[:-2]
    lines = (lines if len(lines) == 2 else report.between.iloc[-2:]).set_index("senses")
    one, two = lines.loc["one"], lines.loc["two"]
    often = [f"in {numbers.share(each['named'])} of pairs ({_span(each, 'named')})" for each in (one, two)]
    if two["low"] > one["high"]:
        return (
            f"Between two sentences of different senses the main view's rule names a word more often, {often[1]}, than "
            f"between two of one sense, {often[0]}; a single pair can't tell which of the two it is."
        )
    return (
        f"Two sentences can't tell this: asked between two of one sense, the main view's rule names a word {often[0]}, between "
        f"two of different senses {often[1]}, no more often. So a word named between two sentences is no evidence about the "
        "sense."
    )


def on_trial(report: HiddenWordsReport) -> str:
    """State how often attention names the most telling word, against luck, and how often other methods name it."""
    ways, luck = report.agreement.set_index("way").dropna(subset="agreement"), report.luck
    asked = ways[ways.index.isin(ATTENTION)].sort_values("agreement", ascending=False)
    n = report.words.groupby(["word", "row"]).ngroups
    parts = [
        f"Over {numbers.count(n)} sentences: a word drawn at random is the most telling one in {_hits(luck)} of 100."
    ]
    if len(asked):
        best = asked.iloc[0]
        others = [f"{way} {_hits(line)}" for way, line in asked.iloc[1:].iterrows()]
        beside = f"; {', '.join(others)}" if others else ""
        parts.append(
            f"Of what attention gives, {best.name} names it most often, in {_hits(best)} ({_span(best, 'agreement')}{beside})."
        )
        if best["low"] <= luck:
            parts.append("That is no better than luck.")
        elif best["agreement"] < GUESS:
            parts.append("So a large weight is a hint, and more often than not the word that matters is another one.")
    if "gradient" in ways.index:
        parts.append(f"The gradient, which is told the senses, names it in {_hits(ways.loc['gradient'])}.")
    checks = [f"{way} {_hits(ways.loc[way])}" for way in report.agreement["way"].iloc[-CHECKS:] if way in ways.index]
    if checks:
        parts.append(
            f"Two other ways to take a word away, told the senses too, name the same one: {', '.join(checks)}."
        )
    return " ".join([*parts, report.reason]).rstrip()


def in_sentence(words: Sequence[Ranked]) -> str:
    """Name the word that the sense comes from in one sentence. words: from `ranked`; empty if there is no way."""
    if not words:
        return "there is no way between the senses"
    said, first = source(words, " of the way"), numbers.share(words[0].share)
    return f"it comes {said}" + (f", {first} of the way" if first not in said else "")


def _hits(line: pd.Series | float) -> str:
    """Write an accuracy or an agreement (0 to 1) as a number in 100 sentences."""
    if isinstance(line, pd.Series):
        line = line["accuracy"] if "accuracy" in line else line["agreement"]
    return numbers.decimal(100 * line, 0)


def _span(line: pd.Series, of: str = "accuracy") -> str:
    """Write a 95 % interval, or say that there is none."""
    if line["low"] != line["low"]:
        return "no interval: one word"
    write = numbers.share if of == "named" else _hits
    return f"95 % interval {numbers.span(line['low'], line['high'], write)}"
