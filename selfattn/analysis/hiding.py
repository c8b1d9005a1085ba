"""Hide each other word from a word, and see how far it moves: which word gives it its meaning here, and through which heads.

Hidden as padding is, by the mask, in every head or in some. How far it moves is measured on a way: to its vector in another
sentence, or to its other senses in labelled sentences. A share of 1: it has arrived; negative: it went away. What it doesn't
say: a hidden word's message still arrives through the words that have read it; between two sentences it is about these two,
and no evidence about the sense (two sentences of one sense name a word as often).
Sources: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5
(attention knockout); DeYoung et al. 2020, "ERASER", section 4 (what is needed, what is enough); Nanda 2023, "Attribution
Patching" (by gradient).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

NO_WAY = "The word's two vectors are the same, so there is no way from one to the other."
MOST = 32  # words of a sentence that are each hidden exactly; of more, the eight that lead by gradient
PADDING = 32  # tokens; passes of their own take less time than more of it


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenPair:
    """A word in two sentences, A and B, with each other word hidden from it.

    n_A and n_B other words: those of the word rule but for the chosen occurrence. What wasn't run is NaN.
    """

    placed: tuple[PlacedWord[Encoding], PlacedWord[Encoding]]
    words: tuple[tuple[Word, ...], tuple[Word, ...]]
    share: tuple[Tensor, Tensor]  # (n_A,), (n_B,): of the way, that hiding each word moves it
    cosine: Tensor  # (n_A + 1, n_B + 1): of the word's two vectors; row and column 0: nothing hidden
    curves: Tensor  # (n_A + 1, n_B + 1, n_layers + 1): the same as each layer reads it, and at last
    control_cosine: float  # of A and the control; NaN without one
    control_hidden: float  # each with its own word hidden, of the largest share on the way to the other
    by_head: tuple[Tensor, Tensor]  # (n_A, n_layers, n_heads), (n_B, ...): by gradient, hidden in one head alone
    top: tuple[int | None, int | None]  # the word of the largest share; punctuation is never it
    ways: tuple[Tensor, Tensor]  # (d_model,) each: what the shares are parts of
    senses: tuple[str, str] | None  # what they are taken for; None: the ways are to the other's vector
    nearest: tuple[str, str] | None  # the senses of the nearest means, whatever the labels; None: as above
    places: tuple[float, float]  # of A and B along their ways between the senses; NaN: as above
    notes: tuple[str, ...]  # what a reader must know

    @property
    def both_hidden(self) -> float:
        """The cosine with the word of the largest share hidden in each sentence."""
        i, j = (0 if at is None else at + 1 for at in self.top)
        return float(self.cosine[i, j])

    @property
    def other_words(self) -> float:
        """The largest cosine with any two of the other words hidden, one in each sentence; NaN where there are none."""
        i, j = (
            [at + 1 for at, word in enumerate(words) if at != top and not word.is_punctuation]
            for words, top in zip(self.words, self.top)
        )
        left = self.cosine[i][:, j]
        left = left[~left.isnan()]
        return float(left.max()) if len(left) else float("nan")


@dataclass(eq=False)
class _Side:
    """A word in one sentence, and its vectors with each other word hidden."""

    word: PlacedWord[Encoding]
    words: tuple[Word, ...]
    states: Tensor  # (n + 1, n_layers + 1, d_model): of the word, nothing hidden first; NaN where not run
    by_head: Tensor  # (n, n_layers, n_heads): by gradient; NaN where it isn't known
    unit: Tensor  # (d_model,) float64: the last state with nothing hidden
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
        """(n + 1, n_layers + 1, d_model) float64."""
        return normalize(self.states.double(), dim=-1)

    def run(self, encoder: Encoder, wanted: Sequence[int], changed: Callable[..., Tensor]) -> None:
        """Fill in the states with each of these words hidden."""
        hidden = [[Hide(self.word.positions, self.words[at].positions)] for at in wanted]
        states = changed(encoder, self.word, hidden=hidden, layers=True)
        self.states[[at + 1 for at in wanted]] = states

    def share(self, way: Tensor) -> Tensor:
        """How far hiding each word moves it along a way, (n,)."""
        values = Along(self.word.positions, way).of(self.states[:, None, -1].double())
        return (values[1:] - values[0]).float()

    def leader(self, share: Tensor) -> int | None:
        """The first of the words with the largest share; no punctuation."""
        named = [at for at, word in enumerate(self.words) if not word.is_punctuation and share[at].isfinite()]
        return max(named, key=lambda at: float(share[at]), default=None)

    def to_run(self, by_head: Tensor) -> set[int]:
        """Every word; of more than 32 the eight that lead by gradient, where that is known."""
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
    progress: Progress = silent,
    changed: Callable[..., Tensor] = Encoder.changed_vectors,
    by_gradient: Callable[..., list[Tensor]] | None = None,
) -> HiddenPair:
    """Hide each other word from a word in two sentences, in every head, and measure how far its last unit vector moves.

    first, second, control: the placed word, or (text, positions) with or without a second segment. The way: from the one
    sentence's vector to the other's, u_B - u_A in A; with `senses`, labelled sentences of the word (columns sentence, word,
    sense) or their `sense_means`, from its own sense's mean to that of the others, the sentence itself left out. Where a
    sentence fits no sense, the notes say so and the way is that between the sentences. Every word is run; in a sentence of
    more than 32 the eight that lead by gradient. control: a sentence of A's sense: in it and in A each one's leading word on the
    way to the other is hidden. progress(done, total) counts sentences. changed: `Encoder.changed_vectors`, or what keeps them;
    by_gradient: `hidden_by_head`, likewise.
    Raises NotRecomputable where no word can be hidden, TextError, and ValueError for senses that can't be used.
    """
    encoder.check_hideable()
    sides = [_Side.of(encoder, encoder.placed(word)) for word in (first, second, control) if word is not None]
    a, b, *c = sides
    (a.way, b.way), taken, notes = _ways(encoder, a, b, senses)
    if not all(float(side.way.norm()) >= SAME for side in (a, b)):
        notes.append(NO_WAY)
    asked = [(a, a.way), (b, b.way)]
    for other in c:
        asked += [(a, other.unit - a.unit), (other, a.unit - other.unit)]
    by_head = [side.by_head for side, _ in asked]
    long = any(len(side.words) > MOST for side in sides)
    ranked = [n for n, (_, way) in enumerate(asked) if (n < 2 or long) and float(way.norm()) >= SAME]
    try:
        words = [asked[n][0].word for n in ranked]
        targets = [Along(word.positions, asked[n][1]) for n, word in zip(ranked, words)]
        for n, found in zip(ranked, (by_gradient or hidden_by_head)(encoder, words, targets)):
            by_head[n] = found
    except NotRecomputable as error:
        notes.append(f"Heads have no shares: {error}")
    wanted = [side.to_run(heads) for (side, _), heads in zip(asked, by_head)]
    for at, side in enumerate(sides):
        side.run(encoder, sorted(set().union(*(own for own, (of, _) in zip(wanted, asked) if of is side))), changed)
        if at < 2 and len(wanted[at]) < len(side.words):
            notes.append(
                f"In {'AB'[at]}, of {len(side.words)} other words only the {len(wanted[at])} that lead by gradient were hidden."
            )
        progress(at + 1, len(sides))
    control_cosine = control_hidden = math.nan
    for other in c:
        own, its = (0 if at is None else at + 1 for at in (side.leader(side.share(way)) for side, way in asked[2:]))
        control_cosine, control_hidden = (float(a.units[i, -1] @ other.units[j, -1]) for i, j in ((0, 0), (own, its)))
    for side, own in zip((a, b), wanted):  # what was run for the control's sake alone is no part of the pair
        side.states[[at + 1 for at in range(len(side.words)) if at not in own]] = torch.nan
    a.by_head, b.by_head = by_head[:2]
    return _pair(a, b, (control_cosine, control_hidden), taken, tuple(notes))


def _pair(
    a: _Side,
    b: _Side,
    control: tuple[float, float],
    between: tuple[WayBetweenSenses, WayBetweenSenses] | None,
    notes: tuple[str, ...],
) -> HiddenPair:
    """What two sides say together; of words that weren't run NaN. between: their ways, where those are between the senses."""
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
    """A word in two sentences, as in `hidden_pair`, with nothing hidden: for encoders in which nothing can be.

    The words, the vectors as they are and the ways between them are known; every share is NaN and no word leads.
    """
    a, b, *c = (_Side.of(encoder, encoder.placed(word)) for word in (first, second, control) if word is not None)
    a.way, b.way = b.unit - a.unit, a.unit - b.unit
    return _pair(a, b, (float(a.unit @ c[0].unit) if c else math.nan, math.nan), None, notes)


def _ways(
    encoder: Encoder, a: _Side, b: _Side, senses: pd.DataFrame | SenseMeans | None
) -> tuple[tuple[Tensor, Tensor], tuple[WayBetweenSenses, WayBetweenSenses] | None, list[str]]:
    """The ways of both, where they are those between the senses once more with all that is known of them, and notes."""
    between = b.unit - a.unit, a.unit - b.unit
    if senses is None:
        return between, None, []
    if isinstance(senses, pd.DataFrame):
        own = [word for word in a.word.words if word.positions == a.word.positions]
        if not own:
            raise ValueError(
                f"Expected a whole word where senses are given, got the tokens {a.word.positions}. Leave senses out."
            )
        senses = sense_means(encoder, senses, own[0].text)
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
    said = [f"Both sentences are taken for one sense: {taken[0].sense}."] if taken[0].sense == taken[1].sense else []
    return (taken[0].axis, taken[1].axis), (taken[0], taken[1]), said


def hidden_by_head(encoder: Encoder, words: Sequence[PlacedWord | tuple], targets: Sequence[Target]) -> list[Tensor]:
    """What hiding each other word from a word, in one head alone, does to its target, by gradient: (n, n_layers, n_heads) each.

    In one backward pass where padding doesn't change the encoder's numbers and saves time. To first order in what the head hands
    the word's positions: its gradient times the change there, which is exact. Sums over heads fall short of hiding in all heads
    at once, by a fifth to nine tenths in the pairs of "bank". Raises NotRecomputable where the encoder can't be differentiated.
    """
    placed = [encoder.placed(word) for word in words]
    if not placed:
        return []
    lengths = [len(word.sentence.ids) for word in placed]
    if len(words) > 1 and (encoder.equal_lengths or max(lengths) * len(words) - sum(lengths) > PADDING):
        return [hidden_by_head(encoder, [word], [target])[0] for word, target in zip(placed, targets)]
    found = gradients(encoder, placed, lambda states: sum(t.of(own) for t, own in zip(targets, states))[None])
    shares = []
    for word, own in zip(placed, found):
        others = [other.positions for other in word.others]
        share = torch.zeros(len(others), encoder.n_layers, encoder.n_heads)
        for layer, recording in enumerate(own.recordings):
            change = context_changes(recording, word.positions, others)
            share[:, layer] = torch.einsum("hpd,mhpd->mh", own.gradient[0, layer].double(), change)
        shares.append(share)
    return shares


def context_changes(recording: LayerRecording, positions: Sequence[int], hidden: Sequence[Sequence[int]]) -> Tensor:
    """What a layer's heads hand some positions with tokens hidden from them, minus what they do: (m, n_heads, p, d_head) float64.

    hidden: m groups of tokens. The weights of the others grow in proportion; of a token with all its weight on the hidden ones
    they come from its other scores.
    """
    steps = [recording.attend(slice(None), slice(p, p + 1)) for p in positions]
    masked, context = (torch.cat([getattr(each, step) for each in steps], dim=1) for step in ("masked", "context"))
    without = [masked.index_fill(-1, torch.tensor(group), -torch.inf) for group in hidden]  # (n_heads, p, n) each
    if not without:
        return context.new_zeros(0, *context.shape)
    weights = torch.stack(without).softmax(dim=-1)
    return torch.einsum("mhpn,hnd->mhpd", weights, steps[0].value) - context  # a product would copy the values m times


def hidden_heads(
    encoder: Encoder,
    first: PlacedWord | tuple,
    word: Word | int | Sequence[int] | str,
    way: Tensor,
    progress: Progress = silent,
    changed: Callable[..., Tensor] = Encoder.changed_vectors,
) -> Tensor:
    """The share of a way that hiding one word in each head alone moves another: (n_layers, n_heads), each head run.

    first: the word that moves, as in `hidden_pair`; word: the one that is hidden; way (d_model,), of `HiddenPair.ways`.
    progress as in `Encoder.knock_out`, changed as in `hidden_pair`. What it doesn't say: shares of single heads needn't add up to
    that of all at once. Raises NotRecomputable where no word can be hidden in a head alone, TextError, ValueError.
    """
    sets = [[head] for head in encoder.all_heads]
    moved = _moved_in(encoder, encoder.placed(first), word, way, sets, progress, changed)
    return moved.reshape(encoder.n_layers, encoder.n_heads)


def _moved_in(
    encoder: Encoder,
    first: PlacedWord,
    word: Word | int | Sequence[int] | str,
    way: Tensor,
    sets: Sequence[Sequence[Head]],
    progress: Progress = silent,
    changed: Callable[..., Tensor] = Encoder.changed_vectors,
) -> Tensor:
    """The share of a way that hiding one word in each set of heads moves another: (sets,)."""
    encoder.check_hideable(one_head=True)
    keys = word.positions if isinstance(word, Word) else encoder.placed((first.sentence, word)).positions
    target = Along(first.positions, way)
    hidden = [[Hide(first.positions, keys, heads)] for heads in sets]
    vectors = changed(encoder, first, hidden=hidden, progress=progress)
    before = encoder.encoded(first).vector(encoder.n_layers, first.positions)
    return (target.of(vectors[:, None].double()) - target.of(before[None].double())).float()


@dataclass(frozen=True, eq=False)
class HeadsOfWord:
    """Through which heads one word reaches the chosen one: how far hiding it in each alone moves that, of the pair's way."""

    side: int  # 0: in A, 1: in B
    at: int  # the hidden word's number among the pair's words there
    word: Word
    share: Tensor  # (n_layers, n_heads): NaN where it isn't known
    exact: bool  # each head was run; else all by gradient


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
    """The heads of one word of a pair, by how far hiding it in each alone moves the chosen word of its side.

    side: 0 for A, 1 for B; at: the word's number in `pair.words[side]`. exact=False: by gradient, as the pair has it, and
    nothing is run; exact=True: each head by itself. progress, changed as in `hidden_heads`. Raises NotRecomputable where no word
    can be hidden in a head alone.
    """
    word, share = pair.words[side][at], pair.by_head[side][at]
    if exact:
        share = hidden_heads(encoder, pair.placed[side], word, pair.ways[side], progress, changed)
    return HeadsOfWord(side, at, word, share, exact)


def leading_head(encoder: Encoder, pair: HiddenPair, heads: HeadsOfWord) -> Head | None:
    """The head of the largest share among the eight that lead by gradient, each of them run; None where no share is known.

    The same before all the others are run and after. Where no word can be hidden in a head alone, the first by gradient.
    """
    estimated = pair.by_head[heads.side][heads.at]
    if not estimated.isfinite().any():
        estimated = heads.share
    known = int(estimated.isfinite().sum())
    order = estimated.nan_to_num(nan=-torch.inf).flatten().argsort(descending=True, stable=True)
    first = [encoder.all_heads[at] for at in order[: min(LEADING, known)].tolist()]
    if len(first) < 2 or heads.exact or encoder.one_head_reason:
        return max(first, key=lambda head: float(heads.share[head]), default=None)
    sets = [[head] for head in first]
    share = _moved_in(encoder, pair.placed[heads.side], heads.word, pair.ways[heads.side], sets)
    return first[int(share.argmax())]
