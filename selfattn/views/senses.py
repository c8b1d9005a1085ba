"""Senses: over labelled sentences, which word brings a sense in, through which heads, and where senses are told apart."""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from selfattn import numbers
from selfattn.charts.curves import layers_curve
from selfattn.charts.dots import dots
from selfattn.charts.head_map import head_map
from selfattn.check import raw_c_measured
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.panel import Panel, Tables
from selfattn.senses import SeparationReport
from selfattn.senses.noise import ROWS
from selfattn.senses.telling_words import ATTENTION, CHECKS, GUESS, PICKS, HiddenWordsReport
from selfattn.tidy_tables import layers_frame, leading_words_frame, named_heads, shaded_frame
from selfattn.views.shaded import Tint, shaded_data, shaded_picture

OPEN = "Open it in the main view"
SHOWN = 12  # sentences from each end of the ranking: together all of a built-in word
DEEPEST, WRITTEN = 0.4, 0.05  # shares: with the deepest tint; printed from here on where there is no noise level
FEW_WORDS = 10  # an interval over fewer words says little
ENOUGH, LEFT = 0.8, 0.5  # parts of all words' gain over guessing: for the word alone, for the rest without it
LEADERS = 6  # heads that are listed
CARRIES = {
    (True, True): "rarely needed and usually enough",
    (False, True): "rarely needed, and not enough either",
    (True, False): "needed and usually enough",
    (False, False): "needed and not enough",
}
FAMILIAR = ("the most telling word", "any other word", "the most attended word", "the nearest word")  # as PICKS


def hidden_words_panels(
    encoder: Encoder,
    report: HiddenWordsReport,
    frame: pd.DataFrame,
    word: str,
    head: Head,
    others: Mapping[str, HiddenWordsReport] = {},
) -> Iterator[Panel]:
    """Which word brings the sense in: sentence by sentence, over all; whether attention names it; through which heads.

    frame: the labelled sentences of `report`. word: whose sentences are shown. head: outlined. others: reports about the same
    sentences of other encoders, by their names.
    """
    if (report.words["word"] == word).any():
        yield sentences(encoder, report, frame, word)
    yield enough(report, name(encoder), others, word)
    yield attention(report, raw_c_measured(encoder.content))
    if report.heads["share"].notna().any():
        yield heads(report, head)
        yield leading_heads(report)


def separation_panels(report: SeparationReport, head: Head) -> Iterator[Panel]:
    """Where the senses separate, layer by layer; and what attention adds, head by head. head: outlined."""
    yield layers(report)
    if len(report.heads):
        yield adds(report, head)


def sentences(encoder: Encoder, report: HiddenWordsReport, frame: pd.DataFrame, word: str) -> Panel:
    """The word's sentences, those first whose leading word moves it furthest. Their order is that of `opened`."""
    rows = opened(report, frame, word)
    n, level = int((report.named["word"] == word).groupby(report.named["row"]).any().sum()), report.level.level
    many = report.named[["word", "row"]].drop_duplicates().shape[0]
    above = report.named[report.named["word"] == word].groupby("row")["share"].max() >= level
    if level == level:
        finding = f'In {above.sum()} of {n} sentences one word moves "{word}" further than chance does.'
        tinted = f"Tinted from {_percent(level)} of the distance on: less is chance too often."
    else:
        first = rows.iloc[0]
        finding = f'Hide "{first["first"]}", and "{word}" moves {_percent(first["share"])} of the distance to its other sense.'
        few = f"Whether that is more than chance takes {ROWS} labelled sentences to tell; there are {numbers.count(many)}."
        tinted = few if many < ROWS else "Moves of any length go the wrong way too often for a word to be named."
    some = (
        f" The {SHOWN} sentences in which most hangs on one word, and the {SHOWN} in which least does."
        if n > 2 * SHOWN
        else ""
    )
    shades = shaded_frame(report, {row: encoder.tokenize(rows["sentence"][row]).words for row in rows.index})
    from_here = level if level == level else WRITTEN if many < ROWS else math.inf
    tint = Tint("share", numbers.percent, "{} of the distance to its other sense", DEEPEST, from_here)
    data = shaded_data(shades, rows["sense"].to_dict(), tint, OPEN)
    return Panel(
        name="sentences",
        finding=finding,
        **shaded_picture(data),
        note=f"{tinted}{some} A click opens the sentence.",
        alt=f"{finding} " + " ".join(f'{row.sentence} ("{row.first}": {_percent(row.share)})' for row in rows.itertuples()),
        tables=Tables(
            {
                "sentences": lambda: shades,
                "leading words": lambda: leading_words_frame(report, frame),
                "words, hidden words": lambda: report.words,
                "rejected, hidden words": lambda: report.rejected,
            }
        ),
        method=(
            f'Each other word is hidden from "{word}" in every head, and the encoder runs again. The number is how far the word '
            "then moves toward its other senses: 100 % is the whole distance, less than 0 is away from them. The way leads from "
            "the mean of the sense's other sentences to that of the other senses. A word can carry the topic as well as the "
            "sense, and what others have read from the hidden word still reaches it."
        ),
    )  # fmt: skip


def opened(report: HiddenWordsReport, frame: pd.DataFrame, word: str) -> pd.DataFrame:
    """The word's sentences as `sentences` shows them: rows of tidy_tables.leading_words_frame."""
    rows = leading_words_frame(report, frame)
    rows = rows[rows["word"] == word]
    return rows if len(rows) <= 2 * SHOWN else pd.concat([rows[:SHOWN], rows[-SHOWN:]])


def enough(report: HiddenWordsReport, title: str, others: Mapping[str, HiddenWordsReport], word: str) -> Panel:
    """Whether one word tells the sense: with it hidden, with it alone. title: the encoder's name."""
    drawn = pd.concat([_accuracies(each, name) for name, each in {title: report, **others}.items()], ignore_index=True)
    drawn = drawn.sort_values("at", kind="stable").drop(columns="at").reset_index(drop=True)
    own = report.of()
    every, hidden, alone, other = (
        own.loc[what] for what in ("as it is", "the word hidden", "the word alone", "any other alone")
    )
    n = report.words["word"].nunique()
    beyond = every["accuracy"] - GUESS
    if not every["low"] > GUESS:
        finding = f"Even all words together tell the sense in only {_hits(every)} of 100 sentences."
    elif not alone["low"] > other["high"]:
        finding = (
            f"No single word is enough: the most telling one alone tells the sense in {_hits(alone)} of 100 sentences."
        )
    else:
        kind = alone["accuracy"] - GUESS >= ENOUGH * beyond, hidden["accuracy"] - GUESS >= LEFT * beyond
        finding = (
            f"The most telling word is {CARRIES[kind]}: without it {_hits(hidden)} of 100 sentences keep their sense, with it "
            f"alone {_hits(alone)}."
        )
    few = " So few words say little about others." if n < FEW_WORDS else ""
    over = f"{n} words" if n > 1 else "the sentences of one word"
    low = min(0.4, math.floor(10 * drawn[["value", "low"]].min(axis=None)) / 10)
    return Panel(
        name="one word",
        finding=finding,
        picture=lambda look: dots(
            drawn, look.theme, ("guessing", GUESS), domain=(low, 1.0), marked=FAMILIAR[:1], width=look.width
        ),
        note=f"The sentences in which the right sense is the nearer one. Lines: 95 % intervals over {over}.{few}",
        alt=f"{finding} {_listed(drawn)}",
        tables=Tables(
            {
                "one word": lambda: drawn,
                "accuracy, hidden words": lambda: report.accuracy,
                "between, hidden words": lambda: report.between,
            }
        ),
        method=f"{_HALVES} {_in_word(report, word)}\n\n{_between_two(report)}",
    )


_HALVES = (
    "The most telling word is the one whose hiding moves the word furthest toward its other senses. One half of the other "
    "sentences picks it, and the other half judges: is the right sense still the nearer one without it, and with it alone?"
)


def _accuracies(report: HiddenWordsReport, series: str) -> pd.DataFrame:
    own = report.of().reset_index().rename(columns={"accuracy": "value"})[["what", "value", "low", "high"]]
    parts = {"": own[:1], "without": own[1 : 1 + len(PICKS)], "with nothing but": own[1 + len(PICKS) :]}
    labels = {"": ("all words",), "without": FAMILIAR, "with nothing but": FAMILIAR}
    parts = {group: part.assign(group=group, label=labels[group]) for group, part in parts.items()}
    whole = pd.concat(parts.values(), ignore_index=True)
    return whole.assign(series=series, at=range(len(whole)))[["group", "label", "series", "value", "low", "high", "at"]]


def _in_word(report: HiddenWordsReport, word: str) -> str:
    if not report.words["word"].eq(word).any():
        return f'"{word}" has too few sentences for it: four of each sense are needed, with two other words each.'
    own = report.of(word)
    hidden, alone, every = (own.loc[what] for what in ("the word hidden", "the word alone", "as it is"))
    return (
        f'For "{word}": without it {_hits(hidden)} of 100 ({_span(hidden)}), with it alone {_hits(alone)} ({_span(alone)}), with '
        f"all words {_hits(every)}."
    )


def _between_two(report: HiddenWordsReport) -> str:
    """The limit of two sentences: how often a word is named between two of one sense, and between two of different senses."""
    lines = report.between.iloc[:-2]
    lines = (lines if len(lines) == 2 else report.between.iloc[-2:]).set_index("senses")
    one, two = lines.loc["one"], lines.loc["two"]
    said = (
        f"Between two sentences of one sense a word is named in {numbers.share(one['named'])} of pairs "
        f"({_span(one, numbers.share)}), between two senses in {numbers.share(two['named'])} ({_span(two, numbers.share)})"
    )
    if two["low"] > one["high"]:
        return f"{said}; a single pair can't tell which of the two it is."
    return f"{said}: so a word named between two sentences is no evidence about the sense."


def attention(report: HiddenWordsReport, made_up: Mapping[str, float] = {}) -> Panel:
    """How often attention names the most telling word. made_up: how often, in RAW-C's pairs, the marked one (check.py)."""
    known = report.agreement.rename(columns={"way": "label", "agreement": "value"}).dropna(subset="value")
    checks = known["label"].isin(report.agreement["way"].iloc[-CHECKS:])
    by_attention = known["label"].isin(ATTENTION)
    parts = {
        "by attention": known[by_attention].sort_values("value", ascending=False),
        "otherwise": known[~by_attention & ~checks].sort_values("value", ascending=False),
        "as a check of hiding": known[checks],
        "in made-up pairs (RAW-C)": pd.DataFrame(
            [(way, made_up[way]) for way in ("most attended", "hiding") if way in made_up], columns=["label", "value"]
        ),
    }
    drawn = pd.concat([part.assign(group=group, series="") for group, part in parts.items()], ignore_index=True)
    drawn = drawn.reindex(columns=["group", "label", "series", "value", "low", "high"]).astype(
        {"low": float, "high": float}
    )
    finding = _attention_names(report, made_up)
    pairs = f" In made-up pairs hiding names the right word in {_hits(made_up['hiding'])}." if made_up else ""
    luck = f"A word drawn at random is the most telling one in {_hits(report.luck)} of 100 sentences."
    return Panel(
        name="attention",
        finding=finding,
        picture=lambda look: dots(
            drawn, look.theme, ("at random", report.luck), marked=["most attended"], width=look.width
        ),
        note=f"{luck}{pairs} {report.reason}".rstrip(),
        alt=f"{finding} {_listed(drawn)}",
        tables=Tables({"attention": lambda: drawn, "agreement, hidden words": lambda: report.agreement}),
        method=(
            "Each way ranks a sentence's words, and is right where its first is the most telling one. Gradient, value zeroing "
            "and the token in the word's place are told the senses; what attention gives is not."
            + (
                "\n\nRAW-C (Trott and Bergen 2021): pairs of short sentences that differ in one marked word, which makes the "
                "sense. There the mean of all weights names it; in sentences as people write them it mostly names another."
                if made_up
                else ""
            )
        ),
    )  # fmt: skip


def _attention_names(report: HiddenWordsReport, made_up: Mapping[str, float]) -> str:
    ways = report.agreement.set_index("way").dropna(subset="agreement")
    if "most attended" not in ways.index:
        return "What attention names isn't known for this encoder."
    most = ways.loc["most attended"]
    if made_up:
        return (
            f"In made-up pairs the most attended word is the right one in {_hits(made_up['most attended'])} of 100, in natural "
            f"sentences in {_hits(most)}."
        )
    luck = ", no more often than luck" if most["low"] <= report.luck else ""
    return f"The most attended word is the most telling one in {_hits(most)} of 100 sentences{luck}."


def heads(report: HiddenWordsReport, head: Head) -> Panel:
    """All heads by what hiding each sentence's leading word in one of them alone does."""
    frame = _heads_of_all(report)
    first = frame.loc[frame["share"].idxmax()]
    finding = f"{_head(first)} carries the most: alone, {numbers.share(first['share'], 1)} of the distance."
    return Panel(
        name="heads",
        finding=finding,
        picture=lambda look: head_map(
            frame[["layer", "head", "name", "share"]], "share", look.theme, str(head), title="of the distance"
        ),
        alt=f"A map of layers by heads. {finding}",
        tables=Tables({"heads": lambda: frame, "heads, hidden words": lambda: report.heads}),
        method=(
            "In each sentence the word whose hiding moves the other furthest is hidden in one head alone, by gradient: the mean "
            "over a sense's sentences, then senses, then words. The heads' sum falls 10 to 30 % short of hiding in all at once."
        ),
    )


def leading_heads(report: HiddenWordsReport) -> Panel:
    """The heads of the largest shares, with intervals."""
    frame = _heads_of_all(report).sort_values("share", ascending=False, kind="stable")[:LEADERS]
    first = frame.iloc[0]
    often = [f", first in {numbers.share(leads)}" if leads >= 0.005 else "" for leads in frame["leads"]]
    drawn = pd.DataFrame({"group": "", "label": frame["name"] + often, "series": ""})
    drawn = drawn.assign(value=frame["share"], low=frame["low"], high=frame["high"]).reset_index(drop=True)
    finding = f"{_head(first)} comes first in {numbers.share(first['leads'])} of resamples."
    top = 1.1 * float(drawn[["value", "high"]].max(axis=None))
    return Panel(
        name="leading heads",
        finding=finding,
        picture=lambda look: dots(
            drawn, look.theme, domain=(min(0.0, float(drawn["low"].min())), top), marked=drawn["label"].tolist()[:1],
            format=".1%", width=look.width,
        ),
        note="With other words another head might. Lines: 95 % intervals.",
        alt=f"{finding} {_listed(drawn, 1)}",
        tables=Tables({"leading heads": lambda: drawn}),
    )  # fmt: skip


def _heads_of_all(report: HiddenWordsReport) -> pd.DataFrame:
    """All words' heads; of a report over one word its own, whose intervals are over its sentences."""
    words = report.heads["word"].unique()
    own = report.heads[report.heads["word"] == (words[0] if len(words) == 2 else words[-1])].drop(columns="word")
    return own.assign(name=_names(own)).reset_index(drop=True)


def _names(heads: pd.DataFrame) -> list[str]:
    return [str(Head(*pair)) for pair in zip(heads["layer"], heads["head"])]


def layers(report: SeparationReport) -> Panel:
    """The share of sentences whose nearest sense is their own, after each layer."""
    drawn, table = layers_frame(report), report.layers
    best, after = table.iloc[1 + table["accuracy"].iloc[1:].argmax()], table["accuracy"].iloc[1]
    n = report.words["word"].nunique()
    span = f" (95 % interval {numbers.span(best['low'], best['high'], _hits)})" if best["low"] == best["low"] else ""
    few = f" {n} word{'s' * (n != 1)}: others may differ." if n < FEW_WORDS else ""
    right = _hits(best["accuracy"])
    finding = f"After layer {best['layer']} the word's vector tells the senses apart in {right} of 100 sentences."
    return Panel(
        name="layers",
        finding=finding,
        picture=lambda look: layers_curve(drawn, look.theme, look.width),
        note=f"After layer 0 in {_hits(after)}; the other words' token vectors alone: {_hits(report.bag[0])}.{few}",
        alt=f"A curve over {len(table) - 1} layers. {finding}{span}",
        tables=Tables(
            {
                "layers": lambda: table.astype({"layer": str}),
                "words": lambda: report.words.astype({"layer": str}),
            }
        ),
        method=(
            f"{n} word{'s' * (n != 1)}, {len(report.items)} sentences. Each sentence is compared with the mean of the other "
            f"sentences of each sense, by the cosine of the word's vectors{span}. Guessing is right in {_hits(report.chance)}. "
            "What layer 0 reads is in the table alone: there it can decide that a sentence is left out of its own sense's mean."
        ),
    )


def adds(report: SeparationReport, head: Head) -> Panel:
    """What attention adds to the better of two baselines, head by head."""
    table = report.heads.assign(name=_names(report.heads))
    n, best = len(table), table.loc[table["adds"].idxmax()]
    most = f"Most on {best['name']}: {numbers.change(best['adds'])}"
    if best["adds_low"] == best["adds_low"]:
        sure, below = (table["adds_low"] > 0).sum(), (table["adds_high"] < 0).sum()
        finding = f"On {sure} of {n} heads attention surely adds something; by chance about {round(0.025 * n)} would."
        span = numbers.span(best["adds_low"], best["adds_high"], numbers.change)
        note = f"{most} (95 % interval {span}). On {below} it surely takes something away."
    else:
        finding = f"On {(table['adds'] > 0).sum()} of {n} heads attention adds something."
        note = f"{most}. One word has no interval."
    return Panel(
        name="attention adds",
        finding=finding,
        picture=lambda look: head_map(
            named_heads(report.heads), "adds", look.theme, str(head), kind="signed", title="attention adds"
        ),
        note=note,
        alt=f"A map of layers by heads. {finding}",
        tables=Tables({"heads, separation": lambda: table, f"sentences, {head}": lambda: report.sentences(*head)}),
        method=(
            "How often a head's output tells the senses apart, minus the better of two baselines: the same values with equal "
            "weights, and the word's own value. One half of a word's sentences chooses the baseline, the other scores. So most "
            "heads need not have found the sense: an average over the sentence, or the word alone, would do.\n\n"
            f"Under shuffled labels the best of {n} heads exceeds {numbers.weight(report.threshold)} once in twenty times "
            f"({numbers.count(report.shuffles)} shuffles); {(table['p_value'] < 0.05).sum()} heads do. That alone does not show "
            "that attention found the sense."
        ),
    )


def name(encoder: Encoder) -> str:
    """The encoder's name without its owner."""
    return encoder.title.split("/")[-1]


def _head(row: pd.Series) -> str:
    return f"Head {row['head']} of layer {row['layer']}"


def _listed(drawn: pd.DataFrame, places: int = 0) -> str:
    said = (
        " ".join(filter(None, (row.series, row.group, row.label))) + f" {numbers.share(row.value, places)}"
        for row in drawn.itertuples()
    )
    return f"{'; '.join(said)}."


def _hits(line: pd.Series | float) -> str:
    """An accuracy or an agreement, 0 to 1, as a number of 100 sentences."""
    if isinstance(line, pd.Series):
        line = line["accuracy"] if "accuracy" in line else line["agreement"]
    return numbers.decimal(100 * line, 0)


def _span(line: pd.Series, write=_hits) -> str:
    if line["low"] != line["low"]:
        return "no interval: one word"
    return f"95 % interval {numbers.span(line['low'], line['high'], write)}"


def _percent(value: float) -> str:
    return numbers.percent(value).replace(" ", "\u00a0")
