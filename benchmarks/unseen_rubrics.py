"""Quality of a model on rubrics it has never seen, and its credit for contradictions.

Run ``python benchmarks/unseen_rubrics.py --model accurate --clinicians DIR --pairs DIR``; the
folders are those of the clinicians' notes (``sources.csv`` says the split) and of the minimal pairs
(``splits.csv``). It prints Markdown: characters and presence F1 without annotated notes on the
test split of the clinicians' notes and on the 26 small cases of the embedded corpus that were in no
training, and which stated and which contradicted items of mixed notes are credited. With
``--diagrams DIR`` it also draws how far the probabilities can be believed, one picture per set.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
from pathlib import Path
from typing import Any

from rubricate import Corpus, fit_matcher, load_corpus, read_corpus
from rubricate.evaluation import Evaluation, evaluate
from rubricate.evaluation.evaluation import add_intervals
from rubricate.matchers import SHIPPED_MODELS, load_matcher
from rubricate.reports.evaluation import reliability_diagram
from rubricate.reports.plots import PlotBin


def chosen(folder: Path, table: str, **wanted: str) -> Corpus:
    """Return the notes of a folder that a table beside them says these values of."""
    with (folder / table).open(encoding="utf-8", newline="") as stream:
        kept = [
            row["pn_num"]
            for row in csv.DictReader(stream)
            if all(row[name] == value for name, value in wanted.items())
        ]
    return read_corpus(folder).select(notes=kept)


def unseen_small_cases() -> Corpus:
    """Return the notes of the 26 small cases that were in no training."""
    embedded = load_corpus("open-notes").select(annotators=["reference"])
    small = [
        n.id for n in embedded.notes if n.metadata["part"] == "breadth" and int(n.case) % 5 == 4
    ]
    return embedded.select(notes=small)


def matcher_of(model: str, corpus: Corpus) -> Any:
    """Return a shipped or saved model, or a matcher that has the rubric alone."""
    if model in SHIPPED_MODELS or Path(model).exists():
        return load_matcher(model)
    return fit_matcher(model, corpus.select(notes=[]))


def credited(reference: Corpus, predicted: Corpus) -> tuple[float, float]:
    """Return the shares of stated and of other items in which something was found."""
    who, system = reference.annotators[0].id, predicted.annotators[0].id
    counts = {True: [0, 0], False: [0, 0]}
    for note in reference.notes:
        for feature in reference.rubric(note.case):
            stated = bool(reference.annotations(note.id, feature.id, who))
            found = bool(predicted.annotations(note.id, feature.id, system))
            counts[stated][0] += found
            counts[stated][1] += 1
    return counts[True][0] / counts[True][1], counts[False][0] / counts[False][1]


def draw(given: argparse.Namespace, name: str, found: Evaluation) -> None:
    """Draw the reliability of the probabilities, and print how far they are off."""
    result = add_intervals(found).calibration
    if given.diagrams is None or result is None:
        return
    bins = [PlotBin(b.probability, b.present, b.n_rows, (b.low, b.high)) for b in result.bins]
    whole = result.overall
    picture = reliability_diagram(
        f"{given.model}, {name}", bins, n_rows=whole.n_rows,
        brier=whole.values["brier"], ece=whole.values["ece"],
    )  # fmt: skip
    short = re.sub("[^a-z]+", "-", name.replace("'", "")).strip("-")
    given.diagrams.mkdir(parents=True, exist_ok=True)
    (given.diagrams / f"{given.model}-{short}.svg").write_text(picture, encoding="utf-8")
    low, high = result.estimates["ece"].low, result.estimates["ece"].high
    print(f"|   ECE {whole.values['ece']:.3f} [{low:.3f}, {high:.3f}] | | | |", flush=True)


def main() -> None:
    """Measure one model on all sets that were given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="fast", help="fast, accurate, cascade, lexicon, FOLDER")
    parser.add_argument("--clinicians", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--diagrams", type=Path)
    given = parser.parse_args()
    sets = {"26 unseen small cases": unseen_small_cases()}
    if given.clinicians:
        sets["clinicians' notes, test"] = chosen(given.clinicians, "sources.csv", split="test")
    print(f"| {given.model} | characters / presence F1 | notes | notes per second |")
    print("|---|---|---|---|")
    for name, corpus in sets.items():
        begun = time.perf_counter()
        predicted = matcher_of(given.model, corpus).predict(corpus)
        speed = len(corpus.notes) / (time.perf_counter() - begun)
        found = evaluate(corpus, predicted, reference_annotator=corpus.annotators[0].id)
        both = f"{found.characters.total().f1:.3f} / {found.presence.total().f1:.3f}"
        print(f"| {name} | {both} | {len(corpus.notes)} | {speed:.1f} |", flush=True)
        draw(given, name, found)
    if given.pairs:
        corpus = chosen(given.pairs, "splits.csv", kind="mixed", split="test")
        predicted = matcher_of(given.model, corpus).predict(corpus)
        draw(given, "mixed notes of pairs", evaluate(corpus, predicted))
        stated, contradicted = credited(corpus, predicted)
        print(f"\nmixed notes: {stated:.3f} of stated, {contradicted:.3f} of contradicted credited")


if __name__ == "__main__":
    main()
