"""The marks of the figure of hidden words: each reads its place from the layout that fits the window."""

from selfattn.charts.hidden_places import HINT, SMALL, TEXT, Looks
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import at, lines, pixels, written
from selfattn.charts.vega import Spec, calculate, either, field, marks, nominal, scale
from selfattn.numbers import COSINE, WEIGHT

DEEPEST = 0.4  # the share of a way that has the deepest colour, the same in every pair
TURN = {"light": 0.7, "dark": 0.5}  # of it: from here on the background's colour is the better read
HIDDEN = "(datum.at >= 0 && datum.at === (datum.side ? off_b : off_a))"
PLACE = "place.words[datum.n]"
BOX = pixels(
    x=f"{PLACE}[0]", y=f"{PLACE}[1]", x2=f"{PLACE}[0] + {PLACE}[2]", y2=f"{PLACE}[1] + place.chip"
)  # of a word
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


def layers(theme: Theme, guess: bool) -> list[Spec]:
    """All marks, in drawing order. guess: without what gives the answer away."""
    parts = [*_above(theme), *_sentences(theme, guess), *_curve(theme, guess), *head_map_of_word(theme, guess)]
    return [*parts, *([] if guess else opened_head(theme)), *_targets(guess)]


def _targets(guess: bool) -> list[Spec]:
    """What takes clicks and the pointer, above all else. The inputs beneath the figure stand in the opposite order."""
    said = "'L' + datum.layer + ' H' + datum.head + (isValid(datum.share) ? ': ' + {} + ' of the way' : '')"
    heads = calculate(share=SHARE, said=said.format(PERCENT.format("(10000 * datum.share)")))
    shown = {"tooltip": nominal("said"), "description": nominal("said")}
    look = {"opacity": 0, "cursor": "pointer"}
    named = [{"filter": "datum.kind === 'word'"}]
    if guess:
        return [{"name": "chips", **marks("rect", {**BOX, **shown}, "words", named, **look)}]
    turned = calculate(next=f"{HIDDEN} ? -1 : datum.at")
    parts = [{"name": "cells", **marks("rect", {**CELL, **shown}, "cells", heads, **look)}]
    for side, name in ((1, "b"), (0, "a")):
        own = [*named, {"filter": f"datum.side === {side}"}, *turned]
        parts.append({"name": f"chips_{name}", **marks("rect", {**BOX, **shown}, "words", own, **look)})
    return parts


def _above(theme: Theme) -> list[Spec]:
    """The room that the figure takes at any moment, so that nothing moves; and its titles."""
    room = pixels(x="0", y="0", x2="place.size[0]", y2="place.size[1]")
    looks = Looks(theme)
    return [
        marks("rect", room, "once", opacity=0, aria=False),
        marks("text", {"x": {"value": 0}, "description": nominal("together")}, "heads", opacity=0, text="", aria=False),
        written(*at("title_at"), "place.title", **looks.title),
        written(*at("said_at"), "place.said", **looks.hints),
    ]


def _sentences(theme: Theme, guess: bool) -> list[Spec]:
    """Both sentences as chips, their shares beneath; and what is hidden now."""
    turn = DEEPEST * TURN[theme.name]
    middle = f"{PLACE}[0] + {PLACE}[2] / 2"
    named = [{"filter": "datum.kind === 'word' || datum.kind === 'chosen'"}]
    own = f"datum.side ? '{theme.sentence_b}' : '{theme.sentence_a}'"
    shade = field("shade", scale=scale(theme, "shares", DEEPEST), legend=None)
    edge = f"datum.kind === 'chosen' ? ({own}) : {HIDDEN} ? '{theme.effect[-1]}' : '{theme.grid}'"
    chip = {
        **BOX,
        "color": {**shade, "condition": {"test": HIDDEN, "value": theme.background}},
        "stroke": {"value": {"expr": edge}},
        "strokeWidth": {"value": {"expr": f"datum.kind === 'chosen' ? 2.5 : {HIDDEN} ? 2 : 1"}},
    }
    ink = (
        f"datum.kind === 'special' || datum.kind === 'punctuation' ? '{theme.muted}' : "
        f"{HIDDEN} || datum.shade <= {turn} ? '{theme.ink}' : '{theme.background}'"
    )
    word = {
        **pixels(x=middle, y=f"{PLACE}[1] + place.chip / 2", text="datum.text"),
        "color": {"value": {"expr": ink}},
        "size": {"value": {"expr": "datum.kind === 'special' ? 11 : place.word"}},
    }
    weight = {"fontWeight": {"expr": f"datum.kind === 'chosen' || {HIDDEN} ? 700 : 400"}}
    struck = pixels(x=f"{PLACE}[0] + 6", x2=f"{PLACE}[0] + {PLACE}[2] - 6", y=f"{PLACE}[1] + place.chip / 2 + 1")
    color = {"expr": f"{HIDDEN} ? '{theme.ink}' : '{theme.muted}'"}
    number = {"fontSize": HINT, "align": "center", "color": color, **weight}
    dash = {"expr": f"{HIDDEN} ? [5, 3] : [1, 0]"}
    parts = [
        marks("rect", chip, "words", named, cornerRadius=5, aria=False, strokeDash=dash),
        marks("text", word, "words", align="center", baseline="middle", aria=False, **weight),
        marks("rule", struck, "words", [{"filter": HIDDEN}], color=theme.effect[-1], strokeWidth=2, aria=False),
        written(f"{PLACE}[3]", f"{PLACE}[1] + place.chip + 4", "datum.number", "words", **number),
        *sentence_letters(theme, "letters", 18),
    ]
    hint = "'Which word would change “' + word + '” most? Click one.'"
    if not guess:
        parts += ramp(theme, "scale", list(theme.effect[2:]), ("'0'", f"'{round(100 * DEEPEST)} % of the way or more'"))
        hint = (
            "(hidden_names ? 'Hidden from “' + word + '” now: ' + hidden_names + (length(bent) < 2 ? ' (not run)' : '') + '. ' : "
            "'Nothing is hidden from “' + word + '” now. ') + 'Click a word to hide it or show it again.'"
        )
    return [*parts, written(*at("hint"), lines(hint, "place.hint[2]"), **Looks(theme).hints)]


def _curve(theme: Theme, guess: bool) -> list[Spec]:
    """The cosine of the two vectors by layer, as they are and with the two words hidden; each line is named at its end."""
    x0, y0, wide, high = (f"place.curve[{at}]" for at in range(4))
    across = f"{x0} + datum.depth * {wide} / max(1, data('stages').length - 1)"
    height = "{0} + {1} * (1 - {2}) / (1 - floor)"

    def down(value: str) -> str:
        return height.format(y0, high, value)

    hue = {"value": {"expr": f"['{theme.ink}', '{theme.effect[-1]}', '{theme.muted}'][datum.line]"}}
    value = "(datum.line ? bent : split(curves[0], ','))"
    places = [
        *calculate(text=f"{value}[datum.depth]"),
        *calculate(value="isValid(datum.text) && datum.text !== '' ? toNumber(datum.text) / 100000 : null"),
        {"filter": "isValid(datum.value)"},
        *calculate(x=across, y=down("datum.value"), cosine=f"format(datum.value, '{COSINE}')"),
    ]
    bare: Spec = {"scale": None, "axis": None}
    line = {"x": field("x", **bare), "y": field("y", **bare), "detail": field("line", "ordinal"), "stroke": hue}
    dot = {"x": field("x", **bare), "y": field("y", **bare), "color": hue, "tooltip": nominal("cosine")}
    last = f"({wide} + {x0})"
    treated = (
        "" if guess else f" + (isValid(control[1]) ? ' (' + format(control[1], '{COSINE}') + ' both hidden)' : '')"
    )
    said = (
        f"format(datum.value, '{COSINE}') + (datum.line === 0 ? ' as they are' : "
        "datum.line === 1 ? ' ' + hidden_names + ' hidden' : "
        f"' A and the control'{treated})"
    )
    end = "toNumber(split({0}, ',')[data('stages').length - 1]) / 100000"
    ends = [
        *calculate(
            value=f"datum.line === 0 ? (curves[0] === '' ? null : {end.format('curves[0]')}) : datum.line === 1 ? "
            "(length(bent) > 1 && bent[length(bent) - 1] !== '' ? toNumber(bent[length(bent) - 1]) / 100000 : null) : control[0]"
        ),
        {"filter": "isValid(datum.value)"},
        *calculate(y=down("datum.value"), said=lines(said, "place.names")),
        *calculate(high="15 * length(datum.said) + 2"),
        _so_far("sum", "high", "to"),
        *calculate(free="datum.y - 7 - (datum.to - datum.high)"),
        _so_far("max", "free", "lowest"),
        *calculate(top="datum.lowest + datum.to - datum.high"),
    ]
    name = {**pixels(x=f"{last} + 10", y="datum.top", text="datum.said"), "color": hue}
    point = {**pixels(x=last, y="datum.y"), "color": hue}
    grid = pixels(x=x0, x2=last, y=down("datum.cosine"))
    left = {**Looks(theme).tick, "align": "right", "baseline": "middle"}
    tick = "format(datum.cosine, '.1f')"
    shown = "datum.depth % place.every === 0 ? datum.stage : ''"
    title = "'Cosine of the two “' + word + '”, layer by layer'"
    bold = {"fontWeight": 600, "aria": False}
    dots = {"filled": True, "opacity": 1, "aria": False}
    return [
        written(*at("curve_title"), title, fontSize=SMALL, fontWeight=600, color=theme.ink),
        marks("rule", grid, "ticks", color=theme.grid, aria=False),
        written(f"{x0} - 8", down("datum.cosine"), tick, "ticks", **left),
        written(across, f"{y0} + {high} + 6", shown, "stages", align="center", **Looks(theme).tick),
        marks("line", line, "curve", places, strokeWidth=2, aria=False),
        marks("point", dot, "curve", places, size=34, **dots),
        marks("point", point, "ends", [*ends, {"filter": "datum.line === 2"}], size=60, **dots),
        marks("text", name, "ends", ends, align="left", baseline="top", lineHeight=15, fontSize=HINT, **bold),
    ]


def _so_far(op: str, name: str, to: str) -> Spec:
    """A sum or a maximum over the names of the curves from the top down to each."""
    sort = [{"field": "y"}, {"field": "line"}]
    return {"window": [{"op": op, "field": name, "as": to}], "sort": sort, "frame": [None, 0]}


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
    value = pixels(x=beneath, y=f"{top} + 27", text=f"isValid(datum.weight) ? format(datum.weight, '{WEIGHT}') : ''")
    bold = {"expr": "datum.chosen ? 700 : 400"}
    look = {"align": "center", "aria": False}
    given_at = "where[now[0]][now[1]]"
    given = f"now[1] >= 0 && {given_at} >= 0 ? toNumber((now[0] ? row_b : row_a)[{given_at}]) / 100 : null"
    share = "length(seen) > shown ? seen[shown] : ''"
    sentence = (
        "shown < 0 ? 'Click a head, or point at one.' : 'Head ' + (shown % n_heads) + ' of layer ' + floor(shown / n_heads) + "
        f"(isValid({given}) ? ' gives ' + asked + ' ' + format({given}, '{WEIGHT}') + ' of its attention' : '') + "
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
