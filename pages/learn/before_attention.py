"""Show how a recurrent net passed words along, what attention does instead and what it costs, and what a weighted mean loses."""

import pandas as pd
import streamlit as st

from selfattn.charts.curves import lines
from selfattn.charts.hops import hops
from selfattn.dashboard import session, teaching
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import heading
from selfattn.kernel import attend
from selfattn.lessons import recurrence, worked_example
from selfattn.numbers import error, vector
from selfattn.views.lesson import drawing
from selfattn.words import split_words

EXAMPLES = (recurrence.LONG_SENTENCE, "cat", "ran"), (recurrence.SENTENCE, "bank", "it")
SENTENCE, START, STOP = "recurrence.sentence", "recurrence.start", "recurrence.stop"
PUBLISHED = {"recurrence.gain": 0.9, "recurrence.gate": 0.05, "recurrence.asking": 18.0}
LONGEST = 60  # words: each word is left out in turn, which takes time


def choose() -> tuple[tuple[str, ...], int, int]:
    """Draw the fields; return the sentence's words and the two chosen places, from 1."""
    with st.container(horizontal=True):
        for example in EXAMPLES:
            _, first, second = example
            st.button(f"{first} … {second}", key=f"recurrence.{first}", on_click=_use, args=example)
    if SENTENCE not in st.session_state:
        _use(*EXAMPLES[0])
    words = split_words(st.text_input("Sentence", key=SENTENCE, max_chars=500))
    if not 2 <= len(words) <= LONGEST:
        raise ValueError(f"Expected a sentence of 2 to {LONGEST} words, got {len(words)}. Type a sentence.")
    places = range(1, len(words) + 1)
    for key, place in ((START, min(2, len(words) - 1)), (STOP, min(7, len(words)))):
        if st.session_state.get(key) not in places:
            st.session_state[key] = place
    with st.container(horizontal=True):
        # The options are numbers whose labels show the words, because a select box doesn't read labels as Markdown.
        start = st.selectbox("From", places, format_func=lambda n: f"{n} {words[n - 1]}", key=START, width=220)
        stop = st.selectbox("To", places, format_func=lambda n: f"{n} {words[n - 1]}", key=STOP, width=220)
    if start == stop:
        raise ValueError(f"Expected two different words, got word {start} twice. Choose another.")
    return words, start, stop


def _use(sentence: str, first: str, second: str) -> None:
    words = split_words(sentence)
    st.session_state.update({SENTENCE: sentence, START: words.index(first) + 1, STOP: words.index(second) + 1})


def show_path(words: tuple[str, ...], start: int, stop: int, signal: pd.DataFrame) -> None:
    """Draw the steps from one word to the other, animated in turn, and attention's single step."""
    steps = stop - start
    moving = "".join(
        f".st-key-path [class*=pathgroup]>g:nth-child({n}){{animation-delay:{n / 4}s}}" for n in range(1, steps + 1)
    )
    st.html(
        "<style>@media(max-width:700px){.st-key-path .vega-embed{overflow-x:auto}"
        ".st-key-path svg.marks{max-width:none!important}}"
        "@media(prefers-reduced-motion:no-preference){@keyframes hop{from{opacity:0}}"
        f".st-key-path [class*=pathgroup]>g{{animation:hop .3s both}}{moving}}}</style>"
    )
    left = signal.loc[signal["network"] == "plain recurrence", "share"].tolist()[1:]
    chart = drawing(hops, words, start - 1, stop - 1, left)
    with st.container(key="path"):
        teaching.steps(
            "path",
            f"Steps through a recurrence: {steps}. By attention: 1.",
            {"A hop is as thick as what is left of the first word": chart},
            key=f"path.{hash((words, start, stop))}",
            note=f'From word {start}, "{words[start - 1]}", to word {stop}, "{words[stop - 1]}": {steps} steps through a '
            f"recurrence, with {steps - 1} states in between, and {len(words)} steps in a row for the whole sentence. "
            f"Attention takes one step, and pays with {len(words) ** 2} scores.",
        )


def show_signal(words: tuple[str, ...], start: int, stop: int) -> None:
    """Show the gradient and the share of the first word along the way, with sliders for the three networks."""
    for key, value in PUBLISHED.items():
        st.session_state.setdefault(key, value)
    path = st.container()
    st.markdown("#### Does the word get through?")
    teaching.prose(
        "Three small networks read your sentence. A recurrence multiplies its state by the **gain** at each word and adds "
        "the word; the gated one does only a share of that, the **gate**, but all of it at the first word. The **gradient** "
        "says how much a state would move if the first word moved; the **share**, how much of the state is that word's doing: "
        "it shrinks even at a gain of 1, because the others are added. Gate and query are set by hand, as training would set "
        "them; attention that doesn't ask spreads evenly, and dilutes too."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gain = st.slider("Gain of the recurrence", 0.5, 1.5, step=0.05, key="recurrence.gain", width=230)
        gate = st.slider("Gate for other words", 0.0, 1.0, step=0.05, key="recurrence.gate", width=230)
        label = "How strongly attention asks for the word"
        asking = st.slider(label, 0.0, 20.0, step=1.0, key="recurrence.asking", width=270)
        teaching.reset("recurrence", PUBLISHED)
    signal = recurrence.signal(words, start, stop, gain, gate, asking)
    with path:
        show_path(words, start, stop, signal)
    last = signal[signal["step"] == stop].set_index("network")
    log = "y" if signal["gradient"].min() > 0 else ""
    with teaching.row():
        for column, title, looks in (
            ("gradient", "Gradient: does the first word still matter to this state?", {"log": log}),
            ("share", "Share: how much of this state is the first word?", {"domain": (0, 1)}),
        ):
            ends = ", ".join(f"{name} {value:.2f}" for name, value in last[column].items())  # at the second word
            chart = {
                title: drawing(
                    lines, signal, "step", column, series="network", titles=("word", column), size=(400, 240), **looks
                )
            }
            teaching.steps(column, f"At word {stop}: {ends}.", chart, width=470)
    teaching.prose(
        "**When recurrence wins:** over a short gap, with a gain near 1, or with a gate that is nearly shut. All three are "
        "settings; attention needs none of them to be right, only a query that asks for the word."
    )


def show_costs() -> None:
    """Show how many multiplications a layer needs, and on request how long it takes here."""
    st.markdown("#### What it costs")
    teaching.explain("query", "key", "score", "weight", "projection", "value", "context")
    counts = recurrence.operations((5, 10, 20, 50, 100, 200, 500, 1000, 2000))
    looks = {"series": "network", "log": "xy", "titles": ("words", ""), "size": (400, 240)}
    with teaching.row():
        teaching.steps(
            "cost",
            "With its four projections attention multiplies more at any length: twice as much for a few words, four times at "
            "1024 (2 d).",
            {"Multiplications in one layer, d = 512": drawing(lines, counts, "words", "multiplications", **looks)},
            note="Scores and values alone need less below 512 (d). What attention saves is steps in a row: 1 for n.",
            width=470,
        )
        with st.container(width=470):
            st.markdown("**Timed on this machine, just now**")
            if st.button("Time it", key="recurrence.time"):
                device = current_encoder().device
                session.RACE.set((device, recurrence.race(repeats=5, device=device)))
            if session.RACE.get() is None:
                st.text("One matrix product against a loop over the words; 10, 100 and 1,000 words.")
            else:
                device, race = session.RACE.get()
                table = race.pivot(index="way", columns="words", values="milliseconds")
                shown = table.rename(columns=lambda words: f"{words:,} words, ms").round(3)
                st.dataframe(shown.assign(**{"100 against 10": (table[100] / table[10]).round(1)}))
                st.text(
                    f"On {device}. Both ways of attention give the same numbers; the loop only takes longer. {verdict(table)}"
                )


def verdict(table: pd.DataFrame) -> str:
    """State at which lengths the recurrence was quicker than attention's one product. table: milliseconds by way and words."""
    quicker = table.loc["recurrent, word by word"] < table.loc["one matrix product"]
    lengths = " and ".join(f"{n:,}" for n in table.columns[quicker])
    if not lengths:
        return "One product was quicker than the recurrence at every length; n × n scores outgrow n steps only beyond."
    return f"From there recurrence wins: at {lengths} words it was quicker than one product, for n × n scores outgrow n steps."


def show_forgetting() -> None:
    """Show other values, and another order, that give the same context."""
    st.markdown("#### And what attention loses")
    trace = worked_example.compute()
    weights, moved = trace.weights[0], trace.value.clone()
    heavy, light = weights.topk(2).indices
    moved[heavy] += weights[light]  # multiplied by its weight, one value gains as much as the other loses
    moved[light] -= weights[heavy]
    same = attend(trace.query, trace.key, moved)
    reverse = attend(trace.query, trace.key.flip(-2), trace.value.flip(-2))
    teaching.prose(
        '"Attention loses nothing" is too strong. The context is *one* weighted mean: other values, same mean.'
    )
    for name, values in {"values": trace.value, "other values": moved}.items():
        rows = (", ".join(f"{number:5.2f}" for number in row) for row in values.tolist())
        st.text(f"{name}: {'  '.join(f'[{row}]' for row in rows)}")
    st.text(f"Same weights, same context: {vector(same.context[0], 2)}. Read in reverse order it is the same again.")
    apart, order = (error(float((each.context - trace.context).abs().max())) for each in (same, reverse))
    st.expander("Details").text(f"They differ by {apart}; in reverse order by {order}: rounding.")


heading("Before attention: recurrence")
teaching.prose(
    "Before attention, a network read word by word and passed along one *state* of fixed size, as if an "
    "article had to fit into one tweet. To reach a later word, a "
    "word must survive every step in between. With attention, any word attends to any other directly."
)
with teaching.messages():
    words, start, stop = choose()
    show_signal(words, min(start, stop), max(start, stop))
show_costs()
show_forgetting()
teaching.take(
    "Through a recurrence a word must survive every step; to attention every word is one step away, for n × n scores."
)
