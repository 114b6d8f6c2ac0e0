"""Synonyms of a rubric's words, from the lexicon."""

from __future__ import annotations

from collections.abc import Iterable

from rubricate.lexicon.groups import NARROWER, Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.wording.profile import STOP_WORDS, FeatureProfile
from rubricate.matchers.wording.stems import stem
from rubricate.text.words import find_words

#: How much a narrower term counts ("ibuprofen" for "NSAID").
NARROWER_PART = 0.9


def find_synonyms(
    profiles: Iterable[FeatureProfile], lexicon: Lexicon | None = None
) -> dict[str, dict[str, float]]:
    """Return, for each stem of a synonym, the rubric stems it stands for and how great a part.

    A synonym of several words is shared out among them: each of the two words of "blood pressure"
    is half of it.

    Examples
    --------
    >>> from rubricate.matchers.wording.profile import read_feature
    >>> from rubricate.rubric import Feature
    >>> found = find_synonyms([read_feature(Feature("8", "0", "Shortness of breath"), 0)])
    >>> found["sob"]
    {'short': 1.0, 'breath': 1.0}
    """
    known = load_default_lexicon() if lexicon is None else lexicon
    found: dict[str, dict[str, float]] = {}
    for profile in profiles:
        if profile.kind:
            continue
        for text in profile.feature.alternatives:
            for span, key in known.phrases_in(text):
                meant = _content(span.text(text))
                for synonym, source in known.synonyms(key):
                    words = _content(synonym)
                    part = NARROWER_PART if source.endswith(NARROWER) else 1.0
                    for word in words:
                        own = found.setdefault(word, {})
                        for one in meant:
                            own[one] = max(own.get(one, 0.0), part / len(words))
    return found


def _content(text: str) -> list[str]:
    forms = [word.form for word in find_words(text)]
    return list(dict.fromkeys(stem(f) for f in forms if f not in STOP_WORDS))
