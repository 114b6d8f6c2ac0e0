"""Labels on tokens and spans of text, from one to the other, and those of the EBM-NLP corpus."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from rubricate.corpus import Corpus
from rubricate.formats.frame import feature_labels
from rubricate.reading.tokens import find_tokens
from rubricate.rubric import Feature, Rubric

CASE = "pico"

#: One feature per element, in the order of the corpus's papers.
PICO = Rubric(
    CASE,
    (
        Feature("participants", CASE, "Participants"),
        Feature("interventions", CASE, "Interventions"),
        Feature("outcomes", CASE, "Outcomes"),
    ),
)

#: What the numbers of ``hierarchical_labels`` mean (README of the release).
SUBLABELS = {
    "participants": ("Age", "Sex", "Sample size", "Condition"),
    "interventions": (
        "Surgical", "Physical", "Pharmacological", "Educational", "Psychological", "Other",
        "Control",
    ),
    "outcomes": ("Physical", "Pain", "Mortality", "Adverse effects", "Mental", "Other"),
}  # fmt: skip


def corpus_labels(corpus: Corpus, own: Mapping[str, str]) -> dict[str, str]:
    """Return a label for each feature: the EBM-NLP corpus's own, by feature id, unless taken.

    >>> corpus_labels(Corpus((), (PICO,)), {"outcomes": "OUT"})["outcomes"]
    'OUT'
    """
    labels = feature_labels(corpus)
    taken = set(labels.values())
    free = {i: label for i, label in own.items() if i in labels and label not in taken}
    return {**labels, **free}


def sublabel_attributes(feature_id: str, number: int) -> tuple[tuple[str, str], ...]:
    """Return the attributes of an annotation with this sub-label.

    >>> sublabel_attributes("participants", 4)
    (('sublabel', '4'), ('sublabel name', 'Condition'))
    >>> sublabel_attributes("other", 4)
    (('sublabel', '4'),)
    """
    names = SUBLABELS.get(feature_id, ())
    named = (("sublabel name", names[number - 1]),) if 0 < number <= len(names) else ()
    return (("sublabel", str(number)), *named)


#: A token's place in the text: half-open code points; empty where a token has no text.
Place = tuple[int, int]

_SPACE = re.compile(r"\s*")
#: Tokenisers of the Penn Treebank school write these otherwise than the text.
_TREEBANK = {
    "``": ('"', "''"),
    "''": ('"', "``"),
    "-LRB-": ("(",),
    "-RRB-": (")",),
    "-LSB-": ("[",),
    "-RSB-": ("]",),
    "-LCB-": ("{",),
    "-RCB-": ("}",),
    "...": ("…",),
}
_SAME = str.maketrans("’‘`´“”–—−‐‑\u00ad", "''''\"\"------")


def note_tokens(text: str) -> list[Place]:
    """Return the spans of a text's tokens: all of it but white space.

    >>> note_tokens("58yo M.")
    [(0, 2), (2, 4), (5, 6), (6, 7)]
    """
    return [(token.start, token.end) for token in find_tokens(text) if token.kind != "newline"]


def align_tokens(tokens: Sequence[str], text: str) -> list[Place]:
    """Return the span of each token in the text, up to the first that is missing.

    White space may differ in every way, quotes and dashes may be written otherwise, and marks
    that the tokeniser dropped are passed over; letters and digits never are. A blank token gets
    an empty place. The result is shorter than ``tokens`` if one cannot be found.

    >>> align_tokens(["``", "no", "pain", "''", "(", "x"], 'she: "no  pain"')
    []
    >>> align_tokens(["``", "no", "pain", "''", "(", "x"], '"no  pain"')
    [(0, 1), (1, 3), (5, 9), (9, 10)]
    """
    places: list[Place] = []
    position = 0
    for token in tokens:
        place = _locate(token, text, position)
        if place is None:
            break
        places.append(place)
        position = place[1]
    return places


def _locate(token: str, text: str, position: int) -> Place | None:
    if not token or token.isspace():
        return position, position
    start = _skip_space(text, position)
    if text.startswith(token, start):
        return start, start + len(token)
    forms = (token, *_TREEBANK.get(token, ()))
    while start < len(text):
        for form in forms:
            end = _match(form, text, start)
            if end is not None:
                return start, end
        if text[start].isalnum():
            break
        start = _skip_space(text, start + 1)
    return None


def _skip_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _match(form: str, text: str, start: int) -> int | None:
    """Return the end of the form if it starts here, with any white space and any quotes."""
    position = start
    for char in "".join(form.split()).translate(_SAME):
        position = _skip_space(text, position)
        if position >= len(text) or text[position].translate(_SAME) != char:
            return None
        position += 1
    return position


def label_runs(labels: Sequence[int], places: Sequence[Place]) -> Iterator[tuple[int, Place]]:
    """Yield each maximal run of one label other than 0, and the text it covers.

    >>> list(label_runs([0, 1, 1, 2], [(0, 2), (3, 5), (5, 6), (7, 9)]))
    [(1, (3, 6)), (2, (7, 9))]
    """
    first = 0
    for label, run in groupby(labels):
        last = first + sum(1 for _ in run)
        if label:
            own = [place for place in places[first:last] if place[0] < place[1]]
            if own:
                yield label, (own[0][0], own[-1][1])
        first = last


def tokens_of(span: Place, places: Sequence[Place]) -> range:
    """Return the numbers of the tokens a span shares a character with.

    >>> list(tokens_of((1, 4), [(0, 2), (3, 5), (5, 6)]))
    [0, 1]
    """
    first = bisect_right(places, span[0], key=lambda place: place[1])
    return range(first, max(first, bisect_left(places, span[1], key=lambda place: place[0])))


def mark_tokens(spans: Iterable[Place], places: Sequence[Place]) -> list[int]:
    """Return 1 for each token that a span touches, else 0.

    >>> mark_tokens([(4, 5)], [(0, 2), (3, 5), (5, 6)])
    [0, 1, 0]
    """
    labels = [0] * len(places)
    for span in spans:
        for i in tokens_of(span, places):
            labels[i] = 1
    return labels


def count_cut_and_merged(corpus: Corpus) -> tuple[int, int]:
    """Count the annotations that cut a token, and those that flow into others of their row.

    The first begin or end inside a token or beside one: written as labels on tokens they are
    widened to whole tokens, or lose their outer white space. The others have no token between
    them and the next, so that they become one run. Annotations of several fragments become
    several runs anyway and are not counted among them.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "hot flashes"))
    >>> builder.add_feature(Feature("f", "c", "Hot flashes"))
    >>> builder.annotate("a", "n", "f", [(0, 3)])
    >>> builder.annotate("a", "n", "f", [(4, 11)])
    >>> count_cut_and_merged(builder.build())
    (0, 2)
    """
    losses = list(_row_losses(corpus))
    return sum(cut for cut, _ in losses), sum(merged for _, merged in losses)


def _row_losses(corpus: Corpus) -> Iterator[tuple[int, int]]:
    """Yield for each row with annotations how many are cut and how many are merged."""
    rows = corpus.rows
    note, places = -1, list[Place]()
    starts, ends = set[int](), set[int]()
    for row in np.flatnonzero(np.diff(rows.first_annotation)).tolist():
        if rows.note[row] != note:
            note = int(rows.note[row])
            places = note_tokens(corpus.notes[note].text)
            starts, ends = {s for s, _ in places}, {e for _, e in places}
        fragments = [annotation.spans for annotation in rows.annotations(row)]
        labels = mark_tokens((span for own in fragments for span in own), places)
        runs = {run for _, run in label_runs(labels, places)}
        cut = merged = 0
        for own in fragments:
            if any(start not in starts or end not in ends for start, end in own):
                cut += 1
            elif len(own) == 1 and own[0] not in runs:
                merged += 1
        yield cut, merged
