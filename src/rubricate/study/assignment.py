"""Phase 3: who annotates what and when, blind, in the tool's own format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.frame import feature_labels
from rubricate.formats.tables import write_table
from rubricate.rubric import NO_METADATA
from rubricate.study.population import read_population, site_of
from rubricate.study.record import StepResult, Study, read_numbered, run_step
from rubricate.study.settings import AnnotationSettings, AnnotatorSettings
from rubricate.study.summaries import AssignSummary

TRAINING = "training"


@dataclass(frozen=True, slots=True)
class Task:
    """One note for one annotator."""

    annotator: str
    note: str
    shown_id: str
    batch: str
    kind: str


def pair_up(annotators: Sequence[AnnotatorSettings]) -> list[tuple[str, ...]]:
    """Put annotators into pairs with one senior each, inside their sites.

    Seniors and others are paired in the order given; where seniors run out the others pair among
    themselves. One who is left over works alone. The senior, if any, comes first.

    >>> people = [AnnotatorSettings("ann", senior=True), AnnotatorSettings("bob"),
    ...           AnnotatorSettings("cy"), AnnotatorSettings("di", senior=True)]
    >>> pair_up(people)
    [('ann', 'bob'), ('di', 'cy')]
    """
    pairs: list[tuple[str, ...]] = []
    for site in dict.fromkeys(a.site for a in annotators):
        seniors = [a.id for a in annotators if a.site == site and a.senior]
        others = [a.id for a in annotators if a.site == site and not a.senior]
        while seniors or others:
            first = seniors.pop(0) if seniors else others.pop(0)
            rest = others or seniors
            pairs.append((first, rest.pop(0)) if rest else (first,))
    return pairs


def assign_notes(
    notes: Sequence[Note],
    settings: AnnotationSettings,
    *,
    training: Sequence[Note] = (),
    site: str = "",
    seed: int = 0,
) -> tuple[Task, ...]:
    """Give every note to one or two annotators, in weekly batches.

    Each pair gets its site's notes (``by = "site"``), whole cases (``"case"``, as the NBME paper
    did) or an even share at random. Of a pair's notes the share ``double_share`` goes to both and
    the rest to one each. Everybody gets the training notes first.

    >>> people = (AnnotatorSettings("ann", senior=True), AnnotatorSettings("bob"))
    >>> settings = AnnotationSettings(double_share=0.5, weeks=2, annotators=people)
    >>> tasks = assign_notes([Note(str(i), "c", "") for i in range(8)], settings)
    >>> [(t.annotator, t.batch, t.kind) for t in tasks if t.note == tasks[0].note]
    [('ann', 'week-1', 'double'), ('bob', 'week-1', 'double')]
    >>> sum(t.kind == "double" for t in tasks), sum(t.kind == "single" for t in tasks)
    (8, 4)
    """
    if not settings.annotators:
        raise InputError("annotation.annotators: name at least one annotator in study.toml")
    rng = np.random.default_rng(seed)
    shown = _shown_ids([*training, *notes], rng, rename=settings.rename)
    tasks = [
        Task(a.id, note.id, shown[note.id], TRAINING, "training")
        for a in settings.annotators
        for note in training
    ]
    for pair, own in _share_out(notes, settings, site, rng):
        order = [own[i] for i in rng.permutation(len(own)).tolist()]
        n_double = math.ceil(len(order) * settings.double_share - 1e-9) if len(pair) > 1 else 0
        piles = [("double", pair, order[:n_double])]
        for k, annotator in enumerate(pair):
            piles.append(("single", (annotator,), order[n_double:][k :: len(pair)]))
        for kind, who, pile in piles:
            for i, note in enumerate(pile):
                week = i * settings.weeks // len(pile) + 1
                tasks += [Task(a, note.id, shown[note.id], f"week-{week}", kind) for a in who]
    return tuple(tasks)


def _shown_ids(notes: Sequence[Note], rng: np.random.Generator, *, rename: bool) -> dict[str, str]:
    if not rename:
        return {note.id: note.id for note in notes}
    width = max(3, len(str(len(notes))))
    places = rng.permutation(len(notes)).tolist()
    return {note.id: f"N{k + 1:0{width}}" for note, k in zip(notes, places, strict=True)}


def _share_out(
    notes: Sequence[Note], settings: AnnotationSettings, site: str, rng: np.random.Generator
) -> Iterator[tuple[tuple[str, ...], list[Note]]]:
    """Yield each pair with its notes."""
    pairs = pair_up(settings.annotators)
    site_of_annotator = {a.id: a.site for a in settings.annotators}
    if settings.by == "site":
        for name in sorted({site_of(n, site) for n in notes}):
            own = [p for p in pairs if site_of_annotator[p[0]] == name]
            if not own:
                raise InputError(f"annotation.annotators: no annotator is at site {name!r}")
            mine = [n for n in notes if site_of(n, site) == name]
            yield from _evenly(mine, own, rng)
    elif settings.by == "case":
        cases = sorted({n.case for n in notes})
        order = [cases[i] for i in rng.permutation(len(cases)).tolist()]
        for k, pair in enumerate(pairs):
            chosen = set(order[k :: len(pairs)])
            yield pair, [n for n in notes if n.case in chosen]
    else:
        yield from _evenly(notes, pairs, rng)


def _evenly(
    notes: Sequence[Note], pairs: Sequence[tuple[str, ...]], rng: np.random.Generator
) -> Iterator[tuple[tuple[str, ...], list[Note]]]:
    order = [notes[i] for i in rng.permutation(len(notes)).tolist()]
    for k, pair in enumerate(pairs):
        yield pair, order[k :: len(pairs)]


def assign_study(study: Study, *, overwrite: bool = False) -> StepResult[AssignSummary]:
    """Write a folder for each annotator: guidelines, labels, and a corpus for each batch.

    The notes carry nobody's annotations, no metadata (so neither stratum nor site) and, with
    ``rename``, new ids; ``key.csv`` beside the folders keeps who has what.
    """
    study.need("sample")
    settings = study.settings.annotation
    guidelines = study.path(study.settings.guidelines)

    def work(place: Path) -> AssignSummary:
        sample = study.corpus("sample", "notes.jsonl")
        population, _ = read_population(study)
        training = _training_notes(population, sample, settings.training, study.settings.seed)
        tasks = assign_notes(
            sample.notes, settings,
            training=training, site=study.settings.population.site, seed=study.settings.seed,
        )  # fmt: skip
        everything = replace(population, notes=(*training, *sample.notes))
        for annotator in settings.annotators:
            own = [t for t in tasks if t.annotator == annotator.id]
            _write_package(place / annotator.id, everything, own, settings.format, guidelines)
        lines = [list(asdict(task).values()) for task in tasks]
        write_table(place / "key.csv", [field.name for field in fields(Task)], lines)
        by_annotator: dict[str, dict[str, int]] = {}
        for task in tasks:
            counts = by_annotator.setdefault(task.annotator, {})
            for name in dict.fromkeys((task.kind, task.batch)):
                counts[name] = counts.get(name, 0) + 1
        kinds = ("training", "double", "single")
        return {
            "notes": {kind: len({t.note for t in tasks if t.kind == kind}) for kind in kinds},
            "tasks": len(tasks),
            "batches": sorted({t.batch for t in tasks}),
            "by_annotator": by_annotator,
            "format": settings.format,
            "wanted_training": settings.training,
            "annotators": [asdict(a) for a in settings.annotators],
        }

    return run_step(
        study,
        "assign",
        work,
        inputs={
            "sample": study.output("sample"),
            "population": study.output("population"),
            "guidelines": guidelines,
        },
        settings=study.tables("annotation", "seed"),
        overwrite=overwrite,
    )


def _training_notes(population: Corpus, sample: Corpus, n: int, seed: int) -> tuple[Note, ...]:
    """Draw training notes outside the sample, so that no measured note was discussed."""
    free = [note for note in population.notes if note.id not in sample.note_index]
    rng = np.random.default_rng([seed, 1])
    picked = rng.choice(len(free), size=min(n, len(free)), replace=False).tolist()
    return tuple(free[i] for i in sorted(picked))


def blank_corpus(everything: Corpus, tasks: Sequence[Task]) -> Corpus:
    """Return an annotator's notes, stripped of all that could sway, judged with nothing found.

    Tools want a file for every note; an empty one stands for nothing found yet.
    """
    builder = CorpusBuilder()
    cases = {everything.note(t.note).case for t in tasks}
    for rubric in everything.rubrics:
        if rubric.case in cases:
            builder.add_rubric(replace(rubric, metadata=NO_METADATA))
    who = tasks[0].annotator
    builder.add_annotator(Annotator(who))
    for task in sorted(tasks, key=lambda t: t.shown_id):
        note = everything.note(task.note)
        builder.add_note(Note(task.shown_id, note.case, note.text))
        builder.judge_all(who, task.shown_id)
    return builder.build()


def batch_path(folder: Path, batch: str, tool_format: str) -> Path:
    """Return the path of a batch's corpus in an annotator's folder."""
    return folder / batch / ("notes.jsonl" if tool_format == "jsonl" else "notes")


def _write_package(
    folder: Path, everything: Corpus, tasks: Sequence[Task], tool_format: str, guidelines: Path
) -> None:
    folder.mkdir()
    (folder / guidelines.name).write_bytes(guidelines.read_bytes())
    labels = feature_labels(everything)
    lines = ([labels[f.id], f.id, f.case, f.text] for f in everything.features)
    write_table(folder / "labels.csv", ["label", "feature", "case", "text"], lines)
    for batch in dict.fromkeys(t.batch for t in tasks):
        own = [t for t in tasks if t.batch == batch]
        target = batch_path(folder, batch, tool_format)
        write_corpus(blank_corpus(everything, own), target, format=tool_format)


def read_key(path: Path) -> tuple[Task, ...]:
    """Read who has what, from ``key.csv`` (InputError where it was changed)."""
    names = [field.name for field in fields(Task)]
    return tuple(Task(*(line[name] for name in names)) for _, line in read_numbered(path, names))
