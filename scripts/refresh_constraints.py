"""Pin every package that the checks and tests install, in constraints.txt.

    make constraints        # the newest versions that pyproject.toml allows
    python scripts/refresh_constraints.py --installed    # those of this environment

Lines of constraints.txt under "Held" are kept as they are; everything else is written anew. Run
``make test`` and ``make audit`` with the new versions before you commit them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FILE = ROOT / "constraints.txt"
EXTRAS = ("formats", "neural", "spacy", "train", "dask", "web", "oidc", "postgres", "docs", "dev")
HEAD = """# What the tests install. Refreshed by `make constraints`, looked through by `make audit`.
# Held: torch at a release for which CPU builds are at hand.
{held}
# Everything else.
{pins}
"""


def held_lines(text: str) -> list[str]:
    r"""Return the pins that stay: those before "Everything else", all where it is not there.

    Examples
    --------
    >>> held_lines("# Held.\ntorch==2.13.0\n# Everything else.\nnumpy==2.0\n")
    ['torch==2.13.0']
    """
    above = text.partition("# Everything else.")[0]
    return [line for line in above.splitlines() if line and not line.startswith("#")]


def normal(name: str) -> str:
    """Return the normal form of a package's name.

    Examples
    --------
    >>> normal("Ahocorasick_rs")
    'ahocorasick-rs'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extras: frozenset[str], found: dict[str, str], seen: set[str]) -> None:
    """Collect the versions of a package's requirements, and of theirs, in this environment."""
    for text in distribution(name).requires or ():
        one = Requirement(text)
        wanted = [{"extra": extra} for extra in extras] or [{"extra": ""}]
        if one.marker is not None and not any(one.marker.evaluate(each) for each in wanted):
            continue
        key = f"{normal(one.name)} {sorted(one.extras)}"
        if key in seen:
            continue
        seen.add(key)
        try:
            version = distribution(one.name).version
        except PackageNotFoundError:
            continue
        found[normal(one.name)] = version.partition("+")[0]
        needed(one.name, frozenset(one.extras), found, seen)


def newest(held: list[str]) -> dict[str, str]:
    """Return the newest versions that pip would install for the tests beside the held ones."""
    with tempfile.TemporaryDirectory() as folder:
        kept, report = Path(folder, "held.txt"), Path(folder, "report.json")
        kept.write_text("\n".join(held) + "\n", encoding="utf-8")
        pip = [sys.executable, "-P", "-m", "pip", "install", "--quiet", "--dry-run"]
        more = [
            "--ignore-installed",
            "--constraint",
            str(kept),
            "--report",
            str(report),
            f"{ROOT}[{','.join(EXTRAS)}]",
        ]
        subprocess.run([*pip, *more], check=True)
        listed = json.loads(report.read_bytes())["install"]
    pairs = {one["metadata"]["name"]: one["metadata"]["version"] for one in listed}
    pairs.pop("rubricate", None)
    return {normal(name): version.partition("+")[0] for name, version in pairs.items()}


def main() -> None:
    """Read the options and write constraints.txt."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--installed", action="store_true", help="pin what is installed here")
    given = parser.parse_args()
    held = held_lines(FILE.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    if given.installed:
        needed("rubricate", frozenset(EXTRAS), found, set())
    else:
        found = newest(held)
    for line in held:
        found.pop(normal(line.partition("==")[0]), None)
    pins = "\n".join(f"{name}=={version}" for name, version in sorted(found.items()))
    FILE.write_text(HEAD.format(held="\n".join(held), pins=pins), encoding="utf-8")
    print(f"{len(held)} held, {len(found)} pinned in {FILE.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
