"""The words that say whom a statement is about, and whether it is past, possible or only feared."""

from __future__ import annotations

from rubricate.text.clauses import CONTRASTS
from rubricate.text.cues import CueTable, labelled
from rubricate.text.words import word_set

RELATIVES = word_set(
    "ma mother mothers mom moms mum mums mommy mama father fathers dad dads daddy papa pops brother"
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
#: A person who speaks, sees or comes along is a witness; what follows is about the patient.
WITNESS_VERBS = word_set(
    "calls notice alarmed c/o came informed complained historian corrects reports report"
    " reported reporting says said say states stated noticed notices notes noted mentioned that"
    " thinks thought told tells describes described worried worries concerned brought brings"
    " accompanied accompanies supplies provides believes found finds saw witnessed called"
    " timed wants confirms denies denied insists adds adding recalls remembers mentions heard"
    " present here drove comments commented suggests suggested encouraged asked urges fears worry"
    " estimates gives describing corroborates helps giving observed advised"
    " convinced complains"
)
#: After "is" or "was" only these make a witness: a relative who "was found to have" is a subject.
WITNESS_STATES = word_set(
    "concerned worried alarmed present here adamant historian reporting told informed upset"
)
#: Words before a person that make them company, witness or cause rather than the subject.
COMPANY = word_set(
    "with w/ by per from to told lives living for of and like between than visiting & via @ asked"
    " sees toward towards without w/o about near around against bib"
)
#: Words that may stand between a person and what decides their part.
FILLERS = word_set(
    "his her their my the a an own older younger elder eldest oldest youngest maternal paternal"
    " also who both only little big great half first late identical"
)
STOPS = CONTRASTS | word_set("patient pt pts himself herself myself otherwise")
STOP_MARKS = frozenset(".;!?•*▪|\n")
#: After a comma these show that the patient is spoken of again.
BACK_TO_PATIENT = word_set(
    "he she i patient pt his her my denies reports smokes drinks lives works married takes"
    " nonsmoker presents nkda meds smoker single sexually uses the they"
)
#: In notes without punctuation these begin the patient's own story again.
PATIENT_VERBS = word_set("smokes drinks lives works denies nkda meds nonsmoker no ø lmp etoh")
#: Cue phrases and the kind of context each opens, with its side: ``>`` after, ``<`` before.
CONTEXT_CUES = CueTable(
    {
        **labelled(
            family_after="family history of|family hx of|family history|family hx|fam hx of|fam hx"
            "|fhx of|fhx|fh of|fmhx|famhx|strong family history of|family h/o|hereditary",
            family_before="runs in the family|run in the family|in the family|in family"
            "|in his family|in her family|in my family|on mothers side|on fathers side|on moms side"
            "|on dads side",
            past_after="h/o|history of|hx of|past history of|prior history of|previous history of"
            "|previously|previous|prior|past|formerly|former|ex|used to|s/p|status post|childhood"
            "|remote|quit|gave up|hx",
            past_before="in the past|as a child|as a kid|as a teen|as a teenager|as a baby|as child"
            "|as an infant|in childhood|as an adolescent|when he was young|when she was young"
            "|when he was a child|when she was a child|when he was a kid|when she was a kid"
            "|when he was little|when she was little|since resolved|now resolved|years back",
            hypothetical_after="concern for|concerned about|concern about|worried about|worry about"
            "|worries about|worried for|worried that|fear of|fears|afraid of|scared of|rule out|r/o"
            "|risk of|risk for|screen for|screening for|return if|call if|come back if|wonders if"
            "|asks if|in case|to prevent|prevention of|prophylaxis for|ddx|differential|consider"
            "|tested for|test for|anxious about|anxious re|worried re|asking about|checked for"
            "|worries|come back|advised to|should he|should she|in the event of|as if|as though",
            uncertain_after="possible|possibly|maybe|may have|might have|might|probable|probably"
            "|perhaps|likely|unsure|unsure if|unsure about|not sure|not certain|unclear"
            "|questionable|suspected|suspects|could be|query|presumed|presumably|may be|thinks|?",
        )
    }
)
