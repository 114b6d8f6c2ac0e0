"""All a scoring report shows, gathered from the files of a finished run and its notes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.corpus import Note
from rubricate.errors import Fault, InputError
from rubricate.rubric import Feature, Rubric
from rubricate.trust import (
    Changes,
    Cluster,
    Drift,
    Flag,
    Run,
    compare_runs,
    find_duplicates,
    flag_notes,
    measure_drift,
    read_run,
)
from rubricate.trust.run_files import ITEM_COLUMNS, SCORE_COLUMNS, parse_spans, read_table

#: Columns of items.csv that a note's page shows; those that are missing are taken for empty.
SHOWN = ("spans", "reason", "review_reason", "corrected_by", "corrected_at", "comment")


@dataclass(frozen=True, eq=False, slots=True)
class ItemLine:
    """One row of items.csv, as a note's page shows it."""

    feature: str
    found: bool
    certainty: float | None
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
    texts : mapping
        Text by note id.
    rubrics : mapping
        Rubric by case, as items.csv has it.
    lines : tuple
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
    texts: Mapping[str, str]
    rubrics: Mapping[str, Rubric]
    lines: tuple[tuple[ItemLine, ...], ...]
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

    Parameters
    ----------
    folder : Path
        With ``scores.csv`` and ``items.csv``.
    notes : iterable of Note
        The notes that were scored; others are passed over.
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
    kept = [note for note in notes if note.id in run.note_index]
    texts = {note.id: note.text for note in kept}
    rubrics, lines = _items(folder / "items.csv", run)
    _check_spans(run, lines, texts, folder / "items.csv")
    evidence = {
        note: {one.feature: parse_spans(one.spans) for one in own if one.found}
        for note, own in zip(run.notes, lines, strict=True)
    }
    earlier = None if previous is None else read_run(previous)
    scored = {n for n, p in zip(run.notes, run.percentage, strict=True) if not np.isnan(p)}
    ours = [note for note in kept if note.id in scored]
    return Cohort(
        run=run,
        status=_status(folder / "scores.csv"),
        texts=texts,
        rubrics=rubrics,
        lines=lines,
        clusters=find_duplicates(ours),
        flags=flag_notes(ours, rubrics, evidence=evidence),
        changes=None if earlier is None else compare_runs(earlier, run),
        drift=None if earlier is None else measure_drift(earlier, run),
        policy={} if policy is None else _json(policy),
        facts=_json(folder / "run.json") if (folder / "run.json").is_file() else {},
    )


def _items(path: Path, run: Run) -> tuple[dict[str, Rubric], tuple[tuple[ItemLine, ...], ...]]:
    table = read_table(path, ITEM_COLUMNS)
    table = table.filter(table["found"] != "")
    empty = [""] * len(table)
    names = ("note", "feature", "feature_text", "weight", "group", *SHOWN)
    columns = {n: table[n].to_list() if n in table.columns else empty for n in names}
    features: dict[str, dict[str, Feature]] = {}
    lines: list[list[ItemLine]] = [[] for _ in run.notes]
    items = run.items
    decided = zip(items.note.tolist(), items.found.tolist(), items.confidence.tolist(),
                  items.needs_review.tolist(), strict=True)  # fmt: skip
    for k, (note, found, sure, review) in enumerate(decided):
        case, feature = run.cases[note], columns["feature"][k]
        own = features.setdefault(case, {})
        if feature not in own:
            weight = float(columns["weight"][k] or 1)
            text = columns["feature_text"][k] or feature
            own[feature] = Feature(feature, case, text, weight, group=columns["group"][k])
        certainty = None if np.isnan(sure) else round(sure, 4)
        shown = (columns[name][k] for name in SHOWN)
        lines[note].append(ItemLine(feature, found, certainty, review, *shown))
    rubrics = {case: Rubric(case, tuple(own.values())) for case, own in features.items()}
    for i, own_lines in enumerate(lines):
        order = {f.id: k for k, f in enumerate(rubrics.get(run.cases[i], ()))}
        own_lines.sort(key=lambda line: order[line.feature])
    return rubrics, tuple(tuple(own) for own in lines)


def _status(path: Path) -> tuple[str, ...]:
    table = read_table(path, SCORE_COLUMNS)
    empty = [""] * len(table)
    columns = [
        table[n].to_list() if n in table.columns else empty for n in ("score", "status", "reason")
    ]
    return tuple(
        "" if score else (reason or status or "not scored")
        for score, status, reason in zip(*columns, strict=True)
    )


def _check_spans(
    run: Run, lines: tuple[tuple[ItemLine, ...], ...], texts: Mapping[str, str], path: Path
) -> None:
    """Raise if evidence does not fit the notes: then they are not the notes that were scored."""
    faults = []
    for note, own in zip(run.notes, lines, strict=True):
        if own and note not in texts:
            faults.append(Fault(f"note {note!r} is not among the notes given", path))
        for one in own if note in texts else ():
            try:
                wrong = any(span.end > len(texts[note]) for span in parse_spans(one.spans))
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
