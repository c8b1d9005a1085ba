"""The dashboard's charts in a notebook, three lines each, as Altair charts.

    from selfattn import load_encoder
    from selfattn.notebook import two_sentences
    two_sentences(load_encoder(), "The bank of the river.", "The bank approved the loan.", layer=0, head=10)

Altair draws them as it draws any chart; in JupyterLab without a network: altair.renderers.enable("mimetype").
"""

import altair as alt
import pandas as pd

from selfattn.analysis.interventions import knock_out_effect
from selfattn.analysis.measures import drift
from selfattn.analysis.word_map import word_map
from selfattn.charts.curves import drift_curve
from selfattn.charts.head_map import head_map
from selfattn.charts.heatmap import heatmap
from selfattn.charts.theme import LIGHT, Theme
from selfattn.charts.two_sentences import maps_of_two
from selfattn.charts.two_sentences import two_sentences as figure
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.frames import drift_frame, heads_frame, strip_frame
from selfattn.words import Word, find, shared_words


def attention(encoder: Encoder, text: str, layer: int, head: int, theme: Theme = LIGHT) -> alt.TopLevelMixin:
    """One head's whole map on a text: row i says what token i attends to."""
    encoding = encoder.encode(text)
    weights = encoding.weights(layer, head).numpy()
    return alt.Chart.from_dict(heatmap(weights, encoding.tokens, theme, title=str(Head(layer, head))))


def two_sentences(
    encoder: Encoder, first: str, second: str, word: str | None = None, *, layer: int, head: int, theme: Theme = LIGHT
) -> alt.TopLevelMixin:
    """What a word attends to in two sentences, in one head. word: one that stands in both (None: the longest)."""
    sides = _sides(encoder, first, second, word)
    maps = {
        name: word_map(encoding, encoding.weights(layer, head), words=False) for name, (encoding, _) in sides.items()
    }
    strips = [
        strip_frame(encoding, encoding.weights(layer, head, slice(word.start, word.stop)).mean(0), word, name)
        for name, (encoding, word) in sides.items()
    ]
    positions = {name: word.positions for name, (_, word) in sides.items()}
    drawn = maps_of_two(maps, positions, theme, name=f"{Head(layer, head)}, from scratch")
    return alt.Chart.from_dict(figure(pd.concat(strips), drawn.values(), theme))


def removals(
    encoder: Encoder, first: str, second: str, word: str | None = None, *, chosen: str = "", theme: Theme = LIGHT
) -> alt.TopLevelMixin:
    """All heads: what removing each does to the cosine of a word's two vectors. chosen: a head to mark ("L0 H10")."""
    (a, in_a), (b, in_b) = _sides(encoder, first, second, word).values()
    effect = knock_out_effect(encoder, (a.text, in_a.positions), (b.text, in_b.positions))
    return alt.Chart.from_dict(head_map(heads_frame(effect=effect), "effect", theme, chosen))


def parting(
    encoder: Encoder, first: str, second: str, word: str | None = None, *, theme: Theme = LIGHT
) -> alt.TopLevelMixin:
    """The cosine of a word's two vectors: as bare token, as layer 0 reads it, after each layer."""
    (a, in_a), (b, in_b) = _sides(encoder, first, second, word).values()
    curve = drift_frame(**{"A against B": drift(a, in_a.positions, b, in_b.positions)})
    return alt.Chart.from_dict(drift_curve(curve, theme, {"A against B": theme.ink}))


def _sides(encoder: Encoder, first: str, second: str, word: str | None) -> dict[str, tuple[Encoding, Word]]:
    encodings = {"A": encoder.encode(first), "B": encoder.encode(second)}
    if word is None:
        shared = shared_words(encodings["A"].words, encodings["B"].words)
        if not shared:
            raise TextError("No word stands in both sentences. Change one of them so that they share a word.")
        word = shared[0]
    return {name: (encoding, _find(encoding, word)) for name, encoding in encodings.items()}


def _find(encoding: Encoding, word: str) -> Word:
    places = find(encoding.words, word)
    if not places:
        raise TextError(
            f"{word!r} is not a word of {encoding.text!r}. Write it as it stands there (letter case aside)."
        )
    return encoding.words[places[0]]
