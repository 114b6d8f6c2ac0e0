"""What checking finds: findings, the repairs they propose, and the counts over a corpus."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubricate.files import whole_output
from rubricate.formats.tables import guarded

#: Spans as a file gave them; unlike `rubricate.spans.Span` they may be wrong.
RawSpans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """What to do about a finding.

    Examples
    --------
    >>> Repair("respan", spans=((3, 8),)).to_dict()
    {'action': 'respan', 'safe': True, 'spans': [[3, 8]]}
    """

    action: str
    spans: RawSpans = ()
    feature_id: str = ""
    safe: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        value: dict[str, Any] = {"action": self.action, "safe": self.safe}
        if self.action == "respan":
            value["spans"] = [list(span) for span in self.spans]
        if self.action == "move":
            value["feature"] = self.feature_id
        return value


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one annotation (or of one row), by the name of the rule that found it."""

    rule: str
    note_id: str
    case: str
    annotator_id: str
    feature_id: str
    annotation: int | None
    spans: RawSpans
    message: str
    repair: Repair | None = None

    @property
    def is_repairable(self) -> bool:
        """Whether `fix_corpus` repairs it."""
        return self.repair is not None and self.repair.safe

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "rule": self.rule,
            "note": self.note_id,
            "case": self.case,
            "annotator": self.annotator_id,
            "feature": self.feature_id,
            "annotation": self.annotation,
            "spans": [list(span) for span in self.spans],
            "message": self.message,
            "repair": None if self.repair is None else self.repair.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class LoggedRepair:
    """One repair that was made: an entry of the log.

    ``new_spans`` is empty and ``new_feature_id`` None where the annotation was removed.
    """

    rule: str
    note_id: str
    annotator_id: str
    feature_id: str
    old_spans: RawSpans
    new_spans: RawSpans
    new_feature_id: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "rule": self.rule,
            "note": self.note_id,
            "annotator": self.annotator_id,
            "feature": self.feature_id,
            "old_spans": [list(span) for span in self.old_spans],
            "new_spans": [list(span) for span in self.new_spans],
            "new_feature": self.new_feature_id,
        }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All findings of one check.

    Examples
    --------
    >>> finding = Finding("white-space", "n1", "c", "ann", "f1", 0, ((0, 9),), "...")
    >>> result = CheckResult((finding,), ("white-space", "repeated"), n_rows=1, n_annotations=1)
    >>> result.counts
    {'white-space': 1, 'repeated': 0}
    >>> result.counts_by_case
    {'c': {'white-space': 1}}
    """

    findings: tuple[Finding, ...]
    rules: tuple[str, ...]
    n_rows: int
    n_annotations: int

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings each rule has, rules without findings included."""
        found = Counter(finding.rule for finding in self.findings)
        return {rule: found[rule] for rule in self.rules}

    @property
    def repairable_counts(self) -> dict[str, int]:
        """How many of them `fix_corpus` repairs."""
        found = Counter(finding.rule for finding in self.findings if finding.is_repairable)
        return {rule: found[rule] for rule in self.rules}

    @property
    def counts_by_case(self) -> dict[str, dict[str, int]]:
        """How many findings each rule has in each case, only where there are any."""
        found: dict[str, Counter[str]] = {}
        for finding in self.findings:
            found.setdefault(finding.case, Counter())[finding.rule] += 1
        return {
            case: {rule: counter[rule] for rule in self.rules if counter[rule]}
            for case, counter in found.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_annotations": self.n_annotations,
            "n_findings": len(self.findings),
            "n_repairable": sum(finding.is_repairable for finding in self.findings),
            "counts": self.counts,
            "repairable_counts": self.repairable_counts,
            "counts_by_case": self.counts_by_case,
            "findings": [finding.to_dict() for finding in self.findings],
        }


_COLUMNS = ("rule", "note", "annotator", "feature", "old_spans", "new_spans", "new_feature")


def write_changes(changes: Iterable[LoggedRepair], path: Path, *, overwrite: bool = False) -> None:
    """Write one line per change: CSV if the name ends in ``.csv``, JSON Lines otherwise.

    In CSV, spans are written as ``start end;start end``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.csv"
    >>> change = LoggedRepair("white-space", "n1", "ann", "f1", ((3, 9),), ((4, 9),), "f1")
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
            writer.writerows(map(guarded, _line(change)) for change in changes)
        else:
            for change in changes:
                stream.write(json.dumps(change.to_dict(), ensure_ascii=False) + "\n")


def _line(change: LoggedRepair) -> tuple[str, ...]:
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
