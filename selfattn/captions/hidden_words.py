"""Captions of hidden words: which word a word's meaning comes from in two sentences, and the limits of that answer.

The computed numbers choose the wording. The shares come from `analysis.hiding.hidden_pair`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.gradients import SAME
from selfattn.analysis.hiding import NO_WAY, HeadsOfWord, HiddenPair
from selfattn.senses.hiding import ALL, CLEAR, NAMED, HiddenWordsReport
from selfattn.words import Word

MOSTLY = 0.33  # the smallest share that is called "mostly"
MOST = 3  # most words to name together
SHARE_HELP = (
    "How far the word's vector after the last layer moves when one other word is hidden from it, in % of a way: 100 % is the "
    "whole way, minus is away from its end. Between the senses, the way leads from the mean of its own sense in labelled "
    "sentences to that of its other sense; between the sentences, from the vector in one sentence to that in the other. Only "
    "what the word itself reads is hidden."
)
THESE_TWO = "This is about these two sentences."
NOT_TESTED = "Not tested on this encoder yet."
ONE_PAIR = "Whether that is the sense, one pair can't tell"
NO_CONTROL = "There is no sentence to compare with: add one in which the word means what it means in A."


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


def answer(pair: HiddenPair) -> list[str]:
    """Name the words that the meaning comes from in A and in B, and state how far hiding each, and the next one, moves the word.

    If the word has no way to move, say why. Return [] if no word was hidden (see `shown_only`).
    """
    others = any(not word.is_punctuation for words in pair.words for word in words)
    if others and (gone := _no_way(pair)):
        return [gone]
    sides = _sides(pair)
    if any(not side and any(not word.is_punctuation for word in words) for side, words in zip(sides, pair.words)):
        return []
    places, it_comes, number = [], "it comes ", False
    for at, side in enumerate(sides):
        if not side:
            places.append(f"n {'AB'[at]} there is no other word to hide")
            continue
        places.append(f"n {'AB'[at]} {it_comes}{source(side, '' if number else _unit(pair, at))}")
        it_comes, number = "", number or side[0].share < NAMED  # only the first number has the unit
    lone = "" if all(sides) else " A longer sentence has more words to hide."
    return [f"I{'; i'.join(places)}.{lone}", *_moves(pair, sides)]


def _moves(pair: HiddenPair, sides: Sequence[Sequence[Ranked]]) -> list[str]:
    """State in one sentence how far hiding each named word, and the next one, moves the word."""
    word, parts = pair.placed[0].word.text, []
    named = [at for at, side in enumerate(sides) if side and side[0].share >= NAMED]
    for at in named:
        first, beside = sides[at][0], sides[at][1:2]
        if not parts:
            where = "" if len(named) > 1 else f" in {'AB'[at]}"
            step = f'Hide "{first.text}" from "{word}"{where}, and "{word}" moves {numbers.percent(first.share)}{_unit(pair, at)}'
            says = "next: "
        else:
            step, says = f'hide "{first.text}", {numbers.percent(first.share)}', ""
        parts.append(step + "".join(f' ({says}"{each.text}", {numbers.percent(each.share)})' for each in beside))
    return [f"{'; '.join(parts)}."] if parts else []


def taken_for(pair: HiddenPair) -> str:
    """Name the senses that the sentences are taken for. Return "" between the sentences, and for one sense: the notes say it."""
    if pair.senses is None or pair.senses[0] == pair.senses[1]:
        return ""
    return f"A is taken for {pair.senses[0]}, B for {pair.senses[1]}."


def notes(pair: HiddenPair) -> tuple[str, ...]:
    """The pair's notes, without the one that `answer` states."""
    return tuple(note for note in pair.notes if note != NO_WAY)


def limit(
    pair: HiddenPair,
    over_many: HiddenWordsReport | None = None,
    *,
    labelled: bool = True,
    between_senses: HiddenPair | None = None,
) -> str:
    """State the limit of the answer; "" if there is no answer.

    over_many: this encoder's `senses.hidden_words`, None if nobody has computed it. labelled: True if the word has labelled
    sentences. between_senses: the same sentences with shares between the senses, if those of `pair` are between the sentences.
    """
    if not any(_sides(pair)):
        return ""
    if pair.senses is not None:
        return f"{THESE_TWO} {NOT_TESTED if over_many is None else how_often(over_many)}"
    if not labelled:
        return f'{THESE_TWO} {ONE_PAIR}. Label sentences of "{pair.placed[0].word.text}" to see whether it holds.'
    if between_senses is None or between_senses.senses is None:
        return f"{THESE_TWO} {ONE_PAIR}."
    beside = []
    for at, top in enumerate(pair.top):
        if top is not None:
            share = float(between_senses.share[at][top])
            beside.append(f'"{pair.words[at][top].label}" {numbers.percent(share)}')
    return f"{THESE_TWO} {ONE_PAIR}: between the senses, {', '.join(beside)}."


def how_often(report: HiddenWordsReport) -> str:
    """State how often one word is enough. Guessing gives 50 %: the choice is the right sense or the mean of the others."""
    own = report.accuracy[report.accuracy["word"] == ALL].set_index("what")["accuracy"]
    alone, every = (numbers.percent(own[what]) for what in ("the word alone", "as it is"))
    words = report.words["word"].unique()  # faster than a set, which would take most of this function's time
    n = report.words.groupby(["word", "row"]).ngroups
    which = f'"{words[0]}"' if len(words) == 1 else f"{len(words)} words"
    return (
        f"Tested on {which}, {numbers.count(n)} sentences: seeing only its most telling word, the encoder picks the right "
        f"sense in {alone} of them (seeing all words {every}, guessing 50 %)."
    )


def in_corpus(sources: pd.DataFrame) -> str:
    """Name the words that one word takes its meaning from in a corpus. sources: its rows of `Scan.sources`, at least one."""
    first, n = sources.iloc[0], round(sources["n"].iloc[0] / sources["share"].iloc[0])
    beside = [f'"{row.source}" in {numbers.count(row.n)}' for row in sources[1:MOST].itertuples()]
    return (
        f'Of {numbers.count(n)} times "{first["word"]}", hiding "{first["source"]}" moves it farthest in '
        f"{', '.join([numbers.count(first['n']), *beside])}; then it moves {numbers.decimal(first['move'], 3)} on average (1 − "
        "cosine, which has no direction: it is about the vector, not the sense)."
    )


def compared(pair: HiddenPair) -> str:
    """State the cosine of the word's two vectors, unchanged, without the leading words, and without others; and the control's."""
    text = f'As they are, the two "{pair.placed[0].word.text}" have cosine {numbers.cosine(float(pair.cosine[0, 0]))}'
    hidden = [f'"{words[at].label}"' for words, at in zip(pair.words, pair.top) if at is not None]
    if hidden:
        text += f"; with {' and '.join(hidden)} hidden {numbers.cosine(pair.both_hidden)}"
        if (others := pair.other_words) == others:
            text += f", with any two other words at most {numbers.cosine(others)}"
    if pair.control_cosine != pair.control_cosine:
        return f"{text}. {NO_CONTROL}"
    text += f"; A and the control {numbers.cosine(pair.control_cosine)}"
    if pair.control_hidden == pair.control_hidden:
        text += f", with their own leading words hidden {numbers.cosine(pair.control_hidden)}"
    return f"{text}."


def beside_its_sense(pair: HiddenPair, sense: str, cosines: Tensor) -> str:
    """Compare A's word with labelled sentences of its sense, and count those as far as B. cosines: (n,), of `within_sense`."""
    far = int((cosines <= pair.cosine[0, 0]).sum())
    as_far = f"{far} of them no nearer to A than B is" if far else "each nearer to A than B is"
    span = numbers.span(float(cosines.min()), float(cosines.max()), numbers.cosine)
    return (
        f'"{pair.placed[0].word.text}" in A and in {len(cosines)} labelled sentences of its sense ({sense}): cosine '
        f"{numbers.cosine(float(cosines.mean()))} on average, {span}; {as_far}."
    )


def through(heads: HeadsOfWord, pair: HiddenPair) -> str:
    """State a word's share when hidden in its leading heads only; "" if that is under a tenth of the way, or unknown."""
    if heads.together is None or not heads.together >= NAMED:
        return ""
    whole, together = numbers.percent(float(pair.share[heads.side][heads.at])), " together" * (len(heads.leading) > 1)
    names = _listed(list(map(str, heads.leading)))
    return f"Hidden in {names}{together}: {numbers.percent(heads.together)}; in all heads: {whole}."


def shown_only(name: str, reason: str, word: str) -> str:
    """Explain that no word can be hidden in this encoder: the reason, what still works, and the remedy."""
    return (
        f'In {name} no word can be hidden from "{word}" ({reason.rstrip(".")}): its weights and the curve still show; choose '
        "another encoder to see which word the meaning comes from."
    )


def _no_way(pair: HiddenPair) -> str:
    """Explain why the word has no way to move, with the remedy; "" if it has one."""
    if all(float(way.norm()) >= SAME for way in pair.ways):
        return ""
    a, b = (placed.sentence for placed in pair.placed)
    if (a.text, a.pair) == (b.text, b.pair) and pair.placed[0].positions == pair.placed[1].positions:
        return "A and B are the same sentence: change one of them, and the word has a way to move."
    word = pair.placed[0].word.text
    return (
        f'The two "{word}" vectors are the same, so there is no way from one to the other: change more in one sentence.'
    )


def _sides(pair: HiddenPair) -> list[list[Ranked]]:
    return [ranked(words, share) for words, share in zip(pair.words, pair.share)]


def _unit(pair: HiddenPair, at: int) -> str:
    """The unit of a share in A (0) or B (1)."""
    own = pair.placed[0].word.text
    return f' of the way to {"BA"[at]}\'s "{own}"' if pair.senses is None else " of the way to its other sense"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
