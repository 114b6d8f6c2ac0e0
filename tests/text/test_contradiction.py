"""Words that speak of a feature and say otherwise."""

from __future__ import annotations

import pytest

from rubricate.text.contradiction import why_contradicted
from rubricate.text.contradiction.place import read_text


def why(feature: str, marked: str) -> str | None:
    """Return the reason for the words between brackets."""
    text, spans = "", []
    for i, part in enumerate(marked.replace("]]", "[[").split("[[")):
        if i % 2:
            spans.append((len(text), len(text) + len(part)))
        text += part
    return why_contradicted(feature, text, spans)


@pytest.mark.parametrize(
    ("feature", "marked", "reason"),
    [
        ("Fever", "Denies [[fever]], chills.", "denied"),
        ("No fever", "Has had a [[fever]] since Monday.", "says it is there"),
        ("RLQ pain", "c/o [[pain in LLQ]] since last night", "says left"),
        ("Right upper quadrant pain", "[[RLQ discomfort]], colicky", "says lower"),
        ("Left knee pain", "The [[left ankle hurts]] on stairs.", "says ankle"),
        ("Cough for 3 weeks", "[[cough 3/7]], green sputum", "says 3/7"),
        ("Pain 8 out of 10", "loin [[pain score 3/10]]", "says 3/10"),
        ("Headache three times a week", "[[HA]] daily, bifrontal", "says daily"),
        ("Father had a heart attack", "[[Mother had a heart attack]] at 60.", "mother's"),
        ("Asthma", "Her sister has [[asthma]].", "sister's"),
        ("Diabetes", "FHx: [[diabetes]]", "family history"),
        ("Similar symptoms", "husband has [[similar symptoms]]", "husband's"),
        ("Current smoker", "[[Ex-smoker]], quit 2010", "in the past"),
        ("ACE inhibitor use", "[[ramipril]] stopped 2017", "stopped"),
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
