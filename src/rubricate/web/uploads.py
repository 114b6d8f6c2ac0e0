"""Files that people upload with a form: notes and rubrics, and how they were understood."""

from __future__ import annotations

import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rubricate.corpus import Corpus
from rubricate.display import counted
from rubricate.errors import Fault, InputError, RubricateError, Setting, listed
from rubricate.files import NO_ROOM, is_plain_name
from rubricate.formats import FORMATS, detect_format, read_path
from rubricate.formats.notes import with_only_case
from rubricate.formats.options import ReadLimits, ReadOptions, parse_columns
from rubricate.formats.plain_notes import counted_notes
from rubricate.formats.reading import check_archive
from rubricate.formats.rubric import RubricFile, read_rubric_file
from rubricate.progress import Progress, silent
from rubricate.rubric import Rubric, odd_features
from rubricate.web.calls import Call
from rubricate.web.rendering import fault_lines, form_field

#: What may be uploaded: small when packed is not small when opened.
_LIMITS = ReadLimits(file_bytes=200_000_000, unpacked_bytes=500_000_000)
_UNPACKED = "unpacked"
_MOST_FILES = 50_000
#: How an archive fails that cannot be unpacked: its bytes, its password, its method, its names.
_DAMAGED = (zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, OSError)
#: Settings for which the forms have a field.
_FIELDS = {"columns": "“Columns”", "case": "“Case”"}
#: From here on managers are told that annotators will have to wait, or much to do.
_MANY_FEATURES, _LONG_NOTE = 500, 200_000
#: How many odd things of a file are told.
_TOLD = 50
#: Such files can end the process that reads them, and everybody's work with it.
_NO_TABLES = (
    "{} is not taken from an upload. Convert it on your own machine to jsonl, and upload that"
)


class Upload(NamedTuple):
    """Content of a rubric file without notes, and its reading, line by line."""

    corpus: Corpus
    said: list[str]
    #: Ids of features that the file does not give.
    made: frozenset[str] = frozenset()


def read_upload(call: Call, progress: Progress = silent) -> Upload:
    """Read notes, and their rubric where it is a file of its own, from the fields of a form."""
    with _scratch() as scratch:
        name, place = _placed(call, scratch, "notes", "notes")
        told: list[str] = []
        columns = parse_columns(given) if (given := form_field(call, "columns")) else {}
        how = ReadOptions(
            limits=_LIMITS, columns=columns, case=form_field(call, "case"), tell=told.append,
            progress=progress,
        )  # fmt: skip
        kind = detect_format(place, how)
        if FORMATS[kind].needs_trust:
            raise InputError([Fault(_NO_TABLES.format(kind), place)])
        corpus = read_path(place, replace(how, format=kind))
        lines = told or [counted_notes(len(corpus.notes), {n.case for n in corpus.notes} - {""})]
        said = [f"{name}: read as {kind}; {lines[0]}", *lines[1:]]
        if call.body.get("rubric"):
            progress(0, None, "reading the rubric")
            found = read_rubric_upload(call, (note.case for note in corpus.notes), scratch)
            by_case = {one.case: one for one in found.corpus.rubrics}
            notes = tuple(with_only_case(corpus.notes, by_case))
            corpus = replace(found.corpus, notes=notes)
            said += found.said
        elif corpus.rubrics:
            said.append(f"rubric of the notes’ own: {_sizes(corpus.rubrics)}")
        return Upload(corpus, [_plain(one, scratch) for one in (*said, *_odd(corpus))])


def read_rubric_upload(call: Call, cases: Iterable[str], scratch: Path | None = None) -> Upload:
    """Read a rubric file from a form, under the names that these cases have."""
    if scratch is None:
        with _scratch() as own:
            return read_rubric_upload(call, cases, own)
    name, place = _placed(call, scratch, "rubric", "a rubric")
    found: RubricFile = read_rubric_file(place, limits=_LIMITS)
    rubrics = found.for_cases(cases)
    said = [*(f"{name}: {one}" for one in found.notices), f"{name}: taken as {_sizes(rubrics)}"]
    odd = [f"odd in {name}: {odd}" for one in rubrics for odd in odd_features(one)]
    said += odd[:_TOLD]
    if len(odd) > _TOLD:
        said.append(f"odd in {name}: {len(odd) - _TOLD:,} more; see rubricate rubric")
    return Upload(Corpus((), rubrics), [_plain(one, scratch) for one in said], found.made)


def _sizes(rubrics: Iterable[Rubric]) -> str:
    """Return the cases of rubrics, with the number of features of each."""
    return ", ".join(f"{counted(len(one), 'feature')} of case {one.case!r}" for one in rubrics)


def _odd(corpus: Corpus) -> Iterator[str]:
    """Yield what a person should know before the work begins."""
    empty = sum(not note.text.strip() for note in corpus.notes)
    if empty:
        yield f"{counted(empty, 'note')} without any text: one decision is asked for, nothing else"
    for rubric in corpus.rubrics:
        if len(rubric) > _MANY_FEATURES:
            yield (
                f"case {rubric.case!r} has {len(rubric):,} features: annotators judge each of them "
                "in every note. Divide the rubric into several projects if that is too much"
            )
    long = [note for note in corpus.notes if len(note.text) > _LONG_NOTE]
    if long:
        names = listed(repr(note.id) for note in long)
        yield (
            f"{counted(len(long), 'note')} of more than {_LONG_NOTE:,} characters ({names}): the "
            "page for annotating opens slowly. Divide such notes if you can"
        )
    if len(corpus.rows):
        names = ", ".join(one.id for one in corpus.annotators)
        yield f"annotations in the file (by {names}) are not taken over: everybody begins anew"


@contextmanager
def _scratch() -> Iterator[Path]:
    """Give a folder for uploads; faults in them name the file, and what a form can change."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        try:
            yield place
        except RubricateError as error:
            lines = [_plain(one, place) for one in fault_lines(error, wording=_field_name)]
            raise InputError(map(Fault, lines)) from None


def _plain(text: str, scratch: Path) -> str:
    """Return a message without the server's paths."""
    for field in ("notes", "rubric"):
        unpacked = str(scratch / field / _UNPACKED)
        text = text.replace(f"{unpacked}/", "").replace(unpacked, "the archive")
        text = text.replace(f"{scratch / field}/", "")
    return text.replace(str(scratch), "")


def _field_name(setting: Setting) -> str | None:
    """Return the field of the forms for a setting, with its value; None where there is none."""
    name = _FIELDS.get(setting.name)
    return name and f"{name} {setting.value}".strip()


def _placed(call: Call, scratch: Path, field: str, what: str) -> tuple[str, Path]:
    """Return an upload's name and where it lies; an archive is unpacked, if it stays small."""
    given = call.body.get(field)
    if not isinstance(given, tuple) or not given[1]:
        raise InputError(f"choose a file with {what}")
    folder, name = scratch / field, Path(given[0]).name or "file"
    folder.mkdir()
    if not is_plain_name(name):
        raise InputError("the file has a name that cannot be kept: give it another one")
    place = folder / name
    place.write_bytes(given[1])
    if place.suffix.lower() != ".zip":
        return name, place
    unpacked = folder / _UNPACKED
    unpacked.mkdir()
    _unpack(place, unpacked)
    inside = [one for one in unpacked.iterdir() if not one.name.startswith(".")]
    return name, inside[0] if len(inside) == 1 else unpacked


def _unpack(place: Path, target: Path) -> None:
    """Unpack an archive; InputError for one that is large, damaged, encrypted or of odd names."""
    try:
        with zipfile.ZipFile(place) as archive:
            check_archive(archive, place, _LIMITS)
            if len(archive.infolist()) > _MOST_FILES:
                raise InputError([Fault(f"holds more than {_MOST_FILES:,} files", place)])
            # What macOS adds about each file is none of the files.
            archive.extractall(target, [one for one in archive.namelist()
                                        if not one.startswith("__MACOSX/")])  # fmt: skip
    except zipfile.BadZipFile:
        raise InputError([Fault("is no ZIP archive, or is damaged", place)]) from None
    except RubricateError:
        raise
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise
        why = "is damaged or encrypted, or holds names that cannot be kept"
        raise InputError([Fault(f"{why}: pack the files again", place)]) from None
