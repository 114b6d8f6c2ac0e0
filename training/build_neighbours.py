"""Make ``lexicon/neighbours.tsv``: words that are close in meaning, from a sentence encoder.

Run: python training/build_neighbours.py BANK ENCODER [RUBRICS.csv ...]

Words are those of the phrase bank, of the embedded tables and notes, and of the rubrics given (a
column ``feature_text``). Each is embedded alone by the encoder (a folder with a BERT-like model,
such as all-MiniLM-L6-v2, Apache-2.0) and compared with all others by cosine. Kept is, for each
stem, a few nearest ones.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from build_bank import read_bank
from transformers import AutoModel, AutoTokenizer

import rubricate.lexicon
from rubricate import load_corpus
from rubricate.lexicon.store import embedded_lexicon
from rubricate.progress import shown_progress, watched
from rubricate.reading.tokens import find_words, root
from rubricate.requirement.alternative import STOP_WORDS

TARGET = Path(rubricate.lexicon.__file__).parent / "neighbours.tsv"
LEAST_COSINE = 0.5
MOST_NEIGHBOURS = 8
WORDS_PER_STEP = 256


def collect_words(bank: Path, rubrics: list[Path]) -> dict[str, str]:
    """Return the most common form of each stem."""
    texts = [text for pair in read_bank(bank) for part in pair for text in part]
    for group in embedded_lexicon().groups:
        texts += [phrase.text for phrase in group.phrases]
    corpus = load_corpus("open-notes")
    texts += [feature.text for feature in corpus.features]
    for path in rubrics:
        with path.open(encoding="utf-8", newline="") as stream:
            texts += [row["feature_text"] for row in csv.DictReader(stream)]
    forms: Counter[str] = Counter()
    for text in texts:
        forms.update(word.form for word in find_words(text) if word.kind == "word")
    common: Counter[str] = Counter()
    for note in corpus.notes:
        common.update({word.form for word in find_words(note.text) if word.kind == "word"})
    forms.update({form: n for form, n in common.items() if n >= 4})
    best: dict[str, str] = {}
    for form, _ in forms.most_common():
        if len(form) > 2 and form.isalpha() and form not in STOP_WORDS:
            best.setdefault(root(form), form)
    return best


def embed(words: list[str], folder: Path) -> np.ndarray:
    """Return a vector of length one for each word."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    found = []
    steps = range(0, len(words), WORDS_PER_STEP)
    with shown_progress() as progress, torch.inference_mode():
        for first in watched(steps, progress, "embedding words", len(steps)):
            batch = tokenizer(
                words[first : first + WORDS_PER_STEP], padding=True, return_tensors="pt"
            )
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"][..., None]
            found.append(((hidden * mask).sum(1) / mask.sum(1)).numpy())
    vectors = np.concatenate(found)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bank", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("rubrics", type=Path, nargs="*")
    given = parser.parse_args()
    best = collect_words(given.bank, given.rubrics)
    stems = sorted(best)
    vectors = embed([best[one] for one in stems], given.encoder)
    rows = ["stem\tneighbours"]
    for i, one in enumerate(stems):
        cosine = vectors @ vectors[i]
        near = [k for k in np.argsort(-cosine)[: MOST_NEIGHBOURS + 1] if k != i]
        said = [f"{stems[k]} {round(100 * cosine[k])}" for k in near if cosine[k] >= LEAST_COSINE]
        if said:
            rows.append(f"{one}\t{' '.join(said)}")
    TARGET.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows) - 1} of {len(stems)} stems, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
