"""Read how a sentence embedder computes a sentence's vector.

Source: Reimers and Gurevych 2019, "Sentence-BERT", section 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selfattn.encoders.checkpoint import PLACE, modules_folder, unchanged
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.sources import resolve
from selfattn.encoders.untrusted_files import read_json

STEPS = ["Transformer", "Pooling", "Normalize"]  # Normalize is optional: cosines don't need it
# Names of the module classes in all versions of sentence-transformers.
TYPES = {f"sentence_transformers.models.{step}": step for step in STEPS} | {
    "sentence_transformers.base.modules.transformer.Transformer": "Transformer",
    "sentence_transformers.sentence_transformer.modules.pooling.Pooling": "Pooling",
    "sentence_transformers.sentence_transformer.modules.normalize.Normalize": "Normalize",
    "sentence_transformers.base.modules.normalize.Normalize": "Normalize",
}
OLD_KEYS = {
    "pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip
# Positions to average in each mode. The vector of mean_sqrt_len_tokens has the direction of the mean vector.
POOLED = {"cls": slice(0, 1), "mean": slice(None), "mean_sqrt_len_tokens": slice(None), "lasttoken": slice(-1, None)}

SETTINGS_FILES = [  # the first that isn't empty is read
    f"sentence_{family}_config.json"
    for family in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
]
ARGUMENTS = ("model_args", "model_kwargs", "config_args", "config_kwargs", "tokenizer_args", "processor_kwargs")
PLAIN_TEXT = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
# Settings, each with the values that don't change the sentence's vector (None: any value).
TRANSFORMER = {
    "max_seq_length": None, "unpad_inputs": None, "do_lower_case": (False,), "transformer_task": ("feature-extraction",),
    "modality_config": (PLAIN_TEXT,), "module_output_name": ("token_embeddings",), "processing_kwargs": ({},),
    **dict.fromkeys(("query_length", "document_length", "query_expansion", "tokenizer_name_or_path"), ()),
    **dict.fromkeys(ARGUMENTS, ({},)),
}  # fmt: skip
CROSS_ENCODER = TRANSFORMER | {
    "transformer_task": ("sequence-classification",), "module_output_name": ("scores",),
    "modality_config": ({"text": {"method": "forward", "method_output_name": "logits"}},),
}  # fmt: skip
POOLING = dict.fromkeys(
    (*OLD_KEYS, "pooling_mode", "word_embedding_dimension", "embedding_dimension", "include_prompt")
)
NORMALIZE = dict.fromkeys(("module_input_name", "module_output_name"), ("sentence_embedding",))
WHOLE = {"default_prompt_name": (), "truncate_dim": (), "model_type": ("SentenceTransformer",)}
WHOLE_FILE = "config_sentence_transformers.json"


class NoPooling(RuntimeError):
    """The encoder's folder describes no sentence vector that selfattn can compute."""


@dataclass(frozen=True)
class Pooling:
    """A rule for averaging last hidden states into a sentence's vector."""

    mode: str  # one of POOLED
    max_tokens: int | None  # longer texts are cut

    def read(self, encoder: Encoder, text: str) -> tuple[Tokens, Tokens]:
        """Return the tokens of the text, cut to the allowed length, and the tokens of the uncut text."""
        uncut = encoder.uncut(text)
        return encoder.tokenize(uncut.cut(min(self.max_tokens or encoder.max_tokens, encoder.max_tokens))), uncut

    def positions(self, tokens: Tokens) -> tuple[int, ...]:
        """Return the positions to average. Raises TextError if the text has more than `max_tokens` tokens."""
        n = len(tokens.ids)
        if self.max_tokens is not None and n > self.max_tokens:
            raise TextError(
                f"This text has {n:,} tokens, but the sentence embedder reads at most {self.max_tokens:,}. Shorten the text by "
                f"{n - self.max_tokens:,} tokens."
            )
        return tuple(range(n)[POOLED[self.mode]])


def load_pooling(encoder: Encoder) -> Pooling:
    """Read an encoder's pooling. Raises NoPooling."""
    try:
        folder = resolve(encoder.name, encoder.revision).folder
        with unchanged(folder, encoder.files):
            return read_pooling(folder)
    except LoadError as error:
        raise NoPooling(f"{encoder.title} can't be used as a sentence embedder: {error}") from None
    except NoPooling as error:
        raise NoPooling(f"{encoder.title} {error}") from None


def read_pooling(folder: Path) -> Pooling:
    """Read a folder's pooling. Raises LoadError and NoPooling."""
    transformer, folder = folder, modules_folder(folder)
    within = "" if folder == transformer else transformer.name
    if not (folder / "modules.json").is_file():
        raise NoPooling("is not a sentence embedder: its folder has no modules.json.")
    steps = read_json(folder / "modules.json", of=list)
    types = [str(step.get("type")) if isinstance(step, dict) else repr(step) for step in steps]
    names = [TYPES.get(each, each) for each in types]
    if names not in (STEPS, STEPS[:2]):
        late = (
            ""
            if any("Pool" in name for name in names)
            else " A cross-encoder computes a score for two texts, not a sentence vector."
            if read_json(folder / WHOLE_FILE, {}).get("model_type") == "CrossEncoder"
            else " Without a Pooling step there is no sentence vector."
        )
        raise NoPooling(
            f"has the steps {', '.join(names)[:300]} in modules.json. Expected the steps "
            f"{', '.join(STEPS)} of sentence-transformers.{late}"
        )
    first, *places = (str(step.get("path", "")) for step in steps)
    if first != within or any(not PLACE.fullmatch(place) for place in places):
        raise NoPooling(
            f"has the folders {', '.join(map(repr, [first or '.', *places]))} in modules.json. Expected "
            f"{within or '.'!r} and folders such as '1_Pooling'."
        )
    for place in places[1:]:
        _check(folder / place / "config.json", NORMALIZE, read_json(folder / place / "config.json", {}))
    settings = read_json(folder / WHOLE_FILE, {})
    harmless = {**WHOLE, "similarity_fn_name": ("cosine", "dot") if len(steps) == len(STEPS) else ("cosine",)}
    _check(folder / WHOLE_FILE, harmless, {key: settings[key] for key in harmless if key in settings})
    return Pooling(_mode(folder / places[0] / "config.json"), _max_tokens(transformer))


def check_cross_encoder(folder: Path) -> str:
    """Return the name of the function that a CrossEncoder applies to a score, or "" if the files don't tell.

    Raises LoadError for a file that can't be read, and NoPooling for a setting that selfattn doesn't support.
    """
    settings, usual = read_json(folder / WHOLE_FILE, {}), ""
    if settings.get("model_type") == "CrossEncoder":
        _check(folder / WHOLE_FILE, WHOLE, {"default_prompt_name": settings.get("default_prompt_name")})
        _max_tokens(folder, CROSS_ENCODER)
        usual = "Sigmoid"
    old = read_json(folder / "config.json", {})  # of old versions
    within = old.get("sentence_transformers")
    named = (
        settings.get("activation_fn"),
        within.get("activation_fn") if isinstance(within, dict) else None,
        old.get("sbert_ce_default_activation_function"),
    )
    return str(next(filter(None, named), usual))


def _check(file: Path, harmless: Mapping[str, tuple | None], settings: Mapping[str, Any]) -> None:
    """Raise NoPooling for a setting whose value isn't in `harmless`."""
    for key, value in settings.items():
        if key not in harmless or not (value is None or harmless[key] is None or value in harmless[key]):
            raise NoPooling(
                f"sets {key[:80]} = {str(value)[:80]!r} in {file.name} ({file.parent.name}), "
                "a setting that selfattn doesn't support."
            )


def _mode(file: Path) -> str:
    settings = read_json(file)
    _check(file, POOLING, settings)
    modes = settings.get("pooling_mode", [mode for key, mode in OLD_KEYS.items() if settings.get(key)])
    modes = modes if isinstance(modes, list) else [modes]
    if len(modes) != 1 or modes[0] not in list(POOLED):
        raise NoPooling(
            f"has the pooling mode {' and '.join(map(str, modes))[:80] or 'none'}. Expected one of {', '.join(POOLED)}."
        )
    return modes[0]


def _max_tokens(transformer: Path, harmless: Mapping[str, tuple | None] = TRANSFORMER) -> int | None:
    """Return how many tokens a text may have at most (None: no limit is set). Raises NoPooling, LoadError."""
    files = ((transformer / name, read_json(transformer / name, {})) for name in SETTINGS_FILES)
    file, settings = next((each for each in files if each[1]), (transformer, {}))
    most = settings.get("max_seq_length")
    for key in ARGUMENTS:
        if isinstance(given := settings.get(key), dict):  # as sentence-transformers does
            settings[key] = {name: value for name, value in given.items() if name != "trust_remote_code"}
            if key in ("tokenizer_args", "processor_kwargs"):
                most = settings[key].pop("model_max_length", most)
    _check(file, harmless, settings)
    if most is not None and (type(most) is not int or most < 1):
        # load_pooling puts the encoder's title before this message.
        raise NoPooling(f"has max_seq_length = {str(most)[:80]!r}. Expected a whole number of at least 1.")
    return most
