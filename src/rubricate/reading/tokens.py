"""Words of a note with their offsets, the forms that they are compared in, and phrases."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.knowledge.tables import pattern, phrases
from rubricate.spans import Span


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set, for tables of word forms.

    >>> sorted(word_set("but yet"))
    ['but', 'yet']
    """
    return frozenset(words.split())


#: Slashed shorthand that is one word; any other slash separates the items of a list (N/V, CP/SOB).
SLASHED = word_set(
    "a/w b/c b/f b/l b/o b/w c/b c/f c/o c/w d/c d/t d/w e/o f/b f/h f/u g/c h/h h/o i/o k/c l/s"
    " m/c n/a n/k o/e o/n o/p p/h p/s p/w r/o r/t r/v s/b s/e s/h s/l s/o s/p s/s t/o t/w u/s"
    " w/o w/u y/o k/c/o"
)
#: Letters with a bar over them are prescribers' shorthand, not accents.
_BARRED = {"c\u0304": "with", "s\u0304": "without", "p\u0304": "after", "a\u0304": "before"}
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "λ": "lambda"}
_MARK_FORMS = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "×": "x"}

_TOKEN = re.compile(
    r"(?P<newline>[\n\r\u2028\u2029]+)"
    r"|(?P<number>\d+(?:[.,]\d+)*(?:(?:st|nd|rd|th|ST|ND|RD|TH)\b|(?:/\d+)+)?|[¼½¾⅓⅔⅛])"
    r"|(?P<word>[xX](?=\d)"
    r"|[yY]/?[oO](?=[mMfFwWbB]\b)"
    r"|[a-zA-Z](?:/[a-zA-Z]){1,8}(?![\w/])"
    r"|[wW]/"
    r"|[a-zA-Z](?:\.[a-zA-Z])+(?!\w)\.?"
    r"|[^\W\d_](?:[\w\u0300-\u036f]|['’](?=[^\W\d_]))*)"
    r"|(?P<mark>\S)"
)


class Token(NamedTuple):
    """A word, number, mark or line break of a note.

    ``form`` is what to compare: case-folded, without accents, apostrophes and abbreviating dots.
    ``kind`` is ``"word"``, ``"number"``, ``"mark"`` or ``"newline"``.
    """

    start: int
    end: int
    form: str
    kind: str

    @property
    def span(self) -> Span:
        """The token's place in the note."""
        return Span(self.start, self.end)


@lru_cache(maxsize=65536)
def word_form(word: str) -> str:
    """Return one form for all spellings of a word.

    >>> [word_form(w) for w in ("Can’t", "y.o.", "Sjögren", "β")]
    ['cant', 'yo', 'sjogren', 'beta']
    """
    form = word.casefold()
    if not form.isascii():
        form = _BARRED.get(unicodedata.normalize("NFD", form), form)
        form = _GREEK.get(form, form)
        form = unicodedata.normalize("NFKD", form)
        form = "".join(char for char in form if not unicodedata.combining(char)).casefold()
        form = form.replace("’", "'") or word
    if "'" in form or "." in form:
        form = form.replace("'", "").replace(".", "") or form
    return form


def find_tokens(text: str) -> list[Token]:
    r"""Split a text into tokens; spaces are dropped, runs of line breaks are one token.

    Numbers part from the letters after them, and slashed shorthand stays whole.

    >>> [token.form for token in find_tokens("58yoM c/o N/V x3wks, w/o CP.")]
    ['58', 'yo', 'm', 'c/o', 'n', '/', 'v', 'x', '3', 'wks', ',', 'w/o', 'cp', '.']
    """
    tokens: list[Token] = []
    add = tokens.append
    make = tuple.__new__
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        start, end = match.span()
        raw = match[0]
        if kind == "word":
            form = word_form(raw)
            if "/" in form and len(form) > 2 and form not in SLASHED:
                tokens.extend(_split_slashes(raw, start))
                continue
        elif kind == "newline":
            form = "\n"
        elif kind == "mark":
            form = _MARK_FORMS.get(raw, raw)
        else:
            form = raw if raw.isdigit() else raw.lower()
        add(make(Token, (start, end, form, kind)))
    return tokens


def _split_slashes(raw: str, start: int) -> list[Token]:
    return [
        Token(start + i, start + i + 1, char.lower(), "mark" if char == "/" else "word")
        for i, char in enumerate(raw)
    ]


def find_words(text: str) -> list[Token]:
    """Return the words and numbers of a text, without marks and line breaks.

    >>> [(word.form, word.start) for word in find_words("No chest-pain.")]
    [('no', 0), ('chest', 3), ('pain', 9)]
    """
    return [token for token in find_tokens(text) if token.kind in ("word", "number")]


#: Phrases of which only the case needs folding ("yo" may be the age of a man: "yom").
_PLAIN = re.compile(r"(?:(?![yY][oO][mMfFwWbB]\b)[a-zA-Z]+(?: +|$))+")


@lru_cache(maxsize=65536)
def phrase_words(phrase: str) -> tuple[str, ...]:
    """Return the forms of the words and numbers of a phrase, read once for the last phrases.

    >>> phrase_words("Right-sided  CHEST pain!")
    ('right', 'sided', 'chest', 'pain')
    """
    if _PLAIN.fullmatch(phrase):
        return tuple(phrase.lower().split())
    return tuple(word.form for word in find_words(phrase))


@lru_cache(maxsize=65536)
def phrase_key(phrase: str) -> str:
    """Return the words of a phrase in the form that dictionaries use.

    Marks are dropped, unless the phrase is made of marks alone.

    >>> phrase_key("Right-sided  CHEST pain!"), phrase_key("N/V/D"), phrase_key("(-)")
    ('right sided chest pain', 'n v d', '(-)')
    """
    return " ".join(phrase_words(phrase)) or "".join(phrase.split())


class CueTable:
    """Phrases with a kind each, found as whole words and the longest first.

    >>> table = CueTable({"no": "a", "no evidence of": "b"})
    >>> table.at(find_tokens("No evidence of PE"), 0)
    ('b', 3)
    """

    def __init__(self, phrases: Mapping[str, str]) -> None:
        by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, kind in phrases.items():
            forms = tuple(token.form for token in find_tokens(phrase))
            by_first.setdefault(forms[0], []).append((forms[1:], kind))
        for rests in by_first.values():
            rests.sort(key=lambda rest: -len(rest[0]))
        self._by_first = by_first
        #: The words that a phrase may begin with.
        self.first_forms = frozenset(by_first)

    def __contains__(self, form: str) -> bool:
        return form in self._by_first

    def at(self, tokens: Sequence[Token], i: int) -> tuple[str, int] | None:
        """Return the kind of the longest phrase that begins at token ``i``, and its end."""
        for rest, kind in self._by_first.get(tokens[i].form, ()):
            end = i + 1 + len(rest)
            if not rest or (
                end <= len(tokens)
                and tokens[i + 1].form == rest[0]
                and tuple([token.form for token in tokens[i + 1 : end]]) == rest
            ):
                return kind, end
        return None


#: What British spelling writes differently, only inside medical or common stems.
_SPELLINGS = tuple(
    (re.compile(spelling), replacement)
    for spelling, replacement in (
        (r"rrhoea", "rrhea"),
        (r"pnoea", "pnea"),
        (r"haem", "hem"),
        (r"aemi", "emi"),
        (r"anaesth", "anesth"),
        (r"paed", "ped"),
        (r"oesoph", "esoph"),
        (r"oedem", "edem"),
        (r"oestr", "estr"),
        (r"foet", "fet"),
        (r"coeliac", "celiac"),
        (r"gynaec", "gynec"),
        (r"\b(caec|faec|faeces)", lambda match: match[0].replace("ae", "e")),
        (r"caesar", "cesar"),
        (r"(col|tum|od|lab|hum|vap|rum|hon|fav|neighb|behavi|flav)our", r"\1or"),
        (r"(?<=[a-z]{3})is(e|ed|es|ing|ation|ations)$", r"iz\1"),
        (r"(?<=[a-z]{2})yse(d|s)?$", r"yze\1"),
        (r"(trave|labe|cance|mode|leve|tota)ll(ed|ing|er)", r"\1l\2"),
        (r"\b(cent|lit|fib|met|theat)re(s)?$", r"\1er\2"),
        (r"grey", "gray"),
        (r"sulph", "sulf"),
        (r"programme", "program"),
        (r"tyre", "tire"),
        (r"practise", "practice"),
        (r"manoeuv(re|er)", "maneuver"),
        (r"leuco", "leuko"),
    )
)
#: Most words have nothing of what is written differently: one look tells.
_BRITISH = re.compile("|".join(f"(?:{spelling.pattern})" for spelling, _ in _SPELLINGS))
_KEPT_ISE = word_set(
    "exercise exercises exercised exercising bruise bruises bruised bruising raise raised raises"
    " raising otherwise advise advised advises advising rise rises rising noise praise disease"
    " promise surprise surprised cruise wise likewise precise arise arises premise despise"
)
#: Stems that no rule finds.
_IRREGULAR = {
    "felt": "feel", "fell": "fall", "fallen": "fall", "lost": "lose", "loss": "lose",
    "losing": "lose", "took": "take", "taken": "take", "drank": "drink", "drunk": "drink",
    "slept": "sleep", "ate": "eat", "eaten": "eat", "woke": "wake", "woken": "wake",
    "began": "begin", "begun": "begin", "came": "come", "went": "go", "gone": "go", "goes": "go",
    "had": "have", "has": "have", "having": "have", "was": "be", "were": "be", "is": "be",
    "are": "be", "been": "be", "did": "do", "does": "do", "done": "do", "threw": "throw",
    "thrown": "throw", "bled": "bleed", "swollen": "swell", "broke": "break", "broken": "break",
    "ran": "run", "running": "run", "saw": "see", "seen": "see", "feet": "foot", "teeth": "tooth",
    "men": "man", "women": "woman", "children": "child", "got": "get", "gotten": "get",
    "getting": "get", "worse": "bad", "worst": "bad", "worsening": "bad", "worsens": "bad",
    "worsened": "bad", "better": "good", "menses": "menses", "diabetes": "diabetes",
    "herpes": "herpes", "rabies": "rabies", "gas": "gas", "pus": "pus", "pelvis": "pelvis",
    "quit": "quit", "died": "die", "dying": "die", "dies": "die", "tied": "tie", "lying": "lie",
    "lies": "lie", "vomiting": "vomit", "diagnoses": "diagnosis", "breathing": "breath",
    "breathe": "breath", "breathes": "breath", "during": "during", "nothing": "nothing",
    "something": "something", "anything": "anything", "morning": "morning", "evening": "evening",
    "ring": "ring", "being": "be", "wing": "wing", "red": "red", "bed": "bed", "need": "need",
}  # fmt: skip
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=65536)
def american(form: str) -> str:
    """Return a word form in American spelling.

    >>> [american(w) for w in ("diarrhoea", "oedema", "colour", "anaemia", "exercise")]
    ['diarrhea', 'edema', 'color', 'anemia', 'exercise']
    """
    if form in _KEPT_ISE or _BRITISH.search(form) is None:
        return form
    for spelling, replacement in _SPELLINGS:
        form = spelling.sub(replacement, form)
    return form


@lru_cache(maxsize=65536)
def stem(form: str) -> str:
    """Return one stem for all forms of an English word; rough, for comparing only.

    >>> [stem(w) for w in ("headaches", "vomited", "vomiting", "radiates", "radiating", "loss")]
    ['headach', 'vomit', 'vomit', 'radiat', 'radiat', 'los']
    >>> stem("tumours") == stem("tumor")
    True
    """
    form = american(form)
    if form in _IRREGULAR:
        return _strip_e(_IRREGULAR[form])
    if len(form) < 4 or not form.isalpha():
        return form
    return _strip_e(_strip_tense(_strip_plural(form)))


def _strip_plural(form: str) -> str:
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith(("sses", "shes", "ches", "xes", "zes")):
        return form[:-2]
    if form.endswith("s") and not form.endswith(("ss", "us", "is")):
        return form[:-1]
    return form


def _strip_tense(form: str) -> str:
    for ending in ("ing", "ed"):
        base = form[: -len(ending)]
        if form.endswith(ending) and len(base) > 2 and _VOWEL.search(base):
            if base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            return base[:-1] + "y" if ending == "ed" and base.endswith("i") else base
    return form


def _strip_e(form: str) -> str:
    return form[:-1] if len(form) > 3 and form.endswith("e") else form


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

    Coarser than `stem`: "sweaty" becomes "sweat", "tightness" "tight".

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
