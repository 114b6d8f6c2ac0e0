"""The same report as a page, as Markdown and as a Word document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from rubricate import Corpus
from rubricate.errors import ArgumentError, OutputExistsError
from rubricate.evaluation.agreement import agree
from rubricate.evaluation.evaluation import Evaluation
from rubricate.reports.agreement import agreement_report
from rubricate.reports.blocks import (
    Chapter,
    FactsBlock,
    Figure,
    FigureRow,
    Fold,
    Heading,
    Listing,
    Paragraph,
    Report,
    TableBlock,
    check_report_place,
    point,
    save_report,
    to_html,
    to_markdown,
)
from rubricate.reports.evaluation import evaluation_report
from rubricate.reports.page import Cell, Link, Open
from rubricate.reports.plots import Point
from rubricate.stats import Estimate, Resampling
from rubricate.study.planning import flow_plot

DRAWN = flow_plot([("A <b>", ["1 note"])])
LINKED = ["see ", Link("note <1>", "notes.html#n=1&x")]
REPORT = Report(
    "T & U",
    [
        Chapter(
            "One",
            [
                Heading("<h>"),
                Paragraph("a < b & *c*"),
                Paragraph(LINKED),
                TableBlock("A table", ["x", "y"], [["a|b", Point(0.5, 0.4, 0.6)], ["c", None]]),
                TableBlock(
                    "",
                    ["z", "w"],
                    [[Cell(LINKED, "1"), Cell("3.0", 3.0, number=True, under="1 to 5")]],
                    footer=[["all", Open("to be written")]],
                ),
                TableBlock("None", ["x"], [], empty="There is nothing."),
                FactsBlock({"seed": 7}, "Facts"),
                Figure("fig", DRAWN, "A figure"),
                FigureRow([Figure("", DRAWN, "Left"), Figure("", DRAWN, "")]),
                Fold("More", [Paragraph("inside"), Figure("", DRAWN, "Within")]),
                Listing("study.toml", "x = '<script>'\n```\ny\x00"),
            ],
        )
    ],
    lead="lead",
    warnings=["careful <now>", LINKED],
    footer="the end",
)


def test_html_escapes_what_it_is_given() -> None:
    page = to_html(REPORT)
    assert "a &lt; b &amp; *c*" in page
    assert "careful &lt;now&gt;" in page
    assert "x = &#x27;&lt;script&gt;&#x27;" in page
    assert "[0.400, 0.600]" in page
    assert page.count('<a href="notes.html#n=1&amp;x">note &lt;1&gt;</a>') == 3


def test_markdown_keeps_tables_whole() -> None:
    text = to_markdown(REPORT, "drawn/")
    assert "| a\\|b | 0.500 (0.400 to 0.600) |" in text
    assert "| c | – |" in text
    assert "| see [note &lt;1>](<notes.html#n=1&x>) | 3.0 (1 to 5) |" in text
    assert "| all | **OPEN** to be written |" in text
    assert "![A figure](drawn/fig.svg)" in text
    for number, caption in ((2, "Left"), (3, ""), (4, "Within")):
        assert f"![{caption}](drawn/figure-{number}.svg)" in text
    assert "\\*c\\*" in text
    assert "| seed | 7 |" in text and "There is nothing." in text
    assert "\n````\nx = '<script>'\n```\n" in text  # the fence is longer than the text's own


def test_a_markdown_report_has_its_drawings_beside_it(tmp_path: Path) -> None:
    path = save_report(tmp_path / "page.md", REPORT)
    drawings = tmp_path / "page-figures"
    names = {one.name for one in drawings.iterdir()}
    assert names == {"fig.svg", "figure-2.svg", "figure-3.svg", "figure-4.svg"}
    text = path.read_text("utf-8")
    assert all(f"(page-figures/{name})" in text for name in names)
    with pytest.raises(OutputExistsError):
        check_report_place(path, overwrite=False)
    save_report(path, REPORT, overwrite=True)
    (drawings / "mine.txt").write_text("x")
    with pytest.raises(ArgumentError):
        save_report(path, REPORT, overwrite=True)
    assert (drawings / "mine.txt").exists()


def test_word_has_every_block_and_replaces_only_its_own(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    path = save_report(tmp_path / "page.docx", REPORT)
    page = docx.Document(str(path))
    text = "\n".join(one.text for one in page.paragraphs)
    for words in ("T & U", "lead", "careful <now>", "see note <1>", "a < b & *c*", "There is nothing.",
                  "Within", "inside", "x = '<script>'", "the end"):  # fmt: skip
        assert words in text
    cells = [[cell.text for cell in row.cells] for table in page.tables for row in table.rows]
    assert ["a|b", "0.500 (0.400 to 0.600)"] in cells
    assert ["see note <1>", "3.0 (1 to 5)"] in cells
    assert ["all", "OPEN to be written"] in cells
    assert ["seed", "7"] in cells
    assert len(page.inline_shapes) == 4
    with pytest.raises(OutputExistsError):
        save_report(path, REPORT)
    save_report(path, REPORT, overwrite=True)
    foreign = docx.Document()
    foreign.save(str(path))
    with pytest.raises(ArgumentError):
        check_report_place(path, overwrite=True)


def test_notes_with_marks_can_be_had_in_every_form(
    trapped: Corpus, measured: Mapping[str, Evaluation], tmp_path: Path
) -> None:
    docx = pytest.importorskip("docx")
    report = evaluation_report(measured, trapped, dict.fromkeys(measured, trapped))
    page = docx.Document(str(save_report(tmp_path / "page.docx", report)))
    runs = [run for one in page.paragraphs for run in one.runs]
    assert any(run.underline for run in runs)
    assert any(run.font.highlight_color for run in runs)
    note = trapped.notes[0].text.replace("\r\n", "\n")
    said = [
        "".join(run.text for run in one.runs if not run.font.superscript) for one in page.paragraphs
    ]
    assert any(note[:25] in one for one in said)
    text = to_markdown(report)
    assert note.splitlines()[1] in text
    assert "Words of cy" in text
    agreed = agreement_report(agree(trapped, settings=Resampling(resamples=20)))
    assert to_markdown(agreed).startswith("# Agreement among annotators")
    assert save_report(tmp_path / "agree.docx", agreed).stat().st_size > 10_000


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
