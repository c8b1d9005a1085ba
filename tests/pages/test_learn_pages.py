"""Test the lessons outside "From scratch"."""

import pytest
import torch
from scipy.stats import binomtest
from streamlit.testing.v1 import AppTest

from selfattn.examples import NEGATION_PAIRS, PRONOUNS, UNRESOLVED
from selfattn.lessons import recurrence, tiny_model
from selfattn.lessons.pronouns import halves
from selfattn.numbers import weight
from tests.pages.conftest import APP, words
from tests.pages.pictures import charts, kernel, lines, mark, matrix, same

pytestmark = pytest.mark.slow


def page(name, **state):
    folder = APP.parent / "pages" / name
    path = folder / "page.py" if folder.is_dir() else folder.with_suffix(".py")
    at = AppTest.from_file(str(path), default_timeout=120)
    for key, value in state.items():
        at.session_state[key] = value
    return at.run()


def positions(encoding, word):
    return list(encoding.places(word)[0].positions)


def test_page_counts_steps_through_recurrence():
    at = page("learn/before_attention")
    assert "Steps between the two words: 17 in a recurrence" in words(at)
    assert "plain recurrence 0.17, gated recurrence 0.51, attention 0.60." in words(at)
    at.button(key="recurrence.bank").click().run()
    assert all(said in words(at) for said in ("Steps between the two words: 5 in", "a recurrence takes 9 steps"))
    at.text_input(key="recurrence.sentence").set_value("Never odd or even").run()
    assert "Steps between the two words: 2 in a recurrence" in words(at)
    at.selectbox(key="recurrence.stop").set_value(2).run()
    assert 'Expected different words in "From" and "To", got word 2 twice.' in words(at)
    for sentence, n in (("Never", 1), ("word " * 61, 61)):
        at.text_input(key="recurrence.sentence").set_value(sentence).run()
        assert f"Expected 2 to 60 words in the sentence, got {n}" in words(at)


def test_charts_on_recurrence_show_computed_numbers(monkeypatch):
    race, timed = recurrence.race, []
    monkeypatch.setattr(
        recurrence, "race", lambda repeats, device: timed.append(race(repeats=1, device=device)) or timed[0]
    )
    at = page("learn/before_attention", **{"recurrence.sentence": "One two three four"})
    at.slider(key="recurrence.gain").set_value(0.8)
    at.slider(key="recurrence.asking").set_value(0.0)
    at.selectbox(key="recurrence.stop").set_value(4)
    at.button(key="recurrence.time").click().run()
    path, gradient, share, cost = charts(at)
    # The chart `path` has two hops (recurrence), and one arc of 17 points (attention).
    assert mark(path, "trail").records["left"].nunique() == 2 and len(mark(path, "line").records) == 17
    assert list(lines(gradient)["plain recurrence"].values()) == pytest.approx([1, 0.8, 0.64])
    assert set(lines(gradient)) == {"plain recurrence", "gated recurrence", "attention"}
    # Word vectors have norm 1, and the recurrence's matrix R is a rotation.
    expected = [0.8**k / sum(0.8**j for j in range(k + 2)) for k in range(3)]
    assert list(lines(share)["plain recurrence"].values()) == pytest.approx(expected)
    assert mark(share, "line").domain("y") == [0, 1]
    assert lines(cost)["attention"][100] == 2 * 100**2 * 512 + 4 * 100 * 512**2
    assert f"At word 4: plain recurrence {expected[-1]:.2f}" in words(at)
    assert "Device: cpu. Both kinds of attention compute the same numbers" in words(at)
    table = at.dataframe[-1].value
    ten, hundred = timed[0].loc[timed[0]["way"] == "one matrix product", "milliseconds"][:2]
    # The table rounds to one decimal.
    assert table.loc["one matrix product", "100 against 10"] == pytest.approx(hundred / ten, abs=0.051)


def test_tiny_model_is_trained_on_page():
    at = page("learn/train_a_tiny_one", **{"tiny.epochs": 3, "tiny.magic": 7})
    (untrained,) = charts(at)
    start = next(tiny_model.train(tiny_model.Settings(epochs=3, magic=7)))
    assert same(matrix(untrained), start.weights)
    assert at.dataframe[0].value["numbers"].sum() == 777
    at.button(key="tiny.train").click().run()
    used, states = at.session_state["tiny.run"]
    last, data = states[-1], tiny_model.samples(used)
    assert (used.magic, last.epoch) == (7, 3)
    yes = float(last.model.probability(torch.tensor([[0, 45, 48, 1, 4, 4, 40]])))
    assert f"[0 45 48 1 4 4 40], the probability of yes is {yes:.4f}; in the original lesson, it is 0.0001" in words(at)
    loss, rates, attention, sentence_0 = charts(at)
    assert same(matrix(sentence_0), tiny_model.mean_weights(last.model, data.tokens[:1]))
    assert mark(loss, "line").channels["x"]["axis"]["tickMinStep"] == 1  # whole epochs
    positive = data.labels == 1
    assert lines(rates)["recall"][3] == last.score.recall
    assert lines(loss)[""][0] == pytest.approx(states[0].score.loss)
    states_ = last.model.tokens(data.tokens[positive]) + last.model.positions.weight
    scores = last.model.query(states_) @ last.model.key(states_).transpose(1, 2) / 8**0.5
    assert same(matrix(attention), scores.softmax(-1).mean(0))
    for typed, decided in (("1, 2, 3, 7, 5, 6", "yes"), ("1, 2, 3, 4, 5, 6", "no")):
        at.text_input(key="tiny.try").set_value(typed).run()
        tokens = torch.tensor([[0, *map(int, typed.split(", "))]])
        cells, _ = kernel(at)
        assert cells["weight"] == list(map(weight, tiny_model.mean_weights(last.model, tokens)[0]))
        assert f"The model says {decided} (probability of yes: {float(last.model.probability(tokens)):.4f})" in words(
            at
        )
    at.text_input(key="tiny.try").set_value("1, 2, 3, 4, 5, 600").run()
    assert "whole numbers from 1 to 50" in words(at)
    at.slider(key="tiny.epoch.3").set_value(1).run()
    assert same(matrix(charts(at)[2]), states[1].weights)


def test_pronoun_lesson_shows_numbers_of_encoder(encoder):
    at = page("learn/pronouns_and_negation", view="pronouns")
    known, empty = charts(at)
    assert max(mark(known, "bar").values("x")) > 0 and not mark(empty, "bar").records["weight"].notna().any()
    at.radio(key="pronouns.prediction").set_value("no, the head gives the animal more weight").run()
    assert any("Yes: no, the head gives the animal more weight." in each.value for each in at.markdown)
    preferences = []
    for sentence in PRONOUNS:
        encoding = encoder.encode(sentence.sentence)
        nouns = [positions(encoding, noun) for noun in (sentence.antecedent, sentence.distractor)]
        pronouns = [list(place.positions) for place in encoding.places(sentence.pronoun)]
        pronoun = next(places for places in pronouns if places[0] > max(nouns[0][0], nouns[1][0]))
        rows = torch.stack([encoding.weights(layer)[:, pronoun].mean(1) for layer in range(6)])
        preferences.append(rows[..., nouns[0]].sum(-1) - rows[..., nouns[1]].sum(-1))
    preferred = torch.stack(preferences)
    chosen_on, judged_on = (preferred[half] > 0 for half in halves(PRONOUNS))
    best, n = int(chosen_on.double().mean(0).argmax()), len(judged_on)
    of_best = judged_on.flatten(1)[:, best].double()
    low, high = binomtest(int(of_best.sum()), n).proportion_ci(method="wilson")
    assert (low <= 0.5 <= high) == ("The interval contains 50 %" in words(at))
    assert f"right in {100 * float(of_best.mean()):.0f} % of {n} sentences" in words(at)
    assert f"(95 % interval {100 * low:.0f} to {100 * high:.0f} %)" in words(at)
    right = (preferred > 0).double().mean(0)
    heads = charts(at)[2]
    assert same(matrix(heads), right - 0.5, 1e-6)
    assert mark(heads, "rect").domain("color")[0] == -0.5
    unresolved = encoder.encode(UNRESOLVED.sentence)
    she, artist, musician = (unresolved.places(word)[0].positions[0] for word in ("she", "artist", "musician"))
    rows = unresolved.rows(she)
    lean = (rows[..., artist] - rows[..., musician]).flatten()
    assert f'{int((lean >= 0.05).sum())} lean to "artist" and {int((lean <= -0.05).sum())} to "musician"' in words(at)
    twin = at.selectbox(key="pronouns.twin").options[2]
    at.selectbox(key="pronouns.twin").set_value(twin).run()
    others = [preference for sentence, preference in zip(PRONOUNS, preferences) if sentence.twin != twin]
    chosen = divmod(int(torch.stack(others).mean(0).argmax()), 12)
    said = "L{} H{} gives the right noun more weight in the first sentence, and the wrong noun in the second.".format(
        *chosen
    )
    assert said in words(at).replace("\\", "")
    for chart, sentence in zip(charts(at), [each for each in PRONOUNS if each.twin == twin]):
        encoding = encoder.encode(sentence.sentence)
        places = [list(word.positions) for word in encoding.words]
        noun = positions(encoding, sentence.antecedent)
        after = (place for place in encoding.places(sentence.pronoun) if place.positions[0] > noun[0])
        pronoun_positions = list(next(after).positions)
        row = encoding.weights(*chosen)[pronoun_positions].mean(0)
        assert mark(chart, "bar").values("x") == pytest.approx([float(row[each].sum()) for each in places], abs=1e-5)


def test_negation_lesson_shows_real_attention_weights(encoder):
    at = page("learn/pronouns_and_negation", view="negation")
    assert [mark(chart, "bar").records["weight"].notna().all() for chart in charts(at)] == [True, True, False, False]
    question = at.radio(key="negation.prediction")
    question.set_value(question.options[0]).run()
    gains = []
    for pair in NEGATION_PAIRS:
        negated, plain = encoder.encode(pair.negated), encoder.encode(pair.plain)
        target, negator = positions(negated, pair.target_word), positions(negated, pair.negator)
        negated_words, plain_words = (
            [word.text.casefold() for word in encoding.words] for encoding in (negated, plain)
        )
        steps = negated_words.index(pair.negator) - negated_words.index(pair.target_word)
        there = list(plain.words[plain_words.index(pair.target_word) + steps].positions)
        plain_target = positions(plain, pair.target_word)
        on_negator = [negated.weights(layer)[:, target].mean(1)[:, negator].sum(-1) for layer in range(6)]
        on_place = [plain.weights(layer)[:, plain_target].mean(1)[:, there].sum(-1) for layer in range(6)]
        gains.append(torch.stack(on_negator) - torch.stack(on_place))
    gain = torch.stack(gains).mean(0)
    counted, printed, good, amazing, heads = charts(at)
    assert [at for at, value in enumerate(mark(counted, "bar").values("x")) if value] == [4, 10]
    assert same(matrix(heads), gain, 1e-5)
    layer, head = divmod(int(gain.argmax()), 12)
    weights = encoder.reference_weights("The movie was not good , but the soundtrack was amazing .")[layer, head]
    for chart, word in ((good, 5), (amazing, 11)):  # [CLS] comes first, and no word of this sentence is split
        assert mark(chart, "bar").values("x") == pytest.approx(weights[word, 1:-1].tolist(), abs=1e-5)
        assert mark(chart, "bar").domain("x") == mark(printed, "bar").domain("x")


def test_lesson_on_many_heads_shows_real_attention_weights(encoder):
    at = page("learn/pronouns_and_negation", view="heads")
    assert '"fillOpacity": 0' in at.get("vega_lite_chart")[0].proto.spec  # the outlines have no fill
    at.radio(key="many-heads.prediction").set_value("a special token").run()
    assert ":green[**Yes: a special token.**]" in words(at)
    at.text_input(key="many-heads.sentence").set_value("Dog bites man").run()
    at.selectbox(key="many-heads.word.3").set_value(2).run()
    rows = encoder.reference_weights("Dog bites man")[:, :, 3]
    (chart,) = charts(at)
    assert same(matrix(chart), rows.amax(-1), 1e-5)  # layers down, heads across
    tokens = ("[CLS]", "dog", "bites", "man", "[SEP]")
    favourites = [tokens[int(place)] for place in rows.argmax(-1).flatten()]
    assert mark(chart, "text").values("text") == favourites
    n_special = sum(token.startswith("[") for token in favourites)
    assert f"a special token {n_special}" in words(at) and f"**{n_special} of 72**" in words(at)
