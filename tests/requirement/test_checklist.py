"""Features as checklists word them."""

from __future__ import annotations

import pytest

from rubricate.requirement.checklist import asked_topic, assessed_wording, plain_wording


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("1. CHEST PAIN", "CHEST PAIN"),
        ("b) Fever", "Fever"),
        ("[ ] Fever", "Fever"),
        ("• Fever", "Fever"),
        ("Radiates to left arm - 1 pt", "Radiates to left arm"),
        ("Weight loss [0.5 pts]", "Weight loss"),
        ("Weight loss (2 points)", "Weight loss"),
        ("Missed pneumonia (-1 pt)", "Missed pneumonia"),
        ("Fever (max 2 pts)", "Fever"),
        ("Cough: 2 points", "Cough"),
        ("Documents no fever", "no fever"),
        ("The note states that the patient has asthma", "asthma"),
        ("Pt reports chills", "chills"),
        ("Pertinent negative: no weight loss", "no weight loss"),
        ("Pertinent negatives: Weight loss", "No weight loss"),
        ("Physical exam: rebound tenderness", "rebound tenderness"),
        ("Exam - TM bulging", "TM bulging"),
        ("Head injury: denied", "No head injury"),
        ("LOC (absent)", "No LOC"),
        ("Night sweats (yes)", "Night sweats"),
        ("Includes appendicitis in differential", "Differential: appendicitis"),
        ("Hip fx listed in the ddx", "Differential: Hip fx"),
        ("DDx includes any of the following: PE, MI or flu", "Differential: PE OR MI OR flu"),
        ("Lists at least one of: PE, MI, pneumonia", "PE OR MI OR pneumonia"),
        ("Orders an ECG", "ECG ordered"),
        ("Ordered: troponin (1)", "troponin ordered"),
        ("Checks thyroid function", "thyroid function ordered"),
        ("Requests sterilization", "Requests sterilization"),
        ("Gets dizzy", "Gets dizzy"),
        ("Right lower quadrant pain / RLQ pain", "Right lower quadrant pain OR RLQ pain"),
        ("Orders hip XR / X-ray", "hip XR OR X-ray ordered"),
        ("Nausea and/or vomiting", "Nausea or vomiting"),
        ("3. Asks about diet (1 pt)", "diet"),
    ],
)
def test_what_only_checklists_write_is_taken_away(written: str, plain: str) -> None:
    assert plain_wording(written) == plain


@pytest.mark.parametrize(
    "feature",
    [
        "Shortness of breath",
        "C. difficile infection",
        "2.5 kg weight loss",
        "GCS fell by 2 points",
        "-fever",
        "Mother reports fever",
        "Identifies as gay",
        "Records from abroad",
        "Denies alcohol",
        "BP 120 / 80",
        "One of her children is ill",
        "Chest pressure OR chest tightness",
        "Troponin: negative",
        "PMH: diabetes",
        "FH: colon cancer",
        "Any chest pain",
        "",
        "1.",
    ],
)
def test_other_features_stay_as_they_are(feature: str) -> None:
    assert plain_wording(feature) == feature


@pytest.mark.parametrize(
    ("feature", "topic"),
    [
        ("Asks the patient about her diet", "diet"),
        ("Asks re: caffeine intake", "caffeine intake"),
        ("4) Past psychiatric hx documented", "Past psychiatric hx"),
        ("Sick contacts were elicited", "Sick contacts"),
        ("Suicidal ideation assessed", "Suicidal ideation"),
        ("Takes a sexual history", "sexual history"),
        ("Takes medications", None),
        ("Rebound tenderness elicited", None),
        ("Family history of gout documented", None),
        ("Wife asked", None),
        ("Smoker", None),
    ],
)
def test_features_that_want_to_know_who_asked_have_a_topic(feature: str, topic: str | None) -> None:
    assert asked_topic(feature) == topic


@pytest.mark.parametrize("unit", [" ", "was ", "1. ", "a / ", "history "])
def test_very_long_features_are_left_alone(unit: str) -> None:
    text = unit * 20_000
    assert plain_wording(text) == text
    assert asked_topic(text) is None


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Chest pain (onset, duration)", "Chest pain"),
        ("Headache (location, severity and associated symptoms)", "Headache"),
        ("Cough (e.g. onset/triggers)", "Cough"),
        ("Headache (sudden onset)", "Headache (sudden onset)"),
        ("MI (myocardial infarction)", "MI OR myocardial infarction"),
        ("Shortness of breath (SOB)", "Shortness of breath OR SOB"),
        ("Abdominal pain (RLQ)", "Abdominal pain (RLQ)"),
        ("Weakness (L)", "Weakness (L)"),
        ("Elevated lipoprotein(a)", "Elevated lipoprotein(a)"),
    ],
)
def test_brackets_name_attributes_or_say_it_in_short(written: str, plain: str) -> None:
    assert plain_wording(written) == plain


@pytest.mark.parametrize(
    ("written", "wants"),
    [
        ("Includes appendicitis in the differential", ("Differential", "appendicitis")),
        ("2. Lists GERD as a diagnosis (1 pt)", ("Differential", "GERD")),
        ("Considers PE or DVT", ("Differential", "PE or DVT")),
        ("Hypothyroidism considered", ("Differential", "Hypothyroidism")),
        ("Diagnoses community-acquired pneumonia", ("Diagnosis", "community-acquired pneumonia")),
        ("Diagnosis: asthma", ("Diagnosis", "asthma")),
        ("Most likely diagnosis: migraine", ("Diagnosis", "migraine")),
        ("Asthma is the leading diagnosis", ("Diagnosis", "Asthma")),
        ("Assessment of heart failure", ("Diagnosis", "heart failure")),
        ("Considers termination", ("", "")),
        ("Lists history of asthma", ("", "")),
        ("Lists medications", ("", "")),
        ("Lists one of: asthma, COPD", ("", "")),
        ("Asthma", ("", "")),
    ],
)
def test_what_a_feature_wants_of_the_assessment(written: str, wants: tuple[str, str]) -> None:
    assert assessed_wording(written) == wants
