"""What people upload: put down for a while, read, and told in plain words how it was understood."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, RubricateError
from rubricate.formats import detect_format, read_corpus
from rubricate.formats.limits import ReadLimits, check_archive, limits_in_force
from rubricate.formats.notes import (
    counted_notes,
    parse_columns,
    understood_as,
    with_only_case,
)
from rubricate.formats.rubric.files import RubricFile, read_rubric_file
from rubricate.rubric import Rubric
from rubricate.web.calls import Call
from rubricate.web.rendering import fault_lines, form_field

#: What may be uploaded: small when packed is not small when opened.
_LIMITS = ReadLimits(file_bytes=200_000_000, unpacked_bytes=500_000_000)
_UNPACKED = "unpacked"
#: What the command line has an option for, and the forms a field.
_FIELDS = {"--columns": "“Columns”", "--case": "“Case”"}
_ADVICE = re.compile(r"(?<!\S)`?--[a-z]")


class Upload(NamedTuple):
    """What was read, and how it was understood, line by line."""

    corpus: Corpus
    said: list[str]


class RubricUpload(NamedTuple):
    """The rubrics that were read, and how they were understood, line by line."""

    rubrics: tuple[Rubric, ...]
    said: list[str]


def read_upload(call: Call) -> Upload:
    """Read notes, and their rubric where it is a file of its own, from the fields of a form."""
    with _scratch() as scratch:
        name, place = _placed(call, scratch, "notes", "notes")
        told: list[str] = []
        columns = parse_columns(given) if (given := form_field(call, "columns")) else {}
        with understood_as(columns=columns, case=form_field(call, "case"), tell=told.append):
            kind = detect_format(place)
            corpus = read_corpus(place)
        lines = told or [counted_notes(len(corpus.notes), {n.case for n in corpus.notes} - {""})]
        said = [f"{name}: read as {kind}; {lines[0]}", *lines[1:]]
        if call.body.get("rubric"):
            found = read_rubric_upload(call, (note.case for note in corpus.notes), scratch)
            by_case = {one.case: one for one in found.rubrics}
            corpus = Corpus(tuple(with_only_case(corpus.notes, by_case)), found.rubrics)
            said += found.said
        elif corpus.rubrics:
            said.append(f"rubric of the notes’ own: {_sizes(corpus.rubrics)}")
        return Upload(corpus, [_plain(one, scratch) for one in (*said, *_odd(corpus))])


def read_rubric_upload(
    call: Call, cases: Iterable[str], scratch: Path | None = None
) -> RubricUpload:
    """Read a rubric file from a form, under the names that these cases have."""
    if scratch is None:
        with _scratch() as own:
            return read_rubric_upload(call, cases, own)
    name, place = _placed(call, scratch, "rubric", "a rubric")
    found: RubricFile = read_rubric_file(place)
    rubrics = found.for_cases(cases)
    said = [*(f"{name}: {one}" for one in found.notices), f"{name}: taken as {_sizes(rubrics)}"]
    return RubricUpload(rubrics, [_plain(one, scratch) for one in said])


def _sizes(rubrics: Iterable[Rubric]) -> str:
    """Return which cases rubrics are of, and how many features each has."""
    return ", ".join(f"{_some(len(one), 'feature')} of case {one.case!r}" for one in rubrics)


def _some(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _odd(corpus: Corpus) -> Iterator[str]:
    """Yield what a person should know before the work begins."""
    empty = sum(not note.text.strip() for note in corpus.notes)
    if empty:
        yield f"{_some(empty, 'note')} without any text: one decision is asked for, nothing else"
    if len(corpus.rows):
        names = ", ".join(one.id for one in corpus.annotators)
        yield f"annotations in the file (by {names}) are not taken over: everybody begins anew"


@contextmanager
def _scratch() -> Iterator[Path]:
    """Give a folder for uploads; faults in them name the file, and what a form can change."""
    with tempfile.TemporaryDirectory() as scratch, limits_in_force(_LIMITS):
        place = Path(scratch)
        try:
            yield place
        except RubricateError as error:
            lines = [_plain(one, place) for one in fault_lines(error)]
            raise InputError(map(Fault, lines)) from None


def _plain(text: str, scratch: Path) -> str:
    """Return a message without the server's paths, and without advice for the command line."""
    for field in ("notes", "rubric"):
        for part in (f"{scratch / field / _UNPACKED}/", f"{scratch / field}/"):
            text = text.replace(part, "")
    text = text.replace(str(scratch), "")
    for option, name in _FIELDS.items():
        text = text.replace(option, name)
    parts = re.split(r"(?<=[.;]) ", text)
    return " ".join(one for one in parts if not _ADVICE.search(one)).rstrip(" ;")


def _placed(call: Call, scratch: Path, field: str, what: str) -> tuple[str, Path]:
    """Return an upload's name and where it lies; an archive is unpacked, if it stays small."""
    given = call.body.get(field)
    if not isinstance(given, tuple) or not given[1]:
        raise InputError(f"choose a file with {what}")
    folder, name = scratch / field, Path(given[0]).name or "file"
    folder.mkdir()
    place = folder / name
    place.write_bytes(given[1])
    if place.suffix != ".zip":
        return name, place
    try:
        with zipfile.ZipFile(place) as archive:
            check_archive(archive, place)
            archive.extractall(folder / _UNPACKED)
    except zipfile.BadZipFile:
        raise InputError([Fault("is no ZIP archive", place)]) from None
    inside = list((folder / _UNPACKED).iterdir())
    return name, inside[0] if len(inside) == 1 else folder / _UNPACKED
