"""The Results of a study's report: tables like the paper's, and the system beside its ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricate.reports.plots import ForestGroup, ForestRow, Labels, forest_plot
from rubricate.study.blocks import Block, Figure, Paragraph, Table, point
from rubricate.study.evaluation import half_widths
from rubricate.study.methods import Facts

_NAMES = ("precision", "recall", "f1")


def results_blocks(facts: Facts) -> list[Block]:
    """Return the Results: detections, agreement, performance, and the ceiling."""
    lines = [line for line in facts["evaluate"]["variables"] if line["notes"]]
    confidence = f"{facts['evaluate']['confidence']:.0%} interval"
    return [
        Table(
            "Table 1. Notes of the sample in which each variable was found by the annotators "
            "(reference) and by the system.",
            ["variable", "notes judged", "manual annotations", "system detections"],
            [(_named(line), line["notes"], line["manual"], line["detections"]) for line in lines],
        ),
        *_agreement(facts),
        _sentence(facts),
        Table(
            f"Table 3. Performance in finding each variable in a note, with {confidence}.",
            ["variable", "precision", "recall", "F1"],
            [(_named(line), *(point(line["presence"][n]) for n in _NAMES)) for line in lines],
        ),
        _performance_figure(lines),
        Table(
            f"Table 4. Performance in marking the words, by character, with {confidence}. "
            "A value without interval did not vary from note to note.",
            ["variable", "precision", "recall", "F1", "F1 of exact spans"],
            [
                (_named(line), *(point(line["characters"][n]) for n in _NAMES),
                 point(line["spans_exact"]["f1"]))
                for line in lines
            ],
        ),
        *_ceiling(lines),
        *_ceiling_figure(facts, lines),
    ]  # fmt: skip


def _named(line: Mapping[str, Any]) -> str:
    primary = " (primary variable)" if line["role"] == "primary" else ""
    return f"{line['variable']}{primary}"


def _agreement(facts: Facts) -> list[Block]:
    found = facts["collect"]["agreement"]
    if not found["variables"]:
        return [Paragraph("No note was annotated twice, so agreement is unknown.")]
    low, undefined = found["low"], found.get("undefined", [])
    said = (
        f"Agreement was below {found['threshold']:g} for {', '.join(low)}; the annotators may "
        "have had difficulties with these, or the guidelines do not describe them well enough."
        if low
        else f"Agreement was at least {found['threshold']:g} for every variable anybody marked."
    )
    if undefined:
        said += f" It is undefined for {', '.join(undefined)}, which nobody marked."
    return [
        Table(
            f"Table 2. Agreement of annotators on {found['notes']:,} notes, with "
            f"{found['confidence']:.0%} interval.",
            ["variable", "notes", "both", "only one", "presence F1", "kappa", "characters F1"],
            [
                (_named(line), line["notes"], line["both"],
                 line["first_only"] + line["second_only"], point(line["presence_f1"]),
                 line["presence_kappa"], point(line["characters_f1"]))
                for line in found["variables"]
            ],
        ),
        Paragraph(said),
    ]  # fmt: skip


def _sentence(facts: Facts) -> Paragraph:
    width = facts["evaluate"]["width"]
    primary = next(v for v in facts["evaluate"]["variables"] if v["role"] == "primary")
    values = [point(primary["presence"][name]) for name in ("precision", "recall")]
    return Paragraph(
        f"For the primary variable, {primary['variable']}, precision was {values[0]} and recall "
        f"{values[1]}. The half widths ({half_widths(width)}) "
        f"{'meet' if width['met'] else 'do not both meet'} the planned ±{width['planned']:g}."
    )


def _performance_figure(lines: list[Mapping[str, Any]]) -> Figure:
    rows = tuple(
        ForestRow(
            _named(line),
            tuple(point(line["presence"][name]) for name in _NAMES),
            f"n = {line['notes']:,}",
        )
        for line in lines
    )
    words = "Precision, recall and F1 of presence for each variable, with intervals."
    svg = forest_plot(
        [ForestGroup("", rows)], ["precision", "recall", "F1"],
        Labels("Performance by variable", "value", description=words),
    )  # fmt: skip
    return Figure("performance", svg, words)


def _ceiling(lines: list[Mapping[str, Any]]) -> list[Block]:
    compared = [line for line in lines if line.get("ceiling")]
    if not compared:
        return []
    table = Table(
        "Table 5. The system's F1 beside the annotators' on the notes annotated twice (without "
        "weights); the difference is system minus annotators.",
        ["variable", "notes", "presence: system", "annotators", "difference",
         "characters: system", "annotators", "difference"],
        [
            (_named(line), line["ceiling"]["presence"]["notes"],
             *(cell for kind in ("presence", "characters")
               for cell in (line["ceiling"][kind]["system_f1"],
                            line["ceiling"][kind]["ceiling_f1"],
                            point(line["ceiling"][kind]["difference"]))))
            for line in compared
        ],
    )  # fmt: skip
    below = [
        line["variable"] for line in compared
        if (point(line["ceiling"]["characters"]["difference"]).high) < 0
    ]  # fmt: skip
    said = (
        f"By characters the system stays below its annotators for {', '.join(below)}: the whole "
        "interval of the difference is negative."
        if below
        else "By characters the system is not clearly below its annotators for any variable."
    )
    return [table, Paragraph(said)]


def _ceiling_figure(facts: Facts, lines: list[Mapping[str, Any]]) -> list[Block]:
    humans = {v["variable"]: v for v in facts["collect"]["agreement"]["variables"]}
    rows = tuple(
        ForestRow(
            _named(line),
            (point(line["characters"]["f1"]), point(humans[line["variable"]]["characters_f1"])),
        )
        for line in lines
        if line["variable"] in humans
    )
    if not rows:
        return []
    words = "F1 by character of the system (weighted) and of the annotators against each other."
    svg = forest_plot(
        [ForestGroup("", rows)], ["system", "annotators"],
        Labels("The system and its ceiling", "F1 of characters", description=words),
    )  # fmt: skip
    return [Figure("ceiling", svg, words)]
