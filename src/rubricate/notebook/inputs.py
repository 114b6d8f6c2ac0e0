"""Notes and rubrics in whatever form a notebook has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus, Note
from rubricate.errors import LONGEST_SHOWN, ArgumentError, InputError, shown
from rubricate.files import near_paths
from rubricate.formats import EMBEDDED, is_embedded, read_corpus
from rubricate.formats.limits import Faults
from rubricate.formats.notes import understood_as
from rubricate.formats.rubric import RubricFile, file_of, read_rubric_file, with_rubrics
from rubricate.formats.rubric.records import Records
from rubricate.formats.rubric.school_tables import SchoolTable, add_table
from rubricate.rubric import Feature, Rubric, plain_scalar
from rubricate.rubric import odd_features as odd_in

#: A corpus, a path, a pandas or polars data frame, or texts.
Notes = Any
#: A path, a rubric or several, a data frame with a column of texts, or the features' texts.
Rubrics = Any


def as_corpus(
    notes: Notes,
    rubric: Rubrics = None,
    *,
    columns: Mapping[str, str] | None = None,
    case: str = "",
) -> Corpus:
    """Return notes in any form as a corpus, with the rubrics given in place of its own.

    ``notes`` (Corpus, path, data frame, or texts): a data frame has one note per row
    (`Corpus.from_frame`); texts are numbered from 1.
    ``rubric`` (path, Rubric or several, data frame, or texts of features): see `as_rubric_file`.
    ``columns``, ``case``: as `Corpus.from_frame`, and ``--columns`` and ``--case`` of the commands.

    >>> as_corpus(["no fever", "cough"], ["No fever"])
    <Corpus: 2 notes, 1 cases, 1 features, 0 annotators, 0 rows>
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
        with understood_as(columns=columns, case=case):
            return read_corpus(notes)
    if is_frame(notes):
        return Corpus.from_frame(notes, columns=columns, case=case)
    texts = list(notes) if isinstance(notes, Iterable) else [notes]
    if all(isinstance(text, Note) for text in texts):
        return Corpus(tuple(texts), ())
    if not all(isinstance(text, str) for text in texts):
        raise InputError("notes must be a corpus, a path, a data frame, or a list of texts")
    return Corpus(tuple(Note(str(i), case, text) for i, text in enumerate(texts, 1)), ())


def need_there(path: str) -> None:
    """Raise ArgumentError for a path where nothing is, which may be a note: it is not quoted."""
    try:
        there = is_embedded(path) or Path(path).exists()
    except (OSError, ValueError):  # longer than a path can be, or with a null character
        there = False
    if not there:
        near = near_paths(Path(path), *EMBEDDED) if len(path) <= LONGEST_SHOWN else "."
        raise ArgumentError(
            f"{shown(path)}: no such file or folder{near} Texts are given as a list: [text]"
        )


def is_frame(value: object) -> bool:
    """Tell whether a value is a data frame, of pandas or polars."""
    return hasattr(value, "columns") and hasattr(value, "iloc") | hasattr(value, "iter_rows")


def as_rubric_file(rubric: Rubrics) -> RubricFile | None:
    """Return rubrics in any form as if they had been read from a file.

    ``rubric`` (path, Rubric or several, data frame, or texts of features): a data frame has the
    columns of a rubric file (``text``, ``points``, ``case``, ...); texts make one rubric in which
    each counts one point unless it says otherwise ("Cough (2 points)"). None stays None.

    >>> [feature.id for feature in as_rubric_file(["No fever", "Cough"]).rubrics[0]]
    ['rubric-no-fever', 'rubric-cough']
    """
    if rubric is None or isinstance(rubric, RubricFile):
        return rubric
    if isinstance(rubric, str | Path):
        read = read_rubric_file(rubric)
        if read.notices:
            # What the file left open, and what was left out of it, as the commands say it.
            warnings.warn(f"{read.name}: {'; '.join(read.notices)}", stacklevel=3)
        return read
    if isinstance(rubric, Rubric):
        return RubricFile((rubric,), name="rubric")
    if is_frame(rubric):
        header = [str(name) for name in rubric.columns]
        cells = [[_text(value) for value in rubric[name]] for name in rubric.columns]
        return _table([header, *map(list, zip(*cells, strict=True))])
    given = list(rubric)
    if given and all(isinstance(one, Rubric) for one in given):
        return RubricFile(tuple(given), name="rubric")
    if given and all(isinstance(one, Feature) for one in given):
        cases = dict.fromkeys(one.case for one in given)
        own = (Rubric(case, tuple(one for one in given if one.case == case)) for case in cases)
        return RubricFile(tuple(own), name="rubric")
    if not all(isinstance(one, str) for one in given):
        raise InputError("a rubric must be a path, rubrics, a data frame, or a list of texts")
    return _table([["text"], *([text] for text in given)])


def odd_features(rubric: Rubrics) -> list[str]:
    """Return what looks odd in rubrics: features alike, one inside another, a small "or".

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


def _table(rows: Sequence[list[str]]) -> RubricFile:
    faults, records = Faults(Path("rubric"), unit="row"), Records("rubric")
    add_table(records, SchoolTable(list(enumerate(rows))), faults)
    return file_of(records, faults, "rubric")
