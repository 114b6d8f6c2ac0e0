"""Mixed notes: cases whose features each note states, contradicts or does not mention.

Writers write text files: ``# case``, then its numbered features, then notes, each ``@ register``
and lines that begin with ``>``. ``[3|words]`` states feature 3, ``{3|words}`` contradicts it. The
tables in ``data/mixed`` hold such files, one case a line; ``part`` is the name of its file.

    python training/mixed_files.py FILES                   # print faults and counts
    python training/mixed_files.py FILES --into TABLE      # and add the cases to a table
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

MARK = re.compile(r"\[(\d+(?:,\d+)*)\|([^\[\]{}|]*)\]|\{(\d+(?:,\d+)*)\|([^\[\]{}|]*)\}")

Case = dict[str, Any]


def is_held_out(case: str, one_in: int = 8) -> bool:
    """Tell whether a case of mixed notes is in no training: about one in so many."""
    return sum(map(ord, case)) % one_in == 0


def read_cases(folder: Path) -> list[Case]:
    """Return the cases of all tables of a folder, in the order of their parts."""
    cases = [case for path in folder.glob("*.jsonl") for case in parse(path)[0]]
    return sorted(cases, key=lambda case: str(case["part"]))


def parse(path: Path) -> tuple[list[Case], list[str]]:
    """Return the cases of a table or of a writer's file with their notes, and its faults."""
    cases, faults = _read_table(path) if path.suffix == ".jsonl" else _read_lines(path)
    for case in cases:
        if not case["notes"]:
            faults.append(f"{path}: case {case['name']} has no notes")
        for note in case["notes"]:
            where = f"{path}:{note['at']}"
            faults += [f"{where}: {fault}" for fault in _read_marks(note, case["features"])]
    return cases, faults


def _read_table(path: Path) -> tuple[list[Case], list[str]]:
    """Return the cases of a table with their notes as they are written; a table has no faults."""
    cases = []
    for n, line in enumerate(path.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
        row = json.loads(line)
        notes = [{"register": r, "marked": text, "at": n} for r, text in row["notes"]]
        cases.append(
            {"part": row["part"], "name": row["case"], "features": row["features"], "notes": notes}
        )
    return cases, []


def _read_lines(path: Path) -> tuple[list[Case], list[str]]:
    """Return the cases of a writer's file with their notes as they are written, and faults."""
    cases: list[Case] = []
    faults = []
    case: Any = None
    note: Any = None
    for n, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("# "):
            note = None
            case = {"part": path.stem, "name": line[2:].strip(), "features": {}, "notes": []}
            cases.append(case)
        elif case is not None and line.startswith("@ "):
            note = {"register": line[2:].strip(), "lines": [], "at": n}
            case["notes"].append(note)
        elif note is not None and line.startswith(">"):
            note["lines"].append(line[2:] if line.startswith("> ") else line[1:])
        elif case is not None and note is None and re.match(r"\d+\. ", line):
            number, text = line.split(". ", 1)
            if number in case["features"]:
                faults.append(f"{path}:{n}: feature {number} twice")
            case["features"][number] = text.strip()
        elif line.strip():
            faults.append(f"{path}:{n}: not understood: {line[:40]}")
    for one in cases:
        for own in one["notes"]:
            own["marked"] = "\n".join(own.pop("lines")).strip("\n")
    return cases, faults


def _read_marks(note: Case, features: dict[str, str]) -> list[str]:
    """Give the note its text and marks; return faults."""
    raw = note["marked"]
    faults = []
    out, at, last = [], 0, 0
    marks: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for m in MARK.finditer(raw):
        before = raw[last : m.start()]
        at += len(before)
        last = m.end()
        ids, words, kind = (m[1], m[2], "stated") if m[1] else (m[3], m[4], "contradicted")
        for k in ids.split(","):
            if k not in features:
                faults.append(f"mark of unknown feature {k}")
            marks.setdefault((k, kind), []).append((at, at + len(words)))
        if not words.strip() or words != words.strip():
            faults.append(f"mark {ids} begins or ends with white space or is empty")
        out += [before, words]
        at += len(words)
    text = "".join([*out, raw[last:]])
    if re.search(r"[\[\]{}]", text):
        faults.append("stray bracket")
    both = {k for k, _ in marks if (k, "stated") in marks and (k, "contradicted") in marks}
    if both:
        faults.append(f"stated and contradicted: {sorted(both, key=int)}")
    note.update(text=text, marks=marks)
    return faults


def table_lines(cases: list[Case]) -> list[str]:
    """Return the lines of a table that holds these cases."""
    return [
        json.dumps(
            {
                "part": case["part"],
                "case": case["name"],
                "features": case["features"],
                "notes": [[note["register"], note["marked"]] for note in case["notes"]],
            },
            ensure_ascii=False,
        )
        for case in cases
    ]


def count(cases: list[Case]) -> Counter[str]:
    """Return the numbers of cases, features, notes and outcomes."""
    total = Counter(cases=len(cases))
    for case in cases:
        total["features"] += len(case["features"])
        total["notes"] += len(case["notes"])
        for note in case["notes"]:
            for k in case["features"]:
                kinds = [kind for kind in ("stated", "contradicted") if (k, kind) in note["marks"]]
                total[kinds[0] if kinds else "not mentioned"] += 1
    return total


def main() -> None:
    """Print the faults and counts of the files, and pack them where there are no faults."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--into", type=Path, help="table to add the cases to")
    given = parser.parse_args()
    cases: list[Case] = []
    faults = []
    for path in given.files:
        own, found = parse(path)
        cases += own
        faults += found
    print("\n".join(faults[:40]))
    print(dict(count(cases)), len(faults), "faults")
    if given.into and faults:
        raise SystemExit("nothing was added: mend the faults first")
    if given.into:
        with given.into.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in table_lines(cases))


if __name__ == "__main__":
    main()
