"""Effect of rewording one item of a rubric on the other items, which keep their words.

Run ``python benchmarks/own_words.py``; it prints one line of Markdown for each model. Each
rewording takes an item of an unseen small case of the embedded corpus and words it otherwise:
around it (``REWORDINGS``), or as an item of another case, which is as far as words can go. All
notes of the case are read before and after. It counts the items beside the reworded one: how far
their probability moves at most, and how many are decided otherwise; of these, how many are not
sent to a person in one of the two readings. The seed draws items and wordings; one thread.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rubricate import Corpus, Rubric, load_corpus, load_matcher
from rubricate.arrays import F64, Bools
from rubricate.matchers import Matcher
from rubricate.scoring.results import UNSURE_BY_DEFAULT

#: Ways to word an item otherwise that leave its meaning alone.
REWORDINGS: tuple[Callable[[str], str], ...] = (
    str.lower,
    str.upper,
    "{} is documented".format,
    "Mentions the following: {}".format,
    "The note says that the patient has or had {}".format,
    lambda text: " OR ".join(reversed(text.split(" OR "))),
)
#: Every fifth of the small cases is in no training.
UNSEEN_EVERY, UNSEEN = 5, 4


class Rewording(NamedTuple):
    """A case, an item of it, and its other wording."""

    case: str
    item: int
    text: str


class Movement(NamedTuple):
    """Change of an item: of its probability, of its decision, and of its review."""

    chance: F64
    flipped: Bools
    reviewed: Bools


def draw(cases: Sequence[Rubric], number: int, seed: int) -> list[Rewording]:
    """Return rewordings, drawn from all items; every seventh takes the words of another case."""
    rng = random.Random(seed)
    drawn: list[Rewording] = []
    while len(drawn) < number:
        rubric, other = rng.sample(cases, 2)
        item = rng.randrange(len(rubric))
        text = rubric.features[item].text
        reworded = rng.choice([*REWORDINGS, lambda _, other=other: rng.choice(list(other)).text])
        if (said := reworded(text)) != text:
            drawn.append(Rewording(rubric.case, item, said))
    return drawn


def reworded(corpus: Corpus, one: Rewording) -> Corpus:
    """Return a corpus of one case with one item worded otherwise."""
    (rubric,) = corpus.rubrics
    features = list(rubric)
    features[one.item] = replace(features[one.item], text=one.text)
    return Corpus(corpus.notes, (replace(rubric, features=tuple(features)),))


def said_of(matcher: Matcher, corpus: Corpus) -> tuple[F64, Bools]:
    """Return the probability of each item in each note, and whether it was found."""
    rows = matcher.predict(corpus).rows
    shape = (len(corpus.notes), len(corpus.features))
    place = rows.note.astype(np.int64) * shape[1] + rows.feature
    chance, found = np.zeros(len(place)), np.zeros(len(place), bool)
    chance[place] = 0.0 if rows.probability is None else rows.probability
    found[place] = np.bincount(rows.annotation_row, minlength=len(rows)) > 0
    return chance.reshape(shape), found.reshape(shape)


def movement(before: tuple[F64, Bools], after: tuple[F64, Bools], item: int) -> Movement:
    """Measure the movement of the other items."""
    others = np.arange(before[0].shape[1]) != item
    low, high = UNSURE_BY_DEFAULT.low, UNSURE_BY_DEFAULT.high
    unsure = [(chance > low) & (chance < high) for chance, _ in (before, after)]
    return Movement(
        np.abs(before[0] - after[0])[:, others].ravel(),
        (before[1] != after[1])[:, others].ravel(),
        (unsure[0] & unsure[1])[:, others].ravel(),
    )


def main() -> None:
    """Print one line for each model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="+", default=["fast", "accurate", "cascade"])
    parser.add_argument("--rewordings", type=int, default=100)
    parser.add_argument("--notes", type=int, default=8, help="notes of each case")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    whole = load_corpus("open-notes").select(annotators=[])
    small = [
        rubric
        for rubric in whole.rubrics
        if rubric.case.isdecimal()
        and int(rubric.case) % UNSEEN_EVERY == UNSEEN
        and len([1 for note in whole.notes if note.case == rubric.case]) < 50
    ]
    drawn = draw(small, given.rewordings, given.seed)
    cases = {}
    for case in sorted({one.case for one in drawn}, key=int):
        own = whole.select(cases=[case])
        cases[case] = own.select(notes=[note.id for note in own.notes[: given.notes]])
    print("| model | items | moved at most | by more than .05 | decided otherwise | of these not "
          "reviewed | notes per second |\n" + "|---" * 7 + "|")  # fmt: skip
    for name in given.models:
        matcher = load_matcher(name if not Path(name).exists() else Path(name))
        matcher.threads = 1  # type: ignore[attr-defined]
        matcher.predict(next(iter(cases.values())))
        begun, moved = time.process_time(), []
        before = {case: said_of(matcher, own) for case, own in cases.items()}
        for one in drawn:
            after = said_of(matcher, reworded(cases[one.case], one))
            moved.append(movement(before[one.case], after, one.item))
        spent = time.process_time() - begun
        n_notes = sum(len(cases[one.case].notes) for one in drawn)
        n_notes += sum(len(own.notes) for own in cases.values())
        chance = np.concatenate([one.chance for one in moved])
        flipped = np.concatenate([one.flipped for one in moved])
        reviewed = np.concatenate([one.reviewed for one in moved])
        cells = [
            name, str(len(chance)), f"{chance.max():.3f}", str((chance > 0.05).sum()),
            str(flipped.sum()), str((flipped & ~reviewed).sum()), f"{n_notes / spent:.1f}",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
