"""What recurrence and attention cost, counted and timed, and what a weighted mean loses."""

import streamlit as st

from selfattn.charts.curves import lines
from selfattn.dashboard import session, teaching
from selfattn.dashboard.encoder_picker import current_encoder
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import mean_forgets, recurrence, timing, worked_example
from selfattn.numbers import error, vector


def show_costs() -> None:
    """Multiplications by the length of the sentence, and a race at a button, on the encoder's device."""
    st.markdown("#### What it costs")
    teaching.explain("projection", "value", "context")
    counts = recurrence.operations((5, 10, 20, 50, 100, 200, 500, 1000, 2000))
    chart = lines(counts, "words", "multiplications", current_theme(), "network", "xy", ("words", ""), size=(400, 240))
    with teaching.row():
        caption = (
            "With its four projections attention needs more at any length: twice as much for a few words, four times at "
            "1024 (2 d). Scores and values alone need less below 512 (d). What attention saves is steps in a row: 1 for n."
        )
        teaching.figure("Multiplications in one layer, d = 512", chart, caption, 470)
        with teaching.panel("Timed on this machine, just now", 470):
            if st.button("Time it", key="recurrence.time"):
                device = current_encoder().device
                session.RACE.set((device, timing.race(repeats=5, device=device)))
            if session.RACE.get() is None:
                st.text("One matrix product against a loop over the words; 10, 100 and 1,000 words.")
            else:
                device, race = session.RACE.get()
                table = race.pivot(index="way", columns="words", values="milliseconds")
                shown = table.rename(columns=lambda words: f"{words:,} words, ms").round(3)
                st.dataframe(shown.assign(**{"100 against 10": (table[100] / table[10]).round(1)}))
                st.text(f"On {device}. Both ways of attention give the same numbers; the loop only takes longer.")


def show_forgetting() -> None:
    """Other values with the same weighted mean, and the same words in reverse order."""
    st.markdown("#### And what attention loses")
    same = mean_forgets.same_mean()
    teaching.prose(
        '"Attention loses nothing" is too strong. The context is *one* weighted mean: other values, same mean.'
    )
    for name, values in {"values": same.before, "other values": same.after}.items():
        text = "  ".join("[" + ", ".join(f"{number:5.2f}" for number in row) + "]" for row in values.tolist())
        st.text(f"{name}: {text}")
    st.text(f"Same weights, same context: {vector(same.context, 2)}. Read in reverse order it is the same again.")
    order = mean_forgets.forgets_order(worked_example.compute())
    st.expander("Details").text(
        f"They differ by {error(same.difference)}; in reverse order by {error(order)}: rounding."
    )
