"""Hide other words from a chosen word, and measure how far the chosen word's vector moves.

A hidden word is masked, so that the chosen word can't attend to it.
The *way* is the vector from the chosen word's mean vector in the sentence's sense to the mean of its other senses' mean vectors.
A *share* is how far the chosen word's vector moves along the way, in lengths of the way.
Sources: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5;
DeYoung et al. 2020, "ERASER", section 4; Nanda 2023, "Attribution Patching" (estimates by gradient).
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
ONE_SENSE = "The word's nearest sense is the same in both sentences: "
NO_WAY = "The word's two vectors are equal, so there is no distance between them."
MOST = 32  # above this number of other words, hide only eight
PADDING = 32  # tokens; with more padding, single runs are faster


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenPair:
    """A chosen word in sentences A and B, and the effects of hiding the other words one at a time.

    n_A, n_B: number of other words in A, in B. NaN: not computed.
    """

    placed: tuple[PlacedWord[Encoding], PlacedWord[Encoding]]
    words: tuple[tuple[Word, ...], tuple[Word, ...]]
    share: tuple[Tensor, Tensor]  # (n_A,), (n_B,): how far hiding each word moves the chosen word
    cosine: Tensor  # (n_A + 1, n_B + 1): cosine of the two vectors; index 0: nothing hidden
    curves: Tensor  # (n_A + 1, n_B + 1, n_layers + 1): `cosine` in each layer
    control_cosine: float  # cosine of the chosen word in A and in the control
    control_hidden: float  # `control_cosine` with one word hidden in each sentence
    by_head: tuple[Tensor, Tensor]  # (n_A, n_layers, n_heads), (n_B, ...): estimated `share` in each head
    top: tuple[int | None, int | None]  # index of the word with the largest share
    ways: tuple[Tensor, Tensor]  # (d_model,) each: the vectors that shares are measured along
    senses: tuple[str, str] | None  # of A and B; None: each way leads to the other sentence's vector
    nearest: tuple[str, str] | None  # senses of the nearest means
    places: tuple[float, float]  # place on the way: 0 at the mean of the sense
    notes: tuple[str, ...]  # limits of this result that a reader must know

    @property
    def both_hidden(self) -> float:
        """The cosine of the chosen word's vectors in A and B if the `top` word of each sentence is hidden."""
        i, j = (0 if at is None else at + 1 for at in self.top)
        return float(self.cosine[i, j])

    @property
    def other_words(self) -> float:
        """The largest `cosine` over pairs of hidden words, one in A and one in B, except `top` words and punctuation."""
        i, j = (
            [at + 1 for at, word in enumerate(words) if at != top and not word.is_punctuation]
            for words, top in zip(self.words, self.top)
        )
        left = self.cosine[i][:, j]
        left = left[~left.isnan()]
        return float(left.max()) if len(left) else float("nan")


@dataclass(eq=False)
class _Side:
    """A chosen word in one sentence, with its vectors."""

    word: PlacedWord[Encoding]
    words: tuple[Word, ...]
    states: Tensor  # (n + 1, n_layers + 1, d_model): row 0: nothing hidden; row i + 1: without `words[i]`
    by_head: Tensor  # (n, n_layers, n_heads): estimated shares, or NaN
    unit: Tensor  # (d_model,) float64: last-layer unit vector
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
        """`states` as float64 unit vectors."""
        return normalize(self.states.double(), dim=-1)

    def run(self, encoder: Encoder, wanted: Sequence[int], changed: Callable[..., Tensor]) -> None:
        hidden = [[Hide(self.word.positions, self.words[at].positions)] for at in wanted]
        states = changed(encoder, self.word, hidden=hidden, layers=True)
        self.states[[at + 1 for at in wanted]] = states

    def share(self, way: Tensor) -> Tensor:
        """Return the chosen word's move along `way` for each hidden word: (n,), as a fraction of the length of `way`."""
        values = Along(self.word.positions, way).of(self.states[:, None, -1].double())
        return (values[1:] - values[0]).float()

    def leader(self, share: Tensor) -> int | None:
        """Return the index of the word for which `share` is largest, punctuation excluded."""
        named = [at for at, word in enumerate(self.words) if not word.is_punctuation and share[at].isfinite()]
        return max(named, key=lambda at: float(share[at]), default=None)

    def to_run(self, by_head: Tensor) -> set[int]:
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
    """In each sentence, hide every word but the chosen one, one at a time, and measure how far the chosen word's vector moves.

    In a sentence with more than 32 other words, only the eight with the largest estimated effects are hidden.
    first, second: the chosen word in its two sentences, as a `PlacedWord` or (text, positions).
    control: the chosen word in a third sentence, where it has the same sense as in the first.
    senses: labelled sentences (columns sentence, word, sense) or their `sense_means`.
    With `senses`, moves are measured along the vector (the way) from the word's sense to its other sense.
    senses=None: the way leads to the chosen word's vector in the other sentence.
    heads: False leaves `by_head` NaN, except in long sentences. `with_heads` can fill in `by_head` later.
    progress(done, total) counts sentences.
    changed, by_gradient: `Encoder.changed_vectors` and `hidden_by_head`, or cached versions.
    Raises TextError, NotRecomputable, and ValueError for unusable senses.
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
                f"In {'AB'[at]}, only {len(wanted[at])} of {len(side.words)} words around the chosen word were hidden: "
                "the words with the largest effects, estimated by gradient."
            )
        progress(at + 1, len(sides))
    control_cosine = control_hidden = math.nan
    for other in c:
        leaders = [side.leader(side.share(way)) for side, way in on_ways[2:]]
        hidden = tuple(0 if at is None else at + 1 for at in leaders)
        control_cosine, control_hidden = (float(a.units[i, -1] @ other.units[j, -1]) for i, j in ((0, 0), hidden))
    for side, of_pair in zip((a, b), wanted):  # leave out words hidden only for the control
        side.states[[at + 1 for at in range(len(side.words)) if at not in of_pair]] = torch.nan
    a.by_head, b.by_head = by_head[:2]
    return _pair(a, b, (control_cosine, control_hidden), taken, tuple(notes))


def with_heads(
    encoder: Encoder, pair: HiddenPair, by_gradient: Callable[..., list[Tensor]] | None = None
) -> HiddenPair:
    """Return the pair with `by_head` filled in. by_gradient: as in `hidden_pair`."""
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
    """Return a `HiddenPair` whose effects are NaN, for encoders in which no word can be hidden."""
    a, b, *c = (_Side.of(encoder, encoder.placed(word)) for word in (first, second, control) if word is not None)
    a.way, b.way = b.unit - a.unit, a.unit - b.unit
    return _pair(a, b, (float(a.unit @ c[0].unit) if c else math.nan, math.nan), None, notes)


def _ways(
    encoder: Encoder, a: _Side, b: _Side, senses: pd.DataFrame | SenseMeans | None
) -> tuple[tuple[Tensor, Tensor], tuple[WayBetweenSenses, WayBetweenSenses] | None, list[str]]:
    """Choose the directions along which moves of the word's vector are measured. Return (vectors, ways, notes).

    vectors: the direction in A and the direction in B.
    ways: the `WayBetweenSenses` of A and of B; None if each direction leads to the word's vector in the other sentence.
    """
    between = b.unit - a.unit, a.unit - b.unit
    if senses is None:
        return between, None, []
    if isinstance(senses, pd.DataFrame):
        same = [word for word in a.word.words if word.positions == a.word.positions]
        if not same:
            raise ValueError(
                f"With the argument 'senses', expected a whole word, got the tokens {a.word.positions}. Leave this argument out."
            )
        senses = sense_means(encoder, senses, same[0].text)
    for side in (a, b):
        if side.word not in side.word.sentence.places(senses.word):
            raise ValueError(
                f"The senses are labelled for {senses.word!r}, not for the given word. Leave the argument 'senses' out."
            )
    taken = [senses.way(side.word.sentence, side.unit) for side in (a, b)]
    strange = [
        f'{name} fits no labelled sense of "{senses.word}": the squared distance to the nearest mean ({each.sense}) is '
        f"{each.distance:.2f}. For 95 % of the labelled sentences, the squared distance to their sense's mean is at most "
        f"{senses.within:.2f}."
        for name, each in zip("AB", taken)
        if not each.fits
    ]
    if strange:
        return between, None, strange
    notes = [f"{ONE_SENSE}{taken[0].sense}."] if taken[0].sense == taken[1].sense else []
    return (taken[0].axis, taken[1].axis), (taken[0], taken[1]), notes


def hidden_by_head(encoder: Encoder, words: Sequence[PlacedWord | tuple], targets: Sequence[Target]) -> list[Tensor]:
    """Estimate by gradient how a target changes if one of the n other words is hidden from a word in one head.

    Returns (n, n_layers, n_heads) for each of `words`. targets: the `Target` to differentiate for each of `words`.
    In our pairs with "bank", the estimates' sum over heads is a fifth to nine tenths smaller than the effect of hiding the
    word in all heads.
    Raises NotRecomputable.
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
    """Return how a layer's context vectors at p positions change if tokens are hidden: (m, n_heads, p, d_head) float64.

    hidden: m groups of tokens, to hide one group at a time.
    """
    steps = [recording.attend(slice(None), slice(p, p + 1)) for p in positions]
    masked, context = (torch.cat([getattr(each, step) for each in steps], dim=1) for step in ("masked", "context"))
    without = [masked.index_fill(-1, torch.tensor(group), -torch.inf) for group in hidden]  # (n_heads, p, n) each
    if not without:
        return context.new_zeros(0, *context.shape)
    weights = torch.stack(without).softmax(dim=-1)
    # The operator @ would copy the value vectors m times.
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
    """Return how far the word `first` moves if `word` is hidden from it, in one head at a time: (n_layers, n_heads).

    way (d_model,): the vector along which the move is measured, in units of the vector's length.
    progress: as in `Encoder.knock_out`. changed: as in `hidden_pair`.
    heads: measure only these heads, and return (len(heads),).
    Raises TextError, ValueError, and NotRecomputable.
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
    """The moves of the chosen word's vector if another word is hidden from the chosen word, in one head at a time."""

    side: int  # 0: in A, 1: in B
    at: int  # index in `pair.words[side]`
    word: Word
    share: Tensor  # (n_layers, n_heads): moves along `pair.ways[side]`, divided by its length; NaN if unknown
    exact: bool  # True: measured; False: estimated by gradient


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
    """Return how far hiding another word from the chosen word, in one head at a time, moves the chosen word's vector.

    The move is measured along the vector `pair.ways[side]`, in units of its length.
    side: 0 for A, 1 for B. at: the other word's index. exact: False returns the estimates by gradient.
    progress, changed: as in `hidden_heads`. Raises NotRecomputable.
    """
    word, share = pair.words[side][at], pair.by_head[side][at]
    if exact:
        share = hidden_heads(encoder, pair.placed[side], word, pair.ways[side], progress, changed)
    return HeadsOfWord(side, at, word, share, exact)


def leading_head(encoder: Encoder, pair: HiddenPair, heads: HeadsOfWord) -> Head | None:
    """Return the head in which hiding `heads.word` has the largest effect, or None if no effect is known.

    If `heads` has only estimates and the encoder can hide a word in one head, measure the eight heads with the largest estimates.
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
