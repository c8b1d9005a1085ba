"""Count how often each head links a pronoun to the right noun."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from selfattn.charts.bars import bar_list
from selfattn.dashboard import teaching
from selfattn.dashboard.cache import cached_encode
from selfattn.dashboard.copy_as_python import load
from selfattn.dashboard.figures import say, this_page
from selfattn.dashboard.reports import say_dates, stored_or_made
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.examples import PRONOUNS, UNRESOLVED, PronounSentence
from selfattn.lessons import pronouns
from selfattn.lessons.encoded_words import weight_on
from selfattn.numbers import share, span, weight
from selfattn.views.lesson import drawing
from selfattn.words import to_groups

LEAN = 0.05  # a head "leans to" a noun with at least this much more weight
OPTIONS = (
    "no, the head gives the animal more weight",
    "yes, the head gives the street more weight",
    "no, the head gives both nouns about the same weight",
)


def show(encoder: Encoder) -> None:
    weights, found = stored_or_made(pronouns.PronounWeights, encoder, "Reading the pronoun sentences ...")
    picture, words = teaching.sides()
    names = list(dict.fromkeys(sentence.twin for sentence in PRONOUNS if sentence.twin))
    with words:
        teaching.prose(
            "Two sentences differ in one word. With *too tired*, *it* is the animal; with *too wide*, *it* is the street. We "
            f"show the head that, on average over {len(PRONOUNS) - 2} other sentences, prefers the correct noun most."
        )
        best = _best(weights, names[0])
        wide = [place for place, sentence in enumerate(PRONOUNS) if sentence.twin == names[0]][1]
        meant, other = (float(side[wide][best]) for side in (weights.antecedent, weights.distractor))
        answer = OPTIONS[2 if abs(meant - other) < LEAN else int(meant > other)]
        measured = f"With *too wide*, {best} gives *street* {weight(meant)} and *animal* {weight(other)}."
        question = f"In the sentence with *too wide*, does {best} give *street* more weight than *animal*?"
        answered = teaching.predict("pronouns", question, OPTIONS, answer, measured)
        name = names[0]
        if answered:
            name = st.selectbox("Pair of sentences", names, key="pronouns.twin", width=300)
    with picture:
        _twins(encoder, _best(weights, name), [each for each in PRONOUNS if each.twin == name][:2], answered)
    if not answered:
        return
    first, second = pronouns.halves(PRONOUNS)
    chosen = pronouns.choose_head(weights, first, second)
    _verdict(chosen, len(first), encoder.n_layers * encoder.n_heads)
    _map(weights)
    _unresolved(encoder, chosen.head)
    if found:
        say_dates(found)


def _best(weights: pronouns.PronounWeights, twin: str) -> Head:
    others = [place for place, sentence in enumerate(PRONOUNS) if sentence.twin != twin]
    preference = weights.preference[others].mean(0)
    return Head(*divmod(int(preference.argmax()), preference.shape[1]))


def _twins(encoder: Encoder, head: Head, twins: Sequence[PronounSentence], answered: bool) -> None:
    charts, right = {}, []
    for twin in twins:
        encoding = cached_encode(encoder, twin.sentence)
        row = to_groups(pronouns.pronoun_rows(encoding, twin).rows[head], [word.positions for word in encoding.words])
        frame = pd.DataFrame({"token": [word.text for word in encoding.words], "weight": row.tolist()})
        meant, other = (
            next(at for at, word in enumerate(frame["token"]) if word == noun)
            for noun in (twin.antecedent, twin.distractor)
        )
        right.append("right" if row[meant] > row[other] else "wrong")
        if twin is not twins[0] and not answered:
            frame["weight"] = math.nan
        look = {"domain": (0, 1.2), "width": 250, "marked": meant}
        charts[f"“{twin.pronoun}” is the {twin.antecedent}: … {' '.join(twin.sentence.split()[-2:])}"] = drawing(
            bar_list, frame, "weight", **look
        )
    finding = (
        f"{head} gives the {right[0]} noun more weight in the first sentence, and the {right[1]} noun in the second."
    )
    teaching.steps("twins", finding, charts, answered=answered)


def _verdict(chosen: pronouns.ChosenHead, n_first: int, n_heads: int) -> None:
    with st.container(horizontal=True, gap="large"):
        for label, accuracy in (
            (f"Chosen head's accuracy on the {n_first} sentences used to choose it", chosen.chosen_with),
            (f"Accuracy that the best of {n_heads} heads can reach by luck", chosen.luck),
            (f"Chosen head's accuracy on the other {chosen.n} sentences", chosen.accuracy),
            (
                "Chosen head's accuracy if its weights depended only on the distance between tokens",
                chosen.position_only,
            ),
        ):
            st.metric(label, share(accuracy), width="content")
    low, high = chosen.interval
    few = " The interval contains 50 %, so the head may be right only by luck." if low <= 0.5 <= high else ""
    st.markdown(f"#### Over {len(PRONOUNS)} sentences")
    teaching.prose(
        "Each sentence has two nouns. In half of the sentences, the pronoun refers to the first noun. A head is right if the "
        "pronoun gives the correct noun more weight than the other noun. We choose the best head on one half of the sentences, "
        "and test this head on the other half."
    )
    beyond = "more" if chosen.chosen_with > chosen.luck else "no more"
    say(
        f"We chose {chosen.head} on one half of the sentences. There it is right {beyond} often than the best head would be by "
        f"luck. On the other half, it is right in {share(chosen.accuracy)} of {chosen.n} sentences (95 % interval "
        f"{span(low, high, share)}).{few}"
    )
    teaching.prose(
        "**This is one encoder's result.** In BERT-base, Clark et al. (2019, *What Does BERT Look At?*, section 4.3) found a "
        "head (5-4 in their numbering) that attends from a mention to its antecedent in 65 % of cases. A rule that chooses the "
        "nearest mention is right in 27 %. Our bundled encoder is tuned to compare sentences, and may have no such head."
    )


def _map(weights: pronouns.PronounWeights) -> None:
    right = pronouns.accuracy(weights.preference)
    best = Head(*divmod(int(right.argmax()), right.shape[1]))
    finding = (
        f"In {share(float(right.max()))} of all sentences, {best} gives the correct noun more weight than the other noun. "
        f"{int((right > 0.5).sum())} heads do so in more than half of the sentences."
    )
    chart = teaching.heads_chart(right - 0.5, kind="signed", maximum=0.5)
    teaching.steps("pronouns", finding, {"Share of sentences in which the head is right, minus 0.50": chart})


def _unresolved(encoder: Encoder, head: Head) -> None:
    st.markdown("#### A sentence without an answer")
    teaching.prose(
        "In this sentence, *she* may be the artist or the musician. Readers disagree, so we don't score this sentence."
    )
    call = f"notebook.attention(encoder, {UNRESOLVED.sentence!r}, {head.layer}, {head.head})"
    this_page().python = f"{load(encoder)}\n{call}"
    row = pronouns.pronoun_rows(cached_encode(encoder, UNRESOLVED.sentence), UNRESOLVED)
    weights = [float(weight_on(row.rows[head], noun)) for noun in (row.antecedent, row.distractor)]
    nouns = [UNRESOLVED.antecedent, UNRESOLVED.distractor]
    say(UNRESOLVED.sentence)
    apart = abs(weights[0] - weights[1])
    lean = f'leans to "{nouns[weights.index(max(weights))]}"' if apart >= LEAN else "leans to neither"
    counted = [int((side * row.preference >= LEAN).sum()) for side in (1, -1)]
    bars = pd.DataFrame({"token": [*nouns, "all else"], "weight": [*weights, 1 - sum(weights)]})
    teaching.steps(
        "unresolved",
        f'{head} {lean}. Of {row.preference.numel()} heads, {counted[0]} lean to "{nouns[0]}" and {counted[1]} to "{nouns[1]}".',
        {f"Weights from “{UNRESOLVED.pronoun}”": drawing(bar_list, bars, "weight", number=".3f", domain=(0, 1.2))},
        note=f"A head leans to a noun if it gives this noun at least {LEAN:.2f} more weight than the other noun.",
    )
