"""Certain contradictions overrule a network."""

from __future__ import annotations

import pytest
from marked_words import read, told

from rubricate.reading.note import read_note
from rubricate.requirement.requirement import read_requirement
from rubricate.rules.claims import why_surely_not
from rubricate.rules.registry import TYPE, why_contradicted
from rubricate.rules.time import says_nothing_of_now


@pytest.mark.parametrize(
    ("feature", "text", "words", "said"),
    [
        ("Chest pain", "911 for pressure in chest", "pressure in chest", "only advised"),
        ("Weight loss", "goal: lose 12 lb", "goal: lose 12 lb", "only advised"),
        ("Weight loss", "lost 12 lb", "lost 12 lb", None),
        ("Return precautions given", "return if fever", "return if fever", None),
        ("Pregnancy test positive", "UPT -, UA neg", "UPT -", "denied"),
        ("Guarding", "guarding -/rigidity +", "guarding", "denied"),
        ("Rigidity", "guarding -/rigidity +", "rigidity +", None),
        ("Clubbing", "wheeze +. Clubbing -. JVP nl", "Clubbing", "denied"),
        ("Rash", "+rash - itchy", "rash", None),
        ("Snoring", "wheeze +, cough +, fever -, rash -. Snore - per wife", "Snore", "denied"),
        (
            "Tinel sign",
            "numb +, weak +, pain -, UPT -. Tinel - at wrist",
            "Tinel - at wrist",
            "denied",
        ),
        ("Phonophobia", "N +, V +, aura -, F -. Light, - sound", "sound", "denied"),
        ("Snoring", "Snore - per wife", "Snore", None),
        ("Pruritus denied", "pruritus -, fevers -", "pruritus", None),
        ("Fever", "SN given: if fever or not better to recontact", "fever", "only in case"),
        ("Peritonism", "ED if pain, fever, peritonism", "peritonism", "only in case"),
        ("Leg swelling", "Warned re faints, swelling of legs", "swelling of legs", "only in case"),
        ("Foreign body sensation", "feels as if a stone is in it", "a stone is in it", None),
        ("Cough", "Will call if worse, has cough", "cough", None),
        ("Return precautions", "return if pain, fever", "fever", None),
        ("Rigidity", "guarding +, rigidity -", "+, rigidity", "denied"),
        ("Guarding", "guarding +, rigidity -", "guarding +, rigidity", None),
        ("Night sweats denied", "sweats (-), chills (+)", "sweats (-)", None),
        ("Chest pain", "Seen in the ED for chest pain", "chest pain", None),
        ("Chest pain", "ED for chest pain", "chest pain", "only advised"),
        ("Edema", "(-) edema", "edema", "denied"),
        ("No edema", "(-) edema", "edema", None),
        ("Knee pain", "- knee pain x 2 wks", "knee pain", None),
        ("Fever", "fever - 3 days", "fever", None),
        ("Early menopause", "menopause at 53", "menopause at 53", "says 53"),
        ("Early menopause", "menopause at 41", "menopause at 41", None),
        ("Family history of premature CAD", "brother: MI at 81", "brother: MI", "says 81"),
        ("Recent travel", "travel to Peru 3 years ago", "travel to Peru", "says 3 years ago"),
        ("Recent travel", "travel to Peru 3 weeks ago", "travel to Peru", None),
        ("No recent travel", "travel to Peru 3 years ago", "travel to Peru", None),
    ],
)
def test_signs_beside_the_words(feature: str, text: str, words: str, said: str | None) -> None:
    start = text.index(words)
    assert (
        told(
            why_surely_not(
                read_requirement(feature), read_note(text), [(start, start + len(words))]
            )
        )
        == said
    )


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Moderate aortic stenosis", "The [[aortic stenosis is severe]].", "says severe"),
        ("Moderate aortic stenosis", "[[aortic stenosis]], moderate to severe", None),
        ("Systolic murmur", "[[Diastolic murmur]] at the left edge", "says diastolic"),
        ("Systolic murmur", "[[no diastolic murmur]], systolic 2/6", None),
        ("Intermittent vomiting", "[[Vomiting]] nonstop since noon", "says constant"),
        ("Bipolar I disorder", "has [[bipolar II]], stable", "says type 2"),
        ("Third-degree burn", "[[second-degree burn]] of the arm", "says degree 2"),
        ("First-degree relative with diabetes", "FH: [[dad T2DM]]", None),
        ("Venous leg ulcer", "black [[arterial ulcer]] at the heel", "says arterial"),
        ("Venous thrombosis", "[[arterial line, clot in the calf vein]]", None),
        ("Purulent sputum", "[[coughs up clear mucus]]", "says clear"),
        ("Clear fluids tolerated", "[[green stool]], takes fluids", None),
        ("Non-malignant polyps", "[[polyps were benign]]", None),
        ("Dull frontal headache", "[[headaches]] both temples and front, dull", None),
        ("Brother died of overdose", "[[Brother survived an OD]]", "says alive"),
    ],
)
def test_kinds_that_exclude_each_other_are_sure(
    feature: str, marked: str, reason: str | None
) -> None:
    assert why_contradicted(feature, *read(marked), (TYPE,)) == reason


@pytest.mark.parametrize(
    "feature",
    [
        "Orders CBC",
        "CBC ordered",
        "Ordered: troponin",
        "Refers to cardiology",
        "Starts inhaled corticosteroid",
        "Differential: PUD",
        "Includes anemia in the differential",
        "Heart failure most likely",
        "Most likely diagnosis is migraine",
    ],
)
def test_features_of_this_visit(feature: str) -> None:
    assert read_requirement(feature).wants_now


@pytest.mark.parametrize(
    "feature",
    [
        "CBC",
        "Gets lost",
        "Bone density checked",
        "History of pneumonia",
        "Pneumonia",
        "Starts of symptoms last year",
        "Referred to cardiology last month",
    ],
)
def test_other_features_may_be_of_any_time(feature: str) -> None:
    assert not read_requirement(feature).wants_now


@pytest.mark.parametrize(
    ("feature", "sentence"),
    [
        ("Orders abdominal ultrasound", "USG abd done outside 2 mths back - NAD"),
        ("Orders neuroimaging", "An MRI of the brain in 2019, after a fall, was normal"),
        ("Diagnoses pneumonia", "Treated for pneumonia 2020"),
        ("Checks thyroid function", "TSH nl at ob/gyn in Feb"),
        ("Orders urinalysis", "urine dip at GP y'day NAD"),
        ("Osteomyelitis suspected", "osteo R hallux amputated 2019"),
        ("Lipids requested", "Student health drew her lipids in the spring"),
    ],
)
def test_earlier_times(feature: str, sentence: str) -> None:
    assert says_nothing_of_now(
        read_requirement(feature), read_note(f"Seen now. {sentence}. Plan to follow."), [(12, 20)]
    )


@pytest.mark.parametrize(
    ("feature", "sentence"),
    [
        ("Orders abdominal ultrasound", "USG abd 2 mths back NAD, repeat"),
        ("Orders MRI brain", "MRI brain in June"),
        ("Includes pneumonia in the differential", "pneumonia again, as in 2020"),
        ("Checks thyroid function", "TSH, last one was in 2021 so due"),
        ("Orders urinalysis", "urine dip"),
        ("Starts metformin", "metformin 500, she stopped it last year, start low"),
        ("Rheumatology referral", "grateful if you would see her"),
        ("Prescribes ibuprofen", "ibuprofen if pain"),
        ("Advises return if worse", "back if worse"),
        ("Tuberculosis considered", "TB (Pune til 2021)"),
        ("Myocarditis suspected", "tight chest since last night, trop 96"),
        ("Lumbar strain suspected", "low back strain from lifting"),
    ],
)
def test_what_is_decided_now_or_has_no_time_is_left(feature: str, sentence: str) -> None:
    assert not says_nothing_of_now(read_requirement(feature), read_note(sentence), [(0, 5)])


@pytest.mark.parametrize(
    ("feature", "marked"),
    [
        ("MRI brain ordered", "EEG. [[MRI]] if the EEG is abnormal"),
        ("MRI brain ordered", "[[MRI if the EEG is abnormal]]"),
        ("Gynaecology referral", "If the cavity is distorted she goes to [[gynaecology]]"),
        ("Orders bone marrow examination", "[[marrow]] only if film odd"),
    ],
)
def test_what_hangs_on_a_condition_is_not_ordered(feature: str, marked: str) -> None:
    text, spans = read(marked)
    assert says_nothing_of_now(read_requirement(feature), read_note(text), spans)
