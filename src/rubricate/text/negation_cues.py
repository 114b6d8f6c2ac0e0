"""The words that negate, those that only seem to, and those at which negation ends."""

from __future__ import annotations

from rubricate.text.clauses import CONTRASTS
from rubricate.text.cues import CueTable, labelled
from rubricate.text.words import word_set

#: How each cue negates. ``listing``: all items of a list after it; ``verbal``: up to the first
#: comma unless "or" shows a list; ``narrow``: one word, which is part of the cue phrase;
#: ``pseudo``: nothing; ``either`` and ``passive``: before or after, by what stands around;
#: ``after``: what stands before the cue; ``neither``: a list with the verb that follows it.
NEGATION_CUES = CueTable(
    labelled(
        listing="denies|denys|deneis|denies any|deny|denying|denie|does deny|denies ever|denial of"
        "|denies recent|negative for|neg for|no evidence of|no sign of|no signs of|no history of"
        "|no hx of|no h/o|no hx|no past history of|no prior history of|no previous history of"
        "|no complaints of|no c/o|no complaint of|no symptoms of|no sx of|no episodes of"
        "|free of|free from|absence of|lack of|nor|not had|not have|not having"
        "|does not have|do not have|did not have|dont have|doesnt have|didnt have|hasnt had"
        "|havent had|never had|never has|not had any|hasnt noticed|not noticed|at no point"
        "|at no time|pertinent negatives|pertinent negative|pertinent neg|pertinent negs|negatives"
        "|relevant negatives|ø|∅|⌀|lacks|lacking|no recent|not reporting"
        "|does not report|did not report|not report|no known|rules out|no reported|(-) for"
        "|-ve for|unremarkable for|not complain of|not complaining of|not endorse|does not endorse"
        "|disavows|refutes",
        verbal="without|w/o|without any|not|cannot|cant|dont|doesnt|didnt|isnt|wasnt|arent|werent"
        "|hasnt|havent|hadnt|wont|wouldnt|couldnt|never|does not|do not|did not|aint|no longer"
        "|fails to|failed to|nothing",
        narrow="no relief|no change|no changes|no improvement|no help|no benefit|no effect"
        "|no better|no worse|no response|not helped|not relieved|no alleviation|without relief"
        "|no success|without improvement|without benefit|without success|no avail"
        "|no increase|no decrease",
        pseudo="not only|not just|not merely|not necessarily|not sure|not certain|not clear"
        "|not ruled out|not rule out|cannot rule out|cant rule out|cannot exclude|cant exclude"
        "|cannot be ruled out|cannot be excluded|no doubt|no wonder|no matter|no one|gram negative"
        "|does not deny|did not deny|doesnt deny|didnt deny|not deny|not denying|not until"
        "|not uncommon|not unusual|not infrequent|not infrequently|if not|why not|whether or not"
        "|no more than|not more than|no less than|not less than|no later than|no problem finding"
        "|not yet diagnosed|cannot help but|rh negative|not all|no stranger|not limited to",
        neither="neither|neither of",
        either="no|none|nil|nill|neg|negative|negatives|denied|absent|-ve|(-)|[-]|nothing noted",
        passive="not noted|not seen|not reported|not found|not observed|not elicited|not detected"
        "|not appreciated|not endorsed",
        after="not present|not there|ruled out|excluded|not a problem|not problem|not an issue"
        "|not coming|not a concern|non contributory|noncontributory",
    )
)
#: Marks that end a scope at once.
STOP_MARKS = frozenset(".;!?:+=→•*▪·|")
#: Words that end a scope at once.
STOP_WORDS = CONTRASTS | word_set(
    "because b/c still then who which whose so until despite instead positive pos only presently"
    " otherwise therefore hence aside apart"
)
#: Verbs that end a scope; the words since the last comma are their subject and leave it too.
STOP_VERBS = word_set(
    "has had have is was are were does did reports report reported admits admitted endorses"
    " endorsed states stated notes noted complains complained c/o describes described presents"
    " presented takes took uses used drinks drank smokes smoked works worked lives lived feels felt"
    " gets got started starts began begins developed develops gained went goes came comes quit"
    " says said thinks thought wants woke wakes seems became becomes gives gave makes made tried"
    " tries eats ate sleeps slept continues remains persists occurs lasts increases increased"
    " worsens worsened improves improved affirms acknowledges confirms can will would"
)
#: Whom a new statement is about.
SUBJECTS = word_set(
    "he she they it i we patient pt pts his her their my him im ive hes shes theyre"
)
#: Words that begin a new statement unless they follow the cue or a joint: notes without any
#: punctuation run on into them.
RUN_ONS = word_set(
    "pmh pmhx psh pshx fh fhx sh shx meds medications nkda nka lmp ros mother mom mum father dad"
    " brother sister uncle aunt grandmother grandfather parents diagnosed stopped stops"
)
#: The same, but only further off: "denies prior history of ..." goes on.
FAR_RUN_ONS = word_set("history hx past family fam dx treated")
#: Words that begin a new statement when they follow a comma.
COMMA_STOPS = (
    word_set(
        "worse worst better relieved radiating radiates lasting associated onset since for x just"
        " also some mild moderate severe slight slightly occasional occ occasionally intermittent"
        " with w/ the now currently sometimes often usually once twice rarely however lost gained"
        " except married single retired ex former quit last usual normal nl regular stable there"
        " lots feeling taking using eating sleeping ↑ ↓ > < ~ as although per well good poor and"
    )
    - {"and"}
) | SUBJECTS
#: Verbs and pronouns right after a cue belong to it ("denies she has fever", "has never had").
NEAR_CUE = word_set(
    "he she they it that pt patient ever had have has been be is was really any having experienced"
    " noticed felt reported did does the her his their particularly actually yet gets get got"
)
COPULAS = word_set("is are was were been being be remains remain")
PLURAL_COPULAS = word_set("are were")
#: Words of "no" compounds written together.
NON_WORD = (
    r"non(?=smok|drink|productive|radiat|blood|bilious|tender|prurit|exertion|position|pleurit|"
    r"pain|itch|purulent|diabet|traum|toxic|focal|adheren|complian|obstruct|malodor|tobacco|"
    r"edemat|pitting|erythem|distend|insulin|pregnan|sexual|verbal|ambulat|reproduc|migrat)"
)
