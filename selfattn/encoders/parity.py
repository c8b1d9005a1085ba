"""Check, when an encoder is loaded, that selfattn's attention code (the kernel) reproduces the model's attention.

The model runs with its fast attention and with its slow `eager` attention, in float32. The weights recomputed from the fast
run, and the fast run's hidden states, are compared with those of the eager run.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch
from torch import Tensor

from selfattn.encoders.capture import Head, Hide, LayerRecording, Patch, Recorder, run
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, brief
from selfattn.encoders.hooks import install
from selfattn.encoders.memory import is_out_of_memory
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.reference import own_weights

PADDING = 5  # the second text has this many tokens more
MOST_TOKENS = 96  # 512 would take longer than loading a base-size encoder
QUERIES = 16  # compared in the long text

# Differences that rounding explains. For contexts, they are fractions of the largest number in the head's value vectors;
# for states, fractions of the largest number in the token's state. Each of these largest numbers counts as at least 1.
WEIGHTS, CONTEXTS, STATES = 1e-5, 1e-5, 1e-4
# Rounding changes a score by about 1e-6 × |query| × |key| × scale.
# If |query| × |key| × scale exceeds SCORE, larger differences than WEIGHTS and CONTEXTS are allowed.
SCORE = 16
PADDED = 1e-4  # above this, padding changes an encoder's numbers
KERNEL = "the recomputed weights"
REACHES = 1e-6  # above this, a head changes the last hidden state
SUM = 2e-2  # allowed difference of a row's sum from 1


@dataclass(frozen=True)
class EagerPass:
    """The result of an eager pass for one sentence."""

    tokens: Tokens
    weights: list[Tensor]  # (n_heads, n, n) for each layer
    states: list[Tensor]  # n_layers + 1 of (n, d_model)
    hidden: tuple[Hide, ...] = ()


def measure(encoder: Encoder, short: Tokens, pinned: bool = False) -> Encoder:
    """Compare fast and eager attention. Return a copy of the encoder with the results.

    The results are sizes (such as n_layers) and reasons why the encoder can't do a task (such as hide_reason).

    pinned: True for the bundled encoder, which needs only one eager pass
    Raises LoadError.
    """
    n = len(short.ids)
    longer = filled(short, min(n + PADDING, encoder.max_tokens))
    limit = filled(short, max(n, min(encoder.max_tokens, MOST_TOKENS)))
    alone, *others = _eager(encoder, [short, longer] if pinned else [short])
    _check_maps(encoder, alone)
    n_layers, n_heads, d_model = len(alone.weights), len(alone.weights[0]), alone.states[-1].shape[-1]
    if encoder.hooked:
        install(encoder.model, n_heads)
        encoder = replace(encoder)  # copies the eager model again, with hooks
    hides = _hides_to_try(short, n_layers, n_heads)
    padded, reasons = ([alone, *others], {}) if pinned else _with_hidden(encoder, [short, longer], hides)
    single = [alone] if pinned else _eager(encoder, [limit], maps=False)
    recordings = []
    for passes in (padded, single):
        if not reasons.get(()):
            recordings, found = _compare_with_fast(encoder, passes)
            reasons |= found
    reason = reasons[()]
    one_head, every_head = (reason or reasons.get((hide,), "") for hide in hides)
    sizes = (getattr(module, "attention_head_size", None) for module in encoder.model.modules())
    return replace(
        encoder,
        n_layers=n_layers,
        n_heads=n_heads,
        d_model=d_model,
        d_head=next(filter(None, sizes), d_model // n_heads) if reason else recordings[0].query.shape[-1],
        reason=reason,
        patch_reason=_cannot_patch(encoder, alone) if encoder.hooked else reason,
        hide_reason=every_head,
        one_head_reason=one_head,
        equal_lengths=not all(
            _share(one, other) <= PADDED
            for one, other in zip(alone.weights + alone.states, padded[0].weights + padded[0].states, strict=True)
        ),
    )


def differs_in_precision(encoder: Encoder, short: Tokens, allowed: float) -> str:
    """Return how a half-precision model's recomputed attention weights differ from its eager pass's, or "".

    Raises LoadError.
    """
    (alone,) = _eager(encoder, [short])
    _eager(encoder, [short, filled(short, min(len(short.ids) + PADDING, encoder.max_tokens))])
    if encoder.reason:
        return encoder.reason
    recordings, states = _fast(encoder, [alone])
    if not states[0][-1].isfinite().all():
        return f"in {encoder.dtype} its last hidden state has NaN or infinity."
    for layer, eager in zip(recordings[0], alone.weights, strict=True):
        if reason := _differ(KERNEL, _largest(layer.weights(), eager), allowed):
            return f"in {encoder.dtype} {reason}."
    return ""


def filled(tokens: Tokens, n: int) -> Tokens:
    """Repeat a text's ordinary (not special) tokens until the text has n tokens."""
    middle = [place for place, special in enumerate(tokens.special) if not special]
    first, last = middle[0], middle[-1] + 1
    repeated = [middle[i % len(middle)] for i in range(n - len(tokens.ids) + last - first)]
    order = [*range(first), *repeated, *range(last, len(tokens.ids))]
    ids, types, special = (tuple(each[place] for place in order) for each in (tokens.ids, tokens.types, tokens.special))
    return replace(tokens, ids=ids, types=types, special=special)


def _hides_to_try(tokens: Tokens, n_layers: int, n_heads: int) -> tuple[Hide, Hide]:
    """Return two ways to hide the same token: in some heads, and in every head."""
    middle = [place for place, special in enumerate(tokens.special) if not special]
    first, last = middle[0], middle[-1] if len(middle) > 1 else len(tokens.ids) - 1
    # The check must also cover layers in which the mask hides nothing.
    heads = [Head(layer, layer % n_heads) for layer in range(0, n_layers, 2)]
    return Hide((first,), (last,), heads), Hide((first,), (last,))


def _with_hidden(
    encoder: Encoder, batch: list[Tokens], hides: tuple[Hide, ...]
) -> tuple[list[EagerPass], dict[tuple[Hide, ...], str]]:
    """Run an eager pass without and with `hides`. Return the results, and the reason for each Hide that failed."""
    refused: dict[tuple[Hide, ...], str] = {}
    while True:
        hidden = [(), ()] + [(hide,) for hide in hides]
        try:
            return _eager(encoder, [*batch, *batch[:1] * len(hides)], hidden=hidden if hides else ()), refused
        except Exception as error:
            if is_out_of_memory(error) or not hides:
                raise
            instead = "only one mask for all heads" if hides[0].heads else "no mask that hides a token"
            refused[hides[:1]] = f"its attention modules accept {instead} ({type(error).__name__})."
            hides = hides[1:]


def _eager(
    encoder: Encoder, batch: list[Tokens], maps: bool = True, hidden: Sequence[tuple[Hide, ...]] = ()
) -> list[EagerPass]:
    """Run an eager pass, and cut the results to each sentence's length. Raises LoadError."""
    try:
        with torch.no_grad():
            output = encoder.eager(encoder.inputs(batch), hidden, maps)
            states = (*output.hidden_states[:-1], output.last_hidden_state)
    except Exception as error:  # some models need images, boxes or a language
        if is_out_of_memory(error) or hidden:
            raise
        if encoder.dtype != "float32":
            raise LoadError(
                f"{encoder.name} ({encoder.family}) runs in float32, but not in {encoder.dtype} ({brief(error)}). "
                "Load the encoder in float32."
            ) from None
        raise LoadError(
            f"{encoder.name} ({encoder.family}) can't read plain text of {len(batch[-1].ids):,} tokens "
            f"({brief(error)}). selfattn opens text encoders, such as bert-base-uncased."
        ) from None
    layers = [layer for layer in (getattr(output, "attentions", None) or ()) if layer is not None] if maps else []
    passes = []
    for row, tokens in enumerate(batch):
        n = len(tokens.ids)
        # Cut off a batch's padding. A single text's maps stay uncut, because `_check_maps` checks their shape.
        weights = [layer[row] if len(batch) == 1 else layer[row, :, :n, :n] for layer in layers]
        one = EagerPass(tokens, weights, [state[row, :n] for state in states], hidden[row] if hidden else ())
        if not all(bool(torch.isfinite(numbers).all()) for numbers in one.weights + one.states):
            raise LoadError(
                f"{encoder.name} ({encoder.family}) computes NaN or infinity for {len(tokens.ids):,} tokens of plain text "
                f"in {encoder.dtype}. Choose another checkpoint or a higher precision."
            )
        passes.append(one)
    return passes


def _check_maps(encoder: Encoder, alone: EagerPass) -> None:
    """Raise LoadError for a decoder, or for attention maps that are not (n, n)."""
    who, n = f"{encoder.name} ({encoder.family})", len(alone.tokens.ids)
    shapes = [tuple(layer.shape) for layer in alone.weights]
    if not shapes:
        blocks = getattr(encoder.model.config, "attention_type", "") == "block_sparse"
        remedy = (
            'its attention is block-sparse. Set "attention_type": "original_full" in its config.json, as transformers does for '
            "short texts."
        )
        raise LoadError(f"{who} reports no attention weights{f': {remedy}' if blocks else ' at all.'}")
    strange = next((shape for shape in shapes if len(shape) != 3 or shape[-2:] != (n, n)), None)
    if strange:
        pooled = len(strange) == 3 and strange[-2] < n
        why = (
            "its layers pool tokens together"
            if pooled
            else "its tokens attend to windows of the text, or to summaries of it"
        )
        raise LoadError(
            f"{who} has attention maps of shape {strange} for {n} tokens, not (heads, tokens, tokens): {why}."
        )
    if not all(float((layer.sum(-1) - 1).abs().max()) <= SUM for layer in alone.weights):
        raise LoadError(f"{who} reports attention weights whose rows don't sum to 1.")
    if n > 1 and not any(bool(layer.triu(1).any()) for layer in alone.weights):
        raise LoadError(
            f"{encoder.name} is a decoder ({encoder.family}): its tokens attend only to themselves and to earlier "
            "tokens. selfattn opens encoders, such as bert-base-uncased or answerdotai/ModernBERT-base."
        )


def _compare_with_fast(
    encoder: Encoder, passes: list[EagerPass]
) -> tuple[list[LayerRecording], dict[tuple[Hide, ...], str]]:
    """Compare a fast (not eager) pass with `passes`.

    Returns the first sentence's recordings and, for each `EagerPass.hidden`, how the passes differ ("" if they agree).
    """
    n_layers = len(passes[0].states) - 1
    try:
        recordings, states = _fast(encoder, passes)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        return [], {(): f"{encoder.family}'s attention can't be read ({brief(error)})."}
    if len(recordings[0]) != n_layers:
        relative = any(re.search(r"\brel_|relative|r_r_bias", name) for name, _ in encoder.model.named_parameters())
        terms = ", with relative-position terms in the scores" if relative else ""
        reason = (
            f"{encoder.family} has its own attention code{terms}, so selfattn can read query, key and value in "
            f"{len(recordings[0])} of {n_layers} layers."
        )
        return [], {(): reason}
    reasons: dict[tuple[Hide, ...], str] = {}
    for eager, *fast in zip(passes, recordings, states):
        reasons[eager.hidden] = reasons.get(eager.hidden) or _sentence_differs(encoder, eager, *fast)
    return recordings[0], reasons


def _sentence_differs(
    encoder: Encoder, eager: EagerPass, recordings: list[LayerRecording], states: list[Tensor]
) -> str:
    """Describe how the recordings and states differ from the eager pass, or return ""."""
    for layer, recording in enumerate(recordings):
        reason = _layer_differs(recording, eager.weights[layer] if eager.weights else None)
        if reason:
            more = ": its modules do more than softmax(Q Kᵀ scale + terms + mask) V" if encoder.hooked else ""
            return f"in layer {layer} of {encoder.family}, {reason}{more}."
    for layer, (fast, plain) in enumerate(zip(states, eager.states, strict=True)):
        name = "the last hidden states" if layer == len(recordings) else f"the hidden states before layer {layer}"
        if reason := _differ(name, _share(plain, fast), STATES):
            return f"{encoder.family}'s fast attention differs from its eager attention: {reason}."
    for hide, (layer, weights) in product(eager.hidden, enumerate(eager.weights)):
        for edge in hide.edges(layer, len(weights)):
            if weights[edge] != 0:  # true for NaN too
                return f"in layer {layer} a hidden token still has the weight {float(weights[edge]):.1e}."
    return ""


def _cannot_patch(encoder: Encoder, alone: EagerPass) -> str:
    """Return why heads can't be replaced or removed. Return "" if they can."""
    n, n_layers, n_heads = len(alone.tokens.ids), len(alone.weights), alone.weights[0].shape[0]
    removed = [[Patch(layer, layer % n_heads, None, torch.zeros(1))] for layer in range(n_layers)]
    recorder = Recorder([[], *removed])
    with torch.no_grad():
        plain, *ours = run(encoder.model, encoder.inputs([alone.tokens] * (n_layers + 1)), recorder).last_hidden_state
    if len(recorder.layers) != n_layers:
        return f"the output matrix (W_O) was found in {len(recorder.layers)} of {n_layers} layers."
    for layer, (recording, weights) in enumerate(zip(recorder.layers, alone.weights)):
        if reason := _contexts_differ(recording.sentence(0, n), weights.cpu()):
            return f"in layer {layer}, {reason}."
    for layer, without in enumerate(ours):
        if not _share(plain, without) > REACHES:
            return f"in layer {layer}, removing a head doesn't change the last hidden state."
    return ""


def _fast(encoder: Encoder, passes: list[EagerPass]) -> tuple[list[list[LayerRecording]], list[list[Tensor]]]:
    """Run the encoder with its fast attention. Return each sentence's recordings and states."""
    recorder = Recorder(hidden=[each.hidden for each in passes])
    with torch.no_grad():
        inputs = encoder.inputs([each.tokens for each in passes])
        output = run(encoder.model, inputs, recorder, output_hidden_states=True)
    lengths = [len(each.tokens.ids) for each in passes]
    recordings = [[layer.sentence(row, n) for layer in recorder.layers] for row, n in enumerate(lengths)]
    states = (*output.hidden_states[:-1], output.last_hidden_state)
    return recordings, [[state[row, :n] for state in states] for row, n in enumerate(lengths)]


def _layer_differs(recording: LayerRecording, eager: Tensor | None) -> str:
    """Describe how a layer's recording differs from eager attention, or return "".

    eager: weights (n_heads, n, n), or None to compare only a few queries
    """
    n = recording.query.shape[2]
    rows = slice(None) if eager is not None else slice(0, n, -(-n // QUERIES))
    weights = own_weights(recording, rows=rows) if eager is None else eager.cpu()
    query, key = (tensor[0].norm(dim=-1).amax(-1) for tensor in (recording.query, recording.key))
    more = max(1.0, float((query * key).max()) * recording.scale / SCORE)
    error = _largest(recording.weights(rows=rows), weights)
    return _differ(KERNEL, error, WEIGHTS * more) or _contexts_differ(recording, weights, more, rows)


def _contexts_differ(recording: LayerRecording, weights: Tensor, more: float = 1.0, rows: slice = slice(None)) -> str:
    """Describe how W_O's input differs from `weights` (n_heads, n_rows, n) @ `recording.value`: "" if it doesn't."""
    if recording.context.shape[-1] != recording.value.shape[-1]:
        return "the output matrix has other inputs besides the heads' contexts"
    theirs = weights @ recording.value[0].cpu()
    ours = recording.context[0].transpose(0, 1)[:, rows].cpu()
    scale = recording.value[0].abs().amax((-2, -1)).clamp_min(1).cpu()
    error = float(((ours - theirs).abs().amax((-2, -1)) / scale).max())
    return _differ("the contexts", error, CONTEXTS * more)


def _differ(what: str, error: float, allowed: float) -> str:
    return "" if error <= allowed else f"{what} differ from the model's own by {error:.1e}"


def _largest(ours: Tensor, theirs: Tensor) -> float:
    return float((ours.cpu() - theirs.float().cpu()).abs().max())


def _share(one: Tensor, other: Tensor) -> float:
    scale = one.abs().amax(-1, keepdim=True).clamp_min(1)
    return float(((one - other).abs() / scale).max())
