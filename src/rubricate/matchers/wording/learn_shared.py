"""Learning what holds for every case, from the annotated notes of many cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import Bools
from rubricate.corpus import Corpus
from rubricate.matchers.matcher import JudgedNote, judged_notes, learning_annotator
from rubricate.matchers.wording.case_model import marked_tokens
from rubricate.matchers.wording.logistic import (
    Decision,
    calibrate,
    choose_thresholds,
    fit_hidden,
    fit_one,
)
from rubricate.matchers.wording.reading import NoteColumns, read_columns
from rubricate.matchers.wording.relation import COLUMNS, all_columns
from rubricate.matchers.wording.shared import PreparedRubric, SharedModel
from rubricate.matchers.wording.synonyms import Translation, learn_translation
from rubricate.progress import Progress, silent, watched
from rubricate.reading.tokens import root
from rubricate.requirement.alternative import STOP_WORDS
from rubricate.requirement.requirement import read_requirement

_PARTS = 4
_SEED = 0
_COVERAGE = COLUMNS.index("coverage")
#: Only this share of the tokens far from any rubric word is learned from; their weight makes up for
#: the others.
_FAR_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class _Read:
    judged: JudgedNote
    reading: NoteColumns
    stems: list[str]


def learn_shared(
    corpus: Corpus,
    *,
    annotator: str | None = None,
    learned_from: str = "",
    progress: Progress = silent,
) -> SharedModel:
    """Learn the shared model from all annotated cases of a corpus.

    How rubric words are worded is learned from other cases than the one it is used in, so that
    the weights hold for cases never seen.
    """
    notes = _read_notes(corpus, annotator)
    draft = _draft(notes, learn_translation(_pairs(corpus, notes, list(notes))), learned_from)
    apart = _models_without_own_case(corpus, notes, draft)
    work = [
        (prepared, one)
        for case in notes
        for prepared in [apart[case].prepare(corpus.rubric(case))]
        for one in notes[case]
    ]
    rng = np.random.default_rng(_SEED)
    done = watched(work, progress, "learning what cases share", len(work))
    parts = [_sample(prepared, one, rng) for prepared, one in done]
    columns, outcome, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    linear = fit_one(columns, outcome, weight, penalty=1.0)
    both, hidden = fit_hidden(columns, outcome, weight, linear, seed=_SEED)
    weights = dict(zip(COLUMNS, both.tolist(), strict=True))
    judged = [
        (replace(p, shared=replace(p.shared, weights=weights, hidden=hidden)), one)
        for p, one in work
    ]
    return replace(draft, weights=weights, hidden=hidden, decision=_decide(judged))


def _read_notes(corpus: Corpus, annotator: str | None) -> dict[str, list[_Read]]:
    notes: dict[str, list[_Read]] = {}
    for judged in judged_notes(corpus, learning_annotator(corpus, annotator)):
        reading = read_columns(judged.note.text)
        stems = [root(token.form) for token in reading.tokens]
        notes.setdefault(judged.note.case, []).append(_Read(judged, reading, stems))
    return notes


def _models_without_own_case(
    corpus: Corpus, notes: dict[str, list[_Read]], draft: SharedModel
) -> dict[str, SharedModel]:
    """Return for each case a model whose translation was learned from other cases."""
    cases = list(notes)
    models: dict[str, SharedModel] = {}
    for k in range(_PARTS):
        others = [case for i, case in enumerate(cases) if i % _PARTS != k]
        table = learn_translation(_pairs(corpus, notes, others))
        models |= dict.fromkeys(cases[k::_PARTS], replace(draft, translation=table))
    return models


def _draft(
    notes: dict[str, list[_Read]], translation: Translation, learned_from: str
) -> SharedModel:
    forms: Counter[str] = Counter()
    n_notes = 0
    for own in notes.values():
        for one in own:
            n_notes += 1
            forms.update({token.form for token in one.reading.tokens if token.kind == "word"})
    kept = {form: n for form, n in sorted(forms.items()) if n >= 2}
    return SharedModel({}, translation, n_notes, kept, Decision(), learned_from)


def _pairs(
    corpus: Corpus, notes: dict[str, list[_Read]], cases: Sequence[str]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the rubric's stems and the annotation's stems for each annotation."""
    for case in cases:
        rubric = corpus.rubric(case)
        for one in notes[case]:
            for feature in rubric:
                profile = read_requirement(feature.text)
                if profile.kind:
                    continue
                sources = [word for a in profile.alternatives for word in a.roots]
                for annotation in one.judged.annotations.get(feature.id, ()):
                    inside = [
                        stem_
                        for stem_, token in zip(one.stems, one.reading.tokens, strict=True)
                        if token.kind != "mark"
                        and token.form not in STOP_WORDS
                        and any(s.start <= token.start < s.end for s in annotation.spans)
                    ]
                    yield sources, inside


def _sample(
    prepared: PreparedRubric, one: _Read, rng: np.random.Generator
) -> tuple[npt.NDArray[Any], ...]:
    """Return columns, outcome and weight of the tokens of a note that are learned from."""
    own = [j for j, p in enumerate(prepared.words.profiles) if not p.kind
           and prepared.ids[j] in one.judged.annotations]  # fmt: skip
    ids = [prepared.ids[j] for j in own]
    evidence = all_columns(one.reading, one.stems, prepared.words)
    columns = evidence[:, own].reshape(-1, len(COLUMNS))
    marked = marked_tokens(one.reading, one.judged, ids).reshape(-1)
    close = marked | (columns[:, _COVERAGE] > 0.15)
    kept = close | (rng.random(len(marked)) < _FAR_SHARE)
    return columns[kept], marked[kept], np.where(close[kept], 1.0, 1 / _FAR_SHARE)


def _decide(judged: Sequence[tuple[PreparedRubric, _Read]]) -> Decision:
    """Choose the common cut and calibrate, on the notes learned from."""
    logits: list[npt.NDArray[Any]] = []
    marked: list[Bools] = []
    lengths: list[npt.NDArray[Any]] = []
    highest: list[float] = []
    present: list[bool] = []
    for prepared, one in judged:
        plain = [
            j
            for j, p in enumerate(prepared.words.profiles)
            if not p.kind and prepared.ids[j] in one.judged.annotations
        ]
        if not plain or not one.stems:
            continue
        ids = [prepared.ids[j] for j in plain]
        values = prepared.logits(one.reading, one.stems)[:, plain]
        here = marked_tokens(one.reading, one.judged, ids)
        logits.append(values.reshape(-1, 1))
        marked.append(here.reshape(-1, 1))
        length = [token.end - token.start + 1 for token in one.reading.tokens]
        lengths.append(np.repeat(np.array(length), len(plain)))
        highest += values.max(axis=0).tolist()
        present += np.asarray(here.any(axis=0)).tolist()
    all_logits, all_marked = np.concatenate(logits), np.concatenate(marked)
    cut, _ = choose_thresholds(all_logits, all_marked, np.concatenate(lengths), [len(present)])
    sure = all_logits[:, 0] > cut
    return Decision(
        cut,
        calibrate(highest, present),
        calibrate(all_logits[sure, 0].tolist(), all_marked[sure, 0].tolist()),
    )
