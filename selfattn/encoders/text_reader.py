"""Tokenise texts for an encoder, and find words among the tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from selfattn.encoders.errors import TextError, failing_as
from selfattn.encoders.folders import repository
from selfattn.encoders.placed_word import PlacedWord, Tokens
from selfattn.encoders.tokenizer import Tokenizer
from selfattn.words import character_spans


@dataclass(frozen=True, eq=False, kw_only=True)
class TextReader:
    """A tokeniser, and the model that reads the tokens."""

    name: str
    revision: str | None  # None for an encoder from a folder
    max_tokens: int  # special tokens included
    device: str
    model: nn.Module
    tokenizer: Tokenizer
    files: Mapping[str, str] = field(default_factory=dict)  # sha256 by path

    def tokenize(self, text: str | Tokens, pair: str | None = None) -> Tokens:
        """Return a text's tokens. Raises TextError for an unreadable text."""
        if isinstance(text, Tokens):
            if text.reader != self.reader or text.padding or pair is not None:
                raise ValueError(
                    f"Expected tokens from {self.title}'s tokeniser, without padding, and no `pair`. Give the text as a string."
                )
            self._check_indices(text)  # another encoder, with larger limits, may have made these tokens
            return text
        tokens = self.uncut(text, pair)
        self._check_indices(tokens)
        return tokens

    def uncut(self, text: str, pair: str | None = None) -> Tokens:
        """Return all tokens of a text, even if the encoder can't read so many.

        Raises TextError if the text is empty, or if the tokeniser can't read it.
        """
        for part in (text,) if pair is None else (text, pair):
            _check_text(part)
        with failing_as(
            lambda reason: TextError(
                f"{self.title}'s tokeniser can't read this text ({reason}). Change the text, or choose another encoder."
            )
        ):
            read = self.tokenizer.read(text, pair)
        special = self.tokenizer.special(read)
        if all(special):
            raise TextError("The encoder finds only special tokens in this text. Type at least one word.")
        no_word, each = self.tokenizer.unk_token_id, enumerate(zip(read.ids, special))
        unknown = frozenset(at for at, (number, added) in each if number == no_word and not added)
        return Tokens(
            text=text,
            pair=pair,
            # For an unknown word, some tokenisers return the word's spelling as the token.
            tokens=tuple(self.tokenizer.unk_token if at in unknown else one for at, one in enumerate(read.tokens)),
            ids=tuple(read.ids),
            types=tuple(read.type_ids),
            special=special,
            offsets=tuple(read.offsets),
            segments=tuple(read.sequence_ids),
            unknown=unknown,
            reader=self.reader,
        )

    def _check_indices(self, tokens: Tokens) -> None:
        """Raise TextError if a token, position or segment has no embedding. Without this check, a GPU would crash."""
        if (n := len(tokens.ids)) > self.max_tokens:
            raise TextError(
                f"This text has {n:,} tokens, but {self.title} reads at most {self.max_tokens:,} (special tokens included)."
                f" Shorten the text by at least {n - self.max_tokens:,} tokens."
            )
        if (number := max(tokens.ids)) >= self._rows:
            raise TextError(
                f"The token {tokens.tokens[tokens.ids.index(number)][:80]!r} has the id {number:,}, but {self.title} has only "
                f"{self._rows:,} token embeddings. Save the tokeniser and the weights again from the same model."
            )
        if self._segments is not None and (segment := max(tokens.types)) >= self._segments:
            raise TextError(
                f"{self.title} can't read a pair of texts: it has no embedding for segment id {segment}. Give one text, or "
                "choose an encoder that was trained on pairs."
            )

    @cached_property
    def _rows(self) -> int:
        return self.model.get_input_embeddings().weight.shape[0]

    @cached_property
    def _segments(self) -> int | None:
        """The number of segment ids that have an embedding, or None for a model without segment ids."""
        tables = [m for name, m in self.model.named_modules() if name.endswith("token_type_embeddings")]
        takes_segments = tables and "token_type_ids" in self.tokenizer.model_input_names
        return min(table.weight.shape[0] for table in tables) if takes_segments else None

    @cached_property
    def pad_id(self) -> int:
        """The token id with which the shorter texts of a batch are padded."""
        pad = self.tokenizer.pad_token_id
        return pad if self.has_vector(pad) else 0

    def has_vector(self, token_id: int | None) -> bool:
        return token_id is not None and token_id < self._rows

    def locate(self, sentence: str, word: str, *more: str) -> tuple[PlacedWord, ...]:
        """Return every occurrence of `word` and of the words in `more`. Raises TextError."""
        if not isinstance(sentence, str):
            raise TextError(f"The sentence is missing (expected text, got {_quoted(sentence)}).")
        if not isinstance(word, str) or not word.strip():
            raise TextError(f"The word is missing (expected text, got {_quoted(word)}).")
        word = word.strip()
        tokens = self.tokenize(sentence)
        if reason := tokens.why_unknown(word, *more):
            raise TextError(reason)
        places, parts = tokens.places(word, *more), len(character_spans(word))
        if parts != 1 and not tokens.places(word):  # several parts that share a token are one word
            raise TextError(f"Expected one word, got {word[:80]!r} ({parts} words or symbols). Choose one.")
        if not places:
            raise TextError(
                f"{word!r} is not a word of the sentence. Spell it as in the sentence; letter case doesn't matter."
            )
        return places

    def placed(self, where: PlacedWord | tuple) -> PlacedWord:
        """Return a PlacedWord unchanged, or make one from (text, positions) or (text, positions, second text of a pair).

        Raises TextError; IndexError for positions outside the text; ValueError for Tokens from another tokeniser.
        """
        if isinstance(where, PlacedWord):
            self.tokenize(where.sentence)
            return where
        text, position, *pair = where
        tokens = self.tokenize(text, *pair)
        return PlacedWord(tokens, tuple(self._positions(tokens, position)))

    def _positions(self, tokens: Tokens, position: int | Sequence[int] | str) -> list[int]:
        if isinstance(position, str):
            if reason := tokens.why_unknown(position):
                raise TextError(reason)
            places = tokens.places(position)
            if len(places) != 1:
                remedy = "Give the positions of its tokens." if places else "Spell it as in the text."
                raise TextError(
                    f"Expected a word that occurs once in the text; {position!r} occurs {len(places)} times. {remedy}"
                )
            return list(places[0].positions)
        positions = [position] if isinstance(position, int) else list(position)
        n = len(tokens.ids)
        if not positions or not all(0 <= p < n for p in positions):
            raise IndexError(f"Expected positions from 0 to {n - 1}, got {position}.")
        return positions

    @cached_property
    def title(self) -> str:
        """The name to show: a Hub id or a folder's name."""
        return self.name if self.revision else repository(Path(self.name)) or Path(self.name).name

    @cached_property
    def reader(self) -> str:
        """The tokeniser's identity: the digest of tokenizer.json, or the encoder's name if the file is missing."""
        return self.files.get("tokenizer.json", self.name)

    def inputs(self, batch: Sequence[Tokens]) -> dict[str, Tensor]:
        """Return the model's inputs, padded on the right: (batch, length) each."""
        length = max(len(tokens.ids) for tokens in batch)

        def padded(rows, fill):
            return torch.tensor([[*row, *[fill] * (length - len(row))] for row in rows], device=self.device)

        inputs = {
            "input_ids": padded([t.ids for t in batch], self.pad_id),
            "attention_mask": padded([[1] * (len(t.ids) - t.padding) for t in batch], 0),
        }
        if "token_type_ids" in self.tokenizer.model_input_names:
            inputs["token_type_ids"] = padded([t.types for t in batch], 0)
        return inputs


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise TextError(f"Expected a text (str), got {type(text).__name__}.")
    if not text.strip():
        raise TextError("The text is empty. Type a sentence of at least one word.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            f"The text is not valid Unicode: character {error.start} is half of a surrogate pair. Remove this character."
        ) from None


def _quoted(value: object) -> str:
    return "nothing" if value is None or value != value or value == "" else repr(value)[:80]
