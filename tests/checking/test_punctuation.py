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
