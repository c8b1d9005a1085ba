"""Make the panels of the page Senses."""

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

OPEN = "Open the sentence in the main view"
SHOWN = 12  # sentences from each end of the ranking: enough to show all sentences of a built-in word
DEEPEST = 0.4  # the share of the distance between senses that gets the deepest tint
WRITTEN = 0.05  # smallest share printed where there is no noise level
FEW_WORDS = 10  # words: an interval over fewer says little
ENOUGH = 0.8  # a word is enough if it alone keeps this part of the accuracy above guessing
LEFT = 0.5  # a word is rarely needed if this part of that accuracy is left without the word
CARRIES = {
    (True, True): "rarely needed and usually enough",
    (False, True): "rarely needed and not enough",
    (True, False): "needed and usually enough",
    (False, False): "needed and not enough",
}
LABELS = ("the most telling word", "any other word")
# `one_word` draws only these rows of the accuracy table.
JUDGED = ("as it is", "the word hidden", "any other hidden", "the word alone", "any other alone")
INTERVALS = "Lines show 95 % intervals"
NONE: Mapping = MappingProxyType({})


def hidden_words_panels(
    encoder: Encoder,
    report: HiddenWordsReport,
    frame: pd.DataFrame,
    word: str,
    head: Head,
    others: Mapping[str, HiddenWordsReport] = NONE,
) -> Iterator[Panel]:
    """Yield the panels about each sentence's most telling word.

    Hiding a sentence's most telling word moves the labelled word furthest toward its other senses.
    others: reports of other encoders, by name.
    """
    if (report.words["word"] == word).any():
        yield sentences(encoder, report, frame, word)
    yield one_word({encoder.title.split("/")[-1]: report, **others})
    yield attention(report, raw_c_measured(encoder.content))
    if report.heads["share"].notna().any():
        yield heads(report, head)


def separation_panels(report: SeparationReport, head: Head) -> Iterator[Panel]:
    """Yield the panels that show how well layers and heads tell senses apart."""
    yield layers(report)
    if len(report.heads):
        yield adds(report, head)


def sentences(encoder: Encoder, report: HiddenWordsReport, frame: pd.DataFrame, word: str) -> Panel:
    """Make the panel of the sentences with `word`. Each other word's tint shows how far hiding it moves `word`."""
    rows, level = opened(report, frame, word), report.level.level
    largest = report.named.groupby(["word", "row"])["share"].max()
    n, many = len(largest[word]), len(largest)
    if level == level:
        finding = (
            f"In {(largest[word] >= level).sum()} of {n} sentences, "
            f'hiding one word moves "{word}" further than chance could.'
        )
        note = (
            f'The number below a word says how far "{word}" moves toward its other sense when that word is hidden. Moves '
            f"under {share(level)} could be chance."
        )
    elif many >= ROWS:
        finding = f'Hiding a single word never moves "{word}" further than chance could.'
        note, level = (
            "There is no noise level: even among the longest moves, too many go away from the other sense to rule out chance.",
            math.inf,
        )
    else:
        first, moved = rows[["first", "share"]].iloc[0]
        finding = f'Hide "{first}", and "{word}" moves {share(moved)} of the distance to its other sense.'
        note = f"This move could be chance: {numbers.count(many)} sentences are too few for a noise level ({ROWS} are needed)."
        level = WRITTEN
    if n > 2 * SHOWN:
        note += f" The figure shows the {SHOWN} sentences with the longest moves and the {SHOWN} with the shortest."
    shades = shaded_frame(report, {row: encoder.tokenize(text).words for row, text in rows["sentence"].items()})
    tint = Tint(
        "share",
        numbers.percent,
        "hiding this word moves the chosen word {} of the distance to the other sense",
        DEEPEST,
        level,
    )
    return Panel(
        name="sentences",
        finding=finding,
        **shaded_picture(shaded_data(shades, rows["sense"].to_dict(), tint, OPEN)),
        note=f"{note} The word with the largest effect may carry the topic rather than the sense. Click a sentence to open it.",
        alt=" ".join([finding, *(f'{row.sentence} ("{row.first}": {share(row.share)})' for row in rows.itertuples())]),
        tables=Tables(
            {
                "sentences": lambda: shades,
                "leading words": lambda: leading_words_frame(report, frame),
                "words, hidden words": lambda: report.words,
                "rejected, hidden words": lambda: report.rejected,
            }
        ),
        method=f'Each other word in turn is hidden from "{word}" in every head, and the encoder runs again. The number says how '
        f'far "{word}" then moves toward its other senses: 100 % is the whole distance. A negative number means a move away. '
        "The distance goes from the mean vector of the other sentences with the same sense to the mean of the other senses. A "
        "hidden word still has an effect through words that attend to the hidden word.",
    )  # fmt: skip


def opened(report: HiddenWordsReport, frame: pd.DataFrame, word: str) -> pd.DataFrame:
    """Return the sentences of `word` that the figure shows, ordered so that the senses alternate."""
    rows = leading_words_frame(report, frame).query("word == @word")
    rows = rows if len(rows) <= 2 * SHOWN else pd.concat([rows[:SHOWN], rows[-SHOWN:]])
    turns = pd.DataFrame({"turn": rows.groupby("sense").cumcount(), "sense": pd.factorize(rows["sense"])[0]})
    return rows.loc[turns.sort_values(["turn", "sense"]).index]


def one_word(reports: Mapping[str, HiddenWordsReport]) -> Panel:
    """Make the panel that shows how often the right sense is found without one word, and with only this word.

    This word is the sentence's most telling word: hiding it moves the labelled word furthest toward its other senses.
    """
    report = next(iter(reports.values()))
    own, n = report.of(), report.words["word"].nunique()
    what = ("as it is", "the word hidden", "the word alone", "any other alone")
    every, hidden, alone, other = (own.loc[each] for each in what)
    if not every["low"] > GUESS:
        finding = f"Even with all words, the encoder finds the right sense in only {_hits(every)} of 100 sentences."
    elif not alone["low"] > other["high"]:
        finding = (
            "No single word is enough: with only the most telling word, the right sense is found in "
            f"{_hits(alone)} of 100 sentences."
        )
    else:
        gain, kept, lost = (each["accuracy"] - GUESS for each in (every, alone, hidden))
        finding = (
            f"The most telling word is {CARRIES[kept >= ENOUGH * gain, lost >= LEFT * gain]}: the right sense is found in "
            f"{_hits(hidden)} of 100 sentences without this word, and in {_hits(alone)} with only this word."
        )
    labels, groups = (["all words", *2 * LABELS], ["", *["without"] * 2, *["with only"] * 2])
    parts = [
        dot_rows(labels, each.of().loc[[*JUDGED]], "accuracy", group=groups, series=name)
        for name, each in reports.items()
    ]
    drawn = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    low = min(0.4, math.floor(10 * drawn[["value", "low"]].min(axis=None)) / 10)
    few = " Results for so few words may not hold for other words." if n < FEW_WORDS else ""
    over = f"{n} words" if n > 1 else "the sentences of one word"
    return dots_panel(
        "one word", finding, drawn, guess=("guessing", GUESS), domain=(low, 1.0), marked=LABELS[:1],
        tables={"accuracy, hidden words": report.accuracy, "between, hidden words": report.between},
        note="Dots show how often the right sense is found. It is found if the word's vector is nearer to the mean of this sense "
        f"than to the mean of the other senses. {INTERVALS} over {over}.{few}",
        method="Hiding a sentence's most telling word moves the labelled word furthest toward its other senses. The telling word "
        "is chosen with sense means over half of the other sentences with the labelled word. Sense means over the remaining half "
        "test whether the right sense is found without the telling word (comprehensiveness), and with only the telling word "
        "(sufficiency; DeYoung et al., ERASER). "
        f"Without the most attended word, the right sense is found in {_hits(own.loc['most attended hidden'])} of 100 "
        f"sentences; with only the most attended word, in {_hits(own.loc['most attended alone'])}.",
    )  # fmt: skip


def attention(report: HiddenWordsReport, made_up: Mapping[str, float] = NONE) -> Panel:
    """Make the panel that shows how often the most attended word also decides the ambiguous word's sense."""
    ways = report.agreement.set_index("way").dropna(subset="agreement")
    *others, zeroed, masked = (way for way in report.agreement["way"] if way != "nearest")
    pairs = pd.Series(made_up, dtype=float).reindex(["most attended", "hiding"]).dropna().to_frame("agreement")
    natural = ways.loc[[way for way in others if way in ways.index]].sort_values("agreement", ascending=False)
    groups = {"in made-up pairs (RAW-C)": pairs, "in natural sentences": natural}
    drawn = pd.concat([dot_rows(own.index, own, "agreement", group=group) for group, own in groups.items()])
    drawn = drawn.reset_index(drop=True)
    if "most attended" not in ways.index:
        finding = "The most attended words aren't known for this encoder."
    elif made_up:
        finding = (
            f"In {_hits(made_up['most attended'])} of 100 made-up sentences, and in {_hits(ways.loc['most attended'])} of 100 "
            "natural sentences, the most attended word is also the word that gives the sense."
        )
    else:
        most = ways.loc["most attended"]
        luck = ", no more often than by chance" if most["low"] <= report.luck else ""
        finding = f"The most attended word is also the most telling word in {_hits(most)} of 100 sentences{luck}."
    note = (
        "Hiding the most telling word moves the labelled word furthest toward its other senses. A random word is the most "
        f"telling word in {_hits(report.luck)} of 100 sentences."
    )
    method = (
        "Each method ranks a sentence's words. The dots show how often a method ranks the most telling word first. The gradient "
        "uses the sense labels; attention doesn't."
    )
    if {zeroed, masked} <= {*ways.index}:
        method += (
            f" Two other methods check the result of hiding. Setting each word's value vectors to zero ranks the most telling "
            f"word first in {_hits(ways.loc[zeroed])} of 100 sentences; replacing each word with {masked} ranks it first in "
            f"{_hits(ways.loc[masked])} of 100."
        )
    if made_up:
        method += (
            "\n\nRAW-C (Trott and Bergen 2021) has pairs of short sentences with the same ambiguous word. The sentences of "
            "a pair differ in one other word, which decides the sense. In most of these sentences, that word gets the largest "
            "attention weight, averaged over all heads. In most natural sentences, the most telling word doesn't get the "
            "largest average."
        )
    return dots_panel(
        "attention", finding, drawn, guess=("at random", report.luck), marked=["most attended"],
        tables={"agreement, hidden words": report.agreement}, note=f"{note} {report.reason}".rstrip(), method=method,
    )  # fmt: skip


def heads(report: HiddenWordsReport, head: Head) -> Panel:
    """Make the panel of heads: how far the labelled word's vector moves if another word is hidden in one head."""
    frame = _heads_of_all(report)
    leading = frame.nlargest(2, "share")
    first = leading.iloc[0]
    finding = (
        f"{named(first)} has the largest effect: hiding the most telling word in this head alone moves the labelled word "
        f"{share(first['share'], 1)} of the distance to its other senses."
    )
    if not first["low"] > 0:
        finding = "In no single head does hiding the most telling word clearly move the labelled word toward its other senses."
    largest = report.named.groupby(["word", "row"])["share"].max()
    whole = largest.groupby("word").mean().mean()
    often = [f"{name} in {share(leads)}" for name, leads in zip(leading["name"], leading["leads"]) if leads >= 0.005]
    return heads_panel(
        "heads", finding, frame[["layer", "head", "name", "share"]], "share", head, look_of={"title": "share of the distance"},
        tables={"heads": frame, "heads, hidden words": report.heads},
        note="With other labelled words, another head may have the largest effect. In random resamples of the words, the head "
        f"with the largest effect is {', '.join(often)}.",
        method="In each sentence, a gradient estimates how far the labelled word moves toward its other senses if the most "
        "telling word, the one with the largest effect, is hidden in one head alone. Effects are averaged over a sense's "
        f"sentences, then over senses, then over words. The heads' numbers add up to {share(frame['share'].sum())} of the "
        f"distance to the other senses. If the most telling word is hidden in all heads at once, the move is {share(whole)}.",
    )  # fmt: skip


def _heads_of_all(report: HiddenWordsReport) -> pd.DataFrame:
    words = report.heads["word"].unique()
    chosen = report.heads[report.heads["word"] == (words[0] if len(words) == 2 else words[-1])].drop(columns="word")
    return chosen.assign(name=_names(chosen)).reset_index(drop=True)


def layers(report: SeparationReport) -> Panel:
    """Make the panel of each layer's accuracy in telling senses apart."""
    table, n = report.layers, report.words["word"].nunique()
    best = table.iloc[1 + table["accuracy"].iloc[1:].argmax()]
    span = f" (95 % interval {numbers.span(best['low'], best['high'], _hits)})" if best["low"] == best["low"] else ""
    few = f" The results are for only {n} word{'s' * (n != 1)}." if n < FEW_WORDS else ""
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
        note=f"Without attention, the mean of the other words' token vectors finds the right sense in {_hits(report.bag[0])} of "
        f"100 sentences.{few}",
        method=f"{n} word{'s' * (n != 1)}, {len(report.items)} sentences. The word's vector in a sentence is compared by cosine "
        f"with the mean vector of each sense; the sentence itself is left out of the mean. The best layer is {best['layer']}"
        f"{span}. The input of layer 0 is only in the table: a word's input vectors hardly differ, so leaving the sentence "
        "out of the mean can decide which mean is nearest.",
    )  # fmt: skip


def adds(report: SeparationReport, head: Head) -> Panel:
    """Make the panel of each head's accuracy minus the accuracy of the better of two baselines.

    The baselines are the head's output with equal attention weights, and the word's own value vector.
    """
    table = report.heads.assign(name=_names(report.heads))
    n, best = len(table), table.loc[table["adds"].idxmax()]
    most = f"Of all heads, {best['name']} has the accuracy furthest above the better baseline: {numbers.effect(best['adds'])}"
    if best["adds_low"] == best["adds_low"]:
        sure, below = (table["adds_low"] > 0).sum(), (table["adds_high"] < 0).sum()
        chance = round(0.025 * n)
        if below:
            finding = (
                f"Attention helps to tell the senses apart in {sure} of {n} heads and hurts in {below}; by chance, both numbers "
                f"would be {chance}."
            )
        else:
            finding = f"Attention helps to tell the senses apart in {sure} of {n} heads; by chance, in {chance}."
        span = numbers.span(best["adds_low"], best["adds_high"], numbers.effect)
        note = f"{most} (95 % interval {span})."
    else:
        finding = f"Attention helps to tell the senses apart in {(table['adds'] > 0).sum()} of {n} heads."
        note = f"{most}. There is no interval, because all sentences have the same word."
    return heads_panel(
        "attention adds", finding, named_heads(report.heads), "adds", head, look_of={"kind": "signed", "title": "attention adds"},
        note=note, tables=Tables({"heads, separation": lambda: table, f"sentences, {head}": lambda: report.sentences(*head)}),
        method="The number is a head's accuracy in telling the senses apart, minus the accuracy of the better of two baselines: "
        "the head's output with equal weights, and the word's own value vector. The better baseline is chosen on half of "
        "a word's sentences; accuracies are measured on the other half. If attention adds nothing, the number is about 0. The "
        "headline counts heads whose 95 % interval over words excludes 0.\n\n"
        f"With shuffled labels, the accuracy of the best of {n} heads exceeds {numbers.weight(report.threshold)} once in twenty "
        f"times ({numbers.count(report.shuffles)} shuffles). Heads above this accuracy: {(table['p_value'] < 0.05).sum()}. A "
        "high accuracy alone doesn't show that attention finds the sense.",
    )  # fmt: skip


def _names(heads: pd.DataFrame) -> list[str]:
    return [str(Head(*pair)) for pair in zip(heads["layer"], heads["head"])]


def _hits(line: pd.Series | float) -> str:
    """Format an accuracy from 0 to 1 as a number of sentences in 100."""
    if isinstance(line, pd.Series):
        line = line["accuracy"] if "accuracy" in line else line["agreement"]
    return numbers.decimal(100 * line, 0)
