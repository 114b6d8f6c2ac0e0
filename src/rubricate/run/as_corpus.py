"""A scored run as a corpus: what the machine found, and what people decided after it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import Json
from rubricate.formats.format import Format
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.progress import watched
from rubricate.rubric import HUMAN, NO_FLOOR, SYSTEM, Feature, Metadata, Rubric
from rubricate.run.folder import check_log
from rubricate.run.reading import ITEMS, SCORES
from rubricate.run.results import Correction
from rubricate.run.tables import ITEM_COLUMNS, read_rows, read_texts, refuse_same_ids
from rubricate.run.writing import (
    REPORT,
    RUN,
    TEXTS,
    about,
    held,
    logged_correction,
    read_log,
    read_record,
)
from rubricate.spans import Spans, parse_spans

#: Who made the decisions that hold, where several people decided.
ALL_REVIEWERS = "all reviewers"


def looks_like_run(path: Path) -> bool:
    """Tell whether a folder is what `rubricate score` wrote."""
    return path.is_dir() and (path / RUN).is_file() and (path / SCORES).is_file()


def read_run_corpus(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read the notes, rubric and decisions of a run.

    Each person who decided is an annotator of the group ``human``, the matcher one of the group
    ``system``. Where several people decided, `ALL_REVIEWERS` comes first and has what holds. A
    decision without words, on something the machine did not find, marks nothing and is left out.
    """
    check_log(path)
    builder = CorpusBuilder()
    floor = read_record(path).get("floor")
    for case in floor["without"] if floor else ():
        builder.add_rubric(Rubric(case, (), metadata=Metadata(floor=NO_FLOOR)))
    wordings = _add_features(path, builder)
    texts = dict(_texts(path))
    decided: dict[str, list[Correction]] = {}
    machine: dict[str, Json] = {}
    matcher = ""
    for entry in watched(read_log(path), how.progress, "reading decisions"):
        if entry["kind"] == "run":
            matcher = entry["matcher"]
        elif entry["kind"] == "machine":
            machine[entry["note"]] = entry["items"]
        elif entry["kind"] == "person":
            text = texts.get(entry["note"], "")
            if entry["about"] == about(text, wordings.get(entry["feature"], "")):
                decided.setdefault(entry["note"], []).append(logged_correction(entry))
    people = sorted({one.by for own in decided.values() for one in own})
    for name in ([ALL_REVIEWERS] if len(people) > 1 else []) + people:
        builder.add_annotator(Annotator(name, HUMAN))
    matcher = f"{matcher} (machine)" if matcher in (*people, ALL_REVIEWERS) else matcher
    builder.add_annotator(Annotator(matcher, SYSTEM))
    cases = {row[0]: row[1] for row in read_texts(path / SCORES, ("note", "case"))}
    for note, text in texts.items():
        if not text:
            continue
        builder.add_note(Note(note, cases[note], text))
        found = _add_machine(builder, matcher, note, machine.get(note, {}))
        for name in people:
            own = held(one for one in decided.get(note, ()) if one.by == name)
            _add_decisions(builder, name, own, found)
        if len(people) > 1:
            _add_decisions(builder, ALL_REVIEWERS, held(decided.get(note, ())), found)
    return builder.build()


def _add_features(path: Path, builder: CorpusBuilder) -> dict[str, str]:
    """Add the rubric of the run, and return the wording of each feature."""
    wordings: dict[str, str] = {}
    for row in read_rows(path / ITEMS, ITEM_COLUMNS):
        name = str(row["feature"])
        if name not in wordings:
            wordings[name] = str(row["feature_text"])
            weight = row["weight"]
            builder.add_feature(
                Feature(name, str(row["case"]), wordings[name],
                        1.0 if weight is None else float(weight), group=str(row["group"]))
            )  # fmt: skip
    return wordings


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and text of each note, which are kept beside the report."""
    kept = path / REPORT[1] / TEXTS
    if not kept.is_file():
        message = (
            f"the run was made with --no-report or by an earlier version, so there is no {TEXTS}. "
            "Write the report: rubricate trust report RUN NOTES"
        )
        raise InputError([Fault(message, path)])
    try:
        with kept.open(encoding="utf-8", newline="") as stream:
            texts = [(said["note"], said["text"]) for said in map(json.loads, stream)]
    except (ValueError, KeyError, TypeError):
        message = "need the id and text of a note on each line, as `rubricate trust report` writes"
        raise InputError([Fault(message, kept)]) from None
    notes = [note for (note,) in read_texts(path / SCORES, ("note",))]
    if notes != [note for note, _ in texts]:
        raise InputError([Fault("the report belongs to another run than scores.csv", path)])
    refuse_same_ids(notes, path / SCORES)
    yield from texts


def _add_machine(builder: CorpusBuilder, matcher: str, note: str, items: Json) -> dict[str, Spans]:
    """Add what the machine decided on a note, and return where it found what."""
    found: dict[str, Spans] = {}
    for feature, (decided, probability, spans) in items.items():
        if decided is None or not builder.has_feature(feature):
            continue
        found[feature] = parse_spans(spans)
        builder.judge(matcher, note, feature, probability=probability)
        for annotation in found[feature]:
            builder.annotate(matcher, note, feature, annotation)
    return found


def _add_decisions(
    builder: CorpusBuilder, name: str, own: dict[str, Correction], found: dict[str, Spans]
) -> None:
    for feature, one in own.items():
        spans = one.spans or found.get(feature, ()) if one.found else ()
        if one.found and not spans:
            continue
        builder.judge(name, one.note, feature)
        for annotation in spans:
            builder.annotate(name, one.note, feature, annotation)


FORMAT = Format(
    name="run",
    summary="a folder that `rubricate score` wrote: the machine's and people's decisions",
    looks_like=looks_like_run,
    read=read_run_corpus,
    needs_trust=True,
)
