"""What the Explore pages draw and say are the library's numbers: for a head that is not the default and sentences of one's own.

The word is split into pieces, which stand at different positions in the two sentences.
"""

import json
from functools import partial

import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from vl_convert import vegalite_to_svg

from selfattn import Head, Hide, load_encoder, notebook, numbers
from selfattn.analysis.attention_rollout import head_average, rollout
from selfattn.analysis.compare import compare_encoders, compare_sentences, counterpart_distances
from selfattn.analysis.explaining import explain
from selfattn.analysis.hiding import hidden_heads, hidden_pair
from selfattn.analysis.measures import MEASURES, Measure, head_measures, similarity
from selfattn.analysis.removing import alone, removal_effect
from selfattn.analysis.steps import head_steps
from selfattn.analysis.targets import gap_word
from selfattn.analysis.targets import similarity as similar_to
from selfattn.analysis.what_if import change
from selfattn.analysis.word_map import word_map
from selfattn.captions import hidden_words as captions
from selfattn.captions import vectors
from selfattn.captions.attention import hidden_weight
from selfattn.charts.vega import drawn_frame
from selfattn.dashboard import figures
from selfattn.encoders.capture import Patch
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.masked_lm import load_masked_head
from selfattn.encoders.placed_word import PlacedWord
from selfattn.encoders.pooling import load_pooling
from selfattn.examples import PAIRS, labelled_sentences
from selfattn.senses import separation
from selfattn.tidy_tables import context_share, row_frame
from selfattn.views.two_sentences import FIGURE

from .conftest import APP

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quickly_ranked")]

HEAD = Head(3, 7)
TEXTS = {
    "a": "The old riverbanks were muddy.",
    "b": "She photographed riverbanks yesterday.",
    "c": "Wide riverbanks flooded.",
}
OWN = {**TEXTS, "example": None, "word": "riverbanks", "head": str(HEAD)}


@pytest.fixture
def visit(monkeypatch):
    """Open a page by its address with widgets set: the page as Streamlit has it, and the record of its figures."""
    records, end = [], figures.end_page
    monkeypatch.setattr(figures, "end_page", lambda: records.append(end()) or records[-1])

    def opened(address, **state):
        at = AppTest.from_file(str(APP), default_timeout=180)
        if address:
            at._page_hash = calc_hash(address)
        for key, value in {**OWN, **state}.items():
            at.session_state[key] = value
        at.run()
        assert not at.error
        return at, records[-1]

    return opened


@pytest.fixture(scope="module")
def sides(encoder):
    """The two sentences and the control, each with its word."""
    found = {}
    for name, text in zip(("A", "B", "control"), TEXTS.values()):
        encoding = encoder.encode(text)
        found[name] = encoding, next(word for word in encoding.words if word.text == "riverbanks")
    assert len({word.start for _, word in found.values()}) > 1 and all(
        len(word.positions) > 1 for _, word in found.values()
    )
    return found


def figure(record, name):
    """A figure by what it is called."""
    (found,) = [figure for title, figure in record.figures.items() if title.split(". ", 1)[1].startswith(name)]
    return found


def column(values):
    return pytest.approx(torch.as_tensor(values).flatten().tolist(), abs=2e-5)


def drawn_columns(spec):
    """Every column of numbers in a spec's records."""
    columns = []
    if isinstance(spec, dict):
        parts = list(spec.values())
    elif spec and isinstance(spec, list) and all(isinstance(record, dict) for record in spec):
        names = set.intersection(*(set(record) for record in spec))
        columns = [[record[name] for record in spec] for name in names]
        columns = [numbers for numbers in columns if all(isinstance(number, int | float) for number in numbers)]
        parts = spec
    else:
        parts = spec if isinstance(spec, list) else []
    return columns + [numbers for part in parts for numbers in drawn_columns(part)]


def assert_drawn(figure, values):
    """The picture's own records hold these numbers, in this order."""
    wanted = pytest.approx(
        torch.as_tensor(values).flatten().tolist(), rel=1e-3, abs=1e-4
    )  # bars are drawn to four digits
    assert any(numbers == wanted for numbers in drawn_columns(figure.draw()))


def said(at):
    return "\n".join(element.value for kind in (at.text, at.caption) for element in kind)


# Inside a head


@pytest.mark.parametrize("which", ["A", "both"])
def test_each_step_is_the_followed_pieces_row(visit, encoder, sides, which):
    pieces = {"A": sides["A"][1].positions[1], "B": sides["B"][1].positions[0]}
    followed = ("A", "B") if which == "both" else ("A",)
    steps = {name: head_steps(encoder, sides[name][0], *HEAD) for name in followed}
    for step in steps["A"].steps:
        if step.name in ("maximum", "total") or (which == "A" and step.name not in ("weights", "context")):
            continue
        _, record = visit("inside-a-head", piece_a=pieces["A"], piece_b=pieces["B"], follow=which, step=step.name)
        assert record.head == HEAD
        picture = figure(record, step.name)
        table = picture.table()
        assert list(dict.fromkeys(table["row"])) == list(followed)
        for name in followed:
            values = steps[name][step.name].values[pieces[name]]
            assert table.loc[table["row"] == name].iloc[:, -1].tolist() == column(values), (step.name, name)
            if step.name in ("query", "scores", "masked", "exponentials", "weights", "context"):
                assert_drawn(picture, values)
        if step.name != "context":
            assert len(record.figures) == 1
            continue
        shares = figure(record, "shares of the context").table()
        for name in followed:
            wanted = context_share(steps[name].trace, [pieces[name]])
            assert shares.loc[shares["row"] == name, "share"].tolist() == column(wanted)
            assert shares.loc[shares["row"] == name, "label"].tolist() == list(sides[name][0].tokens)


def test_the_single_numbers_and_the_score_of_the_chosen_key(visit, encoder, sides):
    pieces = {name: sides[name][1].positions[1] for name in ("A", "B")}
    shown = {"piece_a": pieces["A"], "piece_b": pieces["B"]}
    steps = {name: head_steps(encoder, sides[name][0], *HEAD) for name in ("A", "B")}
    for number in ("maximum", "total"):
        at, _ = visit("inside-a-head", step=number, **shown)
        metrics = {metric.label: metric.value.replace("\u2212", "-") for metric in at.metric}
        for name in ("A", "B"):
            value = float(steps[name][number].values[pieces[name], 0])
            assert float(metrics[f"{name}, {number} of the row"].replace(",", "")) == pytest.approx(value, abs=1e-4)
    at, _ = visit("inside-a-head", step="scores", with_a=1, with_b=2, **shown)
    scores = [code.value.replace("\u2212", "-") for code in at.code if "sum, the score" in code.value]
    for code, name, key in zip(scores, ("A", "B"), (1, 2), strict=True):
        assert f"{float(steps[name].trace.scores[pieces[name], key]):.3f}" in code


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        ({"unscaled": True}, {"scaling": False}),
        ({"causal": True}, {"causal": True}),
        ({"even": True}, {"uniform": True}),
        ({"temperature": 3.0}, {"temperature": 3.0}),
    ],
)
def test_each_switch_changes_the_row_as_the_library_does(visit, sides, state, changes):
    pieces = {name: sides[name][1].positions[1] for name in ("A", "B")}
    _, record = visit("inside-a-head", part="What if", piece_a=pieces["A"], piece_b=pieces["B"], **state)
    for name, piece in pieces.items():
        table = figure(record, f"{name}: the weights").table()
        trace = sides[name][0].trace(*HEAD)
        assert table.loc[table["row"] == "as it is", "weight"].tolist() == column(trace.weights[piece])
        assert table.loc[table["row"] == "changed", "weight"].tolist() == column(
            change(trace, **changes).weights[piece]
        )
    tops = [
        float(change(sides[name][0].trace(*HEAD), **changes).weights[piece].max()) for name, piece in pieces.items()
    ]
    tops += [float(sides[name][0].trace(*HEAD).weights[piece].max()) for name, piece in pieces.items()]
    drawn = [
        row["layer"][0]["encoding"]["y"]["scale"]["domain"]
        for f in record.figures.values()
        for row in f.draw()["vconcat"]
    ]
    assert len(drawn) == 4 and all(domain == pytest.approx([0, max(tops)], abs=1e-5) for domain in drawn), "one scale"


def test_the_head_alone_is_a_pass_of_its_own_over_both_sentences(visit, encoder, sides):
    at, record = visit("inside-a-head", part="What if", alone=True, follow="B", piece_b=sides["B"][1].positions[1])
    table = figure(record, "B: the weights").table()
    passes = {name: alone(encoder, sides[name][0].text, *HEAD) for name in ("A", "B")}
    row = passes["B"].trace.weights[sides["B"][1].positions[1]]
    assert table.loc[table["row"] == "changed", "weight"].tolist() == column(row)
    words = {name: list(sides[name][1].positions) for name in ("A", "B")}
    cosine = float(similarity(*(passes[name].hidden[words[name]].mean(0) for name in ("A", "B"))))
    real = float(similarity(*(sides[name][0].vector(encoder.n_layers, words[name]) for name in ("A", "B"))))
    assert vectors.only_head(cosine, real, str(HEAD), "riverbanks") in said(at)


# All heads


@pytest.mark.parametrize("sentence", ["A", "B"])
@pytest.mark.parametrize(("words", "hide"), [(False, False), (True, False), (True, True)])
def test_the_cards_map_is_the_chosen_head_of_the_chosen_sentence(visit, sides, sentence, words, hide):
    at, record = visit("all-heads", sentence=sentence, words=words, hide=hide)
    encoding, word = sides[sentence]
    wanted = word_map(encoding, encoding.weights(*HEAD), words=words, special=not hide)
    picture = figure(record, f"map: {HEAD}")
    table = picture.table()
    assert table["weight"].tolist() == column(wanted.matrix)
    assert list(dict.fromkeys(zip(table["key_pos"], table["key"]))) == list(enumerate(wanted.labels))
    assert_drawn(picture, wanted.matrix)
    marked = {position for numbers in drawn_columns(picture.draw()) for position in numbers}
    assert set(wanted.rows_of(word.positions)) <= marked
    assert (hidden_weight({str(HEAD): wanted.hidden}) in said(at)) == hide


def test_average_and_rollout_are_of_the_chosen_layer(visit, sides):
    encoding = sides["B"][0]
    for which, wanted in (("average", head_average(encoding, 3)), ("rollout", rollout(encoding)[3])):
        _, record = visit("all-heads", sentence="B", map_of=which)
        (picture,) = [picture for name, picture in record.figures.items() if "L3" in name]
        assert picture.table()["weight"].tolist() == column(wanted)
        assert_drawn(picture, wanted)


def test_two_segments_are_one_text(visit, encoder):
    _, record = visit("all-heads", sentence="both")
    encoding = encoder.encode(TEXTS["a"], TEXTS["b"])
    assert figure(record, f"map: {HEAD}").table()["weight"].tolist() == column(encoding.weights(*HEAD))
    assert figure(record, "all heads").table()["entropy"].tolist() == column(head_measures(encoding)["entropy"])


@pytest.mark.parametrize(
    ("measure", "other", "how"),
    [("effect", "B", "zero"), ("effect (mean)", "B", "mean"), ("control", "control", "zero")],
)
def test_the_strips_are_the_effects_of_the_right_pair(visit, encoder, sides, measure, other, how):
    _, record = visit("all-heads", measure=measure, sentence="B")
    table = figure(record, "all heads").table()
    places = [(sides[name][0].text, sides[name][1].positions) for name in ("A", other)]
    assert table[measure].tolist() == column(removal_effect(encoder, *places, how))
    for name, values in head_measures(sides["B"][0]).items():
        assert table[name].tolist() == column(values)
    assert_drawn(figure(record, "all heads"), removal_effect(encoder, *places, how))


DIRECTIONS = ["A from B", "B from A", "A from control"]


@pytest.mark.usefixtures("exactly_ranked")
@pytest.mark.parametrize(
    ("measure", "to", "source"), [("A from B", "A", "B"), ("B from A", "B", "A"), ("A from control", "A", "control")]
)
def test_both_directions_of_a_swap_and_its_control_are_one_quantity(visit, encoder, sides, measure, to, source):
    """How far along the way from A to B the word moves (from B to A for B's) with one head's output from elsewhere."""
    at, record = visit("all-heads", measure=f"swap, {measure}")
    table = figure(record, "all heads").table().set_index("name")[f"swap, {measure}"]
    vectors_of = {
        name: torch.nn.functional.normalize(encoding.vector(6, word.positions).double(), dim=0)
        for name, (encoding, word) in sides.items()
    }
    way = vectors_of["B"] - vectors_of["A"]
    encoding, word = sides[to]
    donor, place = sides[source]
    for head in (HEAD, Head(5, 2), Head(0, 11)):
        mean = donor.own_context(head.layer)[head.head, list(place.positions)].mean(0)
        run = encoder.encode(encoding.text, patches=[Patch(*head, word.positions, mean)])
        moved = torch.nn.functional.normalize(run.vector(6, word.positions).double(), dim=0) - vectors_of[to]
        wanted = float(moved @ way / (way @ way)) * (1 if to == "A" else -1)
        assert table[str(head)] == pytest.approx(wanted, abs=1e-4)
    rows = figure(record, "all heads").table().set_index("name")[[f"swap, {each}" for each in DIRECTIONS]]
    top = rows.iloc[:, DIRECTIONS.index(measure) % 2].idxmax()  # from the control that of A from B is named
    a, b, control = map(numbers.share, rows.loc[top])
    line = (
        f"{top} moves {to} most: A {a} of the way to B, B {b} of the way to A, A with the control's output {control} of"
    )
    assert f"{line} the way to B." in said(at)
    rival = rows.iloc[:, 2].idxmax()
    assert (
        f"largest of the 72 heads in the control is {rival}'s, {numbers.share(rows.iloc[:, 2].max())}: {top} "
        in said(at)
    )


def largest_weight_on_another(encoding, positions):
    others = [p for p, special in enumerate(encoding.special) if not special and p not in positions]
    return encoding.word_rows(positions)[..., others].amax(-1)


MADE = {
    "text": lambda weights, encoding: weights.amax((-2, -1)),
    "word": lambda word: largest_weight_on_another(*word.sides["A"]),
}


@pytest.mark.parametrize("of", MADE)
@pytest.mark.usefixtures("exactly_ranked")
def test_a_new_measure_is_one_entry_and_stands_on_the_page_in_its_table_and_in_the_notebook(
    visit, encoder, monkeypatch, of
):
    kind = {"text": "slugs", "word": ""}[of]
    made = Measure("a new one", kind, of, MADE[of], "What it means.")
    monkeypatch.setitem(MEASURES, made.name, made)
    own = {"a": f"Old riverbanks, a {of}.", "b": "She drew riverbanks.", "c": "", "sentence": "A"}
    at, record = visit("all-heads", **own, measure=made.name)
    first = encoder.encode(own["a"])
    wanted = {
        "text": lambda: torch.stack([first.weights(layer).amax((-2, -1)) for layer in range(6)]),
        "word": lambda: (
            sum(first.rows(at) for at in (2, 3, 4))[..., [1, *range(5, len(first.tokens) - 1)]].amax(-1) / 3
        ),
    }[of]()
    assert made.name in at.selectbox(key="measure").options and "What it means." in [c.value for c in at.caption]
    picture = figure(record, "all heads")
    assert picture.table()[made.name].tolist() == column(wanted)
    assert_drawn(picture, wanted)
    assert '"title": "a new one"' in json.dumps(picture.draw()["layer"])  # in the tooltips
    assert {"text": f"({numbers.decimal(wanted.max())} slugs)", "word": "A new one: most in"}[of] in said(at)
    chart = notebook.all_heads(encoder, own["a"], made.name, second=own["b"], word="riverbanks").to_dict()
    assert drawn_frame(chart)[made.name].dropna().tolist() == column(wanted)


def test_what_each_word_attends_to_most_in_the_chosen_head(visit, sides):
    at, _ = visit("all-heads", sentence="B")
    encoding, _ = sides["B"]
    (most,) = (frame.value for frame in at.dataframe)
    by_word = word_map(encoding, encoding.weights(*HEAD))
    ordinary = [row for row, special in enumerate(by_word.special) if not special]
    assert most["word"].tolist() == [by_word.labels[row] for row in ordinary]
    assert most["weight"].tolist() == column(by_word.matrix.max(1).values[ordinary])
    assert most.iloc[:, 1].tolist() == [by_word.labels[by_word.matrix[row].argmax()] for row in ordinary]


def test_the_lines_are_the_words_rows_by_word(visit, sides):
    _, record = visit("all-heads", tab="Lines from the word", overlaid=["L5 H2", "average of L1", "rollout"])
    pictures = list(record.figures.values())
    for picture, name in zip(pictures, ("A", "B"), strict=True):
        encoding, word = sides[name]
        maps = {
            "L5 H2": encoding.weights(5, 2),
            "average of L1": head_average(encoding, 1),
            "rollout": rollout(encoding)[-1],
        }
        table = picture.table()
        for source, weights in maps.items():
            by_word = word_map(encoding, weights)
            row = by_word.matrix[by_word.rows_of(word.positions)[0]]
            lines = table[table["source"] == source].drop_duplicates("place").set_index("place").sort_index()
            assert lines["weight"].tolist() == column(row), (name, source)


# The main view: words, heads and curve of its live figure, the row's computation, the maps


def test_the_main_views_pictures(visit, encoder, sides):
    at, record = visit("", view="own")
    places = [PlacedWord(encoding, word.positions) for encoding, word in sides.values()]
    pair = hidden_pair(encoder, *places)
    words = figure(record, FIGURE).table()
    for name, (encoding, word), share in zip("AB", sides.values(), pair.share):
        own = words[(words["sentence"] == name) & ~words["chosen"]]
        assert own["share"].tolist() == column(share)
        row = figure(record, f"how {HEAD} computes the row").table()
        row = row[row["sentence"] == name]
        wanted = row_frame(
            encoding.trace(*HEAD, PlacedWord(encoding, word.positions).rows), word.positions, encoding, name
        )
        for step in ("score", "masked", "weight", "share"):
            assert row[step].tolist() == column(wanted[step].tolist()), step
        by_word = word_map(encoding, encoding.weights(*HEAD))
        assert row["weight"].tolist() == column(by_word.matrix[by_word.rows_of(word.positions)[0]])
        assert figure(record, f"what each word attends to in {name}").table()["weight"].tolist() == column(
            encoding.own_weights(*HEAD)
        )
    heads, curves = record.tables["heads of each word"](), record.tables["cosine by layer"]()
    for side, (name, top) in enumerate(zip("AB", pair.top)):
        own = heads[(heads["sentence"] == name) & (heads["place"] == pair.words[side][top].start)]
        exact = hidden_heads(encoder, places[side], pair.words[side][top], pair.ways[side])
        assert own["share"].tolist() == column(exact) and set(own["how"]) == {"exact"}
    i, j = (top + 1 for top in pair.top)
    wanted = [*pair.curves[0, 0].tolist(), *pair.curves[i, j].tolist()]
    assert curves["similarity"].tolist() == column(wanted)
    assert captions.compared(pair) in said(at)


def test_the_meaning_in_words_is_the_nearest_labelled_sentences(visit, encoder):
    pair = PAIRS[0]
    own = {"a": pair.first, "b": pair.second, "c": pair.control, "word": "bank"}
    frame = labelled_sentences()
    frame = frame[frame["word"] == "bank"]
    first = encoder.encode(pair.first)
    (word,), (river,) = first.places("bank"), first.places("river")
    hidden = encoder.encode(pair.first, hidden=[Hide(word.positions, river.positions)])
    labelled = encoder.encode_batch(frame["sentence"].tolist())
    for state, layer, run in (("alone", 0, first), ("sentence", 6, first), ("hidden", 6, hidden)):
        at, _ = visit("", **own, nearest=True, nearest_to=state)
        lines, near = "\n".join(text.value for text in at.get("text")), []
        for row, encoding in zip(frame.itertuples(), labelled, strict=True):
            (other,) = encoding.places("bank")
            vectors_of = encoding.vector(layer, other.positions), run.vector(layer, word.positions)
            near.append((float(similarity(*vectors_of)), row.sentence, row.sense))
        for cosine, sentence, sense in sorted(near, reverse=True)[: 3 if layer else 0]:
            assert f"{numbers.cosine(cosine)}  {sentence} ({sense})" in lines
        assert "Senses of the three nearest: " in lines


def test_a_against_b_and_the_difference_to_the_models_own(visit, sides):
    _, record = visit("", view="against", hide=True)
    wanted = compare_sentences(
        *((sides[name][0], sides[name][1].positions) for name in "AB"), *HEAD, special=False
    ).frame()
    (table,) = [picture.table() for name, picture in record.figures.items() if "minus" in name]
    pd.testing.assert_frame_equal(table.reset_index(drop=True), wanted.reset_index(drop=True), atol=1e-5)
    svg = vegalite_to_svg(figure(record, "what each word attends to, A minus B").draw())
    assert svg.count(">muddy<") == 2 and svg.count(">photographed<") == 2  # on both axes
    _, record = visit("", view="difference")
    encoding = sides["B"][0]
    drawn = figure(record, "what each word attends to in B").table()["weight"].tolist()
    assert drawn == pytest.approx((encoding.weights(*HEAD) - encoding.own_weights(*HEAD)).flatten().tolist(), abs=1e-7)


# Two encoders and predictions


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Tiny checkpoints: one of BERT before and one after "fine-tuning", one of RoBERTa; with masked-language heads."""
    made = {"before": ("BERT", 0), "after": ("BERT", 1), "other": ("RoBERTa", 0)}
    root = tmp_path_factory.mktemp("folders")
    return {name: str(save_tiny(FAMILIES[family], root / name, seed, True)) for name, (family, seed) in made.items()}


def other_encoder(folder, key="model", name="other"):
    return {key: "another ...", name: folder}


@pytest.mark.parametrize(("second", "partner"), [("after", Head(1, 2)), ("other", Head(0, 3))])
def test_two_encoders_are_compared_in_the_chosen_heads(visit, folders, second, partner):
    chosen, text = Head(1, 2), "The bank of the river."
    choice = {
        **other_encoder(folders["before"]), **other_encoder(folders[second], "second", "second_other"),
        "head": str(chosen), "head2": str(partner), "a": text,
    }  # fmt: skip
    _, record = visit("two-encoders", **choice)
    one, other = (load_encoder(folders[name], device="cpu").encode(text) for name in ("before", second))
    wanted = compare_encoders(one, chosen, other, partner)
    first, then, difference = list(record.figures.values())[-3:]
    for picture, matrix in ((first, wanted.first), (then, wanted.second), (difference, wanted.difference)):
        assert picture.table()["weight"].tolist() == column(matrix)
        assert_drawn(picture, matrix)
    if second == "after":
        assert next(iter(record.figures.values())).table()["distance"].tolist() == column(
            counterpart_distances(one, other)
        )


def test_a_gap_is_predicted_and_explained_by_words_and_heads(visit, folders, monkeypatch):
    view = other_encoder(folders["before"]) | {
        "a": "The bank of the river was muddy.",
        "head": "L1 H2",
        "gap": 4,
        "target": 2,
    }
    at, record = visit("predictions", **view)
    encoder = load_encoder(folders["before"], device="cpu")
    head = load_masked_head(encoder)
    encoding = encoder.encode(f"The bank of the {head.mask_token} was muddy.")
    table = head.predictions(encoding, 10)
    assert at.dataframe[0].value["probability"].tolist() == column(table["probability"].tolist())
    token, place = int(table["id"][2]), head.place(encoding)
    words, heads = (picture.table() for picture in record.figures.values())
    before = head.log_probabilities(encoding.states[-1][place])[token]
    exact = heads["how"] == "exact"
    wanted = head.log_probabilities(encoder.knock_out(encoding.text, place))[..., token] - before
    assert exact.sum() in (8, 9) and exact[heads["name"] == "L1 H2"].all()
    assert heads["effect"][exact].tolist() == pytest.approx(wanted.flatten()[torch.tensor(exact)].tolist(), abs=1e-4)
    found = explain(encoder, encoding, gap_word(head, token)(encoding))
    assert words["effect"].dropna().tolist() == pytest.approx(found.effect.tolist(), abs=1e-4)
    assert words["text"][words["chosen"]].tolist() == ["[MASK]"]
    assert heads["effect"][~exact].tolist() == pytest.approx(
        found.by_gradient.flatten()[torch.tensor(~exact)].tolist(), abs=1e-4
    )
    monkeypatch.setitem(vectors.NOISE, "float32", 0.9 * float(heads["effect"].abs().max()) / vectors.OF_LOG_PROBABILITY)
    at, record = visit("predictions", **view)
    noisy = list(record.figures.values())[1].table()
    hidden = int((noisy["effect"] == 0).sum())
    assert hidden == int((heads["effect"].abs() < 0.9 * heads["effect"].abs().max()).sum()) > 0
    assert f"{hidden} of {len(heads)} heads lie under that and are drawn as 0." in said(at)


def test_a_similarity_is_explained_in_both_sentences(visit, encoder):
    a, b = PAIRS[0].first, PAIRS[0].second
    _, record = visit("predictions", a=a, b=b)
    words, heads = (picture.table() for picture in record.figures.values())
    pooling = load_pooling(encoder)
    for at, (own, other) in enumerate(((a, b), (b, a))):
        sentence = encoder.encode(own)
        found = explain(encoder, sentence, similar_to(encoder, pooling, other)(sentence))
        assert words["effect"][words["sentence"] == at].tolist() == pytest.approx(found.effect.tolist(), abs=1e-5)
        if own == a:
            run = found.heads.isfinite().flatten()
            assert heads["effect"][run.tolist()].tolist() == pytest.approx(
                found.heads.flatten()[run].tolist(), abs=1e-5
            )


# Senses


def test_the_senses_page_draws_its_report_and_the_chosen_heads_sentences(visit, encoder, monkeypatch):
    from pages.explore.senses import tables_and_reports as view
    from selfattn.dashboard import compute_again

    few = labelled_sentences()
    few = few[few["word"].isin(["bank", "bat"])].groupby(["word", "sense"]).head(3)  # too few to be swapped over
    monkeypatch.setattr(view, "labelled", lambda: few)
    monkeypatch.setattr(compute_again, "stored", lambda *_: None)
    monkeypatch.setattr(view, "separation", partial(separation, shuffles=50))
    at, record = visit("senses")
    report = separation(encoder, few, shuffles=50, floor=False)
    (heads,) = [picture.table() for picture in record.figures.values() if "adds" in picture.table()]
    for name in ("accuracy", "uniform", "own_value", "p_value", "adds"):
        assert heads[name].tolist() == pytest.approx(report.heads[name].tolist(), abs=1e-6), name
    sentences = next(frame.value for frame in at.dataframe if "nearest sense" in frame.value)
    wanted = report.sentences(*HEAD).query("word == 'bank'").sort_values("score", kind="stable")  # the wrong ones first
    assert sentences["sentence"].tolist() == wanted["sentence"].tolist()
    assert sentences["nearest sense"].tolist() == wanted["nearest"].tolist()
