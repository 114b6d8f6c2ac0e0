"""Variants of phrases: the same phrase with synonyms and shorthand in place of its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rubricate.lexicon.groups import NARROWER, Lexicon
from rubricate.matchers.folding import fold_text
from rubricate.matchers.phrases import Phrase
from rubricate.rubric import Feature

#: Most variants made of one phrase.
MOST_VARIANTS = 40
#: A synonym so short stands for too many things to be looked for by itself.
SHORTEST = 2


def vary_phrase(phrase: str, lexicon: Lexicon, *, most: int = MOST_VARIANTS) -> Iterator[str]:
    """Yield the phrase with one of its known parts replaced, part by part, most trusted first.

    Narrower terms are left out: what holds for them need not hold for the phrase.

    Examples
    --------
    >>> from rubricate.lexicon.groups import Group, Lexicon, Phrase
    >>> lexicon = Lexicon((Group("a:1", (Phrase("chest pain", "a"), Phrase("CP", "a"))),))
    >>> list(vary_phrase("no chest pain", lexicon))
    ['no cp']
    """
    made: dict[str, None] = {}
    for span, key in lexicon.phrases_in(phrase):
        for synonym, source in lexicon.synonyms(key):
            if source.endswith(NARROWER):
                continue
            made.setdefault(phrase[: span.start] + fold_text(synonym) + phrase[span.end :])
    made.pop(phrase, None)
    for variant in list(made)[:most]:
        if len(variant) >= SHORTEST:
            yield variant


def vary_all(
    phrases: Iterable[Phrase], features: Iterable[Feature], lexicon: Lexicon
) -> list[Phrase]:
    """Return variants of training phrases, and the rubric's own alternatives with theirs.

    Phrases of several fragments are not varied. A variant that is itself a training phrase of the
    feature is left out.
    """
    learned = list(phrases)
    known = {(phrase.feature, phrase.fragments) for phrase in learned}
    made: dict[tuple[str, tuple[str, ...]], Phrase] = {}

    def add(feature: str, text: str, source: str) -> None:
        key = (feature, (text,))
        if key not in known and key not in made:
            made[key] = Phrase(feature, (text,), 0, 0.5, source)

    for feature in features:
        for alternative in feature.alternatives:
            own = fold_text(alternative)
            add(feature.id, own, "rubric")
            for variant in vary_phrase(own, lexicon):
                add(feature.id, variant, f'synonym of "{own}"')
    for phrase in learned:
        if len(phrase.fragments) == 1:
            for variant in vary_phrase(phrase.fragments[0], lexicon):
                add(phrase.feature, variant, f'synonym of "{phrase.text}"')
    return list(made.values())
