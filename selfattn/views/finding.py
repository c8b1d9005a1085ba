"""Write the main view's finding and the texts around the figure.

A word's share says how far hiding the word moves the chosen word's vector (1: as far as the other sense or sentence).
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torch import Tensor

from selfattn import numbers
from selfattn.analysis.gradients import SAME
from selfattn.analysis.hiding import NO_SHARES, NO_WAY, ONE_SENSE, HeadsOfWord, HiddenPair
from selfattn.analysis.sense_means import SenseMeans
from selfattn.encoders.encoder import Encoder
from selfattn.senses import HiddenWordsReport
from selfattn.senses.noise import ROWS
from selfattn.senses.telling_words import ALL, CLEAR, GUESS, NAMED
from selfattn.views.way_data import Line, chance

SENSES_PAGE = "senses"  # address
VISIBLE = 0.005  # a smaller share is printed as 0 %
NBSP = "\u00a0"


def leading_words(pair: HiddenPair) -> list[tuple[int, int]]:
    """Return (side, index in `pair.words[side]`) of the word with the largest `pair.share` in each sentence.

    side: 0 for A, 1 for B. The larger share comes first.
    """
    at = [(side, top) for side, top in enumerate(pair.top) if top is not None]
    return sorted(at, key=lambda one: -float(pair.share[one[0]][one[1]]))


def named_words(pair: HiddenPair, level: float) -> tuple[list[int], list[int]]:
    """Return the indices of the words that the finding may name, in A and in B.

    If the pair has senses: the words whose `pair.share` is at least the noise level `level` (NaN: no word).
    Else: the word with the largest share, if this share is at least 0.1, and at least 1.5 times the second largest share.
    """
    found = []
    for words, shares, top in zip(pair.words, pair.share, pair.top):
        may = [at for at, word in enumerate(words) if not word.is_punctuation and shares[at].isfinite()]
        if pair.senses is not None:
            reach = shares >= level  # in float32, as the shares are
            found.append([at for at in may if reach[at]])
            continue
        next_one = max((float(shares[at]) for at in may if at != top), default=-math.inf)
        clear = top is not None and shares[top] >= NAMED and float(shares[top]) >= CLEAR * next_one
        found.append([top] if clear and top is not None else [])
    return found[0], found[1]


def finding(pair: HiddenPair, named: Sequence[Sequence[int]], level: float) -> str:
    """Return the figure's main result as a sentence, or why there is none. named: the result of `named_words`."""
    word = quoted_word(pair)
    if all(word.is_punctuation for words in pair.words for word in words):
        return f"There is no other word to hide from {word}: write a longer sentence."
    if reason := no_way(pair):
        return reason
    if not any(map(known_shares, pair.share)):
        return f"No word can be hidden from {word} in this encoder: choose another encoder to see where its meaning comes from."
    if pair.nearest is not None and _alike(pair):
        return f"The encoder takes both for {pair.nearest[0]}: it does not tell these two apart."
    found = _answer(pair, named, level)
    if found is None and pair.senses is None:
        return f"No single word moves {word} much more than the others do."
    if found is None and not math.isnan(level):
        return _none(pair, level)
    if found is None:
        return f"No single word moves {word} toward its other sense."
    (side, at), share = found, float(pair.share[found[0]][found[1]])
    if pair.senses and pair.senses[0] != pair.senses[1]:
        far = f"toward {pair.senses[1 - side]}, {percent(share)} of the distance between the senses"
    elif pair.senses:
        far = f"toward its other senses, {percent(share)} of the distance"
    else:
        far = f"toward the other sentence's {word}, {percent(share)} of the distance"
    hidden = f'"{pair.words[side][at].label}"'
    if _crosses(pair, side, at, level):
        assert pair.senses is not None
        return f"Hide {hidden}, and {word} ends nearer to {pair.senses[1 - side]} than to {pair.senses[side]}."
    if pair.senses and math.isnan(level):  # the move could be chance
        return f"Hiding {hidden} moves {word} more than any other word does: {far}."
    return f"Hide {hidden}, and {word} moves {far}."


def _crosses(pair: HiddenPair, side: int, at: int, level: float) -> bool:
    """Return True if hiding word `at` moves the chosen word from its own sense's half of the line to the other half."""
    apart = pair.senses is not None and pair.senses[0] != pair.senses[1]
    place, share = pair.places[side], float(pair.share[side][at])
    return apart and not math.isnan(level) and place <= 0.5 < place + share


def _none(pair: HiddenPair, level: float) -> str:
    """Return the finding to show when every hidden word's effect could be chance."""
    word, leading = quoted_word(pair), leading_words(pair)
    share = max((float(pair.share[side][at]) for side, at in leading), default=0.0)
    if share < VISIBLE:
        return f"No single word moves {word} toward its other sense."
    return f"No single word moves {word} far toward its other sense: {_under(share, level)} at most, which could be chance."


def _answer(pair: HiddenPair, named: Sequence[Sequence[int]], level: float) -> tuple[int, int] | None:
    """Return (side, index) of the word that the finding names; None if it names none."""
    if _alike(pair):
        return None
    leading = leading_words(pair)
    if pair.senses is not None and math.isnan(level):
        return next((at for at in leading if float(pair.share[at[0]][at[1]]) >= VISIBLE), None)
    return next((at for at in leading if at[1] in named[at[0]]), None)


def below(
    encoder: Encoder,
    pair: HiddenPair,
    named: Sequence[Sequence[int]],
    level: float,
    over_many: HiddenWordsReport | None,
) -> list[str]:
    """Return the lines of text below the finding."""
    found = _answer(pair, named, level)
    if not leading_words(pair):
        return [f"Encoder {_name(encoder)}.", *_notes(pair)]
    if pair.senses is None:
        return _notes(pair)
    first = "" if _alike(pair) else "Its meaning may come from several words together."
    if found:
        first = _then(pair, *found, level)
    lines = [*filter(None, [first]), *_notes(pair)]
    if over_many is None and found:
        lines.append("This could be chance: the noise level of this encoder is not measured yet.")
    elif over_many is not None and math.isnan(level):
        n = over_many.sentences
        lines.append(
            f"This could be chance: a noise level needs {ROWS} labelled sentences; there are {numbers.count(n)}."
            if n < ROWS
            else "This could be chance: in labelled sentences, moves of any length too often go away from the other sense."
        )
    return lines


def hint(encoder: Encoder, pair: HiddenPair) -> str:
    """Return the text that says what a click on a word does, and what a ribbon's width means."""
    if not leading_words(pair):
        return ""
    word = quoted_word(pair)
    return (
        f"Click a word to hide it: {word} then can't attend to it in any head of {_name(encoder)}. A ribbon's width isn't "
        f"attention: it shows how far {word} moves without that word."
    )


def _alike(pair: HiddenPair) -> bool:
    """Return True if the chosen word is nearest to the same sense in A and in B."""
    return pair.nearest is not None and pair.nearest[0] == pair.nearest[1]


def _then(pair: HiddenPair, side: int, at: int, level: float) -> str:
    assert pair.senses is not None
    place, share = pair.places[side], float(pair.share[side][at])
    own, other = pair.senses[side], pair.senses[1 - side]
    if _crosses(pair, side, at, level):
        return f"It moves {percent(share)} of the distance between the senses."
    if place + share > 0.5:
        return f"It ends nearer to {'other senses' if own == other else other}."
    start = ", since it starts far on that side" if share > 0.5 else ""
    return f"Even then it stays nearer to {own}{start}."


def beyond(encoder: Encoder, pair: HiddenPair, over_many: HiddenWordsReport | None) -> dict[str, Any]:
    """Return the results over many sentences, or a link to the page that computes them."""
    if encoder.hide_reason:
        return {"text": ""}
    if over_many is None:
        return {
            "text": "Results over many sentences are not measured for this encoder yet.",
            "link": {"text": "Measure them", "href": SENSES_PAGE},
        }
    return _in_general(over_many, pair.senses is not None)


@lru_cache(8)  # cached reports
def _in_general(over_many: HiddenWordsReport, senses: bool) -> dict[str, Any]:
    n = numbers.count(over_many.sentences)
    if not senses:
        rows = over_many.between[over_many.between["word"] == ALL].set_index("senses")["named"]
        one, two = (numbers.decimal(100 * rows[senses], 0) for senses in ("one", "two"))
        return {
            "text": "The result above compares these two sentences, not two senses. In such comparisons, this page names a "
            f"word in {one} of 100 pairs with the same sense, and in {two} of 100 pairs with different senses.",
            "link": {"text": f"All {n} sentences", "href": SENSES_PAGE},
        }
    own, words = over_many.of()["accuracy"], numbers.count(over_many.words["word"].nunique())
    shown = (
        ("hiding nothing", "as it is"),
        ("hiding a random word", "any other hidden"),
        ("hiding the most influential word", "the word hidden"),
    )
    bars = [{"label": label, "value": round(float(own[what]), 4)} for label, what in shown]
    every, random, most = (math.floor(100 * bar["value"] + 0.5) for bar in bars)
    return {
        "text": f"Over many sentences, hiding the most influential word costs {_lost(every - most)} the right sense; hiding a "
        f"random word costs {_lost(every - random)}.",
        "bars": bars,
        "tick": {"label": "by guessing", "value": GUESS},
        "link": {"text": f"All {n} sentences with {words} ambiguous words", "href": SENSES_PAGE},
    }


def _lost(count: int) -> str:
    return f"{count} of 100" if count > 0 else "none"


def _notes(pair: HiddenPair) -> list[str]:
    """Return the pair's notes that the view doesn't show elsewhere."""
    said_elsewhere = [NO_WAY]
    if pair.nearest is not None and _alike(pair):
        said_elsewhere.append(f"{ONE_SENSE}{pair.nearest[0]}.")
    return [note for note in pair.notes if note not in said_elsewhere and not note.startswith(NO_SHARES)]


def why_no_heads(encoder: Encoder, pair: HiddenPair) -> str:
    """Return why the effects of heads are unknown."""
    own = next((note.removeprefix(NO_SHARES) for note in pair.notes if note.startswith(NO_SHARES)), "")
    return "no word can be hidden in this encoder." if encoder.hide_reason else own or "no word was hidden."


def method(encoder: Encoder, pair: HiddenPair, means: SenseMeans | None, over_many: HiddenWordsReport | None) -> str:
    """Describe how the pair was measured, in Markdown."""
    word = quoted_word(pair)
    parts = [
        f"The encoder runs again with an attention mask: {word} can't attend to the hidden word in any head. The other words "
        f"still can, and {word} can attend to them."
    ]
    if pair.senses is not None and means is not None:
        counts = " and ".join(f"{n} labelled sentences of {sense}" for sense, n in zip(means.senses, means.counts))
        parts.append(
            f"100{NBSP}% is the distance from the average vector of {word} in one sense to its average vector in the other "
            f"senses ({counts}). Each dot is a labelled sentence, placed with averages that leave this sentence out. That "
            "shifts the dots toward the line's middle."
        )
        if len(means.senses) > 2:
            parts.append("The word has more than two senses. The line runs between the senses of A and B.")
        parts += _noise(pair, over_many)
        if over_many is not None:
            parts.append(
                "In the results for many sentences, the most influential word is the one with the widest ribbon: hiding it moves "
                "the chosen word most. It is picked with one half of the labelled sentences, and tested with the other half. The "
                "random word is any other word of the sentence."
            )
    else:
        parts.append(
            f"100{NBSP}% is the distance between the vector of {word} in A and its vector in B. Hiding almost any word shortens "
            "this distance, so a move describes these two sentences and is no evidence about a sense. The finding names a hidden "
            f"word only if the chosen word moves at least {percent(NAMED)}, and at least {CLEAR} times as far as for any other "
            "hidden word."
        )
    if encoder.one_head_reason and not encoder.hide_reason:
        parts.append(f"The effects of heads are estimates by gradient: {encoder.one_head_reason}")
    parts.append(
        "The map of heads shows the effects of hiding a word in one head at a time. The effects of single heads do not add up "
        "to the effect of all heads. An attention weight says what a head reads. An effect says what the reading changes."
    )
    return "\n\n".join(parts)


def _noise(pair: HiddenPair, over_many: HiddenWordsReport | None) -> list[str]:
    if over_many is None or math.isnan(over_many.level.level):
        return []
    level, low, high = over_many.level
    said = (
        f"Noise level {percent(level)} (95{NBSP}% interval {percent(low)} to {percent(high)}), from "
        f"{numbers.count(over_many.sentences)} labelled sentences: of the moves this long or longer, at least eight go toward "
        "the other sense for each one that goes away from it. The finding names only words that move the chosen word that far "
        "or further."
    )
    for side, at in leading_words(pair):
        share = float(pair.share[side][at])
        if often := chance(over_many, share):
            said += f' "{pair.words[side][at].label}", {percent(share)}: {often}.'
    return [said]


def alt(pair: HiddenPair, line: Line | None, heads: Sequence[HeadsOfWord]) -> str:
    """Return the figure's text for screen readers."""
    parts = [f"{name}: {placed.sentence.text}" for name, placed in zip("AB", pair.placed)]
    for side, at in leading_words(pair):
        name, hidden, moved = "AB"[side], pair.words[side][at].label, float(pair.share[side][at])
        said = f'In {name}, hiding "{hidden}" moves {quoted_word(pair)} by {percent(moved)} of the line'
        if line is not None:
            here = line.at[side]
            there = here + line.toward[side] * moved
            said += f", from {percent(here)} to {percent(there)} of the line"
        parts.append(f"{said}.")
    if line is not None:
        parts.append(f"The line runs from {line.labels[0]} (0{NBSP}%) to {line.labels[1]} (100{NBSP}%).")
    if heads and heads[0].exact:
        share = heads[0].share.nan_to_num(nan=-math.inf)
        layer, head = divmod(int(share.argmax()), share.shape[1])
        own = percent(float(share.max()))
        parts.append(
            f'Hiding "{heads[0].word.label}" only in head {head} of layer {layer} moves {quoted_word(pair)} by {own} of the line.'
        )
    return " ".join(parts)


def no_way(pair: HiddenPair) -> str:
    """Return why the chosen word's two vectors can't be compared; "" if they can."""
    if all(float(way.norm()) >= SAME for way in pair.ways):
        return ""
    a, b = pair.placed
    if a.key == b.key:
        return "A and B are the same sentence: change one of them."
    return f"{quoted_word(pair)} has the same vector in both sentences: change more in one of them."


def _name(encoder: Encoder) -> str:
    return encoder.title.rsplit("/", 1)[-1]


def quoted_word(pair: HiddenPair) -> str:
    """Return the chosen word in quotation marks."""
    return f'"{pair.placed[0].word.text}"'


def known_shares(share: Tensor) -> list[int]:
    """Return the indices of the words whose value in `share` is finite (the measured effects)."""
    return share.isfinite().nonzero().flatten().tolist()


def _under(share: float, level: float) -> str:
    """Format a share, with a decimal place if it would otherwise look equal to the noise level."""
    return f"{numbers.decimal(100 * share, 1)}{NBSP}%" if percent(share) == percent(level) else percent(share)


def percent(value: float) -> str:
    """Format a number as a percentage with a no-break space."""
    return numbers.percent(value).replace(" ", NBSP)
