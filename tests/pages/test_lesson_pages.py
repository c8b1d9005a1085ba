"""Test the lesson pages of "From scratch"."""

import json
import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity, normalize

from pages.learn.from_scratch.class_materials import ASKED, MINUTES, link, plain_question, rows
from pages.learn.from_scratch.lesson_pages import CORE, MERGED, NUMBERS, PARTS, STOPS, beside, neighbours
from pages.learn.from_scratch.lesson_pages.hand_made import EMBEDDINGS
from pages.learn.from_scratch.lesson_pages.scores import IN_A_HEAD
from selfattn.analysis.sense_means import sense_means
from selfattn.analysis.what_if import four_ways
from selfattn.dashboard import permissions
from selfattn.dashboard.answer import labels_of
from selfattn.dashboard.navigation import ENTRIES
from selfattn.encoders.capture import Head
from selfattn.lessons import worked_example
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.lessons.terms import TERMS
from selfattn.numbers import decimal, weight
from tests.pages.conftest import APP, open_link, words
from tests.pages.pictures import charts, kernel, lines, live, mark, matrix, same, stage, tips

pytestmark = pytest.mark.slow


def stop(slug, reveal=True, **typed):
    """Open a lesson page, with its answer if `reveal`, and enter the values in `typed`."""
    at = open_link("from-scratch", stop=slug, **({"reveal": "yes"} if reveal else {}))
    if "example" in typed:
        change(at, slug, example=typed.pop("example"))
    return change(at, slug, **typed) if typed else at


@cache
def opened(slug):
    """Open a lesson page with its answer shown. The result is cached: never change it."""
    return stop(slug)


def change(at, slug, **typed):
    """Set each widget whose key ends with a name in `typed`, and rerun the page."""
    kinds = ("text_input", "text_area", "slider", "select_slider", "number_input", "radio", "toggle", "selectbox")
    widgets = {widget.key: widget for kind in kinds for widget in getattr(at, kind)}
    for name, value in typed.items():
        if name == "head":  # a map, not a widget, chooses the head
            at.session_state[f"{slug}.head"] = value
        else:
            widgets[f"{slug}.{name}"].set_value(value)
    return at.run()


def softmax(scores):
    powers = np.exp(np.asarray(scores, dtype=float) - np.max(scores, axis=-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def assert_drawn(shown, *expected):
    """Check the numbers of each chart. Where `expected` has None, skip the chart."""
    for chart, wanted in zip(shown, expected):
        if wanted is None:
            continue
        if isinstance(wanted, dict):
            curves = any(layer.kind == "line" for layer in chart)
            drawn = {name: line.values() for name, line in lines(chart).items()} if curves else tips(chart)
            for name, numbers in wanted.items():
                assert list(drawn[name]) == pytest.approx(list(numbers), abs=1e-5), name
        elif any(layer.kind == "bar" for layer in chart):
            assert mark(chart, "bar").values("x") == pytest.approx(np.asarray(wanted).tolist(), abs=1e-6)
        else:
            assert same(matrix(chart), wanted, 1e-5)


# Texts, order and links of the lesson pages


def views(spec):
    inner = [each for name in ("layer", "vconcat", "hconcat", "concat") for each in spec.get(name, [])]
    return [spec] * ("mark" in spec) + [view for each in inner for view in views(each)]


@pytest.mark.parametrize("slug", STOPS)
def test_lesson_page_shows_its_texts(slug):
    at, shown = opened(slug), words(opened(slug))
    assert not at.error and at.subheader[0].value == STOPS[slug].title
    assert STOPS[slug].idea.count(". ") <= 2 and STOPS[slug].idea in shown and "$" not in shown
    assert STOPS[slug].take in at.info[-1].value
    assert all(TERMS[term] in shown + "".join(each.value for each in at.caption) for term in STOPS[slug].terms)
    assert all(button.disabled for button in at.button if button.key == f"{slug}.reset")
    specs = [json.loads(chart.proto.spec) for chart in at.get("vega_lite_chart")]
    steps = [row for spec in specs for row in spec.get("vconcat", [spec])]
    for part in (part for row in steps for part in row.get("hconcat", row.get("concat", [row]))):
        letters = [view for view in views(part) if view["mark"]["type"] == "text"]
        for color in (view.get("encoding", {}).get("color", {}) for view in views(part)):
            if color.get("type") == "quantitative" and "field" in color:
                assert color.get("legend", True) is not None or letters


def test_answers_are_hidden_before_guess():
    places = []
    for slug in STOPS:
        at = stop(slug, reveal=False)
        assert slug not in CORE or not charts(at), slug
        empty = live(at, "stage")
        assert not empty["finding"] and not empty["lines"] and bool(empty["about"]) == (slug in CORE[:-1]), slug
        assert slug not in CORE[1:7] or not all(column["rows"] for column in empty["columns"]), slug
        if not STOPS[slug].function("answer"):
            places.append(at.radio(key=f"{slug}.prediction").options.index(STOPS[slug].options[0]))
    assert max(map(places.count, set(places))) <= len(places) / 2


def test_guess_reveals_answer():
    answer = "one word takes nearly all the weight"
    for guess, expected in (
        (answer, f":green[**Yes: {answer}.**]"),
        ("nothing much: river leads as before", f"Answer: **{answer}**."),
    ):
        at = stop("scaling", reveal=False)
        at.radio(key="scaling.prediction").set_value(guess).run()
        assert expected in words(at) and live(at, "stage")["finding"].startswith("At d_k = 512")
    at = stop("scaling", reveal=False)
    assert f"The answer: **{answer}**" in words(at.button(key="scaling.show").click().run())


def test_buttons_open_neighbouring_lesson_pages():
    at = open_link("from-scratch")
    assert at.button(key="previous").disabled
    boxes = [(box["text"], box["stop"]) for box in live(at, "stage")["outline"]]
    assert boxes == [
        ("embeddings", "one-vector"), ("Q, K, V", "projections"), ("scores", "dot-product"), ("softmax", "three-words"),
        ("weighted sum", "mix"), ("context", "residual"), ("a real head", "real-head"),
    ]  # fmt: skip
    for key, slug in (
        ("next", CORE[1]), ("next", CORE[2]), ("next", CORE[3]), ("more.magnitude", "magnitude"),
        ("previous", "dot-product"),
    ):  # fmt: skip
        at.button(key=key).click().run()
        assert at.query_params["stop"] == slug and at.subheader[0].value == STOPS[slug].title
    at.selectbox(key="choice of stop").set_value("learned").run()
    assert at.button(key="next").disabled
    assert stop("nowhere").subheader[0].value == STOPS[CORE[0]].title


@pytest.mark.parametrize(("older", "now"), MERGED.items())
def test_link_to_former_lesson_page_opens_its_successor(older, now):
    at = open_link("from-scratch", stop=older)
    assert [heading.value for heading in at.subheader][:1] == [STOPS[now].title]


def test_lesson_pages_are_numbered():
    assert [NUMBERS[slug] for slug in CORE] == [str(n + 1) for n in range(10)]
    assert [NUMBERS[slug] for slug in ("magnitude", "causal-mask", "kernel")] == ["4a", "6b", "7d"]
    steps = [PARTS.index(STOPS[slug].part) for slug in CORE]
    assert steps == sorted(steps)  # the lesson's parts are in order
    assert [slug for slug in STOPS if slug in CORE] == list(CORE) and next(iter(STOPS)) == CORE[0]
    for slugs in (CORE, tuple(STOPS)):
        for one, other in pairwise(slugs):
            assert neighbours(one)[1] == other or (one in CORE) != (slugs is CORE)
            assert neighbours(other)[0] == one or (other in CORE) != (slugs is CORE)


def text_counts(block):
    return Counter(each.value for kind in ("markdown", "text", "caption", "info") for each in getattr(block, kind))


@cache
def texts(slug):
    """Return a lesson page's texts and its number of pictures, without the contents of expanders."""
    main = opened(slug).main
    shown = text_counts(main) - sum(map(text_counts, main.expander), Counter())
    pictures = sum(
        len(main.get(kind)) - sum(len(each.get(kind)) for each in main.expander)
        for kind in ("vega_lite_chart", "bidi_component")
    )
    drawn = live(opened(slug), "stage")  # without a picture, "stage" has only the outline of the path
    on_stage = [drawn["finding"], drawn["note"], *drawn["lines"][max(drawn["lit"], 0) :][:1]]
    return [*shown.elements(), *STOPS[slug].options, *on_stage], pictures - (not drawn["about"])


def n_words(read):
    return sum(len(re.findall(r"[^\W_]+(?:[.,'’][^\W_]+)*", text)) for text in read)


def test_lesson_takes_stated_time():
    """Count a minute for every 150 words and a minute for every picture, then add 40 %."""
    for slug in CORE:
        more = [f"More about this: {STOPS[each].title}" for each in beside(slug)]
        assert n_words([*texts(slug)[0], *more]) <= 250, slug
    minutes = sum(n_words(read) / 150 + pictures for read, pictures in map(texts, CORE))
    menu = re.search(r"(\d+) min", ENTRIES["from-scratch"].title)[1]
    assert 1.4 * minutes <= int(menu) == MINUTES * len(CORE)


# Terms that a newcomer doesn't know.
FIELD = (*TERMS, "attention map", "batch", "causal", "gradient", "layer norm", "padding", "temperature", "variance")


@pytest.mark.parametrize("order", [tuple(STOPS), CORE], ids=["all", "core"])
def test_lesson_page_has_few_new_terms(order):
    known, explained = set(), set()
    for slug in order:
        text = re.sub(r"[*_]", "", "\n".join(texts(slug)[0])).lower()
        used = {term for term in FIELD if re.search(rf"\b{term}s?\b", text)}
        assert len(used - known) <= 3, (slug, used - known)
        explained |= {term for term in TERMS if any(TERMS[term] in each for each in texts(slug)[0])}
        assert used & TERMS.keys() <= explained or order == CORE, (slug, used & TERMS.keys() - explained)
        known |= used
    assert explained == TERMS.keys() or order == CORE


def test_classroom_link_hides_answer():
    address = link("http://host:8501/from-scratch?stop=order&reveal=yes", "scaling")
    assert address == "http://host:8501/from-scratch?stop=scaling"
    shown = opened("scaling").code[-1].value.split("\n")
    assert [line.partition("?stop=")[2] for line in shown[1::3]] == list(STOPS)
    assert shown[0] == f"1. {plain_question(CORE[0])}" and all(option in shown[0] for option in STOPS[CORE[0]].options)
    assert not any(sign in line for line in shown for sign in ("*", "$", "`"))


@pytest.mark.parametrize("beyond", [False, True])
def test_page_of_local_server_warns_about_links(beyond, monkeypatch):
    monkeypatch.setattr(permissions, "beyond_localhost", lambda: beyond)
    assert ("work on this computer only" in words(stop("scaling"))) is not beyond


def test_lesson_plan_fills_45_minutes():
    spans = [tuple(map(int, row[0].split(" to "))) for row in rows()]
    assert spans[0][0] == 0 and spans[-1][1] == 45 and all(one[1] == other[0] for one, other in pairwise(spans))
    assert {end - begin for begin, end in spans[:-1]} == {MINUTES}
    linked = "".join(stops for _, stops, _ in rows("http://host/from-scratch"))
    assert re.findall(r"\?stop=([\w-]+)\)", linked) == list(CORE)
    text = (APP.parent / "docs/teaching.md").read_text("utf-8")
    assert all(f"| {' | '.join(row)} |" in text for row in rows())


@pytest.mark.parametrize(
    ("slug", "typed", "expected", "kept"),
    [
        ("projections", {"bank": "$x$, :red[1]"}, "Type numbers", "the page shows [1, 1, 0]."),
        ("dot-product", {"query of bank": "0, 0"}, "got a zero vector", "the page shows the published numbers."),
        ("three-words", {"query": "500"}, "expected 2 numbers, got 1", "the page shows [1, 1]."),
    ],
)
def test_picture_stays_while_typed_numbers_are_unusable(slug, typed, expected, kept):
    at = stop(slug, **typed)
    assert at.error[0].value == "These numbers can't be used."
    assert expected in words(at) and f"Until you correct your numbers, {kept}" in words(at)
    drawn, published = (
        [each.proto.spec for each in page.get("vega_lite_chart")]
        + [each.proto.json for each in page.get("bidi_component")]
        for page in (at, opened(slug))
    )
    assert drawn == published
    assert not at.button(key=f"{slug}.reset").click().run().error


# Lesson pages without an encoder


def two_by_hand(query, keys, values):
    """Return scores, scaled scores, weights, and the rows weight × value followed by their sum."""
    scores = np.array(keys) @ query
    weights = softmax(scores / math.sqrt(2))
    parts = weights[:, None] * np.array(values)
    return scores, scores / math.sqrt(2), weights, np.vstack([parts, parts.sum(0)])


def twelve(causal, **rows):
    """Return the attention weights of twelve tokens, whose queries equal their keys."""
    states = np.zeros((12, 2))
    for place, row in rows.items():
        states[int(place[1:])] = row
    scores = states @ states.T / math.sqrt(2)
    return softmax(np.where(np.tril(np.ones((12, 12))) > 0, scores, -np.inf) if causal else scores)


def per_word(sign, approved, hidden=None):
    """Return each word's weight × value / 2. sign: 1 for the sentence with "river", -1 for that with "loan"."""
    value = np.array([[0, 0], [0, 0], [1, -1] if approved else [0, 0], [0, 0], [-3 * sign, 3 * sign]])
    return masked(hidden, approved)[:, None] * value / 2


def thread(sign, approved, hidden=None):
    return per_word(sign, approved, hidden).sum(0)


def masked(hidden, approved):
    """Return the attention weights from "bank" to each word; the word with the index `hidden` gets 0."""
    scores = np.array([-2, 2, -1 if approved else -2, -2, 3]) / math.sqrt(2)
    return softmax(np.where(np.arange(5) == hidden, -np.inf, scores))


def with_and_without(hidden, sign, approved):
    return 1 + np.stack([thread(sign, approved), thread(sign, approved, hidden)])


def residual(sign, approved):
    added = np.append(thread(sign, approved), 0)
    total = np.array([1, 1, 0]) + added
    return np.array([[1, 1, 0], added, total, (total - total.mean()) / total.std()])


def followed(steps, rate):
    """Raise the third weight by gradient ascent on the query and the keys.

    Return its gradient at the start, and all weights at the start and after each step.
    """
    query, keys, history, gradients = np.array([3.0, 1.0]), worked_example.KEYS.numpy(), [], []
    for _ in range(steps + 1):
        weights = softmax(keys @ query / math.sqrt(2))
        # For the keys, d w_i / d k_j = w_i (delta_ij - w_j) q / sqrt(d).
        for_query = weights[2] / math.sqrt(2) * (keys[2] - weights @ keys)
        for_keys = weights[2] * (np.eye(3)[2] - weights)[:, None] * query / math.sqrt(2)
        history.append(weights)
        gradients.append(np.vstack([for_query, for_keys]))
        query, keys = query + rate * for_query / weights[2], keys + rate * for_keys / weights[2]
    return gradients[0], dict(zip(worked_example.TOKENS, np.transpose(history)))


THREAD = np.array([-2, 2, -2, -2, 3])  # the scores of "bank" in the sentence with "river"
LOOKUP = np.array([(2, 0), (1, 1), (-1, -1), (-1, -1), (0, 3)]) @ [1, -0.5]
SHARPER = LOOKUP / math.sqrt(2) / 0.3
LENGTHS = np.array([(1.5, 0.5), (0, 5), (3, 1)])
BUDGET = softmax(np.concatenate([THREAD / math.sqrt(2) + [0, 0, 0, 0, 2], np.zeros(50)]))
KEYS = np.array([(-1, -1), (1, 1), (-1, -1), (-1, -1), (0, 3)])  # one key for each word of the river sentence
BANK = np.array([(0, 0), (1, 1), (0, 0), (0, 0), (0, 3)])
HALVED = np.array([0, -2, 0]) / math.sqrt(2)
X = EMBEDDINGS.numpy().copy()
X[1] = (0.1, -0.2, 0.3)
torch.manual_seed(7)
W = [torch.rand(3, 2).numpy() for _ in range(3)][1]
NOT_GOOD = {"Q = K of not": "0, 3", "Q = K of good": "0, 2", "V of not": "5, 0"}
OF_12 = {causal: twelve(causal, p3=(0, 3), p4=(0, 2), p10=(19, 19)) for causal in (False, True)}
TYPED = [
    (
        "magnitude", {"example": "the source's", "query": "2, 1", "long, misaligned": "0, 5"},
        (None, LENGTHS @ [2, 1], LENGTHS @ [2, 1] / math.sqrt(2),
         LENGTHS @ [2, 1] / (math.sqrt(5) * np.linalg.norm(LENGTHS, axis=1))),
    ),
    (
        "twelve-tokens", {"example": "the source’s map", "causal 1": False, "Q = K of soundtrack": "0, 2"},
        (twelve(False, p3=(0, 1), p4=(0, 1), p8=(0, 2), p10=(19, 19)),),
    ),
    ("not-symmetric", {}, (BANK @ BANK.T, softmax(BANK @ BANK.T / math.sqrt(2)))),
    ("learned", {"target": "because", "steps": 3, "rate": 0.5}, followed(steps=3, rate=0.5)),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "typed", "expected"), TYPED, ids=[slug for slug, *_ in TYPED])
def test_charts_show_results_of_typed_numbers(slug, typed, expected):
    assert_drawn(charts(stop(slug, **typed)), *expected)


OWN, ADDED, SUM, NORMED = "own vector", "+ context × W_O", "= sum", "layer norm"
SHARES = softmax(THREAD / math.sqrt(2))
ON_STAGE = [
    (
        "soft-lookup", {"query": "1, -0.5", "t": 0.3, "1 The": "2, 0"},
        {"score": LOOKUP, "hard": np.eye(5)[0], "weights": softmax(SHARPER), "longer": softmax(10 * SHARPER)},
    ),
    (
        "projections", {"example": "raschka", "journey": "0.1, -0.2, 0.3", "seed": 7},
        {"embedding": X, "above key": W, "key": X @ W},
    ),
    (
        "dot-product", {"example": "a and b", "a": "1, 2", "b": "2, -3"},
        {"above key": [[1, 2]], "key": [(2, -3)], "products": [(2, -6)], "score": [-4], "query": (1, 2)},
    ),
    ("dot-product", {"example": "two to turn", "angle": 90, "length": 3.0}, {"score": [0]}),
    (
        "scaling", {"d_k": 32},
        {"weights": SHARES, "left alone": softmax(THREAD * 4), "multiplied": np.eye(5)[4]},
    ),
    (
        "three-words", {"example": "good, not, the", "query": "2, 0", "2 not": "-1, 1"},
        {"scaled": np.array([0, -2, 0]) / math.sqrt(2), "power": np.exp(HALVED), "weights": softmax(HALVED)},
    ),
    ("three-words", {"more": 2.0, "others": 50}, {"weights": [*BUDGET[:5], BUDGET[5:].sum()], "foot weights": [1]}),
    ("mix", {"sentence": "loan"}, {"foot handed": 2 * thread(-1, True), "context": 2 * thread(-1, True)}),
    (
        "residual", {},
        dict(zip((OWN, ADDED, SUM, NORMED), residual(1, False))) | {"bank": residual(1, False)[2, :2], "key": KEYS}
        | {"above key": [[1, 1]], "scaled": THREAD / math.sqrt(2), "weights": SHARES, "handed": 2 * per_word(1, False)}
        | {"foot handed": 2 * thread(1, False)},
    ),
    ("hide-a-word", {"sentence": "river", "hidden": 4}, {"bank": with_and_without(4, 1, False)[1], "hidden": masked(4, False)}),
    ("hide-a-word", {"sentence": "loan", "hidden": 2}, {"bank": with_and_without(2, -1, True)[1], "hidden": masked(2, True)}),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "typed", "expected"), ON_STAGE, ids=[slug for slug, *_ in ON_STAGE])
def test_lesson_figure_shows_results_of_typed_numbers(slug, typed, expected):
    drawn = stage(stop(slug, **typed))
    for name, numbers in expected.items():
        assert same(drawn[name], numbers, 6e-4 if name in ("bank", "context", "query") else 6e-5), name


def test_weight_of_river_is_same_on_all_pages():
    given = {slug: stage(opened(slug))["weights"][4] for slug in CORE if "weights" in stage(opened(slug))}
    assert list(given) == ["soft-lookup", "scaling", "three-words", "mix", "residual", "hide-a-word"]
    assert {decimal(each) for each in given.values()} == {"0.63"}


BY_KERNEL = [
    ("geometry", {}, two_by_hand([3, 1], [(3, 1), (1, 4), (1.5, 0.5)], [(2, 1.5), (0, 1), (2, 1)])),
    (
        "geometry",
        {"query of “it”": "1, 2", "key of “street”": "0, 3", "value of “because”": "-1, 4"},
        two_by_hand([1, 2], [(3, 1), (0, 3), (1.5, 0.5)], [(2, 1.5), (0, 1), (-1, 4)]),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "typed", "expected"), BY_KERNEL, ids=[slug for slug, *_ in BY_KERNEL])
def test_attention_steps_show_results_of_typed_numbers(slug, typed, expected):
    (scores, scaled, weights, handed), (cells, drawn) = expected, kernel(stop(slug, **typed))
    assert cells["score"] == list(map(decimal, scores)) and cells["scaled"] == list(map(decimal, scaled))
    assert cells["exponential"] == list(map(weight, np.exp(scaled - max(scaled))))
    assert cells["weight"] == list(map(weight, weights))
    assert np.allclose(drawn, 1000 * handed, atol=0.51)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_map_hides_answer_row_before_guess(causal):
    at = stop("twelve-tokens", **{"causal 0": causal}, **NOT_GOOD)
    assert same(matrix(charts(at)[0]), OF_12[causal], 1e-5)
    assert len(mark(charts(stop("twelve-tokens", reveal=False))[0], "rect").records) == 11 * 12


# Lesson pages that run the encoder


def test_cosines_of_word_vectors_are_drawn(encoder):
    typed = ("A bat flew by.", "He swung the wooden bat. | sport", "The bat hung from the roof.")
    at = change(stop("one-vector"), "one-vector", text="\n".join(typed), word="bat", landmarks="cave, ball", layer=3)
    encodings = [encoder.encode(line.partition("|")[0].strip()) for line in typed]
    vectors = torch.stack(
        [each.hidden[:, list(each.places("bat")[0].positions)].mean(1) for each in encodings]
    )  # (3, 7, d_model)
    marks = torch.stack([encoder.encode(word).hidden[3, 1] for word in ("cave", "ball")])
    near = cosine_similarity(vectors[:, None, 3], marks[None], dim=-1)
    drawn = stage(at)
    assert all(same(drawn[str(n)], place, 6e-4) for n, place in enumerate(near.numpy(), start=1))
    asked = stage(stop("one-vector", reveal=False))
    # Before the page shows the answer, all dots are at one point.
    assert same(asked["1"], asked["6"]) and not same(drawn["1"], drawn["2"])
    last = cosine_similarity(vectors[:, None, -1], vectors[None, :, -1], dim=-1)  # (sentence, sentence)
    (baselines,) = charts(at)
    curves = lines(baselines)
    assert curves["same sense"][6] == pytest.approx(float(last[0, 2]), abs=1e-5)
    assert curves["different senses"][6] == pytest.approx(float((last[0, 1] + last[1, 2]) / 2), abs=1e-5)
    kinds = [each[3] for each in live(at, "stage")["sentences"]]
    assert kinds == ["", "a", ""]
    for typed, refused in (
        (
            {"text": "A bat🦇 flew by.\nHe swung the bat."},
            "Sentence 1: The tokeniser doesn't know 'bat🦇' and reads it as [UNK]",
        ),
        ({"text": "A bat flew by."}, "Expected 2 to 8 sentences, got 1"),
        ({"text": "A cat.\nA dog."}, "expected the word 'bat'"),
        ({"text": "A bat.\nTwo bat.", "landmarks": "cave"}, "Expected two different words"),
    ):
        assert refused in words(change(at, "one-vector", **typed)) and not charts(at)


def test_texts_state_numbers_of_real_heads(encoder):
    encoding = encoder.encode("The bank of the river.")
    (bank,), (river,) = (encoding.places(word)[0].positions for word in ("bank", "river"))
    trace = encoding.trace(0, 10)
    keys, query = trace.key[[bank, river]], trace.query[bank]
    own, other = (keys @ query).tolist()
    assert f"*river* scores {other:.1f} and *bank* {own:.1f}" in IN_A_HEAD
    cosines = cosine_similarity(keys, query[None], dim=-1).tolist()
    assert f"cosines with *bank*'s query are {cosines[1]:.2f} and {cosines[0]:.2f}" in IN_A_HEAD
    assert f"{keys[1].norm() / keys[0].norm():.1f} times as long" in IN_A_HEAD
    shares = [float(part) for part in encoder_shares(encoder)]
    assert [f"{100 * part:.0f} %" for part in shares] == ["10 %", "12 %", "29 %"]
    assert all(f"{100 * part:.0f} %" in "".join([*ASKED, *ASKED.values()]) for part in shares)


def encoder_shares(encoder):
    """Return how far "bank" moves (1: all the way to its other sense) without token 1, without 5, and without 3 and 5."""
    loan = encoder.encode(REAL.second).places("bank")[0]
    own = normalize(loan.sentence.vector(6, loan.positions), dim=0)
    way = sense_means(encoder, labels_of("bank").rows, "bank").way(loan.sentence, own.double()).axis
    runs = normalize(encoder.hide(REAL.second, loan.positions, [(1,), (5,), (3, 5)]), dim=-1)
    return (runs - own).double() @ way / way.square().sum()


def test_four_ways_of_masking_are_drawn(encoder):
    at = change(stop("causal-mask", source="real"), "causal-mask", sentence="One two three.", head="L3 H7")
    encoding = encoder.encode("One two three.")
    n = len(encoding.tokens)
    ways = four_ways(encoding.trace(3, 7), torch.ones(n, n, dtype=torch.bool).tril())
    assert_drawn(charts(at), *(way.weights for way in ways))
    assert len({str(mark(chart, "rect").domain("color")) for chart in charts(at)}) == 1


def test_padding_gets_no_weight(encoder):
    at = stop("padding-mask", sentence="One two three.", head="L3 H7")
    change(at, "padding-mask", extra=5)
    alone = encoder.encode("One two three.").weights(3, 7)[2]
    n = len(alone)
    trace = encoder.encode("One two three.", pad_to=n + 5).trace(3, 7)
    drawn = matrix(charts(at)[0])
    assert same(drawn, trace.weights, 1e-5) and same(drawn[2], [*alone.tolist(), *[0] * 5], 1e-5)
    assert trace.weights[n:, :n].sum(-1).tolist() == pytest.approx([1] * 5, abs=1e-5)  # the answer states this


def test_lesson_on_attention_code_computes_all_heads(encoder):
    at = stop("kernel", example="all heads of a real layer")
    encoding = encoder.encode(REAL.first)
    n = len(encoding.tokens)
    assert any(f"scores = query @ key.transpose(-2, -1)   # (12, {n}, {n})" in each.value for each in at.code)
    weights = encoder.reference_weights(encoding.text)[0, 11, encoding.words[1].start]
    assert kernel(at)[0]["weight"] == list(map(weight, weights))


def test_figure_shows_effects_of_hiding_each_word(encoder):
    a, b = (encoder.encode(sentence).places("bank")[0] for sentence in REAL.sentences[:2])
    means = sense_means(encoder, labels_of("bank").rows, "bank")

    def last(word):
        return normalize(word.sentence.vector(6, word.positions), dim=0)

    own, other = (means.way(each.sentence, last(each).double()).axis for each in (a, b))
    for side, placed, way in zip(live(opened("real-head"), "way")["sides"], (a, b), (own, other), strict=True):
        others = [word for word in placed.others if not word.is_punctuation]
        runs = encoder.hide(placed.sentence.text, placed.positions, [word.positions for word in others])
        share = (normalize(runs, dim=-1) - last(placed)).double() @ way / way.square().sum()
        drawn = [word for word in side["words"] if word["kind"] == "word"]
        assert [word["text"] for word in drawn] == [word.label for word in others]
        assert [word["share"] for word in drawn] == pytest.approx(share.tolist(), abs=1e-4)
    # The page's second expander states the effects of deleting "river" and of masking it for all tokens.
    ids, river = torch.tensor([a.sentence.ids]), list(a.sentence.places("river")[0].positions)
    seen = torch.ones_like(ids).index_fill(1, torch.tensor(river), 0)
    with torch.no_grad():
        unread = encoder.model(input_ids=ids, attention_mask=seen).last_hidden_state[0, list(a.positions)].mean(0)
    unsaid = last(encoder.encode("The bank of the.").places("bank")[0])
    moved = [(each - last(a)).double() @ own / own.square().sum() for each in (unsaid, normalize(unread, dim=0))]
    details = opened("real-head").main.expander[1].text[0].value
    assert re.findall(r"(\d+) %", details) == [f"{100 * float(share):.0f}" for share in moved]
    alone = encoder.hide(a.sentence.text, a.positions, [tuple(river)], heads=[[Head(0, 10)]])[0]
    share = float((normalize(alone, dim=0) - last(a)).double() @ own / own.square().sum())
    assert f"moves *bank* only {100 * share:.0f} %" in STOPS["real-head"].reason
    given = float(a.sentence.weights(0, 10)[list(a.positions), river].squeeze())
    assert f"Head 10 of layer 0 gives *river* {given:.2f}" in STOPS["real-head"].idea
