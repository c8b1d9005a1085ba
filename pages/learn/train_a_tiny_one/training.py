"""What the page on the tiny model shows: curves and map epoch by epoch, the controls, and an input to try."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.lessons import tiny_model
from selfattn.lessons import typed_numbers as inputs
from selfattn.lessons.tiny_model import EpochState, Settings

TOKENS = ("[CLS]", "1", "2", "3", "4", "5", "6")


def show_states(states: Sequence[EpochState], key: str, shown: EpochState | None = None) -> None:
    """Loss, recall and accuracy so far, and the map of one epoch (the last, unless told)."""
    shown, theme = shown or states[-1], current_theme()
    curves = pd.DataFrame([{"epoch": state.epoch, "loss": state.score.loss} for state in states])
    rates = pd.DataFrame(
        [{"epoch": s.epoch, "rate": rate, "of": name} for s in states
         for name, rate in (("accuracy", s.score.accuracy), ("recall", s.score.recall)) if not math.isnan(rate)]
    )  # fmt: skip
    with parts.row():
        with parts.figure("Loss", 330):
            chart = charts.lines(curves, "epoch", "loss", theme, log="y", size=(240, 230))
            show_chart(
                chart,
                f"After epoch {states[-1].epoch}: {states[-1].score.loss:.4f}.",
                key=f"{key}.loss",
                width="content",
            )
        with parts.figure("Right answers", 330):
            chart = charts.lines(rates, "epoch", "rate", theme, "of", domain=(0, 1), size=(240, 230))
            last = states[-1].score
            reading = f"Accuracy {last.accuracy:.1%}; of {last.n_positives} positives it finds {last.recall:.0%}."
            show_chart(chart, reading, key=f"{key}.rates", width="content")
        with parts.figure(f"Attention on the positives, epoch {shown.epoch}", 400):
            chart = charts.heatmap(shown.weights, TOKENS, TOKENS, theme, highest=1.0, cell=36)
            reading = f"[CLS] gives position 4 {shown.looks_at_target:.2f} (even would be {1 / 7:.2f})."
            show_chart(chart, reading, key=f"{key}.map", width="content")


def show_result(settings: Settings, states: Sequence[EpochState]) -> None:
    epoch = states[-1].epoch
    if epoch > 0:
        epoch = st.slider("Look at the map after epoch", 0, epoch, epoch, key=f"tiny.epoch.{epoch}", width=420)
    show_states(states, "result", states[epoch])
    last, data = states[-1], tiny_model.samples(settings)
    fresh = tiny_model.score(last.model, tiny_model.samples(settings, fresh=True))
    blind = tiny_model.score(last.model, data, tiny_model.without_edge())
    no = 1 - last.score.n_positives / settings.n_samples
    with st.container(horizontal=True, gap="large"):
        _rate("Sentences it never saw", fresh.accuracy, fresh.recall)
        _rate("[CLS] may not look at position 4", blind.accuracy, blind.recall)
        _rate("Always answering no", no, 0.0)
        st.metric("[CLS] on 4: positives", f"{last.looks_at_target:.2f}", width="content")
        st.metric("[CLS] on 4: negatives", f"{float(last.negative_weights[0, 4]):.2f}", width="content")
    if settings.random_labels:
        parts.prose("**The control.** The labels have nothing to do with the numbers, so there is nothing to look for.")
    else:
        parts.prose(
            "You may read that [CLS] ends up giving position 4 *nearly all* of its attention. In this run it gives the "
            f"share above: **{last.looks_at_target:.2f}** on positives. That is enough, for the value at position 4 is "
            "loud when it holds the magic number. Cut this one look, and the decision is gone."
        )
    try_it(last, settings)


def _rate(label: str, accuracy: float, recall: float) -> None:
    st.metric(label, f"{accuracy:.1%}", f"recall {recall:.0%}", "off", delta_arrow="off")


def try_it(last: EpochState, settings: Settings) -> None:
    st.markdown("#### Try an input")
    data = tiny_model.samples(settings)
    positives = data.labels.nonzero()
    first = int(positives[0]) if len(positives) else 0
    for place in dict.fromkeys((0, first)):
        numbers = " ".join(str(number) for number in data.tokens[place].tolist())
        st.text(f"Sentence {place} of the data, [{numbers}]: {float(last.model.probability(data.tokens[[place]])):.4f}")
    typed = st.text_input("Six numbers from 1 to 50", "7, 7, 7, 42, 7, 7", key="tiny.try", width=320, max_chars=60)
    with parts.messages():
        tokens = tiny_model.sentence(inputs.parse("Sentence", typed))
    yes = float(last.model.probability(tokens))
    weights = tiny_model.mean_weights(last.model, tokens)[0]
    frame = pd.DataFrame(
        {"token": [f"{place}: {int(token)}" for place, token in enumerate(tokens[0])], "weight": weights.tolist()}
    )
    with parts.figure("What [CLS] looks at", 420):
        most = int(weights.argmax())
        reading = f"It says {'yes' if yes > 0.5 else 'no'} ({yes:.4f}) and looks most at position {most}."
        show_chart(charts.bars(frame, "weight", current_theme(), domain=(0, 1.2)), reading, width="content")
