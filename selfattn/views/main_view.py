"""Make the panel of the main view: which word gives another word its meaning in two sentences, and through which heads."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import pandas as pd
import torch

from selfattn import numbers
from selfattn.analysis.gradients import SAME
from selfattn.analysis.hiding import (
    NO_SHARES,
    NO_WAY,
    HeadsOfWord,
    HiddenPair,
    heads_of_word,
    hidden_pair,
    leading_head,
    unmeasured_pair,
)
from selfattn.analysis.sense_means import SenseMeans, sense_means
from selfattn.analysis.word_map import Attended, attended
from selfattn.charts import share
from selfattn.charts.vega import Spec
from selfattn.charts.way import way
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import PlacedWord
from selfattn.panel import Live, Look, Panel, Tables
from selfattn.senses import HeadProfiles, HiddenWordsReport
from selfattn.senses.noise import ROWS
from selfattn.senses.telling_words import ALL, CLEAR, GUESS, NAMED
from selfattn.tidy_tables import hidden_curves_frame, hidden_heads_frame, hidden_words_frame
from selfattn.views.way_data import Line, asking, chance, line_of, way_data

NAME = "words"
SENSES_PAGE = "senses"  # its address
VISIBLE = 0.005  # a smaller share is printed as 0 %
NBSP = "\u00a0"


def main_view(
    encoder: Encoder,
    first: PlacedWord[Encoding],
    second: PlacedWord[Encoding],
    control: PlacedWord[Encoding] | None = None,
    *,
    senses: SenseMeans | pd.DataFrame | None = None,
    over_many: HiddenWordsReport | None = None,
    profiles: HeadProfiles | None = None,
    progress: Progress = silent,
) -> Iterator[Panel]:
    """Yield the panel twice: first with the effects of heads estimated by gradient, then with exact effects.

    The exact effects are those of each sentence's leading word, the word with the largest share. senses: labelled sentences of
    the word, or their `sense_means`; a share is then a part of the way to the word's other senses. over_many: the report on
    many labelled sentences; its noise level decides which words the finding may name. profiles: each head's usual behaviour.
    Raises TextError, and ValueError for senses that can't be used.
    """
    means = sense_means(encoder, senses, first.word.text) if isinstance(senses, pd.DataFrame) else senses
    pair = measured(encoder, first, second, control, means, progress)
    put = partial(put_together, encoder, pair, means=means, over_many=over_many, profiles=profiles)
    leading = leading_words(pair)
    yield put([heads_of_word(encoder, pair, *at, exact=False) for at in leading])
    if leading and not encoder.one_head_reason:
        yield put([heads_of_word(encoder, pair, *at, exact=True) for at in leading])


def measured(
    encoder: Encoder,
    first: PlacedWord[Encoding],
    second: PlacedWord[Encoding],
    control: PlacedWord[Encoding] | None = None,
    senses: SenseMeans | pd.DataFrame | None = None,
    progress: Progress = silent,
    **kept: Callable[..., Any],
) -> HiddenPair:
    """Return `hidden_pair`, or `unmeasured_pair` with the reason if no word can be hidden in this encoder.

    kept: the arguments `heads`, `changed` and `by_gradient` of `hidden_pair`.
    """
    try:
        return hidden_pair(encoder, first, second, control, senses=senses, progress=progress, **kept)
    except NotRecomputable as error:
        reason = (encoder.hide_reason or str(error)).rstrip(".")
        note = f"No word can be hidden in this encoder: {reason}. The page still shows what its heads attend to."
        return unmeasured_pair(encoder, first, second, control, notes=(note,))


def leading_words(pair: HiddenPair) -> list[tuple[int, int]]:
    """Return each sentence's leading word as (side, number), the word with the larger share first."""
    at = [(side, top) for side, top in enumerate(pair.top) if top is not None]
    return sorted(at, key=lambda one: -float(pair.share[one[0]][one[1]]))


def put_together(
    encoder: Encoder,
    pair: HiddenPair,
    heads: Sequence[HeadsOfWord] | None,
    *,
    means: SenseMeans | None = None,
    over_many: HiddenWordsReport | None = None,
    profiles: HeadProfiles | None = None,
    guess: bool = False,
) -> Panel:
    """Return the panel of a measured pair. At first it shows no word as hidden; `chosen` adds the visitor's choices.

    heads: the effects of heads, for the leading words in the order of `leading_words`, then for other words. None: the panel has
    no map of heads. means: of the senses, if the shares are between senses. over_many, profiles: as in `main_view`. guess: True
    if the live figure asks for a guess and hides the answer.
    """
    if pair.senses is not None and means is None:
        raise ValueError("Expected the means of the senses that the pair's shares are about, got None.")
    level = math.nan if over_many is None or pair.senses is None else over_many.level.level
    named = named_words(pair, level)
    bars = None if heads is None else _bars(pair)
    line = line_of(pair, means) if any(map(_run, pair.share)) and not _no_way(pair) else None
    measured_heads = any(bool(side.isfinite().any()) for side in pair.by_head)
    data = way_data(
        encoder, pair, bars, heads or (), finding=finding(pair, named, level),
        below=_below(encoder, pair, named, level, over_many), hint=_hint(encoder, pair), beyond=_beyond(encoder, pair, over_many),
        line=line, named=named, level=level, over_many=over_many, profiles=profiles,
        reason="" if measured_heads or (heads is None and not encoder.hide_reason) else _why_no_heads(encoder, pair),
        head=None if heads is None else first_head(encoder, pair, heads),
    )  # fmt: skip
    question = f'Which word would change "{_word(pair)}" most? Click one.'
    run = {("AB"[each.side], each.word.start): each.share for each in heads or () if each.exact}
    return Panel(
        name=NAME,
        finding=finding(pair, named, level),
        picture=partial(_drawn, data),
        alt=_alt(pair, line, heads or ()),
        tables=Tables(
            {
                "words": lambda: hidden_words_frame(pair),
                "heads": lambda: hidden_heads_frame(pair, run),
                "curves": lambda: hidden_curves_frame(pair),
                "places": lambda: _places(pair, line),
            }
        ),
        arrays={
            **{f"share_{name}": share.numpy() for name, share in zip("ab", pair.share)},
            **{f"by_head_{name}": share.numpy() for name, share in zip("ab", pair.by_head)},
            **{f"weights_{name}": each.weights.numpy() for name, each in zip("ab", bars or ())},
            "curves": pair.curves.numpy(),
        },
        method="" if guess else _method(encoder, pair, means, over_many),  # the method would give the answer away
        live=Live("way", asking(data, question) if guess else data),
        share=None if guess else partial(_shared, data),
    )


def chosen(
    panel: Panel,
    hidden: Sequence[int | None] = (None, None),
    head: int | None = None,
    guessed: tuple[int, int] | None = None,
) -> Panel:
    """Return the panel with a visitor's choices.

    hidden: for A and B, the hidden word's number in `pair.words`, or None. head: a number in `Encoder.all_heads`; None: the
    leading head. guessed: the guess as (side, number).
    """
    if panel.live is None or panel.live.data["guess"]:
        return panel
    leading = panel.live.data["chosen"]["head"]
    now = {"hidden": list(hidden), "head": leading, "open": False}
    if head is not None and leading is not None:
        now |= {"head": head, "open": head != leading}
    live = panel.live.changed(chosen=now, **({"guessed": list(guessed)} if guessed else {}))
    return replace(panel, live=live, picture=partial(_drawn, live.data), share=partial(_shared, live.data))


def _drawn(data: Mapping[str, Any], look: Look) -> Spec:
    return way(data, look.theme, look.width)


def _shared(data: Mapping[str, Any], look: Look) -> Spec:
    return share.share(data, look.theme)


def named_words(pair: HiddenPair, level: float) -> tuple[list[int], list[int]]:
    """Return the numbers of the words in A and in B that the finding may name.

    Between senses, these are the words whose share reaches the noise level. level: the noise level; NaN: unknown. Between
    sentences, this is the leading word, if its share is at least 0.1 and at least 1.5 times the next share.
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
    """Return the finding in one sentence, or the reason why there is none. named: `named_words` at this noise level."""
    word = f'"{_word(pair)}"'
    if all(word.is_punctuation for words in pair.words for word in words):
        return f"There is no other word to hide from {word}: write a longer sentence."
    if reason := _no_way(pair):
        return reason
    if not any(map(_run, pair.share)):
        return f"No word can be hidden from {word} in this encoder: choose another to see which word its meaning comes from."
    if pair.nearest is not None and _alike(pair):
        return f"The encoder takes both for {pair.nearest[0]}: it does not tell these two apart."
    found = _answer(pair, named, level)
    if found is None and pair.senses is None:
        return f"No single word moves {word} much more than the others do."
    if found is None and not math.isnan(level):
        return f"No single word moves {word} far enough to rule out chance."
    if found is None:
        return f"No single word moves {word} toward its other sense."
    (side, at), share = found, float(pair.share[found[0]][found[1]])
    if pair.senses and pair.senses[0] != pair.senses[1]:
        far = f"toward {pair.senses[1 - side]}, {_percent(share)} of the distance between the senses"
    elif pair.senses:
        far = f"toward its other senses, {_percent(share)} of the distance"
    else:
        far = f"toward the other sentence's {word}, {_percent(share)} of the distance"
    hidden = f'"{pair.words[side][at].label}"'
    if pair.senses and math.isnan(level):  # the move could be chance
        return f"Of all words, {hidden} moves {word} most when hidden: {far}."
    return f"Hide {hidden}, and {word} moves {far}."


def _answer(pair: HiddenPair, named: Sequence[Sequence[int]], level: float) -> tuple[int, int] | None:
    """Return the word that the finding names, as (side, number): the word with the largest share that may be named.

    Between senses without a known noise level, this is the leading word, if its printed share is above 0 %.
    """
    if _alike(pair):
        return None
    leading = leading_words(pair)
    if pair.senses is not None and math.isnan(level):
        return next((at for at in leading if float(pair.share[at[0]][at[1]]) >= VISIBLE), None)
    return next((at for at in leading if at[1] in named[at[0]]), None)


def _below(
    encoder: Encoder,
    pair: HiddenPair,
    named: Sequence[Sequence[int]],
    level: float,
    over_many: HiddenWordsReport | None,
) -> list[str]:
    """Return the lines under the finding."""
    found = _answer(pair, named, level)
    if not leading_words(pair):
        return [f"Encoder {_name(encoder)}.", *_notes(pair)]
    if pair.senses is None:
        return _notes(pair)
    first = _then(pair, *found) if found else "" if _alike(pair) else "The clue may be spread over several words."
    chance = "" if math.isnan(level) else f"Moves up to {_percent(level)} (grey) could be chance."
    lines = [*filter(None, [f"{first} {chance}".strip()]), *_notes(pair)]
    if over_many is None and found:
        lines.append("This could be chance: the noise level of this encoder is not measured yet.")
    elif over_many is not None and math.isnan(level):
        n = over_many.sentences
        lines.append(
            f"This could be chance: a noise level needs {ROWS} labelled sentences; there are {numbers.count(n)}."
            if n < ROWS
            else "This could be chance: in this encoder's labelled sentences, moves of every length go the wrong way too often."
        )
    return lines


def _hint(encoder: Encoder, pair: HiddenPair) -> str:
    """Return the line that explains a click on a word and the ribbons."""
    if not leading_words(pair):
        return ""
    word = f'"{_word(pair)}"'
    return (
        f"Click a word to hide it: {word} then can't attend to it in any head of {_name(encoder)}. The width of a ribbon: how far "
        f"{word} moves without that word."
    )


def _alike(pair: HiddenPair) -> bool:
    """Return True if both sentences are nearest to the mean of the same sense."""
    return pair.nearest is not None and pair.nearest[0] == pair.nearest[1]


def _then(pair: HiddenPair, side: int, at: int) -> str:
    """Return a sentence about the sense that is nearer after the word is hidden."""
    assert pair.senses is not None
    place, share, (own, other) = (
        pair.places[side],
        float(pair.share[side][at]),
        (pair.senses[side], pair.senses[1 - side]),
    )
    other = "other senses" if own == other else other
    if place + share > 0.5:
        return f"It ends nearer to {other}."
    start = ", since it starts far on that side" if share > 0.5 else ""
    return f"Even then it stays nearer to {own}{start}."


def _beyond(encoder: Encoder, pair: HiddenPair, over_many: HiddenWordsReport | None) -> dict[str, Any]:
    """Return what the encoder does in many sentences; if this isn't measured, an offer to measure it."""
    if encoder.hide_reason:
        return {"text": ""}
    if over_many is None:
        return {
            "text": "Results over many sentences are not measured for this encoder yet.",
            "link": {"text": "Measure them", "href": SENSES_PAGE},
        }
    return _in_general(over_many, pair.senses is not None)


@lru_cache(8)  # reports
def _in_general(over_many: HiddenWordsReport, senses: bool) -> dict[str, Any]:
    """Return the results over many sentences. senses: True if the way is between senses."""
    n = numbers.count(over_many.sentences)
    link = {"text": f"All {n} sentences", "href": SENSES_PAGE}
    if not senses:
        rows = over_many.between[over_many.between["word"] == ALL].set_index("senses")["named"]
        one, two = (numbers.decimal(100 * rows[senses], 0) for senses in ("one", "two"))
        return {
            "text": f"This is about these two sentences, not about senses. A word is named in {one} of 100 pairs with one "
            f"sense, and in {two} of 100 pairs with two senses.",
            "link": link,
        }
    own = over_many.of()["accuracy"]
    shown = (
        ("with all words", "as it is"),
        ("with another word hidden", "any other hidden"),
        ("with that word hidden", "the word hidden"),
    )
    return {
        "text": f"In {n} sentences, hide the word that moves the meaning most. How often does the encoder still find the right sense?",
        "bars": [{"label": label, "value": round(float(own[what]), 4)} for label, what in shown],
        "tick": {"label": "by guessing", "value": GUESS},
        "link": link,
    }


def _notes(pair: HiddenPair) -> list[str]:
    """Return the pair's notes, without the notes that the view shows elsewhere."""
    said_elsewhere = [NO_WAY]
    if pair.nearest is not None and _alike(pair):
        said_elsewhere.append(f"Both sentences are taken for one sense: {pair.nearest[0]}.")
    return [note for note in pair.notes if note not in said_elsewhere and not note.startswith(NO_SHARES)]


def _why_no_heads(encoder: Encoder, pair: HiddenPair) -> str:
    """Return the reason why the effects of heads are unknown."""
    own = next((note.removeprefix(NO_SHARES) for note in pair.notes if note.startswith(NO_SHARES)), "")
    return "no word can be hidden in this encoder." if encoder.hide_reason else own or "no word was hidden."


def _method(encoder: Encoder, pair: HiddenPair, means: SenseMeans | None, over_many: HiddenWordsReport | None) -> str:
    """Return the text "How this was measured"."""
    word = f'"{_word(pair)}"'
    parts = [
        f"The encoder runs again with an attention mask: {word} can't attend to the hidden word in any head. The other words "
        f"still can, and {word} can attend to them."
    ]
    if pair.senses is not None and means is not None:
        counts = " and ".join(f"{n} labelled sentences of {sense}" for sense, n in zip(means.senses, means.counts))
        parts.append(
            f"100{NBSP}% is the distance between two average vectors of {word}: over sentences of its own sense, and over "
            f"sentences of its other senses ({counts}). Each dot is a labelled sentence. Its place is computed with averages "
            "that leave this sentence out, so the dots lie nearer to the middle than the averages. The hills are the density "
            "of the dots (Gaussian kernel, Silverman's rule)."
        )
        if len(means.senses) > 2:
            parts.append("The word has more than two senses. The line runs between the senses of A and B.")
        parts += _noise(pair, over_many)
    else:
        parts.append(
            f"100{NBSP}% is the distance between the vector of {word} in A and its vector in B. Hiding almost any word shortens "
            "this distance, so a share describes these two sentences and is no evidence about a sense. The finding names a word "
            f"if its share is at least {_percent(NAMED)} and at least {CLEAR} times the next share."
        )
    if encoder.one_head_reason and not encoder.hide_reason:
        parts.append(f"The effects of heads are estimates by gradient: {encoder.one_head_reason}")
    parts.append(
        "In the map of heads, the word is hidden in one head only. The shares of single heads do not add up to the share of all "
        "heads. An attention weight says what a head reads. A share says what this changes."
    )
    return "\n\n".join(parts)


def _noise(pair: HiddenPair, over_many: HiddenWordsReport | None) -> list[str]:
    """Return a paragraph about the noise level, if it is known."""
    if over_many is None or math.isnan(over_many.level.level):
        return []
    level, low, high = over_many.level
    said = (
        f"Noise level {_percent(level)} (95{NBSP}% interval {_percent(low)} to {_percent(high)}), from "
        f"{numbers.count(over_many.sentences)} labelled sentences. Among moves of at least this length, at least eight "
        "go toward the other sense for each one that goes away from it. The finding names only words at or above this level."
    )
    for side, at in leading_words(pair):
        share = float(pair.share[side][at])
        if often := chance(over_many, share):
            said += f' "{pair.words[side][at].label}", {_percent(share)}: {often}.'
    return [said]


def _alt(pair: HiddenPair, line: Line | None, heads: Sequence[HeadsOfWord]) -> str:
    """Return the text for visitors who can't see the picture."""
    parts = [f"{name}: {placed.sentence.text}" for name, placed in zip("AB", pair.placed)]
    for side, at in leading_words(pair):
        name, hidden, moved = "AB"[side], pair.words[side][at].label, float(pair.share[side][at])
        said = f'In {name}, hiding "{hidden}" moves "{_word(pair)}" {_percent(moved)} of the way'
        if line is not None:
            here = line.at[side]
            there = here + line.toward[side] * moved
            said += f", from {_percent(here)} to {_percent(there)} of the line"
        parts.append(f"{said}.")
    if line is not None:
        parts.append(f"The line runs from {line.labels[0]} (0{NBSP}%) to {line.labels[1]} (100{NBSP}%).")
    if heads and heads[0].exact:
        share = heads[0].share.nan_to_num(nan=-math.inf)
        layer, head = divmod(int(share.argmax()), share.shape[1])
        own = _percent(float(share.max()))
        parts.append(f'Hidden in head {head} of layer {layer} alone, "{heads[0].word.label}" moves it {own}.')
    return " ".join(parts)


def _places(pair: HiddenPair, line: Line | None) -> pd.DataFrame:
    """Return a table of the marks on the line: labelled sentences, A and B, and A and B with the leading word hidden."""
    rows = []
    if line is not None:
        rows += [("labelled sentence", row.sense, row.place, row.sentence) for dots in line.dots for row in dots]
        for side, (name, placed) in enumerate(zip("AB", pair.placed)):
            sense, text, here = (pair.senses or ("", ""))[side], placed.sentence.text, line.at[side]
            rows.append((name, sense, here, text))
            if (top := pair.top[side]) is not None:
                there = here + line.toward[side] * float(pair.share[side][top])
                rows.append((f'{name} without "{pair.words[side][top].label}"', sense, there, text))
    return pd.DataFrame(rows, columns=["what", "sense", "place", "sentence"])


def _no_way(pair: HiddenPair) -> str:
    """Return why the two vectors can't be compared, with the remedy; "" if they can."""
    if all(float(way.norm()) >= SAME for way in pair.ways):
        return ""
    a, b = pair.placed
    if a.key == b.key:
        return "A and B are the same sentence: change one of them, and the word has a way to move."
    return f'The two "{_word(pair)}" have the same vector: change more in one sentence, and the word has a way to move.'


def first_head(encoder: Encoder, pair: HiddenPair, heads: Sequence[HeadsOfWord]) -> Head:
    """Return the head with the largest effect for the first of `heads`; without effects, the head of `_most_to_another`."""
    return (leading_head(encoder, pair, heads[0]) if heads else None) or _most_to_another(_bars(pair))


def _most_to_another(sides: Sequence[Attended]) -> Head:
    """Return the head in which the chosen word gives the most weight to one other word, summed over A and B."""
    most = []
    for side in sides:
        others = [place for place, at in enumerate(side.others) if at is not None]
        weights = side.weights[..., others]
        most.append(weights.amax(dim=-1) if others else weights.new_zeros(side.weights.shape[:2]))
    layers_and_heads = (most[0] + most[1]).flatten()
    return Head(*divmod(int(layers_and_heads.argmax()), most[0].shape[1]))


def _bars(pair: HiddenPair) -> tuple[Attended, Attended]:
    """Return what the chosen word attends to in A and in B."""
    a, b = (attended(placed, _run(share) or None) for placed, share in zip(pair.placed, pair.share))
    return a, b


def _name(encoder: Encoder) -> str:
    return encoder.title.rsplit("/", 1)[-1]


def _word(pair: HiddenPair) -> str:
    return pair.placed[0].word.text


def _run(share: torch.Tensor) -> list[int]:
    """Return the numbers of the words whose share is known."""
    return share.isfinite().nonzero().flatten().tolist()


def _percent(value: float) -> str:
    """Format a share in per cent with a no-break space."""
    return numbers.percent(value).replace(" ", NBSP)
