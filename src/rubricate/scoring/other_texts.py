"""Texts that speak of the rubric's matter but of no patient, by what their sentences say.

Leaflets and instructions speak to a reader, textbooks and guidelines of patients in general, lists
of questions ask; a rubric is only its own words, a form has blanks, and animals have owners. Such
texts have the words of notes, so that shares of words do not tell them.
"""

from __future__ import annotations

import re

from rubricate.rubric import Rubric
from rubricate.text.words import find_words, word_set
from rubricate.trust.gaming import find_pasted

#: From so many sentences of a kind on, and so large a share of them, a text is of that kind.
_LEAST_SENTENCES, _LEAST_SHARE = 2, 0.25
_LEAST_QUESTIONS, _QUESTION_SHARE = 4, 0.5
_LEAST_BLANKS, _BLANK_SHARE = 6, 0.12
#: So much of a text that is the rubric's own wording, of so many features, is the rubric.
_LEAST_PASTED, _PASTED_SHARE = 5, 0.75
#: What stands beside the items of a list, and numbers.
_OF_LISTS = word_set("point points mark marks item score y n yes no present absent x")
_LEAST_ANIMAL = 2

# All but `_HUMAN` are for texts in small letters, which are searched three times as fast so.
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]?")
_GENERAL = re.compile(
    # To a reader.
    r"\b(?:if you|you (?:may|might|can|should|must|could)|your (?:doctor|gp|pharmacist|nurse)\b"
    r"|(?:tell|ask|speak to|see|contact|call) your|your (?:child|baby) (?:may|might|should|is)"
    r"|do not (?:take|use|give) (?:this|\w+ (?:if|unless|until))|this (?:medicine|leaflet|booklet)"
    # Of patients in general.
    r"|(?:some|many|most|all|these|affected|older|young) (?:people|patients|women|men|children"
    r"|cases)|(?:people|patients|women|men|children|infants|adults|those) (?:with|who|in whom|are"
    r"|may|should|often|usually|typically|can|under|over|aged)|(?:patient|person|woman|man|child)"
    r" should|(?:symptoms|risk factors|causes|complications|signs|side effects|features|treatments?"
    r"|diagnosis) (?:include|includes|are|is|may|consists?|depends?)|(?:is|are) (?:caused|defined"
    r"|characteri[sz]ed|diagnosed|treated|confirmed|classified) (?:by|as|with)|(?:occurs?|is seen"
    r"|presents?) (?:in|with) (?:about|up to|\d+|one|half|most|a)|classically|(?:may|can)"
    r" (?:also )?(?:be|reveal|cause|lead|present|occur|develop|help|raise|show|include)|(?:is|are)"
    r" (?:a|an|the most) (?:common|rare|condition|disease|disorder|infection|inflammation|type|form"
    r"|medicine|drug|medical)|(?:is|are) (?:indicated|recommended|used (?:to|for|in)|usually|often"
    r"|contraindicated|typically)|what (?:is|are|causes))(?!\w)"
    # Orders to whoever treats.
    r"|^\W*(?:offer|consider|ask|advise|give|send|measure|refer|arrange|check|assess|do not|avoid"
    r"|admit|confirm|use|start|prescribe)\b.*\b(?:to|in|if|for|about|whether) (?:women|men|patients"
    r"|people|children|adults|those|all|there|any|the patient|symptoms)\b"
)
#: What only those who set examinations write.
_EXAMINATION = re.compile(
    r"\b(?:which (?:one )?of the following|the (?:correct|right|best) answer|you have \d+ minutes"
    r"|your (?:task|tasks) (?:is|are)|your next patient|(?:candidate|examinee|student)s? (?:should"
    r"|must|instructions)|instructions (?:for|to) (?:the )?(?:candidate|examinee|student)s?"
    r"|(?:marking|scoring) (?:guide|scheme|key)|(?:one|half a|no) points? (?:each|for|if)"
    r"|which of these|answer the following|if asked\b[^.]{0,40}\bsay|learning (?:goals|objectives)"
    r"|students will|hand to (?:the )?(?:candidate|examinee|student))\b"
)
#: Of one patient, or to one about what was found.
_ONE_PATIENT = re.compile(
    r"\b(?:\d{1,3}[ -]?(?:y/?o|yrs?|years?[- ]old|months?[- ]old|[mf])|pt|mr|mrs|ms|miss|he|she|his"
    r"|her|him|denies|c/o|o/e|pmh|nkda|hx|imp|dx \d|lmp|i (?:saw|think|have)|you (?:had|have had"
    r"|were|told|came|said|described|have been)|your [\w -]{2,30} (?:was|were|showed|has been))\b"
)
#: Words of those who report a study.
_STUDY = re.compile(
    r"\b(randomi[sz]ed|placebo|double[- ]blind|cohorts?|odds ratio|(?:95|99) ?% ?ci"
    r"|confidence interval|p ?[<=] ?0?\.\d|methods:|results:|conclusions?:|participants"
    r"|eligible|specificity|this study"
    r"|likelihood ratio|follow-up (?:study|period)|primary (?:outcome|endpoint)|trial|groups"
    r"|enrolled|(?:were|was) (?:compared|significant\w*)|significantly|controls)(?!\w)"
)
_LEAST_STUDY = 3
#: Any sign of one patient: besides, more ways to give an age, shorthand of notes, a value, a time.
_ANY_PATIENT = re.compile(
    rf"{_ONE_PATIENT.pattern}"
    r"|\b(?:\d{1,3}\s?-?(?:y/?o|yrs?|y\.o\.?|(?:year|month|week)s?[- ]old|mo|wk|m|f|male|female"
    r"|y)\b|patient(?:'s)?(?! (?:should|may|must|with|who|in))|hers|himself|herself|i|we|my|me"
    r"|denied|reports|reported|h/o|s/p|pmhx|psh|fh|sh|ros|pe|hpi|cc|hpc)\b"
    r"|\bx ?\d+ ?(?:d|days?|w|wks?|weeks?|mo|months?|h|hrs?|y|yrs?)\b"
    r"|\b(?:bp|hr|rr|t|spo2|temp) ?:? ?\d"
)
#: Whom a text without any such sign speaks of, or to.
_MANY = re.compile(r"\b(?:you|your|patients|people|participants|students|candidates)\b")
_QUESTION = re.compile(
    r"^\W*(?:do|does|did|have|has|are|is|was|were|any|anyone|when|what|where|how|can|could|would"
    r"|who|which|why|and|ever)\b.*\?$"
)
#: A blank, or a choice that nobody has made.
_BLANK = re.compile(
    r"_{2,}|\( ?\)|\[ ?\]|\.{4,}|…{2,}|\*{3}|\b(?:y ?/ ?n|yes ?(?:/|or) ?no|reports ?/ ?denies"
    r"|present ?/ ?absent)\b"
)
_ANIMAL = re.compile(
    r"\b(canine|feline|equine|bovine|spayed|neutered|heartworm|kibble|paws?|hooves|hoof|litter box"
    r"|(?:fore|hind) ?(?:leg|limb|paw)s?|labrador|terrier|spaniel|poodle|retriever|tabby|dsh|dlh"
    r"|gelding|mare|foal|owner (?:reports?|states?|noticed|says|declined)|crt|fs|mn"
    r"|with (?:the )?owner|mm pink|mm pale|rabies vacc\w*)\b"
)
#: Of these alone two do not make an animal: people's notes have them, too.
_ALSO_PEOPLES = frozenset({"crt", "fs", "mn", "paw", "paws", "terrier", "spaniel", "retriever"})
_HUMAN = re.compile(
    r"\b\d{1,3} ?(?:yo|y/o|yr|years?[- ]old)? ?(?:M|F|man|woman|male|female|lady|gentleman|boy"
    r"|girl)\b"
)


def why_other_text(text: str, rubric: Rubric) -> str:
    """Return what a text is that is no patient's note, in a few words; empty where it may be one.

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
