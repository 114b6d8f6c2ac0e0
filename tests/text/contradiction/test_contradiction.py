"""Words that speak of a feature and say otherwise."""

from __future__ import annotations

import pytest
from marked_words import read

from rubricate.text.contradiction import why_contradicted, why_contradicted_in
from rubricate.text.contradiction.explained import explain_contradiction
from rubricate.text.contradiction.place import read_text


def why(feature: str, marked: str) -> str | None:
    """Return the reason for the words between brackets."""
    return why_contradicted(feature, *read(marked))


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Fever", "Denies [[fever]], chills.", "denied"),
        ("Uvula midline", "voice thick, [[uvula pushed to L]].", "says left"),
        ("Trachea central", "[[trachea to the right]], no stridor", "says right"),
        ("No fever", "Has had a [[fever]] since Monday.", "says it is there"),
        ("RLQ pain", "c/o [[pain in LLQ]] since last night", "says left"),
        ("Right upper quadrant pain", "[[RLQ discomfort]], colicky", "says lower"),
        ("Left knee pain", "The [[left ankle hurts]] on stairs.", "says ankle"),
        ("Cough for 3 weeks", "[[cough 3/7]], green sputum", "says 3/7"),
        ("Episodes last 30 minutes", "[[each goes on about half a min]]", "says half a min"),
        ("Pain 8 out of 10", "loin [[pain score 3/10]]", "says 3/10"),
        ("Headache three times a week", "[[HA]] daily, bifrontal", "says daily"),
        ("Father had a heart attack", "[[Mother had a heart attack]] at 60.", "mother's"),
        ("Asthma", "Her sister has [[asthma]].", "sister's"),
        ("Suicidal ideation", "FHx: mother bipolar, uncle [[died by suicide]].", "uncle's"),
        ("Asthma", "FH: diabetes in mother, [[asthma]] in brother", "brother's"),
        ("Uses a walker", "[[refuses to use a frame]]", "declined"),
        ("Diabetes", "FHx: [[diabetes]]", "family history"),
        ("Similar symptoms", "husband has [[similar symptoms]]", "husband's"),
        ("Current smoker", "[[Ex-smoker]], quit 2010", "in the past"),
        ("ACE inhibitor use", "[[ramipril]] stopped 2017", "stopped"),
        ("Left knee pain", "He has [[right knee pain]]", "says right"),
        ("Numb left hand", "[[numb right hand]] for 5 months", "says right"),
        ("Prior hip replacement", "on the waiting list for [[hip replacement]]", "only advised"),
        ("Right arm weakness", "she had [[left arm weakness]]", "says left"),
        ("Former smoker", "[[still smokes 10 a day]]", "says current"),
        ("Chest pain", "Return if [[chest pain]] occurs.", "only in case"),
        ("Beta blocker therapy", "advised to start [[bisoprolol]]", "only advised"),
        ("Cancer", "He is worried about [[cancer]].", "only feared"),
        ("Pain worse with exercise", "[[better with exercise]]", "says better"),
        ("Weight gain", "[[weight loss]] of note", "says loss"),
        ("ACE inhibitor use", "takes [[metoprolol]]", "another drug class: beta blocker"),
        ("Female", "58 yo [[male]] with cough", "says male"),
        (
            "Brother had gastric cancer",
            "FH: father d. [[gastric ca at 66, brother]] well",
            "father's",
        ),
        ("Father with gout", "FH: [[father-in-law gets gout]]", "father-in-law's"),
        ("Father had colon cancer", "[[dad's brother had colon cancer]]", "uncle's"),
        ("Maternal history of diabetes", "[[dad diabetic]], mum well", "father's"),
        ("Takes a statin", "[[Lipitor]] was recommended, she said no", "only advised"),
        ("Coronary bypass", "[[heart bypass offered]] 2015", "only advised"),
        ("Hypertension", "[[high BP]] queried in 2015", "only feared"),
        ("Current tobacco use", "[[10 roll-ups/day]] till 2009, nil since", "stopped"),
        ("Uses condoms", "[[used to use condoms]], none for a year", "in the past"),
        ("Shortness of breath", "[[Breathing comfortable]] with it", "says comfortable"),
        ("Numb feet", "[[feeling in both feet]] normal", "says normal"),
        ("Sleeps on three pillows", "[[Sleeps on 1 pillow]].", "says 1"),
        ("Vision loss in the left eye", "[[loss of sight OD]] for 2 d", "says right"),
        ("Frontal headache", "[[occipital headache]]", "says back"),
        ("Weight gain of 6 kg", "[[6 kg lighter]] than in August", "says loss"),
    ],
)
def test_says_why_words_contradict_a_feature(feature: str, marked: str, reason: str) -> None:
    assert why(feature, marked) == reason


@pytest.mark.parametrize(
    ("feature", "marked"),
    [
        ("Fever", "Has had a [[fever]] since Monday."),
        ("No fever", "[[Denies fever]], chills."),
        ("No fever", "[[Fever]]: none"),
        ("Poor appetite", "[[no appetite]] for a week"),
        ("Left knee pain", "The right knee is fine but the [[left one aches]]."),
        ("Cough for 3 weeks", "[[cough for 21 days]]"),
        ("Surgery within the last 4 weeks", "[[hernia op 1/52 ago]]"),
        ("Drinks coffee daily", "[[coffee 3x/day]]"),
        ("Father had a heart attack", "[[Dad had an MI]], mother well."),
        ("Parent with diabetes", "[[mother diabetic]]"),
        ("Asthma", "Her mother says she has [[asthma]]."),
        ("Bedwetting", "Your son still [[wets the bed]]."),
        ("History of smoking", "[[quit smoking]] in 2010"),
        ("Worried about cancer", "He is [[worried about cancer]]."),
        ("Antihypertensive use", "takes [[metoprolol]]"),
        ("Chest pain relieved by nitroglycerin", "[[CP resolved w/ SL nitro]]"),
        ("Left arm pain OR jaw pain", "[[right arm and jaw pain]]"),
        ("Father had gastric cancer", "FH: [[father d. gastric ca]] at 66, brother well"),
        ("Sister with diabetes", "[[mother and sister have diabetes]]"),
        ("Maternal history of diabetes", "[[mum diabetic]], dad well"),
        ("Chest pain", "[[chest pain]], otherwise well, BP normal"),
        ("Pain better on weekends", "[[Sat and Sun she is fine]]"),
        ("Takes a statin", "on [[Lipitor]] since it was recommended"),
        ("Sleeps on three pillows", "[[sleeps on 3 pillows]]"),
        ("Vomited more than once", "[[vom x3]] today"),
        ("Left eye pain", "takes [[ramipril 5 mg OD]] for BP"),
        ("Pain over 3 months", "[[pain for five months]]"),
        ("Weight loss of 8 kg", "has gone [[from 176 to 158 lb]] without dieting"),
        ("40 pack-year history", "[[smoked 2 packs a day for 20 years]]"),
        ("Regular 28 day cycle", "[[cycles q28d]] x7d"),
        ("Uvula midline", "[[uvula central]], R tonsil big"),
        ("Uncle with glaucoma", "[[father's brother has glaucoma]]"),
        ("Aunt with gout", "[[sister of her mother has gout]]"),
        ("Uncle with glaucoma", "[[uncle on dad's side has glaucoma]]"),
    ],
)
def test_leaves_words_alone_that_state_a_feature(feature: str, marked: str) -> None:
    assert why(feature, marked) is None


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
    assert len(read_text(text).tokens) == 20_000


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
    assert explain_contradiction(feature, *read(marked)) == reason


def test_words_that_deny_are_denied_beside_whomever() -> None:
    text, spans = read("FH: father MI, [[no nausea]]")
    assert explain_contradiction("Nausea", text, spans) == "denied"


def test_no_words_have_no_reason() -> None:
    assert explain_contradiction("Fever", "no fever", []) == ""


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


@pytest.mark.parametrize(
    ("feature", "words", "said"),
    [
        ("Carvedilol", "on metoprolol", "another drug: metoprolol"),
        ("Carvedilol", "on Coreg", None),
        ("High-dose prednisolone", "begun on 60 mg of prednisone", None),
        ("Beta blocker", "carvedilol", None),
        ("Statin", "rosuvastatin", None),
        ("Penicillin allergy", "Amoxicillin: hives", None),
        ("Blood thinner", "on Plavix", None),
        ("Pain controlled without opioids", "gets by on Tylenol", None),
    ],
)
def test_two_drugs_of_one_class_are_told_apart_by_generic_names(
    feature: str, words: str, said: str | None
) -> None:
    assert why_contradicted(feature, words, [(0, len(words))], ["another drug"]) == said


@pytest.mark.parametrize(
    ("feature", "words", "said"),
    [
        ("Neck stiffness", "neck supple", "says supple"),
        ("Worse in the morning", "bad every evening", "says evening"),
        ("High salt diet", "low sodium diet", "says low"),
        ("Irregular periods", "cycles regular", "says regular"),
        ("Unemployed", "works at a bank", "says employed"),
    ],
)
def test_opposites(feature: str, words: str, said: str) -> None:
    assert why_contradicted(feature, words, [(0, len(words))], ["opposite"]) == said


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        # What has not stopped, and what has.
        ("Current smoker", "[[Smoking]] until now, 15 a day", None),
        ("Current smoker", "[[Smoking]] until 2011, 15 a day", "stopped"),
        ("Smoker", "[[15 a day]], unable to quit", None),
        ("Alcohol use", "[[A bottle of gin]] weekly, has not stopped", None),
        ("Rash persists", "The [[rash]] has gone since Tuesday", "resolved"),
        ("Rash persists", "The [[rash]] has not gone", None),
        ("Rash resolved", "The [[rash has not cleared]]", "not over"),
        ("Ankle swelling", "[[ankle swelling]] is gone", "resolved"),
        ("Oxygen", "[[Oxygen need]] has gone up", None),
        ("Warfarin use", "[[warfarin]] on hold", "stopped"),
        ("Warfarin held", "[[warfarin on hold]]", None),
        # What a denial says.
        ("Fatigue", "has no [[energy]]", None),
        ("Fatigue", "no [[fatigue]]", "denied"),
        ("Vegan", "eats no [[meat]]", None),
        ("Painless", "denies [[pain]]", None),
        ("No drug injection", "[[injecting]]: never", None),
        # What is normal, and of what.
        ("Dyspnea on stairs", "[[out of breath on stairs more than normal]]", None),
        ("Wakes early", "[[sleeps okay at first, wakes early]]", None),
        ("Swollen gums", "[[gums normal]]", "says normal"),
        # Advice and refusal.
        ("Dizziness", "Warned: [[dizziness]], dry mouth", "only in case"),
        ("Bleeding", "Ring for [[bleeding]]", "only in case"),
        ("Eats poorly", "Refused breakfast, [[ate little]]", None),
        ("Poor appetite", "[[off his food]], refused lunch", None),
        ("Methimazole", "[[Tapazole 10 mg]]", None),
        ("Chlorpromazine tried", "[[Thorazine]] for hiccups", None),
        ("Antihistamine for dizziness", "[[meclizine 12.5 prn]]", None),
        ("Takes carbimazole", "[[methimazole]] 10 mg", "another drug: methimazole"),
        ("Shortness of breath", "Cough, [[no shortness of breath]]", "denied"),
        ("Weight loss", "[[no weight loss]]", "denied"),
        ("Difficulty swallowing", "denies [[difficulty swallowing]]", "denied"),
        ("Weight loss", "no [[weight]] recorded", None),
        ("Flu vaccine", "[[flu jab]] refused", "declined"),
        # Places and values.
        ("Ankle pain", "[[ankle pain comes back]] at dusk", None),
        ("Hip fracture", "[[femoral neck fracture]]", None),
        ("Lost 5 kg", "[[70 → 65 kg]]", None),
        ("Lost 5 kg", "[[lost 9 kg]]", "says 9 kg"),
        ("Bilateral wrist pain", "[[wrists sore]] (R=L)", None),
        ("Pain on lifting above the head", "[[pain on lifting her arm]]", None),
    ],
)
def test_fine_points(feature: str, marked: str, reason: str | None) -> None:
    assert why(feature, marked) == reason


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Aunt with gout", "[[mother psoriasis, mat aunt gout]]", None),
        ("Aunt with psoriasis", "[[mother psoriasis, mat aunt gout]]", "mother's"),
        ("Mother with gout", "[[gout]] - paternal uncle", "uncle's"),
        ("Mother with gout", "FH: brother - [[gout, mother]] well", "brother's"),
        ("Brother with gout", "husband's [[brother has gout]]", "brother-in-law's"),
        ("Nephew with gout", "her [[brother's little boy has gout]]", None),
        ("Maternal aunt with gout", "[[father's sister has gout]]", "says paternal"),
        ("Maternal uncle with gout", "her aunt has gout, her [[mother's brother gout]] too", None),
        ("Brisk reflexes", "[[DTR 3+]] throughout", None),
        ("Asthma", "lives with Dtr, Dtr has [[asthma]]", "daughter's"),
        ("Needs help to rise", "[[wife pulls him up]]", None),
    ],
)
def test_whose_it_is(feature: str, marked: str, reason: str | None) -> None:
    assert why(feature, marked) == reason


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Type 1 diabetes", "[[T2DM]] on tablets", "says type 2"),
        ("Type 2 diabetes", "[[DM type II]]", None),
        ("First seizure", "her [[3rd seizure]]", "says 3rd"),
        ("First seizure", "[[1st seizure]], on the 3rd day", None),
        ("Anti-CCP negative", "[[anti-CCP positive]]", "says positive"),
        ("Positive tuberculin test", "[[tuberculin test neg, IGRA]] sent", "says neg"),
        ("Positive tuberculin test", "[[tuberculin test positive]]", None),
        ("Weight loss", "[[weight holding]] at 70 kg", "says holding"),
        ("Weight loss", "[[weight loss]], mood stable", None),
        ("Neck stiffness", "[[neck moves freely]]", "says freely"),
        ("Painless lump", "[[sore lump]]", "says painful"),
        ("Painless lump", "[[lump]], no pain", None),
        ("Father with gout", "[[father gout]], brother fine", None),
        ("No change in appetite", "[[appetite unchanged]]", None),
        ("Former smoker", "[[tobacco stopped]] 2015, sexually active", None),
    ],
)
def test_results_kinds_and_order(feature: str, marked: str, reason: str | None) -> None:
    assert why(feature, marked) == reason


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Weight loss", "No [[weight loss]].", "denied"),
        ("Low back pain", "No [[back pain]].", "denied"),
        ("Leg swelling", "[[Legs not swelling]].", "denied"),
        ("Difficulty swallowing", "[[Swallows without difficulty]].", "denied"),
        ("Abdominal pain", "[[Abdominal exam]] gives no pain.", "denied"),
        ("Non-smoker", "He is a [[smoker]].", "says it is there"),
        ("No fever", "Had a [[fever]] last night.", "says it is there"),
        ("No loss of consciousness", "Stayed [[conscious]] all the time.", None),
        ("Colonoscopy", "[[Colonoscopy]] in 2020 normal.", None),
        ("Weak abduction", "[[Abduction 5/5]].", "says 5/5"),
        ("Pneumonia", "CXR to look for [[pneumonia]].", "only feared"),
        ("Pneumonia", "CT [[to rule out pneumonia]].", "only feared"),
        ("Pneumonia", "?[[pneumonia]]", "only feared"),
        ("Takes aspirin", "[[Start aspirin]] 81 mg.", "only advised"),
        ("ADHD", "[[ADD]] since school.", None),
        ("Pregnancy", "[[Pregnancy]] test ordered.", "only tested"),
        ("Pregnancy", "[[Pregnancy]] test positive.", None),
        ("Seizure", "[[Seizure]] precautions discussed.", "only in case"),
        ("Smoker", "Wants to quit [[smoking]].", None),
        ("On warfarin", "On apixaban instead of [[warfarin]].", "says another"),
        ("Takes aspirin", "Allergic to [[aspirin]].", "only an allergy"),
        ("Aspirin allergy", "Allergic to [[aspirin]].", None),
        ("Takes sertraline", "Off [[sertraline]].", "stopped"),
        ("Cough", "[[Cough has gone]].", "resolved"),
        ("Aspirin stopped", "[[Aspirin still taken]].", "not over"),
        ("Former smoker", "Never [[smoked]].", "says never"),
        ("Two previous miscarriages", "[[One miscarriage]].", "says 1"),
        ("CK above 10000", "[[CK 410]]", "says 410"),
        ("CK above 10000", "[[CK 44k]]", None),
        ("pH under 7.1", "[[pH 7.02]]", None),
        ("Class IV nephritis", "[[class V]] nephritis", "says class 5"),
        ("Type 2 diabetes", "[[T1DM]] on a pump", "says type 1"),
        ("Weight gain", "[[Weight]] down 2 kg", "says down"),
        ("Pain relieved by rest", "Worse at [[rest]].", "says worse"),
        ("Productive cough", "[[nonproductive cough]]", "says dry"),
        ("Increased appetite", "[[Eats less]].", "says less"),
    ],
)
def test_more_ways_to_say_otherwise(feature: str, marked: str, reason: str | None) -> None:
    assert why(feature, marked) == reason


def test_words_known_to_stand_for_the_feature_are_denied_as_it_is() -> None:
    text = "No LOC."
    meant = frozenset(("loss", "consciousness"))
    assert why_contradicted("Loss of consciousness", text, [(3, 6)]) is None
    reading = read_text(text)
    said = why_contradicted_in(reading, "Loss of consciousness", [(3, 6)], meant=meant)
    assert said == "denied"


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("NYHA class III or IV", "[[NYHA II]] at present", "says class 2"),
        ("NYHA class III or IV", "[[NYHA IV]] at present", None),
        ("ASA class III or higher", "I put her at [[ASA II]]", "says class 2"),
        ("ASA grade 3 or higher", "[[ASA III]], spinal", None),
        ("CKD stage 4", "[[CKD 3b]], stable", "says stage 3"),
        ("Grade 1 to 2 tear", "[[grade 2 tear]]", None),
        ("Taking aspirin", "[[ASA 81 mg]]", None),
        ("Furosemide", "[[frusemide 40 mg]] each morning", None),
        ("Furosemide", "[[torasemide 10 mg]]", "another drug: torasemide"),
        ("Steroid-induced diabetes", "[[A1c 9, on metformin for it]]", None),
        ("Avoids NSAIDs", "[[Tylenol only]]", None),
        ("Stimulant laxative", "[[Senokot]] two at night and Laxido was stopped", None),
        ("Osmotic laxative", "Senokot two at night and [[Laxido]] was stopped", "stopped"),
        ("Spironolactone", "frusemide stopped in Feb, too dry, [[spironolactone 25]]", None),
        ("Spironolactone", "furosemide daily, stopped [[spironolactone]]", "stopped"),
        ("Ovarian mass larger than 10 cm", "[[ovarian mass 14 x 11 x 9 cm]]", None),
        ("Hematoma thicker than 10 mm", "[[hematoma 22 mm]]", None),
        ("Hematoma thicker than 10 mm", "[[hematoma 4 mm]]", "says 4 mm"),
        ("Morphine over 90 mg daily", "[[MST 60 mg]] twice a day", None),
    ],
)
def test_grades_drugs_and_sizes(feature: str, marked: str, reason: str | None) -> None:
    assert why(feature, marked) == reason


@pytest.mark.parametrize("text", ["start 10:10, pain 6/10", "Start: 3 days ago, constant pain"])
def test_when_something_started_is_no_order(text: str) -> None:
    assert why_contradicted("Pain", text, [(0, len(text))], ["not meant"]) is None
    ordered = "Start morphine, pain 6/10"
    assert why_contradicted("Takes morphine", ordered, [(0, 14)], ["not meant"]) == "only advised"


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Last drink 24 hours ago", "[[Last EtOH 2 h PTA]]", "says 2 h"),
        ("Last drink over 48 hours ago", "[[Last drink 9 h ago]]", "says 9 h"),
        ("Last drink over 48 hours ago", "[[Last drink 3 days ago]]", None),
        ("Fever in the last 24 hours", "[[fever 2 h ago]]", None),
        ("Bowel movement once daily", "[[bowels move every third day]]", "says every third day"),
        ("Two prior detox admissions", "[[inpt detox x7]]", "says x7"),
        ("Two prior detox admissions", "[[inpt detox x2]]", None),
        ("Two episodes of vomiting", "[[vomiting x3 days]]", None),
    ],
)
def test_times_and_how_often(feature: str, marked: str, reason: str | None) -> None:
    assert why_contradicted(feature, *read(marked), ("another number",)) == reason


def test_an_order_states_that_something_was_begun() -> None:
    order, weighed = "Plan: [[add empagliflozin 10]].", "Plan: [[consider empagliflozin]]."
    assert why("Started on an SGLT2 inhibitor", order) is None
    assert why("Takes an SGLT2 inhibitor", order) == "only advised"
    assert why("Started on an SGLT2 inhibitor", weighed) == "only advised"
