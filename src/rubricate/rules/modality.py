"""Words of a note that ask, order, advise or fear, name a drug not taken, or are past."""

from __future__ import annotations

from rubricate.knowledge.tables import cues, pattern, phrases, words
from rubricate.reading.clauses import begins_item
from rubricate.reading.drugs import drugs_among, other_class
from rubricate.reading.note import NEAR, Place
from rubricate.reading.numbers import figure
from rubricate.reading.opposites import EMPTY_WORDS
from rubricate.reading.tokens import CueTable, stem
from rubricate.requirement.alternative import Alternative
from rubricate.rules.polarity import DENYING
from rubricate.rules.reasons import Reason

_ORDERS = words("modality.orders")
_HAVING = words("modality.having")
_BEGINNING = words("modality.beginning")  # states "Aspirin started"
_WHEN = pattern("modality.when")
_BEGUN = words("modality.begun")
_TESTS = words("modality.tests")
_AWAITED = words("modality.awaited")
_IN_ADVANCE = words("modality.in_advance")


def not_settled(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if words ask, order or prevent rather than say: "?PE", "start aspirin"."""
    reading, tokens = place.reading, place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    start = tokens[first].start
    if (tokens[first].form == "?" and last > first) or (
        reading.text[start - 1 : start] == "?" and not reading.text[start - 2 : start - 1].strip()
    ):
        return Reason("modality.feared")
    opening = first if tokens[first].form in _ORDERS else first - 1
    shorthand = opening >= 0 and reading.text[slice(*tokens[opening][:2])].isupper()  # "ADD"
    ordered = opening >= 0 and tokens[opening].form in _ORDERS and not shorthand
    begun = ordered and tokens[opening].form in _BEGINNING and not asked.forms.isdisjoint(_BEGUN)
    ordered = ordered and not begun and not _WHEN.match(reading.text, tokens[opening].end)
    if ordered and begins_item(reading.text, tokens, opening):
        return Reason("modality.advised")
    for i in range(first + 1, min(last + 2, place.end)):
        if tokens[i].form in _IN_ADVANCE - asked.forms and tokens[i - 1].form in asked.forms:
            return Reason("modality.hypothetical")
        if tokens[i].form in _TESTS - asked.forms:
            said = {token.form for token in tokens[i + 1 : i + 2 + NEAR]}
            return Reason("modality.tested") if said & _AWAITED else None
    return None


def first_named(asked: Alternative, place: Place) -> int:
    """Return the first of the words that is the feature's own; else the first that means much."""
    tokens = place.reading.tokens
    worded = (i for i in place.inside if tokens[i].form not in EMPTY_WORDS)
    return next(iter(_named(asked, place)), next(worded, place.inside[0]))


def last_named(asked: Alternative, place: Place) -> int:
    """Return the last of the words that is the feature's own; where none is, the one after all."""
    own = _named(asked, place)
    return own[-1] if own else place.inside[-1] + 1


def _named(asked: Alternative, place: Place) -> list[int]:
    tokens = place.reading.tokens
    return [i for i in place.inside if stem(tokens[i].form) in asked.stems]


_NOT_TAKEN = CueTable(cues("modality.not_taken"))
_OF_ALLERGY = words("modality.of_allergy")
_NOT_TAKEN_REASONS = {
    "replaced": Reason("drug.replaced", "another"),
    "stopped": Reason("drug.stopped"),
    "allergic": Reason("drug.allergic"),
}


def not_taken(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if a drug is named that is not taken: "apixaban instead of warfarin"."""
    if not asked.drugs or asked.forms & _OF_ALLERGY:
        return None
    tokens, first = place.reading.tokens, first_named(asked, place)
    for i in range(max(place.first, first - 3), first):
        hit = _NOT_TAKEN.at(tokens, i) if tokens[i].form in _NOT_TAKEN else None
        if hit is not None and first - 1 <= hit[1] <= first:
            return _NOT_TAKEN_REASONS[hit[0]]
    return None


_LASTING = words("modality.lasting")
_OVER = words("modality.over")
_GOES_ON = words("modality.goes_on")
_SAID_OVER = _OVER | words("modality.said_over")
_NOT_YET = words("modality.not_yet")


def still_or_over(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if what should last is over, or what should be over lasts."""
    lasting, over = asked.forms & _LASTING, asked.forms & _OVER
    if bool(lasting) == bool(over):
        return None
    tokens = place.reading.tokens
    said = set()
    for i in place.around(NEAR):
        if tokens[i].form in _SAID_OVER:
            near = {token.form for token in tokens[max(place.first, i - 3) : i]}
            said.add("time.not_over" if near & _NOT_YET else "time.resolved")
    if over and not said and _GOES_ON & set(place.forms(place.around(NEAR))):
        return Reason("time.not_over")
    other = "time.resolved" if lasting else "time.not_over"
    return Reason(other) if said == {other} else None


_NOT_MEANT = CueTable(cues("modality.not_meant"))
_NOT_DONE = CueTable(cues("modality.not_done"))
_NOT_MEANT_REASONS = {
    kind: Reason(f"modality.{kind}") for kind in ("advised", "declined", "hypothetical", "feared")
}


def not_meant(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if the words say nothing of what is: advised, declined, in case, feared."""
    if asked.negated or asked.about_advice:
        return None
    tokens = place.reading.tokens
    heading = [token.form for token in tokens[max(0, place.first - 2) : place.first]]
    if heading[1:] == [":"] and heading[0] in _WARNINGS:
        return _NOT_MEANT_REASONS["hypothetical"]
    if said := not_settled(asked, place) or not_taken(asked, place):
        return said
    for i in range(place.first, first_named(asked, place) + 1):
        hit = _NOT_MEANT.at(tokens, i) if tokens[i].form in _NOT_MEANT else None
        before = tokens[i - 1].form if i else ""
        if hit is None or hit[1] > place.inside[-1] or before == "as":
            continue
        if tokens[hit[1]].form in _STOPPING:  # Who wants to quit has not.
            continue
        # What is refused ends with the comma: "refuses the bottle, seven wet nappies".
        if tokens[i].form not in _REFUSING or not _comma_between(place, i):
            return _NOT_MEANT_REASONS[hit[0]]
    first, last = place.inside[0], place.inside[-1]
    for i in range(first + 1, min(place.end, last + 1 + 2 * NEAR)):
        hit = _NOT_DONE.at(tokens, i) if tokens[i].form in _NOT_DONE else None
        if hit is None or (tokens[i].form in _REFUSING and _has_object(place, hit[1])):
            continue
        if not _other_verb(place, i) and tokens[i - 1].form != "it":
            return _NOT_MEANT_REASONS[hit[0]]
    return None


_STOPPING = words("modality.stopping")
_WARNINGS = words("modality.warnings")
_REFUSING = words("modality.refusing")


def _has_object(place: Place, i: int) -> bool:
    """Tell whether what is refused follows: "off his food, refused supper"."""
    tokens = place.reading.tokens
    return i < place.end and tokens[i].kind == "word" and tokens[i].form not in _NO_OBJECT


_NO_OBJECT = words("modality.no_object")


def _other_verb(place: Place, i: int) -> bool:
    """Tell whether a new statement begins between the words and a cue behind them."""
    between = place.reading.tokens[place.inside[-1] + 1 : i]
    return any(token.form in _NEW_STATEMENT for token in between)


_NEW_STATEMENT = words("modality.new_statement")
_PAST = words("modality.past")
_NO_MORE = CueTable(cues("modality.no_more"))
_GONE = CueTable(cues("modality.gone"))
_NOT_NOW_REASONS = {kind: Reason(f"time.{kind}") for kind in ("stopped", "past", "resolved")}

_TAKEN = words("modality.taken")
_ABOUT_STOPPING = _PAST | words("modality.about_stopping")
_EASED = words("modality.eased")
_DONE = phrases("modality.done")
_STILL = words("modality.still")
_LEFT_OFF = words("modality.left_off")


def is_taken(asked: Alternative) -> bool:
    """Tell whether a feature asks for a drug, a habit or something else that can be left off."""
    return bool(asked.drugs) or not _TAKEN.isdisjoint(asked.forms)


def not_now(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if the words speak of what is no more."""
    tokens = place.reading.tokens
    if not asked.negated and (said := still_or_over(asked, place)):
        return said
    if not _LEFT_OFF.isdisjoint(asked.forms):
        around = set(place.forms(place.around(2 * NEAR)))
        if "never" in around and not around & _LEFT_OFF:
            return Reason("time.never", "never")
        if "smok" in {form[:4] for form in asked.forms} and around & _STILL:
            left = around & (_LEFT_OFF | DENYING)
            return None if left else Reason("time.current", "current")
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
        if hit is None or (not taken and i in range(place.inside[0], last_named(asked, place))):
            continue
        if _goes_on(place, i) or _of_another_drug(asked, place, i, hit[1]):
            continue
        if not _comma_between(place, i) or tokens[i].form in _SINCE:
            return _NOT_NOW_REASONS[hit[0]]
    return None


_NOT_STOPPED = words("modality.not_stopped")
_UP_TO_NOW = words("modality.up_to_now")
_FIRST_YEAR = 1900


def _goes_on(place: Place, i: int) -> bool:
    """Tell whether a word for stopping says that nothing stopped: "until now", "has not quit"."""
    tokens = place.reading.tokens
    if tokens[i].form in ("until", "till"):
        after = [token.form for token in tokens[i + 1 : i + 4]]
        if not after or after[0] in _UP_TO_NOW:
            return True
        value = figure(after[0])
        number = value is not None and value < _FIRST_YEAR
        return number and not {"ago", "back"} & set(after)
    if tokens[i].form in _HAVING and _SOMEWHERE & {token.form for token in tokens[i + 1 : i + 3]}:
        return True
    for k in range(i - 1, max(-1, i - 5), -1):
        if tokens[k].kind == "mark":
            return False
        if tokens[k].form in _NOT_STOPPED:
            return tokens[i].form not in _NOT_STOPPED
    return False


def _of_another_drug(asked: Alternative, place: Place, cue: int, end: int) -> bool:
    """Tell whether what was stopped is another drug: "Senokot nightly and Laxido was stopped"."""
    if not asked.drugs:
        return False
    tokens, first, last = place.reading.tokens, place.inside[0], place.inside[-1]
    if cue > last:
        words = tokens[last + 1 : cue]
    elif first - end > 1:  # Right before the words it is theirs: "stopped the Senokot".
        words = [*tokens[max(place.first, cue - 4) : cue], *tokens[end:first]]
    else:
        return False
    named = drugs_among([token for token in words if token.kind != "mark"])
    return bool(other_class(asked.drugs, named))


_SOMEWHERE = words("modality.somewhere")
_SINCE = words("modality.since")


def _comma_between(place: Place, i: int) -> bool:
    first, last = place.inside[0], place.inside[-1]
    between = range(last + 1, i) if i > last else range(i + 1, first)
    return any(place.reading.tokens[k].form in (",", "+", "/") for k in between)


def cue_within(place: Place) -> Reason | None:
    """Return the reason if the words themselves say that something is past or only advised."""
    tokens, reasons = place.reading.tokens, _NOT_NOW_REASONS | _NOT_MEANT_REASONS
    for table in (_NO_MORE, _GONE, _NOT_MEANT, _NOT_DONE):
        for i in place.inside:
            hit = table.at(tokens, i) if tokens[i].form in table else None
            if hit is not None and tokens[i].form not in ("never", "not"):  # that is a denial
                return reasons[hit[0]]
    return None
