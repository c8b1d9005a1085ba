"""Train a model of 777 parameters, and show how it learns to attend."""

import time
from collections.abc import Sequence

import pandas as pd
import streamlit as st
from torch import Tensor

from selfattn.charts.curves import lines
from selfattn.charts.heatmap import heatmap
from selfattn.dashboard import session, teaching
from selfattn.dashboard.figures import heading
from selfattn.dashboard.queue import costly_slot
from selfattn.lessons import tiny_model
from selfattn.lessons.tiny_model import EpochState, Settings
from selfattn.numbers import share
from selfattn.views.lesson import drawing

PUBLISHED = {"tiny.seed": 0, "tiny.epochs": 10, "tiny.width": 8, "tiny.magic": 42}
# sentence: the probability of "yes" that is printed in the public lesson that this page reproduces
PRINTED = {"0 45 48 1 4 4 40": "0.0001", "0 34 13 33 42 17 3": "0.9993"}
EVEN = f" (equal weights would be {1 / 7:.2f})"
TOKENS = ("[CLS]", "1", "2", "3", "4", "5", "6")


def choose() -> Settings:
    for key, value in PUBLISHED.items():
        st.session_state.setdefault(key, value)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input("Seed", 0, 10_000, key="tiny.seed", width=120, help="The seed of all random numbers.")
        epochs = st.number_input("Epochs", 1, 30, key="tiny.epochs", width=120, help="Passes over all sentences.")
        width = st.number_input("Width", 2, 32, key="tiny.width", width=120)
        magic = st.number_input("Magic number", 1, 50, key="tiny.magic", width=140)
        teaching.reset("tiny", PUBLISHED)
    return Settings(int(seed), int(epochs), int(width), int(magic))


def train(settings: Settings) -> None:
    """Train the model, and show the model's results after each epoch.

    The button "Stop" ends the training. The results of the finished epochs are kept.
    """
    st.button("Stop", key="tiny.stop", icon=":material/stop:")
    bar, picture = st.progress(0.0), st.empty()
    states: list[EpochState] = []
    with costly_slot() as go_on:
        began = time.monotonic()
        session.TRAINED.set((settings, states))
        for state in tiny_model.train(settings):
            states.append(state)
            left = (time.monotonic() - began) / max(state.epoch, 1) * (settings.epochs - state.epoch)
            text = f"Epoch {state.epoch} of {settings.epochs}" + (f", about {left:.0f} s left" if state.epoch else "")
            bar.progress(state.epoch / settings.epochs, text=text)
            with picture.container():
                show_states(states, "live")
            go_on()
    st.rerun()


def show_map(name: str, title: str, weights: Tensor, more: str = "", key: str | None = None) -> None:
    """Show attention weights (7, 7), and the weight from [CLS] to position 4."""
    given = float(weights[tiny_model.CLS, tiny_model.TARGET_POSITION])
    chart = drawing(heatmap, weights, TOKENS, maximum=1.0, cell=36)
    teaching.steps(name, f"[CLS] gives position 4 a weight of {given:.2f}{more}.", {title: chart}, width=370, key=key)


def show_states(states: Sequence[EpochState], key: str, chosen: EpochState | None = None) -> None:
    """Show the training curves so far, and the attention map after epoch `chosen` (None: the last)."""
    chosen, last = chosen or states[-1], states[-1].score
    curves = pd.DataFrame([{"epoch": state.epoch, "loss": state.score.loss} for state in states])
    rates = pd.DataFrame(
        [{"epoch": s.epoch, "rate": rate, "of": name} for s in states
         for name, rate in (("accuracy", s.score.accuracy), ("recall", s.score.recall))]
    )  # fmt: skip
    with teaching.row():
        loss = drawing(lines, curves, "epoch", "loss", log="y", size=(240, 230))
        finding = f"After epoch {states[-1].epoch}, the loss is {last.loss:.4f}."
        teaching.steps("loss", finding, {"Loss": loss}, width=340, key=f"{key}.loss")
        right = drawing(lines, rates, "epoch", "rate", series="of", domain=(0, 1), size=(240, 230))
        finding = f"Accuracy is {share(last.accuracy, 1)}. The model finds {share(last.recall)} of {last.n_positives} positives."
        teaching.steps("right answers", finding, {"Right answers": right}, width=340, key=f"{key}.rates")
        title = f"Mean attention weights in positive sentences, epoch {chosen.epoch}"
        show_map("positives", title, chosen.weights, EVEN, key=f"{key}.map")


def show_result(settings: Settings, states: Sequence[EpochState]) -> None:
    """Show the results of a finished training, compared with baselines."""
    epoch = states[-1].epoch
    if epoch > 0:
        epoch = st.slider("The map after epoch", 0, epoch, epoch, key=f"tiny.epoch.{epoch}", width=420)
    show_states(states, "result", states[epoch])
    last, data = states[-1], tiny_model.samples(settings)
    fresh = tiny_model.score(last.model, tiny_model.samples(settings, fresh=True))
    blind = tiny_model.score(last.model, data, tiny_model.without_edge())
    with st.container(horizontal=True, gap="large"):
        for label, accuracy, recall in (
            ("Sentences not used in training", fresh.accuracy, fresh.recall),
            ("[CLS] can't attend to position 4", blind.accuracy, blind.recall),
            ("Always answering no", 1 - last.score.n_positives / tiny_model.N_SAMPLES, 0.0),
        ):
            st.metric(label, share(accuracy, 1), f"recall {share(recall)}", "off", delta_arrow="off")
        for label, weights in (("positives", last.weights), ("negatives", last.negative_weights)):
            st.metric(f"[CLS] on 4: {label}", f"{float(weights[0, 4]):.2f}", width="content")
    teaching.prose(
        "Some lessons say that [CLS] learns to give position 4 *nearly all* of its attention. In this run, position 4 gets "
        f"a weight of **{last.target_weight:.2f}** on positives. That is enough for a *yes*, because the magic number has a long "
        "value vector. Without this one weight, the model can't tell *yes* from *no*."
    )
    try_it(last, data)


def try_it(last: EpochState, data: tiny_model.Samples) -> None:
    """Show the model's answers to training sentences and to a typed sentence."""
    st.markdown("#### Try an input")
    for place in dict.fromkeys((0, int(data.labels.argmax()))):
        numbers = " ".join(str(number) for number in data.tokens[place].tolist())
        yes = float(last.model.probability(data.tokens[[place]]))
        published = f"; in the original lesson, it is {PRINTED[numbers]}" if numbers in PRINTED else ""
        st.text(f"For sentence {place} of the data, [{numbers}], the probability of yes is {yes:.4f}{published}")
    show_map("sentence 0", "Attention in sentence 0", tiny_model.mean_weights(last.model, data.tokens[[0]]))
    typed = st.text_input("Six numbers from 1 to 50", "7, 7, 7, 42, 7, 7", key="tiny.try", width=320, max_chars=60)
    with teaching.messages():
        tokens = tiny_model.sentence(typed)
    yes = float(last.model.probability(tokens))
    st.text(f"The model says {'yes' if yes > 0.5 else 'no'} (probability of yes: {yes:.4f}).")
    labels = ["[CLS]", *(f"{place}: {int(token)}" for place, token in enumerate(tokens[0, 1:], start=1))]
    teaching.kernel("tiny", last.model.attention(tokens[0])[1], labels, tiny_model.CLS)


heading("Train a tiny model")
teaching.prose(
    "Nobody writes attention weights: a model learns where to attend. Here, a sentence is [CLS] and six random numbers. The "
    "answer is *yes* if **position 4 holds the magic number**. The model has one layer with one head. It decides from [CLS] "
    "alone, so [CLS] must learn to attend to position 4."
)
teaching.explain("token", "head", "layer", "weight")
settings = choose()
layers, n = tiny_model.layers(settings.width), tiny_model.N_SAMPLES
count = layers["numbers"].sum()
teaching.prose(
    f"The model learns **{count:,} numbers** from {n:,} sentences. About 2 in 100 sentences have the answer *yes*: these "
    "are the positives. Recall is the share of the positives that the model finds."
)
if st.button("Train", key="tiny.train", icon=":material/play_arrow:"):
    train(settings)
used, states = session.TRAINED.get()
if used is None:
    start = next(tiny_model.train(settings))
    show_map(
        "positives",
        "Mean attention weights in positive sentences, before training",
        start.weights,
        f"{EVEN}: the model has learned nothing yet",
    )
elif states:
    if used != settings:
        st.info("The results below come from the previous settings. Train again to use the new settings.")
    show_result(used, states)
    teaching.take(
        "From the right answers alone, a model learns where to attend. To answer correctly, the model must give position 4 "
        "enough of its attention, but needn't give it nearly all."
    )
with st.container(width=560):
    st.markdown("**The model's layers**")
    st.dataframe(layers, hide_index=True)
    st.text(
        f"This model learns {count:,} numbers; the published model of width 8 learns 777. The published table prints 2,333, "
        "because it also counts the numbers of the optimiser. Adam stores two for each learned number, and two for the whole "
        f"model. For this model: 3 × {count:,} + 2 = {3 * count + 2:,}."
    )
