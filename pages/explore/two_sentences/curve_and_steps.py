"""Where the word's two vectors part, and how the shown head computes its row, step by step."""

import pandas as pd
import streamlit as st

from selfattn.analysis.measures import drift
from selfattn.captions import answer
from selfattn.captions.steps import kept_tokens, kernel_error, scale_and_mask
from selfattn.captions.terms import TERMS
from selfattn.charts.curves import drift_curve
from selfattn.charts.kernel_steps import kernel_steps
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.dashboard.cache import cached, cached_error, cached_separate_error
from selfattn.dashboard.choice import Choice, Pair
from selfattn.dashboard.figures import current_theme, say, show_chart, updated_in_place
from selfattn.encoders.encoder import Encoder
from selfattn.tidy_tables import context_columns, drift_frame, most_attended, steps_columns

MOST = 24  # tokens of a sentence that the steps show


def show_curve(encoder: Encoder, pair: Pair) -> None:
    """The cosine of the word's two vectors, from the bare token to the last layer, beside a same-sense pair's."""
    theme = current_theme()
    key = ("curve", pair.key, pair.sense, theme)
    title, chart, reading = cached(encoder, key, lambda _: _curve(pair, theme))
    st.markdown(
        f"**1  {title}**",
        help=f"{TERMS['token']} {TERMS['cosine']} First the bare token, then what layer 0 reads, then after each layer.",
    )
    show_chart(chart, reading, one_head=False, name="where the two vectors part")


def _curve(pair: Pair, theme: Theme) -> tuple[str, Spec, str]:
    main = drift(pair.first, pair.second)
    curves, colors, control = {"A against B": main}, {"A against B": theme.ink}, None
    if pair.control is not None:
        same = drift(pair.first, pair.control)
        name, control = "control pair: one sense (A against the control)", same.tolist()
        curves[name], colors[name] = same, theme.sentence_a
    chart = drift_curve(drift_frame(**curves), theme, colors, dashed=list(curves)[1:])
    reading = answer.paths(main.tolist(), pair.word, control, pair.sense, pair.same_position)
    return answer.paths_title(main.tolist()), chart, reading


def show_steps(choice: Choice) -> None:
    """The kernel's steps for the word's row in both sentences, one figure that steps in the browser."""
    encoder, head, theme = choice.encoder, choice.head, current_theme()
    if not encoder.recomputable:
        if encoder.patchable:  # else the words above say it
            say(answer.no_steps(encoder.reason))
        return
    key = ("steps", choice.pair.key, head, theme)
    chart, in_place, reading, whole, meanings = cached(encoder, key, lambda _: _steps(choice, theme))
    st.markdown(
        f"**3  How head {head.head} of layer {head.layer} computes it**",
        help="The buttons beneath go through the steps; so do the arrow keys. The token under the cursor is lit in every step. "
        + meanings,
    )
    with st.container(key="steps"):  # scrolls sideways in a narrow window
        show_chart(chart, reading, in_place=in_place, name="the steps of the head", table=lambda: pd.DataFrame(whole))


def _steps(choice: Choice, theme: Theme) -> tuple[Spec, Spec, str, dict[str, list], str]:
    encoder, pair, head = choice.encoder, choice.pair, choice.head
    traces, steps, contexts, errors = {}, [], [], []
    for name, side in pair.sides:
        # Only the word's own rows are computed: they cost the same at any length.
        traces[name], pieces = side.sentence.trace(*head, side.rows), range(len(side.positions))
        steps.append(steps_columns(traces[name], pieces, side.sentence.tokens, name))
        contexts.append(context_columns(traces[name], pieces, name))
        errors.append(cached_error(encoder, side.sentence.text, head))
    most = max(len(side.sentence.tokens) for _, side in pair.sides)
    meanings = " ".join(f"*{step}*: {meaning}" for step, (_, meaning) in scale_and_mask(traces).items())
    whole, context = ({name: [*a[name], *b[name]] for name in a} for a, b in (steps, contexts))
    chart = kernel_steps(whole if most <= MOST else most_attended(whole, MOST), context, theme)
    separate = [cached_separate_error(encoder, side.sentence.text, head) for _, side in pair.sides]
    known = [error for error in separate if error is not None]
    reading = kernel_error(max(errors), max(known) if len(known) == len(separate) else None) + kept_tokens(MOST, most)
    return chart, updated_in_place(chart, reading), reading, whole, meanings
