"""Readers of pages and drawings, and small corpora with traps, for the tests of reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, Rubric
from rubricate.evaluation import evaluate
from rubricate.evaluation.evaluation import Evaluation, add_intervals
from rubricate.stats import Resampling

VOID = {"meta", "link", "br", "img", "hr", "input"}
SVG = "{http://www.w3.org/2000/svg}"
NUMERIC = {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "font-size"}
TRAP = '<script>alert("x")</script><img src=x onerror=alert(1)>&amp;'


class PageReader(HTMLParser):
    """Reads a page, keeping faults of nesting, ids, links, scripts and the text of some parts."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.handlers: list[str] = []
        self.tags: dict[str, int] = {}
        self.text = ""
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src", "action", "poster", "srcset", "xlink:href"}:
                self.links.append((tag, value or ""))
            if name.startswith("on"):
                self.handlers.append(name)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes <{self.open[-1] if self.open else 'nothing'}>")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="session")
def read_page() -> Callable[[str], PageReader]:
    """Give tests a reader that holds a page to what every page must be."""

    def read(html: str) -> PageReader:
        page = PageReader(html)
        assert not page.faults
        assert len(page.ids) == len(set(page.ids)), "ids are unique"
        for tag, link in page.links:
            assert link.startswith("#") or (tag, link) == ("link", "data:,"), link
            assert not link.startswith("#") or link[1:] in page.ids
        assert not page.handlers
        assert page.tags.get("script") == 1, "only the page's own script"
        assert "@import" not in html
        assert not re.search(r"url\((?!#)", html)
        for svg in re.findall(r"<svg .*?</svg>", html, flags=re.DOTALL):
            check_svg(svg)
        return page

    return read


def check_svg(svg: str) -> ElementTree.Element:
    """Parse a drawing; every coordinate must be a finite number, and it must say what it is."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    assert root.get("role") == "img"
    assert root.get("aria-label")
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in NUMERIC:
                assert re.fullmatch(r"-?\d+(\.\d+)?", value), (element.tag, name, value)
            if name in {"points", "d", "transform", "viewBox"}:
                assert not re.search(r"nan|inf", value), (element.tag, name, value)
    return root


@pytest.fixture(scope="session")
def read_svg() -> Callable[[str], ElementTree.Element]:
    """Give tests the checked root of a drawing."""
    return check_svg


def make_corpus() -> Corpus:
    """Two cases, two features each, hard texts, two raters and a system; traps everywhere."""
    builder = CorpusBuilder()
    for case in ("a", "b"):
        features = tuple(Feature(f"{case}{k}", case, f"Feature {k} {TRAP}") for k in (1, 2))
        builder.add_rubric(Rubric(case, features, title=f"Case {TRAP}"))
    builder.add_annotator(Annotator(f"ann {TRAP}", "expert"))
    builder.add_annotator(Annotator("bob", "expert"))
    builder.add_annotator(Annotator("cy", "crowd"))
    text = f"58 yo M 😀 cafe\u0301 denies fever,\r\nchills {TRAP} end"
    for i in range(6):
        case = "ab"[i % 2]
        note = f"n{i}"
        builder.add_note(Note(note, case, text))
        for k, annotator in enumerate((f"ann {TRAP}", "bob", "cy")):
            builder.judge(annotator, note, f"{case}1")
            builder.judge(annotator, note, f"{case}2")
            builder.annotate(annotator, note, f"{case}1", [(0, 5 + k * i)])
            if (i + k) % 3:
                start = text.index("chills")
                builder.annotate(annotator, note, f"{case}2", [(17, 23), (start, start + 6 - k)])
    return builder.build()


@pytest.fixture(scope="session")
def trapped() -> Corpus:
    """Give tests the corpus with traps."""
    return make_corpus()


@pytest.fixture(scope="session")
def measured(trapped: Corpus) -> dict[str, Evaluation]:
    """Give tests two systems' evaluations over the corpus with traps."""
    return {
        name: add_intervals(
            evaluate(
                trapped, trapped, missing="skip", reference_annotator=f"ann {TRAP}",
                predicted_annotator=name,
            ),
            Resampling(resamples=50),
        )
        for name in ("bob", "cy")
    }  # fmt: skip
