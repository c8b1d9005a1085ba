"""Make the data of figures that tint each word of a text by the effect of hiding the word."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from selfattn import numbers
from selfattn.analysis.explaining import Explained
from selfattn.analysis.sentences import segments_with_levels
from selfattn.encoders.placed_word import Tokens
from selfattn.tidy_tables import PARTS, explained_words_frame
from selfattn.views.shaded import Tint, shaded_data

PRINTED = 5  # percent of the largest effect: smaller effects are shown only in a tooltip
LEAST = 0.1  # part of the explained number: the darkest tint means at least this effect, so small effects look pale

Write = Callable[[float], str]


def explained_data(
    found: Mapping[str, Explained], what: str, write: Write, wholes: Mapping[str, Tokens] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the data of the component `shaded`, one row per text.

    found: each text's result, keyed by the line that is printed above the text. what: name of the explained number.
    wholes: the uncut version of each text that was cut, keyed as in `found`.
    """
    frame = explained_words_frame(found)
    least = LEAST * max((abs(each.number) for each in found.values()), default=0.0)
    deepest = max(float(frame["effect"].abs().max()), least)
    tint = Tint("effect", write, f"{what} changes by {{}}", deepest if deepest > 0 else 1.0)
    data = shaded_data(frame, {line: line for line in frame["said"].unique()}, tint)
    long = any(each.sentences for each in found.values())
    hidden = "the sentence" if long else "the word"
    key = f"Brown: {what} falls without {hidden}. Teal: {what} rises."
    if long:
        key += " Grey band: the sentence's noise level. Click a sentence to see its words."
    leveled = [(each, ~each.level.isnan()) for each in found.values()]
    sizes = [part[known].abs().nan_to_num() for each, known in leveled for part in (each.by_sentence, each.level)]
    largest = max((float(size.max()) for size in sizes if len(size)), default=0.0)
    for word in (word for row in data["rows"] for word in row["words"]):
        word["number"] *= abs(word["depth"]) >= PRINTED and any(digit in word["number"] for digit in "123456789")
    texts = {f"{line}{part}": (line, n // 2) for line in found for n, part in enumerate(PARTS)}
    for row in data["rows"]:
        line, segment = texts[row["said"]]
        if segment in segments_with_levels(found[line].sentences):
            places = frame.loc[frame["said"] == row["said"], "at"].tolist()
            row |= _by_sentence(
                found[line], segment, row["words"], places, what, write, largest or 1.0, wholes.get(line)
            )
    named = [
        (abs(own["depth"]), at, n)
        for at, row in enumerate(data["rows"]) for n, own in enumerate(row["words"]) if own["kind"] == "named"
    ]  # fmt: skip
    return {**data, "legend": key} | ({"opened": [*max(named)[1:]]} if named else {})


def _by_sentence(
    found: Explained, segment: int, words: Sequence[dict[str, Any]], places: Sequence[int], what: str, write: Write,
    largest: float, whole: Tokens | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the figure's data for one long text: its sentences, each with its measured words.

    largest: the effect or noise level that is drawn at full height
    """
    named, opened = {*found.named}, {*found.words}
    sentences = [(at, each) for at, each in enumerate(found.sentences) if each.segment == segment]
    starts, first = [each.at for _, each in sentences], sentences[0][1].positions[0]
    closed = {at for at, each in sentences if opened.isdisjoint(each.words)}
    parts: list[dict[str, Any]] = []
    for n, (at, each) in enumerate(sentences, start=1):
        effect, level = float(found.by_sentence[at]), float(found.level[at])
        noise = f"Noise level {numbers.decimal(level, len(write(0.125).partition('.')[2]))}."
        within = (
            ""
            if at in named
            else " The sentence's effect is below the noise level, so the words' effects are not printed."
        )
        more = " The effects of single words were not measured." if at in closed else within
        parts.append(
            {
                "text": each.text, "gap": n > 1, "kind": "named" if at in named else "sentence",
                "depth": _percent(effect, largest), "level": _percent(level, largest), "number": write(effect),
                "tip": f"Sentence {n} of {len(sentences)}: if it is hidden, {what} changes by {write(effect)}. {noise}{more}",
                "start": each.positions[0] - first, "stop": each.positions[-1] + 1 - first, "words": [],
            }
        )  # fmt: skip
    for word, place in zip(words, places):
        at, _ = sentences[n := max(0, bisect_right(starts, place) - 1)]
        if at not in closed:
            parts[n]["words"].append(word if at in named else {**word, "number": ""})
    tokens = read = parts[-1]["stop"]
    if whole:
        tokens += len(whole.ids) - len(found.sentence.ids)
        rest = whole.text[len(found.sentence.text) :].strip()
        parts.append({"text": rest, "gap": True, "kind": "lost", "depth": 0, "number": "", "tip": "never read"})
    return {"words": parts, "tokens": tokens, "read": read}


def _percent(value: float, largest: float) -> int:
    return round(100 * value / largest) if value == value else 0


def lost(name: str, tokens: Tokens, read: Tokens, where: str) -> str:
    """State how much of a text the embedder cuts off. where: words after "tokens" in the returned sentence, such as " of A"."""
    at_end = (
        len(read.ids) - 1 - max(at for at, segment in enumerate(read.segments) if segment is not None)
    )  # special tokens
    words, kept = tokens.words, len(read.ids) - at_end
    left = sum(word.stop <= kept for word in words)
    share = numbers.share(1 - left / len(words)).replace(" ", "\u00a0")
    return (
        f"As a sentence embedder, {name} reads {len(read.ids):,} of the {len(tokens.ids):,} tokens{where}. The text is cut at "
        f'"{words[left].text}" (word {left + 1:,} of {len(words):,}), so {share} of the words aren\'t read.'
    )
