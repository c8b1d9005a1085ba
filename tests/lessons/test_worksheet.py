"""The worksheet and its answer sheet: stand-alone, printable, blank where it should be."""

import re

from pages.learn.from_scratch import worksheet
from selfattn.lessons import worked_example

ANSWERS = ("0.46", "0.32", "0.22", "1,177", "141", "34", "87%", "10%", "3%", "[1.79, 1.44]")


def test_the_answer_sheet_holds_the_published_results():
    page = worksheet.page(answers=True)
    assert all(f">{answer}<" in page for answer in ANSWERS)


def test_the_worksheet_leaves_them_blank():
    page = worksheet.page(answers=False)
    assert not any(f">{answer}<" in page for answer in ANSWERS)
    assert set(re.findall(r'class="answer">([^<]*)<', page)) == {""}
    row = re.search(r"<tr><th>bank</th>(.*?)</tr>", page)[1]
    assert re.findall(r">([^<]*)</td>", row) == [""] * 5 and "0.63" not in page
    assert "rgba(8, 48, 107, 0.63)" in worksheet.page(answers=True)


def test_what_the_sheet_asks_is_so():
    scores = worked_example.compute().scores[0].tolist()
    assert scores[1] > scores[2]  # "street" gets more than "because", though "animal" wins
    assert "does “street” get more?" in worksheet.page(answers=False)


def test_both_are_whole_and_need_nothing_from_outside():
    for answers in (True, False):
        page = worksheet.page(answers)
        assert page.startswith("<!DOCTYPE html>")
        assert page.endswith("</html>")
        assert not re.search(r"<script|https?://|src=|@import", page)
        assert "@media print" in page
