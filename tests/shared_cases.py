"""Cases that Python and the scripts of the pages share, so that both have the same rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "frontend" / "tests" / "cases"


def shared_cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of a rule."""
    cases: list[dict[str, Any]] = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    assert cases
    return cases
