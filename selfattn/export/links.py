"""What a link to a page asks for: which figure of `selfattn.notebook`, and of what."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from selfattn.analysis.compare import rarest_first, why_no_counterparts
from selfattn.analysis.explaining import explain
from selfattn.encoders.capture import Head
from selfattn.encoders.classification import load_class_head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, TextError
from selfattn.encoders.loading import load_encoder
from selfattn.encoders.masked_lm import load_masked_head, replace_word
from selfattn.encoders.pooling import load_pooling
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.export.notebook_lines import LABELLED, MAPS, PAGES, SAID, PairView, overlaid_first
from selfattn.scan import read_scan
from selfattn.senses import interchange, random_twin, separation
from selfattn.views import predictions
from selfattn.views.two_sentences import word_in_two_sentences
from selfattn.words import fold

Asked = Mapping[str, str]  # what the address says, by key; of buttons the option
Figure = tuple[str, tuple, dict[str, Any]]  # its name in selfattn.notebook, arguments, options
FIRST = PAIRS[0]
MANY = "\n"  # between the values of a key that an address has several times


def linked_figure(url: str, encoder: Encoder | None = None) -> Figure:
    """What a link asks for, with the encoder that it names, or this one in its place.

    Raises ValueError for a link to another page or to a table of the visitor's own, LoadError for one made with other weights,
    TextError, ScanError, NoHead and NoPooling.
    """
    address = urlsplit(url)
    asked = {key: MANY.join(values) for key, values in parse_qs(address.query, keep_blank_values=True).items()}
    for key in SAID.keys() & asked.keys():
        asked[key] = next((option for option, text in SAID[key].items() if text == asked[key]), asked[key])
    page = address.path.rstrip("/").rpartition("/")[2]
    if page in PAGES:
        return _pair(page, encoder or _encoder(asked), asked)
    if page not in OTHERS:
        titles = dict.fromkeys([*PAGES.values(), *(title for title, _ in OTHERS.values())])
        raise ValueError(f"Expected a link to {', '.join(titles)}, got one to {page!r}.")
    _, made = OTHERS[page]
    return made(encoder or _encoder(asked), asked)


def _pair(page: str, encoder: Encoder, asked: Asked) -> Figure:
    own = "example" not in asked and bool({"a", "b"} & asked.keys())
    start = next((pair for pair in PAIRS if pair.word == asked.get("example")), FIRST)
    a, b = asked.get("a", start.first), asked.get("b", start.second)
    control = asked.get("c", start.control if a == start.first else "")
    encodings = [encoder.encode(text) for text in (a, b)]
    named = asked.get("word", "").strip()
    shared = rarest_first(*encodings, named)
    if not shared:
        raise TextError("No word stands in both sentences of the link. Change one of them so that they share a word.")
    default = start.word if not own and start.word in shared else shared[0]
    word = next((each for each in shared if fold(each) == fold(named)), default)
    at = int(asked.get("at_a", "1")), int(asked.get("at_b", "1"))
    sides = [encoding.places(word)[number - 1] for encoding, number in zip(encodings, at)]
    beside = encoder.encode(control).places(word)[:1] if control.strip() else []
    rows = labelled_sentences()
    senses = LABELLED if asked.get("way") != "sentences" and fold(word) in set(rows["word"]) else ""
    head = Head.named(asked["head"]) if "head" in asked else None
    if head is None:
        head = word_in_two_sentences(encoder, *sides, *beside, senses=rows if senses else None).first_head
    chosen = tuple(filter(None, asked.get("overlaid", MANY.join(overlaid_first(head))).split(MANY)))
    view = PairView(
        page=page, texts=(a, b), control=control if beside else None, word=word, at=at, head=head, senses=senses,
        measure=asked.get("measure"), sentence=asked.get("sentence", "A"), tab=asked.get("tab", MAPS), overlaid=chosen,
    )  # fmt: skip
    figure, arguments, options = view.call
    return figure, (encoder, *arguments), options | ({"senses": rows} if "senses" in options else {})


def _senses(encoder: Encoder, asked: Asked) -> Figure:
    head = str(_head(encoder, asked))
    if asked.get("source") == "scan":
        scan = read_scan(asked.get("scan", ""))
        return "scanned", (scan, asked.get("scan_map", "special_share")), {"chosen": head}
    if asked.get("source") == "table":
        raise ValueError(
            'A link has no table of your own in it. Take the lines of its page, "Copy as Python", and give them your file.'
        )
    rows = labelled_sentences()
    word = asked.get("sense_word", min(rows["word"]))
    if not encoder.patchable:
        return "separated", (separation(encoder, rows),), {}
    return "brought_in", (interchange(encoder, rows[rows["word"] == word]), word), {"chosen": head}


def _two_encoders(first: Encoder, asked: Asked) -> Figure:
    second, text = _second(first, asked), asked.get("a", FIRST.first)
    if not why_no_counterparts(first, second):
        return "counterparts", (first, second, text), {"chosen": str(_head(first, asked))}
    return "difference", (first, second, text, _head(first, asked), _head(second, asked, "head2", "L0 H0")), {}


def _predictions(encoder: Encoder, asked: Asked) -> Figure:
    text = asked.get("a", FIRST.first)
    kind = asked.get("asked") or predictions.first_asked(encoder, "gap" in asked)
    if kind == "class":
        questions = [predictions.class_question(load_class_head(encoder), encoder.encode(text), asked.get("class"))]
    elif kind == "gap":
        head, tokens = load_masked_head(encoder), encoder.tokenize(text)
        words = predictions.words_of(tokens)
        gap = words.index(asked["gap"]) if asked.get("gap") in words else min(1, len(words) - 1)
        masked = encoder.encode(replace_word(tokens, gap, head.mask_token))
        questions = [predictions.gap_question(head, masked)]
    else:
        sides = {"A": encoder.encode(text), "B": encoder.encode(asked.get("b", FIRST.second))}
        questions = predictions.similarity_questions(encoder, load_pooling(encoder), sides)
    found = {each.said: explain(encoder, each.sentence, each.asked(each.sentence)) for each in questions}
    return "explained_words", (found,), {}


# By address: the page's title, and what a link to it asks for.
OTHERS: dict[str, tuple[str, Callable[[Encoder, Asked], Figure]]] = {
    "senses": ("Senses", _senses),
    "two-encoders": ("Two encoders", _two_encoders),
    "predictions": ("Predictions", _predictions),
    "masked-words": ("Predictions", _predictions),  # its old address
}


def _head(encoder: Encoder, asked: Asked, key: str = "head", default: str = "L0 H10") -> Head:
    """The head that the link names, as far as the encoder has it."""
    heads = {str(head): head for head in encoder.all_heads}
    return heads.get(asked.get(key, ""), heads.get(default, encoder.all_heads[0]))


def _second(first: Encoder, asked: Asked) -> Encoder:
    """The second encoder of Two encoders; the first one untrained, unless the link names one."""
    if asked.get("second") in (None, "the same, untrained"):
        return random_twin(first)
    return _encoder(asked, "second", "second_", first.dtype)


def _encoder(asked: Asked, key: str = "model", prefix: str = "", dtype: str | None = None) -> Encoder:
    """The encoder that a link names, of the weights that it was made with."""
    name = asked.get(f"{prefix}other") if asked.get(key) == "another ..." else asked.get(key)
    bundled = name in (None, BUNDLED_NAME.split("/")[-1])
    revision, dtype = asked.get(f"{prefix}revision"), dtype or asked.get("dtype", "float32")
    encoder = load_encoder(None if bundled else name, revision=revision, dtype=dtype)
    digest = asked.get(f"{prefix}digest", "")
    if not encoder.digest.startswith(digest.split(" ")[0]):
        raise LoadError(
            "digest",
            f"The link was made with other weights than {encoder.title}'s: the sha256 of those begins {digest[:200]!r}. Load "
            "the link's encoder, and give it as encoder=.",
        )
    return encoder
