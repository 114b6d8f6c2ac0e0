"""The shell: whole, closed, and alone."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rubricate.errors import ArgumentError, OutputExistsError
from rubricate.reports.blocks import Report, save_report, to_html
from rubricate.reports.levels import figures
from rubricate.reports.page import (
    Cell,
    Section,
    facts_table,
    folded,
    html_table,
    number_text,
    paragraph,
    percent,
    render_page,
)
from rubricate.reports.plots import UNDEFINED, Point

TRAP = "<script>alert(1)</script>"


def test_everything_given_as_text_is_escaped(read_page: Callable[[str], Any]) -> None:
    body = paragraph(TRAP) + folded(TRAP, "") + facts_table({TRAP: TRAP}, caption=TRAP)
    page = render_page(TRAP, [Section("one", TRAP, body)], lead=TRAP, warnings=[TRAP], footer=TRAP)
    reader = read_page(page)
    assert reader.tags["script"] == 1
    # title, heading, lead, warning, contents, section, paragraph, summary, name, value, caption, footer
    assert reader.text.count(TRAP) == 12


def test_an_empty_page_is_a_page(read_page: Callable[[str], Any]) -> None:
    read_page(render_page("Nothing", []))


def test_only_the_pages_own_script_may_run() -> None:
    page = render_page("x", [])
    script = re.search(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    policy = re.search(r'Security-Policy" content="([^"]*)"', page)
    assert policy
    assert f"script-src 'sha256-{digest}'" in policy[1].replace("&#43;", "+")
    assert policy[1].startswith("default-src 'none'")


def test_contents_lead_to_sections(read_page: Callable[[str], Any]) -> None:
    reader = read_page(render_page("x", [Section("a", "A", ""), Section("b", "B", "")]))
    assert ("a", "#a") in reader.links
    assert {"a", "b"} <= set(reader.ids)


def test_captions_stand_under_the_last_figure() -> None:
    first, last = figures(["<svg>1</svg>", "<svg>2</svg>"], "Both.")
    assert (first.caption, last.caption) == ("", "Both.")
    assert last.svg == "<svg>2</svg>"
    assert figures([], "None.") == []


def test_reports_touch_their_own_file_only(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine", encoding="utf-8")
    one, two = (Report(name, []) for name in ("one", "two"))
    path = save_report(tmp_path, one)
    with pytest.raises(OutputExistsError):
        save_report(tmp_path, two)
    assert path.read_text(encoding="utf-8") == to_html(one)
    save_report(tmp_path, two, overwrite=True)
    assert path.read_text(encoding="utf-8") == to_html(two)
    assert (tmp_path / "kept.txt").read_text(encoding="utf-8") == "mine"
    path.write_text("my own page", encoding="utf-8")
    with pytest.raises(ArgumentError):
        save_report(tmp_path, two, overwrite=True)
    assert path.read_text(encoding="utf-8") == "my own page"


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


def test_cells_sort_by_another_value_than_they_show() -> None:
    table = html_table(["a"], [[Cell("<1>", 1.0, number=True, under="<0> to 2")]])
    under = '<span class="ci">&lt;0&gt; to 2</span>'
    assert f'<th scope="row" class="n" data-v="1.0">&lt;1&gt;{under}</th>' in table


def test_without_lines_it_says_so() -> None:
    assert html_table(["a"], [], empty="No <pairs>.") == '<p class="empty">No &lt;pairs&gt;.</p>'


def test_footers_stay_apart() -> None:
    table = html_table(["a", "n"], [["x", 1]], footer=[["mean", 1.0]])
    assert table.index("</tbody>") < table.index("mean") < table.index("</tfoot>")


def test_number_texts() -> None:
    assert number_text(float("inf")) == "–"
    assert percent(1 / 3) == "33.3 %"
