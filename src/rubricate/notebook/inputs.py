"""Notes and rubrics in whatever form a notebook has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rubricate.corpus import Corpus, Note
from rubricate.errors import LONGEST_SHOWN, ArgumentError, InputError
from rubricate.files import near_paths, shown_path
from rubricate.formats import EMBEDDED, is_embedded, read_corpus
from rubricate.formats.reading import Faults
from rubricate.formats.rubric import RubricFile, file_of, read_rubric_file, with_rubrics
from rubricate.formats.rubric.records import Records
from rubricate.formats.rubric.school_tables import SchoolTable, add_table
from rubricate.frames import Frame, frame_columns, is_frame, rows_as_columns
from rubricate.rubric import Feature, Rubric, plain_scalar
from rubricate.rubric import odd_features as odd_in

if TYPE_CHECKING:
    import polars

#: A corpus, a path, a data frame (pandas, polars or lazy), a list of texts, of dictionaries with
#: the columns of a table, or of `Note`, or a dictionary from ids to texts.
Notes: TypeAlias = "Frame | OtherNotes"
#: All of these but frames whose results are no polars frames.
OtherNotes: TypeAlias = (
    "Corpus | str | Path | polars.DataFrame | Mapping[str, str] "
    "| Iterable[str | Note | Mapping[str, Any]]"
)
#: A path, a rubric or several, a data frame or dictionaries with a column of texts, the features'
#: texts, or a dictionary from texts to points.
Rubrics: TypeAlias = (
    "str | Path | RubricFile | Rubric | Frame | Mapping[str, float] "
    "| Iterable[str | Rubric | Feature | Mapping[str, Any]]"
)


def as_corpus(
    notes: Notes,
    rubric: Rubrics | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    case: str = "",
) -> Corpus:
    """Return notes in any form as a corpus, with the given rubrics instead of its own.

    ``notes``: a data frame or a list of dictionaries has one note per row (`Corpus.from_frame`).
    Texts are numbered from 1. A dictionary has the texts by id.
    ``rubric``: as `as_rubric_file`. ``columns``, ``case``: as `Corpus.from_frame`.

    >>> as_corpus(["no fever", "cough"], ["No fever"])
    <Corpus: 2 notes, 1 cases, 1 features, 0 annotators, 0 rows>
    >>> [note.id for note in as_corpus({"s1": "no fever"}).notes]
    ['s1']
    """
    corpus = _notes(notes, columns, case)
    given = as_rubric_file(rubric)
    if given is None:
        return corpus
    return with_rubrics(corpus, given.for_cases(note.case for note in corpus.notes))


def _notes(notes: Notes, columns: Mapping[str, str] | None, case: str) -> Corpus:
    if isinstance(notes, Corpus):
        return notes
    if isinstance(notes, str | Path):
        need_there(str(notes))
        return read_corpus(notes, columns=columns, case=case)
    if is_frame(notes):
        return Corpus.from_frame(cast(Frame, notes), columns=columns, case=case)
    by_id = isinstance(notes, Mapping)
    given: list[tuple[Any, Any]] = []
    if isinstance(notes, Mapping):
        given = list(notes.items())
    elif isinstance(notes, Iterable):
        given = list(enumerate(notes, 1))
    values = [one for _, one in given]
    if all(isinstance(one, str) for one in values) and isinstance(notes, Iterable):
        return Corpus(tuple(Note(str(name), case, text) for name, text in given), ())
    if not by_id and values and all(isinstance(one, Note) for one in values):
        return Corpus(tuple(values), ())
    if not by_id and values and all(isinstance(one, Mapping) for one in values):
        return Corpus.from_frame(values, columns=columns, case=case)
    raise InputError(
        "notes must be a corpus, a path, a data frame, or a list of texts or dictionaries"
    )


def need_there(path: str) -> None:
    """Raise ArgumentError for a path where nothing is, which may be a note: it is not quoted."""
    try:
        there = is_embedded(path) or Path(path).exists()
    except (OSError, ValueError):  # longer than a path can be, or with a null character
        there = False
    if not there:
        near = near_paths(Path(path), *EMBEDDED) if len(path) <= LONGEST_SHOWN else "."
        raise ArgumentError(
            f"{shown_path(Path(path))}: no such file or folder{near} "
            "Texts are given as a list: [text]"
        )


def as_rubric_file(rubric: Rubrics | None) -> RubricFile | None:
    """Return rubrics in any form as if they had been read from a file; None stays None.

    A data frame or a list of dictionaries has the columns of a rubric file (``text``, ``points``,
    ``case``, ...). Texts make one rubric, in which each feature counts one point unless its text
    says otherwise ("Cough (2 points)"). A dictionary has the points by text.

    >>> [feature.id for feature in as_rubric_file(["No fever", "Cough"]).rubrics[0]]
    ['rubric-no-fever', 'rubric-cough']
    >>> [feature.weight for feature in as_rubric_file({"No fever": 2, "Cough": 1}).rubrics[0]]
    [2.0, 1.0]
    """
    if rubric is None or isinstance(rubric, RubricFile):
        return rubric
    if isinstance(rubric, str | Path):
        read = read_rubric_file(rubric)
        if read.notices:
            # Notices that the commands print, too.
            warnings.warn(f"{read.name}: {'; '.join(read.notices)}", stacklevel=3)
        return read
    if isinstance(rubric, Rubric):
        return RubricFile((rubric,), name="rubric")
    if is_frame(rubric):
        return _table(*frame_columns(cast(Frame, rubric)))
    if isinstance(rubric, Mapping):
        return _table(["text", "points"], [list(rubric), list(rubric.values())])
    given: list[Any] = list(rubric) if isinstance(rubric, Iterable) else [rubric]
    if given and all(isinstance(one, Rubric) for one in given):
        return RubricFile(tuple(given), name="rubric")
    if given and all(isinstance(one, Feature) for one in given):
        cases = dict.fromkeys(one.case for one in given)
        own = (Rubric(case, tuple(one for one in given if one.case == case)) for case in cases)
        return RubricFile(tuple(own), name="rubric")
    if given and all(isinstance(one, Mapping) for one in given):
        return _table(*rows_as_columns(given))
    if not all(isinstance(one, str) for one in given):
        raise InputError(
            "a rubric must be a path, rubrics, a data frame, or a list of texts or dictionaries"
        )
    return _table(["text"], [given])


def odd_features(rubric: Rubrics | None) -> list[str]:
    """Return warnings about rubrics: similar features, a feature inside another, a small "or".

    Parameters
    ----------
    rubric
        As `as_rubric_file`.

    Examples
    --------
    >>> odd_features(["Cough or wheeze"])
    ["'rubric-cough-or-wheeze' has a small 'or': write OR if either side alone is enough"]
    """
    given = as_rubric_file(rubric)
    return [odd for one in (given.rubrics if given else ()) for odd in odd_in(one)]


def _text(value: Any) -> str:
    plain = plain_scalar(value)
    return "" if plain is None else str(plain)


def _table(header: Sequence[str], cells: Sequence[Sequence[Any]]) -> RubricFile:
    texts = ([_text(value) for value in column] for column in cells)
    rows = [list(header), *map(list, zip(*texts, strict=True))]
    faults, records = Faults(Path("rubric"), unit="row"), Records("rubric")
    add_table(records, SchoolTable(list(enumerate(rows))), faults)
    return file_of(records, faults, "rubric")
