"""Make the word list and the rule by which texts that are no clinical notes are told.

    python training/fit_readable.py --bank BANK --pairs PAIRS [--clinicians NOTES]

BANK is the folder of the phrase bank, PAIRS and NOTES are corpora in the nbme layout. The words
come from the bank, the training notes of the embedded corpus and the lexicon; nothing of NOTES
enters the list. The rule is fitted to training notes of all three corpora and to the texts in
``data/other_texts.jsonl``, each read by three matchers, one of which finds nearly nothing: so
that no text is stopped for a weak matcher alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from texts import OTHER_TEXTS, bank_files, read_texts

from rubricate import Corpus, Note, Rubric, load_corpus, read_corpus
from rubricate.matchers import fit_matcher
from rubricate.reading.tokens import word_set
from rubricate.scoring.evidence_search import find_in_notes
from rubricate.screening.readable import (
    RULE,
    WORDS,
    NoteWords,
    ReadableRule,
    Signals,
    find_plain_words,
    measure_text,
)

PACKAGE = Path(__file__).parents[1] / "src" / "rubricate"
Values = npt.NDArray[np.float64]
#: The last finds nearly nothing in notes it has not learned from.
MATCHERS = ("lexicon", "encoder", "exact")
#: Texts whose words say nothing about what is not clinical.
CLINICAL_WORDS_IN = {"filler", "filler-note-words", "german-note"}
#: A word that so many wordings of features have is clinical, unless other texts have it, too.
LEAST_WORDINGS = 3
#: Each text that is no note is read with the rubrics of so many cases.
CASES_PER_TEXT = 3
#: Share of real notes that may be stopped when the limit is chosen.
MOST_STOPPED = 0.002
FUNCTION_WORDS = word_set(
    "a an the and or but nor so yet if then than as at by for from in into of off on onto out "
    "over to up with without within about above after again against all also am any are be "
    "because been before being below between both can could did do does doing done down during "
    "each either else ever every few further had has have having he her here hers him his how "
    "however i is it its itself just may me might more most much must my myself neither never "
    "no not now once one only other our ours own per quite rather s same shall she should since "
    "some still such t that their theirs them themselves there these they this those though "
    "through thus too under until upon us very was we were what when where whether which while "
    "who whom whose why will would you your yours yourself"
)


def bank_lines(place: Path) -> tuple[list[str], list[str]]:
    """Return the wordings of all features, and all clauses."""
    wordings, clauses = [], []
    for _, text in bank_files(place):
        for line in text.splitlines():
            if line.startswith("F "):
                wordings.append(line[2:])
            elif line[:2] in {"+ ", "- "}:
                clauses.append(line[4:].replace("[[", "").replace("]]", ""))
    return wordings, clauses


def in_how_many(texts: Iterable[str]) -> Counter[str]:
    """Return in how many texts each word occurs."""
    return Counter(word for text in texts for word in set(find_plain_words(text)))


class Vocabulary:
    """The words of notes, and which of them are clinical beside other texts."""

    def __init__(self, bank: Path, corpus: Corpus, others: Mapping[str, str]) -> None:
        wordings, clauses = bank_lines(bank)
        wordings += [feature.text for feature in corpus.features]
        for name in ("abbreviations.tsv", "lay_terms.tsv"):
            text = (PACKAGE / "lexicon" / name).read_text(encoding="utf-8")
            wordings += text.splitlines()[1:]
        notes = [note.text for note in corpus.notes if note.metadata["split"] == "train"]
        every = in_how_many([*wordings, *clauses, *notes])
        self.frequency = {word: n for word, n in sorted(every.items()) if n > 1}
        self._worded = in_how_many(wordings)
        self._elsewhere = in_how_many(
            text for name, text in others.items() if name not in CLINICAL_WORDS_IN
        )

    def words(self, *, without: str = "") -> NoteWords:
        """Return the list as it would be if one text had not been among the others."""
        own = set(find_plain_words(without))
        clinical = frozenset(
            word
            for word in self.frequency
            if self._worded[word] >= LEAST_WORDINGS
            and len(word) > 1
            and word not in FUNCTION_WORDS
            and self._elsewhere[word] - (word in own) < 1
        )
        return NoteWords(self.frequency, clinical, FUNCTION_WORDS & set(self.frequency))


def sampled(corpus: Corpus, ids: Iterable[str], n_notes: int) -> Corpus:
    """Return some notes of a corpus, without annotations."""
    chosen = random.Random(0).sample(sorted(ids), n_notes)
    return corpus.select(notes=chosen, annotators=())


def split_of(folder: Path, name: str) -> list[str]:
    """Return the ids of the training notes of a corpus in the nbme layout."""
    with (folder / name).open(encoding="utf-8", newline="") as stream:
        return [row["pn_num"] for row in csv.DictReader(stream) if row["split"] == "train"]


def met_items(corpus: Corpus, matcher: str) -> list[int]:
    """Return, for each note, the number of items that a matcher finds or contradicts."""
    used = {note.case for note in corpus.notes}
    rubrics = tuple(rubric for rubric in corpus.rubrics if rubric.case in used)
    fitted = fit_matcher(matcher, Corpus((), rubrics))
    of_case = {rubric.case: rubric for rubric in rubrics}
    return [
        sum(one.outcome != "not mentioned" for one in found.values())
        for note in corpus.notes
        for found in find_in_notes(fitted, of_case[note.case], [note])
    ]


class FittedRule(NamedTuple):
    """A rule, and how much of either kind of text it stops."""

    rule: ReadableRule
    notes_stopped: float
    others_stopped: float


def fit(notes: Values, others: Values, typical: Signals) -> FittedRule:
    """Fit a logistic rule with a ridge to the signals of notes and of other texts."""
    from sklearn.linear_model import LogisticRegression

    values = np.concatenate([notes, others])
    is_note = np.r_[np.ones(len(notes)), np.zeros(len(others))]
    centre, spread = values.mean(axis=0), values.std(axis=0)
    model = LogisticRegression(class_weight="balanced", max_iter=1000)
    model.fit((values - centre) / spread, is_note)
    weights = (model.coef_[0] / spread).round(4)
    intercept = round(float(model.intercept_[0] - weights @ centre), 4)
    real, no = notes @ weights + intercept, others @ weights + intercept
    # Half way between the two, as long as hardly a real note is stopped.
    least = min(float(np.quantile(real, MOST_STOPPED)), float((real.min() + no.max()) / 2))
    low = np.quantile(notes, 0.01, axis=0)
    k = Signals._fields.index("repeated")
    low[k] = np.quantile(notes[:, k], 0.99)
    rule = ReadableRule(
        Signals(*weights.tolist()), intercept, round(least, 4), typical,
        Signals(*low.round(4).tolist()),
    )  # fmt: skip
    return FittedRule(rule, float((real < least).mean()), float((no < least).mean()))


class ReadText(NamedTuple):
    """A text with its rubric, and how many items a matcher found stated or contradicted."""

    note: Note
    rubric: Rubric
    n_met: int

    def signals(self, typical: Signals, words: NoteWords) -> Signals:
        """Return the signals of the text."""
        return measure_text(self.note.text, self.rubric, self.n_met, typical=typical, words=words)


def read_all(corpora: Sequence[Corpus], matcher: str) -> list[ReadText]:
    """Let a matcher read all notes of some corpora."""
    return [
        ReadText(note, corpus.rubric(note.case), met)
        for corpus in corpora
        for note, met in zip(corpus.notes, met_items(corpus, matcher), strict=True)
    ]


def real_notes(given: argparse.Namespace, embedded: Corpus) -> list[Corpus]:
    """Return some training notes of each corpus."""
    train = [note.id for note in embedded.notes if note.metadata["split"] == "train"]
    pairs = read_corpus(given.pairs)
    real = [
        sampled(embedded, train, given.notes),
        sampled(pairs, split_of(given.pairs, "splits.csv"), given.notes),
    ]
    if given.clinicians:
        ids = split_of(given.clinicians, "sources.csv")
        real.append(sampled(read_corpus(given.clinicians), ids, given.notes))
    return real


def write(words: NoteWords, rule: ReadableRule) -> None:
    """Write both files into the package."""
    target = PACKAGE / "screening"
    value = {
        name: one._asdict() if isinstance(one, Signals) else one
        for name, one in ((field.name, getattr(rule, field.name)) for field in fields(rule))
    }
    (target / RULE).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    kinds = dict.fromkeys(words.clinical, "clinical")
    kinds |= dict.fromkeys(words.function, "function")
    lines = [f"{word}\t{n}\t{kinds.get(word, '')}" for word, n in words.frequency.items()]
    text = "\n".join(["word\ttexts\tkind", *lines]) + "\n"
    (target / WORDS).write_text(text, encoding="utf-8")


def main() -> None:
    """Write both files, and say how well the rule parts the texts it was fitted to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bank", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--clinicians", type=Path)
    parser.add_argument("--notes", type=int, default=100, help="notes of each corpus")
    given = parser.parse_args()
    embedded = load_corpus("open-notes")
    cases = [rubric.case for rubric in embedded.rubrics]
    pick = random.Random(0)
    texts = read_texts(OTHER_TEXTS)
    others = tuple(
        Note(name, case, text)
        for name, text in texts.items()
        for case in pick.sample(cases, CASES_PER_TEXT)
    )
    vocabulary = Vocabulary(given.bank, embedded, texts)
    words = vocabulary.words()
    corpora = real_notes(given, embedded)
    notes: list[ReadText] = []
    no_notes: list[ReadText] = []
    for matcher in MATCHERS:
        notes += read_all(corpora, matcher)
        no_notes += read_all([Corpus(others, embedded.rubrics)], matcher)
        print(f"{matcher}: {len(notes):,} notes and {len(no_notes):,} other texts", flush=True)
    # What a typical note is like, by the matchers that find something.
    able = notes[: -len(notes) // len(MATCHERS)]
    typical = Signals(*[0.0] * len(Signals._fields))
    for _ in range(5):
        # The signals are drawn towards what is typical, so that this settles in a few rounds.
        means = np.mean([one.signals(typical, words) for one in able], axis=0)
        typical = Signals(*means.round(4).tolist())
    apart = {name: vocabulary.words(without=text) for name, text in texts.items()}
    fitted = fit(
        np.array([one.signals(typical, words) for one in notes]),
        np.array([one.signals(typical, apart[one.note.id]) for one in no_notes]),
        typical,
    )
    write(words, fitted.rule)
    print(f"stopped: {fitted.notes_stopped:.2%} of notes, {fitted.others_stopped:.2%} of others")
    print(fitted.rule)


if __name__ == "__main__":
    main()
