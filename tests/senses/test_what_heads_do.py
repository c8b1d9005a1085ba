"""Test `head_profiles` (what each head attends to) against plain loops."""

import pandas as pd
import pytest

from selfattn.senses import head_profiles, what_heads_do


@pytest.mark.slow
def test_head_profiles_agree_with_plain_loops(encoder, labelled, monkeypatch):
    monkeypatch.setattr(what_heads_do, "TOP", 3)
    frame = labelled[labelled["sense"] != "row"].set_axis(range(5, 5 + sum(labelled["sense"] != "row")))
    ranks = sorted({0, 1, 2, (len(frame) - 1) // 2, len(frame) // 2})  # the three largest and the middle weights
    assert len(ranks) > 3
    found = head_profiles(encoder, frame)
    assert found.n == len(frame) and len(found.sentences) == len(ranks) * 72 and len(found.patterns) == 72
    assert all(any(c.isalnum() for c in to) for to in found.sentences["to"])
    for layer, head in [(0, 2), (3, 7), (5, 7)]:
        lines, itself, special = [], [], []
        for index, row in frame.iterrows():
            encoding = encoder.encode(row["sentence"])
            weights = encoder.reference_weights(row["sentence"])[layer, head].tolist()
            word = next(w for w in encoding.words if w.text.casefold() == row["word"])
            others = [w for w in encoding.words if w is not word and w.text not in ".,"]
            weight = {
                w.start: sum(weights[p][q] for p in word.positions for q in w.positions) / len(word.positions)
                for w in others
            }
            start = max(weight, key=weight.get)
            lines.append((weight[start], index, next(w.text for w in others if w.start == start)))
            rows = [i for i, one in enumerate(encoding.special) if not one]
            itself.append(sum(weights[i][i] for i in rows) / len(rows))
            special.append(sum(weights[i][0] + weights[i][-1] for i in rows) / len(rows))
        lines.sort(reverse=True)
        table = found.sentences.query("layer == @layer and head == @head")
        assert table["rank"].tolist() == ranks
        assert list(zip(table["row"], table["to"])) == [lines[rank][1:] for rank in ranks]
        assert table["weight"].tolist() == pytest.approx([lines[rank][0] for rank in ranks], abs=1e-5)
        patterns = found.patterns.query("layer == @layer and head == @head").iloc[0]
        assert patterns["itself"] == pytest.approx(sum(itself) / len(itself), abs=1e-5)
        assert patterns["special tokens"] == pytest.approx(sum(special) / len(special), abs=1e-5)


@pytest.mark.slow
def test_sentences_of_only_the_labelled_word_are_omitted(encoder, labelled):
    alone = labelled.iloc[[0, 1]].assign(sentence=["bank!", "Bank"], sense="water")
    found = head_profiles(encoder, pd.concat([labelled, alone], ignore_index=True))
    assert not found.sentences["row"].isin([len(labelled), len(labelled) + 1]).any()
