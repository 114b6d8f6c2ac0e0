"""People that a note names, and whether they speak of the patient, or are the patient."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate.knowledge.tables import phrases, words
from rubricate.reading.clauses import CONTRASTS
from rubricate.reading.numbers import form_at
from rubricate.reading.tokens import Token

RELATIVES = words("people.relatives")
OTHERS = words("people.others")
MEN = words("people.men")
STOPS = CONTRASTS | words("people.stops")
WITNESS_VERBS = words("people.witness_verbs")
WITNESS_STATES = words("people.witness_states")
_SPOKEN = words("people.spoken")
_ILLS = words("people.ills")
_ENDS_OF_ILLS = phrases("people.ends_of_ills")
_SHORTEST_VERB = 4
TAKING = words("people.taking")
_AGED = words("people.aged")
_WHOSE = words("people.whose")
_YOUNG = words("people.young")
_FAR = 11
_BRINGING = words("people.bringing")


def speaks_after_colon(tokens: Sequence[Token], i: int, end: int, *, kin: bool) -> bool:
    """Tell whether a person's own words follow a colon: "Mom: eats paint chips".

    Of kin, an illness may follow as well ("Mother: migraines"); of others it hardly does.
    """
    if form_at(tokens, i + 1) != ":" or i + 2 >= end:
        return False
    said = tokens[i + 2].form
    verb = len(said) >= _SHORTEST_VERB and said.endswith(("s", "ing")) and said not in _ILLS
    return (
        not kin
        or said in _SPOKEN
        or said in ("'", '"')
        or (verb and not said.endswith(_ENDS_OF_ILLS))
    )


def is_patient(tokens: Sequence[Token], first: int, i: int, before: int) -> bool:
    """Tell whether a word for a relative is the patient: "29 yo mom", "brings in her son"."""
    forms = [token.form for token in tokens[max(first, before - _FAR) : before + 1]]
    if forms and forms[-1] in _AGED and _WHOSE.isdisjoint(forms[-6:]):
        return form_at(tokens, i - 1) not in _WHOSE
    if tokens[i].form not in _YOUNG:
        return False
    told = "that" in forms[-3:] and not WITNESS_VERBS.isdisjoint(forms[: forms.index("that")])
    return told or not _BRINGING.isdisjoint(forms[-8:])


def acts_on_patient(tokens: Sequence[Token], i: int, after: int, end: int) -> bool:
    """Tell whether a person does something to the patient: "wife has to help him up"."""
    objects = {"him", "her"} if tokens[i].form in MEN else {"him"}
    for k in range(after + 1, min(end, after + 4)):
        if tokens[k].kind == "mark" or tokens[k].form in STOPS:
            return False
        if tokens[k].form in objects:
            return True
    return False
