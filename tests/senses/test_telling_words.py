"""Test `hidden_words`, which hides the words of sentences one by one, against plain loops."""

import copy
import dataclasses
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from selfattn import NotRecomputable
from selfattn.analysis.hiding import hidden_pair
from selfattn.encoders import projections
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.sources import resolve
from selfattn.examples import labelled_sentences
from selfattn.senses import hidden_words, telling_words, word_rankings
from selfattn.stored_reports import stored
from tests.senses import plain_hiding
from tests.senses.conftest import tiny_table
from tests.senses.plain_hiding import WHAT, largest

WAYS = ["nearest", "most attended", "largest single weight", "weights x V", "rollout", "gradient", "value zeroing"]


@pytest.fixture(scope="module")
def whole(encoder):
    return stored("hidden_words", encoder, labelled_sentences()).report


EXACT = 1e-6  # tolerance in float64, and for accuracies and ranks
ROUNDING = 1e-5  # tolerance in float32; the largest measured difference is 1.3e-6


def in_float64(encoder: Encoder) -> Encoder:
    return dataclasses.replace(encoder, model=copy.deepcopy(encoder.model).double())


@torch.no_grad()
def assert_agrees(report, encoder: Encoder, folder, frame, rounding=EXACT, heads=True):
    """Check that the report has the numbers that plain loops compute."""
    model, blank = plain_hiding.load(folder), encoder.tokenizer.mask_token_id
    accuracy, ways, through = {}, {}, {}
    for word, group in frame.groupby("word"):
        rows = plain_hiding.rows_of(encoder, group)
        found = [plain_hiding.vectors(model, row) for row in rows]
        u, senses = np.stack([each.u for each in found]), [row.sense for row in rows]
        scores = [plain_hiding.without_axis(model, row) for row in rows]
        made = plain_hiding.judgements(rows, found, [each["most attended"] for each in scores])
        accuracy[word] = made[WHAT].mean().tolist()
        table, ways[word], by_head = report.words[report.words["word"] == word], [], []
        assert table["row"].drop_duplicates().tolist() == group.index.tolist()
        for i, (row, at) in enumerate(zip(rows, found)):
            here, axis = made[made["row"] == i], plain_hiding.axis_without(u, senses, senses[i], i)
            share, lines = plain_hiding.shares(at.u, at.hidden, axis), table[table["row"] == group.index[i]]
            assert lines["text"].tolist() == row.texts
            assert lines["start"].tolist() == [positions[0] for positions in row.others]
            np.testing.assert_allclose(lines["share"], share, atol=rounding, rtol=0)
            picked = [(here["picked"] == w).mean() for w in range(len(share))]
            np.testing.assert_allclose(lines["picked"], picked, atol=EXACT)
            if heads:
                by_head.append(plain_hiding.first_order_by_head(model, row, largest(row, share), axis).flatten())
            nearest, distance = plain_hiding.nearest(row), np.full(len(share), np.nan)
            distance[row.named] = row.distance
            names = [(np.mean([(here["picked"] == w).mean() for w in nearest]), -distance)]
            for score in scores[i].values():
                names.append(((here["picked"] == largest(row, score)).mean(), score))
            for moved in plain_hiding.along_axis(model, row, blank).values():
                same = [w == largest(row, moved @ way) for w, way in zip(here["picked"], here["way"])]
                names.append((np.mean(same), moved @ axis))
            ranks = [rank_correlation(score[row.named], share[row.named]) for _, score in names]
            ways[word].append(np.transpose([[often for often, _ in names], ranks]))
        if heads:
            through[word] = plain_hiding.mean_over_senses(by_head, senses)
            assert_heads(report.heads[report.heads["word"] == word], through[word], np.array(by_head), senses)
        same = plain_hiding.between(rows, found)
        named = report.between[report.between["word"] == word].set_index("senses")["named"]
        assert named.to_dict() == pytest.approx({"one": same[True], "two": same[False]}, abs=EXACT)
    if heads:
        every = np.array(list(through.values()))
        assert_heads(report.heads[report.heads["word"] == "all"], every.mean(axis=0), every, ["a word"] * len(every))
    accuracy["all"] = np.mean(list(accuracy.values()), axis=0).tolist()
    for word, expected in accuracy.items():
        lines = report.accuracy[report.accuracy["word"] == word]
        assert lines["what"].tolist() == WHAT
        np.testing.assert_allclose(lines["accuracy"], expected, atol=EXACT)
    assert report.accuracy["word"].unique().tolist() == list(accuracy)
    expected = np.mean([np.nanmean(each, axis=0) for each in ways.values()], axis=0)
    assert report.agreement["way"].tolist() == [*WAYS, encoder.tokenizer.mask_token]
    np.testing.assert_allclose(report.agreement[["agreement", "rank"]], expected, atol=EXACT)
    singly = np.array([np.nanmean(each, axis=0)[:, 0] for each in ways.values()])
    bounds = np.transpose([interval(column) for column in singly.T])
    np.testing.assert_allclose(report.agreement[["low", "high"]].T, bounds, atol=EXACT)
    assert report.reason == ""
    rows_of = [plain_hiding.rows_of(encoder, group) for _, group in frame.groupby("word")]
    assert report.luck == pytest.approx(np.mean([np.mean([1 / len(row.named) for row in rows]) for rows in rows_of]))


def assert_heads(lines, share, values, groups):
    """Check one word's rows in the table of heads."""
    np.testing.assert_allclose(lines["share"], share, atol=2e-6)
    generator, means = np.random.default_rng(0), []
    for name in sorted(set(groups)):
        rows = [value for value, group in zip(values, groups) if group == name]
        draws = [generator.integers(0, len(rows), len(rows)) for _ in range(1000)]
        means.append([np.mean([rows[at] for at in draw], axis=0) for draw in draws])
    resampled = np.mean(means, axis=0)
    np.testing.assert_allclose(lines[["low", "high"]].T, np.percentile(resampled, [2.5, 97.5], axis=0), atol=2e-6)
    first = np.bincount(np.argmax(resampled, axis=1), minlength=len(share)) / 1000
    np.testing.assert_allclose(lines["leads"], first, atol=0.002)


def rank_correlation(first, second) -> float:
    """Return Spearman's correlation, or NaN if `first` is constant."""
    return np.nan if len(set(first)) == 1 else spearmanr(first, second).statistic


@pytest.mark.slow
def test_report_of_tiny_encoder_agrees_with_plain_loops(encoder_of, checkpoint):
    encoder = in_float64(encoder_of("BERT"))
    assert_agrees(hidden_words(encoder, tiny_table()), encoder, checkpoint("BERT"), tiny_table())


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("words", [["bank", "pitcher"], None], ids=["two words live", "every word, stored"])
def test_report_on_built_in_sentences_agrees_with_plain_loops(whole, encoder, words):
    table = labelled_sentences()
    table = table if words is None else table[table["word"].isin(words)]
    live = whole if words is None else hidden_words(in_float64(encoder), table)
    assert_agrees(live, encoder, resolve().folder, table, ROUNDING if words is None else EXACT, heads=words is not None)


def test_stored_shares_equal_shares_from_hidden_pair(whole, encoder):
    frame = labelled_sentences()
    rows = frame[frame["word"] == "pitcher"].groupby("sense").head(1)
    means = stored("sense_means", encoder, frame).report.of("pitcher", encoder, frame)
    pair = hidden_pair(encoder, *((sentence, "pitcher") for sentence in rows["sentence"]), senses=means)
    for row, words, share in zip(rows.index, pair.words, pair.share):
        kept = whole.words[(whole.words["word"] == "pitcher") & (whole.words["row"] == row)]
        assert kept["text"].tolist() == [word.text for word in words]
        assert kept["share"].tolist() == pytest.approx(share.tolist(), abs=1e-5)


def test_report_has_published_numbers(whole):
    """selfattn and plain_hiding.py (in float64) both computed these numbers."""
    every = whole.accuracy.query("word == 'all'").set_index("what")
    expected = [92.28, 77.49, 92.28, 85.95, 89.64, 89.14, 55.31, 71.68, 61.11]
    assert (100 * every["accuracy"]).round(2).tolist() == expected
    bounds = (100 * every.loc[["the word hidden", "the word alone"], ["low", "high"]]).round().to_numpy()
    assert bounds.tolist() == [[75, 80], [86, 92]]
    ways = whole.agreement.set_index("way")
    assert (100 * ways["agreement"]).round(1).to_dict() == {
        "nearest": 17.4, "most attended": 35.5, "largest single weight": 24.8, "weights x V": 38.2, "rollout": 27.7,
        "gradient": 87.2, "value zeroing": 85.1, "[MASK]": 72.9,
    }  # fmt: skip
    assert ways["rank"][["gradient", "value zeroing", "[MASK]"]].round(2).tolist() == [0.93, 0.92, 0.7]
    between = whole.between.query("word == 'all'").set_index("senses")
    assert (100 * between["named"]).round(1).to_dict() == {"one": 34.0, "two": 32.7}
    assert between["n"].to_dict() == {"one": 32 * 264, "two": 32 * 288}
    assert len(whole.words["word"].unique()) == 32 and whole.rejected.empty


def test_ranking_of_heads_is_stable(whole):
    """The heads' ranks in two random halves of the words have a mean correlation of .92."""
    every = whole.heads[whole.heads["word"] == "all"].sort_values("share", ascending=False)
    assert every[["layer", "head"]].head(4).to_numpy().tolist() == [[0, 10], [0, 1], [0, 3], [0, 2]]
    first = every.iloc[0]
    assert round(first["share"], 3) == 0.019 and round(first["leads"], 2) == 0.64
    by_word = whole.heads[whole.heads["word"] != "all"]
    table = by_word.pivot(index="word", columns=["layer", "head"], values="share").to_numpy()
    generator, correlations = np.random.default_rng(0), []
    for _ in range(200):
        order = generator.permutation(len(table))
        correlations.append(spearmanr(table[order[:16]].mean(axis=0), table[order[16:]].mean(axis=0)).statistic)
    assert round(np.mean(correlations), 2) == 0.92


def test_intervals_are_bootstrapped_over_words(whole):
    for table, by, value in ((whole.accuracy, "what", "accuracy"), (whole.between, "senses", "named")):
        for _, lines in table.groupby(by):
            singly, every = lines[lines["word"] != "all"][value].to_numpy(), lines[lines["word"] == "all"].iloc[0]
            expected = [singly.mean(), *interval(singly)]
            assert every[[value, "low", "high"]].tolist() == pytest.approx(expected, abs=1e-6)


def interval(values):
    """Return the bootstrap 95 % interval of the mean."""
    n, generator = len(values), np.random.default_rng(0)
    counts = generator.multinomial(n, np.full(n, 1 / n), size=1000)
    means = [np.repeat(values, each).mean() for each in counts]
    return np.percentile(means, [2.5, 97.5]).tolist()


def test_interval_for_sentence_pairs_is_from_resampled_sentences():
    named = np.array(
        [[False, True, True, False], [True, False, True, True], [True, False, False, True], [True, True, True, False]]
    )
    (one, two) = telling_words._between(named, np.array(["a", "a", "b", "b"]))
    assert one[:2] == ("one", 1.0) and two[:2] == ("two", 0.5) and (one[4], two[4]) == (4, 8)
    counts = np.random.default_rng(0).multinomial(4, np.full(4, 1 / 4), size=1000)
    shares = []
    for rows in (np.repeat(range(4), each) for each in counts):
        pairs = [(i, j) for i in rows for j in rows if (i < 2) != (j < 2)]
        if pairs:
            shares.append(np.mean([named[i, j] and named[j, i] for i, j in pairs]))
    assert two[2:4] == pytest.approx(np.percentile(shares, [2.5, 97.5]))


@pytest.mark.slow
def test_unusable_rows_are_rejected(encoder_of):
    tiny, table = encoder_of("BERT"), tiny_table("water", "money")
    added = [("The bank!", "bank", "water"), ("No word of it.", "bank", "water"), ("Rain, bank, rain.", "bank", "row")]
    more = pd.DataFrame(added, columns=["sentence", "word", "sense"], index=["one", "none", "lonely"]).assign(note="x")
    report = hidden_words(tiny, pd.concat([table, more]))
    assert report.rejected["row"].tolist() == ["one", "none", "lonely"] and (report.rejected["note"] == "x").all()
    assert report.rejected["reason"].tolist() == [
        "Expected at least 2 words besides 'bank' in the sentence, got 1.",
        "'bank' is not a word of the sentence. Spell it as in the sentence; letter case doesn't matter.",
        "'bank' has one usable sentence in the sense 'row', expected at least 4.",
    ]


@pytest.mark.slow
def test_mean_over_one_word_has_no_interval(encoder_of):
    """The table's only word is spelled "all", like the label of the rows with means over words."""
    report = hidden_words(encoder_of("BERT"), tiny_table("water", "money", words=["all"]))
    for lines in (report.accuracy, report.between):
        single, overall = lines.iloc[: len(lines) // 2], lines.iloc[len(lines) // 2 :]
        assert single.iloc[:, 1:3].reset_index(drop=True).equals(overall.iloc[:, 1:3].reset_index(drop=True))
        assert not single["low"].isna().any() and overall[["low", "high"]].isna().all(axis=None)
    assert report.agreement[["low", "high"]].isna().all(axis=None) and not report.agreement["agreement"].isna().any()
    single, overall = report.heads.iloc[:12], report.heads.iloc[12:]
    assert single["share"].tolist() == overall["share"].tolist() and single["leads"].sum() == pytest.approx(1)
    assert overall[["low", "high", "leads"]].isna().all(axis=None)


def test_padding_token_replaces_missing_mask_token():
    tokenizer = Mock(mask_token=None, pad_token="<pad>", pad_token_id=0, unk_token="<unk>", unk_token_id=3)
    encoder = Mock(tokenizer=tokenizer, title="an encoder", has_vector={0, 3}.__contains__)
    assert word_rankings.blank_token(encoder) == ("<pad>", 0)
    tokenizer.mask_token, tokenizer.mask_token_id = "<mask>", 9  # the encoder has no embedding for this id
    assert word_rankings.blank_token(encoder) == ("<pad>", 0)
    tokenizer.pad_token = tokenizer.unk_token = None
    with pytest.raises(NotRecomputable, match="no mask, padding or unknown token"):
        word_rankings.blank_token(encoder)


def test_ranking_methods_that_fail_give_nan(encoder_of, monkeypatch):
    bare = dataclasses.replace(encoder_of("BERT"), patch_reason="It wasn't found.")
    wordless = dataclasses.replace(bare, tokenizer=Mock(mask_token=None, pad_token=None, unk_token=None))
    blank_token = word_rankings.blank_token
    monkeypatch.setattr(word_rankings, "blank_token", lambda encoder: blank_token(wordless))
    calls, find = [], projections.output_layer

    def none_from_the_third_row_on(module, around):
        calls.append(module)
        return find(module, around) if len(calls) <= 2 * bare.n_layers else None

    monkeypatch.setattr(projections, "output_layer", none_from_the_third_row_on)
    report = hidden_words(bare, tiny_table("water", "money"))
    ways = report.agreement.set_index("way")
    assert ways.index.tolist() == [*WAYS, "[MASK]"]
    for way, why in {
        "weights x V": "selfattn can't find the output matrix of bert",
        "gradient": "No head of bert can be replaced or removed: It wasn't found.",
        "value zeroing": "No head of bert can be replaced or removed: It wasn't found.",
        "[MASK]": "bert's tokeniser has no mask, padding or unknown token",
    }.items():
        assert ways.loc[way].isna().all() and f"{way}: {why}" in report.reason
        ways = ways.drop(way)
    assert len(calls) == 2 * bare.n_layers + 1
    assert report.heads[["share", "low", "high", "leads"]].isna().all(axis=None)
    assert len(ways) == 4 and not ways.isna().any(axis=None) and not report.accuracy.isna().any(axis=None)


@pytest.mark.slow
def test_mean_over_words_keeps_nan(encoder_of):
    tables = [tiny_table("water", "money", words=[word]) for word in ("bank", "riverbank")]
    first, second = (hidden_words(encoder_of("BERT"), table) for table in tables)
    lines = first.agreement.copy()
    lines.loc[lines["way"] == "rollout", "agreement"] = np.nan
    found = telling_words.over_words([dataclasses.replace(first, agreement=lines), second], pd.DataFrame()).agreement
    assert found["way"][found[["agreement", "rank"]].isna().all(axis=1)].tolist() == ["rollout"]


def test_encoder_that_cannot_hide_words_is_refused(encoder_of):
    with pytest.raises(NotRecomputable, match="No word can be hidden in"):
        hidden_words(encoder_of("XLNet"), pd.DataFrame())  # refused before the table is read


@pytest.mark.slow
def test_senses_with_equal_vectors_give_nan_shares(encoder_of, monkeypatch):
    """If the senses have equal vectors, there is no distance between them to divide by."""
    noise = np.random.default_rng(1)
    monkeypatch.setattr(telling_words, "_units", lambda vectors: 0.5 + 1e-9 * noise.standard_normal((len(vectors), 4)))
    monkeypatch.setattr(word_rankings.WordRankings, "along", lambda *given: {})
    report = hidden_words(encoder_of("BERT"), tiny_table("water", "money"))
    assert report.words["share"].isna().all() and (report.between["named"] == 0).all()
    assert report.heads["share"].isna().all() and report.noise["toward"].sum() == 0
    monkeypatch.setattr(telling_words, "_units", lambda vectors: np.ones((len(vectors), 4)) / 2)
    report = hidden_words(encoder_of("BERT"), tiny_table("water", "money"))
    assert (report.accuracy["accuracy"] == 0.5).all()  # a tie between the senses
