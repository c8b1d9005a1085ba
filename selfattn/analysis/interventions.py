"""What heads do to a word's vector: their outputs swapped for those from another sentence, or removed.

Interchange: a head's output at the word is taken from the other sentence, and the word's vector moves some way to where it
is there. Removal: the cosine of a word's two vectors after, minus the cosine before: positive where the vectors come closer
without the head, so that the head sets them apart. Both have both signs, and neither adds up over heads.
Sources: Geiger et al. 2021, "Causal Abstractions of Neural Networks" (interchange); Nanda 2023, "Attribution Patching" (by
gradient); Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2 (removal).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.measures import similarity
from selfattn.encoders.capture import Head, LayerRecording, Patch, Recorder, run
from selfattn.encoders.encoder import COPIED_TOKENS, Encoder, Progress
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotRecomputable
from selfattn.encoders.memory import is_out_of_memory
from selfattn.kernel import AttentionTrace

SAME = 1e-6  # unit vectors nearer than this are one: there is no way to move along


class Place(NamedTuple):
    """A word where it stands. A plain tuple (text, positions) or (text, positions, pair) is taken for one."""

    text: str
    positions: Sequence[int]  # of the word's tokens, counted through both segments
    pair: str | None = None  # the text's second segment


@dataclass(frozen=True, eq=False, kw_only=True)
class PairInterchange:
    """How far a word moves when heads' outputs at it come from the other sentence: 1, it has arrived; 0, it stayed.

    Each tensor is (n_layers, n_heads), every head swapped alone, or (sets,) where sets of heads were asked for. All NaN
    where the word's two vectors are the same.
    """

    share: Tensor  # the mean of both directions
    a_from_b: Tensor  # the word in A, with the heads' outputs from B
    b_from_a: Tensor
    control: Tensor  # the word in A with the outputs from the control sentence, on the way to B; NaN without a control
    cosine: Tensor  # of the word in A, with the outputs from B, and the word in B; NaN by gradient


def interchange_pair(
    encoder: Encoder,
    first: Place | tuple,
    second: Place | tuple,
    control: Place | tuple | None = None,
    *,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
    how: str = "exact",
    progress: Progress = lambda done, total: None,
    move: bool = False,
    encodings: Sequence[Encoding] | None = None,
) -> PairInterchange:
    """Swap heads' outputs at a word between two sentences, and measure how far its last vector moves to the other's.

    The unit vector's way from A to B, u_B - u_A, is the axis; a split word's pieces all get the donor's mean. heads: as in
    `Encoder.knock_out` (a tuple is swapped together: effects don't add up). how: "exact" runs each swap, "gradient" is its
    first order, in a pass for each sentence. control: a sentence of A's sense, put into A only. move: the pieces don't all get
    the donor's mean but each its own output, moved by the donor's mean minus theirs: what sets them apart stays. encodings: of
    the two or three texts, where they have been run already.
    One pair is a hint: over other pairs of the same word other heads lead (`selfattn.senses.interchange`). Only the word's
    own position is swapped, so what other positions gathered for it counts to the head that fetched it.
    Raises NotRecomputable where the encoder is shown only, TextError, ValueError.
    """
    if how not in ("exact", "gradient"):
        raise ValueError(f'how must be "exact" or "gradient", got {how!r}.')
    places = [Place(*place) for place in (first, second, control) if place is not None]
    encodings = encodings or [encoder.encode(place.text, place.pair) for place in places]
    donors = [encoding.context(place.positions) for encoding, place in zip(encodings, places)]
    vectors = [encoding.vector(encoder.n_layers, place.positions) for encoding, place in zip(encodings, places)]
    units = [normalize(vector.double(), dim=0) for vector in vectors]
    way = units[1] - units[0]
    sets = encoder.sets_of(heads)
    cosine = torch.full((len(sets),), torch.nan)
    # A takes the outputs from B and from the control, and moves along the way to B; B takes those from A.
    into_a, into_b = donors[1:], donors[:1]
    if how == "exact":
        moved = []
        for at, (values, axis) in enumerate([(into_a, way), (into_b, -way)]):
            step, place, own = half_of(progress, at), places[at], tuple(places[at].positions)
            if move:
                values = [_by_position(encodings[at], own) + (value - donors[at])[..., None, :] for value in values]
            patches = [[Patch(*head, own, value[head]) for head in each] for value in values for each in sets]
            after = normalize(encoder.patched_vectors(place.text, own, patches, step, place.pair).double(), dim=1)
            moved += ((after - units[at]) @ axis).split(len(sets))
            cosine = (after[: len(sets)] @ units[1]).float() if at == 0 else cosine
    else:
        from_a, from_b = context_gradients(encoder, places[:2], way[None])
        slopes = [from_a.toward(value, move)[0] for value in into_a] + [-from_b.toward(into_b[0], move)[0]]
        moved = [
            torch.stack([sum((each[head] for head in those), torch.zeros(())) for those in sets]) for each in slopes
        ]
        progress(1, 1)
    if not float(way.norm()) >= SAME:
        moved, cosine = [change * torch.nan for change in moved], cosine * torch.nan
    shape = (len(sets),) if heads is not None else (encoder.n_layers, encoder.n_heads)
    a_from_b, *from_control, b_from_a = ((change / way.square().sum()).float().reshape(shape) for change in moved)
    return PairInterchange(
        share=(a_from_b + b_from_a) / 2,
        a_from_b=a_from_b,
        b_from_a=b_from_a,
        control=from_control[0] if from_control else torch.full(shape, torch.nan),
        cosine=cosine.reshape(shape),
    )


def _by_position(encoding: Encoding, positions: Sequence[int]) -> Tensor:
    """What each head hands each of the word's pieces: (n_layers, n_heads, p, d_head)."""
    return torch.stack([encoding.own_context(layer)[:, list(positions)] for layer in range(encoding.n_layers)])


def swapped_vector(encoder: Encoder, first: Place | tuple, second: Place | tuple, heads: Sequence[Head]) -> Tensor:
    """The word's last hidden state in the first text with these heads' outputs at it from the second: (d_model,)."""
    first, second = Place(*first), Place(*second)
    donor = encoder.encode(second.text, second.pair).context(second.positions)
    patches = [Patch(*head, tuple(first.positions), donor[head]) for head in heads]
    return encoder.patched_vectors(first.text, first.positions, [patches], pair=first.pair)[0]


@dataclass(frozen=True, eq=False, kw_only=True)
class ContextGradients:
    """How fast u . direction changes with each head's context at the word, u being the word's last unit vector."""

    gradient: Tensor  # (m, n_layers, n_heads, p, d_head): for m directions, at the word's p positions
    context: Tensor  # (n_layers, n_heads, p, d_head)
    recordings: tuple[LayerRecording, ...]

    def toward(self, donor: Tensor, move: bool = False) -> Tensor:
        """The first-order change when the contexts become the donor's, (n_layers, n_heads, d_head): (m, n_layers, n_heads).

        move: when their mean does, and each moves with it.
        """
        start = self.context.mean(dim=-2, keepdim=True) if move else self.context
        return (self.gradient * (donor[..., None, :] - start)).sum(dim=(-2, -1))


def context_gradients(encoder: Encoder, places: Sequence[Place | tuple], directions: Tensor) -> list[ContextGradients]:
    """Differentiate the word's last unit vector, along directions (m, d_model), by what every head hands the word.

    For several places in one pass: some of like length take two thirds of the time of each alone. The whole effect, that
    through later layers included. Raises NotRecomputable where heads can't be swapped or the encoder can't be differentiated.
    """
    encoder.check_patchable()
    places = [Place(*place) for place in places]
    tokens, recorder = [encoder.tokenize(place.text, place.pair) for place in places], Recorder(differentiable=True)
    inputs = encoder.inputs(tokens)
    size = max(1, COPIED_TOKENS // inputs["input_ids"].numel())
    with torch.enable_grad(), encoder.within_memory(*inputs["input_ids"].shape):
        hidden = run(encoder.model, inputs, recorder).last_hidden_state
        at = [list(place.positions) for place in places]
        words = torch.stack([hidden[row, own].mean(dim=0).float() for row, own in enumerate(at)])
        # A place's contexts move its own word only, so the slopes of the words' sum are those of each.
        targets = directions.to(words) @ normalize(words, dim=1).sum(dim=0)
        contexts = [layer.context for layer in recorder.layers]
        parts = [[] for _ in places]
        for chosen in torch.eye(len(targets), device=words.device).split(size):
            try:
                if len(chosen) > 1:
                    slopes = torch.autograd.grad(targets, contexts, chosen, retain_graph=True, is_grads_batched=True)
                else:  # a batch of one takes longer
                    slopes = [
                        slope[None] for slope in torch.autograd.grad(targets, contexts, chosen[0], retain_graph=True)
                    ]
            except RuntimeError as error:
                if is_out_of_memory(error):
                    raise
                reason = str(error).splitlines()[0][:200]
                raise NotRecomputable(
                    f"{encoder.title} can't be differentiated by its heads' outputs: {reason}"
                ) from None
            for row, positions in enumerate(at):
                own = [slope[:, row, positions].transpose(1, 2) for slope in slopes]
                parts[row].append(torch.stack(own, dim=1).float().cpu())
    layers = [replace(layer, context=layer.context.detach()) for layer in recorder.layers]
    found = []
    for row, (own, positions) in enumerate(zip(tokens, at)):
        recordings = tuple(layer.sentence(row, len(own.ids)) for layer in layers)
        context = torch.stack([layer.context[0, positions].transpose(0, 1).float().cpu() for layer in recordings])
        found.append(ContextGradients(gradient=torch.cat(parts[row]), context=context, recordings=recordings))
    return found


def knock_out_effect(
    encoder: Encoder,
    first: Place | tuple,
    second: Place | tuple,
    how: str = "zero",
    progress: Progress = lambda done, total: None,
    heads: Sequence[Head | tuple[Head, ...]] | None = None,
) -> Tensor:
    """What removing each head, in both sentences, does to the cosine of a word's two vectors: (n_layers, n_heads).

    The cosine without the head minus the cosine with it, on the last hidden state. how ("zero" or "mean") and heads, for
    (len(heads),), as in `Encoder.knock_out`. progress(done, total) counts copies of both sentences. Raises NotRecomputable,
    TextError.
    """
    places = [Place(*place) for place in (first, second)]
    after = [
        encoder.knock_out(
            place.text, place.positions, heads=heads, how=how, progress=half_of(progress, half), pair=place.pair
        )
        for half, place in enumerate(places)
    ]
    before = [encoder.encode(place.text, place.pair).vector(encoder.n_layers, place.positions) for place in places]
    return change_of_cosine(after, before)


def change_of_cosine(after: Sequence[Tensor], before: Sequence[Tensor]) -> Tensor:
    """The cosine of two vectors after a change minus the cosine before: after (..., d) each, before (d,) each."""
    return similarity(*after) - similarity(*before)


def half_of(progress: Progress, half: int) -> Progress:
    """The progress callback for one of two equal parts of the work."""
    return lambda done, total: progress(half * total + done, 2 * total)


@dataclass(frozen=True, eq=False, kw_only=True)
class Alone:
    """A pass in which one head is the only attention there is."""

    trace: AttentionTrace  # the head in that pass: its layer reads hidden states that no other head has touched
    hidden: Tensor  # (n, d_model) the last hidden state


def alone(encoder: Encoder, text: str, layer: int, head: int, pair: str | None = None) -> Alone:
    """Run the text with every other head's output set to zero, in every layer. pair: as in `Encoder.encode`.

    Raises NotRecomputable, TextError, IndexError.
    """
    others = [other for other in encoder.all_heads if other != (layer, head)]
    encoding = encoder.encode(text, pair, patches=encoder.removed(others))
    return Alone(trace=encoding.trace(layer, head), hidden=encoding.hidden[-1])
