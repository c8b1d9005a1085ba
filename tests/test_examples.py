"""Test the hand-written example sentences."""

import hashlib
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import mean

import pytest

from selfattn import examples

DATA = Path(examples.__file__).parent / "data"


def words(sentence: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*", sentence)


def lower(sentence: str) -> list[str]:
    return [word.lower() for word in words(sentence)]


def occurs_once(word: str, sentence: str) -> bool:
    return lower(sentence).count(word.lower()) == 1 and word in words(sentence)


def share(first: str, second: str) -> float:
    """Return the Jaccard index of the two sentences' sets of words."""
    a, b = set(lower(first)), set(lower(second))
    return len(a & b) / len(a | b)


def spread(values) -> float:
    values = list(values)
    return max(values) - min(values)


@pytest.fixture(scope="module")
def senses() -> dict[str, dict[str, list[str]]]:
    groups: dict[str, dict[str, list[str]]] = {}
    for sentence, word, sense in examples.labelled_sentences()[["sentence", "word", "sense"]].itertuples(index=False):
        groups.setdefault(word, {}).setdefault(sense, []).append(sentence)
    return groups


def test_labelled_sentences_are_distinct(senses):
    assert len(senses) >= 26
    every = [s.lower() for by_sense in senses.values() for sentences in by_sense.values() for s in sentences]
    assert len({*every}) == len(every)
    for word, by_sense in senses.items():
        assert [len(sentences) for sentences in by_sense.values()] == [12, 12] and word.islower()
        assert all(1 <= len(words(sense)) <= 3 and word not in words(sense) for sense in by_sense)
        for sentence in (sentence for sentences in by_sense.values() for sentence in sentences):
            assert 5 <= len(words(sentence)) <= 22 and sentence.isascii(), sentence
            assert re.fullmatch(r"[A-Z](?!.*  ).*[^ .?][.?]", sentence), sentence
            assert occurs_once(word, sentence) and words(sentence)[0] != word, sentence
            assert not {word + "s", word + "es", word + "'s"} & set(lower(sentence)), sentence


def test_both_senses_have_similar_sentence_lengths_and_word_positions(senses):
    for word, by_sense in senses.items():
        every = [sentence for sentences in by_sense.values() for sentence in sentences]
        assert not [pair for pair in combinations(every, 2) if share(*pair) > 0.6]
        counts = [Counter(w for s in sentences for w in set(lower(s)) - {word}) for sentences in by_sense.values()]
        assert not [other for other in set().union(*counts) if spread(count[other] for count in counts) > 6], word
        positions = [[lower(s).index(word) / (len(lower(s)) - 1) for s in sentences] for sentences in by_sense.values()]
        assert spread(map(mean, positions)) < 0.15, word
        assert spread(mean(len(words(s)) for s in sentences) for sentences in by_sense.values()) < 2.5, word
        assert all(min(each) <= 0.4 and max(each) >= 0.6 for each in positions), word


@pytest.mark.slow
def test_positions_of_word_do_not_separate_senses(senses, encoder):
    for word, by_sense in senses.items():
        first, second = (sorted(encoder.tokenize(s).tokens.index(word) for s in each) for each in by_sense.values())
        assert first == second, word


def test_sentences_of_pair_have_word_at_same_index(senses):
    pairs = examples.PAIRS
    assert pairs[0].sentences[:2] == ("We sat on the bank of the river.", "We went to the bank for a loan.")
    assert (
        len({sentence for pair in pairs for sentence in pair.sentences}) == 3 * len({pair.word for pair in pairs}) >= 48
    )
    for pair in pairs:
        assert all(occurs_once(pair.word, sentence) for sentence in pair.sentences)
        assert len({words(sentence).index(pair.word) for sentence in pair.sentences}) == 1
        lengths = [len(words(sentence)) for sentence in pair.sentences]
        assert min(lengths) >= 4 and max(lengths) <= 9 and spread(lengths) <= 2
        # The first sentence shares as many words with the control as with the second (in pairs[0], one more with the control).
        first, second, control = (set(lower(sentence)) for sentence in pair.sentences)
        assert len(first & control) == len(first & second) + (pair is pairs[0])
        assert len(set(pair.senses)) == 2 and all(1 <= len(words(sense)) <= 3 for sense in pair.senses)
        # "crane" and "nail" have no labelled sentences, because the encoder hardly separates their senses.
        assert {*pair.senses} == {*senses[pair.word]} if pair.word in senses else pair.word in ("crane", "nail")


def test_pronoun_sentences_are_balanced():
    """In half of the sentences, the antecedent comes before the distractor."""
    orders, twins = {}, {}
    for item in (*examples.PRONOUNS, examples.UNRESOLVED):
        marked = (item.antecedent, item.distractor, item.pronoun)
        assert len(set(marked)) == 3 and all(occurs_once(word, item.sentence) for word in marked)
        *nouns, pronoun = map(words(item.sentence).index, marked)
        assert max(nouns) < pronoun
        if item is not examples.UNRESOLVED:
            orders.setdefault(item.pronoun, []).append(nouns[0] < nouns[1])
            twins.setdefault(item.twin or item, []).append(item)
    assert orders.keys() == {"it", "she", "he", "they"} and all(mean(each) == 0.5 for each in orders.values())
    assert len({item.sentence for item in examples.PRONOUNS}) == len(examples.PRONOUNS) >= 48
    pairs = [items for items in twins.values() if len(items) > 1]
    assert len(pairs) >= 16
    for one, other in pairs:
        assert sum(x != y for x, y in zip(words(one.sentence), words(other.sentence), strict=True)) == 1, one
        assert (one.antecedent, one.distractor, one.pronoun) == (other.distractor, other.antecedent, other.pronoun)
    gold = {item.sentence: item.antecedent for item in examples.PRONOUNS}
    for ending, antecedent in (("tired", "animal"), ("wide", "street")):
        assert gold[f"The animal didn't cross the street because it was too {ending}."] == antecedent


def test_removing_negator_gives_plain_sentence():
    items = examples.NEGATION_PAIRS
    assert len({sentence for item in items for sentence in (item.plain, item.negated)}) == 2 * len(items) >= 24
    for item in items:
        negated = words(item.negated)
        assert negated.count(item.negator) == 1 and item.negator not in lower(item.plain), item
        assert re.sub(rf"\b{item.negator} ", "", item.negated) == item.plain, item
        assert occurs_once(item.target_word, item.plain) and occurs_once(item.target_word, item.negated), item
        assert negated.index(item.negator) < negated.index(item.target_word), item


def test_examples_have_recorded_digest():
    """The documentation quotes numbers measured on these sentences."""
    files = b"".join(path.read_bytes() for path in sorted(DATA.glob("*.csv")))
    digest = hashlib.sha256(files).hexdigest()[:16]
    assert digest == "bdfe39d8a7d4b806", (
        "Run make test, make demo and python -m tests.as_shown; then put the new digest here."
    )
