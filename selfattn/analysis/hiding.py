"""Hide each other word from a chosen word and measure how far the chosen word's vector moves, and through which heads.

A word is hidden as padding is, by the mask, in every head or in some. The move is measured along a way: to the chosen word's
vector in another sentence, or to its other senses in labelled sentences. A share of 1 means that the vector has arrived, a
negative share that it moved away. Limits: a hidden word still has an effect through other words that have read it. A result
between two sentences is about these two and no evidence about the sense (two sentences of one sense name a word as often).
Sources: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5
(attention knockout); DeYoung et al. 2020, "ERASER", section 4 (what is needed, what is enough); Nanda 2023, "Attribution
Patching" (by gradient).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.gradients import LEADING, SAME, gradients
from selfattn.analysis.sense_means import SenseMeans, WayBetweenSenses, sense_means
from selfattn.analysis.targets import Along, Target
from selfattn.encoders.capture import Head, Hide, LayerRecording
from selfattn.encoders.encoder import Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word

NO_SHARES = "Heads have no shares: "
NO_WAY = "The word's two vectors are the same, so there is no way from one to the other."
MOST = 32  # up to this many words of a sentence are all hidden exactly; of more words, the eight that lead by gradient
PADDING = 32  # tokens; with more padding than this, separate passes take less time than one


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenPair:
    """A chosen word in two sentences, A and B, with each other word hidden from it.

    n_A and n_B are the numbers of other words, by the word rule, in A and B. Numbers that weren't computed are NaN.
    """

    placed: tuple[PlacedWord[Encoding], PlacedWord[Encoding]]
    words: tuple[tuple[Word, ...], tuple[Word, ...]]
    share: tuple[Tensor, Tensor]  # (n_A,), (n_B,): the share of the way that hiding each word moves the chosen word
    cosine: Tensor  # (n_A + 1, n_B + 1): of the chosen word's two vectors; row and column 0: nothing hidden
    curves: Tensor  # (n_A + 1, n_B + 1, n_layers + 1): the same cosine before each layer, and after the last
    control_cosine: float  # the cosine of A and the control; NaN without a control
    control_hidden: float  # the same with one word hidden in each: the one that leads on the way to the other
    by_head: tuple[Tensor, Tensor]  # (n_A, n_layers, n_heads), (n_B, ...): shares by gradient, hidden in one head alone
    top: tuple[int | None, int | None]  # the word with the largest share in A and in B; never punctuation
    ways: tuple[Tensor, Tensor]  # (d_model,) each: the ways that the shares are parts of
    senses: tuple[str, str] | None  # the senses of A and B; None: each way is to the other sentence's vector
    nearest: tuple[str, str] | None  # the senses of the nearest means, whatever the labels; None as for `senses`
    places: tuple[float, float]  # places of A and B along their ways between the senses; NaN if `senses` is None
    notes: tuple[str, ...]  # limits of this result that a reader must know

    @property
    def both_hidden(self) -> float:
        """The cosine with one word hidden in each sentence: the word with the largest share."""
        i, j = (0 if at is None else at + 1 for at in self.top)
        return float(self.cosine[i, j])

    @property
    def other_words(self) -> float:
        """The largest cosine with one word hidden in each sentence, without the two leading words; NaN if there is none."""
        i, j = (
            [at + 1 for at, word in enumerate(words) if at != top and not word.is_punctuation]
            for words, top in zip(self.words, self.top)
        )
        left = self.cosine[i][:, j]
        left = left[~left.isnan()]
        return float(left.max()) if len(left) else float("nan")


@dataclass(eq=False)
class _Side:
    """A chosen word in one sentence, and its vectors with each other word hidden."""

    word: PlacedWord[Encoding]
    words: tuple[Word, ...]
    states: Tensor  # (n + 1, n_layers + 1, d_model): the word's vectors, first with nothing hidden; NaN if not run
    by_head: Tensor  # (n, n_layers, n_heads): shares by gradient; NaN if unknown
    unit: Tensor  # (d_model,) float64: the last state with nothing hidden, as a unit vector
    way: Tensor | None = None  # (d_model,)

    @classmethod
    def of(cls, encoder: Encoder, word: PlacedWord) -> "_Side":
        encoding = encoder.encoded(word)
        words = word.others
        states = torch.full((len(words) + 1, encoder.n_layers + 1, encoder.d_model), torch.nan)
        states[0] = torch.stack([encoding.vector(layer, word.positions) for layer in range(encoder.n_layers + 1)])
        by_head = torch.full((len(words), encoder.n_layers, encoder.n_heads), torch.nan)
        unit = normalize(states[0, -1].double(), dim=-1)
        return cls(PlacedWord(encoding, word.positions), words, states, by_head, unit)

    @property
    def units(self) -> Tensor:
        """The states as unit vectors: (n + 1, n_layers + 1, d_model) float64."""
        return normalize(self.states.double(), dim=-1)

    def run(self, encoder: Encoder, wanted: Sequence[int], changed: Callable[..., Tensor]) -> None:
        """Hide each of these words and fill in the states."""
        hidden = [[Hide(self.word.positions, self.words[at].positions)] for at in wanted]
        states = changed(encoder, self.word, hidden=hidden, layers=True)
        self.states[[at + 1 for at in wanted]] = states

    def share(self, way: Tensor) -> Tensor:
        """Return how far hiding each word moves the chosen word along a way: (n,)."""
        values = Along(self.word.positions, way).of(self.states[:, None, -1].double())
        return (values[1:] - values[0]).float()

    def leader(self, share: Tensor) -> int | None:
        """Return the first word with the largest share; no punctuation."""
        named = [at for at, word in enumerate(self.words) if not word.is_punctuation and share[at].isfinite()]
        return max(named, key=lambda at: float(share[at]), default=None)

    def to_run(self, by_head: Tensor) -> set[int]:
        """Return the words to run: all; of more than 32, the eight that lead by gradient, if gradients are known."""
        if len(self.words) <= MOST or by_head.isnan().any():
            return set(range(len(self.words)))
        named = [at for at, word in enumerate(self.words) if not word.is_punctuation]
        return set(sorted(named, key=lambda at: -float(by_head[at].sum()))[:LEADING])


def hidden_pair(
    encoder: Encoder,
    first: PlacedWord | tuple,
    second: PlacedWord | tuple,
    control: PlacedWord | tuple | None = None,
    *,
    senses: pd.DataFrame | SenseMeans | None = None,
    heads: bool = True,
    progress: Progress = silent,
    changed: Callable[..., Tensor] = Encoder.changed_vectors,
    by_gradient: Callable[..., list[Tensor]] | None = None,
) -> HiddenPair:
    """Hide each other word from a chosen word in two sentences, in every head, and measure how far its last unit vector moves.

    first, second, control: the placed word, or (text, positions) with or without a second segment. senses: labelled sentences
    of the word (columns sentence, word, sense), or their `sense_means`. Without senses, the way goes from one sentence's vector
    to the other's (u_B - u_A in A). With senses, it goes from the mean of the sentence's sense to the mean of the others, with
    the sentence itself left out; if a sentence fits no sense, the notes say so and the ways are those without senses. Every
    word is run; in a sentence of more than 32, only the eight that lead by gradient. control: a sentence of A's sense; in A and
    in the control, the word that leads on the way to the other sentence is hidden. heads: False to leave out `by_head` where no
    word is chosen by it; `with_heads` adds it. progress(done, total) counts sentences.
    changed, by_gradient: `Encoder.changed_vectors` and `hidden_by_head`, or cached versions.
    Raises NotRecomputable if no word can be hidden, TextError, and ValueError for senses that can't be used.
    """
    encoder.check_hideable()
    sides = [_Side.of(encoder, encoder.placed(word)) for word in (first, second, control) if word is not None]
    a, b, *c = sides
    (a.way, b.way), taken, notes = _ways(encoder, a, b, senses)
    if not all(float(side.way.norm()) >= SAME for side in (a, b)):
        notes.append(NO_WAY)
    on_ways = [(a, a.way), (b, b.way)]
    for other in c:
        on_ways += [(a, other.unit - a.unit), (other, a.unit - other.unit)]
    by_head = [side.by_head for side, _ in on_ways]
    long = any(len(side.words) > MOST for side in sides)
    ranked = [n for n, (_, way) in enumerate(on_ways) if ((n < 2 and heads) or long) and float(way.norm()) >= SAME]
    try:
        words = [on_ways[n][0].word for n in ranked]
        targets = [Along(word.positions, on_ways[n][1]) for n, word in zip(ranked, words)]
        for n, found in zip(ranked, (by_gradient or hidden_by_head)(encoder, words, targets)):
            by_head[n] = found
    except NotRecomputable as error:
        notes.append(f"{NO_SHARES}{error}")
    wanted = [side.to_run(shares) for (side, _), shares in zip(on_ways, by_head)]
    for at, side in enumerate(sides):
        side.run(encoder, sorted(set().union(*(each for each, (of, _) in zip(wanted, on_ways) if of is side))), changed)
        if at < 2 and len(wanted[at]) < len(side.words):
            notes.append(
                f"In {'AB'[at]}, of {len(side.words)} other words only the {len(wanted[at])} that lead by gradient were hidden."
            )
        progress(at + 1, len(sides))
    control_cosine = control_hidden = math.nan
    for other in c:
        leaders = [side.leader(side.share(way)) for side, way in on_ways[2:]]
        hidden = tuple(0 if at is None else at + 1 for at in leaders)
        control_cosine, control_hidden = (float(a.units[i, -1] @ other.units[j, -1]) for i, j in ((0, 0), hidden))
    for side, of_pair in zip((a, b), wanted):  # words that were run only for the control are left out of the pair
        side.states[[at + 1 for at in range(len(side.words)) if at not in of_pair]] = torch.nan
    a.by_head, b.by_head = by_head[:2]
    return _pair(a, b, (control_cosine, control_hidden), taken, tuple(notes))


def with_heads(
    encoder: Encoder, pair: HiddenPair, by_gradient: Callable[..., list[Tensor]] | None = None
) -> HiddenPair:
    """Return the pair with `by_head`, if `hidden_pair` left it out. by_gradient: as in `hidden_pair`."""
    sides = [n for n in (0, 1) if pair.by_head[n].isnan().all() and float(pair.ways[n].norm()) >= SAME]
    targets = [Along(pair.placed[n].positions, pair.ways[n]) for n in sides]
    try:
        found = (by_gradient or hidden_by_head)(encoder, [pair.placed[n] for n in sides], targets)
    except NotRecomputable as error:
        return replace(pair, notes=(*pair.notes, f"{NO_SHARES}{error}"))
    known = dict(zip(sides, found))
    return replace(pair, by_head=tuple(known.get(n, pair.by_head[n]) for n in (0, 1)))


def _pair(
    a: _Side,
    b: _Side,
    control: tuple[float, float],
    between: tuple[WayBetweenSenses, WayBetweenSenses] | None,
    notes: tuple[str, ...],
) -> HiddenPair:
    """Combine two sides; words that weren't run get NaN. between: the sides' ways if these are between the senses, or None."""
    share = a.share(a.way), b.share(b.way)
    curves = torch.einsum("ild,jld->ijl", a.units, b.units).float()
    return HiddenPair(
        placed=(a.word, b.word),
        words=(a.words, b.words),
        share=share,
        cosine=curves[..., -1],
        curves=curves,
        control_cosine=control[0],
        control_hidden=control[1],
        by_head=(a.by_head, b.by_head),
        top=(a.leader(share[0]), b.leader(share[1])),
        ways=(a.way, b.way),
        senses=None if between is None else (between[0].sense, between[1].sense),
        nearest=None if between is None else (between[0].nearest, between[1].nearest),
        places=(math.nan, math.nan) if between is None else (between[0].place, between[1].place),
        notes=notes,
    )


def unmeasured_pair(
    encoder: Encoder,
    first: PlacedWord | tuple,
    second: PlacedWord | tuple,
    control: PlacedWord | tuple | None = None,
    *,
    notes: tuple[str, ...] = (),
) -> HiddenPair:
    """Return a word in two sentences as `hidden_pair` does, but with nothing hidden, for encoders that can't hide words.

    The words, the unchanged vectors and the ways between them are known; every share is NaN and no word leads.
    """
    a, b, *c = (_Side.of(encoder, encoder.placed(word)) for word in (first, second, control) if word is not None)
    a.way, b.way = b.unit - a.unit, a.unit - b.unit
    return _pair(a, b, (float(a.unit @ c[0].unit) if c else math.nan, math.nan), None, notes)


def _ways(
    encoder: Encoder, a: _Side, b: _Side, senses: pd.DataFrame | SenseMeans | None
) -> tuple[tuple[Tensor, Tensor], tuple[WayBetweenSenses, WayBetweenSenses] | None, list[str]]:
    """Return both ways, the `WayBetweenSenses` of each side (None if the ways are between the sentences), and notes."""
    between = b.unit - a.unit, a.unit - b.unit
    if senses is None:
        return between, None, []
    if isinstance(senses, pd.DataFrame):
        same = [word for word in a.word.words if word.positions == a.word.positions]
        if not same:
            raise ValueError(
                f"Expected a whole word where senses are given, got the tokens {a.word.positions}. Leave senses out."
            )
        senses = sense_means(encoder, senses, same[0].text)
    for side in (a, b):
        if side.word not in side.word.sentence.places(senses.word):
            raise ValueError(f"Expected {senses.word!r} in both sentences, as in the labelled ones. Leave senses out.")
    taken = [senses.way(side.word.sentence, side.unit) for side in (a, b)]
    strange = [
        f'{name} fits no labelled sense of "{senses.word}": the squared distance to the nearest mean ({each.sense}) is '
        f"{each.distance:.2f}, and 95 % of the labelled sentences lie within {senses.within:.2f} of theirs."
        for name, each in zip("AB", taken)
        if not each.fits
    ]
    if strange:
        return between, None, strange
    notes = [f"Both sentences are taken for one sense: {taken[0].sense}."] if taken[0].sense == taken[1].sense else []
    return (taken[0].axis, taken[1].axis), (taken[0], taken[1]), notes


def hidden_by_head(encoder: Encoder, words: Sequence[PlacedWord | tuple], targets: Sequence[Target]) -> list[Tensor]:
    """Return, by gradient, how hiding each other word in one head alone changes a word's target: (n, n_layers, n_heads) each.

    One backward pass runs all words if padding doesn't change the encoder's numbers and saves time. The result is the gradient
    of the target by the head's output at the word, times the exact change of that output. Sums over heads fall short of hiding
    in all heads at once, by a fifth to nine tenths in the pairs of "bank". Raises NotRecomputable if the encoder can't be
    differentiated.
    """
    placed = [encoder.placed(word) for word in words]
    if not placed:
        return []
    lengths = [len(word.sentence.ids) for word in placed]
    if len(words) > 1 and (encoder.equal_lengths or max(lengths) * len(words) - sum(lengths) > PADDING):
        return [hidden_by_head(encoder, [word], [target])[0] for word, target in zip(placed, targets)]
    found = gradients(encoder, placed, lambda states: sum(t.of(state) for t, state in zip(targets, states))[None])
    shares = []
    for word, slopes in zip(placed, found):
        others = [other.positions for other in word.others]
        share = torch.zeros(len(others), encoder.n_layers, encoder.n_heads)
        for layer, recording in enumerate(slopes.recordings):
            change = context_changes(recording, word.positions, others)
            share[:, layer] = torch.einsum("hpd,mhpd->mh", slopes.gradient[0, layer].double(), change)
        shares.append(share)
    return shares


def context_changes(recording: LayerRecording, positions: Sequence[int], hidden: Sequence[Sequence[int]]) -> Tensor:
    """Return how hiding tokens changes a layer's context vectors at some positions: (m, n_heads, p, d_head) float64.

    hidden: m groups of tokens. The weights on the remaining tokens grow in proportion. If a row has all its weight on hidden
    tokens, the new weights come from the scores of the remaining tokens.
    """
    steps = [recording.attend(slice(None), slice(p, p + 1)) for p in positions]
    masked, context = (torch.cat([getattr(each, step) for each in steps], dim=1) for step in ("masked", "context"))
    without = [masked.index_fill(-1, torch.tensor(group), -torch.inf) for group in hidden]  # (n_heads, p, n) each
    if not without:
        return context.new_zeros(0, *context.shape)
    weights = torch.stack(without).softmax(dim=-1)
    # A matrix product would copy the values m times.
    return torch.einsum("mhpn,hnd->mhpd", weights, steps[0].value) - context


def hidden_heads(
    encoder: Encoder,
    first: PlacedWord | tuple,
    word: Word | int | Sequence[int] | str,
    way: Tensor,
    progress: Progress = silent,
    changed: Callable[..., Tensor] = Encoder.changed_vectors,
    heads: Sequence[Head] | None = None,
) -> Tensor:
    """Hide `word` in one head at a time, and return how far `first` then moves, as a share of `way`: (n_layers, n_heads).

    first: the word that moves, as in `hidden_pair`. word: the word that is hidden. way (d_model,): one of `HiddenPair.ways`.
    progress: as in `Encoder.knock_out`. changed: as in `hidden_pair`. heads: run only these; the result is (len(heads),). Limit:
    shares of single heads needn't add up to the share of all heads at once. Raises NotRecomputable if no word can be hidden in
    a head alone, TextError, ValueError.
    """
    encoder.check_hideable(one_head=True)
    first = encoder.placed(first)
    keys = word.positions if isinstance(word, Word) else encoder.placed((first.sentence, word)).positions
    target = Along(first.positions, way)
    hidden = [[Hide(first.positions, keys, [head])] for head in (encoder.all_heads if heads is None else heads)]
    vectors = changed(encoder, first, hidden=hidden, progress=progress)
    before = encoder.encoded(first).vector(encoder.n_layers, first.positions)
    moved = (target.of(vectors[:, None].double()) - target.of(before[None].double())).float()
    return moved.reshape(encoder.n_layers, encoder.n_heads) if heads is None else moved


@dataclass(frozen=True, eq=False)
class HeadsOfWord:
    """For each head, how far along the pair's way the chosen word moves if another word is hidden in this head alone."""

    side: int  # 0: in A, 1: in B
    at: int  # the hidden word's number among the pair's words on this side
    word: Word
    share: Tensor  # (n_layers, n_heads): NaN if unknown
    exact: bool  # True: each head was run; False: all shares are by gradient


def heads_of_word(
    encoder: Encoder,
    pair: HiddenPair,
    side: int,
    at: int,
    *,
    exact: bool,
    progress: Progress = silent,
    changed: Callable[..., Tensor] = Encoder.changed_vectors,
) -> HeadsOfWord:
    """Hide one word of A or B in one head at a time, and return how far each head moves the chosen word.

    side: 0 for A, 1 for B. at: the word's number in `pair.words[side]`. exact=False: take the pair's shares by gradient and run
    nothing. exact=True: run each head. progress, changed: as in `hidden_heads`. Raises NotRecomputable if no word can be hidden
    in a head alone.
    """
    word, share = pair.words[side][at], pair.by_head[side][at]
    if exact:
        share = hidden_heads(encoder, pair.placed[side], word, pair.ways[side], progress, changed)
    return HeadsOfWord(side, at, word, share, exact)


def leading_head(encoder: Encoder, pair: HiddenPair, heads: HeadsOfWord) -> Head | None:
    """Run the eight heads that lead by gradient and return the one with the largest share; None if no share is known.

    The result is the same before and after the other heads are run. If no word can be hidden in a head alone, the result is the
    first head by gradient.
    """
    estimated = pair.by_head[heads.side][heads.at]
    if not estimated.isfinite().any():
        estimated = heads.share
    known = int(estimated.isfinite().sum())
    order = estimated.nan_to_num(nan=-torch.inf).flatten().argsort(descending=True, stable=True)
    first = [encoder.all_heads[at] for at in order[: min(LEADING, known)].tolist()]
    if len(first) < 2 or heads.exact or encoder.one_head_reason:
        return max(first, key=lambda head: float(heads.share[head]), default=None)
    share = hidden_heads(encoder, pair.placed[heads.side], heads.word, pair.ways[heads.side], heads=first)
    return first[int(share.argmax())]
