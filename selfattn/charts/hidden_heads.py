"""The marks of all heads in the figure of hidden words: the map of one word, and what an open head attends to."""

from selfattn.charts.hidden_places import HINT, SMALL, TEXT, TITLE
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import lines, pixels, written
from selfattn.charts.vega import Spec, calculate, either, field, marks, scale

SMALL_PLACE = "place.small[datum.n]"
SHARE = "length(seen) > datum.i && seen[datum.i] !== '' ? toNumber(seen[datum.i]) / 10000 : null"  # of a cell's head
PERCENT = "format({0} / 100, '.0f') + ' %'"  # of a share in ten thousandths
EXACT, ESTIMATE, UNKNOWN = "each head alone, measured", "all by gradient (a first-order estimate)", "not known"
CELL = pixels(
    x="place.map[0] + datum.head * place.cell[0] + 1",
    x2="place.map[0] + (datum.head + 1) * place.cell[0] - 1",
    y="place.map[1] + datum.layer * place.cell[1] + 1",
    y2="place.map[1] + (datum.layer + 1) * place.cell[1] - 1",
)


def head_map_of_word(theme: Theme, guess: bool) -> list[Spec]:
    """Layers x heads: how far hiding the asked word in each head alone moves the other."""
    x0, y0, wide, high = "place.map[0]", "place.map[1]", "place.cell[0]", "place.cell[1]"
    kind = f"now[1] < 0 ? 'Click a word.' : exact ? '{EXACT}' : join(seen, '') !== '' ? '{ESTIMATE}' : '{UNKNOWN}'"
    title = "'2  Through which heads “' + word + '” reads ' + (asked ? asked : 'a word')"
    if guess:
        title, kind = "'2  Through which heads “' + word + '” reads it'", "'After your guess.'"
    titled = lines(title, "place.heads_title[2]")
    beneath = f"place.heads_title[1] + 20 * length({titled})"
    look = {"color": theme.muted, "fontSize": 11}
    parts = [
        written(
            "place.heads_title[0]",
            "place.heads_title[1]",
            titled,
            fontSize=TITLE,
            fontWeight=600,
            lineHeight=20,
            color=theme.ink,
        ),
        written("place.heads_title[0]", beneath, kind, fontSize=HINT, color=theme.muted),
        written(
            f"{x0} + (datum.head + 0.5) * {wide}",
            f"{y0} - 4",
            "datum.head % place.every_head ? '' : toString(datum.head)",
            "columns",
            align="center",
            baseline="bottom",
            **look,
        ),
        written(
            f"{x0} - 6",
            f"{y0} + (datum.layer + 0.5) * {high}",
            "'L' + datum.layer",
            "rows",
            align="right",
            baseline="middle",
            **look,
        ),
        marks(
            "rect", CELL, "cells", color=theme.background, stroke=theme.grid, strokeWidth=1, cornerRadius=3, aria=False
        ),
    ]
    if guess:
        return parts
    value = calculate(share=SHARE)
    diverging = scale(theme, "effect", 1.0)
    diverging["domain"] = [{"expr": f"{end} * (most || 1)"} for end in diverging["domain"]]
    shade = field("share", scale=diverging, legend=None)
    most = PERCENT.format("(10000 * most)")
    ends = f"'−' + {most}", f"{most} + ' of the way, hidden in that head alone'"
    outline = {"fillOpacity": 0, "stroke": theme.ink, "cornerRadius": 3, "aria": False}
    return [
        *parts,
        marks(
            "rect",
            {**CELL, "color": shade},
            "cells",
            [*value, {"filter": "isValid(datum.share)"}],
            stroke=theme.grid,
            strokeWidth=1,
            cornerRadius=3,
            aria=False,
        ),
        marks("rect", CELL, "cells", [{"filter": "datum.i === hovered"}], strokeWidth=1.5, **outline),
        marks("rect", CELL, "cells", [{"filter": "datum.i === picked"}], strokeWidth=3, **outline),
        *ramp(theme, "place.map_scale", list(theme.effect), ends),
    ]


def opened_head(theme: Theme) -> list[Spec]:
    """What the hovered head, or the picked one, attends to in both sentences; and what the leading heads make together."""
    number = "(datum.side ? row_b : row_a)[datum.m]"
    weight = calculate(weight=f"shown < 0 || !isValid({number}) || {number} === '' ? null : toNumber({number}) / 100")
    middle = f"{SMALL_PLACE}[0] + {SMALL_PLACE}[2] / 2"
    left, top = f"{SMALL_PLACE}[0]", f"{SMALL_PLACE}[1]"
    box = pixels(x=left, y=top, x2=f"{left} + {SMALL_PLACE}[2]", y2=f"{top} + 24")
    own = f"datum.side ? '{theme.sentence_b}' : '{theme.sentence_a}'"
    chip = {
        **box,
        "color": field("weight", scale=scale(theme, "weights", 1.0), legend=None),
        "stroke": {"value": {"expr": f"datum.chosen ? ({own}) : '{theme.grid}'"}},
        "strokeWidth": either("datum.chosen", 2, 1),
    }
    ink = f"datum.weight > 0.5 ? '{theme.background}' : datum.special ? '{theme.muted}' : '{theme.ink}'"
    word = {**pixels(x=middle, y=f"{SMALL_PLACE}[1] + 12", text="datum.text"), "color": {"value": {"expr": ink}}}
    look = {"align": "center", "aria": False}
    at = "where[now[0]][now[1]]"
    given = f"now[1] >= 0 && {at} >= 0 ? toNumber((now[0] ? row_b : row_a)[{at}]) / 100 : null"
    share = "length(seen) > shown ? seen[shown] : ''"
    sentence = (
        "shown < 0 ? 'Click a head, or point at one.' : 'Head ' + (shown % n_heads) + ' of layer ' + floor(shown / n_heads) + "
        f"(isValid({given}) ? ' gives ' + asked + ' ' + format({given}, '.2f') + ' of its attention' : '') + "
        f"(({share}) === '' ? '.' : (isValid({given}) ? '; hiding it' : ': hiding ' + asked) + "
        "' there alone moves “' + word + '” ' + "
        f"{PERCENT.format(f'toNumber({share})')} + ' of the way.')"
    )
    passing = (
        "now[1] < 0 ? '' : (passers[now[0]][now[1]] ? '“' + passers[now[0]][now[1]] + '”' : 'Other words') + "
        "' may still pass ' + asked + ' on: only what “' + word + '” itself reads is hidden.'"
    )
    text = {"fontSize": TEXT, "lineHeight": 19, "color": theme.ink}
    letter = {"fontSize": 15, "fontWeight": 700, "baseline": "middle"}
    return [
        written("place.sentence[0]", "place.sentence[1]", lines(sentence, "place.sentence[2]"), **text),
        marks("rect", chip, "small", [*weight, {"filter": "isValid(datum.weight)"}], cornerRadius=4, aria=False),
        marks(
            "text",
            word,
            "small",
            weight,
            fontSize=SMALL,
            baseline="middle",
            fontWeight={"expr": "datum.chosen ? 700 : 400"},
            **look,
        ),
        marks(
            "text",
            pixels(
                x=f"{SMALL_PLACE}[3]",
                y=f"{SMALL_PLACE}[1] + 27",
                text="isValid(datum.weight) ? format(datum.weight, '.2f') : ''",
            ),
            "small",
            weight,
            fontSize=10.5,
            baseline="top",
            color=theme.muted,
            **look,
        ),
        written("place.small_letters[0][0]", "place.small_letters[0][1]", "'A'", color=theme.sentence_a, **letter),
        written("place.small_letters[1][0]", "place.small_letters[1][1]", "'B'", color=theme.sentence_b, **letter),
        written("place.together[0]", "place.together[1]", lines("together", "place.together[2]"), **text),
        written(
            "place.passing[0]",
            "place.passing[1]",
            lines(passing, "place.passing[2]"),
            fontSize=HINT,
            lineHeight=16,
            color=theme.muted,
        ),
    ]


def ramp(theme: Theme, place: str, colors: list[str], ends: tuple[str, str]) -> list[Spec]:
    """A legend on one line: a ramp of colours between what its ends stand for."""
    stops = [{"offset": at / (len(colors) - 1), "color": color} for at, color in enumerate(colors)]
    colored = {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 0, "stops": stops}
    box = pixels(x=f"{place}[0] + 44", x2=f"{place}[0] + 164", y=f"{place}[1] + 3", y2=f"{place}[1] + 12")
    look = {"fontSize": HINT, "color": theme.muted}
    return [
        marks("rect", box, "once", color=colored, stroke=theme.grid, aria=False),
        written(f"{place}[0] + 38", f"{place}[1]", ends[0], align="right", **look),
        written(f"{place}[0] + 170", f"{place}[1]", lines(ends[1], f"{place}[2]"), lineHeight=15, **look),
    ]
