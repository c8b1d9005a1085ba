"""The parts of the main view: the word's strip, the kernel's steps, the whole maps, the parting curve, the figure."""

import pandas as pd
import streamlit as st
import torch

from selfattn.analysis.compare import SentenceComparison, compare_sentences
from selfattn.analysis.measures import drift, similarity
from selfattn.analysis.word_map import WordMap, word_map
from selfattn.captions import attention as captions
from selfattn.captions import vectors as vector_captions
from selfattn.captions.steps import kernel_error, scale_and_mask
from selfattn.charts.bars import bars, sentence_rows
from selfattn.charts.curves import drift_curve
from selfattn.charts.two_sentences import difference_map, maps_of_two, two_sentences
from selfattn.charts.vega import Spec
from selfattn.dashboard.cache import (
    cached_encode,
    cached_error,
    cached_separate_error,
    cached_without_attention,
    once_per_encoder,
)
from selfattn.dashboard.choice import Choice, Occurrence, Pair
from selfattn.dashboard.download import view_link
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
from selfattn.encoders.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES
from selfattn.export.files import View
from selfattn.export.provenance import Provenance
from selfattn.frames import STEPS, context_frame, drift_frame, steps_frame, strip_frame, weights_frame

AGAINST = "A against B"
STEP = 118  # pixels of a step's bars
COLUMN = 552  # two side by side at 1440, one below the other in a narrow window

LINKED = ("a", "b", "c", "word", "at_a", "at_b", "head", "map", "view", "words", "hide", "attention", "dtype")

STEP_TEXT = {
    "scores": (r"$QK^{\top}$", "The word's query times each token's key: one number a token, larger where they match."),
    "weights": (
        r"$\mathrm{softmax}$",
        "exp of each number, divided by their sum: all positive, summing to 1. Only these are weights.",
    ),
    "share": (
        r"$\times V$",
        "Each token's value times its weight, as a part of the context vector along its direction. Shares sum to 1; one can "
        "be negative.",
    ),
}


def row(side: Occurrence, head: Head) -> torch.Tensor:
    """The word's row of weights in one head, (n,): the mean over a split word's pieces."""
    return side.encoding.weights(*head, slice(side.word.start, side.word.stop)).mean(0)


def strip(choice: Choice) -> pd.DataFrame:
    """Both sentences as words with the weight each gets from the chosen word."""
    return pd.concat(
        [strip_frame(side.encoding, row(side, choice.head), side.word, name) for name, side in choice.pair.sides]
    )


def error(choice: Choice) -> float | None:
    """The largest difference between the kernel's weights and the model's own in this head, over both sentences."""
    if not choice.encoder.recomputable:
        return None
    return max(cached_error(choice.encoder, side.encoding.text, *choice.head) for _, side in choice.pair.sides)


def show_steps(choice: Choice) -> None:
    """The kernel's steps for the word's row, in both sentences, each a small picture."""
    encoder, pair, head = choice.encoder, choice.pair, choice.head
    st.markdown(f"**How {head} gets there, from scratch**")
    if not encoder.recomputable:
        st.info("This encoder's attention is shown as the model reports it; its steps can't be recomputed.")
        st.text(encoder.reason, width="stretch")
        return
    # Only the word's own rows are computed: they cost the same at any length.
    traces = {
        name: (side, side.encoding.trace(*head, slice(side.word.start, side.word.stop))) for name, side in pair.sides
    }
    pieces = {name: range(side.word.stop - side.word.start) for name, side in pair.sides}
    steps = pd.concat(
        [steps_frame(trace, pieces[name], side.encoding.tokens, name) for name, (side, trace) in traces.items()]
    )
    context = pd.concat([context_frame(trace, pieces[name], name) for name, (_, trace) in traces.items()])
    texts = STEP_TEXT | scale_and_mask({name: trace for name, (_, trace) in traces.items()})
    places = st.container(horizontal=True, gap="small")
    for step in STEPS:
        formula, meaning = texts[step]
        with places.container(width=172, gap=None):
            st.markdown(f"{step} {formula}", help=meaning)
            _show_bars(steps[steps["step"] == step], step, f"{step} of the word's row, token by token")
    with places.container(width=172, gap=None):
        st.markdown(
            r"context $\Sigma$", help="The values, averaged with the weights: what the head hands on for the word."
        )
        _show_bars(context, "context", "the context vector of the word")
    separate = [cached_separate_error(encoder, side.encoding.text, *head) for _, side in pair.sides]
    known = None if None in separate else max(separate)
    st.text(kernel_error(error(choice), known), width="stretch")


def _show_bars(frame: pd.DataFrame, step: str, reading: str) -> None:
    theme = current_theme()
    chart = bars(sentence_rows(frame, theme), theme, what=step, width=STEP)
    show_chart(chart, reading, visible=False, width="content", name=step, table=lambda: frame)


def show_maps(choice: Choice) -> None:
    """The whole head side by side, on one colour scale: from scratch, the model's own, or their difference."""
    st.markdown(
        "**The whole head, side by side**", help="Row: the token that attends. Column: the token it attends to."
    )
    pair, head = choice.pair, choice.head
    options = ["from scratch", "model's own", "difference"] if choice.encoder.recomputable else ["model's own"]
    options.append(AGAINST)
    controls = st.container(horizontal=True, vertical_alignment="center")
    with controls:
        source = segmented("Whose weights", options, default=options[0], key="view", label_visibility="collapsed")
    options = pick_map_options(controls)
    if source == AGAINST:
        _show_against(choice, not options.special)
        return
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
            show_chart(charts[name], reading, width="content", table=table_of(view))
    if not options.special:
        st.text(captions.hidden_weight({name: view.hidden for name, view in views.items()}), width="stretch")


def _show_against(choice: Choice, hidden: bool) -> None:
    found = against(choice, hidden)
    chart = difference_map(found, current_theme(), name=str(choice.head))
    reading = captions.weight_difference(found)
    places = st.container(horizontal=True, gap="medium")
    with places.container(width=COLUMN):
        show_chart(chart, reading, width="content", visible=False, table=lambda: found.frame())
    with places.container(width=COLUMN, gap="small"):
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


def show_parting(choice: Choice) -> None:
    """The cosine of the word's two vectors after each layer, with baselines, and the switch that turns attention off."""
    st.markdown(
        "**Where do the two vectors part?**",
        help="The cosine of the word's two vectors: 1 is the same direction. First the bare token, then what layer 0 reads "
        "(with its position, where the encoder adds one), then after each layer.",
    )
    encoder, pair = choice.encoder, choice.pair
    places = st.container(horizontal=True, gap="medium")
    curve, switch = places.container(width=COLUMN), places.container(width=COLUMN)
    theme = current_theme()
    off = None
    with switch:
        on = st.toggle(
            "Attention on", value=True, key="attention", bind="query-params", disabled=not encoder.recomputable
        )
        main = drift(pair.first.encoding, pair.first.positions, pair.second.encoding, pair.second.positions)
        if not on and encoder.recomputable:
            off, largest = _switched_off(encoder, pair, main)
            mixes = embeddings_mix(encoder)
            st.text(vector_captions.attention_off(largest, pair.same_position, mixes), width="stretch")
        st.text(vector_captions.cosines_over_layers(main.tolist(), pair.word, pair.same_position), width="stretch")
        st.text("Dashed: baselines. The same word in the same sense, and two random words.", width="stretch")
    curves, colors = _curves(encoder, pair, main, off, theme)
    with curve:
        chart = drift_curve(
            drift_frame(**curves), theme, colors, dashed=[name for name in curves if not name.startswith("A against B")]
        )
        show_chart(
            chart,
            "Cosine of the word's two vectors over the layers.",
            one_head=False,
            visible=False,
            width="content",
            name="where the two vectors part",
        )


def _curves(encoder, pair, main, off, theme) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    curves = {"A against B": main} if off is None else {"A against B, attention off": off, "A against B": main}
    colors = {"A against B": theme.ink, "A against B, attention off": theme.sentence_b}
    if pair.control is not None:
        same = "same sense (A against the control)"
        curves[same] = drift(pair.first.encoding, pair.first.positions, pair.control.encoding, pair.control.positions)
        colors[same] = theme.sentence_a
    curves["two random words"] = random_words(encoder)
    colors["two random words"] = theme.muted
    return curves, {name: colors[name] for name in curves}


def _switched_off(encoder: Encoder, pair: Pair, main: torch.Tensor) -> tuple[torch.Tensor, float]:
    texts = tuple(side.encoding.text for _, side in pair.sides)
    hidden = cached_without_attention(encoder, texts)
    vectors = [states[:, list(side.positions)].mean(1) for states, (_, side) in zip(hidden, pair.sides)]
    curve = torch.cat([main[:1], similarity(*vectors)])
    return curve, float((vectors[0] - vectors[1]).abs().max())


@once_per_encoder()
def embeddings_mix(encoder: Encoder) -> bool:
    """Whether what layer 0 reads at a word depends on the next one, so that not only attention brings context in."""
    first, second = (cached_encode(encoder, f"The bank {rest}") for rest in ("of the river.", "approved the loan."))
    read = [encoding.vector(0, encoding.words[1].positions) for encoding in (first, second)]
    return not float((read[0] - read[1]).abs().max()) <= 1e-4 * float(read[0].abs().max())


@once_per_encoder()
def random_words(encoder: Encoder) -> torch.Tensor:
    """The mean cosine of two different words in different plain sentences, over depth: the floor, (n_layers + 2,)."""
    vectors = []
    for sentence in NEUTRAL_SENTENCES:
        encoding = cached_encode(encoder, sentence)
        longest = max(encoding.words, key=lambda word: len(word.text))
        vectors.append((encoding, longest.positions))
    pairs = [(a, b) for i, a in enumerate(vectors) for b in vectors[:i]]
    return torch.stack([drift(*a, *b) for a, b in pairs]).mean(0)


def offer_figure(choice: Choice) -> None:
    """Offer the figure (both strips above both maps), the weights, and the link."""
    pair, head = choice.pair, choice.head
    parameters = {key: st.session_state.get(key) for key in LINKED}
    provenance = Provenance.of(
        choice.encoder,
        f'What "{pair.word}" attends to in two sentences, {head}',
        {name: side.encoding for name, side in pair.sides},
        layer=head.layer,
        head=head.head,
        error=error(choice),
        link=view_link(choice.encoder, **parameters),
    )
    file = f"selfattn-{str(head).replace(' ', '')}"
    name = f"{pair.word} in both sentences"
    reading = captions.most_weight(strip(choice), pair.word, str(head))
    if st.session_state.get("view") == AGAINST:
        found = against(choice, bool(st.session_state.get("hide")))
        figures, tables = {name: lambda: against_figure(choice, found)}, {name: found.frame}
        file, reading = f"{file}-difference", captions.weight_difference(found)
    else:
        source = st.session_state.get("view") or "from scratch"
        figures = {name: lambda: figure(choice, source)}
        tables = {name: lambda: _weights(choice)}
    this_page().view = View(file, provenance, figures, tables, captions={name: reading})


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
