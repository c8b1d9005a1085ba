"""The counter-examples of the page on what it cannot tell, computed on an encoder and put into words."""

from functools import partial

import pandas as pd
import torch

from selfattn.analysis.removing import removal_effect
from selfattn.charts.bars import bar_list
from selfattn.dashboard.cache import cached, cached_effect, cached_encode
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.examples import NEUTRAL_SENTENCES, PAIRS, PRONOUNS, labelled_sentences
from selfattn.lessons import counterexamples, pronouns
from selfattn.lessons.encoded_words import first_word
from selfattn.numbers import change, effect, error, share, span, weight
from selfattn.panel import Panel
from selfattn.senses import HiddenWordsReport, hidden_words
from selfattn.tidy_tables import heads_frame
from selfattn.views.lesson import drawing, lesson_panel
from selfattn.views.rounding import noise_floor

HIDDEN_WORDS, PER_SENSE = 3, 4  # of the labelled words and of their sentences, where nothing is stored
TIE = 1e-6
PASSAGE = " ".join(NEUTRAL_SENTENCES[:5])  # more tokens than a head has dimensions


def stored_or_measured(encoder: Encoder, stored: HiddenWordsReport | None) -> HiddenWordsReport:
    """The stored report, or that of this encoder over a few sentences of a few words."""
    labelled = labelled_sentences()
    few = labelled[labelled["word"].isin(labelled["word"].unique()[:HIDDEN_WORDS])]
    few = few.groupby(["word", "sense"]).head(PER_SENSE)
    title = "Hiding each word in labelled sentences ..."
    return stored or cached(encoder, "hidden words", partial(hidden_words, encoder, few), title, costly=True)


def weights_panel(encoder: Encoder) -> Panel | None:
    """Other weights for the same context; None where this encoder has none for the text, which has too few tokens."""
    passage = cached_encode(encoder, PASSAGE)
    head, rows = counterexamples.freest_row(passage, 2)
    if rows.moved < 0.01:
        return None
    top = rows.before.topk(8).indices.tolist()
    columns = {"Its own weights": rows.before[top], "Other weights, same context": rows.after[top]}
    frame = pd.DataFrame({"token": [f"{place}: {passage.tokens[place]}" for place in top], **columns})
    most = 1.2 * float(torch.stack([*columns.values()]).max())  # one scale for both, with room for the numbers
    before, after = (weight(float(row[0])) for row in columns.values())
    return lesson_panel(
        "other weights",
        f'{head} could move {share(rows.moved)} of the weight of "{passage.tokens[2]}" elsewhere and mix the same context.',
        {title: drawing(bar_list, frame, title, domain=(0, most)) for title in columns},
        note=f"Its favourite gets {after} instead of {before}; the context differs by {error(rows.difference)}.",
    )


def removal_example(encoder: Encoder) -> tuple[str, str]:
    """Single effects, their sum, all at once, and the control."""
    pair = PAIRS[0]
    first, second, again = (first_word(cached_encode(encoder, text), pair.word) for text in pair.sentences)
    frame = heads_frame(effect=cached_effect(encoder, first, second), control=cached_effect(encoder, first, again))
    frame, noise = noise_floor(frame, "effect", encoder.dtype)
    effects, control = (torch.tensor(frame[name].to_numpy()) for name in ("effect", "control"))
    together = float(removal_effect(encoder, first, second, heads=[tuple(encoder.all_heads)]))
    negative = float((effects < 0).double().mean())
    largest, of_control = (effect(float(each.abs().max())) for each in (effects, control))
    return (
        f"The effects of all heads, removed one at a time at every position, add up to {change(float(effects.sum()))}; all "
        f"removed at once: {change(together)}. {share(negative)} of the heads have a negative effect. {noise}".rstrip(),
        f"Largest single effect between the two senses: {largest}. In the control pair, two sentences of one "
        f"sense: {of_control}.",
    )


def sense_example(found: counterexamples.HalvedSenses) -> str:
    """On how many heads a plain average, or the word's own value, separates the senses as well as attention does.

    The best head is chosen on half of the words; all that is said of it, and of the others, is measured on the other half.
    """
    heads = found.judged_on
    level = heads["accuracy"] - TIE  # equal means of shares may differ by rounding
    place = found.chosen_on["accuracy"].idxmax()
    flattered, best = found.chosen_on.loc[place], heads.loc[place]
    return (
        f"{int((heads['p_value'] < 0.05).sum())} of {len(heads)} heads separate the senses of "
        f"{found.n_words} words above chance (p < 0.05, against the best head under shuffled labels, "
        f"{found.shuffles} times). On {int((heads['uniform'] >= level).sum())} of {len(heads)} equal "
        f"weights for all words do as well or better, on {int((heads['own_value'] >= level).sum())} the word's "
        f"own value alone does. The best head was chosen on other words: {Head(int(best['layer']), int(best['head']))}, with "
        f"{share(flattered.accuracy)} there. Here it has {share(best.accuracy)} (95 % interval "
        f"{span(best.low, best.high, share)}); equal weights {share(best.uniform)}, its own value {share(best.own_value)}."
    )


def luck_example(weights: pronouns.PronounWeights) -> str:
    """The best head on half of the pronoun sentences, beside what luck gives the best of all heads."""
    first, second = pronouns.halves(PRONOUNS)
    chosen = pronouns.choose_head(weights, first, second)
    n_heads = weights.preference[0].numel()
    return (
        f"Pronouns, {len(first)} sentences: the best of {n_heads} heads is right in {share(chosen.chosen_with)}. "
        f"If all {n_heads} heads guessed, the best would still reach {share(chosen.luck)} once in twenty tries. "
        f"On {chosen.n} fresh sentences this head has {share(chosen.accuracy)}; coins do as well or better with "
        f"p = {weight(chosen.p_value)}."
    )
