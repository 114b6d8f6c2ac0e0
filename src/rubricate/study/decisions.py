"""Disagreements laid out for a curator, and the curator's decisions read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rubricate.corpus import Annotator, Corpus
from rubricate.errors import Advice, Fault, InputError, Setting
from rubricate.files import missing_path
from rubricate.formats import write_corpus
from rubricate.formats.encoding import Head
from rubricate.formats.tables import write_table
from rubricate.reports.highlight import NoteMark, Sides, highlight_note, legend_html
from rubricate.reports.page import Section, html_table, paragraph, render_page
from rubricate.spans import Span, parse_spans, spans_text
from rubricate.study.curation import (
    PLACES,
    Disagreement,
    Marks,
    Settled,
    Settlement,
    settle_by_choice,
    settle_rows,
)
from rubricate.study.record import StepResult, Study, read_numbered, run_step
from rubricate.study.summaries import CurateSummary

#: Where the curator's decisions lie, unless told otherwise.
DECISIONS = "4-reference/decisions.csv"
REFERENCE = "reference"
DECIDED = ("decision", "spans", "decided_by", "decided_at", "comment")


def marks_text(marks: Marks) -> str:
    """Write annotations as ``0 8;10 14|20 25``: fragments by ``;``, annotations by ``|``.

    >>> marks_text(((Span(0, 8), Span(10, 14)), (Span(20, 25),)))
    '0 8;10 14|20 25'
    """
    return spans_text(((s.start, s.end) for s in mark) for mark in marks)


def parse_marks(text: str) -> Marks:
    """Read what `marks_text` writes (ValueError where it is something else).

    >>> parse_marks("0 8;10 14|20 25") == ((Span(0, 8), Span(10, 14)), (Span(20, 25),))
    True
    """
    found = parse_spans(text.strip())
    return tuple(tuple(sorted(Span(*pair) for pair in one)) for one in found)


def read_decisions(path: Path, rows: Mapping[tuple[str, str], Disagreement],
                   corpus: Corpus) -> dict[tuple[str, str], Settled]:  # fmt: skip
    """Read a curator's decisions: ``disagreements.csv`` with its last columns filled in.

    A line without decision is left undecided. ``decision`` is first, second (third ...), union,
    intersection, none, or spans (then ``spans`` says which). ``decided_by`` is a must. Rows that
    one annotator judged, or that all were unsure of, may be decided as well.
    """
    names = ("note", "feature", *DECIDED)
    lines = read_numbered(path, ["note", "feature", "decision", "decided_by"])
    found: dict[tuple[str, str], Settled] = {}
    faults: list[Fault] = []
    for number, line in lines:
        value = {name: line.get(name, "").strip() for name in names}
        if not value["decision"]:
            continue
        key = value["note"], value["feature"]
        row = rows.get(key, Disagreement(*key, (), ()))
        problems = _line_faults(value, row, corpus)
        if key in found:
            problems.append(f"note {key[0]!r}, feature {key[1]!r} is decided twice")
        faults += [Fault(problem, path, number, "row") for problem in problems]
        if problems:
            continue
        marks = settle_by_choice(row, value["decision"], parse_marks(value["spans"]))
        found[key] = Settled(
            *key, marks, value["decided_by"], value["decision"], value["decided_at"],
            value["comment"],
        )  # fmt: skip
    InputError.raise_any(faults)
    return found


def _line_faults(value: Mapping[str, str], row: Disagreement, corpus: Corpus) -> list[str]:
    """Return the faults of one decision."""
    feature, note = row.feature, row.note
    if note not in corpus.note_index or feature not in corpus.feature_index or (
        corpus.feature(feature).case != corpus.note(note).case
    ):  # fmt: skip
        return [f"note {note!r}, feature {feature!r} is not in this study"]
    found = []
    both = ("union", "intersection") if row.annotators else ()
    allowed = [*PLACES[: len(row.annotators)], *both, "none", "spans"]
    if value["decision"] not in allowed:
        found.append(f"decision is {value['decision']!r}: it must be one of {', '.join(allowed)}")
    if not value["decided_by"]:
        found.append("decided_by is missing: say who decided")
    length = len(corpus.note(note).text)
    try:
        marks = parse_marks(value["spans"])
        if any(s.end > length for mark in marks for s in mark):
            found.append(f"spans lie outside the note, which has {length} characters")
        if value["decision"] == "spans" and not marks:
            found.append("spans is empty; for nothing at all decide 'none'")
    except ValueError as error:
        found.append(f"spans: {error}")
    return found


def curate_study(
    study: Study,
    *,
    decisions: str | Path | None = None,
    allow_undecided: bool = False,
    overwrite: bool = False,
) -> StepResult[CurateSummary]:
    """Settle every row by rule or decision, and write the reference.

    First lists all disagreements that no rule settles (``disagreements.csv`` and an HTML page).
    When all are decided, writes ``reference.jsonl`` (annotator ``reference``) and
    ``provenance.csv`` (who decided each row).
    """
    study.need("collect")
    rules = study.settings.curation.rules
    place = Path(decisions) if decisions is not None else study.folder / DECISIONS
    if decisions is not None and not place.exists():
        raise missing_path(place)
    corpus = study.corpus("collect", "annotations.jsonl")
    by_rule = settle_rows(corpus, rules)
    listed = _list_disagreements(study, corpus, by_rule.undecided, overwrite=overwrite)
    decided = read_decisions(place, by_rule.rows, corpus) if place.exists() else {}
    found = by_rule.decide(decided)
    n_disputed, n_open = len(by_rule.undecided), len(found.undecided)
    if n_open and not allow_undecided:
        table = listed.folder / "disagreements.csv"
        raise InputError(
            f"{n_open} of {n_disputed} disagreements are undecided. Fill in {table}, "
            f"save it as {place} and run this again.",
            advice=Advice("Or use {} to leave them out", (Setting("allow_undecided", True),)),
        )

    def work(folder: Path) -> CurateSummary:
        reference = reference_corpus(corpus, found.settled)
        write_corpus(reference, folder / "reference.jsonl", format="jsonl")
        write_provenance(folder / "provenance.csv", found)
        return {
            "rows": len(found.settled),
            "double": found.double,
            "disputed": n_disputed,
            "undecided": n_open,
            "decided_by": dict(sorted(Counter(row.decided_by for row in found.settled).items())),
        }

    inputs: dict[str, Path | str] = {"collected": study.output("collect")}
    if place.exists():
        inputs["decisions"] = place
    return run_step(
        study,
        "curate",
        work,
        inputs=inputs,
        settings=study.tables("curation") | {"allow_undecided": allow_undecided},
        overwrite=overwrite,
    )


def reference_corpus(corpus: Corpus, settled: Iterable[Settled]) -> Corpus:
    """Return the notes with one annotator, ``reference``."""
    who = (Annotator(REFERENCE, "reference"),)
    builder = Head(corpus.rubrics, who, metadata=corpus.metadata).builder()
    for note in corpus.notes:
        builder.add_note(note)
    for row in settled:
        builder.judge(REFERENCE, row.note, row.feature)
        for mark in row.marks:
            builder.annotate(REFERENCE, row.note, row.feature, mark)
    return builder.build()


def _list_disagreements(
    study: Study, corpus: Corpus, rows: Sequence[Disagreement], *, overwrite: bool
) -> StepResult[dict[str, int]]:
    def work(folder: Path) -> dict[str, int]:
        write_table(folder / "disagreements.csv", *disagreements_table(corpus, rows))
        page = disagreements_page(corpus, rows)
        (folder / "disagreements.html").write_text(page, encoding="utf-8")
        return {"disputed": len(rows)}

    return run_step(
        study,
        "disagreements",
        work,
        inputs={"collected": study.output("collect")},
        settings=study.tables("curation"),
        overwrite=overwrite,
    )


def disagreements_table(
    corpus: Corpus, rows: Sequence[Disagreement]
) -> tuple[list[str], list[list[str]]]:
    """Return the header and lines of ``disagreements.csv``; the last columns are the curator's."""
    most = max([2, *(len(row.annotators) for row in rows)])
    sides = [
        f"{place}_{part}" for place in PLACES[:most] for part in ("annotator", "spans", "text")
    ]
    lines = []
    for row in rows:
        text = corpus.note(row.note).text
        cells = [row.note, row.feature, corpus.feature(row.feature).text]
        for who, marks in zip(row.annotators, row.marks, strict=True):
            cells += [who, marks_text(marks), _words(marks, text)]
        lines.append([*cells, *[""] * (3 + len(sides) + len(DECIDED) - len(cells))])
    return ["note", "feature", "feature_text", *sides, *DECIDED], lines


def _words(marks: Marks, text: str) -> str:
    return " | ".join(" … ".join(s.text(text) for s in mark) for mark in marks)


def disagreements_page(corpus: Corpus, rows: Sequence[Disagreement]) -> str:
    """Return a page with every disagreement side by side, in the note it is about."""
    sections = []
    for place, note_id in enumerate(dict.fromkeys(row.note for row in rows), start=1):
        own = [row for row in rows if row.note == note_id]
        text = corpus.note(note_id).text
        who = list(dict.fromkeys(one for row in own for one in row.annotators))
        sides = Sides(who[0], ", ".join(who[1:]))
        marks = [
            NoteMark(number, corpus.feature(row.feature).text, side, mark)
            for number, row in enumerate(own, start=1)
            for one, found in zip(row.annotators, row.marks, strict=True)
            for side in ("reference" if one == who[0] else "predicted",)
            for mark in found
        ]
        cells = [dict(zip(row.annotators, row.marks, strict=True)) for row in own]
        table = html_table(
            ["no.", "feature", *who],
            [
                (str(k), f"{r.feature} {corpus.feature(r.feature).text}",
                 *(_words(found.get(one, ()), text) or "–" for one in who))
                for k, (r, found) in enumerate(zip(own, cells, strict=True), start=1)
            ],
            sortable=False,
        )  # fmt: skip
        body = table + legend_html(sides) + highlight_note(text, marks, sides=sides)
        sections.append(Section(f"note-{place}", f"Note {note_id}", body))
    if not rows:
        sections = [Section("none", "None", paragraph("There is nothing left to decide."))]
    n_notes = len({row.note for row in rows})
    lead = f"{len(rows)} rows in {n_notes} notes need a curator's decision."
    return render_page("Disagreements", sections, lead=lead)


def write_provenance(path: Path, found: Settlement) -> None:
    """Write who decided each row of a reference, and which rows nobody decided."""
    header = ("note", "feature", "spans", "decided_by", "choice", "decided_at", "comment")
    lines = [
        (s.note, s.feature, marks_text(s.marks), s.decided_by, s.choice, s.decided_at, s.comment)
        for s in found.settled
    ]
    lines += [(r.note, r.feature, "", "undecided", "", "", "") for r in found.undecided]
    write_table(path, header, sorted(lines))
