import math

import pytest

from rubricate.reports.plots import Point
from rubricate.stats import Estimate
from rubricate.study.blocks import (
    Chapter,
    Figure,
    Heading,
    Listing,
    Paragraph,
    TableBlock,
    point,
    to_html,
    to_markdown,
)
from rubricate.study.planning import flow_plot

CHAPTERS = [
    Chapter(
        "One",
        [
            Heading("<h>"),
            Paragraph("a < b & *c*"),
            TableBlock("A table", ["x", "y"], [["a|b", Point(0.5, 0.4, 0.6)], ["c", None]]),
            Figure("fig", flow_plot([("A <b>", ["1 note"])]), "A figure"),
            Listing("study.toml", "x = '<script>'"),
        ],
    )
]


def test_html_escapes_what_it_is_given() -> None:
    page = to_html("T & U", "lead", ["careful <now>"], CHAPTERS)
    assert "a &lt; b &amp; *c*" in page
    assert "careful &lt;now&gt;" in page
    assert "x = &#x27;&lt;script&gt;&#x27;" in page
    assert "[0.400, 0.600]" in page


def test_markdown_keeps_tables_whole() -> None:
    text = to_markdown("T", "lead", ["careful"], CHAPTERS)
    assert "| a\\|b | 0.500 (0.400 to 0.600) |" in text
    assert "| c | – |" in text
    assert "![A figure](fig.svg)" in text
    assert "\\*c\\*" in text


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (Estimate(float("nan")).to_dict(), "undefined"),
        (Estimate(1.0, 1.0, 1.0).to_dict(), "1.000"),
        (Estimate(1.0).to_dict(), "1.000"),
        (Estimate(0.5, 0.4, 0.6).to_dict(), "0.500 [0.400, 0.600]"),
    ],
)
def test_points_from_records(estimate, shown: str) -> None:
    found = point(estimate)
    assert str(found) == shown
    assert math.isnan(found.low) == ("[" not in shown)


def test_the_flow_names_every_phase_and_fact() -> None:
    svg = flow_plot([("Population", ["180 notes"]), ("Sample", ["114 drawn"])])
    assert all(words in svg for words in ("1  Population", "180 notes", "114 drawn"))
