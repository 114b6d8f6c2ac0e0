"""Number of modules and functions of the package that one command passes through.

    python benchmarks/walk.py [--only NAME ...] [--list]

Each command runs twice, in a process of its own, on small files; the second run counts, so that
imports and what modules keep stay out. ``--list`` prints the functions in the order in which they
are first called. A shorter way is easier to follow, and easier to change.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import redirect_stdout
from inspect import CO_OPTIMIZED
from io import StringIO
from pathlib import Path
from types import FrameType

INPUTS = Path(__file__).parents[1] / "scripts" / "commands" / "inputs"
NOTE = (
    "pn_num,case_num,pn_history\n"
    '1,A,"34M with left knee pain for 3 months. Denies fever, rash; HR 112. Plan: CBC today."\n'
)
RUBRIC = (
    "feature_num,case_num,feature_text\n"
    "1,A,Right knee pain\n2,A,Fever\n3,A,Tachycardia\n4,A,CBC ordered\n"
)
#: Each command, where {} is the number of the run, and the modules and functions it may pass.
COMMANDS = {
    "score": ("score n.csv --rubric r.csv --assign-case A --out o{}", 75, 450),
    "evaluate": (
        "evaluate small.jsonl small.jsonl --reference-annotator reference"
        " --predicted-annotator second_rater --missing skip",
        25,
        170,
    ),
    "agree": ("agree small.jsonl", 27, 190),
    "convert": ("convert small.jsonl o{} --output-format brat", 18, 100),
    "study evaluate": ("study evaluate s{}", 28, 190),
}
#: What a study has done before its results are evaluated.
STUDY = (
    "population .",
    "plan .",
    "sample .",
    "assign .",
    "simulate . small.jsonl --annotator reference",
    "collect .",
    "curate .",
)


def walk(command: str, *, listed: bool) -> None:
    """Run a command twice in this process, and print what the second run passed through."""
    import rubricate
    from rubricate.cli import main as run

    root = str(Path(rubricate.__file__).parent) + os.sep
    passed: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        ours = event == "call" and code.co_filename.startswith(root)
        # Bodies of modules and classes, lambdas and comprehensions are no functions of their own.
        if ours and code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<"):
            passed[code.co_filename[len(root) :], code.co_qualname] = None

    for number in ("1", "2"):
        if number == "2":
            threading.setprofile(note)
            sys.setprofile(note)
        try:
            with redirect_stdout(StringIO()):
                run(command.replace("{}", number).split())
        except SystemExit as stop:
            if stop.code:
                raise
    sys.setprofile(None)
    modules = {module for module, _ in passed}
    parts = Counter(Path(module).parts[0].removesuffix(".py") for module in modules)
    most = ", ".join(f"{part} {n}" for part, n in parts.most_common(8))
    print(f"{len(modules)}\t{len(passed)}\t{most}")
    if listed:
        print("\n".join(f"{module}:{name}" for module, name in passed), file=sys.stderr)


def prepare(folder: Path, name: str) -> None:
    """Put the files that a command needs into a folder."""
    shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
    (folder / "n.csv").write_text(NOTE, encoding="utf-8")
    (folder / "r.csv").write_text(RUBRIC, encoding="utf-8")
    if not name.startswith("study"):
        return
    for step in STUDY:
        command = [sys.executable, "-P", "-m", "rubricate", "study", *step.split()]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    # What is evaluated already is not evaluated again: each run has a study of its own.
    for number in ("1", "2"):
        shutil.copytree(folder, folder / f"s{number}", ignore=shutil.ignore_patterns("s1"))


def main() -> None:
    """Print a table of all commands, or of those named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=sorted(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--in-process", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_process:
        walk(given.in_process, listed=given.list)
        return
    print(
        "| command | modules | at most | functions | at most | where |\n|---|---|---|---|---|---|"
    )
    for name in given.only:
        command, most_modules, most_functions = COMMANDS[name]
        with tempfile.TemporaryDirectory() as place:
            prepare(Path(place), name)
            own = [sys.executable, str(Path(__file__).absolute()), "--in-process", command]
            listed = ["--list"] if given.list else []
            done = subprocess.run(
                [*own, *listed], cwd=place, stdout=subprocess.PIPE, text=True, check=True,
                stderr=None if given.list else subprocess.DEVNULL,
            )  # fmt: skip
        modules, functions, where = done.stdout.rstrip("\n").split("\n")[-1].split("\t")
        print(
            f"| `{name}` | {modules} | {most_modules} | {functions} | {most_functions} | {where} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
