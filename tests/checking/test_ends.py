from __future__ import annotations

from collections.abc import Callable

import pytest

Repaired = Callable[..., str | None]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("has« fever».", "has «fever»."),
        ("has «fever \r\n»now", "has «fever» \r\nnow"),
        ("«no »fever«\tor chills»", "«no» fever\t«or chills»"),
        ("«no»« »«fever»", "«no» «fever»"),
        ("has\u00a0«\u00a0fever»", "has\u00a0\u00a0«fever»"),
        ("has «fever».", None),
        ("has« »fever", None),
    ],
)
def test_white_space(repaired: Repaired, marked: str, expected: str | None) -> None:
    assert repaired("white-space", marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("has «fever.»", "has «fever»."),
        ("has «fever;» and", "has «fever»; and"),
        ("has «fever?!»", "has «fever»?!"),
        ("has «fever .»", "has «fever» ."),
        ("(has «fever)»", "(has «fever»)"),
        ("has «fever (»mild)", "has «fever» (mild)"),
        ("has «fever (mild).)»", "has «fever (mild)».)"),
        ("says 'I have «fever'»", "says 'I have «fever»'"),
        ("has «fever -» mild", "has «fever» - mild"),
        ("«denies,» chills, «fever,»", "«denies», chills, «fever»,"),
        ("has «fever (mild)»", None),
        ("«29 y.o.» F", None),
        ("«hCG +», «A1c 9 %»", None),
        ("«'like a clamp'»", None),
        ("on «boys'» team", None),
        ("worse «w/» food", None),
        ("«...»", None),
    ],
)
def test_end_punctuation(repaired: Repaired, marked: str, expected: str | None) -> None:
    assert repaired("end-punctuation", marked) == expected


def test_a_trailing_dash_is_the_negation_of_a_negative_feature(repaired: Repaired) -> None:
    assert repaired("end-punctuation", "ROS: «fever -», cough +", "No fever") is None


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("has«, fever»", "has, «fever»"),
        ("(«(fever»", "((«fever»"),
        ("mild«) fever»", "mild) «fever»"),
        ("said «'fever»", "said '«fever»"),
        ("PMH:\n«- fever»", "PMH:\n- «fever»"),
        ("«• fever»", "• «fever»"),
        ("no«: fever»", "no: «fever»"),
        ("«.5 mg» daily", None),
        ("ROS «-CP», -SOB", None),
        ("ROS «- CP», - SOB", None),
        ("«+N», «(-) V», «?asthma», «~30 s», «↑ wt»", None),
        ("«'the flu' last week»", None),
        ("«'18 DEXA»", None),
    ],
)
def test_leading_marks_are_extra_characters(
    repaired: Repaired, marked: str, expected: str | None
) -> None:
    assert repaired("extra-characters", marked) == expected


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
