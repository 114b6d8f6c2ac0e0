"""Measure what the program says of the mixed notes that only measure, with all its rules.

python measure.py --model MODEL [--sets S_test T_test V_test X_test Y_test]

It prints, for each set, both F1s and which share of the stated, the contradicted and the
unmentioned items is credited, in brackets without what is sent to a person as unsure.
`choose.py` measures a network without the rules.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from reading import CONTRA, HERE, MEASURING, STATED, UNSAID, Note, measured_set, read_mixed

import rubricate
from rubricate import Corpus, CorpusBuilder, Feature, fit_matcher
from rubricate.matchers import load_matcher, shipped_model
from rubricate.measures import evaluate
from rubricate.scoring.results import UNSURE_BY_DEFAULT


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


def credited(notes: list[Note], predicted: Corpus) -> dict[int, str]:
    """Return which share of the items of each outcome is credited, and is so for sure."""
    outcomes = {
        f"{i}.{k}": row[1] for i, note in enumerate(notes) for k, row in enumerate(note["rows"])
    }
    rows = predicted.rows
    found = np.bincount(rows.annotation_row, minlength=len(rows)) > 0
    chance = np.full(len(rows), np.nan) if rows.probability is None else rows.probability
    unsure = UNSURE_BY_DEFAULT
    sure = ~((chance > unsure.low) & (chance < unsure.high))
    said = defaultdict(list)
    for row, feature in enumerate(rows.feature):
        said[outcomes[predicted.features[feature].id]].append((found[row], found[row] & sure[row]))
    return {
        outcome: "{:.3f} ({:.3f})".format(*np.mean(own, axis=0)) for outcome, own in said.items()
    }


def main() -> None:
    """Print one line of Markdown for each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="cascade", help="of the package, a folder or a matcher")
    parser.add_argument("--sets", nargs="+", choices=list(MEASURING), default=list(MEASURING))
    given = parser.parse_args()
    sets: dict[str | None, list[Note]] = defaultdict(list)
    for note in read_mixed(HERE / "mixed"):
        sets[measured_set(note["id"])].append(note)
    known = shipped_model(given.model) is not None or Path(given.model).exists()
    print(
        f"| {given.model} | notes | characters / presence F1 | stated credited (for sure) | "
        "contradicted | not mentioned |\n|---|---|---|---|---|---|"
    )
    for name in given.sets:
        corpus = as_corpus(sets[name])
        unread = corpus.select(notes=[])
        matcher = load_matcher(given.model) if known else fit_matcher(given.model, unread)
        predicted = matcher.predict(corpus)
        found = evaluate(corpus, predicted)
        both = f"{found.characters.total().f1:.3f} / {found.presence.total().f1:.3f}"
        own = credited(sets[name], predicted)
        shares = " | ".join(own[outcome] for outcome in (STATED, CONTRA, UNSAID))
        print(f"| {name} | {len(sets[name])} | {both} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
