"""The main view: which word another gets its meaning from in two sentences, through which heads, and what that can't say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import torch

from selfattn.analysis.hiding import (
    HeadsOfWord,
    HiddenPair,
    heads_of_word,
    hidden_pair,
    leading_head,
    unmeasured_pair,
)
from selfattn.analysis.sense_means import SenseMeans
from selfattn.analysis.word_map import Attended, attended
from selfattn.captions import hidden_words as captions
from selfattn.charts.hidden_words import hidden_words as drawn
from selfattn.charts.theme import Theme
from selfattn.charts.vega import Spec
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import PlacedWord
from selfattn.senses import HiddenWordsReport
from selfattn.tidy_tables import hidden_curves_frame, hidden_heads_frame, hidden_words_frame

FIGURE = "which words, through which heads"  # what its files call it


@dataclass(frozen=True, eq=False, kw_only=True)
class WordInTwoSentences:
    """The answer of one pair, with all that is shown of it."""

    pair: HiddenPair
    attended: tuple[Attended, Attended]
    heads: tuple[HeadsOfWord, ...]  # of the words that lead, that of the larger share first; then others that were run
    limit: str
    by_gradient: str = ""  # why no head can be run alone, where none can
    first_head: Head  # `leading_head` of the first word; where heads have no shares, see `_most_to_another`

    @property
    def word(self) -> str:
        """The word, as A spells it."""
        return self.pair.placed[0].word.text

    @property
    def title(self) -> str:
        """The view's question."""
        return f'Where does "{self.word}" get its meaning?'

    @property
    def answer(self) -> tuple[str, ...]:
        """Which words, and how far it moves without them; or why there is no answer."""
        return tuple(captions.answer(self.pair))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        by_gradient = self.by_gradient and f"All heads are by gradient: {self.by_gradient}"
        return tuple(filter(None, (captions.taken_for(self.pair), *captions.notes(self.pair), by_gradient)))

    @property
    def caption(self) -> str:
        """What is to be seen in the figure."""
        said = [captions.compared(self.pair), *(captions.through(each, self.pair) for each in self.heads[:1])]
        return " ".join(filter(None, (*self.answer, *said)))

    def figure(
        self,
        theme: Theme,
        head: Head | None = None,
        *,
        guess: bool = False,
        width: int | None = None,
        in_words: bool = False,
    ) -> Spec:
        """Words over the curve, the map of all heads over what a head attends to; alive in a browser.

        head: the one that is picked at first. guess: without what gives the answer away. width: None: the window's. in_words:
        with the answer, its limit and the notes, for where nothing else says them.
        """
        said = " ".join((*self.answer, self.limit, *self.notes)) if in_words else ""
        return drawn(
            self.pair, self.attended, self.heads, theme, said=said, head=head or self.first_head, guess=guess, width=width,
        )  # fmt: skip

    @property
    def tables(self) -> dict[str, Callable[[], pd.DataFrame]]:
        """The numbers behind it, by name."""
        run = {("AB"[each.side], each.word.start): each.share for each in self.heads if each.exact}
        return {
            "words": lambda: hidden_words_frame(self.pair),
            "heads": lambda: hidden_heads_frame(self.pair, run),
            "curves": lambda: hidden_curves_frame(self.pair),
        }


def word_in_two_sentences(
    encoder: Encoder,
    first: PlacedWord[Encoding],
    second: PlacedWord[Encoding],
    control: PlacedWord[Encoding] | None = None,
    *,
    senses: SenseMeans | pd.DataFrame | None = None,
    over_many: HiddenWordsReport | None = None,
    progress: Progress = silent,
) -> WordInTwoSentences:
    """The view of a word in two sentences, the heads of both leading words run.

    senses: labelled sentences of the word, or their means: then shares are of the way to its other sense. over_many: what
    hiding words tells in many sentences. Raises TextError, and ValueError for senses that can't be used.
    """
    pair = measured(encoder, first, second, control, senses, progress)
    leading = [heads_of_word(encoder, pair, *at, exact=not encoder.one_head_reason) for at in leading_words(pair)]
    return put_together(encoder, pair, leading, over_many=over_many, labelled=senses is not None)


def measured(
    encoder: Encoder,
    first: PlacedWord[Encoding],
    second: PlacedWord[Encoding],
    control: PlacedWord[Encoding] | None = None,
    senses: SenseMeans | pd.DataFrame | None = None,
    progress: Progress = silent,
    changed: Callable[..., torch.Tensor] = Encoder.changed_vectors,
) -> HiddenPair:
    """`hidden_pair`; of an encoder from which no word can be hidden what is known without."""
    try:
        return hidden_pair(encoder, first, second, control, senses=senses, progress=progress, changed=changed)
    except NotRecomputable as error:
        why = captions.shown_only(encoder.title, encoder.hide_reason or str(error), first.word.text)
        return unmeasured_pair(encoder, first, second, control, notes=(why,))


def leading_words(pair: HiddenPair) -> list[tuple[int, int]]:
    """The words (side, number) of the largest share in A and in B, the larger of the two first."""
    at = [(side, top) for side, top in enumerate(pair.top) if top is not None]
    return sorted(at, key=lambda one: -float(pair.share[one[0]][one[1]]))


def put_together(
    encoder: Encoder,
    pair: HiddenPair,
    heads: Sequence[HeadsOfWord],
    *,
    over_many: HiddenWordsReport | None = None,
    labelled: bool = True,
    between_senses: HiddenPair | None = None,
) -> WordInTwoSentences:
    """The view of what was measured. labelled, between_senses: as in `captions.hidden_words.limit`."""
    run = (share.isfinite().nonzero().flatten().tolist() for share in pair.share)
    words = tuple(attended(side, kept or None) for side, kept in zip(pair.placed, run))  # where no word was run, all
    reason = "" if encoder.hide_reason else encoder.one_head_reason
    limit = captions.limit(pair, over_many, labelled=labelled, between_senses=between_senses)
    head = leading_head(encoder, pair, heads[0]) if heads else None
    return WordInTwoSentences(
        pair=pair, attended=words, heads=tuple(heads), limit=limit, by_gradient=reason,
        first_head=head or _most_to_another(words),
    )  # fmt: skip


def _most_to_another(sides: Sequence[Attended]) -> Head:
    """The head in which the word gives most to another word, in both sentences together."""
    most = []
    for side in sides:
        others = [place for place, at in enumerate(side.others) if at is not None]
        weights = side.weights[..., others]
        most.append(weights.amax(dim=-1) if others else weights.new_zeros(side.weights.shape[:2]))
    layers_and_heads = (most[0] + most[1]).flatten()
    return Head(*divmod(int(layers_and_heads.argmax()), most[0].shape[1]))
