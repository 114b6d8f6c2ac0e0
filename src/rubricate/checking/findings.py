"""A row as the rules see it, what they find in it, and the repairs they propose."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rubricate.corpus import Annotator, Corpus, Note
from rubricate.files import whole_output
from rubricate.formats.tables import write_table
from rubricate.outputs import file_kind
from rubricate.rows import PlainAnnotation
from rubricate.rubric import Feature
from rubricate.spans import fragments_text

#: Spans as a file gave them; unlike `rubricate.spans.Span` they may be wrong.
RawSpans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """Repair of a finding.

    >>> Repair("respan", spans=((3, 8),)).to_dict()
    {'action': 'respan', 'safe': True, 'spans': [[3, 8]]}
    """

    action: str
    spans: RawSpans = ()
    feature_id: str = ""
    safe: bool = True

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        value: dict[str, object] = {"action": self.action, "safe": self.safe}
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
        """True if `fix_corpus` repairs it."""
        return self.repair is not None and self.repair.safe

    def to_dict(self) -> dict[str, object]:
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

    def to_dict(self) -> dict[str, object]:
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
        """Number of findings of each rule, rules without findings included."""
        found = Counter(finding.rule for finding in self.findings)
        return {rule: found[rule] for rule in self.rules}

    @property
    def repairable_counts(self) -> dict[str, int]:
        """Number of findings that `fix_corpus` repairs."""
        found = Counter(finding.rule for finding in self.findings if finding.is_repairable)
        return {rule: found[rule] for rule in self.rules}

    @property
    def counts_by_case(self) -> dict[str, dict[str, int]]:
        """Number of findings of each rule in each case, only if there are any."""
        found: dict[str, Counter[str]] = {}
        for finding in self.findings:
            found.setdefault(finding.case, Counter())[finding.rule] += 1
        return {
            case: {rule: counter[rule] for rule in self.rules if counter[rule]}
            for case, counter in found.items()
        }

    def to_dict(self) -> dict[str, object]:
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


#: A log of changes, as `write_changes` writes it.
CHANGES = file_kind("a log of changes", ",".join(_COLUMNS).encode(), b'"old_spans":')


def write_changes(changes: Iterable[LoggedRepair], path: Path, *, overwrite: bool = False) -> None:
    """Write one line per change: CSV if the name ends in ``.csv``, JSON Lines otherwise.

    In CSV, spans are written as ``start end;start end``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.csv"
    >>> change = LoggedRepair("white-space", "n1", "ann", "f1", ((3, 9),), ((4, 9),), "f1")
    >>> write_changes([change], path)
    >>> print(path.read_text(encoding="utf-8").splitlines()[1])
    white-space,n1,ann,f1,3 9,4 9,f1
    """
    with whole_output(path, overwrite=overwrite, kind=CHANGES) as place:
        if path.suffix == ".csv":
            write_table(place, _COLUMNS, map(_line, changes))
        else:
            with place.open("w", encoding="utf-8", newline="") as stream:
                for change in changes:
                    stream.write(json.dumps(change.to_dict(), ensure_ascii=False) + "\n")


def _line(change: LoggedRepair) -> tuple[str, ...]:
    return (
        change.rule,
        change.note_id,
        change.annotator_id,
        change.feature_id,
        fragments_text(change.old_spans),
        fragments_text(change.new_spans),
        change.new_feature_id or "",
    )


_AGE = re.compile(
    r"aged?(?:\s+\d+.*)?|\d+\s*(?:year|yr)(?:s?\s+old|s?\s+of\s+age)?|\d+\s*y/?o"
    r"|\d+\s*(?:month|mo|week|wk|day)s?\s+(?:old|of\s+age)"
)
_GENDER = re.compile(r"(?:gender|sex)(?:\s+(?:fe)?male)?|(?:fe)?male|(?:wo)?man|boy|girl")
_NEGATIVE = re.compile(
    r"(?:no|not|never|none|nil|neither|denies|denied|denying|without|absence|lack|negative for"
    r"|lacks|non|free of)\b"
)
_OTHER_PERSON = re.compile(
    r"\b(?:family|famil\w+|relatives?|mother|mom|father|dad|parents?|brothers?|sisters?|siblings?"
    r"|aunts?|uncles?|cousins?|grand\w+|sons?|daughters?|child\w*|kids?|baby|infant|newborn|twins?"
    r"|wife|husband|spouse|partners?|boyfriend|girlfriend|roommates?|friends?|coach|boss|neighbou?r"
    r"|daycare|contacts?|others|witness\w*)\b"
)


class RuleHit(NamedTuple):
    """Finding of a rule in a row; ``annotation`` is None if the row itself is at fault."""

    annotation: int | None
    message: str
    repair: Repair | None = None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row with everything the rules look at.

    ``sound``: the annotations whose spans lie inside the note and whose text was not stated
    otherwise: rules about the annotated words look at these only, because the words of the others
    are not where the annotator meant them to be.
    """

    note: Note
    annotator: Annotator
    feature: Feature
    own_features: tuple[Feature, ...]
    annotations: tuple[PlainAnnotation, ...]
    sound: tuple[tuple[int, RawSpans], ...] = field(init=False)

    def __post_init__(self) -> None:
        length = len(self.note.text)
        sound = tuple(
            (i, marked.spans)
            for i, marked in enumerate(self.annotations)
            if marked.spans
            and marked.detail.stated_text is None
            and all(0 <= start < end <= length for start, end in marked.spans)
        )
        object.__setattr__(self, "sound", sound)


@dataclass(frozen=True, slots=True)
class CheckRule:
    """One named rule."""

    name: str
    summary: str
    find: Callable[[JudgedRow], Iterable[RuleHit]]


class Traits(NamedTuple):
    """Kind of words that may be marked for a feature, from its text."""

    is_age: bool
    is_gender: bool
    is_negative: bool
    names_other_person: bool
    words: frozenset[str]


def feature_traits(feature: Feature) -> Traits:
    """Return the expectation that the feature's kind and text give.

    >>> feature_traits(Feature("1", "c", "58 year")).is_age
    True
    >>> feature_traits(Feature("2", "c", "No fever OR no chills")).is_negative
    True
    """
    return _traits(feature.text, feature.kind)


@lru_cache(maxsize=65536)
def _traits(text: str, kind: str) -> Traits:
    lowered = " ".join(text.replace("-", " ").lower().split())
    parts = [part.strip() for part in lowered.split(" or ") if part.strip()]
    return Traits(
        is_age=kind == "age" or bool(_AGE.fullmatch(lowered)),
        is_gender=kind == "gender" or (bool(parts) and all(map(_GENDER.fullmatch, parts))),
        is_negative=bool(parts) and all(map(_NEGATIVE.match, parts)),
        names_other_person=bool(_OTHER_PERSON.search(lowered)),
        words=frozenset(re.findall(r"[^\W_]+", lowered)),
    )


def judged_rows(corpus: Corpus, numbers: Iterable[int] | None = None) -> Iterator[JudgedRow]:
    """Walk over the rows with these numbers (all if None), in the order given."""
    rows = corpus.rows
    own = {case: corpus.rubric(case).features for case in {note.case for note in corpus.notes}}
    for row in range(len(rows)) if numbers is None else numbers:
        note = corpus.notes[int(rows.note[row])]
        yield JudgedRow(
            note,
            corpus.annotators[int(rows.annotator[row])],
            corpus.features[int(rows.feature[row])],
            own[note.case],
            tuple(rows.annotations(row)),
        )
