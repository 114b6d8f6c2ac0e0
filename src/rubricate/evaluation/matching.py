"""Spans: how many annotations of the prediction and of the reference find one another.

Three kinds of agreement (Lee and Sun 2019, section 3): ``exact``, both cover the same;
``one_side_boundary``, at least one end is equal and at least one unit shared;
``token_overlap``, at least one unit shared. Three protocols turn agreeing pairs into hits:

``one-to-one``
    A largest matching: each annotation finds at most one of the other side, and as many as
    possible do. Swapping the sides swaps precision and recall; nothing exceeds 1.
``both-sides``
    A predicted annotation hits if it agrees with any reference annotation, and a reference
    annotation is found if any predicted one agrees with it; precision comes from the first,
    recall from the second. One long prediction may find many.
``paper``
    As the PICO paper counts: hits of the predicted side serve recall as well. Several
    predictions may hit the same reference annotation, so recall and F1 may exceed 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from rubricate.arrays import I64
from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.evaluation.counts import CHARACTERS, PRESENCE, SPANS, CountTable, four_cells
from rubricate.evaluation.pairing import (
    MarkArrays,
    Pairing,
    Pairs,
    agreeing_pairs,
    covered,
    distinct_annotations,
    zones,
)

#: Gives the (start, end) of each token of a text, in order, none overlapping another.
Tokenizer = Callable[[str], npt.ArrayLike]
#: A tokenizer, or the tokens of each note by note id.
Tokens = Tokenizer | Mapping[str, npt.ArrayLike]

_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[tuple[int, int]]:
    """Cut a text into runs of letters, digits and underscores, and single other characters.

    Every character but white space belongs to a token.

    >>> words("58 yo M, no CP")
    [(0, 2), (3, 5), (6, 7), (7, 8), (9, 11), (12, 14)]
    """
    return [match.span() for match in _WORD.finditer(text)]


def to_tokens(pairing: Pairing, tokens: Tokens = words) -> tuple[MarkArrays, MarkArrays, I64]:
    """Restate both sides of a pairing in tokens.

    A fragment becomes the run of tokens it shares a character with. One that holds no token
    (only white space) disappears; its annotation stays, perhaps without any fragment.
    """
    notes, number = pairing.reference.notes, pairing.keys.note
    sides = (pairing.reference_marks, pairing.predicted_marks)
    # Notes without any mark need no tokens, and cutting text is the slow part.
    marked = np.unique(np.concatenate([number[side.row] for side in sides]))
    # The tokens of all notes lie on one line of characters.
    base = zones(np.array([len(note.text) for note in notes], dtype=np.int64))
    found, faults = [np.zeros((0, 2), dtype=np.int64)], []
    counts = np.zeros(len(notes), dtype=np.int64)
    for i in marked.tolist():
        note = notes[i]
        if isinstance(tokens, Mapping) and note.id not in tokens:
            faults.append(Fault(f"no tokens are given for note {note.id!r}"))
            continue
        given = tokens[note.id] if isinstance(tokens, Mapping) else tokens(note.text)
        pairs = np.asarray(given, dtype=np.int64).reshape(-1, 2)
        # Between 0 and the length of the note, tokens go on and on.
        ends = np.concatenate(([0], pairs.ravel(), [len(note.text)]))
        if (np.diff(ends) < 0).any() or (pairs[:, 0] >= pairs[:, 1]).any():
            faults.append(
                Fault(
                    f"note {note.id!r}: tokens must be sorted, not overlap, and lie within "
                    f"0 to {len(note.text)}"
                )
            )
        counts[i] = len(pairs)
        found.append(pairs + base[i])
    InputError.raise_any(faults)
    start, end = np.concatenate(found).T
    first = np.concatenate(([0], np.cumsum(counts)))
    reference, predicted = (_restated(side, number, base, first, start, end) for side in sides)
    return reference, predicted, np.diff(first)[number]


def _restated(
    marks: MarkArrays, number: I64, base: I64, first: I64, start: I64, end: I64
) -> MarkArrays:
    note = number[marks.fragment_row]
    low = np.searchsorted(end, marks.start + base[note], side="right")
    high = np.searchsorted(start, marks.end + base[note], side="left")
    kept = low < high
    per_annotation = np.bincount(marks.fragment_annotation[kept], minlength=len(marks))
    return MarkArrays(
        marks.row,
        np.concatenate(([0], np.cumsum(per_annotation))).astype(np.int64),
        (low - first[note])[kept],
        (high - first[note])[kept],
    )


Protocol = Literal["one-to-one", "both-sides", "paper"]
Unit = Literal["character", "token"]


@dataclass(frozen=True, slots=True)
class Matching:
    """Rules for matching spans.

    ``protocol``: what counts as a hit; see the module.
    ``unit``: what ends are compared in and what must be shared. In tokens, a span stands for all
    tokens it shares a character with.
    ``tokens``: for ``unit="token"``: what cuts a text into (start, end) pairs, or those of each
    note by note id.
    """

    protocol: Protocol = "one-to-one"
    unit: Unit = "character"
    tokens: Tokens = words

    def __post_init__(self) -> None:
        if self.protocol not in get_args(Protocol):
            raise UnknownNameError("protocol", self.protocol, get_args(Protocol))
        if self.unit not in get_args(Unit):
            raise UnknownNameError("unit", self.unit, get_args(Unit))


def span_counts(pairing: Pairing, matching: Matching | None = None) -> dict[str, CountTable]:
    """Count the annotations of both sides and their hits in each row, by kind of agreement.

    Annotations keep their fragments: two are equal if their merged fragments are, their
    boundaries are the first start and the last end, and they overlap if they share a unit.
    Touching spans share nothing. Nested and overlapping annotations are kept apart; one that
    covers exactly what another of the same row and side covers is counted once. An annotation
    that holds no token (only white space) counts but hits nothing.

    Kinds are ``exact``, ``one_side_boundary`` and ``token_overlap`` (Lee & Sun 2019, A study on
    agreement in PICO span annotations, SIGIR).

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.evaluation.pairing import pair_rows
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "58 yo M with chest pain"))
    >>> builder.add_feature(Feature("f", "c", "Chest pain"))
    >>> builder.annotate("ref", "n", "f", [(13, 23)])
    >>> builder.annotate("pred", "n", "f", [(8, 23)])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ref", predicted_annotator="pred"
    ... )
    >>> {kind: table.total().f1 for kind, table in span_counts(pairing).items()}
    {'exact': 0.0, 'one_side_boundary': 1.0, 'token_overlap': 1.0}
    """
    matching = matching or Matching()
    if matching.unit == "token":
        reference_marks, predicted_marks, size = to_tokens(pairing, matching.tokens)
    else:
        reference_marks, predicted_marks = pairing.reference_marks, pairing.predicted_marks
        size = pairing.length
    reference, predicted = distinct_annotations(reference_marks, predicted_marks, size)
    n = len(pairing)
    totals = [reference.per_row(n), predicted.per_row(n)]
    tables = {}
    for kind, pairs in agreeing_pairs(reference, predicted).items():
        one, two = pairs
        if matching.protocol == "one-to-one":
            one, two = _largest_matching(one, two)
        else:  # each that hits, once
            one, two = np.unique(one), np.unique(two)
        predicted_hits = np.bincount(predicted.row[two], minlength=n)
        reference_hits = (
            predicted_hits
            if matching.protocol == "paper"
            else np.bincount(reference.row[one], minlength=n)
        )
        measure = replace(SPANS, name=f"spans.{kind}", settings=(matching.protocol, matching.unit))
        values = np.stack((*totals, reference_hits, predicted_hits), axis=-1)
        tables[kind] = CountTable(measure, pairing.keys, values.astype(np.int64))
    return tables


def _largest_matching(one: I64, two: I64) -> Pairs:
    """Return a matching of as many pairs as possible, for all rows at once.

    Most pairs meet nobody else and are matched as they are; what is left is one sparse bipartite
    graph, whose rows do not touch, for the algorithm of Hopcroft and Karp (1973).
    """
    if len(one) == 0:
        return one, two
    alone = (np.bincount(one)[one] == 1) & (np.bincount(two)[two] == 1)
    if alone.all():
        return one, two
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, row = np.unique(one[~alone], return_inverse=True)
    columns, column = np.unique(two[~alone], return_inverse=True)
    graph = csr_array(
        (np.ones(len(row), dtype=np.int8), (row, column)), shape=(len(rows), len(columns))
    )
    partner = maximum_bipartite_matching(graph, perm_type="column")
    matched = partner >= 0
    return (
        np.concatenate((one[alone], rows[matched])),
        np.concatenate((two[alone], columns[partner[matched]])),
    )


#: Names one count table: ``("characters",)``, ``("presence",)``, ``("spans", "exact")``.
MeasureKey = tuple[str, ...]


def character_counts(pairing: Pairing) -> CountTable:
    """Count true and false positive and negative character positions in each row.

    A position is TP within both a reference and a predicted span, FP within a predicted one
    only, FN within a reference one only, TN within neither (the competition's definition; TN
    serves kappa). Spans of a row are taken as a union: duplicates, nested, overlapping and
    touching spans count a position once.

    The worked example of the competition:

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.evaluation import pair_rows
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "0123456789"))
    >>> builder.add_feature(Feature("f", "c", "a feature"))
    >>> for annotator, spans in (("ref", [(0, 3), (3, 5)]), ("pred", [(2, 5), (7, 9), (2, 3)])):
    ...     for span in spans:
    ...         builder.annotate(annotator, "n", "f", [span])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ref", predicted_annotator="pred"
    ... )
    >>> character_counts(pairing).total().counts
    {'tp': 3, 'fp': 2, 'fn': 2, 'tn': 3}
    """
    base = zones(pairing.length)
    n = len(pairing)
    sides = []
    for marks in (pairing.reference_marks, pairing.predicted_marks):
        row = marks.fragment_row
        shift = base[row]
        sides.append(_by_start(row, marks.start + shift, marks.end + shift))
    both = _by_start(*(np.concatenate(arrays) for arrays in zip(*sides, strict=True)))
    reference, predicted, either = (covered(*spans, n) for spans in (*sides, both))
    values = np.empty((n, 4), dtype=np.int64)
    values[:, 0] = reference + predicted - either
    values[:, 1] = either - reference
    values[:, 2] = either - predicted
    values[:, 3] = pairing.length - either
    return CountTable(CHARACTERS, pairing.keys, values)


def _by_start(row: I64, start: I64, end: I64) -> tuple[I64, I64, I64]:
    if (start[1:] >= start[:-1]).all():
        return row, start, end
    # stable is a merge sort here: linear on the two sorted runs of a concatenation
    order = np.argsort(start, kind="stable")
    return row[order], start[order], end[order]


def presence_counts(pairing: Pairing) -> CountTable:
    """Count, in each row, whether reference and prediction hold any annotation.

    Exactly one of TP, FP, FN and TN is 1 in a row. Where the spans are plays no part.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> from rubricate.evaluation import pair_rows
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever"))
    >>> builder.add_feature(Feature("f", "c", "No fever"))
    >>> builder.annotate("ref", "n", "f", [(0, 8)])
    >>> builder.annotate("pred", "n", "f", [(3, 8)])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ref", predicted_annotator="pred"
    ... )
    >>> presence_counts(pairing).total().counts
    {'tp': 1, 'fp': 0, 'fn': 0, 'tn': 0}
    """
    sides = np.zeros((2, len(pairing)), dtype=bool)
    sides[0, pairing.reference_marks.row] = True
    sides[1, pairing.predicted_marks.row] = True
    return CountTable(PRESENCE, pairing.keys, four_cells(*sides))


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that are counted together: the names of their tables, and what counts them."""

    labels: Mapping[MeasureKey, str]
    count: Callable[[Pairing, Matching], Mapping[MeasureKey, CountTable]]


#: Every family, in the order in which pages and tables show them. A new one needs a line here and
#: its formulas in `rubricate.evaluation.counts`; results, comparisons and JSON follow.
FAMILIES = (
    Family(
        {("characters",): "Characters"},
        lambda pairing, _: {("characters",): character_counts(pairing)},
    ),
    Family(
        {("presence",): "Presence"}, lambda pairing, _: {("presence",): presence_counts(pairing)}
    ),
    Family(
        {
            ("spans", "exact"): "Spans, exact",
            ("spans", "one_side_boundary"): "Spans, one side",
            ("spans", "token_overlap"): "Spans, overlap",
        },
        lambda pairing, matching: {
            ("spans", kind): table for kind, table in span_counts(pairing, matching).items()
        },
    ),
)
#: What each count table is called.
LABELS: Mapping[MeasureKey, str] = {
    key: label for family in FAMILIES for key, label in family.labels.items()
}


def count_rows(pairing: Pairing, matching: Matching) -> dict[MeasureKey, CountTable]:
    """Count the rows of a pairing in every way there is."""
    return {
        key: table for family in FAMILIES for key, table in family.count(pairing, matching).items()
    }
