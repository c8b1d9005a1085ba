"""Every stop of the guided path: what it draws and says equals an independent computation, for inputs typed just now."""

import json
import math
import re
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.learn.from_scratch.class_materials import PLAN, link
from pages.learn.from_scratch.lesson_pages import FIRST, STOPS
from selfattn import kernel
from selfattn.analysis.what_if import four_ways
from selfattn.captions.terms import TERMS
from selfattn.dashboard.figures import Page
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.lessons import key_length, random_projections, scaling, soft_lookup, worked_example
from selfattn.lessons.textbook_weights import TEXTBOOK
from selfattn.lessons.twelve_tokens import TOKENS
from selfattn.numbers import decimal
from tests.pages.conftest import APP
from tests.pages.pictures import bars, charts, lines, mark, matrix, same, tips

pytestmark = pytest.mark.slow

PAGE = APP.parent / "pages/learn/from_scratch/page.py"


def stop(slug, reveal=True, **typed):
    """The stop, its question answered unless told otherwise, then with other values in its widgets."""
    at = AppTest.from_file(str(PAGE), default_timeout=120)
    at.session_state.page_record = Page(asked=(BUNDLED_NAME, "", "cpu", "float32"))  # as the frame's sidebar says
    at.query_params["stop"] = slug
    if reveal:
        at.query_params["reveal"] = "yes"
    at.run()
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
        ("soft-lookup", None, '"rivers" fits best. At T = 1 it gets 0.33 of 1.00.'),
        # The thread, recomputed by hand: scores 3, 2 and −2 over the root of 2.
        ("projections", None, '"bank" becomes the query [1.00, 1.00]'),
        ("dot-product", None, "(1 × 0) + (1 × 3)  =  3"),
        ("magnitude", None, "loan: 2; stream: 1.5."),
        (
            "scaling",
            None,
            "are [−32.0, 32.0, −32.0, −32.0, 48.0]; their largest weight: divided 0.63, left alone 1.00, multiplied 1.00",
        ),
        ("three-words", None, "0.02 + 0.31 + 0.02 + 0.02 + 0.63 = 1."),
        ("worked-example", None, "=  [−1.90, 1.90]"),
        ("residual", None, '[0.05, 1.95, 0.00]. "bank" is now more about water.'),
        ("real-head", None, '"bank" gives "river" 0.62.'),
        ("real-head", None, '"bank" gives "loan" 0.05.'),
        ("real-head", None, "goes 11 % of the way to B's; from another river sentence, the control, 5 %."),
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
    assert STOPS[slug].IDEA.count(". ") <= 2 and STOPS[slug].IDEA in said
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
    assert len(charts(at)) == 8


def test_previous_and_next_walk_the_path_and_write_the_address():
    at = AppTest.from_file(str(PAGE), default_timeout=120).run()
    assert at.button[0].disabled
    at.button[1].click().run()
    assert at.query_params["stop"] == "projections"
    assert at.subheader[0].value == STOPS["projections"].TITLE
    at.selectbox(key="choice of stop").set_value("drawn-numbers").run()
    assert at.query_params["stop"] == "drawn-numbers"
    at.button[1].click().run()
    assert at.query_params["stop"] == "real-head"
    assert at.button[1].disabled


def test_the_right_answer_has_no_place_of_its_own():
    places = []
    for slug in STOPS:
        at = stop(slug, reveal=False)
        if not hasattr(STOPS[slug], "answer"):
            places.append(at.radio(key=f"{slug}.prediction").options.index(STOPS[slug].OPTIONS[0]))
    assert max(map(places.count, set(places))) <= len(places) / 2


def test_an_unknown_stop_opens_the_first():
    assert stop("nowhere").subheader[0].value == STOPS["soft-lookup"].TITLE


def test_class_links_open_a_question_unrevealed():
    assert link("http://host:8501/from-scratch?stop=order&reveal=yes", "scaling") == (
        "http://host:8501/from-scratch?stop=scaling"
    )
    links = stop("scaling").dataframe[-1].value
    assert [address.partition("?stop=")[2] for address in links["link"]] == list(STOPS)
    assert links["question"].tolist()[0] == STOPS["soft-lookup"].QUESTION.replace("*", "")


def test_the_lesson_plan_is_the_one_in_docs():
    text = (APP.parent / "docs/teaching.md").read_text("utf-8")
    assert all(f"| {' | '.join(row)} |" in text for row in PLAN)


@pytest.mark.parametrize("typed", ["", "nan, 1", "1e12, 1", "three, one", "3", "$x$, :red[1]"])
def test_bad_numbers_get_a_message_and_no_traceback(typed):
    at = change(stop("worked-example", example="it"), "worked-example", **{"query of “it”": typed})
    assert at.error[0].value == "These numbers can't be used."
    assert "expected" in words(at)
    assert len(charts(at)) == 0


def test_a_sentence_that_no_encoder_reads_gets_a_message():
    at = stop("not-symmetric", sentence="   ")
    assert at.error


# The stops


def test_soft_lookup():
    at = stop("soft-lookup", query="1, -0.5", t=0.3)
    keys = np.array(soft_lookup.KEYS)
    scores = keys @ [1, -0.5]
    weights = softmax(scores / 0.3)
    score, weight, sheets = charts(at)
    assert bars(score) == pytest.approx(dict(zip(soft_lookup.DRAWERS, scores)))
    assert bars(weight) == pytest.approx(dict(zip(soft_lookup.DRAWERS, weights)))
    assert bars(sheets) == dict(zip(soft_lookup.DRAWERS, soft_lookup.SHEETS))
    assert f"Hard answer 80.0 sheets, all from it; soft answer {weights @ soft_lookup.SHEETS:.1f}." in words(at)
    assert '"loans" fits best.' in words(at)
    at = stop("soft-lookup")
    assert "At T = 1 it gets 0.33" in words(at)
    for chart in charts(at):  # one drawer marked in all three: the one that fits best, not the fullest
        assert mark(chart, "bar").records["largest"].tolist() == [False, False, True, False]


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


def test_key_length():
    at = stop("magnitude", example="the source's", query="2, 1", **{"long, misaligned": "0, 5"})
    keys = np.array([key_length.KEYS[0], (0, 5), key_length.KEYS[2]])
    scores = keys @ [2, 1]
    expected = (scores, scores / math.sqrt(2), scores / (math.sqrt(5) * np.linalg.norm(keys, axis=1)))
    for chart, numbers in zip(charts(at)[:3], expected, strict=True):
        assert bars(chart) == pytest.approx(dict(zip(key_length.NAMES, numbers)))
        largest = mark(chart, "bar").records["largest"].tolist()
        assert largest == (numbers == max(numbers)).tolist()
    said = f"the scaled score of the key [0, 5] is {5 / math.sqrt(2):.2f}, of one twice as long {10 / math.sqrt(2):.2f}"
    assert said in words(at)


def test_scaling(encoder):
    sentence = "She opened an account at the bank."
    at = stop("scaling", n=8, seed=3, sentence=sentence)
    *three, _, variance, entropy, gradient, spread = charts(at)
    scores = np.array([-5, -1, -5, -5, 0]) * (512 / 2) ** 0.5  # 3 less each, so that exp can't overflow
    for chart, scale in zip(three, (512**-0.5, 1, 512**0.5), strict=True):
        assert list(bars(chart).values()) == pytest.approx(softmax(scores * scale))
    measured = scaling.measure(n_keys=8, seed=3).set_index("d_k")
    for chart, column in ((variance, "variance"), (entropy, "entropy"), (gradient, "gradient")):
        assert lines(chart)["as it is"] == pytest.approx(measured.loc[~measured["scaled"], column].to_dict())
        assert lines(chart)["divided by √d_k"] == pytest.approx(measured.loc[measured["scaled"], column].to_dict())
    encoding = encoder.encode(sentence)
    expected = [[encoding.trace(layer, head).scaled.std() for head in range(12)] for layer in range(6)]
    assert same(matrix(spread), expected)
    assert f"largest {np.max(expected):.2f} in L{np.argmax(expected) // 12} H{np.argmax(expected) % 12}" in words(at)


def test_softmax():
    at = stop("three-words", example="good, not, the", query="2, 0", **{"2 not": "-1, 1"})
    score = np.array([0, -2, 0])
    scaled = score / math.sqrt(2)
    for chart, numbers in zip(charts(at)[:4], (score, scaled, np.exp(scaled), softmax(scaled)), strict=True):
        assert bars(chart) == pytest.approx(dict(zip(("good", "not", "the"), numbers)), abs=1e-12)


def test_a_rows_budget():
    at = stop("three-words", more=2.0, others=50)
    score = np.array([-2, 2, -2, -2, 5.0])
    weights = softmax(np.concatenate([score, np.zeros(50)]) / math.sqrt(2))
    assert list(bars(charts(at)[3]).values()) == pytest.approx(weights[:5])
    assert "The 50 more words share the rest." in words(at)


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
    at.slider(key="padding-mask.extra").set_value(3)
    at.selectbox(key="padding-mask.row").set_value(4).run()
    n = len(encoder.encode("One two three.").tokens)
    trace = encoder.encode("One two three.", pad_to=n + 3).trace(3, 7)
    masked, weights = charts(at)
    drawn = mark(weights, "rect").records["v"].tolist()
    assert drawn == pytest.approx(trace.weights[4].tolist(), abs=1e-5) and drawn[n:] == [0.0] * 3
    assert mark(masked, "rect").records["v"].tolist() == pytest.approx(trace.masked[4, :n].tolist(), rel=1e-4)
    signs = mark(masked, "text")
    assert signs.records["i"].tolist() == [n, n + 1, n + 2]
    assert f"{n} tokens and 3 of padding. Padding gets exactly 0" in words(at)
    assert f"The mask hides 3 of {n + 3} tokens in this row." in words(at)


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
    row, whole = charts(at)
    assert mark(row, "bar").values("x") == pytest.approx(weights[4].tolist(), abs=1e-9)
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
    picture = at.get("vega_lite_chart")[0].proto.spec.replace("\u00a0", " ").replace("\\u00a0", " ")
    assert "def attend(query, key, value, mask, scale, terms):" in picture
    texts = [text.replace("\u00a0", " ") for text in mark(charts(at)[0], "text").values("text")]
    trace = kernel.attend(*(torch.tensor(n).double() for n in ([(3, 1)], worked_example.KEYS, worked_example.VALUES)))
    for name in ("scores", "scaled", "weights", "context"):
        row = ", ".join(f"{number:.2f}" for number in getattr(trace, name)[0].tolist())
        assert any(re.match(rf"{name}\s+\(1, \d\)\s+{re.escape(f'[{row}]')}$", text) for text in texts), name


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
    assert same(first, second[::-1, ::-1])
    assert mark(charts(at)[1], "rect").labels("y") == ["today", "sun", "follows", "rain"]
    said = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(("rain", "follows", "sun", "today"), first[0]))
    assert f"rain attends to: {said}." in words(at)
    change(at, "order", positions=True)
    first, second = (matrix(chart) for chart in charts(at))
    assert not same(first, second[::-1, ::-1], 0.01)
    change(at, "order", words="sun sun")
    assert not charts(at) and "Expected two to 8 different words" in at.error[0].value
    at.button(key="order.reset").click().run()
    assert mark(charts(at)[0], "rect").labels("y") == ["dog", "bites", "man"]


def test_not_symmetric(encoder):
    sentence = "My bank charges a fee."
    at = stop("not-symmetric", sentence=sentence, layer=3, head=1)
    expected = encoder.reference_weights(sentence)[3, 1].numpy()
    weights, difference = charts(at)
    assert same(matrix(weights), expected, 1e-5)
    assert same(matrix(difference), expected - expected.T, 1e-5)
    row, column = np.unravel_index((expected - expected.T).argmax(), expected.shape)
    a, b = (mark(weights, "rect").labels("y")[place] for place in (row, column))
    assert f'"{a}" gives "{b}" {expected[row, column]:.2f}; "{b}" gives "{a}" {expected[column, row]:.2f}.' in words(at)


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


def test_the_path_ends_in_the_main_view():
    link_ = next(each.value for each in stop("real-head").markdown if "hide a word from it" in each.value)
    query = parse_qs(urlparse(link_.split("(")[1].rstrip(")")).query)
    assert [query[key] for key in ("a", "b", "word", "head")] == [
        ["The bank of the river."], ["The bank approved the loan."], ["bank"], ["L0 H10"],
    ]  # fmt: skip


def test_the_diagram_leads_to_every_step():
    at = stop("soft-lookup", reveal=False)
    boxes = [button for button in at.button if (button.key or "").startswith("flow.")]
    assert [box.label for box in boxes][:6] == ["embeddings", "Q, K, V", "scores", "softmax", "weighted sum", "context"]
    at.button(key="flow.softmax").click().run()
    assert at.query_params["stop"] == "three-words"
    assert at.subheader[0].value == STOPS["three-words"].TITLE
