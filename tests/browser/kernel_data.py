"""Data for the component `kernel`, made without an encoder and without torch: random vectors and plain arithmetic."""

import math
import random
from typing import Any

from selfattn import numbers

Data = dict[str, Any]
BANK = ("[CLS] we sat on the bank of the river . [SEP]", "[CLS] we went to the bank for a loan . [SEP]")
PLACES = {"vectors": 4, "products": 2, "handed": 3}
CODE = """def attend(query, key, value, mask=None, scale=None):
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    scores = query @ key.transpose(-2, -1)
    scaled = scores * scale
    masked = add_mask(scaled, mask)
    # Softmax, row by row.
    maximum = masked.amax(dim=-1, keepdim=True)
    shifted = masked - maximum
    exponentials = shifted.exp()
    total = exponentials.sum(dim=-1, keepdim=True)
    weights = exponentials / total.clamp(min=1)
    context = weights @ value"""


def kernel_data(
    texts=BANK, query="bank", *, d=32, hidden=(), terms=(), most=64, code=CODE, clicks=True, seed=0, below=("Recomputed.",)
) -> Data:  # fmt: skip
    """Two sentences or one. hidden: words that the query may not attend to; terms: names of terms that are added."""
    draw = random.Random(seed)
    sentences = [text.split(" ") for text in texts]
    vectors = {word: [[draw.gauss(0, 1) for _ in range(d)] for _ in range(3)] for each in sentences for word in each}
    sides = [
        _side(name, words, words.index(query), vectors, hidden, terms, most, draw)
        for name, words in zip("AB" if len(texts) > 1 else [""], sentences)
    ]
    for one, other in (sides, reversed(sides)) if len(texts) > 1 else ():
        own = [[row["text"] for row in side["rows"]] for side in (one, other)]
        for row in one["rows"]:
            found = [each["at"] for each in other["rows"] if each["text"] == row["text"]]
            row["pair"] = found[0] if found and own[0].count(row["text"]) == 1 else None
    middle = [(f"term {name}", name, "is added", "number", ["masked"]) for name in terms]
    if hidden or terms:
        middle.append(("masked", "masked", "−∞: hidden", "number", ["masked"]))
    columns = [
        ("products", "query × key", f"{d} products; blue above 0, red below", "strip", ["scores"]),
        ("score", "score", "their sum", "number", ["scores"]),
        ("scaled", "scaled", f"÷ √{d}", "number", ["scale", "scaled"]),
        *middle,
        ("exponential", "e^x", f"of {'masked' if middle else 'scaled'} − largest", "share",
         ["maximum", "shifted", "exponentials"]),
        ("weight", "weight", "÷ sum of e^x", "share", ["total", "weights"]),
        ("handed", "weight × value", "summed below: what the word receives", "strip", ["context"]),
    ]  # fmt: skip
    lines = [
        (line, line.strip().split(" = ")[0] if line.startswith(" ") and " = " in line else "")
        for line in code.split("\n")
    ]
    return {
        "version": 2,
        "key": "a key",
        "about": "One head, step by step.",
        "findings": [f'"{query}" gives another token most of its weight: 0.6{i}.' for i in range(len(texts))],
        "context": "The context is the mean.",
        "below": list(below),
        "clicks": clicks,
        "places": PLACES,
        "largest": _largest(sides),
        "columns": [
            dict(zip(("id", "title", "about", "kind", "makes"), each)) | _ends(sides, each[0], each[3])
            for each in columns
        ],
        "code": [{"text": text, "makes": makes} for text, makes in lines],
        "sides": sides,
        "plane": None,
    }


def _largest(sides) -> dict[str, int]:
    rows = [row for side in sides for row in side["rows"]]
    strips = {
        "vectors": [side["query"]["values"] for side in sides],
        "products": [row["products"] for row in rows],
        "handed": [side["context"] for side in sides] + [row["handed"] for row in rows],
    }
    return {kind: max(abs(int(part)) for part in ",".join(own).split(",")) for kind, own in strips.items()}


def _ends(sides, column, kind) -> Data:
    rows = [row for side in sides for row in [*side["rows"], side["rest"] or {"cells": {}}]]
    texts = [row["cells"][column] for row in rows if column in row["cells"]]
    values = [float(text.replace("−", "-").replace("<", "")) for text in texts if "∞" not in text]
    return {
        "ends": [min([0, *values]), max([1 if kind == "share" else 0, *values]) or 1],
        "digits": max([0, *map(len, texts)]),
    }


def share(value):
    return numbers.weight(value).replace("under ", "<")


def whole(values, kind):
    return ",".join(str(round(value * 10 ** PLACES[kind])) for value in values)


def _side(name, words, at, vectors, hidden, terms, most, draw) -> Data:
    query = vectors[words[at]][0]
    keys, values = ([vectors[word][i] for word in words] for i in (1, 2))
    products = [[one * other for one, other in zip(query, key)] for key in keys]
    scores = [sum(each) for each in products]
    scaled = [score / math.sqrt(len(query)) for score in scores]
    added = [[draw.gauss(0, 1) for _ in terms] for _ in words]
    out = [word in hidden for word in words]
    masked = [-math.inf if no else one + sum(more) for one, more, no in zip(scaled, added, out)]
    largest = max(masked)
    powers = [math.exp(each - largest) for each in masked]
    weights = [each / sum(powers) for each in powers]
    handed = [[weight * part for part in value] for weight, value in zip(weights, values)]
    kept = sorted(sorted(range(len(words)), key=lambda i: (i != at, -weights[i]))[:most])
    rest = sorted({*range(len(words))} - {*kept})
    rows = []
    for i in kept:
        cells = {
            "score": numbers.decimal(scores[i]), "scaled": numbers.decimal(scaled[i]),
            **{f"term {term}": numbers.decimal(more) for term, more in zip(terms, added[i])},
            **({"masked": numbers.decimal(masked[i])} if terms or hidden else {}),
            "exponential": share(powers[i]), "weight": share(weights[i]),
        }  # fmt: skip
        steps = [
            ["score", f"query · key = {cells['score']}"], ["scaled", f"{cells['score']} ÷ √{len(query)} = {cells['scaled']}"],
            ["exponential", f"e^({cells['scaled']} − (−{numbers.decimal(abs(largest))})) = {cells['exponential']}"],
            ["weight", f"{cells['exponential']} ÷ {numbers.decimal(sum(powers))} = {cells['weight']}"],
        ]  # fmt: skip
        rows.append({
            "at": i, "text": words[i], "special": words[i][0] == "[", "word": i == at, "pair": None, "hidden": out[i],
            "cells": cells, "fine": numbers.decimal(weights[i], 4), "products": whole(products[i], "products"),
            "keys": whole(keys[i], "vectors"), "values": whole(values[i], "vectors"), "handed": whole(handed[i], "handed"),
            "steps": steps,
        })  # fmt: skip
    left = sum(weights[i] for i in rest)
    other = {
        "text": f"{len(rest)} other tokens",
        "cells": {"exponential": share(sum(powers[i] for i in rest)), "weight": share(left)},
        "fine": numbers.decimal(left, 4),
        "handed": whole([sum(handed[i][j] for i in rest) for j in range(len(query))], "handed"),
    }
    sums = {
        "masked" if terms or hidden else "scaled": numbers.decimal(largest),
        "exponential": numbers.decimal(sum(powers)),
    }
    return {
        "name": name,
        "query": {"at": at, "text": words[at], "values": whole(query, "vectors")},
        "rows": rows,
        "rest": other if rest else None,
        "sums": sums | {"weight": "1.00"},
        "context": whole([sum(column) for column in zip(*handed)], "handed"),
    }


LONG = " ".join(["[CLS] bank", *(f"token{i}" for i in range(61)), "[SEP]"])
VARIANTS = {
    "bank": kernel_data(),
    "one": kernel_data(BANK[:1]),
    "hidden": kernel_data(hidden=("river", "loan")),
    "terms": kernel_data(terms=("content to position", "position to content"), hidden=("river",)),
    "64 x 128": kernel_data((LONG, LONG), d=128),
    "75 tokens": kernel_data((LONG + " more" * 11, BANK[1]), most=24),
    "long words": kernel_data(
        ("[CLS] electroencephalographically bank donaudampfschifffahrtsgesellschaft [SEP]", BANK[1])
    ),
    "2 dimensions": kernel_data(("your bank begins",), d=2, clicks=False, below=()),
    "hebrew": kernel_data(("[CLS] ישבנו ליד bank הנהר . [SEP]", BANK[1])),
}
