"""Run the commands shown in README.md and docs/ and write what they print below them.

Blocks marked ``console`` are run in a scratch folder, page by page; a command shown without output
stays without. Run: .venv/bin/python scripts/refresh_transcripts.py [PAGE ...]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def refresh(page: Path) -> None:
    """Rewrite one page."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:

        def run(match: re.Match[str]) -> str:
            lines = match.group(1).splitlines()
            starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
            shown = []
            for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
                done = subprocess.run(
                    lines[start][2:],
                    shell=True,
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                if done.returncode:
                    raise SystemExit(f"{page.name}: {lines[start]}\n{done.stderr}")
                shown.append(lines[start])
                old = "\n".join(lines[start + 1 : end])
                if old.strip():
                    shown.append(old if "..." in old else done.stdout.rstrip("\n"))
            return "```console\n" + "\n".join(shown) + "\n```"

        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(run, text), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["README.md", *map(str, (ROOT / "docs").glob("*.md"))]:
        refresh(ROOT / name)
