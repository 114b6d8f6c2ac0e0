"""Share of planted notes that are flagged, by kind, and of honest notes flagged by mistake.

Run ``python benchmarks/gaming.py``; it prints Markdown. Notes are planted in every case of the
embedded corpus with a seed. Evidence comes from a matcher that knows the rubric alone.

The limits were chosen by looking at these same honest notes, all of them, and at planted notes of
these kinds. Nothing here is held out: the figures say how well the limits fit this corpus, and
are too good for notes, and tricks, nobody has looked at. How much: before signs for it were added,
none of 300 notes that list symptoms at random was flagged.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from rubricate import Corpus, Note, Rubric, load_corpus
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers import fit_matcher
from rubricate.reading.tokens import find_words, word_set
from rubricate.scoring.evidence_search import find_in_notes
from rubricate.stats import proportion_interval
from rubricate.trust import flag_note

Kinds = Mapping[str, Callable[[Note], str]]
_PLAIN = word_set("a an the of or and with to in on for no not")


class Planter:
    """Makes notes that want points without a story."""

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self.corpus = corpus
        self.rng = random.Random(seed)
        self.symptoms = [group.phrases[0].text for group in load_default_lexicon().groups]
        self.of_case: dict[str, list[Note]] = {}
        for note in corpus.notes:
            self.of_case.setdefault(note.case, []).append(note)

    def kinds(self) -> Kinds:
        """Return the planted notes, by name."""
        return {
            "rubric pasted, nothing else": lambda n: "\n".join(self._rubric(n)),
            "rubric pasted below an honest note": lambda n: "\n".join([n.text, *self._rubric(n)]),
            "one wording of each feature, shuffled": lambda n: ", ".join(self._wordings(n)),
            "half of them after half an honest note": self._half,
            "keywords heaped": lambda n: " ".join(self._keywords(n)),
            "keywords heaped three times": lambda n: " ".join(self._keywords(n) * 3),
            "keywords below an honest note": lambda n: f"{n.text}\n{' '.join(self._keywords(n))}",
            "others' evidence as a list, commas": lambda n: ", ".join(self._evidence(n)),
            "others' evidence as a list, lines": lambda n: "\n".join(self._evidence(n)),
            "60 symptoms drawn from the lexicon": lambda n: ", ".join(
                self.rng.sample(self.symptoms, 60)
            ),
            "one phrase of the rubric 20 times": lambda n: " ".join(self._wordings(n)[:1] * 20),
            "an honest note of another case": self._other,
        }

    def _other(self, note: Note) -> str:
        others = [case for case in self.of_case if case != note.case]
        return self.rng.choice(self.of_case[self.rng.choice(others)]).text

    def _rubric(self, note: Note) -> list[str]:
        return [feature.text for feature in self.corpus.rubric(note.case)]

    def _wordings(self, note: Note) -> list[str]:
        found = [self.rng.choice(f.alternatives) for f in self.corpus.rubric(note.case)]
        self.rng.shuffle(found)
        return found

    def _half(self, note: Note) -> str:
        added = self._wordings(note)
        return f"{note.text[: len(note.text) // 2]}\n{', '.join(added[: len(added) // 2])}"

    def _keywords(self, note: Note) -> list[str]:
        forms = [word.form for text in self._wordings(note) for word in find_words(text)]
        kept = [form for form in forms if form not in _PLAIN]
        self.rng.shuffle(kept)
        return kept

    def _evidence(self, note: Note) -> list[str]:
        found = []
        for feature in self.corpus.rubric(note.case):
            other = self.rng.choice(self.of_case[note.case])
            marked = self.corpus.annotations(other.id, feature.id, "reference")
            if marked:
                found.append(marked[0].text(other.text))
        self.rng.shuffle(found)
        return found


def flagged(notes: Sequence[Note], rubrics: Mapping[str, Rubric]) -> Iterator[bool]:
    """Say of each note whether it is flagged, with the evidence of the lexicon matcher."""
    matcher = fit_matcher("lexicon", Corpus((), tuple(rubrics.values())))
    for note in notes:
        (evidence,) = find_in_notes(matcher, rubrics[note.case], [note])
        yield bool(flag_note(note, rubrics[note.case], evidence=evidence))


def line(name: str, flags: Sequence[bool]) -> str:
    """Return a line of the table."""
    hits = sum(flags)
    interval = proportion_interval(hits, len(flags))
    share = hits / len(flags)
    return f"| {name} | {len(flags)} | {share:.1%} | {interval.low:.1%} to {interval.high:.1%} |"


def main() -> None:
    """Plant, flag, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--notes", type=int, default=300, help="planted notes of each kind")
    options = parser.parse_args()
    corpus = load_corpus("open-notes")
    rubrics = {rubric.case: rubric for rubric in corpus.rubrics}
    planter = Planter(corpus, options.seed)
    chosen = planter.rng.sample(corpus.notes, options.notes)
    print("| planted | notes | flagged | 95 % interval |")
    print("|---|---|---|---|")
    for name, make in planter.kinds().items():
        notes = [Note(note.id, note.case, make(note)) for note in chosen]
        print(line(name, list(flagged(notes, rubrics))))
    print("\n| honest notes, by mistake | notes | flagged | 95 % interval |")
    print("|---|---|---|---|")
    flags = list(flagged(corpus.notes, rubrics))
    for name, parts in (("all", ("depth", "breadth")), ("of them deep", ("depth",)),
                        ("of them broad (short notes)", ("breadth",))):  # fmt: skip
        own = [f for f, n in zip(flags, corpus.notes, strict=True) if n.metadata["part"] in parts]
        print(line(name, own))


if __name__ == "__main__":
    main()
