"""How a sentence embedder makes one vector of a sentence, as its folder's own files say.

sentence-transformers writes modules.json (the steps in order), 1_Pooling/config.json (which tokens' last hidden states are
averaged) and two more small files. What one of them asks for and isn't done here is named and refused, never left out.
Source: Reimers and Gurevych 2019, "Sentence-BERT", section 3.
"""

from dataclasses import dataclass
from pathlib import Path

from selfattn.encoders.checkpoint import PLACE, modules_folder, unchanged
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.sources import resolve
from selfattn.encoders.untrusted_files import read_json

STEPS = ["Transformer", "Pooling", "Normalize"]  # the last may be missing: a cosine doesn't see it
OLD_KEYS = {
    "pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip
# Which tokens a way of pooling averages. With the root of the length in place of the length a mean keeps its direction.
POOLED = {"cls": slice(0, 1), "mean": slice(None), "mean_sqrt_len_tokens": slice(None), "lasttoken": slice(-1, None)}


class NoPooling(RuntimeError):
    """The encoder's folder doesn't say how to make one vector of a sentence, or says what isn't done here; and which."""


@dataclass(frozen=True)
class Pooling:
    """The sentence's vector is the mean of the last hidden states at some positions; only its direction counts."""

    mode: str  # one of POOLED
    max_tokens: int | None  # sentence-transformers cuts a longer text; None: no limit of its own

    def positions(self, tokens: Tokens) -> tuple[int, ...]:
        """The positions that are averaged, special tokens among them. Raises TextError for a text that would be cut."""
        n = len(tokens.ids)
        if self.max_tokens is not None and n > self.max_tokens:
            raise TextError(
                f"This text has {n:,} tokens, and as a sentence embedder this encoder reads {self.max_tokens:,}: the rest would "
                f"be cut off. Shorten it by {n - self.max_tokens:,} tokens."
            )
        return tuple(range(n)[POOLED[self.mode]])


def load_pooling(encoder: Encoder) -> Pooling:
    """How this encoder makes one vector of a sentence, from the folder it was loaded from. Raises NoPooling."""
    try:
        folder = resolve(encoder.name, encoder.revision).folder
        with unchanged(folder, encoder.files):
            return read_pooling(folder)
    except LoadError as error:
        raise NoPooling(f"{encoder.title} can't be read as a sentence embedder: {error}") from None
    except NoPooling as error:
        raise NoPooling(f"{encoder.title} {error}") from None


def read_pooling(folder: Path) -> Pooling:
    """The same from a folder. Raises NoPooling, whose message wants the encoder's name before it, and LoadError.

    Before version 2 the model stood in a folder of its own, 0_Transformer, beside that of the pooling.
    """
    transformer, folder = folder, modules_folder(folder)
    within = "" if folder == transformer else transformer.name
    if not (folder / "modules.json").is_file():
        raise NoPooling("has no modules.json: it doesn't say how it makes one vector of a sentence.")
    steps = read_json(folder / "modules.json", "pooling", of=list)
    names = [str(step.get("type")).rpartition(".")[2] if isinstance(step, dict) else repr(step) for step in steps]
    if names not in (STEPS, STEPS[:2]):
        raise NoPooling(f"makes its sentence vector by {', '.join(names)}; expected {', '.join(STEPS)}.")
    first, place = str(steps[0].get("path", "")), str(steps[1].get("path", ""))
    if first != within or not PLACE.fullmatch(place):
        raise NoPooling(
            f"has its steps in {first or '.'!r} and {place!r}; expected {within or '.'!r} and a folder such as '1_Pooling'."
        )
    pooled = read_json(folder / place / "config.json", "pooling")
    modes = pooled.get("pooling_mode") or [mode for key, mode in OLD_KEYS.items() if pooled.get(key)]
    modes = [modes] if isinstance(modes, str) else modes
    if len(modes) != 1 or modes[0] not in POOLED:
        raise NoPooling(
            f"pools tokens by {' and '.join(map(str, modes)) or 'nothing'}; expected one of {', '.join(POOLED)}."
        )
    own = read_json(transformer / "sentence_bert_config.json", "pooling", {})
    if own.get("do_lower_case"):
        raise NoPooling("puts each text in lower case before its tokeniser, which isn't done here.")
    prompts = read_json(folder / "config_sentence_transformers.json", "pooling", {})
    if (prompt := prompts.get("default_prompt_name")) is not None:
        raise NoPooling(f"puts a prompt ({prompt!r}) before each text, which isn't done here.")
    most = own.get("max_seq_length")
    return Pooling(modes[0], most if isinstance(most, int) else None)
