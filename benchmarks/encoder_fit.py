"""Gain, cost and forgetting when a shipped network is fitted to a few notes of unseen cases.

Run ``python benchmarks/encoder_fit.py --model fast --pairs DIR``; the folder is that of the minimal
pairs (``splits.csv``). It prints Markdown, before and after a fit to the first notes of some cases:
characters and presence F1 on further notes of these cases and on six other unseen ones, and which
stated and which contradicted items of mixed notes are credited.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

from rubricate import Corpus, load_corpus
from rubricate.evaluation import evaluate
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import SHIPPED
from unseen_rubrics import chosen, credited, unseen_small_cases


def notes_of(corpus: Corpus, cases: Iterable[str], first: int, end: int) -> Corpus:
    """Return the notes of each case from the first up to the end."""
    own = {case: [note.id for note in corpus.notes if note.case == case] for case in cases}
    return corpus.select(notes=[i for ids in own.values() for i in ids[first:end]], cases=list(own))


def figures(matcher: EncoderMatcher, sets: list[Corpus], pairs: Corpus | None) -> str:
    """Return both F1 of each set, and the shares of stated and contradicted items credited."""
    cells = []
    for corpus in sets:
        found = evaluate(corpus, matcher.predict(corpus), reference_annotator="reference")
        cells.append((found.characters.total().f1, found.presence.total().f1))
    if pairs is not None:
        cells.append(credited(pairs, matcher.predict(pairs)))
    return " | ".join(f"{one:.3f} / {other:.3f}" for one, other in cells)


def main() -> None:
    """Measure before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="fast", choices=SHIPPED)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--cases", nargs="+", default=["14", "19", "24", "29"])
    parser.add_argument("--notes", type=int, default=5, help="of each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    embedded = load_corpus("open-notes").select(annotators=["reference"])
    unseen = unseen_small_cases()
    others = {note.case for note in unseen.notes} - set(given.cases)
    sets = [
        notes_of(embedded, given.cases, given.notes, given.notes + 10),
        notes_of(unseen, sorted(others, key=int)[:6], 0, 10),
    ]
    pairs = None
    if given.pairs:
        pairs = chosen(given.pairs, "splits.csv", kind="mixed", split="test")
    matcher = EncoderMatcher(network=given.model, seed=given.seed, threads=given.threads)
    own, further = (len(corpus.notes) for corpus in sets)
    print(f"| {given.model} | own cases, {own} notes | other cases, {further} notes | pairs |")
    print("|---|---|---|---|")
    print(f"| before | {figures(matcher, sets, pairs)} |", flush=True)
    learned = notes_of(embedded, given.cases, 0, given.notes)
    begun, processor = time.perf_counter(), time.process_time()
    matcher.fit(learned)
    took, processor = time.perf_counter() - begun, time.process_time() - processor
    print(f"| {len(learned.notes)} notes | {figures(matcher, sets, pairs)} |", flush=True)
    print(
        f"\n{took:.0f} s ({processor:.0f} s of processor time); "
        f"presence from {matcher.settings_.thresholds.presence:.3f} on"
    )


if __name__ == "__main__":
    main()
