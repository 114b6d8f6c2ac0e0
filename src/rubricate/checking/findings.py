"""What checking finds: findings, the repairs they propose, and the counts over a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: Spans as a file gave them; unlike `rubricate.spans.Span` they may be wrong.
RawSpans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """What to do about a finding.

    Parameters
    ----------
    action : str
        ``"respan"``: give the annotation the spans in ``spans``; ``"move"``: give it to the
        feature ``feature_id``; ``"remove"``: drop it (a finding about a whole row: drop the row).
    spans : tuple of (start, end)
        The new spans of a ``"respan"``.
    feature_id : str
        The new feature of a ``"move"``.
    safe : bool
        Whether `fix_corpus` applies it. A repair is safe when it leaves present what was present
        and leaves no choice between several repairs; any other is for a person to decide.

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
    """One fault of one annotation (or of one row), by the name of the rule that found it.

    Parameters
    ----------
    rule : str
        The name of the rule.
    note_id, case, annotator_id, feature_id : str
        Where it is; ``case`` is the note's.
    annotation : int or None
        The annotation's place in its row, from 0; None where the fault is the row itself.
    spans : tuple of (start, end)
        The annotation's spans as they stand; they may be wrong.
    message : str
        What is wrong, without any note text.
    repair : Repair, optional
        What to do about it.
    """

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
class Change:
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

    Parameters
    ----------
    findings : tuple of Finding
        In the corpus's order: note, annotator, feature, rule, annotation.
    rules : tuple of str
        The rules that were applied.
    n_rows, n_annotations : int
        How much was checked.

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
