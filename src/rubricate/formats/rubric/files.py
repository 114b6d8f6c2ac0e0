"""Rubrics on their own: from CSV, Excel, YAML and TOML files, and into a corpus.

A file gives for each feature its text and, as it likes, case, id, weight (1), kind, group ("any
of": features that share one count once), and a note. Column names may be those that schools use
(``Item``, ``Points``, ...; see `rubricate.formats.rubric.columns.NAMES`) in any order. Blanks
around a text are removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, shown
from rubricate.files import whole_output
from rubricate.formats.faults import Faults
from rubricate.formats.limits import ReadLimits, limits_in_force
from rubricate.formats.notes import with_only_case
from rubricate.formats.rubric.csv_table import read_csv_records, write_csv_records
from rubricate.formats.rubric.excel import read_excel_records, write_excel_records
from rubricate.formats.rubric.records import Records, build_rubrics, need_sound
from rubricate.formats.rubric.trees import (
    read_toml_tree,
    read_yaml_tree,
    tree_records,
    write_toml_tree,
    write_yaml_tree,
)
from rubricate.rubric import Rubric

_KINDS = {
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
    """What a rubric file says, and what a person should be told about it."""

    rubrics: tuple[Rubric, ...]
    notices: tuple[str, ...] = ()


def read_rubric_file(path: str | Path, *, limits: ReadLimits | None = None) -> RubricFile:
    """Read rubrics, with notices about what the file left open; ``limits`` as `read_corpus`."""
    with limits_in_force(limits):
        return _read(Path(path))


def _read(place: Path) -> RubricFile:
    kind = _kind(place)
    if kind in ("csv", "excel"):
        faults = Faults(place, unit="row")
        read = read_csv_records if kind == "csv" else read_excel_records
        records: Records = read(place, faults)
    else:
        faults = Faults(place, unit="line" if kind == "yaml" else "row")
        tree = (read_yaml_tree if kind == "yaml" else read_toml_tree)(place, faults)
        records = tree_records(tree, place.stem, faults)
    if faults.found and not records.features:
        # One fault is enough where the file could not be understood at all.
        faults.raise_any()
    return RubricFile(build_rubrics(records, faults), tuple(records.notices))


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
        For what would not be read back: empty rubrics, features without text, ids given twice,
        weights below 0.

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
    with whole_output(place, overwrite=overwrite) as target:
        _WRITERS[kind](rubrics, target)
    if kind == "yaml":
        lost = 0
    elif kind == "toml":
        lost = sum(None in rubric.metadata.values() for rubric in rubrics)
    else:
        lost = sum(bool(rubric.metadata) for rubric in rubrics)
    return {"metadata": lost} if lost else {}


def _kind(path: Path) -> str:
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        hint = " Save it as .xlsx." if path.suffix.lower() == ".xls" else ""
        raise InputError(
            [Fault(f"not a kind of rubric file; use one of {', '.join(_KINDS)}.{hint}", path)]
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
    if faults:
        raise InputError(faults)
    mapping = [number.get(feature.id, 0) for feature in corpus.features]
    return replace(corpus, rubrics=merged, rows=corpus.rows.relabel(feature=mapping))
