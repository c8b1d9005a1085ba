"""The marks of all heads in the figure of hidden words: the map of one word, and what an open head attends to."""

from selfattn.charts.hidden_places import SMALL, TEXT, Looks
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import at, lines, pixels, written
from selfattn.charts.vega import Spec, calculate, either, field, marks, scale

SHARE = "length(seen) > datum.i && seen[datum.i] !== '' ? toNumber(seen[datum.i]) / 10000 : null"  # of a cell's head
PERCENT = "format({0} / 100, '.0f') + ' %'"  # of a share in ten thousandths
EXACT, ESTIMATE, UNKNOWN = "each head alone, measured", "all by gradient (a first-order estimate)", "not known"
X, Y, WIDE, HIGH = "place.map[0]", "place.map[1]", "place.cell[0]", "place.cell[1]"
CELL = pixels(
    x=f"{X} + datum.head * {WIDE} + 1",
    x2=f"{X} + (datum.head + 1) * {WIDE} - 1",
    y=f"{Y} + datum.layer * {HIGH} + 1",
    y2=f"{Y} + (datum.layer + 1) * {HIGH} - 1",
)


def head_map_of_word(theme: Theme, guess: bool) -> list[Spec]:
    """Layers x heads: how far hiding the asked word in each head alone moves the other."""
    looks = Looks(theme)
    kind = f"now[1] < 0 ? 'Click a word.' : exact ? '{EXACT}' : join(seen, '') !== '' ? '{ESTIMATE}' : '{UNKNOWN}'"
    title = "'2  Through which heads “' + word + '” reads ' + (asked ? asked : 'a word')"
    if guess:
        title, kind = "'2  Through which heads “' + word + '” reads it'", "'After your guess.'"
    titled = lines(title, "place.heads_title[2]")
    beneath = f"place.heads_title[1] + 20 * length({titled})"
    above = {**looks.tick, "align": "center", "baseline": "bottom"}
    left = {**looks.tick, "align": "right", "baseline": "middle"}
    number = "datum.head % place.every_head ? '' : toString(datum.head)"
    cell = {"stroke": theme.grid, "strokeWidth": 1, "cornerRadius": 3, "aria": False}
    parts = [
        written(*at("heads_title"), titled, **looks.title),
        written("place.heads_title[0]", beneath, kind, **looks.hint),
        written(f"{X} + (datum.head + 0.5) * {WIDE}", f"{Y} - 4", number, "columns", **above),
        written(f"{X} - 6", f"{Y} + (datum.layer + 0.5) * {HIGH}", "'L' + datum.layer", "rows", **left),
        marks("rect", CELL, "cells", color=theme.background, **cell),
    ]
    if guess:
        return parts
    known = [*calculate(share=SHARE), {"filter": "isValid(datum.share)"}]
    diverging = scale(theme, "effect", 1.0)
    diverging["domain"] = [{"expr": f"{end} * (most || 1)"} for end in diverging["domain"]]
    shade = field("share", scale=diverging, legend=None)
    most = PERCENT.format("(10000 * most)")
    ends = f"'−' + {most}", f"{most} + ' of the way, hidden in that head alone'"
    outline = {"fillOpacity": 0, "stroke": theme.ink, "cornerRadius": 3, "aria": False}
    return [
        *parts,
        marks("rect", {**CELL, "color": shade}, "cells", known, **cell),
        marks("rect", CELL, "cells", [{"filter": "datum.i === hovered"}], strokeWidth=1.5, **outline),
        marks("rect", CELL, "cells", [{"filter": "datum.i === picked"}], strokeWidth=3, **outline),
        *ramp(theme, "map_scale", list(theme.effect), ends),
    ]


def opened_head(theme: Theme) -> list[Spec]:
    """What the hovered head, or the picked one, attends to in both sentences; and what the leading heads make together."""
    looks = Looks(theme)
    number = "(datum.side ? row_b : row_a)[datum.m]"
    weight = calculate(weight=f"shown < 0 || !isValid({number}) || {number} === '' ? null : toNumber({number}) / 100")
    left, top, wide, beneath = (f"place.small[datum.n][{one}]" for one in range(4))
    middle = f"{left} + {wide} / 2"
    own = f"datum.side ? '{theme.sentence_b}' : '{theme.sentence_a}'"
    chip = {
        **pixels(x=left, y=top, x2=f"{left} + {wide}", y2=f"{top} + 24"),
        "color": field("weight", scale=scale(theme, "weights", 1.0), legend=None),
        "stroke": {"value": {"expr": f"datum.chosen ? ({own}) : '{theme.grid}'"}},
        "strokeWidth": either("datum.chosen", 2, 1),
    }
    ink = f"datum.weight > 0.5 ? '{theme.background}' : datum.special ? '{theme.muted}' : '{theme.ink}'"
    word = {**pixels(x=middle, y=f"{top} + 12", text="datum.text"), "color": {"value": {"expr": ink}}}
    value = pixels(x=beneath, y=f"{top} + 27", text="isValid(datum.weight) ? format(datum.weight, '.2f') : ''")
    bold = {"expr": "datum.chosen ? 700 : 400"}
    look = {"align": "center", "aria": False}
    given_at = "where[now[0]][now[1]]"
    given = f"now[1] >= 0 && {given_at} >= 0 ? toNumber((now[0] ? row_b : row_a)[{given_at}]) / 100 : null"
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
    return [
        written(*at("sentence"), lines(sentence, "place.sentence[2]"), **text),
        marks("rect", chip, "small", [*weight, {"filter": "isValid(datum.weight)"}], cornerRadius=4, aria=False),
        marks("text", word, "small", weight, fontSize=SMALL, baseline="middle", fontWeight=bold, **look),
        marks("text", value, "small", weight, fontSize=10.5, baseline="top", color=theme.muted, **look),
        *sentence_letters(theme, "small_letters", 15),
        written(*at("together"), lines("together", "place.together[2]"), **text),
        written(*at("passing"), lines(passing, "place.passing[2]"), **looks.hints),
    ]


def sentence_letters(theme: Theme, place: str, size: int) -> list[Spec]:
    """A and B, each at the left of its sentence."""
    look = {"fontSize": size, "fontWeight": 700, "baseline": "middle"}
    colors = enumerate((theme.sentence_a, theme.sentence_b))
    return [written(*at(f"{place}[{side}]"), f"'{'AB'[side]}'", color=color, **look) for side, color in colors]


def ramp(theme: Theme, place: str, colors: list[str], ends: tuple[str, str]) -> list[Spec]:
    """A legend on one line: a ramp of colours between what its ends stand for."""
    stops = [{"offset": one / (len(colors) - 1), "color": color} for one, color in enumerate(colors)]
    colored = {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 0, "stops": stops}
    x, y = at(place)
    box = pixels(x=f"{x} + 44", x2=f"{x} + 164", y=f"{y} + 3", y2=f"{y} + 12")
    look = Looks(theme).hint
    return [
        marks("rect", box, "once", color=colored, stroke=theme.grid, aria=False),
        written(f"{x} + 38", y, ends[0], align="right", **look),
        written(f"{x} + 170", y, lines(ends[1], f"place.{place}[2]"), lineHeight=15, **look),
    ]
