"""Run texts through an encoder. Optionally hide tokens or change heads."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from selfattn.encoders import joining
from selfattn.encoders.batches import in_passes, length_batches, tokens_a_pass
from selfattn.encoders.capture import Head, Hide, Patch, Recorder, check_hidden, check_patches, run
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import NotFinite, NotRecomputable, OutOfMemory, TextError
from selfattn.encoders.memory import in_halves, is_out_of_memory, out_of_memory_as
from selfattn.encoders.placed_word import PlacedWord, Tokens
from selfattn.encoders.reference import eager_twin, stack_layers
from selfattn.encoders.text_reader import TextReader
from selfattn.encoders.tokenizer import SAMPLE
from selfattn.notebook_repr import html_table
from selfattn.settings import Settings

Progress = Callable[[int, int], None]  # passes done, passes in all
JOINED = 1e-5  # allowed relative difference between copies that join later and copies that run separately
FEW = 16  # for fewer copies, joining saves less than its tests cost (1.5 s, base-size encoder)


def silent(done: int, total: int) -> None:
    """A progress callback that does nothing."""


def half_of(progress: Progress, half: int) -> Progress:
    """Return a progress callback for the first (half=0) or second (half=1) half of the work."""
    return lambda done, total: progress(half * total + done, 2 * total)


def followed(items: Collection, progress: Progress) -> Iterator:
    """Yield each item, then report progress."""
    for done, item in enumerate(items, start=1):
        yield item
        progress(done, len(items))


class Copy(NamedTuple):
    """A sentence in a batch, with the heads to patch and the tokens to hide."""

    word: PlacedWord
    patches: Collection[Patch] = ()
    hidden: Collection[Hide] = ()

    @property
    def start(self) -> int:
        """The first layer with a patch or hidden tokens; 0 if there are none."""
        layers = [patch.layer for patch in self.patches]
        for hide in self.hidden:
            layers += [0] if hide.heads is None else [head.layer for head in hide.heads]
        return min(layers, default=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Encoder(TextReader):
    """A pretrained encoder, which threads may share."""

    family: str  # config.model_type
    n_layers: int
    n_heads: int
    d_model: int
    d_head: int
    dtype: str
    # Why an operation isn't possible; "" if it is possible.
    reason: str = ""  # why the attention can't be recomputed
    patch_reason: str = ""  # why heads' outputs can't be replaced or removed
    hide_reason: str = ""  # why tokens can't be hidden
    one_head_reason: str = ""  # why tokens can't be hidden in only some heads
    digest: str = ""  # sha256 of the weights
    configuration: str = ""  # `checkpoint.configuration_digest`
    note: str = ""  # for visitors
    equal_lengths: bool = False  # True: padding changes results
    around: Callable[[int], AbstractContextManager] = nullcontext  # called with tokens x layers x d_model

    @cached_property
    def content(self) -> str:
        """The sha256 of weights, configuration and tokeniser."""
        return hashlib.sha256(f"{self.digest} {self.configuration}".encode()).hexdigest()

    def __repr__(self) -> str:
        how = "recomputable" if self.recomputable else "not recomputable"
        sizes = f"{self.n_layers} layers x {self.n_heads} heads, d_model {self.d_model}"
        return f"<Encoder {self.name}: {self.family}, {sizes}, {self.dtype} on {self.device}, {how}>"

    def _repr_html_(self) -> str:
        names = ("name", "revision", "family", "n_layers", "n_heads", "d_model", "d_head", "max_tokens", "device")
        about = [(name, getattr(self, name)) for name in (*names, "dtype", "recomputable", "reason", "note")]
        return html_table("Encoder", [(name, value) for name, value in about if value not in (None, "")])

    def encode(
        self,
        text: str | Tokens,
        pair: str | None = None,
        pad_to: int | None = None,
        patches: Collection[Patch] = (),
        hidden: Collection[Hide] = (),
    ) -> Encoding:
        """Run one text, and record each layer's attention.

        text: a string, or the result of `tokenize`
        pair: a second segment
        pad_to: number of tokens, padding included
        patches: heads' outputs to replace
        hidden: tokens to hide from other tokens

        Raises TextError, NotFinite, ValueError for changes that don't fit the text, and NotRecomputable for changes that the
        encoder doesn't allow.
        """
        tokens = self.tokenize(text, pair)
        if pad_to is not None:
            n = len(tokens.ids)
            if not n <= pad_to <= self.max_tokens:
                raise TextError(
                    f"pad_to must be from {n} (the text's length) to {self.max_tokens} tokens, got {pad_to}."
                )
            tokens = tokens.padded(pad_to, self.tokenizer.pad_token or "[PAD]", self.pad_id)
        return self._run([(tokens, patches, tuple(hidden))])[0]

    def encode_batch(
        self,
        texts: Sequence[str | Tokens],
        patches: Sequence[Collection[Patch]] | None = None,
        hidden: Sequence[Collection[Hide]] | None = None,
    ) -> list[Encoding]:
        """Run several texts in batches. The results have no padding.

        patches, hidden: one collection for each text
        Raises the errors of `encode`, and TypeError if `texts` is a string.
        """
        if isinstance(texts, str):
            raise TypeError(
                f"Expected a list of texts, got one text ({texts[:40]!r}). Use encode, or put the text into a list."
            )
        batch = [self.tokenize(text) for text in texts]
        replaced = [()] * len(batch) if patches is None else patches
        covered = [()] * len(batch) if hidden is None else [*map(tuple, hidden)]
        for what, n in (("patches", len(replaced)), ("hidden tokens", len(covered))):
            if n != len(batch):
                raise ValueError(f"Expected {len(batch)} collections of {what}, one for each text, got {n}.")
        copies, lengths = list(zip(batch, replaced, covered)), [len(tokens.ids) for tokens in batch]
        encodings: dict[int, Encoding] = {}
        limit = tokens_a_pass(self.device)
        for places in length_batches(range(len(batch)), lengths.__getitem__, limit, self.equal_lengths):
            encodings |= zip(places, in_halves(self._run, [copies[place] for place in places]))
        return [encodings[place] for place in range(len(batch))]

    def encoded(self, word: PlacedWord) -> Encoding:
        """Return the Encoding of the word's sentence, without patches or hidden tokens."""
        sentence = word.sentence
        is_plain = isinstance(sentence, Encoding) and not (sentence.patches or sentence.hides)
        return sentence if is_plain else self.encode(sentence)

    def reference_weights(self, text: str, pair: str | None = None, hidden: Collection[Hide] = ()) -> Tensor:
        """Return the attention weights that the model's eager code computes: (n_layers, n_heads, n, n)."""
        tokens, hidden = self.tokenize(text, pair), tuple(hidden)
        self._check_changes(tokens, (), hidden)
        with torch.no_grad(), self.pass_over(1, len(tokens.ids)):
            output = self.eager(self.inputs([tokens]), [hidden] if hidden else ())
        self.check_finite(tokens, [state[0] for state in self.states(output)])
        return stack_layers(output.attentions, 0, len(tokens.ids))

    def eager(self, inputs: dict[str, Tensor], hidden: Sequence[Collection[Hide]] = (), weights: bool = True):
        """Run the model with eager attention.

        hidden: tokens to hide, for each text
        weights: False returns no attention weights, which saves much memory
        """
        recorder = Recorder(keep=False, hidden=hidden) if hidden else None
        return run(self._twin, inputs, recorder, output_attentions=weights, output_hidden_states=True)

    @cached_property
    def _twin(self) -> nn.Module:
        return eager_twin(self.model)

    def separate_pass_fits(self, n: int) -> bool:
        """Return True if the result of `reference_weights` for n tokens fits into `separate_pass_megabytes` (a setting)."""
        return 4 * self.n_layers * self.n_heads * n * n <= Settings.read().separate_pass_megabytes * 2**20

    def knock_out(
        self,
        text: str | Tokens,
        position: int | Sequence[int] | str,
        *,
        heads: Sequence[Head | tuple[Head, ...]] | None = None,
        how: str = "zero",
        progress: Progress = silent,
        pair: str | None = None,
    ) -> Tensor:
        """Remove each head in turn. Return the last hidden states at `position`: (n_layers, n_heads, d_model).

        position: one or several positions (for their mean), or a word that occurs once
        heads: the heads, or tuples of heads to remove together. The result is then (len(heads), d_model).
        how: the removed output becomes "zero", or its "mean" over the sentence
        progress: called as progress(done, total)

        Raises NotRecomputable.
        Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 2.
        """
        if how not in ("zero", "mean"):
            raise ValueError(f'how must be "zero" or "mean", got {how!r}.')
        chosen = self.all_heads if heads is None else heads
        sets = [each if each == () or isinstance(each[0], tuple) else (each,) for each in chosen]
        word, patches = self.placed((text, position, pair)), [self.removed(each) for each in sets]
        if how == "mean":
            means = self.encoded(word).context(range(len(word.sentence.tokens)))
            patches = [[replace(patch, value=means[patch.layer, patch.head]) for patch in each] for each in patches]
        vectors = self.changed_vectors(word, patches, progress=progress)
        return vectors.unflatten(0, (self.n_layers, self.n_heads)) if heads is None else vectors

    def hide(
        self,
        text: str | Tokens,
        position: int | Sequence[int] | str,
        words: Sequence[int | Sequence[int] | str],
        *,
        heads: Sequence[Collection[Head] | None] | None = None,
        progress: Progress | None = None,
        pair: str | None = None,
    ) -> Tensor:
        """Hide each of `words` from `position` in turn. Return the last hidden states at `position`: (len(words), d_model).

        position, words: given like `position` in `knock_out`
        heads: for each word, the heads in which to hide the word; None for all heads

        Raises the errors of `encode`, and IndexError.
        Source: Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language Models", section 5.
        """
        word = self.placed((text, position, pair))
        if isinstance(words, str):
            raise TypeError(f"Expected a list of words to hide, got a single text ({words[:40]!r}). Put it in a list.")
        heads = [None] * len(words) if heads is None else heads
        if len(heads) != len(words):
            raise ValueError(
                f"Expected {len(words)} items in heads, one for each word, got {len(heads)}. None means all heads."
            )
        keys = [tuple(self._positions(word.sentence, each)) for each in words]
        hidden = [[Hide(word.positions, *each)] for each in zip(keys, heads)]
        return self.changed_vectors(word, hidden=hidden, progress=progress or silent)

    def changed_vectors(
        self,
        word: PlacedWord | tuple,
        patches: Sequence[Collection[Patch]] | None = None,
        hidden: Sequence[Collection[Hide]] | None = None,
        progress: Progress = silent,
        layers: bool = False,
    ) -> Tensor:
        """Run a copy of the word's sentence with each set of changes. Return the word's vectors: (copies, d_model).

        patches, hidden: one collection for each copy of the sentence
        layers: True returns the word's states before each layer and after the last: (copies, n_layers + 1, d_model)
        """
        word = self.placed(word)
        n, count = len(word.sentence.ids), len(patches if patches is not None else hidden or ())
        copies = [Copy(word, *each) for each in zip(patches or [()] * count, hidden or [()] * count, strict=True)]
        for copy in copies:
            self._check_changes(word.sentence, copy.patches, copy.hidden)

        join = not layers and count >= FEW and any(copy.start for copy in copies) and self.joinable
        order = sorted(range(count), key=lambda at: copies[at].start) if join else range(count)

        def changed(some: Sequence[int]) -> list[Tensor]:
            chosen = [copies[at] for at in some]
            if join:
                vectors = self._joined(chosen, [copy.start for copy in chosen], self.narrowing).mean(dim=1)
            else:
                vectors = self.in_copies(chosen, layers)
            self.check_finite(word.sentence, [vectors])
            return list(vectors)

        if not copies:
            return torch.zeros((0, self.n_layers + 1, self.d_model) if layers else (0, self.d_model))
        found = dict(zip(order, in_passes(changed, order, n, progress)))
        return torch.stack([found[at] for at in range(count)])

    def in_copies(self, copies: Sequence[Copy], layers: bool = False) -> Tensor:
        """Run the sentences of `copies` in one padded pass, each with its own patches and hidden tokens.

        Returns the vector of each copy's `word`: (copies, d_model); with `layers`, (copies, n_layers + 1, d_model).
        Doesn't raise NotFinite.
        """
        words, patches, hidden = zip(*copies)
        pieces = [(row, position) for row, word in enumerate(words) for position in word.positions]
        row, position = torch.tensor(pieces, device=self.device).T
        batch = [word.sentence for word in words]
        with torch.no_grad(), self.pass_over(len(batch), max(len(sentence.ids) for sentence in batch)):
            recorder = Recorder(patches, keep=False, hidden=hidden)
            output = run(self.model, self.inputs(batch), recorder, output_hidden_states=layers)
            states = self.states(output) if layers else (output.last_hidden_state,)
            found = torch.stack([state[row, position].float().cpu() for state in states], dim=1)
        vectors = torch.stack([each.mean(dim=0) for each in found.split([len(word.positions) for word in words])])
        return vectors if layers else vectors[:, 0]

    def _joined(self, copies: Sequence[Copy], joins: Sequence[int], narrow: bool) -> Tensor:
        """Run changed copies of a sentence, copy i from layer joins[i] on.

        Returns the last hidden states of the word's p tokens: (copies, p, d_model).
        """
        word, each = copies[0].word, [Copy(copies[0].word), *copies]  # the unchanged sentence comes first
        rows = list(word.positions)
        with torch.no_grad(), self.pass_over(len(each), len(word.sentence.ids)):
            patches, hidden = [copy.patches for copy in each], [copy.hidden for copy in each]
            only = (self.n_layers - 1, rows) if narrow else None
            after = narrow and not any(patches) and all({*h.queries} <= {*rows} for some in hidden for h in some)
            recorder = Recorder(patches, keep=False, hidden=hidden, joins=joins, narrow=only, after=after)
            last = run(self.model, self.inputs([word.sentence]), recorder).last_hidden_state
            return last[1:, slice(None) if narrow else rows].float().cpu()

    @cached_property
    def joinable(self) -> bool:
        """True if a run with changed heads can start at the layer of the first changed head."""
        recordings = self.encode(SAMPLE).recordings
        if self.dtype != "float32" or not recordings:  # in low precision, rounding depends on the batch
            return False
        joining.install(self.model, [recording.module for recording in recordings])
        return self._joins_as_it_runs(narrow=False)

    @cached_property
    def narrowing(self) -> bool:
        """True if the last layer can be computed at one word's positions alone."""
        return self._joins_as_it_runs(narrow=True)

    def _joins_as_it_runs(self, narrow: bool) -> bool:
        encoding, layers = self.encode(SAMPLE), range(self.n_layers)
        every = tuple(range(len(encoding.ids)))
        word, zero = PlacedWord(encoding, (1, 3) if narrow else every), torch.zeros(self.d_head)
        tests = [[Copy(word, [Patch(layer, 0, every, zero)] if self.patchable else ()) for layer in layers]]
        if narrow and not (self.hide_reason or self.one_head_reason):
            tests.append([Copy(word, (), [Hide(word.positions, (2,), [Head(layer, 0)])]) for layer in layers])
        for copies in tests:
            try:
                joined = self._joined(copies, layers, narrow).mean(dim=1)
            except Exception as error:
                if is_out_of_memory(error):
                    raise
                return False
            separate = self.in_copies(copies)
            alike = joined.shape == separate.shape
            if not (alike and float((joined - separate).abs().max()) <= JOINED * float(separate.abs().max())):
                return False
        return True

    def removed(self, heads: Iterable[Head]) -> list[Patch]:
        """Return patches that set heads' outputs to zero."""
        return [Patch(layer, head, None, torch.zeros(self.d_head)) for layer, head in heads]

    @cached_property
    def recomputable(self) -> bool:
        """True if selfattn's own attention code reproduces the model's attention weights."""
        return not self.reason

    @cached_property
    def patchable(self) -> bool:
        """True if heads' outputs can be replaced and removed."""
        return not self.patch_reason

    @property
    def hooked(self) -> bool:
        """True if hooks record the attention."""
        return self.model.config._attn_implementation == "eager"

    @cached_property
    def all_heads(self) -> list[Head]:
        """Every head, layer by layer."""
        return [Head(layer, head) for layer in range(self.n_layers) for head in range(self.n_heads)]

    def states(self, output) -> tuple[Tensor, ...]:
        """Return n_layers + 1 hidden states: (batch, n, d_model) each."""
        return (*output.hidden_states[: self.n_layers], output.last_hidden_state)

    def _check_changes(self, tokens: Tokens, patches: Collection[Patch], hidden: Collection[Hide]) -> None:
        if patches:
            self.check_patchable()
            check_patches(patches, self.n_layers, self.n_heads, self.d_head, len(tokens.ids))
        for hide in hidden:
            self.check_hideable(hide.heads is not None)
        check_hidden(hidden, self.all_heads, tokens)

    def _run(self, copies: Sequence[tuple[Tokens, Collection[Patch], tuple[Hide, ...]]]) -> list[Encoding]:
        for copy in copies:
            self._check_changes(*copy)
        batch, patches, hidden = zip(*copies)
        inputs = self.inputs(batch)
        recorder = Recorder(patches, hidden=hidden) if self.recomputable or self.patchable else None
        with torch.no_grad(), self.pass_over(*inputs["input_ids"].shape):
            if recorder is None:
                output = self.eager(inputs)
            else:
                shown = {} if self.recomputable else {"output_attentions": True}
                output = run(self.model, inputs, recorder, output_hidden_states=True, **shown)
            static = self.model.get_input_embeddings()(inputs["input_ids"])
        states = self.states(output)
        encodings = []
        for row, tokens in enumerate(batch):
            n = len(tokens.ids)
            cut = tuple(_row(state, row, n) for state in states)
            self.check_finite(tokens, [state[: n - tokens.padding] for state in cut])
            encodings.append(
                Encoding(
                    **{of.name: getattr(tokens, of.name) for of in fields(Tokens)},
                    states=cut,
                    static=_row(static, row, n),
                    n_heads=self.n_heads,
                    recordings=tuple(layer.sentence(row, n) for layer in recorder.layers) if recorder else (),
                    shown=None if self.recomputable else stack_layers(output.attentions, row, n),
                    reason=self.reason,
                    patches=tuple(patches[row]),
                    hides=hidden[row],
                )
            )
        return encodings

    def check_finite(self, tokens: Tokens, states: Sequence[Tensor]) -> None:
        """Raise NotFinite for NaN or infinity in `states`: the hidden states of all layers, or only the last."""
        strange = next((depth for depth, state in enumerate(states) if not state.isfinite().all()), None)
        if strange is not None:
            text = tokens.text if len(tokens.text) <= 60 else f"{tokens.text[:57]}..."
            first = "the embeddings" if len(states) > 1 else "the last hidden state"
            where = f"layer {strange - 1}" if strange else first
            higher = "" if self.dtype == "float32" else "float32 or "
            raise NotFinite(
                f"{self.title} computes NaN or infinity for {text!r} in {self.dtype}, first in {where}. "
                f"Choose {higher}another text."
            )

    @contextmanager
    def pass_over(self, copies: int, n: int) -> Iterator[None]:
        """Run the `with` block's forward pass inside the context manager `self.around`. Raises OutOfMemory."""
        message = (
            f"{copies} text(s) of {n:,} tokens need more memory than {self.device} has left. Shorten the text, or "
            "choose another device, a lower precision or a smaller encoder."
        )
        with self.around(copies * n * self.n_layers * self.d_model), out_of_memory_as(OutOfMemory(message)):
            yield

    def check_recomputable(self) -> None:
        if not self.recomputable:
            raise NotRecomputable(f"selfattn can't recompute {self.title}'s attention: {self.reason}")

    def check_hideable(self, one_head: bool = False) -> None:
        """Raise NotRecomputable if tokens can't be hidden.

        one_head: True if it must also be possible to hide tokens in one head only
        """
        if reason := self.hide_reason or (self.one_head_reason if one_head else ""):
            where = "single heads of " if not self.hide_reason else ""
            raise NotRecomputable(f"No word can be hidden in {where}{self.title}: {reason}")

    def check_patchable(self) -> None:
        if not self.patchable:
            raise NotRecomputable(f"No head of {self.title} can be replaced or removed: {self.patch_reason}")


def _row(batch: Tensor, row: int, n: int) -> Tensor:
    states = batch[row, :n].float().cpu()
    return states if batch.shape[0] == 1 else states.clone()  # a view would keep the whole batch
