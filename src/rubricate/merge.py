"""Putting corpora about the same notes together, so that their annotators can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rubricate.corpus import Annotator, Corpus, Score
from rubricate.errors import Fault, InputError
from rubricate.rows import Rows

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
    first = corpora[names[0]]
    shared = [n.id for n in first.notes if all(n.id in corpora[k].note_index for k in names[1:])]
    faults = _disagreements(first, corpora, shared)
    if not shared:
        faults.append(Fault(f"{', '.join(names)} have no note in common (by note id)"))
    if faults:
        raise InputError(faults)
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
        base,
        annotators=tuple(annotators),
        rows=Rows.concatenate(parts),
        scores=tuple(scores),
    )


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
            faults.append(Fault(f"{name}: the text differs in {_listed(changed)}"))
        used = {int(f) for f in np.unique(corpus.select(notes=shared).rows.feature)}
        unknown = [
            f.id for i, f in enumerate(corpus.features)
            if i in used and f.id not in first.feature_index
        ]  # fmt: skip
        if unknown:
            faults.append(
                Fault(f"{name}: features {_listed(unknown)} are not in the first rubrics")
            )
    return faults


def _listed(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(ids[:SHOWN_IDS]) + more
