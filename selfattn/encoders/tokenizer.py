"""An encoder's tokeniser and what is asked of it: in this process, or in one with bounds where nobody vouches for it."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from transformers import AutoTokenizer

from selfattn.encoders.bounded_process import BoundedProcess, limit_memory
from selfattn.encoders.checkpoint import known_digests, remember_digests, unchanged
from selfattn.encoders.errors import LoadError, failing_as
from selfattn.settings import Settings

PROBE = "The bank of the river."
# What a tokeniser that nobody vouches for is tried on: plain text, and what lets a bad pattern or a bad step run away.
BATTERY = (
    f"{PROBE} " * 40, "a" * 2000, "ab " * 700, " " * 2000 + "a", "1,234.5" * 200, "-_.!?'\"()[]{}" * 100,
    "\t\r\n" * 500 + "a", "The café’s naïve “Señor”: 価格は高い。 Москва \U0001f3e6\u200d\u0301" * 20, "Aa1 " * 400 + "!",
    "bank's" * 300, "x\u0301" * 500,
)  # fmt: skip
ROLES = ("pad", "unk", "mask")
OPENING = 60.0  # seconds for a tokeniser to be read anew, after a text that ended its process


METHODS = ("read", "get_vocab", "convert_ids_to_tokens", "decode")


class Tokenizer(SimpleNamespace):
    """A fast tokeniser: facts under transformers' names (pad_token, pad_token_id, ..., model_input_names), and METHODS.

    read as in `Fast`; the others as in transformers. ask(method, *arguments) runs one of them.
    """

    def __init__(self, facts: dict[str, Any], ask: Callable[..., Any]):
        super().__init__(**facts, **{method: partial(ask, method) for method in METHODS})


class Fast:
    """transformers' fast tokeniser of a checked folder, in this process."""

    def __init__(self, folder: Path, name: str):
        with failing_as(  # tokenisers raise whatever their file format makes them raise
            lambda reason: LoadError(
                "tokenizer",
                f"{name}'s tokeniser can't be loaded: {reason}. Save it again with tokenizer.save_pretrained(folder).",
            )
        ):
            own = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if not getattr(own, "is_fast", False):
            raise LoadError(
                "tokenizer",
                f"{name}'s tokeniser ({type(own).__name__}) is written in Python and says of no token where in "
                "the text it stands. selfattn needs a fast one (tokenizer.json), and transformers has none of this kind. "
                "Take another encoder.",
            )
        # Switched off once, here: asking for them later would change an object that other threads use.
        own.backend_tokenizer.no_truncation()
        own.backend_tokenizer.no_padding()
        self.own = own
        added = own.backend_tokenizer.get_added_tokens_decoder().items()
        self.special = {number for number, token in added if token.special} - {own.unk_token_id}
        self.get_vocab, self.convert_ids_to_tokens, self.decode = own.get_vocab, own.convert_ids_to_tokens, own.decode

    def facts(self) -> dict[str, Any]:
        """What doesn't change, as JSON has it."""
        names = [f"{role}_token{kind}" for role in ROLES for kind in ("", "_id")]
        return {name: getattr(self.own, name) for name in (*names, "model_input_names", "model_max_length")}

    def read(self, text: str, pair: str | None, most: int) -> dict[str, Any]:
        """n, and unless n > most: tokens, ids, types, special, offsets, segments, a list of n of each.

        The backend is asked directly: the wrapper switches padding and truncation, which races.
        """
        read = self.own.backend_tokenizer.encode(text, pair)
        if len(read.ids) > most:
            return {"n": len(read.ids)}
        # The backend's mask leaves out those that were typed.
        special = [bool(added) or number in self.special for added, number in zip(read.special_tokens_mask, read.ids)]
        return {
            "n": len(read.ids), "tokens": read.tokens, "ids": read.ids, "types": read.type_ids,
            "special": special, "offsets": read.offsets, "segments": read.sequence_ids,
        }  # fmt: skip

    def handed_out(self) -> Tokenizer:
        """It, to be asked in this process."""
        return Tokenizer(self.facts(), lambda method, *arguments: getattr(self, method)(*arguments))

    def check(self, name: str) -> None:
        """Raise LoadError for a tokeniser that can't read plain text, or reads it in more than one way."""
        text = f"{PROBE} " * 40
        with failing_as(
            lambda reason: LoadError("tokenizer", f"{name}'s tokeniser can't read {PROBE!r}: {reason}. Save it again.")
        ):
            one, other = (self.read(text, None, len(text)) for _ in range(2))
        if one != other:
            raise LoadError(
                "tokenizer",
                f"{name}'s tokeniser reads the same text in two ways (dropout). Save it again without that.",
            )


def try_out(tokenizer: Tokenizer, name: str) -> None:
    """In a process with bounds: read BATTERY. Raises LoadError for a tokeniser that takes too long over a text of it.

    What it can't read it says of a visitor's text, too.
    """
    most = Settings.read().text_seconds
    for text in BATTERY:
        begun = time.monotonic()
        with suppress(ValueError), failing_as(ValueError):
            tokenizer.read(text, None, len(text))
        if time.monotonic() - begun > most:
            raise LoadError(
                "tokenizer",
                f"{name}'s tokeniser takes more than {most} s over a text of {len(text):,} characters ({text[:12]!r} ...). "
                "Take another one, or allow more (SELFATTN_TEXT_SECONDS).",
            )


_kept: list[Fast] = []  # in a process with bounds: its one tokeniser


def keep(folder: str, name: str, files: dict[str, str], digests: list[list]) -> None:
    """In a process with bounds: read the tokeniser of a folder whose files have these digests. Raises LoadError."""
    limit_memory(Settings.read().probe_megabytes * 2**20)
    remember_digests(digests)
    with unchanged(Path(folder), files):
        _kept.append(Fast(Path(folder), name))


def ask(what: str, *arguments: Any) -> Any:
    """In a process with bounds: ask the tokeniser that it keeps."""
    return getattr(_kept[0], what)(*arguments)


def isolated(folder: Path, name: str, files: dict[str, str]) -> Tokenizer:
    """The tokeniser of a folder that nobody vouches for, in a process of its own with bounds. Raises LoadError.

    A method that goes beyond them raises Exceeded, and the next call has a new process.
    """
    first = (f"{__name__}:keep", (str(folder), name, files, known_digests(folder)), OPENING)
    process = BoundedProcess("selfattn.encoders.loading", first=first)

    def called(what: str, *arguments: Any) -> Any:
        return process.call(f"{__name__}:ask", what, *arguments, seconds=Settings.read().text_seconds)

    return Tokenizer(called("facts"), called)
