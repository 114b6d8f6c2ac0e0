"""Training sets of the `lexicon` matcher, for ``learn_shared.py`` and ``learn_credit.py``.

Sets of notes: the small cases of the embedded corpus (part ``breadth``) without every fifth, which
is kept to measure on (``broad``); the train splits of the clinicians' notes (``clin``) and of the
minimal pairs (``pairs``); further rubrics for the same clinicians' notes (``extra``,
``data/clinicians.tsv``); the mixed notes in ``data/mixed`` (``mixed``).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from build_bank import read_bank
from mixed_files import is_held_out, read_cases
from note_sets import RUBRICS, STATED, held_out, measured_set, one_in, read_rubrics
from texts import DATA, MORE_BANK

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric, load_corpus
from rubricate.corpus import Annotator
from rubricate.formats import read_corpus
from rubricate.matchers.wording.synonyms import Translation, content_stems, learn_translation
from rubricate.requirement.requirement import read_requirement

HELD_OUT_EVERY = 5
#: Wordings are learned from other parts of the cases than the one they are used in.
N_PARTS = 4
_FEATURES_TOGETHER = 12
Pair = tuple[list[str], list[str]]


def given_folders(about: str) -> argparse.Namespace:
    """Read the command line: the folders, and whether to leave out what recipes are chosen on."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("bank", type=Path, help="folder of the phrase bank")
    parser.add_argument("clinicians", type=Path, help="folder of the clinicians' notes")
    parser.add_argument("pairs", type=Path, help="folder of the minimal pairs")
    parser.add_argument("--leave-out", action="store_true", help="leave out the notes for choosing")
    return parser.parse_args()


def training_sets(given: argparse.Namespace) -> dict[str, Corpus]:
    """Return the sets of notes by name.

    For choosing are those that the networks' thresholds and votes are chosen on (``choose.py``).
    """
    out = given.leave_out
    broad, clin, pairs = kept_cases(), train_notes(given.clinicians), train_notes(given.pairs)
    if out:
        broad = broad.select(cases=[r.case for r in broad.rubrics if int(r.case) % 10 != 3])
        held = held_out(given.clinicians, given.pairs)
        clin, pairs = (
            one.select(notes=[n.id for n in one.notes if n.id not in held]) for one in (clin, pairs)
        )
    return {
        "broad": broad,
        "clin": clin,
        "pairs": pairs,
        "mixed": corpus_of(_mixed_cases(leave_out=out)),
        "extra": corpus_of(_extra_cases(clin)),
    }


def kept_cases() -> Corpus:
    """Return the small cases of the embedded corpus without every fifth of them."""
    corpus = load_corpus("open-notes").select(annotators=["reference"])
    small = {note.case for note in corpus.notes if note.metadata["part"] == "breadth"}
    ordered = [rubric.case for rubric in corpus.rubrics if rubric.case in small]
    return corpus.select(
        cases=[c for i, c in enumerate(ordered) if i % HELD_OUT_EVERY != HELD_OUT_EVERY - 1]
    )


def train_notes(folder: Path) -> Corpus:
    """Return the notes of a folder's train split; of minimal pairs only the mixed ones."""
    corpus = read_corpus(folder).select(annotators=["reference"])
    table = next(p for name in ("sources", "splits") if (p := folder / f"{name}.csv").is_file())
    with table.open(encoding="utf-8", newline="") as stream:
        kept = {
            row["pn_num"]
            for row in csv.DictReader(stream)
            if row["split"] == "train" and row.get("kind", "mixed") == "mixed"
        }
    return corpus.select(notes=[note.id for note in corpus.notes if note.id in kept])


def corpus_of(cases: Iterator[tuple[str, Mapping[str, str], Sequence[Any]]]) -> Corpus:
    """Return a corpus of cases: name, features, and notes with what is marked and judged."""
    builder = CorpusBuilder()
    builder.add_annotator(Annotator("reference"))
    for name, features, notes in cases:
        own = tuple(Feature(f"{name}.{k}", name, text) for k, text in features.items())
        builder.add_rubric(Rubric(name, own))
        for i, (text, marks, judged) in enumerate(notes):
            builder.add_note(Note(f"{name}:{i}", name, text))
            for k in judged:
                builder.judge("reference", f"{name}:{i}", f"{name}.{k}")
                if marks.get(k):
                    builder.annotate("reference", f"{name}:{i}", f"{name}.{k}", sorted(marks[k]))
    return builder.build()


def _mixed_cases(*, leave_out: bool) -> Iterator[tuple[str, Mapping[str, str], Sequence[Any]]]:
    by_part = itertools.groupby(read_cases(DATA / "mixed"), key=lambda case: str(case["part"]))
    for part, cases in by_part:
        if measured_set(part):
            continue
        for i, case in enumerate(cases):
            if leave_out and is_held_out(case["name"], min(8, one_in(part))):
                continue
            notes = []
            for note in case["notes"]:
                stated = {k: spans for (k, how), spans in note["marks"].items() if how == "stated"}
                against = {k for k, how in note["marks"] if how != "stated"}
                judged = [k for k in case["features"] if not (k in stated and k in against)]
                notes.append((note["text"], stated, judged))
            yield f"{part}{i}", case["features"], notes


def _extra_cases(clin: Corpus) -> Iterator[tuple[str, Mapping[str, str], Sequence[Any]]]:
    rows = read_rubrics(RUBRICS)
    for note in clin.notes:
        own = rows.get(note.id, [])
        n = max(1, round(len(own) / _FEATURES_TOGETHER))
        for k in range(n):
            part = own[k::n]
            features = {str(i): row[0] for i, row in enumerate(part)}
            marks = {str(i): row[2] for i, row in enumerate(part) if row[1] == STATED}
            if features:
                yield f"x{note.id}-{k}", features, [(note.text, marks, list(features))]


def part_of(case: str) -> int:
    """Return the part of the cases that a case belongs to; all rubrics of a note to one part."""
    return int(re.sub(r"\D", "", case.split("-")[0])) % N_PARTS


def learn_translations(
    sets: Mapping[str, Corpus], bank: Path
) -> tuple[Translation, list[Translation]]:
    """Return the learned word equivalents: from all cases, and from all cases but each part."""
    fixed = list(bank_wordings(bank))
    by_part: list[list[Pair]] = [[] for _ in range(N_PARTS)]
    for corpus in sets.values():
        for part, pair in _marked_wordings(corpus):
            by_part[part].append(pair)

    def learn(without: int | None) -> Translation:
        kept = (own for part, own in enumerate(by_part) if part != without)
        return learn_translation([*fixed, *itertools.chain.from_iterable(kept)])

    return learn(None), [learn(part) for part in range(N_PARTS)]


def bank_wordings(bank: Path) -> Iterator[Pair]:
    """Yield pairs of stems: of a wording of the bank, and of a phrase that expresses it."""
    for place in (bank, MORE_BANK):
        for wordings, phrases in read_bank(place):
            for wording in wordings:
                for phrase in (*phrases, *wordings):
                    if phrase != wording:
                        yield content_stems(wording), content_stems(phrase)


def _marked_wordings(corpus: Corpus) -> Iterator[tuple[int, Pair]]:
    """Yield pairs of stems, of a feature and of words marked for it, with the case's part."""
    for note, _, feature, own in corpus.values():
        profile = read_requirement(feature.text)
        asked = [word for one in profile.alternatives for word in one.roots]
        for one in () if profile.kind else own:
            yield part_of(note.case), (asked, content_stems(one.text(note.text)))
