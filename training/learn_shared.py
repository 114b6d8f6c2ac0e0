"""Make again what the `lexicon` matcher knows about every case: ``matchers/patterns/shared.json``.

Run: python training/learn_shared.py BANK CLINICIANS PAIRS

Which words stand for each other is learned from the phrase bank and from what is marked in the sets
of ``lexicon_sets.py``; nothing of the ten deep cases goes in. Then two layers learn how likely each
token is evidence: the first from the evidence columns of ``wording/relation.py``, the second also
from what the first says of the tokens around, and from the words there. Each case is read with
wordings learned from other cases.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lexicon_sets import (
    given_folders,
    learn_translations,
    part_of,
    training_sets,
)
from texts import MORE_BANK, bank_files

import rubricate.matchers
from rubricate import Corpus
from rubricate.matchers.matcher import JudgedNote, judged_notes
from rubricate.matchers.wording.case_model import marked_tokens
from rubricate.matchers.wording.logistic import (
    Decision,
    HiddenLayer,
    LogitScale,
    calibrate,
    one_blas_thread,
)
from rubricate.matchers.wording.reading import NoteColumns, read_columns
from rubricate.matchers.wording.relation import COLUMNS, all_columns
from rubricate.matchers.wording.shared import (
    LOGITS_AROUND,
    NOT_SAID,
    PreparedRubric,
    SecondLook,
    SharedModel,
)
from rubricate.matchers.wording.synonyms import Translation
from rubricate.reading.tokens import find_tokens, root

TARGET = Path(rubricate.matchers.__file__).parent / "patterns" / "shared.json"
#: How much a token of each set counts in the first and in the second layer, and how much less where
#: the feature is not stated: there words may speak of the matter, which is decided later.
WORTH = (
    {"broad": 2.0, "clin": 1.0, "pairs": 0.5, "mixed": 0.3, "extra": 0.3},
    {"broad": 2.0, "clin": 2.0, "pairs": 1.0, "mixed": 0.6, "extra": 1.0},
)
NOT_STATED = {"pairs": 0.3, "mixed": 0.3, "extra": 0.3}
#: Only this share of the tokens far from any rubric word is learned from; their weight makes up for
#: the others.
FAR_SHARE = 0.05
#: Closer are tokens with so much coverage (first layer), with so high a logit (second layer).
CLOSE = (0.15, -3.5)
UNITS, ROUNDS, STEP, ROWS_PER_STEP = (64, 48), (25, 12), 4e-3, 4096
#: The second look knows so many words, each by so many numbers; some are hidden while learning.
N_WORDS, N_NUMBERS, HIDDEN_WORDS = 600, 4, 0.3
CUTS = np.arange(-2.5, 1.0, 0.1)
_COVERAGE = COLUMNS.index("coverage")
F32 = np.ndarray[Any, np.dtype[np.float32]]


class Rows(NamedTuple):
    """Tokens to learn from: what is seen, the numbers of the words there, outcome and weight."""

    seen: F32
    words: np.ndarray[Any, Any]
    marked: np.ndarray[Any, Any]
    weight: F32


def count_forms(sets: Mapping[str, Corpus], bank: Path) -> tuple[dict[str, int], int]:
    """Return in how many of our texts each word occurs, and how many texts these are."""
    texts = [note.text for name in ("broad", "mixed") for note in sets[name].notes]
    for place in (bank, MORE_BANK):
        for _, own in bank_files(place):
            features = own.replace("[[", "").replace("]]", "")
            texts += ["\n".join(x[4:] for x in f.split("\n")) for f in features.split("\nF ")]
    forms: Counter[str] = Counter()
    for text in texts:
        forms.update({token.form for token in find_tokens(text) if token.kind == "word"})
    return {form: n for form, n in sorted(forms.items()) if n >= 2}, len(texts)


def common_words(sets: Mapping[str, Corpus]) -> tuple[str, ...]:
    """Return the stems that most notes have; those of the small cases count three times."""
    counts: Counter[str] = Counter()
    for name, corpus in sets.items():
        for text in sorted({note.text for note in corpus.notes}):
            words = {root(t.form) for t in find_tokens(text) if t.kind not in ("number", "newline")}
            counts.update(dict.fromkeys(sorted(words), 3 if name == "broad" else 1))
    return tuple(word for word, _ in counts.most_common(N_WORDS))


def read_sets(
    sets: Mapping[str, Corpus], draft: SharedModel, parts: Sequence[Translation]
) -> Iterator[tuple[str, PreparedRubric, JudgedNote, NoteColumns, list[str]]]:
    """Yield the notes of each set with their rubrics, prepared with wordings of other cases."""
    for name, corpus in sets.items():
        prepared: dict[str, PreparedRubric] = {}
        for judged in judged_notes(corpus, "reference"):
            case = judged.note.case
            if case not in prepared:
                own = replace(draft, translation=parts[part_of(case)])
                prepared[case] = own.prepare(corpus.rubric(case))
            reading = read_columns(judged.note.text)
            if len(reading):
                stems = [root(token.form) for token in reading.tokens]
                yield name, prepared[case], judged, reading, stems


def collect(
    sets: Mapping[str, Corpus], draft: SharedModel, parts: Sequence[Translation], layer: int
) -> Rows:
    """Return the rows to learn a layer from; for the second one the draft has the first."""
    rng = np.random.default_rng(0)
    look, draft = draft.second, replace(draft, second=None)
    found = []
    for name, prepared, judged, reading, stems in read_sets(sets, draft, parts):
        own = [
            j
            for j, p in enumerate(prepared.words.profiles)
            if not p.kind and prepared.ids[j] in judged.annotations
        ]
        if not own:
            continue
        evidence = all_columns(reading, stems, prepared.words)
        columns = evidence[:, own].reshape(-1, len(COLUMNS))
        ids = [prepared.ids[j] for j in own]
        here = marked_tokens(reading, judged, ids)
        marked = here.reshape(-1)
        closeness = columns[:, _COVERAGE]
        if look is not None:
            logits = prepared.logits(reading, stems)[:, own]
            closeness = logits.reshape(-1)
        close = marked | (closeness > CLOSE[layer])
        far = (rng.random(len(marked)) < FAR_SHARE) & (closeness > NOT_SAID)
        at = np.flatnonzero(close | far)
        worth = np.where(close, 1.0, 1 / FAR_SHARE) * WORTH[layer][name]
        stated = np.tile(here.any(axis=0), len(stems))
        worth = np.where(stated, worth, worth * NOT_STATED.get(name, 1.0))
        seen, words = columns[at], np.zeros((len(at), 0), dtype=np.int64)
        if look is not None:
            around, numbers = look.around(logits, reading, stems, at)
            seen, words = np.hstack([seen, around]), numbers.astype(np.int64)
        found.append(Rows(seen.astype(np.float16), words, marked[at], worth[at]))
    return Rows(*(np.concatenate(column) for column in zip(*found, strict=True)))


def fit(rows: Rows, layer: int) -> tuple[F32, HiddenLayer, F32, float, LogitScale]:
    """Learn a layer: weights of the columns, units, numbers of words, the best cut, calibration."""
    torch.manual_seed(0)
    seen, words = torch.from_numpy(rows.seen), torch.from_numpy(rows.words)
    outcome = torch.from_numpy(rows.marked).float()
    weight = torch.from_numpy(rows.weight / rows.weight.mean()).float()
    vectors = torch.nn.Embedding(N_WORDS + 1, N_NUMBERS, padding_idx=0)
    torch.nn.init.normal_(vectors.weight, 0, 0.1)
    vectors.weight.data[0] = 0
    linear = torch.nn.Linear(len(COLUMNS), 1, bias=False)
    into = torch.nn.Linear(seen.shape[1] + words.shape[1] * N_NUMBERS, UNITS[layer])
    out = torch.nn.Linear(UNITS[layer], 1, bias=False)
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(out.weight)

    def logits(x: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
        first = linear(x)[:, 0] if layer == 0 else x[:, len(COLUMNS)]
        return first + out(into(torch.cat([x, vectors(said).flatten(1)], 1)).relu())[:, 0]

    parts = [linear, into, out, vectors]
    learner = torch.optim.Adam([p for part in parts for p in part.parameters()], lr=STEP)
    steps = ROUNDS[layer] * -(-len(seen) // ROWS_PER_STEP)
    slower = torch.optim.lr_scheduler.LinearLR(learner, 1.0, 0.01, total_iters=steps)
    for _ in range(ROUNDS[layer]):
        for at in torch.randperm(len(seen)).split(ROWS_PER_STEP):
            said = words[at] * (torch.rand(words[at].shape) > HIDDEN_WORDS)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                logits(seen[at].float(), said), outcome[at], weight[at]
            )
            learner.zero_grad()
            loss.backward()
            learner.step()
            slower.step()
    with torch.inference_mode():
        pieces = torch.arange(len(seen)).split(1 << 16)
        found = torch.cat([logits(seen[at].float(), words[at]) for at in pieces]).numpy()
    cut = max(CUTS, key=lambda one: _f1(found > one, rows.marked, rows.weight))
    sure = np.flatnonzero(found > cut)
    scale = calibrate((found[sure] - cut).tolist(), rows.marked[sure].tolist())
    print(f"layer {layer + 1}: {len(seen)} rows, cut {cut:.1f}", flush=True)
    hidden = HiddenLayer(*(p.detach().numpy() for p in (into.weight.T, into.bias, out.weight[0])))
    weights = linear.weight[0].detach().numpy()
    return weights, hidden, vectors.weight.detach().numpy(), float(cut), scale


def _f1(found: np.ndarray, marked: np.ndarray, weight: np.ndarray) -> float:
    both = weight[found & marked].sum()
    return float(2 * both / (weight[found].sum() + weight[marked].sum()))


def learn_default(given: argparse.Namespace) -> SharedModel:
    """Learn the shared model that comes with the package."""
    sets = training_sets(given)
    wordings, parts = learn_translations(sets, given.bank)
    forms, n_texts = count_forms(sets, given.bank)
    said = (
        "open-notes, part breadth without every fifth case: 104 cases; phrase bank; mixed notes;"
        " clinicians' notes and pairs (train)"
    )
    draft = SharedModel({}, wordings, n_texts, forms, Decision(), said)
    linear, hidden, _, _, _ = fit(collect(sets, draft, parts, 0), 0)
    weights = dict(zip(COLUMNS, linear.tolist(), strict=True))
    words = common_words(sets)
    # While learning, the numbers of the words stand in place of their vectors.
    numbers = np.arange(len(words) + 1, dtype=np.float32)[:, None]
    first = replace(
        draft, weights=weights, hidden=hidden, second=SecondLook(words, numbers, hidden)
    )
    _, layer, vectors, cut, scale = fit(collect(sets, first, parts, 1), 1)
    assert len(layer.into) == len(COLUMNS) + 2 * LOGITS_AROUND + 1 + 3 * N_NUMBERS
    model = replace(first, second=SecondLook(words, vectors, layer))
    return replace(model, decision=Decision(cut, presence_scale(model, cut, sets, parts), scale))


def presence_scale(
    model: SharedModel, cut: float, sets: Mapping[str, Corpus], parts: Sequence[Translation]
) -> LogitScale:
    """Return from the highest logit of a feature to the probability that it is there."""
    highest, present = [], []
    broad = {"broad": sets["broad"]}
    for _, prepared, judged, reading, stems in read_sets(broad, model, parts):
        logits = prepared.logits(reading, stems).T
        for number, profile, column in zip(
            prepared.ids, prepared.words.profiles, logits, strict=True
        ):
            if not profile.kind:
                highest.append(float(column.max()) - cut)
                present.append(bool(judged.annotations.get(number)))
    return calibrate(highest, present)


def main() -> None:
    """Write the file."""
    torch.set_num_threads(1)
    with one_blas_thread():
        value = learn_default(given_folders(__doc__.splitlines()[0])).to_json()
    lines = [f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
