"""The word's strip, the whole head in both sentences, A against B, and the figure to download."""

import pandas as pd
import streamlit as st
import torch

from selfattn.analysis.compare import SentenceComparison, compare_sentences
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.captions import attention as captions
from selfattn.charts.butterfly import butterfly
from selfattn.charts.two_sentences import difference_map, maps_of_two, two_sentences
from selfattn.charts.vega import Spec
from selfattn.dashboard.cache import cached_error
from selfattn.dashboard.choice import Choice, Occurrence
from selfattn.dashboard.download import file_button, file_name, view_link
from selfattn.dashboard.figures import current_theme, show_chart, this_page
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
from selfattn.encoders.capture import Head
from selfattn.export import files
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from selfattn.frames import against_frame, strip_frame, weights_frame

AGAINST = "A against B"
COLUMN = 552  # two side by side at 1440, one below the other in a narrow window

PIXELS = 2  # a unit, in a PNG

LINKED = ("a", "b", "c", "word", "at_a", "at_b", "head", "swap", "map", "view", "words", "hide", "dtype")


def row(side: Occurrence, head: Head) -> torch.Tensor:
    """The word's row of weights in one head, (n,): the mean over a split word's pieces."""
    return side.encoding.weights(*head, slice(side.word.start, side.word.stop)).mean(0)


def strip(choice: Choice) -> pd.DataFrame:
    """Both sentences as words with the weight each gets from the chosen word."""
    return pd.concat([strip_of(side, choice.head, name) for name, side in choice.pair.sides])


def strip_of(side: Occurrence, head: Head, name: str) -> pd.DataFrame:
    """One sentence as words with the weight each gets from the chosen word."""
    return strip_frame(side.encoding, row(side, head), side.word, name)


def error(choice: Choice) -> float | None:
    """The largest difference between the kernel's weights and the model's own in this head, over both sentences."""
    if not choice.encoder.recomputable:
        return None
    return max(cached_error(choice.encoder, side.encoding.text, *choice.head) for _, side in choice.pair.sides)


def show_maps(choice: Choice) -> Provenance:
    """The whole head side by side, on one colour scale: from scratch, the model's own, or their difference.

    Returns where the view's figures come from.
    """
    st.markdown(
        "**4  The whole head, side by side**", help="Row: the token that attends. Column: the token it attends to."
    )
    pair, head = choice.pair, choice.head
    options = ["from scratch", "model's own", "difference"] if choice.encoder.recomputable else ["model's own"]
    options.append(AGAINST)
    controls = st.container(horizontal=True, vertical_alignment="center")
    with controls:
        source = segmented("Whose weights", options, default=options[0], key="view", label_visibility="collapsed")
    options, origin = pick_map_options(controls), _origin(choice)
    if source == AGAINST:
        _show_against(choice, not options.special)
        return origin
    places = st.container(horizontal=True, gap="medium")
    columns = {name: places.container(width=COLUMN, gap="small") for name, _ in pair.sides}
    views = {}
    for name, side in pair.sides:
        with columns[name]:
            views[name] = zoomed(_view(side, head, source, options), name)
    charts = _maps(choice, views, source, str(head))
    for name, view in views.items():
        with columns[name]:
            reading = _map_reading(view, source) + binning(view)
            title = f"what each word attends to in {name}" + ("" if source == "from scratch" else f", {source}")
            show_chart(charts[name], reading, name=title, sentence=name, table=table_of(view))
            _offer_png(name, charts[name], origin.of_figure(title, sentences=(name,)))
    if not options.special:
        st.text(captions.hidden_weight({name: view.hidden for name, view in views.items()}), width="stretch")
    return origin


def _show_against(choice: Choice, hidden: bool) -> None:
    found = against(choice, hidden)
    theme, name = current_theme(), str(choice.head)
    rows = against_frame(*(strip_of(side, choice.head, sentence) for sentence, side in choice.pair.sides))
    reading = captions.weight_difference(found)
    places = st.container(horizontal=True, gap="medium")
    with places.container(width=COLUMN):
        own_row, title = (
            captions.only_one_has(rows, choice.pair.word),
            f'what "{choice.pair.word}" attends to, A against B',
        )
        show_chart(butterfly(rows, theme, name=name), own_row, name=title)
    with places.container(width=COLUMN):
        chart = difference_map(found, theme, name=name)
        title = "what each word attends to, A minus B"
        show_chart(chart, reading, visible=False, name=title, table=lambda: found.frame())
        st.text(reading, width="stretch")
        if hidden:
            gone = {
                name: word_map(side.encoding, side.encoding.weights(*choice.head), special=False).hidden
                for name, side in choice.pair.sides
            }
            st.text(captions.hidden_weight(gone), width="stretch")


def against(choice: Choice, hidden: bool) -> SentenceComparison:
    """One head's weights in A minus its weights in B, word by word."""
    first, second = ((side.encoding, side.word) for _, side in choice.pair.sides)
    return compare_sentences(first, second, *choice.head, special=not hidden)


def _view(side: Occurrence, head: Head, source: str, options: MapOptions) -> WordMap:
    """The map from the source that the switch names."""
    encoding = side.encoding
    own = encoding.own_weights(*head) if source != "from scratch" else None
    if source == "model's own":
        return whole(own, encoding, options)
    return whole(encoding.weights(*head), encoding, options, own)


def _maps(choice: Choice, views: dict[str, WordMap], source: str, name: str) -> dict[str, Spec]:
    positions = {sentence: side.positions for sentence, side in choice.pair.sides}
    kind, legend = ("signed", "from scratch minus own") if source == "difference" else ("weights", "weight")
    return maps_of_two(views, positions, current_theme(), name=name, kind=kind, legend=legend)


def _map_reading(view: WordMap, source: str) -> str:
    what = "difference to the model's own" if source == "difference" else "weight"
    return captions.largest_cell(view.matrix.numpy(), view.labels, what)


def _offer_png(name: str, chart: Spec, origin: Provenance) -> None:
    """A picture's own icon. Nothing is drawn before it is asked for."""
    make, file = lambda: files.png(chart, origin, PIXELS), f"{file_name(origin)}.png"
    file_button(f"PNG of {name}", make, file, "image/png", f"png_{name}", ":material/image:")


def _origin(choice: Choice) -> Provenance:
    """Where the view's figures come from."""
    return Provenance.of(
        choice.encoder,
        f'What "{choice.pair.word}" attends to in two sentences, {choice.head}',
        {name: side.encoding for name, side in choice.pair.sides},
        layer=choice.head.layer,
        head=choice.head.head,
        error=error(choice),
        link=view_link(choice.encoder, **{key: st.session_state.get(key) for key in LINKED}),
    )


def offer_figure(choice: Choice, words: pd.DataFrame, origin: Provenance) -> None:
    """Offer the figure (both strips above both maps), the weights, and the link."""
    pair, head = choice.pair, choice.head
    file = f"selfattn-{str(head).replace(' ', '')}"
    name = f'"{pair.word}" and the whole head in both sentences'
    reading = captions.most_weight(words, pair.word, str(head))
    if st.session_state.get("view") == AGAINST:
        found = against(choice, bool(st.session_state.get("hide")))
        figures, tables = {name: lambda: against_figure(choice, found)}, {name: found.frame}
        file, reading = f"{file}-difference", captions.weight_difference(found)
    else:
        source = st.session_state.get("view") or "from scratch"
        figures = {name: lambda: figure(choice, source)}
        tables = {name: lambda: _weights(choice)}
    this_page().view = View(file, origin, figures, tables, captions={name: reading})


def figure(choice: Choice, source: str) -> Spec:
    """The figure to download: what the page shows, without its zoom."""
    options = chosen_options()
    views = {name: _view(side, choice.head, source, options).binned() for name, side in choice.pair.sides}
    maps = _maps(choice, views, source, f"{choice.head}, {source}")
    return two_sentences(strip(choice), maps.values(), current_theme())


def against_figure(choice: Choice, found: SentenceComparison) -> Spec:
    """Both strips above the word-aligned difference."""
    theme = current_theme()
    return two_sentences(strip(choice), [difference_map(found, theme, name=str(choice.head))], theme)


def _weights(choice: Choice) -> pd.DataFrame:
    return pd.concat(
        [
            weights_frame(side.encoding.weights(*choice.head), side.encoding.tokens).assign(sentence=name)
            for name, side in choice.pair.sides
        ]
    )
