"""What people decided: read from files and from the log of a run, and which decision holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rubricate.errors import Fault
from rubricate.formats.faults import Faults
from rubricate.rubric import Feature, Rubric
from rubricate.run.log import Held, about, held, logged_correction, moment, read_log
from rubricate.run.results import Correction
from rubricate.scoring.correction_files import read_decisions


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A correction, where it comes from, and what it is about.

    ``about`` is known of decisions in the log, and of others once their note was seen. An ``echo``
    is a row of a run's own table: the decision that led to it may be in the log already.
    """

    correction: Correction
    row: int | None = None
    about: str = ""
    logged: bool = False
    echo: bool = False


class Corrections:
    """All decisions of people, and for each item the one that holds.

    Of two decisions the later one holds: by the clock where both have a time, else by the day, and
    of those of one day the one that was handed in later.

    Examples
    --------
    >>> early = Correction("n1", "f1", True, "Ann", "2025-01-01")
    >>> late = Correction("n1", "f1", False, "Bob", "2025-01-02")
    >>> Corrections([HandedIn(late), HandedIn(early)]).of("n1")["f1"].by
    'Bob'
    """

    def __init__(self, decisions: Iterable[HandedIn] = (), path: Path | None = None) -> None:
        self._path = path
        self._all: dict[str, list[HandedIn]] = {}
        for one in sorted(decisions, key=_handed_in):
            self._all.setdefault(one.correction.note, []).append(one)
        self._seen: set[str] = set()
        #: Decisions of the log on a text or wording that is no longer there.
        self.outdated = 0

    def __len__(self) -> int:
        return len(self.all())

    def of(self, note_id: str) -> Held:
        """Return the corrections of one note that hold, by feature."""
        return held(one.correction for one in self._all.get(note_id, ()))

    def all(self) -> list[Correction]:
        """Return all that hold, by note and feature."""
        return [own[f] for n in sorted(self._all) for own in [self.of(n)] for f in sorted(own)]

    def steps(self, note_id: str) -> Iterator[tuple[HandedIn, Correction | None, Held]]:
        """Yield each decision on a note that is not in the log yet.

        With it, the decision on the item that held before, and all that hold then.
        """
        known = self._all.get(note_id, ())
        for number, one in enumerate(known):
            if not one.logged:
                before = held(other.correction for other in known[:number])
                after = held(other.correction for other in known[: number + 1])
                yield one, before.get(one.correction.feature), after

    def check(self, note_id: str, rubric: Rubric | None, text: str) -> list[Fault]:
        """Return what is wrong with the corrections of a note, and note the words they mark.

        They are the first note's where several have the id.
        """
        own = self._all.get(note_id)
        if own is None or note_id in self._seen:
            return []
        self._seen.add(note_id)
        faults: list[Fault] = []
        kept: list[HandedIn] = []
        for one in own:
            fitting = self._fitted(one, list(rubric or ()), text, faults)
            if fitting is None:
                self.outdated += one.logged
            elif not any(_same(fitting, other) for other in kept if other.logged):
                kept.append(fitting)
        self._all[note_id] = kept
        return faults

    def _fitted(
        self, one: HandedIn, features: Sequence[Feature], text: str, faults: list[Fault]
    ) -> HandedIn | None:
        """Return a decision with its feature's id and its words; None where it does not fit."""
        given = one.correction
        found = _named(given.feature, features)
        if one.logged:
            if len(found) != 1 or one.about != about(text, found[0].text):
                return None
        elif problem := _problem(given, found, text):
            message = f"note {given.note!r}, {problem}"
            faults.append(Fault(message, self._path, one.row, "row"))
            return None
        words = tuple(" ".join(text[s:e] for s, e in spans) for spans in given.spans or ())
        fitted = replace(given, feature=found[0].id, text=words)
        return replace(one, correction=fitted, about=about(text, found[0].text))

    def unseen(self) -> list[Fault]:
        """Return a fault for each correction of a note that is not there."""
        return [
            Fault(f"there is no note {note_id!r}", self._path, one.row, "row")
            for note_id in sorted(set(self._all) - self._seen)
            for one in self._all[note_id]
            if not one.logged
        ]


def read_corrections(
    path: str | Path | None, *, folder: str | Path | None = None, faults: Faults | None = None
) -> Corrections:
    """Read what people decided: a file, and the log of the run in a folder.

    The file is a table (CSV as spreadsheet programs write it, or .xlsx) with the columns ``note``,
    ``feature`` (its id or its wording), ``found`` (yes or no), ``by`` and ``at`` (who and when:
    2026-11-14 or 14/11/2026, with or without a time); optionally ``spans`` (``start end;start
    end|start end``: ``;`` between fragments, ``|`` between annotations) and ``comment``. Or it is
    the items.csv or scores.xlsx of a run: rows that nobody signed are left as they are.

    InputError with all faults of the file; with ``faults`` they are added there instead.
    """
    place = None if path is None else Path(path)
    found = [] if faults is None else faults.found
    decisions = []
    if folder is not None:
        for entry in read_log(folder):
            if entry["kind"] == "person":
                one = logged_correction(entry)
                decisions.append(HandedIn(one, about=entry["about"], logged=True))
    if place is not None:
        own = Faults(place, unit="row")
        rows = read_decisions(place, own)
        if faults is None:
            own.raise_any()
        found += own.found
        decisions += [HandedIn(one, row, echo=echo) for one, row, echo in rows]
    return Corrections(decisions, place)


def _handed_in(one: HandedIn) -> tuple[bool, datetime]:
    # The log has its own order; what comes after it, that of its times.
    first = datetime.min.replace(tzinfo=UTC)
    return (False, first) if one.logged else (True, moment(one.correction.at))


def _named(name: str, features: Sequence[Feature]) -> list[Feature]:
    """Return the feature with this id, or those with this wording."""
    by_id = [one for one in features if one.id == name]
    return by_id or [one for one in features if _plain(one.text) == _plain(name)]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _problem(given: Correction, found: Sequence[Feature], text: str) -> str:
    if not found:
        return f"feature {given.feature!r}: its rubric has no such feature (id or wording)"
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        return f"feature {given.feature!r}: {len(found)} features have this wording ({ids})"
    past = [end for spans in given.spans or () for _, end in spans if end > len(text)]
    if past:
        return f"feature {given.feature!r}: span end {past[0]} is past the end ({len(text)})"
    return ""


def _same(new: HandedIn, old: HandedIn) -> bool:
    """Tell whether a decision is one that the log has."""
    one, other = new.correction, old.correction
    # Rows of a table have the words that held in the end, not those that a person gave.
    words = new.echo or (one.spans, one.comment) == (other.spans, other.comment)
    return words and (one.feature, one.by, one.at, one.found) == (
        other.feature, other.by, other.at, other.found
    )  # fmt: skip
