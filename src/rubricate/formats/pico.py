"""The case of the EBM-NLP corpus: participants, interventions and outcomes of a trial."""

from __future__ import annotations

from rubricate.rubric import Feature, Rubric

CASE = "pico"

#: One feature per element, in the order of the corpus's papers.
PICO = Rubric(
    CASE,
    (
        Feature("participants", CASE, "Participants"),
        Feature("interventions", CASE, "Interventions"),
        Feature("outcomes", CASE, "Outcomes"),
    ),
)

#: The tags of the CoNLL form.
TAGS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}

#: Which feature keeps a token that has several: interventions, then participants, then outcomes
#: (Nye et al. 2018, as the corpus's own tagging files do).
PRIORITY = ("interventions", "participants", "outcomes")

#: What the numbers of ``hierarchical_labels`` mean (README of the release).
SUBLABELS = {
    "participants": ("Age", "Sex", "Sample size", "Condition"),
    "interventions": (
        "Surgical", "Physical", "Pharmacological", "Educational", "Psychological", "Other",
        "Control",
    ),
    "outcomes": ("Physical", "Pain", "Mortality", "Adverse effects", "Mental", "Other"),
}  # fmt: skip


def sublabel_attributes(feature_id: str, number: int) -> tuple[tuple[str, str], ...]:
    """Return the attributes of an annotation with this sub-label.

    >>> sublabel_attributes("participants", 4)
    (('sublabel', '4'), ('sublabel name', 'Condition'))
    >>> sublabel_attributes("other", 4)
    (('sublabel', '4'),)
    """
    names = SUBLABELS.get(feature_id, ())
    named = (("sublabel name", names[number - 1]),) if 0 < number <= len(names) else ()
    return (("sublabel", str(number)), *named)
