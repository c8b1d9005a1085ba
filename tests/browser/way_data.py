"""Make data for the component `way`, the main figure."""

import math
import random
import re
from typing import Any

Data = dict[str, Any]
BANK = ("We sat on the bank of the river.", "We went to the bank for a loan.")
DOTS = (
    (-0.288, -0.178, -0.083, -0.074, -0.059, 0.095, 0.178, 0.191, 0.338, 0.357, 0.397, 0.460),
    (0.564, 0.583, 0.619, 0.684, 0.776, 0.845, 0.909, 0.982, 1.011, 1.035, 1.090, 1.130),
)


def _row(values: list[float], unit: int) -> str:
    return ",".join(str(math.trunc(value * unit)) for value in values)


def _side(
    name: str, text: str, word: str, shares: dict[str, float], level: float | None, *, layers: int, heads: int,
    rtl: bool = False, run: int | None = None,
) -> Data:  # fmt: skip
    """Make the data of one sentence.

    shares: the chosen word's move when another word is hidden, keyed by the hidden word. 1 is the whole way to the other sense.
    run: None keeps all shares. A number n keeps only the n largest shares, and sets the others to None.
    """
    draw = random.Random(text)
    pieces, words, at = list(re.finditer(r"<[^>]+>|\w+|[^\w\s]", text)), [], 0
    for piece in pieces:
        kind = "chosen" if piece[0] == word else "word" if re.search(r"\w", piece[0]) else "punctuation"
        share = shares.get(piece[0], round(draw.uniform(-0.04, 0.06), 4)) if kind != "chosen" else None
        gap = piece.start() > 0 and text[piece.start() - 1] == " "
        words.append(
            {"text": piece[0], "gap": gap, "kind": kind, "at": None if kind == "chosen" else at, "share": share}
        )
        at += kind != "chosen"
    others = [each for each in words if each["kind"] == "word"]
    for each in sorted(others, key=lambda one: -one["share"])[run or len(others) :]:
        each["share"] = None
    known = [each for each in others if each["share"] is not None]
    leader = max(known, key=lambda one: one["share"])
    for each in known:
        each["chance"] = (
            f"1 in {4 + int(40 * abs(each['share']))} moves of about this length goes away from the other sense"
        )
    n = layers * heads
    by_word = {each["at"]: _effects(draw, each["share"] or 0.01, n) for each in words if each["at"] is not None}
    tokens = [
        _token("[CLS]"),
        *({**_token(each["text"]), "special": False, "at": each["at"]} for each in words),
        _token("[SEP]"),
    ]
    for token, each in zip(tokens[1:-1], words):
        token["chosen"] = each["kind"] == "chosen"
    weights = []
    for head in range(n):
        logits = [draw.gauss(0, 1) for _ in tokens]
        if head == 10:
            place = next(i for i, token in enumerate(tokens) if token["at"] == leader["at"])
            logits[place] = math.log(sum(math.exp(one) for i, one in enumerate(logits) if i != place) * 0.63 / 0.37)
        total = sum(map(math.exp, logits))
        weights.append(_row([math.exp(one) / total for one in logits], 1000))
    exact = by_word[leader["at"]]
    return {
        "name": name, "dir": "rtl" if rtl else "ltr", "words": words, "leader": leader["at"],
        "named": [each["at"] for each in known if level is not None and each["share"] >= level],
        "close": [],
        "tokens": tokens, "weights": weights,
        "gradient": [_row([0.9 * one for one in by_word[each]], 10000) for each in sorted(by_word)],
        "exact": {str(leader["at"]): _row(exact, 10000)},
    }  # fmt: skip


def _token(text: str) -> Data:
    return {"text": text, "special": True, "chosen": False, "at": None}


def _effects(draw: random.Random, share: float, n: int) -> list[float]:
    parts = [draw.gauss(0.15, 0.4) + (6 if head in (10, n - 6) else 3 * (draw.random() < 0.06)) for head in range(n)]
    return [share * part / sum(parts) for part in parts]


def way_data(
    sentences: tuple[str, str] = BANK, word: str = "bank",
    shares: tuple[dict[str, float], dict[str, float]] = ({"river": 0.436, "of": 0.16}, {"loan": 0.199, "to": 0.07}),
    *, names: tuple[str, str] = ("riverside", "finance"), at: tuple[float, float] = (-0.095, 1.056),
    toward: tuple[int, int] = (1, -1), level: float | None = 0.21, between: str = "senses", finding: str = "",
    layers: int = 6, heads: int = 12, rtl: bool = False, run: int | None = None, guess: bool = False, **more: Any,
) -> Data:  # fmt: skip
    """Make data for the component `way`, by default for two sentences with "bank"."""
    size = {"layers": layers, "heads": heads}
    sides = [
        _side(name, *each, level, **size, rtl=rtl, run=run) for name, *each in zip("AB", sentences, (word,) * 2, shares)
    ]
    dots = DOTS if between == "senses" else ((), ())
    return {
        "version": 2, "key": f"all-MiniLM-L6-v2 {word} {between}", "encoder": "all-MiniLM-L6-v2", "word": word,
        "finding": finding or 'Hide "river", and "bank" moves 44 % of the distance between its senses, toward finance.',
        "below": ["Even then it stays nearer to riverside."],
        "hint": "" if guess else "Click a word to hide it.",
        "beyond": {
            "text": "How often the encoder finds the right sense in 768 sentences.",
            "bars": [{"label": "with all words", "value": 0.92}, {"label": "with that word hidden", "value": 0.77}],
            "tick": {"label": "by guessing", "value": 0.5},
            "link": {"text": "Many sentences", "href": "senses"},
        },
        "guess": guess, "sides": sides,
        "way": {
            "between": between,
            "ends": [{"label": label, "count": 12 if between == "senses" else 0} for label in names],
            "dots": [
                [{"x": x, "text": f"Sentence {i} of {name}."} for i, x in enumerate(each)] for name, each in zip(names, dots)
            ],
            "at": list(at), "toward": list(toward), "level": level if between == "senses" else None,
            "about": f'Every "{word}" projected onto the line from the mean of {names[0]} to the mean of {names[1]}.',
        },
        "heads": {**size, "habits": {"10": "mostly reads the next token, whatever it is"}, "reason": "", "runnable": True,
                  "level": 0.06},
        "chosen": {"hidden": [None, None], "head": 10, "open": True},
        **more,
    }  # fmt: skip


def _shown_only() -> Data:
    data = way_data()
    data["heads"]["runnable"] = False
    data["heads"]["reason"] = "This encoder is shown, not recomputed: no word can be hidden in one head alone."
    for side in data["sides"]:
        side["weights"][7] = ""  # in float16, a head's weights can be NaN
        side.update(gradient=[], exact={})
    return data


def _long(words: int) -> tuple[str, str]:
    filler = BANK[0].split()[:3] + "while the old ferry crossed slowly and somebody kept asking us about houses".split()  # noqa: SIM905
    middle = " ".join((filler * 5)[: words - 6])
    return f"We sat on the bank {middle} river.", f"We went to the bank {middle} loan."


STAR = dict(
    sentences=("The star twinkled above the roofs.", "The star posed for the cameras."), word="star",
    shares=({"The": 0.06, "twinkled": 0.05}, {"cameras": 0.14, "posed": 0.08}), names=("distant sun", "famous performer"),
    at=(0.12, 0.49), finding='No single word moves "star" far toward its other sense: 14\u00a0% at most, which could be chance.',
)  # fmt: skip
# Positions of A and B, effects of hiding "river" and "loan", noise level, and the sentences whose mark reaches the other half.
CROSSING = [
    ((0.1, 0.9), (0.436, 0.4), 0.21, "A"), ((0.06, 0.9), (0.436, 0.41), 0.21, "B"), ((0.1, 0.9), (0.436, 0.45), 0.5, ""),
    ((0.51, 0.49), (0.4, 0.4), 0.21, ""), ((0.5, 0.5), (0.25, 0.25), 0.21, "AB"),
]  # fmt: skip


def crossing(at: tuple[float, float], shares: tuple[float, float], level: float) -> Data:
    return way_data(shares=({"river": shares[0]}, {"loan": shares[1]}), at=at, level=level)


VARIANTS = {
    "bank": way_data(),
    "star": way_data(**STAR),
    "one sense": way_data(
        ("A wave broke over the pier.", "The wave lifted our boat gently."), "wave",
        ({"pier": 0.31, "broke": 0.26}, {"boat": 0.12}),
        names=("sea swell", "hand greeting"), at=(0.02, 0.11), toward=(1, 1),
        finding="The encoder takes both for sea swell: it does not tell these two apart.",
    ),
    "crossed": way_data(shares=({"river": 0.24, "of": 0.16}, {"loan": 0.49, "to": 0.07}), at=(0.4, 0.8)),
    "sentences": way_data(
        between="sentences", names=('"bank" in A', '"bank" in B'), at=(0.0, 1.0), level=0.1,
        shares=({"river": 0.35, "of": 0.19}, {"loan": 0.23, "to": 0.05}),
        finding='Hide "river", and "bank" moves 35 % of the way to the other sentence\'s "bank".',
    ),
    "shown": _shown_only(),
    "hebrew": way_data(
        ("ישבנו על הגדה של הנהר.", "קראנו את הגדה של פסח."), "הגדה", ({"הנהר": 0.41, "של": 0.12}, {"פסח": 0.33, "את": 0.05}),
        rtl=True, names=("שפת נהר", "ספר"), finding='Hide "הנהר", and "הגדה" moves 41 % of the way.',
    ),
    "64 words": way_data(_long(64), run=8),
    "24 x 16": way_data(layers=24, heads=16),
    "split": way_data(
        ("The antidisestablishmentarianism bank nationalised Donaudampfschifffahrtsgesellschaft.", "A bank for a loan."),
        shares=({"Donaudampfschifffahrtsgesellschaft": 0.52, "nationalised": 0.25}, {"loan": 0.3, "A": 0.22, "a": 0.24}),
    ),
    "guess": way_data(guess=True, finding='Which word gives "bank" its meaning? Click one.'),
    "guessed": way_data(guessed=[0, 4]),
    "hidden": way_data(chosen={"hidden": [6, 0], "head": 66, "open": True}),
}  # fmt: skip
