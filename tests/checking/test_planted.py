"""Faults planted into clean notes: found by their rule, and mended to what was there before."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.checking import RULES, check_corpus, fix_corpus
from rubricate.rows import Detail

Spans = list[tuple[int, int]]
PRESENT = {
    "Chest pain": "pressure in the chest",
    "Hot flashes": "hot flashes",
    "Weight loss": "lost ten pounds",
    "Insomnia": "cannot sleep",
    "Tobacco use": "smokes a pack daily",
}
ABSENT = {"No fever": "fever", "No rash": "skin rash", "No nausea": "nausea", "No syncope": "LOC"}


@dataclass
class Clean:
    """A clean note under way: feature texts and their spans."""

    text: str
    spans: dict[str, Spans]

    def corpus(self, planted: dict[str, list[tuple[Spans, Detail]]] | None = None) -> Corpus:
        builder = CorpusBuilder()
        builder.add_note(Note("n", "c", self.text))
        for name in [*PRESENT, *ABSENT, "58 year", "Female"]:
            builder.add_feature(Feature(name, "c", name))
        builder.add_feature(Feature("foreign", "d", "Hot-Flashes"))
        builder.judge_all("a", "n")
        for name, spans in self.spans.items():
            for one, detail in (planted or {}).get(name, [(spans, Detail())]):
                builder.annotate("a", "n", name, one, detail=detail)
        for one, detail in (planted or {}).get("foreign", []):
            builder.annotate("a", "n", "foreign", one, detail=detail)
        return builder.build()


@st.composite
def clean_notes(draw: st.DrawFn) -> Clean:
    """Write a note with some present features and a list of absent ones."""
    note = Clean("", {})

    def write(piece: str, name: str = "", *more: tuple[int, int]) -> None:
        if name:
            note.spans[name] = [*more, (len(note.text), len(note.text) + len(piece))]
        note.text += piece

    write("58 yo", "58 year")
    write(" ")
    write("woman", "Female")
    write(draw(st.sampled_from([" here today.", ", seen today.\r\n", " 😀 with her mother.\n"])))
    for name in draw(st.permutations(sorted(PRESENT))):
        write(draw(st.sampled_from([" She has the ", " Also reports a ", "\nNow the "])))
        write(PRESENT[name], name)
        write(draw(st.sampled_from([". ", "; ", ", today. "])))
    head = draw(st.sampled_from(["denies", "Negative for", "without"]))
    start = len(note.text) + 4
    cue = (start, start + len(head))
    write(f"She {head} ")
    names = draw(st.permutations(sorted(ABSENT)))
    for k, name in enumerate(names):
        if k:
            write(" or " if k == len(names) - 1 else ", ")
            write(ABSENT[name], name, cue)
        else:
            write(ABSENT[name], name)
            note.spans[name] = [(cue[0], len(note.text))]
    write(".")
    return note


def shifted(note: Clean, spans: Spans, by: int) -> Spans:
    return [(max(0, s + by), min(len(note.text), e + by)) for s, e in spans]


def plant(
    rule: str, note: Clean, draw: Callable[..., str]
) -> dict[str, list[tuple[Spans, Detail]]]:
    """Return the annotations of one feature with a fault of this rule."""
    name = draw(st.sampled_from(sorted(PRESENT)))
    ((start, end),) = note.spans[name]
    words = note.text[start:end]
    first_space = start + words.index(" ")
    none = Detail()
    listed = draw(st.sampled_from([n for n, spans in note.spans.items() if len(spans) == 2]))
    faults: dict[str, dict[str, list[tuple[Spans, Detail]]]] = {
        "out-of-range": {name: [([(start + 900, end + 900)], Detail(stated_text=words))]},
        "text-mismatch": {
            name: [(shifted(note, [(start, end)], 3), Detail(stated_text=words))],
        },
        "no-words": {name: [([(start, end)], none), ([(first_space, first_space + 1)], none)]},
        "foreign-feature": {
            "Hot flashes": [],
            "foreign": [(note.spans["Hot flashes"], none)],
        },
        "overlapping-fragments": {name: [([(start, first_space), (start + 1, end)], none)]},
        "white-space": {name: [([(start - 1, end)], none)]},
        "end-punctuation": {name: [([(start, end + 1)], none)]},
        "extra-characters": {
            listed: [
                (
                    [
                        note.spans[listed][0],
                        (note.spans[listed][1][0] - 2, note.spans[listed][1][1]),
                    ],
                    none,
                )
            ]
        },
        "cut-word": {name: [([(start + 1, end - 1)], none)]},
        "leading-article": {name: [([(_before(note.text, start), end)], none)]},
        "leading-reference": {
            listed: [
                (
                    [
                        (note.spans[listed][0][0] - 4, note.spans[listed][0][1]),
                        note.spans[listed][1],
                    ],
                    none,
                )
            ]
        },
        "negation-left-out": {listed: [(note.spans[listed][1:], none)]},
        "repeated": {name: [([(start, end)], none)] * 2},
        "marked-again": {"Female": [(note.spans["Female"], none), (_she(note.text), none)]},
    }
    return faults[rule]


def _before(text: str, start: int) -> int:
    return max(match.start() for match in re.finditer(r"\b(?:the|a) ", text[:start]))


def _she(text: str) -> Spans:
    return [(text.rindex("She"), text.rindex("She") + 3)]


@given(clean_notes())
@settings(deadline=None)
def test_clean_notes_have_no_findings(note: Clean) -> None:
    assert check_corpus(note.corpus()).findings == ()


@pytest.mark.parametrize("rule", list(RULES))
@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_planted_faults_are_found_and_mended(rule: str, data: st.DataObject) -> None:
    note = data.draw(clean_notes())
    corpus = note.corpus(plant(rule, note, data.draw))
    result = check_corpus(corpus)
    assert result.counts[rule] == 1
    assert check_corpus(corpus, rules=[rule]).counts == {rule: 1}
    fixed, log = fix_corpus(corpus, result)
    if rule == "no-words":  # What was meant, only a person can tell.
        assert not any(change.rule == rule for change in log)
        return
    assert rule in {change.rule for change in log}
    wanted = note.corpus()
    if rule == "foreign-feature":
        assert fixed.annotations("n", "Hot flashes", "a") == wanted.annotations(
            "n", "Hot flashes", "a"
        )
    assert fixed == wanted
