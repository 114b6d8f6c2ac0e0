"""A fictional study at six hospitals, and packages that a program fills in, to try every step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, listed
from rubricate.evaluation.pairing import annotator_number
from rubricate.files import file_hash, packaged_text, whole_output
from rubricate.formats import read_corpus, write_corpus
from rubricate.formats.encoding import Head
from rubricate.formats.tables import write_table
from rubricate.outputs import Kind, foreign_files
from rubricate.rubric import Feature, Metadata
from rubricate.spans import Span
from rubricate.study.assignment import batch_path, read_key
from rubricate.study.collection import REHEARSAL, RETURNED
from rubricate.study.record import Study
from rubricate.study.settings import STUDY_FILE

#: Each hospital with its share of notes on asthma, and how often it writes it in other words.
_HOSPITALS = {
    "Aven": (0.52, 0.12), "Brook": (0.45, 0.15), "Cove": (0.55, 0.10),
    "Dale": (0.40, 0.15), "Elm": (0.48, 0.12), "Fenn": (0.50, 0.40),
}  # fmt: skip
_NOTES = 500
_CASE = "asthma"


@dataclass(frozen=True, slots=True)
class _Wording:
    """Phrases for one feature: the wording of the rubric, other words, and near misses."""

    text: str
    share: float
    plain: Sequence[str]
    other: Sequence[str]
    apparent: Sequence[str]


#: Words in [brackets] are what an annotator marks.
_WORDINGS = {
    "1": _Wording("Asthma", 0.0,
         ["Known [asthma] since childhood.", "Admitted with an [asthma] attack.",
          "Severe [asthma], two admissions last year."],
         ["[Reactive airway disease] on three occasions.", "[Wheezy bronchitis] since school.",
          "[Asthmatic], uses an inhaler."],
         ["Her mother has asthma.", "Denies asthma."]),
    "2": _Wording("Obesity", 0.15, ["[Obesity], counselled."], ["[BMI 36].", "[Obese]."],
         ["No obesity."]),
    "3": _Wording("Prick test", 0.30, ["[Prick test] positive for mites."],
         ["[Skin tests] positive for pollen."], ["Prick test not done."]),
    "4": _Wording("Omalizumab", 0.08, ["[Omalizumab] every four weeks."],
         ["[Anti-IgE] started."], ["Omalizumab was not started."]),
}  # fmt: skip
_FILLERS = (
    "Non-smoker.", "Lives with family.", "Chest clear today.", "Sleeps well.",
    "Reviewed in clinic.", "No fever.", "Works in an office.", "Follow-up in three months.",
)  # fmt: skip


def write_example(folder: str | Path) -> Path:
    """Write ``study.toml``, ``notes.csv``, ``rubric.csv`` and guidelines.

    ``reference.jsonl`` holds what an attentive reader would mark, ``pilot.jsonl`` the same of a few
    notes of last year, from which a system can learn.

    >>> import tempfile
    >>> sorted(p.name for p in write_example(Path(tempfile.mkdtemp()) / "x").parent.iterdir())
    ['guidelines.md', 'notes.csv', 'pilot.jsonl', 'reference.jsonl', 'rubric.csv', 'study.toml']
    """
    place = Path(folder)
    if place.exists():
        raise InputError([Fault("already exists. Choose another folder", place)])
    rng = np.random.default_rng(1)
    reference = _write_notes(rng, _HOSPITALS, _NOTES)
    pilot = _write_notes(rng, {"Pilot": (0.5, 0.0)}, 40)
    rows = [
        (n.id, n.case, n.metadata["hospital"], n.metadata["age"], n.text) for n in reference.notes
    ]
    people = "".join(
        f'  {{ id = "{name[0].lower()}{k}", site = "{name}", senior = {str(k == 1).lower()}, '
        f'role = "{"pulmonologist" if k == 1 else "resident"}" }},\n'
        for name in _HOSPITALS for k in (1, 2)
    )  # fmt: skip
    with whole_output(place) as staged:
        staged.mkdir()
        write_table(staged / "notes.csv", ["note", "case", "hospital", "age", "text"], rows)
        write_table(
            staged / "rubric.csv", ["case", "feature", "text"],
            [(_CASE, feature, wording.text) for feature, wording in _WORDINGS.items()],
        )  # fmt: skip
        write_corpus(reference, staged / "reference.jsonl", format="jsonl")
        write_corpus(pilot, staged / "pilot.jsonl", format="jsonl")
        text = "Mark what the patient has; leave out relatives and what is denied.\n"
        (staged / "guidelines.md").write_text(text, encoding="utf-8")
        study = packaged_text("study", "templates", "example.toml")
        study = study.replace("ANNOTATORS", people)
        (staged / STUDY_FILE).write_text(study, encoding="utf-8")
    return place / STUDY_FILE


def _write_notes(
    rng: np.random.Generator, hospitals: Mapping[str, tuple[float, float]], each: int
) -> Corpus:
    """Return notes of each hospital with what is truly in them."""
    builder = CorpusBuilder()
    for feature, wording in _WORDINGS.items():
        builder.add_feature(Feature(feature, _CASE, wording.text))
    for hospital, habits in hospitals.items():
        for i in range(each):
            text, marks = _write_note(rng, *habits)
            note, age = f"{hospital[0]}{i + 1:03}", int(rng.integers(14, 90))
            builder.add_note(Note(note, _CASE, text, Metadata(hospital=hospital, age=age)))
            builder.judge_all("reference", note)
            for feature, start, end in marks:
                builder.annotate("reference", note, feature, [(start, end)])
    return builder.build()


def _write_note(
    rng: np.random.Generator, frequency: float, others: float
) -> tuple[str, list[tuple[str, int, int]]]:
    """Return a note of some sentences, and (feature, start, end) of what it truly says."""
    sentences = [("", str(s)) for s in rng.choice(_FILLERS, size=3, replace=False)]
    for feature, wording in _WORDINGS.items():
        share, rare = (frequency, others) if feature == "1" else (wording.share, 0.2)
        if rng.random() < share:
            words = wording.other if rng.random() < rare else wording.plain
            sentences.append((feature, str(rng.choice(words))))
        elif rng.random() < 0.12:
            sentences.append(("", str(rng.choice(wording.apparent))))
    text, marks = "", []
    for k in rng.permutation(len(sentences)).tolist():
        feature, sentence = sentences[k]
        before, _, rest = sentence.partition("[")
        marked, _, after = rest.partition("]")
        text += " " if text else ""
        if feature:
            marks.append((feature, len(text) + len(before), len(text) + len(before) + len(marked)))
        text += before + marked + after
    return text, marks


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Result of a simulation."""

    folder: Path
    packages: int
    marks: int
    slips: int


def _rehearsal_fault(folder: Path) -> str:
    """Tell where people's own annotations lie among those of a rehearsal, or in their place."""
    if not (folder / REHEARSAL).is_file():
        return "people may have annotated it"
    files = json.loads((folder / REHEARSAL).read_text(encoding="utf-8")).get("files", {})
    changed = [name for name in files if file_hash(folder / name) != files[name]]
    if changed:
        return f"people went on in {listed(changed, 3)}"
    return foreign_files(folder, {REHEARSAL, *files}.__contains__)


_REHEARSED = Kind("a rehearsal", _rehearsal_fault)


def rehearse_study(
    study: Study, reference: Corpus, *, annotator: str | None = None, slips: float = 0.05,
    overwrite: bool = False,
) -> Rehearsal:  # fmt: skip
    """Fill in all packages from ``reference``, each mark missed or cut short by chance.

    ``slips`` is the probability of each of the two. The folder says that nobody read the notes,
    and so will the report.
    """
    if not 0 <= slips <= 1:
        raise InputError(f"slips is {slips}: it must lie between 0 and 1")
    study.need("assign")
    tool, tasks = study.settings.annotation.format, read_key(study.output("assign", "key.csv"))
    who = reference.annotators[annotator_number(reference, annotator)].id
    lacking = sorted({t.note for t in tasks} - set(reference.note_index))
    if lacking:
        raise InputError(
            f"{len(lacking)} notes of the packages are not in the reference, {lacking[0]!r} first"
        )
    rng = np.random.default_rng(study.settings.seed)
    made, chances = 0, []
    with whole_output(study.folder / RETURNED, overwrite=overwrite, kind=_REHEARSED) as place:
        place.mkdir(parents=True)
        for person, batch in dict.fromkeys((t.annotator, t.batch) for t in tasks):
            own = {t.shown_id: t.note for t in tasks if (t.annotator, t.batch) == (person, batch)}
            source = batch_path(study.output("assign") / person, batch, tool)
            blank = read_corpus(source, format=tool)
            builder = Head(blank.rubrics).builder()
            for note in blank.notes:
                builder.add_note(note)
                builder.judge_all(person, note.id)
                for feature in blank.rubric(note.case):
                    for found in reference.annotations(own[note.id], feature.id, who) or ():
                        chances.append(rng.random())
                        spans = _read_by_chance(found.spans, chances[-1], slips)
                        if spans:
                            builder.annotate(person, note.id, feature.id, spans)
            target = batch_path(place / person, batch, tool)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_corpus(builder.build(), target, format=tool)
            made += 1
        files = {
            path.relative_to(place).as_posix(): file_hash(path)
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }
        told = {"slips": slips, "seed": study.settings.seed, "reference": who, "files": files}
        (place / REHEARSAL).write_text(json.dumps(told) + "\n", encoding="utf-8")
    slipped = sum(chance < 2 * slips for chance in chances)
    return Rehearsal(study.folder / RETURNED, made, len(chances), slipped)


def _read_by_chance(spans: Sequence[Span], chance: float, slips: float) -> list[tuple[int, int]]:
    """Return the simulated mark of an annotation: none, one character too short, or all of it."""
    if chance < slips:
        return []
    first, *others = ((s.start, s.end) for s in spans)
    short = chance < 2 * slips and first[1] - first[0] > 1
    return [(first[0] + short, first[1]), *others]
