"""Make data for the component `similar`, which compares two texts."""

HOSTILE = "<b>back</b>"


def word(text, depth=0, number="", lines=(), kind="word", gap=True):
    return {"text": text, "gap": gap, "kind": kind, "depth": depth, "number": number, "lines": [*map(list, lines)]}


def data(parts=True, unrelated=True, times=1, direction="ltr", key="k"):
    """Return the data of two compared texts. times: how many times each text is repeated."""
    pairs = [(0, 1, 0.2, 0.08), (2, 0, 0.05, 0.02)] if parts else []
    a = [
        word("return", -100, "−0.20", pairs[:1], gap=False), word("an", 5), word("item", 20, "+0.04", pairs[1:]),
        word("?", kind="punctuation", gap=False),
    ]  # fmt: skip
    b = [word("sending", 3, "", pairs[1:], gap=False), word(HOSTILE, -60, "−0.12", pairs[:1]), word("internationally")]
    more = [
        [{**each, "lines": [], "number": "", "gap": True} for _ in range(times - 1) for each in own] for own in (a, b)
    ]
    sides = [{"name": name, "dir": direction, "words": own + rest} for name, own, rest in zip("AB", (a, b), more)]
    rows = [[600 - 40 * i - 20 * j for j in range(3 * times + 1)] for i in range(4 * times + 1)]
    rows[2] = [""] * len(rows[2])
    return {
        "version": 1,
        "key": key,
        "finding": '"return" and "back" bring these two together most.',
        "below": ["Each of the 3 words with the largest effects has a line to a word of the other text."],
        "sides": sides,
        "lines": [*map(list, pairs)],
        "cosines": [",".join(map(str, row)) for row in rows],
        "sum": {"lines": 0.25, "others": 0.45, "special": -0.1, "difference": "0.0000001"} if parts else None,
        "unrelated": {"cosines": ",".join(str(at * 5 - 200) for at in range(200)), "median": 0.298}
        if unrelated
        else None,
    }
