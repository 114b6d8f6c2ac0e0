"""The log of repairs as a file: JSON Lines, or CSV for those who look at it in a spreadsheet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from rubricate.checking.findings import Change, RawSpans
from rubricate.files import whole_output

_COLUMNS = ("rule", "note", "annotator", "feature", "old_spans", "new_spans", "new_feature")


def write_changes(changes: Iterable[Change], path: Path, *, overwrite: bool = False) -> None:
    """Write one line a change: CSV if the name ends in ``.csv``, JSON Lines otherwise.

    In CSV, spans are written as ``start end;start end``.

    Raises
    ------
    OutputExistsError
        If the file exists and ``overwrite`` is false.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.csv"
    >>> change = Change("white-space", "n1", "ann", "f1", ((3, 9),), ((4, 9),), "f1")
    >>> write_changes([change], path)
    >>> print(path.read_text(encoding="utf-8").splitlines()[1])
    white-space,n1,ann,f1,3 9,4 9,f1
    """
    with (
        whole_output(path, overwrite=overwrite) as place,
        place.open("w", encoding="utf-8", newline="") as stream,
    ):
        if path.suffix == ".csv":
            writer = csv.writer(stream)
            writer.writerow(_COLUMNS)
            writer.writerows(_line(change) for change in changes)
        else:
            for change in changes:
                stream.write(json.dumps(change.to_dict(), ensure_ascii=False) + "\n")


def _line(change: Change) -> tuple[str, ...]:
    return (
        change.rule,
        change.note_id,
        change.annotator_id,
        change.feature_id,
        _spans(change.old_spans),
        _spans(change.new_spans),
        change.new_feature_id or "",
    )


def _spans(spans: RawSpans) -> str:
    return ";".join(f"{start} {end}" for start, end in spans)
