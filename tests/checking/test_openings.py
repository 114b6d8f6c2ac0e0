from collections.abc import Callable

import pytest

Repaired = Callable[..., str | None]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("takes «the pill»", "takes the «pill»"),
        ("«A nightcap» helps", "A «nightcap» helps"),
        ("HAS «AN ULCER»", "HAS AN «ULCER»"),
        ("«the» bad «headache»", "the bad «headache»"),
        ("«a few beers»", None),
        ("«a year ago»", None),
        ("«A fib»", None),
        ("«A - yes»", None),
        ("«a/w fever»", None),
        ("«anemia», «theft»", None),
        ("«the»", None),
        ("«headache at the office»", None),
    ],
)
def test_leading_article(repaired: Repaired, marked: str, expected: str | None) -> None:
    assert repaired("leading-article", marked) == expected


@pytest.mark.parametrize(
    ("marked", "feature", "expected"),
    [
        ("«She denies fever»", "No fever", "She «denies fever»"),
        ("«pt has fever»", "Fever", "pt «has fever»"),
        ("«Pt. has fever»", "Fever", "Pt. «has fever»"),
        ("«the patient's fever»", "Fever", "the patient's «fever»"),
        ("«her mother had MI»", "Family history of MI", "her «mother had MI»"),
        ("«he» says «vomits»", "Vomiting", "he says «vomits»"),
        # The evidence itself, somebody else, another PT, nothing left.
        ("«She is a woman»", "Female", None),
        ("Mother: «she had a stroke»", "Family history of stroke", None),
        ("«PT helped»", "Relief with physical therapy", None),
        ("«PT/INR high»", "Coagulopathy", None),
        ("«she»", "Fever", None),
        ("«hernia», «history of MI»", "Hernia", None),
    ],
)
def test_leading_reference(
    repaired: Repaired, marked: str, feature: str, expected: str | None
) -> None:
    assert repaired("leading-reference", marked, feature) == expected
