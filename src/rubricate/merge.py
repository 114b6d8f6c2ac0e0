"""Merging corpora of the same notes, and the labels that each of them knows by their use alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rubricate.corpus import Annotator, Corpus, Score
from rubricate.errors import Fault, InputError, listed
from rubricate.rows import Rows
from rubricate.rubric import Feature

#: How many ids an error names before it only counts.
SHOWN_IDS = 10


def join_corpora(corpora: Mapping[str, Corpus]) -> Corpus:
    """Return one corpus with the notes they share and all their annotators.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> joined = join_corpora({
    ...     "first": corpus.select(annotators=["reference"]),
    ...     "second": corpus.select(annotators=["second_rater"]),
    ... })
    >>> joined == corpus
    True
    """
    names = list(corpora)
    corpora = dict(zip(names, share_labels(list(corpora.values())), strict=True))
    first = corpora[names[0]]
    shared = [n.id for n in first.notes if all(n.id in corpora[k].note_index for k in names[1:])]
    faults = _disagreements(first, corpora, shared)
    if not shared:
        faults.append(Fault(f"{', '.join(names)} have no note in common (by note id)"))
    InputError.raise_any(faults)
    base = first.select(notes=shared)
    parts: list[Rows] = []
    annotators: list[Annotator] = []
    scores: list[Score] = []
    ids = [a.id for corpus in corpora.values() for a in corpus.annotators]
    for name, corpus in corpora.items():
        part = corpus.select(notes=shared)
        parts.append(_relabelled(part, base, offset=len(annotators)))
        new_id = {i: f"{name}:{i}" if ids.count(i) > 1 else i for i in part.annotator_index}
        annotators += [replace(a, id=new_id[a.id]) for a in part.annotators]
        scores += [replace(s, annotator=new_id.get(s.annotator, s.annotator)) for s in part.scores]
    return replace(
        base, annotators=tuple(annotators), rows=Rows.concatenate(parts), scores=tuple(scores)
    )


def share_labels(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return corpora of which those that know labels by their use alone know the others', too.

    Who had the same labels to choose from and never used one did not find it: its rows are judged
    wherever any label was. A rubric that lists its features stays as it is.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> made = []
    >>> for label in ("Fever", "Cough"):
    ...     builder = CorpusBuilder()
    ...     builder.add_note(Note("n1", "c", "Fever, cough"))
    ...     builder.add_feature(Feature(label, "c", label), by_use=True)
    ...     builder.judge("ann", "n1", label)
    ...     made.append(builder.build())
    >>> [[f.id for f in one.features] for one in share_labels(made)]
    [['Fever', 'Cough'], ['Cough', 'Fever']]
    """
    by_use = any(rubric.by_use for one in corpora for rubric in one.rubrics)
    return [_with_labels(own, corpora) if by_use else own for own in corpora]


def _with_labels(own: Corpus, corpora: Iterable[Corpus]) -> Corpus:
    cases = list(dict.fromkeys(note.case for note in own.notes))
    known = {rubric.case: rubric for rubric in own.rubrics}
    open_cases = {rubric.case for rubric in own.rubrics if rubric.by_use}
    new: dict[str, Feature] = {}
    for feature in (feature for other in corpora for feature in other.features):
        case = feature.case if feature.case in cases or len(cases) != 1 else cases[0]
        if case in open_cases and feature.id not in own.feature_index:
            new.setdefault(feature.id, replace(feature, case=case))
    if not new:
        return own
    for case in dict.fromkeys(feature.case for feature in new.values()):
        rubric = known[case]
        more = tuple(feature for feature in new.values() if feature.case == case)
        known[case] = replace(rubric, features=rubric.features + more)
    ordered = [feature.id for rubric in known.values() for feature in rubric]
    place = {feature_id: number for number, feature_id in enumerate(ordered)}
    there = own.rows.relabel(feature=np.array([place[f.id] for f in own.features], dtype=np.int32))
    # Without a single label there is no row that tells who looked at which note.
    everybody = [(n, a) for n in range(len(own.notes)) for a in range(len(own.annotators))]
    judged = zip(own.rows.note.tolist(), own.rows.annotator.tolist(), strict=True)
    added = [
        (note, annotator, place[feature.id])
        for note, annotator in (dict.fromkeys(judged) if len(own.rows) else everybody)
        for feature in new.values()
        if own.notes[note].case == feature.case
    ]
    columns = np.array(added, dtype=np.int32).reshape(-1, 3).T
    nothing: list[int] = []
    found = Rows.build(
        note=columns[0], annotator=columns[1], feature=columns[2], row_of_annotation=nothing,
        annotation_of_span=nothing, start=nothing, end=nothing,
    )  # fmt: skip
    rows = Rows.concatenate([there, found])
    return replace(own, rubrics=tuple(known.values()), rows=rows)


def lone_labels(*corpora: Corpus) -> list[str]:
    """Return the labels, known by their use alone, that one of several annotators used alone.

    >>> from rubricate import load_corpus
    >>> lone_labels(load_corpus("open-notes"))
    []
    """
    users: dict[str, set[tuple[int, int]]] = {}
    for number, corpus in enumerate(corpora):
        by_use = {rubric.case for rubric in corpus.rubrics if rubric.by_use}
        rows = corpus.rows
        for row in np.flatnonzero(np.diff(rows.first_annotation)):
            feature = corpus.features[int(rows.feature[row])]
            if feature.case in by_use:
                users.setdefault(feature.id, set()).add((number, int(rows.annotator[row])))
    several = sum(len(np.unique(corpus.rows.annotator)) for corpus in corpora) > 1
    return [label for label, own in users.items() if several and len(own) == 1]


def _relabelled(part: Corpus, base: Corpus, *, offset: int) -> Rows:
    note = np.array([base.note_index[n.id] for n in part.notes], dtype=np.int32)
    feature = np.array([base.feature_index.get(f.id, -1) for f in part.features], dtype=np.int32)
    annotator = np.arange(len(part.annotators), dtype=np.int32) + offset
    return part.rows.relabel(note=note, feature=feature, annotator=annotator)


def _disagreements(first: Corpus, corpora: Mapping[str, Corpus], shared: list[str]) -> list[Fault]:
    faults = []
    for name, corpus in list(corpora.items())[1:]:
        changed = [i for i in shared if corpus.note(i).text != first.note(i).text]
        if changed:
            faults.append(Fault(f"{name}: the text differs in {listed(changed, SHOWN_IDS)}"))
        used = {int(f) for f in np.unique(corpus.select(notes=shared).rows.feature)}
        unknown = [
            f.id for i, f in enumerate(corpus.features)
            if i in used and f.id not in first.feature_index
        ]  # fmt: skip
        if unknown:
            faults.append(
                Fault(
                    f"{name}: features {listed(unknown, SHOWN_IDS)} are not in the rubrics of "
                    f"{next(iter(corpora))}. Name the same features in all of them (in "
                    "BRAT: annotation.conf), also those that somebody never found"
                )
            )
    return faults
