"""One place decides, from claims alone, by the table of precedence."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from rubricate.rules import adjudicate as module
from rubricate.rules.adjudicate import Ask, adjudicate
from rubricate.rules.findings import BY_MATCHER, Against, Candidate, Claim, Proposal
from rubricate.rules.precedence import PROFILES, precedence, stages
from rubricate.rules.reasons import Reason

ONE = Candidate(((0, 4),), 0.9, (Reason("network.words", "90%", "80%"),))
OTHER = Candidate(((10, 14),), 0.7, ())
DENIED = Against(((20, 30),), 0.9, (Reason("polarity.denied"),))


def told(*claims: Claim) -> Ask:
    """Return the answer to each question, given some claims of its rules."""
    rules = {q: {row.rule for row in precedence() if row.question == q} for q in questions()}

    def ask(
        asked: Sequence[str], candidates: Sequence[Candidate], against: Against | None
    ) -> list[Claim]:
        own = set().union(*(rules[one] for one in asked))
        return [x for x in claims if x.rule in own and (x.of is None or x.of in candidates)]

    return ask


def questions() -> set[str]:
    return {row.question for row in precedence()}


def broken(one: Candidate) -> Claim:
    return Claim("side.other", "contradicts", one.spans, "left", one)


def test_it_imports_nothing_that_reads_text() -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    allowed = {"rules.findings", "rules.precedence", "rules.reasons", "spans"}
    own = {one for one in imported if one.startswith("rubricate")}
    assert own == {f"rubricate.{one}" for one in allowed}


@pytest.mark.parametrize("profile", PROFILES)
def test_without_claims_a_proposal_is_the_decision(profile: str) -> None:
    for proposal in (Proposal((ONE,), 0.8), Proposal((), 0.1, DENIED), Proposal()):
        said = adjudicate(proposal, told(), profile)
        assert said.evidence == proposal.candidates
        assert (said.probability, said.against) == (proposal.presence, proposal.against)
        assert said.decided_by == BY_MATCHER


def test_a_contradiction_by_a_rule_of_the_matcher_is_told_by_its_code() -> None:
    by_rule = DENIED._replace(probability=None)
    assert adjudicate(Proposal((), 0.1, by_rule), told(), "lexicon").decided_by == "polarity.denied"


def test_only_if_all_words_are_contradicted_the_item_is() -> None:
    said = adjudicate(Proposal((ONE, OTHER), 0.8), told(broken(ONE)), "network")
    assert (said.outcome, said.evidence) == ("stated", (ONE, OTHER))
    said = adjudicate(Proposal((ONE, OTHER), 0.8), told(broken(ONE), broken(OTHER)), "network")
    assert said.against == Against(ONE.spans, None, (Reason("side.other", "left"),))
    assert (said.evidence, said.probability, said.stage) == ((), 0.05, 40)


def test_words_of_another_time_leave_and_are_no_contradiction() -> None:
    gone = Claim("time.before", "irrelevant", OTHER.spans, of=OTHER)
    said = adjudicate(Proposal((ONE, OTHER), 0.8), told(gone), "network")
    assert said.evidence == (ONE,)
    said = adjudicate(Proposal((OTHER,), 0.8), told(gone), "network")
    assert (said.outcome, said.probability, said.decided_by) == (
        "not mentioned",
        0.05,
        "time.before",
    )


def test_crumbs_leave_only_if_other_words_are_left() -> None:
    crumb = Claim("words.crumbs", "irrelevant", OTHER.spans, of=OTHER)
    assert adjudicate(Proposal((ONE, OTHER), 0.8), told(crumb), "vote").evidence == (ONE,)
    assert adjudicate(Proposal((OTHER,), 0.8), told(crumb), "vote").evidence == (OTHER,)


def test_a_test_in_the_plan_is_stated_by_its_words_or_by_those_found_there() -> None:
    plan = Claim("test.ordered", "states", ((12, 18),))
    said = adjudicate(Proposal((ONE,), 0.8), told(plan), "network")
    assert [one.spans for one in said.evidence] == [((12, 18),)]
    assert said.evidence[0].reasons == (Reason("test.ordered"),)
    said = adjudicate(Proposal((OTHER,), 0.99), told(plan), "network")
    assert (said.evidence, said.probability) == ((OTHER,), 0.99)


def test_a_plan_overrules_what_contradicts_and_measured_values_overrule_a_plan() -> None:
    plan = Claim("plan.started", "states", ONE.spans)
    said = adjudicate(Proposal((ONE,), 0.8), told(plan, broken(ONE)), "network")
    assert (said.outcome, said.decided_by) == ("stated", "plan.started")
    value = Claim("value.measured", "contradicts", ((40, 46),), "T 36.6")
    said = adjudicate(Proposal((ONE,), 0.8), told(plan, value), "network")
    assert (said.outcome, said.decided_by) == ("contradicted", "value.measured")


def test_a_measured_value_replaces_values_beside_it() -> None:
    value = Claim("measured.states", "states", ((40, 46),), "HR 118")
    only = Claim("measured.only", "irrelevant", OTHER.spans, of=OTHER)
    said = adjudicate(Proposal((ONE, OTHER), 0.8), told(value, only), "network")
    assert [one.spans for one in said.evidence] == [ONE.spans, ((40, 46),)]
    # It also takes back that the words contradict the feature.
    said = adjudicate(Proposal((ONE,), 0.8), told(value, broken(ONE)), "network")
    assert (said.outcome, said.probability) == ("stated", 0.95)


def test_a_diagnosis_that_the_assessment_denies_is_contradicted_if_nothing_is_left() -> None:
    denied = Claim("diagnosis.denied", "contradicts", ((30, 34),))
    elsewhere = Claim("diagnosis.elsewhere", "irrelevant", ONE.spans, of=ONE)
    said = adjudicate(Proposal((ONE,), 0.8), told(denied, elsewhere), "network")
    assert said.against == Against(((30, 34),), None, (Reason("diagnosis.denied"),))
    assert adjudicate(Proposal((ONE,), 0.8), told(denied), "network").evidence == (ONE,)
    vouched = Claim("diagnosis.vouched", "states", ONE.spans, of=ONE)
    assert adjudicate(Proposal((ONE,), 0.8), told(vouched, broken(ONE)), "network").evidence == (
        ONE,
    )


def test_a_literal_mention_beats_silence_and_disputes_a_network() -> None:
    own = Claim("literal.own", "states", ((50, 60),))
    said = adjudicate(Proposal((), 0.1), told(own), "network")
    assert (said.outcome, said.probability) == ("stated", 0.75)
    assert adjudicate(Proposal((ONE,), 0.9), told(own), "network").evidence == (ONE,)
    disputed = Claim("literal.disputed", "doubts", ((50, 60),), "fever")
    said = adjudicate(Proposal((), 0.1, DENIED), told(disputed), "network")
    assert (said.outcome, said.probability) == ("contradicted", 0.3)
    assert said.against is not None
    assert said.against.reasons == (*DENIED.reasons, Reason("literal.disputed", "fever"))
    # A rule is surer than a mention.
    by_rule = Proposal((), 0.05, DENIED._replace(probability=None))
    assert adjudicate(by_rule, told(disputed), "network").probability == 0.05


def test_an_answer_is_evidence_whatever_it_says() -> None:
    answer = Claim("asked.answered", "states", DENIED.spans)
    said = adjudicate(Proposal((), 0.1, DENIED), told(answer), "phrases")
    assert (said.outcome, said.probability, said.against) == ("stated", 0.9, None)
    assert said.evidence[0].reasons == (Reason("asked.answered"), *DENIED.reasons)


def test_a_rule_that_no_row_gives_a_profile_decides_nothing() -> None:
    assert adjudicate(Proposal((ONE,), 0.8), told(broken(ONE)), "learned").evidence == (ONE,)


def test_each_stage_has_each_rule_once() -> None:
    for profile in PROFILES:
        for stage in stages(profile):
            rules = [row.rule for row in precedence()
                     if row.stage == stage.number and profile in row.profiles]  # fmt: skip
            assert len(rules) == len({*rules}) == len(stage.rows) + len(stage.noted)
