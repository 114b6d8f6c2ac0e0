"""A decision is told with what was proposed, what was claimed, and which claim decided."""

from __future__ import annotations

import pytest

from rubricate.effects.explain import explain
from rubricate.errors import UnknownNameError
from rubricate.rules.findings import BY_MATCHER
from rubricate.rules.precedence import rule_names

NOTE = (
    "34M with left knee pain for 3 months. Denies fever, rash; HR 112. Plan: CBC today, naproxen."
)


@pytest.mark.parametrize(
    ("feature", "outcome", "decided_by"),
    [
        ("Right knee pain", "contradicted", "side.other"),
        ("Fever", "contradicted", "polarity.denied"),
        ("Tachycardia", "stated", "measured.states"),
        ("Bradycardia", "contradicted", "value.measured"),
        ("CBC ordered", "stated", "test.ordered"),
        ("Asks about fever", "stated", "asked.answered"),
        ("Left knee pain", "stated", BY_MATCHER),
        ("Nosebleeds", "not mentioned", BY_MATCHER),
    ],
)
def test_the_rule_that_decided_is_named(feature: str, outcome: str, decided_by: str) -> None:
    said = explain(NOTE, feature)
    assert (said.outcome, said.decided_by) == (outcome, decided_by)
    assert {one.rule for one in said.claims} <= set(rule_names())


def test_what_was_proposed_before_rules_is_told() -> None:
    (proposal,) = explain(NOTE, "Right knee pain").proposals
    assert proposal.by == "lexicon"
    assert "left" in [NOTE[slice(*span)] for span in proposal.against]


@pytest.mark.parametrize("matcher", ["fast", "cascade"])
def test_networks_come_after_the_lexicon(matcher: str) -> None:
    said = explain(NOTE, "CBC ordered", matcher=matcher)
    assert (said.outcome, said.decided_by) == ("stated", "test.ordered")
    assert [one.by for one in said.proposals][:2] == ["lexicon", "fast"]


def test_an_unknown_matcher_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="cascade"):
        explain(NOTE, "Fever", matcher="casscade")
