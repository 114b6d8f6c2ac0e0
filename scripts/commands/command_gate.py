"""Run every command of a list and keep, or compare, all that it prints and writes.

A change that must not move a byte is made between the two calls::

    python scripts/commands/command_gate.py record /tmp/before
    python scripts/commands/command_gate.py check /tmp/before

``--only NAME`` runs single lines. What differs is kept beside the folder, in ``FOLDER.now``.
``short`` writes the digests of the lines of ``SHORT`` anew, which the tests compare; do that where
a change is meant.

Each line of ``commands.txt`` is a name and commands joined by ``&&``, which all run, also after one
that fails. They start in a fresh copy of ``inputs`` and see no other files. Exit code, both outputs
and every new file count; clocks, folders and versions are replaced by words, and hashes in files
that cover a clock.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
SHORT_FILE = HERE / "short.tsv"
#: Lines whose outputs hold no float of a library and no binary file: they are equal everywhere.
SHORT = (
    "to-brat", "to-nbme", "to-jsonl", "to-labelstudio", "to-bioc-xml", "to-conll", "to-webanno",
    "tables", "texts", "rubric-kinds", "check-fix", "faulty-tables", "faulty-rubrics",
    "faulty-tools", "faulty-formats",
)  # fmt: skip
#: Files that hold nothing but clocks.
CLOCKS = {"times.json"}
#: Files whose hashes cover a clock.
CHAINED = {"log.jsonl", "run.json", "decisions.jsonl", "record.json"}
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
_HASH = re.compile(rb"\b[0-9a-f]{64}\b")
_VERSION = re.compile(rb"rubricate [0-9]+\.[0-9.]+")
_SPEED = re.compile(rb"[\d,.]+ (?=notes a second|notes/s|s\b)")
Outputs = dict[str, bytes]


def read_commands(file: Path = HERE / "commands.txt") -> dict[str, list[list[str]]]:
    """Return the commands of each line by its name."""
    lines = file.read_text(encoding="utf-8").splitlines()
    named = (line.partition(": ") for line in lines if line.strip() and line[0] != "#")
    return {
        name: [shlex.split(command) for command in commands.split(" && ")]
        for name, _, commands in named
    }


def run_line(commands: Sequence[Sequence[str]], program: Sequence[str]) -> Outputs:
    """Return the printed output of a line's commands, as ``printed``, and the files they write."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "w"
        shutil.copytree(HERE / "inputs", place)
        before = {path: path.stat().st_mtime_ns for path in _files(place)}
        printed = []
        # The width and the hash seed must not be those of who runs it.
        around = os.environ | {"PYTHONHASHSEED": "0", "COLUMNS": "100", "PYTHONPATH": str(SOURCE)}
        for command in commands:
            done = subprocess.run(
                [*program, *command], cwd=place, capture_output=True, env=around, check=False
            )
            printed += [str(done.returncode).encode(), done.stdout, done.stderr]
        found = {"printed": _plain(b"\n--\n".join(printed), place)}
        for path in _files(place):
            if path.name not in CLOCKS and before.get(path) != path.stat().st_mtime_ns:
                found[path.relative_to(place).as_posix()] = _plain(_content(path), place)
        return found


def _files(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*") if path.is_file())


def _content(path: Path) -> bytes:
    if path.suffix in (".xlsx", ".zip", ".docx"):  # what is inside, not how it is packed
        with zipfile.ZipFile(path) as archive:
            names = sorted(set(archive.namelist()) - {"docProps/core.xml"})
            return b"".join(name.encode() + archive.read(name) for name in names)
    content = path.read_bytes()
    return _HASH.sub(b"HASH", content) if path.name in CHAINED else content


def _plain(content: bytes, place: Path) -> bytes:
    content = content.replace(str(place).encode(), b"PLACE")
    return _TIME.sub(b"TIME", _SPEED.sub(b"", _VERSION.sub(b"rubricate VERSION", content)))


def digests(outputs: Outputs) -> dict[str, str]:
    """Return a short digest of each part."""
    return {part: hashlib.sha256(content).hexdigest()[:16] for part, content in outputs.items()}


def main() -> int:
    """Record or compare, and return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("mode", choices=("record", "check", "short"))
    parser.add_argument("folder", type=Path, nargs="?", help="where outputs are kept")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if (given.folder is None) != (given.mode == "short"):
        parser.error("record and check need a folder, short needs none")
    program = [sys.executable, "-P", "-m", "rubricate"]
    commands = read_commands()
    names = given.only or (SHORT if given.mode == "short" else list(commands))
    different = 0
    written = ["name\tpart\tdigest\n"]
    with ThreadPoolExecutor(given.workers) as pool:
        results = pool.map(lambda name: run_line(commands[name], program), names)
        for name, found in zip(names, results, strict=True):
            if given.mode == "short":
                written += [f"{name}\t{part}\t{d}\n" for part, d in digests(found).items()]
                continue
            place = given.folder / name
            if given.mode == "record":
                shutil.rmtree(place, ignore_errors=True)
                for part, content in found.items():
                    (place / part).parent.mkdir(parents=True, exist_ok=True)
                    (place / part).write_bytes(content)
                print(f"{name}: {len(found)} parts, {sum(map(len, found.values())):,} bytes")
                continue
            known = {
                path.relative_to(place).as_posix(): path.read_bytes() for path in _files(place)
            }
            for part in sorted(known.keys() | found.keys()):
                if known.get(part) != found.get(part):
                    different += 1
                    print(f"{name}: {part} differs", flush=True)
                    if part in found:
                        other = place.parent / f"{place.parent.name}.now" / name / part
                        other.parent.mkdir(parents=True, exist_ok=True)
                        other.write_bytes(found[part])
    if given.mode == "short":
        SHORT_FILE.write_text("".join(written), encoding="utf-8")
    if given.mode == "check":
        print(f"{len(names)} lines, {different} parts differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
