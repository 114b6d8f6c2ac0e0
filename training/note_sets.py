"""Read the corpora and the bank into plain notes.

A note is a dictionary with ``id``, ``case``, ``text`` and ``rows``; a row is (feature, outcome,
spans, contradicting spans or None where they are not known).
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mixed_files import is_held_out, read_cases
from texts import DATA, bank_files

csv.field_size_limit(10**9)
#: Outcomes of a row; ABSENT: not stated, whether contradicted is not known.
STATED, CONTRA, ABSENT, UNSAID = 1, 2, 0, 3
OUTCOMES = {"stated": STATED, "contradicted": CONTRA, "not mentioned": UNSAID}
RUBRICS = DATA / "clinicians.tsv"

Spans = list[tuple[int, int]]
Note = dict[str, Any]
Sets = dict[str, list[Note]]


class Sources(NamedTuple):
    """The folders that the notes come from."""

    corpus: Path
    pairs: Path
    clinicians: Path
    mixed: Path = DATA / "mixed"
    rubrics: Path = RUBRICS


def table(path: Path, delimiter: str = ",") -> Iterator[dict[str, str]]:
    """Yield the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter=delimiter)


def read_bank(place: Path) -> list[dict[str, Any]]:
    """Return the features of the bank that have three clauses for and two against them or more."""
    out: list[dict[str, Any]] = []
    for file, text in bank_files(place):
        now: dict[str, Any] | None = None
        for line in text.split("\n"):
            if line.startswith("F "):
                names = [name.strip() for name in line[2:].split("|") if name.strip()]
                now = {"domain": file, "names": names, "plus": [], "minus": []}
                out.append(now)
            elif re.match(r"[+-] [uspltUSPLT] \S", line) and now is not None:
                side = "plus" if line[0] == "+" else "minus"
                now[side].append((line[2].lower(), line[4:].strip()))
    return [b for b in out if len(b["plus"]) >= 3 and len(b["minus"]) >= 2]


def split(text: str) -> tuple[str, Spans]:
    """Return a clause without its double brackets, and the spans that they enclosed."""
    out, spans, at = [], [], 0
    for part in re.split(r"(\[\[|\]\])", text):
        if part == "[[":
            spans.append([at, at])
        elif part == "]]":
            spans[-1][1] = at
        else:
            out.append(part)
            at += len(part)
    return "".join(out), [(first, end) for first, end in spans if end > first]


def read_spans(text: str) -> Spans:
    """Return the spans of ``start end;start end``."""
    pairs = (part.split() for part in text.split(";") if part.strip())
    return [(int(first), int(end)) for first, end in pairs]


def read_tables(folder: Path, absent: int = ABSENT) -> list[Note]:
    """Return the notes of a folder with the tables patient_notes, features and train."""
    features = {r["feature_num"]: r["feature_text"] for r in table(folder / "features.csv")}
    rows: dict[str, list[Any]] = {}
    for r in table(folder / "train.csv"):
        spans = [s for place in ast.literal_eval(r["location"]) for s in read_spans(place)]
        row = (features[r["feature_num"]], STATED if spans else absent, spans, None)
        rows.setdefault(r["pn_num"], []).append(row)
    notes = {r["pn_num"]: r for r in table(folder / "patient_notes.csv")}
    return [
        {"id": i, "case": n["case_num"], "text": n["pn_history"], "rows": rows[i]}
        for i, n in notes.items()
        if i in rows
    ]


def read_outside(folder: Path, choosing: bool) -> list[Note]:
    """Return the notes of others that choose, those with even numbers, or those that measure.

    Where the folder has ``kinds.csv``, a note has ``kinds``: for each row what makes it stated or
    not, as the README of the hospital reports tells; what contradicts is then known.
    """
    notes = [n for n in read_tables(folder, UNSAID) if (int(n["id"]) % 2 == 0) == choosing]
    if not (folder / "kinds.csv").is_file():
        return notes
    kinds = {r["id"]: r["kind"] for r in table(folder / "kinds.csv")}
    own: dict[str, list[str]] = {}
    for r in table(folder / "train.csv"):
        own.setdefault(r["pn_num"], []).append(kinds[r["id"]])
    outcomes = {"S": STATED, "C": CONTRA, "N": UNSAID}
    for note in notes:
        note["kinds"] = own[note["id"]]
        note["rows"] = [
            (feature, outcomes.get(kind[-1], ABSENT), spans, against)
            for (feature, _, spans, against), kind in zip(note["rows"], note["kinds"], strict=True)
        ]
    return notes


def read_pairs(folder: Path) -> list[Note]:
    """Return the notes of the pairs: what is not stated in them is contradicted."""
    facts = {r["pn_num"]: r for r in table(folder / "splits.csv")}
    notes = read_tables(folder, CONTRA)
    for note in notes:
        own = facts[note["id"]]
        note.update(kind=own["kind"], split=own["split"], pair=int(own["pair"]))
    return notes


def read_mixed(folder: Path) -> list[Note]:
    """Return the mixed notes, in which each feature is stated, contradicted or not mentioned."""
    return [
        {
            # The parts were files: the ids of before stay.
            "id": f"{case['part']}.txt:{case['name']}:{k}",
            "case": case["name"],
            "text": note["text"],
            "rows": list(_mixed_rows(case["features"], note["marks"])),
            "kind": "mixed",
        }
        for case in read_cases(folder)
        for k, note in enumerate(case["notes"])
    ]


def _mixed_rows(features: dict[str, str], marks: dict[tuple[str, str], Spans]) -> Iterator[Any]:
    """Yield the rows of one mixed note; a feature both stated and contradicted has none."""
    for i, text in features.items():
        stated, against = marks.get((i, "stated")), marks.get((i, "contradicted"))
        if stated and against:
            continue
        if stated:
            yield text, STATED, stated, None
        elif against:
            yield text, CONTRA, [], against
        else:
            yield text, UNSAID, [], None


def read_rubrics(path: Path) -> dict[str, list[Any]]:
    """Return further rows for notes of clinicians, by note."""
    out: dict[str, list[Any]] = {}
    for r in table(path, "\t"):
        outcome, spans = OUTCOMES[r["outcome"]], read_spans(r["spans"] or "")
        own = spans if outcome == STATED else []
        against = spans if outcome == CONTRA else None
        out.setdefault(r["note"], []).append((r["feature"], outcome, own, against))
    return out


def load_all(sources: Sources) -> Sets:
    """Return the notes by set; what is held out is in sets of its own."""
    sets: Sets = {}
    _add_corpus(sets, sources.corpus)
    _add_clinicians(sets, sources.clinicians, sources.rubrics)
    for note in read_pairs(sources.pairs):
        name = "P_test" if note["split"] == "test" else "P_dev" if note["pair"] % 8 == 5 else "P"
        times = 3 if name == "P" and note["kind"] == "mixed" else 1
        sets.setdefault(name, []).extend([note] * times)
    for note in read_mixed(sources.mixed):
        i, case = note["id"], note["case"]
        sets.setdefault(_mixed_set(i, is_held_out(case, one_in(i))), []).append(note)
    return sets


def mixed_only(sets: Sets) -> Sets:
    """Leave the pure notes of pairs out: all or none of their items are stated."""
    return {
        name: [n for n in notes if n.get("kind", "mixed") == "mixed"]
        for name, notes in sets.items()
    }


def held_out(clinicians: Path, pairs: Path) -> set[str]:
    """Return the ids of the clinicians' notes and the notes of pairs that are for choosing."""
    sets: Sets = {}
    _add_clinicians(sets, clinicians, RUBRICS)
    return {n["id"] for n in [*sets["C_dev"], *read_pairs(pairs)] if n.get("pair", 5) % 8 == 5}


#: Parts of the mixed notes that only measure: what networks were found to fail at, and the same
#: written later.
MEASURING = {
    "S_test": r"w4[1-8]|x(18|19|20|21)|y4[2-9]|z4[1-9]",
    "T_test": r"z[a-g]09",
    "V_test": r"z[j-o]05",
    "X_test": r"zq0[1-3]",
    "Y_test": r"z[rs]0[34]",
    "M_test": r"cm[a-e]\d",
}
#: Parts of hospital reports, letters, and notes by nurses, students and patients.
OF_MANY_WRITERS = re.compile(r"c[a-e]\d")


def measured_set(part: str) -> str | None:
    """Return the set of a part of the mixed notes that only measures; None of the others."""
    return next((name for name, parts in MEASURING.items() if re.match(parts, part)), None)


def one_in(part: str) -> int:
    """Return of how many cases of a part of the mixed notes about one is for choosing."""
    return 5 if OF_MANY_WRITERS.match(part) else 16 if part >= "f" else 8


def _mixed_set(i: str, held: bool) -> str:
    """Return the set of a mixed note: parts from c on hold notes as clinicians write them (`L`).

    Those from f on mark only the words that matter, in every place that states a feature (`N`);
    from s on they are about what networks were found to fail at (`S`), and zz hold texts about
    illnesses that speak of no patient, beside notes that do (`J`). Some only measure (`S_test`,
    and `T_test` of the later ones). Parts ca to ce hold notes of many kinds of writers (`M`).
    """
    if measuring := measured_set(i):
        return measuring
    if OF_MANY_WRITERS.match(i):
        return "M_dev" if held else "M"
    if i >= "f":
        return ("J" if i >= "zz" else "S" if i >= "s" else "N") + ("_dev" if held else "")
    if held:
        return "L_dev" if i >= "d" else "W_dev"
    return "L" if i >= "c" else "W"


def _add_corpus(sets: Sets, folder: Path) -> None:
    """Add open-notes; ``U`` and ``deep_test`` are held out, ``broad_dev`` chooses thresholds."""
    facts = {r["pn_num"]: r for r in table(folder / "splits.csv")}
    part = {r["case_num"]: r["part"] for r in table(folder / "cases.csv")}
    for note in read_tables(folder):
        note["facts"] = facts[note["id"]]
        if part[note["case"]] == "depth":
            name = "deep_test" if note["facts"]["split"] == "test" else "deep"
        else:
            number = int(note["case"])
            name = "U" if number % 5 == 4 else "broad_dev" if number % 10 == 3 else "broad"
        sets.setdefault(name, []).append(note)
    count: dict[str, int] = {}
    for note in sets["deep"]:
        count[note["case"]] = count.get(note["case"], 0) + 1
        note["facts"]["tenth"] = count[note["case"]] <= 10


def _add_clinicians(sets: Sets, folder: Path, rubrics: Path) -> None:
    """Add the notes of clinicians: ``C_test`` is held out, ``C_dev`` (every seventh) chooses."""
    sources = {r["pn_num"]: r["split"] for r in table(folder / "sources.csv")}
    for j, note in enumerate(read_tables(folder)):
        name = "C_test" if sources[note["id"]] == "test" else "C_dev" if j % 7 == 3 else "C"
        sets.setdefault(name, []).append(note)
    more = read_rubrics(rubrics)
    for note in sets["C"]:
        note["rows"] += more.get(note["id"], [])
