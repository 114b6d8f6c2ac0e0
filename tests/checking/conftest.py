from collections.abc import Callable

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.checking import check_corpus

#: (rule, marked note, feature) → the marked note as the rule would repair it, or None.
Repaired = Callable[..., str | None]


def read_marks(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Split "has «hot flashes»" into the text and the spans of one annotation."""
    text, spans, start = "", [], 0
    for char in marked:
        if char == "«":
            start = len(text)
        elif char == "»":
            spans.append((start, len(text)))
        else:
            text += char
    return text, spans


def write_marks(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    return text


def marked_corpus(marked: str, feature: str, *, kind: str = "") -> Corpus:
    text, spans = read_marks(marked)
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", text))
    builder.add_feature(Feature("f", "c", feature, kind=kind))
    builder.annotate("a", "n", "f", spans)
    return builder.build()


@pytest.fixture
def repaired() -> Repaired:
    """Return a function that applies one rule to one marked note."""

    def apply(rule: str, marked: str, feature: str = "Symptom", *, safe: bool = True) -> str | None:
        corpus = marked_corpus(marked, feature)
        findings = check_corpus(corpus, rules=[rule]).findings
        if not findings:
            return None
        (finding,) = findings
        assert finding.repair is not None
        assert finding.repair.safe is safe
        return write_marks(corpus.notes[0].text, finding.repair.spans)

    return apply
