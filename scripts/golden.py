"""Freeze what the reader finds, and compare it after a change that must change nothing.

    python scripts/golden.py freeze FOLDER       # before the change
    python scripts/golden.py check FOLDER        # after it: exit status 1 where anything differs
    python scripts/golden.py hashes [--write]    # the short form: hashes of golden.sha256

Four levels are kept for each note and feature: how notes are read, how requirements are read, what
each rule says of each candidate, and what each matcher decides. Spans, outcomes and reasons must be
equal; probabilities may differ by ``TOLERANCE`` and are in no hash of a matcher. The outputs of
networks are computed once per machine and kept in ``~/.cache/rubricate-golden``, so that another
processor can neither hide nor fake a change of a rule.

``--corpus PATH`` adds notes from outside the repository, in any format that ``rubricate`` reads.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import pickle
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "training"))

import numpy as np  # noqa: E402
from note_sets import read_mixed  # noqa: E402
from texts import DATA, OTHER_TEXTS, read_texts  # noqa: E402

from rubricate import Feature, load_corpus  # noqa: E402
from rubricate.effects.cases import LINES, read_cases  # noqa: E402
from rubricate.formats import read_corpus  # noqa: E402
from rubricate.matchers.lexicon.matcher import (  # noqa: E402
    propose_from_rubric,
    votes_from_rubric,
)
from rubricate.matchers.predictions import (  # noqa: E402
    NoteFindings,
    decide,
    in_plain_words,
    in_rows,
)
from rubricate.reading.clean import clean_text  # noqa: E402
from rubricate.rubric import Rubric  # noqa: E402
from rubricate.rules.reasons import Reason, in_words  # noqa: E402

HASHES = HERE / "golden.sha256"
CACHE = Path.home() / ".cache" / "rubricate-golden"
#: Probabilities and confidences are written with so many digits, and may differ by so much.
DIGITS, TOLERANCE = 6, 2e-4
#: Differences that are printed of each file.
SHOWN = 20


class GoldenSet(NamedTuple):
    """Notes with the rubric that each is read for."""

    name: str
    notes: tuple[tuple[Rubric, str], ...]


def mixed(step: int) -> GoldenSet:
    """Return every so many of the mixed notes, which have all three outcomes."""
    notes = read_mixed(DATA / "mixed")[::step]
    return GoldenSet(
        "mixed", tuple((_rubric([row[0] for row in n["rows"]]), n["text"]) for n in notes)
    )


def embedded(step: int) -> GoldenSet:
    """Return every so many of the notes that come with the package."""
    corpus = load_corpus("open-notes")
    rubrics = {case: corpus.rubric(case) for case in {note.case for note in corpus.notes}}
    return GoldenSet("embedded", tuple((rubrics[n.case], n.text) for n in corpus.notes[::step]))


def probes() -> GoldenSet:
    """Return the single lines of the cases of rules, each with one feature."""
    cases = read_cases(LINES)
    return GoldenSet("probes", tuple((_rubric([one.feature]), one.note) for one in cases))


def no_notes() -> GoldenSet:
    """Return texts that are no clinical notes."""
    rubric = _rubric(["Fever", "Chest pain on exertion", "Smoker", "Plan: blood test ordered"])
    texts = read_texts(OTHER_TEXTS).values()
    return GoldenSet("no-notes", tuple((rubric, text) for text in texts))


#: What odd notes are put together from: marks, line ends, letters of several code units.
_ODD = (
    "", " ", "-", "- chest pain", "\r\n", "\u00a0", "e\u0301dema", "\U0001f600", "??", "BP 120/80",
    "no", "No fever", "denies", "mother:", "x3", "5'4\"", "½", "L>R", "1.", "•", "\t", "(-) rash",
    "?PE", "neg", "w/o cough", "c/o SOB", "HR 112", "T 38.5", "LMP 2/52", "::", "\n\n", "PMH: nil",
    "Plan:", "start aspirin", "left knee pain", "∅", "ø", "^^", "lorem", "10-15", "/d", "x-ray",
    "a/p", "º",
)  # fmt: skip


def odd(n: int) -> GoldenSet:
    """Return texts of marks, of half characters, of no words, and one of many tokens."""
    chance = random.Random(7)
    rubric = _rubric(
        ["Chest pain", "No fever", "Right knee pain", "Tachycardia", "Aspirin", "?", "3"]
    )
    texts = [
        chance.choice([" ", "\n", ", ", ""]).join(chance.choices(_ODD, k=chance.randint(0, 9)))
        for _ in range(n)
    ]
    texts.append("denies fever, chest pain 3 days; " * 600)
    return GoldenSet("odd", tuple((rubric, text) for text in texts))


def outside(path: str, step: int) -> GoldenSet:
    """Return every so many of the notes of a corpus from outside the repository."""
    corpus = read_corpus(path)
    rubrics = {case: corpus.rubric(case) for case in {note.case for note in corpus.notes}}
    notes = [note for note in corpus.notes if len(rubrics[note.case])]
    return GoldenSet(Path(path).stem, tuple((rubrics[n.case], n.text) for n in notes[::step]))


def _rubric(features: Sequence[str]) -> Rubric:
    return Rubric("c", tuple(Feature(str(k), "c", text) for k, text in enumerate(features)))


def _plain(value: object) -> Any:
    """Return a value as JSON has it: sets in order, numbers with few digits."""
    if isinstance(value, frozenset | set):
        return sorted((_plain(one) for one in value), key=repr)
    if isinstance(value, Reason):
        return in_words(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(one) for name, one in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.{DIGITS}g}")
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    return value if isinstance(value, int | str | bool | None) else repr(value)


# What is kept -------------------------------------------------------------------------------------


def readings(golden: GoldenSet) -> Iterator[Any]:
    """Yield how each note is read, before any feature is known."""
    from rubricate.matchers.wording.reading import read_columns
    from rubricate.reading.diagnoses import find_diagnoses
    from rubricate.reading.note import read_note
    from rubricate.reading.senses import find_senses

    columns = ("text", "tokens", "starts", "clause", "scope", "cue", "negations", "quantities",
               "quantity_starts", "clauses")  # fmt: skip

    for text in dict.fromkeys(text for _, text in golden.notes):
        lexical, note = read_columns(text), read_note(text)
        yield _plain({
            "text": {name: getattr(note, name) for name in columns},
            "contexts": note.contexts, "sections": note.sections,
            "measured": note.measurements, "years": note.child_years,
            "tests": note.tests, "senses": find_senses(text, note.raw),
            "diagnoses": find_diagnoses(text, note.raw),
            "lexical": [lexical.clause, lexical.item, lexical.scope, lexical.cue],
        })  # fmt: skip


def requirements(golden: GoldenSet) -> Iterator[Any]:
    """Yield how each feature is read."""
    from rubricate.requirement.alternative import read_wording
    from rubricate.requirement.checklist import plain_wording
    from rubricate.requirement.requirement import read_requirement
    from rubricate.requirement.values import asked_values

    columns = ("negated", "plainly_negated", "quantities", "numerals", "counts", "sides",
               "heights", "sites", "persons", "any_relative", "drugs", "drug_names", "matters",
               "types", "limit", "forms", "about_advice")  # fmt: skip
    for text in dict.fromkeys(f.text for rubric, _ in golden.notes for f in rubric):
        asked = read_requirement(text)
        profile = {
            "feature": Feature("f", "c", text), "kind": asked.kind, "words": asked.roots,
            "quantities": asked.quantities,
            "alternatives": [{"feature": 0, "words": one.roots, "negated": one.asks_denial,
                              "family": one.family, "quantities": one.wording.quantities}
                             for one in asked.alternatives],
        }  # fmt: skip
        yield _plain({
            "feature": text, "plain": plain_wording(text), "topic": asked.topic,
            "asked": [{name: getattr(one, name) for name in columns} | {"words": one.stems}
                      for one in asked.alternatives],
            "values": asked_values(text), "test": bool(asked.tests.tests),
            "return": asked.wants_return_advice, "now": asked.wants_now,
            "wording": read_wording(text), "profile": profile,
        })  # fmt: skip


def verdicts(golden: GoldenSet) -> Iterator[Any]:
    """Yield what every rule says of the words that the lexicon finds for a feature."""
    from rubricate.reading.note import find_place, read_note
    from rubricate.requirement.requirement import read_requirement
    from rubricate.rules.claims import why_surely_not
    from rubricate.rules.diagnosis import judge_diagnosis
    from rubricate.rules.measured import judge_measured
    from rubricate.rules.plan import find_planned
    from rubricate.rules.registry import _CHECKS, explain_contradiction, gives_asked_number
    from rubricate.rules.tests import find_ordered
    from rubricate.rules.time import says_nothing_of_now

    for rubric, text, said in _found_by_lexicon(golden):
        reading = read_note(text)
        for feature in rubric:
            asked = read_requirement(feature.text)
            items = (
                find_planned(asked, reading),
                judge_measured(asked, reading),
                judge_diagnosis(asked, reading, []),
                bool(asked.tests.tests) and find_ordered(asked, reading),
            )
            yield _plain({"feature": feature.text, "items": items})
        spoken = [(one.feature, one.spans) for one in said.found]
        spoken += [(key, one.spans) for key, one in said.contradictions.items()]
        wording = {feature.id: feature.text for feature in rubric}
        for key, spans in spoken:
            place, asked = find_place(reading, spans), read_requirement(wording[key])
            if place is None:
                continue
            yield _plain({
                "feature": wording[key], "spans": spans,
                "rules": [[check(one, place) for check in _CHECKS.values()]
                          for one in asked.alternatives],
                "surely not": why_surely_not(asked, reading, spans),
                "nothing of now": says_nothing_of_now(asked, reading, spans),
                "explained": explain_contradiction(asked, reading, spans),
                "number": gives_asked_number(asked, reading, spans),
            })  # fmt: skip


def _found_by_lexicon(golden: GoldenSet) -> Iterator[tuple[Rubric, str, NoteFindings]]:
    for rubric, text in golden.notes:
        asked = _asked(rubric)
        yield asked, text, in_rows(votes_from_rubric(asked, [text])[0])


def _asked(rubric: Rubric) -> Rubric:
    return in_plain_words(rubric, lambda feature: False)


def by_lexicon(golden: GoldenSet) -> Iterator[Any]:
    """Yield what the lexicon decides from the rubric alone."""
    for rubric, text in golden.notes:
        asked, cleaned = _asked(rubric), clean_text(text)
        (proposed,) = propose_from_rubric(asked, [cleaned])
        yield _decided(in_rows(decide(asked, cleaned, proposed, wordings=rubric, text=text)))


def by_fast(golden: GoldenSet) -> Iterator[Any]:
    """Yield what the smaller network decides, with its outputs from the cache."""
    from rubricate.neural.encoder.decoding import HeardNote, lexicon_votes
    from rubricate.neural.encoder.matcher import EncoderMatcher

    matcher = EncoderMatcher(network="fast", threads=1)
    matcher._start()  # what is read from the cache opens nothing
    for rubric, text in golden.notes:
        asked, cleaned = _asked(rubric), clean_text(text)
        said = _outputs(matcher, asked, cleaned)
        heard = HeardNote([(p[0], rows[0]) for p, rows in said], lexicon_votes(asked, [cleaned])[0])
        proposed = matcher.proposed(asked, cleaned, heard, 0.5)
        yield _decided(in_rows(decide(asked, cleaned, proposed, wordings=rubric, text=text)))


def _outputs(matcher: Any, rubric: Rubric, text: str) -> Any:
    """Return the networks' outputs for a note; computed once, then read from the cache."""
    key = json.dumps([matcher.get_params(), [f.text for f in rubric], text]).encode()
    path = CACHE / "outputs" / f"{hashlib.sha256(key).hexdigest()}.pkl"
    if path.is_file():
        return pickle.loads(path.read_bytes())
    said = matcher._read(rubric, [text])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(said))
    return said


def _decided(said: NoteFindings) -> Any:
    """Return the decisions about a note, feature by feature."""
    found: dict[str, list[Any]] = {}
    for one in said.found:
        found.setdefault(one.feature, []).append([one.spans, one.confidence, one.reason])
    keys = sorted({*found, *said.contradictions, *said.probabilities})
    return _plain({
        key: {
            "found": found.get(key, []),
            "against": said.contradictions.get(key),
            "probability": said.probabilities.get(key),
        }
        for key in keys
    })  # fmt: skip


LEVELS: dict[str, Callable[[GoldenSet], Iterator[Any]]] = {
    "readings": readings,
    "requirements": requirements,
    "verdicts": verdicts,
    "lexicon": by_lexicon,
    "fast": by_fast,
}
#: Levels with probabilities, which another processor rounds otherwise.
MATCHERS = ("lexicon", "fast")


# Freezing and comparing ---------------------------------------------------------------------------


def sets_of(quick: bool, corpora: Sequence[str] = ()) -> list[GoldenSet]:
    """Return the sets of the long or of the short form."""
    if quick:
        return [probes(), odd(60), no_notes(), mixed(60), embedded(60)]
    inside = [probes(), odd(300), no_notes(), mixed(8), embedded(5)]
    return inside + [outside(path, 10) for path in corpora]


def freeze(folder: Path, sets: Sequence[GoldenSet], levels: Sequence[str]) -> None:
    """Write what is found now."""
    folder.mkdir(parents=True, exist_ok=True)
    for golden in sets:
        for level in levels:
            with gzip.open(
                folder / f"{golden.name}.{level}.jsonl.gz", "wt", encoding="utf-8"
            ) as out:
                lines = [json.dumps(line) + "\n" for line in LEVELS[level](golden)]
                out.writelines(lines)
            print(f"{golden.name} {level}: {len(lines)} lines", flush=True)


def check(folder: Path, sets: Sequence[GoldenSet], levels: Sequence[str]) -> int:
    """Print every difference to what was frozen; return how many there are."""
    total = 0
    for golden in sets:
        for level in levels:
            with gzip.open(
                folder / f"{golden.name}.{level}.jsonl.gz", "rt", encoding="utf-8"
            ) as kept:
                pairs = zip_longest(map(json.loads, kept), LEVELS[level](golden))
                wrong = lines = 0
                for number, (before, after) in enumerate(pairs):
                    lines += 1
                    after = json.loads(json.dumps(after))
                    for where in differences(before, after):
                        wrong += 1
                        if wrong <= SHOWN:
                            print(f"{golden.name} {level} line {number}: {where}")
            total += wrong
            print(f"{golden.name} {level}: {lines} lines, {wrong} differences", flush=True)
    return total


def differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Yield where two JSON values differ, numbers by more than the tolerance."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from differences(before.get(key), after.get(key), f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{where}[{i}]")
    elif isinstance(before, float) or isinstance(after, float):
        numbers = isinstance(before, float | int) and isinstance(after, float | int)
        if not numbers or abs(before - after) > TOLERANCE * max(1.0, abs(before)):
            yield f"{where}: {before} -> {after}"
    elif before != after:
        yield f"{where}: {before!r} -> {after!r}"


def hash_lines(sets: Sequence[GoldenSet], levels: Sequence[str]) -> list[str]:
    """Return a hash of each set and level, of all but probabilities."""
    return [
        f"{golden.name} {level} {_hash(LEVELS[level](golden), whole=level not in MATCHERS)}"
        for golden in sets
        for level in levels
    ]


def _hash(lines: Iterator[Any], *, whole: bool) -> str:
    digest = hashlib.sha256()
    for line in lines:
        kept = line if whole else _without_floats(line)
        digest.update(json.dumps(kept, sort_keys=True).encode())
    return digest.hexdigest()


def _without_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_floats(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_floats(one) for one in value]
    return None if isinstance(value, float) else value


#: Levels of the short form; a network runs otherwise on another processor.
QUICK_LEVELS = ("readings", "requirements", "verdicts", "lexicon")


def main() -> None:
    """Freeze, check, or compare hashes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("verb", choices=("freeze", "check", "hashes"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true", help="the sets of the short form")
    parser.add_argument("--level", action="append", choices=LEVELS)
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--corpus", action="append", default=[])
    parser.add_argument("--write", action="store_true", help="write the hashes")
    args = parser.parse_args()
    levels = args.level or (QUICK_LEVELS if args.verb == "hashes" else list(LEVELS))
    sets = sets_of(args.quick or args.verb == "hashes", args.corpus)
    sets = [one for one in sets if not args.sets or one.name in args.sets]
    if args.verb == "hashes":
        lines = hash_lines(sets, levels)
        if args.write:
            HASHES.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return
        kept = HASHES.read_text(encoding="utf-8").splitlines()
        wrong = [line for line in lines if line not in kept]
        print("\n".join(f"differs: {line}" for line in wrong) or f"{len(lines)} hashes are equal")
        sys.exit(bool(wrong))
    if args.folder is None:
        parser.error("name the folder of what was frozen")
    if args.verb == "freeze":
        freeze(args.folder, sets, levels)
    else:
        sys.exit(check(args.folder, sets, levels) > 0)


if __name__ == "__main__":
    main()
