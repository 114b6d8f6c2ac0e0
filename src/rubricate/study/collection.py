"""Phase 4, first half: read what annotators send back, and refuse what does not fit."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rubricate.corpus import Annotation, Annotator, Corpus
from rubricate.errors import Advice, Fault, InputError, Setting, listed
from rubricate.evaluation.agreement import pair_evaluation
from rubricate.evaluation.estimates import estimate_rows
from rubricate.files import shown_path
from rubricate.formats import read_corpus, write_corpus
from rubricate.formats.encoding import Head
from rubricate.formats.format import FRAME_NAME
from rubricate.formats.frame import feature_labels, id_to_name
from rubricate.progress import Progress, silent, watched
from rubricate.stats import Resampling
from rubricate.study.assignment import TRAINING, Task, batch_path, pair_up, read_key
from rubricate.study.population import Variable, by_variable, read_population
from rubricate.study.record import StepResult, Study, run_step
from rubricate.study.settings import AnnotatorSettings
from rubricate.study.summaries import AgreementSummary, CollectSummary, VariableAgreement
from rubricate.values import to_plain, write_json

#: Where annotators' folders are put back, unless told otherwise.
RETURNED = "3-annotation/returned"
#: Beside what a program filled in.
REHEARSAL = "rehearsal.json"
#: How many missing notes of a file are named.
_SHOWN = 5
_SUFFIX = {"brat": ".ann", "webanno": ".tsv", "cas": ""}


@dataclass
class Collected:
    """Returned work: judgements by (annotator, note), missing notes, and faults."""

    judged: dict[tuple[str, str], dict[str, tuple[Annotation, ...]]] = field(default_factory=dict)
    missing: list[tuple[Task, Path]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def collect(
    notes: Corpus,
    tasks: Sequence[Task],
    returned: Path,
    tool_format: str,
    packages: Path,
    *,
    progress: Progress = silent,
) -> Collected:
    """Read every batch of every annotator and check it note by note."""
    found = Collected()
    places = dict.fromkeys((t.annotator, t.batch) for t in tasks)
    for annotator, batch in watched(places, progress, "reading batches", len(places)):
        own = [t for t in tasks if (t.annotator, t.batch) == (annotator, batch)]
        path = batch_path(returned / annotator, batch, tool_format)
        if not path.exists() and path.parent.is_dir() and any(path.parent.iterdir()):
            path = path.parent  # somebody put the tool's files straight into the batch's folder
        if not path.exists():
            found.missing += [(t, path) for t in own]
            continue
        frame = batch_path(packages / annotator, batch, tool_format) / FRAME_NAME
        try:
            corpus = _read(path, tool_format, frame)
        except InputError as error:
            found.faults += [
                f if f.path is not None else Fault(f.message, path) for f in error.faults
            ]
            continue
        _check_batch(found, notes, own, corpus, path, tool_format)
    return found


def _read(path: Path, tool_format: str, frame: Path) -> Corpus:
    """Read a batch; a folder without frame is read beside a copy of the frame handed out."""
    if path.is_file() or (path / FRAME_NAME).exists() or not frame.exists():
        return read_corpus(path, format=tool_format)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / path.name
        shutil.copytree(path, copy)
        shutil.copyfile(frame, copy / FRAME_NAME)
        try:
            return read_corpus(copy, format=tool_format)
        except InputError as error:
            raise InputError(
                Fault(f.message, _moved(f.path, copy, path), f.line, f.unit) for f in error.faults
            ) from error


def _moved(place: Path | None, copy: Path, original: Path) -> Path:
    """Return the place a fault means, in the folder it was copied from."""
    if place is None or not place.is_relative_to(copy):
        return original
    return original / place.relative_to(copy)


def _check_batch(
    found: Collected,
    notes: Corpus,
    tasks: Sequence[Task],
    corpus: Corpus,
    path: Path,
    tool_format: str,
) -> None:
    """Check one batch against what was handed out."""
    who = _who(corpus, tasks[0].annotator)
    labels = {label: feature for feature, label in feature_labels(notes).items()}
    asked = {t.shown_id for t in tasks}
    for note in corpus.notes:
        if note.id not in asked:
            place = _file(path, note.id, tool_format)
            found.faults.append(Fault(f"note {note.id!r} was not in this batch", place))
    if who is None and corpus.annotators:
        listed = ", ".join(a.id for a in corpus.annotators)
        what = f"it holds annotations of {listed}, none of whom is {tasks[0].annotator!r}"
        found.faults.append(Fault(what, path))
        return
    for task in tasks:
        place = _file(path, task.shown_id, tool_format)
        rows = [
            row
            for row in (
                corpus.note_rows(task.shown_id) if task.shown_id in corpus.note_index else ()
            )
            if who is not None and corpus.rows.annotator[row] == corpus.annotator_index[who]
        ]
        if not rows:
            found.missing.append((task, place))
            continue
        if corpus.note(task.shown_id).text != notes.note(task.note).text:
            found.faults.append(Fault(f"the text of note {task.shown_id!r} was changed", place))
            continue
        case = notes.note(task.note).case
        judged: dict[str, tuple[Annotation, ...]] = {}
        for row in rows:
            feature = corpus.features[int(corpus.rows.feature[row])].id
            annotations = corpus.row_annotations(row)
            own = feature if feature in notes.feature_index else labels.get(feature, "")
            if own and notes.feature(own).case == case:
                judged[own] = annotations
            elif annotations:
                known = ", ".join(f.id for f in notes.rubric(case))
                what = f"unknown label {feature!r} for note {task.shown_id!r}; allowed: {known}"
                found.faults.append(Fault(what, place))
        found.judged[task.annotator, task.note] = judged


def _who(corpus: Corpus, annotator: str) -> str | None:
    """Return under which name the annotator's rows are: their id, or the only one there is."""
    if annotator in corpus.annotator_index:
        return annotator
    return corpus.annotators[0].id if len(corpus.annotators) == 1 else None


def _file(path: Path, note_id: str, tool_format: str) -> Path:
    if tool_format == "jsonl" or path.is_file():
        return path
    return path / f"{id_to_name(note_id)}{_SUFFIX[tool_format]}"


def build_collected(notes: Corpus, collected: Collected, annotators: Sequence[Annotator]) -> Corpus:
    """Put all judgements into one corpus under the notes' own ids."""
    builder = Head(notes.rubrics, tuple(annotators), metadata=notes.metadata).builder()
    for note in notes.notes:
        builder.add_note(note)
    for (annotator_id, note_id), judged in collected.judged.items():
        if note_id not in builder.notes:
            continue
        for feature_id, found in judged.items():
            builder.judge(annotator_id, note_id, feature_id)
            for a in found:
                builder.annotate(annotator_id, note_id, feature_id, a.spans, detail=a.detail)
    return builder.build()


def collect_study(
    study: Study,
    *,
    returned: str | Path | None = None,
    partial: bool = False,
    overwrite: bool = False,
    progress: Progress = silent,
) -> StepResult[CollectSummary]:
    """Read what came back, and measure agreement per variable.

    Writes ``annotations.jsonl``, ``training.jsonl`` if training notes came back, and
    ``agreement.json``.
    """
    study.need("assign")
    folder = Path(returned) if returned is not None else study.folder / RETURNED
    if not folder.is_dir():
        raise InputError(
            f"{shown_path(folder)}: no such folder. Put one folder per annotator "
            "there, laid out as handed out"
        )
    settings = study.settings

    def work(place: Path) -> CollectSummary:
        population, variables = read_population(study)
        tasks = read_key(study.output("assign", "key.csv"))
        found = collect(
            population,
            tasks,
            folder,
            settings.annotation.format,
            study.output("assign"),
            progress=progress,
        )
        late = [m for m in found.missing if m[0].kind != TRAINING]
        _raise_faults(found, [] if partial else late)
        agreement = _write_collected(
            study, place, found, (population, variables, tasks), progress=progress
        )
        return {
            "judgements": len(found.judged),
            "missing": [
                {"annotator": t.annotator, "note": t.note, "batch": t.batch} for t, _ in late
            ],
            "without_any_mark": sum(not any(j.values()) for j in found.judged.values()),
            "rehearsed": (folder / REHEARSAL).exists(),
            "agreement": agreement,
        }

    return run_step(
        study,
        "collect",
        work,
        inputs={"packages": study.output("assign"), "returned": folder},
        settings=study.tables("annotation", "agreement", "evaluation", "seed")
        | {"partial": partial},
        overwrite=overwrite,
    )


def _raise_faults(found: Collected, late: Sequence[tuple[Task, Path]]) -> None:
    """Raise one error with all that is wrong and all that is missing, one line per file."""
    by_file: dict[tuple[Path, str], list[str]] = {}
    for task, path in late:
        by_file.setdefault((path, task.annotator), []).append(task.shown_id)
    faults = list(found.faults)
    advice = Advice("{} goes on without", (Setting("partial", True),))
    for (path, annotator), ids in by_file.items():
        shown = listed(map(repr, ids), _SHOWN)
        what = f"note {shown} of annotator {annotator!r} is missing"
        if len(ids) > 1:
            what = f"{len(ids)} notes of annotator {annotator!r} are missing: {shown}"
        faults.append(Fault(what, path, advice=advice))
    InputError.raise_any(faults)


def _write_collected(
    study: Study,
    place: Path,
    found: Collected,
    handed_out: tuple[Corpus, Sequence[Variable], Sequence[Task]],
    *,
    progress: Progress,
) -> AgreementSummary:
    """Write the collected corpora and return the agreement."""
    population, variables, tasks = handed_out
    settings = study.settings
    people = _people(settings.annotation.annotators)
    sample = study.corpus("sample", "notes.jsonl")
    trained = {t.note for t in tasks if t.kind == TRAINING}
    corpora = {
        "annotations": build_collected(sample, found, people),
        "training": build_collected(population.select(notes=trained), found, people),
    }
    resampling = Resampling(resamples=settings.evaluation.resamples, seed=settings.seed)
    measured = {}
    for name, corpus in corpora.items():
        if name == "annotations" or len(corpus.rows):
            write_corpus(corpus, place / f"{name}.jsonl", format="jsonl")
        measured[name] = measure_agreement(
            corpus, variables, resampling, threshold=settings.agreement.threshold, progress=progress
        )
    agreement: AgreementSummary = {
        **measured["annotations"],
        "training": measured["training"]["variables"],
    }
    write_json(place / "agreement.json", to_plain(agreement))
    return agreement


def _people(annotators: Sequence[AnnotatorSettings]) -> list[Annotator]:
    """Return the annotators pair by pair, seniors first, so that they stand first everywhere."""
    seniors = {a.id for a in annotators if a.senior}
    order = [i for pair in pair_up(annotators) for i in pair]
    return [Annotator(i, "senior" if i in seniors else "annotator") for i in order]


def measure_agreement(
    corpus: Corpus,
    variables: Sequence[Variable],
    settings: Resampling | None = None,
    *,
    threshold: float = 0.8,
    progress: Progress = silent,
) -> AgreementSummary:
    """Measure agreement on each variable, as the paper's Table 2.

    F1 of presence and of characters and kappa on presence, with the intervals that `agree` shows.
    Agreement is low where the lower of the two F1 values is below ``threshold``, and undefined
    where nobody marked the variable.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = measure_agreement(corpus, [Variable("smoking", "primary", ("12",))])
    >>> found["variables"][0]["notes"], found["low"]
    (20, [])
    """
    settings = settings or Resampling()
    evaluation = pair_evaluation(corpus)
    if evaluation is None:
        return {"notes": 0, "threshold": threshold, "variables": [], "low": [], "undefined": []}
    measured = by_variable(evaluation, variables)
    lines: list[VariableAgreement] = []
    for variable in watched(variables, progress, "agreement", len(variables)):
        table = measured.presence.where(features=[variable.name])
        if not len(table):
            continue
        tp, fp, fn, tn = table.values.sum(axis=0).tolist()
        presence = estimate_rows(table, settings)
        words = measured.characters.where(features=[variable.name])
        presence_f1, characters_f1 = presence.at("f1"), estimate_rows(words, settings).at("f1")
        lines.append(
            {
                "variable": variable.name,
                "role": variable.role,
                "notes": len(table.by("note")),
                "both": tp,
                "first_only": fn,
                "second_only": fp,
                "neither": tn,
                "presence_f1": presence_f1.to_dict(),
                "presence_kappa": table.total()["kappa"],
                "kappa": presence.at("kappa").to_dict(),
                "characters_f1": characters_f1.to_dict(),
                "low": bool(min(presence_f1.value, characters_f1.value) < threshold),
            }
        )
    return {
        "notes": evaluation.coverage.n_notes,
        "threshold": threshold,
        "confidence": settings.confidence,
        "variables": lines,
        "low": [line["variable"] for line in lines if line["low"]],
        "undefined": [
            line["variable"]
            for line in lines
            if not (line["both"] or line["first_only"] or line["second_only"])
        ],
    }
