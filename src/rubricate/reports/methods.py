"""The section that says how figures were made, so that somebody else can make them again."""

from __future__ import annotations

from collections.abc import Mapping

from rubricate import __version__
from rubricate.measures.intervals import Interpreted
from rubricate.reports.page import facts_table, paragraph

RULES = (
    "Micro values come from counts summed over rows (a note and a feature that was judged). A "
    "value whose denominator is 0 is undefined and shown as a dash; means leave undefined values "
    "out. Intervals draw whole notes with replacement inside their case, so that features of one "
    "note stay together."
)
#: What agreement compares.
EVERY_PAIR = "every two annotators on the rows both judged, the earlier one as reference"


def method_section(
    systems: Mapping[str, Interpreted],
    inputs: Mapping[str, str],
    human: Interpreted | None = None,
) -> str:
    """Return rules, settings, coverage and inputs as HTML.

    Parameters
    ----------
    systems : mapping from name to Interpreted
        What was measured.
    inputs : mapping from name to hash
        What was read.
    human : Interpreted, optional
        How far annotators agree, where that was shown.
    """
    parts = [paragraph(RULES)]
    for name, found in systems.items():
        parts.append(facts_table(measuring_facts(found), caption=name))
    if human is not None:
        facts = {**measuring_facts(human), "compared": EVERY_PAIR}
        parts.append(facts_table(facts, caption="annotators"))
    parts.append(facts_table({"rubricate": __version__, **inputs}, caption="Version and inputs"))
    return "".join(parts)


def measuring_facts(found: Interpreted) -> dict[str, str]:
    """Return how an evaluation was made, in words and numbers."""
    evaluation, coverage, settings = found.evaluation, found.evaluation.coverage, found.settings
    return {
        "compared": f"{evaluation.predicted_annotator} against {evaluation.reference_annotator}",
        "notes, rows": f"{coverage.n_notes:,} notes, {coverage.n_rows:,} rows",
        "rows without prediction": f"{coverage.n_missing_rows:,} rows, "
        f"{coverage.n_missing_notes:,} whole notes",
        "left out": f"{coverage.n_unjudged_rows:,} predicted rows the reference did not judge, "
        f"{coverage.n_unknown_rows:,} of unknown notes or features",
        "span protocol": f"{evaluation.protocol}, by {evaluation.unit}",
        "intervals": f"bootstrap by note, {settings.method}, {100 * settings.confidence:g} %, "
        f"{settings.resamples:,} resamples, seed {settings.seed}",
        "weights": "none" if found.weights is None else "by the sampling design",
    }
