"""One root for all words that are made from it, and corrected spelling."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache

from rubricate.knowledge.tables import pattern, phrases
from rubricate.reading.tokens import stem

_ENDINGS = phrases("stems.endings")
_BY_LAST_LETTER = {
    letter: tuple(ending for ending in _ENDINGS if ending[-1] == letter)
    for letter in {ending[-1] for ending in _ENDINGS}
}
_VOWEL = pattern("stems.vowel")
_SHORTEST = 3
#: So many corrections are remembered; then they are looked for again.
MOST_CORRECTED = 65536


@lru_cache(maxsize=65536)
def root(form: str) -> str:
    """Return the root that a word's forms and the words made from it have in common.

    Coarser than `rubricate.reading.tokens.stem`: "sweaty" becomes "sweat", "tightness" "tight".

    >>> [root(w) for w in ("sweating", "sweaty", "sweats", "tightness", "diarrhoea", "diarrhea")]
    ['sweat', 'sweat', 'sweat', 'tight', 'diarrh', 'diarrh']
    >>> root("58"), root("gas")
    ('58', 'gas')
    """
    form = stem(form)
    if len(form) <= _SHORTEST or not form.isalpha():
        return form
    for _ in range(2):
        for ending in _BY_LAST_LETTER.get(form[-1], ()):
            rest = form[: -len(ending)]
            if form.endswith(ending) and len(rest) >= _SHORTEST and _VOWEL.search(rest):
                form = rest
                break
        else:
            break
    if len(form) > _SHORTEST and form[-1] == form[-2] and form[-1] not in "aeiou":
        form = form[:-1]
    return form


class Speller:
    """Corrects unknown words: the nearest known word within one or two edits.

    A word that is known, or too short, stays as it is. Swapped letters count as one edit.

    >>> speller = Speller(["diarrhea", "fever", "breath"])
    >>> [speller.correct(w) for w in ("diarhea", "fevr", "breth", "fox")]
    ['diarrhea', 'fever', 'breath', 'fox']
    """

    def __init__(self, words: Iterable[str], *, known: Container[str] = ()) -> None:
        self._words = list({word for word in words if len(word) > _SHORTEST and word.isalpha()})
        self._known = known
        self._corrected: dict[str, str] = {}

    def correct(self, form: str) -> str:
        """Return the known word that was meant, or the word itself."""
        if len(form) <= _SHORTEST or form in self._known or not form.isalpha():
            return form
        found = self._corrected.get(form)
        if found is None:
            if len(self._corrected) >= MOST_CORRECTED:
                self._corrected.clear()
            found = self._corrected[form] = self._nearest(form)
        return found

    def _nearest(self, form: str) -> str:
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        most = 1 if len(form) < 8 else 2
        near = extract(form, self._words, scorer=OSA.distance, score_cutoff=most, limit=None)
        # Of several as near the first by the alphabet.
        best = min(((distance, word) for word, distance, _ in near), default=(0, form))[1]
        # A wrong first letter is rare in misspelt words and common between different words.
        return best if best[0] == form[0] else form
