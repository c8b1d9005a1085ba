"""Convert results to tidy pandas tables, and write tables as CSV.

Positions, layers and heads count from 0. A weight goes from token `query` to token `key`.
"""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import torch
from pandas.api.types import is_numeric_dtype
from torch import Tensor

from selfattn.analysis.explaining import Explained
from selfattn.analysis.hiding import HiddenPair
from selfattn.encoders.capture import Head
from selfattn.kernel import AttentionTrace
from selfattn.senses import HiddenWordsReport
from selfattn.words import Word, fold

# FORMULA matches a cell that a spreadsheet would run as a formula, with or without apostrophes in front.
# Escaping puts one more apostrophe in front of such a cell; `unescaped` removes it.
SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
FORMULA = re.compile(rf"'*(?:[\t\r\n]|[\s\0-\x1f\ufeff]*[{SIGNS}])")


def weights_frame(weights: Tensor, tokens: Sequence[str]) -> pd.DataFrame:
    """Return attention weights (n, n) as a table of n * n rows."""
    rows, columns = np.indices((len(tokens), len(tokens))).reshape(2, -1)
    texts = {"query": [tokens[i] for i in rows], "key": [tokens[j] for j in columns]}
    return pd.DataFrame({"query_pos": rows, "key_pos": columns, **texts, "weight": weights.flatten().tolist()})


def heads_frame(**measures: Tensor) -> pd.DataFrame:
    """Return a row for each head, with a column for each measure. measures: (n_layers, n_heads) each."""
    heads = [Head(*place) for place in np.ndindex(*next(iter(measures.values())).shape)]
    columns = {name: values.flatten().tolist() for name, values in measures.items()}
    return pd.DataFrame(heads, columns=["layer", "head"]).assign(name=list(map(str, heads)), **columns)


PARTS = ("", " (query)", " (document)")  # suffixes for a single text, and for the two texts of a pair


def explained_words_frame(said: Mapping[str, Explained]) -> pd.DataFrame:
    """Return the effect of hiding each word, one row per word.

    Columns of the table:
    said: the text's label; for a query and document read as a pair, " (query)" or " (document)" follows.
    gap: True if a space precedes the word.
    effect: how hiding the word changes the target; NaN for the word that the target is about.
    at: the index of the word's first character.
    """
    rows = []
    for line, found in said.items():
        effects, sentence = dict(zip(found.words, found.effect.tolist())), found.sentence
        where = enumerate(zip(sentence.special, sentence.segments))
        typed = [
            Word(sentence.tokens[p], p, p + 1, at=sentence.offsets[p][0])
            for p, (special, segment) in where
            if special and segment is not None
        ]
        for word in sorted((*sentence.words, *typed), key=lambda word: word.start):
            chosen = word not in effects and {*found.target.positions} <= {*word.positions}
            part = "" if sentence.pair is None else PARTS[1 + (sentence.segments[word.start] or 0)]
            rows.append((line + part, word, word.label, effects.get(word, math.nan), chosen))
    return sentence_words(rows, "said", "effect").assign(at=[word.at for _, word, *_ in rows])


def explained_heads_frame(found: Explained) -> pd.DataFrame:
    """Return how much removing each head changes `found.target`, and how that change was measured."""
    run = found.heads.isfinite()
    how = ["exact" if each else "by gradient" for each in run.flatten().tolist()]
    return heads_frame(effect=torch.where(run, found.heads, found.by_gradient)).assign(how=how)


def context_share(trace: AttentionTrace, positions: Sequence[int]) -> Tensor:
    """Return each token's share of a word's context vector: (n,). The shares sum to 1; some may be negative."""
    weights = trace.weights[list(positions)].mean(0)
    context = weights @ trace.value
    parts = (weights[:, None] * trace.value) @ context
    return parts / (context @ context).clamp_min(torch.finfo(context.dtype).tiny)


def hidden_words_frame(pair: HiddenPair) -> pd.DataFrame:
    """Return a row for each word of two sentences, with the effect of hiding that word.

    place: position of the word's first token.
    share: how far hiding the word moves the chosen word's vector, as a part of the distance to the other sense
    (without two senses, to the other sentence's vector). Negative: it moves away. NaN: the word wasn't hidden.
    leads: True for the sentence's word with the largest share, never for punctuation.
    """
    rows = []
    for name, chosen, words, share, top in zip("AB", pair.placed, pair.words, pair.share, pair.top):
        known = {word.start: (float(value), at == top) for at, (word, value) in enumerate(zip(words, share))}
        for word in chosen.words:
            value, leads = known.get(word.start, (math.nan, False))
            rows.append((name, word.start, word.label, value, word.start not in known, leads, word.is_punctuation))
    return pd.DataFrame(rows, columns=["sentence", "place", "text", "share", "chosen", "leads", "punctuation"])


def hidden_heads_frame(pair: HiddenPair, run: Mapping[tuple[str, int], Tensor] | None = None) -> pd.DataFrame:
    """Return a row for each word and head: the share (see `hidden_words_frame`) if the word is hidden in this head only.

    run: exact shares of some words, (n_layers, n_heads) each, keyed by (sentence, position of the word's first token).
    The shares of all other words are estimated by gradient.
    """
    tables = []
    for name, words, by_head in zip("AB", pair.words, pair.by_head):
        for word, slopes in zip(words, by_head):
            exact = (run or {}).get((name, word.start))
            heads = heads_frame(share=slopes if exact is None else exact)
            how = "by gradient" if exact is None else "exact"
            tables.append(heads.assign(sentence=name, place=word.start, text=word.label, how=how))
    columns = ["sentence", "place", "text", "layer", "head", "name", "share", "how"]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def hidden_curves_frame(pair: HiddenPair) -> pd.DataFrame:
    """Return the cosine of the chosen word's vectors in sentences A and B, at the embedding and after each layer.

    depth: 0 for the embedding, l + 1 after layer l.
    """
    i, j = (0 if at is None else at + 1 for at in pair.top)
    hidden = " and ".join(f'"{words[at].label}"' for words, at in zip(pair.words, pair.top) if at is not None)
    curves = {"as they are": pair.curves[0, 0]} | ({f"{hidden} hidden": pair.curves[i, j]} if hidden else {})
    stages = ["embedding", *(f"after L{layer}" for layer in range(pair.curves.shape[-1] - 1))]
    depths = [pd.DataFrame({"curve": name, "stage": stages, "similarity": curves[name].tolist()}) for name in curves]
    table = pd.concat(depths).rename_axis("depth").reset_index()
    return table[["curve", "depth", "stage", "similarity"]]


def leading_words_frame(report: HiddenWordsReport, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each labelled sentence, with the two words that, when hidden, have the largest effects.

    Rows are sorted by the largest effect.
    share: how far the labelled word's vector moves if `first` is hidden, as a part of the distance to its other senses
    next: the same for `second`
    """
    words = report.named.sort_values("share", ascending=False, kind="stable")
    places = words.groupby("row", sort=False).cumcount()
    first, second = (words[places == at].set_index("row") for at in (0, 1))
    found = first[["word"]].assign(sense=frame["sense"], first=first["text"], share=first["share"])
    return found.assign(second=second["text"], next=second["share"], sentence=frame["sentence"])


def shaded_frame(report: HiddenWordsReport, sentences: Mapping[Hashable, Sequence[Word]]) -> pd.DataFrame:
    """Return the effect of hiding each word of some labelled sentences.

    sentences: each sentence's words, keyed by the sentence's row in the labelled table.
    share: how far the labelled word moves, as a part of the distance to its other senses. NaN: not measured.
    """
    shown = report.words[report.words["row"].isin(list(sentences))]
    shares = dict(zip(zip(shown["row"], shown["start"]), shown["share"].tolist()))
    rows = [
        (row, word, word.label, shares.get((row, word.start), math.nan), (row, word.start) not in shares)
        for row, words in sentences.items()
        for word in words
    ]
    return sentence_words(rows, "row", "share")


def sentence_words(rows: Iterable[tuple[Hashable, Word, str, float, bool]], first: str, number: str) -> pd.DataFrame:
    """Return a row for each word.

    rows: for each word, (value of the first column, Word, value of the column "text", value of the numeric column, True for
    the chosen word). first, number: names of the first column and of the numeric column.
    """
    found, end = [], None
    for key, word, text, value, chosen in rows:
        kind = "chosen" if chosen else "punctuation" if word.is_punctuation else "word"
        gap = end is not None and end[0] == key and end[1] != word.at
        found.append((key, text, gap, value, kind))
        end = key, word.span[1]
    return pd.DataFrame(found, columns=[first, "text", "gap", number, "kind"])


def named_heads(heads: pd.DataFrame) -> pd.DataFrame:
    """Add the column `name` (such as "L0 H10"), and drop columns that have only NaN."""
    names = [str(Head(*pair)) for pair in zip(heads["layer"], heads["head"])]
    return heads.assign(name=names).dropna(axis="columns", how="all")


def sources_frame(tables: Iterable[Any]) -> pd.DataFrame:
    """For each `word`, count how often hiding another word (`source`) moves the vector of `word` most.

    tables: the scan's Arrow tables.
    n: how often hiding `source` moves `word` most. share: n as a part of all occurrences of `word`, 0 to 1.
    move: mean of 1 - cosine between the vectors of `word` with and without `source`, 0 to 2.
    sentence: the sentence with the largest move.
    """
    found, of_word = {}, Counter[str]()
    for row in chain.from_iterable(table.to_pylist() for table in tables):
        word = fold(row["word"])
        of_word[word] += 1
        for source, move in zip(map(fold, row["sources"][:1]), row["source_moves"]):
            n, total, most = found.get((word, source), (0, 0.0, (-1.0, "")))
            found[word, source] = n + 1, total + move, max(most, (move, row["sentence"]))
    rows = [(*key, n, n / of_word[key[0]], total / n, most[1]) for key, (n, total, most) in found.items()]
    frame = pd.DataFrame(rows, columns=["word", "source", "n", "share", "move", "sentence"])
    return frame.sort_values(["word", "n", "move"], ascending=[True, False, False], ignore_index=True)


def csv_text(frame: pd.DataFrame, header: bool = True) -> str:
    """Return a table as CSV with CR LF line ends (RFC 4180).

    Texts that spreadsheets would run as formulas get an apostrophe (OWASP, "CSV Injection").
    """
    # pandas' string type can't hold half of a surrogate pair.
    others = [name for name, column in frame.items() if not is_numeric_dtype(column)]
    texts = {name: pd.Series(map(escaped, frame[name]), frame.index, dtype=object) for name in others}
    # Python's CSV writer quotes a CR only if lines end with CR LF.
    table = frame.assign(**texts).rename(columns=escaped)
    return table.to_csv(index=False, header=header, lineterminator="\r\n")


def escaped(cell: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Undo `escaped`."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
