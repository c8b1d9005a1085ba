"""Where a word stands in a sentence: the one check that every labelled or unlabelled row of a table passes."""

from dataclasses import dataclass

from selfattn.encoders.encoder import Encoder, Tokens
from selfattn.encoders.errors import TextError
from selfattn.words import Word, character_spans, find, token_words


@dataclass(frozen=True)
class Located:
    """A sentence as the encoder reads it, its words, and every place where one of them stands."""

    tokens: Tokens
    words: tuple[Word, ...]  # all words of the sentence, in order
    places: tuple[int, ...]  # the indices in `words` of the word asked for, letter case aside; at least one

    def start(self, place: int) -> int:
        """The first character of the word `words[place]` in the sentence."""
        start, stop = self.tokens.offsets[self.words[place].start]
        # Some tokenisers count the space before a word as the word's own.
        return start + len(self.tokens.text[start:stop]) - len(self.tokens.text[start:stop].lstrip())


def locate(encoder: Encoder, sentence: str, word: str) -> Located:
    """Find `word` in `sentence`. Raises TextError, fit to stand beside the row, where the row can't be used."""
    if not isinstance(sentence, str):
        raise TextError(f"The sentence is missing (expected text, got {_shown(sentence)}).")
    wanted = _checked_word(word)
    tokens = encoder.tokenize(sentence)
    words = tuple(token_words(sentence, tokens.offsets, tokens.special))
    places = tuple(find(words, wanted))
    if not places:
        raise TextError(f"{wanted!r} is not a word of the sentence. Write it as it stands there (letter case aside).")
    return Located(tokens, words, places)


def _checked_word(word: str) -> str:
    if not isinstance(word, str) or not word.strip():
        raise TextError(f"The word is missing (expected text, got {_shown(word)}).")
    word = word.strip()
    parts = len(character_spans(word))
    if parts != 1:
        raise TextError(f"Expected one word, got {word[:80]!r} ({parts} words or signs). Name one of them.")
    return word


def _shown(value: object) -> str:
    return "nothing" if value is None or value != value or value == "" else repr(value)[:80]
