"""Captions of an encoder's own answer: the word and the head that change it most, and that single effects don't add up."""

from collections.abc import Callable

import pandas as pd

from selfattn import numbers
from selfattn.analysis.explaining import Explained
from selfattn.senses import TargetReport

HELP = (
    "Each word is hidden from everything, as padding is: no token attends to it, positions stay, and a mean over tokens leaves "
    "it out. The colour is how far the answer moves: brown, it falls without the word, so it rests on it; teal, it rises. "
    "What is left may read as nothing that the encoder was trained on, so this says what it uses, not what it needs."
)
HEADS_HELP = (
    "Each head's output is set to zero at every position. By gradient, its first order; the heads that lead and the chosen one "
    "are run. L0 H10 is head 10 of layer 0: layers and heads count from 0. A click chooses a head."
)
Write = Callable[[float], str]


def words(found: Explained, what: str, write: Write, where: str = "") -> str:
    """State the effect of hiding the leading word, the next one, and all words at once beside the sum of single effects.

    what: the number's name, "the margin of POSITIVE". where: " in A" if there are two sentences.
    """
    if not found.order:
        return "There is no word to hide."
    named = [f'"{found.words[at].label}"' for at in found.order]
    moves = [write(float(found.effect[at])) for at in found.order]
    next_one = f"; next {named[1]}, {moves[1]}" if named[1:] else ""
    first = f"Hide {named[0]}{where}, and {what} moves by {moves[0]}{next_one}."
    if found.together != found.together:
        return f"{first} With all words hidden nothing would be left to ask."
    if len(found.words) == 1:
        return first
    return (
        f"{first} All {len(found.words)} words hidden at once: {write(found.together)}; the sum of single words: "
        f"{write(float(found.effect.sum()))}. Single words needn't add up."
    )


def heads(frame: pd.DataFrame, chosen: str, what: str, write: Write, where: str = "") -> str:
    """Name the head whose removal changes the number most, among those run, and the chosen one. frame: explained_heads_frame."""
    exact = frame[frame["how"] == "exact"]
    top, own = exact.loc[exact["effect"].abs().idxmax()], frame[frame["name"] == chosen].iloc[0]
    parts = [f"Without {top['name']}, {what} moves by {write(top['effect'])}"]
    if own["name"] != top["name"]:
        parts.append(f"without {own['name']} by {write(own['effect'])}")
    others = "" if len(exact) == len(frame) else f" {len(exact)} of them were run; the others are by gradient."
    return (
        f"{'; '.join(parts)}. Heads are removed{where}, each alone.{others} Over other sentences other heads may lead."
    )


def over_sentences(report: TargetReport, what: str, write: Write) -> str:
    """Summarise a table: the word with the largest mean effect whose interval excludes 0, all words at once, and the top head."""
    n = len(report.sentences)
    known = report.words[(report.words["low"] > 0) | (report.words["high"] < 0)]
    parts = [
        f"Over {numbers.count(n)} sentences, {what} is {numbers.decimal(report.sentences['number'].mean())} on average."
    ]
    if known.empty:
        parts.append("No word that stands in several of them moves it clearly: each interval holds 0.")
    else:
        word = known.loc[known["effect"].abs().idxmax()]
        parts.append(
            f'Hiding "{word["word"]}" ({numbers.count(word["n"])} sentences) moves it by {_mean(word, write)}.'
        )
    both = report.sentences[["together", "sum"]].dropna()  # only sentences with both: in some, nothing would be left
    if len(both):
        some = "" if len(both) == n else f" in the {numbers.count(len(both))} sentences where something is left"
        parts.append(
            f"All words hidden at once{some}: {write(both['together'].mean())}; the sum of single words: "
            f"{write(both['sum'].mean())}."
        )
    run = report.heads.dropna(subset=["effect"])
    if len(run):
        head = run.loc[run["effect"].abs().idxmax()]
        parts.append(
            f"Without L{head['layer']:.0f} H{head['head']:.0f} it moves by {_mean(head, write)}; the eight heads were chosen by "
            "these very sentences."
        )
    return " ".join(parts)


def _mean(row: pd.Series, write: Write) -> str:
    interval = f" (95 % interval {numbers.span(row['low'], row['high'], write)})" if row["low"] == row["low"] else ""
    return f"{write(row['effect'])}{interval}"
