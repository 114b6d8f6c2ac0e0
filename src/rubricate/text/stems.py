"""One form for the forms of a word: British spelling, plurals and tenses."""

from __future__ import annotations

import re
from functools import lru_cache

from rubricate.text.words import word_set

#: What British spelling writes differently, only inside medical or common stems.
_SPELLINGS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
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
    if form in _KEPT_ISE:
        return form
    for pattern, replacement in _SPELLINGS:
        form = pattern.sub(replacement, form)
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
