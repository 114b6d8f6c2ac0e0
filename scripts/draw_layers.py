"""Draw the layers of the code in docs/architecture.md.

Run: python scripts/draw_layers.py

The layers are those of tests/test_layers.py, and the words those of each part's first line.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_layers import drawing

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"

if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    block = f"```\n{drawing()}\n```"
    PAGE.write_text(
        re.sub(r"^```\n.*?^```$", lambda _: block, text, count=1, flags=re.M | re.S),
        encoding="utf-8",
    )
