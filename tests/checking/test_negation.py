from collections.abc import Callable

import pytest

Repaired = Callable[..., str | None]


@pytest.mark.parametrize(
    ("marked", "feature", "expected"),
    [
        ("Denies fever, «chills», nausea.", "No chills", "«Denies» fever, «chills», nausea."),
        ("denies «fever», chills", "No fever", "«denies» «fever», chills"),
        ("No blood or «mucus in stool»", "No mucus", "«No» blood or «mucus in stool»"),
        (
            "Negative for fever, «chills», nausea",
            "No chills",
            "«Negative for» fever, «chills», nausea",
        ),
        ("w/o fever/«chills»", "No chills", "«w/o» fever/«chills»"),
        ("denies any fever or «chills»", "No chills", "«denies» any fever or «chills»"),
        ("ROS: «rash» (-), cough (+)", "No rash", "ROS: «rash» «(-)», cough (+)"),
        ("denies fever, «chills»", "Chills", None),
        ("«denies» fever, «chills»", "No chills", None),
        ("no tremor, «weight steady»", "No weight change", None),
        ("No fever, «neck supple»", "No neck stiffness", None),
        ("«afebrile», no chills", "No fever", None),
        ("denies fever but has «chills»", "No chills", None),
        ("Denies fever. «Chills»", "No chills", None),
        ("has «fever»", "No fever", None),
    ],
)
def test_negation_left_out(
    repaired: Repaired, marked: str, feature: str, expected: str | None
) -> None:
    assert repaired("negation-left-out", marked, feature) == expected


def test_a_list_without_joints_is_only_proposed(repaired: Repaired) -> None:
    marked = "she denies jaundice fever «dark urine»"
    expected = "she «denies» jaundice fever «dark urine»"
    assert repaired("negation-left-out", marked, "No dark urine", safe=False) == expected
