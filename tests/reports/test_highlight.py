"""Marks cover exactly the right text, and the text stays what it was."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXT

from rubricate.errors import InputError
from rubricate.reports.highlight import (
    MAX_LANES,
    NoteMark,
    Sides,
    assign_lanes,
    cut_pieces,
    find_lanes,
    highlight_excerpt,
    highlight_note,
    legend_html,
)
from rubricate.spans import Span
from shared_cases import shared_cases

Covered = list[frozenset[tuple[int, str]]]


class NoteReader(HTMLParser):
    """Collects the text of a highlighted note, and for each character who marked it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.covered: Covered = []
        self.badges: dict[int, str] = {}
        self.titles: list[str] = []
        self.stops = 0
        self._open: list[frozenset[tuple[int, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "br":
            return
        found = frozenset(
            (int(token.split(side)[0]), side)
            for token in (values.get("data-a") or "").split()
            for side in "rp"
            if side in token
        )
        self._open.append(found)
        if values.get("data-n"):
            self.badges[len(self.text)] = str(values["data-n"])
        self.titles.append(values.get("title") or "")
        self.stops += "tabindex" in values

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        self.covered += [frozenset().union(*self._open)] * len(data)


def at(text: str, *words: str) -> tuple[Span, ...]:
    return tuple(Span(text.index(w), text.index(w) + len(w)) for w in words)


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[NoteMark]]:
    text = draw(TEXT)
    marks = []
    for _ in range(draw(st.integers(0, 8)) if text else 0):
        spans = set()
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, len(text) - 1))
            spans.add(Span(start, draw(st.integers(start + 1, len(text)))))
        side = draw(st.sampled_from(["reference", "predicted"]))
        marks.append(NoteMark(draw(st.integers(1, 4)), "<x>", side, tuple(sorted(spans)), '"why"'))
    return text, marks


@given(marked_texts())
def test_text_is_unchanged_and_marks_cover_what_they_should(
    case: tuple[str, list[NoteMark]],
) -> None:
    text, marks = case
    reader = NoteReader(highlight_note(text, marks))
    assert reader.text == text
    expected = [
        frozenset(
            (m.number, m.side[0]) for m in marks if any(s.start <= i < s.end for s in m.spans)
        )
        for i in range(len(text))
    ]
    assert reader.covered == expected


@given(marked_texts(), st.integers(0, 10))
def test_excerpts_show_all_marked_text(case: tuple[str, list[NoteMark]], context: int) -> None:
    text, marks = case
    reader = NoteReader(highlight_excerpt(text, marks, context=context))
    marked = [c for c, found in zip(reader.text, reader.covered, strict=True) if found]
    wanted = {i for m in marks for s in m.spans for i in range(s.start, s.end)}
    assert len(marked) == len(wanted)


def test_states_are_told_apart_by_class_and_in_words() -> None:
    text = "no fever at all"
    marks = [
        NoteMark(1, "No fever", "reference", (Span(0, 8),)),
        NoteMark(1, "No fever", "predicted", (Span(3, 11),)),
    ]
    html = highlight_note(text, marks)
    for state, words in (("missed", "no "), ("hit", "fever"), ("false", " at")):
        assert f'<mark class="{state} l0"' in html
        assert f">{words}</mark>" in html
    titles = NoteReader(html).titles
    assert "1 No fever: reference and prediction" in titles
    assert "1 No fever: reference only" in titles
    assert "1 No fever: prediction only" in titles


def test_overlapping_features_lie_below_each_other() -> None:
    text = "denies fever"
    marks = [
        NoteMark(1, "No fever", "reference", (Span(0, 12),)),
        NoteMark(2, "Denial", "reference", (Span(0, 6),)),
    ]
    html = highlight_note(text, marks)
    assert '<mark class="missed l0"' in html
    assert '<span class="missed l1">denies</span>' in html


def test_fragments_are_numbered_as_parts_of_one() -> None:
    text = "denies fever, chills or sweats"
    marks = [NoteMark(7, "No sweats", "reference", at(text, "denies", "chills", "sweats"))]
    reader = NoteReader(highlight_note(text, marks))
    assert list(reader.badges.values()) == ["7…", "…7…", "…7"]
    assert reader.stops == 3


def test_one_number_where_both_sides_meet() -> None:
    marks = [
        NoteMark(3, "x", "reference", (Span(2, 6),)),
        NoteMark(3, "x", "predicted", (Span(0, 4),)),
    ]
    assert NoteReader(highlight_note("abcdefgh", marks)).badges == {0: "3"}


def test_planted_markup_is_only_text() -> None:
    text = "a<script>alert(1)</script>&lt;"
    mark = NoteMark(1, '"><img onerror=x>', "reference", (Span(1, 9),), "<b>")
    html = highlight_note(text, [mark])
    assert "<script" not in html
    assert "<img" not in html
    assert NoteReader(html).text == text


def test_line_breaks_survive_a_browser() -> None:
    html = highlight_note("a\r\nb\rc\nd", [])
    assert "\r" not in html  # a browser would turn it into a line feed
    assert html.count("<br>") == 1  # a carriage return alone still breaks the line


def test_what_html_cannot_hold_is_replaced_one_for_one() -> None:
    assert NoteReader(highlight_note("a\0b\ud800c", [])).text == "a\ufffdb\ufffdc"


def test_emoji_and_combining_marks_count_as_code_points() -> None:
    text = "😀e\u0301x"
    reader = NoteReader(highlight_note(text, [NoteMark(1, "f", "predicted", (Span(1, 3),))]))
    assert [bool(found) for found in reader.covered] == [False, True, True, False]


def test_spans_outside_the_note_are_all_named() -> None:
    marks = [NoteMark(1, "f", "reference", (Span(0, 9), Span(3, 12)))]
    with pytest.raises(InputError) as error:
        highlight_note("secret", marks)
    assert len(error.value.faults) == 2
    assert "secret" not in str(error.value)


def test_excerpts_leave_out_cut_words() -> None:
    text = "Patient says that he has a fever and nothing else at all"
    mark = NoteMark(1, "Fever", "reference", at(text, "fever"))
    assert (
        NoteReader(highlight_excerpt(text, [mark], context=10)).text
        == "…\xa0he has a fever and\xa0…"
    )


def test_nothing_marked() -> None:
    assert highlight_note("", []) == '<div class="note-text"></div>'
    assert NoteReader(highlight_excerpt("abc", [])).text == ""
    assert "reference only" in legend_html()


LENGTH = 30
SPAN = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 12)).map(
    lambda t: Span(t[0], min(LENGTH, t[0] + t[1]))
)
MARK = st.builds(
    NoteMark,
    st.integers(1, 6),
    st.just("f"),
    st.sampled_from(["reference", "predicted"]),
    st.lists(SPAN, min_size=1, max_size=3, unique=True).map(lambda s: tuple(sorted(s))),
)


@pytest.mark.parametrize("case", shared_cases("lanes"), ids=lambda case: case["what"])
def test_lanes_are_those_of_the_pages_with_scripts(case: dict[str, Any]) -> None:
    assert assign_lanes(case["stretches"]) == case["lanes"]


@given(st.lists(MARK, max_size=10))
def test_lanes_differ_where_features_overlap_and_stay_along_a_run(marks: list[NoteMark]) -> None:
    pieces = cut_pieces(LENGTH, marks)
    lanes = find_lanes(pieces)
    for before, piece in zip([None, *pieces], pieces, strict=False):
        own = [lanes[piece.start, number] for number in piece.states]
        free = [lane for lane in own if lane < MAX_LANES - 1]
        assert len(free) == len(set(free))
        if before is not None:
            for number in set(before.states) & set(piece.states):
                assert lanes[before.start, number] == lanes[piece.start, number]


@given(st.lists(MARK, max_size=10))
def test_pieces_tile_the_text(marks: list[NoteMark]) -> None:
    pieces = cut_pieces(LENGTH, marks)
    assert [p.start for p in pieces] == [0, *(p.end for p in pieces[:-1])]
    assert pieces[-1].end == LENGTH


def test_sides_are_named() -> None:
    assert Sides("ann", "bob").words("false") == "bob only"
