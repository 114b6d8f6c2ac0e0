"""Notes per second that the lexical matchers scan, beside ``re`` and brute force.

Run: OMP_NUM_THREADS=1 python benchmarks/match_speed.py [--notes N] [--phrases N]

One deep case of the embedded corpus; its phrases are filled up with phrases of other cases until
every feature has so many. Everything runs on one core in one process, one after the other, so
the ratios hold where the seconds do not.
"""

from __future__ import annotations

import argparse
import itertools
import re
import time
from collections.abc import Callable
from dataclasses import replace

from rubricate import Corpus, CorpusBuilder, Note, load_corpus
from rubricate.matchers import fit_matcher
from rubricate.matchers.lexicon.matcher import LexiconMatcher
from rubricate.matchers.matcher import judged_notes
from rubricate.matchers.phrases.matcher import ExactMatcher, FuzzyMatcher
from rubricate.matchers.phrases.model import (
    CountedPhrase,
    LearnedPhrase,
    PhraseModel,
    learn_phrases,
)
from rubricate.matchers.phrases.scanning import fold_text

CASE = "0"
#: Notes on which the slowest ways are timed.
FEW = 20


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--phrases", type=int, default=300)
    given = parser.parse_args()
    corpus = load_corpus("open-notes").select(annotators=["reference"])
    deep = corpus.select(cases=[CASE])
    texts = many_texts(deep, given.notes)
    model = filled_model(corpus, deep, given.phrases)
    phrases = [phrase for phrase in model.phrases if len(phrase.fragments) == 1]
    target = notes_of(deep, texts)
    folded = [fold_text(text) for text in texts]
    print(f"{given.notes} notes, {len(deep.features)} features, {len(model.phrases)} phrases")
    print(f"{'way':<34}{'notes/s':>10}{'ratio to re':>14}{'ratio to brute':>16}")

    by_feature: dict[str, list[str]] = {}
    for phrase in phrases:
        by_feature.setdefault(phrase.feature, []).append(phrase.text)
    patterns = [
        re.compile(
            r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(own, key=len)[::-1])) + r")(?!\w)"
        )
        for own in by_feature.values()
    ]
    alternation = rate(lambda: [list(p.finditer(t)) for t in folded[:FEW] for p in patterns], FEW)
    brute = rate(lambda: [find_all(t, phrases) for t in folded[:FEW]], FEW)
    show("re, one alternation a feature", alternation, alternation, brute)
    show("brute force, str.find a phrase", brute, alternation, brute)

    exact = ExactMatcher()
    exact.model_ = model
    show("exact", rate(lambda: exact.predict(target), given.notes), alternation, brute)
    fuzzy = FuzzyMatcher()
    fuzzy.model_ = model
    fuzzy_brute = rate(lambda: [edit_all(t, phrases) for t in folded[:2]], 2)
    show("brute force, edit distance", fuzzy_brute, alternation, fuzzy_brute)
    show("fuzzy", rate(lambda: fuzzy.predict(target), given.notes), alternation, fuzzy_brute)
    lexicon = filled_lexicon(deep, model)
    speed = rate(lambda: lexicon.predict(target), given.notes)
    show("lexicon", speed, alternation, fuzzy_brute)


def many_texts(deep: Corpus, n: int) -> list[str]:
    """Return so many texts: the notes, then the notes with other words in front."""
    texts = [note.text for note in deep.notes]
    return [
        text if i < len(texts) else f"Visit {i}. {text}"
        for i, text in zip(range(n), itertools.cycle(texts), strict=False)
    ]


def notes_of(deep: Corpus, texts: list[str]) -> Corpus:
    """Return a corpus of these texts with the case's rubric."""
    builder = CorpusBuilder()
    builder.add_rubric(deep.rubrics[0])
    for i, text in enumerate(texts):
        builder.add_note(Note(str(i), CASE, text))
    return builder.build()


def filled_model(corpus: Corpus, deep: Corpus, n: int) -> PhraseModel:
    """Return the case's phrases, with phrases of other cases up to ``n`` a feature."""
    model: PhraseModel = fit_matcher("exact", deep).model_  # type: ignore[attr-defined]
    others = learn_phrases(
        one for one in judged_notes(corpus, "reference") if one.note.case != CASE
    )
    spare = iter(sorted({phrase.fragments for phrase in others}))
    filled: list[LearnedPhrase] = []
    for feature in deep.features:
        own = [phrase for phrase in model.phrases if phrase.feature == feature.id][:n]
        extra = itertools.islice(spare, n - len(own))
        filled += own + [LearnedPhrase(feature.id, fragments, 1, 0.5) for fragments in extra]
    return replace(model, phrases=tuple(filled))


def filled_lexicon(deep: Corpus, model: PhraseModel) -> LexiconMatcher:
    """Return a fitted ``lexicon`` matcher with the same phrases."""
    matcher = LexiconMatcher().fit(deep)
    counted = [
        CountedPhrase(p.feature, p.fragments, 1, 0, p.precision, True, "training")
        for p in model.phrases
    ]
    matcher.model_ = replace(matcher.model_, phrases=tuple(counted))
    return matcher


def find_all(text: str, phrases: list[LearnedPhrase]) -> list[tuple[str, int]]:
    """Look for each phrase by itself."""
    found = []
    for phrase in phrases:
        at = text.find(phrase.text)
        while at >= 0:
            found.append((phrase.feature, at))
            at = text.find(phrase.text, at + 1)
    return found


def edit_all(text: str, phrases: list[LearnedPhrase]) -> int:
    """Compare each phrase with every stretch of words of about its length."""
    from rapidfuzz.distance import Levenshtein

    from rubricate.matchers.phrases.scanning import word_edges

    starts, ends = (sorted(edges) for edges in word_edges(text))
    n = 0
    for phrase in phrases:
        length = len(phrase.text)
        for a in starts:
            for b in ends:
                if length - 2 <= b - a <= length + 2:
                    n += Levenshtein.distance(phrase.text, text[a:b], score_cutoff=2) <= 2
    return n


def rate(work: Callable[[], object], n: int) -> float:
    """Return notes per second of processor time, the best of two runs."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return n / min(seconds)


def show(name: str, speed: float, alternation: float, brute: float) -> None:
    """Print one line."""
    print(f"{name:<34}{speed:>10,.0f}{speed / alternation:>14,.1f}{speed / brute:>16,.1f}")


if __name__ == "__main__":
    main()
