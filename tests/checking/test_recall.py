"""Count the planted faults in the embedded corpus that are found, and those that are repaired.

The figures in docs/checking.md come from here (``measure``). The rules were tuned while looking at
these notes, so the floors guard against getting worse; they do not say how rules do elsewhere.
"""

import random
import re
from collections.abc import Callable
from functools import cache

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, load_corpus
from rubricate.checking import check_corpus, fix_corpus
from rubricate.checking.findings import feature_traits
from rubricate.rows import Detail

Spans = list[tuple[int, int]]
#: A fault: (text, spans, feature, chance) → the annotations to put in place of one, or None.
Fault = Callable[[str, Spans, Feature, random.Random], list[Spans] | None]
_CUES = re.compile(r"no|denies|denied|without|w/o|negative for|neg for|nil|\(-\)|ø", re.IGNORECASE)


def grown(spans: Spans, *, left: int = 0, right: int = 0) -> list[Spans]:
    moved = list(spans)
    moved[0] = (moved[0][0] - left, moved[0][1])
    moved[-1] = (moved[-1][0], moved[-1][1] + right)
    return [moved]


def before(pattern: str, text: str, spans: Spans) -> int:
    """Return the length of what stands right before the annotation, if it matches."""
    match = re.search(rf"(?:{pattern})$", text[: spans[0][0]], re.IGNORECASE)
    return len(match[0]) if match else 0


def after(pattern: str, text: str, spans: Spans) -> int:
    match = re.match(pattern, text[spans[-1][1] :], re.IGNORECASE)
    return len(match[0]) if match else 0


def leading(pattern: str, most: int | None = None) -> Fault:
    def plant(text: str, spans: Spans, _: Feature, __: random.Random) -> list[Spans] | None:
        length = before(pattern, text, spans)
        return grown(spans, left=min(length, most or length)) if length else None

    return plant


def trailing(pattern: str) -> Fault:
    def plant(text: str, spans: Spans, _: Feature, __: random.Random) -> list[Spans] | None:
        length = after(pattern, text, spans)
        return grown(spans, right=length) if length else None

    return plant


def cut_left(text: str, spans: Spans, _: Feature, __: random.Random) -> list[Spans] | None:
    is_word = re.match(r"[A-Za-z]{3}", text[slice(*spans[0])])
    return grown(spans, left=-1) if is_word else None


def cut_right(text: str, spans: Spans, _: Feature, __: random.Random) -> list[Spans] | None:
    is_word = re.search(r"[A-Za-z]{3}$", text[slice(*spans[-1])])
    return grown(spans, right=-1) if is_word else None


def shift(text: str, spans: Spans, _: Feature, chance: random.Random) -> list[Spans] | None:
    by = chance.choice([-3, -2, -1, 1, 2, 3])
    moved = [(start + by, end + by) for start, end in spans]
    return [moved] if moved[0][0] >= 0 and moved[-1][1] <= len(text) else None


def reference(text: str, spans: Spans, feature: Feature, _: random.Random) -> list[Spans] | None:
    length = before(r"\b(?:the )?(?:patient|pt\.?|s?he|his|her)\s+", text, spans)
    is_gender = feature_traits(feature).is_gender
    return grown(spans, left=length) if length and not is_gender else None


def repeat(_: str, spans: Spans, __: Feature, ___: random.Random) -> list[Spans]:
    return [spans, spans]


def again(text: str, spans: Spans, feature: Feature, _: random.Random) -> list[Spans] | None:
    traits = feature_traits(feature)
    match = re.compile(r"\b(?:he|she|her|his)\b", re.IGNORECASE).search(text, spans[-1][1])
    is_once = traits.is_age or traits.is_gender
    return [spans, [match.span()]] if match and is_once else None


def no_negation(text: str, spans: Spans, feature: Feature, _: random.Random) -> list[Spans] | None:
    is_listed = len(spans) > 1 and _CUES.fullmatch(text, *spans[0])
    return [spans[1:]] if is_listed and feature_traits(feature).is_negative else None


def overlap(_: str, spans: Spans, __: Feature, ___: random.Random) -> list[Spans] | None:
    start, end = spans[0]
    return [[(start, end - 2), (start + 2, end), *spans[1:]]] if end - start > 4 else None


#: What is planted → rule, share of the annotations that get it, fault.
FAULTS: dict[str, tuple[str, float, Fault]] = {
    "space before": ("white-space", 0.2, leading(r"\s")),
    "space after": ("white-space", 0.2, trailing(r"\s")),
    "end punctuation": ("end-punctuation", 0.2, trailing(r"[.,;:!?]")),
    "last letter of the word before": ("extra-characters", 0.2, leading(r"[a-z]{3} ", 2)),
    "first letter of the word after": ("extra-characters", 0.2, trailing(r",? [a-z](?=[a-z]{2})")),
    "first letter missing": ("cut-word", 0.2, cut_left),
    "last letter missing": ("cut-word", 0.2, cut_right),
    "location off by 1 to 3": ("text-mismatch", 0.2, shift),
    "fragments that overlap": ("overlapping-fragments", 0.2, overlap),
    "same annotation twice": ("repeated", 0.2, repeat),
    "article before": ("leading-article", 1.0, leading(r"\b(?:the|an?)\s+")),
    "reference to the patient before": ("leading-reference", 1.0, reference),
    "shared negation missing": ("negation-left-out", 1.0, no_negation),
    "age or gender again": ("marked-again", 1.0, again),
}
#: Least share found, and restored.
FLOORS = {
    "reference to the patient before": (0.95, 0.95),
    "shared negation missing": (0.95, 0.9),
}


@cache
def clean(cases: tuple[str, ...] | None = None) -> Corpus:
    corpus = load_corpus("open-notes").select(annotators=["reference"], cases=cases)
    fixed, _ = fix_corpus(corpus, check_corpus(corpus))
    return fixed


def plant(name: str, source: Corpus) -> tuple[Corpus, set[tuple[str, str]]]:
    """Return the corpus with faults, and the rows (note, feature) that have one."""
    rule, share, fault = FAULTS[name]
    chance, builder = random.Random(1), CorpusBuilder(source.metadata)
    for note in source.notes:
        builder.add_note(note)
    for rubric in source.rubrics:
        builder.add_rubric(rubric)
    planted = set()
    for note, annotator, feature, annotations in source.values():
        builder.judge(annotator.id, note.id, feature.id)
        for one in annotations:
            spans = [(span.start, span.end) for span in one.spans]
            new = fault(note.text, spans, feature, chance) if chance.random() < share else None
            detail = Detail()
            if new is not None and rule == "text-mismatch":
                located = " ".join(note.text[start:end] for start, end in new[0])
                detail = Detail(stated_text=one.text(note.text))
                new = None if located == one.text(note.text) else new
            for replacement in [spans] if new is None else new:
                kept = Detail() if new is None else detail
                builder.annotate(annotator.id, note.id, feature.id, replacement, detail=kept)
            if new is not None:
                planted.add((note.id, feature.id))
    return builder.build(), planted


def measure(name: str, cases: tuple[str, ...] | None = None) -> tuple[int, int, int]:
    """Return three numbers of rows: with a planted fault, found, and restored."""
    corpus, planted = plant(name, clean(cases))
    result = check_corpus(corpus)
    found = {(f.note_id, f.feature_id) for f in result if f.rule == FAULTS[name][0]}
    fixed, _ = fix_corpus(corpus, result)
    restored = [key for key in planted if _spans(fixed, *key) == _spans(clean(cases), *key)]
    return len(planted), len(planted & found), len(restored)


def _spans(corpus: Corpus, note: str, feature: str) -> list[object]:
    return [one.spans for one in corpus.annotations(note, feature, "reference") or ()]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAULTS))
def test_planted_faults_of_the_embedded_corpus(name: str) -> None:
    planted, found, restored = measure(name, ("0", "1", "2", "3"))
    assert planted >= 50
    least_found, least_restored = FLOORS.get(name, (0.985, 0.98))
    assert found >= least_found * planted
    assert restored >= least_restored * planted
