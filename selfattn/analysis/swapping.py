"""Swap a head's output at a word for that from another sentence, and see how far the word's vector moves to where it is there.

The literature calls it an interchange intervention, or activation patching. Effects have both signs and don't add up.
Sources: Geiger et al. 2021, "Causal Abstractions of Neural Networks"; Nanda 2023, "Attribution Patching" (by gradient).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.gradients import LEADING, SAME, context_gradients
from selfattn.encoders.capture import Head, Patch
from selfattn.encoders.encoder import Encoder, Progress, half_of, silent
from selfattn.encoders.placed_word import PlacedWord


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSwaps:
    """How far a word moves when heads' outputs at it come from the other sentence: 1, it has arrived; 0, it stayed.

    Each tensor is (n_layers, n_heads), every head swapped alone, or (sets,) where sets of heads were asked for. All NaN
    where the word's two vectors are the same.
    """

    share: Tensor  # the mean of both directions
    a_from_b: Tensor  # the word in A, with the heads' outputs from B
    b_from_a: Tensor
    control: Tensor  # the word in A with the outputs from the control sentence, on the way to B; NaN without a control
    cosine: Tensor  # of the word in A, with the outputs from B, and the word in B; NaN by gradient

    @property
    def exact(self) -> Tensor:
        """Which were run, and aren't by gradient; none where the word's two vectors are the same."""
        return ~self.cosine.isnan()


def swap_pair(
    encoder: Encoder,
    first: PlacedWord | tuple,
    second: PlacedWord | tuple,
    control: PlacedWord | tuple | None = None,
    *,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
    how: str = "exact",
    progress: Progress = silent,
) -> PairSwaps:
    """Swap heads' outputs at a word between two sentences, and measure how far its last vector moves to the other's.

    first, second, control: the placed word, or (text, positions) with or without a second segment. The unit vector's way
    from A to B, u_B - u_A, is the axis; a split word's pieces all get the donor's mean. heads: as in
    `Encoder.knock_out` (a tuple is swapped together: effects don't add up). how: "exact" runs each swap, "gradient" is its
    first order, in a pass for each sentence; "leading" is that, and exact for the eight heads that it ranks highest and for
    any that it still ranks above them, in each direction and by the control's: so the largest of each is an exact one.
    control: a sentence of A's sense, put into A only.
    One pair is a hint: over other pairs of the same word other heads lead (`selfattn.senses.interchange`). Only the word's
    own position is swapped, so what other positions gathered for it counts to the head that fetched it.
    Raises NotRecomputable where the encoder is shown only, TextError, ValueError.
    """
    if how not in ("exact", "gradient", "leading"):
        raise ValueError(f'how must be "exact", "gradient" or "leading", got {how!r}.')
    encoder.check_patchable()
    words = [encoder.placed(word) for word in (first, second, control) if word is not None]
    encodings = [encoder.encoded(word) for word in words]
    donors = [encoding.context(word.positions) for encoding, word in zip(encodings, words)]
    vectors = [encoding.vector(encoder.n_layers, word.positions) for encoding, word in zip(encodings, words)]
    units = [normalize(vector.double(), dim=0) for vector in vectors]
    way, sets = units[1] - units[0], encoder.sets_of(heads)
    # A takes the outputs from B and from the control, and moves along the way to B; B takes those from A.
    into_a, into_b = donors[1:], donors[:1]

    def run_swaps(chosen: Sequence[tuple[Head, ...]], progress: Progress) -> tuple[Tensor, Tensor]:
        """How far A and B move by each donor, (donors, sets), and the cosines of A with B's outputs and B, (sets,)."""
        moved, afterwards = [], []
        for at, (values, axis) in enumerate([(into_a, way), (into_b, -way)]):
            own = words[at].positions
            patches = [[Patch(*head, own, value[head]) for head in each] for value in values for each in chosen]
            changed = encoder.changed_vectors(words[at], patches, progress=half_of(progress, at))
            afterwards.append(normalize(changed.double(), dim=1))
            moved += ((afterwards[-1] - units[at]) @ axis).split(len(chosen))
        return torch.stack(moved), (afterwards[0][: len(chosen)] @ units[1]).float()

    moved = torch.full((len(words), len(sets)), torch.nan, dtype=torch.float64)
    cosine = torch.full((len(sets),), torch.nan)
    there_is_a_way = float(way.norm()) >= SAME
    if there_is_a_way and how == "exact":
        moved, cosine = run_swaps(sets, progress)
    elif there_is_a_way:
        from_a, from_b = context_gradients(encoder, words[:2], way[None])
        slopes = torch.stack([from_a.toward(value)[0] for value in into_a] + [-from_b.toward(into_b[0])[0]]).double()
        of_sets = [sum((slopes[:, *head] for head in those), torch.zeros(len(slopes))) for those in sets]
        moved = torch.stack(of_sets, dim=1)
        progress(1, 1 if how == "gradient" else 2)
    if there_is_a_way and how == "leading":
        wanted = torch.zeros(len(sets), dtype=torch.bool)
        wanted[moved.topk(min(LEADING, len(sets)), dim=1).indices.flatten()] = True
        while wanted.any():
            chosen = [sets[at] for at in wanted.nonzero()[:, 0].tolist()]
            moved[:, wanted], cosine[wanted] = run_swaps(chosen, half_of(progress, 1))
            # Those that their gradient still puts above the ones that were run.
            known = ~cosine.isnan()
            wanted = (moved >= moved[:, known].amax(dim=1, keepdim=True)).any(dim=0) & ~known
    shape = (len(sets),) if heads is not None else (encoder.n_layers, encoder.n_heads)
    a_from_b, *from_control, b_from_a = (moved / way.square().sum()).float().unflatten(1, shape)
    return PairSwaps(
        share=(a_from_b + b_from_a) / 2,
        a_from_b=a_from_b,
        b_from_a=b_from_a,
        control=from_control[0] if from_control else torch.full(shape, torch.nan),
        cosine=cosine.reshape(shape),
    )
