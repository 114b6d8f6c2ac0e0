"""Make again how the `lexicon` matcher decides from the rubric alone: ``patterns/credit.json``.

Run: python training/learn_credit.py BANK CLINICIANS PAIRS (after ``learn_shared.py``)

Every stretch the matcher finds is a row: does it state the feature, or only speak of it? The rows
are of the phrase bank (its near misses most of all) and of the sets of ``lexicon_sets.py``. The
bank is read in two halves, each with wordings and synonyms of the other, and each case with
wordings of other cases, so that nothing is known of a feature beforehand. Kept are weights of signs
and of single words, never a text.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from build_bank import MOST_WORDS_IN_NAME, MOST_WORDS_IN_PHRASE, kept_phrases
from learn_shared import TARGET as SHARED
from lexicon_sets import given_folders, learn_translations, part_of, training_sets
from texts import MORE_BANK, bank_files

from rubricate import Corpus, Feature, Rubric
from rubricate.lexicon.groups import Group, Lexicon, Phrase
from rubricate.lexicon.store import embedded_lexicon
from rubricate.matchers.lexicon.crediting import SIGNS, CreditModel, Signs
from rubricate.matchers.lexicon.finding import CaseFinder
from rubricate.matchers.lexicon.model import LexiconModel
from rubricate.matchers.wording.case_model import WordSettings
from rubricate.matchers.wording.logistic import (
    Decision,
    HiddenLayer,
    LogitScale,
    calibrate,
    one_blas_thread,
)
from rubricate.matchers.wording.shared import SharedModel, default_shared
from rubricate.matchers.wording.synonyms import Translation, content_stems, learn_translation
from rubricate.requirement.requirement import read_requirement
from rubricate.stats.calibration import logit

TARGET = SHARED.with_name("credit.json")
#: From which probability on words earn the credit, chosen on notes that nothing was learned from.
CREDITED_FROM = 0.55
_EVIDENCE = re.compile(r"\[\[(.*?)\]\]")
_FEATURES_TOGETHER, _CLAUSES_TOGETHER = 20, 6
Spans = list[tuple[int, int]]


class Row(NamedTuple):
    """A stretch that was found: its signs, whether it states the feature, and where it is from.

    ``item`` is source, case, note and feature.
    """

    signs: Signs
    stated: bool
    source: str
    item: tuple[str, ...] = ()


class BankFeature(NamedTuple):
    """A feature of the bank: its wordings and its clauses, with evidence (none: a near miss)."""

    wordings: list[str]
    clauses: list[tuple[str, Spans]]


def read_clauses(place: Path) -> Iterator[list[BankFeature]]:
    """Yield the features of each file."""
    for _, text in bank_files(place):
        features: list[BankFeature] = []
        for line in text.split("\n"):
            if line.startswith("F "):
                features.append(BankFeature(line[2:].strip().split(" | "), []))
            elif line[:2] in ("+ ", "- "):
                features[-1].clauses.append(_unmark(line[4:].strip()))
        yield features


def _unmark(marked: str) -> tuple[str, Spans]:
    text, spans, last = "", [], 0
    for hit in _EVIDENCE.finditer(marked):
        text += marked[last : hit.start()]
        spans.append((len(text), len(text) + len(hit[1])))
        text += hit[1]
        last = hit.end()
    return text + marked[last:], spans


def finder_of(rubric: Rubric, shared: SharedModel, lexicon: Lexicon) -> CaseFinder:
    """Return a matcher that finds a rubric's features from the rubric alone."""
    model = LexiconModel(shared, {}, (), Decision(), {}, "", 0)
    return CaseFinder(rubric, model, WordSettings(), lexicon)


def found_in(finder: CaseFinder, texts: Sequence[str]) -> Iterator[list[list[tuple[Spans, Signs]]]]:
    """Yield what is found in each text, by the number of the feature."""
    for read in finder.reader.read(texts):
        above = finder.above_cuts(read, ())
        tokens = read.reading.tokens
        yield [
            [
                ([(tokens[r.first].start, tokens[r.end - 1].end) for r in group], signs)
                for group, signs, _ in finder.candidates(j, runs, read, above)
            ]
            for j, runs in enumerate(finder.runs(above, read.reading))
        ]


def overlap(one: Spans, other: Spans) -> bool:
    """Tell whether two lists of spans share a character."""
    return any(a < d and c < b for a, b in one for c, d in other)


def bank_rows(folder: Path, pairs: Sequence[tuple[list[str], list[str]]]) -> Iterator[Row]:
    """Yield the rows of the bank; ``pairs`` are further wordings to learn from."""
    rng = random.Random(0)
    files = list(read_clauses(folder))
    plain = Lexicon(
        tuple(g for g in embedded_lexicon().groups if not g.id.startswith("bank:")),
        embedded_lexicon().sources,
    )
    for half in range(2):
        known = [f for own in files for f in own[1 - half :: 2]]
        shared = replace(
            default_shared(), translation=learn_translation([*pairs, *_wordings(known)])
        )
        lexicon = Lexicon((*plain.groups, *_groups(known)), plain.sources)
        for features in files:
            own = features[half::2]
            for first in range(0, len(own), _FEATURES_TOGETHER):
                yield from _rows_of(own[first : first + _FEATURES_TOGETHER], shared, lexicon, rng)


def marked_wordings(corpus: Corpus) -> list[tuple[list[str], list[str]]]:
    """Return pairs of stems: of a feature's wording, and of words marked for it."""
    return [
        (content_stems(feature.text), content_stems(one.text(note.text)))
        for note, _, feature, own in corpus.values()
        for one in own
    ]


def _phrases(feature: BankFeature) -> list[str]:
    return [" ".join(text[a:b] for a, b in spans) for text, spans in feature.clauses if spans]


def _wordings(features: Sequence[BankFeature]) -> list[tuple[list[str], list[str]]]:
    return [
        (content_stems(wording), content_stems(phrase))
        for one in features
        for wording in one.wordings
        for phrase in (*_phrases(one), *one.wordings)
        if phrase != wording
    ]


def _groups(features: Sequence[BankFeature]) -> Iterator[Group]:
    for number, one in enumerate(features):
        names = kept_phrases(one.wordings, MOST_WORDS_IN_NAME)
        own = kept_phrases(_phrases(one), MOST_WORDS_IN_PHRASE)
        if names and len(names) + len(own) > 1:
            yield Group(f"bank:{number}", tuple(Phrase(n, "bank") for n in names), tuple(own))


def _rows_of(
    features: Sequence[BankFeature], shared: SharedModel, lexicon: Lexicon, rng: random.Random
) -> Iterator[Row]:
    """Yield the rows of notes composed from clauses; a clause is judged for its own feature."""
    texts = [rng.choice(one.wordings) for one in features]
    rubric = Rubric("c", tuple(Feature(str(i), "c", t) for i, t in enumerate(texts)))
    finder = finder_of(rubric, shared, lexicon)
    clauses = [(j, *clause) for j, one in enumerate(features) for clause in one.clauses]
    rng.shuffle(clauses)
    notes = []
    for begin in range(0, len(clauses), _CLAUSES_TOGETHER):
        note, parts = "", []
        for j, text, spans in clauses[begin : begin + _CLAUSES_TOGETHER]:
            at = len(note)
            parts.append((j, (at, at + len(text)), [(a + at, b + at) for a, b in spans]))
            note += text + ("\n" if text[-1:] in ".!?" else ".\n")
        notes.append((note, parts))
    for (_, parts), found in zip(notes, found_in(finder, [n for n, _ in notes]), strict=True):
        for j, where, evidence in parts:
            for spans, signs in found[j]:
                if overlap(spans, [where]) and (not evidence or overlap(spans, evidence)):
                    yield Row(signs, bool(evidence), "bank")


def corpus_rows(corpus: Corpus, source: str, parts: Sequence[Translation]) -> Iterator[Row]:
    """Yield the rows of annotated notes, each read with wordings of other cases."""
    for rubric in corpus.rubrics:
        notes = [note for note in corpus.notes if note.case == rubric.case]
        if not notes:
            continue
        shared = replace(default_shared(), translation=parts[part_of(rubric.case)])
        finder = finder_of(rubric, shared, embedded_lexicon())
        for note, found in zip(notes, found_in(finder, [n.text for n in notes]), strict=True):
            for feature, own in zip(rubric, found, strict=True):
                judged = corpus.row(note.id, feature.id, "reference") is not None
                if read_requirement(feature.text).kind or not judged:
                    continue
                marked = [
                    (s.start, s.end)
                    for one in corpus.annotations(note.id, feature.id, "reference")
                    for s in one.spans
                ]
                for spans, signs in own:
                    item = (source, rubric.case, note.id, feature.id)
                    yield Row(signs, overlap(spans, marked), source, item)


#: How much a row of each source counts.
WORTH = {"bank": 0.3, "mixed": 1.0, "pairs": 1.0, "clin": 2.0, "extra": 1.0, "broad": 1.0}
#: Rarer words are left out, and weights that say nothing.
LEAST_ROWS, LEAST_WEIGHT = 4, 0.08
N_UNITS, N_ROUNDS, ROWS_PER_STEP = 24, 8, 256
#: Step sizes of the weights of words and of the others, and how much large weights of words cost.
WORD_STEP, NUMBER_STEP, PENALTY = 3e-3, 1e-2, 0.01
#: Added to every logit: chosen on the notes for choosing, where more of it finds more stated items
#: and credits more contradicted ones.
LENIENCE = 0.9
#: Every so manyth case is not learned from when the calibration is found.
HELD_OUT_EVERY = 4


def _numbers_part() -> tuple[torch.nn.Linear, torch.nn.Linear, torch.nn.Linear]:
    linear = torch.nn.Linear(len(SIGNS), 1, bias=False)
    torch.nn.init.zeros_(linear.weight)
    return linear, torch.nn.Linear(len(SIGNS), N_UNITS), torch.nn.Linear(N_UNITS, 1, bias=False)


def fit(rows: Sequence[Row]) -> dict[str, Any]:
    """Learn the weights of the signs: logistic loss, Adam, small weights for words."""
    torch.manual_seed(0)
    counts = Counter(word for row in rows for word in row.signs.words)
    names = sorted(word for word, n in counts.items() if n >= LEAST_ROWS)
    number = {word: i + 1 for i, word in enumerate(names)}
    columns = torch.from_numpy(np.stack([row.signs.numbers for row in rows]))
    own = [[number[w] for w in row.signs.words if w in number] for row in rows]
    longest = max(map(len, own))
    words = torch.tensor([one + [0] * (longest - len(one)) for one in own])
    outcome = torch.tensor([float(row.stated) for row in rows])
    weight = torch.tensor([WORTH[row.source] for row in rows])
    bag = torch.nn.Embedding(len(names) + 1, 1, padding_idx=0)
    torch.nn.init.zeros_(bag.weight)
    # Clauses put together differ from notes in how much is covered, not in what words mean.
    parts = [_numbers_part(), _numbers_part()]
    in_bank = torch.tensor([row.source == "bank" for row in rows])
    others = [p for part in parts for layer in part for p in layer.parameters()]
    learner = torch.optim.Adam(
        [{"params": bag.parameters()}, {"params": others, "lr": NUMBER_STEP}], lr=WORD_STEP
    )
    steps = N_ROUNDS * -(-len(rows) // ROWS_PER_STEP)
    slower = torch.optim.lr_scheduler.LinearLR(learner, 1.0, 0.02, total_iters=steps)
    for _ in range(N_ROUNDS):
        for at in torch.randperm(len(rows)).split(ROWS_PER_STEP):
            x = columns[at]
            said = bag(words[at])[:, :, 0]
            both = [(linear(x) + out(into(x).relu()))[:, 0] for linear, into, out in parts]
            logits = torch.where(in_bank[at], both[1], both[0]) + said.sum(1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                logits, outcome[at], weight[at]
            )
            learner.zero_grad()
            (loss + PENALTY * (said**2).sum() / len(at)).backward()
            learner.step()
            slower.step()
    return _as_json(parts[0], dict(zip(names, bag.weight[1:, 0].tolist(), strict=True)))


def _as_json(part: tuple[torch.nn.Linear, ...], words: dict[str, float]) -> dict[str, Any]:
    linear, into, out = part
    weights = dict(zip(SIGNS, linear.weight[0].tolist(), strict=True))
    weights["bias"] += LENIENCE
    hidden = HiddenLayer(
        into.weight.detach().numpy().T, into.bias.detach().numpy(), out.weight.detach().numpy()[0]
    )
    return {
        "signs": list(SIGNS),
        "weights": {name: round(w, 3) for name, w in weights.items()},
        "hidden": hidden.to_json(),
        "words": {word: round(w, 2) for word, w in words.items() if abs(w) >= LEAST_WEIGHT},
        "presence": [1.0, 0.0],
    }


def calibration(rows: Sequence[Row]) -> LogitScale:
    """Return the mapping from logits to probabilities, chosen on cases not in training."""
    cases = sorted({row.item[:2] for row in rows if row.source in _NOTES})
    held_out = set(cases[::HELD_OUT_EVERY])
    model = CreditModel.from_json(fit([row for row in rows if row.item[:2] not in held_out]))
    best: dict[tuple[str, ...], tuple[float, bool]] = {}
    for row in rows:
        if row.item[:2] in held_out:
            logit, stated = best.get(row.item, (-np.inf, False))
            best[row.item] = max(logit, model(row.signs)), stated or row.stated
    return calibrate([a for a, _ in best.values()], [b for _, b in best.values()])


_NOTES = ("clin", "pairs", "broad")


def main() -> None:
    """Write the file."""
    given = given_folders(__doc__.splitlines()[0])
    torch.set_num_threads(1)
    sets = training_sets(given)
    _, parts = learn_translations(sets, given.bank)
    with one_blas_thread():
        rows = [
            row
            for place in (given.bank, MORE_BANK)
            for row in bank_rows(place, marked_wordings(sets["broad"]))
        ]
        for name, corpus in sets.items():
            rows += corpus_rows(corpus, name, parts)
    value, scale = fit(rows), calibration(rows)
    cut = float(logit(CREDITED_FROM))
    bias = value["weights"]["bias"] + (scale.shift - cut) / scale.slope
    value["weights"]["bias"] = round(bias, 2)
    value["presence"] = [round(scale.slope, 3), round(cut, 3)]
    lines = [f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} rows, {len(value['words'])} words, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
