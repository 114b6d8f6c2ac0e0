from pathlib import Path

import pytest

from rubricate.checking import RULES

DOCS = Path(__file__).parents[2] / "docs" / "checking.md"


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_is_documented(name: str) -> None:
    assert f"| `{name}` |" in DOCS.read_text(encoding="utf-8")


def test_the_table_is_frozen() -> None:
    with pytest.raises(TypeError):
        RULES["new"] = RULES["repeated"]  # type: ignore[index]
