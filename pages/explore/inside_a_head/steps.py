"""The steps of one head on the page "Inside a head": a rail of them all, and the chosen one for one or both sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.steps import HeadSteps, Step, dot_product, head_steps
from selfattn.captions import steps as captions
from selfattn.charts.bars import Row, bars, rows_frame, vector_strip
from selfattn.dashboard import session
from selfattn.dashboard.figures import Page, current_theme, say, show_chart, side_by_side
from selfattn.dashboard.link import say_what_is_missing
from selfattn.dashboard.pickers import segmented
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.tidy_tables import context_share

PICTURE = 430  # pixels
VECTORS = ("input", "read", "query", "key", "value", "turned query", "turned key", "context", "output")
WIDE, NUMBERS = ("input", "read", "output"), ("maximum", "total")
NAMED = {
    "scores": "score", "scaled": "scaled score", "position bias": "bias", "content to position": "term",
    "position to content": "term", "exponentials": "exponential", "weights": "weight", "shares of the context": "share",
}  # fmt: skip

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
    "exponentials": "Softmax, 3: exp makes every number positive",
    "total": "Softmax, 4: their sum",
    "weights": "Softmax, 5: divided, the weights",
    "context": "Context: the values, averaged with the weights",
    "output": "What the head adds",
}


@dataclass(frozen=True)
class Side:
    """One sentence that is followed, and the steps of the head."""

    name: str
    tokens: tuple[str, ...]
    position: int  # of the token followed: the word, or one piece of it
    steps: HeadSteps

    def row(self, step: str) -> Tensor:
        """The followed token's row of a step."""
        return self.steps[step].values[self.position]


def pick_sides(page: Page) -> list[Side]:
    """Which sentences are followed, and which piece of a split word."""
    which = segmented("Follow the word in", ["A", "B", "both"], default="both", key="follow")
    return [
        Side(name, side.sentence.tokens, _piece(name, side), head_steps(page.encoder, side.sentence, *page.head))
        for name, side in page.pair.sides
        if which in (name, "both")
    ]


def _piece(name: str, side: PlacedWord[Encoding]) -> int:
    """A split word has a row for each of its pieces; softmax of a mean is not the mean of softmaxes, so one is followed."""
    if len(side.positions) == 1:
        return side.positions[0]
    label = f"The word is split into {len(side.positions)} tokens in {name}: follow"
    return _pick_token(label, side.positions, side.sentence.tokens, f"piece_{name.lower()}")


def _pick_token(label: str, positions: Sequence[int], tokens: Sequence[str], key: str, first: int = 0) -> int:
    """One of the tokens at these positions."""
    named = {position: f"{position}: {tokens[position]}" for position in positions}
    return st.selectbox(label, positions, first, named.__getitem__, key=key, bind="query-params", width=300)


def show_steps(sides: Sequence[Side]) -> None:
    """The rail, and the step that it chooses: formula, code, shape and error beside its picture; a score also term by term."""
    of_first = sides[0].steps
    if of_first.note:
        st.info(of_first.note)
    name = pick_step([step.name for step in of_first.steps])
    steps, step = {side.name: side.steps[name] for side in sides}, of_first[name]
    said, drawn = side_by_side()
    with said:
        st.markdown(f"**{TITLES[name]}** &nbsp; ${step.formula}$")
        st.code(step.code, language="python", wrap_lines=True)
        say(f"{_shapes(steps)}\n{captions.step_error(steps)}")
        st.caption(step.where)
    with drawn:
        show_picture(name, sides)
    if name == "scores":
        show_dot_product(sides)


def pick_step(names: list[str]) -> str:
    """The rail: all steps in order, one chosen, and a button to either side of it."""
    session.STEP.keep_within(names, names[0])  # another encoder may have no such step
    with st.container(horizontal=True, gap="small"):
        name = segmented("Step", names, key=session.STEP, label_visibility="collapsed", wrap=True)
        for icon, to in (("arrow_back", names.index(name) - 1), ("arrow_forward", names.index(name) + 1)):
            there = names[to] if 0 <= to < len(names) else ""
            st.button(
                "", icon=f":material/{icon}:", help=f"Go to: {there}" if there else None, disabled=not there,
                key=icon, on_click=session.STEP.set, args=(there,),
            )  # fmt: skip
    say_what_is_missing(
        session.STEP, names, name, "The link asks for the step {!r}, which this head hasn't got.".format
    )
    return name


def _shapes(steps: dict[str, Step]) -> str:
    shapes = {name: step.shape for name, step in steps.items()}
    if len(set(shapes.values())) == 1:
        return f"{next(iter(shapes.values())).capitalize()}."
    return " ".join(f"{name}: {shape}." for name, shape in shapes.items())


def show_picture(name: str, sides: Sequence[Side]) -> None:
    """A step's picture: of one number that number, of the widest vectors a strip, of all else bars."""
    rows = {side.name: side.row(name) for side in sides}
    if name in NUMBERS:
        for sentence, row in rows.items():
            st.metric(f"{sentence}, {name} of the row", numbers.decimal(row[0], 4), width="content")
        return
    if name == "context":
        shares = {side.name: context_share(side.steps.trace, [side.position]) for side in sides}
        st.caption(
            "Each token's share of the context vector: weight times value, seen along the context. Shares sum to 1."
        )
        _show_rows("shares of the context", "share", sides, shares)
    _show_rows(name, "value" if name in VECTORS else name, sides, rows)


def _show_rows(name: str, what: str, sides: Sequence[Side], rows: dict[str, Tensor]) -> None:
    """A number a dimension, or a number a token with the followed one outlined."""
    theme, drawn = current_theme(), []
    for side in sides:
        values, color = rows[side.name].tolist(), theme.sentence(side.name)
        if name in VECTORS:
            drawn.append(Row(side.name, values, [f"dimension {i}" for i in range(len(values))], color))
        else:
            drawn.append(Row(side.name, values, side.tokens, color, side.position))
    if name in WIDE:
        chart = vector_strip(drawn, theme, width=PICTURE)
    else:
        chart = bars(drawn, theme, what=what, width=PICTURE, height=84)
    show_chart(chart, _reading(name, sides, rows), name=name, table=lambda: rows_frame(drawn, what))


def _reading(name: str, sides: Sequence[Side], rows: dict[str, Tensor]) -> str:
    if name == "output":
        return captions.head_output(rows, {side.name: side.row("input") for side in sides})
    if name in VECTORS:
        return captions.vector_lengths(rows, "input vector" if name in WIDE else name)
    if name == "masked":
        return captions.hidden_tokens(rows)
    return captions.largest(rows, {side.name: side.tokens for side in sides}, NAMED.get(name, "number"))


def show_dot_product(sides: Sequence[Side]) -> None:
    """One score written out term by term, with a key of the visitor's page."""
    for side, place in zip(sides, side_by_side(len(sides))):
        tokens, trace = side.tokens, side.steps.trace
        with place:
            st.markdown(f"**One score, term by term, in {side.name}** &nbsp; $q \\cdot k = \\sum_d q_d\\,k_d$")
            name, largest = f"with_{side.name.lower()}", int(side.row("scores").argmax())
            before = session.LARGEST.of(name)
            if st.session_state.get(name) == before.get():  # nobody has chosen another
                st.session_state[name] = largest
            before.set(largest)
            label = f"{side.name}: the query of the word with the key of"
            key = _pick_token(label, range(len(tokens)), tokens, name, largest)
            terms = dot_product(trace, side.position, key)
            st.code(captions.score_terms(trace.query[side.position], trace.key[key]), language=None)
            say(captions.score(terms, tokens[side.position], tokens[key]))
