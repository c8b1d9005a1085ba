"""Check an encoder against two published data sets.

    python -m selfattn.check rawc raw-c.csv             does hiding words one by one find the word that decides the sense?
    python -m selfattn.check coarsewsd CoarseWSD-20     how well does each layer separate senses?

Sources: Trott and Bergen 2021, "RAW-C: Relatedness of Ambiguous Words in Context" (github.com/seantrott/raw-c,
data/processed/raw-c.csv); Loureiro et al. 2021, "Analysis and Evaluation of Language Models for Word Sense
Disambiguation" (github.com/danlou/bert-disambiguation, data/CoarseWSD-20).
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import normalize

from selfattn.encoders.capture import Hide
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import LoadError, NotRecomputable, TextError
from selfattn.encoders.placed_word import PlacedWord
from selfattn.notebook_repr import OfTables
from selfattn.senses.resampling import rank_correlations
from selfattn.senses.word_rankings import WordRankings
from selfattn.words import to_groups

# methods that rank the other words of a sentence by their influence on the target word
WAYS = ("hiding", "most attended", "last layer", "largest single weight", "rollout", "gradient")
LAST_FOUR = "sum of the last four"  # the sum of the last four layers is the word's vector in the CoarseWSD paper
PUBLISHED = f"the accuracy of BERT-base in the CoarseWSD paper is 0.940 (feature extraction, {LAST_FOUR} layers)"
MEASURED = Path(__file__).with_name("data") / "raw_c.csv"
BATCH = 64  # sentences in one batch


@dataclass(frozen=True, eq=False, repr=False)
class RawCReport(OfTables):
    """The results of checking an encoder against the data set RAW-C.

    The marked word of a sentence is the word that, according to RAW-C, decides the sense of the target word.
    """

    ways: pd.DataFrame
    # column "way": a method of ranking words (one of WAYS), or "chance" (1 / number of words)
    # column "every": of all sentences, the fraction (0 to 1) in which the marked word ranks first
    # column "next": the same fraction, of the sentences in which the marked word is next to the target word
    # column "apart": the same fraction, of all other sentences
    sentences: pd.DataFrame  # sentence, next, chance, and for each of WAYS: 1 if the marked word ranks first, else 0
    distances: pd.DataFrame
    # column "of": the name of the model that computes the distances
    # column "correlation": Spearman's, between cosine distance and human rating
    rejected: pd.DataFrame  # sentence, reason


def raw_c(encoder: Encoder, pairs: pd.DataFrame) -> RawCReport:
    """Check an encoder on RAW-C. The two sentences of each pair differ in one word.

    pairs: the table raw-c.csv. The words around the ambiguous word (column string) are ranked by their influence on this
    word, but only in pairs in which this word has two senses. Each sentence is used in at most one such pair.
    Raises ValueError if a column is missing or no sentence can be used, NotRecomputable if no word can be hidden.
    """
    encoder.check_hideable()
    sides = [f"{name}{side}" for side in (1, 2) for name in ("sentence", "disambiguating_word")]
    if missing := {"string", "same", "mean_relatedness", "distance_bert", *sides}.difference(pairs):
        raise ValueError(f"The table lacks these columns of RAW-C: {', '.join(sorted(missing))}.")
    units: dict[str, Tensor] = {}
    rankings, lines, rejected, distance, judged = WordRankings(encoder), [], {}, [], set()
    for pair in pairs.itertuples():
        marked = {pair.sentence1: pair.disambiguating_word1, pair.sentence2: pair.disambiguating_word2}
        for text in marked.keys() - units.keys():
            try:
                placed = encoder.placed((text, pair.string))
                units[text] = _unit(encoder.encoded(placed).hidden[-1], placed)
            except TextError as error:
                rejected[text], units[text] = str(error), torch.full((encoder.d_model,), torch.nan).double()
        first, second = (units[text] for text in (pair.sentence1, pair.sentence2))
        distance.append(1 - float(first @ second))
        if not pair.same and judged.isdisjoint(marked) and rejected.keys().isdisjoint(marked):
            judged |= marked.keys()
            for text, way in ((pair.sentence1, second - first), (pair.sentence2, first - second)):
                placed = encoder.placed((text, pair.string))
                try:
                    lines.append((text, *_named(rankings, placed, marked[text], units[text], way)))
                except TextError as error:
                    rejected[text] = str(error)
    if not lines:
        raise ValueError(" ".join(["None of the sentences can be used.", *list(rejected.values())[:1]]))
    sentences = pd.DataFrame(lines, columns=["sentence", "next", "chance", *WAYS])
    parts = {"every": sentences, "next": sentences[sentences["next"]], "apart": sentences[~sentences["next"]]}
    ways = pd.DataFrame({name: part[["chance", *WAYS]].mean() for name, part in parts.items()})
    published = pairs[["distance_bert", "mean_relatedness"]].to_numpy()
    measured = np.column_stack([distance, published])[~np.isnan(distance)].T
    correlations = rank_correlations(measured[:2], measured[2:])
    return RawCReport(
        ways=ways.rename_axis("way").reset_index(),
        sentences=sentences,
        distances=pd.DataFrame({"of": [encoder.title, "BERT-base, from the file"], "correlation": correlations}),
        rejected=pd.DataFrame(rejected.items(), columns=["sentence", "reason"]),
    )


def raw_c_measured(content: str) -> dict[str, float]:
    """Return how often (0 to 1) each method in WAYS ranks a sentence's marked word first.

    content: `Encoder.content`. The marked word decides the sense of the target word.
    """
    table = pd.read_csv(MEASURED)
    return table[table["content"] == content].set_index("way")["named"].to_dict()


def _unit(states: Tensor, placed: PlacedWord) -> Tensor:
    """Average the word's token vectors, and scale this mean to length 1: (..., n, d_model) -> (..., d_model) float64."""
    return normalize(states[..., list(placed.positions), :].mean(dim=-2).double(), dim=-1)


def _named(rankings: WordRankings, placed: PlacedWord, marked: str, unit: Tensor, way: Tensor) -> Iterator[float]:
    """Yield the values of one row of `RawCReport.sentences`, without the column `sentence`."""
    words = [word for word in placed.others if not word.is_punctuation]
    found = [at for at, word in enumerate(words) if word.text.casefold() == str(marked).casefold()]
    if len(found) != 1:
        raise TextError(
            f"Expected the marked word {marked!r} once among the words around the target, found it {len(found)} times."
        )
    before = sum(word.start < placed.positions[0] for word in words)
    yield found[0] in (before - 1, before)
    yield 1 / len(words)
    groups, encoded = [word.positions for word in words], PlacedWord(rankings.encoder.encoded(placed), placed.positions)
    hidden = rankings.encoder.changed_vectors(placed, hidden=[[Hide(placed.positions, group)] for group in groups])
    numbers = {"hiding": (normalize(hidden.double(), dim=1) - unit) @ way, **rankings.by_attention(encoded, groups)}
    numbers["last layer"] = to_groups(encoded.sentence.word_rows(encoded.positions)[-1].mean(dim=0), groups)
    numbers["gradient"] = rankings.along(placed, unit, groups, way[None])["gradient"][0]
    for each in (numbers[name] for name in WAYS):
        yield np.nan if each.isnan().any() else float(each.argmax() == found[0])


@dataclass(frozen=True, eq=False, repr=False)
class CoarseWSDReport(OfTables):
    """Each layer's accuracy in word sense disambiguation."""

    layers: pd.DataFrame  # layer ("embedding", 0, 1 ... or LAST_FOUR), accuracy (0 to 1, mean over words)
    words: pd.DataFrame  # word, layer, accuracy, n (number of test sentences)
    rejected: pd.DataFrame  # word, split ("train", "test"), row (from 0), reason


def coarse_wsd(encoder: Encoder, folder: Path, most: int | None = None) -> CoarseWSDReport:
    """Check each layer on CoarseWSD-20, with the 1-NN of Loureiro et al. 2021 (nearest sense mean).

    folder: has a folder for each word. most: how many random sentences of each sense are used at most (None: all).
    Raises ValueError if `folder` contains no word's folder, or if `most` is below 1.
    """
    if most is not None and most < 1:
        raise ValueError(f"most must be at least 1, got {most}.")
    folders = sorted(path.parent for path in folder.glob("*/test.data.txt"))
    if not folders:
        raise ValueError(
            f"Expected {folder} to contain a folder for each word, with train.data.txt, train.gold.txt, test.data.txt and "
            "test.gold.txt."
        )
    names, lines, rejected = ["embedding", *range(encoder.n_layers), LAST_FOUR], [], []
    for word_folder in folders:
        sums: dict[str, Any] = defaultdict(int)
        for sense, vectors in _vectors(encoder, word_folder, "train", rejected, most):
            sums[sense] += vectors
        senses, right = sorted(sums), []
        means = normalize(torch.stack([sums[sense] for sense in senses]), dim=-1)  # (n_senses, layers, d_model)
        for sense, vectors in _vectors(encoder, word_folder, "test", rejected, most):
            nearest = (means * normalize(vectors, dim=-1)).sum(dim=-1).argmax(dim=0)
            right.append([senses[at] == sense for at in nearest])
        lines += [(word_folder.name, name, hits, len(right)) for name, hits in zip(names, np.mean(right, axis=0))]
    words = pd.DataFrame(lines, columns=["word", "layer", "accuracy", "n"])
    layers = words.groupby("layer", sort=False, as_index=False)["accuracy"].mean()
    return CoarseWSDReport(layers, words, pd.DataFrame(rejected, columns=["word", "split", "row", "reason"]))


def _vectors(
    encoder: Encoder, folder: Path, split: str, rejected: list, most: int | None = None
) -> Iterator[tuple[str, Tensor]]:
    """Yield the sense of each sentence's target word, and the word's vectors (n_layers + 2, d_model).

    The vectors are those after the embedding and after each layer, and the sum of the last four layers' vectors.
    """
    lines, senses = ((folder / f"{split}.{kind}.txt").read_text("utf-8").split("\n") for kind in ("data", "gold"))
    rows = _drawn(pd.Series({row: senses[row].strip() for row, line in enumerate(lines) if line}), most)
    for start in range(0, len(rows), BATCH):
        placed = []
        for row in rows[start : start + BATCH]:
            try:
                placed.append((senses[row].strip(), _placed(encoder, lines[row])))
            except TextError as error:
                rejected.append((folder.name, split, row, str(error)))
        encodings = encoder.encode_batch([word.sentence for _, word in placed])
        for (sense, word), encoding in zip(placed, encodings):
            layers = encoding.hidden[:, list(word.positions)].mean(dim=1)
            yield sense, torch.cat([layers, layers[-4:].sum(dim=0, keepdim=True)])


def _drawn(senses: pd.Series, most: int | None) -> list[int]:
    if most is not None:
        senses = senses.iloc[np.random.default_rng(0).permutation(len(senses))].groupby(senses).head(most)
    return sorted(senses.index)


def _placed(encoder: Encoder, line: str) -> PlacedWord:
    """Return the target word of a line that consists of the word's index, a tab and the sentence."""
    number, _, text = line.partition("\t")
    words = text.split()
    start = sum(len(word) + 1 for word in words[: int(number)])
    stop, tokens = start + len(words[int(number)]), encoder.tokenize(" ".join(words))
    spans = zip(tokens.offsets, tokens.special)
    positions = [at for at, ((a, b), special) in enumerate(spans) if a < stop and b > start and not special]
    return PlacedWord(tokens, tuple(positions))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one check, print its tables and return the exit status."""
    from selfattn import load_encoder

    parser = argparse.ArgumentParser(prog="python -m selfattn.check", description=__doc__.split("\n")[0])
    parser.add_argument("check", choices=("rawc", "coarsewsd"))
    parser.add_argument("path", type=Path, help="raw-c.csv, or the folder CoarseWSD-20")
    parser.add_argument("--encoder", help="a folder or a Hub id (default: the bundled encoder)")
    parser.add_argument(
        "--most", type=int, help="coarsewsd: use at most this many random sentences of each sense from each split"
    )
    options = parser.parse_args(arguments)
    try:
        encoder = load_encoder(options.encoder)
        if options.check == "rawc":
            report = raw_c(encoder, pd.read_csv(options.path))
            tables = report.ways, report.distances
            apart = (~report.sentences["next"]).sum()
            summary = (
                f"{len(report.sentences)} sentences; in {apart} of them, the word that decides the sense "
                "is not beside the target word"
            )
        else:
            report = coarse_wsd(encoder, options.path, most=options.most)
            tables, summary = (report.layers,), PUBLISHED
    except (LoadError, NotRecomputable, OSError, ValueError) as error:
        print(f"selfattn.check: {error}", file=sys.stderr)
        return 2
    print(f"{encoder.title}: {summary}; rejected: {len(report.rejected)}.")
    for table in tables:
        print(table.to_string(index=False, float_format="%.3f"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
