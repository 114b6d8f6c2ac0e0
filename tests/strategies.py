"""Random corpora for property tests: hard texts, fragments, overlaps, several annotators."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Metadata, Note, Rubric, Score
from rubricate.rows import Contradiction, Detail

#: Pieces that break readers: astral, combining, bidi, CRLF, tabs, quotes, separators.
PIECES = [
    "pain", "No", "fever", "denies", " ", " ", " ", "\r\n", "\n", "\r", "\t", "é", "e\u0301", "😀",
    "👩🏽‍⚕️", "𝒳", "\u2028", "\u00a0", '"', "'", ",", ";", "|", "<b>", "&amp;", "\\", "#", "[]", "58", "-",
    "\u200f", "ñ", "中文", "\x0c", "_", "{", "}", "*", "/",
]  # fmt: skip
ID = st.text(st.sampled_from("abcXYZ019 _-./é中:\"'"), min_size=1, max_size=6).filter(
    lambda s: s.strip() == s and s not in {".", ".."}
)
PLAIN_ID = st.text(st.sampled_from("abcXYZ019_"), min_size=1, max_size=6)
NUMBER_ID = st.integers(0, 99_999).map(str)
WORDS = st.lists(
    st.sampled_from(["Chest", "pain", "no", "OR", "(left)", "5%", "über", "x-ray", '"q"', "a,b"]),
    min_size=1,
    max_size=4,
).map(" ".join)
TEXT = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
SCALAR: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from([0.5, 2.25]), TEXT
)
METADATA = st.dictionaries(st.sampled_from(["site", "age", "x y"]), SCALAR, max_size=2).map(
    Metadata
)


@st.composite
def spans(draw: st.DrawFn, length: int, *, fragments: bool) -> list[tuple[int, int]]:
    """One annotation's spans inside a text of this length (at least 1)."""
    found = []
    for _ in range(draw(st.integers(1, 3)) if fragments else 1):
        start = draw(st.integers(0, length - 1))
        found.append((start, draw(st.integers(start + 1, length))))
    return sorted(set(found))


@st.composite
def corpora(
    draw: st.DrawFn,
    *,
    ids: st.SearchStrategy[str] = ID,
    texts: st.SearchStrategy[str] = TEXT,
    max_annotators: int = 3,
    fragments: bool = True,
    details: bool = True,
    partial: bool = True,
    metadata: bool = True,
    contradictions: bool = False,
) -> Corpus:
    """A whole corpus; switch off what a format cannot hold."""
    some_metadata = METADATA if metadata else st.just(Metadata())
    builder = CorpusBuilder(draw(some_metadata))
    cases = draw(st.lists(ids, min_size=1, max_size=2, unique=True))
    feature_ids = draw(st.lists(ids, min_size=1, max_size=5, unique=True))
    by_case: dict[str, list[str]] = {case: [] for case in cases}
    for feature_id in feature_ids:
        by_case[draw(st.sampled_from(cases))].append(feature_id)
    for case, own in by_case.items():
        features = tuple(
            Feature(
                f,
                case,
                draw(WORDS),
                weight=draw(st.sampled_from([1.0, 0.5, 2.0])),
                kind=draw(st.sampled_from(["", "age"])),
                group=draw(st.sampled_from(["", "g"])),
                note=draw(st.sampled_from(["", "look, twice"])),
            )
            for f in own
        )
        builder.add_rubric(
            Rubric(case, features, draw(st.sampled_from(["", "Title"])), draw(some_metadata))
        )
    for note_id in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        builder.add_note(
            Note(note_id, draw(st.sampled_from(cases)), draw(texts), draw(some_metadata))
        )
    annotators = draw(st.lists(ids, max_size=max_annotators, unique=True))
    for annotator in annotators:
        group = draw(st.sampled_from(["", "expert"])) if metadata else ""
        builder.add_annotator(Annotator(annotator, group, draw(some_metadata)))
    for annotator in annotators:
        for note in list(builder.notes.values()):
            if draw(st.booleans()):
                _annotate(draw, builder, annotator, note, fragments, details, partial)
                if contradictions and note.text:
                    _contradict(draw, builder, annotator, note)
    if metadata and annotators and draw(st.booleans()):
        note_id = draw(st.sampled_from(sorted(builder.notes)))
        builder.add_score(Score(note_id, annotators[0], 3.5, draw(st.sampled_from([None, 7.0]))))
    return builder.build()


def _annotate(
    draw: st.DrawFn,
    builder: CorpusBuilder,
    annotator: str,
    note: Note,
    fragments: bool,
    details: bool,
    partial: bool,
) -> None:
    for feature in builder.features_of(note.case):
        if partial and draw(st.integers(0, 4)) == 0:
            continue
        builder.judge(annotator, note.id, feature.id)
        for _ in range(draw(st.integers(0, 2)) if note.text else 0):
            builder.annotate(
                annotator,
                note.id,
                feature.id,
                draw(spans(len(note.text), fragments=fragments)),
                confidence=draw(st.sampled_from([None, 0.5])) if details else None,
                detail=draw(
                    st.sampled_from(
                        [
                            Detail(),
                            Detail(reason="exact: fever"),
                            Detail(comment='look "here"\tagain'),
                            Detail(attributes=(("Certainty", "high"), ("Negated", "true"))),
                            Detail(stated_text="other words"),
                        ]
                    )
                    if details
                    else st.just(Detail())
                ),
            )


def _contradict(draw: st.DrawFn, builder: CorpusBuilder, annotator: str, note: Note) -> None:
    for feature in builder.features_of(note.case):
        if builder.is_judged(annotator, note.id, feature.id) and draw(st.booleans()):
            words = tuple(draw(spans(len(note.text), fragments=True)))
            sure = draw(st.one_of(st.none(), st.floats(0, 1)))
            said = Contradiction(words, sure, draw(st.sampled_from(["", "says left", 'a "b"\n'])))
            builder.contradict(annotator, note.id, feature.id, said)
