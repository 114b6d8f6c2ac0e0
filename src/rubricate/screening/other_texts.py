"""Texts that speak of the rubric's matter but of no patient, by what their sentences say.

Leaflets and instructions speak to a reader, textbooks and guidelines of patients in general, lists
of questions ask; a rubric is only its own words, a form has blanks, and animals have owners. Such
texts have the words of notes, so that shares of words do not tell them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rubricate.arrays import Bools
from rubricate.knowledge.tables import pattern, words
from rubricate.reading.tokens import find_words
from rubricate.rubric import Rubric

#: From so many sentences of a kind on, and so large a share of them, a text is of that kind.
_LEAST_SENTENCES, _LEAST_SHARE = 2, 0.25
_LEAST_QUESTIONS, _QUESTION_SHARE = 4, 0.5
_LEAST_BLANKS, _BLANK_SHARE = 6, 0.12
#: So much of a text that is the rubric's own wording, of so many features, is the rubric.
_LEAST_PASTED, _PASTED_SHARE = 5, 0.75
_OF_LISTS = words("other_texts.of_lists")
_LEAST_ANIMAL = 2

# All but `_HUMAN` are for texts in small letters, which are searched three times as fast so.
_SENTENCE = pattern("other_texts.sentence")
_GENERAL = pattern("other_texts.general")
_EXAMINATION = pattern("other_texts.examination")
_ONE_PATIENT = pattern("other_texts.one_patient")
_STUDY = pattern("other_texts.study")
_LEAST_STUDY = 3
_ANY_PATIENT = pattern("other_texts.any_patient")
_MANY = pattern("other_texts.many")
_QUESTION = pattern("other_texts.question")
_BLANK = pattern("other_texts.blank")
_ANIMAL = pattern("other_texts.animal")
_ALSO_PEOPLES = words("other_texts.also_peoples")
_HUMAN = pattern("other_texts.human")


def why_other_text(text: str, rubric: Rubric) -> str:
    """Return the kind of a text that is not a patient's note; empty if it may be a note.

    >>> rubric = Rubric("c", ())
    >>> why_other_text("Asthma is a common disease. Symptoms include wheeze and cough.", rubric)
    'it speaks of patients in general or to a reader in 2 of its 2 sentences'
    >>> why_other_text("34F with wheeze and cough x2d. Known asthma.", rubric)
    ''
    """
    words = find_words(text)
    covered, held = find_pasted([word.form for word in words], rubric)
    beside = [word for word, own in zip(words, covered, strict=True) if not own]
    n_beside = sum(word.kind == "word" and word.form not in _OF_LISTS for word in beside)
    n_pasted = int(covered.sum())
    if held >= _LEAST_PASTED and n_pasted >= _PASTED_SHARE * (n_pasted + n_beside):
        return f"{n_pasted / (n_pasted + n_beside):.0%} of it is the wording of the rubric"
    small = text.lower()
    sentences = [one.strip() for one in _SENTENCE.findall(small) if len(one.split()) > 2]
    asked = sum(_QUESTION.search(one) is not None for one in sentences)
    if asked >= _LEAST_QUESTIONS and asked >= _QUESTION_SHARE * len(sentences):
        return f"{asked} of its {len(sentences)} sentences are questions"
    if len(_EXAMINATION.findall(small)) >= _LEAST_SENTENCES:
        return "it is an examination's question or instructions"
    if len(set(_STUDY.findall(small))) >= _LEAST_STUDY:
        return "it reports a study"
    others = [one for one in sentences if _GENERAL.search(one) is None]
    general = len(sentences) - len(others)
    if general >= max(_LEAST_SENTENCES, _LEAST_SHARE * len(sentences)):
        own = sum(_ONE_PATIENT.search(one) is not None for one in others)
        if 2 * own <= general:
            said = f"it speaks of patients in general or to a reader in {general} of its"
            return f"{said} {len(sentences)} sentences"
    if (general or _MANY.search(small)) and not _ANY_PATIENT.search(small):
        return "it speaks of patients in general or to a reader, and of no one patient"
    blanks = len(_BLANK.findall(small))
    if blanks >= _LEAST_BLANKS and blanks >= _BLANK_SHARE * len(words):
        return f"it is a form with {blanks} blanks"
    animal = set(_ANIMAL.findall(small))
    if len(animal) >= _LEAST_ANIMAL and animal - _ALSO_PEOPLES and not _HUMAN.search(text):
        return "it speaks of an animal"
    return ""


def find_pasted(forms: list[str], rubric: Rubric) -> tuple[Bools, int]:
    """Return the words of complete feature wordings, and the number of these features.

    >>> from rubricate.rubric import Feature
    >>> rubric = Rubric("c", (Feature("f", "c", "Chest pain"), Feature("g", "c", "No fever")))
    >>> covered, n_features = find_pasted(["chest", "pain", "today"], rubric)
    >>> covered.tolist(), n_features
    ([True, True, False], 1)
    """
    where: dict[str, list[int]] = {}
    for i, form in enumerate(forms):
        where.setdefault(form, []).append(i)
    covered = np.zeros(len(forms), dtype=np.bool_)
    held = 0
    for alternatives in wordings(rubric):
        before = held
        for phrase in alternatives:
            for i in where.get(phrase[0], ()):
                if tuple(forms[i : i + len(phrase)]) == phrase:
                    covered[i : i + len(phrase)] = True
                    held = before + 1
    for i in where.get("or", ()):
        # Rubrics join alternatives by OR; pasted, it stands between two of them
        if 0 < i < len(forms) - 1 and covered[i - 1] and covered[i + 1]:
            covered[i] = True
    return covered, held


@lru_cache(maxsize=256)
def wordings(rubric: Rubric) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the words of every alternative of every feature."""
    return tuple(
        tuple(
            phrase
            for text in feature.alternatives
            if (phrase := tuple(word.form for word in find_words(text)))
        )
        for feature in rubric
    )
