"""Compare two encoders on one text, word by word."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import torch
from torch import Tensor

from selfattn.analysis.measures import ordinary_rows
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.folders import repository
from selfattn.settings import Settings
from selfattn.words import Word, fold, merged, run_of, shared_runs, shared_words

Match = tuple[int | None, int | None]  # an index in each of two sequences, or None


@dataclass(frozen=True, eq=False, kw_only=True)
class EncoderComparison:
    """Attention weights between words, from one head of each of two encoders."""

    words: tuple[str, ...]  # k words
    first: Tensor  # (k, k)
    second: Tensor  # (k, k)
    left_out: tuple[str, ...]  # words that only one encoder has

    @property
    def difference(self) -> Tensor:
        """The first head's weights minus the second's: (k, k) for k words."""
        return self.first - self.second


def compare_encoders(first: Encoding, first_head: Head, second: Encoding, second_head: Head) -> EncoderComparison:
    """Compare a head of one encoder with a head of another. Raises ValueError if the texts differ."""
    if (first.text, first.pair) != (second.text, second.pair):
        raise ValueError(f"Expected two encodings of the same text, got {first.text!r} and {second.text!r}.")
    common = _common_words(first, second)
    one, other = (
        word_map(encoding, encoding.weights(*head), words=words, special=False)
        for encoding, head, words in zip((first, second), (first_head, second_head), common)
    )
    matches = align(*map(_characters, (one, other), (first, second), common))
    both = [(i, j) for i, j in matches if i is not None and j is not None]
    in_one, in_other = one.part([i for i, _ in both]), other.part([j for _, j in both])
    return EncoderComparison(
        words=in_one.labels,
        first=in_one.matrix,
        second=in_other.matrix,
        left_out=tuple(one.labels[i] if j is None else other.labels[j] for i, j in matches if i is None or j is None),
    )


def why_no_counterparts(first: Encoder, second: Encoder) -> str:
    """Return why two encoders' heads can't be compared one to one, or "" if they can."""
    for what in ("family", "n_layers", "n_heads", "d_model"):
        one, other = getattr(first, what), getattr(second, what)
        if one != other:
            return f"they are built differently ({what} {one} and {other})"
    if first.tokenizer.get_vocab() != second.tokenizer.get_vocab():
        return "they cut texts into different tokens"
    return ""


def told_apart(first: Encoder, second: Encoder) -> tuple[str, str]:
    """Return the shortest names that tell two encoders apart."""
    both = first, second
    paths = [Path(os.path.abspath(Path(Settings.read().model_dir or "", each.name))) for each in both]
    commits = [each.revision or (path.name if repository(path) else "") for each, path in zip(both, paths)]
    named = [[each.title.split("/")[-1] for each in both], [each.title for each in both]]
    named.append([f"{each.title} {commit[:7]}".strip() for each, commit in zip(both, commits)])
    named += [
        [Path(*path.parts[-n:]).as_posix() for path in paths] for n in range(2, max(len(path.parts) for path in paths))
    ]
    one, other = next((names for names in named if names[0] != names[1]), named[0])
    return one, other


def counterpart_distances(first: Encoding, second: Encoding, shift: int = 0) -> Tensor:
    """Return the distance between each head's weights in two encoders, 0 to 1: (n_layers, n_heads).

    The distance is half the sum of a row's absolute differences, averaged over the rows of ordinary tokens.
    shift: compare head h with the second encoder's head h + shift of the same layer, as a baseline.
    Raises ValueError if the tokens differ.
    """
    if first.ids != second.ids:
        raise ValueError(
            "The two encodings have different tokens. Encode one text with two encoders that have the same tokeniser."
        )
    rows = ordinary_rows(first)
    layers = [
        (second.weights(layer).roll(-shift, dims=0) - first.weights(layer))[:, rows].abs().sum(-1).mean(-1) / 2
        for layer in range(first.n_layers)
    ]
    return torch.stack(layers)


def align(first: Sequence[object], second: Sequence[object], anchor: tuple[int, int] | None = None) -> list[Match]:
    """Match equal items of two sequences, in order.

    anchor: an index in each sequence; these two items are matched.
    Source: Ratcliff and Obershelp, as in difflib.
    """
    if anchor is not None:
        i, j = anchor
        after = align(first[i + 1 :], second[j + 1 :])
        moved = [(a if a is None else a + i + 1, b if b is None else b + j + 1) for a, b in after]
        return [*align(first[:i], second[:j]), anchor, *moved]
    pairs: list[Match] = []
    # autojunk=True would ignore frequent words.
    for kind, a, a_stop, b, b_stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(range(a, a_stop), range(b, b_stop))
        else:
            pairs += [(i, None) for i in range(a, a_stop)] + [(None, j) for j in range(b, b_stop)]
    return pairs


def _common_words(first: Encoding, second: Encoding) -> tuple[list[Word], list[Word]]:
    """Return both encodings' words. Adjacent words that are one word in the other encoding are joined."""
    found: tuple[list[Word], list[Word]] = [], []
    for segment in (0, 1):
        both = [encoding.words_of[segment] for encoding in (first, second)]
        for start, stop in merged(word.span for words in both for word in words):
            for words, joined in zip(both, found):
                if within := [word for word in words if start <= word.at < stop]:
                    joined.append(run_of(within, [p for word in within for p in word.positions]))
    return found


def _characters(by_word: WordMap, encoding: Encoding, words: Sequence[Word]) -> list[tuple[object, object]]:
    """Return a key for each row of the map.

    A key is (segment, index of the word's first character), or (None, label) for a token that is in none of `words`.
    """
    at = {word.start: (encoding.segments[word.start], word.at) for word in words}
    return [at.get(group[0], (None, label)) for group, label in zip(by_word.groups, by_word.labels)]


def rarest_first(first: Encoding, second: Encoding, named: str = "") -> list[str]:
    """Return the shared words of two sentences, the rarest first: "crane" before "the".

    If no word is shared, return shared strings, but only of scripts that write no spaces, such as Chinese.
    named: a shared word or string to add
    """

    def rarity(text: str) -> tuple[int, int]:
        positions = first.places(text)[0].positions
        return len(positions), max(first.ids[position] for position in positions)

    shared, named = sorted(shared_words(first.words, second.words), key=rarity, reverse=True), named.strip()
    if not shared:
        shared = [run for run in shared_runs(first.text, second.text) if first.places(run) and second.places(run)]
    new = fold(named) not in map(fold, shared) and first.places(named) and second.places(named)
    return [*shared, named] if new else shared
