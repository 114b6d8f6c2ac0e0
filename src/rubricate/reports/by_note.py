"""Note by note: the notes that cost most, and the differences of two sides' scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from rubricate.arrays import F64
from rubricate.corpus import Annotation, Corpus, Note
from rubricate.display import counted
from rubricate.evaluation import Evaluation
from rubricate.reports.highlight import (
    NoteMark,
    Side,
    Sides,
    highlight_excerpt,
    highlight_note,
    legend_html,
)
from rubricate.reports.page import figure, folded, number_text, paragraph, percent
from rubricate.reports.plots import Labels, difference_plot
from rubricate.stats import limits_of_agreement


@dataclass(frozen=True, slots=True)
class MarkedRow:
    """One feature of a note: both sides' marks, and the characters only one of them marked."""

    number: int
    feature: str
    marks: tuple[NoteMark, ...]
    n_false: int
    n_missed: int

    @property
    def n_wrong(self) -> int:
        """Characters that one side marked and the other did not."""
        return self.n_false + self.n_missed


@dataclass(frozen=True, slots=True)
class MarkSource:
    """Corpora of the marks of an evaluation: the reference and the other side."""

    evaluation: Evaluation
    reference: Corpus
    predicted: Corpus
    sides: Sides


def costly_notes(sources: Sequence[MarkSource], limit: int, *, legend: Sides | None = None) -> str:
    """Return the notes with the most wrong characters (false and missed), the worst first."""
    ranked, total = _rank(sources)
    shown = ranked[:limit]
    if not shown:
        return paragraph("No character is marked by one side alone: there is nothing to show.")
    share = sum(wrong for wrong, _, _ in shown) / total
    each = " (a note counts for each pair)" if len(sources) > 1 else ""
    said = (
        f"The sides differ in {counted(len(ranked), 'note')}{each}. The {len(shown):,} with the "
        f"most characters marked by one side alone follow; they hold {percent(share)} of all such "
        "characters."
    )
    parts = [paragraph(said), legend_html(legend or shown[0][1].sides)]
    for place, (wrong, source, note) in enumerate(shown):
        parts.append(_note_part(source, note, wrong, is_open=place < 2))
    return "".join(parts)


def _rank(sources: Sequence[MarkSource]) -> tuple[list[tuple[int, MarkSource, int]], int]:
    """Return (wrong characters, source, note) of all notes with any, and their total."""
    found = []
    for source in sources:
        table = source.evaluation.characters
        wrong = table.column("fp") + table.column("fn")
        by_note = np.bincount(table.keys.note, weights=wrong, minlength=len(table.keys.notes))
        found += [(int(by_note[i]), source, int(i)) for i in np.flatnonzero(by_note)]
    found.sort(key=lambda one: (-one[0], one[2]))
    return found, sum(wrong for wrong, _, _ in found)


def marked_rows(source: MarkSource, note: Note) -> list[MarkedRow]:
    """Return every judged feature of a note with the marks of both sides, in rubric order."""
    table = source.evaluation.characters
    keys = table.keys
    rows = np.flatnonzero(keys.note == source.reference.note_index[note.id])
    numbers = {f.id: i for i, f in enumerate(source.reference.rubric(note.case), 1)}
    found = []
    for row in rows.tolist():
        feature = source.reference.feature(keys.features[int(keys.feature[row])])
        number = numbers.setdefault(feature.id, len(numbers) + 1)
        marks = [
            *_marks(source.reference, source.evaluation.reference_annotator, note, feature.id,
                    (number, feature.text, "reference")),
            *_marks(source.predicted, source.evaluation.predicted_annotator, note, feature.id,
                    (number, feature.text, "predicted")),
        ]  # fmt: skip
        false, missed = int(table.column("fp")[row]), int(table.column("fn")[row])
        found.append(MarkedRow(number, feature.text, tuple(marks), false, missed))
    return sorted(found, key=lambda one: one.number)


def _marks(
    corpus: Corpus, annotator: str, note: Note, feature: str, named: tuple[int, str, Side]
) -> list[NoteMark]:
    number, label, side = named
    if note.id not in corpus.note_index or feature not in corpus.feature_index:
        return []
    found = corpus.annotations(note.id, feature, annotator) or ()
    return [NoteMark(number, label, side, a.spans, _remark(a)) for a in found]


def _remark(annotation: Annotation) -> str:
    said = [annotation.detail.reason] if annotation.detail.reason else []
    if annotation.confidence is not None:
        said.append(f"confidence {annotation.confidence:.2f}")
    return ", ".join(said)


def _note_part(source: MarkSource, place: int, wrong: int, *, is_open: bool) -> str:
    note = source.reference.notes[place]
    rows = marked_rows(source, note)
    title = source.reference.rubric(note.case).title
    false, missed = sum(r.n_false for r in rows), sum(r.n_missed for r in rows)
    sides = source.sides
    summary = (
        f"Note {note.id}, case {note.case}{f' ({title})' if title else ''}: "
        f"{number_text(wrong)} characters differ: {number_text(missed)} {sides.reference} only, "
        f"{number_text(false)} {sides.predicted} only"
    )
    marks = [mark for row in rows for mark in row.marks]
    body = highlight_note(note.text, marks, sides=sides) + _difference_table(rows, note.text, sides)
    return folded(
        summary, f"<div data-note>{body}{_agreed(rows)}</div>", is_open=is_open, in_print=True
    )


def _difference_table(rows: Sequence[MarkedRow], text: str, sides: Sides) -> str:
    lines = []
    for row in sorted(rows, key=lambda r: -r.n_wrong):
        if not row.n_wrong:
            continue
        remarks = sorted({mark.remark for mark in row.marks if mark.remark})
        why = f'<span class="ci">{escape("; ".join(remarks))}</span>' if remarks else ""
        lines.append(
            f'<tr data-f="{row.number}"><th scope="row" class="n">{row.number}</th>'
            f"<td>{escape(row.feature)}</td>"
            f"<td>{highlight_excerpt(text, row.marks, sides=sides)}{why}</td>"
            f'<td class="n">{number_text(row.n_missed)}</td>'
            f'<td class="n">{number_text(row.n_false)}</td></tr>'
        )
    return (
        '<div class="scroll"><table><thead><tr><th class="n" scope="col">#</th>'
        '<th scope="col">Feature</th><th scope="col">In the note</th>'
        f'<th class="n" scope="col">{escape(sides.reference)} only</th>'
        f'<th class="n" scope="col">{escape(sides.predicted)} only</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _agreed(rows: Sequence[MarkedRow]) -> str:
    same = [str(row.number) for row in rows if not row.n_wrong and row.marks]
    absent = [str(row.number) for row in rows if not row.marks]
    said = []
    if same:
        said.append(f"The same on both sides: {', '.join(same)}.")
    if absent:
        said.append(f"Absent on both sides: {', '.join(absent)}.")
    return paragraph(" ".join(said), class_="aside") if said else ""


def presence_scores(found: Evaluation, corpus: Corpus) -> tuple[F64, F64]:
    """Return each note's score on both sides: the weights of the features that are present.

    Only features that both sides judged count.
    """
    keys, cells = found.presence.keys, found.presence.values
    weight = np.array([corpus.feature(feature).weight for feature in keys.features])[keys.feature]
    notes, note = np.unique(keys.note, return_inverse=True)
    first, second = (
        np.bincount(note, weight * cells[:, columns].sum(axis=1), len(notes)).astype(np.float64)
        for columns in ([0, 2], [0, 1])
    )
    return first, second


def difference_figure(first: F64, second: F64, names: tuple[str, str], confidence: float) -> str:
    """Draw the differences of two sides' scores; "" where fewer than two notes have them."""
    if len(first) < 2:
        return ""
    if (first == second).all():
        same = f"{names[0]} and {names[1]} give each of {len(first):,} notes the same score."
        return paragraph(same)
    found = limits_of_agreement(first, second, confidence=confidence)
    one, two = names
    lines = [("bias", found.bias), ("lower", found.low), ("upper", found.high)]
    said = (
        f"{two} gives {found.bias.value:+.2f} points on average compared with {one}; 95 % of the "
        f"differences lie between {found.low.value:+.2f} and {found.high.value:+.2f}"
    )
    labels = Labels(f"Scores: {two} minus {one}", "mean of both scores", "difference", f"{said}.")
    caption = (
        f"{said} ({len(first):,} notes; Bland & Altman 1986). Bands are {100 * confidence:g} % "
        "intervals; larger dots are several notes. A score is the sum of the weights of the "
        "features that are present, of those both sides judged."
    )
    drawing = difference_plot(first.tolist(), second.tolist(), lines, labels)
    return paragraph("Scores, note by note", class_="subhead") + figure(drawing, caption)
