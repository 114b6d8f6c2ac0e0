"""Matchers side by side: folds by note, unseen cases, learning curves, all on the same splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation import CountTable, Coverage, Evaluation, Matching, evaluate
from rubricate.evaluation.agreement import Agreement, agree
from rubricate.evaluation.design import SampleDesign, clusters_of
from rubricate.evaluation.evaluation import add_intervals
from rubricate.evaluation.systems import compare_evaluations
from rubricate.files import file_hash, program_hash
from rubricate.formats import read_corpus, write_corpus
from rubricate.matchers import (
    NOTE_SECONDS,
    FailedNote,
    Predicted,
    fit_apart,
    load_matcher,
    make_matcher,
    predict_in_parts,
)
from rubricate.matchers.model_files import DECIDING, HEADER_FILE, LEARNING, corpus_hash
from rubricate.progress import Progress, silent, watched
from rubricate.splits import Split, case_splits, fold_splits, learning_splits
from rubricate.stats import Resampling, defined

__all__ = [
    "Split",
    "Trial",
    "TrialResult",
    "case_splits",
    "fold_splits",
    "learning_splits",
    "over_cases",
    "run_trials",
]


@dataclass(frozen=True)
class Trial:
    """One matcher to try: what to call it, which it is, its parameters, what it goes on from."""

    name: str
    matcher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: Path | None = None


@dataclass(frozen=True, eq=False)
class TrialResult:
    """Results of each matcher on the same splits."""

    measured: Mapping[tuple[str, str], Evaluation]
    ceiling: Agreement | None
    settings: Resampling
    #: For each matcher, the notes that it could not learn from or could not be tested on.
    failed: Mapping[str, tuple[FailedNote, ...]] = field(default_factory=dict)
    #: The cluster of each note, where intervals draw clusters.
    clusters: Mapping[str, str] | None = None

    @property
    def n_notes(self) -> int:
        """Number of test notes."""
        return max(found.coverage.n_notes for found in self.measured.values())

    @property
    def groups(self) -> list[str]:
        """The groups of splits, in order."""
        return list(dict.fromkeys(group for group, _ in self.measured))

    def of(self, group: str) -> dict[str, Evaluation]:
        """Return the matchers of one group."""
        return {name: found for (g, name), found in self.measured.items() if g == group}

    def to_dict(self) -> dict[str, object]:
        """Return all values, ready for JSON."""
        result: dict[str, object] = {
            "groups": {one: self._group(one) for one in self.groups},
            "failed": {
                name: [one._asdict() for one in notes] for name, notes in self.failed.items()
            },
        }
        if self.ceiling is not None:
            result["ceiling"] = {
                "overall": self.ceiling.to_dict()["overall"],
                "cases": self.ceiling.case_table(),
            }
        return result

    def _group(self, group: str) -> dict[str, object]:
        systems = self.of(group)
        compared = (
            compare_evaluations((new, systems[new]), (old, systems[old]),
                                self.settings, clusters=self.clusters)
            for old, new in pairwise(systems)
        )  # fmt: skip
        return {
            "matchers": {
                name: {**found.to_dict(), "over_cases": _plain(over_cases(found))}
                for name, found in systems.items()
            },
            "comparisons": [one.to_dict() for one in compared],
        }


def over_cases(found: Evaluation) -> dict[str, dict[str, float]]:
    """Return mean and sample SD over cases of characters F1 and presence F1, as the paper does."""
    result = {}
    for name in ("characters", "presence"):
        values = getattr(found, name).by("case").statistic("f1")
        values = values[~np.isnan(values)]
        sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
        mean = float(values.mean()) if len(values) else float("nan")
        result[name] = {"mean": mean, "sd": sd}
    return result


def _plain(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    return {name: {k: defined(v) for k, v in value.items()} for name, value in values.items()}


def run_trials(
    corpus: Corpus,
    trials: Sequence[Trial],
    splits: Sequence[Split],
    *,
    annotator: str | None = None,
    settings: Resampling | None = None,
    keep: Path | None = None,
    note_seconds: float = NOTE_SECONDS,
    cluster: str | None = None,
    progress: Progress = silent,
) -> TrialResult:
    """Fit and test every matcher on every split.

    A note at which a matcher fails is left out of learning; in a test nothing was found in it.
    ``cluster`` names a field of the notes' metadata, such as the patient; intervals draw its
    clusters.

    >>> from rubricate import load_corpus
    >>> from rubricate.trials import fold_splits
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> splits = fold_splits(corpus, folds=2, train_folds=1)
    >>> result = run_trials(corpus, [Trial("exact", "exact")], splits)
    >>> 0 < result.of("")["exact"].characters.total().f1 < 1
    True
    """
    settings = settings or Resampling()
    chosen = _annotator(corpus, annotator)
    own = corpus.select(annotators=[chosen])
    parts: dict[tuple[str, str], list[Evaluation]] = {}
    failures: dict[str, dict[str, FailedNote]] = {}
    steps = [(trial, split) for split in splits for trial in trials]
    for trial, split in watched(steps, progress, "comparing", len(steps)):
        predicted, failed = _predicted(own, trial, split, keep, note_seconds)
        for one in failed:
            failures.setdefault(trial.name, {})[one.note] = one
        test = own.select(notes=split.test)
        found = evaluate(test, predicted, matching=Matching("one-to-one", "token"))
        parts.setdefault((split.group, trial.name), []).append(found)
    clusters = clusters_of(corpus, cluster) if cluster else None
    measured = {
        key: add_intervals(_together(found, own), settings, design=SampleDesign(clusters=clusters))
        for key, found in parts.items()
    }
    items = corpus.rows.note.astype(np.int64) * len(corpus.features) + corpus.rows.feature
    judged_twice = len(np.unique(items)) < len(items)
    ceiling = agree(corpus, settings=settings, cluster=cluster) if judged_twice else None
    failed_notes = {name: tuple(notes.values()) for name, notes in failures.items()}
    return TrialResult(measured, ceiling, settings, failed_notes, clusters)


def _annotator(corpus: Corpus, annotator: str | None) -> str:
    known = list(corpus.annotator_index)
    if not known:
        raise InputError("the corpus has no annotator to train on and to test against")
    if annotator is None:
        return "reference" if "reference" in known else known[0]
    if annotator not in known:
        raise UnknownNameError("annotator", annotator, known)
    return annotator


def _predicted(
    own: Corpus, trial: Trial, split: Split, keep: Path | None, note_seconds: float
) -> Predicted:
    """Return the matcher's predictions for the test notes, from the folder if they are there."""
    train, test = own.select(notes=split.train), own.select(notes=split.test)
    place = None if keep is None else keep / _key(train, test, trial)
    if place is not None and place.is_dir():
        return Predicted(read_corpus(place, format="parquet"))
    if trial.model is None:
        matcher = make_matcher(trial.matcher, **trial.parameters)
    else:
        matcher = load_matcher(trial.model)
    failed = fit_apart(matcher, train, note_seconds=note_seconds)
    found = predict_in_parts(matcher, test, note_seconds=note_seconds)
    failed += found.failed
    # Failures are not kept on disk, so that whoever goes on from the folder is told of them too.
    if place is not None and not failed:
        write_corpus(found.corpus, place, format="parquet")
    return Predicted(found.corpus, failed)


def _key(train: Corpus, test: Corpus, trial: Trial) -> str:
    digest = hashlib.sha256()
    for part in (
        corpus_hash(train, train.annotators[0].id),
        corpus_hash(test, None),
        trial.matcher,
        json.dumps(dict(trial.parameters), sort_keys=True, default=str),
        "" if trial.model is None else file_hash(trial.model / HEADER_FILE),
        program_hash(*DECIDING, *LEARNING),
    ):
        digest.update(part.encode() + b"\0")
    return f"{trial.matcher}-{digest.hexdigest()[:20]}"


def _together(parts: Sequence[Evaluation], corpus: Corpus) -> Evaluation:
    """Sum the evaluations of several splits; a note tested twice is still one note.

    Rows stand in the order of the corpus, so that intervals are those that `evaluate` gives.
    """
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    keys = whole.characters.keys
    place = np.array([corpus.note_index[note] for note in keys.notes], dtype=np.int64)
    order = np.lexsort((keys.feature, place[keys.note]))
    sorted_keys = replace(
        keys.take(order), note=place[keys.note[order]], notes=tuple(n.id for n in corpus.notes)
    )
    return replace(
        whole,
        coverage=Coverage(n_notes=len(sorted_keys.groups("note")[0]), n_rows=len(sorted_keys)),
        tables={
            key: CountTable(table.measure, sorted_keys, table.values[order])
            for key, table in whole.tables.items()
        },
        probability=None if whole.probability is None else whole.probability[order],
    )
