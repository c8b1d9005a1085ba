"""Draw the dashboard's charts in a notebook, as Altair charts.

    from selfattn import load_encoder
    from selfattn.notebook import two_sentences
    two_sentences(load_encoder(), "The bank of the river.", "The bank approved the loan.", layer=0, head=10)

In JupyterLab without a network connection, call altair.renderers.enable("mimetype") first.
"""

import copy
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

import altair as alt
import pandas as pd

from selfattn import numbers
from selfattn import tidy_tables as tidy
from selfattn.analysis.explaining import Explained
from selfattn.analysis.measures import Compared, head_measures, offered
from selfattn.analysis.removing import removal_effect
from selfattn.analysis.word_map import word_map
from selfattn.charts.heatmap import heatmap
from selfattn.charts.shaded import shaded
from selfattn.charts.theme import DARK, LIGHT, Theme
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import labelled_sentences
from selfattn.panel import Look, Panel
from selfattn.stored_reports import stored
from selfattn.views import similar as similar_view
from selfattn.views.all_heads import every_head, small_maps
from selfattn.views.explained import explained_data
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from selfattn.views.main_view import main_view
from selfattn.views.one_head import head_maps
from selfattn.words import shared_words


def attention(
    encoder: Encoder, text: str, layer: int, head: int, theme: Theme = LIGHT, *, pair: str | None = None
) -> alt.TopLevelMixin:
    """Draw one head's attention weights as a map. Row i has the weights of query token i.

    pair: a second text, read as the second segment
    Limit: a large weight on a short value vector has little effect.
    """
    encoding = encoder.encode(text, pair)
    weights = encoding.weights(layer, head).numpy()
    return chart(heatmap(weights, encoding.tokens, theme, title=str(Head(layer, head))))


def two_sentences(
    encoder: Encoder,
    first: str,
    second: str,
    word: str | None = None,
    *,
    at: tuple[int, int] = (1, 1),
    layer: int,
    head: int,
    theme: Theme = LIGHT,
) -> alt.TopLevelMixin:
    """Draw one head's attention weights for two sentences, with a word's rows outlined.

    word: a word of both sentences (None: the longest). at: which occurrence of the word in each sentence, from 1.
    Limit: attention weights don't show which words give the word its meaning. For that, call `hidden_words`.
    """
    sides = _sides(encoder, first, second, word, at)
    at_head = Head(layer, head)
    maps = {name: word_map(side.sentence, side.sentence.weights(*at_head), words=False) for name, side in sides.items()}
    return chart(head_maps(sides, maps, at_head, "scratch").picture(Look(dark=theme is DARK)))


def all_heads(
    encoder: Encoder,
    text: str,
    measure: str = "entropy",
    *,
    pair: str | None = None,
    second: str | None = None,
    control: str | None = None,
    word: str | None = None,
    at: tuple[int, int] = (1, 1),
    maps_of: str = "A",
    chosen: str = "",
    theme: Theme = LIGHT,
) -> alt.TopLevelMixin:
    """Draw every head's attention map of a text, with a bar that shows the head's value of `measure`.

    measure: one of `analysis.measures.MEASURES`
    second, control: other sentences with the word, for measures that compare sentences; in `control` the word has the
        same sense as in `text`
    word, at: as in `two_sentences`
    maps_of: "A" draws the maps of `text`, "B" those of `second`
    chosen: a head to outline, such as "L0 H10"
    Raises ValueError for an unknown measure, head or `maps_of`.
    Limit: attention is not explanation.
    """
    texts = {"A": text} | ({} if second is None else {"B": second})
    if maps_of not in texts:
        raise ValueError(f"maps_of must be {' or '.join(map(repr, texts))}, got {maps_of!r}.")
    encoding = encoder.encode(texts[maps_of], pair)
    others = {"B": second, "control": control} if second is not None else {}
    measures = offered([name for name, other in others.items() if other is not None])
    if measure not in measures:
        raise ValueError(f"measure must be one of {', '.join(measures)}, got {measure!r}.")
    record, columns, compared = measures[measure], head_measures(encoding), None
    if record.of != "text":
        sides = _sides(encoder, text, second or "", word, at, control)
        compared = Compared(sides, partial(removal_effect, encoder))
        columns |= record.columns(compared)
    frame = tidy.heads_frame(**columns)
    if chosen and chosen not in set(frame["name"]):
        raise ValueError(f"Expected a head from L0 H0 to {encoder.all_heads[-1]}, got {chosen!r}.")
    head = Head.named(chosen) if chosen else encoder.all_heads[int(frame[measure].fillna(-math.inf).argmax())]
    maps = small_maps(encoding) | {"rows": [], "sentence": ""}
    return chart(every_head(encoding, maps, frame, record, head, compared=compared), theme)


def steps(
    encoder: Encoder,
    first: str,
    second: str,
    word: str | None = None,
    *,
    at: tuple[int, int] = (1, 1),
    layer: int,
    head: int,
    theme: Theme = LIGHT,
) -> alt.TopLevelMixin:
    """Draw how a head computes a word's attention in two sentences, token by token.

    word, at: as in `two_sentences`. If the word has several tokens, only its first token is drawn.
    Limit: the head's effect on the last hidden states also depends on later layers.
    """
    sides = _sides(encoder, first, second, word, at)
    rows = [word_row(side, Head(layer, head), name) for name, side in sides.items()]
    return chart(kernel_panel(rows, head=Head(layer, head)), theme)


def hidden_words(
    encoder: Encoder,
    first: str,
    second: str,
    control: str | None = None,
    word: str | None = None,
    *,
    at: tuple[int, int] = (1, 1),
    senses: pd.DataFrame | None = None,
    theme: Theme = LIGHT,
) -> alt.TopLevelMixin:
    """Hide the other words from the chosen word, one by one, and draw how far the chosen word's vector moves.

    word, at: the chosen word, as in `two_sentences`
    control: a sentence in which the word has the first sentence's sense
    senses: labelled sentences (columns sentence, word, sense); a move is then a fraction of the distance between senses
    The numbers as tables: `tidy_tables.hidden_words_frame`, `hidden_heads_frame`, `hidden_curves_frame`.
    Limits: without `senses`, a result holds for these two sentences only. Effects in single heads don't add up.
    """
    sides = _sides(encoder, first, second, word, at, control)
    report = None if senses is None else stored("hidden_words", encoder, senses)
    *_, panel = main_view(encoder, *sides.values(), senses=senses, over_many=report and report.report)
    return chart(panel, theme)


def explained_words(found: Mapping[str, Explained], theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """Draw texts with words shaded by how much hiding each word changes the prediction.

    found: results of `analysis.explaining.explain`, keyed by a label for the text
    The numbers as tables: `tidy_tables.explained_words_frame`, `Explained.sentence_frame`.
    Limit: effects of single words don't add up.
    """
    return chart(shaded(explained_data(found, "the answer", numbers.change), theme))


def similar(encoder: Encoder, a: str, b: str, theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """Draw how much each pair of words adds to the cosine of two texts.

    The numbers: `cosine_parts` and `hidden_cosines` of `analysis.cosine_parts`. Raises NoPooling, TextError.
    Limit: the parts aren't causes of the cosine.
    """
    kept = stored("unrelated_pairs", encoder, labelled_sentences())
    panel = similar_view.similar(encoder, encoder.encode(a), encoder.encode(b), unrelated=kept and kept.report)
    return chart(panel, theme)


def chart(shown: Panel | Spec, theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """Return a panel's picture or a Vega-Lite spec as an Altair chart that isn't validated."""
    return _Whole(shown.picture(Look(dark=theme is DARK)) if isinstance(shown, Panel) else shown)


GONE = {
    "from_link": 'Open the link, and copy the code under "Download", "Copy as Python". Or call hidden_words, steps or all_heads.',
    "swaps": "Call hidden_words, or all_heads with the measure 'effect'.",
    "brought_in": "Call hidden_words, or all_heads with the measure 'effect'.",
    "removals": "Call all_heads(encoder, first, 'effect', second=second, word=word).",
    "separated": "Call chart(selfattn.views.senses.layers(report)).",
    "scanned": "Call chart(selfattn.views.scanned.means(scan.heads(), measure, head, scan.n_rows)).",
    "counterparts": "Call selfattn.analysis.compare.counterpart_distances or selfattn.senses.compare_checkpoints.",
    "difference": "Call chart with one of the panels that selfattn.views.two_encoders.one_sentence yields.",
    "explained_heads": "Call selfattn.tidy_tables.explained_heads_frame(found).",
}


def __getattr__(name: str) -> NoReturn:
    if name in GONE:
        raise ImportError(f"selfattn.notebook.{name} is gone. {GONE[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Whole(alt.TopLevelMixin):
    """A chart that isn't validated, because Altair's schema lacks properties that we use."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def to_dict(self, *args: Any, **options: Any) -> Spec:
        return copy.deepcopy(self.spec)


def _sides(
    encoder: Encoder, first: str, second: str, word: str | None, at: tuple[int, int], control: str | None = None
) -> dict[str, PlacedWord[Encoding]]:
    encodings = {"A": encoder.encode(first), "B": encoder.encode(second)}
    if word is None:
        shared = shared_words(encodings["A"].words, encodings["B"].words)
        if not shared:
            raise TextError("The two sentences have no word in common. Change a sentence.")
        word = shared[0]
    sides = {name: _place(encoding, word, n) for (name, encoding), n in zip(encodings.items(), at)}
    if control is not None:
        sides["control"] = _place(encoder.encode(control), sides["A"].word.text)
    return sides


def _place(encoding: Encoding, word: str, number: int = 1) -> PlacedWord[Encoding]:
    places = encoding.places(word)
    if not places:
        raise TextError(
            encoding.why_unknown(word)
            or f"{word!r} is not a word of {encoding.text!r}. Spell it as in the text; letter case doesn't matter."
        )
    if not 1 <= number <= len(places):
        raise TextError(f"{word!r} occurs {len(places)} times in {encoding.text!r}. There is no occurrence {number}.")
    return places[number - 1]
