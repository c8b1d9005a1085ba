"""Compare a recurrence with attention."""

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
LONGEST = 60  # words; the page leaves out each word in turn, which is slow


def choose() -> tuple[tuple[str, ...], int, int]:
    """Return the words of the typed sentence, and the positions (from 1) of the two chosen words."""
    with st.container(horizontal=True):
        for example in EXAMPLES:
            _, first, second = example
            st.button(f"{first} … {second}", key=f"recurrence.{first}", on_click=_use, args=example)
    if SENTENCE not in st.session_state:
        _use(*EXAMPLES[0])
    words = split_words(st.text_input("Sentence", key=SENTENCE, max_chars=500))
    if not 2 <= len(words) <= LONGEST:
        raise ValueError(f"Expected 2 to {LONGEST} words in the sentence, got {len(words)}. Change the sentence.")
    places = range(1, len(words) + 1)
    for key, place in ((START, min(2, len(words) - 1)), (STOP, min(7, len(words)))):
        if st.session_state.get(key) not in places:
            st.session_state[key] = place
    with st.container(horizontal=True):
        # The options are positions, because a word may occur twice.
        start = st.selectbox("From", places, format_func=lambda n: f"{n} {words[n - 1]}", key=START, width=220)
        stop = st.selectbox("To", places, format_func=lambda n: f"{n} {words[n - 1]}", key=STOP, width=220)
    if start == stop:
        raise ValueError(f'Expected different words in "From" and "To", got word {start} twice. Choose another word.')
    return words, start, stop


def _use(sentence: str, first: str, second: str) -> None:
    words = split_words(sentence)
    st.session_state.update({SENTENCE: sentence, START: words.index(first) + 1, STOP: words.index(second) + 1})


def show_path(words: tuple[str, ...], start: int, stop: int, signal: pd.DataFrame) -> None:
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
            f"Steps between the two words: {steps} in a recurrence, 1 with attention.",
            {"The thicker the line, the more of the state comes from the first word": chart},
            key=f"path.{hash((words, start, stop))}",
            note=f"To read the whole sentence, a recurrence takes {len(words)} steps, one after another. Attention takes one "
            f"step, but computes {len(words) ** 2} scores.",
        )


def show_signal(words: tuple[str, ...], start: int, stop: int) -> None:
    """Show how strongly word `start` affects the state at each word up to `stop`."""
    for key, value in PUBLISHED.items():
        st.session_state.setdefault(key, value)
    path = st.container()
    st.markdown("#### How much of the first chosen word reaches the second?")
    teaching.prose(
        "Three small networks read your sentence: a plain recurrence, a gated recurrence and attention. At each word, the "
        "plain recurrence multiplies its state by the **gain** and adds the word. In the gated recurrence, the **gate** says "
        "how much of this change is made; at the first chosen word, all of it is made.\n\n"
        "The **gradient** says how much a state would move if the first chosen word's vector moved. The **share** says how much "
        "of a state comes from the first chosen word. The share shrinks even at a gain of 1, because other words are added.\n\n"
        "A real network would learn the gate and attention's query; here you set them. If the query doesn't ask for the first "
        "chosen word, attention's weights are nearly equal, and the share shrinks, too."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gain = st.slider("Gain of the recurrence", 0.5, 1.5, step=0.05, key="recurrence.gain", width=230)
        gate = st.slider("Gate for other words", 0.0, 1.0, step=0.05, key="recurrence.gate", width=230)
        label = "How strongly each query asks for the first word"
        asking = st.slider(label, 0.0, 20.0, step=1.0, key="recurrence.asking", width=270)
        teaching.reset("recurrence", PUBLISHED)
    signal = recurrence.signal(words, start, stop, gain, gate, asking)
    with path:
        show_path(words, start, stop, signal)
    last = signal[signal["step"] == stop].set_index("network")
    log = "y" if signal["gradient"].min() > 0 else ""
    with teaching.row():
        for column, title, looks in (
            ("gradient", "Gradient: how much each state depends on the first word", {"log": log}),
            ("share", "Share: how much of each state comes from the first word", {"domain": (0, 1)}),
        ):
            ends = ", ".join(f"{name} {value:.2f}" for name, value in last[column].items())
            chart = {
                title: drawing(
                    lines, signal, "step", column, series="network", titles=("word", column), size=(400, 240), **looks
                )
            }
            teaching.steps(column, f"At word {stop}: {ends}.", chart, width=470)
    teaching.prose(
        "**A recurrence keeps a word** over a short distance. It keeps the word for longer if the gain is near 1, or if the gate "
        "is nearly closed. Attention only needs a query that asks for the word."
    )


def show_costs() -> None:
    st.markdown("#### What it costs")
    teaching.explain("query", "key", "score", "weight", "projection", "value", "context")
    counts = recurrence.operations((5, 10, 20, 50, 100, 200, 500, 1000, 2000))
    looks = {"series": "network", "log": "xy", "titles": ("words", ""), "size": (400, 240)}
    with teaching.row():
        teaching.steps(
            "cost",
            "With its four projections, attention needs more multiplications than a recurrence: twice as many for a few words, "
            "and four times as many for 1024 words.",
            {"Multiplications in one layer, d = 512": drawing(lines, counts, "words", "multiplications", **looks)},
            note="For fewer than d = 512 words, attention without its projections needs fewer multiplications than a "
            "recurrence. Attention takes 1 sequential step. A recurrence takes one step for each word.",
            width=470,
        )
        with st.container(width=470):
            st.markdown("**Measure how long attention and recurrence take on this machine**")
            if st.button("Time it", key="recurrence.time"):
                device = current_encoder().device
                session.RACE.set((device, recurrence.race(repeats=5, device=device)))
            if session.RACE.get() is None:
                st.text(
                    "Measure the time of attention as one matrix product, of attention word by word, and of a recurrence, "
                    "for 10, 100 and 1,000 words."
                )
            else:
                device, race = session.RACE.get()
                table = race.pivot(index="way", columns="words", values="milliseconds")
                shown = table.rename(columns=lambda words: f"{words:,} words, ms").round(3)
                st.dataframe(shown.assign(**{"100 against 10": (table[100] / table[10]).round(1)}))
                st.text(
                    f"Device: {device}. Both kinds of attention compute the same numbers, but attention word by word takes "
                    f"longer. {verdict(table)}"
                )


def verdict(table: pd.DataFrame) -> str:
    """Say at which numbers of words the recurrence was quicker than attention.

    table: milliseconds, with a column for each number of words
    """
    quicker = table.loc["recurrent, word by word"] < table.loc["one matrix product"]
    lengths = " and ".join(f"{n:,}" for n in table.columns[quicker])
    if not lengths:
        return (
            "Attention as one matrix product was always quicker than the recurrence. In still longer texts, n × n scores take "
            "longer than n steps."
        )
    return f"The recurrence was quicker at {lengths} words, because attention computes n × n scores."


def show_forgetting() -> None:
    st.markdown("#### What attention loses")
    trace = worked_example.compute()
    weights, moved = trace.weights[0], trace.value.clone()
    heavy, light = weights.topk(2).indices
    moved[heavy] += weights[light]  # weight × value: one word gains what the other loses
    moved[light] -= weights[heavy]
    same = attend(trace.query, trace.key, moved)
    reverse = attend(trace.query, trace.key.flip(-2), trace.value.flip(-2))
    teaching.prose(
        "Attention also loses information. The context is *one* weighted mean, and other values can have the same mean."
    )
    for name, values in {"values": trace.value, "other values": moved}.items():
        rows = (", ".join(f"{number:5.2f}" for number in row) for row in values.tolist())
        st.text(f"{name}: {'  '.join(f'[{row}]' for row in rows)}")
    st.text(
        f"Both sets of values give the context {vector(same.context[0], 2)}. The reverse word order gives the same context."
    )
    apart, order = (error(float((each.context - trace.context).abs().max())) for each in (same, reverse))
    st.expander("Details").text(
        f"The other values change the context by {apart}. The reverse order changes the context by {order}. "
        "Both changes are rounding errors."
    )


heading("Before attention: recurrence")
teaching.prose(
    "Before attention, recurrent networks read a text word by word. They kept all that they had read in one *state* of "
    "fixed size, as if an article had to fit into one tweet. A word's information reaches a later word only if it "
    "survives every step in between. With attention, every word attends to every other word directly."
)
with teaching.messages():
    words, start, stop = choose()
    show_signal(words, min(start, stop), max(start, stop))
show_costs()
show_forgetting()
teaching.take(
    "In a recurrence, a word must survive every step. With attention, every word is one step away, at the cost of n × n scores."
)
