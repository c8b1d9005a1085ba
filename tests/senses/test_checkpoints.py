"""Test `compare_checkpoints`."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from selfattn import load_encoder
from selfattn.analysis.compare import told_apart
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.senses import compare_checkpoints
from selfattn.senses.resampling import interval

SNAPSHOTS = "/c/models--some--bert/snapshots"
TEXTS = ["The bank of the river was muddy.", "", "She sat by the water and waited.", "Rain.", "the " * 200]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    def load(name, seed):
        root = tmp_path_factory.mktemp("run")
        return load_encoder(save_tiny(FAMILIES[name], root / "final", seed=seed))

    return {"before": load("BERT", 0), "after": load("BERT", 1), "other": load("RoBERTa", 0)}


def apart(one, other, layer, head, of):
    """Return how far two heads' attention weights differ in the text `of`, averaged over tokens. other: (encoder, head)"""
    first, second = one.reference_weights(of)[layer, head], other[0].reference_weights(of)[layer, other[1]]
    return float((first - second)[1:-1].abs().sum(-1).mean() / 2)


def test_distances_equal_those_computed_with_plain_loops(encoders):
    one, other = encoders["before"], encoders["after"]
    report = compare_checkpoints(one, other, TEXTS)
    row = report.heads.set_index(["layer", "head"]).loc[(2, 1)]
    usable = [TEXTS[0], TEXTS[2], TEXTS[3]]
    distances = [apart(one, (other, 1), 2, 1, text) for text in usable]
    others = [apart(one, (other, head), 2, 1, text) for text in usable for head in (0, 2, 3)]
    assert (len(report.heads), row["n"]) == (12, 3)
    assert row["distance"] == pytest.approx(np.mean(distances), abs=1e-5)
    assert row["others"] == pytest.approx(np.mean(others), abs=1e-5)
    # Bootstrap means of the distances lie between the smallest and the largest distance.
    assert min(distances) - 1e-5 <= row["low"] < row["distance"] < row["high"] <= max(distances) + 1e-5
    assert report.rejected["row"].tolist() == [1, 4] and "tokens" in report.rejected["reason"].iloc[1]


@pytest.mark.slow
def test_chance_is_measured_with_wrongly_paired_heads(encoders):
    one, other = encoders["before"], encoders["after"]
    report = compare_checkpoints(one, other, TEXTS)
    usable, counted = [TEXTS[0], TEXTS[2], TEXTS[3]], [0, 0, 0, 0]
    for layer, head in one.all_heads:
        far = [[apart(one, (other, (head + shift) % 4), layer, head, text) for shift in range(4)] for text in usable]
        mean, high = np.mean(far, axis=0), interval(np.array(far))[1]
        passed = [bool(high[shift] < np.delete(mean, shift).mean()) for shift in range(4)]
        counted = [count + passes for count, passes in zip(counted, passed)]
        assert report.heads.set_index(["layer", "head"]).loc[(layer, head), "nearer"] == passed[0]
    assert report.by_chance["shift"].tolist() == [1, 2, 3]
    assert [report.heads["nearer"].sum(), *report.by_chance["nearer"]] == counted and 0 < sum(counted[1:]) < 36
    assert compare_checkpoints(one, one, TEXTS[:1]).heads["nearer"].all()


def test_only_changed_head_has_nonzero_distance(encoders):
    one, model = encoders["before"], encoders["before"].model
    query = model.encoder.layer[2].attention.self.query.weight
    kept = query[8:16].clone()
    alone = compare_checkpoints(one, one, TEXTS[:1]).heads
    assert (alone["distance"] == 0).all() and (alone["others"] > 0).all()
    assert alone[["low", "high"]].isna().all(axis=None)
    changed = load_encoder(one.name)
    with torch.no_grad():
        changed.model.encoder.layer[2].attention.self.query.weight[8:16] = -kept
    heads = compare_checkpoints(one, changed, TEXTS).heads
    moved = heads[heads["distance"] > 1e-5]
    assert list(zip(moved["layer"], moved["head"])) == [(2, 1)] and moved["low"].iloc[0] > 0


def test_different_architectures_are_refused(encoders):
    one, other = encoders["before"], encoders["after"]
    with pytest.raises(ValueError, match=r"don't correspond: they are built differently \(family"):
        compare_checkpoints(one, encoders["other"], TEXTS)
    with pytest.raises(ValueError, match=r"None of the 1 texts can be used\. .*empty"):
        compare_checkpoints(one, other, [""])
    with pytest.raises(ValueError, match=r"None of the 0 texts can be used\. Give a text"):
        compare_checkpoints(one, other, [])
    with pytest.raises(TypeError, match="Expected a list of texts, got one text"):
        compare_checkpoints(one, other, "Rain.")


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("/runs/a/final", "/runs/b/final", ("a/final", "b/final")),
        ("/runs/a/x/final", "/runs/b/x/final", ("a/x/final", "b/x/final")),
        ("/runs/a/final", "/runs/a/best", ("final", "best")),
        ("/runs/a/final", "/runs/a/final", ("final", "final")),
        (f"{SNAPSHOTS}/{'a' * 40}", "/x/final", ("bert", "final")),
        ("/c/models--some--bert", "/c/models--other--bert", ("some/bert", "other/bert")),
        (f"{SNAPSHOTS}/{'a' * 40}", f"{SNAPSHOTS}/{'b' * 40}", ("some/bert aaaaaaa", "some/bert bbbbbbb")),
    ],
)
def test_names_are_shortened_but_stay_distinct(encoders, first, second, names, monkeypatch):
    assert told_apart(*(replace(encoders["before"], name=name) for name in (first, second))) == names
    both = [replace(encoders["before"], name="some/bert", revision=letter * 40) for letter in "ab"]
    assert told_apart(*both) == ("some/bert aaaaaaa", "some/bert bbbbbbb")
    nested = [replace(encoders["before"], name=name) for name in ("/runs/final", "/a/runs/final")]
    assert told_apart(*nested) == ("/runs/final", "a/runs/final")  # one path ends with the other
    monkeypatch.setenv("SELFATTN_MODEL_DIR", "/models")  # names are relative to this folder
    inside = [replace(encoders["before"], name=f"{run}/final") for run in ("first", "second")]
    assert told_apart(*inside) == ("first/final", "second/final")
