"""Test that the figure of a head's steps (component `kernel`) shows the numbers of the head's AttentionTrace."""

import inspect
import json
import math
import re
from types import SimpleNamespace

import pytest
import torch

from selfattn import Hide, attend, numbers
from selfattn.analysis.what_if import change
from selfattn.encoders.capture import Head
from selfattn.kernel import AttentionTrace
from selfattn.kernel_inputs import Term
from selfattn.views.kernel_data import _division, factor
from selfattn.views.kernel_row import LEADING, MOST, QueryRow, leading, word_row
from selfattn.views.kernel_view import kernel_panel

TEXTS = {"A": ("We sat on the bank of the river.", "river"), "B": ("We went to the bank for a loan.", "loan")}
HEAD = Head(0, 10)
LONG = "We sat on the bank of the river " + "and looked at the water that ran over the stones " * 7


def rows_of(encoder, hidden=False, **more):
    found = []
    for name, (text, other) in TEXTS.items():
        word, key = (encoder.encode(text).places(each)[0] for each in ("bank", other))
        encoding = encoder.encode(text, hidden=[Hide(word.positions, key.positions)] if hidden else ())
        found.append(word_row(encoding.places("bank")[0], HEAD, name, **more))
    return found


def data_of(rows, **more):
    return kernel_panel(rows, **more).live.data


def value(text):
    return 0.0 if text.startswith("under") else float(text.replace("−", "-").replace("∞", "inf"))


def short(text):
    return text.replace("under ", "<")


def strip(values, places):
    return [numbers.decimal(each, places) for each in values.flatten().tolist()]


def printed(text, places):
    """Return a vector's numbers as the browser prints them."""
    return [numbers.decimal(int(part) / 10**places, places) for part in text.split(",")]


def check_cells(data, rows):
    places = data["places"]
    for side, row in zip(data["sides"], rows):
        assert side["query"]["at"] == row.query
        assert printed(side["query"]["values"], places["vectors"]) == strip(row.of("query"), places["vectors"])
        assert printed(side["context"], places["handed"]) == strip(row.of("context"), places["handed"])
        for each in side["rows"]:
            at, cells = each["at"], each["cells"]
            weight = row.of("weights")[at]
            expected = {
                "score": numbers.decimal(row.of("query") @ row.trace.key[at]),
                "scaled": numbers.decimal(row.of("scaled")[at]),
                "masked": numbers.decimal(row.of("masked")[at]),
                "exponential": short(numbers.weight(row.of("exponentials")[at])),
                "weight": short(numbers.weight(weight)),
                **{f"term {term.name}": numbers.decimal(term.values[row.row, at]) for term in row.trace.terms},
            }
            columns = {column["id"] for column in data["columns"] if column["kind"] != "strip"}
            assert cells == {name: text for name, text in expected.items() if name in columns}
            assert each["fine"] == numbers.decimal(weight, 4)
            for name, values in (
                ("products", row.of("query") * row.trace.key[at]),
                ("keys", row.trace.key[at]),
                ("values", row.trace.value[at]),
                ("handed", weight * row.trace.value[at]),
            ):
                own = places.get(name, places["vectors"])
                assert printed(each[name], own) == strip(values, own)


STEPS = {
    "scaled": re.compile(r"(\S+) (.+) = (\S+)"),
    "exponential": re.compile(r"e\^\((\S+) − (\S+)\) = (.+)"),
    "weight": re.compile(r"(.+) ÷ (\S+) = (.+)"),
}


def check_arithmetic(data, scale):
    """Check that each step follows from the printed numbers."""
    for side in data["sides"]:
        for row in side["rows"]:
            steps, text = dict(row["steps"]), row["text"]
            if row["hidden"]:
                assert steps["masked"] == "hidden: −∞" and row["cells"]["weight"] == "0.00"
                continue
            last = steps["score"].removeprefix("query · key = ")
            if "scaled" in steps:
                score, _, scaled = STEPS["scaled"].fullmatch(steps["scaled"]).groups()
                assert score == last, text
                assert numbers.decimal(value(score) * scale, places(scaled)) == scaled, (text, steps)
                last = scaled
            if "masked" in steps:
                parts, total = steps["masked"].split(" = ")
                first, *more = parts.split(" ")
                assert first == last
                added = sum(value(number) * (1 if sign == "+" else -1) for sign, number in zip(more[::2], more[1::2]))
                computed = numbers.decimal(value(first) + added, places(total))
                assert computed == total or value(total) < -1e6, (text, steps)
                last = total
            x, largest, power = STEPS["exponential"].fullmatch(steps["exponential"]).groups()
            assert x == last
            computed = math.exp(value(x) - value(largest.strip("()")))
            if power.startswith("under"):
                assert computed < 0.0001
            else:
                assert numbers.decimal(computed, places(power)) == power, (text, steps)
            share, total, weight = STEPS["weight"].fullmatch(steps["weight"]).groups()
            assert share == power and short(weight) == row["cells"]["weight"]
            assert numbers.weight(value(share) / value(total)) == weight or weight.startswith("under"), (text, steps)


def places(text):
    return len(text.partition(".")[2])


@pytest.mark.parametrize("head", [(0, 10), (2, 3), (5, 7)])
def test_printed_numbers_match_computed_tensors(encoder, head):
    rows = [word_row(encoder.encode(text).places("bank")[0], Head(*head), name) for name, (text, _) in TEXTS.items()]
    data = data_of(rows)
    assert [column["id"] for column in data["columns"]] == [
        *("products", "score", "scaled", "exponential", "weight", "handed")
    ]
    check_cells(data, rows)
    check_arithmetic(data, 1 / math.sqrt(32))
    assert len(json.dumps(data, separators=(",", ":"))) < 60_000


def test_default_sentences_have_known_numbers(encoder):
    panel = kernel_panel(rows_of(encoder), head=HEAD, errors=(1.2e-7, 3e-7))
    assert panel.live.data["findings"] == [
        '"bank" gives "river" most of its weight: 0.63.',
        '"bank" gives [CLS] its largest weight: 0.24.',
    ]
    assert panel.finding == " ".join(f"In {name}, {each}" for name, each in zip("AB", panel.live.data["findings"]))
    river = panel.live.data["sides"][0]["rows"][8]
    assert river["steps"] == [
        ["score", "query · key = 17.453"],
        ["scaled", "17.453 ÷ √32 = 3.09"],
        ["exponential", "e^(3.09 − 3.09) = 1.00"],
        ["weight", "1.00 ÷ 1.58 = 0.63"],
    ]
    assert panel.live.data["sides"][0]["sums"] == {"scaled": "3.09", "exponential": "1.58", "weight": "1.00"}
    assert panel.live.data["below"] == [
        "These weights are recomputed. On the same inputs, the model's own weights differ from them by at most 0.0000002. In "
        "a second run, the model's own weights differ from the recomputed weights by at most 0.0000003."
    ]
    assert panel.alt.startswith("Head 10 of layer 0") and '"river" 0.63' in panel.alt


def test_equal_words_of_both_sentences_are_matched(encoder):
    a, b = data_of(rows_of(encoder))["sides"]
    text = {row["at"]: row["text"] for row in b["rows"]}
    matched = {row["text"]: text[row["pair"]] for row in a["rows"] if row["pair"] is not None}
    assert matched == {"[CLS]": "[CLS]", "We": "We", "the": "the", "bank": "bank", ".": ".", "[SEP]": "[SEP]"}
    assert all(a["rows"][row["pair"]]["pair"] == row["at"] for row in b["rows"] if row["pair"] is not None)


def test_hidden_word_has_zero_weight(encoder):
    rows = rows_of(encoder, hidden=True)
    data = data_of(rows)
    check_cells(data, rows)
    check_arithmetic(data, 1 / math.sqrt(32))
    river, river_before = (each["sides"][0]["rows"][8] for each in (data, data_of(rows_of(encoder))))
    assert river["hidden"] and not river_before["hidden"]
    assert river["cells"] == river_before["cells"] | {"masked": "−∞", "exponential": "0.00", "weight": "0.00"}
    assert dict(river["steps"])["masked"] == "hidden: −∞"
    assert next(each for each in data["columns"] if each["id"] == "masked")["about"] == "−∞: hidden"
    grown = [rows[0].of("weights")[at] / rows_of(encoder)[0].of("weights")[at] for at in (0, 5, 10)]
    assert grown == pytest.approx([1 / (1 - 0.6327)] * 3, rel=1e-3)


def test_tokens_with_small_weights_share_one_row(encoder):
    placed = encoder.encode(LONG).places("bank")[0]
    row = word_row(placed, HEAD)
    n, weights = len(row.tokens), row.of("weights")
    assert n > MOST == 64 and LEADING == 24
    data = data_of(row)
    (side,) = data["sides"]
    check_cells(data, [row])
    kept = [each["at"] for each in side["rows"]]
    assert len(kept) == LEADING and row.query in kept
    largest = set(weights.argsort(descending=True)[:LEADING].tolist())
    assert set(kept) - {row.query} <= largest
    rest = sorted({*range(n)} - {*kept})
    assert side["rest"]["text"] == f"{n - LEADING} other tokens"
    assert side["rest"]["cells"] == {
        "exponential": numbers.weight(row.of("exponentials").double()[rest].sum()),
        "weight": numbers.weight(weights.double()[rest].sum()),
    }
    handed = (weights[rest, None].double() * row.trace.value[rest].double()).sum(0)
    assert printed(side["rest"]["handed"], 3) == strip(handed, 3)
    every = sum(int(part) for part in side["rest"]["handed"].split(",")) + sum(
        sum(map(int, each["handed"].split(","))) for each in side["rows"]
    )
    assert every == pytest.approx(sum(map(int, side["context"].split(","))), abs=0.5 * 32 * (LEADING + 2))
    power = next(each for each in data["columns"] if each["id"] == "exponential")
    assert power["ends"] == [0, max(1, value(side["rest"]["cells"]["exponential"]))]
    assert any(
        line.startswith(f"In a sentence of more than {MOST} tokens, only the {LEADING}") for line in data["below"]
    )


@pytest.mark.parametrize("n", [MOST, MOST + 1])
def test_small_weights_are_merged_only_in_long_sentences(n):
    torch.manual_seed(n)
    row = QueryRow(trace=attend(*torch.randn(3, n, 8)), tokens=tuple(map(str, range(n))), query=3)
    kept, rest = leading(row)
    assert (len(kept), len(rest)) == ((MOST, 0) if n == MOST else (LEADING, n - LEADING))
    largest = [at for at in row.of("weights").argsort(descending=True).tolist() if at != 3]
    assert kept == (list(range(n)) if n == MOST else sorted([3, *largest[: LEADING - 1]]))
    assert sorted(kept + rest) == list(range(n))
    data = data_of(row)
    assert len(data["below"]) == (n > MOST)
    if rest:
        assert data["sides"][0]["rest"]["fine"] == numbers.decimal(row.of("weights").double()[rest].sum(), 4)


def test_hand_made_attention_row_gives_expected_data():
    """The figure has a column for an added term of zeros, but none for a mask of zeros."""
    terms = [Term("bias", torch.tensor([[math.log(2), 0.0, 0.0]])), Term("none", torch.zeros(1, 3))]
    keys, values = torch.tensor([[0.5, 1.0], [2.0, -1.5], [0.0, 3.0]]), torch.tensor([[0.4, 0.8, -0.4, 0.0]] * 3)
    trace = attend(torch.zeros(1, 2), keys, values, torch.zeros(1, 3), terms=terms)
    row = QueryRow(trace=trace, tokens=tuple("abc"), query=0, name="A")
    panel = kernel_panel(row)
    data = panel.live.data
    assert panel.finding == '"a" gives itself most of its weight: 0.50.'
    assert (panel.sentences, kernel_panel([row, row]).sentences) == (("A",), ())
    assert data["places"] == {"vectors": 1, "products": 0, "handed": 1}
    ends = {column["id"]: column["ends"] for column in data["columns"] if column["kind"] != "strip"}
    assert ends == {
        "score": [0, 1], "scaled": [0, 1], "term bias": [0, 0.69], "term none": [0, 1], "masked": [0, 0.69],
        "exponential": [0, 1], "weight": [0, 1],
    }  # fmt: skip
    assert data["sides"][0]["rows"][1]["steps"] == [
        ["score", "query · key = 0.00"], ["scaled", "0.00 ÷ √2 = 0.00"], ["masked", "0.00 + 0.00 + 0.00 = 0.00"],
        ["exponential", "e^(0.00 − 0.69) = 0.50"], ["weight", "0.50 ÷ 2.00 = 0.25"],
    ]  # fmt: skip
    second = panel.tables["dimensions"][["product", "handed"]].to_numpy()[4:8].ravel()
    assert second == pytest.approx([0, 0.1, 0, 0.2, math.nan, -0.1, math.nan, 0], nan_ok=True)


def test_figure_shows_source_code_of_attend():
    whole = inspect.getsource(attend).splitlines()
    start, stop = (at for at, line in enumerate(whole) if '"""' in line)
    code = data_of(QueryRow(trace=wide(1.0), tokens=("a",) * 30, query=0))["code"]
    assert [line["text"] for line in code] == [*whole[:start], *whole[stop + 2 :]] and "check_inputs" in whole[stop + 1]
    made = [line["makes"] for line in code if line["makes"]]
    assert made == [
        "scale",
        "scores",
        "scaled",
        "masked",
        "maximum",
        "shifted",
        "exponentials",
        "total",
        "weights",
        "context",
    ]


def test_printed_numerator_and_denominator_give_printed_weight():
    assert _division(0.002636204657974942, 4.410395029710836, 0.0005977252922280259, 2) == ("0.0026", "4.410", "0.0006")


@pytest.mark.parametrize("name", ["T5 (encoder half)", "DeBERTa-v3"])
def test_each_term_added_to_scores_has_column(encoder_of, name):
    encoder = encoder_of(name)
    row = word_row(encoder.encode("the rain fell.").places("rain")[0], Head(0, 1), "A")
    data = data_of(row)
    check_cells(data, [row])
    check_arithmetic(data, factor(row.trace)[1])
    names = [term.name for term in row.trace.terms]
    assert names and [each["title"] for each in data["columns"] if each["id"].startswith("term ")] == names
    assert ("scaled" in {each["id"] for each in data["columns"]}) == (row.trace.scale != 1)


@pytest.mark.parametrize("name", ["BERT", "ModernBERT", "RoFormer"])
def test_numbers_of_rotary_and_windowed_attention_match_trace(encoder_of, name):
    """Only ModernBERT attends within a window."""
    encoder = encoder_of(name)
    placed = encoder.encode("the rain fell on the river bank and on the loan of the bank that we saw.").places("rain")[
        0
    ]
    hidden = []
    for layer in range(encoder.n_layers):
        row = word_row(placed, Head(layer, 1))
        data = data_of(row)
        check_cells(data, [row])
        check_arithmetic(data, factor(row.trace)[1])
        hidden.append(sum(each["hidden"] for each in data["sides"][0]["rows"]))
    assert any(hidden) == (name == "ModernBERT")


def test_padding_tokens_are_marked_as_hidden(encoder):
    placed = encoder.encode("We sat on the bank.", pad_to=10).places("bank")[0]
    rows = data_of(word_row(placed, HEAD))["sides"][0]["rows"]
    assert sum(each["hidden"] for each in rows) == 2
    assert [each["hidden"] for each in rows] == [each["text"] == "[PAD]" for each in rows]


def test_split_word_shows_query_of_first_token(encoder):
    placed = encoder.encode("Electroencephalographers disagree.").places("electroencephalographers")[0]
    data = data_of(word_row(placed, HEAD))
    n = len(placed.positions)
    assert n > 1 and data["sides"][0]["query"]["at"] == placed.positions[0]
    assert data["below"][0].startswith(
        f"The word is split into {n} tokens, each with a query. The figure shows the query of token 1."
    )
    second = word_row(placed, HEAD, query=placed.positions[1])
    check_cells(data_of(second), [second])
    assert "the query of token 2" in data_of(second)["below"][0]
    assert sum(each["word"] for each in data["sides"][0]["rows"]) == n


def test_printed_arithmetic_of_changed_attention_is_correct(encoder):
    placed = encoder.encode(TEXTS["A"][0]).places("bank")[0]
    own = placed.sentence.trace(*HEAD)
    about = {}
    for name, changes in {
        "no scale": {"scaling": False}, "causal": {"causal": True}, "warm": {"temperature": 2.0}, "even": {"uniform": True},
    }.items():  # fmt: skip
        row = word_row(placed, HEAD, trace=change(own, **changes))
        data = data_of(row)
        check_cells(data, [row])
        check_arithmetic(data, factor(row.trace)[1])
        about[name] = {each["id"]: each["about"] for each in data["columns"]}
    assert "scaled" not in about["no scale"] and "masked" in about["causal"]
    assert about["warm"]["scaled"] == "÷ √32 ÷ 2"


def test_finding_says_that_weights_are_equal():
    def finding(*scores, mask=None):
        trace = attend(torch.tensor([[1.0]]), torch.tensor([scores]).T, torch.ones(len(scores), 1), mask)
        return kernel_panel(QueryRow(trace=trace, tokens=tuple("abcd"), query=0)).finding

    assert finding(1.0, 1.0, 1.0, 1.0) == '"a" gives every token the same weight: 0.25.'
    assert finding(2.0, 2.0, -9.0, -9.0) == '"a" gives 2 tokens the same weight, the largest: 0.50.'
    some = finding(1.0, 1.0, 1.0, 1.0, mask=torch.tensor([[True, True, False, False]]))
    assert some == '"a" gives every unmasked token the same weight: 0.50.'


def test_query_need_not_be_token():
    trace = attend(torch.tensor([[1.0, 0.0]]), torch.eye(2), torch.eye(2))
    panel = kernel_panel(QueryRow(trace=trace, tokens=("animal", "street"), query=-1, first=-1, text="it"))
    assert panel.finding == '"it" gives "animal" most of its weight: 0.67.'
    assert panel.live.data["sides"][0]["query"]["text"] == "it"


def wide(magnitude, n=30, d=16, **more):
    torch.manual_seed(5)
    query, key, value_ = torch.randn(3, n, d) * magnitude
    return attend(query, key, value_, **more)


@pytest.mark.parametrize(
    "trace",
    [
        *(wide(magnitude) for magnitude in (0.01, 1.0, 3.0, 30.0)),
        wide(2.0, mask=torch.randn(30, 30)),
        wide(2.0, mask=torch.full((30, 30), -1e9).triu(1)),
        wide(2.0, scale=0.123456, terms=[Term("first", torch.randn(30, 30)), Term("second", torch.randn(30, 30))]),
        wide(2.0, mask=torch.zeros(30, 30, dtype=torch.bool)),
    ],
)
def test_printed_arithmetic_of_extreme_scores_is_correct(trace: AttentionTrace):
    for query in (0, 7, 29):
        row = QueryRow(trace=trace, tokens=tuple(f"t{i}" for i in range(30)), query=query)
        assert row.of("query").equal(trace.query[query])
        check_arithmetic(data_of(row), factor(trace)[1])


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        *((under**-0.5, f"÷ √{under}") for under in (32, 64, 96)), (1.0, ""), (0.5 / math.sqrt(32), "÷ √32 ÷ 2"),
        (0.123456, "× 0.123456"), (-0.5, "× −0.5"), (0.0, "× 0"),
    ],
)  # fmt: skip
def test_scale_is_formatted_as_text(scale, expected):
    assert factor(SimpleNamespace(query=torch.zeros(1, 32), scale=scale)) == (expected, pytest.approx(scale))


def test_fully_masked_row_has_zero_weights():
    trace = wide(1.0, mask=torch.zeros(30, 30, dtype=torch.bool))
    panel = kernel_panel(QueryRow(trace=trace, tokens=tuple(f"t{i}" for i in range(30)), query=2))
    assert panel.finding == 'Every token is masked for "t2", so all weights are 0.'
    assert panel.live.data["sides"][0]["sums"] == {"exponential": "0.00", "weight": "0.00"}


def test_tables_equal_computed_attention_steps(encoder):
    rows = rows_of(encoder, hidden=True)
    panel = kernel_panel(rows)
    steps, dimensions = panel.tables["steps"], panel.tables["dimensions"]
    own = steps[steps["sentence"] == "B"]
    for column, step in (
        ("score", "scores"),
        ("masked", "masked"),
        ("exponential", "exponentials"),
        ("weight", "weights"),
    ):
        assert own[column].tolist() == rows[1].of(step).tolist()
    assert steps.groupby("sentence")["share"].sum().tolist() == pytest.approx([1, 1])
    context = rows[1].of("context")
    assert own["share"].to_numpy() == pytest.approx((rows[1].handed @ context / (context @ context)).numpy(), abs=1e-6)
    assert own["token"].tolist() == list(rows[1].tokens) and own["query"].tolist().index(True) == rows[1].query
    part = dimensions[(dimensions["sentence"] == "A") & (dimensions["place"] == 8)]
    assert part["product"].tolist() == (rows[0].of("query") * rows[0].trace.key[8]).tolist()
    assert part["handed"].to_numpy() == pytest.approx(rows[0].handed[8].numpy())
    assert panel.arrays["weights_a"].tolist() == rows[0].of("weights").tolist()
