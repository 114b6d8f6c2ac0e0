"""Rules about what an annotation is linked to: another case's feature, the same one twice."""

from __future__ import annotations

from collections.abc import Iterator

from rubricate.checking.findings import Repair
from rubricate.checking.judged import Found, JudgedRow, feature_traits
from rubricate.rows import NO_DETAIL


def find_foreign_feature(row: JudgedRow) -> Iterator[Found]:
    """Find annotations, and rows, of a feature of another case.

    The annotation goes to the feature of the note's own case that has the same text, if there is
    one only; else removing it is proposed.
    """
    if row.feature.case == row.note.case:
        return
    message = f"feature of case {row.feature.case}, but the note is of case {row.note.case}"
    wanted = _folded(row.feature.text)
    same = [feature.id for feature in row.own_features if _folded(feature.text) == wanted]
    for i in range(len(row.annotations)):
        is_known = len(same) == 1
        repair = Repair("move", feature_id=same[0]) if is_known else Repair("remove", safe=False)
        yield Found(i, message, repair)
    if not row.annotations:
        yield Found(None, message, Repair("remove", safe=False))


def _folded(text: str) -> str:
    return " ".join(text.replace("-", " ").casefold().split())


def find_repeated(row: JudgedRow) -> Iterator[Found]:
    """Find annotations with the same spans as an earlier one of the same row."""
    earlier: dict[object, int] = {}
    for i, marked in enumerate(row.annotations):
        first = earlier.setdefault(marked.spans, i)
        if first == i:
            continue
        kept = row.annotations[first].detail
        # Two that say different things about the same words are not for us to choose from.
        safe = marked.detail == kept or NO_DETAIL in (marked.detail, kept)
        dropped = first if kept == NO_DETAIL and safe else i
        yield Found(dropped, "repeats another annotation", Repair("remove", safe=safe))
        earlier[marked.spans] = i if dropped == first else first


def find_marked_again(row: JudgedRow) -> Iterator[Found]:
    """Find ages and genders marked again after their first mention."""
    traits = feature_traits(row.feature)
    if not (traits.is_age or traits.is_gender):
        return
    for i, _ in row.sound[1:]:
        yield Found(i, "age or gender marked again after its first mention", Repair("remove"))
