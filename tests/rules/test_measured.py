"""Measured values: what they are read as, what features ask of them, and what they decide."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reading.note import read_note
from rubricate.reading.scales import ADULT, child_scale
from rubricate.requirement.requirement import read_requirement
from rubricate.requirement.values import asked_values
from rubricate.rules.measured import judge_measured, only_values

WELL = (
    "VS: T 36.9, HR 74, RR 14, BP 116/72, SpO2 98% RA, BMI 22. Labs: Hgb 13.9, WBC 7.2, Na 139,"
    " K 4.1, Cr 0.8, glucose 92, A1c 5.4, TSH 2.0, EF 60%. MMSE 30/30. G2P2."
    " AST 24, ALT 28, ALP 80, bilirubin 0.6, ferritin 60, eosinophils 0.2, aPTT 30 s, BUN 14,"
    " HCO3 25, Cl 102, CK 90, LDH 180, MCV 88, neutrophils 4.1, free T4 1.2, fibrinogen 300"
)
ILL = (
    "VS: T 39.2, HR 124, RR 28, BP 172/104, SpO2 88% RA, BMI 38. Labs: Hgb 7.9, WBC 17.2, Na 121,"
    " K 6.1, Cr 3.8, glucose 392, A1c 11.4, TSH 22.0, EF 20%. MMSE 14/30. G7P6."
    " AST 240, ALT 310, ALP 420, bilirubin 88, ferritin 8, eosinophils 2100, aPTT 70 seconds,"
    " BUN 80, HCO3 12, Cl 118, CK 44k, LDH 900, MCV 68, neutrophils 400, free T4 3, fibrinogen 0.9"
)
#: Features that the second note states and the first contradicts; then the other way round.
PAIRS = [
    ("Fever", "Afebrile"),
    ("Tachycardia", "Normal heart rate"),
    ("Tachypnoea", "No tachypnea"),
    ("Elevated blood pressure", "Normotensive"),
    ("Hypoxia", "Normal oxygen saturation"),
    ("Obesity", "Normal BMI"),
    ("Anaemia", "Normal hemoglobin"),
    ("Leukocytosis", "Normal white count"),
    ("Hyponatremia", "Normal sodium"),
    ("Hyperkalaemia", "Normal potassium"),
    ("Renal impairment", "Normal renal function"),
    ("Hyperglycemia", "Normoglycemia"),
    ("Poor glycaemic control", "Good glycaemic control"),
    ("High TSH", "Euthyroid"),
    ("Reduced ejection fraction", "Preserved ejection fraction"),
    ("Cognitive impairment", "Intact cognition"),
    ("Heart rate above 100", "Heart rate below 100"),
    ("Temperature over 101 F", "Temperature below 38"),
    ("BMI over 30", "BMI under 25"),
    ("Grand multipara", "No obesity"),
    ("Transaminitis", "Normal liver enzymes"),
    ("Raised AST", "Normal AST"),
    ("Elevated ALT", "Normal ALT"),
    ("Elevated alkaline phosphatase", "Normal LFTs"),
    ("Hyperbilirubinaemia", "Normal bilirubin"),
    ("Low ferritin", "Normal ferritin"),
    ("Eosinophilia", "Normal eosinophil count"),
    ("Prolonged aPTT", "Normal aPTT"),
    ("Azotemia", "Normal BUN"),
    ("Low bicarbonate", "Normal bicarbonate"),
    ("Hyperchloremia", "Normal chloride"),
    ("Creatine kinase above 5000", "Normal CK"),
    ("Raised LDH", "Normal LDH"),
    ("Microcytosis", "Normocytic"),
    ("Neutropenia", "No neutropenia"),
    ("High free T4", "Normal free T4"),
    ("Low fibrinogen", "Normal fibrinogen"),
]


@pytest.mark.parametrize(("ill", "well"), PAIRS)
def test_values_state_one_feature_and_contradict_its_opposite(ill: str, well: str) -> None:
    for states, contradicts, text in ((ill, well, ILL), (well, ill, WELL)):
        assert judge_measured(read_requirement(states), read_note(text)).states
        assert not judge_measured(read_requirement(states), read_note(text)).contradicts
        assert judge_measured(read_requirement(contradicts), read_note(text)).contradicts
        assert not judge_measured(read_requirement(contradicts), read_note(text)).states


@pytest.mark.parametrize(
    "feature",
    [
        "Fever for three days",
        "Family history of anemia",
        "Denies fever",
        "Hypertension",
        "Fever and chills",
        "History of anemia",
        "Abnormal TSH",
        "Normal vital signs",
        "",
        "38.5",
    ],
)
def test_features_that_ask_for_more_than_a_value_are_left_to_the_reader(feature: str) -> None:
    assert asked_values(feature) == ()


@pytest.mark.parametrize(
    ("text", "measured", "value"),
    [
        ("T 98.6", "temperature", 37.0),
        ("Temp: 101.3F", "temperature", 38.5),
        ("temperature of 38,5", None, 0),
        ("WBC 12,400", "white cells", 12.4),
        ("Hb 98 g/L", "haemoglobin", 9.8),
        ("creatinine 177", "creatinine", 177 / 88.4),
        ("glucose was 5.5 mmol/L", "glucose", 99.0),
        ("heart rate is about 88", "pulse", 88.0),
        ("MMSE 21/30", "mmse", 21.0),
        ("PHQ-9: 14", "phq - 9", 14.0),
        ("goal A1c 7", None, 0),
        ("return if temp 39", None, 0),
        ("hemoglobin 2 weeks ago", None, 0),
        ("HR 7000", None, 0),
        ("he sat 95 minutes", None, 0),
        ("k 4.1", None, 0),
        ("TSH <0.01", "tsh", 0.01),
        ("HbA1c 53 mmol/mol", "a1c", 6.9995),
        ("IOP 14/31", "eye pressure", 31.0),
        ("GCS E3V4M6", "coma scale", 13.0),
        ("Mg 0.88", None, 0),
        ("Mg 0.5 mmol/L", "magnesium", 1.215),
        ("pCO2 9.8 kPa", "carbon dioxide", 73.5),
        ("CHA2DS2-VASc 3", "chadsvasc", 3.0),
        ("birth weight 3.2 kg", "birth weight", 3200.0),
        ("Cr 3.1 (0.9 in Jan)", "creatinine", 3.1),
        ("SOB. 38.4. Chest clear", "temperature", 38.4),
        ("97% RA", "oxygen saturation", 97.0),
        ("lying still. 38.4 kg", None, 0),
        ("WBC 17k", "white cells", 17.0),
        ("Na 139 K", "sodium", 139.0),
        ("eosinophils 3%", None, 0),
        ("bilirubin 17", None, 0),
        ("HR 30 seconds", None, 0),
    ],
)
def test_reads_values_in_the_units_notes_use(text: str, measured: str | None, value: float) -> None:
    found = read_note(text).measurements
    if measured is None:
        assert found == ()
    else:
        assert [one.measured for one in found] == [measured]
        assert found[0].value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("40 pack-years", 40),
        ("a 25 pack year history", 25),
        ("smoked 2 ppd x 15 yrs", 30),
        ("half a pack a day for 10 years", 5),
        ("1/2 ppd for 20 years", 10),
        ("40+ pack-year smoker", 40),
        ("20 cigarettes a day for 30 years", 30),
        ("a pack a day for the past 40 years", 40),
        ("smokes 1 ppd. Retired 20 years", None),
        ("smokes 1 pack per day", None),
    ],
)
def test_years_of_packs_are_multiplied(text: str, value: float | None) -> None:
    found = [one.value for one in read_note(text).measurements if one.measured == "pack - years"]
    assert found == ([] if value is None else [value])


@pytest.mark.parametrize(
    ("feature", "states", "contradicts"),
    [
        ("Tachycardia", "2 yo boy, HR 152", "2 yo boy, HR 124"),
        ("Tachycardia", "7yo F. HR 124", "8-month-old with HR 130"),
        ("Bradycardia", "10 week old, HR 78", "15 yo, HR 72"),
        ("Tachypnea", "18 month old, RR 44", "18 month old, RR 28"),
        ("Hypotension", "4 year old girl, BP 74/40", "4 year old girl, BP 94/60"),
        ("Heart rate above 150", "3 yo, HR 160", "3 yo, HR 110"),
        ("Tachycardia", "3 yr 2 mo girl, HR 150", "3 yr 2 mo girl, HR 112"),
        ("Tachypnoea", "DOL 3 male, RR 72", "DOL 3 male, RR 44"),
        ("Tachycardia", "5/12 boy HR 195", "9mo M. HR 150"),
    ],
)
def test_childrens_values_are_read_by_their_age(
    feature: str, states: str, contradicts: str
) -> None:
    assert judge_measured(read_requirement(feature), read_note(states)).states
    assert judge_measured(read_requirement(feature), read_note(contradicts)).contradicts


def test_the_scales_of_children_cover_every_age_once() -> None:
    for measured in ("pulse", "respiratory rate", "blood pressure"):
        for months in range(12 * ADULT):
            scale = child_scale(measured, months / 12)
            assert scale is not None
            assert scale.low <= scale.normal_from < scale.normal_to < scale.high
        assert child_scale(measured, ADULT) is None


@pytest.mark.parametrize(
    ("feature", "states", "contradicts"),
    [
        ("Born preterm", "Born at 33 wks, twin", "Born at 39 wks, SVD"),
        ("Premature birth", "born by c-section at 35 weeks", "Born 40+2."),
        ("Born at term", "delivered at 39 weeks", "born at 30+4"),
        (
            "Orthostatic hypotension",
            "BP lying 142/70, standing 112/64",
            "lying 142/70, standing 140/72",
        ),
        ("Postural drop", "142/80 lying, 134/66 standing", "120/80 supine, 118/80 standing"),
        ("NIHSS greater than 10", "NIHSS 14", "NIHSS 7: 2 face"),
        ("CD4 under 200", "CD4 88", "CD4 610"),
        ("Fetal heart rate normal", "FHR 140", "FHR 88"),
        ("Hypercholesterolemia", "cholesterol 7.1 mmol/L", "Chol was 4.1 in Jan"),
        ("Tachycardia", "T 38, P 118, BP 110/70", "P 88, BP 112/70"),
        ("Tachycardia", "HR irregular 122", "HR regular 88"),
        ("Fever", "Tm 38.9", "Tm 37.1"),
        ("Reduced ejection fraction", "EF of 25 percent", "an EF of 55 percent"),
        ("Born preterm", "ex 31-weeker", "a 40 weeker"),
        ("Fetal heart rate normal", "FETAL: FHR 140", "FETAL: FHR 88"),
        ("HbA1c above 8%", "A1c 8.9 (was 7.1)", "A1c 7.1 (was 8.9)"),
        ("Hemoglobin below 8", "Hb 72 g/L, MCV 104", "Hb 92 g/L, MCV 68"),
        ("Raised ESR", "ESR 80. \nCTA", "pain 7. Jaw ok; ESR 8. \nCTA"),
        ("Microalbuminuria", "ACR 42", "ACR 1.2"),
        ("Cognitive impairment", "AMTS 3/10", "scored 10/10 on the AMTS on two occasions"),
        ("Cognitive impairment", "18 of 30 on the MoCA", "29 out of 30 on the Mini-Mental"),
        ("Reduced level of consciousness", "E3V3M5", "GCS 15"),
        ("ABCD2 score of 4 or more", "ABCD2 comes to 5", "ABCD2 comes to 3"),
        ("Preterm gestation", "G2P1, 31+4 today", "primip, is at 39 weeks"),
        ("Term pregnancy", "Booked. G1P0 39/40", "FHR 140, 26/40"),
        ("Multiparous", "para 2+1", "G0P0"),
        ("First pregnancy", "G1P0", "para 2+1"),
    ],
)
def test_values_without_a_name_or_from_two_readings(
    feature: str, states: str, contradicts: str
) -> None:
    assert judge_measured(read_requirement(feature), read_note(states)).states
    assert not judge_measured(read_requirement(feature), read_note(states)).contradicts
    said = judge_measured(read_requirement(feature), read_note(contradicts))
    assert said.contradicts
    assert only_values(read_note(contradicts), said.contradicts)


@pytest.mark.parametrize(
    "text",
    [
        "born 38 years ago",
        "delivered 24 weeks ago",
        "born in 1939",
        "BP 120/80, P2 loud",
        "locker P 88",
        "MoCA on 3/4, then the clinic",
        "10/12 on the ward",
        "pregnant; #2 at 33+0",
        "previous preterm delivery at 31+2, now pregnant",
        "score 31+4",
    ],
)
def test_other_numbers_are_no_values(text: str) -> None:
    assert {one.measured for one in read_note(text).measurements} <= {
        "blood pressure", "systolic", "diastolic",
    }  # fmt: skip


def test_a_pressure_is_high_in_either_number_and_low_in_the_first() -> None:
    assert judge_measured(
        read_requirement("Elevated blood pressure"), read_note("BP 128/96")
    ).states
    assert judge_measured(read_requirement("Hypotension"), read_note("BP 84/60")).states
    assert judge_measured(
        read_requirement("Systolic over 140"), read_note("BP 128 / 96")
    ).contradicts
    assert judge_measured(read_requirement("Elevated blood pressure"), read_note("BP 134/84")) == (
        (),
        (),
    )


def test_values_that_disagree_or_lie_between_decide_nothing() -> None:
    assert judge_measured(read_requirement("Fever"), read_note("T 39.2 at home, T 36.8 here")) == (
        (),
        (),
    )
    assert judge_measured(read_requirement("Fever"), read_note("T 37.7")) == ((), ())
    assert judge_measured(read_requirement("Anemia"), read_note("Hgb 12.4")) == ((), ())


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("Elevated TSH", "1. CBC\n2. TSH\n3. CRP"),
        ("Elevated CRP", "2. TSH 3. CRP 4. ESR 5. CXR"),
        ("Anemia", "1. Check Hgb\n2. Start iron"),
        ("Hypotension", "BP 90/60"),
        ("Normotensive", "BP 90/60"),
        ("Renal impairment", "Cr 1.1 -> 2.3"),
        ("Anemia", "Hgb 13.1, 9.2, 7.8"),
        ("Tachycardia", "HR 72 lying, 118 standing"),
        ("Fever", "T 36.8 this am, 39.1 tonight"),
        ("Hypoxia", "SpO2 98% on 4L NC"),
        ("Normal oxygen saturation", "98% on 10 L, SpO2 98% on 10 L NC"),
        ("Fever and tachycardia", "T 39.0"),
        ("Fever without tachycardia", "T 36.8, HR 72"),
        ("Hypokalemia", "Vitamin K 2 mg"),
        ("Hypoalbuminemia", "albumin 25% 100 mL"),
        ("Thrombocytopenia", "Platelets 2 units given"),
        ("Leukopenia", "LP: WBC 2"),
        ("Tachycardia", "newborn with HR 130"),
        ("Tachycardia", "Toddler at daycare, HR 130"),
        ("Lactate falling", "lactate 1.1"),
        ("Tachycardia", "34F, her 8-month-old is ill too. HR 130"),
        ("Anemia", "3 year old, Hgb 11.2"),
        ("Hypertensive", "5 year old, BP 118/70"),
        ("Tachycardia", "8-month-old with HR 185"),
        ("Fever", "mother's temp 39.2"),
        ("Poor glycaemic control", "would like A1c of 6.5"),
        ("High blood pressure", "BP 118/72 on lisinopril"),
        ("Multiparous", "G2P1"),
        ("Heart rate above 100", "HR 100"),
    ],
)
def test_what_values_leave_open_is_left_open(feature: str, text: str) -> None:
    assert judge_measured(read_requirement(feature), read_note(text)) == ((), ())


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("Leukocytosis", "WBC (4.0-11.0) 18.2"),
        ("Hypotension", "BP 84/50 HR 120"),
        ("Tachycardia", "BP: 84/50\nHR: 120"),
        ("Hyperkalemia", "K 6.9 H"),
        ("Tachycardia", "HR 118/min"),
        ("Leukocytosis", "WBC 14.2 x10^9/L"),
        ("Hypotension", "SBP 84"),
        ("Hyperglycemia", "BSL 22.4 mmol/L"),
        ("Multiparous", "G3P1102"),
        ("Heavy smoker", "22.5 pack-years"),
        ("Hypoxia", "SpO2 85% on 4L NC"),
        ("No fevers", "T 36.8"),
        ("Heart rate of at least 100", "HR 100"),
        ("Hypotension", "sent to ED for BP 80/40"),
    ],
)
def test_values_are_read_as_they_are_written(feature: str, text: str) -> None:
    assert judge_measured(read_requirement(feature), read_note(text)).states


def test_one_of_several_wordings_is_enough_and_all_are_needed_against() -> None:
    assert judge_measured(
        read_requirement("Fever OR Tachycardia"), read_note("T 36.8, HR 130")
    ).states
    assert judge_measured(read_requirement("Fever OR Cough"), read_note("T 36.8")) == ((), ())
    assert judge_measured(
        read_requirement("Fever OR Tachycardia"), read_note("T 36.8, HR 70")
    ).contradicts


def test_words_that_name_a_finding_are_no_bare_value() -> None:
    text = "Febrile at home; T 36.8 now, afebrile"
    assert only_values(read_note(text), [(text.index("T 36"), text.index(" now"))])
    assert not only_values(read_note(text), [(0, 15)])
    assert not only_values(read_note(text), [(text.index("T 36"), len(text))])


@given(st.floats(33, 42.9), st.sampled_from(["Fever", "No fever", "Afebrile", "Hypothermia"]))
def test_no_value_both_states_and_contradicts(value: float, feature: str) -> None:
    said = judge_measured(read_requirement(feature), read_note(f"T {value:.1f}"))
    assert not (said.states and said.contradicts)


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_can_be_read(feature: str, text: str) -> None:
    said = judge_measured(read_requirement(feature), read_note(text))
    assert all(0 <= start < end <= len(text) for start, end in (*said.states, *said.contradicts))
    for one in asked_values(feature):
        assert not math.isnan(one.stated[0])


@pytest.mark.parametrize(
    ("text", "measured", "value"),
    [
        ("Platelets were two hundred and forty.", "platelets", 240),
        ("The saturation was ninety-seven per cent", "oxygen saturation", 97),
        ("temperature was thirty-eight point six", "temperature", 38.6),
        ("Hemoglobin fell to eight point four", "haemoglobin", 8.4),
        ("Hb fell to 8.4 overnight", "haemoglobin", 8.4),
        ("Lithium level 1.5", "lithium", 1.5),
        ("On warfarin. P 74.", "pulse", 74),
        ("P 48 reg", "pulse", 48),
        ("P 40 mg of furosemide", None, 0),
        ("lithium 900 mg at night", None, 0),
        ("sugars two hours after meals", None, 0),
        ("sodium one of several", None, 0),
        ("pressure was eighty-two over fifty", None, 0),
    ],
)
def test_values_are_read_in_words(text: str, measured: str | None, value: float) -> None:
    found = [(one.measured, one.value) for one in read_note(text).measurements]
    assert found == ([(measured, pytest.approx(value))] if measured else [])


@pytest.mark.parametrize(
    ("feature", "states", "contradicts"),
    [
        ("Renal failure", "Cr 7.2", "Cr 1.1"),
        ("Poor glucose control", "A1c 10.1", "A1c 6.4"),
        ("Liver enzymes raised", "AST 210", "AST 22"),
        ("Vitamin D replete", "vitamin D 42", "25-OH-D 19 nmol/L"),
        ("Lithium level therapeutic", "lithium 0.8", "Lithium level 1.5"),
        ("Heart rate 118", "HR 118", "HR 58 reg"),
        ("40 pack year smoking history", "2 ppd x 20 yrs", "1 ppd x 4 yrs"),
        ("Temperature 38.2", "T 100.8 F", "T 37.0"),
        ("GCS 15", "GCS 15", "E4V4M6"),
        ("Leucocytosis", "Whites 16.8", "Whites 6.8"),
        ("Spirometry normal", "FEV1/FVC 81%", "FEV1/FVC 62%"),
        ("Severe-range blood pressure", "BP 164/112", "BP 146/92"),
        ("Third trimester pregnancy", "G2P0 @ 31+4", "G2P0 @ 21+4"),
    ],
)
def test_further_findings_have_values(feature: str, states: str, contradicts: str) -> None:
    assert judge_measured(read_requirement(feature), read_note(states)).states
    assert judge_measured(read_requirement(feature), read_note(contradicts)).contradicts


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("Preterm labour", "G1P0 31+1"),
        ("Hypertensive crisis", "BP 190/120"),
        ("HbA1c 8.2%", "A1c 8.1"),
        ("Ejection fraction 35%", "EF 35-40%"),
    ],
)
def test_values_that_are_near_or_not_enough_leave_a_feature_open(feature: str, text: str) -> None:
    said = judge_measured(read_requirement(feature), read_note(text))
    assert (said.states, said.contradicts) == ((), ())


def test_values_may_speak_against_what_they_cannot_state() -> None:
    assert judge_measured(
        read_requirement("Preterm labour"), read_note("G1P0 38+1, SROM")
    ).contradicts
    assert judge_measured(
        read_requirement("Hypertensive crisis"), read_note("BP 104/60")
    ).contradicts
