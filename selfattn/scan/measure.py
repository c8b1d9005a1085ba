"""Measure, in every head, which tokens each occurrence of a word attends to."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.analysis.measures import entropy
from selfattn.encoders.batches import length_batches, tokens_a_pass
from selfattn.encoders.capture import Head, Hide, LayerRecording, Recorder, run
from selfattn.encoders.encoder import Copy, Encoder
from selfattn.encoders.errors import TextError
from selfattn.encoders.memory import give_freed_back, in_halves
from selfattn.encoders.pair_terms import mask_rows
from selfattn.encoders.placed_word import PlacedWord, Tokens
from selfattn.kernel import attend
from selfattn.scan.tables import InputError, Row
from selfattn.words import Word, character_spans, fold, words_in

MOST_SOURCES = 3  # largest number of context words to name for an occurrence


@dataclass(frozen=True)
class Reject:
    """A row that can't be used, and the reason."""

    row: Row
    reason: str


# a usable row, and at least one occurrence of its word
_Usable = tuple[Row, tuple[PlacedWord, ...]]


def measure(
    encoder: Encoder,
    rows: Sequence[Row],
    vectors: bool = False,
    batch_tokens: int | None = None,
    progress: Callable[[int], None] = lambda n: None,
    heads: Sequence[Head] | None = None,
    sources: bool = False,
    words: Sequence[str] = (),
) -> tuple[pa.Table, list[Reject]]:
    """Return a table of the words' occurrences (see `schema`), and the rejected rows.

    vectors: also return the word's vector after the embedding and each layer
    progress(n): called when n more rows are done
    heads: the heads to measure (None: all)
    sources: also return the other words that change the word's vector most when hidden (Geva et al. 2023, section 5)
    words: search all sentences for these words, instead of each row's `word`
    Memory: about 50 kB per row. Raises NotRecomputable with `sources` if no word can be hidden.
    """
    if sources:
        encoder.check_hideable()
    limit = batch_tokens or tokens_a_pass(encoder.device)
    heads = heads or encoder.all_heads
    wanted = schema(encoder.n_layers, encoder.n_heads, encoder.d_model, vectors, len(heads), sources)
    reason = (
        f"{encoder.title} computes NaN or infinity for this text in {encoder.dtype}. "
        f"{'Leave the text out, or use another encoder' if encoder.dtype == 'float32' else 'Use --dtype float32'}."
    )
    usable, rejects = _locate(encoder, rows, words)
    progress(len(rows) - len(usable))
    tables = [wanted.empty_table()]
    for batch in length_batches(usable, lambda one: len(one[1][0].sentence.ids), limit, encoder.equal_lengths):
        # Halve the batch if memory is too small for one pass.
        found = in_halves(lambda part: [_table(encoder, part, vectors, heads, wanted, limit)], batch)
        measured = {row for table in found for row in table["row"].to_pylist()}
        rejects += [Reject(row, reason) for row, _ in batch if row.row not in measured]
        tables += found
        progress(len(batch))
    give_freed_back()
    rejects.sort(key=lambda reject: reject.row.row)
    return pa.concat_tables(tables).sort_by([("row", "ascending"), ("start", "ascending")]), rejects


def schema(
    n_layers: int, n_heads: int, d_model: int, vectors: bool, n_measured: int, sources: bool = False
) -> pa.Schema:
    """Return the columns of an output file.

    The lists top_word to special_share have one entry per measured head, with index layer * n_heads + head if all are measured.
    """
    fields = [
        pa.field("row", pa.int64()),  # the input's row, from 0
        pa.field("sentence", pa.string()),
        pa.field("word", pa.string()),  # as spelled in the sentence
        pa.field("start", pa.int32()),  # the index of the word's first character in the sentence
        pa.field("sense", pa.string()),  # null if none was given
        pa.field("top_word", pa.list_(pa.string(), n_measured)),  # the word with most weight, not a special token
        pa.field("top_weight", pa.list_(pa.float32(), n_measured)),  # the weight of top_word, summed over its pieces
        pa.field("entropy", pa.list_(pa.float32(), n_measured)),  # bits, over all tokens
        pa.field("special_share", pa.list_(pa.float32(), n_measured)),  # the weight on special tokens, 0 to 1
    ]
    if vectors:  # at index layer * d_model + i; layer 0 is the embedding output
        fields.append(pa.field("vectors", pa.list_(pa.float32(), (n_layers + 1) * d_model)))
    if sources:
        fields.append(pa.field("sources", pa.list_(pa.string())))  # the words whose hiding changes the vector most
        fields.append(pa.field("source_moves", pa.list_(pa.float32())))  # 1 - cosine of last hidden states, descending
    shape = {"n_layers": str(n_layers), "n_heads": str(n_heads), "d_model": str(d_model)}
    return pa.schema(fields, metadata=shape)


def words_to_find(words: Sequence[str]) -> tuple[str, ...]:
    """Apply `fold` to the words to search for, and sort them. Raises InputError if an item isn't one word."""
    for word in words:
        if (n := len(character_spans(word))) != 1:
            raise InputError(f"Expected one word to search for, got {word[:80]!r} ({n} words or symbols).")
    return tuple(sorted({fold(word.strip()) for word in words}))


def _locate(encoder: Encoder, rows: Sequence[Row], words: Sequence[str]) -> tuple[list[_Usable], list[Reject]]:
    usable, rejects = [], []
    for row in rows:
        try:
            if row.problem:
                raise TextError(row.problem)
            found: Sequence[str] = (row.word,)
            if words:  # `locate` rejects a sentence that isn't a string
                found = words_in(row.sentence, words) if isinstance(row.sentence, str) else words
                row = row._replace(word=", ".join(found))
            if found:
                usable.append((row, encoder.locate(row.sentence, *found)))
        except TextError as error:
            rejects.append(Reject(row, str(error)))
    return usable, rejects


def _table(
    encoder: Encoder, batch: list[_Usable], vectors: bool, heads: Sequence[Head], wanted: pa.Schema, limit: int
) -> pa.Table:
    """Measure a batch in one pass, and leave out texts that give NaN."""
    occurrences = [(b, row, placed) for b, (row, places) in enumerate(batch) for placed in places]
    pieces = [(o, b, position) for o, (b, _, placed) in enumerate(occurrences) for position in placed.positions]
    owner, sentence, position = torch.tensor(pieces, device=encoder.device).T
    sentences = [places[0].sentence for _, places in batch]
    wanted_states = "all" if vectors else "last" if "sources" in wanted.names else None
    weights, states, broken = _run(encoder, sentences, sentence, position, wanted_states, heads)
    weights = _mean_of_pieces(weights, owner, len(occurrences))  # (n_occurrences, heads, n)
    words = [placed.words for _, _, placed in occurrences]
    numbers = _numbers(weights, [placed.sentence for _, _, placed in occurrences], words)
    names = [[word.label for word in line] for line in words]
    top = numbers.pop("top").tolist()
    columns = {
        "row": [row.row for _, row, _ in occurrences],
        "sentence": [row.sentence for _, row, _ in occurrences],
        "word": [placed.word.text for _, _, placed in occurrences],
        "start": [placed.word.at for _, _, placed in occurrences],
        "sense": [_sense(row.sense) for _, row, _ in occurrences],
        "top_word": _lists(
            pa.array([name[i] for name, line in zip(names, top) for i in line], pa.string()), len(heads)
        ),
        **{name: _lists(pa.array(values.ravel()), len(heads)) for name, values in numbers.items()},
    }
    states = _mean_of_pieces(states, owner, len(occurrences)).cpu()  # (n_occurrences, n_layers + 1, 1 or 0, d_model)
    if vectors:
        numbers["vectors"] = states.flatten(1).numpy()
        columns["vectors"] = _lists(pa.array(numbers["vectors"].ravel()), states[0].numel())
    if "sources" in wanted.names:
        moves = _moves(encoder, [placed for _, _, placed in occurrences], states[:, -1], limit)
        broken |= {occurrences[at][0] for at, one in enumerate(moves) if not all(math.isfinite(far) for far, _ in one)}
        # Words with equal effects stay in the order of the sentence.
        largest = [sorted(one, key=lambda move: -move[0])[:MOST_SOURCES] for one in moves]
        columns["sources"] = [[name for _, name in one] for one in largest]
        columns["source_moves"] = [[far for far, _ in one] for one in largest]
    for values in numbers.values():
        broken |= {occurrences[at][0] for at in np.flatnonzero(~np.isfinite(values).all(axis=1))}
    table = pa.table(columns, schema=wanted)
    return table.filter(pa.array([b not in broken for b, _, _ in occurrences])) if broken else table


def _run(
    encoder: Encoder, batch: list[Tokens], sentence: Tensor, position: Tensor, wanted: str | None, heads: Sequence[Head]
) -> tuple[Tensor, Tensor, set[int]]:
    """Return weights (n_pieces, heads, n), hidden states, and the indices of sentences with NaN.

    A piece is one token of an occurrence of a measured word.
    wanted: which hidden states to return. "all": (n_pieces, n_layers + 1, d_model); "last": (n_pieces, 1, d_model);
        None: none, (n_pieces, 0, d_model)
    """
    inputs, layers = encoder.inputs(batch), {at.layer for at in heads}
    with torch.no_grad(), encoder.pass_over(*inputs["input_ids"].shape):
        if encoder.recomputable:
            recorder = Recorder(until=None if wanted else max(layers))
            output = run(encoder.model, inputs, recorder, output_hidden_states=wanted == "all")
            weights = {layer: word_rows(recorder.layers[layer], sentence, position) for layer in layers}
        else:  # without recomputation, the model returns all weights
            output = encoder.eager(inputs)
            weights = {layer: output.attentions[layer][sentence, :, position].float() for layer in layers}
        chosen = torch.stack([weights[at.layer][:, at.head] for at in heads], dim=1)
        if not wanted:
            return chosen, chosen.new_empty(len(chosen), 0, encoder.d_model), set()
        usable = output.last_hidden_state.isfinite().all(-1) | (inputs["attention_mask"] == 0)
        broken = {b for b, finite in enumerate(usable.all(-1).tolist()) if not finite}
        every = encoder.states(output) if wanted == "all" else (output.last_hidden_state,)
        states = [state[sentence, position].float() for state in every]
    return chosen, torch.stack(states, dim=1), broken


def _moves(
    encoder: Encoder, occurrences: Sequence[PlacedWord], plain: Tensor, limit: int
) -> list[list[tuple[float, str]]]:
    """For each occurrence, hide the other words one by one. Return pairs (move, hidden word).

    The move is 1 - cosine between the occurrence's vectors before and after hiding.
    """
    copies = [(at, word) for at, placed in enumerate(occurrences) for word in placed.others if not word.is_punctuation]

    def distances(chunk: Sequence[tuple[int, Word]]) -> list[float]:
        hidden = [(occurrences[at], Hide(occurrences[at].positions, word.positions)) for at, word in chunk]
        after = encoder.in_copies([Copy(placed, hidden=(hide,)) for placed, hide in hidden])
        before = plain[[at for at, _ in chunk]]
        # Half the squared distance of unit vectors equals 1 - cosine, but is precise near 0 and never negative.
        return ((normalize(after.double()) - normalize(before.double())).square().sum(dim=1) / 2).tolist()

    moves: list[list[tuple[float, str]]] = [[] for _ in occurrences]
    for chunk in length_batches(copies, lambda copy: len(occurrences[copy[0]].sentence.ids), limit):
        for (at, word), move in zip(chunk, in_halves(distances, chunk)):
            moves[at].append((move, word.label))
    return moves


def word_rows(recording: LayerRecording, sentence: Tensor, position: Tensor) -> Tensor:
    """Compute the attention weights of n_pieces queries, each of one token: (n_pieces, n_heads, n), float32.

    sentence, position (n_pieces,): index of each query's sentence, and of the query in this sentence
    """
    query = recording.query[sentence, :, position][:, :, None].float()  # (n_pieces, n_heads, 1, d_head)
    key = recording.key[sentence].float()  # (n_pieces, n_heads, n, d_head)
    mask = None if recording.mask is None else mask_rows(recording.mask, sentence, position)
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.float()
    terms = [term.of_pieces(query, key, recording.scale, sentence, position) for term in recording.terms]
    # Values of width 1 are enough, because the context isn't used.
    return attend(query, key, key[..., :1], mask, recording.scale, terms).weights[:, :, 0]


def _mean_of_pieces(pieces: Tensor, owner: Tensor, n: int) -> Tensor:
    """Average over the tokens of each occurrence: (n_pieces, ...) -> (n, ...)."""
    if len(pieces) == n:
        return pieces
    total = pieces.new_zeros(n, *pieces.shape[1:]).index_add_(0, owner, pieces)
    count = torch.bincount(owner, minlength=n).to(pieces.dtype)
    return total / count.reshape(-1, *[1] * (pieces.dim() - 1))


def _numbers(weights: Tensor, sentences: Sequence[Tokens], words: Sequence[Sequence[Word]]) -> dict[str, np.ndarray]:
    """Return top (index of the word with the most weight), top_weight, entropy, special_share, each (n_occurrences, heads)."""
    n = weights.shape[-1]
    n_words = max(map(len, words))
    # The index of each token's word; n_words for tokens outside words
    groups = np.full((len(sentences), n), n_words)
    special = np.ones((len(sentences), n), dtype=np.float32)
    for line, (sentence, of_sentence) in enumerate(zip(sentences, words)):
        special[line, : len(sentence.special)] = sentence.special
        for index, word in enumerate(of_sentence):
            groups[line, word.start : word.stop] = index
    place = torch.from_numpy(groups).to(weights.device)[:, None].expand_as(weights)
    to_words = weights.new_zeros(*weights.shape[:-1], n_words + 1).scatter_add_(-1, place, weights)
    top_weight, top = to_words[..., :n_words].max(dim=-1)
    on_special = torch.einsum("ohn,on->oh", weights, torch.from_numpy(special).to(weights.device))
    numbers = {"top": top, "top_weight": top_weight, "entropy": entropy(weights), "special_share": on_special}
    return {name: tensor.cpu().numpy() for name, tensor in numbers.items()}


def _lists(values: pa.Array, size: int) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(values, size)


def _sense(value: object) -> str | None:
    return None if value is None or value != value or not str(value).strip() else str(value).strip()
