"""The steps of one head on the page "Inside a head": a rail of them all, and the chosen one for one or both sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.steps import HeadSteps, Step, dot_product, head_steps
from selfattn.captions import steps as captions
from selfattn.charts.bars import Row, bars, rows_frame, vector_strip
from selfattn.charts.theme import Theme
from selfattn.dashboard.choice import Choice, Occurrence
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.pickers import segmented
from selfattn.encoders.encoding import Encoding
from selfattn.frames import context_share

COLUMN, PICTURE = 528, 430  # two side by side in a frame at 1440, one below the other in a narrow window

TITLES = {
    "input": "What the layer reads",
    "read": "What the projections read",
    "query": "Query: what the word looks for",
    "key": "Key: what each token is filed under",
    "value": "Value: what each token hands over",
    "turned query": "The query, turned by its position",
    "turned key": "The keys, turned by their positions",
    "scores": "Scores: the query meets each key",
    "scaled": "Scaled",
    "position bias": "Position bias: what is added for the distance",
    "content to position": "Content to position: the query meets each distance",
    "position to content": "Position to content: each key meets its distance",
    "masked": "Masked",
    "maximum": "Softmax, 1: the row's maximum",
    "shifted": "Softmax, 2: shifted, so that exp can't overflow",
    "powers": "Softmax, 3: exp makes every number positive",
    "total": "Softmax, 4: their sum",
    "weights": "Softmax, 5: divided, the weights",
    "context": "Context: the values, averaged with the weights",
    "output": "What the head adds",
}


@dataclass(frozen=True)
class Side:
    """One sentence that is followed: its name, the token followed, and the steps of the head."""

    name: str
    encoding: Encoding
    position: int  # the token followed
    steps: HeadSteps
    color: str

    @property
    def token(self) -> str:
        """The token followed, as the tokeniser spells it."""
        return self.encoding.tokens[self.position]

    def row(self, step: str) -> Tensor:
        """The followed token's row of a step."""
        return self.steps[step].values[self.position]


def pick_sides(choice: Choice) -> list[Side]:
    """Which sentences are followed, and which piece of a split word."""
    which = segmented("Follow the word in", ["A", "B", "both"], default="both", key="follow")
    theme = current_theme()
    colors = {"A": theme.sentence_a, "B": theme.sentence_b}
    return [
        Side(
            name,
            side.encoding,
            _piece(name, side),
            head_steps(choice.encoder, side.encoding, *choice.head),
            colors[name],
        )
        for name, side in choice.pair.sides
        if which in (name, "both")
    ]


def _piece(name: str, side: Occurrence) -> int:
    """A split word has a row for each of its pieces; softmax of a mean is not the mean of softmaxes, so one is followed."""
    if len(side.positions) == 1:
        return side.positions[0]
    tokens = side.encoding.tokens
    return st.selectbox(
        f"The word is split into {len(side.positions)} tokens in {name}: follow",
        side.positions,
        format_func=lambda position: f"{position}: {tokens[position]}",
        key=f"piece_{name.lower()}",
        bind="query-params",
        width=300,
    )


def show_steps(sides: Sequence[Side]) -> None:
    """The rail and the step that it chooses."""
    steps = sides[0].steps
    if steps.note:
        st.info(steps.note)
    show_step(pick_step([step.name for step in steps.steps]), sides)


def pick_step(names: list[str]) -> str:
    """The rail: all steps in order, one chosen, and a button to either side of it."""
    if st.session_state.get("step", names[0]) not in names:  # another encoder has no such step
        st.session_state.step = names[0]
    with st.container(horizontal=True, gap="small"):
        name = segmented("Step", names, default=names[0], key="step", label_visibility="collapsed", wrap=True)
        for icon, to in (("arrow_back", names.index(name) - 1), ("arrow_forward", names.index(name) + 1)):
            there = names[to] if 0 <= to < len(names) else ""
            st.button(
                "", icon=f":material/{icon}:", help=f"Go to: {there}" if there else None, disabled=not there,
                key=icon, on_click=st.session_state.update, kwargs={"step": there},
            )  # fmt: skip
    say_what_is_missing(
        "step", names, name, lambda asked: f"The link asks for the step {asked!r}, which this head hasn't got."
    )
    return name


def show_step(name: str, sides: Sequence[Side]) -> None:
    """One step: formula, code, shape and error on the left, its picture on the right; a score also term by term."""
    steps = {side.name: side.steps[name] for side in sides}
    step = next(iter(steps.values()))
    theme = current_theme()
    places = st.container(horizontal=True, gap="medium")
    said, drawn = places.container(width=COLUMN, gap="small"), places.container(width=COLUMN, gap="small")
    with said:
        st.markdown(f"**{TITLES[name]}** &nbsp; ${step.formula}$")
        st.code(step.code, language="python", wrap_lines=True)
        st.text(f"{_shapes(steps)}\n{captions.step_error(steps)}", width="stretch")
        with st.container(horizontal=True, vertical_alignment="center"):
            _numbers(name, sides)
            st.caption(step.where)
    with drawn:
        PICTURES.get(name, _token_bars)(name, sides, theme)
    if name == "scores":
        show_dot_product(sides)


def _shapes(steps: dict[str, Step]) -> str:
    shapes = {name: step.shape for name, step in steps.items()}
    if len(set(shapes.values())) == 1:
        return f"{next(iter(shapes.values())).capitalize()}."
    return " ".join(f"{name}: {shape}." for name, shape in shapes.items())


def _numbers(name: str, sides: Sequence[Side]) -> None:
    opened = st.popover("Numbers", key=f"numbers-{name}", on_change="rerun", type="tertiary")
    if opened.open:  # a table nobody looks at isn't sent
        one_a_token = name not in VECTORS and name not in PICTURES
        rows = [(_tokens if one_a_token else _vector)(side, side.row(name)) for side in sides]
        opened.dataframe(rows_frame(rows, name), hide_index=True, width=420, height=300)


def _show_bars(name: str, rows: list[Row], theme: Theme, reading: str, what: str = "value") -> None:
    show_chart(
        bars(rows, theme, what=what, width=PICTURE, height=84), reading, name=name, table=lambda: rows_frame(rows, what)
    )


def _vector_strip(name: str, sides: Sequence[Side], theme: Theme) -> None:
    rows = {side.name: side.row(name) for side in sides}
    drawn = [_vector(side, rows[side.name]) for side in sides]
    reading = captions.vector_lengths(rows, "input vector")
    if name == "output":
        reading = captions.head_output(rows, {side.name: side.row("input") for side in sides})
    show_chart(vector_strip(drawn, theme, width=PICTURE), reading, name=name, table=lambda: rows_frame(drawn))


def _vector_bars(name: str, sides: Sequence[Side], theme: Theme) -> None:
    rows = {side.name: side.row(name) for side in sides}
    drawn = [_vector(side, rows[side.name]) for side in sides]
    _show_bars(name, drawn, theme, captions.vector_lengths(rows, name))


def _vector(side: Side, values: Tensor) -> Row:
    return Row(side.name, values.tolist(), [f"dimension {i}" for i in range(len(values))], side.color)


def _token_bars(name: str, sides: Sequence[Side], theme: Theme) -> None:
    rows = {side.name: side.row(name) for side in sides}
    reading = _READINGS.get(name, lambda rows, labels: captions.largest(rows, labels, "number"))
    drawn = [_tokens(side, rows[side.name]) for side in sides]
    _show_bars(name, drawn, theme, reading(rows, {side.name: side.encoding.tokens for side in sides}), name)


def _tokens(side: Side, values: Tensor) -> Row:
    return Row(side.name, values.tolist(), side.encoding.tokens, side.color, side.position)


def show_dot_product(sides: Sequence[Side]) -> None:
    """One score written out term by term, with a key of the visitor's choice."""
    places = st.container(horizontal=True, gap="medium")
    for side in sides:
        tokens, trace = side.encoding.tokens, side.steps.trace
        with places.container(width=COLUMN, gap="small"):
            st.markdown(f"**One score, term by term, in {side.name}** &nbsp; $q \\cdot k = \\sum_d q_d\\,k_d$")
            name, largest = f"with_{side.name.lower()}", int(side.row("scores").argmax())
            if st.session_state.get(name) == st.session_state.get(f"largest of {name}"):  # nobody has chosen another
                st.session_state[name] = largest
            st.session_state[f"largest of {name}"] = largest
            key = st.selectbox(
                f"{side.name}: the query of the word with the key of",
                range(len(tokens)),
                largest,
                format_func=lambda place, tokens=tokens: f"{place}: {tokens[place]}",
                key=name,
                bind="query-params",
                width=300,
            )
            terms = dot_product(trace, side.position, key)
            st.code(captions.score_terms(trace.query[side.position], trace.key[key]), language=None)
            st.text(captions.score(terms, side.token, tokens[key]), width="stretch")


def _one_number(name: str, sides: Sequence[Side], theme: Theme) -> None:
    for side in sides:
        st.metric(f"{side.name}, {name} of the row", numbers.decimal(side.row(name)[0], 4), width="content")


def _context(name: str, sides: Sequence[Side], theme: Theme) -> None:
    shares = {side.name: context_share(side.steps.trace, [side.position]) for side in sides}
    st.caption("Each token's share of the context vector: weight times value, seen along the context. Shares sum to 1.")
    drawn = [_tokens(side, shares[side.name]) for side in sides]
    reading = captions.largest(shares, {side.name: side.encoding.tokens for side in sides}, "share")
    _show_bars("shares of the context", drawn, theme, reading, "share")
    _vector_bars(name, sides, theme)


_READINGS: dict[str, Callable[..., str]] = {
    "scores": lambda rows, labels: captions.largest(rows, labels, "score"),
    "scaled": lambda rows, labels: captions.largest(rows, labels, "scaled score"),
    "position bias": lambda rows, labels: captions.largest(rows, labels, "bias"),
    "content to position": lambda rows, labels: captions.largest(rows, labels, "term"),
    "position to content": lambda rows, labels: captions.largest(rows, labels, "term"),
    "masked": lambda rows, labels: captions.hidden_tokens(rows),
    "powers": lambda rows, labels: captions.largest(rows, labels, "power"),
    "weights": lambda rows, labels: captions.largest(rows, labels, "weight"),
}
VECTORS = ("input", "read", "query", "key", "value", "turned query", "turned key", "context", "output")
PICTURES = {
    **{name: _vector_strip for name in ("input", "read", "output")},
    **{name: _vector_bars for name in ("query", "key", "value", "turned query", "turned key")},
    "maximum": _one_number,
    "total": _one_number,
    "context": _context,
}
