"""Test that only right answers solve the exercises."""

import math

import pytest
from streamlit.testing.v1 import AppTest

from pages.learn.from_scratch.lesson_pages.softmax import LINES
from selfattn.dashboard.figures import Page
from selfattn.encoders.sources import BUNDLED_NAME
from tests.pages.conftest import APP, open_link
from tests.pages.pictures import charts, mark

pytestmark = pytest.mark.slow
ADDED, _, WEIGHTS, DIVIDED = LINES


@pytest.fixture
def at():
    at = AppTest.from_file(str(APP.parent / "pages/learn/exercises.py"), default_timeout=120)
    at.session_state.page_record = Page(asked=(BUNDLED_NAME, "", "cpu", "float32"))
    return at.run()


def test_exercises_begin_unsolved(at):
    assert not at.success and not at.info  # no answer is judged before the visitor changes it
    shown = [mark(chart, "bar").values("x") for chart in charts(at)]
    assert list(map(len, shown)) == [5, 2, 3, 2, 1] and shown[1] == [0.5, 0.5]
    at.text_input(key="exercise.2").set_value("three").run()
    assert [each.value.split(".")[0] for each in at.info] == ["Not yet"] and any(
        "expected numbers, got 'three'" in each.value for each in at.text
    )


def river(scale):
    """Return the expected message for the scores 3, 2, −2, −2, −2, multiplied by `scale`."""
    return f"river gets a weight of {1 / (1 + math.exp(-scale) + 3 * math.exp(-5 * scale)):.3f}."


TYPED = [  # exercise, entered value, whether the value is right, part of the message
    *((1, scale, right, river(scale)) for scale, right in ((2.0, False), (2.2, True), (2.5, False), (8.0, False))),
    (2, f"{math.log(3)}, 0", True, "0.750 and 0.250"),
    (2, "2.1, 1", True, "0.750 and 0.250"),
    (2, f"0, {math.log(3)}", False, "0.250 and 0.750, 0.33 to one."),
    (2, "900, 0", False, "1.000 and 0.000."),
    (3, "3, 1", False, "street gets a weight of 0.49"),
    (3, "2, 5", False, "Its key is 5.39 long (at first 4.12)."),  # "street" gets most, but by a longer key
    (3, "4, 0", True, "street gets a weight of 0.80"),
    (3, "3.9, 1.3", True, "Its key is 4.11 long"),
    (4, ADDED, True, "Later words get up to 0.00 of a word"),
    (4, WEIGHTS, False, "Later words get up to 0.00 of a word"),
    (4, DIVIDED, True, "The smallest row sum is 1.00"),
]


def test_right_answers_solve_exercises(at):
    for number, typed, right, expected in TYPED:
        kind = {1: at.slider, 4: at.radio}.get(number, at.text_input)
        kind(key=f"exercise.{number}").set_value(typed).run()
        (answer,) = [each.value for each in [*at.success, *at.info] if expected in each.value]
        assert answer.startswith("Solved." if right else "Not yet."), (number, typed)


def test_exercise_5_is_solved_if_bank_moves_halfway(at):
    for sentence, share, right in (
        ("We sat on the bank of the river.", 44, False),
        ("The bank of the river.", 53, True),
    ):
        at.selectbox(key="exercise.5").set_value(sentence).run()
        at.selectbox(key="exercise.5.word").set_value("river").run()
        assert any(f"{share} % of the way" in each.value for each in (at.success if right else at.info))


def test_each_occurrence_of_word_can_be_hidden(at):
    words, moved = at.selectbox(key="exercise.5.word"), []
    assert words.options == ["We", "sat", "on", "the (1)", "of", "the (2)", "river"]
    for each in ("the (1)", "the (2)"):
        at.selectbox(key="exercise.5.word").set_value(each).run()
        moved.append(next(info.value for info in at.info if "% of the way" in info.value))
    assert moved[0] != moved[1]


def test_link_with_answers_opens_solved_exercises():
    at = open_link("exercises", **{"exercise.1": "2.2", "exercise.2": "2.1, 1", "exercise.3": "4, 0"})
    assert len(at.success) == 3 and at.query_params["exercise.3"] == "4, 0"
