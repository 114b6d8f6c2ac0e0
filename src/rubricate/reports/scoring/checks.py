"""The checks of trust that a report shows, each with its section, remarks and filter.

To add one: write its class here and add it to `CHECKS`; and to ``frontend/src/viewer/data.ts`` if
notes are to be filtered by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.display import counted, shown_number
from rubricate.progress import Progress, watched
from rubricate.reports.blocks import Block, FactsBlock, Paragraph, TableBlock
from rubricate.reports.page import Cell, Text, Value, p_cell
from rubricate.reports.plots import Point
from rubricate.reports.scoring.viewer import (
    ShownNote,
    listed_links,
    named_notes,
    note_cell,
    notes_link,
)
from rubricate.rubric import Rubric
from rubricate.run import ItemResult, NoteResult, ScoredRun
from rubricate.run.reading import RunCollector, Spill
from rubricate.trust import (
    Changes,
    Cluster,
    Drift,
    Flag,
    compare_runs,
    find_duplicates,
    flag_note,
    measure_drift,
)

#: Lines of a table of single notes; the viewer has all of them.
MOST_LINES = 50


class Seen(NamedTuple):
    """A note that comes by: its place, result, items with a decision, rubric, and text if known."""

    place: int
    result: NoteResult
    items: Sequence[ItemResult]
    rubric: Rubric
    text: str | None

    @property
    def readable(self) -> bool:
        """True if there is a score and a text."""
        total = self.result.total
        return self.text is not None and total is not None and total.maximum > 0


class Checked(NamedTuple):
    """Findings of a check: its section of the page, warnings for its top, remarks about notes.

    ``marked`` are the notes that the viewer's filter keeps.
    """

    blocks: list[Block]
    warnings: list[Text]
    remarks: Mapping[str, list[str]]
    marked: Collection[str]


class ReportCheck:
    """One check: it sees every note, and then tells what it found."""

    anchor: str
    title: str
    #: The number that the viewer filters by; `viewer/data.ts` has the same.
    flag: int

    def add(self, seen: Seen) -> None:
        """Look at one note."""
        raise NotImplementedError

    def finish(
        self, notes: Spill[ShownNote], rubrics: Mapping[str, Rubric], progress: Progress
    ) -> Checked:
        """Look at all notes together, and return what was found."""
        raise NotImplementedError


class _ChangesCheck(ReportCheck):
    """Changes and drift since an earlier run."""

    anchor, title, flag = "changes", "Since the last run", 2

    def __init__(self, previous: ScoredRun) -> None:
        self._previous = previous
        self._now = RunCollector()

    def add(self, seen: Seen) -> None:
        self._now.add(seen.result)

    def finish(
        self, notes: Spill[ShownNote], rubrics: Mapping[str, Rubric], progress: Progress
    ) -> Checked:
        now = self._now.run()
        progress(0, 1, "looking for drift")
        changes, drift = compare_runs(self._previous, now), measure_drift(self._previous, now)
        progress(1, 1, "looking for drift")
        warnings: list[Text] = []
        if drift.drifted:
            warnings.append("The notes or decisions differ from the last run. See below.")
        if moved := changes.largest():
            words = f"{counted(len(moved), 'score')} changed since the last run"
            warnings.append(named_notes(words, [one.note for one in moved], "changed"))
        remarks = {
            note: [f"Score changed since the last run: {before:g} before, {now:g} now"]
            for note, (before, now) in changes.scores.items()
        }
        marked = {*changes.scores, *(change.note for change in changes.decisions)}
        return Checked([*_changes(changes), *_drift(drift, rubrics)], warnings, remarks, marked)


class _CopiesCheck(ReportCheck):
    """Notes of one case that are copies of each other; one case at a time is in memory."""

    anchor, title, flag = "copies", "Copied notes", 4

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}

    def add(self, seen: Seen) -> None:
        if seen.readable:
            self._places.setdefault(seen.result.case, []).append(seen.place)

    def finish(
        self, notes: Spill[ShownNote], rubrics: Mapping[str, Rubric], progress: Progress
    ) -> Checked:
        found: list[Cluster] = []
        for case, places in watched(
            self._places.items(), progress, "looking for copies", len(self._places)
        ):
            if len(places) > 1:
                shown = (notes[place] for place in places)
                found += find_duplicates(Note(one.note, case, one.text) for one in shown)
        if not found:
            nothing = Paragraph("No two notes of a case are identical or nearly so.")
            return Checked([nothing], [], {}, ())
        clusters = sorted(found, key=lambda c: (-len(c.notes), -c.similarity, c.notes))
        remarks: dict[str, list[str]] = {}
        for cluster in clusters:
            kind = {"near": "Nearly the same as", "same words": "Same words as"}.get(
                cluster.kind, "Identical to"
            )
            for note in cluster.notes:
                others = [other for other in cluster.notes[:6] if other != note][:5]
                left = len(cluster.notes) - 1 - len(others)
                more = f" and {left} more" if left else ""
                remarks.setdefault(note, []).append(f"{kind} {', '.join(others)}{more}")
        lines: list[list[Value]] = []
        for cluster in clusters[:MOST_LINES]:
            named = listed_links([notes_link(note, n=note) for note in cluster.notes[:12]])
            more = f" and {len(cluster.notes) - 12:,} more" if len(cluster.notes) > 12 else ""
            cases = ", ".join(cluster.cases)
            lines.append(
                [cluster.kind, len(cluster.notes), cluster.similarity, cases, Cell([*named, more])]
            )
        caption = "Notes that share at least 80 % of their runs of three words, within a case."
        caption += _not_shown(clusters, "smaller groups")
        header = ["kind", "notes", "similarity", "case", "which"]
        copied = [note for cluster in clusters for note in cluster.notes]
        words = f"{len(copied):,} notes are copies of each other, or nearly so"
        return Checked(
            [
                Paragraph([notes_link("All copied notes", show="copied")]),
                TableBlock(caption, header, lines, sortable=True),
            ],
            [named_notes(words, copied, "copied")],
            remarks,
            set(remarks),
        )


class _GamingCheck(ReportCheck):
    """Notes that look written for the scorer."""

    anchor, title, flag = "gaming", "Notes that look gamed", 8

    def __init__(self) -> None:
        self._flags: list[Flag] = []

    def add(self, seen: Seen) -> None:
        if seen.readable and len(seen.rubric):
            note = Note(seen.result.note, seen.result.case, seen.text or "")
            evidence = {
                one.feature.id: one.evidence
                for one in seen.items
                if one.found or one.outcome == "contradicted"
            }
            self._flags += flag_note(note, seen.rubric, evidence=evidence)

    def finish(
        self, notes: Spill[ShownNote], rubrics: Mapping[str, Rubric], progress: Progress
    ) -> Checked:
        flags = self._flags
        if not flags:
            nothing = Paragraph("No note looks as if it was written for the scorer.")
            return Checked([nothing], [], {}, ())
        remarks: dict[str, list[str]] = {}
        for flag in flags:
            said = f"Looks like {flag.kind}: {flag.sign} {flag.value:.2f}, limit {flag.limit:g}"
            remarks.setdefault(flag.note, []).append(said)
        lines: list[list[Value]] = [
            [note_cell(flag.note), flag.kind, flag.sign, flag.value, float(flag.limit)]
            for flag in flags[:MOST_LINES]
        ]
        said = "A flag is a reason to check the note. It does not prove misconduct." + _not_shown(
            flags, "more flags"
        )
        header = ["note", "looks like", "sign", "value", "limit"]
        words = f"{counted(len(remarks), 'note looks', 'notes look')} written for the scorer"
        return Checked(
            [
                Paragraph([notes_link("All notes that look gamed", show="gaming")]),
                TableBlock(said, header, lines, sortable=True),
            ],
            [named_notes(words, list(remarks), "gaming", ". Check them.")],
            remarks,
            set(remarks),
        )


#: The checks of a report in the order of its page; each is made from the earlier run, if any.
CHECKS: tuple[Callable[[ScoredRun | None], ReportCheck | None], ...] = (
    lambda previous: None if previous is None else _ChangesCheck(previous),
    lambda previous: _CopiesCheck(),
    lambda previous: _GamingCheck(),
)


def _points(value: float) -> Cell:
    return Cell(shown_number(value, "g"), value, number=True)


def _changes(changes: Changes) -> list[Block]:
    facts = {
        "notes in both runs": f"{changes.n_shared:,}",
        "new notes": f"{len(changes.came):,}",
        "notes no longer there": f"{len(changes.went):,}",
        "scores that changed": f"{len(changes.scores):,}",
        "decisions that changed": f"{len(changes.decisions):,}",
    }
    if not changes.scores:
        return [FactsBlock(facts)]
    moved = changes.largest()
    lines: list[list[Value]] = [
        [note_cell(one.note), _points(one.before), _points(one.now), _points(one.change)]
        for one in moved[:MOST_LINES]
    ]
    caption = "Scores that changed most." + _not_shown(moved, "more")
    return [
        FactsBlock(facts),
        Paragraph([notes_link("Notes that changed", show="changed")]),
        TableBlock(caption, ["note", "before", "now", "change"], lines, sortable=True),
    ]


def _drift(drift: Drift, rubrics: Mapping[str, Rubric]) -> list[Block]:
    lines: list[list[Value]] = [
        [
            one.measure,
            one.before,
            one.after,
            one.distance,
            p_cell(one.adjusted),
            "drifted" if one.flag else "",
        ]
        for one in drift.measures
    ]
    header = ["measure", "median before", "median now", "distance", "adjusted p", ""]
    caption = (
        f"Distributions over notes ({drift.design}): Kolmogorov-Smirnov distance, permutation "
        f"test, Holm's correction. Flagged from a distance of {drift.settings.min_distance:g} on."
    )
    texts = {f.id: f"{f.case}: {f.text}" for rubric in rubrics.values() for f in rubric}
    drifted = [one for one in drift.features if one.flag]
    drifted.sort(key=lambda one: -abs(one.difference))
    flagged: list[list[Value]] = [
        [texts.get(one.feature, one.feature), one.before, one.after,
         Point(one.difference, one.low, one.high), p_cell(one.adjusted)]
        for one in drifted[:MOST_LINES]
    ]  # fmt: skip
    rates = TableBlock(
        "Features whose rate drifted, with Benjamini and Hochberg's correction.",
        ["feature", "before", "now", "difference", "adjusted p"],
        flagged,
        sortable=True,
        empty="No feature's rate drifted.",
    )
    return [TableBlock(caption, header, lines, sortable=True), rates]


def _not_shown(found: Sequence[object], what: str) -> str:
    left = len(found) - MOST_LINES
    return f" {left:,} {what} are not shown." if left > 0 else ""
