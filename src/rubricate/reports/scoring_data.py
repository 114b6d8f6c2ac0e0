"""All a scoring report shows, gathered from the files of a finished run and its notes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.corpus import Note
from rubricate.errors import Fault, InputError
from rubricate.reports.keeping import Kept, Texts
from rubricate.rubric import Feature, Rubric
from rubricate.trust import (
    Changes,
    Cluster,
    Drift,
    Flag,
    Found,
    Run,
    compare_runs,
    find_duplicates,
    flag_note,
    measure_drift,
    read_run,
)
from rubricate.trust.run_files import SCORE_COLUMNS, parse_spans, read_rows_as_text, read_table

#: Columns of items.csv that a note's page shows; those that are missing are taken for empty.
SHOWN = ("spans", "reason", "review_reason", "corrected_by", "corrected_at", "comment")


@dataclass(frozen=True, eq=False, slots=True)
class ItemLine:
    """One row of items.csv, as a note's page shows it."""

    feature: str
    found: bool
    certainty: float | None
    confidence: float | None
    review: bool
    spans: str
    reason: str
    review_reason: str
    corrected_by: str
    corrected_at: str
    comment: str


@dataclass(frozen=True, eq=False)
class Cohort:
    """A finished run with everything there is to say about it.

    Parameters
    ----------
    run : Run
        Scores and decisions.
    status : tuple of str
        Why a note has no score; empty for notes that have one.
    texts : sequence of str
        Text of each note of the run; empty where it was not given.
    rubrics : mapping
        Rubric by case, as items.csv has it.
    lines : sequence
        The rows of items.csv of each note, in the order of the rubric.
    clusters, flags : tuples
        Copied notes, and notes that look gamed.
    changes, drift : optional
        What changed since the earlier run.
    policy, facts : mappings
        What policy.json and run.json say; empty without them.
    """

    run: Run
    status: tuple[str, ...]
    texts: Sequence[str]
    rubrics: Mapping[str, Rubric]
    lines: Sequence[tuple[ItemLine, ...]]
    clusters: tuple[Cluster, ...] = ()
    flags: tuple[Flag, ...] = ()
    changes: Changes | None = None
    drift: Drift | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def gather_cohort(
    folder: Path, notes: Iterable[Note], *, previous: Path | None = None, policy: Path | None = None
) -> Cohort:
    """Read a finished run and look for copies, gaming and changes.

    Texts and items lie in temporary files: numbers are kept of each note, and of the notes of one
    case at a time their runs of words, to find copies.

    Parameters
    ----------
    folder : Path
        With ``scores.csv`` and ``items.csv``.
    notes : iterable of Note
        The notes that were scored; others are passed over. Of several with one id the first counts.
    previous : Path, optional
        Folder of an earlier run.
    policy : Path, optional
        A ``policy.json``.

    Raises
    ------
    InputError
        If a file is missing or wrong, or evidence lies outside its note.
    """
    run = read_run(folder)
    texts = Texts(len(run))
    for note in notes:
        place = run.note_index.get(note.id)
        if place is not None and not texts.given(place):
            texts.keep(place, note.text)
    rubrics, lines = _items(folder / "items.csv", run)
    _check_spans(run, lines, texts, folder / "items.csv")
    earlier = None if previous is None else read_run(previous)
    return Cohort(
        run=run,
        status=_status(folder / "scores.csv"),
        texts=texts,
        rubrics=rubrics,
        lines=lines,
        clusters=_clusters(run, texts),
        flags=_flags(run, texts, rubrics, lines),
        changes=None if earlier is None else compare_runs(earlier, run),
        drift=None if earlier is None else measure_drift(earlier, run),
        policy={} if policy is None else _json(policy),
        facts=_json(folder / "run.json") if (folder / "run.json").is_file() else {},
    )


def _scored(run: Run, texts: Texts) -> Iterator[int]:
    return (i for i in np.flatnonzero(~np.isnan(run.percentage)).tolist() if texts.given(i))


def _clusters(run: Run, texts: Texts) -> tuple[Cluster, ...]:
    """Find copies case by case, so that the words of one case at a time are in memory."""
    of_case: dict[str, list[int]] = {}
    for i in _scored(run, texts):
        of_case.setdefault(run.cases[i], []).append(i)
    found: list[Cluster] = []
    for case, places in of_case.items():
        found += find_duplicates(Note(run.notes[i], case, texts[i]) for i in places)
    return tuple(sorted(found, key=lambda c: (-len(c.notes), -c.similarity, c.notes)))


def _flags(
    run: Run, texts: Texts, rubrics: Mapping[str, Rubric], lines: Sequence[tuple[ItemLine, ...]]
) -> tuple[Flag, ...]:
    found: list[Flag] = []
    for i in _scored(run, texts):
        evidence = {
            one.feature: Found(parse_spans(one.spans), one.confidence)
            for one in lines[i]
            if one.found
        }
        rubric = rubrics.get(run.cases[i])
        if rubric is not None:
            note = Note(run.notes[i], run.cases[i], texts[i])
            found += flag_note(note, rubric, evidence=evidence)
    return tuple(found)


class _Lines(Sequence[tuple[ItemLine, ...]]):
    """The items of each note, read when they are asked for, in the order of the note's rubric."""

    def __init__(self, kept: Kept, run: Run, rubrics: Mapping[str, Rubric]) -> None:
        self._kept = kept
        self._cases = run.cases
        self._order = {
            case: {feature.id: k for k, feature in enumerate(rubric)}
            for case, rubric in rubrics.items()
        }

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, place: Any) -> Any:
        own = [ItemLine(*values) for part in self._kept.get(place) for values in part]
        order = self._order.get(self._cases[place], {})
        return tuple(sorted(own, key=lambda line: order[line.feature]))


def _items(path: Path, run: Run) -> tuple[dict[str, Rubric], _Lines]:
    """Read items.csv once more, row by row, and keep what a note's page shows in a file."""
    features: dict[str, dict[str, Feature]] = {}
    kept = Kept(len(run))
    items = run.items
    decided = zip(items.note.tolist(), items.found.tolist(), items.confidence.tolist(),
                  items.needs_review.tolist(), strict=True)  # fmt: skip
    rows = (row for row in read_rows_as_text(path) if row["found"])
    for place, group in groupby(zip(decided, rows, strict=True), key=lambda pair: pair[0][0]):
        case, lines = run.cases[place], []
        own = features.setdefault(case, {})
        for (_, found, sure, review), row in group:
            feature = row["feature"]
            if feature not in own:
                weight = float(row.get("weight") or 1)
                text = row.get("feature_text") or feature
                own[feature] = Feature(feature, case, text, weight, group=row.get("group", ""))
            certainty = None if np.isnan(sure) else round(sure, 4)
            confidence = float(row["confidence"]) if row.get("confidence") else None
            shown = (row.get(name, "") for name in SHOWN)
            lines.append((feature, found, certainty, confidence, review, *shown))
        kept.add(place, lines)
    rubrics = {case: Rubric(case, tuple(own.values())) for case, own in features.items()}
    return rubrics, _Lines(kept, run, rubrics)


def _status(path: Path) -> tuple[str, ...]:
    table = read_table(path, SCORE_COLUMNS, ("status", "reason"))
    empty = [""] * len(table)
    columns = [
        table[n].to_list() if n in table.columns else empty for n in ("score", "status", "reason")
    ]
    return tuple(
        "" if score else (reason or status or "not scored")
        for score, status, reason in zip(*columns, strict=True)
    )


def _check_spans(run: Run, lines: Sequence[tuple[ItemLine, ...]], texts: Texts, path: Path) -> None:
    """Raise if evidence does not fit the notes: then they are not the notes that were scored."""
    faults = []
    for i, (note, own) in enumerate(zip(run.notes, lines, strict=True)):
        if own and not texts.given(i):
            faults.append(Fault(f"note {note!r} is not among the notes given", path))
        length = len(texts[i])
        for one in own if texts.given(i) else ():
            try:
                wrong = any(span.end > length for span in parse_spans(one.spans))
            except ValueError:
                wrong = True
            if wrong:
                faults.append(
                    Fault(
                        f"note {note!r}, feature {one.feature!r}: spans do not fit the note", path
                    )
                )
    if faults:
        raise InputError(faults)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError([Fault("cannot be read as JSON", path)]) from error
    return value if isinstance(value, dict) else {}
