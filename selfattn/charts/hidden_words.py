"""Hide a word, and see how far another moves: both sentences, the curve by layer, all heads, and what an open head attends to.

One figure that answers in the browser. What it can be asked travels with it: the numbers as rows of text, split by an
expression when they are wanted. What more is learned of heads later stands in the dataset `heads` alone, so that the figure
needn't be drawn anew. Visitors' words stand in datasets and parameters, never inside an expression.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.hiding import HeadsOfWord, HiddenPair
from selfattn.analysis.word_map import Attended
from selfattn.charts.hidden_marks import layers
from selfattn.charts.hidden_places import Drawn
from selfattn.charts.labels import isolated
from selfattn.charts.theme import Theme
from selfattn.charts.two_widths import in_any_window
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.words import Word, numbered

FLOOR = 0.6  # where the axis of the cosines begins, unless a curve goes below it
TOGETHER = 0.1  # three heads that make less than this of the way get no sentence
PASSES = 0.1  # a word is said to pass another on from this share on
SHARES, COSINES = 10_000, 100_000  # a share and a cosine travel as whole numbers of these parts


def hidden_words(
    pair: HiddenPair,
    attended: tuple[Attended, Attended],
    heads: Sequence[HeadsOfWord],
    theme: Theme,
    *,
    said: str = "",
    head: Head | None,
    guess: bool = False,
    width: int | None = None,
) -> Spec:
    """Each word of both sentences, shaded by how far hiding it moves the chosen one, and through which heads.

    attended: what the chosen word attends to, in A and in B. heads: those of words whose heads were run, the first open at
    first; of all others they are by gradient. said: a line beneath the title. head: picked at first. guess: nothing that gives
    the answer away, and a click is the guess. width: None follows the window.
    Selections: hide_a, hide_b (field next: a word's number, or -1), pick (layer, head); with `guess` instead of these: guess.
    """
    n_layers, n_heads = attended[0].weights.shape[:2]
    words, small = _words(pair, attended, guess), _small(attended)
    word = isolated(pair.placed[0].word.text)
    others = [[isolated(each.label) for each in side] for side in pair.words]  # in lines of English beside numbers
    longest = [f"“{max(side, key=len, default='')}”" for side in others]
    way = f"to the other sentence’s “{word}”" if pair.senses is None else "to its other sense"
    question = f"Hide a word from “{word}”: how far does it move, in % of the way {way}?"
    drawn = Drawn(
        word=word, title=question, said=said, words=words, small=small, longest=longest, n_layers=n_layers,
        n_heads=n_heads, guess=guess,
    )  # fmt: skip
    floor = _floor(pair)
    ticks = np.arange(floor, 1.05, 0.1 if floor == FLOOR else 0.2).tolist()
    stages = ["start", *(f"L{layer}" for layer in range(n_layers))]
    datasets = {
        "words": words,
        **({} if guess else {"small": small}),
        "cells": [{"i": i, "layer": i // n_heads, "head": i % n_heads} for i in range(n_layers * n_heads)],
        "heads": _heads(pair, () if guess else heads),
        "curve": [{"line": line, "depth": depth} for line in (0, 1) for depth in range(len(stages))],
        "ends": [{"line": line} for line in (0, 1, 2)],
        "ticks": [{"cosine": round(tick, 1)} for tick in ticks],
        "stages": [{"depth": depth, "stage": stage} for depth, stage in enumerate(stages)],
        "columns": [{"head": at} for at in range(n_heads)],
        "rows": [{"layer": at} for at in range(n_layers)],
        "once": [{"once": 1}],
    }
    known = _numbers(pair, attended, guess) | {"word": word, "floor": floor, "n_heads": n_heads, "others": others}
    params = [
        *({"name": name, "value": value} for name, value in known.items()),
        *(_guessing() if guess else _asking(pair, others, heads, head, (n_heads, n_layers))),
    ]
    resolve = {"scale": {"color": "independent"}}
    return in_any_window(layers(theme, guess), datasets, theme, drawn.layout, width, params, resolve=resolve)


def picking(spec: Spec, head: Head) -> Spec:
    """The same figure, this head picked at first."""
    params = [{**each, "value": [head._asdict()]} if each["name"] == "pick" else each for each in spec["params"]]
    return {**spec, "params": params}


# What is known


def _words(pair: HiddenPair, attended: tuple[Attended, Attended], guess: bool) -> list[dict[str, Any]]:
    """Both sentences as they stand in the text: every word, and the special tokens that the model puts between them."""
    rows: list[dict[str, Any]] = []
    for side, (placed, words, share, own) in enumerate(zip(pair.placed, pair.words, pair.share, attended)):
        numbered = {word.start: at for at, word in enumerate(words)}
        after: dict[int | None, list[str]] = {}  # the special tokens after each word, by its number; None: before all
        last: int | None = None
        for m, (label, at) in enumerate(zip(own.labels, own.others)):
            if at is None and m != own.chosen:
                after.setdefault(last, []).append(label)
            else:
                last = -1 if m == own.chosen else at
        rows += [_word(side, -1, label, "special") for label in after.get(None, ())]
        for word in placed.words:
            at = numbered.get(word.start, -1)
            kind = "chosen" if at < 0 else "punctuation" if word.is_punctuation else "word"
            known = kind == "word" and not guess
            rows.append(_word(side, at, word.label, kind, float(share[at]) if known else math.nan, word.start))
            rows += [_word(side, -1, label, "special") for label in after.get(at, ())]
    first = next((row for row in rows if row["number"] and row["side"] == 0), None)
    if first:
        first["number"] += " of the way"
    return [{"n": n, **row} for n, row in enumerate(rows)]


def _word(side: int, at: int, text: str, kind: str, share: float = math.nan, place: int = -1) -> dict[str, Any]:
    known = not math.isnan(share)
    return {
        "sentence": "AB"[side],
        "side": side,
        "at": at,
        "place": place,
        "text": text,
        "kind": kind,
        "share": share if known else None,
        "shade": max(share, 0.0) if known else 0.0,
        "number": numbers.percent(share) if known else "",
        "said": f"{text}: {numbers.share(share, 1)} of the way" if known else text,
    }


def _small(attended: tuple[Attended, Attended]) -> list[dict[str, Any]]:
    """The words, special tokens too, that a head's weights go to: `m` is the number of the weight."""
    rows = [
        {
            "sentence": "AB"[side],
            "side": side,
            "m": m,
            "text": text,
            "at": -1 if at is None else at,
            "special": bool(special or (at is None and m != own.chosen)),
            "chosen": m == own.chosen,
        }
        for side, own in enumerate(attended)
        for m, (text, special, at) in enumerate(zip(own.labels, own.special, own.others))
    ]
    return [{"n": n, **row} for n, row in enumerate(rows)]


def _numbers(pair: HiddenPair, attended: tuple[Attended, Attended], guess: bool) -> dict[str, Any]:
    """The numbers that never change, as rows of text. guess: of the two vectors as they are alone."""
    control = [None if math.isnan(value) else value for value in (pair.control_cosine, pair.control_hidden)]
    if guess:
        return {"curves": _texts(pair.curves[0, :1], COSINES), "control": [control[0], None]}
    where = [{at: m for m, at in enumerate(own.others)} for own in attended]
    return {
        "curves": _texts(pair.curves.flatten(0, 1), COSINES),
        "control": control,
        "columns": pair.curves.shape[1],
        "gradient": [_texts(side.flatten(1), SHARES) for side in pair.by_head],
        "weights": [_texts(own.weights.flatten(0, 1), 100) for own in attended],
        "where": [[own.get(at, -1) for at in range(len(words))] for own, words in zip(where, pair.words)],
        "passers": [_passers(words, share) for words, share in zip(pair.words, pair.share)],
    }


def _passers(words: Sequence[Word], share: Tensor) -> list[str]:
    """For each word the other one that is most likely to pass it on: of the largest share; "" where none is large."""
    ranked = sorted(
        (-float(share[at]), at) for at, word in enumerate(words) if not word.is_punctuation and share[at] >= PASSES
    )
    return [next((isolated(words[other].label) for _, other in ranked if other != at), "") for at in range(len(words))]


def _heads(pair: HiddenPair, heads: Sequence[HeadsOfWord]) -> list[dict[str, Any]]:
    """A row for each word whose heads were run; a first one has the largest of all shares."""
    run = [one for one in heads if one.exact]
    known = [abs(float(value)) for side in (*pair.by_head, *(one.share for one in run)) for value in side.flatten()]
    most = max((value for value in known if math.isfinite(value)), default=0.0)
    rows = [{"key": -1, "shares": "", "together": "", "most": most}]
    for one in run:
        said = ""
        if one.together is not None and one.together >= TOGETHER:
            whole, leading = float(pair.share[one.side][one.at]), list(map(str, one.leading))
            names = " and ".join(filter(None, (", ".join(leading[:-1]), leading[-1])))
            together = numbers.percent(one.together)
            said = f"Hidden in {names} together: {together}; in all heads: {numbers.percent(whole)}."
        shares = _texts(one.share.flatten()[None], SHARES)[0]
        rows.append({"key": 1000 * one.side + one.at, "shares": shares, "together": said, "most": most})
    return rows


def _texts(rows: Tensor, parts: int) -> list[str]:
    """Each row's numbers as whole `parts`, between commas, "" for what is not known, and for a row of which nothing is; none
    rounds otherwise where a chart writes it (numbers.COSINE_PLACES, and as many of a share)."""
    exact = rows.double().numpy()
    known = np.isfinite(exact)
    scaled = np.abs(np.nan_to_num(exact)) * parts
    whole = np.floor(scaled + 0.5)
    if (step := parts // 10**numbers.COSINE_PLACES) > 1:
        half = whole % step == step // 2
        whole = np.where(half, whole + np.where(scaled >= whole, 1, -1), whole)
    signed = np.where(exact < 0, -whole, whole).astype(int).tolist()
    return [
        ",".join([str(value) if there else "" for value, there in zip(*row)]) if any(row[1]) else ""
        for row in zip(signed, known.tolist())
    ]


def _floor(pair: HiddenPair) -> float:
    shown: Iterable[float] = (*pair.curves.flatten().tolist(), pair.control_cosine, pair.control_hidden)
    return min(FLOOR, math.floor(5 * min((value for value in shown if math.isfinite(value)), default=FLOOR)) / 5)


# What may be asked


def _click(on: str, *fields: str) -> Spec:
    """What a click on these marks selects; a click elsewhere changes nothing."""
    return {"type": "point", "fields": list(fields), "on": f"@{on}_marks:click", "clear": False, "toggle": False}


def _hide(name: str, words: Sequence[Word], others: Sequence[str], top: int | None) -> Spec:
    """The word of one sentence ("a" or "b") that is hidden, at first `top`: by a click on it, or from a list."""
    named = [at for at, word in enumerate(words) if not word.is_punctuation]
    labels = ["none", *numbered([others[at] for at in named])]
    bind = {"input": "select", "options": [-1, *named], "labels": labels, "name": f"Hidden in {name.upper()} "}
    first, chips = [{"next": -1 if top is None else top}], f"chips_{name}"
    select = _click(chips, "next")
    return {"name": f"hide_{name}", "select": select, "bind": {"next": bind}, "value": first, "views": [chips]}


def _asking(
    pair: HiddenPair,
    others: Sequence[Sequence[str]],
    heads: Sequence[HeadsOfWord],
    head: Head | None,
    size: tuple[int, int],
) -> list[Spec]:
    """The selections, and what follows from them. size: how many heads a layer, and layers."""
    hides = [_hide(*side) for side in zip("ab", pair.words, others, pair.top)]
    ranges = {
        name: {"input": "range", "min": 0, "max": n - 1, "step": 1, "name": f"{name.capitalize()} "}
        for name, n in zip(("head", "layer"), size)
    }
    pick: Spec = {"name": "pick", "select": _click("cells", "head", "layer"), "bind": ranges, "views": ["cells"]}
    pick |= {} if head is None else {"value": [head._asdict()]}
    now = [
        {"events": {"type": "click", "markname": "chips_a_marks"}, "update": "[0, datum.at]"},
        {"events": {"type": "click", "markname": "chips_b_marks"}, "update": "[1, datum.at]"},
        {"events": {"signal": "off_a"}, "update": "off_a >= 0 ? [0, off_a] : now"},
        {"events": {"signal": "off_b"}, "update": "off_b >= 0 ? [1, off_b] : now"},
    ]
    over = [
        {"events": {"type": "pointerover", "markname": "cells_marks"}, "update": "datum.i"},
        {"events": {"type": "pointerout", "markname": "cells_marks"}, "update": "-1"},
    ]
    expressions = {
        "off_a": "isValid(hide_a) && isArray(hide_a.next) && isValid(hide_a.next[0]) ? toNumber(hide_a.next[0]) : -1",
        "off_b": "isValid(hide_b) && isArray(hide_b.next) && isValid(hide_b.next[0]) ? toNumber(hide_b.next[0]) : -1",
        "hidden_names": "(off_a >= 0 ? '“' + others[0][off_a] + '”' : '') + (off_a >= 0 && off_b >= 0 ? ' and ' : '') + "
        "(off_b >= 0 ? '“' + others[1][off_b] + '”' : '')",
        "bent": "off_a >= 0 || off_b >= 0 ? split(curves[(off_a + 1) * columns + off_b + 1], ',') : []",
    }
    after = {
        "run": "indexof(pluck(data('heads'), 'key'), 1000 * now[0] + now[1])",
        "most": "data('heads')[0].most",
        "exact": "now[1] >= 0 && run > 0",
        "seen": "now[1] < 0 ? [] : split(exact ? data('heads')[run].shares : gradient[now[0]][now[1]], ',')",
        "asked": "now[1] < 0 ? '' : '“' + others[now[0]][now[1]] + '”'",
        "picked": "isValid(pick) && isArray(pick.layer) && isArray(pick.head) && isValid(pick.layer[0]) && isValid(pick.head[0]) "
        "? toNumber(pick.layer[0]) * n_heads + toNumber(pick.head[0]) : -1",
        "shown": "hovered >= 0 ? hovered : picked",
        "row_a": "shown < 0 ? [] : split(weights[0][shown], ',')",
        "row_b": "shown < 0 ? [] : split(weights[1][shown], ',')",
        "together": "exact ? data('heads')[run].together : ''",
    }
    return [
        pick,
        *hides,
        *({"name": name, "expr": expr} for name, expr in expressions.items()),
        {"name": "now", "value": [heads[0].side, heads[0].at] if heads else [0, -1], "on": now},
        {"name": "hovered", "value": -1, "on": over},
        *({"name": name, "expr": expr} for name, expr in after.items()),
    ]


def _guessing() -> list[Spec]:
    """A click on a word is the guess; nothing is hidden, and no head is open."""
    fixed = {"off_a": -1, "off_b": -1, "bent": [], "hidden_names": ""}
    return [
        {"name": "guess", "select": _click("chips", "sentence", "place"), "views": ["chips"]},
        *({"name": name, "value": value} for name, value in fixed.items()),
    ]
