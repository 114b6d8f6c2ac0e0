"""Disagreements laid out for a curator, and the curator's decisions read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Annotator, Corpus
from rubricate.errors import Fault, InputError
from rubricate.formats import read_corpus, write_corpus
from rubricate.reports import (
    NoteMark,
    Section,
    Sides,
    highlight_note,
    html_table,
    legend_html,
    paragraph,
    render_page,
)
from rubricate.spans import Span
from rubricate.study.curation import (
    CHOICES,
    Disagreement,
    Marks,
    Settled,
    list_rows,
    settle_by_choice,
    settle_by_rules,
)
from rubricate.study.record import StepResult, Study, run_step
from rubricate.study.summaries import CurateSummary
from rubricate.study.tables import read_table, write_table

#: Where the curator's decisions lie, unless told otherwise.
DECISIONS = "4-reference/decisions.csv"
REFERENCE = "reference"
COLUMNS = (
    "note", "feature", "feature_text", "first_annotator", "first_spans", "first_text",
    "second_annotator", "second_spans", "second_text",
    "decision", "spans", "decided_by", "decided_at", "comment",
)  # fmt: skip


def marks_text(marks: Marks) -> str:
    """Write annotations as ``0 8;10 14|20 25``: fragments by ``;``, annotations by ``|``.

    Examples
    --------
    >>> marks_text(((Span(0, 8), Span(10, 14)), (Span(20, 25),)))
    '0 8;10 14|20 25'
    """
    return "|".join(";".join(f"{s.start} {s.end}" for s in mark) for mark in marks)


def parse_marks(text: str) -> Marks:
    """Read what `marks_text` writes (ValueError where it is something else).

    Examples
    --------
    >>> parse_marks("0 8;10 14|20 25") == ((Span(0, 8), Span(10, 14)), (Span(20, 25),))
    True
    """
    marks = []
    for part in text.split("|") if text.strip() else ():
        pairs = [fragment.split() for fragment in part.split(";")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("spans are written as START END, e.g. 0 8;10 14|20 25")
        marks.append(tuple(sorted(Span(int(a), int(b)) for a, b in pairs)))
    return tuple(marks)


def read_decisions(path: Path, rows: Mapping[tuple[str, str], Disagreement],
                   corpus: Corpus) -> dict[tuple[str, str], Settled]:  # fmt: skip
    """Read a curator's decisions: ``disagreements.csv`` with its last columns filled in.

    A line without decision is left undecided. ``decision`` is first, second, union,
    intersection, none, or spans (then ``spans`` says which). ``decided_by`` is a must.
    """
    lines = read_table(path, ["note", "feature", "decision", "decided_by"])
    found: dict[tuple[str, str], Settled] = {}
    faults: list[Fault] = []
    for number, line in enumerate(lines, start=1):
        value = {name: line.get(name, "").strip() for name in COLUMNS}
        if not value["decision"]:
            continue
        key = value["note"], value["feature"]
        problems = _line_faults(value, rows.get(key), corpus)
        if key in found:
            problems.append(f"note {key[0]!r}, feature {key[1]!r} is decided twice")
        faults += [Fault(problem, path, number, "row") for problem in problems]
        if problems:
            continue
        marks = settle_by_choice(rows[key], value["decision"], parse_marks(value["spans"]))
        found[key] = Settled(
            *key, marks, value["decided_by"], value["decision"], value["decided_at"],
            value["comment"],
        )  # fmt: skip
    if faults:
        raise InputError(faults)
    return found


def _line_faults(value: Mapping[str, str], row: Disagreement | None, corpus: Corpus) -> list[str]:
    """Return what is wrong with one decision."""
    if row is None:
        return [f"note {value['note']!r}, feature {value['feature']!r} was not judged twice"]
    found = []
    if value["decision"] not in CHOICES:
        found.append(f"decision is {value['decision']!r}: it must be one of {', '.join(CHOICES)}")
    if not value["decided_by"]:
        found.append("decided_by is missing: say who decided")
    length = len(corpus.note(row.note).text)
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
        raise InputError(f"{place}: no such file")
    corpus = read_corpus(study.output("collect", "annotations.jsonl"), format="jsonl")
    double, single = list_rows(corpus)
    by_rule = [settle_by_rules(row, rules) for row in double]
    disputed = [row for row, settled in zip(double, by_rule, strict=True) if settled is None]
    listed = _list_disagreements(study, corpus, disputed, overwrite=overwrite)
    decided = {}
    if place.exists():
        decided = read_decisions(place, {(r.note, r.feature): r for r in double}, corpus)
    open_rows = [row for row in disputed if (row.note, row.feature) not in decided]
    if open_rows and not allow_undecided:
        table = listed.folder / "disagreements.csv"
        raise InputError(
            f"{len(open_rows)} of {len(disputed)} disagreements are undecided. Fill in {table}, "
            f"save it as {place} and run this again, or use --allow-undecided to leave them out"
        )
    settled = [
        *single,
        *(s for s in by_rule if s is not None and (s.note, s.feature) not in decided),
        *decided.values(),
    ]

    def work(folder: Path) -> CurateSummary:
        write_corpus(reference_corpus(corpus, settled), folder / "reference.jsonl", format="jsonl")
        _write_provenance(folder / "provenance.csv", settled, open_rows)
        return {
            "rows": len(settled),
            "double": len(double),
            "disputed": len(disputed),
            "undecided": len(open_rows),
            "decided_by": dict(sorted(Counter(row.decided_by for row in settled).items())),
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
    builder = CorpusBuilder(corpus.metadata)
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    builder.add_annotator(Annotator(REFERENCE, "reference"))
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
        write_table(folder / "disagreements.csv", COLUMNS, _lines(corpus, rows))
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


def _lines(corpus: Corpus, rows: Sequence[Disagreement]) -> Iterable[Sequence[str]]:
    for row in rows:
        text = corpus.note(row.note).text
        yield (
            row.note, row.feature, corpus.feature(row.feature).text,
            row.first_annotator, marks_text(row.first), _words(row.first, text),
            row.second_annotator, marks_text(row.second), _words(row.second, text),
            "", "", "", "", "",
        )  # fmt: skip


def _words(marks: Marks, text: str) -> str:
    return " | ".join(" … ".join(s.text(text) for s in mark) for mark in marks)


def disagreements_page(corpus: Corpus, rows: Sequence[Disagreement]) -> str:
    """Return a page with every disagreement side by side, in the note it is about."""
    sections = []
    for place, note_id in enumerate(dict.fromkeys(row.note for row in rows), start=1):
        own = [row for row in rows if row.note == note_id]
        text = corpus.note(note_id).text
        sides = Sides(own[0].first_annotator, own[0].second_annotator)
        marks = []
        for number, row in enumerate(own, start=1):
            words = corpus.feature(row.feature).text
            marks += [NoteMark(number, words, "reference", mark) for mark in row.first]
            marks += [NoteMark(number, words, "predicted", mark) for mark in row.second]
        table = html_table(
            ["no.", "feature", sides.reference, sides.predicted],
            [
                (str(k), f"{r.feature} {corpus.feature(r.feature).text}",
                 _words(r.first, text) or "–", _words(r.second, text) or "–")
                for k, r in enumerate(own, start=1)
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


def _write_provenance(
    path: Path, settled: Sequence[Settled], undecided: Sequence[Disagreement]
) -> None:
    header = ("note", "feature", "spans", "decided_by", "choice", "decided_at", "comment")
    lines = [
        (s.note, s.feature, marks_text(s.marks), s.decided_by, s.choice, s.decided_at, s.comment)
        for s in settled
    ]
    lines += [(r.note, r.feature, "", "undecided", "", "", "") for r in undecided]
    write_table(path, header, sorted(lines))
