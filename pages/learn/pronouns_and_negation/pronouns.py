"""S15: which heads look from a pronoun to its noun, scored against luck and against mere distance."""

import pandas as pd
import streamlit as st
import torch

from selfattn.analysis.measures import similarity
from selfattn.charts import lesson_charts as charts
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.encoder_picker import HASHED, cached_effect, cached_encode
from selfattn.dashboard.figures import current_theme, show_chart
from selfattn.encoders.encoder import Encoder
from selfattn.examples import PRONOUNS, UNRESOLVED, PronounSentence
from selfattn.lessons import pronouns

OPTIONS = ("yes, clearly more often than not", "no better than luck can explain", "it picks the other noun")


@st.cache_resource(max_entries=4, show_spinner="Reading the pronoun sentences ...", hash_funcs=HASHED)
def looks(encoder: Encoder) -> list[pronouns.Looks]:
    """Every pronoun sentence, read by the encoder."""
    return [pronouns.look(cached_encode(encoder, sentence.sentence), sentence) for sentence in PRONOUNS]


def show(encoder: Encoder) -> None:
    seen = looks(encoder)
    heads = encoder.n_layers * encoder.n_heads
    parts.prose(
        f"{len(PRONOUNS)} sentences of our own, many in twins that differ in one word, as in *too tired* and *too wide*. "
        "In half of them the noun that the pronoun stands for comes first. A head scores when the pronoun gives that noun "
        f"more weight than the other noun. The best of {heads} heads is picked on one half of the sentences and judged on "
        "the other."
    )
    first, second = pronouns.halves(PRONOUNS)
    found = pronouns.verdict(seen, first, second)
    answer = _answer(found)
    question = "Does the head that looks best on one half find the noun in the other half?"
    if not parts.predict("pronouns", question, OPTIONS, answer):
        return
    _verdict(found, len(first), heads)
    _map(seen)
    st.markdown("#### One sentence and its twin")
    _twins(encoder, seen)
    _unresolved(encoder, found)


def _answer(found: pronouns.Verdict) -> str:
    """A share of right answers is told from a half where it lies outside 1.96 standard errors."""
    beyond = (found.accuracy - 0.5) / (0.5 / found.n**0.5)
    return OPTIONS[0] if beyond > 1.96 else OPTIONS[2] if beyond < -1.96 else OPTIONS[1]


def _verdict(found: pronouns.Verdict, n_first: int, heads: int) -> None:
    with st.container(horizontal=True, gap="large"):
        st.metric(f"Chosen head on its own half ({n_first})", f"{found.chosen_with:.0%}", width="content")
        st.metric(f"Best of {heads} by luck, up to", f"{found.luck:.0%}", width="content")
        st.metric(f"Chosen head on the other half ({found.n})", f"{found.accuracy:.0%}", width="content")
        st.metric("Same head, by distance alone", f"{found.position_only:.0%}", width="content")
    beyond = "more" if found.chosen_with > found.luck else "no more"
    st.text(
        f"L{found.layer} H{found.head} was best on the first half: {beyond} than luck gives the best of {heads} heads. "
        f"On fresh sentences it is right in {found.accuracy:.0%}; a coin is right in 50%, give or take "
        f"{50 / found.n**0.5 * 1.96:.0f}.",
        width="stretch",
    )


def _map(seen: list[pronouns.Looks]) -> None:
    right = pronouns.accuracy(torch.stack([look.preference for look in seen]))
    rows, columns = [f"L{n}" for n in range(len(right))], [f"H{n}" for n in range(right.shape[1])]
    layer, head = divmod(int(right.argmax()), right.shape[1])
    above = int((right > 0.5).sum())
    chart = charts.heatmap(
        right - 0.5, rows, columns, current_theme(), signed=True, highest=0.5, names=("layer", "head"), cell=36
    )
    reading = (
        f"Share right minus .50, over all sentences. L{layer} H{head} is right in {float(right.max()):.0%}; "
        f"{above} heads are right more often than not."
    )
    show_chart(chart, reading, width="content")


def _twins(encoder: Encoder, seen: list[pronouns.Looks]) -> None:
    names = list(dict.fromkeys(sentence.twin for sentence in PRONOUNS if sentence.twin))
    name = st.selectbox("Twins", names, key="pronouns.twin", width=300)
    places = [place for place, sentence in enumerate(PRONOUNS) if sentence.twin == name][:2]
    best = torch.stack([seen[place].preference for place in places]).mean(0)
    layer, head = divmod(int(best.argmax()), best.shape[1])
    for place in places:
        sentence, look = PRONOUNS[place], seen[place]
        weight = look.rows[layer, head]
        st.text(
            f"{sentence.sentence}\n"
            f'L{layer} H{head}: "{sentence.pronoun}" gives "{sentence.antecedent}" (meant) '
            f'{float(weight[list(look.antecedent)].sum()):.2f}, "{sentence.distractor}" '
            f"{float(weight[list(look.distractor)].sum()):.2f}",
            width="stretch",
        )
    if encoder.recomputable and st.toggle(
        "And what does removing heads do to the two pronouns?", key="pronouns.remove"
    ):
        _removal(encoder, [PRONOUNS[place] for place in places], [seen[place] for place in places], (layer, head))


def _removal(encoder: Encoder, pair: list[PronounSentence], looks: list[pronouns.Looks], best: tuple[int, int]) -> None:
    spots = [(sentence.sentence, (look.pronoun,)) for sentence, look in zip(pair, looks)]
    effect = cached_effect(encoder, *spots)
    vectors = [cached_encode(encoder, text).vector(encoder.n_layers, at) for text, at in spots]
    order = effect.abs().flatten().argsort(descending=True).tolist()
    rank = order.index(best[0] * effect.shape[1] + best[1]) + 1
    rows, columns = [f"L{n}" for n in range(effect.shape[0])], [f"H{n}" for n in range(effect.shape[1])]
    top = divmod(order[0], effect.shape[1])
    reading = (
        f"The twins' pronouns have cosine {float(similarity(*vectors)):.3f}. Removing L{top[0]} H{top[1]} changes that most "
        f"({float(effect[top]):+.3f}); the head that looks best, L{best[0]} H{best[1]}, comes {rank}. of {len(order)}."
    )
    chart = charts.heatmap(
        effect, rows, columns, current_theme(), effect=True, names=("layer", "head"), cell=36, number="+.2f"
    )
    show_chart(chart, reading, width="content")
    parts.prose("Where a head looks and what it does are two different questions. Attention is not explanation.")


def _unresolved(encoder: Encoder, found: pronouns.Verdict) -> None:
    st.markdown("#### A sentence without an answer")
    parts.prose("Here *she* may be the artist or the musician; readers differ. So it is shown and never scored.")
    look = pronouns.look(cached_encode(encoder, UNRESOLVED.sentence), UNRESOLVED)
    weight = look.rows[found.layer, found.head]
    nouns = (("artist", look.antecedent), ("musician", look.distractor))
    frame = pd.DataFrame({"token": [n for n, _ in nouns], "weight": [float(weight[list(at)].sum()) for _, at in nouns]})
    st.text(UNRESOLVED.sentence, width="stretch")
    with parts.figure(f"What “she” gives them in L{found.layer} H{found.head}", 420):
        favours = frame.loc[frame["weight"].idxmax(), "token"]
        more = int((look.preference > 0).sum())
        reading = f'This head leans to "{favours}"; of all {look.preference.numel()} heads, {more} lean to "artist".'
        show_chart(charts.bars(frame, "weight", current_theme(), number=".3f"), reading, width="content")
