"""Learning what holds for every case, from the annotated notes of many cases.

Run ``python -m rubricate.matchers.wording.learn_shared`` to make the file that comes with the
package again (see ``patterns/README.md``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.corpus import Corpus
from rubricate.matchers.learning import JudgedNote, judged_notes, learning_annotator
from rubricate.matchers.wording.case_model import marked_tokens
from rubricate.matchers.wording.decisions import calibrate, choose_thresholds
from rubricate.matchers.wording.logistic import fit_one
from rubricate.matchers.wording.profile import STOP_WORDS, read_feature
from rubricate.matchers.wording.reading import NoteReading, read_note
from rubricate.matchers.wording.relation import COLUMNS, Kept, take_evidence
from rubricate.matchers.wording.shared import Decision, SharedModel
from rubricate.matchers.wording.stems import stem
from rubricate.matchers.wording.translation import Translation, learn_translation
from rubricate.rubric import Rubric

#: Every fifth of the small cases of the embedded corpus is kept out, to measure on.
HELD_OUT_EVERY = 5
_PARTS = 4
_COVERAGE = COLUMNS.index("coverage")
#: Tokens far from any rubric word: this share is learned from, with the weight made up for.
_FAR_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class _Read:
    judged: JudgedNote
    reading: NoteReading
    stems: list[str]


def learn_shared(
    corpus: Corpus, *, annotator: str | None = None, seed: int = 0, learned_from: str = ""
) -> SharedModel:
    """Learn the shared model from all annotated cases of a corpus.

    How rubric words are worded is learned from other cases than the one it is used in, so that
    the weights hold for cases never seen.

    Parameters
    ----------
    corpus : Corpus
        Annotated notes of at least eight cases.
    annotator : str, optional
        Whose annotations; by default the first annotator's.
    seed : int
        Chooses the tokens that are learned from.
    learned_from : str
        What to say about the source.
    """
    who = learning_annotator(corpus, annotator)
    notes: dict[str, list[_Read]] = {}
    for judged in judged_notes(corpus, who):
        reading = read_note(judged.note.text)
        stems = [stem(token.form) for token in reading.tokens]
        notes.setdefault(judged.note.case, []).append(_Read(judged, reading, stems))
    cases = list(notes)
    draft = _draft(notes, learn_translation(_pairs(corpus, notes, cases)), learned_from)
    apart = _models_without_own_case(corpus, notes, draft)
    rng = np.random.default_rng(seed)
    parts = [
        _sample(corpus.rubric(case), one, apart[case], rng) for case in cases for one in notes[case]
    ]
    columns, outcome, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = fit_one(columns, outcome, weight, penalty=1.0)
    weights = dict(zip(COLUMNS, found.tolist(), strict=True))
    judges = {case: replace(model, weights=weights) for case, model in apart.items()}
    return replace(draft, weights=weights, decision=_decide(corpus, notes, judges))


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
        profiles = [read_feature(feature, i) for i, feature in enumerate(corpus.rubric(case))]
        for one in notes[case]:
            for profile in profiles:
                if profile.kind:
                    continue
                sources = [word for a in profile.alternatives for word in a.words]
                for annotation in one.judged.annotations.get(profile.feature.id, ()):
                    inside = [
                        stem_
                        for stem_, token in zip(one.stems, one.reading.tokens, strict=True)
                        if token.kind != "mark"
                        and token.form not in STOP_WORDS
                        and any(s.start <= token.start < s.end for s in annotation.spans)
                    ]
                    yield sources, inside


def _sample(
    rubric: Rubric, one: _Read, model: SharedModel, rng: np.random.Generator
) -> tuple[npt.NDArray[Any], ...]:
    """Return columns, outcome and weight of the tokens of a note that are learned from."""
    prepared = model.prepare(rubric)
    own = [j for j, p in enumerate(prepared.profiles) if not p.kind
           and p.feature.id in one.judged.annotations]  # fmt: skip
    ids = [prepared.profiles[j].feature.id for j in own]
    kept_all = Kept(len(one.stems), len(prepared.profiles))
    take_evidence(kept_all, one.reading, one.stems, prepared.words)
    columns = kept_all.columns[:, own].reshape(-1, len(COLUMNS))
    marked = marked_tokens(one.reading, one.judged, ids).reshape(-1)
    close = marked | (columns[:, _COVERAGE] > 0.15)
    kept = close | (rng.random(len(marked)) < _FAR_SHARE)
    return columns[kept], marked[kept], np.where(close[kept], 1.0, 1 / _FAR_SHARE)


def _decide(
    corpus: Corpus, notes: dict[str, list[_Read]], models: dict[str, SharedModel]
) -> Decision:
    """Choose the common cut and calibrate, on the cases learned from."""
    logits: list[npt.NDArray[Any]] = []
    marked: list[npt.NDArray[np.bool_]] = []
    lengths: list[npt.NDArray[Any]] = []
    highest: list[float] = []
    present: list[bool] = []
    for case, own in notes.items():
        prepared = models[case].prepare(corpus.rubric(case))
        plain = [j for j, p in enumerate(prepared.profiles) if not p.kind]
        ids = [prepared.profiles[j].feature.id for j in plain]
        for one in own:
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


def learn_default() -> SharedModel:
    """Learn the shared model that comes with the package.

    From the small cases of the embedded corpus (part ``breadth``), without every fifth of them;
    nothing of the ten deep cases.
    """
    from rubricate.formats import load_corpus

    corpus = load_corpus("open-notes").select(annotators=["reference"])
    small = {note.case for note in corpus.notes if note.metadata["part"] == "breadth"}
    ordered = [rubric.case for rubric in corpus.rubrics if rubric.case in small]
    kept = [c for i, c in enumerate(ordered) if i % HELD_OUT_EVERY != HELD_OUT_EVERY - 1]
    said = f"open-notes, part breadth without every fifth case: {len(kept)} cases"
    return learn_shared(corpus.select(cases=kept), learned_from=said)


def write_default(path: Path | None = None) -> None:
    """Write ``patterns/shared.json``."""
    target = path or Path(__file__).parent.parent / "patterns" / "shared.json"
    value = learn_default().to_json()
    lines = [f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write_default()
