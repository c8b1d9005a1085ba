"""The dashboard's charts in a notebook, three lines each, as Altair charts.

    from selfattn import load_encoder
    from selfattn.notebook import two_sentences
    two_sentences(load_encoder(), "The bank of the river.", "The bank approved the loan.", layer=0, head=10)

Altair draws them as it draws any chart; in JupyterLab without a network: altair.renderers.enable("mimetype").
"""

import copy
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from selfattn import numbers
from selfattn import tidy_tables as tidy
from selfattn.analysis.compare import compare_encoders, counterpart_distances
from selfattn.analysis.explaining import Explained
from selfattn.analysis.hidden_sentences import HiddenSentences
from selfattn.analysis.measures import Compared, head_measures, offered
from selfattn.analysis.removing import removal_effect
from selfattn.analysis.word_map import word_map
from selfattn.charts.head_map import head_grid, head_map, opened_by_a_click
from selfattn.charts.heatmap import heatmap
from selfattn.charts.shaded import shaded
from selfattn.charts.theme import DARK, LIGHT, Theme
from selfattn.charts.vega import Spec, stacked
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.encoders.placed_word import PlacedWord
from selfattn.examples import labelled_sentences
from selfattn.panel import Look
from selfattn.scan import Scan
from selfattn.senses import SeparationReport
from selfattn.stored_reports import stored
from selfattn.views import senses as senses_view
from selfattn.views import similar as similar_view
from selfattn.views.kernel_row import word_row
from selfattn.views.kernel_view import kernel_panel
from selfattn.views.long_text import Row, long_text
from selfattn.views.main_view import main_view
from selfattn.views.one_head import against, head_maps
from selfattn.views.shaded import Tint, shaded_data
from selfattn.words import shared_words


def attention(
    encoder: Encoder, text: str, layer: int, head: int, theme: Theme = LIGHT, *, pair: str | None = None
) -> alt.TopLevelMixin:
    """One head's whole map on a text (with `pair`, of two segments): row i holds the weights of token i.

    Limit: a weight isn't an effect. A large weight on a small value hands over little.
    """
    encoding = encoder.encode(text, pair)
    weights = encoding.weights(layer, head).numpy()
    return _chart(heatmap(weights, encoding.tokens, theme, title=str(Head(layer, head))))


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
    """One head in two sentences: the weights from a word, A against B, above both whole maps.

    word: one that both sentences have (None: the longest). at: the number of its place in each sentence, from 1.
    Limit: it doesn't show which words give the word its meaning; `hidden_words` does.
    """
    sides = _sides(encoder, first, second, word, at)
    at_head = Head(layer, head)
    maps = {name: word_map(side.sentence, side.sentence.weights(*at_head), words=False) for name, side in sides.items()}
    look = _look(theme)
    row, _ = against(sides, at_head)
    return _chart(stacked(row.picture(look), head_maps(sides, maps, at_head, "scratch").picture(look)))


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
    """Every head's map on a text, small; a click opens a map below, shaded up to its largest weight.

    chosen: the head to open first, "L0 H10" ("": the one with the largest measure). measure: one of
    `analysis.measures.MEASURES`, shown in the strip under each map. A measure of a word compares the text with `second`, beside
    a `control` in which the word has the text's sense; word, at: as in `two_sentences`. maps_of: "A" for the text's maps, "B"
    for those of `second`. Raises ValueError for an unknown measure, head or `maps_of`.
    Limit: it doesn't show a head's purpose. A pattern may belong to this text only, and attention is not explanation.
    """
    texts = {"A": text} | ({} if second is None else {"B": second})
    if maps_of not in texts:
        raise ValueError(f"Expected maps_of to be {' or '.join(map(repr, texts))}, got {maps_of!r}.")
    encoding = encoder.encode(texts[maps_of], pair)
    maps = [weights.numpy() for layer in range(encoder.n_layers) for weights in encoding.weights(layer)]
    beside = {"B": second, "control": control} if second is not None else {}
    measures = offered([name for name, other in beside.items() if other is not None])
    if measure not in measures:
        raise ValueError(f"Expected a measure: {', '.join(measures)}, got {measure!r}.")
    record, columns = measures[measure], head_measures(encoding)
    if record.of != "text":
        sides = _sides(encoder, text, second or "", word, at, control)
        columns |= record.columns(Compared(sides, partial(removal_effect, encoder)))
    frame, kind = tidy.heads_frame(**columns), "effect" if record.signed else "shares"
    grid = head_grid(maps, frame, measure, theme, "", kind=kind, columns=encoder.n_heads)
    large = {head: heatmap(own, encoding.tokens, theme) for head, own in zip(encoder.all_heads, maps)}
    if chosen and chosen not in set(frame["name"]):
        raise ValueError(f"Expected a head from L0 H0 to {encoder.all_heads[-1]}, got {chosen!r}.")
    leading = encoder.all_heads[int(frame[measure].fillna(-math.inf).argmax())]
    return _chart(opened_by_a_click(grid, large, Head.named(chosen) if chosen else leading))


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
    """A head's arithmetic for a word in two sentences, token by token, from query times key to weight times value.

    word, at: as in `two_sentences`. Of a split word: its first piece. By words: `tidy_tables.row_frame`.
    Limit: it shows the arithmetic softmax(QKᵀ/√d)V, recomputed, and no meaning; later layers decide on the effect.
    """
    sides = _sides(encoder, first, second, word, at)
    rows = [word_row(side, Head(layer, head), name) for name, side in sides.items()]
    return _Whole(kernel_panel(rows, head=Head(layer, head)).picture(_look(theme)))


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
    """The words that give a word its meaning: how far hiding each of them moves the word, and through which heads.

    One picture, the main view's: the finding, both sentences, how far the word moves without the leading words, and the heads
    by the effect of hiding the leading word in each alone. control: a sentence of the first's sense. senses: labelled sentences
    (columns sentence, word, sense); with them, shares are of the way to the word's other sense, and with the built-in ones words
    are named by their noise level. word, at: as in `two_sentences`. Numbers: `tidy_tables.hidden_words_frame`,
    `hidden_heads_frame`, `hidden_curves_frame`.
    Limits: between two sentences the result is about these two, and no evidence about the sense. Other words may pass the
    hidden word on. A large weight isn't a large effect. Shares of single heads don't add up.
    """
    sides = _sides(encoder, first, second, word, at, control)
    many = None if senses is None else stored("hidden_words", encoder, senses)
    *_, panel = main_view(encoder, *sides.values(), senses=senses, over_many=many and many.report)
    return _Whole(panel.picture(_look(theme)))


def explained_words(found: Mapping[str, Explained], theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """Sentences, each word shaded by the effect of hiding it from everything on the encoder's own answer.

    found: the line to print for each sentence, and its result. Numbers: `tidy_tables.explained_words_frame`.
    Limit: single words don't add up (`Explained.together`).
    """
    frame = tidy.explained_words_frame(found)
    tint = Tint("effect", numbers.change, "change {}", float(frame["effect"].abs().max()) or 1.0)
    return _Whole(shaded(shaded_data(frame, {line: line for line in frame["said"].unique()}, tint), theme))


def hidden_sentences(found: Mapping[str, HiddenSentences], theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """Long texts, each sentence shaded by the effect of hiding it on the encoder's own answer, over its noise level.

    found: the line to print for each text, and its result. Numbers: `HiddenSentences.frame`.
    Limit: sentences that say the same cover for one another.
    """
    rows = [Row(line, hidden) for line, hidden in found.items()]
    return _Whole(long_text("the answer", numbers.change, rows).picture(_look(theme)))


def explained_heads(found: Explained, chosen: str = "", theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """All heads: the effect of removing each on the encoder's own answer; run for `found.leading`, else by gradient.

    Numbers: `tidy_tables.explained_heads_frame`. Limit: without a head, the others get inputs that they weren't trained on.
    """
    return _chart(head_map(tidy.explained_heads_frame(found), "effect", theme, chosen))


def similar(encoder: Encoder, a: str, b: str, theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """Two texts of a sentence embedder: the pairs of words that bring them together, and the cosine without each word.

    With the cosines of 1,000 unrelated pairs, where these are stored or measured. Numbers:
    `analysis.cosine_parts.cosine_parts`, `hidden_cosines`. Raises NoPooling, TextError. Limit: a part accounts for the sum,
    not for a cause.
    """
    kept = stored("unrelated_pairs", encoder, labelled_sentences())
    panel = similar_view.similar(encoder, encoder.encode(a), encoder.encode(b), unrelated=kept and kept.report)
    return _Whole(panel.picture(_look(theme)))


def counterparts(
    first: Encoder, second: Encoder, text: str, *, chosen: str = "", theme: Theme = LIGHT
) -> alt.TopLevelMixin:
    """All heads: the distance of each head's weights on a text from its counterpart's, 0 (the same) to 1 (nothing shared).

    first, second: two checkpoints of one architecture. Raises ValueError if the tokens differ. Limit: it is about one text (for
    many: `senses.compare_checkpoints`), and doesn't show which head of the second took over the work of one of the first.
    """
    frame = tidy.heads_frame(distance=counterpart_distances(first.encode(text), second.encode(text)))
    return _chart(head_map(frame, "distance", theme, chosen, kind="weights", title="distance of the weights"))


def difference(
    first: Encoder, second: Encoder, text: str, head: Head, partner: Head, theme: Theme = LIGHT
) -> alt.TopLevelMixin:
    """Two encoders of different architectures: the first's weights in `head` minus the second's in `partner`, words x words.

    Limit: it doesn't show which heads correspond.
    """
    compared = compare_encoders(first.encode(text), head, second.encode(text), partner)
    title = f"{head} minus {partner}"
    return _chart(heatmap(compared.difference.numpy(), compared.words, theme, kind="signed", title=title, legend=title))


def removals(
    encoder: Encoder, first: str, second: str, word: str | None = None, *, chosen: str = "", theme: Theme = LIGHT
) -> alt.TopLevelMixin:
    """All heads: the effect of removing each, at every position, on the cosine of a word's two vectors. chosen: a head to mark.

    Limit: it doesn't show the head's contribution. Without it, the others get inputs that they weren't trained on.
    """
    a, b = _sides(encoder, first, second, word).values()
    effect = removal_effect(encoder, a, b)
    return _chart(head_map(tidy.heads_frame(effect=effect), "effect", theme, chosen))


def separated(report: SeparationReport, theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """The accuracy of telling senses apart after each layer, with intervals over words and baselines (report.layers).

    Limit: it doesn't show that attention found the sense; a word's own value, or an average, may do as well.
    """
    return _chart(senses_view.layers(report).picture(_look(theme)))


def scanned(scan: Scan, measure: str, *, chosen: str = "", theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """All heads: the mean of a measure over a finished scan (scan.heads()): "special_share", "entropy" or "top_weight".

    Limit: it doesn't show the variation between the texts.
    """
    title = measure.replace("_", " ")
    return _chart(head_map(tidy.named_heads(scan.heads()), measure, theme, chosen, kind="weights", title=title))


def chart(spec: Spec) -> alt.TopLevelMixin:
    """Show any complete Vega-Lite specification as Altair shows a chart, without validation.

    Limit: it doesn't show the origin of its numbers.
    """
    return _Whole(spec)


def __getattr__(name: str) -> NoReturn:
    """Name the replacement of a function that earlier versions had. Raises ImportError, or AttributeError for other names."""
    if name == "from_link":
        raise ImportError(
            'selfattn.notebook.from_link is gone. Open the link and take the lines of "Download", "Copy as Python"; or call '
            "hidden_words, steps, all_heads or another function of selfattn.notebook."
        )
    if name in ("swaps", "brought_in"):
        raise ImportError(
            f"selfattn.notebook.{name} is gone, with the swaps of heads. Call hidden_words, or removals for the heads."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _look(theme: Theme) -> Look:
    return Look(dark=theme is DARK)


def _chart(spec: Spec) -> alt.TopLevelMixin:
    """Return the spec as an Altair chart, validated once as a whole: Altair's validation of every part takes seconds."""
    with debug_mode(False):
        return alt.Chart.from_dict(spec)


class _Whole(alt.TopLevelMixin):
    """A complete spec that Altair shows without validation: its schema lacks properties that Vega-Lite passes on to Vega."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def to_dict(self, *args: Any, **options: Any) -> Spec:
        return copy.deepcopy(self.spec)


def _sides(
    encoder: Encoder,
    first: str,
    second: str,
    word: str | None,
    at: tuple[int, int] = (1, 1),
    control: str | None = None,
) -> dict[str, PlacedWord[Encoding]]:
    encodings = {"A": encoder.encode(first), "B": encoder.encode(second)}
    if word is None:
        shared = shared_words(encodings["A"].words, encodings["B"].words)
        if not shared:
            raise TextError("No word stands in both sentences. Change one of them so that they share a word.")
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
            or f"{word!r} is not a word of {encoding.text!r}. Write it as it stands there (letter case aside)."
        )
    if not 1 <= number <= len(places):
        raise TextError(f"{word!r} stands {len(places)} times in {encoding.text!r}; there is no number {number}.")
    return places[number - 1]
