"""Gain of each switch of `fit`: ten notes of a case the network never saw, and its test notes.

The network must not know the case: the run ``new`` of `training/earlier/train_matcher.py` leaves
the deep cases 5 to 9 out; `benchmarks/encoder_fit.py` shows how its weights become a model
folder. The case's other training notes are there without their annotations. One thread, one seed.

Run: python benchmarks/encoder_switches.py --model .neural/new/model --case 5
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from rubricate import Corpus, load_corpus
from rubricate.evaluation import evaluate
from rubricate.neural.encoder.matcher import EncoderMatcher

SWITCHES: dict[str, dict[str, Any]] = {
    "usual": {},
    "folds": {"folds": 5},
    "pseudo": {"pseudo": 0.5},
    "language": {"language_steps": 60},
    "twice": {"twice": 1.0},
    "perturbed": {"perturbed": 0.005},
    "positive": {"positive": 2.0},
    "no average": {"average": 0.0},
}


def learning_notes(own: Corpus, n_notes: int) -> Corpus:
    """Return the training notes of a case, of which only the first so many keep their rows."""
    train = own.select(notes=lambda note: note.metadata["split"] == "train")
    return train.with_rows(train.rows.take(train.rows.note < n_notes), train.annotators)


def figures(matcher: EncoderMatcher, test: Corpus) -> str:
    """Return both figures on the test notes, in one pass."""
    values = evaluate(test, matcher.predict(test)).to_dict()
    return f"{values['characters']['f1']:.4f} | {values['presence']['f1']:.4f}"


def main() -> None:
    """Print one line for each switch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--case", default="5")
    parser.add_argument("--notes", type=int, default=10)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=list(SWITCHES), choices=list(SWITCHES))
    given = parser.parse_args()
    own = load_corpus("open-notes").select(cases=[given.case], annotators=["reference"])
    learn = learning_notes(own, given.notes)
    test = own.select(notes=lambda note: note.metadata["split"] == "test")
    n_judged = len(np.unique(learn.rows.note))
    print(f"case {given.case}: {n_judged} of {len(learn.notes)} notes annotated", flush=True)
    print("| switch | characters F1 | presence F1 | processor seconds |", flush=True)
    for name in given.only:
        matcher = EncoderMatcher(
            threads=1, seed=given.seed, steps=given.steps, recipe=SWITCHES[name]
        )
        matcher._open(given.model)
        begun = time.process_time()
        matcher.fit(learn)
        spent = time.process_time() - begun
        print(f"| {name} | {figures(matcher, test)} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
