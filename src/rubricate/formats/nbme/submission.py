"""The competition's submission file: ``id,location``, spans joined by ``;``, no notes.

A submission says nothing about notes or rubrics, so reading one needs the corpus it speaks of. It
does not tell fragments from annotations either: each span becomes an annotation of its own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from rubricate.builder import RowsBuilder
from rubricate.corpus import Annotator, Corpus
from rubricate.errors import Fault, InputError
from rubricate.formats.annotations import first_annotator
from rubricate.formats.faults import Faults
from rubricate.formats.format import Format
from rubricate.formats.losses import foreign_rows
from rubricate.formats.nbme.annotations import row_id
from rubricate.formats.tables import read_table, write_table
from rubricate.progress import Progress, silent, watched

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


def read_submission(path: Path, like: Corpus, *, strict: bool = True) -> Corpus:
    """Read a submission about the notes of another corpus."""
    faults = Faults(path, unit="row")
    table = read_table(path, ("id", "location"), faults)
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
            if not strict or faults.check_span(start, end, len(text), like.notes[note].id, line):
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
    ids, locations = [], []
    first: dict[str, str] = {}
    for row in watched(range(len(rows)), progress, "writing rows", len(rows)):
        note = corpus.notes[int(rows.note[row])]
        feature = corpus.features[int(rows.feature[row])]
        ids.append(submission_id(note.id, feature.id))
        place = f"note {note.id!r}, feature {feature.id!r}"
        if first.setdefault(ids[-1], place) != place:
            raise InputError(
                f"{first[ids[-1]]} and {place} both get the id {ids[-1]!r}: rename one"
            )
        spans = sorted({(start[k], end[k]) for k in range(bounds[row], bounds[row + 1])})
        locations.append(";".join(f"{s} {e}" for s, e in spans))
    write_table(path, {"id": ids, "location": locations})


def _read_alone(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    hint = (
        "it has no notes. Name the corpus it speaks of: evaluate CORPUS IT, convert --like CORPUS"
    )
    raise InputError([Fault(f"a submission cannot be read alone: {hint}", path)])


FORMAT = Format(
    name="submission",
    summary="the competition's submission.csv (id, location); read beside its corpus",
    looks_like=looks_like_submission,
    read=_read_alone,
    write=write_submission,
    holds=frozenset({"overlaps", "newlines", "boundaries", "unjudged", "ids"}),
    read_beside=read_submission,
)
