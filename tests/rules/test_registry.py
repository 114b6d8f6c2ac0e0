"""Words that speak of a feature and say otherwise; most of it stands in the cases of the rules."""

from __future__ import annotations

import pytest
from marked_words import read, told

from rubricate.reading.note import read_note
from rubricate.requirement.requirement import read_requirement
from rubricate.rules.registry import explain_contradiction, why_contradicted, why_contradicted_in


def why(feature: str, marked: str) -> str | None:
    """Return the reason for the words between brackets."""
    return why_contradicted(feature, *read(marked))


def test_every_alternative_must_be_contradicted() -> None:
    text = "Denies fever. Has chills."
    assert why_contradicted("Fever OR chills", text, [(7, 12)]) == "denied"
    assert why_contradicted("Fever OR no fever", text, [(7, 12)]) is None


def test_words_outside_the_text_contradict_nothing() -> None:
    assert why_contradicted("Fever", "", [(0, 5)]) is None
    assert why_contradicted("Fever", "no fever", []) is None


def test_looks_at_few_words_around_however_long_the_clause() -> None:
    text = "pain " * 20_000
    assert why_contradicted("Left knee pain", text, [(50_000, 50_004)]) is None
    assert len(read_note(text).tokens) == 20_000


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Coughing up blood", "Dry cough, [[no hemoptysis]], no fever", "denied"),
        ("Lost consciousness", "[[No LOC]], no HA", "denied"),
        ("Fever", "BP 120/80, [[afebrile]]", "denied"),
        ("Emergency contraception", "[[never used morning after pill]]", "denied"),
        ("Was not wearing a helmet", "[[Helmet worn]].", "says it is there"),
        ("Unilateral wrist pain", "[[pain in both wrists]]", "says both"),
        ("Pain improves with sitting", "[[worse with coughing and sitting]]", "says worse"),
        ("Weight gain", "She has [[lost 8 lb without trying]]", "says loss"),
        ("On an SGLT2 inhibitor", "I [[discussed adding empagliflozin]]", "only advised"),
        ("Depressed mood", "[[Mood is good]]", "says good"),
        ("Mother with gout", "[[gout in his brother]]", "brother's"),
        ("Breastfed", "[[Formula fed]] from birth", "says formula"),
        ("Nulliparous", "[[Three children]], all well", "says Three children"),
        ("Penicillin allergy", "Has [[asthma. Allergic to]] codeine", "says otherwise"),
        ("Hysterectomy", "[[She has her womb and both ovaries]]", "says otherwise"),
        ("Fever OR chills", "[[no chills]]", "denied"),
        ("Knee pain for 2 weeks", "[[knee pain]] for 3 months", "says 3 months"),
    ],
)
def test_every_known_contradiction_has_a_reason(feature: str, marked: str, reason: str) -> None:
    text, spans = read(marked)
    assert told(explain_contradiction(read_requirement(feature), read_note(text), spans)) == reason


def test_words_that_deny_are_denied_beside_whomever() -> None:
    text, spans = read("FH: father MI, [[no nausea]]")
    assert (
        told(explain_contradiction(read_requirement("Nausea"), read_note(text), spans)) == "denied"
    )


def test_no_words_have_no_reason() -> None:
    assert explain_contradiction(read_requirement("Fever"), read_note("no fever"), []) is None


@pytest.mark.parametrize(
    ("feature", "fitting", "other"),
    [
        ("Age 65 or older", "[[72-year-old]] man", "[[60-year-old]] man"),
        ("Fever five days or longer", "[[fever for six days]]", "[[fever for 2 days]]"),
        ("Stone larger than 5 mm", "[[8 mm stone]]", "[[3 mm stone]]"),
        ("Stone smaller than 5 mm", "[[3 mm stone]]", "[[8 mm stone]]"),
        ("Heart attack in the past year", "[[MI 6 months ago]]", "[[MI 6 years ago]]"),
        ("Jaundice in first 24 hours", "[[yellow at 14 h]]", "[[yellow at 4 days]]"),
    ],
)
def test_a_bound_is_kept_by_all_beyond_it(feature: str, fitting: str, other: str) -> None:
    assert why(feature, fitting) is None
    assert (why(feature, other) or "").startswith("says ")


def test_the_hand_one_writes_with_is_no_side_of_a_symptom() -> None:
    assert why("Left arm weakness", "right hand dominant man with [[arm weakness]]") is None


def test_only_the_rules_named_are_gone_by() -> None:
    text, spans = read("Denies [[left knee pain]]")
    assert why_contradicted("Right knee pain", text, spans) == "denied"
    assert why_contradicted("Right knee pain", text, spans, ["another side"]) == "says left"
    assert why_contradicted("Knee pain", text, spans, ["another side"]) is None


def test_words_known_to_stand_for_the_feature_are_denied_as_it_is() -> None:
    text = "No LOC."
    meant = frozenset(("loss", "consciousness"))
    assert why_contradicted("Loss of consciousness", text, [(3, 6)]) is None
    reading = read_note(text)
    said = told(
        why_contradicted_in(
            reading, read_requirement("Loss of consciousness"), [(3, 6)], meant=meant
        )
    )
    assert said == "denied"


@pytest.mark.parametrize("text", ["start 10:10, pain 6/10", "Start: 3 days ago, constant pain"])
def test_when_something_started_is_no_order(text: str) -> None:
    assert why_contradicted("Pain", text, [(0, len(text))], ["not meant"]) is None
    ordered = "Start morphine, pain 6/10"
    assert why_contradicted("Takes morphine", ordered, [(0, 14)], ["not meant"]) == "only advised"


def test_an_order_states_that_something_was_begun() -> None:
    order, weighed = "Plan: [[add empagliflozin 10]].", "Plan: [[consider empagliflozin]]."
    assert why("Started on an SGLT2 inhibitor", order) is None
    assert why("Takes an SGLT2 inhibitor", order) == "only advised"
    assert why("Started on an SGLT2 inhibitor", weighed) == "only advised"
