"""The competition's folder (patient_notes, features, train and test as CSV) and its submissions.

Each file with the columns of ``train.csv`` is one annotator: ``train.csv`` is called
``reference``, any other by its file name. ``location`` holds a Python list literal, one element per
annotation, fragments joined by ``;``. Feature texts have hyphens for spaces.

A submission (``id,location``) says nothing about notes or rubrics, so reading one needs the corpus
it speaks of. It does not tell fragments from annotations: each span is an annotation of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rubricate.builder import RowsBuilder
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.errors import Advice, Fault, InputError, Setting
from rubricate.formats.annotations import first_annotator
from rubricate.formats.encoding import parse_json
from rubricate.formats.format import HELD_BY_SPANS, Format, foreign_rows
from rubricate.formats.frame import Frame, id_to_name, name_to_id, read_frame, write_frame
from rubricate.formats.nbme.annotations import (
    ROW_COLUMNS,
    Known,
    find_rows,
    read_annotations,
    row_id,
    write_annotations,
)
from rubricate.formats.options import USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import Faults, read_text, refuse_link
from rubricate.formats.tables import CsvTable, is_plain_number, read_table, write_table
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import NO_METADATA, Feature, Metadata, Rubric
from rubricate.spans import fragments_text

NOTES, FEATURES, TRAIN, TEST = "patient_notes.csv", "features.csv", "train.csv", "test.csv"
NOTE_COLUMNS = ("pn_num", "case_num", "pn_history")
FEATURE_COLUMNS = ("feature_num", "case_num", "feature_text")
SUBMISSION_COLUMNS = ("id", "location")
REFERENCE = "reference"
#: Files of the folder that are no annotator's, without suffix.
_OTHER_FILES = frozenset(
    {"patient_notes", "features", "train", "test", "sample_submission", "splits", "cases"}
)
#: Where the frame keeps the ids that the competition's numbers stand for.
IDS_NAME = "nbme_ids.json"


def looks_like_nbme(path: Path) -> bool:
    """Tell whether the folder has the competition's notes and features."""
    return path.is_dir() and (path / NOTES).is_file() and (path / FEATURES).is_file()


def read_nbme(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read the competition's folder."""
    if not path.is_dir():
        raise InputError(f"{path}: the competition's files are read as a folder; give the folder")
    faults = Faults(path, how, unit="row")
    frame = read_frame(path, is_folder=True, limits=how.limits)
    numbers = _read_ids(path / IDS_NAME, how.limits)
    notes = _read_notes(path / NOTES, frame, numbers.get("notes", {}), faults)
    rubrics = _read_rubrics(path / FEATURES, frame, numbers, faults)
    cases = {rubric.case for rubric in rubrics}
    if notes and all(note.text in cases and note.case not in cases for note in notes):
        what = "the texts are the cases of features.csv: are the names of two columns swapped?"
        faults.add(what, path=path / NOTES)
    is_whole = not faults.found
    files = _annotator_files(path, faults)
    known = {a.id: a for a in frame.annotators}
    annotators = tuple(
        (known | {id_: Annotator(id_) for id_ in files if id_ not in known}).values()
    )
    corpus = Corpus(notes, rubrics, annotators, scores=frame.scores, metadata=frame.metadata)
    there = Known(corpus, numbers, is_whole=is_whole)
    if (path / TEST).is_file():
        table = read_table(path / TEST, ROW_COLUMNS, faults)
        if table is not None:
            find_rows(there, table)
    rows = read_annotations(there, files, faults, how.progress)
    return replace(corpus, rows=rows)


def _annotator_files(path: Path, faults: Faults) -> dict[str, Path]:
    """Return every file with the columns of train.csv, by annotator."""
    found: dict[str, Path] = {}
    files = (place for place in path.glob("*.csv") if place.is_file())
    places = sorted(files, key=lambda place: (place.name != TRAIN, place))
    for place in places:
        with place.open("rb") as stream:
            head = stream.readline(1 << 16).decode("utf-8-sig", "replace").strip().split(",")
        columns = {name.strip('" ') for name in head}
        # train.csv is meant to be read: without its columns it is a fault, not another's file.
        if place.name == TRAIN or {"annotation", "location", "pn_num"} <= columns:
            id_ = REFERENCE if place.name == TRAIN else name_to_id(place.stem)
            if id_ in found:
                message = f"it is annotator {id_!r}, and so is {found[id_].name}; rename one"
                faults.add(message, path=place)
            found.setdefault(id_, place)
    return found


def _file_of(path: Path, annotator_id: str) -> Path:
    if annotator_id == REFERENCE:
        return path / TRAIN
    return path / f"{id_to_name(annotator_id, reserved=_OTHER_FILES)}.csv"


def _read_ids(path: Path, limits: ReadLimits) -> dict[str, dict[str, str]]:
    if not path.is_file():
        return {}
    refuse_link(path, path.parent)
    try:
        value = parse_json(read_text(path, limits), limits)
        return {
            kind: {str(number): str(own) for number, own in value[kind].items()}
            for kind in ("notes", "features")
        }
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        message = 'need {"notes": {NUMBER: ID}, "features": {NUMBER: ID}}; convert again'
        raise InputError([Fault(message, path)]) from error


def _read_notes(
    path: Path, frame: Frame, ids: Mapping[str, str], faults: Faults
) -> tuple[Note, ...]:
    table = read_table(path, NOTE_COLUMNS, faults)
    if table is None:
        return ()
    numbers = table.integers("pn_num", unique=True)
    cases = table.need_filled("case_num")
    splits = _read_metadata(path.with_name("splits.csv"), faults)
    notes = []
    for number, case, text in zip(numbers, cases, table.column("pn_history"), strict=True):
        note_id = ids.get(str(number), str(number))
        _, metadata = frame.notes.get(note_id, ("", NO_METADATA))
        metadata = metadata or splits.get(str(number), NO_METADATA)
        notes.append(Note(note_id, case, text, metadata))
    return tuple(notes)


def _read_metadata(path: Path, faults: Faults) -> dict[str, Metadata]:
    """Read the optional splits.csv of an open-notes folder: more columns for each note."""
    if not path.is_file():
        return {}
    table = read_table(path, ("pn_num",), faults)
    if table is None:
        return {}
    found = _metadata(table, {"pn_num", "case_num"})
    return dict(zip(table.column("pn_num"), found, strict=True))


def _metadata(table: CsvTable, known: set[str]) -> list[Metadata]:
    """Return the columns that are not known, row by row."""
    names = [name for name in table.names if name not in known]
    columns = [table.guessed(name) for name in names]
    return [
        Metadata({name: own[row] for name, own in zip(names, columns, strict=True)})
        for row in range(len(table))
    ]


def _read_rubrics(
    path: Path, frame: Frame, ids: Mapping[str, Mapping[str, str]], faults: Faults
) -> tuple[Rubric, ...]:
    """Read the rubrics; the file says what there is, the frame what it has no column for."""
    table = read_table(path, FEATURE_COLUMNS, faults)
    if table is None:
        return ()
    cases = _read_cases(path.with_name("cases.csv"), faults)
    cases |= {rubric.case: (rubric.title, rubric.metadata) for rubric in frame.rubrics}
    known = {feature.id: feature for rubric in frame.rubrics for feature in rubric.features}
    features: dict[str, list[Feature]] = {rubric.case: [] for rubric in frame.rubrics}
    for number, case, text in zip(
        table.integers("feature_num", unique=True),
        table.need_filled("case_num"),
        table.column("feature_text"),
        strict=True,
    ):
        feature_id = ids.get("features", {}).get(str(number), str(number))
        feature = known.get(feature_id, Feature(feature_id, case, ""))
        if _hyphened(feature.text) != text:
            # The competition writes hyphens for spaces; a text with spaces is left as it stands.
            words = text if " " in text else text.replace("-", " ")
            feature = replace(feature, text=words)
        features.setdefault(case, []).append(replace(feature, case=case))
    return tuple(
        Rubric(case, tuple(own), *cases.get(case, ("", NO_METADATA)))
        for case, own in features.items()
    )


def _hyphened(text: str) -> str:
    return text.replace(" ", "-")


def _read_cases(path: Path, faults: Faults) -> dict[str, tuple[str, Metadata]]:
    """Read the optional cases.csv of an open-notes folder: title and more for each case."""
    if not path.is_file():
        return {}
    table = read_table(path, ("case_num", "title"), faults)
    if table is None:
        return {}
    found = zip(table.column("title"), _metadata(table, {"case_num", "title"}), strict=True)
    return dict(zip(table.column("case_num"), found, strict=True))


def write_nbme(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the competition's folder; ids that are not numbers are numbered and remembered."""
    path.mkdir()
    note_numbers = _numbers([n.id for n in corpus.notes])
    feature_numbers = _numbers([f.id for f in corpus.features])
    notes = [(note_numbers[note.id], note.case, note.text) for note in corpus.notes]
    features = [(feature_numbers[f.id], f.case, _hyphened(f.text)) for f in corpus.features]
    write_table(path / NOTES, NOTE_COLUMNS, notes, quoted=True)
    write_table(path / FEATURES, FEATURE_COLUMNS, features, quoted=True)
    for i, annotator in enumerate(corpus.annotators):
        numbers = (list(note_numbers.values()), list(feature_numbers.values()))
        write_annotations(corpus, i, _file_of(path, annotator.id), numbers, progress)
    _write_test(corpus, path, note_numbers, feature_numbers)
    write_frame(corpus, path, is_folder=True)
    if any(str(n) != i for m in (note_numbers, feature_numbers) for i, n in m.items()):
        ids = {
            "notes": {str(n): i for i, n in note_numbers.items()},
            "features": {str(n): i for i, n in feature_numbers.items()},
        }
        (path / IDS_NAME).write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")


def _numbers(ids: list[str]) -> dict[str, int]:
    """Return a number for each id: its own where all are numbers, else their position."""
    if all(map(is_plain_number, ids)):
        return {i: int(i) for i in ids}
    return {i: number for number, i in enumerate(ids)}


def _write_test(
    corpus: Corpus, path: Path, notes: Mapping[str, int], features: Mapping[str, int]
) -> None:
    """Write test.csv and a sample submission: the rows of notes that nobody judged."""
    judged = set(corpus.rows.note.tolist())
    lines = []
    for note in (note for i, note in enumerate(corpus.notes) if i not in judged):
        for feature in corpus.rubric(note.case):
            numbers = (notes[note.id], features[feature.id])
            lines.append((row_id(*numbers), note.case, *numbers))
    if lines:
        write_table(path / TEST, ROW_COLUMNS, lines, quoted=True)
        sample = [(line[0], "") for line in lines]
        write_table(path / "sample_submission.csv", SUBMISSION_COLUMNS, sample, quoted=True)


FORMAT = Format(
    name="nbme",
    summary="the competition's folder: patient_notes, features, train, test (CSV)",
    looks_like=looks_like_nbme,
    read=read_nbme,
    write=write_nbme,
    made=frozenset({"*.csv", IDS_NAME}),
    holds=HELD_BY_SPANS | {"stated text"},
)

# Nine digits: enough for any note, and never too many for the columns that hold offsets.
_PAIR = r"[0-9]{1,9}\s+[0-9]{1,9}\s*"
_LOCATION = re.compile(rf"\s*(?:{_PAIR}(?:;\s*{_PAIR})*)?\Z")


def looks_like_submission(path: Path) -> bool:
    """Tell whether the file has exactly the two columns of a submission."""
    if not path.is_file() or path.suffix != ".csv":
        return False
    with path.open("rb") as stream:
        head = stream.readline(200).decode("utf-8-sig", "replace").strip().split(",")
    return sorted(name.strip('" ') for name in head) == ["id", "location"]


def submission_id(note_id: str, feature_id: str) -> str:
    """Return the id of a row: the competition's where both ids are numbers, else both joined.

    >>> submission_id("16", "0"), submission_id("n-a", "f1")
    ('00016_000', 'n-a_f1')
    """
    if all(x.isascii() and x.isdigit() for x in (note_id, feature_id)):
        return row_id(int(note_id), int(feature_id))
    return f"{note_id}_{feature_id}"


def read_submission(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a submission about the notes of another corpus (`ReadOptions.like`)."""
    if how.like is None:
        message = "a submission cannot be read alone: it has no notes."
        advice = Advice("Name the corpus it speaks of: {}", (Setting("like", "CORPUS"),))
        raise InputError([Fault(message, path, advice=advice)])
    like = how.like
    faults = Faults(path, how, unit="row")
    table = read_table(path, SUBMISSION_COLUMNS, faults)
    if table is None:
        raise InputError(faults.found)
    place = {
        submission_id(note.id, feature.id): (i, like.feature_index[feature.id])
        for i, note in enumerate(like.notes)
        for feature in like.rubric(note.case)
    }
    builder = RowsBuilder()
    seen: dict[str, int] = {}
    columns = (table.column("id"), table.column("location"))
    for line, key, location in zip(table.lines, *columns, strict=True):
        if key not in place:
            faults.add(f"id {key!r} is no (note, feature) of the corpus", line=line)
            continue
        if seen.setdefault(key, line) != line:
            faults.add(f"id {key!r} occurs again (first in row {seen[key]})", line=line)
            continue
        if not _LOCATION.match(location):
            faults.add("column 'location' must be 'START END;START END' or empty", line=line)
            continue
        note, feature = place[key]
        builder.judge(note, 0, feature)
        numbers = [int(x) for x in location.replace(";", " ").split()]
        for start, end in zip(numbers[::2], numbers[1::2], strict=True):
            text = like.notes[note].text
            if faults.check_span(start, end, len(text), like.notes[note].id, line):
                builder.annotate(note, 0, feature, [(start, end)])
    faults.raise_any()
    return like.with_rows(builder.build(), [Annotator("predicted")])


def write_submission(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the rows of the first annotator who has any, but those of another case's feature."""
    corpus = first_annotator(corpus)
    corpus = replace(corpus, rows=corpus.rows.take(~foreign_rows(corpus)))
    rows = corpus.rows
    start, end = rows.start.tolist(), rows.end.tolist()
    bounds = rows.first_span[rows.first_annotation].tolist()
    lines = []
    first: dict[str, str] = {}
    for row in watched(range(len(rows)), progress, "writing rows", len(rows)):
        note = corpus.notes[int(rows.note[row])]
        feature = corpus.features[int(rows.feature[row])]
        own_id = submission_id(note.id, feature.id)
        place = f"note {note.id!r}, feature {feature.id!r}"
        if first.setdefault(own_id, place) != place:
            raise InputError(f"{first[own_id]} and {place} both get the id {own_id!r}: rename one")
        spans = sorted({(start[k], end[k]) for k in range(bounds[row], bounds[row + 1])})
        lines.append((own_id, fragments_text(spans)))
    write_table(path, SUBMISSION_COLUMNS, lines, quoted=True)


SUBMISSION = Format(
    name="submission",
    summary="the competition's submission.csv (id, location); read beside its corpus",
    looks_like=looks_like_submission,
    read=read_submission,
    write=write_submission,
    holds=frozenset({"overlaps", "newlines", "boundaries", "unjudged", "ids"}),
    has_notes=False,
)
