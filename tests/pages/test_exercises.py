"""The exercises on their page: unsolved at first, each solved by its answer, checked at once."""

import pytest
from streamlit.testing.v1 import AppTest

from selfattn.dashboard.figures import Page
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.lessons.exercises import REPAIRS
from tests.pages.conftest import APP, open_link

pytestmark = pytest.mark.slow


@pytest.fixture
def at():
    at = AppTest.from_file(str(APP.parent / "pages/learn/exercises.py"), default_timeout=120)
    at.session_state.page_record = Page(asked=(BUNDLED_NAME, "", "cpu", "float32"))
    return at.run()


def test_none_is_solved_at_first(at):
    assert not at.success
    assert [each.value.split(".")[0] for each in at.info[:5]] == ["Not yet"] * 5
    assert "moves “bank” 2 % of the way" in at.info[4].value


def hide_river(at):
    at.selectbox(key="exercise.5").set_value("The bank of the river.").run()
    return at.selectbox(key="exercise.5.word").set_value("river")


@pytest.mark.parametrize(
    ("solve", "said"),
    [
        (lambda at: at.slider(key="exercise.1").set_value(2.2), "river gets 0.900."),
        (lambda at: at.text_input(key="exercise.2").set_value("2.1, 1"), "0.750 and 0.250"),
        (lambda at: at.text_input(key="exercise.3").set_value("4, 0"), "street 0.80"),
        (lambda at: at.radio(key="exercise.4").set_value(REPAIRS[0]), "Up to 0.00 of a row"),
        (hide_river, "53 % of the way"),
    ],
)
def test_each_is_solved_by_its_answer(at, solve, said):
    solve(at).run()
    (solved,) = at.success
    assert solved.value.startswith("Solved.") and said in solved.value


def test_what_is_no_number_gets_a_message_and_the_others_stay(at):
    at.text_input(key="exercise.2").set_value("three").run()
    assert len(at.info) == 6 and any("expected numbers such as 3, 1; got 'three'" in each.value for each in at.text)


def test_what_was_handed_in_opens_solved():
    at = open_link("exercises", **{"exercise.1": "2.2", "exercise.2": "2.1, 1", "exercise.3": "4, 0"})
    assert len(at.success) == 3 and at.query_params["exercise.3"] == "4, 0"
