"""The parts of the page "All heads": the grid of all maps, the card of the chosen head, the lines from one word."""

import numpy as np
import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.attention_rollout import head_average, rollout
from selfattn.analysis.measures import head_measures, similarity
from selfattn.analysis.word_map import word_map
from selfattn.captions import attention as captions
from selfattn.captions import sentences as captions_of_sentences
from selfattn.captions.vectors import noise_floor
from selfattn.charts.head_map import head_grid, thumbnail
from selfattn.charts.heatmap import heatmap
from selfattn.charts.links import links
from selfattn.dashboard.cache import cached, cached_effect, cached_encode, cached_interchange, cached_pooling
from selfattn.dashboard.choice import Choice, Occurrence
from selfattn.dashboard.figures import current_theme, followed, literal, say, show_chart, show_error, side_by_side
from selfattn.dashboard.pickers import binning, pick_map_options, segmented, swaps_are_exact, whole, zoomed
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.frames import heads_frame, strip_frame, weights_frame

# What the strips show: what it is called on the page, the unit, and what it means.
MEASURES = {
    "entropy": ("bits", "How widely a row spreads its weight: 0 is one token, log2(n) is all tokens equally."),
    "distance": ("tokens", "How far away the weight lies, in tokens."),
    "special tokens": ("", "The share of the weight on special tokens."),
    "previous token": ("", "The share of the weight on the token before."),
    "next token": ("", "The share of the weight on the token after."),
    "itself": ("", "The share of the weight on the token itself."),
    "effect": (
        "signed",
        "Removing the head (output set to zero): by how much the cosine of the word's two vectors rises.",
    ),
    "effect (mean)": ("signed", "The same with the head's output set to its mean over the sentence instead of zero."),
    "control": ("signed", "The effect (zero) for the control: A against a sentence of the same sense."),
    "similarity, swap": (
        "signed",
        "How far A's sentence vector moves to B's, and B's to A's, when the head's mean output over the sentence becomes the "
        "other's. A sentence vector is the mean of last hidden states that the encoder's own files name.",
    ),
    "similarity, removal": (
        "signed",
        "Removing the head in both sentences (output set to zero): by how much the cosine of the sentence vectors rises.",
    ),
}
SIMILARITY = {"similarity, swap": captions_of_sentences.swap, "similarity, removal": captions_of_sentences.removal}
EFFECTS = {"effect": ("second", "zero"), "effect (mean)": ("second", "mean"), "control": ("control", "zero")}


SEGMENTS = "A and B as one text"


def segments(choice: Choice) -> Occurrence:
    """The word of A where A and B are read together, as the two segments of one text."""
    pair = choice.pair
    try:
        encoding = cached_encode(choice.encoder, pair.first.encoding.text, pair.second.encoding.text)
    except TextError as error:
        show_error(f"A and B together: {error}")
        st.stop()
    nth = pair.first.encoding.words.index(pair.first.word)  # A comes first, so its words come in the same places
    return Occurrence(encoding, encoding.words[nth])


def show_grid(choice: Choice, side: Occurrence) -> None:
    """Every head's map in one picture; a click chooses a head."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        removable = side.encoding.pair is None  # two segments are one text: there is no second to compare with
        effects = [*EFFECTS, *SIMILARITY]
        without = () if removable and choice.encoder.patchable else effects
        known = [name for name in MEASURES if name not in without and (name != "control" or choice.pair.control)]
        if st.session_state.get("measure", known[0]) not in known:
            st.session_state.measure = known[0]
        measure = st.selectbox("Coloured strip", known, key="measure", bind="query-params", width=220)
        ordered = st.toggle("Sort the heads by it", key="sorted", bind="query-params")
    key = ("measures", side.encoding.text, side.encoding.pair)
    columns = dict(cached(choice.encoder, key, lambda _: head_measures(side.encoding), "Measuring all heads ..."))
    if measure in SIMILARITY:
        similar = _similarity(choice, measure)
        if isinstance(similar, str):
            st.info(literal(similar))
            measure = known[0]
        else:
            columns |= similar[1]
    unit, meaning = MEASURES[measure]
    if measure in EFFECTS:
        against, how = EFFECTS[measure]
        first, second = choice.pair.first.place, getattr(choice.pair, against).place
        columns[measure] = cached_effect(choice.encoder, first, second, how)
    frame, noise = noise_floor(heads_frame(**columns), measure, choice.encoder.dtype, dict.fromkeys(effects, 1.0))
    if ordered:
        frame = frame.sort_values(measure, ascending=False, kind="stable", ignore_index=True)
    every, across = _thumbnails(choice.encoder, side.encoding), choice.encoder.n_heads
    maps = [every[place] for place in frame["layer"] * across + frame["head"]]
    kind, marked = "effect" if unit == "signed" else "weights", str(choice.head)
    chart = head_grid(maps, frame, measure, current_theme(), marked, kind=kind, columns=across, named=ordered)
    if measure in SIMILARITY:
        reading = SIMILARITY[measure](frame, measure, str(choice.head), similar[0])
    else:
        reading = captions.measure_by_head(frame, measure, unit, str(choice.head))
    reading = f"{reading} {noise}".rstrip()
    sent = followed(chart, reading)
    show_chart(chart, reading, key="grid", heads=True, sent=sent, name="all heads", table=lambda: frame)
    st.caption(f"{meaning} {'' if unit == 'signed' else 'Mean over the rows of the ordinary tokens.'}")


def _similarity(choice: Choice, measure: str) -> tuple[float, dict[str, Tensor]] | str:
    """The cosine of the two sentences' vectors, and the measure by head, with its control's where there is one.

    Or why this encoder, or one of these texts, has none.
    """
    encoder, pair, pooling = choice.encoder, choice.pair, cached_pooling(choice.encoder)
    if isinstance(pooling, str):
        return f"No sentence vector: {pooling}"
    sides = [side.encoding for side in (pair.first, pair.second, pair.control) if side is not None]
    try:
        places = [(side.text, pooling.positions(encoder.tokenize(side.text))) for side in sides]
    except TextError as error:
        return f"No sentence vector: {error}"
    vectors = [side.vector(encoder.n_layers, at) for side, (_, at) in zip(sides, places)]
    if measure == "similarity, swap":
        how = "exact" if swaps_are_exact(encoder, pair) else "gradient"
        control = places[2] if pair.control else None
        swaps = cached_interchange(encoder, *places[:2], control, None, how, move=True)
        own, same = swaps.share, swaps.control
    else:
        own, same = (cached_effect(encoder, places[0], other) for other in (places[1], places[-1]))
    columns = {measure: own} | ({f"{measure}, control": same} if pair.control else {})
    return float(similarity(*vectors[:2])), columns


def _thumbnails(encoder: Encoder, encoding: Encoding) -> list[np.ndarray]:
    """Every head's map, shrunk to at most 184 pixels a side with the peaks kept."""

    def make(progress: Progress) -> list[np.ndarray]:
        side = min(len(encoding.tokens), 184)
        return [
            thumbnail(weights, side) for layer in range(encoder.n_layers) for weights in encoding.weights(layer).numpy()
        ]

    return cached(encoder, ("thumbnails", encoding.text, encoding.pair), make)


def show_card(choice: Choice, side: Occurrence) -> None:
    """The chosen head: its map, and what its words attend to most."""
    encoding, head, own = side.encoding, choice.head, str(choice.head)
    which = segmented("Map", list(NAMED), default="this head", key="map_of", label_visibility="collapsed")
    name = NAMED[which].format(head=own, layer=head.layer)
    weights = one_map(choice.encoder, encoding, which, head)
    if which in FORMULAS:
        st.markdown(FORMULAS[which])
    options = pick_map_options(st.container(horizontal=True))
    shown = zoomed(whole(weights, encoding, options), "card")
    chart = heatmap(shown.matrix.numpy(), shown.labels, current_theme(), marked=shown.rows_of(side.positions), size=330)
    most = _most(weights, encoding)
    reading = captions.surest_word(most, name) + binning(shown)
    one_head = which == "this head"
    show_chart(
        chart, reading, one_head=one_head, name=f"map: {name}", table=lambda: weights_frame(shown.matrix, shown.labels)
    )
    if not options.special:
        say(captions.hidden_weight({name: shown.hidden}))
    st.page_link("pages/explore/inside_a_head/page.py", label=f"Inside {own}: every step", icon=":material/search:")
    with st.expander("What each word attends to most"):
        st.dataframe(most, hide_index=True, height=min(280, 36 * len(most) + 38))


NAMED = {"this head": "{head}", "average": "The average of L{layer}'s heads", "rollout": "Rollout up to L{layer}"}
FORMULAS = {
    "average": r"$\bar A^{(l)} = \frac{1}{H} \sum_h A^{(l,h)}$: the mean of the layer's heads.",
    "rollout": r"$R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)}$: half attention, half the token "
    "itself, multiplied up through the layers (Abnar and Zuidema 2020).",
}


def one_map(encoder: Encoder, encoding: Encoding, which: str, head: Head) -> Tensor:
    """The map (n, n) of one head, of the average over its layer's heads, or of rollout up to its layer."""
    if which == "average":
        return head_average(encoding, head.layer)
    if which == "rollout":
        return cached(encoder, ("rollout", encoding.text, encoding.pair), lambda _: rollout(encoding))[head.layer]
    return encoding.weights(*head)


def _most(weights: Tensor, encoding: Encoding) -> pd.DataFrame:
    """What each word attends to most: word, attends most to, weight."""
    by_word = word_map(encoding, weights)
    weight, top = by_word.matrix.max(dim=-1)
    most = [by_word.labels[j] for j in top.tolist()]
    table = pd.DataFrame({"word": by_word.labels, "attends most to": most, "weight": weight.tolist()})
    return table[[not special for special in by_word.special]]


MOST_LINES, MOST_WORDS = 6, 60
THIN = " Words with less than 0.005 have no line."


def show_lines(choice: Choice) -> None:
    """Several heads' rows for the word, laid over one another, in both sentences."""
    encoder, head = choice.encoder, choice.head
    names = [str(head) for head in encoder.all_heads]
    extra = [f"average of L{index}" for index in range(encoder.n_layers)] + ["rollout"]
    label = f"Heads, averages and rollout to lay over one another (up to {MOST_LINES})"
    first = [str(head), f"average of L{head.layer}", "rollout"]
    chosen = st.multiselect(
        label, [*names, *extra], first, key="overlaid", bind="query-params", max_selections=MOST_LINES
    )
    if not chosen:
        st.text("Choose at least one head.")
        return
    for option in ("average", "rollout"):
        if any(name.startswith(option) for name in chosen):
            st.markdown(FORMULAS[option])
    theme = current_theme()
    for (name, side), column in zip(choice.pair.sides, side_by_side()):
        frame = _lines_frame(encoder, side, name, chosen)
        words, left = _shown_words(frame, side)
        with column:
            place = int(words.loc[words["chosen"], "place"].iloc[0])
            chart = links(words, side.word.text, theme, word_place=place, color=theme.sentence(name))
            st.markdown(f"**{name}**")
            reading = captions.most_weight(frame.to_dict("records"), side.word.text, by="source") + THIN
            show_chart(chart, reading, one_head=False, name=f"attention as lines in {name}", sentence=name)
            if left:
                say(left)


def _lines_frame(encoder: Encoder, side: Occurrence, sentence: str, sources: list[str]) -> pd.DataFrame:
    encoding = side.encoding
    heads = {str(head): head for head in encoder.all_heads}
    parts = []
    for source in sources:
        which, _, layer = source.partition(" of L")  # "average of L3", "rollout", or a head's name
        head = heads.get(source) or Head(int(layer or encoder.n_layers - 1), 0)
        row = one_map(encoder, encoding, which, head)[list(side.positions)].mean(0)
        parts.append(strip_frame(encoding, row, side.word, sentence).assign(source=source))
    return pd.concat(parts, ignore_index=True)


def _shown_words(frame: pd.DataFrame, side: Occurrence) -> tuple[pd.DataFrame, str]:
    """The words that are drawn (the heaviest ones of a long text, in their order) and what is said of the others."""
    strongest = frame.groupby("place")["weight"].max()
    own = int(frame.loc[frame["chosen"], "place"].iloc[0])
    strongest[own] = 2.0
    if len(strongest) <= MOST_WORDS:
        return frame, ""
    kept = sorted(strongest.nlargest(MOST_WORDS).index)
    shown = frame[frame["place"].isin(kept)]
    lost = 1 - shown.groupby("source", sort=False)["weight"].sum()
    said = ", ".join(f"{numbers.share(share)} in {source}" for source, share in lost.items())
    shown = shown.assign(place=shown["place"].map({place: i for i, place in enumerate(kept)}))
    return shown, (
        f"{len(strongest)} words are too many for lines: the {MOST_WORDS} with the largest weights are drawn. The others "
        f"hold {said} of the weight."
    )
