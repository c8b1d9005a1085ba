"""What a tokeniser's files may ask for, read before the tokeniser is built: no text may grow without bound in it."""

import base64
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selfattn.encoders.errors import LoadError
from selfattn.encoders.untrusted_files import MOST_ENTRIES, read_json, walk

MOST_BYTES = 64 * 2**20  # of tokenizer.json and of each other file beside it; the longest published ones have 34 MB
MOST_INTEGER = 4_000_000  # ids and lengths
MOST_GROWTH = 64  # times a text may grow in the normaliser
MOST_CHARACTERS = 1_000  # of a pattern, of a token, of any other text outside the vocabulary
MOST_WORD = 1_000  # letters of a word that WordPiece still splits, by trying all its beginnings
MOST_STEPS = 64  # of normaliser, pre-tokeniser, post-processor and decoder together
MOST_REPETITIONS = 4  # in a row, in a pattern: each one multiplies the time by the length of the text
CLASS = re.compile(r"\w{0,80}Tokenizer(Fast)?|TokenizersBackend|PythonBackend", re.ASCII)

# Without one of these there is no tokeniser; which of them a family reads is its own matter.
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "tekken.json", "*.model", "*.bpe.codes", "vocab.bpe")
BYTES = "ByT5Tokenizer"  # it needs none; that it isn't fast is said where it is loaded


def check_tokenizer(folder: Path, config: dict, known: bool = False) -> None:
    """Refuse a tokeniser's files that can't be read within these limits; a known tokenizer.json isn't read. Raises LoadError."""
    settings = _read(folder / "tokenizer_config.json")
    classes = [settings.get("tokenizer_class"), config.get("tokenizer_class")]
    for file in ("special_tokens_map.json", "added_tokens.json"):
        with _refusing(folder, file):
            _check_values(_read(folder / file))
    with _refusing(folder, "tokenizer_config.json"):
        _check_values({**settings, "model_max_length": None, "chat_template": None})
        # transformers takes any class of its own by this name, models too, and these keys lead it to other files.
        for name in classes:
            if name is not None and not (isinstance(name, str) and CLASS.fullmatch(name)):
                raise ValueError(f"tokenizer_class is {str(name)[:80]!r}, which is no tokeniser")
        for key in ("fast_tokenizer_files", "gguf_file", "tokenizer_object"):
            if settings.get(key):
                raise ValueError(f"{key} leads to another file than tokenizer.json")
        added = settings.get("added_tokens_decoder") or {}
        _check_added(list(added.values()) if isinstance(added, dict) else [])
    if BYTES not in classes and not any(next(folder.glob(pattern), None) for pattern in VOCABULARIES):
        raise LoadError(
            "tokenizer",
            f"{folder.name} has no tokeniser (no tokenizer.json). Put it beside the weights: "
            "AutoTokenizer.from_pretrained(...).save_pretrained(folder).",
        )
    if not known and (folder / "tokenizer.json").is_file():
        with _refusing(folder, "tokenizer.json"):
            _check_file(_read(folder / "tokenizer.json"))


@contextmanager
def _refusing(folder: Path, file: str) -> Iterator[None]:
    """Say of which file a ValueError's words are, and what to do: as a LoadError."""
    try:
        yield
    except ValueError as error:
        raise LoadError(
            "tokenizer",
            f"{folder.name}/{file} isn't taken: {error}. Save the tokeniser again, or take another encoder.",
        ) from None


def _check_file(file: dict) -> None:
    """The serialised tokeniser: its parts in the order in which a text passes them. It and all it calls raise ValueError."""
    model = file.get("model")
    if not isinstance(model, dict):
        raise ValueError("it holds no model")
    added = file.get("added_tokens")
    _check_added(added if isinstance(added, list) else [])
    steps = {part: file.get(part) for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder")}
    _check_values(steps)
    rest = {key: value for key, value in model.items() if key not in ("vocab", "merges")}
    _check_values({"model": rest, "truncation": None, "padding": None})
    _check_vocabulary(model.get("vocab"))
    named = [step for part in steps.values() for step in _steps(part)]
    if len(named) > MOST_STEPS:
        raise ValueError(f"it has {len(named)} steps; at most {MOST_STEPS} are taken")
    growth = math.prod(_growth(step) for step in named)
    if not growth <= MOST_GROWTH:
        raise ValueError(f"a text may become {growth:,} times as long, at most {MOST_GROWTH} is taken")
    for step in named:
        pattern = step.get("pattern")
        if isinstance(pattern, dict) and "Regex" in pattern:
            _check_pattern(str(pattern["Regex"]))
    if model.get("dropout"):
        raise ValueError("it drops merges at random (dropout), so no text has one reading")
    longest = model.get("max_input_chars_per_word", 100)
    if not isinstance(longest, int) or not 0 < longest <= MOST_WORD:
        raise ValueError(f"max_input_chars_per_word is {longest}; expected 1 to {MOST_WORD:,}")


def _check_vocabulary(vocabulary: object) -> None:
    """Token to id, or a list of tokens with their scores."""
    match vocabulary:
        case dict():
            tokens, numbers = vocabulary.keys(), vocabulary.values()
        case list() if all(isinstance(pair, list) and len(pair) == 2 for pair in vocabulary):
            tokens, numbers = [pair[0] for pair in vocabulary], [pair[1] for pair in vocabulary]
        case _:
            raise ValueError("its vocabulary is neither tokens with ids nor tokens with scores")
    if not all(isinstance(token, str) for token in tokens) or max(map(len, tokens), default=0) > MOST_CHARACTERS:
        raise ValueError(f"a token is no text or has more than {MOST_CHARACTERS:,} characters")
    if not all(type(n) in (int, float) and -MOST_INTEGER <= n <= MOST_INTEGER for n in numbers):  # nor NaN
        raise ValueError(f"a token's id or score is beyond {MOST_INTEGER:,}")


def _check_added(added: list) -> None:
    contents = [token.get("content") if isinstance(token, dict) else token for token in added]
    if len(contents) > MOST_ENTRIES:
        raise ValueError(f"it adds {len(contents):,} tokens; at most {MOST_ENTRIES:,} are taken")
    if not all(isinstance(content, str) and len(content) <= MOST_CHARACTERS for content in contents):
        raise ValueError(f"an added token is no text or has more than {MOST_CHARACTERS:,} characters")


def _check_values(part: dict) -> None:
    """Every number and text in a part of the file, whatever it means."""
    for key, value in walk(part):
        if isinstance(value, str) and len(value) > MOST_CHARACTERS and key != "precompiled_charsmap":
            raise ValueError(f"{key!r} has {len(value):,} characters; at most {MOST_CHARACTERS:,} are read")
        if isinstance(value, int | float) and not abs(value) <= MOST_INTEGER:  # nor NaN
            raise ValueError(f"{key!r} is {value}; at most {MOST_INTEGER:,} is read")
        if key.isdecimal() and (len(key) > 20 or int(key) > MOST_INTEGER):  # the ids of added tokens
            raise ValueError(f"an id in it is {key[:80]}; at most {MOST_INTEGER:,} is read")


def _steps(part: object) -> list[dict]:
    """A step and the steps within it (a Sequence)."""
    if isinstance(part, list):
        return [step for each in part for step in _steps(each)]
    if not isinstance(part, dict):
        return []
    return [part, *(step for each in part.values() for step in _steps(each) if "type" in step)]


def _growth(step: dict) -> int:
    """How many times as long this step can make a text."""
    match step.get("type"):
        case "Replace":
            content, pattern = str(step.get("content", "")), step.get("pattern")
            literal = pattern.get("String") if isinstance(pattern, dict) else None
            if isinstance(literal, str) and literal:
                return max(1, math.ceil(len(content) / len(literal)))
            return 1 + len(content)  # an expression may match nothing at all, between any two characters
        case "Precompiled":
            return _charsmap_growth(step.get("precompiled_charsmap"))
        case "TemplateProcessing":
            longest = max((len(ids) for key, ids in walk(step) if key == "ids" and isinstance(ids, list)), default=1)
            return max(_repetitions(step.get("single")), _repetitions(step.get("pair")), longest)
        case _:
            return 1


def _repetitions(template: object) -> int:
    """How often a template of [CLS], the text, [SEP] and the like takes up the same text."""
    items = template if isinstance(template, list) else []
    texts = [str(item["Sequence"]) for item in items if isinstance(item, dict) and "Sequence" in item]
    return max((texts.count(text) for text in texts), default=1) if len(items) <= MOST_STEPS else len(items)


def _charsmap_growth(charsmap: object) -> int:
    """SentencePiece's table: the size of its index, the index, and the replacements, each ended by a zero byte."""
    try:
        table = base64.b64decode(charsmap or "", validate=True)
    except (TypeError, ValueError):
        raise ValueError("its precompiled_charsmap is no base64") from None
    replacements = table[4 + int.from_bytes(table[:4], "little") :]
    return max(1, max(map(len, replacements.split(b"\0"))) // 3)  # a character of one byte becomes ... of three


def _check_pattern(pattern: str) -> None:
    """Refuse an expression that can take time beyond all bounds: repetitions in repetitions, or many in a row.

    Escapes and sets of characters count as one letter; then groups are folded, from the innermost outwards.
    """
    plain = re.sub(r"\\[1-9gk]", "*{", pattern)  # a reference back
    plain = re.sub(r"\[[^\]]*\]", "x", re.sub(r"\\[pP]\{\^?\w+\}|\\.", "x", plain, flags=re.DOTALL))
    plain = re.sub(r"\((\?([a-zA-Z-]*:|[=!>]|<[=!]))?", "(", plain)
    nested = False
    while (group := re.search(r"\(([^()]*)\)(?=([*+{])?)", plain)) is not None:
        inside, repeated = group.groups()
        nested |= repeated is not None and bool(
            re.search(r"[*+?|]|\{\d*,", inside) or ("{" in inside and repeated == "{")
        )
        plain = plain[: group.start()] + ("x+" if re.search(r"[*+]|\{\d*,", inside) else "x") + plain[group.end() :]
    stacked = re.search(r"[*+?}]\{|\}[*+]", plain)
    in_a_row = max(len(re.findall(r"[*+]|\{\d*,", alternative)) for alternative in plain.split("|"))
    if nested or stacked or in_a_row > MOST_REPETITIONS or plain.count("?") > MOST_STEPS:
        raise ValueError(f"its pattern {pattern[:80]!r} repeats repetitions, or refers back")


def _read(path: Path) -> dict:
    return read_json(path, MOST_BYTES, "tokenizer") if path.exists() else {}
