"""Note by note: the notes that cost most, and the differences of two sides' scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rubricate.arrays import F64
from rubricate.corpus import Corpus, Note
from rubricate.display import counted
from rubricate.evaluation import Evaluation
from rubricate.reports.blocks import Block, Figure, Fold, Legend, MarkedNote, Paragraph
from rubricate.reports.highlight import MarkedRow, NoteMark, Side, Sides
from rubricate.reports.page import number_text, percent
from rubricate.reports.plots import Labels, difference_plot
from rubricate.stats import limits_of_agreement


@dataclass(frozen=True, slots=True)
class MarkSource:
    """Corpora of the marks of an evaluation: the reference and the other side."""

    evaluation: Evaluation
    reference: Corpus
    predicted: Corpus
    sides: Sides


def costly_notes(
    sources: Sequence[MarkSource], limit: int, *, legend: Sides | None = None
) -> list[Block]:
    """Return the notes with the most wrong characters (false and missed), the worst first."""
    ranked = []
    for source in sources:
        table = source.evaluation.characters
        either = table.column("fp") + table.column("fn")
        by_note = np.bincount(table.keys.note, weights=either, minlength=len(table.keys.notes))
        ranked += [(int(by_note[i]), source, int(i)) for i in np.flatnonzero(by_note)]
    ranked.sort(key=lambda one: (-one[0], one[2]))
    shown = ranked[:limit]
    if not shown:
        return [Paragraph("Both sides marked the same characters.")]

    share = sum(wrong for wrong, _, _ in shown) / sum(wrong for wrong, _, _ in ranked)
    each = " (a note counts for each pair)" if len(sources) > 1 else ""
    said = (
        f"The sides differ in {counted(len(ranked), 'note')}{each}. Here are the {len(shown):,} "
        f"notes with most characters that only one side marked. They have {percent(share)} of all "
        "such characters."
    )
    blocks: list[Block] = [Paragraph(said), Legend(legend or shown[0][1].sides)]
    for number, (wrong, source, place) in enumerate(shown):
        note, sides = source.reference.notes[place], source.sides
        rows = marked_rows(source, note)
        title = source.reference.rubric(note.case).title
        false, missed = sum(r.n_false for r in rows), sum(r.n_missed for r in rows)
        summary = (
            f"Note {note.id}, case {note.case}{f' ({title})' if title else ''}: "
            f"{number_text(wrong)} characters differ: {number_text(missed)} {sides.reference} "
            f"only, {number_text(false)} {sides.predicted} only"
        )
        marked = MarkedNote(note.text, rows, sides)
        blocks.append(Fold(summary, [marked], is_open=number < 2, in_print=True))
    return blocks


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
    marks = []
    for one in corpus.annotations(note.id, feature, annotator) or ():
        said = [one.detail.reason] if one.detail.reason else []
        if one.confidence is not None:
            said.append(f"confidence {one.confidence:.2f}")
        marks.append(NoteMark(number, label, side, one.spans, ", ".join(said)))
    return marks


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


def difference_figure(
    first: F64, second: F64, names: tuple[str, str], confidence: float
) -> list[Block]:
    """Draw the differences of two sides' scores; nothing where fewer than two notes have them."""
    if len(first) < 2:
        return []
    if (first == second).all():
        same = f"{names[0]} and {names[1]} give each of {len(first):,} notes the same score."
        return [Paragraph(same)]
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
    return [Paragraph("Scores, note by note", "subhead"), Figure("", drawing, caption)]
