"""Measure what the program says of notes that only measure, with all its rules.

python measure.py --models cascade fast accurate lexicon [--sets S_test C_test ...]
        [--corpus FOLDER --pairs FOLDER --clinicians FOLDER] [--outside FOLDER ...]

It prints, for each set and model, both F1s; which share of the stated, the contradicted and the
unmentioned items is credited, in brackets without what is sent to a person as unsure; the expected
calibration error; and how many decisions are wrong, in brackets those that nobody reviews. Of a
folder of others' notes the even numbers choose and the odd ones measure; if it tells kinds (what is
hypothetical, over, another's), a further line counts what is credited of each. `choose.py` measures
a network without the rules.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from note_sets import (
    CONTRA,
    MEASURING,
    STATED,
    UNSAID,
    Note,
    Sources,
    load_all,
    measured_set,
    mixed_only,
    read_mixed,
    read_outside,
)
from texts import DATA

import rubricate
from rubricate import Corpus, CorpusBuilder, Feature, fit_matcher
from rubricate.arrays import F64, Bools
from rubricate.evaluation import evaluate
from rubricate.matchers import load_matcher, shipped_model
from rubricate.scoring.results import UNSURE_BY_DEFAULT
from rubricate.stats.calibration import expected_calibration_error

#: Sets of the corpora that only measure, beside the mixed notes.
OF_CORPORA = ("C_test", "U", "P_test")
HEAD = (
    "| set | model | notes | characters / presence F1 | stated credited (for sure) | contradicted "
    "| not mentioned | calibration error | wrong (not reviewed) | seconds |\n" + "|---" * 10 + "|"
)


def as_corpus(notes: list[Note]) -> Corpus:
    """Return notes as a corpus in which each has a rubric of its own."""
    builder = CorpusBuilder()
    for i, note in enumerate(notes):
        builder.add_note(rubricate.Note(str(i), str(i), note["text"]))
        for k, (text, _, spans, _) in enumerate(note["rows"]):
            builder.add_feature(Feature(f"{i}.{k}", str(i), text))
            builder.judge("reference", str(i), f"{i}.{k}")
            for span in spans:
                builder.annotate("reference", str(i), f"{i}.{k}", [span])
    return builder.build()


class Decisions:
    """A model's decision on each item, beside the label."""

    def __init__(self, notes: list[Note], predicted: Corpus) -> None:
        rows = predicted.rows
        place = [predicted.features[f].id.split(".") for f in rows.feature]
        own = [(notes[int(i)], int(k)) for i, k in place]
        self.outcome = np.array([note["rows"][k][1] for note, k in own])
        self.kind = np.array([note["kinds"][k] if "kinds" in note else "" for note, k in own])
        self.found: Bools = np.bincount(rows.annotation_row, minlength=len(rows)) > 0
        nothing = np.full(len(rows), np.nan)
        self.chance: F64 = nothing if rows.probability is None else rows.probability
        unsure = UNSURE_BY_DEFAULT
        self.sure: Bools = ~((self.chance > unsure.low) & (self.chance < unsure.high))

    def credited(self, which: Bools) -> str:
        """Return the credited share of some items, and the share credited with certainty."""
        if not which.any():
            return "–"
        found, sure = self.found[which], (self.found & self.sure)[which]
        return f"{found.mean():.3f} ({sure.mean():.3f})"

    def line(self) -> list[str]:
        """Return the cells of a table."""
        stated = self.outcome == STATED
        wrong = self.found != stated
        told = ~np.isnan(self.chance)
        error = expected_calibration_error(stated[told], self.chance[told])
        return [
            *(self.credited(self.outcome == one) for one in (STATED, CONTRA, UNSAID)),
            f"{error:.3f}",
            f"{wrong.sum()} ({(wrong & self.sure).sum()})",
        ]

    def by_kind(self) -> str:
        """Return the number of credited items of each kind."""
        own = [(kind, self.found[self.kind == kind]) for kind in sorted({*self.kind.tolist()})]
        return ", ".join(f"{kind} {found.sum()} of {len(found)}" for kind, found in own)


def read_sets(given: argparse.Namespace) -> dict[str, list[Note]]:
    """Return the notes of all sets asked for."""
    sets: dict[str, list[Note]] = defaultdict(list)
    for note in read_mixed(DATA / "mixed"):
        if name := measured_set(note["id"]):
            sets[name].append(note)
    if given.corpus:
        sources = Sources(given.corpus, given.pairs, given.clinicians)
        sets |= {name: mixed_only(load_all(sources))[name] for name in OF_CORPORA}
    outside = {path.name: read_outside(path, choosing=False) for path in given.outside}
    asked = given.sets or (*MEASURING, *(OF_CORPORA if given.corpus else ()))
    return {name: sets[name] for name in asked} | outside


def main() -> None:
    """Print one line of Markdown for each set and model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="+", default=["cascade"], help="shipped, or folders")
    parser.add_argument("--sets", nargs="*", choices=[*MEASURING, *OF_CORPORA])
    for name in ("corpus", "pairs", "clinicians"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--outside", type=Path, nargs="+", default=[])
    given = parser.parse_args()
    print(HEAD)
    for name, notes in read_sets(given).items():
        corpus = as_corpus(notes)
        for model in given.models:
            known = shipped_model(model) is not None or Path(model).exists()
            unread = corpus.select(notes=[])
            matcher = load_matcher(model) if known else fit_matcher(model, unread)
            begun = time.process_time()
            predicted = matcher.predict(corpus)
            spent = time.process_time() - begun
            found = evaluate(corpus, predicted)
            both = f"{found.characters.total().f1:.3f} / {found.presence.total().f1:.3f}"
            said = Decisions(notes, predicted)
            cells = [name, model, str(len(notes)), both, *said.line(), f"{spent:.0f}"]
            print(f"| {' | '.join(cells)} |", flush=True)
            if said.kind.any():
                print(f"{name}, {model}: {said.by_kind()}", flush=True)


if __name__ == "__main__":
    main()
