"""Tables escape, align and sort."""

from __future__ import annotations

from rubricate.reports.plots import UNDEFINED, Point
from rubricate.reports.tables import Cell, html_table, number_text, percent


def test_texts_are_escaped_everywhere() -> None:
    table = html_table(["<h>"], [["<b>"]], caption="<c>", footer=[["<f>"]])
    for letter in "hbcf":
        assert f"<{letter}>" not in table
        assert f"&lt;{letter}&gt;" in table


def test_numbers_stand_to_the_right_and_sort_by_value() -> None:
    table = html_table(["name", "n"], [["a", 1234], ["b", None], ["c", float("nan")]])
    assert '<td class="n" data-v="1234">1,234</td>' in table
    assert table.count('data-v="nan">–') == 2
    assert '<th scope="row">a</th>' in table


def test_points_show_their_interval() -> None:
    table = html_table(["f1"], [[Point(0.5, 0.25, 0.75)], [UNDEFINED], [Point(0.5)]])
    assert "[0.250, 0.750]" in table
    assert table.count('class="ci"') == 1


def test_a_column_with_a_word_is_not_a_number() -> None:
    table = html_table(["a", "b"], [["x", 1], ["y", "one"]])
    assert '<th scope="col">b</th>' in table


def test_cells_are_kept_as_they_are() -> None:
    table = html_table(["a"], [[Cell("<i>1</i>", 1.0, number=True)]])
    assert '<th scope="row" class="n" data-v="1.0"><i>1</i></th>' in table


def test_without_lines_it_says_so() -> None:
    assert html_table(["a"], [], empty="No <pairs>.") == '<p class="empty">No &lt;pairs&gt;.</p>'


def test_footers_stay_apart() -> None:
    table = html_table(["a", "n"], [["x", 1]], footer=[["mean", 1.0]])
    assert table.index("</tbody>") < table.index("mean") < table.index("</tfoot>")


def test_number_texts() -> None:
    assert number_text(float("inf")) == "–"
    assert percent(1 / 3) == "33.3 %"
