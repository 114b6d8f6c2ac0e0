"""Rubrics on their own: from CSV, Excel, YAML and TOML files, and into a corpus.

A file gives for each feature its text and, as it likes, case, id, weight (1), kind, group ("any
of": features that share one count once), and a note. Column names may be those that schools use
(``Item``, ``Points``, ...; see `rubricate.formats.rubric.records.NAMES`) in any order. Blanks
around a text are removed.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np

from rubricate.corpus import Corpus, Note
from rubricate.errors import (
    Advice,
    ArgumentError,
    Fault,
    InputError,
    RubricateError,
    Setting,
    shown,
)
from rubricate.files import file_hash, whole_output
from rubricate.formats.notes import NoteSource, open_notes, with_only_case
from rubricate.formats.options import USUAL_LIMITS, USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import Faults
from rubricate.formats.rubric.records import Records, build_rubrics, need_sound
from rubricate.formats.rubric.school_tables import (
    read_csv_records,
    read_excel_records,
    write_csv_records,
    write_excel_records,
)
from rubricate.formats.rubric.trees import (
    read_toml_tree,
    read_yaml_tree,
    tree_records,
    write_toml_tree,
    write_yaml_tree,
)
from rubricate.outputs import Kind as OutputKind
from rubricate.rubric import Rubric

#: The kind of each file, by its ending.
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
}
_WRITERS: dict[str, Callable[[Sequence[Rubric], Path], None]] = {
    "csv": write_csv_records,
    "excel": write_excel_records,
    "yaml": write_yaml_tree,
    "toml": write_toml_tree,
}


@dataclass(frozen=True, slots=True)
class RubricFile:
    """Rubrics of a file, and notices about it.

    ``named`` is False where the file names no case, so that its one rubric is called after it.
    ``made`` has the ids that the file does not give: made from words or numbers.
    """

    rubrics: tuple[Rubric, ...]
    notices: tuple[str, ...] = ()
    name: str = ""
    named: bool = True
    made: frozenset[str] = frozenset()

    def for_cases(self, cases: Iterable[str]) -> tuple[Rubric, ...]:
        """Return the rubrics under the names that notes call their cases by.

        A sheet "Case 1 - Chest pain" is the rubric of "Case 1" (and of "1"), unless another sheet
        is called so. A file that names no case has the rubric of the only one there is.

        >>> found = RubricFile((Rubric("Case 1 - Chest pain", ()), Rubric("Case 10", ())))
        >>> [(rubric.case, rubric.title) for rubric in found.for_cases(["Case 1", "Case 10"])]
        [('Case 1', 'Chest pain'), ('Case 10', '')]
        """
        called = {case for case in cases if case}
        wanted = called - {rubric.case for rubric in self.rubrics}
        if not self.named and len(self.rubrics) == 1 and len(wanted) == 1:
            return (_renamed(self.rubrics[0], wanted.pop(), ""),)
        found: dict[str, list[tuple[str, str]]] = {}
        for rubric in self.rubrics:
            # Some notes call it by its own name: a stray "1" must not take it from "Case 1".
            open_to = () if rubric.case in called else wanted
            fits = [(c, rest) for c in open_to if (rest := _rest(rubric.case, c)) is not None]
            # "Case 1 b" is more than "Case 1", and "Case 1" says more than "1".
            found[rubric.case] = sorted(fits, key=lambda fit: (len(fit[1]), -len(fit[0])))[:1]
        taken = Counter(case for fits in found.values() for case, _ in fits)
        return tuple(
            _renamed(rubric, *fits[0]) if fits and taken[fits[0][0]] == 1 else rubric
            for rubric, fits in zip(self.rubrics, found.values(), strict=True)
        )


def _rest(name: str, case: str) -> str | None:
    """Return the rest of a sheet's name after its case; None if the sheet is of another case."""
    for sheet, short in ((name, case), (_BEFORE_CASE.sub("", name), _BEFORE_CASE.sub("", case))):
        if sheet.casefold().startswith(short.casefold()):
            rest = sheet[len(short) :]
            if not rest[:1].isalnum():
                return rest.strip(" -\u2013\u2014:_.,()[]")
    return None


#: What people write before the number of a case.
_BEFORE_CASE = re.compile(r"^(?:case|station|scenario|vignette|osce)\W*(?=\w)", re.IGNORECASE)


def _renamed(rubric: Rubric, case: str, title: str) -> Rubric:
    features = tuple(replace(feature, case=case) for feature in rubric)
    return replace(rubric, case=case, features=features, title=rubric.title or title)


def read_rubric_file(path: str | Path, *, limits: ReadLimits | None = None) -> RubricFile:
    """Read rubrics, with notices about what the file left open; ``limits`` as `read_corpus`."""
    place, how = Path(path), ReadOptions(limits=limits or USUAL_LIMITS)
    kind = _kind(place)
    if kind in ("csv", "excel"):
        faults = Faults(place, how, unit="row")
        read = read_csv_records if kind == "csv" else read_excel_records
        records: Records = read(place, faults)
    else:
        faults = Faults(place, how, unit="line" if kind == "yaml" else "row")
        tree = (read_yaml_tree if kind == "yaml" else read_toml_tree)(place, faults)
        records = tree_records(tree, place.stem, faults)
    if faults.found and not records.features:
        # One fault is enough where the file could not be understood at all.
        faults.raise_any()
    return file_of(records, faults, place.name)


def file_of(records: Records, faults: Faults, name: str) -> RubricFile:
    """Return the rubrics in records, as if from a file of that name; their faults are raised."""
    rubrics = build_rubrics(records, faults)
    named = records.without_case < len(records.features)
    return RubricFile(rubrics, tuple(records.notices), name, named, frozenset(records.made))


def rubrics_for(source: NoteSource, rubric: str | Path | RubricFile | None) -> dict[str, Rubric]:
    """Return the rubric of each case: the notes' own, and in their place those of a file.

    InputError if there are none.
    """
    found = {one.case: one for one in source.rubrics if len(one)}
    if rubric is not None:
        given = (
            rubric if isinstance(rubric, RubricFile)
            else read_rubric_file(rubric, limits=source.how.limits)
        )  # fmt: skip
        if _are_swapped(_first_texts(source), given.rubrics):
            raise swapped(source.name, given.name)
        cases = {note.case for note in source.notes()}
        found |= {one.case: one for one in given.for_cases(cases)}
    if not found:
        raise no_rubric()
    return found


def no_rubric() -> ArgumentError:
    """Return the error about notes without a rubric: there is nothing to look for."""
    return ArgumentError(
        "the notes come without a rubric.",
        advice=Advice("Give one: {}.", (Setting("rubric", "FILE"),)),
    )


#: How many notes tell how long notes are, and how many words of a feature are many.
_LOOKED_AT, _MANY_WORDS = 50, 5


def _first_texts(source: NoteSource) -> list[str]:
    return [note.text for note in islice(source.notes(), _LOOKED_AT) if isinstance(note, Note)]


def _are_swapped(texts: Iterable[str], rubrics: Iterable[Rubric]) -> bool:
    """Tell whether features are much longer than notes, as none ever are."""
    notes = [len(text.split()) for text in texts]
    features = [len(feature.text.split()) for rubric in rubrics for feature in rubric]
    if not notes or not features:
        return False
    usual = median(features)
    return usual >= _MANY_WORDS and usual >= 2 * median(notes)


def swapped(notes: str, rubric: str) -> ArgumentError:
    """Return the error about notes and a rubric that were given for each other."""
    return ArgumentError(
        f"{notes} reads like a rubric, and {rubric} like notes: they seem to be swapped.",
        advice=Advice("Give the notes first, and the rubric as {}.", (Setting("rubric", "FILE"),)),
    )


def read_like_each_other(notes: Path, rubric: Path, how: ReadOptions = USUAL_OPTIONS) -> bool:
    """Tell whether what was given as notes is a rubric, and what was given as a rubric is notes.

    For what could not be read as it was given.
    """
    try:
        rubrics = read_rubric_file(notes, limits=how.limits).rubrics
        texts = _first_texts(open_notes(rubric, how=replace(how, format="", tell=None)))
    except RubricateError:
        return False
    return bool(texts) and not _are_swapped(texts, rubrics)


def read_rubrics(path: str | Path, *, limits: ReadLimits | None = None) -> tuple[Rubric, ...]:
    r"""Read the rubrics of a .csv, .tsv, .xlsx, .yaml or .toml file.

    See `read_rubric_file` for faults, and for notices about what the file left open. ``limits``
    says how large a file may be.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "chest.csv"
    >>> _ = path.write_text("Item;Points\nChest pain;2\nNo fever;0,5\n", encoding="utf-8")
    >>> (rubric,) = read_rubrics(path)
    >>> [(feature.id, feature.weight) for feature in rubric]
    [('chest-chest-pain', 2.0), ('chest-no-fever', 0.5)]
    """
    return read_rubric_file(path, limits=limits).rubrics


def write_rubrics(
    rubrics: Sequence[Rubric], path: str | Path, *, overwrite: bool = False
) -> dict[str, int]:
    """Write rubrics to a .csv, .tsv, .xlsx, .yaml or .toml file, whole or not at all.

    Returns
    -------
    dict
        What the file cannot hold, with counts: ``metadata`` of rubrics (tables have no place for
        them, TOML none for None). Empty if everything survives.

    Raises
    ------
    InputError
        For what would not be read back: empty rubrics, features without text, ids given twice.

    Examples
    --------
    >>> import tempfile
    >>> from rubricate import Feature
    >>> rubric = Rubric("0", (Feature("1", "0", "=strange text", weight=2.0),))
    >>> path = Path(tempfile.mkdtemp()) / "rubric.xlsx"
    >>> write_rubrics([rubric], path)
    {}
    >>> read_rubrics(path) == (rubric,)
    True
    """
    place = Path(path)
    kind = _kind(place)
    need_sound(rubrics)
    with whole_output(place, overwrite=overwrite, kind=_WRITTEN) as target:
        _WRITERS[kind](rubrics, target)
    if kind == "yaml":
        lost = 0
    elif kind == "toml":
        lost = sum(None in rubric.metadata.values() for rubric in rubrics)
    else:
        lost = sum(bool(rubric.metadata) for rubric in rubrics)
    return {"metadata": lost} if lost else {}


def _rubric_fault(path: Path) -> str:
    """Tell whether a file is not, byte for byte, what would be written of its rubrics.

    What a person wrote, or changed since, is not replaced.
    """
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch) / path.name
        _WRITERS[_kind(path)](read_rubrics(path), again)
        return "" if file_hash(again) == file_hash(path) else "it was written or changed by hand"


_WRITTEN = OutputKind("a rubric as it was written here", _rubric_fault)


def _kind(path: Path) -> str:
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        hint = " Save it as .xlsx." if path.suffix.lower() == ".xls" else ""
        raise ArgumentError(
            [Fault(f"not a kind of rubric file; use one of {', '.join(KINDS)}.{hint}", path)]
        )
    return kind


def with_rubrics(corpus: Corpus, rubrics: Sequence[Rubric]) -> Corpus:
    """Return the corpus with these rubrics in place of its own of the same cases.

    Rubrics of other cases stay; those of cases the corpus has no notes of are added. Notes without
    a case get the only one there is. Rows keep their feature, found by its id.

    Raises
    ------
    InputError
        If no rubric is of a case of the corpus, if two features have one id, or if somebody
        judged a feature that the new rubrics lack.

    Examples
    --------
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever"))
    >>> builder.add_feature(Feature("f", "c", "f"))
    >>> builder.annotate("a", "n", "f", [(0, 8)])
    >>> new = Rubric("c", (Feature("g", "c", "Cough"), Feature("f", "c", "No fever", weight=2)))
    >>> with_rubrics(builder.build(), [new]).annotations("n", "f", "a")[0].spans
    (Span(start=0, end=8),)
    """
    need_sound(rubrics)
    new = {rubric.case: rubric for rubric in rubrics}
    known = {rubric.case: rubric for rubric in corpus.rubrics if len(rubric)} | new
    corpus = replace(corpus, notes=tuple(with_only_case(corpus.notes, known)))
    cases = dict.fromkeys([*(n.case for n in corpus.notes), *(r.case for r in corpus.rubrics)])
    if not any(case in cases for case in new):
        listed = ", ".join(map(shown, new))
        raise InputError(
            f"the corpus has notes of the cases {', '.join(map(shown, cases)) or 'none'}; "
            f"the rubrics are of others: {listed}"
        )
    kept = [new.pop(rubric.case, rubric) for rubric in corpus.rubrics]
    merged = (*kept, *new.values())
    features = [feature.id for rubric in merged for feature in rubric]
    number = {feature_id: i for i, feature_id in enumerate(features)}
    twice = [i for i, n in Counter(features).items() if n > 1]
    faults = [Fault(f"feature id {i!r} is in two rubrics") for i in twice]
    n_rows = np.bincount(corpus.rows.feature, minlength=len(corpus.features))
    faults += [
        Fault(
            f"feature {feature.id!r} of case {feature.case!r} was judged in {n_rows[i]} rows, "
            "and the new rubrics lack it. Keep its id, or remove its rows first."
        )
        for i, feature in enumerate(corpus.features)
        if n_rows[i] and feature.id not in number
    ]
    InputError.raise_any(faults)
    mapping = [number.get(feature.id, 0) for feature in corpus.features]
    return replace(corpus, rubrics=merged, rows=corpus.rows.relabel(feature=mapping))
