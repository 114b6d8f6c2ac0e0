"""The analysis gathers what the single readers find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rubricate.spans import Span
from rubricate.text.analysis import analyse
from rubricate.text.negation import find_negations
from rubricate.text.quantities import find_quantities
from rubricate.text.sections import find_sections
from rubricate.text.subject import find_contexts
from rubricate.text.words import find_tokens

NOTE = (
    "HPI: 58 yo M c/o substernal chest pressure x 3 wks, 5 min/episode, 6/10, worse w/ exertion and"
    " relieved by rest. This week 2 episodes at rest. + SOB and sweating. Denies palpitations,"
    " syncope, N/V, orthopnea, or leg swelling. Tried antacids with no relief.\n"
    "PMH: HTN x 10 y, hyperlipidemia (stopped statin 6 months ago because of muscle aches). No h/o"
    " DM.\nPSH: none. Meds: lisinopril 10 mg daily. NKDA.\n"
    "FHx: father died of MI at 52; mother alive, has DM.\n"
    "SHx: smokes 1 ppd for 35 years, beer on weekends, no drugs. Accountant, lives with wife.\n"
)


@given(st.text(max_size=60) | st.just(NOTE))
def test_the_parts_are_those_of_the_readers(text: str) -> None:
    analysis = analyse(text)
    assert list(analysis.tokens) == find_tokens(text)
    assert list(analysis.sections) == find_sections(text)
    assert list(analysis.quantities) == find_quantities(text)
    assert list(analysis.negations) == find_negations(text)
    assert list(analysis.contexts) == find_contexts(text)


def test_lookups_by_place() -> None:
    analysis = analyse(NOTE)

    def place(words: str) -> Span:
        start = NOTE.index(words)
        return Span(start, start + len(words))

    negation = analysis.negation_of(place("leg swelling"))
    assert negation is not None
    assert negation.cue_span.text(NOTE) == "Denies"
    assert analysis.negation_of(place("sweating")) is None
    assert {context.kind for context in analysis.contexts_of(place("MI at 52"))} == {"family"}
    assert analysis.contexts_of(place("SOB")) == []
    section = analysis.section_of(place("lisinopril"))
    assert section is not None
    assert section.name == "medications"
