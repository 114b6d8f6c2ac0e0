"""Whether words of a note are denied or affirmed the other way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from rubricate.text.contradiction.asked import EMPTY_WORDS, AskedFor, persons_in
from rubricate.text.contradiction.place import NEAR, SpokenPlace, forms_at
from rubricate.text.contradiction.values import number_agrees
from rubricate.text.numbers import time_unit
from rubricate.text.words import stem, word_set

#: Words that deny without being a cue by themselves.
DENYING = word_set(
    "no not denies denied without never none negative neg absent lack lacks non nor w/o nil clear"
    " normal ok okay fine unremarkable intact good well free stopped quit except unable cannot cant"
    " isnt arent wasnt didnt doesnt dont hasnt havent hadnt wont unaffected nothing resolved gone"
    " settled better disappeared cured healthy only neither unlikely excluded away until 0 zero"
    " allergic clean ø declined refused stable usual ↓ - ° nobody level soft steady strong missed"
    " forgot nt n flat supple last unchanged same ineffective refractory failed unhelpful useless"
)

#: A feature with one of these may be stated by a denial ("poor appetite": "no appetite").
_LACKING = word_set(
    "poor reduced decreased loss lost lack unable inability difficulty never cannot missed missing"
    " low less unchanged persistent despite refractory failure failed fails impaired limited"
    " stopped nonadherence noncompliance noncompliant nonadherent unresponsive without not no"
    " insomnia anorexia anuria amenorrhea amenorrhoea asymptomatic abstinent unemployed alone only"
    " single last quit ceased former ineffective inadequate insufficient relief unrelieved absent"
    " neglect abnormal irregular delayed infertility weak weakness paralysis numb numbness first"
    " new worsening worse deficit skipped skips tolerance intolerance unprotected unplanned"
    " incomplete avoid avoids avoidance declined refuses non isolated withdrawn apathy sudden"
    " nulliparous nulligravid virgin homeless sedentary inactive overdue retention persists"
    " persisting continues continuing ongoing unresolved unhealed gone spared resolved remission"
    " abstinence sober sobriety teetotal vegetarian vegan illiterate unvaccinated uninsured due"
    " unbooked nonambulatory bedbound immobile anhedonia areflexia anosmia ageusia impotence"
    " unconscious comatose painless naive refused contraindicated"
)

#: Words whose denial says that a feature is there ("fatigue": "no energy"), by the words that show
#: such a feature.
_SAID_BY_DENIAL = tuple(
    (word_set(asked), word_set(said))
    for asked, said in (
        (
            "fatigue fatigued tired tiredness exhaustion exhausted lethargy lethargic malaise",
            "energy stamina strength pep oomph",
        ),
        (
            "depression depressed mood depressive",
            "joy pleasure interest enjoy enjoys fun enthusiasm motivation hope",
        ),
        ("constipation constipated obstipation ileus", "bm bms stool stools bowel poo motion gone"),
        (
            "menopause menopausal postmenopausal pregnant pregnancy",
            "period periods menses bleeding",
        ),
        ("erectile erection dysfunction", "erection erections"),
        ("aphasia mute dysphasia speech", "speak talk words speech talking name"),
        ("blind blindness vision visual", "see sight read"),
        ("deaf deafness hearing", "hear hears"),
        ("drooling dysphagia odynophagia swallowing", "swallow swallows swallowing"),
        ("hoarse hoarseness voice dysphonia", "voice speak talk"),
        ("dyspnea dyspnoea breathlessness breathless shortness", "breathe breath catch air"),
        ("orthopnea orthopnoea", "lie flat lay down"),
        ("vomiting emesis hyperemesis", "keep down food fluids anything"),
        (
            "agitation agitated restless restlessness akathisia hyperactivity",
            "sit still settle rest",
        ),
        (
            "amnesia forgetful memory dementia confusion confused",
            "remember recall memory know knows",
        ),
        ("disoriented disorientation", "know knows"),
        ("incontinence incontinent urgency", "hold control"),
        ("pruritus itch itching itchy", "scratching scratch"),
        ("lonely loneliness isolation", "friends friend family visitors"),
        ("dehydration dehydrated", "drinking fluids urine wet tears"),
        ("apnea apnoea arrest", "breathing pulse breath"),
        ("hopeless hopelessness", "hope future"),
        ("photophobia", "light lights bright"),
        ("exercise exertion exertional immobility", "walk climb stairs run"),
    )
)

#: Those of `_LACKING` that name nothing that could be lost: they only deny.
_ONLY_DENYING = word_set("no not never without non cannot")

_PLAIN_CUES = ("no ", "no", "den", "neg", "nil", "without", "w/o", "never", "ø", "0", "-", "(-")

#: A feature with one of these says that all is well.
WELL = word_set(
    "normal unaffected preserved free intact well healthy nobody negative fine good regular clear"
    " stable unremarkable able independent afebrile full nonsmoker nondrinker teetotal benign dry"
    " immune sterile"
)

_POSITIVE = word_set("positive pos reactive")
_NEGATIVE = word_set("negative neg nonreactive")
_NO_RESULT = word_set("no not non never without nil none false gram rh")


def _other_result(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return the result of a test said where the feature asks for the other one."""
    wants = (bool(asked.forms & _POSITIVE), bool(asked.forms & _NEGATIVE))
    if wants[0] == wants[1]:
        return None
    near = set(forms_at(place, place.around(1)))
    if near & _NO_RESULT or (near & _POSITIVE and near & _NEGATIVE):
        return None
    other = near & (_NEGATIVE if wants[0] else _POSITIVE)
    return f"says {min(other)}" if other else None


def denied(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return why a span is denied that should not be, or affirmed that should be denied."""
    reading = place.reading
    own = [
        i
        for i in place.inside
        if reading.cue[i] < 0
        and reading.tokens[i].kind == "word"
        and reading.tokens[i].form not in EMPTY_WORDS
    ]
    if result := _other_result(asked, place):
        return result
    worded = not asked.words.isdisjoint({stem(reading.tokens[i].form) for i in own})
    named = worded or bool(place.meant)
    lost = (asked.forms & _LACKING) - _ONLY_DENYING
    if asked.negated:
        # "No loss of consciousness": "conscious" does not say the loss.
        said_lost = not lost or not lost.isdisjoint(place.meant.union(forms_at(place, own)))
        plain = named and asked.plainly_negated and said_lost
        return _affirmed(place) if plain else None
    if not own or number_agrees(asked, place):
        return None
    if _denied_beside(asked, place, own):
        return "denied"
    own = _predicate(asked, place, own)
    scopes = [reading.scope[i] for i in own]
    if min(scopes) < 0 or any(reading.negations[i].kind != "negation" for i in scopes):
        return None
    said = {reading.tokens[i].form for i in own}
    lacking = asked.forms & _LACKING
    if {"low", "back"} <= asked.forms:  # a place
        lacking -= {"low"}
    # "No weight loss" denies the loss itself, "no weight" may be one.
    if (lacking and lacking.isdisjoint(said | place.meant)) or not WELL.isdisjoint(asked.forms):
        return None
    # "No shortness of breath" names what it denies; "no breath" alone would say that it is there.
    if not worded and any(asked.forms & one and said & other for one, other in _SAID_BY_DENIAL):
        return None
    negation = reading.negations[scopes[0]]
    cue = negation.cue_span.text(reading.text).lower()
    plain = cue.startswith(_PLAIN_CUES)
    if any(reading.cue[i] >= 0 for i in place.inside):
        return "denied" if named and plain else None
    first = bisect_left(reading.starts, negation.scope_span.start)
    return "denied" if plain or place.inside[0] <= first + 1 else None


def _predicate(asked: AskedFor, place: SpokenPlace, own: list[int]) -> list[int]:
    """Return the denied ones of the words where the others are what they are said of.

    "Legs not swollen", "swallows without difficulty".
    """
    reading = place.reading
    within = [i for i in own if reading.scope[i] >= 0]
    if not within or len(within) == len(own):
        return own
    named = any(stem(reading.tokens[i].form) in asked.words for i in within)
    if not named and reading.tokens[within[0] - 1].form in ("not", "isnt", "arent", "non"):
        named = asked.words <= {stem(form) for form in place.meant} | EMPTY_WORDS
    cue = bisect_left(reading.starts, reading.negations[reading.scope[within[0]]].cue_span.start)
    before = all(i < cue for i in own if reading.scope[i] < 0)
    joined = 0 < within[0] - cue <= 2 and within[0] - own[0] <= 2 * NEAR
    comma = any(reading.tokens[i].form in (",", ";") for i in range(own[0], within[-1]))
    return within if named and before and joined and not comma else own


def _denied_beside(asked: AskedFor, place: SpokenPlace, own: Sequence[int]) -> bool:
    """Tell whether a word of the feature that was not found is denied beside the words.

    "His belly gives no pain": the belly was found, the pain is denied.
    """
    reading, last = place.reading, place.inside[-1]
    if asked.forms & _LACKING or asked.forms & WELL or any(reading.scope[i] >= 0 for i in own):
        return False
    said = {stem(reading.tokens[i].form) for i in own}
    for i in range(last + 1, min(place.end, last + 1 + NEAR)):
        form, scope = reading.tokens[i].form, reading.scope[i]
        if form in (",", ";", "(") or reading.tokens[i].kind == "number":
            return False
        if scope >= 0 and stem(form) in asked.words - said:
            one = reading.negations[scope]
            return one.kind == "negation" and one.cue_span.text(reading.text).lower() == "no"
    return False


def _affirmed(place: SpokenPlace) -> str | None:
    reading = place.reading
    for i in range(place.first, place.end):
        if reading.cue[i] >= 0 or reading.scope[i] >= 0:
            return None
        if reading.tokens[i].form in DENYING and not _is_recent(place, i):
            return None
    before = reading.tokens[place.first - 1].form if place.first else ""
    # A mark that ends the clause is its last token.
    after = {token.form for token in reading.tokens[place.end - 1 : place.end + 1]}
    if before in (":", "-") or not after.isdisjoint((":", "-", "?")):
        return None
    return "says it is there"


def _is_recent(place: SpokenPlace, i: int) -> bool:
    """Tell whether "last" gives a time: "last night", not "last period"."""
    tokens = place.reading.tokens
    after = tokens[i + 1].form if i + 1 < place.end else ""
    return tokens[i].form == "last" and (after == "night" or time_unit(after) is not None)


_NORMAL = word_set(
    "normal nml wnl fine ok okay comfortable unremarkable nad intact healthy unaffected spared"
    " preserved freely comfortably"
)

#: Of what should be too little or bad these say that it is not.
_ENOUGH = word_set("good well full adequate 5/5 strong plenty excellent vigorous")
_TOO_LITTLE = word_set(
    "poor reduced decreased fewer weak weakness loss impaired limited restricted diminished less"
)

#: Of a weight that should have changed these say that it has not.
_STEADY = word_set("same steady stable holding static unchanged maintained constant")

_NOT_NORMAL = word_set(
    "not than above below otherwise but nearly almost return back abnormal his her half becomes"
    " became find feel when until till bed more less then others everyone everybody worse"
)

#: Features of which "fine" may be a part: all is well, or something eases, comes on or spares.
_MAY_BE_FINE = (
    WELL
    | _NORMAL
    | word_set(
        "relief relieved better worse improved improves onset began after before less usual spares"
        " spared controlled transient episodes only taking takes delivered within stable sleep"
    )
)


def _of_the_matter(asked: AskedFor, place: SpokenPlace, i: int) -> bool:
    """Tell whether a word stands in the part of a list that has the feature's words, if one has."""
    tokens = place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    named = [k for k in range(first, last + 1) if stem(tokens[k].form) in asked.words]
    commas = [k for k in range(first, last + 1) if tokens[k].form in (",", ";")]
    between = (any(min(i, k) < comma < max(i, k) for comma in commas) for k in named)
    return not named or not all(between)


#: Endings of words for what is done, whatever is found, and further such words.
_DONE = ("scopy", "graphy", "gram", "ectomy", "otomy", "plasty")
_TESTS = word_set(
    "ct mri xray x-ray ecg ekg eeg emg echo ultrasound us scan smear biopsy labs cbc bmp test tests"
    " screening screen checkup exam examination physical"
)


def _is_done(asked: AskedFor) -> bool:
    """Tell whether a feature asks for a test or operation, which may be normal."""
    named = len(asked.words) <= 2 and bool(asked.forms & _TESTS)
    return named or any(form.endswith(_DONE) for form in asked.forms)


def normal(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "says normal" where what a feature says is amiss is said to be in order."""
    if asked.negated or not _MAY_BE_FINE.isdisjoint(asked.forms) or _is_done(asked):
        return None
    tokens = place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    weighed = "weight" in asked.forms and not asked.forms.isdisjoint(("loss", "gain", "lost"))
    for i in range(max(place.first, first - 1), min(place.end, last + 4)):
        if i > last and tokens[i].form in (",", "/", "+", "and", "with", "w/"):
            return None
        enough = tokens[i].form in _ENOUGH and not _TOO_LITTLE.isdisjoint(asked.forms)
        enough = enough or (
            bool(asked.persons) and tokens[i].form == "well" and tokens[i - 1].form != "as"
        )
        if tokens[i].form in _NORMAL or enough or (weighed and tokens[i].form in _STEADY):
            if not _of_the_matter(asked, place, i):
                return None
            if (asked.persons or asked.any_relative) and persons_in(tokens, range(first + 1, i)):
                return None  # "mom has diabetes, dad fine"
            near = {token.form for token in tokens[max(0, i - 2) : i + 2]}
            return None if near & _NOT_NORMAL else f"says {tokens[i].form}"
    return None
