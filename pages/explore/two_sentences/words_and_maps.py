"""The word's strip, the whole head in both sentences, A against B, and the figure to download."""

import pandas as pd
import streamlit as st

from selfattn.analysis.compare import SentenceComparison, compare_sentences
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.captions import attention as captions
from selfattn.charts.butterfly import butterfly
from selfattn.charts.two_sentences import difference_map, maps_of_two, two_sentences
from selfattn.charts.vega import Spec
from selfattn.dashboard.cache import cached_weights
from selfattn.dashboard.choice import Choice, Occurrence
from selfattn.dashboard.download import png_button
from selfattn.dashboard.figures import Figure, current_theme, note_figure, say, show_chart, side_by_side
from selfattn.dashboard.pickers import (
    MapOptions,
    binning,
    chosen_options,
    pick_map_options,
    segmented,
    table_of,
    whole,
    zoomed,
)
from selfattn.frames import against_frame, strip_rows, weights_frame

SCRATCH, OWN, DIFFERENCE, AGAINST = "from scratch", "model's own", "difference", "A against B"


def strip(choice: Choice) -> list[dict]:
    """Both sentences as words with the weight each gets from the chosen word: the mean over a split word's pieces."""
    rows = []
    for name, side in choice.pair.sides:
        row = cached_weights(choice.encoder, side.encoding.text, *choice.head)[list(side.positions)].mean(0)
        rows += strip_rows(side.encoding, row, side.word, name)
    return rows


def show_maps(choice: Choice) -> None:
    """The whole head side by side, on one colour scale: from scratch, the model's own, or their difference."""
    st.markdown(
        "**4  The whole head, side by side**", help="Row: the token that attends. Column: the token it attends to."
    )
    sources = _sources(choice)
    controls = st.container(horizontal=True, vertical_alignment="center")
    with controls:
        source = segmented("Whose weights", sources, default=sources[0], key="view", label_visibility="collapsed")
    options = pick_map_options(controls)
    if source == AGAINST:
        hidden = _show_against(choice, not options.special)
    else:
        hidden = _show_both(choice, source, options)
    if not options.special:
        say(captions.hidden_weight(hidden))


def _sources(choice: Choice) -> list[str]:
    return [SCRATCH, OWN, DIFFERENCE, AGAINST] if choice.encoder.recomputable else [OWN, AGAINST]


def _show_both(choice: Choice, source: str, options: MapOptions) -> dict[str, float]:
    """The head in A beside that in B; the weight hidden in each."""
    places = dict(zip("AB", side_by_side()))
    views = {}
    for name, view in _views(choice, source, options).items():
        with places[name]:
            views[name] = zoomed(view, name)
    what = "difference to the model's own" if source == DIFFERENCE else "weight"
    for name, chart in _maps(choice, views, source, str(choice.head)).items():
        view = views[name]
        with places[name]:
            reading = captions.largest_cell(view.matrix.numpy(), view.labels, what) + binning(view)
            title = f"what each word attends to in {name}" + ("" if source == SCRATCH else f", {source}")
            visible = source != SCRATCH or view.step > 1
            show_chart(chart, reading, visible=visible, name=title, sentence=name, table=table_of(view))
            png_button(name, chart, title)
    return {name: view.hidden for name, view in views.items()}


def _show_against(choice: Choice, hidden: bool) -> dict[str, float]:
    """The word's row, then all rows, in A against those in B; the weight hidden in each."""
    found, theme, name, rows = against(choice, hidden), current_theme(), str(choice.head), pd.DataFrame(strip(choice))
    row, whole_head = side_by_side()
    with row:
        own = against_frame(*(rows[rows["sentence"] == sentence] for sentence in "AB"))
        title = f'what "{choice.pair.word}" attends to, A against B'
        show_chart(butterfly(own, theme, name=name), captions.only_one_has(own, choice.pair.word), name=title)
    with whole_head:
        title = "what each word attends to, A minus B"
        show_chart(
            difference_map(found, theme, name=name), captions.weight_difference(found), name=title, table=found.frame
        )
    sides = choice.pair.sides
    return {
        sentence: word_map(side.encoding, side.encoding.weights(*choice.head), special=False).hidden
        for sentence, side in sides
    }


def against(choice: Choice, hidden: bool) -> SentenceComparison:
    """One head's weights in A minus its weights in B, word by word."""
    first, second = ((side.encoding, side.word) for _, side in choice.pair.sides)
    return compare_sentences(first, second, *choice.head, special=not hidden)


def _views(choice: Choice, source: str, options: MapOptions) -> dict[str, WordMap]:
    """The head's map in A and in B, from the source that the switch names."""
    return {name: _view(choice, side, source, options) for name, side in choice.pair.sides}


def _view(choice: Choice, side: Occurrence, source: str, options: MapOptions) -> WordMap:
    own = None if source == SCRATCH else side.encoding.own_weights(*choice.head)
    if source == OWN:
        return whole(own, side.encoding, options)
    return whole(cached_weights(choice.encoder, side.encoding.text, *choice.head), side.encoding, options, own)


def _maps(choice: Choice, views: dict[str, WordMap], source: str, name: str) -> dict[str, Spec]:
    positions = {sentence: side.positions for sentence, side in choice.pair.sides}
    kind, legend = ("signed", "from scratch minus own") if source == DIFFERENCE else ("weights", "weight")
    return maps_of_two(views, positions, current_theme(), name=name, kind=kind, legend=legend)


def offer_figure(choice: Choice, words: list[dict]) -> None:
    """Offer what the view shows of its head as one figure, and the head's weights."""
    reading = captions.most_weight(words, choice.pair.word, str(choice.head))
    name, state = f'"{choice.pair.word}" and the whole head in both sentences', st.session_state

    def draw() -> Spec:  # as the switches are by then
        return figure(choice, state.get("view") or _sources(choice)[0], chosen_options())

    def table() -> pd.DataFrame:
        if state.get("view") == AGAINST:
            return against(choice, bool(state.get("hide"))).frame()
        parts = []
        for sentence, side in choice.pair.sides:
            weights = cached_weights(choice.encoder, side.encoding.text, *choice.head)
            parts.append(weights_frame(weights, side.encoding.tokens).assign(sentence=sentence))
        return pd.concat(parts)

    note_figure(name, Figure(draw, reading, table))


def figure(choice: Choice, source: str, options: MapOptions) -> Spec:
    """Both strips above both maps, or above their difference; without a zoom."""
    theme = current_theme()
    if source == AGAINST:
        maps = [difference_map(against(choice, not options.special), theme, name=str(choice.head))]
    else:
        views = {name: view.binned() for name, view in _views(choice, source, options).items()}
        maps = _maps(choice, views, source, f"{choice.head}, {source}").values()
    return two_sentences(strip(choice), maps, theme)
