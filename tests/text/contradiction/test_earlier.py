"""Words of earlier times, where a feature asks for what is done now."""

from __future__ import annotations

import pytest

from rubricate.text.contradiction.earlier import asks_for_now, tells_of_earlier


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
    assert asks_for_now(feature)


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
    assert not asks_for_now(feature)


@pytest.mark.parametrize(
    ("feature", "sentence"),
    [
        ("Orders abdominal ultrasound", "USG abd done outside 2 mths back - NAD"),
        ("Orders neuroimaging", "An MRI of the brain in 2019, after a fall, was normal"),
        ("Diagnoses pneumonia", "Treated for pneumonia 2020"),
        ("Checks thyroid function", "TSH nl at ob/gyn in Feb"),
        ("Orders urinalysis", "urine dip at GP y'day NAD"),
    ],
)
def test_earlier_times(feature: str, sentence: str) -> None:
    assert tells_of_earlier(feature, f"Seen now. {sentence}. Plan to follow.", [(12, 20)])


@pytest.mark.parametrize(
    ("feature", "sentence"),
    [
        ("Orders abdominal ultrasound", "USG abd 2 mths back NAD, repeat"),
        ("Orders MRI brain", "MRI brain in June"),
        ("Includes pneumonia in the differential", "pneumonia again, as in 2020"),
        ("Checks thyroid function", "TSH, last one was in 2021 so due"),
        ("Orders urinalysis", "urine dip"),
        ("Starts metformin", "metformin 500, she stopped it last year, start low"),
    ],
)
def test_what_is_decided_now_or_has_no_time_is_left(feature: str, sentence: str) -> None:
    assert not tells_of_earlier(feature, sentence, [(0, 5)])
