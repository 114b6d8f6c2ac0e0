"""People that a note names, and whether they speak of the patient, or are the patient."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate.text.clauses import CONTRASTS
from rubricate.text.numbers import form_at
from rubricate.text.words import Token, word_set

RELATIVES = word_set(
    "ma mother mothers mom moms mum mums mommy mama father fathers dad dads daddy papa brother"
    " brothers bro sister sisters sis sibling siblings son sons daughter daughters dtr aunt aunts"
    " auntie uncle uncles cousin cousins niece nephew grandmother grandmothers grandma gran granny"
    " nan nana grandfather grandfathers grandpa granddad grandad grandparent grandparents parent"
    " parents mgm mgf pgm pgf twin grandson granddaughter relative relatives stepmother stepfather"
    " bros"
)
#: People who share no genes with the patient: what is theirs is neither the patient's nor family
#: history.
OTHERS = word_set(
    "wife wifes husband husbands spouse partner partners boyfriend girlfriend fiance fiancee friend"
    " friends coworker coworkers colleague colleagues roommate roommates neighbor neighbour"
    " classmate classmates teammate flatmate housemate boss"
)
MEN = word_set("husband father dad son brother boyfriend uncle grandfather grandpa grandad")
#: Where what is said of a person ends.
STOPS = CONTRASTS | word_set("patient pt pts himself herself myself otherwise")
#: A person who speaks, sees or accompanies is a witness; what follows is about the patient.
WITNESS_VERBS = word_set(
    "calls notice alarmed c/o came informed complained historian corrects reports report"
    " reported reporting says said say states stated noticed notices notes noted mentioned that"
    " thinks thought told tells describes described worried worries concerned brought brings"
    " accompanied accompanies supplies provides believes found finds saw witnessed called"
    " timed wants confirms denies denied insists adds adding recalls remembers mentions heard"
    " present here drove comments commented suggests suggested encouraged asked urges fears worry"
    " estimates gives describing corroborates helps giving observed advised"
    " convinced complains gave measured hears sure telling tell bring informing deny state"
    " remarked remarks recorded records confirmed confirm agree agrees agreed lists attends"
    " attended attending calling rang phoned phones showed shows counts counted watched see"
    " recalled recall claims swears wonders wondered explains explained unsure suspects correct"
    " corrected filmed upset describe mention complaining confirming recognised recognized spotted"
    " noticing"
)
#: After "is" or "was" only these make a witness: a relative who "was found to have" is a subject.
WITNESS_STATES = word_set(
    "concerned worried alarmed present here adamant historian reporting told informed upset calling"
    " telling informing attending unsure sure certain"
)
#: After "Mom:" these begin what she says of the patient; so do quotes and most verbs.
_SPOKEN = word_set(
    "he she it his her him pt patient baby child infant no not never none denies wont doesnt didnt"
    " hasnt cant isnt has had was is hot cold out always often very"
)
#: Plurals that name what a relative has, not what a patient does: "Mother: migraines".
_ILLS = word_set(
    "diabetes migraines stones gallstones seizures fibroids clots allergies strokes aids herpes"
    " polyps moles ulcers cysts cataracts headaches measles mumps shingles varices"
)
_ENDS_OF_ILLS = ("ss", "us", "is", "as", "oses", "mas")
_SHORTEST_VERB = 4
#: Before another's things these say that the patient has them: "took his wife's tablets".
TAKING = word_set(
    "took take takes taking taken tried tries trying used uses using borrowed borrows borrowing"
    " swallowed swallows ate put puts putting applied applies applying shares shared sharing stole"
)
#: Before a word for a parent or a child these say how old the patient is: "29 yo mom".
_AGED = word_set("old yo y/o yr yrs year years")
_WHOSE = word_set("his her their my our with and & has of")
_YOUNG = word_set("son daughter child baby boy girl twin grandson granddaughter")
_FAR = 11
_BRINGING = word_set("brings brought bring bringing attends attended attending calling")


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
