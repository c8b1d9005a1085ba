"""Make the data of the main view's figure (dashboard/components/way.schema.json)."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.hiding import HeadsOfWord, HiddenPair
from selfattn.analysis.patterns import PATTERNS, nearest_first
from selfattn.analysis.sense_means import LabelledRow, SenseMeans
from selfattn.analysis.word_map import Attended
from selfattn.charts.labels import isolated_words, right_to_left
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.senses import HeadProfiles, HiddenWordsReport
from selfattn.senses.telling_words import CLEAR, NAMED
from selfattn.words import Word

VERSION = 2
SHARES, WEIGHTS = 10_000, 1000  # factors that make shares and weights integers
PRINTED = 100  # the browser prints hundredths
HABITS = {
    "previous token": "mostly reads the previous token, whatever it is",
    "next token": "mostly reads the next token, whatever it is",
    "itself": "mostly reads the query token itself",
    "special tokens": "mostly reads special tokens",
    "punctuation": "mostly reads punctuation",
    "broad": "reads all tokens about equally",
}


@dataclass(frozen=True, eq=False)
class Line:
    """The line onto which the chosen word's vectors are projected.

    The line's ends, 0 and 1, are the mean vectors of two senses, or the word's vectors in sentences A and B.
    """

    between: str  # "senses" or "sentences"
    labels: tuple[str, str]  # of the ends
    dots: tuple[tuple[LabelledRow, ...], tuple[LabelledRow, ...]]  # labelled sentences of each end
    at: tuple[float, float]  # where the word's vectors in A and B lie on the line
    toward: tuple[int, int]  # directions in which these vectors move: 1 or -1
    about: str


def line_of(pair: HiddenPair, means: SenseMeans | None) -> Line:
    """Return the line onto which the pair's word vectors are projected.

    means: the means of the senses; None for a line from A to B.
    """
    word = pair.placed[0].word.text
    if pair.senses is None or means is None:
        about = (
            f'Vectors of "{word}" after the last layer, projected onto the line from A to B. The line describes these two '
            "sentences, not the senses."
        )
        return Line("sentences", (f'"{word}" in A', f'"{word}" in B'), ((), ()), (0.0, 1.0), (1, -1), about)
    a, b = pair.senses
    alike, others = a == b, [sense for sense in means.senses if sense != a]
    end = b if not alike else others[0] if len(others) == 1 else "its other senses"
    own = {placed.sentence.ids for placed in pair.placed}
    rows = [row for ids, row in means.rows.items() if ids not in own]
    far = others if alike else [b]
    dots = (
        tuple(row for row in rows if row.sense == a),
        tuple(row._replace(place=1 - row.place) for row in rows if row.sense in far),
    )
    first, second = pair.places
    about = (
        f'Vectors of "{word}" after the last layer, projected onto the line between the averages of its two senses. '
        "Each labelled sentence is placed with averages that leave this sentence out."
    )
    if len(means.senses) > 2:
        about += (
            f' "{word}" has {len(means.senses)} labelled senses. In a sentence with one of these senses, the word\'s moves '
            "are measured toward the average of the other senses."
        )
    at = (first, second if alike else 1 - second)
    return Line("senses", (a, end), dots, at, (1, 1 if alike else -1), about)


def way_data(
    encoder: Encoder,
    pair: HiddenPair,
    attended: Sequence[Attended] | None,
    heads: Sequence[HeadsOfWord],
    *,
    finding: str,
    below: Sequence[str],
    hint: str,
    beyond: Mapping[str, Any],
    line: Line | None,
    named: Sequence[Sequence[int]],
    level: float,
    over_many: HiddenWordsReport | None,
    profiles: HeadProfiles | None,
    reason: str,
    head: Head | None,
) -> dict[str, Any]:
    """Return the data for the browser.

    attended: the chosen word's attention weights in A and B. attended, head: None leaves out the map of heads.
    heads: for some words, the effects of hiding the word in one head at a time.
    named: from `named_words`.
    level: the noise level, or NaN.
    reason: why the effects of heads are unknown.
    """
    between = over_many if pair.senses is not None else None
    return {
        "version": VERSION,
        "key": _key(encoder, pair),
        "encoder": encoder.title,
        "word": pair.placed[0].word.text,
        "finding": isolated_words(finding),
        "below": list(map(isolated_words, below)),
        "hint": isolated_words(hint),
        "beyond": dict(beyond),
        "guess": False,
        "sides": [
            _side(at, pair, own, [one for one in heads if one.side == at and one.exact], named[at], between)
            for at, own in enumerate(attended or (None, None))
        ],
        "way": line and _way(line, level),
        "heads": {
            "layers": encoder.n_layers,
            "heads": encoder.n_heads,
            "habits": _habits(profiles),
            "reason": reason,
            "runnable": not encoder.one_head_reason,
            "level": None if between is None or math.isnan(between.head_level.level) else between.head_level.level,
        },
        "chosen": {"hidden": [None, None], "head": head and encoder.all_heads.index(head), "open": False},
    }


def asking(data: Mapping[str, Any], question: str) -> dict[str, Any]:
    """Return the data with a question in place of the answer."""
    sides = [
        {
            **side,
            "words": [{**word, "share": None, "chance": ""} for word in side["words"]],
            "leader": None,
            "named": [],
            "close": [],
            "weights": [],
            "gradient": [],
            "exact": {},
        }
        for side in data["sides"]
    ]
    asked = {"finding": question, "below": [], "hint": "", "beyond": {"text": ""}, "guess": True, "sides": sides}
    return {**data, **asked, "way": None, "chosen": {"hidden": [None, None], "head": 0, "open": False}}


def whole_numbers(rows: Tensor, parts: int) -> list[str]:
    """Return each row as comma-separated integers: each number times `parts`, rounded.

    NaN becomes an empty string. The browser rounds to hundredths. Some integers lie halfway between two hundredths, such as 125
    if `parts` is 1000. Such an integer is changed by 1, toward the unrounded number, so that the browser prints the right
    hundredth.
    """
    exact = rows.float().double().numpy()
    known = np.isfinite(exact)
    scaled = np.abs(np.where(known, exact, 0.0)) * parts
    whole = np.floor(scaled + 0.5)
    step = parts // PRINTED
    whole += np.where(whole % step == step // 2, np.where(scaled >= whole, 1, -1), 0)
    signed = np.where(exact < 0, -whole, whole).astype(int).tolist()
    return [
        ",".join(str(value) if there else "" for value, there in zip(*row)) if any(row[1]) else ""
        for row in zip(signed, known.tolist())
    ]


def _close(words: Sequence[Word], share: Tensor, top: int | None) -> list[int]:
    """Return the indices of the other words whose effect (`share`) is almost as large as that of words[top]."""
    if top is None or share[top] < NAMED:
        return []
    near = share * CLEAR > share[top]
    return [at for at, word in enumerate(words) if at != top and near[at] and not word.is_punctuation]


def _side(
    at: int,
    pair: HiddenPair,
    attended: Attended | None,
    run: Sequence[HeadsOfWord],
    named: Sequence[int],
    over_many: HiddenWordsReport | None,
) -> dict[str, Any]:
    placed, words, share = pair.placed[at], pair.words[at], pair.share[at]
    bars = enumerate(zip(attended.labels, attended.special, attended.others)) if attended else ()
    return {
        "name": "AB"[at],
        "dir": "rtl" if right_to_left(placed.sentence.text) else "ltr",
        "words": _words(placed, {word.start: n for n, word in enumerate(words)}, share, over_many),
        "leader": pair.top[at],
        "named": list(named),
        "close": [] if named or pair.senses is not None else _close(words, share, pair.top[at]),
        "tokens": [
            {"text": text, "special": bool(special), "chosen": n == attended.chosen, "at": other}
            for n, (text, special, other) in bars
        ],
        "weights": whole_numbers(attended.weights.flatten(0, 1), WEIGHTS) if attended else [],
        "gradient": whole_numbers(pair.by_head[at].flatten(1), SHARES) if attended else [],
        "exact": {str(one.at): whole_numbers(one.share.flatten()[None], SHARES)[0] for one in run},
    }


def _words(
    placed: PlacedWord[Encoding], number: Mapping[int, int], share: Tensor, over_many: HiddenWordsReport | None
) -> list[dict[str, Any]]:
    found, segments, end = [], getattr(placed.sentence, "segments", ()), None
    parts = whole_numbers(share[:, None], SHARES)
    for word in placed.words:
        at = number.get(word.start)
        here = segments[word.start] if segments else 0
        known = None if at is None or not parts[at] else float(share[at])
        row = {
            "text": word.label,
            "gap": end is not None and (here, word.at) != end,
            "kind": "chosen" if at is None else "punctuation" if word.is_punctuation else "word",
            "at": at,
            "share": None if at is None or known is None else int(parts[at]) / SHARES,
        }
        if known is not None and over_many is not None and row["kind"] == "word" and (said := chance(over_many, known)):
            row["chance"] = said
        found.append(row)
        end = here, word.span[1]
    return found


def chance(over_many: HiddenWordsReport, share: float) -> str:
    """Say how many of the moves about as long as `share` go away from the other sense.

    A move is the change of a labelled word's vector when another word of its sentence is hidden.
    Returns "" if `share` isn't positive or no move in the report is about that long.
    """
    often = over_many.chance_of(share) if share > 0 else math.nan
    if often != often:
        return ""
    if often == 0:
        return "in the labelled sentences, no move of about this length goes away from the other sense"
    rate = f"1 in {numbers.count(max(2, round(1 / often)))}"
    return f"in the labelled sentences, {rate} moves of about this length goes away from the other sense"


def _way(line: Line, level: float) -> dict[str, Any]:
    return {
        "between": line.between,
        "ends": [{"label": label, "count": len(dots)} for label, dots in zip(line.labels, line.dots)],
        "dots": [[{"x": round(row.place, 4), "text": row.sentence} for row in dots] for dots in line.dots],
        "at": [round(place, 4) for place in line.at],
        "toward": list(line.toward),
        "level": None if math.isnan(level) else level,
        "about": line.about,
    }


@lru_cache(8)  # cached profiles
def _habits(profiles: HeadProfiles | None) -> dict[str, str]:
    """Return, for each head that fits a pattern, a text about the head's usual behaviour."""
    if profiles is None:
        return {}
    first = (nearest_first(row)[0] for row in profiles.patterns[list(PATTERNS)].to_dict("records"))
    return {str(at): HABITS[fit.name] for at, fit in enumerate(first) if fit.fits}


def _key(encoder: Encoder, pair: HiddenPair) -> str:
    identity = (encoder.content, encoder.dtype, *(placed.key for placed in pair.placed), pair.senses)
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
