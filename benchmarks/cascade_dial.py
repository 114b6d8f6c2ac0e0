"""Cost and gain of the cascade's dial.

Run ``python benchmarks/cascade_dial.py --clinicians DIR --pairs DIR [--beside MODEL]``. For each
setting the cascade itself reads the notes of the sets of ``unseen_rubrics.py``; ``--beside`` has a
saved encoder, such as one of an earlier version, read them in the same run. Speed is in processor
time, as a ratio to the accurate network's on the same notes in the same run, one thread each (two
that wait for each other count twice). It prints Markdown.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rubricate import Corpus, Rubric
from rubricate.evaluation import evaluate
from rubricate.matchers.predictions import NoteFindings
from rubricate.neural.encoder.cascade import CascadeMatcher
from rubricate.neural.encoder.decoding import Again, Votes
from rubricate.neural.encoder.matcher import EncoderMatcher
from unseen_rubrics import chosen, credited, unseen_small_cases

#: Limits of the probability, and how many characters of a mark are expected to be wrong.
DIALS = (
    (0.5, 0.5, 999.0),
    (0.3, 0.7, 12.0),
    (0.2, 0.8, 8.0),
    (0.1, 0.8, 6.0),
    (0.1, 0.9, 4.0),
    (0.05, 0.95, 2.0),
)


class Keeping(EncoderMatcher):
    """Keeps which features it reads again in which texts."""

    def __init__(self, *, network: str) -> None:
        super().__init__(network=network, threads=1)
        self.again: set[tuple[str, int]] = set()

    def read_again(
        self, rubric: Rubric, text: str, again: Again, votes: Votes | None, least: float = 0.0
    ) -> NoteFindings:
        """Read some features again, and keep which."""
        self.again.update((text, k) for k in again.features)
        return super().read_again(rubric, text, again, votes, least)


def timed(matcher: EncoderMatcher | CascadeMatcher, corpus: Corpus) -> tuple[Corpus, float]:
    """Return a matcher's findings, and its seconds of processor time once it is open."""
    for one in matcher.networks_ if isinstance(matcher, CascadeMatcher) else [matcher]:
        one.predict(corpus.select(notes=[corpus.notes[0].id]))
    begun = time.process_time()
    return matcher.predict(corpus), time.process_time() - begun


def figures(corpus: Corpus, predicted: Corpus) -> str:
    """Return both F1s."""
    found = evaluate(corpus, predicted, reference_annotator=corpus.annotators[0].id)
    return f"{found.characters.total().f1:.3f} / {found.presence.total().f1:.3f}"


def main() -> None:
    """Print one line for each setting of the dial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clinicians", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--beside", type=Path, action="append", default=[])
    given = parser.parse_args()
    small = unseen_small_cases()
    clinicians = chosen(given.clinicians, "sources.csv", split="test")
    pairs = chosen(given.pairs, "splits.csv", kind="mixed", split="test")
    print(
        "| dial | 26 cases: items, notes, speed | 26 cases | clinicians: items, "
        "notes, speed | clinicians | pairs, credited |\n|---|---|---|---|---|---|"
    )
    alone: dict[str, float] = {}
    accurate = EncoderMatcher(network="accurate", threads=1)
    for label, matcher in (
        ("`accurate`", accurate),
        *((path.name, EncoderMatcher.load(path)) for path in given.beside),
    ):
        matcher.threads, row = 1, [label]
        for name, corpus in (("small", small), ("clinicians", clinicians)):
            predicted, seconds = timed(matcher, corpus)
            speed = alone.setdefault(name, seconds) / seconds
            row += [f"{speed:.2g}", figures(corpus, predicted)]
        credit = credited(pairs, matcher.predict(pairs))
        row.append(" / ".join(f"{share:.3f}" for share in credit))
        print(f"| {' | '.join(row)} |", flush=True)
    for low, high, wrong in DIALS:
        row = [f"{low:g}, {high:g}, {wrong:g}"]
        for name, corpus in (("small", small), ("clinicians", clinicians)):
            second = Keeping(network="accurate")
            cascade = CascadeMatcher(low=low, high=high, wrong=wrong, threads=1)
            cascade.networks_ = (EncoderMatcher(network="fast", threads=1), second)
            predicted, seconds = timed(cascade, corpus)
            items = len(second.again) / len(predicted.rows)
            notes = len({text for text, _ in second.again}) / len(corpus.notes)
            row.append(f"{items:.3f}, {notes:.2f}, {alone[name] / seconds:.1f}")
            row.append(figures(corpus, predicted))
        predicted = CascadeMatcher(low=low, high=high, wrong=wrong, threads=1).predict(pairs)
        row.append(" / ".join(f"{share:.3f}" for share in credited(pairs, predicted)))
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
