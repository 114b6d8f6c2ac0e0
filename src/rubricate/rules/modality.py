"""Words of a note that ask, order, advise, warn or fear rather than say that something is so."""

from __future__ import annotations

from bisect import bisect_left

from rubricate.knowledge.tables import cues, pattern, words
from rubricate.reading.clauses import begins_item
from rubricate.reading.note import NEAR, Place
from rubricate.reading.tokens import CueTable
from rubricate.requirement.alternative import Alternative
from rubricate.rules.reasons import Reason

_ORDERS = words("modality.orders")
_BEGINNING = words("modality.beginning")  # states "Aspirin started"
_WHEN = pattern("modality.when")
_BEGUN = words("modality.begun")
_TESTS = words("modality.tests")
_AWAITED = words("modality.awaited")
_IN_ADVANCE = words("modality.in_advance")


NOT_MEANT = CueTable(cues("modality.not_meant"))
NOT_DONE = CueTable(cues("modality.not_done"))
REASONS = {
    kind: Reason(f"modality.{kind}") for kind in ("advised", "declined", "hypothetical", "feared")
}


_LEFT = CueTable(cues("modality.not_taken"))
_OF_ALLERGY = words("modality.of_allergy")
_NOT_TAKEN = {
    "replaced": Reason("drug.replaced", "another"),
    "stopped": Reason("drug.stopped"),
    "allergic": Reason("drug.allergic"),
}


def not_meant(asked: Alternative, place: Place) -> Reason | None:
    """Return the reason if the words say nothing of what is: advised, declined, in case, feared.

    So do words that ask, order, warn or prevent ("?PE", "start aspirin"), and those of a drug that
    is not taken ("apixaban instead of warfarin").
    """
    if asked.negated or asked.about_advice:
        return None
    reading, tokens = place.reading, place.reading.tokens
    first, last = place.inside[0], place.inside[-1]
    # What stands right before the words, or within them: a heading, a question mark, an order.
    heading = [token.form for token in tokens[max(0, place.first - 2) : place.first]]
    if heading[1:] == [":"] and heading[0] in _WARNINGS:
        return REASONS["hypothetical"]
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
            if _AWAITED & {token.form for token in tokens[i + 1 : i + 2 + NEAR]}:
                return Reason("modality.tested")
            break
    named = place.first_named(asked.stems)
    # Words for another drug, before the name of the one asked for.
    taken = asked.drugs and not asked.forms & _OF_ALLERGY
    for i in range(max(place.first, named - 3), named) if taken else ():
        hit = _LEFT.at(tokens, i) if tokens[i].form in _LEFT else None
        if hit is not None and named - 1 <= hit[1] <= named:
            return _NOT_TAKEN[hit[0]]
    if taken and _in_allergies(asked, place, named):
        return _NOT_TAKEN["allergic"]
    # Cues before the words.
    for i in range(place.first, named + 1):
        hit = NOT_MEANT.at(tokens, i) if tokens[i].form in NOT_MEANT else None
        before = tokens[i - 1].form if i else ""
        if hit is None or hit[1] > last or before == "as":
            continue
        if tokens[hit[1]].form in _STOPPING:  # Who wants to quit has not.
            continue
        # What is refused ends with the comma: "refuses the bottle, seven wet nappies".
        if tokens[i].form not in _REFUSING or not place.has_comma_before(i):
            return REASONS[hit[0]]
    # Cues behind them.
    for i in range(first + 1, min(place.end, last + 1 + 2 * NEAR)):
        hit = NOT_DONE.at(tokens, i) if tokens[i].form in NOT_DONE else None
        if hit is None or (tokens[i].form in _REFUSING and _has_object(place, hit[1])):
            continue
        if not _other_verb(place, i) and tokens[i - 1].form != "it":
            return REASONS[hit[0]]
    return None


_TAKEN = words("drugs.taken")


def _in_allergies(asked: Alternative, place: Place, first: int) -> bool:
    """Tell whether a drug stands among the allergies, or is called one: "aspirin allergy"."""
    reading, behind = place.reading, max(place.named(asked.stems), default=place.inside[-1]) + 1
    tokens = reading.tokens
    if behind < place.end and tokens[behind].form in _OF_ALLERGY:
        return True
    if reading.section_at(tokens[first].start) != "allergies":
        return False
    begin = bisect_left(reading.starts, reading.statement(tokens[first].start)[0])
    return not any(token.form in _TAKEN for token in tokens[begin:first])


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
