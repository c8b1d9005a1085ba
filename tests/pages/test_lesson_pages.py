"""Every stop of the guided path: what it draws and says equals an independent computation, for inputs typed just now."""

import json
import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity, normalize

from pages.learn.from_scratch import class_materials
from pages.learn.from_scratch.class_materials import MINUTES, PLAN, link, plain_question, rows
from pages.learn.from_scratch.lesson_pages import (
    CORE,
    FIRST,
    STOPS,
    after,
    before,
    beside,
    number,
    random_projections,
    scaling,
    word_order,
)
from pages.learn.from_scratch.lesson_pages.textbook_weights import TEXTBOOK
from selfattn import kernel
from selfattn.analysis.sense_means import sense_means
from selfattn.analysis.what_if import four_ways
from selfattn.captions.terms import TERMS
from selfattn.charts.theme import DARK, LIGHT
from selfattn.dashboard.answer import labelled_rows
from selfattn.examples import NEUTRAL_SENTENCES
from selfattn.lessons import one_head_by_hand, worked_example
from selfattn.lessons.twelve_tokens import TOKENS
from selfattn.numbers import decimal, weight
from tests.charts.test_theme import contrast
from tests.pages.conftest import APP, open_link
from tests.pages.pictures import bars, charts, lines, mark, matrix, same, tips

pytestmark = pytest.mark.slow


def stop(slug, reveal=True, **typed):
    """The stop, its question answered unless told otherwise, then with other values in its widgets."""
    at = open_link("from-scratch", stop=slug, **({"reveal": "yes"} if reveal else {}))
    if "example" in typed:
        change(at, slug, example=typed.pop("example"))
    return change(at, slug, **typed) if typed else at


def change(at, slug, **typed):
    """Set the widgets whose keys end with these names, one run for all."""
    widgets = {
        widget.key: widget
        for kind in ("text_input", "slider", "select_slider", "number_input", "radio", "toggle")
        for widget in getattr(at, kind)
    }
    for name, value in typed.items():
        widgets[f"{slug}.{name}"].set_value(value)
    return at.run()


def words(at):
    """All that the page says, captions included."""
    return "\n".join(element.value for element in [*at.text, *at.markdown])


def softmax(scores):
    powers = np.exp(np.asarray(scores, dtype=float))
    return powers / powers.sum(-1, keepdims=True)


# The path


@pytest.mark.parametrize(
    ("slug", "example", "published"),
    [
        ("kernel", "Raschka's six words", "[0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]"),
        ("kernel", "Raschka's six words", "[0.3061, 0.8210]"),
        ("dot-product", "a and b", "(2 × 5) + (3 × −1)  =  7"),
        ("magnitude", "the source's", "long, misaligned: 7; short, aligned: 5."),
        ("three-words", "good, not, the", "0.46 + 0.32 + 0.22 = 1."),
        ("worked-example", "it", "=  [1.79, 1.44]"),
        ("geometry", "it", "animal 10 → 87 %, street 7 → 10 %, because 5 → 3 %"),
        ("twelve-tokens", None, '"not" 0.67, "amazing" 0.33. Context [1.00, 0.33].'),
        ("annotated-heatmap", "twelve tokens", '"amazing" attends most to soundtrack, amazing (0.50)'),
        ("kernel", "it", "weights [0.87, 0.10, 0.03]"),
        (
            "soft-lookup",
            None,
            "Soft it gets 0.72 of 1, with labels ten times as long 1.00. About water, hard hands over 3.0, soft 2.2.",
        ),
        # The thread, recomputed by hand: scores 3, 2 and −2 over the root of 2.
        ("projections", None, '"bank" becomes the query [1.00, 1.00]'),
        ("dot-product", None, "(1 × 0) + (1 × 3)  =  3"),
        ("magnitude", None, "river: 3; bank: 2."),
        (
            "scaling",
            None,
            "are [−32.0, 32.0, −32.0, −32.0, 48.0]; their largest weight: divided 0.63, left alone 1.00.",
        ),
        ("three-words", None, "0.005 + 0.265 + 0.005 + 0.005 + 0.720 = 1."),
        (
            "hide-a-word",
            None,
            "[1, 1] + ½ × (0.633 × [−3, 3]) = [0.05, 1.95]. Hidden: [1, 1] + ½ × (0) = [1.00, 1.00].",
        ),
        ("worked-example", None, "=  [−1.90, 1.90]"),
        ("worked-example", None, "Scores −2, 2, −2, −2, 3, then divided by √2."),
        ("dot-product", None, f"*{STOPS['magnitude'].TITLE}*, beside this stop,"),
        ("residual", None, '[0.05, 1.95, 0.00]. "bank" is now more about water.'),
        ("real-head", None, '"bank" moves 53 % of the way to its other sense (next: "of", 16 %)'),
    ],
)
def test_the_published_figures_are_what_a_visitor_sees_first(slug, example, published):
    at = stop(slug, **({"example": example} if example else {}))
    assert not at.error
    assert at.subheader[0].value == STOPS[slug].TITLE
    assert published in words(at)
    if resets := [button for button in at.button if button.key == f"{slug}.reset"]:
        assert resets[0].disabled


@pytest.mark.parametrize("slug", STOPS)
def test_every_stop_has_idea_picture_question_code_and_what_to_take(slug):
    at = stop(slug)
    assert not at.error
    said = words(at)
    assert STOPS[slug].IDEA.count(". ") <= 2 and STOPS[slug].IDEA in said and "$" not in said
    assert STOPS[slug].TAKE in at.info[-1].value
    assert all(TERMS[term] in said + "".join(each.value for each in at.caption) for term in FIRST.get(slug, ()))
    lit = [spec for spec in map(lambda chart: chart.proto.spec, at.get("vega_lite_chart")) if '"under"' in spec]
    assert lit
    for spec in map(json.loads, lit):  # each value's line is among the lines beneath
        row, code = spec["vconcat"]
        parts = [part.get("vconcat", [part])[0] for part in row.get("hconcat") or row["concat"]]
        views = [layer for part in parts for layer in part["layer"] if layer.get("name", "").startswith("on_")]
        assert len(views) == len(parts) and [view["name"] for view in views] == spec["params"][0]["views"]
        lines = {line["line"] for line in code["data"]["values"]}
        for view, part in zip(views, parts):
            line = view["transform"][-1]["calculate"]
            assert (
                {each["line"] for each in part["data"]["values"]} <= lines
                if line == "datum.line"
                else line[1:-1] in lines
            )


@pytest.mark.parametrize("slug", STOPS)
def test_a_question_stands_before_its_answer(slug):
    at = stop(slug, reveal=False)
    assert not charts(at)
    question = at.radio(key=f"{slug}.prediction")
    question.set_value(question.options[0]).run()
    assert charts(at)
    answer = next(each.value for each in at.markdown if each.value.endswith(STOPS[slug].REASON))
    assert any(option in answer for option in STOPS[slug].OPTIONS)


def test_just_show_me_reveals_without_a_guess():
    at = stop("scaling", reveal=False)
    at.button(key="scaling.show").click().run()
    assert "The answer: **one word takes nearly all the weight**" in words(at)
    assert len(charts(at)) == 6


def test_previous_and_next_walk_the_core_and_write_the_address():
    at = open_link("from-scratch")
    assert at.button(key="previous").disabled and at.button(key="previous below").disabled
    walked = [CORE[0]]
    for key in ("next", "next below"):
        at.button(key=key).click().run()
        walked.append(at.query_params["stop"])
        assert at.subheader[0].value == STOPS[walked[-1]].TITLE
    assert tuple(walked) == CORE[:3]
    at.selectbox(key="choice of stop").set_value("magnitude").run()
    at.button(key="previous").click().run()
    assert at.query_params["stop"] == "dot-product"  # its core stop
    at.button(key="more.magnitude").click().run()
    at.button(key="next below").click().run()
    assert at.query_params["stop"] == "three-words"
    at.selectbox(key="choice of stop").set_value("learned").run()
    assert at.button(key="next").disabled


def test_the_path_is_one_order():
    assert [number(slug) for slug in CORE] == [str(n + 1) for n in range(10)]
    assert [number(slug) for slug in ("magnitude", "padding-mask", "annotated-heatmap")] == ["4a", "7a", "7b"]
    assert [slug for slug in STOPS if slug in CORE] == list(CORE) and next(iter(STOPS)) == CORE[0]
    for slugs in (CORE, tuple(STOPS)):
        for one, other in pairwise(slugs):
            assert after(one) == other or (one in CORE) != (slugs is CORE)
            assert before(other) == one or (other in CORE) != (slugs is CORE)


def said(block):
    """What a part of the page says, fields and buttons aside."""
    return Counter(each.value for kind in ("markdown", "text", "caption", "info") for each in getattr(block, kind))


@cache
def texts(slug):
    """What a stop says when its question is answered, and its pictures' number; what is folded away isn't read."""
    main = stop(slug).main
    shown = said(main) - sum(map(said, main.expander), Counter())
    pictures = len(main.get("vega_lite_chart")) - sum(len(each.get("vega_lite_chart")) for each in main.expander)
    return [*shown.elements(), *STOPS[slug].OPTIONS], pictures


def n_words(read):
    return sum(len(re.findall(r"[^\W_]+(?:[.,'’][^\W_]+)*", text)) for text in read)


@pytest.mark.parametrize("slug", CORE)
def test_a_core_stop_is_read_in_two_minutes(slug):
    assert n_words([*texts(slug)[0], *(f"More beside it: {STOPS[each].TITLE}" for each in beside(slug))]) <= 250


def test_the_core_is_read_aloud_in_the_minutes_that_the_menu_says():
    """150 words a minute and a minute a picture; half as long again leaves time to guess and to try."""
    minutes = sum(n_words(read) / 150 + pictures for read, pictures in map(texts, CORE))
    said = re.search(r"From scratch · (\d+) min", APP.read_text("utf-8"))[1]
    assert 1.4 * minutes <= int(said) <= 1.6 * minutes


# What a newcomer has not met: the terms with a sentence of their own, and the words of the field that explain themselves.
FIELD = (*TERMS, "attention map", "batch", "causal", "gradient", "layer norm", "padding", "temperature", "variance")


@pytest.mark.parametrize("order", [tuple(STOPS), CORE], ids=["all", "core"])
def test_a_stop_has_at_most_three_new_terms_and_explains_its_own(order):
    known, explained = set(), set()
    for slug in order:
        text = re.sub(r"[*_]", "", "\n".join(texts(slug)[0])).lower()
        used = {term for term in FIELD if re.search(rf"\b{term}s?\b", text)}
        assert len(used - known) <= 3, (slug, used - known)
        explained |= {term for term in TERMS if any(TERMS[term] in each for each in texts(slug)[0])}
        assert used & TERMS.keys() <= explained or order == CORE, (slug, used & TERMS.keys() - explained)
        known |= used


def views(spec):
    """Every view with a mark in a chart's specification."""
    inner = [each for name in ("layer", "vconcat", "hconcat", "concat") for each in spec.get(name, [])]
    return [spec] * ("mark" in spec) + [view for each in inner for view in views(each)]


@pytest.mark.parametrize("slug", STOPS)
def test_a_number_shown_by_colour_has_its_bar_or_is_printed_and_every_letter_can_be_read(slug):
    for spec in (json.loads(chart.proto.spec) for chart in stop(slug).get("vega_lite_chart")):
        for part in [
            each for row in spec.get("vconcat", [spec]) for each in row.get("hconcat", row.get("concat", [row]))
        ]:
            letters = [view for view in views(part) if view["mark"]["type"] == "text"]
            for view in views(part):
                color = view.get("encoding", {}).get("color", {})
                if color.get("type") == "quantitative" and "field" in color:
                    assert color.get("legend", True) is not None or letters
        for view in (view for view in views(spec) if view["mark"]["type"] == "text"):
            color = view.get("encoding", {}).get("color", {})
            for hue in {color.get("value"), view["mark"].get("color")} - {None}:
                (role,) = {place for place, each in roles(LIGHT).items() if each == hue}
                for theme in (LIGHT, DARK):
                    assert contrast(roles(theme)[role], theme.background) >= 4.5, (role, theme.background)


def roles(theme):
    """A theme's colours by what they are for."""
    ramps = {f"weights {n}": hue for n, hue in enumerate(theme.weights)}
    return ramps | {name: getattr(theme, name) for name in ("ink", "muted", "sentence_a", "sentence_b")}


def test_the_right_answer_has_no_place_of_its_own():
    places = []
    for slug in STOPS:
        at = stop(slug, reveal=False)
        if not hasattr(STOPS[slug], "answer"):
            places.append(at.radio(key=f"{slug}.prediction").options.index(STOPS[slug].OPTIONS[0]))
    assert max(map(places.count, set(places))) <= len(places) / 2


def test_an_unknown_stop_opens_the_first():
    assert stop("nowhere").subheader[0].value == STOPS[CORE[0]].TITLE


def test_class_links_open_a_question_unrevealed():
    assert link("http://host:8501/from-scratch?stop=order&reveal=yes", "scaling") == (
        "http://host:8501/from-scratch?stop=scaling"
    )
    lines = stop("scaling").code[-2].value.split("\n")
    assert [line.partition("?stop=")[2] for line in lines[1::3]] == list(STOPS)
    assert lines[0] == f"1. {plain_question(CORE[0])}" and all(option in lines[0] for option in STOPS[CORE[0]].OPTIONS)
    assert not any(sign in line for line in lines for sign in ("*", "$", "`"))


def test_the_class_is_sent_guess_first_about_the_teachers_own_sentences():
    at = stop("scaling")
    at.text_input(key="class.A").set_value("A spring of clear water.").run()
    assert "No word stands in both sentences." in at.error[0].value.replace("\\", "")
    at.text_input(key="class.B").set_value("The watch has a broken spring, a small one.").run()
    assert at.selectbox(key="class.word").options == ["spring", "A"]
    *seen, address = at.code[-1].value.split("\n")
    assert seen[0] == 'Which word would change "spring" most?' and address.startswith("/?")
    asked = open_link("", **dict(parse_qsl(address[2:])))
    assert [asked.text_input(key=key).value for key in "ab"] == [seen[1][3:], seen[2][3:]]
    assert asked.session_state["word"] == "spring" and asked.button(key="no_guess")
    assert (
        class_materials.guess_address("http://host/base/from-scratch?stop=order", {"a": "x"}) == "http://host/base/?a=x"
    )


def test_the_lesson_plan_holds_every_core_stop_in_order_and_fills_45_minutes():
    assert [slug for slugs, _ in PLAN for slug in slugs] == list(CORE)
    spans = [tuple(map(int, row[0].split(" to "))) for row in rows()]
    assert spans[0][0] == 0 and spans[-1][1] == 45 and all(one[1] == other[0] for one, other in pairwise(spans))
    assert [end - begin for begin, end in spans[:-1]] == [MINUTES * len(slugs) for slugs, _ in PLAN]
    linked = "".join(stops for _, stops, _ in rows("http://host/from-scratch"))
    assert re.findall(r"\?stop=([\w-]+)\)", linked) == list(CORE)


def test_the_lesson_plan_is_the_one_in_docs():
    text = (APP.parent / "docs/teaching.md").read_text("utf-8")
    assert all(f"| {' | '.join(row)} |" in text for row in rows())


@pytest.mark.parametrize("typed", ["", "nan, 1", "1e12, 1", "three, one", "3", "$x$, :red[1]"])
def test_bad_numbers_get_a_message_and_no_traceback(typed):
    at = change(stop("worked-example", example="it"), "worked-example", **{"query of “it”": typed})
    assert at.error[0].value == "These numbers can't be used."
    assert "expected" in words(at) and "Until then [3, 1] is drawn." in words(at)
    assert "=  [1.79, 1.44]" in words(at) and len(charts(at)) == 5


@pytest.mark.parametrize(
    ("slug", "typed", "expected"),
    [
        ("dot-product", {"query of bank": "0, 0"}, "got a zero vector"),
        ("magnitude", {"river": "0, 0"}, "got a zero vector"),
        ("three-words", {"query": "500, 1"}, "Expected scores up to 100"),
    ],
)
def test_numbers_that_do_not_go_together_leave_the_picture(slug, typed, expected):
    at = stop(slug)
    before = [mark(chart, "bar").values("x") for chart in charts(at)[2 * (slug == "dot-product") :]]
    change(at, slug, **typed)
    assert at.error[0].value == "These numbers can't be used."
    assert expected in words(at) and "Until then the published numbers are drawn." in words(at)
    assert [mark(chart, "bar").values("x") for chart in charts(at)[2 * (slug == "dot-product") :]] == before


def test_a_sentence_that_no_encoder_reads_gets_a_message():
    at = stop("not-symmetric", example="a real head", sentence="   ")
    assert at.error


# The stops


def test_one_word_one_vector(encoder):
    typed = ("A bat flew by.", "He swung the wooden bat. | sport", "The bat hung from the roof.")
    at = stop("one-vector")
    at.text_area(key="one-vector.text").set_value("\n".join(typed))
    change(at, "one-vector", word="bat", layer=3)
    assert "Dot: the static vector, one for all (largest difference 0)." in words(at)
    encodings = [encoder.encode(line.partition("|")[0].strip()) for line in typed]
    vectors = torch.stack(
        [each.hidden[:, list(each.places("bat")[0].positions)].mean(1) for each in encodings]
    )  # (3, 7, d_model)
    plane, baselines, cosines = charts(at)
    expected = cosine_similarity(vectors[:, None, 3], vectors[None, :, 3], dim=-1)
    assert same(matrix(cosines), expected, 1e-5)
    lowest = sorted(np.unravel_index(expected.numpy().argmin(), (3, 3)))
    assert f"Lowest: sentences {lowest[0] + 1} and {lowest[1] + 1}, cosine {float(expected.min()):.2f}." in words(at)
    last = cosine_similarity(vectors[:, None, 6], vectors[None, :, 6], dim=-1)
    assert lines(baselines)["same sense"][6] == pytest.approx(float(last[0, 2]), abs=1e-5)
    assert lines(baselines)["different senses"][6] == pytest.approx(float((last[0, 1] + last[1, 2]) / 2), abs=1e-5)
    neutral = [encoder.encode(sentence) for sentence in NEUTRAL_SENTENCES]
    longest = [max(each.words, key=lambda word: len(word.text)) for each in neutral]
    static = torch.stack([each.static[list(word.positions)].mean(0) for each, word in zip(neutral, longest)])
    others = cosine_similarity(static[:, None], static[None], dim=-1)
    n = len(neutral)
    mean = float((others.sum() - others.trace()) / (n * (n - 1)))
    assert lines(baselines)["two other words"][-1] == pytest.approx(mean, abs=1e-5)
    # Principal components found here; their signs are free, distances are not.
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    moved = (unit - unit.mean(0)).transpose(0, 1).double()  # (7, 3, d_model): one static vector stands at the origin
    flat = moved.flatten(0, 1) @ torch.linalg.svd(moved.flatten(0, 1)).Vh[:2].T
    ends = torch.tensor(list(tips(plane).values()), dtype=torch.float64)
    assert same(torch.cdist(ends, ends), torch.cdist(*[flat.reshape(7, 3, 2)[3]] * 2), 1e-4)
    colours = mark(plane, "rule").records["colour"].tolist()
    assert colours[0] == colours[2] != colours[1]


def test_bank_moves_towards_its_landmarks():
    """The cosines were computed apart, from the encoder's own vectors."""
    at = stop("one-vector")
    assert (
        'Cosine with "river": 0.25 for the static vectors, here 0.44 in those of water, 0.31 in those of money.'
        in words(at)
    )
    plane = charts(at)[0]
    marks = next(layer.records for layer in plane if layer.kind == "text" and "loan" in layer.records["label"].tolist())
    assert marks["label"].tolist() == ["river", "loan", "money"]
    dots = mark(plane, "rule").records[["x0", "y0"]].drop_duplicates().round(9).drop_duplicates()
    assert len(dots) == 1 and dots.iloc[0].abs().max() > 0.01  # one static point, and not the middle by definition


def test_one_word_says_what_is_missing():
    at = change(stop("one-vector"), "one-vector", word="bat")
    assert "expected the word 'bat'" in words(at)
    at.text_area(key="one-vector.text").set_value("A bat🦇 flew by.\nHe swung the bat.").run()
    assert "Sentence 1: The tokeniser doesn't know 'bat🦇': it reads [UNK]" in words(at)
    at.text_area(key="one-vector.text").set_value("A bat flew by.").run()
    assert "Expected 2 to 8 sentences, got 1" in words(at)
    assert not charts(at)


def test_soft_lookup():
    at = stop("soft-lookup", query="1, -0.5", t=0.3, **{"1 The": "2, 0"})
    keys = np.array([(2, 0), (1, 1), (-1, -1), (-1, -1), (0, 3)])
    scores = keys @ [1, -0.5]
    for chart, numbers in zip(
        charts(at), (scores, np.eye(5)[0], softmax(scores / 0.3), softmax(10 * scores / 0.3)), strict=True
    ):
        assert list(bars(chart).values()) == pytest.approx(numbers)
        # One drawer marked in all four: the one that fits best.
        assert mark(chart, "bar").records["largest"].tolist() == [True, False, False, False, False]
    water = softmax(scores / 0.3) @ [0, 0, 0, 0, 3]
    assert f"About water, hard hands over 0.0, soft {water:.1f}." in words(at)


def test_projections():
    at = stop("projections", example="raschka", journey="0.1, -0.2, 0.3", seed=7)
    embeddings = np.array(random_projections.EMBEDDINGS)
    embeddings[1] = (0.1, -0.2, 0.3)
    torch.manual_seed(7)
    matrices = [torch.rand(3, 2).numpy() for _ in range(3)]
    for role, name, matrix_ in zip(("query", "key", "value"), ("W_Q", "W_K", "W_V"), matrices):
        x, drawn, made = charts(change(at, "projections", role=role))
        assert same(matrix(x), embeddings) and same(matrix(drawn), matrix_) and same(matrix(made), embeddings @ matrix_)
        assert mark(made, "rect").labels("y") == list(random_projections.TOKENS)
        first = (embeddings @ matrix_)[1]
        assert f'"journey" becomes the {role} [{decimal(first[0])}, {decimal(first[1])}]' in words(at), name
    shapes = at.dataframe[0].value.set_index("step").iloc[:, 0]
    assert shapes.tolist() == ["6 × 3", "3 × 2", "6 × 2", "6 × 6", "6 × 6", "6 × 2"]


def test_dot_product():
    at = stop("dot-product", example="a and b", a="1, 2", b="2, -3", angle=120, length=3.0)
    arrows, curve, _ = charts(at)
    assert tips(arrows) == {"a": (1, 2), "b": (2, -3)}
    widths = mark(arrows, "rule").records.set_index("label")["width"]
    assert widths["b"] > widths["a"]
    assert "(1 × 2) + (2 × −3)  =  −4" in words(at)
    score = lines(curve)[""]
    assert [score[angle] for angle in (0, 45, 90, 180)] == pytest.approx([6, 6 * math.sqrt(0.5), 0, -6], abs=1e-9)
    here = mark(curve, "point")
    assert (here.values("x"), here.values("y")) == ([120], pytest.approx([-3]))
    assert "120° apart, score −3.00" in words(at)


def test_the_answer_on_a_keys_length_is_the_real_heads(encoder):
    encoding = encoder.encode("The bank of the river.")
    (bank,), (river,) = (encoding.places(word)[0].positions for word in ("bank", "river"))
    trace = encoding.trace(0, 10)
    keys, query = trace.key[[bank, river]], trace.query[bank]
    own, other = (keys @ query).tolist()
    assert f"scores are {other:.1f} and {own:.1f}" in STOPS["magnitude"].REASON and 2.9 <= other / own <= 3.3
    cosines = cosine_similarity(keys, query[None], dim=-1).tolist()
    assert f"cosines are {cosines[1]:.2f} and {cosines[0]:.2f}" in STOPS["magnitude"].REASON
    assert f"{keys[1].norm() / keys[0].norm():.1f} times as long" in STOPS["magnitude"].QUESTION


def test_key_length():
    at = stop("magnitude", example="the source's", query="2, 1", **{"long, misaligned": "0, 5"})
    keys = np.array([(1.5, 0.5), (0, 5), (3, 1)])
    scores = keys @ [2, 1]
    expected = (scores, scores / math.sqrt(2), scores / (math.sqrt(5) * np.linalg.norm(keys, axis=1)))
    for chart, numbers in zip(charts(at)[:3], expected, strict=True):
        assert bars(chart) == pytest.approx(dict(zip(("short, aligned", "long, misaligned", "long, aligned"), numbers)))
        largest = mark(chart, "bar").records["largest"].tolist()
        assert largest == (numbers == max(numbers)).tolist()
    said = f"the scaled score of the key [0, 5] is {5 / math.sqrt(2):.2f}, of one twice as long {10 / math.sqrt(2):.2f}"
    assert said in words(at)


def test_scaling(encoder):
    sentence = "She opened an account at the bank."
    at = stop("scaling", sentence=sentence)
    *both, _, variance, gradient, spread = charts(at)
    scores = np.array([-5, -1, -5, -5, 0]) * (512 / 2) ** 0.5  # 3 less each, so that exp can't overflow
    for chart, scale in zip(both, (512**-0.5, 1), strict=True):
        assert list(bars(chart).values()) == pytest.approx(softmax(scores * scale))
    measured = scaling.measure().set_index("d_k")
    for chart, column in ((variance, "variance"), (gradient, "gradient")):
        assert lines(chart)["as it is"] == pytest.approx(measured.loc[~measured["scaled"], column].to_dict())
        assert lines(chart)["divided by √d_k"] == pytest.approx(measured.loc[measured["scaled"], column].to_dict())
    encoding = encoder.encode(sentence)
    expected = [[encoding.trace(layer, head).scaled.std() for head in range(12)] for layer in range(6)]
    assert same(matrix(spread), expected)
    assert (
        f"largest {np.max(expected):.2f} in head {np.argmax(expected) % 12} of layer {np.argmax(expected) // 12}."
        in words(at)
    )


def test_softmax():
    at = stop("three-words", example="good, not, the", query="2, 0", **{"2 not": "-1, 1"})
    score = np.array([0, -2, 0])
    scaled = score / math.sqrt(2)
    for chart, numbers in zip(charts(at)[:4], (score, scaled, np.exp(scaled), softmax(scaled)), strict=True):
        assert bars(chart) == pytest.approx(dict(zip(("good", "not", "the"), numbers)), abs=1e-12)


def test_a_rows_budget():
    at = stop("three-words", more=2.0, others=50)
    scores = np.concatenate([[-2, 2, -2, -2, 5.0], np.zeros(50)])  # of the thread undivided: that is the next stop's
    weights = softmax(scores)
    score, powers, weight = charts(at)
    assert list(bars(weight)) == [
        "The",
        "bank",
        "of",
        "the",
        "river",
        "50 more",
    ]  # the added words are drawn and counted
    assert list(bars(weight).values()) == pytest.approx([*weights[:5], weights[5:].sum()])
    assert list(bars(powers).values()) == pytest.approx([*np.exp(scores[:5]), 50])
    assert list(bars(score).values()) == pytest.approx([*scores[:5], 0])


def test_causal_mask(encoder):
    at = stop("causal-mask", source="real")
    change(at, "causal-mask", sentence="One two three.", layer=2, head=5)
    trace = encoder.encode("One two three.").trace(2, 5)
    scores = (trace.query @ trace.key.T / math.sqrt(32)).double().numpy()
    allowed = np.tril(np.ones_like(scores))
    plain = softmax(scores) * allowed
    repaired = plain / plain.sum(-1, keepdims=True)
    drawn = charts(at)
    for chart, numbers in zip(drawn, (repaired, softmax(scores * allowed), plain, repaired), strict=True):
        assert same(matrix(chart), numbers, 1e-5)
        assert mark(chart, "rect").domain("color") == mark(drawn[0], "rect").domain("color")
    shown = [
        part["title"]["text"] for part in json.loads(at.get("vega_lite_chart")[0].proto.spec)["vconcat"][0]["concat"]
    ]
    assert [title.split()[-1] for title in shown] == ["scores", "0", "0", "sum"]
    assert f"hidden words get up to {(softmax(scores * allowed) * (1 - allowed)).sum(-1).max():.2f} of a row" in words(
        at
    )


@pytest.mark.parametrize("hidden", ["the words after it", "the word itself", "the special tokens"])
def test_the_four_ways_hide_what_is_chosen(encoder, hidden):
    at = stop("causal-mask", source="real")
    change(at, "causal-mask", sentence="One two three.", layer=3, head=7, hidden=hidden)
    encoding = encoder.encode("One two three.")
    n = len(encoding.tokens)
    allowed = {
        "the words after it": torch.ones(n, n, dtype=torch.bool).tril(),
        "the word itself": ~torch.eye(n, dtype=torch.bool),
        "the special tokens": torch.tensor([token not in ("[CLS]", "[SEP]") for token in encoding.tokens]).expand(n, n),
    }[hidden]
    for chart, way in zip(charts(at), four_ways(encoding.trace(3, 7), allowed), strict=True):
        assert same(matrix(chart), way.weights, 1e-5)
    change(at, "causal-mask", source="first")
    assert "the special tokens" not in at.radio(key="causal-mask.hidden").options


def test_padding_weighs_nothing(encoder):
    at = stop("padding-mask", sentence="One two three.", layer=3, head=7)
    at.slider(key="padding-mask.extra").set_value(5)
    at.selectbox(key="padding-mask.row").set_value(4).run()
    n = len(encoder.encode("One two three.").tokens)
    trace = encoder.encode("One two three.", pad_to=n + 5).trace(3, 7)
    alone, masked, weights = charts(at)
    own = encoder.encode("One two three.").weights(3, 7)[4].tolist()
    assert mark(alone, "rect").records["v"].tolist() == pytest.approx(own, abs=1e-5)
    drawn = mark(weights, "rect").records["v"].tolist()
    assert drawn == pytest.approx(trace.weights[4].tolist(), abs=1e-5) and drawn[n:] == [0.0] * 5
    assert mark(masked, "rect").records["v"].tolist() == pytest.approx(trace.masked[4, :n].tolist(), rel=1e-4)
    signs = mark(masked, "text")
    assert signs.records["i"].tolist() == list(range(n, n + 5))
    assert f"{n} tokens and 5 of padding. Padding gets exactly 0" in words(at)
    assert f"The mask hides 5 of {n + 5} tokens in this row." in words(at)
    assert STOPS["padding-mask"].OPTIONS[0] == "the sentence's own tokens"
    assert trace.weights[n:, :n].sum(-1).tolist() == pytest.approx([1] * 5, abs=1e-5)  # the padding's own rows


def test_worked_example():
    typed = {"query of “it”": "1, 2", "key of “street”": "0, 3", "value of “because”": "-1, 4"}
    at = change(stop("worked-example", example="it"), "worked-example", **typed)
    keys, values = np.array([(3, 1), (0, 3), (1.5, 0.5)]), np.array([(2, 1.5), (0, 1), (-1, 4)])
    scores = keys @ [1, 2]
    weights = softmax(scores / math.sqrt(2))
    for chart, numbers in zip(charts(at)[:3], (scores, scores / math.sqrt(2), weights), strict=True):
        assert bars(chart) == pytest.approx(dict(zip(worked_example.TOKENS, numbers)))
    context = weights @ values
    assert f"=  [{context[0]:.2f}, {context[1]:.2f}]" in words(at)
    assert '"street" gets' in words(at)
    code = json.loads(at.get("vega_lite_chart")[0].proto.spec)["vconcat"][1]["data"]["values"]
    shapes = {
        row["line"]: row["text"].partition("# ")[2] for row in code
    }  # the shape on every line that makes a tensor
    assert (
        shapes["scores"] == shapes["weights"] == "(1, 3)"
        and shapes["total"] == "(1, 1)"
        and shapes["context"] == "(1, 2)"
    )
    at.button(key="worked-example.reset").click().run()
    assert "=  [1.79, 1.44]" in words(at)


def test_geometry():
    typed = {"query": "1, 0", "key of “street”": "2, -1", "value of “animal”": "4, 4"}
    at = change(stop("geometry", example="it"), "geometry", **typed)
    keys, values = np.array([(3, 1), (2, -1), (1.5, 0.5)]), np.array([(4, 4), (0, 1), (2, 1)])
    weights = softmax(keys @ [1, 0] / math.sqrt(2))
    first, weight, second = charts(at)
    assert tips(first) == {"it": (1, 0), "animal": (3, 1), "street": (2, -1), "because": (1.5, 0.5)}
    assert bars(weight) == pytest.approx(dict(zip(worked_example.TOKENS, weights)))
    context = weights @ values
    ends = tips(second)
    assert ends["context"] == pytest.approx(tuple(context)) and ends["animal"] == (4, 4)
    path = next(
        each.records for each in second if each.kind == "rule" and "x1" in each.records and "x0" not in each.records
    )
    assert path[["x1", "y1"]].to_numpy() == pytest.approx(np.cumsum(weights[:, None] * values, axis=0))
    assert path[["x", "y"]].to_numpy()[1:] == pytest.approx(path[["x1", "y1"]].to_numpy()[:-1])
    for chart, name in ((first, "it"), (second, "context")):
        records = mark(chart, "rule").records
        assert records.loc[records["strong"], "label"].tolist() == [name]
    widths = mark(second, "rule").records.set_index("label")["width"]
    assert widths["animal"] > widths["street"] > widths["because"]
    nearest = worked_example.TOKENS[np.linalg.norm(values - context, axis=1).argmin()]
    assert f'"{nearest}" lies nearest' in words(at) or f'nearest to the value of "{nearest}"' in words(at)


@pytest.mark.parametrize("causal", [False, True])
def test_twelve_tokens(causal):
    at = stop("twelve-tokens", causal=causal, **{"Q = K of not": "0, 3", "Q = K of good": "0, 2", "V of not": "5, 0"})
    states = np.zeros((12, 2))
    states[3], states[4], states[10] = (0, 3), (0, 2), (19, 19)
    values = np.zeros((12, 2))
    values[3], values[4], values[10] = (5, 0), (0, 1), (1, 1)
    scores = states @ states.T / math.sqrt(2)
    weights = softmax(np.where(np.tril(np.ones((12, 12))) > 0, scores, -np.inf) if causal else scores - scores.max())
    *both, whole = charts(at)
    row = both[causal]
    assert mark(row, "bar").values("x") == pytest.approx(weights[4].tolist(), abs=1e-9)
    assert mark(both[True], "bar").values("x")[5:] == [0.0] * 7  # "good" sees no later word there
    assert mark(row, "bar").labels("y") == mark(whole, "rect").labels("x") == list(TOKENS)
    assert same(matrix(whole), weights)
    context = weights[4] @ values
    assert f"Context [{context[0]:.2f}, {context[1]:.2f}]" in words(at)
    assert f"{(weights.max(-1) < 0.2).sum()} of 12 rows" in words(at)


def test_annotated_heatmap():
    at = stop("annotated-heatmap", example="twelve tokens", causal=False, **{"Q = K of soundtrack": "0, 2"})
    states = np.zeros((12, 2))
    states[3] = states[4] = (0, 1)
    states[8], states[10] = (0, 2), (19, 19)
    scores = states @ states.T / math.sqrt(2)
    weights = softmax(scores - scores.max(-1, keepdims=True))
    (chart,) = charts(at)
    assert same(matrix(chart), weights)
    printed = mark(chart, "text")
    assert printed.channels["text"]["format"] == ".2f" and same(printed.values("text"), weights.flatten())
    assert printed.channels["color"]["condition"]["test"].endswith(f"> {0.6 * weights.max()}")


def test_kernel_source():
    at = stop("kernel", example="it")
    shown = "\n".join(element.value for element in at.code)
    assert "def attend(" in shown and all(
        line in shown for line in ("scores = query @ key", "context = weights @ value")
    )
    picture = (
        at.get("vega_lite_chart")[0].proto.spec.replace("\u00a0", " ").replace("\\u00a0", " ").replace("\u200b", "")
    )
    assert "def attend(query, key, value, mask, scale, terms):" in picture
    assert '"    scores = query @ key.transpose(-2, -1)' in picture.replace(
        "\\u200b", ""
    )  # indented, as Python needs it
    texts = [text.replace("\u00a0", " ") for text in mark(charts(at)[0], "text").values("text")]
    trace = kernel.attend(*(torch.tensor(n).double() for n in ([(3, 1)], worked_example.KEYS, worked_example.VALUES)))
    for name in ("scores", "scaled", "weights", "context"):
        row = ", ".join(f"{number:.2f}" for number in getattr(trace, name)[0].tolist())
        assert any(re.match(rf"{name}\s+\(1, \d\)\s+{re.escape(f'[{row}]')}$", text) for text in texts), name


def test_the_kernel_runs_all_heads_of_a_layer_at_once(encoder):
    at = stop("kernel", example="all heads of a real layer")
    texts = [text.replace("\u00a0", " ") for text in mark(charts(at)[0], "text").values("text")]
    encoding = encoder.encode(one_head_by_hand.REAL.first)
    n = len(encoding.tokens)
    weights = encoder.reference_weights(encoding.text)[0, 11, encoding.words[1].start]
    row = ", ".join(f"{number:.2f}" for number in weights[:6].tolist())
    assert any(re.match(rf"weights\s+\(12, {n}, {n}\)\s+{re.escape(f'[{row}, …]')}$", text) for text in texts)
    assert "in head 11: weights" in words(at)


def test_gradients():
    at = stop("learned", target="because", steps=3, rate=0.5)
    query, keys = np.array([3.0, 1.0]), np.array(worked_example.KEYS)
    history = []
    for step in range(4):
        weights = softmax(keys @ query / math.sqrt(2))
        history.append(weights)
        # The formula on the page; for the keys d w_i / d k_j = w_i (delta_ij - w_j) q / sqrt(d).
        for_query = weights[2] / math.sqrt(2) * (keys[2] - weights @ keys)
        for_keys = weights[2] * (np.eye(3)[2] - weights)[:, None] * query / math.sqrt(2)
        if step == 0:
            expected = np.vstack([for_query, for_keys])
        query, keys = query + 0.5 * for_query / weights[2], keys + 0.5 * for_keys / weights[2]
    gradient, curve = charts(at)
    assert same(matrix(gradient), expected)
    assert mark(gradient, "rect").labels("y")[0] == "query of it"
    for place, token in enumerate(worked_example.TOKENS):
        assert list(lines(curve)[token].values()) == pytest.approx([weights[place] for weights in history])
    assert f'"because" has {history[-1][2]:.2f} instead of {history[0][2]:.2f}' in words(at)


def test_word_order():
    at = stop("order", words="rain follows sun today")
    first, second = (matrix(chart) for chart in charts(at))
    assert same(first, second[::-1])  # each word's context, wherever it stands
    assert mark(charts(at)[1], "rect").labels("y") == ["today", "sun", "follows", "rain"]
    change(at, "order", positions=True)
    first, second = (matrix(chart) for chart in charts(at))
    assert not same(first, second[::-1], 0.05)
    assert (
        max(word_order.both_orders(("dog", "bites", "man"), True)[0].weights.flatten().tolist()) < 0.9
    )  # none saturates
    change(at, "order", words="sun sun")
    assert not charts(at) and "Expected two to 8 different words" in at.error[0].value
    at.button(key="order.reset").click().run()
    assert mark(charts(at)[0], "rect").labels("y") == ["dog", "bites", "man"]


def test_not_symmetric(encoder):
    scores, weights = charts(stop("not-symmetric"))
    queries = np.array([(0, 0), (1, 1), (0, 0), (0, 0), (0, 3)])
    assert same(matrix(scores), queries @ queries.T)
    assert same(matrix(weights), softmax(queries @ queries.T / math.sqrt(2)))
    sentence = "My bank charges a fee."
    at = stop("not-symmetric", example="a real head", sentence=sentence, layer=3, head=1)
    expected = encoder.reference_weights(sentence)[3, 1].numpy()
    assert same(matrix(charts(at)[1]), expected, 1e-5)
    row, column = np.unravel_index((expected - expected.T).argmax(), expected.shape)
    a, b = (mark(charts(at)[1], "rect").labels("y")[place] for place in (row, column))
    assert (
        f'"{a}" gives "{b}" {weight(expected[row, column])}; "{b}" gives "{a}" {weight(expected[column, row])}.'
        in words(at)
    )


def test_textbook_weights(encoder):
    textbook = TEXTBOOK[2]
    at = stop("drawn-numbers", which=textbook.title)
    encoding = encoder.encode(textbook.sentence)
    own = encoder.reference_weights(textbook.sentence)
    places = [encoding.places(word)[0].positions[0] for word in ("it", "animal", "street", "tired")]
    between = own[:, :, places[0], places[1:]]
    share = between / between.sum(-1, keepdim=True)
    printed = torch.tensor(textbook.weights[0])
    distance = (share - printed / printed.sum()).abs().sum(-1) / 2
    order = distance.flatten().argsort()
    drawn, average, nearest, middle, whole = charts(at)
    mean = between.mean((0, 1))
    assert same(matrix(average), (mean / mean.sum())[None], 1e-5)
    assert same(matrix(drawn), textbook.weights)
    for chart, place in ((nearest, order[0]), (middle, order[36])):
        assert same(matrix(chart), share.flatten(0, 1)[place][None], 1e-5)
        assert mark(chart, "rect").domain("color") == mark(drawn, "rect").domain("color")
    assert same(matrix(whole), own.flatten(0, 1)[order[0]], 1e-5)
    kept = float(between.sum(-1).flatten()[order[0]])
    assert f"these words get {kept:.2f} of its weight" in words(at)
    parts = json.loads(at.get("vega_lite_chart")[0].proto.spec)["vconcat"][0]["concat"]
    assert parts[2]["title"]["text"] == f"Nearest head: L{order[0] // 12} H{order[0] % 12}"
    near = int(((distance < 0.1) & (between.sum(-1) >= 0.25)).sum())
    assert near == 0 and "0 of 72 heads come within .10 of the drawn numbers with a quarter" in words(at)


def test_the_thread_through_projections_and_residual():
    for sentence, sign in (("river", 1), ("loan", -1)):
        at = stop("residual", sentence=sentence)
        (table,) = charts(at)
        weights = softmax(np.array([-2, 2, -2 if sentence == "river" else -1, -2, 3]) / math.sqrt(2))
        value = np.array([[0, 0], [0, 0], [0, 0] if sentence == "river" else [1, -1], [0, 0], [-3 * sign, 3 * sign]])
        added = np.append(weights @ value / 2, 0)
        total = np.array([1, 1, 0]) + added
        assert same(matrix(table), [[1, 1, 0], added, total, (total - total.mean()) / total.std()])


def test_the_order_of_a_real_encoder_is_said_to_its_end():
    at = stop("order")
    assert "Without positions the two vectors differ by" in words(at)


@pytest.mark.parametrize(("sentence", "hidden"), [("river", 4), ("river", 0), ("loan", 2)])
def test_hide_a_word(sentence, hidden):
    at = stop("hide-a-word", sentence=sentence)
    at.selectbox(key="hide-a-word.hidden").set_value(hidden).run()
    scores = np.array([-2, 2, -2 if sentence == "river" else -1, -2, 3]) / math.sqrt(2)
    value = np.array([[0, 0], [0, 0], [0, 0] if sentence == "river" else [1, -1], [0, 0], [-3, 3]])
    value[4] *= 1 if sentence == "river" else -1
    masked = np.where(np.arange(5) == hidden, -np.inf, scores)
    drawn, weights, after = charts(at)
    rows = [layer.records["v"].tolist() for layer in drawn if layer.kind == "rect" and "v" in layer.records]
    assert rows[0] == pytest.approx(scores, rel=1e-5) and rows[1] == pytest.approx(
        masked[np.isfinite(masked)], rel=1e-5
    )
    rows = [layer.records["v"].tolist() for layer in weights if layer.kind == "rect" and "v" in layer.records]
    assert rows[0] == pytest.approx(softmax(scores), abs=1e-6) and rows[1] == pytest.approx(softmax(masked), abs=1e-6)
    made = [[1, 1] + softmax(each) @ value / 2 for each in (scores, masked)]
    assert same(matrix(after), made)
    said = words(at).replace("−", "-")
    for each, result in zip((scores, masked), made):  # the sum that is said, added up
        terms = re.findall(r"([\d.]+) × \[(\S+), (\S+)\]", re.search(rf"\(([^()]*)\) = \[{result[0]:.2f}", said)[1])
        assert len(terms) == int(((softmax(each) > 0) & value.any(1)).sum())
        assert np.array([1, 1]) + sum(
            float(w) * np.array([float(x), float(y)]) for w, x, y in terms
        ) / 2 == pytest.approx(result, abs=0.005)


def test_a_word_is_hidden_in_the_real_encoder(encoder):
    at = stop("real-head")
    pair = one_head_by_hand.REAL
    a, b = (encoder.encode(sentence).places("bank")[0] for sentence in pair.sentences[:2])
    means = sense_means(encoder, labelled_rows("bank"), "bank")
    own, other = (
        means.way(each.sentence, normalize(each.sentence.vector(6, each.positions), dim=0).double()).axis
        for each in (a, b)
    )
    for chart, placed, way in zip(charts(at), (a, b), (own, other), strict=True):
        others = [word for word in placed.others if not word.is_punctuation]
        before = normalize(placed.sentence.vector(6, placed.positions), dim=0)
        hidden = normalize(
            encoder.hide(placed.sentence.text, placed.positions, [word.positions for word in others]), dim=-1
        )
        share = (hidden - before).double() @ way / way.square().sum()
        assert list(bars(chart)) == [word.label for word in others]
        assert list(bars(chart).values()) == pytest.approx(share.tolist(), abs=1e-4)
    # What the text says beside: unread by all, or never said, "river" leaves "bank" half way; and a head's large weight.
    ids, river = torch.tensor([a.sentence.ids]), list(a.sentence.places("river")[0].positions)
    seen = torch.ones_like(ids).index_fill(1, torch.tensor(river), 0)
    with torch.no_grad():
        unread = encoder.model(input_ids=ids, attention_mask=seen).last_hidden_state[0, list(a.positions)].mean(0)
    unsaid = encoder.encode("The bank of the.")
    unsaid = unsaid.vector(6, unsaid.places("bank")[0].positions)
    before = normalize(a.sentence.vector(6, a.positions), dim=0)
    said = [
        100 * float((normalize(each, dim=0) - before).double() @ own / own.square().sum()) for each in (unsaid, unread)
    ]
    assert re.findall(r"(\d+) %", STOPS["real-head"].REASON) == [f"{share:.0f}" for share in said]
    weight = float(a.sentence.weights(0, 10)[list(a.positions), river].squeeze())
    assert f"Head 10 of layer 0 gives *river* {weight:.2f}" in STOPS["real-head"].IDEA
    assert all(sentence in words(at) for sentence in pair.sentences[:2])


def test_the_diagram_leads_to_every_step():
    at = stop("one-vector", reveal=False)
    boxes = [button for button in at.button if (button.key or "").startswith("flow.")]
    assert [box.label for box in boxes][:6] == ["embeddings", "Q, K, V", "scores", "softmax", "weighted sum", "context"]
    at.button(key="flow.softmax").click().run()
    assert at.query_params["stop"] == "three-words"
    assert at.subheader[0].value == STOPS["three-words"].TITLE
