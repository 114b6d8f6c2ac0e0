"""The history of a run's decisions: the machine's, then people's, and the score after each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.run.evidence import certainty
from rubricate.run.log import LOG, held, logged_correction, read_log
from rubricate.run.reading import ITEMS
from rubricate.run.results import Correction
from rubricate.run.tables import read_texts

HOLDS, CONFIRMED, SUPERSEDED = "holds", "confirmed", "superseded"
OUTDATED = "no longer about this note or rubric"


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One decision on one item: when, who, what, why, what it led to, and whether it holds."""

    note: str
    feature: str
    wording: str
    at: str
    by: str
    machine: bool
    found: bool | None
    spans: str | None
    certainty: float | None
    why: str
    score: float | None
    maximum: float | None
    standing: str

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def audit_run(folder: str | Path, note: str | None = None) -> list[AuditLine]:
    """Return every decision of people in a run, oldest first; of one note the machine's, too.

    InputError if the log was changed after it was written.
    """
    place = Path(folder)
    if not (place / LOG).is_file():
        raise InputError([Fault(f"there is no {LOG}: the run keeps no log", place)])
    now: dict[tuple[str, str], tuple[str, str]] = {}
    wordings: dict[str, str] = {}
    notes: dict[str, None] = {}
    names = ("note", "feature", "feature_text", "corrected_by", "corrected_at")
    for own, feature, wording, by, at in read_texts(place / ITEMS, names):
        wordings[feature] = wording
        # Decisions are the first note's where several have the id.
        now.setdefault((own, feature), (by, at))
        notes[own] = None
    lines: list[AuditLine] = []
    given: list[Correction | None] = []
    latest: dict[str, int] = {}
    for line, one in _lines(place, note, wordings):
        if one is None:
            # What the machine said before of the same item.
            if line.feature in latest:
                k = latest[line.feature]
                lines[k] = replace(lines[k], standing=SUPERSEDED)
            latest[line.feature] = len(lines)
        lines.append(line)
        given.append(one)
        notes[line.note] = None
    if note is not None and note not in notes:
        raise UnknownNameError("note in the run", note, list(notes))
    by_note: dict[str, list[Correction]] = {}
    for one in given:
        if one is not None:
            by_note.setdefault(one.note, []).append(one)
    final = {own: held(decisions) for own, decisions in by_note.items()}
    return [_standing(line, one, final, now) for line, one in zip(lines, given, strict=True)]


def _lines(
    folder: Path, note: str | None, wordings: dict[str, str]
) -> Iterator[tuple[AuditLine, Correction | None]]:
    at = matcher = ""
    for entry in read_log(folder):
        if entry["kind"] == "run":
            at, matcher = entry["at"], entry["matcher"]
        elif entry["kind"] == "person" and note in (None, entry["note"]):
            one = logged_correction(entry)
            yield AuditLine(
                one.note, one.feature, wordings.get(one.feature, ""), one.at, one.by, False,
                one.found, entry["spans"], None, one.comment, entry["score"], entry["maximum"], "",
            ), one  # fmt: skip
        elif entry["kind"] == "machine" and entry["note"] == note:
            for feature, (found, probability, spans) in entry["items"].items():
                sure = None if found is None else certainty(found, probability)
                yield AuditLine(
                    entry["note"], feature, wordings.get(feature, ""), at, matcher, True, found,
                    spans or None, sure, "", entry["score"], entry["maximum"], "",
                ), None  # fmt: skip


def _standing(
    line: AuditLine,
    one: Correction | None,
    final: dict[str, dict[str, Correction]],
    now: dict[tuple[str, str], tuple[str, str]],
) -> AuditLine:
    """Return a line with whether its decision holds in the tables of the run."""
    signed = now.get((line.note, line.feature), ("", ""))
    last = final.get(line.note, {}).get(line.feature)
    if one is None:
        standing = line.standing or HOLDS
        if signed[0] and not line.standing:
            standing = CONFIRMED if last and last.found == line.found else SUPERSEDED
    elif last is not one:
        standing = SUPERSEDED
    else:
        standing = HOLDS if signed == (one.by, one.at) else OUTDATED
    return replace(line, standing=standing)
