"""Whether words of a note ask, order or test, name a drug not taken, or something that is over."""

from __future__ import annotations

from rubricate.text.clauses import begins_item
from rubricate.text.contradiction.asked import EMPTY_WORDS, AskedFor
from rubricate.text.contradiction.place import NEAR, SpokenPlace, forms_at
from rubricate.text.stems import stem
from rubricate.text.words import CueTable, cue_kinds, word_set

#: Verbs that begin an order: "Start aspirin".
_ORDERS = word_set("start begin add order schedule refer obtain consider prescribe commence trial")
_TESTS = word_set("test screen screening swab serology titer titre panel workup")
_AWAITED = word_set("ordered sent pending requested offered booked due arranged awaited planned")
_IN_ADVANCE = word_set("precautions precaution prophylaxis prevention counseling counselling")


def not_settled(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return why words ask, order or prevent rather than say: "?PE", "start aspirin"."""
    reading, tokens = place.reading, place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    start = tokens[first].start
    if (tokens[first].form == "?" and last > first) or (
        reading.text[start - 1 : start] == "?" and not reading.text[start - 2 : start - 1].strip()
    ):
        return "only feared"
    opening = first if tokens[first].form in _ORDERS else first - 1
    shorthand = opening >= 0 and reading.text[slice(*tokens[opening][:2])].isupper()  # "ADD"
    ordered = opening >= 0 and tokens[opening].form in _ORDERS and not shorthand
    if ordered and begins_item(reading.text, tokens, opening):
        return "only advised"
    for i in range(first + 1, min(last + 2, place.end)):
        if tokens[i].form in _IN_ADVANCE - asked.forms and tokens[i - 1].form in asked.forms:
            return "only in case"
        if tokens[i].form in _TESTS - asked.forms:
            said = {token.form for token in tokens[i + 1 : i + 2 + NEAR]}
            return "only tested" if said & _AWAITED else None
    return None


def first_named(asked: AskedFor, place: SpokenPlace) -> int:
    """Return the first of the words that is the feature's own; else the first that means much."""
    tokens = place.reading.tokens
    worded = (i for i in place.inside if tokens[i].form not in EMPTY_WORDS)
    return next(iter(_named(asked, place)), next(worded, place.inside[0]))


def last_named(asked: AskedFor, place: SpokenPlace) -> int:
    """Return the last of the words that is the feature's own; where none is, the one after all."""
    own = _named(asked, place)
    return own[-1] if own else place.inside[-1] + 1


def _named(asked: AskedFor, place: SpokenPlace) -> list[int]:
    tokens = place.reading.tokens
    return [i for i in place.inside if stem(tokens[i].form) in asked.words]


#: Right before a drug these say that it is not taken.
_NOT_TAKEN = CueTable(
    cue_kinds(
        replaced="instead of|rather than|in place of|switched from|changed from|swapped from",
        stopped="off|off of|not on|no longer on|came off|weaned off",
        allergic="allergic to|allergy to|allergies to|intolerant of|intolerant to|intolerance to"
        "|intolerance of|reaction to|allergies|allergy",
    )
)
_OF_ALLERGY = word_set(
    "allergy allergic allergies intolerance reaction anaphylaxis hypersensitivity intolerant"
)
_NOT_TAKEN_REASONS = {
    "replaced": "says another",
    "stopped": "stopped",
    "allergic": "only an allergy",
}


def not_taken(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return why a drug is named that is not taken: "apixaban instead of warfarin"."""
    if not asked.drugs or asked.forms & _OF_ALLERGY:
        return None
    tokens, first = place.reading.tokens, first_named(asked, place)
    for i in range(max(place.first, first - 3), first):
        hit = _NOT_TAKEN.at(tokens, i) if tokens[i].form in _NOT_TAKEN else None
        if hit is not None and first - 1 <= hit[1] <= first:
            return _NOT_TAKEN_REASONS[hit[0]]
    return None


#: Features that something lasts, that it is over, and words that say the latter.
_LASTING = word_set(
    "persists persisting persistent ongoing continues continuing unresolved unhealed still remains"
)
_OVER = word_set(
    "resolved gone cleared settled stopped ceased healed subsided ended abated discontinued"
)
_GOES_ON = word_set("still continues ongoing persists remains")
_SAID_OVER = _OVER | word_set("eased lifted broke vanished disappeared")
_NOT_YET = word_set("not hasnt havent hadnt never yet wont cannot cant")


def still_or_over(asked: AskedFor, place: SpokenPlace) -> str | None:
    """Return "resolved" where a feature says that something lasts, "not over" where it is over."""
    lasting, over = asked.forms & _LASTING, asked.forms & _OVER
    if bool(lasting) == bool(over):
        return None
    tokens = place.reading.tokens
    said = set()
    for i in place.around(NEAR):
        if tokens[i].form in _SAID_OVER:
            near = {token.form for token in tokens[max(place.first, i - 3) : i]}
            said.add("not over" if near & _NOT_YET else "resolved")
    if over and not said and _GOES_ON & set(forms_at(place, place.around(NEAR))):
        return "not over"
    return min(said) if said == {"resolved" if lasting else "not over"} else None
