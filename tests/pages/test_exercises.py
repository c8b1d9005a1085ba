"""The exercises on their page: unsolved at first, each solved by its answer, checked at once."""

import pytest
from streamlit.testing.v1 import AppTest

from selfattn.dashboard.figures import Page
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.lessons.exercises import REPAIRS
from tests.pages.conftest import APP

pytestmark = pytest.mark.slow


@pytest.fixture
def at():
    at = AppTest.from_file(str(APP.parent / "pages/learn/exercises.py"), default_timeout=120)
    at.session_state.page_record = Page(asked=(BUNDLED_NAME, "", "cpu", "float32"))
    return at.run()


def test_none_is_solved_at_first(at):
    assert not at.success
    assert [each.value.split(".")[0] for each in at.info[:5]] == ["Not yet"] * 5
    assert "moves “bank” 8 % of the way" in at.info[4].value  # the head that attends to river most is not the answer


@pytest.mark.parametrize(
    ("solve", "said"),
    [
        (lambda at: at.slider(key="exercise.1").set_value(6.0), "river gets 0.998."),
        (lambda at: at.text_input(key="exercise.2.scores").set_value("2.1, 1"), "0.750 and 0.250"),
        (lambda at: at.text_input(key="exercise.3.key of street").set_value("2, 5"), "street 0.66"),
        (lambda at: at.radio(key="exercise.4").set_value(REPAIRS[0]), "Up to 0.00 of a row"),
        (lambda at: at.select_slider(key="exercise.5").set_value("L5 H7"), "25 % of the way"),
    ],
)
def test_each_is_solved_by_its_answer(at, solve, said):
    solve(at).run()
    (solved,) = at.success
    assert solved.value.startswith("Solved.") and said in solved.value


def test_what_is_no_number_gets_a_message_and_the_others_stay(at):
    at.text_input(key="exercise.2.scores").set_value("three").run()
    assert len(at.info) == 5
