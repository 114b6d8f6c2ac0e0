"""What the cascade's dial costs and brings.

Run ``python benchmarks/cascade_dial.py --clinicians DIR --pairs DIR``. Both networks read all
notes of the sets of ``unseen_rubrics.py`` once; for each pair of limits the accurate network's word
is taken where the fast one's probability lies between them (read alone, an item may differ a
little). Speed is that of the cascade itself on some of the notes, as a ratio to the accurate
network's in the same run. It prints Markdown.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rubricate import Corpus
from rubricate.matchers.predictions import NoteFindings, predict_corpus
from rubricate.measures import evaluate
from rubricate.neural.encoder.cascade import CascadeMatcher, _replaced
from rubricate.neural.encoder.matcher import EncoderMatcher
from unseen_rubrics import chosen, credited, unseen_small_cases

DIALS = ((0.5, 0.5), (0.3, 0.7), (0.2, 0.8), (0.1, 0.9), (0.05, 0.95), (0.02, 0.98), (0.0, 1.0))
Read = dict[str, dict[str, NoteFindings]]


def read(corpus: Corpus, network: str) -> dict[str, NoteFindings]:
    """Return what a network finds in every note."""
    matcher, out = EncoderMatcher(network=network), {}
    for rubric in corpus.rubrics:
        notes = [note for note in corpus.notes if note.case == rubric.case]
        out.update(zip([n.id for n in notes], matcher.findings(rubric, notes), strict=True))
    return out


def doubtful(found: NoteFindings, low: float, high: float) -> set[str]:
    """Return the features that are read again."""
    if (low, high) == (0.0, 1.0):
        return set(found.probabilities)
    return {f for f, chance in found.probabilities.items() if low < chance < high}


def part(found: NoteFindings, features: set[str]) -> NoteFindings:
    """Return what was found of some features."""
    return NoteFindings(
        [one for one in found.found if one.feature in features],
        {f: p for f, p in found.probabilities.items() if f in features},
        {f: c for f, c in found.contradictions.items() if f in features},
    )


def combined(corpus: Corpus, both: Read, low: float, high: float) -> tuple[Corpus, float, float]:
    """Return what the cascade finds, and the shares of items and of notes read again."""
    again = {i: doubtful(found, low, high) for i, found in both["fast"].items()}
    found = {
        i: _replaced(fast, part(both["accurate"][i], again[i])) for i, fast in both["fast"].items()
    }
    items = sum(map(len, again.values())) / sum(len(f.probabilities) for f in found.values())
    notes = sum(map(bool, again.values())) / len(again)
    predicted = predict_corpus(corpus, "cascade", lambda _, own: (found[n.id] for n in own))
    return predicted, items, notes


def speed(corpus: Corpus, low: float, high: float) -> float:
    """Return notes per second of processor time."""
    matcher = CascadeMatcher(low=low, high=high)
    matcher.predict(corpus.select(notes=[corpus.notes[0].id]))
    begun = time.process_time()
    matcher.predict(corpus)
    return len(corpus.notes) / (time.process_time() - begun)


def main() -> None:
    """Print one line for each setting of the dial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clinicians", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    given = parser.parse_args()
    sets = [
        unseen_small_cases(),
        chosen(given.clinicians, "sources.csv", split="test"),
        chosen(given.pairs, "splits.csv", kind="mixed", split="test"),
    ]
    said = [{name: read(corpus, name) for name in ("fast", "accurate")} for corpus in sets]
    timed = sets[1].select(notes=[n.id for n in sets[1].notes[::3]])
    print(
        "| read again between | 26 cases: items, notes | 26 cases | clinicians: items, notes | "
        "clinicians | pairs, credited | speed, `accurate` = 1 |\n|---|---|---|---|---|---|---|"
    )
    alone = speed(timed, 0.0, 1.0)
    for low, high in DIALS:
        cells = [f"{low:g} and {high:g}"]
        for corpus, both in zip(sets, said, strict=True):
            predicted, items, notes = combined(corpus, both, low, high)
            if corpus is sets[2]:
                cells.append(" / ".join(f"{share:.3f}" for share in credited(corpus, predicted)))
                continue
            found = evaluate(corpus, predicted, reference_annotator=corpus.annotators[0].id)
            f1 = found.characters.total().f1, found.presence.total().f1
            cells += [f"{items:.3f}, {notes:.2f}", f"{f1[0]:.3f} / {f1[1]:.3f}"]
        cells.append(f"{speed(timed, low, high) / alone:.1f}")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
