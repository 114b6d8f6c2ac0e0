"""Whether words of a note are another person's, advice, fear or past."""

from __future__ import annotations

from bisect import bisect_left

from rubricate.text import opposites
from rubricate.text.contradiction.asked import EMPTY_WORDS, AskedFor, persons_in
from rubricate.text.contradiction.place import NEAR, REACH, SpokenPlace, TextReading, forms_at
from rubricate.text.contradiction.polarity import DENYING
from rubricate.text.subject import Context
from rubricate.text.words import CueTable, cue_kinds, word_set

_NOT_MEANT = CueTable(
    cue_kinds(
        advised="advised to|advised that|advised|advise|recommended|recommend|was told to"
        "|counselled to|counseled to|suggested|should start|should stop|should avoid|plan to"
        "|plan for|plans to|will start|will begin|going to start|offered|discussed starting"
        "|may need|might need|will need|you should|we could|we may|we might|talked about|booked for"
        "|awaiting|waiting for|waiting list for|listed for|referred for|scheduled for|due for"
        "|wants to start|would like to try|considering|consider|thinking about|to start|may add"
        "|discussed|discuss|would start|would give|will give|would consider|might"
        "|hopes to|intends to|may start|could start|would like",
        declined="declined|refused|refuses",
        hypothetical="return if|come back if|call if|if you get|if you have|if you develop"
        "|if you start|if you notice|if you feel|if symptoms|should you|in case of|come back with"
        "|if he develops|if she develops|watch for|look out for|if your|seek help if"
        "|if she ever|if he ever|if it ever|should a|should any|should the"
        "|if any|return for|999 if|911 if|ring if|if he gets|if she gets",
        feared="worried about|worries about|afraid of|scared of|fearful of|concerned about|risk of"
        "|at risk for|wonders if|wonders whether|wondered if|wondered whether|asks about"
        "|asked about|screening for|to prevent|prevention of|worried it could|worried that|fears"
        "|scan for|tested for|screened for|checked for",
    )
)


#: The same, behind the words: "Lipitor was recommended", "flu jab offered, never had it".
_NOT_DONE = CueTable(
    cue_kinds(
        advised="advised|was advised|recommended|was recommended|were recommended|suggested"
        "|was suggested|offered|was offered|considered|under consideration|mooted|proposed"
        "|being considered|was discussed|is planned|planned|not started|not yet started|pending"
        "|awaited|booked|to be booked|to be started|never picked up|never started|never tried"
        "|never taken|never given|never done|never used|never filled|never rebooked|never had it"
        "|not had it|not had one|did not attend|was cancelled|postponed|not taken up",
        declined="declined|was declined|refused|turned down|turned it down|turned this down",
        hypothetical="if scan|if the|if needed|if required|if it|should it|were to",
        feared="suspected|queried|was suspected|was queried|looked for|was looked for|ruled out"
        "|was ruled out|excluded|was excluded|not confirmed|never confirmed|not found",
    )
)


_NOT_MEANT_REASONS = {
    "advised": "only advised",
    "declined": "declined",
    "hypothetical": "only in case",
    "feared": "only feared",
}


def not_meant(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "only advised" and the like when the words say nothing of what is."""
    if asked.negated or asked.about_advice:
        return None
    tokens = place.reading.tokens
    for i in range(place.first, place.inside[0] + 1):
        hit = _NOT_MEANT.at(tokens, i) if tokens[i].form in _NOT_MEANT else None
        before = tokens[i - 1].form if i else ""
        if hit is not None and hit[1] <= place.inside[-1] and before != "as":
            return _NOT_MEANT_REASONS[hit[0]]
    first, last = place.inside[0], place.inside[-1]
    for i in range(first + 1, min(place.end, last + 1 + 2 * NEAR)):
        hit = _NOT_DONE.at(tokens, i) if tokens[i].form in _NOT_DONE else None
        if hit is not None and not _other_verb(place, i):
            return _NOT_MEANT_REASONS[hit[0]]
    return None


def _other_verb(place: SpokenPlace, i: int) -> bool:
    """Tell whether a new statement begins between the words and a cue behind them."""
    between = place.reading.tokens[place.inside[-1] + 1 : i]
    return any(token.form in _NEW_STATEMENT for token in between)


_NEW_STATEMENT = word_set("and who has had but with takes for since as because when after ; : +")


_PAST = word_set(
    "history hx h/o previous previously prior past former formerly ex stopped quit resolved ago"
    " used had was were been since until recent recently last underwent s/p status childhood"
    " completed finished discontinued gave started began discontinuation cessation remote"
    " recurrent recurrence episode episodes postoperative"
)


#: Drugs and habits: what was stopped or is past is not what a feature asks for.
_NO_MORE = CueTable(
    cue_kinds(
        stopped="stopped|quit|discontinued|d/c|d/cd|d/c d|dcd|came off|taken off|gave up|given up"
        "|no longer|weaned off|ceased|stopped taking|none since|nil since|not since|none now"
        "|nil now|not any more|anymore|until|till|has not since|gave it up|clean since",
        past="used to|former|formerly|ex smoker|ex - smoker|years ago|in the past|previously"
        "|exsmoker|in college|as a student|as a teenager|in his youth|in her youth|in his twenties"
        "|in her twenties|as a young man|as a young woman|years back|at one time|long ago",
    )
)


#: Symptoms: what has gone is not what a feature asks for.
_GONE = CueTable(
    cue_kinds(
        resolved="resolved|has gone away|went away|gone away|cleared up|disappeared|now gone"
        "|has since resolved|since resolved|now resolved|has resolved|have resolved|fully resolved",
    )
)


_NOT_NOW_REASONS = {"stopped": "stopped", "past": "in the past", "resolved": "resolved"}


#: Features of drugs, habits and what else can be left off.
_TAKEN = word_set(
    "current currently now active ongoing presently therapy use uses takes taking on drug"
    " medication tablets smoker smokes smoking tobacco alcohol"
    " drinks drinking drinker cigarettes cannabis marijuana vapes vaping user cocaine heroin"
)


#: Features that are themselves about the past or about stopping.
_ABOUT_STOPPING = _PAST | word_set(
    "missed poor adherence nonadherence allergy allergic intolerance reaction due caused cause stop"
    " wants cessation wearing took treated effect effects effective out work ready side stopping"
    " contemplating overuse administered given received tried trial prescribed dose course"
)


_EASED = word_set(
    "relieved relief relieves resolved resolves resolution eases eased improved improves better"
    " transient intermittent episodic duration lasting lasted lasts minutes brief self recovery"
    " temporary spontaneous"
)


#: Endings of words for operations: they are past wherever they are told.
_DONE = ("ectomy", "otomy", "ostomy", "plasty", "scopy", "surgery", "graft", "replacement")


_STILL = word_set("still currently current continues smokes active actively ongoing")


_LEFT_OFF = word_set("former ex quit stopped formerly gave")


def is_taken(asked: AskedFor) -> bool:
    """Tell whether a feature asks for a drug, a habit or something else that can be left off."""
    return bool(asked.drugs) or not _TAKEN.isdisjoint(asked.forms)


def not_now(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "stopped" and the like when the words speak of what is no more."""
    tokens = place.reading.tokens
    if not _LEFT_OFF.isdisjoint(asked.forms):
        around = set(forms_at(place, range(place.first, place.end)))
        if "smok" in {form[:4] for form in asked.forms} and around & _STILL:
            return None if around & (_LEFT_OFF | DENYING) else "says current"
        return None
    if asked.negated or not _ABOUT_STOPPING.isdisjoint(asked.forms):
        return None
    if any(form.endswith(_DONE) for form in asked.forms):
        return None
    taken = is_taken(asked)
    if not taken and not _EASED.isdisjoint(asked.forms):
        return None
    table = _NO_MORE if taken else _GONE
    for i in place.around(NEAR * 2 if taken else NEAR):
        hit = table.at(tokens, i) if tokens[i].form in table else None
        if hit is None or (not taken and i in range(place.inside[0], place.inside[-1] + 1)):
            continue
        if not _comma_between(place, i) or tokens[i].form in _SINCE:
            return _NOT_NOW_REASONS[hit[0]]
    return None


#: What may follow a comma and still speaks of the words before: "20 a day, none since 2004".
_SINCE = word_set("none nil until till not quit stopped clean")


def _comma_between(place: SpokenPlace, i: int) -> bool:
    first, last = place.inside[0], place.inside[-1]
    between = range(last + 1, i) if i > last else range(i + 1, first)
    return any(place.reading.tokens[k].form in (",", "+", "/") for k in between)


def cue_within(place: SpokenPlace) -> str | None:
    """Return "stopped", "only advised" and the like where the words themselves say so."""
    tokens, reasons = place.reading.tokens, _NOT_NOW_REASONS | _NOT_MEANT_REASONS
    for table in (_NO_MORE, _GONE, _NOT_MEANT, _NOT_DONE):
        for i in place.inside:
            hit = table.at(tokens, i) if tokens[i].form in table else None
            if hit is not None and tokens[i].form not in ("never", "not"):  # that is a denial
                return reasons[hit[0]]
    return None


#: Features that speak of people around the patient, or that a parent tells or does for a child.
_SHARED = word_set(
    "lives living live with partner sexual sexually carer caregiver cares caring contraception"
    " condoms birth born delivery pregnancy pressure given gives breastfed contact contacts"
    " exposure exposed sick ill widow widowed married marriage bereavement grief death died abuse"
    " violence support supportive vaccination transplant travel relationship conflict stress home"
    " alone maternal paternal consanguinity consanguineous social household cesarean caesarean lscs"
    " witnessed collateral interpreter accompanied smoke secondhand passive"
)


_CHILDREN = word_set("son daughter child baby boy girl twin")


_SIDE_OF_FAMILY = word_set("mothers fathers lives living law")


def another_person(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return whose matter it is when it is not the person's the feature asks about."""
    reading = place.reading
    start, end = reading.starts[place.inside[0]], reading.tokens[place.inside[-1]].end
    if asked.persons or asked.any_relative:
        return _another_relative(asked, place)
    if not _SHARED.isdisjoint(asked.forms):
        return None
    middle = reading.starts[place.inside[len(place.inside) // 2]]
    for context in reading.contexts:
        if context.scope_span.start > end:
            break
        inside = context.scope_span.start <= start and end <= context.scope_span.end + 1
        if inside or context.scope_span.start <= middle < context.scope_span.end:
            cue = context.cue_span.text(reading.text).lower().removesuffix("'s")
            if _is_the_patient(reading, context):
                continue
            if context.kind == "family" and (owners := _owners(place)):
                return f"{min(owners)}'s"
            person = opposites.PERSONS.get(cue)
            if person is None and context.kind == "family":
                own = persons_in(reading.tokens, place.around(REACH))
                person = min(own) if own else None
                return f"{person}'s" if person else "family history"
            return f"{person or cue}'s"
    return None


def _is_the_patient(reading: TextReading, context: Context) -> bool:
    """Tell whether a context's person is the patient: "your son" in a letter to parents."""
    i = bisect_left(reading.starts, context.cue_span.start)
    before = reading.tokens[i - 1].form if i else ""
    return reading.tokens[i].form in _CHILDREN and before in ("your", "our", "the", "their", "")


def _another_relative(asked: AskedFor, place: SpokenPlace) -> str | None:
    said = _owners(place)
    if not said:
        said = persons_in(place.reading.tokens, place.inside)
    if not said:
        said = persons_in(place.reading.tokens, place.around(NEAR))
    if not said:
        return None
    if asked.persons and not asked.any_relative and not asked.forms & _SIDE_OF_FAMILY:
        return None if opposites.persons_fit(asked.persons, said) else f"{min(said)}'s"
    if {"family", "history"} <= asked.forms and not asked.persons and said <= opposites.NOT_KIN:
        return f"{min(said)}'s"
    return None


_NO_MATTER = word_set(
    "well healthy neg negative fine alive ok okay fit no nil none not denies without died d age"
    " aged deceased dead clear also too only older younger elder"
)


def _owners(place: SpokenPlace) -> frozenset[str]:
    """Return whose the matter of the words is: of the last people named before it, or after it.

    "Father MI at 60, brother well": the infarction is the father's, although both are in the words.
    """
    tokens = place.reading.tokens
    persons = {i: own for i in range(place.first, place.end) if (own := persons_in(tokens, [i]))}
    matter = [
        i
        for i in place.inside
        if i not in persons
        and tokens[i].kind == "word"
        and tokens[i].form not in EMPTY_WORDS
        and tokens[i].form not in _NO_MATTER
    ]
    if not persons or not matter:
        return frozenset()
    last = matter[-1]
    if last + 1 < place.end and tokens[last + 1].form in _IN:  # "diabetes in mother, gout in son"
        following = [i for i in persons if last + 1 < i <= last + NEAR]
        if following:
            return persons[following[0]]
    before = [i for i in persons if i < matter[0]]
    chain = [before[-1]] if before else [next((i for i in persons if i > matter[0]), -1)]
    if chain[0] < 0:
        return frozenset()
    others = before[-2::-1] if before else [i for i in persons if i > chain[0]]
    for i in others:
        low, high = sorted((i, chain[-1]))
        if not all(token.form in _JOINS for token in tokens[low + 1 : high]):
            break
        chain.append(i)
    kin = ""
    if before and chain[0] - 1 in persons:
        kin = opposites.kin_of_kin(tokens[chain[0] - 1].form, tokens[chain[0]].form)
    return frozenset([kin]) if kin else frozenset().union(*(persons[i] for i in chain))


_IN = word_set("in of (")
_JOINS = word_set(", and & / + both his her older younger elder maternal paternal")
