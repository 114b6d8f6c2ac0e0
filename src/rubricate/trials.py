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

from rubricate.agreement import Agreement, agree
from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.files import file_hash, program_hash
from rubricate.formats import read_corpus, write_corpus
from rubricate.matchers import fit_matcher, load_matcher
from rubricate.matchers.model_files import DECIDING, HEADER_FILE, corpus_hash
from rubricate.measures import Coverage, Evaluation, Matching, evaluate
from rubricate.measures.comparing import compare_evaluations
from rubricate.measures.intervals import EvaluationWithIntervals, add_intervals
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
    """What each matcher reached on the same splits."""

    measured: Mapping[tuple[str, str], EvaluationWithIntervals]
    ceiling: Agreement | None
    settings: Resampling

    @property
    def n_notes(self) -> int:
        """How many notes were tested on."""
        return max(found.evaluation.coverage.n_notes for found in self.measured.values())

    @property
    def groups(self) -> list[str]:
        """The groups of splits, in order."""
        return list(dict.fromkeys(group for group, _ in self.measured))

    def of(self, group: str) -> dict[str, EvaluationWithIntervals]:
        """Return the matchers of one group."""
        return {name: found for (g, name), found in self.measured.items() if g == group}

    def to_dict(self) -> dict[str, object]:
        """Return all values, ready for JSON."""
        result: dict[str, object] = {"groups": {one: self._group(one) for one in self.groups}}
        if self.ceiling is not None:
            result["ceiling"] = {
                "overall": self.ceiling.to_dict()["overall"],
                "cases": self.ceiling.case_table(),
            }
        return result

    def _group(self, group: str) -> dict[str, object]:
        systems = self.of(group)
        compared = (
            compare_evaluations((new, systems[new].evaluation), (old, systems[old].evaluation),
                                self.settings)
            for old, new in pairwise(systems)
        )  # fmt: skip
        return {
            "matchers": {
                name: {**found.to_dict(), "over_cases": _plain(over_cases(found))}
                for name, found in systems.items()
            },
            "comparisons": [one.to_dict() for one in compared],
        }


def over_cases(found: EvaluationWithIntervals) -> dict[str, dict[str, float]]:
    """Return mean and sample SD over cases of characters F1 and presence F1, as the paper does."""
    result = {}
    for name in ("characters", "presence"):
        values = getattr(found.evaluation, name).by("case").statistic("f1")
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
    progress: Progress = silent,
) -> TrialResult:
    """Fit and test every matcher on every split.

    >>> from rubricate import load_corpus
    >>> from rubricate.trials import fold_splits
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> splits = fold_splits(corpus, folds=2, train_folds=1)
    >>> result = run_trials(corpus, [Trial("exact", "exact")], splits)
    >>> 0 < result.of("")["exact"].evaluation.characters.total().f1 < 1
    True
    """
    settings = settings or Resampling()
    chosen = _annotator(corpus, annotator)
    own = corpus.select(annotators=[chosen])
    parts: dict[tuple[str, str], list[Evaluation]] = {}
    steps = [(trial, split) for split in splits for trial in trials]
    for trial, split in watched(steps, progress, "comparing", len(steps)):
        predicted = _predicted(own, trial, split, keep)
        test = own.select(notes=split.test)
        found = evaluate(test, predicted, matching=Matching("one-to-one", "token"))
        parts.setdefault((split.group, trial.name), []).append(found)
    measured = {key: add_intervals(_together(found), settings) for key, found in parts.items()}
    items = corpus.rows.note.astype(np.int64) * len(corpus.features) + corpus.rows.feature
    judged_twice = len(np.unique(items)) < len(items)
    ceiling = agree(corpus, settings=settings) if judged_twice else None
    return TrialResult(measured, ceiling, settings)


def _annotator(corpus: Corpus, annotator: str | None) -> str:
    known = list(corpus.annotator_index)
    if not known:
        raise InputError("the corpus has no annotator to learn from and to test against")
    if annotator is None:
        return "reference" if "reference" in known else known[0]
    if annotator not in known:
        raise UnknownNameError("annotator", annotator, known)
    return annotator


def _predicted(own: Corpus, trial: Trial, split: Split, keep: Path | None) -> Corpus:
    """Return the matcher's predictions for the test notes, from the folder if they are there."""
    train, test = own.select(notes=split.train), own.select(notes=split.test)
    place = None if keep is None else keep / _key(train, test, trial)
    if place is not None and place.is_dir():
        return read_corpus(place, format="parquet")
    if trial.model is None:
        matcher = fit_matcher(trial.matcher, train, **trial.parameters)
    else:
        matcher = load_matcher(trial.model).fit(train)
    predicted = matcher.predict(test)
    if place is not None:
        write_corpus(predicted, place, format="parquet")
    return predicted


def _key(train: Corpus, test: Corpus, trial: Trial) -> str:
    digest = hashlib.sha256()
    for part in (
        corpus_hash(train, train.annotators[0].id),
        corpus_hash(test, None),
        trial.matcher,
        json.dumps(dict(trial.parameters), sort_keys=True, default=str),
        "" if trial.model is None else file_hash(trial.model / HEADER_FILE),
        program_hash(*DECIDING),
    ):
        digest.update(part.encode() + b"\0")
    return f"{trial.matcher}-{digest.hexdigest()[:20]}"


def _together(parts: Sequence[Evaluation]) -> Evaluation:
    """Sum the evaluations of several splits; a note tested twice is still one note."""
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    notes = len(whole.characters.by("note"))
    coverage = Coverage(n_notes=notes, n_rows=len(whole.characters))
    return replace(whole, coverage=coverage)
