"""Long texts: which sentences the encoder's answer rests on, beside their noise levels, and the words of the eight that lead."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from selfattn import numbers
from selfattn.analysis.hidden_sentences import DRAWS, OPENED, HiddenSentences, Sentence
from selfattn.charts.labels import right_to_left
from selfattn.charts.long_text import long_text as drawn
from selfattn.encoders.placed_word import Tokens
from selfattn.panel import Live, Panel, Tables
from selfattn.tidy_tables import sentence_words
from selfattn.views.shaded import Tint, shaded_data

QUOTED = 70  # characters of a sentence in a finding

METHOD = (
    "A sentence is hidden from everything, all its tokens at once, as padding is: no token attends to it, positions stay, and a "
    "mean over tokens leaves it out. A sentence ends after a full stop, a question or an exclamation mark before a blank and no "
    "lower-case letter, and at a line break; not after a single letter or a common short form.",
    f"Noise level of a sentence: the largest change in {DRAWS} draws of at least as many tokens, in words from anywhere in the "
    "text. A sentence that is no more than its number of words passes it once in 20. Fewer than three sentences have none.",
    f"Then each word of the {OPENED} sentences of the largest changes is hidden alone. Words of a sentence within its noise "
    "level are not named. Sentences that say the same cover for one another; single sentences and words don't add up.",
)


class Row(NamedTuple):
    """One of the texts, with its hidden sentences."""

    where: str  # " in A", " in document 1"; "": there is one text
    hidden: HiddenSentences
    whole: Tokens | None = None  # the text before its end was cut off


def long_text(what: str, write: Callable[[float], str], rows: Sequence[Row], answer: str = "") -> Panel:
    """The panel of one text or of two. what: the number that changes, in a sentence; write: a change of it; answer: itself."""
    lead = max(
        ((abs(float(hidden.effect[at])), where, hidden, at) for where, hidden, _ in rows for at in hidden.named[:1]),
        key=lambda each: each[0], default=None,
    )  # fmt: skip
    if lead is None:
        finding, word = "No sentence matters more than as many words from anywhere in the text.", ""
    else:
        _, where, hidden, at = lead
        text = hidden.sentences[at].text
        quote = text if len(text) <= QUOTED else f"{text[: QUOTED - 4]} ..."
        finding = f'Hide "{quote}"{where}, and {what} moves by {write(float(hidden.effect[at]))}.'
        word = _word(hidden, at, write)
    below = [*filter(None, (answer, word))]
    data = _data(what, write, rows, finding, below)
    frames = [hidden.frame.assign(where=where.removeprefix(" in ")) for where, hidden, _ in rows]
    return Panel(
        name="sentences",
        finding=finding,
        picture=lambda look: drawn(data, look.theme, look.width),
        alt=" ".join([finding, *below]),
        tables=Tables({"sentences": lambda: pd.concat(frames), "words": lambda: pd.concat(map(_words_frame, rows))}),
        method="\n\n".join(METHOD),
        live=Live("long_text", data),
    )


def lost(name: str, tokens: Tokens, read: Tokens, where: str) -> str:
    """A line on what is cut off a text. name: the encoder's; where: " of A"."""
    words, kept = tokens.words, len(read.ids) - _added(read)
    left = sum(word.stop <= kept for word in words)
    share = numbers.share(1 - left / len(words)).replace(" ", "\u00a0")
    return (
        f"As a sentence embedder {name} reads {len(read.ids):,} of the {len(tokens.ids):,} tokens{where}. From "
        f'"{words[left].text}" on (word {left + 1:,} of {len(words):,}) nothing is read: {share} of the words.'
    )


def _added(tokens: Tokens) -> int:
    """The special tokens at the end."""
    return len(tokens.ids) - 1 - max(at for at, segment in enumerate(tokens.segments) if segment is not None)


def _word(hidden: HiddenSentences, at: int, write: Callable[[float], str]) -> str:
    found, own = hidden.explained, {*hidden.sentences[at].words}
    order = [n for n in found.order if found.words[n] in own]
    if len(order) < 2:
        return ""
    return f'In it "{found.words[order[0]].label}" alone moves it most: {write(float(found.effect[order[0]]))}.'


def _words_frame(row: Row) -> pd.DataFrame:
    """A row a word that was hidden: sentence (its place), text, gap, effect, kind, where."""
    effects = dict(zip(row.hidden.explained.words, row.hidden.explained.effect.tolist()))
    rows = [
        (at, word, word.label, effects[word], False)
        for at, sentence in enumerate(row.hidden.sentences)
        for word in sentence.words
        if word in effects
    ]
    return sentence_words(rows, "sentence", "effect").assign(where=row.where.removeprefix(" in "))


def _data(
    what: str, write: Callable[[float], str], rows: Sequence[Row], finding: str, below: Sequence[str]
) -> dict[str, Any]:
    """By long_text.schema.json."""
    leveled = [each[~hidden.level.isnan()] for _, hidden, _ in rows for each in (hidden.effect.abs(), hidden.level)]
    largest = max((float(each.nan_to_num().max()) for each in leveled if len(each)), default=0.0)
    data = {
        "version": 1,
        "finding": finding,
        "below": [*below],
        "what": what,
        "texts": [text for row in rows for text in _texts(what, write, row, largest or 1.0)],
    }
    return {**data, "key": hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]}


def _texts(what: str, write: Callable[[float], str], row: Row, largest: float) -> list[dict[str, Any]]:
    """The text, or the query and the document."""
    frame, tokens, found = _words_frame(row), row.hidden.tokens, []
    deepest = float(frame["effect"].abs().max()) if len(frame) else 0.0
    tint = Tint("effect", write, f"change of {what} {{}}", deepest if deepest > 0 else 1.0)
    places = {at: "" for at in frame["sentence"].unique()}
    words = {at: own["words"] for at, own in zip(places, shaded_data(frame, places, tint)["rows"])}
    named, name = {*row.hidden.named}, row.where.removeprefix(" in ")
    for segment, own in enumerate((tokens.text, tokens.pair or "")):
        sentences = [(at, each) for at, each in enumerate(row.hidden.sentences) if each.segment == segment]
        if not sentences:
            continue
        first = sentences[0][1].positions[0]
        parts = [
            _sentence(
                what, write, row.hidden, at, each, n, len(sentences), first, largest, at in named, words.get(at, [])
            )
            for n, (at, each) in enumerate(sentences, start=1)
        ]
        read = total = parts[-1]["stop"]
        if row.whole:
            total += len(row.whole.ids) - len(tokens.ids)
            still = {"effect": 0.0, "level": 0.0, "number": "", "tip": "never read", "words": []}
            parts.append(
                {"text": row.whole.text[len(own) :].strip(), "kind": "lost", "start": read, "stop": total, **still}
            )
        said = (
            name.capitalize() if tokens.pair is None else ("Query", "Document")[segment] + (f", {name}" if name else "")
        )
        found.append(
            {
                "said": said,
                "dir": "rtl" if right_to_left(own) else "ltr",
                "tokens": total,
                "read": read,
                "sentences": parts,
            }
        )
    return found


def _sentence(
    what: str, write: Callable[[float], str], hidden: HiddenSentences, at: int, own: Sentence, n: int, of: int, first: int,
    largest: float, named: bool, words: Sequence[dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    effect, level = float(hidden.effect[at]), float(hidden.level[at])
    noise = "" if level != level else f" Noise level {numbers.decimal(level, len(write(0.125).partition('.')[2]))}."
    within = "" if named or not words else " Within it, so no word is named."
    return {
        "text": own.text,
        "kind": "named" if named else "sentence",
        "start": own.positions[0] - first,
        "stop": own.positions[-1] + 1 - first,
        "effect": round(max(-1.0, min(1.0, effect / largest)), 4) if effect == effect else 0.0,
        "level": round(level / largest, 4) if level == level else 0.0,
        "number": write(effect),
        "tip": f"Sentence {n} of {of}: change of {what} {write(effect)}.{noise}{within if noise else ''}",
        "words": [each if named or not noise else {**each, "number": ""} for each in words],
    }
