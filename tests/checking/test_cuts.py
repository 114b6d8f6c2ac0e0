from collections.abc import Callable

import pytest

Repaired = Callable[..., str | None]


@pytest.mark.parametrize(
    ("marked", "feature", "expected"),
    [
        ("ha«s fever»", "Fever", "has «fever»"),
        ("has «fever c»hills", "Fever", "has «fever» chills"),
        ("has «fever, c»hills", "Fever", "has «fever», chills"),
        ("has «fever, c»hills", "Fever OR chills", "has «fever», chills"),
        ("has «fever an»d chills", "Fever", "has «fever» and chills"),
        ("feve«r no chills»", "No chills OR no fever", "fever «no chills»"),
        ("«no fever d»enies pain", "No fever", "«no fever» denies pain"),
        ("ha«s fever, c»hills", "Fever", "has «fever», chills"),
        # Most of a word is no slip, nor is what is left of a negation or a wanted word.
        ("has h«ot flashes»", "Hot flashes", None),
        ("is no«t able to walk»", "Cannot walk", None),
        ("has «chest p»ain", "Chest pain", None),
        ("f«ever»", "Fever", None),
        ("aged 5«8 years»", "58 year", None),
        ("has «fever» and", "Fever", None),
    ],
)
def test_extra_characters(
    repaired: Repaired, marked: str, feature: str, expected: str | None
) -> None:
    assert repaired("extra-characters", marked, feature) == expected


@pytest.mark.parametrize(
    ("marked", "feature", "expected"),
    [
        ("has h«ot flashes»", "Hot flashes", "has «hot flashes»"),
        ("has «hot flashe»s.", "Hot flashes", "has «hot flashes»."),
        ("has h«ot flashe»s.", "Hot flashes", "has «hot flashes»."),
        ("f«eve»r", "Fever", "«fever»"),
        ("is no«t able to walk»", "Cannot walk", "is «not able to walk»"),
        ("has «chest p»ain", "Chest pain", "has «chest pain»"),
        ("aged 5«8 years»", "58 year", "aged «58 years»"),
        ("lost «2.»5 kg", "Weight loss", "lost «2.5» kg"),
        ("«she can»'t sleep", "Insomnia", "«she can't» sleep"),
        ("«den»ies fever, «chill»s", "No chills", "«denies» fever, «chills»"),
        ("«caf»é au lait", "Spots", "«café» au lait"),
        ("«58»M", "58 year", None),
        ("58yo«F»", "Female", None),
        ("24yo«m»", "Male", None),
        ("«24yo»m", "24 year", None),
        ("«mother»'s cancer", "Mother with cancer", None),
        ("x«3 wks»", "Symptoms for 3 weeks", None),
        ("«hyper-» and hypo«thyroidism»", "Hyperthyroidism", None),
        ("«发»烧", "Fever", None),
        # A stray end is for the other rule.
        ("ha«s fever»", "Fever", None),
    ],
)
def test_cut_word(repaired: Repaired, marked: str, feature: str, expected: str | None) -> None:
    assert repaired("cut-word", marked, feature) == expected


def test_each_rule_mends_its_own_end(repaired: Repaired) -> None:
    marked = "ha«s hot flashe»s"
    assert repaired("extra-characters", marked, "Hot flashes") == "has «hot flashe»s"
    assert repaired("cut-word", marked, "Hot flashes") == "ha«s hot flashes»"
