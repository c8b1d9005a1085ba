"""What recurrence and attention cost, counted and timed, and what a weighted mean loses."""

import pandas as pd
import streamlit as st

from selfattn.charts.curves import lines
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import current_theme
from selfattn.lessons import mean_forgets, recurrence, timing, worked_example
from selfattn.numbers import error

WAYS = ("one matrix product", "attention, word by word")


def show_costs() -> None:
    """Multiplications by the length of the sentence, and a race at a button."""
    st.markdown("#### What it costs")
    counts = recurrence.operations((5, 10, 20, 50, 100, 200, 500, 1000, 2000))
    chart = lines(counts, "words", "multiplications", current_theme(), "network", "xy", ("words", ""), size=(400, 240))
    with teaching.row():
        caption = (
            "With its four projections attention needs more at any length: twice as much for a few words, four times at "
            "1024 (2 d). Scores and values alone need less below 512 (d). What attention saves is steps in a row: 1 for n."
        )
        teaching.figure("Multiplications in one layer, d = 512", chart, caption, 470)
        with teaching.panel("Timed on this machine, just now", 470):
            if st.button("Time it"):
                st.session_state["recurrence.race"] = timing.race()
            _show_race(st.session_state.get("recurrence.race"))


def _show_race(race: pd.DataFrame | None) -> None:
    if race is None:
        st.text("One matrix product against a loop over the words; 100 words against 10.")
        return
    table = race.pivot(index="way", columns="words", values="milliseconds").reset_index()
    table["times as long"] = table[100] / table[10]
    table.columns = [f"{name} words, ms" if isinstance(name, int) else name for name in table.columns]
    st.dataframe(table.round(2), hide_index=True)
    one, loop = (race[(race.way == way) & (race.words == 100)].milliseconds.item() for way in WAYS)
    st.text(
        f"At 100 words the loop takes {loop / one:.0f} times as long as the one matrix product, for the same numbers."
    )


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
    context = ", ".join(f"{number:.2f}" for number in same.context.tolist())
    st.text(f"Same weights, same context: [{context}]; the two differ by {error(same.difference)}.")
    order = mean_forgets.forgets_order(worked_example.compute())
    st.text(
        f"Read in reverse order, keys and values give a context that differs by {error(order)}: order is lost, too."
    )
