"""Make ``lexicon/bank.tsv``: names of the same feature, and short phrases that express it.

Run: python training/build_bank.py BANK training/data/bank.tsv

The folders hold the phrase bank and its continuation: text files with features (``F``), lines that
state them (``+``, evidence between double brackets) and near misses (``-``). Kept are names of few
words without numbers and denials, and phrases of few words: longer ones seldom occur twice. The
bank is ours, CC BY 4.0.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from texts import bank_files

import rubricate.lexicon
from rubricate.matchers.wording.synonyms import content_stems
from rubricate.reading.negation import find_negations
from rubricate.reading.tokens import find_words, phrase_key

TARGET = Path(rubricate.lexicon.__file__).parent / "bank.tsv"
MOST_WORDS_IN_NAME = 4
MOST_WORDS_IN_PHRASE = 3
_EVIDENCE = re.compile(r"\[\[(.*?)\]\]")


def read_bank(place: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each feature's wordings and the phrases that express it."""
    for _, text in bank_files(place):
        wordings: list[str] = []
        phrases: list[str] = []
        for line in text.split("\n"):
            if line.startswith("F "):
                if wordings:
                    yield wordings, phrases
                wordings, phrases = line[2:].strip().split(" | "), []
            elif line.startswith("+ "):
                # Fragments of one evidence make one phrase: "denies ... chills".
                phrases.append(" ".join(_EVIDENCE.findall(line)))
        if wordings:
            yield wordings, phrases


def kept_phrases(phrases: Iterable[str], most_words: int) -> list[str]:
    """Return the phrases of few words that say something, each once."""
    kept: dict[str, str] = {}
    for phrase in phrases:
        plain = phrase.replace("\t", " ").replace("|", " ").strip()
        words = find_words(plain)
        named = any(len(stem) > 1 for stem in content_stems(plain))
        counted = any(word.kind == "number" for word in words)
        if not named or counted or len(words) > most_words or " OR " in plain:
            continue
        if not find_negations(plain):
            kept.setdefault(phrase_key(plain), plain)
    return list(kept.values())


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", type=Path, nargs="+")
    given = parser.parse_args()
    rows = ["names\tphrases"]
    features = itertools.chain.from_iterable(map(read_bank, given.places))
    for wordings, phrases in features:
        names = kept_phrases(wordings, MOST_WORDS_IN_NAME)
        keys = {phrase_key(name) for name in names}
        own = [p for p in kept_phrases(phrases, MOST_WORDS_IN_PHRASE) if phrase_key(p) not in keys]
        if names and len(names) + len(own) > 1:
            rows.append(" | ".join(names) + "\t" + " | ".join(own))
    TARGET.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows) - 1} features, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
