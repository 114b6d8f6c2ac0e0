"""Pages for people: one HTML file each, with plots, tables and highlighted notes."""

from __future__ import annotations

from rubricate.reports.agreement import agreement_page
from rubricate.reports.annotating import annotation_page, write_annotation_pages
from rubricate.reports.comparison import comparison_page
from rubricate.reports.evaluation import write_evaluation_report
from rubricate.reports.fairness import write_fairness_report
from rubricate.reports.highlight import NoteMark, Sides, highlight_note, legend_html
from rubricate.reports.page import (
    Cell,
    Section,
    facts_table,
    figure,
    figures,
    folded,
    html_table,
    paragraph,
    render_page,
    write_report,
)
from rubricate.reports.training import training_page, write_training_report

__all__ = [
    "Cell",
    "NoteMark",
    "Section",
    "Sides",
    "agreement_page",
    "annotation_page",
    "comparison_page",
    "facts_table",
    "figure",
    "figures",
    "folded",
    "highlight_note",
    "html_table",
    "legend_html",
    "paragraph",
    "render_page",
    "training_page",
    "write_annotation_pages",
    "write_evaluation_report",
    "write_fairness_report",
    "write_report",
    "write_training_report",
]
