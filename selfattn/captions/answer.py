"""The main view's sentences: where a word gets its meaning, which head brings most of it, and what one pair can't say.

Every number is computed, and the numbers choose the branch. `analysis.swapping.swap_pair` has the shares.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from selfattn import numbers
from selfattn.encoders.capture import Head

SAME = 1e-4  # cosines nearer to 1 than this are called the same
STANDS_OUT = 0.1  # a share under this is no head's finding
OVER_CONTROL = 2  # nor is one under this many times its control's
PARTED = 0.03  # vectors nearer than this (1 - cosine) have hardly parted, and a part of nothing says nothing
NEAR = 0.035  # a share this near to a plain fraction is called by its name
FRACTIONS = {
    0.1: "a tenth", 0.2: "a fifth", 0.25: "a quarter", 1 / 3: "a third", 0.5: "half", 2 / 3: "two thirds",
    0.75: "three quarters", 0.9: "nine tenths",
}  # fmt: skip
COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SPECIAL, ITSELF = "special tokens", "the word itself"  # not told where another word gets less
NO_CONTROL = "No control sentence yet, so we can't say whether this is about the sense."


@dataclass(frozen=True)
class Swap:
    """What putting a head's output (or every head's) from the other sentence in its place does to the word."""

    share: float  # of the way to the other sentence's word, the mean of both directions; NaN: there is no way
    control: float | None = None  # the same from another sentence of A's sense; None: there is no such sentence

    @property
    def stands_out(self) -> bool:
        """Whether it is large enough, and clearly larger than its control, to speak of one head."""
        return self.share >= STANDS_OUT and (self.control is None or self.share >= OVER_CONTROL * self.control)


class Receiver(NamedTuple):
    """The word that gets most in a sentence besides special tokens and the word itself; that itself where there is no other."""

    sentence: str
    text: str
    weight: float
    itself: bool
    aside: frozenset[str] = frozenset()  # what gets more and isn't told


def receivers(strip: Sequence[Mapping]) -> list[Receiver]:
    """Each sentence's, from tidy_tables.strip_rows."""
    sentences: dict[str, list[Mapping]] = {}
    for row in strip:
        sentences.setdefault(row["sentence"], []).append(row)
    found = []
    for sentence, rows in sentences.items():
        words = [row for row in rows if not row["special"]]
        # Any other word stands before the word itself, and of two words the one with more weight.
        top = max(words, key=lambda row: (not row["chosen"], row["weight"]))
        more = [row for row in rows if row["weight"] > top["weight"]]
        aside = {SPECIAL if row["special"] else ITSELF for row in more}
        found.append(Receiver(sentence, top["text"], top["weight"], top["chosen"], frozenset(aside)))
    return found


@dataclass(frozen=True)
class Leader:
    """The leading head over many labelled sentences of a word."""

    head: Head
    share: float  # over those sentences
    here: float  # in the pair on the screen


def paths_title(curve: Sequence[float]) -> str:
    """The heading over the curve."""
    return "One vector goes in; two come out." if 1 - curve[1] <= SAME else "One word goes in; two vectors come out."


def paths(
    curve: Sequence[float],
    word: str,
    control: Sequence[float] | None = None,
    sense: str = "",
    same_position: bool = False,
) -> str:
    """Where the word's two vectors begin and end, and how much of that a same-sense pair does too.

    curve, control: cosines of the bare tokens, as layer 0 reads them, after each layer (measures.drift). sense: A's, if known.
    """
    before, last = curve[1], curve[-1]
    depth = len(curve) - 2
    layers = "one layer" if depth == 1 else f"{COUNTS[depth - 1] if depth <= len(COUNTS) else depth} layers"
    if 1 - before <= SAME:
        start = f'Before attention, the two "{word}" vectors are the same (cosine {numbers.cosine(1.0)}).'
    else:
        why = "the words are spelled differently"
        if 1 - curve[0] <= SAME:
            why = "this encoder's embeddings mix in the neighbours" if same_position else "their positions differ"
        start = f'Before attention, the two "{word}" vectors have cosine {numbers.cosine(before)}, because {why}.'
    text = f"{start} After {layers} their cosine is {numbers.cosine(last)}."
    if 1 - last < PARTED:
        return f"{text} They hardly part: both sentences may use one sense."
    if control is None:
        return text
    of_sense = f"Two sentences of one sense ({sense})" if sense else "Two sentences of one sense (A and the control)"
    text += f" {of_sense} end at {numbers.cosine(control[-1])}"
    part = (1 - control[-1]) / (1 - last)
    if part >= 1:
        further = "as far apart" if numbers.cosine(control[-1]) == numbers.cosine(last) else "further apart still"
        return f"{text}, {further}: so this difference need not be about the sense."
    return f"{text}: about {_name_of(part) or numbers.share(part)} of the change comes with a new sentence, the sense unchanged."


def head_title(swap: Swap, control_as_far: bool = False) -> str:
    """The heading over the leading head. control_as_far: whether two sentences of one sense part as far as A and B."""
    if not swap.stands_out:
        return "No single head stands out in this pair."
    name = _name_of(swap.share)
    claim = f"One head makes {name or numbers.share(swap.share)} of the difference"
    return f"{claim}, but one sense alone differs as much." if control_as_far else f"{claim}."


def head_effect(
    head: Head, swap: Swap, word: str, receivers: Sequence[Receiver], leading: Head, best: Swap, sense: str = ""
) -> str:
    """What the shown head attends to at the word, how far its swap moves the word, and whether that is a finding.

    receivers: A's and B's. leading, best: the head whose share is the largest in this pair, and its swap.
    """
    name = f"Head {head.head} of layer {head.layer}"
    named = ["itself" if row.itself else f'"{row.text}"' for row in receivers]
    gives = " and ".join(
        f"{numbers.weight(row.weight)} {'of its attention ' if i == 0 else ''}to {named[i]} in {row.sentence}"
        for i, row in enumerate(receivers)
    )
    if aside := frozenset().union(*(row.aside for row in receivers)):
        gives += f" ({' and '.join(sorted(aside))} aside)"
    if math.isnan(swap.share):
        return f'At "{word}", {name[0].lower()}{name[1:]} gives {gives}. The two vectors are the same: no swap can move one.'
    most = f"Head {leading.head} of layer {leading.layer}"
    parts = [f"{name} is shown."] if head != leading else []
    if not best.stands_out:
        why = "and that is no more than a tenth of the way"
        if best.share >= STANDS_OUT:
            why = "but a sentence of A's own sense moves it more than half as far"
        parts.append(f"{most} moves it furthest, {why}.")
    elif head == leading:
        parts.append(f"{name} matters most here.")
    else:
        parts.append(f"{most} matters most here ({numbers.share(best.share)}).")
    parts.append(f'At "{word}" {"it" if head == leading else "the shown one"} gives {gives}.')
    parts.append(
        f'With this head\'s output swapped for that in the other sentence, "{word}" {_moves(swap.share, word)}.'
    )
    parts.append(_control_of(swap, sense))
    return " ".join(parts)


def map_of_heads(frame: pd.DataFrame, measure: str, word: str) -> str:
    """The map's largest share. frame: tidy_tables.heads_frame with `measure`, "share" or "control_share" (from the control)."""
    known = frame.dropna(subset=measure)
    if known.empty:
        return "The two vectors are the same: no head can move one."
    top = known.loc[known[measure].idxmax()]
    source = "the other sentence" if measure == "share" else "the control"
    return (
        f'With its output from {source}, {top["name"]} moves "{word}" furthest: {numbers.share(top[measure])} of the way. '
        "Shares don't add up."
    )


def all_swapped(swap: Swap, cosine: float, word: str, same_token: bool, same_position: bool, sense: str = "") -> str:
    """Every head's output at the word from the other sentence: whether the word arrives, and what the rest is.

    cosine: of A's word after the swap and B's. same_token, same_position: whether spelling and place are the same.
    """
    start = f'With every head\'s output at "{word}" taken from B, A\'s "{word}"'
    if math.isnan(swap.share):
        return f"{start} stays where it is: the two vectors are the same."
    if 1 - cosine <= SAME:
        text = f'{start} is B\'s "{word}" (cosine {numbers.cosine(cosine)}). Attention brought in the whole difference.'
    else:
        why = "stays because its pieces all get the same mean output" if same_token else "is its spelling"
        if not same_position:
            why = "is its position"
        text = (
            f"{start} moves {numbers.share(swap.share)} of the way to B's (cosine {numbers.cosine(cosine)}). "
            f"The rest, {numbers.share(abs(1 - swap.share))}, {why}."
        )
    return f"{text} {_control_of(swap, sense)}"


def limit(word: str, shown: Head, n: int = 0, leader: Leader | None = None) -> str:
    """What one pair can't say. n: labelled sentences of the word; leader: their leading head, None where nobody has asked."""
    if not n:
        return f'One pair is a hint: add labelled sentences of "{word}" to see whether it holds.'
    labelled = f'{n:,} labelled sentences of "{word}"'
    if leader is None:
        return f"One pair is a hint: {labelled} show whether it holds."
    if leader.head == shown:
        return f"One pair is a hint, but over {labelled} the same head leads ({numbers.share(leader.share)})."
    return (
        f"One pair is a hint: over {labelled}, head {leader.head.head} of layer {leader.head.layer} leads "
        f"({numbers.share(leader.share)}; in this pair {numbers.share(leader.here)})."
    )


def nearest(stages: Mapping[str, pd.DataFrame], n: int = 3) -> str:
    """The senses of the n sentences nearest to the word's vector, stage by stage, and how many more are as near.

    stages: what it is called ("before attention") and senses.nearest_sentences.ranked_sentences.
    """
    parts = []
    for stage, ranked in stages.items():
        first = ranked.head(n)
        senses = first["sense"].value_counts(sort=False)
        which = " and ".join(f"{count} of {sense}" for sense, count in senses.items())
        as_near = int((first["cosine"].iloc[-1] - ranked["cosine"].iloc[n:] <= SAME).sum())
        more = f" ({as_near} more {'is' if as_near == 1 else 'are'} as near)" if as_near else ""
        parts.append(f"{stage} {f'all {COUNTS[n - 1]} of {senses.index[0]}' if len(senses) == 1 else which}{more}")
    return f"Senses of the {COUNTS[n - 1]} nearest: {'; '.join(parts)}."


def no_sentences(word: str) -> str:
    """A word of which nobody has labelled sentences."""
    return f'There are no labelled sentences of "{word}", so what its vectors mean can\'t be said in words.'


def shown_only(name: str, reason: str, word: str) -> str:
    """An encoder whose heads can't be swapped: what is missing, what still works, and which head is shown first."""
    why = (
        f"{name}'s attention is shown, not recomputed: {reason.rstrip('.')}"
        if reason
        else f"{name} can't be differentiated"
    )
    return (
        f"{why}. So no head can be swapped, removed or followed step by step here. The words, the whole head and the curve "
        f'still work. Shown first is the head in which "{word}" gives most to another word.'
    )


def no_steps(reason: str) -> str:
    """An encoder whose heads can be swapped and removed and not recomputed: what is missing, and what the rest stands on."""
    return (
        f"The steps of this head are missing: {reason} The weights are the model's own; swap and removal change what its heads "
        "hand over, which was verified when it was loaded."
    )


def _name_of(share: float) -> str:
    nearest = min(FRACTIONS, key=lambda fraction: abs(fraction - share))
    return FRACTIONS[nearest] if abs(nearest - share) <= NEAR else ""


def _moves(share: float, word: str) -> str:
    """How far a share is of the way to the other sentence's word."""
    to = f'of the way to the other "{word}"'
    percent = numbers.share(abs(share))
    if abs(share) < 0.005:
        return "stays where it is"
    if share < 0:
        return f'moves away from the other "{word}", by {percent} of the way'
    if share >= 1 - NEAR:
        return f'moves all the way to the other "{word}" ({percent})'
    name = _name_of(share)
    return f"moves {name} {to} ({percent})" if name else f"moves {percent} {to}"


def _control_of(swap: Swap, sense: str) -> str:
    if swap.control is None or math.isnan(swap.control):
        return NO_CONTROL
    own = f"A's own sense ({sense})" if sense else "A's own sense"
    return f"From another sentence of {own} it moves {numbers.share(swap.control)} of that way."
