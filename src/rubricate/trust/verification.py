"""Check that the files of a run are unchanged, and read the history of its decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from rubricate.batch import BatchStore
from rubricate.errors import Advice, Fault, InputError, Setting, UnknownNameError
from rubricate.files import file_hash, is_plain_name
from rubricate.formats.encoding import Json
from rubricate.run.folder import check_log, log_problem
from rubricate.run.reading import ITEMS, SCORES
from rubricate.run.results import Correction, certainty
from rubricate.run.tables import read_texts
from rubricate.run.writing import (
    EVIDENCE,
    LOG,
    RUN,
    TIMES,
    WORKBOOK,
    LogState,
    RunRecord,
    held,
    log_state,
    logged_correction,
    read_log,
    read_record,
    workbook_seal,
)

FileStatus = Literal["unchanged", "changed", "missing", "unsafe name", "not covered"]


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """One file or folder of a run, and whether it is what run.json says."""

    name: str
    status: FileStatus
    note: str = ""

    @property
    def differs(self) -> bool:
        """True if the file differs from the file that the run wrote."""
        return self.status not in ("unchanged", "not covered")


@dataclass(frozen=True, slots=True)
class RunVerification:
    """All files of a run beside what run.json says of them.

    ``run_sha256`` is the hash of run.json itself, ``log_sha256`` that of the last line of the log,
    ``decisions_sha256`` that of all decisions in it: kept elsewhere, they show whether they and the
    files were changed together, which nothing inside the folder can.
    """

    files: tuple[VerifiedFile, ...]
    run_sha256: str
    log_sha256: str = ""
    decisions_sha256: str = ""

    @property
    def differing(self) -> tuple[VerifiedFile, ...]:
        """The files that are not what the run wrote."""
        return tuple(one for one in self.files if one.differs)

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "unchanged": not self.differing,
            "run_sha256": self.run_sha256,
            "log_sha256": self.log_sha256,
            "decisions_sha256": self.decisions_sha256,
            "files": [asdict(one) for one in self.files],
        }


def verify_run(folder: str | Path) -> RunVerification:
    """Compare every file of a finished run with run.json.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text("note", encoding="utf-8")
    >>> log = '"log": {"decisions": 0, "sha256": "' + "0" * 64 + '"}'
    >>> wanted = '{"outputs": {"scores.csv": "' + "0" * 64 + '"}, ' + log + "}"
    >>> _ = (folder / "run.json").write_text(wanted, encoding="utf-8")
    >>> [(one.name, one.status) for one in verify_run(folder).differing]
    [('scores.csv', 'changed')]
    """
    place = Path(folder)
    record = read_record(place)
    outputs = record["outputs"]
    files = [_verified(place, name, wanted) for name, wanted in outputs.items()]
    log, state = _verified_log(place, record)
    files += log
    for path in sorted(place.iterdir()):
        if path.name not in outputs and path.name not in (RUN, LOG):
            own = path.name == TIMES
            note = "not the same for equal runs" if own else "not written by the run"
            files.append(VerifiedFile(path.name, "not covered", note))
    head, seal = ("", "") if state is None else (state["head"], state["seal"]["sha256"])
    return RunVerification(tuple(files), file_hash(place / RUN), head, seal)


def _verified_log(folder: Path, record: RunRecord) -> tuple[list[VerifiedFile], LogState | None]:
    """Check the log against the one that the run knows; return the result and the log's state."""
    try:
        problem, state = log_problem(folder), log_state(folder)
        entries = [one for one in read_log(folder) if one["kind"] in ("tables", "accepted")]
    except InputError as error:
        place = f"line {error.faults[0].line}, or the one before, is not what was written"
        return [VerifiedFile(LOG, "changed", place)], None
    is_there = (folder / LOG).is_file()
    if problem:
        return [VerifiedFile(LOG, "changed" if is_there else "missing", problem)], state
    if not is_there:
        return [], None
    outputs = record["outputs"]
    tables = [one["sha256"] for one in entries if one["kind"] == "tables"]
    if tables and any(outputs.get(name) != sha for name, sha in tables[-1].items()):
        return [VerifiedFile(LOG, "changed", "its last tables are not those of run.json")], state
    # The workbook is a second place for the hash: run.json is easier to edit.
    accepted = [seal for one in entries if one["kind"] == "accepted" for seal in _seals(one)]
    if workbook_seal(folder / WORKBOOK) not in ("", state["seal"]["sha256"], *accepted):
        return [VerifiedFile(LOG, "changed", f"{WORKBOOK} has the hash of another log")], state
    whole = f"{state['entries']} lines, each bound to the one before"
    return [VerifiedFile(LOG, "unchanged", whole)], state


def _seals(accepted: Json) -> Iterator[str]:
    """Yield the hashes that the run knew before another log was accepted."""
    for state in accepted.get("known") or ():
        yield str(state["seal"]["sha256"])


def _verified(folder: Path, name: str, wanted: str) -> VerifiedFile:
    if not is_plain_name(name):
        return VerifiedFile(name, "unsafe name", "run.json may name what lies beside it alone")
    path = folder / name
    if not path.exists():
        return VerifiedFile(name, "missing")
    if file_hash(path) == wanted:
        return VerifiedFile(name, "unchanged")
    return VerifiedFile(name, "changed", _broken_batches(path) if name == EVIDENCE else "")


def _broken_batches(folder: Path) -> str:
    """Return the damaged batches of evidence."""
    faults = BatchStore(folder).faults()
    shown = [f"{path.name}: {fault}" for path, fault in list(faults.items())[:3]]
    return "; ".join(shown) + (f"; {len(faults) - 3} more" if len(faults) > 3 else "")


def check_tables(folder: str | Path) -> None:
    """Raise InputError if the tables of a run are not those that it wrote.

    Tables without a run.json were not written by `rubricate score`, or by a run that was not
    finished, which its evidence gives away.
    """
    place = Path(folder)
    if not (place / RUN).exists() and not (place / EVIDENCE).exists():
        return
    outputs = read_record(place)["outputs"]
    tables = [_verified(place, name, outputs.get(name, "")) for name in (SCORES, ITEMS)]
    advice = Advice(
        "Score again, or use {} to go on with it as it is", (Setting("accept_edited", True),)
    )
    faults = [
        Fault(
            f"not the table that the run wrote ({table.status})", place / table.name, advice=advice
        )
        for table in tables
        if table.differs
    ]
    InputError.raise_any(faults)


HOLDS, CONFIRMED, SUPERSEDED = "holds", "confirmed", "superseded"
OUTDATED = "no longer about this note or rubric"


@dataclass(frozen=True, slots=True)
class HistoryLine:
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


def run_history(folder: str | Path, note: str | None = None) -> list[HistoryLine]:
    """Return every decision of people in a run, oldest first; for one note also the model's.

    ``note`` is the id of a note, or of a student: then the notes of all stations are shown, whose
    ids are joined with the case ("M26-asthma"). InputError if the log was changed, or is not the
    one that the run knows.
    """
    place = Path(folder)
    check_log(place)
    if not (place / LOG).is_file():
        read_record(place)  # which says so where it is no run at all
        raise InputError([Fault(f"there is no {LOG}: the run keeps no log", place)])
    now: dict[tuple[str, str], tuple[str, str]] = {}
    wordings: dict[str, str] = {}
    notes: dict[str, None] = {}
    names = ("note", "feature", "feature_text", "corrected_by", "corrected_at", "case")
    of_student: set[str] = set()
    for own, feature, wording, by, at, case in read_texts(place / ITEMS, names):
        if case and own == f"{note}-{case}":
            of_student.add(own)
        wordings[feature] = wording
        now[own, feature] = (by, at)
        notes[own] = None
    wanted = None if note is None else {note} if note in notes else of_student or {note}
    lines: list[HistoryLine] = []
    given: list[Correction | None] = []
    latest: dict[tuple[str, str], int] = {}
    for line, one in _lines(place, wanted, wordings):
        if one is None:
            # An earlier decision of the model on the same item.
            item = (line.note, line.feature)
            if item in latest:
                k = latest[item]
                lines[k] = replace(lines[k], standing=SUPERSEDED)
            latest[item] = len(lines)
        lines.append(line)
        given.append(one)
        notes[line.note] = None
    if note is not None and wanted is not None and not wanted & set(notes):
        raise UnknownNameError("note in the run", note, list(notes))
    by_note: dict[str, list[Correction]] = {}
    for one in given:
        if one is not None:
            by_note.setdefault(one.note, []).append(one)
    final = {own: held(decisions) for own, decisions in by_note.items()}
    return [_standing(line, one, final, now) for line, one in zip(lines, given, strict=True)]


def _lines(
    folder: Path, wanted: Collection[str] | None, wordings: dict[str, str]
) -> Iterator[tuple[HistoryLine, Correction | None]]:
    at = matcher = ""
    for entry in read_log(folder):
        if entry["kind"] == "run":
            at, matcher = entry["at"], entry["matcher"]
        elif entry["kind"] == "person" and (wanted is None or entry["note"] in wanted):
            one = logged_correction(entry)
            yield HistoryLine(
                one.note, one.feature, wordings.get(one.feature, ""), one.at, one.by, False,
                one.found, entry["spans"], None, one.comment, entry["score"], entry["maximum"], "",
            ), one  # fmt: skip
        elif entry["kind"] == "machine" and wanted is not None and entry["note"] in wanted:
            for feature, (found, probability, spans) in entry["items"].items():
                sure = None if found is None else certainty(found, probability)
                yield HistoryLine(
                    entry["note"], feature, wordings.get(feature, ""), at, matcher, True, found,
                    spans or None, sure, "", entry["score"], entry["maximum"], "",
                ), None  # fmt: skip


def _standing(
    line: HistoryLine,
    one: Correction | None,
    final: dict[str, dict[str, Correction]],
    now: dict[tuple[str, str], tuple[str, str]],
) -> HistoryLine:
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
