"""Make the panels of Senses: which word brings a sense in, through which heads, and in which layers senses separate."""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pandas as pd

from selfattn import numbers
from selfattn.charts.dots import dot_rows
from selfattn.check import raw_c_measured
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.panel import Panel, Tables
from selfattn.senses import SeparationReport
from selfattn.senses.noise import ROWS
from selfattn.senses.telling_words import GUESS, HiddenWordsReport
from selfattn.tidy_tables import leading_words_frame, named_heads, shaded_frame
from selfattn.views.dots_and_heads import dots_panel, heads_panel, named, share
from selfattn.views.shaded import Tint, shaded_data, shaded_picture

OPEN = "Open it in the main view"
SHOWN = 12  # sentences from each end of the ranking: together, every sentence of a built-in word
DEEPEST = 0.4  # the share with the deepest tint
WRITTEN = 0.05  # the smallest share printed if there are too few sentences for a noise level
FEW_WORDS = 10  # an interval over fewer words says little
# Shares of all words' gain over guessing. A word is enough if it alone keeps ENOUGH; it is needed if hiding it loses LEFT.
ENOUGH, LEFT = 0.8, 0.5
CARRIES = {
    (True, True): "rarely needed and usually enough",
    (False, True): "rarely needed, and not enough either",
    (True, False): "needed and usually enough",
    (False, False): "needed and not enough",
}
LABELS = ("the most telling word", "any other word")
# The rows of WHAT that are drawn.
JUDGED = ("as it is", "the word hidden", "any other hidden", "the word alone", "any other alone")
INTERVALS = "Lines: 95 % intervals"
NONE: Mapping = MappingProxyType({})


def hidden_words_panels(
    encoder: Encoder,
    report: HiddenWordsReport,
    frame: pd.DataFrame,
    word: str,
    head: Head,
    others: Mapping[str, HiddenWordsReport] = NONE,
) -> Iterator[Panel]:
    """The panels about the most telling word: by sentence, over all sentences, by attention, and by head.

    frame: the labelled sentences of `report`. word: the word whose sentences are shown. head: the head to outline. others: other
    encoders' reports about the same sentences, by name.
    """
    if (report.words["word"] == word).any():
        yield sentences(encoder, report, frame, word)
    yield one_word({encoder.title.split("/")[-1]: report, **others})
    yield attention(report, raw_c_measured(encoder.content))
    if report.heads["share"].notna().any():
        yield heads(report, head)


def separation_panels(report: SeparationReport, head: Head) -> Iterator[Panel]:
    """The panels of how well senses separate in each layer, and of attention's gain in each head. head: the head to outline."""
    yield layers(report)
    if len(report.heads):
        yield adds(report, head)


def sentences(encoder: Encoder, report: HiddenWordsReport, frame: pd.DataFrame, word: str) -> Panel:
    """The panel of one word's sentences with their words tinted, in the order of `opened`."""
    rows, level = opened(report, frame, word), report.level.level
    largest = report.named.groupby(["word", "row"])["share"].max()
    n, many = len(largest[word]), len(largest)
    if level == level:
        finding = (
            f'In {(largest[word] >= level).sum()} of {n} sentences one word moves "{word}" further than chance does.'
        )
        note = (
            f'Below a word: how far "{word}" moves toward its other sense with it hidden; under {share(level)} is chance too '
            "often."
        )
    elif many >= ROWS:
        finding = f'No single word moves "{word}" further than chance does.'
        note, level = "Moves of any length go the wrong way too often for a word to be named.", math.inf
    else:
        first, moved = rows[["first", "share"]].iloc[0]
        finding = f'Hide "{first}", and "{word}" moves {share(moved)} of the distance to its other sense.'
        note = f"Whether that is more than chance takes {ROWS} labelled sentences to tell; there are {numbers.count(many)}."
        level = WRITTEN
    if n > 2 * SHOWN:
        note += f" The {SHOWN} in which most hangs on one word, and the {SHOWN} in which least does."
    shades = shaded_frame(report, {row: encoder.tokenize(text).words for row, text in rows["sentence"].items()})
    tint = Tint("share", numbers.percent, "{} of the distance to its other sense", DEEPEST, level)
    return Panel(
        name="sentences",
        finding=finding,
        **shaded_picture(shaded_data(shades, rows["sense"].to_dict(), tint, OPEN)),
        note=f"{note} A word may carry the topic, not the sense. A click opens the sentence.",
        alt=" ".join([finding, *(f'{row.sentence} ("{row.first}": {share(row.share)})' for row in rows.itertuples())]),
        tables=Tables(
            {
                "sentences": lambda: shades,
                "leading words": lambda: leading_words_frame(report, frame),
                "words, hidden words": lambda: report.words,
                "rejected, hidden words": lambda: report.rejected,
            }
        ),
        method=f'Each other word is hidden from "{word}" in every head, and the encoder runs again. The number is how far the '
        "word then moves toward its other senses: 100 % is the whole distance, less than 0 is away from them. The way leads from "
        "the mean of the sense's other sentences to that of the other senses. What others have read from the hidden "
        "word still reaches it.",
    )  # fmt: skip


def opened(report: HiddenWordsReport, frame: pd.DataFrame, word: str) -> pd.DataFrame:
    """The word's sentences, senses alternating, the furthest moved first: rows of tidy_tables.leading_words_frame."""
    rows = leading_words_frame(report, frame).query("word == @word")
    rows = rows if len(rows) <= 2 * SHOWN else pd.concat([rows[:SHOWN], rows[-SHOWN:]])
    turns = pd.DataFrame({"turn": rows.groupby("sense").cumcount(), "sense": pd.factorize(rows["sense"])[0]})
    return rows.loc[turns.sort_values(["turn", "sense"]).index]


def one_word(reports: Mapping[str, HiddenWordsReport]) -> Panel:
    """The panel of accuracy without the most telling word and with it alone. reports: by encoder, the page's encoder first."""
    report = next(iter(reports.values()))
    own, n = report.of(), report.words["word"].nunique()
    what = ("as it is", "the word hidden", "the word alone", "any other alone")
    every, hidden, alone, other = (own.loc[each] for each in what)
    if not every["low"] > GUESS:
        finding = f"Even all words together tell the sense in only {_hits(every)} of 100 sentences."
    elif not alone["low"] > other["high"]:
        finding = (
            f"No single word is enough: the most telling one alone tells the sense in {_hits(alone)} of 100 sentences."
        )
    else:
        gain, kept, lost = (each["accuracy"] - GUESS for each in (every, alone, hidden))
        finding = (
            f"The most telling word is {CARRIES[kept >= ENOUGH * gain, lost >= LEFT * gain]}: without it {_hits(hidden)} of 100 "
            f"sentences keep their sense, with it alone {_hits(alone)}."
        )
    labels, groups = (["all words", *2 * LABELS], ["", *["without"] * 2, *["with nothing but"] * 2])
    parts = [
        dot_rows(labels, each.of().loc[[*JUDGED]], "accuracy", group=groups, series=name)
        for name, each in reports.items()
    ]
    drawn = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    low = min(0.4, math.floor(10 * drawn[["value", "low"]].min(axis=None)) / 10)
    few = " So few words say little about others." if n < FEW_WORDS else ""
    over = f"{n} words" if n > 1 else "the sentences of one word"
    return dots_panel(
        "one word", finding, drawn, guess=("guessing", GUESS), domain=(low, 1.0), marked=LABELS[:1],
        tables={"accuracy, hidden words": report.accuracy, "between, hidden words": report.between},
        note=f"The sentences in which the right sense is the nearer one. {INTERVALS} over {over}.{few}",
        method="The most telling word is the one whose hiding moves the word furthest toward its other senses. One half of the "
        "other sentences picks it, and the other half judges: is the right sense nearer without it (comprehensiveness), "
        "and with it alone (sufficiency; DeYoung et al., ERASER)? Without the most attended word it is in "
        f"{_hits(own.loc['most attended hidden'])} of 100 sentences, with it alone in {_hits(own.loc['most attended alone'])}.",
    )  # fmt: skip


def attention(report: HiddenWordsReport, made_up: Mapping[str, float] = NONE) -> Panel:
    """The panel of how often attention names the most telling word. made_up: shares for RAW-C's marked word (check.py)."""
    ways = report.agreement.set_index("way").dropna(subset="agreement")
    *others, zeroed, masked = (way for way in report.agreement["way"] if way != "nearest")
    pairs = pd.Series(made_up, dtype=float).reindex(["most attended", "hiding"]).dropna().to_frame("agreement")
    natural = ways.loc[[way for way in others if way in ways.index]].sort_values("agreement", ascending=False)
    groups = {"in made-up pairs (RAW-C)": pairs, "in natural sentences": natural}
    drawn = pd.concat([dot_rows(own.index, own, "agreement", group=group) for group, own in groups.items()])
    drawn = drawn.reset_index(drop=True)
    if "most attended" not in ways.index:
        finding = "What attention names isn't known for this encoder."
    elif made_up:
        finding = (
            f"In made-up pairs the most attended word is the right one in {_hits(made_up['most attended'])} of 100, in natural "
            f"sentences in {_hits(ways.loc['most attended'])}."
        )
    else:
        most = ways.loc["most attended"]
        luck = ", no more often than luck" if most["low"] <= report.luck else ""
        finding = f"The most attended word is the most telling one in {_hits(most)} of 100 sentences{luck}."
    note = f"A word drawn at random is the most telling one in {_hits(report.luck)} of 100 sentences."
    method = (
        "Each way ranks a sentence's words. It is right if its first word is the most telling one, which hiding names. The "
        "gradient uses the senses' labels; attention doesn't."
    )
    if {zeroed, masked} <= {*ways.index}:
        method += (
            f" As checks of hiding, value zeroing names the same word in {_hits(ways.loc[zeroed])} of 100 sentences, {masked} in "
            f"the word's place in {_hits(ways.loc[masked])}."
        )
    if made_up:
        method += (
            "\n\nRAW-C (Trott and Bergen 2021): pairs of short sentences that differ in one marked word, which makes the sense. "
            "There the mean of all weights names it; in sentences as people write them it mostly names another."
        )
    return dots_panel(
        "attention", finding, drawn, guess=("at random", report.luck), marked=["most attended"],
        tables={"agreement, hidden words": report.agreement}, note=f"{note} {report.reason}".rstrip(), method=method,
    )  # fmt: skip


def heads(report: HiddenWordsReport, head: Head) -> Panel:
    """The panel of how far each head moves the word if the sentence's leading word is hidden in that head alone."""
    frame = _heads_of_all(report)
    leading = frame.nlargest(2, "share")
    first = leading.iloc[0]
    finding = f"{named(first)} carries the most: alone, {share(first['share'], 1)} of the distance."
    if not first["low"] > 0:
        finding = "No head alone surely moves the word toward its other senses."
    largest = report.named.groupby(["word", "row"])["share"].max()
    whole = largest.groupby("word").mean().mean()
    often = [f"{name} in {share(leads)}" for name, leads in zip(leading["name"], leading["leads"]) if leads >= 0.005]
    return heads_panel(
        "heads", finding, frame[["layer", "head", "name", "share"]], "share", head, look_of={"title": "of the distance"},
        tables={"heads": frame, "heads, hidden words": report.heads},
        note=f"With other words another head might: first in resamples is {', '.join(often)}.",
        method="In each sentence the most telling word is hidden in one head alone, by gradient: the mean over a sense's "
        f"sentences, then over senses, then over words. The heads' numbers add up to {share(frame['share'].sum())} of the "
        f"distance; with the words hidden in all heads at once it is {share(whole)}.",
    )  # fmt: skip


def _heads_of_all(report: HiddenWordsReport) -> pd.DataFrame:
    """The heads' means over all words. If the report has one word only: that word's means, with intervals over sentences."""
    words = report.heads["word"].unique()
    chosen = report.heads[report.heads["word"] == (words[0] if len(words) == 2 else words[-1])].drop(columns="word")
    return chosen.assign(name=_names(chosen)).reset_index(drop=True)


def layers(report: SeparationReport) -> Panel:
    """The panel of the share of sentences whose nearest sense is right, after each layer."""
    table, n = report.layers, report.words["word"].nunique()
    best = table.iloc[1 + table["accuracy"].iloc[1:].argmax()]
    span = f" (95 % interval {numbers.span(best['low'], best['high'], _hits)})" if best["low"] == best["low"] else ""
    few = f" {n} word{'s' * (n != 1)}: others may differ." if n < FEW_WORDS else ""
    right = _hits(best["accuracy"])
    finding = f"After layer {best['layer']} the word's vector tells the senses apart in {right} of 100 sentences."
    bag = pd.DataFrame([report.bag], columns=["accuracy", "low", "high"])
    after = dot_rows(
        [f"layer {layer}" for layer in table["layer"][1:]], table[1:], "accuracy", group="its vector after"
    )
    drawn = pd.concat(
        [after, dot_rows(["token vectors"], bag, "accuracy", group="the other words'")], ignore_index=True
    )
    ends = min(0.4, float(drawn[["value", "low"]].min(axis=None))), 1.0
    return dots_panel(
        "layers", finding, drawn, guess=("guessing", report.chance), domain=ends, marked=[f"layer {best['layer']}"],
        tables={"layers": table.astype({"layer": str}), "words": report.words.astype({"layer": str})},
        note=f"The other words' token vectors alone, without attention, in {_hits(report.bag[0])}.{few}",
        method=f"{n} word{'s' * (n != 1)}, {len(report.items)} sentences. Each sentence is compared with the mean of the other "
        f"sentences of each sense, by the cosine of the word's vectors{span}. Layer 0's input is in the table only: there the "
        "word's vectors hardly differ, and leaving a sentence out of its own sense's mean can decide.",
    )  # fmt: skip


def adds(report: SeparationReport, head: Head) -> Panel:
    """The panel of attention's gain over the better of two baselines, head by head."""
    table = report.heads.assign(name=_names(report.heads))
    n, best = len(table), table.loc[table["adds"].idxmax()]
    most = f"Best: {best['name']}, {numbers.effect(best['adds'])}"
    if best["adds_low"] == best["adds_low"]:
        sure, below = (table["adds_low"] > 0).sum(), (table["adds_high"] < 0).sum()
        chance = f"where chance alone would make {round(0.025 * n)}"
        if below:
            finding = f"On {below} of {n} heads attention takes something away; on {sure} it adds, {chance}."
        else:
            finding = f"On {sure} of {n} heads attention adds something, {chance}."
        span = numbers.span(best["adds_low"], best["adds_high"], numbers.effect)
        note = f"{most} (95 % interval {span})."
    else:
        finding = f"On {(table['adds'] > 0).sum()} of {n} heads attention adds something."
        note = f"{most}. One word has no interval."
    return heads_panel(
        "attention adds", finding, named_heads(report.heads), "adds", head, look_of={"kind": "signed", "title": "attention adds"},
        note=note, tables=Tables({"heads, separation": lambda: table, f"sentences, {head}": lambda: report.sentences(*head)}),
        method="How often a head's output tells the senses apart, minus the better of two baselines: the same values with equal "
        "weights, and the word's own value. One half of a word's sentences chooses the baseline, the other scores. Where "
        "attention adds nothing, an average over the sentence or the word alone would do as well. Heads are counted whose 95 % "
        "interval over words excludes 0.\n\n"
        f"Under shuffled labels the best of {n} heads exceeds {numbers.weight(report.threshold)} once in twenty times "
        f"({numbers.count(report.shuffles)} shuffles). Heads above that: {(table['p_value'] < 0.05).sum()}. "
        "That alone does not show that attention found the sense.",
    )  # fmt: skip


def _names(heads: pd.DataFrame) -> list[str]:
    return [str(Head(*pair)) for pair in zip(heads["layer"], heads["head"])]


def _hits(line: pd.Series | float) -> str:
    """An accuracy or an agreement, 0 to 1, written as sentences in 100."""
    if isinstance(line, pd.Series):
        line = line["accuracy"] if "accuracy" in line else line["agreement"]
    return numbers.decimal(100 * line, 0)
