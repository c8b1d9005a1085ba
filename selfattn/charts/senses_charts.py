"""Senses as pictures: the curve over layers, the words ranked, and the table behind the map of heads."""

import altair as alt
import pandas as pd

from selfattn.charts.theme import Theme
from selfattn.encoders.capture import Head
from selfattn.senses import RemovalReport, SeparationReport

# What the map can show: the column, and the colour scale it goes with.
MAPS = {
    "attention adds": ("adds", "signed"),
    "the head": ("accuracy", "weights"),
    "equal weights": ("uniform", "weights"),
    "own value": ("own_value", "weights"),
    "random": ("floor", "weights"),
}
EFFECTS = {"difference": "gap", "different senses": "different", "same sense": "same"}


def layers_frame(report: SeparationReport) -> pd.DataFrame:
    """The curve's table: depth, stage, line ("this encoder", ...), accuracy, and low and high for this encoder."""
    stages = ["embedding", *(f"L{layer}" for layer in report.layers["layer"][1:])]
    lines = {
        "this encoder": report.layers["accuracy"],
        "shuffled labels": report.layers["shuffled"],
        "random weights": report.layers["floor"],
        "bag of the other words": [report.bag[0]] * len(stages),
    }
    frames = [
        pd.DataFrame({"depth": range(len(stages)), "stage": stages, "line": name, "accuracy": list(values)})
        for name, values in lines.items()
    ]
    frames[0] = frames[0].assign(low=list(report.layers["low"]), high=list(report.layers["high"]))
    return pd.concat(frames, ignore_index=True)


def layers_curve(frame: pd.DataFrame, theme: Theme, width: int = 430) -> alt.LayerChart:
    """Accuracy over depth with its interval; the controls are dashed (layers_frame)."""
    stages = frame.drop_duplicates("depth")["stage"].tolist()
    names = frame["line"].drop_duplicates().tolist()
    colors = [theme.signed[-1], theme.muted, theme.effect[1], theme.effect[-2]]
    x = alt.X("stage:N", sort=stages, axis=alt.Axis(title="after layer", labelAngle=0, grid=False, labelOverlap=True))
    low = min(0.3, float(frame[["accuracy", "low"]].min().min()))
    scale = alt.Scale(domain=[low, 1.0], nice=False)
    y = alt.Y("accuracy:Q", title="sense told right", scale=scale)
    color = alt.Color(
        "line:N",
        scale=alt.Scale(domain=names, range=colors),
        legend=alt.Legend(title=None, orient="bottom", columns=2, labelLimit=220),
    )
    tooltip = [alt.Tooltip("line:N"), alt.Tooltip("stage:N"), alt.Tooltip("accuracy:Q", format=".3f")]
    band = alt.Chart(frame[frame["low"].notna()]).mark_area(opacity=0.18, color=colors[0])
    band = band.encode(x=x, y=alt.Y("low:Q", title="sense told right", scale=scale), y2="high:Q")
    base = alt.Chart(frame).encode(x=x, y=y, color=color, tooltip=tooltip)
    own = base.transform_filter(alt.datum.line == names[0])
    controls = base.transform_filter(alt.datum.line != names[0]).mark_line(strokeDash=[5, 4], strokeWidth=1.5)
    marks = own.mark_line(), own.mark_point(filled=True, size=55, opacity=1)
    return alt.layer(band, controls, *marks).properties(width=width, height=250)


def heads_table(report: SeparationReport) -> pd.DataFrame:
    """The heads as charts.head_map takes them: `report.heads` with a name, and without columns nobody measured."""
    named = report.heads.assign(name=[str(Head(*pair)) for pair in zip(report.heads["layer"], report.heads["head"])])
    return named.dropna(axis="columns", how="all")


def removal_table(report: RemovalReport) -> pd.DataFrame:
    """The same for the mean effects of removing heads."""
    return report.heads.assign(name=[str(Head(*pair)) for pair in zip(report.heads["layer"], report.heads["head"])])


def words_frame(report: SeparationReport) -> pd.DataFrame:
    """The words by how well the last layer tells their senses: word, accuracy, before (the embedding), sentences."""
    wide = report.words.pivot_table(index="word", columns="layer", values="accuracy", aggfunc="first", sort=False)
    last = report.layers["layer"].iloc[-1]
    ranked = pd.DataFrame({"word": wide.index, "accuracy": wide[last].to_numpy(), "first": wide[0].to_numpy()})
    counts = report.words.drop_duplicates("word").set_index("word")["sentences"]
    return ranked.assign(sentences=counts[ranked["word"]].to_numpy()).sort_values(
        ["accuracy", "word"], ascending=[False, True], ignore_index=True
    )


def words_chart(frame: pd.DataFrame, theme: Theme, width: int = 430) -> alt.LayerChart:
    """One line a word, from its accuracy after layer 0 to that after the last (words_frame)."""
    order = frame["word"].tolist()
    base = alt.Chart(frame).encode(
        y=alt.Y("word:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=120)),
        tooltip=[
            alt.Tooltip("word:N"),
            alt.Tooltip("first:Q", format=".2f", title="after layer 0"),
            alt.Tooltip("accuracy:Q", format=".2f", title="after the last layer"),
            alt.Tooltip("sentences:Q"),
        ],
    )
    scale = alt.Scale(domain=[min(0.3, float(frame[["first", "accuracy"]].min().min())) - 0.03, 1.03], nice=False)
    title = "sense told right after layer 0 (ring) and after the last (dot)"
    x = alt.X("accuracy:Q", title=title, axis=alt.Axis(grid=True, tickCount=5), scale=scale)
    rule = base.mark_rule(strokeWidth=1.5, color=theme.grid).encode(x=x, x2="first:Q")
    ring = base.mark_point(size=45, color=theme.muted).encode(x=alt.X("first:Q", scale=scale))
    dot = base.mark_point(filled=True, size=70, opacity=1, color=theme.signed[-1]).encode(x=x)
    return alt.layer(rule, ring, dot).properties(width=width, height=max(60, 17 * len(order)))
