"""Load an encoder's fast tokeniser with transformers."""

import re
from pathlib import Path

from tokenizers import Encoding
from transformers import AutoTokenizer

from selfattn.encoders.errors import LoadError, failing_as

SAMPLE = "The bank of the river."  # the text on which a loaded encoder is checked
CAPITALISED = re.compile("[A-Z][a-z]*")


class Tokenizer:
    """A fast tokeniser, with attributes named as in transformers.

    Raises LoadError if the tokeniser can't be loaded or has no fast version.
    """

    def __init__(self, folder: Path, name: str):
        with failing_as(
            lambda reason: LoadError(
                f"{name}'s tokeniser can't be loaded: {reason}. Save it again with tokenizer.save_pretrained(folder)."
            )
        ):
            loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if not getattr(loaded, "is_fast", False):
            raise LoadError(
                f"{name}'s tokeniser ({type(loaded).__name__}) is slow, and transformers has no fast version. selfattn needs a "
                "fast tokeniser to find each token's place in the text. Choose another encoder."
            )
        # Truncation and padding are switched off once, because threads share these settings.
        loaded.backend_tokenizer.no_truncation()
        loaded.backend_tokenizer.no_padding()
        self._backend = loaded.backend_tokenizer
        added = loaded.backend_tokenizer.get_added_tokens_decoder().items()
        self._special = {number for number, token in added if token.special} - {loaded.unk_token_id}
        self.pad_token, self.pad_token_id = loaded.pad_token, loaded.pad_token_id
        self.unk_token, self.unk_token_id = loaded.unk_token, loaded.unk_token_id
        self.mask_token, self.mask_token_id = loaded.mask_token, loaded.mask_token_id
        self.model_input_names, self.model_max_length = loaded.model_input_names, loaded.model_max_length
        self.note = self._note_on_case(folder)
        self.get_vocab, self.decode = loaded.get_vocab, loaded.decode
        self.convert_ids_to_tokens = loaded.convert_ids_to_tokens

    def read(self, text: str, pair: str | None = None) -> Encoding:
        """Tokenise a text without changing settings that threads share."""
        return self._backend.encode(text, pair)

    def special(self, read: Encoding) -> tuple[bool, ...]:
        """Return a bool for each token: True for special tokens, even if typed in the text."""
        return tuple(bool(mask) or number in self._special for mask, number in zip(read.special_tokens_mask, read.ids))

    def _note_on_case(self, folder: Path) -> str:
        """Return a note if the vocabulary has capital letters, but texts are read in lower case."""
        stated = (folder / "tokenizer.json").exists() or (folder / "tokenizer_config.json").exists()
        if stated or not (folder / "vocab.txt").exists():
            return ""
        token = next(filter(CAPITALISED.fullmatch, sorted(self._backend.get_vocab())), "")
        if not token or token in self.read(token).tokens:
            return ""
        return (
            f"texts are read in lower case, although vocab.txt has capital letters ({token!r}). "
            'For a cased encoder, add a tokenizer_config.json with {"do_lower_case": false}'
        )

    def check(self, name: str) -> None:
        """Raise LoadError if the tokeniser fails, or returns different tokens for the same text."""
        with failing_as(
            lambda reason: LoadError(f"{name}'s tokeniser can't read {SAMPLE!r}: {reason}. Save the tokeniser again.")
        ):
            one, other = (self.read(f"{SAMPLE} " * 40).ids for _ in range(2))
        if one != other:
            raise LoadError(
                f"{name}'s tokeniser splits the same text in random ways (dropout). Save the tokeniser without dropout."
            )
