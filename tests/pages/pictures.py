"""Read the charts and components that Streamlit sends to the browser."""

import json
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df


@dataclass
class Mark:
    """One layer of a chart."""

    kind: str  # "rect", "bar", "line" ...
    channels: dict
    records: pd.DataFrame

    def field(self, channel):
        return self.channels[channel]["field"]

    def values(self, channel):
        return self.records[self.field(channel)].tolist()

    def labels(self, channel):
        listed = re.match(r"(\[.*\])\[", self.channels[channel]["axis"]["labelExpr"], re.S)
        return json.loads(listed[1])

    def domain(self, channel):
        return self.channels[channel]["scale"]["domain"]


def charts(at):
    """Return the Vega-Lite marks of the page's charts: one list for each chart of a concatenation."""
    return [marks for chart in at.get("vega_lite_chart") for marks in _marks(chart)]


# For each component, a field that no other component's data have
ONLY = {
    "way": "guess",
    "kernel": "code",
    "stage": "outline",
    "shaded": "open",
    "heads": "depths",
    "similar": "cosines",
    "tags": "choose",
}


def live(at, name):
    """Return the data of the component `name`. Of several such components, prefer one with attention maps."""
    every = [json.loads(component.proto.json) for component in at.get("bidi_component")]
    found = [data for data in every if ONLY[name] in data]
    (data,) = [data for data in found if data.get("maps")] or found
    return data


def mark(chart, kind):
    return next(each for each in chart if each.kind == kind)


def matrix(chart):
    cells = mark(chart, "rect")
    table = cells.records.pivot(index="row", columns="column", values=cells.field("color"))
    return table.sort_index().sort_index(axis=1).to_numpy()


def bars(chart):
    """Return the bars' lengths from top to bottom, keyed by the bars' labels."""
    bar = mark(chart, "bar")
    records = bar.records.sort_values(bar.field("y"))
    return dict(zip(bar.labels("y"), records[bar.field("x")]))


def kernel(at):
    """Return the columns that the component "kernel" prints, and a list: weight × value for each key, then the context.

    The numbers in the list are multiplied by 1,000.
    """
    (side,) = live(at, "kernel")["sides"]
    cells = {name: [row["cells"][name] for row in side["rows"]] for name in side["rows"][0]["cells"]}
    strips = [*(row["handed"] for row in side["rows"]), side["context"]]
    return cells, [list(map(int, strip.split(","))) for strip in strips]


def stage(at):
    """Return the arrays of a lesson's figure, keyed by name."""
    data = live(at, "stage")
    drawn = {column["name"]: np.array(column["rows"]) for column in data["columns"] if column["rows"]}
    drawn = {name: rows[:, 0] if rows.shape[1] == 1 else rows for name, rows in drawn.items()}
    drawn |= {column["name"]: np.array(column["rows"][0]) for column in data["sum"] if column["rows"]}
    for column in data["columns"]:
        if column["above"]:
            drawn[f"above {column['name']}"] = np.array(column["above"]["rows"])
        if column["foot"]:
            drawn[f"foot {column['name']}"] = np.array(column["foot"]["row"])
    return drawn | {mark["name"]: np.array(mark["at"]) for plane in data["planes"] for mark in plane["marks"]}


def lines(chart):
    """Return each line by its name, as a dict from x to y."""
    line = mark(chart, "line")
    records = line.records
    series = records[line.field("color")] if "color" in line.channels else pd.Series("", index=records.index)
    return {
        name: dict(zip(part[line.field("x")], part[line.field("y")]))
        for name, part in records.groupby(series, sort=False)
    }


def tips(chart):
    """Return the position (x, y) of each arrow's tip, keyed by the arrow's label."""
    arrow = mark(chart, "rule").records
    return {row.label: (row.x, row.y) for row in arrow.itertuples()}


def same(drawn, expected, abs_=1e-6):
    return np.shape(drawn) == np.shape(expected) and np.allclose(drawn, expected, atol=abs_)


def spec_of(chart):
    return json.loads(chart.proto.spec)


def marks_of(chart):
    return _marks(chart)[0]


def records_of(chart, name):
    return _tables(chart.proto)[name]


def everything(chart):
    tables = {name: frame.to_dict("list") for name, frame in _tables(chart.proto).items()}
    return json.dumps([spec_of(chart), tables], ensure_ascii=False, default=str)


def _tables(proto):
    return {each.name: convert_arrow_bytes_to_pandas_df(each.data.data) for each in proto.datasets}


def _marks(chart):
    spec, tables = spec_of(chart), _tables(chart.proto)
    parts = spec.get("concat") or spec.get("hconcat") or [spec]
    return [list(_layers(step, {}, None, tables)) for step in parts]


def _layers(part, channels, records, tables):
    channels = {**channels, **part.get("encoding", {})}
    data = part.get("data", {})
    if "values" in data:
        records = pd.DataFrame(data["values"])
    elif "name" in data:
        records = tables[data["name"]]
    for inner in [*part.get("layer", []), *part.get("vconcat", [])]:
        yield from _layers(inner, channels, records, tables)
    for step in part.get("transform", []) if records is not None else []:
        if edge := re.fullmatch(r"datum\.(\w+) ([+-]) ([\d.]+)", step.get("calculate", "")):
            records = records.assign(**{step["as"]: records[edge[1]] + float(edge[2] + edge[3])})
    if "mark" in part:
        kind = part["mark"] if isinstance(part["mark"], str) else part["mark"]["type"]
        yield Mark(kind, channels, records)
