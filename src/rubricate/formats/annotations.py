"""Annotations on their way to and from other tools' files: plain values, fragments put together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError
from rubricate.rows import NO_DETAIL, Detail

#: The largest offset rows can hold.
LARGEST = 2**31 - 1


class PlainAnnotation(NamedTuple):
    """One annotation with offsets that may be wrong, as rows hold it."""

    spans: tuple[tuple[int, int], ...]
    confidence: float | None = None
    detail: Detail = NO_DETAIL


def plain_annotations(corpus: Corpus, row: int) -> list[PlainAnnotation]:
    """Return the annotations of a row without checking their offsets.

    Examples
    --------
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "short"))
    >>> builder.add_feature(Feature("f", "c", "F"))
    >>> builder.annotate("a", "n", "f", [(3, 99)])
    >>> plain_annotations(builder.build(), 0)[0].spans
    ((3, 99),)
    """
    rows = corpus.rows
    found = []
    for i in range(int(rows.first_annotation[row]), int(rows.first_annotation[row + 1])):
        own = slice(int(rows.first_span[i]), int(rows.first_span[i + 1]))
        spans = zip(rows.start[own].tolist(), rows.end[own].tolist(), strict=True)
        known = rows.confidence is not None and not np.isnan(rows.confidence[i])
        confidence = float(rows.confidence[i]) if rows.confidence is not None and known else None
        found.append(PlainAnnotation(tuple(spans), confidence, rows.details.get(i, NO_DETAIL)))
    return found


def rows_by_annotator(corpus: Corpus, note_id: str) -> dict[int, list[int]]:
    """Return the rows of a note for each annotator (by position) who judged something in it."""
    found: dict[int, list[int]] = {}
    for row in corpus.note_rows(note_id):
        found.setdefault(int(corpus.rows.annotator[row]), []).append(row)
    return found


def first_annotator(corpus: Corpus) -> Corpus:
    """Return the corpus with its first annotator that judged anything, and no other."""
    if len(corpus.annotators) < 2:
        return corpus
    busy = np.unique(corpus.rows.annotator)
    return corpus.select(annotators=[corpus.annotators[int(busy[0]) if len(busy) else 0].id])


def has_fragments(corpus: Corpus) -> bool:
    """Tell whether any annotation has several fragments."""
    return bool((np.diff(corpus.rows.first_span) > 1).any())


def linked_groups(n: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return 0 to n - 1 in groups; two numbers are together if a chain of links joins them.

    Examples
    --------
    >>> linked_groups(5, [(0, 3), (3, 4)])
    [[0, 3, 4], [1], [2]]
    """
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for a, b in links:
        first, second = sorted((find(a), find(b)))
        root[second] = first
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())


def located_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the words at the spans, joined by one space; nothing where a span is wrong.

    Examples
    --------
    >>> located_text("denies palps, fainting", [(0, 6), (14, 22)])
    'denies fainting'
    """
    return " ".join(text[s:e] if 0 <= s < e <= len(text) else "" for s, e in spans)


def has_lone_surrogate(text: str) -> bool:
    r"""Tell whether the text holds half a surrogate pair, which no UTF-8 file can hold.

    Examples
    --------
    >>> has_lone_surrogate("a\ud83d"), has_lone_surrogate("😀")
    (True, False)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def json_has_lone_surrogate(value: Any, source: str) -> bool:
    """Tell whether escapes in the JSON text ``source`` made half a surrogate pair in ``value``."""
    # Without an escape there is nothing to look for, and almost no file has one.
    escaped = "\\ud" in source or "\\uD" in source
    return escaped and has_lone_surrogate(json.dumps(value, ensure_ascii=False))


def refuse_lone_surrogates(corpus: Corpus) -> None:
    """Raise InputError with every note whose text no UTF-8 file can hold."""
    what = "its text holds half a surrogate pair, which no UTF-8 file can hold"
    faults = [
        Fault(f"note {note.id!r}: {what}") for note in corpus.notes if has_lone_surrogate(note.text)
    ]
    if faults:
        raise InputError(faults)
