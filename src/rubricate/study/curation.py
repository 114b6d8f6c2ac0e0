"""Phase 4, second half: settle disagreements by rule or by a curator, and say who decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.spans import Span, merge_spans

Marks = tuple[tuple[Span, ...], ...]
#: What the annotators of a row are called in tables and decisions.
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A note and feature with those who judged it: the senior is first where there is one."""

    note: str
    feature: str
    annotators: tuple[str, ...]
    marks: tuple[Marks, ...]
    first_is_senior: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """Reference of one row, and the person who decided."""

    note: str
    feature: str
    marks: Marks
    decided_by: str
    choice: str = ""
    decided_at: str = ""
    comment: str = ""


def union_marks(first: Marks, second: Marks) -> Marks:
    """Join annotations of both that share a character; the others stay as they are.

    >>> a, b = ((Span(0, 5),),), ((Span(3, 8),), (Span(10, 12),))
    >>> [[str((s.start, s.end)) for s in marks] for marks in union_marks(a, b)]
    [['(0, 8)'], ['(10, 12)']]
    """
    groups: list[list[Span]] = []
    for mark in (*first, *second):
        touching = [g for g in groups if any(a.overlaps(b) for a in g for b in mark)]
        groups = [g for g in groups if g not in touching]
        groups.append([*mark, *(s for g in touching for s in g)])
    return tuple(sorted(tuple(merge_spans(group)) for group in groups))


def intersect_marks(first: Marks, second: Marks) -> Marks:
    """Keep, of each two annotations that share characters, what they share.

    >>> intersect_marks(((Span(0, 5),),), ((Span(3, 8),),))
    ((Span(start=3, end=5),),)
    """
    found = set()
    for a in first:
        for b in second:
            common = [
                Span(max(x.start, y.start), min(x.end, y.end))
                for x in a
                for y in b
                if x.overlaps(y)
            ]
            if common:
                found.add(tuple(merge_spans(common)))
    return tuple(sorted(found))


def _second_only(row: Disagreement) -> Marks | None:
    if not row.first_is_senior or row.marks[0]:
        return None
    return next((marks for marks in row.marks if marks), None)


def union_of(marks: Sequence[Marks]) -> Marks:
    """Return the union of the marks of several annotators; nothing if nobody judged."""
    return reduce(union_marks, marks, ())


def intersection_of(marks: Sequence[Marks]) -> Marks:
    """Return the intersection of the marks of several annotators; nothing if nobody judged.

    >>> one = ((Span(0, 5),), (Span(3, 8),))
    >>> intersection_of([one]) == one, intersection_of([])
    (True, ())
    """
    return reduce(intersect_marks, marks) if marks else ()


#: Each rule takes a row and returns the reference's marks, or None where it has no say.
#: ``second-only`` and then ``senior-first`` are the NBME paper's rule: the senior's annotations
#: count, the second's (of several others the first's who found any) only where the senior found
#: none.
RULE_FUNCTIONS: Mapping[str, Callable[[Disagreement], Marks | None]] = {
    "identical": lambda row: row.marks[0] if len(set(map(frozenset, row.marks))) == 1 else None,
    "second-only": _second_only,
    "senior-first": lambda row: row.marks[0] if row.first_is_senior else None,
    "union": lambda row: union_of(row.marks),
    "intersection": lambda row: intersection_of(row.marks),
}

#: The rule of the patient-note corpus.
SENIOR_RULES = ("identical", "second-only", "senior-first")


def settle_by_rules(row: Disagreement, rules: Sequence[str]) -> Settled | None:
    """Apply the first rule that has a say; None where none has.

    >>> row = Disagreement("n", "f", ("ann", "bob"), ((), ((Span(0, 4),),)), first_is_senior=True)
    >>> settle_by_rules(row, ["identical", "second-only", "senior-first"]).decided_by
    'rule second-only'
    >>> settle_by_rules(row, ["identical"]) is None
    True
    """
    for rule in rules:
        marks = RULE_FUNCTIONS[rule](row)
        if marks is not None:
            return Settled(row.note, row.feature, marks, f"rule {rule}")
    return None


def settle_alone(row: Disagreement) -> Settled:
    """Take what the only annotator of a row marked."""
    return Settled(row.note, row.feature, row.marks[0], f"single {row.annotators[0]}")


def settle_by_choice(row: Disagreement, choice: str, spans: Marks = ()) -> Marks:
    """Return the marks a curator's choice means: a place, union, intersection, none or spans."""
    if choice in PLACES:
        return row.marks[PLACES.index(choice)]
    if choice == "union":
        return union_of(row.marks)
    if choice == "intersection":
        return intersection_of(row.marks)
    return spans if choice == "spans" else ()


def list_rows(corpus: Corpus) -> tuple[list[Disagreement], list[Disagreement]]:
    """Return the rows that two or more annotators judged, and those that only one did."""
    rows, listed = corpus.rows, []
    seniors = {a.id for a in corpus.annotators if a.group == "senior"}
    grouped: dict[tuple[str, str], list[int]] = {}
    for i in range(len(rows)):
        note, feature = corpus.notes[int(rows.note[i])], corpus.features[int(rows.feature[i])]
        grouped.setdefault((note.id, feature.id), []).append(i)
    for key, found in grouped.items():
        ranked = sorted(
            found, key=lambda i: corpus.annotators[int(rows.annotator[i])].id not in seniors
        )
        who = tuple(corpus.annotators[int(rows.annotator[i])].id for i in ranked)
        marks = tuple(tuple(sorted({a.spans for a in corpus.row_annotations(i)})) for i in ranked)
        listed.append(Disagreement(*key, who, marks, first_is_senior=who[0] in seniors))
    several = [row for row in listed if len(row.annotators) > 1]
    return several, [row for row in listed if len(row.annotators) == 1]


def rank_seniors(corpus: Corpus, seniors: Collection[str]) -> Corpus:
    """Return the corpus with these annotators as its seniors, and no others."""
    for name in seniors:
        if name not in corpus.annotator_index:
            raise UnknownNameError("annotator", name, list(corpus.annotator_index))
    return replace(
        corpus,
        annotators=tuple(
            replace(a, group="senior" if a.id in seniors else "") for a in corpus.annotators
        ),
    )


@dataclass(frozen=True, slots=True)
class Settlement:
    """All judged rows of a corpus: those that are settled, and those that need a curator."""

    rows: Mapping[tuple[str, str], Disagreement]
    settled: tuple[Settled, ...]
    undecided: tuple[Disagreement, ...]

    @property
    def double(self) -> int:
        """The number of rows that several annotators judged."""
        return sum(len(row.annotators) > 1 for row in self.rows.values())

    def decide(self, decided: Mapping[tuple[str, str], Settled]) -> Settlement:
        """Return the rows with a curator's decisions, which count before every rule."""
        kept = (row for row in self.settled if (row.note, row.feature) not in decided)
        open_rows = (row for row in self.undecided if (row.note, row.feature) not in decided)
        return replace(self, settled=(*kept, *decided.values()), undecided=tuple(open_rows))


def settle_rows(
    corpus: Corpus, rules: Sequence[str], unsure: Collection[tuple[str, str]] = ()
) -> Settlement:
    """Settle what one annotator judged alone and what the rules settle; a curator decides the rest.

    No rule settles rows (note, feature) that somebody was ``unsure`` of.
    """
    double, lone = list_rows(corpus)
    rows = {(row.note, row.feature): row for row in [*double, *lone]}
    rows |= {key: Disagreement(*key, (), ()) for key in unsure if key not in rows}
    settled: list[Settled] = [settle_alone(row) for row in lone
                              if (row.note, row.feature) not in unsure]  # fmt: skip
    undecided = [rows[key] for key in unsure]
    for row in double:
        if (row.note, row.feature) in unsure:
            continue
        found = settle_by_rules(row, rules)
        if found is None:
            undecided.append(row)
        else:
            settled.append(found)
    return Settlement(rows, tuple(settled), tuple(undecided))


def settle_by_seniors(corpus: Corpus, seniors: Sequence[str]) -> tuple[Settled, ...]:
    """Settle every row by the rule of the patient-note corpus (Yaneva et al. 2022, section 5).

    The senior's annotations count; the second's only where the senior found nothing.

    >>> from rubricate import load_corpus
    >>> settled = settle_by_seniors(load_corpus("open-notes"), ["reference"])
    >>> len(settled), {row.decided_by for row in settled} >= {"rule identical"}
    (30924, True)
    """
    ranked = rank_seniors(corpus, seniors)
    double, single = list_rows(ranked)
    settled = [(row, settle_by_rules(row, SENIOR_RULES)) for row in double]
    faults = {
        f"{' and '.join(row.annotators)} judged the same rows and none of them is a senior: name "
        "one"
        for row, found in settled
        if found is None
    }
    if faults:
        raise InputError(Fault(fault) for fault in sorted(faults))
    return (*(found for _, found in settled if found), *map(settle_alone, single))
